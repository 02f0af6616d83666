/* Whether the tools that are there can do what a project says for all of its builds. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "toolchain/internal.h"

int toolchain_lto_linker(
	const struct compiler *c, const char *path_list, char **ret, struct error *err)
{
	auto_free char *real = path_resolve(c->path);
	auto_free char *folder = path_dirname(real);
	auto_free char *own = path_join(folder, "ld.lld");
	auto_free char *plugin = path_join(folder, "../lib/LLVMgold.so");
	struct lld lld = {0};
	int found = find_lld_of(c, path_list, &lld, err);

	*ret = NULL;
	if (found < 0)
		return -1;
	/* By its name where clang finds it so: then it can be watched like any linker. */
	if (found)
		*ret = strcmp(lld.path, own) == 0 || path_exists(own)
			       ? xstrdup("-fuse-ld=lld")
			       : xasprintf("--ld-path=%s", lld.path);
	lld_release(&lld);
	if (found || path_exists(plugin))
		return 0;
	return error_set(err, ERR_ENVIRONMENT,
		"link-time optimisation by %s needs a linker that reads what LLVM %d writes: "
		"install the Debian package 'lld-%d' (or 'llvm-%d-linker-tools', the plugin of GNU "
		"ld)",
		c->version, c->llvm, c->llvm, c->llvm);
}

static int unknown_cpu(
	const struct compiler *c, const char *cpu, const char *why, struct error *err)
{
	return error_set(err, ERR_CONFIG, "%s knows no processor '%s' (build.cpu, variants)%s%s",
		c->version, cpu, why ? ":\n" : "", why ? why : "");
}

/* "    x86-64-v3", "    native - Select …" */
static bool lists_cpu(const struct strv *lines, const char *cpu)
{
	size_t n = strlen(cpu);

	for (size_t i = 0; i < lines->n; i++) {
		const char *l = lines->v[i] + strspn(lines->v[i], " \t");

		if (strncmp(l, cpu, n) == 0 && (!l[n] || l[n] == ' '))
			return true;
	}
	return false;
}

static int check_rustc(const struct question *q, const struct compiler *c,
	const struct toolchain_build *b, struct error *err)
{
	const char *args[] = {
		"--print", "target-cpus", b->target ? "--target" : NULL, b->target, NULL};
	auto_strv struct strv lines = STRV_INIT;

	if (ask(q, args, &lines, err) < 0)
		return -1;
	return lists_cpu(&lines, b->cpu) ? 0 : unknown_cpu(c, b->cpu, NULL, err);
}

/* A gcc makes code for one machine alone; one that is there for another has no part in the program.
 */
static bool is_for_other_machine(const struct compiler *c, const struct toolchain_build *b)
{
	size_t n = strcspn(c->target ? c->target : "", "-");

	return c->family == FAMILY_GCC && n && b->target && strncmp(c->target, b->target, n) != 0;
}

int toolchain_check_cpu(const struct compiler *c, const struct toolchain_build *b,
	const char *path_list, struct error *err)
{
	const struct question q = {.path = c->path, .path_list = path_list};
	const struct toolchain_build only = {.cpu = b->cpu, .target = b->target};
	auto_strv struct strv flags = STRV_INIT, lines = STRV_INIT;
	struct error why = ERROR_INIT;
	int r = 0;

	if (!b->cpu || c->family == FAMILY_UNKNOWN || is_for_other_machine(c, b))
		return 0;
	if (c->family == FAMILY_RUSTC)
		return check_rustc(&q, c, b, err);
	toolchain_compile_flags(c, &only, &flags);
	{
		auto_free char *target = xasprintf("--target=%s", b->target ? b->target : "");
		const char *args[] = {flags.v[0], "-fsyntax-only", "-x", "c", "/dev/null",
			b->target && c->family == FAMILY_CLANG ? target : NULL, NULL};

		r = ask(&q, args, &lines, &why);
	}
	if (r < 0 && error_is_no_answer(&why))
		return error_move(err, &why);
	if (r < 0)
		r = unknown_cpu(c, b->cpu, why.msg, err);
	error_release(&why);
	return r;
}
