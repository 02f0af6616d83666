/* The order in which services start: as in the file, apart from `after`. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/keys.h"
#include "config/values.h"

static size_t find(const struct plan_train *t, const char *name)
{
	size_t i = 0;

	while (i < t->n_services && strcmp(t->services[i].name, name) != 0)
		i++;
	return i;
}

static void check_names(
	struct problems *ps, const struct node *n, const struct plan_train *t, size_t which)
{
	const struct plan_service *s = &t->services[which];
	auto_strv struct strv names = STRV_INIT;

	for (size_t i = 0; i < t->n_services; i++)
		strv_add(&names, t->services[i].name);
	for (size_t i = 0; i < s->after.n; i++) {
		const char *name = s->after.v[i], *near;

		if (!strcmp(name, s->name))
			problem_add(ps, n, "service '%s' cannot start after itself", name);
		if (find(t, name) < t->n_services)
			continue;
		near = nearest_word(name, (const char *const *)names.v, names.n);
		problem_add(ps, n, "there is no service '%s'%s%s%s", name,
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
}

/* Whether everything that it waits for is placed. */
static bool can_start(const struct plan_train *t, size_t which, const bool *placed)
{
	const struct strv *after = &t->services[which].after;

	for (size_t i = 0; i < after->n; i++)
		if (!placed[find(t, after->v[i])])
			return false;
	return true;
}

/* The first one, of those not placed, that `which` waits for. */
static size_t waits_for(const struct plan_train *t, size_t which, const bool *placed)
{
	const struct strv *after = &t->services[which].after;
	size_t i = 0;

	while (placed[find(t, after->v[i])])
		i++;
	return find(t, after->v[i]);
}

/* None of those left can start: following what each waits for ends in a circle. */
static void tell_circle(struct problems *ps, const struct node *services,
	const struct plan_train *t, size_t at, const bool *placed)
{
	auto_buf struct buf b = BUF_INIT;
	size_t first;

	for (size_t i = 0; i < t->n_services; i++)
		at = waits_for(t, at, placed);
	first = at;
	do {
		buf_addf(&b, "'%s' after ", t->services[at].name);
		at = waits_for(t, at, placed);
	} while (at != first);
	problem_add(ps, node_get(node_get(services, t->services[first].name), "after"),
		"services wait for each other: %s'%s'", buf_str(&b), t->services[first].name);
}

void order_services(struct problems *ps, const struct node *services, struct plan_train *t)
{
	auto_free bool *placed = xcalloc(t->n_services + 1, sizeof(*placed));
	auto_free size_t *order = xcalloc(t->n_services + 1, sizeof(*order));
	struct plan_service *sorted;
	size_t before = ps->n;

	for (size_t i = 0; i < t->n_services; i++)
		check_names(ps, node_get(node_get(services, t->services[i].name), "after"), t, i);
	if (ps->n != before || !t->n_services)
		return;
	for (size_t n = 0; n < t->n_services; n++) {
		size_t i = 0;

		while (i < t->n_services && (placed[i] || !can_start(t, i, placed)))
			i++;
		if (i == t->n_services) {
			for (i = 0; placed[i];)
				i++;
			tell_circle(ps, services, t, i, placed);
			return;
		}
		placed[i] = true;
		order[n] = i;
	}
	sorted = xcalloc(t->n_services, sizeof(*sorted));
	for (size_t n = 0; n < t->n_services; n++)
		sorted[n] = t->services[order[n]];
	free(t->services);
	t->services = sorted;
}
