/* Who executed what: every function of the program against the parts of the training. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/compare.h"
#include "train/coverage.h"

#define LISTED 200      /* functions in a list of the facts */
#define NOT_NEW 1000    /* what counts less than this part of a phase is not worth a phase */
#define AS_GOOD_AS 0.98 /* two phases whose counters agree this far do the same */
#define SETTINGS_MAX 64 /* values that are told apart */

struct function {
	char *key;
	uint64_t hash;
	uint32_t n;
	uint8_t *seen; /* a bit for each counter that was executed */
	uint64_t total;
	uint32_t first, best; /* parts */
	uint64_t first_count, best_count;
	uint64_t settings; /* that all phases that executed it had, a bit for each */
	uint64_t phase_count;
	bool by_phase;
};

struct part {
	enum coverage_part part;
	uint64_t settings; /* a bit for each of the table's */
	char *setting, *phase;
	struct profile *profile;
	uint64_t count, functions, counters, new_functions, new_counters, new_count;
};

struct coverage_table {
	char *sources;
	struct function *v; /* ascending by key and hash */
	size_t n, cap, sorted;
	struct part *parts;
	size_t n_parts, cap_parts;
	struct strv settings; /* "http1=new": each that a part had */
};

struct coverage_table *coverage_table_new(const char *sources)
{
	struct coverage_table *t = xcalloc(1, sizeof(*t));

	t->sources = xstrdup(sources);
	return t;
}

void coverage_table_free(struct coverage_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i].key);
		free(t->v[i].seen);
	}
	for (size_t i = 0; i < t->n_parts; i++) {
		free(t->parts[i].setting);
		free(t->parts[i].phase);
		profile_free(t->parts[i].profile);
	}
	free(t->v);
	free(t->parts);
	free(t->sources);
	strv_release(&t->settings);
	free(t);
}

bool coverage_table_empty(const struct coverage_table *t)
{
	return !t->n;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int r = strcmp(x->key, y->key);

	return r ? r : x->hash < y->hash ? -1 : x->hash > y->hash;
}

static struct function *find(struct coverage_table *t, const char *key, uint64_t hash)
{
	struct function want = {.key = (char *)(uintptr_t)key, .hash = hash};

	return t->sorted ? bsearch(&want, t->v, t->sorted, sizeof(want), by_key) : NULL;
}

static int know(void *ctx, const char *key, uint64_t hash, const uint64_t *counts, size_t n)
{
	struct coverage_table *t = ctx;

	if (!n || find(t, key, hash))
		return 0;
	array_reserve(t->v, t->n, t->cap);
	t->v[t->n++] = (struct function){
		.key = xstrdup(key), .hash = hash, .n = (uint32_t)n, .seen = xcalloc(n / 8 + 1, 1)};
	return 0;
}

void coverage_table_know(struct coverage_table *t, const struct profile *all)
{
	profile_each(all, know, t);
	if (t->n == t->sorted)
		return;
	qsort(t->v, t->n, sizeof(*t->v), by_key);
	t->sorted = t->n;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

struct visiting {
	struct coverage_table *t;
	uint32_t part;
};

static uint64_t setting_bit(struct coverage_table *t, const char *name)
{
	size_t i = 0;

	while (i < t->settings.n && strcmp(t->settings.v[i], name) != 0)
		i++;
	if (i == t->settings.n && i < SETTINGS_MAX)
		strv_add(&t->settings, name);
	return i < SETTINGS_MAX ? 1ULL << i : 0;
}

/* Of a combination: "http1=new, log=on". */
static uint64_t setting_bits(struct coverage_table *t, const char *combination)
{
	uint64_t bits = 0;

	while (combination && *combination) {
		const char *end = strstr(combination, ", ");
		auto_free char *one = end ? xstrndup(combination, (size_t)(end - combination))
					  : xstrdup(combination);

		bits |= setting_bit(t, one);
		combination = end ? end + 2 : NULL;
	}
	return bits;
}

/* The sum of its counters; which of them are new goes to the part's figures. */
static uint64_t take_counters(struct function *f, struct part *p, const uint64_t *counts, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n && i < f->n; i++) {
		uint8_t bit = (uint8_t)(1 << i % 8);

		if (!counts[i])
			continue;
		sum = add(sum, counts[i]);
		p->counters++;
		if (f->seen[i / 8] & bit)
			continue;
		f->seen[i / 8] |= bit;
		p->new_counters++;
		p->new_count = add(p->new_count, counts[i]);
	}
	return sum;
}

static void note_phase(struct function *f, uint64_t settings, uint64_t sum)
{
	f->settings = f->by_phase ? f->settings & settings : settings;
	f->by_phase = true;
	f->phase_count = add(f->phase_count, sum);
}

static int visit(void *ctx, const char *key, uint64_t hash, const uint64_t *counts, size_t n)
{
	struct visiting *v = ctx;
	struct part *p = &v->t->parts[v->part];
	struct function *f = find(v->t, key, hash);
	uint64_t sum = f ? take_counters(f, p, counts, n) : 0;

	if (!sum)
		return 0;
	p->functions++;
	p->count = add(p->count, sum);
	if (!f->total) {
		p->new_functions++;
		f->first = v->part;
		f->first_count = sum;
	}
	if (sum > f->best_count) {
		f->best = v->part;
		f->best_count = sum;
	}
	f->total = add(f->total, sum);
	if (p->part == COVERAGE_PHASE)
		note_phase(f, p->settings, sum);
	return 0;
}

void coverage_table_add(struct coverage_table *t, enum coverage_part part, const char *setting,
	const char *phase, struct profile *profile)
{
	struct visiting v = {.t = t, .part = (uint32_t)t->n_parts};

	array_reserve(t->parts, t->n_parts, t->cap_parts);
	t->parts[t->n_parts++] = (struct part){.part = part,
		.settings = part == COVERAGE_PHASE ? setting_bits(t, setting) : 0,
		.setting = xstrdup(setting),
		.phase = xstrdup(phase),
		.profile = profile};
	coverage_table_know(t, profile);
	profile_each(profile, visit, &v);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Where the path ends in the key of a local function: "path;name", of LLVMs before 18 "path:name".
 */
static const char *path_end(const char *key)
{
	const char *end = strchr(key, ';');

	if (end)
		return end;
	end = strchr(key, ':');
	if (!end || end == key || end[1] == ':' || strcspn(key, "/.") > (size_t)(end - key))
		return NULL;
	return end;
}

static void set_name(const struct coverage_table *t, const char *key, struct coverage_function *ret)
{
	const char *end = path_end(key);
	size_t n = t->sources ? strlen(t->sources) : 0;

	ret->name = xstrdup(end ? end + 1 : key);
	if (!end)
		return;
	if (n && strncmp(key, t->sources, n) == 0 && key + n < end)
		key += n;
	ret->file = xstrndup(key, (size_t)(end - key));
}

struct listed {
	const struct function *f;
	uint64_t rank, count;
};

struct list {
	struct listed *v;
	size_t n, cap;
};

static void list_add(struct list *l, const struct function *f, uint64_t rank, uint64_t count)
{
	array_reserve(l->v, l->n, l->cap);
	l->v[l->n++] = (struct listed){f, rank, count};
}

static int by_rank(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return by_key(x->f, y->f);
}

/* Releases l. */
static void list_end(const struct coverage_table *t, struct list *l, struct coverage_functions *ret)
{
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_rank);
	ret->all = l->n;
	ret->n = ret->cap = l->n < LISTED ? l->n : LISTED;
	ret->v = ret->n ? xcalloc(ret->n, sizeof(*ret->v)) : NULL;
	for (size_t i = 0; i < ret->n; i++) {
		const struct listed *x = &l->v[i];

		ret->v[i] = (struct coverage_function){.counters = x->f->n,
			.count = x->count,
			.share = x->f->total ? (double)x->count / (double)x->f->total : 0};
		set_name(t, x->f->key, &ret->v[i]);
	}
	free(l->v);
	*l = (struct list){0};
}

/* ---- Judgement ------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Counters and value profiles must agree: phases that copy other sizes run the same code. */
static double alike(const struct part *a, const struct part *b)
{
	struct profile_overlap o;
	double ret;

	if (profile_overlap(a->profile, b->profile, false, &o, NULL, NULL, NULL) < 0)
		return 0;
	ret = o.share.edges;
	for (size_t i = 0; i < PROFILE_VALUE_KINDS; i++)
		if ((o.first.values[i] > 0 || o.second.values[i] > 0) && o.share.values[i] < ret)
			ret = o.share.values[i];
	return ret;
}

/* The phase before it that is most like it. */
static void find_like(struct coverage_table *t, size_t i, struct coverage_phase *ret)
{
	const struct part *p = &t->parts[i];

	for (size_t k = 0; k < i && p->part == COVERAGE_PHASE && p->count; k++) {
		const struct part *q = &t->parts[k];
		double share;

		if (q->part != COVERAGE_PHASE || !q->count || !same_text(p->setting, q->setting))
			continue;
		share = alike(q, p);
		if (share <= ret->alike)
			continue;
		free(ret->like);
		ret->like = xstrdup(q->phase);
		ret->alike = share;
	}
}

static void judge_part(struct coverage_table *t, size_t i, struct coverage_phase *ret)
{
	const struct part *p = &t->parts[i];
	struct list first = {0}, mostly = {0};

	*ret = (struct coverage_phase){.part = p->part,
		.setting = xstrdup(p->setting),
		.name = xstrdup(p->phase),
		.count = p->count,
		.functions = p->functions,
		.counters = p->counters,
		.new_functions = p->new_functions,
		.new_counters = p->new_counters,
		.new_count = p->new_count};
	for (size_t k = 0; k < t->n; k++) {
		const struct function *f = &t->v[k];

		if (f->total && f->first == i)
			list_add(&first, f, f->first_count, f->first_count);
		if (f->total && f->best == i && f->best_count > f->total / 2)
			list_add(&mostly, f, f->best_count, f->best_count);
	}
	list_end(t, &first, &ret->first);
	list_end(t, &mostly, &ret->mostly);
	find_like(t, i, ret);
	ret->useless = p->part == COVERAGE_PHASE &&
		       (!p->count || (!p->new_functions && p->new_count <= p->count / NOT_NEW &&
					     ret->alike >= AS_GOOD_AS));
}

static void judge_setting(struct coverage_table *t, size_t i, struct coverage_setting *ret)
{
	struct list only = {0};

	*ret = (struct coverage_setting){.name = xstrdup(t->settings.v[i])};
	for (size_t k = 0; k < t->n_parts; k++)
		if (t->parts[k].settings >> i & 1)
			ret->count = add(ret->count, t->parts[k].count);
	for (size_t k = 0; k < t->n; k++)
		if (t->v[k].settings >> i & 1)
			list_add(&only, &t->v[k], t->v[k].phase_count, t->v[k].phase_count);
	list_end(t, &only, &ret->only);
	ret->reached = ret->count > 0;
}

static void sum_up(struct coverage_table *t, struct coverage_facts *ret)
{
	struct list unreached = {0};

	for (size_t k = 0; k < t->n; k++) {
		const struct function *f = &t->v[k];

		ret->functions++;
		ret->counters += f->n;
		for (uint32_t i = 0; i < f->n; i++)
			ret->executed_counters += f->seen[i / 8] >> i % 8 & 1;
		if (f->by_phase)
			ret->phase_functions++;
		else if (f->total)
			ret->outside_functions++;
		else
			list_add(&unreached, f, f->n, 0);
	}
	list_end(t, &unreached, &ret->unreached);
}

void coverage_table_judge(struct coverage_table *t, struct coverage_facts *ret)
{
	ret->n_phases = ret->cap_phases = t->n_parts;
	ret->phases = xcalloc(t->n_parts + 1, sizeof(*ret->phases));
	for (size_t i = 0; i < t->n_parts; i++)
		judge_part(t, i, &ret->phases[i]);
	ret->n_settings = ret->cap_settings = t->settings.n;
	ret->settings = xcalloc(t->settings.n + 1, sizeof(*ret->settings));
	for (size_t i = 0; i < t->settings.n; i++)
		judge_setting(t, i, &ret->settings[i]);
	sum_up(t, ret);
}
