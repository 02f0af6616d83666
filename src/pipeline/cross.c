#include "pipeline/cross.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "elf/elf_facts.h"

void cross_open(struct run *r)
{
	const struct plan_build *b = &r->plan.build;
	auto_free char *triple = buildtool_rust_target(b);

	target_read(triple, &r->target);
	/* cargo and rustc are told the triple anyhow, and link for this processor as they are. */
	r->cross = b->tool == TOOL_CARGO ? r->target.foreign : r->target.other;
}

void cross_close(struct run *r)
{
	target_release(&r->target);
	train_emulator_release(&r->emulator);
}

static struct toolchain_cross asked(const struct run *r)
{
	return (struct toolchain_cross){.target = &r->target,
		.sysroot = r->plan.build.sysroot,
		.runtime = r->plan.build.profile_runtime};
}

int cross_probe(struct run *r, const char *folder, const char *name, const char *path_list,
	struct compiler *ret, struct error *err)
{
	struct toolchain_cross x = asked(r);
	auto_free char *id = NULL, *resource = NULL;
	struct compiler c = {0};

	if (toolchain_probe_cross(r->cross ? &x : NULL, folder, name, path_list, &c, err) < 0)
		return -1;
	id = xasprintf("hook/resource-%s-%s", path_basename(c.path), c.target);
	resource = store_path(&r->store, id);
	if (r->cross && toolchain_lend_runtime(&c, resource, err) < 0) {
		compiler_release(&c);
		return -1;
	}
	*ret = c;
	return 0;
}

const struct train_emulator *cross_emulator(const struct run *r)
{
	return r->emulator.words.n ? &r->emulator : NULL;
}

static int find_emulator(struct run *r, struct buf *missing, struct error *err)
{
	struct plan_bench *bench = &r->plan.bench;

	if (!train_is_emulated(&r->plan, &r->target))
		return 0;
	if (train_emulator_find(&r->plan, &r->target, getenv("PATH"), &r->emulator, missing, err) <
		0)
		return -1;
	if (r->emulator.name && bench->enabled && !r->o->no_bench)
		events_note(r->o->events,
			"the comparison is left out: the programs run by an emulator (%s), whose "
			"time says nothing about the target",
			r->emulator.name);
	bench->enabled = false;
	bench->relinks = 0;
	return 0;
}

static int find_missing(struct run *r, struct buf *missing, struct error *err)
{
	const struct compiler *asked_of[] = {r->rustc, r->cc};
	struct toolchain_cross x = asked(r);

	for (size_t i = 0; r->cross && i < ARRAY_SIZE(asked_of); i++)
		if (asked_of[i] &&
			toolchain_cross_missing(&x, asked_of[i], getenv("PATH"), missing, err) < 0)
			return -1;
	return 0;
}

int cross_check(struct run *r, struct error *err)
{
	auto_buf struct buf missing = BUF_INIT;

	if (find_missing(r, &missing, err) < 0 || find_emulator(r, &missing, err) < 0)
		return -1;
	if (!missing.n)
		return 0;
	return error_set(err, ERR_ENVIRONMENT, "a build for %s lacks:\n%s", r->target.triple,
		buf_str(&missing));
}

int cross_place(struct run *r, const struct strv *files, const char *folder, struct strv *ret,
	struct error *err)
{
	if (cross_emulator(r))
		return train_emulator_place(&r->emulator, files, folder, ret, err);
	if (dir_create(folder, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < files->n; i++) {
		auto_free char *to = path_join(folder, path_basename(files->v[i]));

		if (file_copy(files->v[i], to, 0755, err) < 0)
			return -1;
		strv_add(ret, to);
	}
	return 0;
}

void cross_tools_find(const struct run *r, const char *meson_file, struct cross_tools *ret)
{
	const char *list = getenv("PATH"), *root = r->plan.build.sysroot;
	const char *triple = r->target.gnu, *gnu = r->target.foreign ? triple : NULL;
	int llvm = r->cc ? r->cc->llvm : 0;

	*ret = (struct cross_tools){
		.ar = toolchain_binutil(gnu, llvm, "ar", list),
		.ranlib = toolchain_binutil(gnu, llvm, "ranlib", list),
		.nm = toolchain_binutil(gnu, llvm, "nm", list),
		.strip = toolchain_binutil(gnu, llvm, "strip", list),
		.objcopy = toolchain_binutil(gnu, llvm, "objcopy", list),
	};
	if (root)
		ret->pkg_config = xasprintf(
			"%s/usr/lib/%s/pkgconfig:%s/usr/lib/pkgconfig:%s/usr/share/pkgconfig", root,
			triple, root, root);
	else
		ret->pkg_config = xasprintf(
			"/usr/lib/%s/pkgconfig:/usr/%s/lib/pkgconfig:/usr/share/pkgconfig", triple,
			triple);
	ret->c = (struct build_cross){
		.target = &r->target,
		.ar = ret->ar,
		.ranlib = ret->ranlib,
		.nm = ret->nm,
		.strip = ret->strip,
		.objcopy = ret->objcopy,
		.sysroot = root,
		.pkg_config = ret->pkg_config,
		.emulator = &r->emulator.words,
		.meson_file = meson_file,
	};
}

void cross_tools_release(struct cross_tools *t)
{
	free(t->ar);
	free(t->ranlib);
	free(t->nm);
	free(t->strip);
	free(t->objcopy);
	free(t->pkg_config);
}

char *cross_command(const struct run *r, const struct compiler *c)
{
	auto_strv struct strv words = STRV_INIT;

	strv_add(&words, path_basename(c->path));
	/* The crate cc tells clang the target by itself, and compiles for this machine, too. */
	if (r->plan.build.tool != TOOL_CARGO)
		strv_add_all(&words, &c->words);
	return strv_join(&words, " ");
}

int cross_check_binary(const struct run *r, const char *path, struct error *err)
{
	const struct target_processor *p = r->target.processor;
	struct elf_facts f = {0};
	int result = 0;

	if (!p)
		return 0;
	if (elf_facts_read(path, &f, err) < 0)
		return -1;
	if (strcmp(f.machine, p->elf) != 0)
		result = error_set(err, ERR_CONFIG,
			"%s:%d:%d: the plain build made '%s' for %s, not for the target %s: the "
			"build does not call the compiler by which it is told, CC; give it {cc} by "
			"its own means, for example args: [\"CC={cc}\"]",
			r->plan.file, r->plan.build.at.line, r->plan.build.at.column,
			path_basename(path), f.machine, r->target.triple);
	elf_facts_release(&f);
	return result;
}

char *cross_cxx_command(const struct run *r)
{
	const struct compiler *found = NULL;

	for (size_t i = 0; i < r->n_compilers && r->cc && !found; i++) {
		const struct compiler *c = &r->compilers[i];

		if (strstr(path_basename(c->path), "++") && c->family == r->cc->family &&
			c->major == r->cc->major)
			found = c;
	}
	return found ? cross_command(r, found) : xstrdup("c++");
}
