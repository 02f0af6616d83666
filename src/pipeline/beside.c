/* Compilers beside the plan's own. The plain build tells which ones the project calls: a build
 * script that compiles C by an older clang than rustc's LLVM, a makefile with a compiler for one
 * file. Each gets flags and a profile like the main one; where the layouts of their counters
 * differ, a runtime of its own (wrap/retag.h). What is of the other kind, clang beside gcc or gcc
 * beside clang and rustc, is kinds.c's. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "pipeline/cross.h"
#include "pipeline/run.h"
#include "wrap/node.h"
#include "wrap/wrap.h"

static bool same_program(const char *a, const char *b)
{
	char x[PATH_MAX], y[PATH_MAX];

	return realpath(a, x) && realpath(b, y) && strcmp(x, y) == 0;
}

static const struct compiler *known(const struct run *r, const char *tool)
{
	for (size_t i = 0; i < r->n_compilers; i++)
		if (same_program(r->compilers[i].path, tool))
			return &r->compilers[i];
	return NULL;
}

/* Those that can stand beside the plan's own: in a program by gcc, clang's; in another one, gcc's,
 * too. */
static bool may_take_part(const struct run *r, const char *tool)
{
	enum compiler_family family = compiler_family_of(tool);

	return family == FAMILY_CLANG || (family == FAMILY_GCC && run_main_of(r, PROFILE_LLVM));
}

/* What is to be said of it has been said by the probe. */
static bool is_zig(const struct run *r, const char *tool)
{
	return r->zig_cc && same_program(r->zig_cc, tool);
}

/* One that cannot be used stays foreign: its objects are listed, and that is said. */
static int add(struct run *r, const char *tool, struct error *err)
{
	struct error why = ERROR_INIT;
	struct compiler c = {0};
	int result = 0;

	if (cross_probe(r, NULL, tool, getenv("PATH"), &c, &why) == 0) {
		if ((c.family == FAMILY_CLANG || c.family == FAMILY_GCC) && c.runtime &&
			r->n_compilers < RUN_COMPILERS_MAX)
			r->compilers[r->n_compilers++] = c;
		else
			compiler_release(&c);
	} else if (error_is_no_answer(&why)) {
		result = error_move(err, &why);
	} else {
		events_warning(r->o->events, "what '%s' compiles is built without a profile: %s",
			tool, why.msg);
	}
	error_release(&why);
	return result;
}

static int add_called(struct run *r, struct error *err)
{
	const struct compile_log *l = &r->plain.facts.log;
	auto_strv struct strv tools = STRV_INIT;

	for (size_t i = 0; i < l->n; i++) {
		const struct compile_record *c = &l->v[i];

		if ((c->class != CLASS_FOREIGN && c->class != CLASS_TARGET) || c->parent ||
			c->kind == CALL_RUSTC || !c->tool || strv_has(&tools, c->tool))
			continue;
		strv_add(&tools, c->tool);
	}
	/* The order of the calls is another one each time. */
	strv_sort(&tools);
	for (size_t i = 0; i < tools.n; i++)
		if (may_take_part(r, tools.v[i]) && !known(r, tools.v[i]) &&
			!is_zig(r, tools.v[i]) && add(r, tools.v[i], err) < 0)
			return -1;
	return 0;
}

static bool has_runtime(const struct run *r, int raw)
{
	for (size_t i = 0; i < r->n_runtimes; i++)
		if (r->runtimes[i].raw_version == raw)
			return true;
	return false;
}

/* The newest of those that write the same version: it knows most. */
static const struct compiler *newest_of(const struct run *r, int raw)
{
	const struct compiler *best = NULL;

	for (size_t i = 0; i < r->n_compilers; i++)
		if (wrap_other_layout(run_main_of(r, PROFILE_LLVM), &r->compilers[i]) == raw &&
			(!best || r->compilers[i].llvm > best->llvm))
			best = &r->compilers[i];
	return best;
}

static int make_runtimes(struct run *r, const struct compiler *linker, struct error *err)
{
	auto_free char *folder = store_path(&r->store, "hook");

	for (size_t i = 0; i < r->n_compilers; i++) {
		int raw = wrap_other_layout(run_main_of(r, PROFILE_LLVM), &r->compilers[i]);
		char *out;

		if (!raw || has_runtime(r, raw))
			continue;
		out = xasprintf("%s/runtime-%d-%.16s.a", folder, raw, r->toolchain_id);
		r->runtimes = xreallocarray(r->runtimes, r->n_runtimes + 1, sizeof(*r->runtimes));
		r->runtimes[r->n_runtimes++] = (struct wrap_runtime){raw, out};
		if (wrap_build_runtime(linker, newest_of(r, raw), r->cross ? r->target.gnu : NULL,
			    out, err) < 0)
			return -1;
	}
	return 0;
}

const struct compiler *run_main_compiler(const struct run *r)
{
	return r->rustc ? r->rustc : r->cc;
}

int run_probe_beside(struct run *r, struct error *err)
{
	size_t before = r->n_compilers;

	if (add_called(r, err) < 0)
		return -1;
	if (r->n_compilers != before)
		run_identify_toolchain(r);
	if (run_choose_beside(r, err) < 0)
		return -1;
	return make_runtimes(r, run_hook_compiler(r), err);
}
