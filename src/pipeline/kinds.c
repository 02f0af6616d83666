/* Programs with both kinds of counters: LLVM's, and gcc's. The main compiler has one; where the
 * plain build shows that objects of the other reach a released binary, one of its compilers stands
 * beside it, and the program gets a runtime of each (wrap/gcov_runtime.c). */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "elf/elf_facts.h"
#include "pipeline/run.h"
#include "pipeline/trained.h"
#include "train/train.h"
#include "wrap/wrap.h"

const struct compiler *run_main_of(const struct run *r, enum profile_kind kind)
{
	const struct compiler *main = run_main_compiler(r);

	return toolchain_profile_kind(main) == kind ? main : r->beside;
}

bool run_takes_part(const struct run *r, const struct compiler *c)
{
	return toolchain_takes_part(run_main_compiler(r), c) ||
	       (r->beside && toolchain_takes_part(r->beside, c));
}

const char *run_published(const struct run *r, enum profile_kind kind)
{
	return toolchain_profile_kind(run_main_compiler(r)) == kind ? r->track->published
								    : r->track->published_beside;
}

static enum profile_kind other_kind(const struct run *r)
{
	return toolchain_profile_kind(run_main_compiler(r)) == PROFILE_GCC ? PROFILE_LLVM
									   : PROFILE_GCC;
}

/* ---- what reaches the binaries ------------------------------------------------------------------
 */

static bool same_program(const char *a, const char *b)
{
	auto_free char *x = path_resolve(a), *y = path_resolve(b);

	return x && y && strcmp(x, y) == 0;
}

static const struct compiler *compiler_of(const struct run *r, const char *tool)
{
	for (size_t i = 0; i < r->n_compilers; i++)
		if (same_program(r->compilers[i].path, tool))
			return &r->compilers[i];
	return NULL;
}

static const struct compile_record *record_of(const struct run *r, const struct object_fact *o)
{
	const struct compile_log *l = &r->plain.facts.log;

	for (size_t i = 0; o->record && i < l->n; i++)
		if (strcmp(l->v[i].id, o->record) == 0)
			return &l->v[i];
	return NULL;
}

/* Whether an object of the binary is made by a compiler that stands in `by`. */
static bool holds_objects_of(const struct run *r, const struct binary_fact *b, const bool *by)
{
	for (size_t i = 0; i < b->n_objects; i++) {
		const struct object_fact *o = &b->objects[i];
		const struct compile_record *c =
			o->class == OBJECT_FOREIGN || o->class == OBJECT_TARGET ? record_of(r, o)
										: NULL;
		const struct compiler *made = c && c->tool ? compiler_of(r, c->tool) : NULL;

		if (made && by[made - r->compilers])
			return true;
	}
	return false;
}

static bool reaches(const struct run *r, const struct compiler *c)
{
	bool by[RUN_COMPILERS_MAX] = {0};

	by[c - r->compilers] = true;
	for (size_t i = 0; i < r->plain.facts.n_binaries; i++)
		if (holds_objects_of(r, &r->plain.facts.binaries[i], by))
			return true;
	return false;
}

static int version_of(const struct compiler *c)
{
	return c->family == FAMILY_GCC ? c->major : c->llvm;
}

static bool can_be_beside(const struct run *r, const struct compiler *c)
{
	struct error why = ERROR_INIT;
	bool can = c->family != FAMILY_UNKNOWN && c->family != FAMILY_RUSTC && !c->zig &&
		   toolchain_profile_kind(c) == other_kind(r) && reaches(r, c);

	if (!can)
		return false;
	if (c->family == FAMILY_GCC && toolchain_check_gcc(c, &why) < 0) {
		events_warning(r->o->events, "what '%s' compiles is built without a profile: %s",
			c->path, why.msg);
		can = false;
	}
	error_release(&why);
	return can && c->runtime;
}

/* The newest: of several gcc one alone can be. */
static const struct compiler *find_beside(const struct run *r)
{
	const struct compiler *best = NULL;

	for (size_t i = 0; i < r->n_compilers; i++)
		if (can_be_beside(r, &r->compilers[i]) &&
			(!best || version_of(&r->compilers[i]) > version_of(best)))
			best = &r->compilers[i];
	return best;
}

/* ---- what keeps it from a profile ---------------------------------------------------------------
 */

/* A .gcda has no names: they come of the instrumented binary's symbols. */
static char *stripped(const struct run *r)
{
	bool by[RUN_COMPILERS_MAX] = {0};

	for (size_t i = 0; i < r->n_compilers; i++)
		by[i] = r->compilers[i].family == FAMILY_GCC;
	for (size_t i = 0; i < r->plain.facts.n_binaries; i++) {
		const struct binary_fact *b = &r->plain.facts.binaries[i];
		auto_free char *path = xasprintf("%s/bin/%s", r->plain.folder, b->name);
		auto_strv struct strv functions = STRV_INIT;

		if (!holds_objects_of(r, b, by))
			continue;
		elf_functions_of_file(path, &functions);
		if (!functions.n)
			return xasprintf("'%s' is linked without its symbols (strip, -s), of which "
					 "gcc's profiles take the functions' names; what ships is "
					 "stripped all the same (release: strip)",
				b->name);
	}
	return NULL;
}

/* A given profile that was published with another file, and that is not there. */
static int check_given(const struct run *r, struct error *err)
{
	auto_free char *path = xasprintf("%s.json", r->given);
	struct provenance p = {0};
	int result = 0;

	if (path_exists(path) && provenance_read(path, &p, err) == 0 && p.beside)
		result = error_set(err, ERR_CONFIG,
			"the given profile '%s' is one of two: what the other kind of compilers "
			"made was counted in another file, which was published with it (sha256 "
			"%.12s) and is not beside it\nput both files of one release, NAME.profdata "
			"and NAME" GCC_PROFILE_ENDING ", into one folder",
			r->given, p.beside);
	provenance_release(&p);
	return result;
}

/* gcc's counts belong to functions by their number in the source. */
static bool is_of_other_sources(const struct run *r)
{
	auto_free char *path = xasprintf("%s.json", r->given);
	struct error ignored = ERROR_INIT;
	struct provenance p = {0};
	bool other =
		provenance_read(path, &p, &ignored) < 0 || strcmp(p.source, r->sources.digest) != 0;

	error_release(&ignored);
	provenance_release(&p);
	return other;
}

/* *why: NULL when nothing does. */
static int find_obstacle(const struct run *r, char **why, struct error *err)
{
	enum profile_kind kind = other_kind(r);

	*why = NULL;
	if (r->cross) {
		*why = xstrdup("in a build for another machine a program has one kind of counters");
	} else if (plan_has_second_round(&r->plan)) {
		*why = xstrdup("context-sensitive profiles are LLVM's alone");
	} else if (r->given && !given_of(r, kind)) {
		if (check_given(r, err) < 0)
			return -1;
		*why = xstrdup("the given profile holds nothing of it");
	} else if (r->last_profile && kind == PROFILE_GCC && is_of_other_sources(r)) {
		*why = xstrdup("gcc's profiles fit the sources that were trained and no others, "
			       "and these are not (--profile last)");
	} else if (kind == PROFILE_GCC) {
		*why = stripped(r);
	}
	return 0;
}

/* ---- the calls of the plain build --------------------------------------------------------------
 */

static void reclass_objects(struct build_facts *f, const char *record, enum object_class to)
{
	enum object_class from = to == OBJECT_TARGET ? OBJECT_FOREIGN : OBJECT_TARGET;

	for (size_t b = 0; b < f->n_binaries; b++)
		for (size_t k = 0; k < f->binaries[b].n_objects; k++) {
			struct object_fact *o = &f->binaries[b].objects[k];

			if (o->class == from && o->record && strcmp(o->record, record) == 0)
				o->class = to;
		}
}

/* Whether it compiles or links for the target, and by what. */
static const struct compiler *caller_of(const struct run *r, const struct compile_record *c)
{
	bool ours = (c->class == CLASS_FOREIGN || c->class == CLASS_TARGET) && c->tool &&
		    !c->parent && c->kind != CALL_RUSTC && c->kind != CALL_PARTIAL_LINK;

	return ours ? compiler_of(r, c->tool) : NULL;
}

/* The plain build did not know yet whether these calls are the target's like any other. */
static void reclass(struct run *r)
{
	enum profile_kind main = toolchain_profile_kind(run_main_compiler(r));
	struct build_facts *f = &r->plain.facts;

	for (size_t i = 0; i < f->log.n; i++) {
		struct compile_record *c = &f->log.v[i];
		const struct compiler *by = caller_of(r, c);
		bool part = by && run_takes_part(r, by);

		if (!by || part == (c->class == CLASS_TARGET) ||
			(!part && toolchain_profile_kind(by) == main))
			continue;
		c->class = part ? CLASS_TARGET : CLASS_FOREIGN;
		free(c->why);
		c->why = xstrdup(part ? "by a compiler beside the plan's own"
				      : "by a compiler that has no part in this program's profile");
		reclass_objects(f, c->id, part ? OBJECT_TARGET : OBJECT_FOREIGN);
	}
}

/* ---- hook and runtime --------------------------------------------------------------------------
 */

static int make_parts(struct run *r, struct error *err)
{
	const struct compiler *linker = run_hook_compiler(r);
	auto_free char *folder = store_path(&r->store, "hook");

	free(r->hook);
	r->hook = xasprintf("%s/hook-both-%.16s.o", folder, r->toolchain_id);
	r->gcov = xasprintf("%s/gcov-%.16s.a", folder, r->toolchain_id);
	if (wrap_build_hook_of_both(linker, r->hook, err) < 0)
		return -1;
	return wrap_build_gcov_runtime(
		linker, run_main_of(r, PROFILE_GCC), r->cross ? r->target.gnu : NULL, r->gcov, err);
}

/* Others of its kind, whose objects its runtime does not take. */
static void tell_left_out(const struct run *r)
{
	for (size_t i = 0; i < r->n_compilers; i++) {
		const struct compiler *c = &r->compilers[i];

		if (c->family == FAMILY_GCC && r->beside->family == FAMILY_GCC &&
			c->major != r->beside->major && reaches(r, c))
			events_warning(r->o->events,
				"what '%s' compiles is built without a profile: the program has "
				"the "
				"runtime of %s, which takes the objects of that version alone",
				c->path, r->beside->version);
	}
}

static void tell_weights(const struct run *r)
{
	if (r->given || !train_is_weighted(&r->plan.train))
		return;
	events_warning(r->o->events,
		"the phases' weights act on what clang and rustc compile; gcc's counters cannot be "
		"read while the program runs, so what '%s' compiles keeps the counts of the "
		"training",
		run_main_of(r, PROFILE_GCC)->path);
}

/* A program of which the plan's compiler made nothing is none of the plan's. */
static bool main_reaches(const struct run *r)
{
	const struct compiler *main = run_main_compiler(r);

	for (size_t i = 0; i < r->n_compilers; i++)
		if (toolchain_takes_part(main, &r->compilers[i]) && reaches(r, &r->compilers[i]))
			return true;
	return r->rustc;
}

int run_choose_beside(struct run *r, struct error *err)
{
	const struct compiler *found = main_reaches(r) ? find_beside(r) : NULL;
	auto_free char *why = NULL;

	if (found && find_obstacle(r, &why, err) < 0)
		return -1;
	if (why)
		events_warning(r->o->events, "what '%s' compiles is built without a profile: %s",
			found->path, why);
	r->beside = why ? NULL : found;
	reclass(r);
	if (!r->beside)
		return 0;
	tell_left_out(r);
	tell_weights(r);
	return make_parts(r, err);
}
