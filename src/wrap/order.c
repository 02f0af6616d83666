#include "wrap/order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

#define CLUSTER_MAX (1024 * 1024) /* bytes */
#define DENSITY_LOSS_MAX 8

void order_weights_release(struct order_weights *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i].name);
	free(w->v);
	memset(w, 0, sizeof(*w));
}

/* Keys of local functions hold the path of their source: "path;name", by older LLVMs "path:name".
 */
void order_weights_add(struct order_weights *w, const char *key, double count)
{
	const char *at = strrchr(key, ';');

	if (!at)
		at = strrchr(key, ':');
	if (count <= 0)
		return;
	array_reserve(w->v, w->n, w->cap);
	w->v[w->n++] = (struct order_weight){xstrdup(at ? at + 1 : key), count};
}

static int by_name(const void *a, const void *b)
{
	return strcmp(
		((const struct order_weight *)a)->name, ((const struct order_weight *)b)->name);
}

void order_weights_sort(struct order_weights *w)
{
	size_t n = 0;

	if (w->n)
		qsort(w->v, w->n, sizeof(*w->v), by_name);
	for (size_t i = 0; i < w->n; i++) {
		if (n && strcmp(w->v[n - 1].name, w->v[i].name) == 0) {
			w->v[n - 1].count += w->v[i].count;
			free(w->v[i].name);
		} else {
			w->v[n++] = w->v[i];
		}
	}
	w->n = n;
}

void order_weights_text(const struct order_weights *w, struct buf *out)
{
	for (size_t i = 0; i < w->n; i++)
		buf_addf(out, "%.0f %s\n", w->v[i].count, w->v[i].name);
}

int order_weights_read(const char *path, struct order_weights *ret, struct error *err)
{
	auto_buf struct buf text = BUF_INIT;
	struct order_weights w = {0};

	if (file_read(path, 0, &text, err) < 0)
		return -1;
	for (const char *p = buf_str(&text); *p;) {
		auto_free char *line = xstrndup(p, strcspn(p, "\n"));
		char *end;
		double count = strtod(line, &end);

		if (*end != ' ' || !end[1] || !(count > 0)) {
			order_weights_release(&w);
			return error_set(err, ERR_CORRUPT,
				"'%s': '%s' is no count with a name behind it", path, line);
		}
		array_reserve(w.v, w.n, w.cap);
		w.v[w.n++] = (struct order_weight){xstrdup(end + 1), count};
		p += strlen(line);
		p += *p == '\n';
	}
	order_weights_sort(&w);
	*ret = w;
	return 0;
}

static bool is_cold_part(const char *symbol)
{
	const char *at = strstr(symbol, ".cold");

	return at && (!at[5] || at[5] == '.');
}

double order_weight_of(const struct order_weights *w, const char *symbol)
{
	auto_free char *name = xstrdup(symbol);

	if (is_cold_part(symbol) || !w->n)
		return 0;
	for (;;) {
		const struct order_weight key = {.name = name};
		const struct order_weight *found = bsearch(&key, w->v, w->n, sizeof(key), by_name);
		char *dot = strrchr(name, '.');

		if (found)
			return found->count;
		if (!dot || dot == name)
			return 0;
		*dot = 0;
	}
}

/* ---- clusters ------------------------------------------------------------------------------- */

struct node {
	double count;
	uint32_t leader, next,
		last;    /* of its cluster: the first; behind it; of a first: the last */
	uint32_t caller; /* that calls it most; NONE */
	double calls;    /* by that one */
	double sum;      /* of a first: counts and bytes of the cluster */
	uint64_t bytes;
};
#define NONE UINT32_MAX

/* For sorting without a global: the cluster or function with what it is sorted by. */
struct ranked {
	double by;
	const char *name;
	uint32_t i;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->by < y->by || x->by > y->by)
		return x->by > y->by ? -1 : 1;
	return strcmp(x->name, y->name) ? strcmp(x->name, y->name) : x->i < y->i ? -1 : x->i > y->i;
}

static uint32_t leader_of(struct node *v, uint32_t i)
{
	while (v[i].leader != i) {
		v[i].leader = v[v[i].leader].leader;
		i = v[i].leader;
	}
	return i;
}

/* The profile does not count calls: a caller that runs more often, and names the function in more
 * places, is taken to call it more. */
static void find_callers(const struct elf_calls *c, struct node *v)
{
	for (size_t i = 0; i < c->n_calls; i++) {
		const struct elf_call *k = &c->calls[i];
		double calls = v[k->from].count * k->sites;
		struct node *to = &v[k->to];

		if (calls > to->calls ||
			(calls > 0 && calls >= to->calls && to->caller != NONE &&
				strcmp(c->v[k->from].name, c->v[to->caller].name) < 0)) {
			to->calls = calls;
			to->caller = k->from;
		}
	}
}

/* Puts the cluster of a function behind that of its caller, if both are worth a place together. */
static void join(struct node *v, uint32_t i)
{
	uint32_t to, of = leader_of(v, i);
	double density, joint;

	if (v[i].caller == NONE)
		return;
	to = leader_of(v, v[i].caller);
	if (to == of || v[to].bytes + v[of].bytes > CLUSTER_MAX)
		return;
	density = v[to].sum / (double)v[to].bytes;
	joint = (v[to].sum + v[of].sum) / (double)(v[to].bytes + v[of].bytes);
	if (joint * DENSITY_LOSS_MAX < density)
		return;
	v[v[to].last].next = of;
	v[to].last = v[of].last;
	v[to].sum += v[of].sum;
	v[to].bytes += v[of].bytes;
	v[of].leader = to;
}

static size_t rank(const struct elf_calls *c, struct node *v, bool clusters, struct ranked *ret)
{
	size_t n = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		if (v[i].count <= 0 || (clusters && leader_of(v, i) != i))
			continue;
		ret[n++] = (struct ranked){
			clusters ? v[i].sum / (double)v[i].bytes : v[i].count, c->v[i].name, i};
	}
	if (n)
		qsort(ret, n, sizeof(*ret), by_rank);
	return n;
}

size_t order_functions(const struct elf_calls *c, const struct order_weights *w, uint32_t *ret)
{
	auto_free struct node *v = xcalloc(c->n + 1, sizeof(*v));
	auto_free struct ranked *ranked = xcalloc(c->n + 1, sizeof(*ranked));
	size_t n, out = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		double count = order_weight_of(w, c->v[i].name);

		v[i] = (struct node){.count = count,
			.leader = i,
			.next = NONE,
			.last = i,
			.caller = NONE,
			.sum = count,
			.bytes = c->v[i].size};
	}
	find_callers(c, v);
	n = rank(c, v, false, ranked);
	for (size_t i = 0; i < n; i++)
		join(v, ranked[i].i);
	n = rank(c, v, true, ranked);
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = ranked[i].i; k != NONE; k = v[k].next)
			ret[out++] = k;
	return out;
}
