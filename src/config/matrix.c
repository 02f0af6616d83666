/* Settings of services (matrix:) and their combinations. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/keys.h"

#define SETTINGS_MAX 32 /* values of one axis, and words of one value */

/* ---- Reading ------------------------------------------------------------------------------------
 */

/* A part of a placeholder: letters, digits, '_' and '-', first a letter or digit. */
static bool setting_name(struct problems *ps, const struct node *n, const char *what, char **ret)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	const char *text = n->kind == NODE_SCALAR ? n->text : "";

	if (!*text || text[0] == '-' || text[0] == '_' || text[strspn(text, allowed)]) {
		auto_free char *found = node_describe(n);

		problem_add(ps, n,
			"%s must be a name of letters, digits, '_' and '-' that begins with a "
			"letter or digit, not %s",
			what, found);
		return false;
	}
	*ret = xstrdup(text);
	return true;
}

static void read_words(struct problems *ps, const struct node *n, struct plan_value *v)
{
	if (n->kind != NODE_MAPPING || !n->n || n->n / 2 > SETTINGS_MAX) {
		auto_free char *what = node_describe(n);

		problem_add(ps, n,
			"what the value '%s' stands for must be a mapping of names to texts, not "
			"%s",
			v->name, what);
		return;
	}
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		const struct node *text = n->items[i + 1];
		auto_free char *name = NULL;

		if (!setting_name(ps, n->items[i], "a name in a setting", &name))
			continue;
		if (text->kind != NODE_SCALAR || node_is_null(text))
			problem_add(ps, text, "'%s' must be a text (\"\" for an empty one)", name);
		else
			env_set(&v->words, name, text->text);
	}
}

static struct plan_value *add_value(struct plan_axis *a, const struct node *n, char *name)
{
	struct plan_value *v;

	a->values = xreallocarray(a->values, a->n + 1, sizeof(*a->values));
	v = &a->values[a->n++];
	*v = (struct plan_value){.name = name, .at = {n->line, n->column}};
	return v;
}

static bool has_value(const struct plan_axis *a, const char *name)
{
	for (size_t i = 0; i < a->n; i++)
		if (!strcmp(a->values[i].name, name))
			return true;
	return false;
}

static void read_values(struct problems *ps, const struct node *n, struct plan_axis *a)
{
	size_t step = n->kind == NODE_MAPPING ? 2 : 1;

	if (n->kind == NODE_SCALAR || !n->n || n->n / step > SETTINGS_MAX) {
		problem_add(ps, n,
			"the values of '%s' must be a list of names, or a mapping of names to what "
			"they stand for: one to %d of them",
			a->name, SETTINGS_MAX);
		return;
	}
	for (size_t i = 0; i < n->n; i += step) {
		struct plan_value *v;
		char *name;

		if (!setting_name(ps, n->items[i], "a value in 'matrix'", &name))
			continue;
		if (has_value(a, name)) {
			problem_add(
				ps, n->items[i], "'%s' has the value '%s' twice", a->name, name);
			free(name);
			continue;
		}
		v = add_value(a, n->items[i], name);
		if (step == 2)
			read_words(ps, n->items[i + 1], v);
	}
}

/* {matrix.AXIS.KEY} must mean something with every value. */
static void check_words(struct problems *ps, const struct plan_axis *a)
{
	for (size_t i = 1; i < a->n; i++) {
		const struct plan_value *v = &a->values[i], *first = &a->values[0];
		bool same = v->words.n == first->words.n;

		for (size_t k = 0; same && k < v->words.n; k++) {
			auto_free char *name = xstrndup(v->words.v[k], strcspn(v->words.v[k], "="));

			same = env_get(&first->words, name) != NULL;
		}
		if (!same)
			problem_at(ps, v->at.line, v->at.column,
				"'%s' must stand for the same names as '%s'", v->name, first->name);
	}
}

void read_matrix(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_service *s = target;

	if (n->kind != NODE_MAPPING || !n->n) {
		auto_free char *what = node_describe(n);

		problem_add(ps, n, "'matrix' must be a mapping of settings to their values, not %s",
			what);
		return;
	}
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		struct plan_axis *a;
		char *name;
		size_t before = ps->n;

		if (!setting_name(ps, n->items[i], "a setting in 'matrix'", &name))
			continue;
		s->axes = xreallocarray(s->axes, s->n_axes + 1, sizeof(*s->axes));
		a = &s->axes[s->n_axes++];
		*a = (struct plan_axis){
			.name = name, .at = {n->items[i]->line, n->items[i]->column}};
		read_values(ps, n->items[i + 1], a);
		if (ps->n == before)
			check_words(ps, a);
	}
}

static void add_setting(
	struct problems *ps, const struct node *axis, const struct node *value, struct strv *ret)
{
	if (value->kind != NODE_SCALAR || !value->text[0])
		problem_add(ps, value, "'%s' must be one value of that setting, or a list of them",
			axis->text);
	else
		strv_addf(ret, "%s=%s", axis->text, value->text);
}

void read_phase_settings(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_phase *ph = target;

	if (n->kind != NODE_MAPPING || !n->n) {
		auto_free char *what = node_describe(n);

		problem_add(ps, n,
			"'matrix' of a phase must be a mapping of settings to the values with "
			"which it runs, not %s",
			what);
		return;
	}
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		const struct node *value = n->items[i + 1];

		if (value->kind != NODE_SEQUENCE)
			add_setting(ps, n->items[i], value, &ph->settings);
		for (size_t j = 0; value->kind == NODE_SEQUENCE && j < value->n; j++)
			add_setting(ps, n->items[i], value->items[j], &ph->settings);
	}
}

void axes_release(struct plan_service *s)
{
	for (size_t i = 0; i < s->n_axes; i++) {
		for (size_t k = 0; k < s->axes[i].n; k++) {
			free(s->axes[i].values[k].name);
			strv_release(&s->axes[i].values[k].words);
		}
		free(s->axes[i].values);
		free(s->axes[i].name);
	}
	free(s->axes);
}

/* ---- Combinations -------------------------------------------------------------------------------
 */

static size_t product(size_t n, const struct plan_service *s)
{
	for (size_t i = 0; i < s->n_axes; i++)
		n = n > PLAN_COMBINATIONS_MAX ? n : n * (s->axes[i].n ? s->axes[i].n : 1);
	return n;
}

size_t plan_combinations(const struct plan *p)
{
	size_t n = 1;

	for (size_t i = 0; i < p->train.n_services; i++)
		n = product(n, &p->train.services[i]);
	return n;
}

/* Calls fn for each axis with its value in combination i, until it gives false. */
typedef bool axis_fn(
	void *ctx, size_t service, const struct plan_axis *axis, const struct plan_value *value);

static void each_axis(const struct plan *p, size_t i, axis_fn *fn, void *ctx)
{
	size_t block = plan_combinations(p);

	for (size_t s = 0; s < p->train.n_services; s++) {
		const struct plan_service *one = &p->train.services[s];

		for (size_t k = 0; k < one->n_axes; k++) {
			const struct plan_axis *a = &one->axes[k];

			block /= a->n;
			if (!fn(ctx, s, a, &a->values[i / block % a->n]))
				return;
		}
	}
}

static bool add_text(
	void *ctx, size_t service, const struct plan_axis *axis, const struct plan_value *value)
{
	struct buf *b = ctx;

	buf_addf(b, "%s%s=%s", b->n ? ", " : "", axis->name, value->name);
	return true;
}

char *plan_combination_text(const struct plan *p, size_t i)
{
	auto_buf struct buf b = BUF_INIT;

	each_axis(p, i, add_text, &b);
	return b.n ? buf_detach(&b) : NULL;
}

struct setting_vars {
	struct strv *vars;
	struct error *err;
	int r;
};

static bool add_vars(
	void *ctx, size_t service, const struct plan_axis *axis, const struct plan_value *value)
{
	struct setting_vars *c = ctx;
	auto_free char *name = xasprintf("matrix.%s", axis->name);

	env_set(c->vars, name, value->name);
	for (size_t i = 0; i < value->words.n; i++) {
		size_t n = strcspn(value->words.v[i], "=");
		auto_free char *word = xasprintf("%s.%.*s", name, (int)n, value->words.v[i]);
		auto_free char *text = NULL;

		if (plan_expand(value->words.v[i] + n + 1, c->vars, &text, c->err) < 0) {
			c->r = error_context(c->err, "matrix, '%s=%s'", axis->name, value->name);
			return false;
		}
		env_set(c->vars, word, text);
	}
	return true;
}

int plan_combination_vars(const struct plan *p, size_t i, struct strv *vars, struct error *err)
{
	struct setting_vars c = {.vars = vars, .err = err};

	each_axis(p, i, add_vars, &c);
	return c.r;
}

struct wanted {
	const struct strv *settings;
	bool runs;
};

static bool is_wanted(
	void *ctx, size_t service, const struct plan_axis *axis, const struct plan_value *value)
{
	struct wanted *w = ctx;
	size_t n = strlen(axis->name);
	bool named = false, meant = false;

	for (size_t i = 0; i < w->settings->n; i++) {
		const char *s = w->settings->v[i];

		if (strncmp(s, axis->name, n) != 0 || s[n] != '=')
			continue;
		named = true;
		meant = meant || !strcmp(s + n + 1, value->name);
	}
	w->runs = !named || meant;
	return w->runs;
}

bool plan_phase_runs_in(const struct plan *p, const struct plan_phase *phase, size_t i)
{
	struct wanted w = {.settings = &phase->settings, .runs = true};

	each_axis(p, i, is_wanted, &w);
	return w.runs;
}

struct values {
	const struct plan_value **v;
	size_t *service;
	size_t n;
};

static bool note_value(
	void *ctx, size_t service, const struct plan_axis *axis, const struct plan_value *value)
{
	struct values *x = ctx;

	x->service[x->n] = service;
	x->v[x->n++] = value;
	return true;
}

size_t plan_first_changed(const struct plan *p, size_t a, size_t b)
{
	size_t axes = 0;
	struct values x[2] = {{0}};
	size_t ret = p->train.n_services;

	for (size_t i = 0; i < p->train.n_services; i++)
		axes += p->train.services[i].n_axes;
	for (size_t i = 0; i < 2; i++) {
		x[i].v = xcalloc(axes + 1, sizeof(struct plan_value *));
		x[i].service = xcalloc(axes + 1, sizeof(size_t));
		each_axis(p, i ? b : a, note_value, &x[i]);
	}
	for (size_t i = x[0].n; i-- > 0;)
		if (x[0].v[i] != x[1].v[i])
			ret = x[0].service[i];
	for (size_t i = 0; i < 2; i++) {
		free(x[i].v);
		free(x[i].service);
	}
	return ret;
}

/* ---- Which phase needs which service ------------------------------------------------------------
 */

static bool mentions(const char *text, const struct plan_service *s)
{
	auto_free char *begin = xasprintf("{%s.", s->name);

	return text && strstr(text, begin);
}

bool plan_phase_uses(const struct plan_phase *phase, const struct plan_service *s)
{
	if (phase->kind == PHASE_RUN)
		return mentions(phase->run, s);
	if (phase->http.service ? !strcmp(phase->http.service, s->name) : s->subject)
		return true;
	for (size_t i = 0; i < phase->http.n_mix; i++) {
		const struct plan_request *r = &phase->http.mix[i];

		if (mentions(r->body_file, s) || mentions(r->expect.body_file, s))
			return true;
	}
	return false;
}
