/* How far a profile of another revision fits this build.
 *
 * A record is taken when a compilation looked up its key with its structural hash. LLVM from 19 on
 * tells each lookup, also of functions of which inlining leaves no symbol. Where an older one took
 * part, a symbol in the objects and no complaint about it have to do; without a symbol it is not
 * known. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gate/rules.h"
#include "profile/compare.h"

struct lookup {
	const struct sought_function *of;
	bool untrained; /* the compiler found no data for it */
};

struct fit {
	struct executed executed;
	struct lookup *v; /* by name */
	size_t n, cap;
	struct lookup *by_hash; /* the untrained ones */
	size_t n_by_hash;
	struct text_set mismatched, missing;
	struct text_set garbled; /* pieces of lines that ran into each other */
	bool *visible;           /* executed functions of which an object has the symbol */
	bool all_tell;           /* every compilation told its lookups */
	bool same;               /* the sources are those that were trained */
};

static int by_name(const void *a, const void *b)
{
	const struct lookup *x = a, *y = b;

	return strcmp(x->of->name, y->of->name);
}

static int by_hash(const void *a, const void *b)
{
	uint64_t x = ((const struct lookup *)a)->of->hash, y = ((const struct lookup *)b)->of->hash;

	return x < y ? -1 : x > y;
}

/* ---- what the compilers said ---- */

static bool compiles(const struct compile_record *r)
{
	return r->class == CLASS_TARGET &&
	       (r->kind == CALL_COMPILE || r->kind == CALL_COMPILE_LINK || r->kind == CALL_RUSTC);
}

static bool was_told(const struct compile_record *r, const char *option)
{
	for (size_t i = 0; i < r->added.n; i++)
		if (strstr(r->added.v[i], option))
			return true;
	return false;
}

/* gcc's are judged apart: fate_by_gcc(). */
static bool tells(const struct compile_record *r)
{
	return was_told(r, "-pgo-trace-func-hash=") || was_told(r, "-fprofile-correction");
}

static void add_record(struct fit *t, const struct compile_record *r)
{
	t->all_tell = t->all_tell && (!compiles(r) || tells(r));
	for (size_t i = 0; i < r->n_diags; i++)
		if (r->diags[i].kind == DIAG_MISMATCH)
			text_set_add(&t->mismatched, r->diags[i].function);
	for (size_t i = 0; i < r->sought.n; i++) {
		if (!r->sought.v[i].hash) {
			text_set_add(&t->garbled, r->sought.v[i].name);
			continue;
		}
		array_reserve(t->v, t->n, t->cap);
		t->v[t->n++] = (struct lookup){.of = &r->sought.v[i]};
	}
}

/* A diagnostic names the symbol or the key, path and all. */
static bool is_missing(const struct fit *t, const struct sought_function *s)
{
	auto_free char *key = NULL;

	if (text_set_has(&t->missing, s->name))
		return true;
	if (!s->source)
		return false;
	key = xasprintf("%s;%s", s->source, s->name);
	return text_set_has(&t->missing, key);
}

static void sort_lookups(struct fit *t)
{
	if (t->n)
		qsort(t->v, t->n, sizeof(*t->v), by_name);
	t->by_hash = xcalloc(t->n + 1, sizeof(*t->by_hash));
	for (size_t i = 0; i < t->n; i++) {
		t->v[i].untrained = is_missing(t, t->v[i].of);
		if (t->v[i].untrained)
			t->by_hash[t->n_by_hash++] = t->v[i];
	}
	if (t->n_by_hash)
		qsort(t->by_hash, t->n_by_hash, sizeof(*t->by_hash), by_hash);
}

static void look_at_builds(struct fit *t, const struct gate_facts *f)
{
	auto_records struct records reached = {0};
	struct missing missing;

	t->all_tell = true;
	t->same = f->provenance && f->provenance->source && f->source_digest &&
		  strcmp(f->provenance->source, f->source_digest) == 0;
	executed_of(f->profile, &t->executed);
	t->visible = xcalloc(t->executed.n + 1, sizeof(*t->visible));
	missing_functions(f->profile, f->optimised, NULL, &missing);
	t->missing = missing.first;
	text_set_release(&missing.second);
	records_reached(f->optimised, NULL, &reached);
	for (size_t i = 0; i < reached.n; i++)
		add_record(t, reached.v[i]);
	text_set_seal(&t->mismatched);
	sort_lookups(t);
	for (size_t i = 0; i < f->optimised->n_binaries; i++) {
		const struct binary_fact *b = &f->optimised->binaries[i];

		mark_executed(&t->executed, b, t->visible);
		mark_executed(&t->executed, binary_named(f->plain, b->name), t->visible);
	}
}

static void fit_release(struct fit *t)
{
	executed_release(&t->executed);
	text_set_release(&t->mismatched);
	text_set_release(&t->missing);
	text_set_release(&t->garbled);
	free(t->v);
	free(t->by_hash);
	free(t->visible);
}

/* ---- one record ---- */

static size_t first_named(const struct fit *t, const char *name)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(t->v[mid].of->name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool complained(const struct fit *t, const struct executed_function *x)
{
	return text_set_has(&t->mismatched, x->name) || text_set_has(&t->mismatched, x->key);
}

enum fate { FATE_TAKEN, FATE_STALE, FATE_GONE, FATE_UNKNOWN };

/* gcc tells no lookups. Its profile is used for the sources that were trained alone. */
static enum fate fate_by_gcc(const struct fit *t, const struct executed_function *x)
{
	if (complained(t, x))
		return FATE_STALE;
	return text_set_has(&t->missing, x->name) ? FATE_GONE : FATE_TAKEN;
}

/* Threads write piece by piece, so a name stands whole in what became of two lines. */
static bool is_garbled(const struct fit *t, const struct executed_function *x)
{
	for (size_t i = 0; i < t->garbled.n; i++)
		if (strstr(t->garbled.v[i], x->name))
			return true;
	return false;
}

static enum fate fate_of(const struct fit *t, const struct executed_function *x)
{
	enum fate fate = FATE_GONE;

	if (x->gcc)
		return fate_by_gcc(t, x);
	for (size_t i = first_named(t, x->name); i < t->n && strcmp(t->v[i].of->name, x->name) == 0;
		i++) {
		const struct sought_function *s = t->v[i].of;

		if (!executed_belongs(x, s->source))
			continue;
		if (s->hash == x->of->hash)
			return FATE_TAKEN;
		fate = FATE_STALE;
	}
	if (fate != FATE_GONE)
		return fate;
	if (complained(t, x))
		return FATE_STALE;
	if (is_garbled(t, x))
		return FATE_TAKEN;
	if (t->all_tell)
		return FATE_GONE;
	if (text_set_has(&t->missing, x->name))
		return FATE_UNKNOWN;
	return t->same || t->visible[x - t->executed.v] ? FATE_TAKEN : FATE_UNKNOWN;
}

/* Without the path and without the hashes that rustc adds. Caller frees. */
static char *bare_name(const struct executed_function *x)
{
	return profile_stable_name(x->name);
}

/* Of one structure: how alike the names are; 0: not enough to say more than "gone". */
static int likeness(const struct executed_function *x, const struct sought_function *s)
{
	auto_free char *then = NULL, *now = NULL;

	if (strcmp(x->name, s->name) == 0)
		return 3;
	then = bare_name(x);
	now = profile_stable_name(s->name);
	if (strcmp(then, now) == 0)
		return 2;
	/* Every function without a branch has the same structural hash. */
	return !x->single_block && (!x->path_n || executed_belongs(x, s->source));
}

/* The function of this build that the record was most likely of. */
static const struct sought_function *successor(
	const struct fit *t, const struct executed_function *x, int *ret)
{
	const struct sought_function *found = NULL;
	size_t low = 0, high = t->n_by_hash;
	int best = 0, ties = 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->by_hash[mid].of->hash < x->of->hash)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < t->n_by_hash && t->by_hash[low].of->hash == x->of->hash; low++) {
		int alike = likeness(x, t->by_hash[low].of);

		if (alike && alike == best && strcmp(found->name, t->by_hash[low].of->name) != 0)
			ties++;
		if (alike <= best)
			continue;
		best = alike;
		ties = 0;
		found = t->by_hash[low].of;
	}
	*ret = best;
	return ties ? NULL : found;
}

static struct lost_function lost_of(
	const struct fit *t, const struct executed_function *x, enum fate fate, double share)
{
	struct lost_function l = {.how = fate == FATE_STALE ? LOST_STALE : LOST_GONE,
		.key = xstrdup(x->key),
		.name = bare_name(x),
		.share = share};
	int alike = 0;
	const struct sought_function *s = fate == FATE_GONE ? successor(t, x, &alike) : NULL;

	if (s && alike == 3 && s->source) {
		l.how = LOST_MOVED;
		l.now = xstrdup(s->source);
	} else if (s) {
		l.how = LOST_RENAMED;
		l.now = xstrdup(s->name);
	}
	return l;
}

/* ---- all of them ---- */

static int hotter(const void *a, const void *b)
{
	const struct lost_function *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return strcmp(x->key, y->key);
}

static void add_lost(struct staleness *s, struct lost_function l)
{
	s->lost[l.how]++;
	s->share[l.how] += l.share;
	s->all_lost++;
	s->all_share += l.share;
	array_reserve(s->v, s->n, s->cap);
	s->v[s->n++] = l;
}

static void list_hottest(struct staleness *s)
{
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), hotter);
	while (s->n > STALENESS_LISTED) {
		struct lost_function *l = &s->v[--s->n];

		free(l->key);
		free(l->name);
		free(l->now);
	}
}

static void judge(const struct fit *t, struct staleness *s)
{
	double total = 0;

	for (size_t i = 0; i < t->executed.n; i++)
		total += t->executed.v[i].context ? 0 : t->executed.v[i].of->count;
	for (size_t i = 0; i < t->executed.n; i++) {
		const struct executed_function *x = &t->executed.v[i];
		double share = total > 0 ? x->of->count / total : 0;
		enum fate fate;

		/* Looked up once more at the link, by what was made of the function then. */
		if (x->context)
			continue;
		s->trained++;
		fate = fate_of(t, x);
		if (fate == FATE_UNKNOWN) {
			s->unknown++;
			s->unknown_share += share;
		} else if (fate != FATE_TAKEN) {
			add_lost(s, lost_of(t, x, fate, share));
		}
	}
	s->untrained = t->missing.n;
	list_hottest(s);
}

void gate_staleness(const struct gate_facts *f, struct staleness *ret)
{
	struct staleness s = {0};
	struct fit t = {0};

	if (f->profile && f->profile->reused && f->optimised && !earlier_fault(f)) {
		s.judged = true;
		s.budget = f->bounds ? f->bounds->stale : 0;
		look_at_builds(&t, f);
		judge(&t, &s);
		if (f->provenance && f->provenance->created)
			s.created = xstrdup(f->provenance->created);
		if (f->provenance && f->provenance->commit)
			s.commit = xstrdup(f->provenance->commit);
		fit_release(&t);
	}
	*ret = s;
}
