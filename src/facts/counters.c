#include "facts/counters.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "facts/figure_json.h"

static const char *const names[COUNTERS] = {
	[COUNTER_INSTRUCTIONS] = "instructions",
	[COUNTER_CYCLES] = "cycles",
	[COUNTER_L1I_MISSES] = "L1i misses",
	[COUNTER_ITLB_MISSES] = "iTLB misses",
	[COUNTER_BRANCH_MISSES] = "branch misses",
	[COUNTER_IPC] = "instructions/cycle",
};

static const char *const keys[COUNTERS] = {
	[COUNTER_INSTRUCTIONS] = "instructions",
	[COUNTER_CYCLES] = "cycles",
	[COUNTER_L1I_MISSES] = "l1i_misses",
	[COUNTER_ITLB_MISSES] = "itlb_misses",
	[COUNTER_BRANCH_MISSES] = "branch_misses",
	[COUNTER_IPC] = "ipc",
};

const char *counter_name(enum counter c)
{
	return names[c];
}

const char *counter_mode_name(enum counter_mode m)
{
	return m == COUNTER_USER ? "user" : "kernel";
}

struct counted *counters_add(
	struct counters *c, const char *scenario, const char *variant, bool per_run)
{
	struct counted *one;

	array_reserve(c->v, c->n, c->cap);
	one = &c->v[c->n++];
	*one = (struct counted){.scenario = xstrdup(scenario),
		.variant = xstrdup(variant),
		.per_run = per_run,
		.kernel_share = NAN,
		.kernel_error = NAN};
	for (size_t m = 0; m < COUNTER_MODES; m++)
		for (size_t k = 0; k < COUNTERS; k++)
			one->v[m][k] = (struct counter_figure){NAN, NAN, NAN, NAN};
	return one;
}

struct simulated *counters_add_simulated(
	struct counters *c, const char *scenario, const char *variant, bool per_run)
{
	struct simulated *one;

	array_reserve(c->simulated, c->n_simulated, c->cap_simulated);
	one = &c->simulated[c->n_simulated++];
	*one = (struct simulated){.scenario = xstrdup(scenario),
		.variant = xstrdup(variant),
		.per_run = per_run,
		.instructions = NAN,
		.i1_misses = NAN,
		.instructions_ratio = NAN,
		.i1_ratio = NAN,
		.outside = NAN,
		.assembly = NAN};
	return one;
}

void counters_note(struct counters *c, const char *fmt, ...)
{
	auto_buf struct buf text = BUF_INIT;
	auto_free char *old = NULL;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (c->note && strstr(c->note, buf_str(&text)))
		return;
	old = take_ptr(c->note);
	c->note = old ? xasprintf("%s\n%s", old, buf_str(&text)) : xstrdup(buf_str(&text));
}

bool counters_has(const struct counters *c, enum counter_mode m, enum counter k)
{
	for (size_t i = 0; i < c->n; i++)
		if (isfinite(c->v[i].v[m][k].value))
			return true;
	return false;
}

static void simulated_release(struct simulated *s)
{
	for (size_t i = 0; i < s->n_top; i++) {
		free(s->top[i].name);
		free(s->top[i].object);
	}
	free(s->top);
	free(s->scenario);
	free(s->variant);
}

void counters_drop_simulated(struct counters *c)
{
	for (size_t i = 0; i < c->n_simulated; i++)
		simulated_release(&c->simulated[i]);
	free(c->simulated);
	c->simulated = NULL;
	c->n_simulated = c->cap_simulated = 0;
}

void counters_release(struct counters *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].scenario);
		free(c->v[i].variant);
	}
	counters_drop_simulated(c);
	free(c->v);
	free(c->note);
	memset(c, 0, sizeof(*c));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *figure_json(const struct counter_figure *f)
{
	json_t *o = json_object();

	json_object_set_new(o, "value", figure_json_real(f->value));
	json_object_set_new(o, "ratio", figure_json_real(f->ratio));
	json_object_set_new(o, "low", figure_json_real(f->low));
	json_object_set_new(o, "high", figure_json_real(f->high));
	return o;
}

/* The counters of one mode; null when none of them counted. */
static json_t *mode_json(const struct counted *c, enum counter_mode m)
{
	json_t *o = json_object();
	bool any = false;

	for (size_t k = 0; k < COUNTERS; k++) {
		const struct counter_figure *f = &c->v[m][k];

		any |= isfinite(f->value);
		json_object_set_new(o, keys[k], isfinite(f->value) ? figure_json(f) : json_null());
	}
	if (any)
		return o;
	json_decref(o);
	return json_null();
}

static void set_place(json_t *o, const char *scenario, const char *variant, bool per_run)
{
	json_set_text(o, "scenario", scenario);
	json_set_text(o, "variant", variant);
	json_object_set_new(o, "unit", json_string(per_run ? "run" : "request"));
}

static json_t *counted_json(const struct counted *c)
{
	json_t *o = json_object();

	set_place(o, c->scenario, c->variant, c->per_run);
	json_object_set_new(o, "user", mode_json(c, COUNTER_USER));
	json_object_set_new(o, "kernel", mode_json(c, COUNTER_KERNEL));
	json_object_set_new(o, "kernel_share", figure_json_real(c->kernel_share));
	json_object_set_new(o, "kernel_share_error", figure_json_real(c->kernel_error));
	json_object_set_new(o, "kernel_ticks", figure_json_real(c->kernel_ticks));
	json_object_set_new(o, "kernel_ticks_needed", figure_json_real(c->kernel_ticks_needed));
	return o;
}

static json_t *simulated_json(const struct simulated *s)
{
	json_t *o = json_object(), *top = json_array();

	set_place(o, s->scenario, s->variant, s->per_run);
	json_object_set_new(o, "requests", json_u64(s->requests));
	json_object_set_new(o, "instructions", figure_json_real(s->instructions));
	json_object_set_new(o, "instructions_ratio", figure_json_real(s->instructions_ratio));
	json_object_set_new(o, "i1_misses", figure_json_real(s->i1_misses));
	json_object_set_new(o, "i1_misses_ratio", figure_json_real(s->i1_ratio));
	json_object_set_new(o, "outside_share", figure_json_real(s->outside));
	json_object_set_new(o, "assembly_share", figure_json_real(s->assembly));
	for (size_t i = 0; i < s->n_top; i++) {
		json_t *f = json_object();

		json_set_text(f, "name", s->top[i].name);
		json_set_text(f, "object", s->top[i].object);
		json_object_set_new(f, "instructions", figure_json_real(s->top[i].instructions));
		json_object_set_new(f, "share", figure_json_real(s->top[i].share));
		json_object_set_new(f, "outside", json_boolean(s->top[i].outside));
		json_array_append_new(top, f);
	}
	json_object_set_new(o, "functions", top);
	return o;
}

json_t *counters_json(const struct counters *c)
{
	static const char *const states[] = {
		[COUNTERS_OFF] = "off",
		[COUNTERS_ABSENT] = "absent",
		[COUNTERS_DENIED] = "denied",
		[COUNTERS_COUNTED] = "counted",
	};
	json_t *o = json_object(), *v = json_array(), *s = json_array();

	for (size_t i = 0; i < c->n; i++)
		json_array_append_new(v, counted_json(&c->v[i]));
	for (size_t i = 0; i < c->n_simulated; i++)
		json_array_append_new(s, simulated_json(&c->simulated[i]));
	json_object_set_new(o, "hardware", json_string(states[c->state]));
	json_object_set_new(o, "note", json_text(c->note));
	json_object_set_new(o, "running_share",
		c->state == COUNTERS_COUNTED ? figure_json_real(c->running) : json_null());
	json_object_set_new(o, "figures", v);
	json_object_set_new(o, "simulated", s);
	return o;
}
