/* Probe: the compilers, the hook, a scratch folder; what an interrupted run left is cleaned up. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "buildtool/buildtool.h"
#include "pipeline/cross.h"
#include "pipeline/note.h"
#include "pipeline/layout.h"
#include "pipeline/run.h"
#include "pipeline/strays.h"
#include "pipeline/trained.h"
#include "train/train.h"
#include "wrap/wrap.h"

/* ---- compilers ---- */

static struct compiler *add_compiler(struct run *r, struct compiler *c)
{
	r->compilers[r->n_compilers] = *c;
	return &r->compilers[r->n_compilers++];
}

/* One that is not there or cannot be used is left out; one that gives no answer stops the build. */
static int add_optional(struct run *r, const char *name, const char *path_list, struct error *err)
{
	struct error why = ERROR_INIT;
	struct compiler c = {0};

	if (name && cross_probe(r, NULL, name, path_list, &c, &why) == 0)
		add_compiler(r, &c);
	if (error_is_no_answer(&why))
		return error_move(err, &why);
	error_release(&why);
	return 0;
}

/* gcc is the compiler of a whole program: its counters need gcc's runtime, and not beside rustc's.
 */
static int check_c(const struct run *r, const struct compiler *c, struct error *err)
{
	if (c->family == FAMILY_CLANG)
		return 0;
	if (c->family == FAMILY_GCC && !r->rustc)
		return toolchain_check_gcc(c, err);
	return error_set(err, ERR_ENVIRONMENT,
		"'%s' is no clang: %s; set build.compiler, for example to clang-22", c->path,
		c->family == FAMILY_GCC
			? "beside rustc this version instruments clang alone (without 'compiler' "
			  "what gcc compiles is left as it is, and listed)"
			: "this version instruments clang, gcc and rustc");
}

static int probe_c(struct run *r, const char *path_list, struct error *err)
{
	const struct plan_build *b = &r->plan.build;
	auto_free char *derived = NULL, *name = xstrdup(b->compiler);
	struct compiler c = {0};

	if (!name) {
		if (toolchain_find_clang(path_list, &c, err) < 0)
			return -1;
		name = xstrdup(c.path);
		compiler_release(&c);
	}
	if (cross_probe(r, NULL, name, path_list, &c, err) < 0)
		return -1;
	if (check_c(r, &c, err) < 0) {
		compiler_release(&c);
		return -1;
	}
	r->cc = add_compiler(r, &c);
	derived = b->cxx ? xstrdup(b->cxx) : toolchain_cxx_name(r->cc->path);
	return add_optional(r, derived, path_list, err);
}

/* RUSTC_WRAPPER hides what cargo's settings name, so it is asked for and chained. */
static int probe_rustc_wrapper(struct run *r, struct error *err)
{
	const struct plan_build *b = &r->plan.build;
	auto_strv struct strv words = STRV_INIT, cargo = STRV_INIT, settings = STRV_INIT;
	struct error why = ERROR_INIT;

	if (b->cargo)
		strv_split_words(&words, b->cargo);
	/* Another front end (cross) reads the same settings by way of cargo. */
	strv_add(&cargo,
		words.n && strcmp(path_basename(words.v[0]), "cargo") == 0 ? words.v[0] : "cargo");
	if (words.n > 1 && words.v[1][0] == '+')
		strv_add(&cargo, words.v[1]);
	for (size_t i = 0; i < b->args.n; i++) {
		if (strcmp(b->args.v[i], "--config") == 0 && i + 1 < b->args.n) {
			strv_add(&settings, b->args.v[i]);
			strv_add(&settings, b->args.v[++i]);
		} else if (strncmp(b->args.v[i], "--config=", 9) == 0) {
			strv_add(&settings, b->args.v[i]);
		}
	}
	if (toolchain_cargo_rustc_wrapper(
		    &cargo, &settings, r->source_root, &r->rustc_wrapper, &why) < 0) {
		if (error_is_no_answer(&why))
			return error_move(err, &why);
		events_warning(r->o->events,
			"cargo does not tell whether its settings name a build.rustc-wrapper; one "
			"that they name is left out: %s",
			why.msg);
	}
	error_release(&why);
	return 0;
}

/* The program's runtime is that of rustc: it serves every LLVM with the same layout of counters. */
static bool lacks_runtime(const struct run *r, const struct compiler *c)
{
	return !c->runtime && wrap_other_layout(run_main_compiler(r), c);
}

enum zig_use { ZIG_NOT, ZIG_MAYBE, ZIG_SURELY };

/* A script of the project may lead to it. */
static enum zig_use zig_use(const struct run *r)
{
	auto_strv struct strv words = STRV_INIT;

	if (r->plan.build.cargo)
		strv_split_words(&words, r->plan.build.cargo);
	if (strv_has(&words, "zigbuild"))
		return ZIG_SURELY;
	return words.n && strchr(words.v[0], '/') ? ZIG_MAYBE : ZIG_NOT;
}

/* Its C is clang's, by an LLVM of its own. */
static int probe_zig(struct run *r, const char *path_list, struct error *err)
{
	auto_free char *folder = store_path(&r->store, "zig");
	enum zig_use use = zig_use(r);
	struct compiler c = {0};
	struct zig z = {0};
	int result;

	if (use == ZIG_NOT)
		return 0;
	if (toolchain_find_zig(path_list, &z, err) < 0) {
		if (use == ZIG_SURELY || error_is_no_answer(err))
			return -1;
		error_release(err);
		return 0;
	}
	result = wrap_make_zig_drivers(z.path, folder, &r->zig_cc, err);
	if (result == 0)
		result = toolchain_probe_zig(r->zig_cc, &z, path_list, &c, err);
	if (result == 0) {
		r->zig = xstrdup(z.path);
		if (lacks_runtime(r, &c)) {
			events_warning(r->o->events,
				"what zig compiles is built without a profile: its counters "
				"(LLVM %d) are laid out otherwise than those of rustc (LLVM %d), "
				"and zig brings no runtime for them",
				c.llvm, r->rustc->llvm);
			compiler_release(&c);
		} else {
			add_compiler(r, &c);
		}
	}
	zig_release(&z);
	return result;
}

static int probe_rust(struct run *r, const char *path_list, struct error *err)
{
	struct compiler c = {0};

	/* Asked in the source folder: a rust-toolchain.toml there decides which one it is. */
	if (cross_probe(r, r->source_root, "rustc", path_list, &c, err) < 0)
		return -1;
	r->rustc = add_compiler(r, &c);
	if (!getenv("RUSTC_WRAPPER") && probe_rustc_wrapper(r, err) < 0)
		return -1;
	if (probe_zig(r, path_list, err) < 0)
		return -1;
	/* C code in the tree is compiled by the compiler that the plan names, if it names one. */
	return r->plan.build.compiler ? probe_c(r, path_list, err) : 0;
}

/* Its path says nothing of a runtime that a project brings. */
static void add_given_runtime(struct sha256 *h, const struct compiler *c)
{
	char hex[SHA256_HEX] = "";

	if (c->resource && sha256_file(c->runtime, hex, NULL) == 0)
		sha256_adds(h, hex);
}

void run_identify_toolchain(struct run *r)
{
	char hex[SHA256_HEX];
	struct sha256 h;

	sha256_begin(&h);
	for (size_t i = 0; i < r->n_compilers; i++) {
		sha256_adds(&h, r->compilers[i].path);
		sha256_adds(&h, r->compilers[i].version);
		sha256_adds(&h, r->compilers[i].runtime);
		sha256_adds(&h, r->compilers[i].linker);
		add_given_runtime(&h, &r->compilers[i]);
		for (size_t k = 0; k < r->compilers[i].words.n; k++)
			sha256_adds(&h, r->compilers[i].words.v[k]);
	}
	sha256_end(&h, hex);
	free(r->toolchain_id);
	r->toolchain_id = xstrdup(hex);
}

static int probe_compilers(struct run *r, struct error *err)
{
	const char *path_list = getenv("PATH");
	bool cargo = r->plan.build.tool == TOOL_CARGO;
	const char *gnu = r->cross ? r->target.gnu : "", *dash = r->cross ? "-" : "";
	auto_free char *gcc = xasprintf("%s%sgcc", gnu, dash);
	auto_free char *gxx = xasprintf("%s%sg++", gnu, dash);

	r->compilers = xcalloc(RUN_COMPILERS_MAX, sizeof(*r->compilers));
	if (cargo ? probe_rust(r, path_list, err) < 0 : probe_c(r, path_list, err) < 0)
		return -1;
	if (add_optional(r, gcc, path_list, err) < 0 || add_optional(r, gxx, path_list, err) < 0)
		return -1;
	run_identify_toolchain(r);
	return 0;
}

const struct compiler *run_hook_compiler(const struct run *r)
{
	if (r->cc)
		return r->cc;
	for (size_t i = 0; i < r->n_compilers; i++)
		if ((r->compilers[i].family == FAMILY_GCC ||
			    r->compilers[i].family == FAMILY_CLANG) &&
			!r->compilers[i].zig)
			return &r->compilers[i];
	return NULL;
}

static int make_hook(struct run *r, struct error *err)
{
	const struct compiler *c = run_hook_compiler(r);
	enum profile_kind kind = toolchain_profile_kind(run_main_compiler(r));
	auto_free char *folder = store_path(&r->store, "hook");

	if (!c)
		return error_set(err, ERR_ENVIRONMENT,
			"no C compiler found to build the fork hook and to link; install gcc or "
			"clang");
	if (dir_create(folder, 0755, err) < 0)
		return -1;
	r->hook = xasprintf("%s/hook-%.16s.o", folder, r->toolchain_id);
	return wrap_build_hook(c, kind, r->hook, err);
}

/* ---- the commit's time ---- */

static int set_epoch(struct run *r, struct error *err)
{
	const char *given = getenv("SOURCE_DATE_EPOCH");
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;

	r->epoch = 315532800; /* 1980-01-01: what archives can hold when nothing says better */
	if (given && *given) {
		r->epoch = strtoull(given, NULL, 10);
		return 0;
	}
	if (!r->commit)
		return 0;
	strv_split_words(&argv, "git log -1 --format=%ct");
	o.argv = &argv;
	o.cwd = r->plan.root;
	if (proc_capture(&o, 30000000000ULL, &lines, err) < 0)
		return error_context(err, "cannot ask git for the commit's time");
	if (lines.n)
		r->epoch = strtoull(lines.v[0], NULL, 10);
	return 0;
}

/* Whether tracked files differ from the commit. */
static int ask_dirty(struct run *r, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;

	strv_split_words(&argv, "git status --porcelain --untracked-files=no");
	o.argv = &argv;
	o.cwd = r->plan.root;
	if (proc_capture(&o, 30000000000ULL, &lines, err) < 0)
		return error_context(err, "cannot ask git for changed files");
	r->dirty = lines.n ? PAST_DIRTY : PAST_CLEAN;
	return 0;
}

/* Two different sources must not share the name of an artefact: tracked files that differ from the
 * commit show in the version. A version that the plan gives is the user's word; then only the
 * history asks, and goes without an answer. */
static int mark_dirty(struct run *r, struct error *err)
{
	struct error ignored = ERROR_INIT;
	char *version;

	r->dirty = PAST_DIRTY_UNKNOWN;
	if (!r->commit)
		return 0;
	if (r->plan.version) {
		(void)ask_dirty(r, &ignored);
		error_release(&ignored);
		return 0;
	}
	if (ask_dirty(r, err) < 0)
		return -1;
	if (r->dirty == PAST_CLEAN)
		return 0;
	version = xasprintf("%s-dirty", r->version);
	free(r->version);
	r->version = version;
	free(r->report->version);
	r->report->version = xstrdup(version);
	return 0;
}

/* What gcc's profiles do not have. A phase's own counters are read out of live processes, and gcc's
 * cannot be. */
static int check_gcc_plan(const struct run *r, struct error *err)
{
	struct place at;

	if (toolchain_profile_kind(run_main_compiler(r)) != PROFILE_GCC)
		return 0;
	at = plan_second_round_at(&r->plan);
	if (plan_has_second_round(&r->plan))
		return error_set(err, ERR_CONFIG,
			"%s:%d:%d: 'context-sensitive' is asked for, and %s has no second training "
			"after inlining; leave it out, or build by clang",
			r->plan.file, at.line, at.column, r->cc->version);
	if (r->given || !train_is_weighted(&r->plan.train))
		return 0;
	return error_set(err, ERR_CONFIG,
		"'%s': the phases' weights differ, and with %s they have none in the profile: the "
		"counters of a running program by gcc cannot be read between the phases\nleave "
		"'weight' out and let 'requests' and 'repeat' say how much a phase counts, or "
		"build by clang",
		r->plan.file, r->cc->version);
}

/* Said before the first compile. */
static int check_choice(const struct run *r, struct error *err)
{
	bool released = !r->o->until || strcmp(r->o->until, "release") == 0;

	if (!released || !r->o->no_bench || strcmp(r->plan.release.variant, PLAN_BEST) != 0)
		return 0;
	return error_set(err, ERR_USAGE,
		"release.variant is 'best', which is told by the comparison: leave out --no-bench, "
		"or name a variant in whet.yaml");
}

int node_probe(struct run *r, struct error *err)
{
	const struct plan_build *b = &r->plan.build;

	if (check_choice(r, err) < 0 || node_release_check(r, err) < 0 || run_begin(r, err) < 0 ||
		buildtool_check(b, r->source_root, err) < 0 || probe_compilers(r, err) < 0 ||
		cross_check(r, err) < 0 || check_gcc_plan(r, err) < 0 || round_check(r, err) < 0 ||
		run_probe_settings(r, err) < 0 || make_hook(r, err) < 0 ||
		node_relink_probe(r, err) < 0 || layout_probe(r, err) < 0)
		return -1;
	r->machine = note_machine();
	if (set_epoch(r, err) < 0)
		return -1;
	if (trained_check_kind(r, err) < 0)
		return -1;
	strays_warn(r);
	return mark_dirty(r, err);
}
