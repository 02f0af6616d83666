#include <string.h>

#include "base/mem.h"
#include "facts/figure_json.h"
#include "report/report.h"

static json_t *stages_json(const struct report *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->n_stages; i++) {
		const struct report_stage *s = &r->stages[i];
		json_t *o = json_object();

		json_set_text(o, "name", s->name);
		json_object_set_new(o, "wall_ns", json_u64(s->wall_ns));
		json_object_set_new(o, "cpu_ns", json_u64(s->cpu_ns));
		json_object_set_new(o, "reused", json_boolean(s->reused));
		json_object_set_new(o, "why", json_text(s->why));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *time_json(const struct report *r)
{
	json_t *o = json_object();
	uint64_t wall = 0, cpu = 0;
	double multiple = report_multiple(r);

	for (size_t i = 0; i < r->n_stages; i++) {
		wall += r->stages[i].wall_ns;
		cpu += r->stages[i].cpu_ns;
	}
	json_object_set_new(o, "wall_ns", json_u64(wall));
	json_object_set_new(o, "cpu_ns", json_u64(cpu));
	json_object_set_new(o, "times_plain", multiple > 0 ? json_real(multiple) : json_null());
	return o;
}

static json_t *training_json(const struct training_facts *t)
{
	json_t *o = json_object(), *phases = json_array();

	for (size_t i = 0; i < t->n_phases; i++)
		json_array_append_new(phases, phase_result_json(&t->phases[i]));
	json_object_set_new(o, "digest", json_text(t->digest));
	json_object_set_new(o, "emulator", json_text(t->emulator));
	json_object_set_new(o, "failure", json_text(t->failure));
	json_object_set_new(o, "phases", phases);
	json_object_set_new(o, "processes", json_u64(t->n_processes));
	json_object_set_new(o, "raw_profiles", json_u64(t->n_raws));
	return o;
}

/* Of the counters that were put in after inlining. */
static json_t *second_json(const struct profile_facts *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "functions", json_u64(p->second_functions));
	json_object_set_new(o, "executed", json_u64(p->second_executed));
	return o;
}

/* Of a program with both kinds of counters. */
static json_t *gcc_json(const struct profile_facts *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "functions", json_u64(p->gcc_functions));
	json_object_set_new(o, "executed", json_u64(p->gcc_executed));
	return o;
}

static json_t *profile_json(const struct report *r)
{
	const struct profile_facts *p = &r->profile;
	const struct provenance *from = &r->provenance;
	json_t *o = json_object(), *f = json_object();

	json_object_set_new(o, "sha256", json_text(p->sha256));
	json_object_set_new(o, "functions", json_u64(p->functions));
	json_object_set_new(o, "executed", json_u64(p->executed));
	json_object_set_new(o, "total_count", json_u64(p->total_count));
	json_object_set_new(o, "second", p->context_sensitive ? second_json(p) : json_null());
	json_object_set_new(o, "gcc", p->beside_sha256 ? gcc_json(p) : json_null());
	json_object_set_new(o, "beside_sha256", json_text(p->beside_sha256));
	json_object_set_new(o, "left_out", json_boolean(p->left_out));
	json_object_set_new(o, "given", json_boolean(p->given));
	json_object_set_new(o, "reused", json_boolean(p->reused));
	json_object_set_new(
		o, "staleness", r->staleness.judged ? staleness_json(&r->staleness) : json_null());
	json_object_set_new(f, "source", json_text(from->source));
	json_object_set_new(f, "training", json_text(from->training));
	json_object_set_new(f, "target", json_text(from->target));
	json_object_set_new(f, "project", json_text(from->project));
	json_object_set_new(f, "created", json_text(from->created));
	json_object_set_new(f, "commit", json_text(from->commit));
	json_object_set_new(f, "compilers", json_from_strv(&from->compilers));
	json_object_set_new(o, "provenance", f);
	return o;
}

static json_t *strays_json(const struct report *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->n_strays; i++) {
		json_t *o = json_object();

		json_set_text(o, "path", r->strays[i].path);
		json_object_set_new(o, "tracked", json_boolean(r->strays[i].tracked));
		json_object_set_new(o, "source", json_boolean(r->strays[i].source));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *artefacts_json(const struct report *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->n_artefacts; i++) {
		json_t *o = json_object();

		json_set_text(o, "name", r->artefacts[i].name);
		json_set_text(o, "variant", r->artefacts[i].variant);
		json_set_text(o, "sha256", r->artefacts[i].sha256);
		json_object_set_new(o, "bytes", json_u64(r->artefacts[i].bytes));
		json_array_append_new(a, o);
	}
	return a;
}

/* The names behind the indices in samples: comparisons come by variant and then by scenario. */
static void add_names(const struct comparisons *c, json_t *bench)
{
	json_t *scenarios = json_array(), *variants = json_array();

	for (size_t i = 0; i < c->n; i++) {
		const struct comparison *x = &c->v[i];

		if (i == 0)
			json_array_append_new(variants, json_text(x->base));
		if (i == 0 || strcmp(x->variant, c->v[i - 1].variant) != 0)
			json_array_append_new(variants, json_text(x->variant));
		if (strcmp(x->variant, c->v[0].variant) == 0)
			json_array_append_new(scenarios, json_text(x->scenario));
	}
	json_object_set_new(bench, "scenarios", scenarios);
	json_object_set_new(bench, "variants", variants);
}

/* Every figure carries the label of its build. */
static void add_labels(const struct report *r, json_t *bench)
{
	const char *label = report_label(r);
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(bench, "comparisons"), i, one)
		json_object_set_new(one, "label", *label ? json_string(label) : json_null());
	json_array_foreach(json_object_get(bench, "weighted"), i, one)
		json_object_set_new(one, "label", *label ? json_string(label) : json_null());
}

static json_t *canary_json(const struct comparisons *c, const struct samples *samples)
{
	json_t *o = json_object();

	json_object_set_new(o, "drift", figure_json_real(c->drift));
	json_object_set_new(o, "tolerance", json_real(DRIFT_TOLERANCE));
	json_object_set_new(o, "alarm", json_text(c->drift_alarm));
	json_object_set_new(o, "series", canaries_json(samples));
	return o;
}

static json_t *one_bench_json(
	const struct report *r, const struct comparisons *c, const struct samples *samples)
{
	json_t *o = comparisons_json(c);

	add_names(c, o);
	add_labels(r, o);
	json_object_set_new(o, "canary", canary_json(c, samples));
	json_object_set_new(o, "samples", samples_json(samples));
	return o;
}

json_t *report_bench_json(const struct report *r)
{
	json_t *o = one_bench_json(r, &r->comparisons, &r->samples), *repeats = json_array();

	for (size_t i = 0; i < r->n_repeats; i++)
		json_array_append_new(repeats,
			one_bench_json(r, &r->repeats[i].comparisons, &r->repeats[i].samples));
	json_object_set_new(o, "repeats", repeats);
	json_object_set_new(o, "calibration",
		r->calibration.at ? calibration_json(&r->calibration) : json_null());
	return o;
}

/* Every figure carries the label of its build. */
static json_t *relinks_json(const struct report *r)
{
	const char *label = report_label(r);
	json_t *o = luck_json(&r->luck), *one;
	size_t i;

	json_array_foreach(json_object_get(o, "scenarios"), i, one)
		json_object_set_new(one, "label", *label ? json_string(label) : json_null());
	return o;
}

/* Every figure carries the label of its build. */
static json_t *variants_json(const struct report *r)
{
	const char *label = report_label(r);
	json_t *o = decision_json(&r->decision), *one;
	size_t i;

	json_array_foreach(json_object_get(o, "variants"), i, one)
		json_object_set_new(one, "label", *label ? json_string(label) : json_null());
	return o;
}

static json_t *launchers_json(const struct report *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->n_launchers; i++) {
		const struct report_launcher *l = &r->launchers[i];
		json_t *o = json_object();

		json_set_text(o, "name", l->name);
		json_object_set_new(o, "bypassed", json_boolean(l->bypassed));
		json_object_set_new(o, "calls", json_u64(l->calls));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *layout_json(const struct report *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->n_layouts; i++) {
		json_t *o = json_object();

		json_set_text(o, "name", r->layouts[i].name);
		json_object_set_new(o, "plain", text_bytes_json(&r->layouts[i].plain));
		json_object_set_new(o, "pgo", text_bytes_json(&r->layouts[i].pgo));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *finite_json(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *history_json(const struct report *r)
{
	static const char *const shown[] = {"none", "less", "more"};
	struct report_past v[REPORT_PAST_MAX];
	size_t n = report_past(r, v);
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct past_build *b = v[i].build;
		json_t *o = json_object();

		json_object_set_new(o, "build", b->id ? json_integer(b->id) : json_null());
		json_object_set_new(o, "started", json_text(b->started));
		json_object_set_new(o, "version", json_text(b->version));
		json_object_set_new(o, "revision", json_text(b->revision));
		json_object_set_new(o, "machine", json_text(b->machine));
		json_object_set_new(o, "scenario", json_text(v[i].figure->scenario));
		json_object_set_new(o, "ratio", finite_json(v[i].figure->ratio));
		json_object_set_new(o, "low", finite_json(v[i].figure->low));
		json_object_set_new(o, "high", finite_json(v[i].figure->high));
		json_object_set_new(o, "shown", json_string(shown[v[i].figure->shown]));
		json_object_set_new(
			o, "label", *v[i].label ? json_string(v[i].label) : json_null());
		json_array_append_new(a, o);
	}
	return a;
}

json_t *report_json(const struct report *r)
{
	const char *label = report_label(r);
	json_t *o = json_object(), *added = json_object();

	json_object_set_new(o, "schema", json_string("whet-report-1"));
	json_object_set_new(o, "project", json_text(r->project));
	json_object_set_new(o, "version", json_text(r->version));
	json_object_set_new(o, "target", json_text(r->target));
	json_object_set_new(o, "started", json_text(r->started));
	json_object_set_new(o, "tools", json_from_strv(&r->tools));
	json_object_set_new(o, "label", *label ? json_string(label) : json_null());
	json_object_set_new(o, "stages", stages_json(r));
	json_object_set_new(o, "own_cpu_ns", json_u64(r->own_cpu_ns));
	json_object_set_new(o, "driver_cpu_ns", json_u64(r->driver_cpu_ns));
	json_object_set_new(o, "time", time_json(r));
	json_object_set_new(o, "gates", verdicts_json(&r->verdicts));
	json_object_set_new(o, "training", training_json(&r->training));
	json_object_set_new(
		o, "coverage", r->has_coverage ? coverage_json(&r->coverage) : json_null());
	json_object_set_new(o, "second_training",
		r->second_training.n_phases ? training_json(&r->second_training) : json_null());
	json_object_set_new(o, "profile", profile_json(r));
	json_object_set_new(o, "profile_files", strays_json(r));
	json_object_set_new(added, "plain", json_from_strv(&r->added_plain));
	json_object_set_new(added, "instrumented", json_from_strv(&r->added_instrumented));
	json_object_set_new(added, "second_instrumented", json_from_strv(&r->added_second));
	json_object_set_new(added, "optimised", json_from_strv(&r->added_optimised));
	json_object_set_new(o, "added", added);
	json_object_set_new(o, "launchers", launchers_json(r));
	json_object_set_new(o, "bench", r->comparisons.n ? report_bench_json(r) : json_null());
	json_object_set_new(o, "relinks", r->luck.relinks ? relinks_json(r) : json_null());
	json_object_set_new(o, "variants", r->decision.n ? variants_json(r) : json_null());
	json_object_set_new(o, "layout", layout_json(r));
	json_object_set_new(o, "history", history_json(r));
	json_object_set_new(o, "artefacts", artefacts_json(r));
	return o;
}
