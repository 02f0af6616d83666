/* What one profile trained that another did not. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/compare.h"
#include "profile/model.h"

const char *profile_change_name(enum profile_change c)
{
	static const char *const names[] = {"new", "gone", "hotter", "colder", "stale", "alike"};

	return names[c];
}

int profile_diff_begin(
	struct profile_diff *d, double old_sum, double new_sum, double threshold, struct error *err)
{
	if (old_sum < 1 || new_sum < 1)
		return error_set(err, ERR_MISMATCH,
			"the %s profile counted nothing, so there is nothing to compare",
			old_sum < 1 ? "old" : "new");
	*d = (struct profile_diff){.threshold = threshold, .old_sum = old_sum, .new_sum = new_sum};
	return 0;
}

static enum profile_change change_of(
	const struct profile_diff *d, const struct profile_diff_function *f)
{
	double more = f->new.share - f->old.share;

	if (!(f->old.count > 0))
		return PROFILE_NEW;
	if (!(f->new.count > 0))
		return PROFILE_GONE;
	if (f->changed)
		return PROFILE_STALE;
	if (more >= d->threshold && more > 0)
		return PROFILE_HOTTER;
	return -more >= d->threshold && more < 0 ? PROFILE_COLDER : PROFILE_ALIKE;
}

void profile_diff_add(struct profile_diff *d, char *object, char *name, bool changed,
	struct profile_diff_side old, struct profile_diff_side new)
{
	struct profile_diff_function f = {object, name, PROFILE_ALIKE, changed, old, new};

	f.old.share = old.count / d->old_sum;
	f.new.share = new.count / d->new_sum;
	d->old_trained += old.count > 0;
	d->new_trained += new.count > 0;
	if (old.count > 0 || new.count > 0) {
		f.change = change_of(d, &f);
		d->of[f.change].functions++;
		d->of[f.change].old += f.old.share;
		d->of[f.change].new += f.new.share;
	}
	if (f.change == PROFILE_ALIKE) {
		free(object);
		free(name);
		return;
	}
	array_reserve(d->v, d->n, d->cap);
	d->v[d->n++] = f;
}

static double distance(const struct profile_diff_function *f)
{
	double d = f->new.share - f->old.share;

	return d < 0 ? -d : d;
}

static int largest_first(const void *a, const void *b)
{
	const struct profile_diff_function *x = a, *y = b;
	int c;

	if (x->change != y->change)
		return x->change < y->change ? -1 : 1;
	if (distance(x) != distance(y))
		return distance(x) > distance(y) ? -1 : 1;
	c = x->object && y->object ? strcmp(x->object, y->object) : 0;
	return c ? c : strcmp(x->name, y->name);
}

void profile_diff_end(struct profile_diff *d)
{
	if (d->n)
		qsort(d->v, d->n, sizeof(*d->v), largest_first);
}

void profile_diff_release(struct profile_diff *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->v[i].object);
		free(d->v[i].name);
	}
	free(d->v);
	*d = (struct profile_diff){0};
}

/* ---------------------------------------------------------------- LLVM's profiles */

/* A record, found by the name that stays; functions of one name are taken together. */
struct named {
	char *name;
	uint64_t hash;
	const struct record *record;
};

struct side {
	struct named *v;
	size_t n;
	double sum;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->hash > y->hash) - (x->hash < y->hash);
}

static void side_release(struct side *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].name);
	free(s->v);
}

static struct side side_of(const struct profile *p, bool context_sensitive)
{
	/* An index of version 13 keeps 60 bits of a front-end hash. */
	uint64_t mask = p->flags & FLAG_IR ? UINT64_MAX : UINT64_MAX >> 4;
	struct side s = {.v = xreallocarray(NULL, p->n_records + 1, sizeof(*s.v))};

	for (size_t i = 0; i < p->n_records; i++) {
		const struct record *r = p->records[i];

		if (record_is_cs(p, r) != context_sensitive)
			continue;
		s.v[s.n++] = (struct named){profile_stable_name(r->key->name), r->hash & mask, r};
		s.sum += record_sum(r);
	}
	qsort(s.v, s.n, sizeof(*s.v), by_name);
	return s;
}

/* Where the functions of the name at `from` end. */
static size_t group_end(const struct side *s, size_t from)
{
	size_t end = from;

	while (end < s->n && strcmp(s->v[end].name, s->v[from].name) == 0)
		end++;
	return end;
}

/* Whether both have code in common: a record of the same hash and number of counters. */
static bool same_code(const struct named *a, size_t n, const struct named *b, size_t m)
{
	for (size_t i = 0, k = 0; i < n && k < m;) {
		if (a[i].hash == b[k].hash && a[i].record->n_counts == b[k].record->n_counts)
			return true;
		if (a[i].hash <= b[k].hash)
			i++;
		else
			k++;
	}
	return false;
}

static struct profile_diff_side figures_of(const struct side *s, size_t from, size_t end)
{
	struct profile_diff_side f = {.present = from < end};

	for (size_t i = from; i < end; i++)
		f.count += record_sum(s->v[i].record);
	return f;
}

/* Both are in the order of names. */
static void compare(const struct side *old, const struct side *new, struct profile_diff *d)
{
	for (size_t i = 0, k = 0; i < old->n || k < new->n;) {
		int order = i == old->n   ? 1
			    : k == new->n ? -1
					  : strcmp(old->v[i].name, new->v[k].name);
		size_t i_end = order <= 0 ? group_end(old, i) : i;
		size_t k_end = order >= 0 ? group_end(new, k) : k;
		bool changed =
			order == 0 && !same_code(old->v + i, i_end - i, new->v + k, k_end - k);

		profile_diff_add(d, NULL, xstrdup(order <= 0 ? old->v[i].name : new->v[k].name),
			changed, figures_of(old, i, i_end), figures_of(new, k, k_end));
		i = i_end;
		k = k_end;
	}
}

int profile_diff(const struct profile *old, const struct profile *new, bool context_sensitive,
	double threshold, struct profile_diff *ret, struct error *err)
{
	struct side a, b;
	int rc;

	if (old->has_records && new->has_records && ((old->flags ^ new->flags) & FLAG_IR))
		return error_set(err, ERR_MISMATCH,
			"the old profile has %s counters and the new one %s counters: compare two "
			"of one kind of instrumentation",
			old->flags & FLAG_IR ? "IR" : "front-end",
			new->flags &FLAG_IR ? "IR" : "front-end");
	a = side_of(old, context_sensitive);
	b = side_of(new, context_sensitive);
	rc = profile_counted(old, "old", a.sum, context_sensitive, err);
	if (rc == 0)
		rc = profile_counted(new, "new", b.sum, context_sensitive, err);
	if (rc == 0)
		rc = profile_diff_begin(ret, a.sum, b.sum, threshold, err);
	if (rc == 0) {
		compare(&a, &b, ret);
		profile_diff_end(ret);
	}
	side_release(&a);
	side_release(&b);
	return rc;
}
