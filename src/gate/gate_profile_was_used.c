/* The proof that the profile reached the code: each object of the binary has a record, the record
 * has the flag, and the code of an executed object differs from the plain build's.
 *
 * Code can rightly stay the same: a function of one basic block has nothing to lay out, and one
 * that is neither hot nor cold may come out as before. So an unchanged object is an exception,
 * listed, when the compiler had nothing to say against its data; but at least one executed object
 * must differ, and of those with branches not more may stay the same than differ (a compiler cache
 * that hands out plain objects changes none of them). With several binaries each that holds hot
 * code with branches must differ for itself: a shared object that was built without the profile
 * would hide behind the program. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gate/rules.h"

struct objects {
	const struct object_fact **v; /* those with a unit, sorted by it */
	size_t n, cap;
};

struct use {
	const struct gate_facts *f;
	struct records ids;
	struct executed executed;
	struct objects plain, optimised;
	struct evidence hard, soft, exceptions;
	size_t judged, differ, equal, opaque, unpaired, stale;
	size_t branchy_differ, branchy_equal;
	uint64_t largest[2];              /* count of the profile, of LLVM's counters and gcc's */
	size_t own_differ, own_equal_hot; /* of the binary that is looked at */
	/* Of each kind of counters: LLVM's, gcc's. */
	struct {
		size_t differ, equal_hot;
	} kind[2];
};

/* Below this part of the largest count a function may be neither hot nor cold. */
#define HOT_PART 100

/* What is known of one executed object. */
struct state {
	const struct object_fact *object;
	const struct compile_record *record;
	size_t executed;     /* functions */
	size_t branchy;      /* of them, with more than one basic block */
	size_t stale;        /* of them, reported as mismatched */
	bool hot;            /* one of them with branches is */
	bool gcc;            /* they are gcc's, in a program that has LLVM's counters, too */
	const char *missing; /* one of them that was reported as missing, or NULL */
};

static int by_unit(const void *a, const void *b)
{
	const struct object_fact *const *x = a, *const *y = b;

	return strcmp((*x)->unit, (*y)->unit);
}

static void index_units(const struct build_facts *b, struct objects *ret)
{
	for (size_t i = 0; i < b->n_binaries; i++) {
		for (size_t k = 0; k < b->binaries[i].n_objects; k++) {
			const struct object_fact *o = &b->binaries[i].objects[k];

			if (!o->unit || o->class != OBJECT_TARGET)
				continue;
			array_reserve(ret->v, ret->n, ret->cap);
			ret->v[ret->n++] = o;
		}
	}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_unit);
}

/* The objects of a unit: *first and their number. */
static size_t find_unit(const struct objects *all, const char *unit, size_t *first)
{
	size_t low = 0, high = all->n, n = 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(all->v[mid]->unit, unit) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*first = low;
	while (low + n < all->n && strcmp(all->v[low + n]->unit, unit) == 0)
		n++;
	return n;
}

static bool has_profile_flag(const struct compile_record *r)
{
	for (size_t i = 0; i < r->added.n; i++) {
		if (strstr(r->added.v[i], "profile-use=") ||
			strstr(r->added.v[i], "profile-instr-use="))
			return true;
	}
	return false;
}

static const struct profile_diag *diag_of(
	const struct compile_record *r, const struct executed_function *x)
{
	for (size_t i = 0; i < r->n_diags; i++) {
		const struct profile_diag *d = &r->diags[i];

		if (d->kind != DIAG_MISSING && d->kind != DIAG_MISMATCH)
			continue;
		/* gcc names none when the whole object is without data. */
		if (!*d->function || strcmp(d->function, x->name) == 0 ||
			strcmp(d->function, x->key) == 0)
			return d;
	}
	return NULL;
}

static void look_at(struct use *u, const struct object_fact *with_functions, struct state *s)
{
	for (size_t i = 0; i < with_functions->functions.n; i++) {
		const struct executed_function *x = executed_find(
			&u->executed, with_functions->functions.v[i], with_functions->source);
		const struct profile_diag *d;

		if (!x)
			continue;
		s->executed++;
		s->gcc |= x->gcc;
		s->branchy += !x->single_block;
		s->hot |= !x->single_block && x->count >= u->largest[x->gcc] / HOT_PART;
		d = diag_of(s->record, x);
		if (d && d->kind == DIAG_MISMATCH)
			s->stale++;
		else if (d && !x->codegen_unit)
			s->missing = x->name;
	}
}

/* Inlining removes functions from the optimised object that the plain one still names. */
static void look_at_both(struct use *u, struct state *s)
{
	const char *unit = s->object->unit;
	size_t first, ignored;

	look_at(u, s->object, s);
	if (s->executed || !unit || find_unit(&u->optimised, unit, &ignored) != 1 ||
		find_unit(&u->plain, unit, &first) != 1)
		return;
	look_at(u, u->plain.v[first], s);
}

static void judge_unchanged(struct use *u, const struct state *s, const char *label)
{
	if (s->stale == s->executed) {
		u->stale++;
		return;
	}
	u->equal++;
	u->branchy_equal += s->branchy > 0;
	u->own_equal_hot += s->hot;
	u->kind[s->gcc].equal_hot += s->hot;
	if (s->missing)
		evidence_add(&u->soft,
			"%s: its code equals the plain build's, and the compiler found no data for "
			"the "
			"executed function '%s'",
			label, s->missing);
	else
		evidence_add(&u->exceptions,
			"exception: %s: its code equals the plain build's (%zu executed "
			"functions%s)",
			label, s->executed, s->branchy ? "" : ", none with a branch");
}

static void judge_code(struct use *u, const struct state *s, const char *label)
{
	const struct object_fact *o = s->object;
	size_t first, n = o->unit ? find_unit(&u->plain, o->unit, &first) : 0;

	if (!n || !o->code_hash) {
		u->unpaired++;
		evidence_add(&u->exceptions, "exception: %s: %s", label,
			n ? "its code could not be read" : "has no counterpart in the plain build");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const char *code = u->plain.v[first + i]->code_hash;

		if (code && strcmp(code, o->code_hash) == 0) {
			judge_unchanged(u, s, label);
			return;
		}
	}
	u->differ++;
	u->own_differ++;
	u->kind[s->gcc].differ++;
	u->branchy_differ += s->branchy > 0;
}

static void judge_target(struct use *u, const struct object_fact *o, const char *label)
{
	struct state s = {.object = o, .record = record_find(&u->ids, o->record)};
	bool opaque = !o->code_hash && !o->functions.n;

	if (!s.record) {
		evidence_add(&u->hard, "%s: the record of its compilation is lost", label);
		return;
	}
	look_at_both(u, &s);
	if (!s.executed && !opaque)
		return;
	u->judged++;
	if (!has_profile_flag(s.record)) {
		auto_free char *from = record_label(s.record);

		evidence_add(&u->hard, "%s: compiled from %s without the profile", label, from);
	} else if (opaque) {
		u->opaque++;
	} else {
		judge_code(u, &s, label);
	}
}

static void judge_object(struct use *u, const struct object_fact *o)
{
	auto_free char *label = object_label(o);

	switch (o->class) {
	case OBJECT_UNKNOWN:
		evidence_add(&u->hard, "%s: %s", label,
			o->why ? o->why : "no recorded compilation made it");
		break;
	case OBJECT_FOREIGN:
		evidence_add(&u->exceptions,
			"exception: %s: made by a compiler that takes no such profile", label);
		break;
	case OBJECT_TARGET:
		judge_target(u, o, label);
		break;
	case OBJECT_ASSEMBLY:
	case OBJECT_DATA:
	case OBJECT_TOOLCHAIN:
	case OBJECT_WHET:
		break;
	}
}

static void judge_records(struct use *u)
{
	auto_records struct records reached = {0};

	bool changed = profile_changed(u->f); /* then profile-unchanged owns what cannot be read */

	records_reached(u->f->optimised, NULL, &reached);
	for (size_t i = 0; i < reached.n; i++) {
		const struct compile_record *r = reached.v[i];
		auto_free char *label = record_label(r);

		if (r->map_error)
			evidence_add(
				&u->hard, "%s: its objects are not known: %s", label, r->map_error);
		for (size_t k = 0; k < r->n_diags; k++) {
			if (r->diags[k].kind == DIAG_UNREADABLE && !changed)
				evidence_add(&u->hard, "%s: %s", label,
					r->diags[k].text
						? r->diags[k].text
						: "the compiler could not use the profile");
		}
	}
}

/* Where no object's code can be compared (bitcode of link-time optimisation), the files must
 * differ. */
static bool some_binary_is_plain(const struct gate_facts *f, const char **name)
{
	for (size_t i = 0; i < f->optimised->n_binaries; i++) {
		const struct binary_fact *b = &f->optimised->binaries[i];
		const struct binary_fact *plain = binary_named(f->plain, b->name);

		*name = b->name;
		if (!plain || !plain->sha256 || !b->sha256 || strcmp(plain->sha256, b->sha256) == 0)
			return true;
	}
	return false;
}

static void judge_whole(struct use *u)
{
	const char *name;

	if (!u->judged) {
		evidence_add(&u->soft,
			"no object with an executed function reaches the binary, or none names its "
			"functions");
	} else if (u->equal && !u->differ && (!u->opaque || u->branchy_equal)) {
		evidence_add(&u->soft,
			"none of %zu executed objects differs from the plain build's", u->equal);
	} else if (u->branchy_equal >= 3 && u->branchy_equal > u->branchy_differ) {
		evidence_add(&u->soft,
			"of the executed objects with branches, %zu equal the plain build's and "
			"only %zu "
			"differ: were they taken from a compiler cache?",
			u->branchy_equal, u->branchy_differ);
	} else if (u->unpaired && !u->differ && !u->opaque) {
		evidence_add(&u->soft,
			"none of %zu executed objects can be compared with one of the plain build",
			u->judged);
	} else if (u->opaque && !u->differ && some_binary_is_plain(u->f, &name)) {
		evidence_add(&u->soft, "%s: the whole file equals the plain one", name);
	}
	if (u->opaque)
		evidence_add(&u->exceptions,
			"exception: %zu objects without code that can be compared (data alone, or "
			"bitcode of link-time optimisation): judged by their records",
			u->opaque);
}

/* What one kind of compilers made may not hide behind what the other made. */
static void judge_kinds(struct use *u)
{
	static const char *const by[] = {"clang or rustc", "gcc"};

	for (size_t k = 0; u->f->profile->gcc_functions && k < ARRAY_SIZE(by); k++)
		if (u->kind[k].equal_hot && !u->kind[k].differ)
			evidence_add(&u->soft,
				"none of the %zu objects by %s that execute hot code with branches "
				"differs from the plain build's",
				u->kind[k].equal_hot, by[k]);
}

static void find_largest(const struct executed *e, uint64_t *ret)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->v[i].count > ret[e->v[i].gcc])
			ret[e->v[i].gcc] = e->v[i].count;
}

static void judge_binary(struct use *u, const struct binary_fact *b)
{
	u->own_differ = u->own_equal_hot = 0;
	if (!b->n_objects)
		evidence_add(&u->hard, "%s: the objects of its link are not known", b->name);
	for (size_t k = 0; k < b->n_objects; k++)
		judge_object(u, &b->objects[k]);
	if (u->f->optimised->n_binaries > 1 && u->own_equal_hot && !u->own_differ)
		evidence_add(&u->soft,
			"%s: it executes hot code with branches, and none of its objects differs "
			"from "
			"the plain build's",
			b->name);
}

/* Whether any compilation that reached the binary was asked to optimise at all. */
static bool optimises(const struct gate_facts *f)
{
	const struct compile_log *log = &f->optimised->log;

	for (size_t i = 0; i < log->n; i++) {
		for (size_t k = 0; k < log->v[i].argv.n; k++) {
			const char *word = log->v[i].argv.v[k];

			if (strncmp(word, "-O", 2) == 0 && strcmp(word, "-O0") != 0)
				return true;
			if (strncmp(word, "opt-level", 9) == 0 && strcmp(word, "opt-level=0") != 0)
				return true;
		}
	}
	return false;
}

static void give_verdict(struct use *u, struct verdicts *vs)
{
	static const char remedy[] =
		"let the build call its compilers by name (PATH, CC, CXX, RUSTC) and not by an "
		"absolute path, bypass compiler caches, and rebuild archives that were made "
		"before; "
		"`whet build --log` shows each call and object with its class and why";
	size_t executed, without, exceptions = u->exceptions.lines;
	const char *owner = earlier_fault(u->f);

	if (u->hard.lines)
		verdict_fail(vs, "profile-was-used", &u->hard, remedy,
			"%zu objects or compilations without a usable profile, 0 allowed",
			u->hard.lines);
	else if (owner)
		verdict_skip(vs, "profile-was-used", "not judged: the builds differ already (%s)",
			owner);
	else if (binary_without_data(u->f, &executed, &without))
		verdict_skip(vs, "profile-was-used",
			"not judged: no executed function has data (max-missing)");
	else if (u->soft.lines)
		verdict_fail(vs, "profile-was-used", &u->soft,
			optimises(u->f)
				? remedy
				: "the project compiles without optimisation (no -O in its "
				  "flags), where a profile changes nothing: add -O2 to them",
			"%zu of %zu executed objects differ from the plain build's, %zu must",
			u->differ, u->judged, u->differ ? u->differ + u->equal : 1);
	else
		verdict_pass(vs, "profile-was-used", &u->exceptions,
			"%zu executed objects compiled with the profile, %zu of %zu differ from "
			"the plain "
			"build's, at least 1 must; exceptions: %zu",
			u->judged, u->differ, u->differ + u->equal, exceptions);
}

static void use_release(struct use *u)
{
	records_release(&u->ids);
	executed_release(&u->executed);
	free(u->plain.v);
	free(u->optimised.v);
	evidence_release(&u->hard);
	evidence_release(&u->soft);
	evidence_release(&u->exceptions);
}

void gate_profile_was_used(const struct gate_facts *f, struct verdicts *vs)
{
	struct use u = {.f = f};

	if (!f->optimised || !f->plain || !f->profile || !f->optimised->n_binaries) {
		verdict_fail(vs, "profile-was-used", NULL,
			"run the whole pipeline again: whet build",
			"the objects of the %s are not known",
			!f->plain     ? "plain build"
			: !f->profile ? "profile"
				      : "optimised build");
		return;
	}
	records_by_id(&f->optimised->log, &u.ids);
	executed_of(f->profile, &u.executed);
	index_units(f->plain, &u.plain);
	index_units(f->optimised, &u.optimised);
	judge_records(&u);
	find_largest(&u.executed, u.largest);
	for (size_t i = 0; i < f->optimised->n_binaries; i++)
		judge_binary(&u, &f->optimised->binaries[i]);
	judge_whole(&u);
	judge_kinds(&u);
	give_verdict(&u, vs);
	use_release(&u);
}
