#include "wrap/wrap.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "wrap/classify.h"
#include "wrap/hook_source.h"
#include "wrap/launcher.h"
#include "wrap/node.h"
#include "wrap/shim.h"

/* Goes up whenever what the shim does to a call changes: part of every token. */
#define WRAP_VERSION "whet wrapper 8"

#define EVIDENCE_PROGRAM "whet-evidence"
#define ORDER_PROGRAM "whet-order"

static bool is_c(const struct compiler *c)
{
	return c->family == FAMILY_CLANG || c->family == FAMILY_GCC;
}

static bool is_cxx_name(const char *name)
{
	return strstr(name, "++") != NULL;
}

/* clang-22 and gcc-12 have their C++ driver beside them. NULL when there is none. */
static char *cxx_beside(const char *path)
{
	static const struct {
		const char *c, *cxx;
	} names[] = {{"clang", "clang++"}, {"gcc", "g++"}, {"cc", "c++"}};
	const char *base = path_basename(path);
	auto_free char *folder = path_dirname(path);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *at = strstr(base, names[i].c);
		auto_free char *candidate = NULL;

		if (!at || is_cxx_name(base))
			continue;
		candidate = xasprintf("%s/%.*s%s%s", folder, (int)(at - base), base, names[i].cxx,
			at + strlen(names[i].c));
		return access(candidate, X_OK) == 0 ? take_ptr(candidate) : NULL;
	}
	return NULL;
}

struct preparation {
	const struct wrap_node *n;
	struct shim_node node;
	char *path; /* PATH without the shim folder */
};

static bool same_file(const char *a, const char *b)
{
	char x[PATH_MAX], y[PATH_MAX];

	return realpath(a, x) && realpath(b, y) && strcmp(x, y) == 0;
}

/* The program behind a masquerade; a masquerade of every compiler is the same file. */
static char *real_compiler(const struct preparation *p, const char *path)
{
	char *masked = launcher_masked(path, p->path);

	return masked ? masked : xstrdup(path);
}

/* The index of the node's compiler that a program is, or -1. path: no masquerade. */
static int compiler_index(const struct preparation *p, const char *path)
{
	for (size_t i = 0; i < p->n->n_compilers; i++) {
		const struct compiler *c = &p->n->compilers[i];
		auto_free char *own = real_compiler(p, c->path);
		auto_free char *beside = cxx_beside(c->path);
		auto_free char *cxx = beside ? real_compiler(p, beside) : NULL;

		if (is_c(c) && (same_file(own, path) || (cxx && same_file(cxx, path))))
			return (int)i;
	}
	return -1;
}

/* "aarch64-linux-gnu" of "aarch64-linux-gnu-gcc-12", which tells a driver what to compile for. A
 * name with one dash has no triple in front: "ccache-gcc". */
static char *machine_of(const char *name)
{
	static const char *const stems[] = {"-clang", "-gcc", "-g++", "-c++", "-cc"};

	for (size_t i = 0; i < ARRAY_SIZE(stems); i++) {
		const char *at = strstr(name, stems[i]);

		if (at && memchr(name, '-', (size_t)(at - name)))
			return xstrndup(name, (size_t)(at - name));
	}
	return NULL;
}

static void add_tool(struct preparation *p, const char *name, const char *path)
{
	struct shim_node *s = &p->node;
	struct node_tool t = {.cxx = is_cxx_name(name)};

	if (shim_node_tool(s, name))
		return;
	t.name = xstrdup(name);
	t.path = real_compiler(p, path);
	t.machine = machine_of(name);
	if (strcmp(t.path, path) != 0)
		t.launcher = xstrdup(path);
	t.compiler = compiler_index(p, t.path);
	t.bare_linker = is_linker_name(name);
	t.family =
		t.compiler >= 0 ? p->n->compilers[t.compiler].family : compiler_family_of(t.path);
	array_reserve(s->tools, s->n_tools, s->cap_tools);
	s->tools[s->n_tools++] = t;
}

static void add_own_compilers(struct preparation *p)
{
	const char *cc = NULL, *cxx = NULL;
	auto_free char *beside = NULL;

	for (size_t i = 0; i < p->n->n_compilers; i++) {
		const struct compiler *c = &p->n->compilers[i];

		if (!is_c(c) || c->zig)
			continue;
		if (is_cxx_name(path_basename(c->path)))
			cxx = cxx ? cxx : c->path;
		else
			cc = cc ? cc : c->path;
	}
	if (!cxx && cc)
		cxx = beside = cxx_beside(cc);
	if (cc)
		add_tool(p, "cc", cc);
	if (cxx)
		add_tool(p, "c++", cxx);
	for (size_t i = 0; i < p->n->n_compilers; i++) {
		const struct compiler *c = &p->n->compilers[i];
		auto_free char *other = is_c(c) ? cxx_beside(c->path) : NULL;

		if (is_c(c))
			add_tool(p, path_basename(c->path), c->path);
		if (other)
			add_tool(p, path_basename(other), other);
	}
}

/* clang, clang++-22, gcc, g++-12, x86_64-linux-gnu-gcc, … */
static bool is_compiler_name(const char *name)
{
	static const char *const stems[] = {"clang++", "clang", "gcc", "g++", "c++", "cc"};
	const char *dash = strrchr(name, '-');
	size_t n = strlen(name);

	if (dash && dash[1] && dash[1 + strspn(dash + 1, "0123456789.")] == 0)
		n = (size_t)(dash - name);
	for (size_t i = 0; i < ARRAY_SIZE(stems); i++) {
		size_t k = strlen(stems[i]);

		if (n < k || memcmp(name + n - k, stems[i], k) != 0)
			continue;
		/* a prefix must be a target triple: "ccache-gcc" or "afl-clang" is another tool */
		if (n == k)
			return true;
		return name[n - k - 1] == '-' && memchr(name, '-', n - k - 1) != NULL;
	}
	return false;
}

/* Every other compiler in PATH is put under the shim too, so that its calls leave a record, and
 * every linker: a build may call it by itself. */
static void add_path_compilers(struct preparation *p)
{
	for (const char *list = p->path; list && *list;) {
		const char *end = strchrnul(list, ':');
		auto_free char *folder = xstrndup(list, (size_t)(end - list));
		DIR *d = opendir(*folder ? folder : ".");
		struct dirent *e;

		while (d && (e = readdir(d))) {
			auto_free char *path = path_join(folder, e->d_name);

			if ((is_compiler_name(e->d_name) || is_linker_name(e->d_name)) &&
				!path_is_dir(path) && access(path, X_OK) == 0)
				add_tool(p, e->d_name, path);
		}
		if (d)
			closedir(d);
		list = *end ? end + 1 : NULL;
	}
}

const struct compiler *wrap_llvm_main(const struct compiler *main, const struct compiler *beside)
{
	return toolchain_profile_kind(main) == PROFILE_LLVM ? main : beside;
}

static const struct compiler *llvm_main(const struct wrap_node *n)
{
	return wrap_llvm_main(n->main, n->beside);
}

static bool takes_part(const struct wrap_node *n, const struct compiler *c)
{
	return toolchain_takes_part(n->main, c) ||
	       (n->beside && toolchain_takes_part(n->beside, c));
}

int wrap_other_layout(const struct compiler *main, const struct compiler *c)
{
	int raw = toolchain_raw_version(c);

	return main && toolchain_takes_part(main, c) && c->family == FAMILY_CLANG &&
			       raw != toolchain_raw_version(main)
		       ? raw
		       : 0;
}

static const char *profile_of(const struct wrap_node *n, size_t compiler)
{
	return n->profiles ? n->profiles[compiler] : NULL;
}

struct flags {
	struct strv compile, link, lto;
};

static void flags_release(struct flags *f)
{
	strv_release(&f->compile);
	strv_release(&f->link);
	strv_release(&f->lto);
}

/* What the optimised link reads must be of one LLVM, and machine code where counters are retagged
 * or where another compiler than cargo's own links. */
static enum plan_lto lto_of(const struct wrap_node *n, const struct compiler *c)
{
	bool same = n->main && n->main->llvm == c->llvm && !wrap_other_layout(llvm_main(n), c);

	if (c->family == FAMILY_RUSTC)
		return n->build.lto;
	return same && !n->target_dir && toolchain_takes_part(n->main, c) ? n->build.lto
									  : PLAN_LTO_DEFAULT;
}

/* Where a profile is to be used, a compiler without one gets what the plain mode adds. */
static void flags_of(const struct wrap_node *n, const struct compiler *c, const char *profile,
	const char *hook, struct flags *ret)
{
	auto_strv struct strv archives = STRV_INIT;
	struct toolchain_link link = {.hook = hook, .archives = &archives};
	struct toolchain_build build = n->build;

	if (!takes_part(n, c))
		return;
	/* Which compilers there are beside the plan's own is known after the plain build, which
	 * has called them without it. */
	if (toolchain_profile_kind(c) != toolchain_profile_kind(n->main))
		build.cpu = NULL;
	if ((build.mode == MODE_OPTIMISED || build.context_sensitive) && !profile)
		build.mode = MODE_PLAIN;
	build.lto = lto_of(n, c);
	for (size_t i = 0; i < n->n_runtimes; i++)
		strv_add(&archives, n->runtimes[i].archive);
	link.gcov = n->gcov;
	if (wrap_other_layout(llvm_main(n), c) || (n->gcov && c->family == FAMILY_GCC))
		link.runtime = llvm_main(n)->runtime;
	else
		link.resource = c->resource;
	build.profile = profile;
	toolchain_compile_flags(c, &build, &ret->compile);
	if (c->family == FAMILY_GCC && build.mode == MODE_OPTIMISED)
		toolchain_gcc_base(n->slot, &ret->compile);
	toolchain_link_flags(c, &build, &link, &ret->link);
	toolchain_lto_flags(c, &build, &ret->lto);
}

static void add_flags(struct preparation *p)
{
	const struct wrap_node *n = p->n;
	struct shim_node *s = &p->node;

	for (size_t i = 0; i < n->n_compilers; i++) {
		struct node_compiler c = {.family = n->compilers[i].family,
			.profile = xstrdup(profile_of(n, i)),
			.takes_part = takes_part(n, &n->compilers[i]),
			.retag = wrap_other_layout(llvm_main(n), &n->compilers[i])};
		struct flags f = {0};

		flags_of(n, &n->compilers[i], c.profile, n->hook, &f);
		c.compile = f.compile;
		c.link = f.link;
		c.lto_words = f.lto;
		c.lto = lto_of(n, &n->compilers[i]);
		if (c.family == FAMILY_CLANG && c.lto > PLAN_LTO_NONE)
			c.lto_linker = xstrdup(n->lto_linker);
		array_reserve(s->compilers, s->n_compilers, s->cap_compilers);
		s->compilers[s->n_compilers++] = c;
	}
}

/* A link `name` in the shim folder to a program. */
static int link_to(const struct preparation *p, const char *name, const char *to, struct error *err)
{
	auto_free char *path = path_join(p->n->folder, name);
	auto_free char *temporary = xasprintf("%s.%d", path, (int)getpid());
	char now[PATH_MAX];
	ssize_t n = readlink(path, now, sizeof(now) - 1);

	if (n >= 0) {
		now[n] = 0;
		if (strcmp(now, to) == 0)
			return 0;
	}
	(void)unlink(temporary);
	if (symlink(to, temporary) < 0 || rename(temporary, path) < 0)
		return error_set(err, ERR_IO, "cannot make '%s': %s", path, strerror(errno));
	return 0;
}

static int link_name(const struct preparation *p, const char *name, struct error *err)
{
	return link_to(p, name, p->n->shim, err);
}

/* gcc looks for lld by this name in the folders of -B. */
static int make_relinker(const struct preparation *p, struct error *err)
{
	auto_free char *folder = path_join(p->n->folder, RELINK_FOLDER);

	if (!p->n->relinks)
		return 0;
	if (dir_create(folder, 0755, err) < 0)
		return -1;
	return link_to(p, RELINK_FOLDER "/ld.lld", p->n->relinker, err);
}

/* A launcher that is not there gets no name either: a build may look for one and use it. */
static int link_launchers(const struct preparation *p, struct error *err)
{
	for (const struct launcher *l = launchers; l->name; l++) {
		auto_free char *path = path_find_program(l->name, p->path, NULL);

		if (path && link_name(p, l->name, err) < 0)
			return -1;
	}
	return link_name(p, LAUNCHER_PREFIX "ccache", err);
}

static int make_linkers(const struct preparation *p, struct error *err)
{
	auto_free char *folder = path_join(p->n->folder, KEEP_FOLDER);

	if (dir_create(folder, 0755, err) < 0)
		return -1;
	for (const char *const *l = shim_linkers; *l; l++) {
		auto_free char *name = xasprintf(KEEP_FOLDER "/%s", *l);

		if (link_name(p, name, err) < 0)
			return -1;
	}
	return 0;
}

static int make_folder(const struct preparation *p, struct error *err)
{
	if (dir_create(p->n->folder, 0755, err) < 0 || link_name(p, SHIM_RUSTC, err) < 0)
		return -1;
	for (size_t i = 0; i < p->node.n_tools; i++)
		if (link_name(p, p->node.tools[i].name, err) < 0)
			return -1;
	if (p->node.zig && link_name(p, ZIG, err) < 0)
		return -1;
	if (link_launchers(p, err) < 0 || make_relinker(p, err) < 0)
		return -1;
	return make_linkers(p, err);
}

/* Programs run by the build may run as another user; their profiles still land here. */
static int make_quarantine(const struct wrap_node *n, struct error *err)
{
	if (!n->quarantine)
		return 0;
	if (dir_create(n->quarantine, 0755, err) < 0)
		return -1;
	if (chmod(n->quarantine, 01777) < 0)
		return error_set(err, ERR_IO, "cannot set the mode of '%s': %s", n->quarantine,
			strerror(errno));
	return 0;
}

static int check(const struct wrap_node *n, const char *evidence, struct error *err)
{
	if (access(n->shim, X_OK) != 0)
		return error_set(err, ERR_ENVIRONMENT,
			"the shim '%s' is missing or cannot be run: whet is not installed whole",
			n->shim);
	if (access(evidence, X_OK) != 0)
		return error_set(err, ERR_ENVIRONMENT,
			"'%s' is missing or cannot be run: whet is not installed whole", evidence);
	if (n->build.mode == MODE_INSTRUMENTED && n->hook && access(n->hook, R_OK) != 0)
		return error_set(err, ERR_IO, "the fork hook '%s' cannot be read", n->hook);
	return 0;
}

static void add_zig(struct preparation *p)
{
	auto_free char *cxx = p->n->zig ? xasprintf("%s++", p->n->zig_cc) : NULL;

	if (!p->n->zig)
		return;
	add_tool(p, ZIG_CC, p->n->zig_cc);
	add_tool(p, ZIG_CXX, cxx);
}

static void fill(struct preparation *p)
{
	const struct wrap_node *n = p->n;
	struct shim_node *s = &p->node;

	s->mode = n->build.mode;
	s->folder = xstrdup(n->folder);
	s->space = xcalloc(1, SHA256_HEX);
	wrap_token(n, s->space);
	s->log = xstrdup(n->log);
	s->slot = xstrdup(n->slot);
	s->target_dir = xstrdup(n->target_dir);
	s->target = xstrdup(n->target);
	s->cross = xstrdup(n->cross);
	for (size_t i = 0; i < n->n_compilers && !s->rust_linker; i++)
		if (n->compilers[i].linker)
			s->rust_linker = xstrdup(path_basename(n->compilers[i].linker));
	s->instrument_linker = xstrdup(n->instrument_linker);
	s->zig = xstrdup(n->zig);
	s->relinks = n->relinks;
	s->relinker = xstrdup(n->relinks ? n->relinker : NULL);
	s->relocs = n->relocs;
	s->order = xstrdup(n->order);
	if (n->relinks || n->order || n->relocs)
		strv_add_all(&s->released, n->released);
	add_flags(p);
	add_own_compilers(p);
	add_path_compilers(p);
	add_zig(p);
	if (n->instrument_linker && !strchr(n->instrument_linker, '/')) {
		auto_free char *path = path_find_program(n->instrument_linker, p->path, NULL);

		if (path)
			add_tool(p, n->instrument_linker, path);
	}
}

int wrap_prepare(const struct wrap_node *n, struct error *err)
{
	auto_free char *beside = path_dirname(n->shim);
	auto_free char *evidence = path_join(beside, EVIDENCE_PROGRAM);
	const char *list = getenv("PATH");
	struct preparation p = {.n = n};
	int r = -1;

	if (check(n, evidence, err) < 0)
		return -1;
	p.path = path_list_without(list ? list : "/usr/bin:/bin", n->folder);
	p.node.evidence = xstrdup(evidence);
	p.node.order_program = path_join(beside, ORDER_PROGRAM);
	fill(&p);
	if (dir_create(n->log, 0755, err) == 0 && make_quarantine(n, err) == 0 &&
		make_folder(&p, err) == 0)
		r = shim_node_write(&p.node, n->node_file, err);
	shim_node_release(&p.node);
	free(p.path);
	return r;
}

/* An inherited wrapper (sccache) is chained inside, so that it sees the flags. cargo takes the
 * first that is set, an empty one too: then there is none. */
static void chain_rustc_wrapper(const struct wrap_node *n, struct strv *env)
{
	auto_free char *own = path_join(n->folder, SHIM_RUSTC);
	const char *inherited = env_get(env, "RUSTC_WRAPPER");
	auto_free char *inner = NULL;

	if (inherited && strcmp(inherited, own) == 0)
		return;
	if (!inherited)
		inherited = n->rustc_wrapper;
	if (inherited && *inherited)
		inner = xstrdup(inherited);
	env_set(env, ENV_RUSTC_WRAPPER, inner);
	env_set(env, "RUSTC_WRAPPER", own);
}

/* cargo-zigbuild takes the zig of the shim folder, and that one remembers no objects of other
 * builds: an answer from its cache has no diagnostics. Its own libraries lie in the other cache. */
static void lend_zig(const struct wrap_node *n, struct strv *env)
{
	auto_free char *zig = path_join(n->folder, ZIG);
	const char *tmp = env_get(env, "TMPDIR");
	auto_free char *cache =
		xasprintf("%s/zig-%d", tmp && *tmp ? tmp : n->slot, (int)n->build.mode);

	env_set(env, "CARGO_ZIGBUILD_ZIG_PATH", zig);
	env_set(env, "CARGO_ZIGBUILD_PYTHON_PATH", "/dev/null");
	env_set(env, "ZIG_LOCAL_CACHE_DIR", cache);
}

void wrap_environment(const struct wrap_node *n, bool configure, struct strv *env)
{
	const char *list = env_get(env, "PATH");
	auto_free char *rest = path_list_without(list ? list : "/usr/bin:/bin", n->folder);
	auto_free char *path = xasprintf("%s:%s", n->folder, rest);

	env_set(env, "PATH", path);
	env_set(env, ENV_NODE, n->node_file);
	env_set(env, ENV_OBSERVE, configure ? "1" : NULL);
	env_set(env, ENV_PARENT, NULL);
	env_set(env, ENV_PARENT_CLASS, NULL);
	env_set(env, "WHET_PROFILE_DIR", NULL);
	chain_rustc_wrapper(n, env);
	launchers_switch_off(env, n->folder);
	if (n->zig)
		lend_zig(n, env);
	if (n->quarantine) {
		auto_free char *raw = path_join(n->quarantine, "%p.profraw");

		env_set(env, "LLVM_PROFILE_FILE", raw);
		env_set(env, "GCOV_PREFIX", n->quarantine);
	}
}

static void add_list(struct sha256 *h, const struct strv *list)
{
	for (size_t i = 0; i < list->n; i++)
		sha256_adds(h, list->v[i]);
	sha256_adds(h, "");
}

/* Profiles are named by their content, so the base name says all, whatever folder it lies in. */
void wrap_token(const struct wrap_node *n, char hex[65])
{
	struct sha256 h;

	sha256_begin(&h);
	sha256_adds(&h, WRAP_VERSION);
	sha256_adds(&h, n->build.mode == MODE_INSTRUMENTED ? hook_source : "");
	sha256_add(&h, &(uint32_t){(uint32_t)n->build.mode}, sizeof(uint32_t));
	sha256_adds(&h, n->target);
	sha256_adds(&h, n->cross);
	sha256_adds(&h, n->build.mode == MODE_INSTRUMENTED ? n->instrument_linker : NULL);
	sha256_adds(&h, n->rustc_wrapper);
	for (size_t i = 0; i < n->n_compilers; i++) {
		const struct compiler *c = &n->compilers[i];
		const char *profile = profile_of(n, i);
		uint32_t lto = (uint32_t)lto_of(n, c);
		struct flags f = {0};

		flags_of(n, c, profile ? path_basename(profile) : NULL, "hook", &f);
		sha256_adds(&h, c->path);
		sha256_adds(&h, c->version);
		sha256_adds(&h, c->target);
		add_list(&h, &c->words);
		add_list(&h, &f.compile);
		add_list(&h, &f.link);
		if (lto != PLAN_LTO_DEFAULT) {
			sha256_add(&h, &lto, sizeof(lto));
			sha256_adds(&h, n->lto_linker);
		}
		flags_release(&f);
	}
	/* A kept folder whose link is not done again would have no relinks. */
	if (n->relinks) {
		sha256_add(&h, &n->relinks, sizeof(n->relinks));
		sha256_adds(&h, n->relinker);
		add_list(&h, n->released);
	}
	/* Named by its content. */
	if (n->order) {
		sha256_adds(&h, path_basename(n->order));
		add_list(&h, n->released);
	}
	if (n->relocs) {
		sha256_adds(&h, "relocs");
		add_list(&h, n->released);
	}
	sha256_end(&h, hex);
}
