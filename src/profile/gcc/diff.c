/* What one set of .gcda files trained that another did not. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/gcc/objects.h"

/* The functions of one object on both sides, ascending by ident; an object that is on one side
 * alone has none on the other. */
struct pair {
	const struct gcc_object *old, *new;
	const struct gcda_function **a, **b;
	size_t n, m;
};

struct difference {
	struct profile_diff *to;
	gcc_function_name *name;
	void *ctx;
};

static struct profile_diff_side side_of(const struct gcda_function *f)
{
	return (struct profile_diff_side){.present = f != NULL, .count = f ? gcda_arc_sum(f) : 0};
}

static void add(const struct difference *d, const struct pair *p, const struct gcda_function *a,
	const struct gcda_function *b)
{
	const struct gcc_object *o = b ? p->new : p->old;
	const struct gcda_function *f = b ? b : a;

	profile_diff_add(d->to, xstrdup(o->name), d->name(d->ctx, o, f),
		a && b && !gcda_same_flow(a, b), side_of(a), side_of(b));
}

static void compare_object(const struct difference *d, struct pair *p)
{
	p->a = p->old ? gcda_by_ident(p->old->data, &p->n) : NULL;
	p->b = p->new ? gcda_by_ident(p->new->data, &p->m) : NULL;
	for (size_t i = 0, k = 0; i < p->n || k < p->m;) {
		bool has_old = k == p->m || (i < p->n && p->a[i]->ident <= p->b[k]->ident);
		bool has_new = i == p->n || (k < p->m && p->b[k]->ident <= p->a[i]->ident);

		add(d, p, has_old ? p->a[i] : NULL, has_new ? p->b[k] : NULL);
		i += has_old;
		k += has_new;
	}
	free(p->a);
	free(p->b);
}

int gcc_diff(const struct gcc_objects *old, const struct gcc_objects *new, double threshold,
	gcc_function_name *name, void *ctx, struct profile_diff *ret, struct error *err)
{
	struct difference d = {ret, name, ctx};

	if (profile_diff_begin(ret, gcc_objects_sum(old), gcc_objects_sum(new), threshold, err) < 0)
		return -1;
	for (size_t i = 0, k = 0; i < old->n || k < new->n;) {
		int order = gcc_objects_order(old, i, new, k);
		struct pair p = {.old = order <= 0 ? &old->v[i] : NULL,
			.new = order >= 0 ? &new->v[k] : NULL};

		compare_object(&d, &p);
		i += order <= 0;
		k += order >= 0;
	}
	profile_diff_end(ret);
	return 0;
}
