#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "report/report.h"

static void add_comparison(struct report *r, const char *scenario, const char *variant,
	double ratio, double low, double high, int shown)
{
	struct comparisons *c = &r->comparisons;

	array_reserve(c->v, c->n, c->cap);
	c->v[c->n++] = (struct comparison){
		.scenario = xstrdup(scenario),
		.variant = xstrdup(variant),
		.base = xstrdup("plain"),
		.base_ns = 8012.4,
		.ratio = ratio,
		.low = low,
		.high = high,
		.p = isnan(low) ? NAN
		     : shown    ? 0.002
				: 0.4,
		.launches = 10,
		.slices = 120,
		.shown = shown,
	};
}

static void add_stage(struct report *r, const char *name, double s, bool reused)
{
	array_reserve(r->stages, r->n_stages, r->cap_stages);
	r->stages[r->n_stages++] = (struct report_stage){
		xstrdup(name), (uint64_t)(s * NS_PER_S), (uint64_t)(2 * s * NS_PER_S), reused};
}

static void fill(struct report *r)
{
	struct sample one = {9, 1, 2, 11, 6000, 48000000, 50000000, 20000000};

	r->project = xstrdup("edge");
	r->version = xstrdup("1.2");
	r->target = xstrdup("x86_64-linux-gnu");
	r->started = xstrdup("2026-01-02T03:04:05Z");
	r->dist = xstrdup("/home/u/edge/dist");
	add_stage(r, "plain build", 10, false);
	add_stage(r, "training", 4, false);
	add_stage(r, "bench", 130, false);
	verdict_add(
		&r->verdicts, "min-functions", VERDICT_PASS, "2100 executed, bound 2000", "", "");
	verdict_add(&r->verdicts, "stale", VERDICT_SKIPPED, "no profile", "", "");
	r->profile.sha256 = xstrdup("aa11");
	r->profile.functions = 5000;
	r->profile.executed = 2100;
	strv_add(&r->added_optimised, "-fprofile-use=P Q");
	r->n_artefacts = r->cap_artefacts = 1;
	r->artefacts = xcalloc(1, sizeof(*r->artefacts));
	r->artefacts[0].name = xstrdup("edge-1.2-pgo.tar.gz");
	r->artefacts[0].variant = xstrdup("pgo");
	r->artefacts[0].sha256 = xstrdup("bb22");
	r->artefacts[0].bytes = 1234567;
	add_comparison(r, "5 KB document", "pgo", 0.949, 0.938, 0.96, SHOWN_LESS);
	add_comparison(r, "mix", "pgo", 1.0004, 0.9939, 1.0087, SHOWN_NONE);
	add_comparison(r, "5 KB document", "null", 1.001, 0.9912, 1.0113, SHOWN_NONE);
	add_comparison(r, "mix", "null", 0.9999, 0.996, 1.004, SHOWN_NONE);
	r->comparisons.driver_busy = 0.61;
	r->comparisons.warnings = xstrdup("one line\nanother");
	samples_add(&r->samples, &one);
}

static char *text_of(const struct report *r)
{
	struct buf b = BUF_INIT;

	report_text(r, &b);
	return buf_detach(&b);
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static void test_text(void **state)
{
	struct report r = {0};
	auto_free char *text = NULL;

	fill(&r);
	text = text_of(&r);
	has(text, "edge 1.2 for x86_64-linux-gnu, started 2026-01-02T03:04:05Z\n");
	has(text, "Profile: 5000 functions, 2100 executed, sha256 aa11\n");
	has(text, "Added to the optimised build: '-fprofile-use=P Q'\n");
	has(text, "Added to the plain build: nothing\n");
	has(text, "\n  plain build      10.0 s      20.0 s\n");
	has(text, "\n  total        2 min 24 s  4 min 48 s  14.4 times the plain build\n");
	has(text, "\n  min-functions  pass     2100 executed, bound 2000\n");
	has(text, "\nArtefacts in /home/u/edge/dist\n");
	has(text, "\n  edge-1.2-pgo.tar.gz  1234567  bb22\n");
	has(text, "CPU time per request against plain, 10 launches\n");
	has(text, "\n  5 KB document               8012  -5.1 % [-6.2, -4.0]               "
		  "no difference shown [-0.9, +1.1]\n");
	has(text, "\n  mix                         8012  no difference shown [-0.6, +0.9]  "
		  "no difference shown [-0.4, +0.4]\n");
	has(text, "  one line\n  another\n");
	assert_null(strstr(text, "Not to be published"));
	assert_true(text[strlen(text) - 1] == '\n' && text[strlen(text) - 2] != '\n');
	report_release(&r);
}

/* The launches one by one, and the canary's alarm. */
static void test_launches(void **state)
{
	struct report r = {0};
	struct canary one = {3, 5000000, 1001};
	struct comparison *c;
	auto_free char *text = NULL;
	auto_json json_t *j = NULL;
	json_t *first, *canary;

	fill(&r);
	c = &r.comparisons.v[0];
	c->better_launches = 9;
	c->better_slices = 111;
	c->outlier_slices = 2;
	c->by_launch = xcalloc(10, sizeof(*c->by_launch));
	c->outlier = xcalloc(10, sizeof(*c->outlier));
	for (int i = 0; i < 10; i++)
		c->by_launch[i] = i == 6 ? 1.125 : 0.949;
	c->outlier[6] = true;
	r.comparisons.drift = 0.031;
	r.comparisons.drift_alarm = xstrdup("alarm: read it so");
	samples_add_canary(&r.samples, &one);
	text = text_of(&r);
	has(text, "  -5.1 % [-6.2, -4.0] 9/10 ");
	has(text, "\n  outliers, kept: '5 KB document' with pgo: launch 7 (+12.5 %)\n");
	has(text, "\n  alarm: read it so\n");
	j = report_bench_json(&r);
	first = json_array_get(json_object_get(j, "comparisons"), 0);
	assert_int_equal(json_integer_value(json_object_get(first, "better_launches")), 9);
	assert_int_equal(json_integer_value(json_object_get(first, "better_slices")), 111);
	assert_int_equal(json_integer_value(json_object_get(first, "outlier_slices")), 2);
	assert_int_equal(json_array_size(json_object_get(first, "by_launch")), 10);
	assert_int_equal(
		json_integer_value(json_array_get(json_object_get(first, "outliers"), 0)), 6);
	first = json_array_get(json_object_get(j, "comparisons"), 1);
	assert_true(json_is_null(json_object_get(first, "better_launches")));
	canary = json_object_get(j, "canary");
	assert_true(json_real_value(json_object_get(canary, "drift")) == 0.031);
	assert_true(json_real_value(json_object_get(canary, "tolerance")) == 0.03);
	assert_string_equal(
		json_string_value(json_object_get(canary, "alarm")), "alarm: read it so");
	first = json_array_get(json_object_get(canary, "series"), 0);
	assert_int_equal(json_integer_value(json_object_get(first, "launch")), 3);
	assert_int_equal(json_integer_value(json_object_get(first, "at_ns")), 5000000);
	assert_int_equal(json_integer_value(json_object_get(first, "cpu_ns")), 1001);
	report_release(&r);
}

static void test_end(void **state)
{
	struct report r = {0};
	struct comparisons *c = &r.comparisons;
	auto_free char *timed = NULL, *resolved = NULL;
	auto_json json_t *j = NULL;
	json_t *end;

	fill(&r);
	c->until_resolved = 0.005;
	c->end = TRIAL_TIME;
	c->time_limit_ns = 90 * NS_PER_S;
	c->v[0].more_launches = 3;
	c->v[1].more_launches = 24;
	c->v[1].held_out = c->v[3].held_out = true;
	timed = text_of(&r);
	has(timed, "\n  5 KB document                8012  -5.1 % [-6.2, -4.0]  ");
	has(timed, "\n  mix (held out)               8012  too noisy: needs about 24 more launches "
		   "[-0.6, +0.9]  ");
	has(timed, "\n  held out: not trained\n");
	has(timed, "\n  the time limit of 90 s ended it after 10 launches\n");
	has(timed,
		"\n  not resolved: '5 KB document' with pgo needs about 3 more launches for 0.5 % "
		"to each side\n");
	j = report_bench_json(&r);
	end = json_object_get(j, "end");
	assert_string_equal(json_string_value(json_object_get(end, "by")), "time limit");
	assert_int_equal(json_integer_value(json_object_get(end, "time_limit_ns")), 90 * NS_PER_S);
	assert_true(json_real_value(json_object_get(end, "until_resolved")) == 0.005);
	end = json_array_get(json_object_get(j, "comparisons"), 1);
	assert_true(json_is_true(json_object_get(end, "held_out")));
	assert_int_equal(json_integer_value(json_object_get(end, "more_launches")), 24);
	c->end = TRIAL_RESOLVED;
	c->v[0].more_launches = c->v[1].more_launches = 0;
	resolved = text_of(&r);
	has(resolved,
		"\n  resolved: after 10 launches no interval is wider than 0.5 % to each side\n");
	assert_null(strstr(resolved, "not resolved"));
	report_release(&r);
}

/* A second run, in which the second scenario was not measured. */
static void add_repeat(struct report *r)
{
	struct report again = {0};

	add_comparison(&again, "5 KB document", "pgo", 0.951, 0.941, 0.962, SHOWN_LESS);
	add_comparison(&again, "5 KB document", "null", 1.001, 0.9912, 1.0113, SHOWN_NONE);
	again.comparisons.drift_alarm = xstrdup("alarm: the second");
	r->repeats = xcalloc(1, sizeof(*r->repeats));
	r->repeats[0].comparisons = again.comparisons;
	r->n_repeats = 1;
}

static void test_repeats(void **state)
{
	struct report r = {0};
	auto_free char *text = NULL;
	auto_json json_t *j = NULL;
	json_t *again;

	fill(&r);
	add_repeat(&r);
	text = text_of(&r);
	has(text, "CPU time against plain, 2 runs (one / the next), 10 / 10 launches\n");
	has(text, "\n  5 KB document  8012 / 8012 ns/request  -5.1 % [-6.2, -4.0] / -4.9 % [-5.9, "
		  "-3.8]  ");
	has(text, "\n  mix               8012 / - ns/request  no difference shown [-0.6, +0.9] / - "
		  " ");
	has(text, "\nRun 1\n");
	has(text, "\nRun 2\n");
	has(text, "\n  alarm: the second\n");
	j = report_bench_json(&r);
	assert_int_equal(json_array_size(json_object_get(j, "comparisons")), 4);
	again = json_array_get(json_object_get(j, "repeats"), 0);
	assert_int_equal(json_array_size(json_object_get(again, "comparisons")), 2);
	assert_int_equal(json_array_size(json_object_get(again, "scenarios")), 1);
	assert_null(json_object_get(again, "repeats"));
	report_release(&r);
}

static void test_calibration(void **state)
{
	struct report r = {.given_label = xstrdup("gates failed")};
	auto_buf struct buf b = BUF_INIT, note = BUF_INIT;
	auto_free char *text = NULL;
	auto_json json_t *j = NULL;
	struct error err = ERROR_INIT;

	add_comparison(&r, "doc", "null", 1.002, 0.9912, 1.0113, SHOWN_NONE);
	add_repeat(&r);
	assert_string_equal(report_label(&r), "gates failed");
	assert_int_equal(report_calibrate(&r, &err), 0);
	report_calibration_text(&r, &b);
	has(buf_str(&b), "plain against itself, 2 comparisons of 10 launches\n");
	has(buf_str(&b), "\n  doc       8012  0 of 1      1.01 %      0.20 %   0.20 %\n");
	has(buf_str(&b), "\n  false differences in 0 of 2 comparisons: 0.0 %, 95 % interval 0.0 to "
			 "84.2 %\n");
	/* Until it is kept it says nothing about later reports. */
	report_calibration_note(&r.calibration, &r.comparisons, &note);
	assert_int_equal(note.n, 0);
	j = report_bench_json(&r);
	assert_true(json_is_null(json_object_get(j, "calibration")));
	r.calibration.at = xstrdup("2026-11-30T12:00:00Z");
	text = text_of(&r);
	has(text, "\n  this machine on 2026-11-30: plain against itself, 2 comparisons of 10 "
		  "launches, "
		  "showed a false difference in 0 (95 %: 0.0 to 84.2 %); noise floor 1.01 %\n");
	report_release(&r);
}

/* A noise floor is that of the scenarios that are told, and other launches are said. */
static void test_calibration_of_others(void **state)
{
	struct calibrated v[] = {{(char[]){"doc"}, 20, 1, 0.006, 0.001, 0.009},
		{(char[]){"mix"}, 20, 0, 0.03, 0.001, 0.009}};
	struct calibration c = {(char[]){"2026-11-30T12:00:00Z"}, (char[]){"A processor, 2"},
		(char[]){"plain"}, 20, 12, 50000000, 20, 1, 0.001, 0.249, v, 2};
	struct report r = {0};
	auto_buf struct buf note = BUF_INIT, none = BUF_INIT;

	add_comparison(&r, "doc", "pgo", 0.9, 0.89, 0.91, SHOWN_LESS);
	report_calibration_note(&c, &r.comparisons, &note);
	assert_string_equal(buf_str(&note),
		"this machine on 2026-11-30: plain against itself, 20 comparisons of 20 launches, "
		"showed a false difference in 1 (95 %: 0.1 to 24.9 %); here are 10 launches; noise "
		"floor 0.60 %");
	v[0].half_width = NAN;
	report_calibration_note(&c, &r.comparisons, &none);
	has(buf_str(&none), "; of these scenarios it knows no noise floor");
	assert_null(strstr(buf_str(&none), "3.00"));
	report_release(&r);
}

/* Comparisons that were too short for intervals. */
static void test_calibration_without_intervals(void **state)
{
	struct report r = {0};
	auto_buf struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;

	add_comparison(&r, "doc", "null", 1.002, NAN, NAN, SHOWN_NONE);
	assert_int_equal(report_calibrate(&r, &err), 0);
	report_calibration_text(&r, &b);
	has(buf_str(&b), "\n  doc       8012  0 of 0           -           -        -\n");
	report_release(&r);
}

/* Every line that shows a figure of the comparison carries the label. */
static void check_labelled(const struct report *r, const char *label)
{
	auto_free char *text = text_of(r);
	char *save = NULL;
	unsigned lines = 0;

	assert_string_equal(report_label(r), label);
	has(text, "Not to be published: ");
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (strstr(l, "[") || strstr(l, "CPU time per request")) {
			has(l, label);
			lines++;
		}
	assert_int_equal(lines, 3);
}

static void test_labels(void **state)
{
	struct report r = {0};

	fill(&r);
	assert_string_equal(report_label(&r), "");
	r.labelled = true;
	check_labelled(&r, "not a trained release");
	r.profile.given = true;
	check_labelled(&r, "profile given");
	verdict_add(&r.verdicts, "stale", VERDICT_FAIL, "3 functions", "f\ng", "train again");
	check_labelled(&r, "gates failed, profile given");
	r.profile.given = r.labelled = false; /* a failed gate is enough */
	check_labelled(&r, "gates failed");
	report_release(&r);
}

static void test_failed_gate_is_listed(void **state)
{
	struct report r = {0};
	auto_free char *text = NULL;

	fill(&r);
	verdict_add(&r.verdicts, "stale", VERDICT_FAIL, "3 functions", "f\ng", "train again");
	text = text_of(&r);
	has(text, "\n  stale          FAIL     3 functions\n");
	/* Evidence and remedy stand in the message that ends the build, and once is enough. */
	assert_null(strstr(text, "train again"));
	report_release(&r);
}

static void add_weighted(struct report *r, const char *variant, double ratio, int shown)
{
	struct comparisons *c = &r->comparisons;

	array_reserve(c->weighted, c->n_weighted, c->cap_weighted);
	c->weighted[c->n_weighted++] = (struct comparison){.variant = xstrdup(variant),
		.base = xstrdup("plain"),
		.base_ns = NAN,
		.ratio = ratio,
		.low = ratio - 0.01,
		.high = ratio + 0.01,
		.p = 0.02,
		.launches = 10,
		.shown = shown};
}

/* All scenarios together: in the table, explained, labelled, and in JSON. */
static void test_weighted(void **state)
{
	struct report r = {0};
	auto_free char *text = NULL, *labelled = NULL;
	auto_json json_t *j = NULL;
	json_t *bench, *one;

	fill(&r);
	add_weighted(&r, "pgo", 0.96, SHOWN_LESS);
	add_weighted(&r, "null", 1, SHOWN_NONE);
	r.comparisons.shares = xcalloc(2, sizeof(double));
	r.comparisons.n_shares = 2;
	r.comparisons.shares[0] = 0.75;
	r.comparisons.shares[1] = 0.25;
	text = text_of(&r);
	has(text, "\n  all, by weight                     -4.0 % [-5.0, -3.0]               "
		  "no difference shown [-1.0, +1.0]\n");
	has(text, "  all, by weight: geometric mean of the ratios by the phases' `weight`;");
	r.labelled = true;
	labelled = text_of(&r);
	has(labelled, "no difference shown [-1.0, +1.0]  (not a trained release)\n");
	j = report_json(&r);
	bench = json_object_get(j, "bench");
	assert_int_equal(json_array_size(json_object_get(bench, "weighted")), 2);
	one = json_array_get(json_object_get(bench, "weighted"), 0);
	assert_string_equal(json_string_value(json_object_get(one, "variant")), "pgo");
	assert_true(fabs(json_real_value(json_object_get(one, "ratio")) - 0.96) < 1e-12);
	assert_string_equal(
		json_string_value(json_object_get(one, "label")), "not a trained release");
	assert_null(json_object_get(one, "base_ns"));
	one = json_array_get(json_object_get(bench, "shares"), 0);
	assert_true(json_real_value(one) == 0.75);
	report_release(&r);
}

/* A run of a batch program is no request. */
static void test_units(void **state)
{
	struct report r = {0};
	auto_free char *runs = NULL, *both = NULL;

	fill(&r);
	for (size_t i = 0; i < 4; i++)
		r.comparisons.v[i].per_run = true;
	runs = text_of(&r);
	has(runs, "CPU time per run against plain, 10 launches\n");
	has(runs, "  plain, ns/run  ");
	assert_null(strstr(runs, "request"));
	r.comparisons.v[0].per_run = r.comparisons.v[2].per_run = false;
	both = text_of(&r);
	has(both, "CPU time against plain, 10 launches\n");
	has(both, "\n  5 KB document  8012 ns/request  -5.1 %");
	has(both, "\n  mix                8012 ns/run  no difference shown");
	report_release(&r);
}

/* Without an interval no change is printed. */
static void test_too_few_launches(void **state)
{
	struct report r = {0};
	auto_free char *text = NULL;

	add_comparison(&r, "mix", "pgo", 0.5, NAN, NAN, SHOWN_NONE);
	r.comparisons.v[0].launches = 3;
	text = text_of(&r);
	has(text, "not shown by 3 launches");
	assert_null(strstr(text, "50.0"));
	report_release(&r);
}

static void test_multiple(void **state)
{
	struct report r = {0};

	assert_true(report_multiple(&r) == 0);
	add_stage(&r, "plain build", 10, false);
	add_stage(&r, "training", 15, false);
	assert_true(fabs(report_multiple(&r) - 2.5) < 1e-9);
	add_stage(&r, "merge", 1, true);
	assert_true(report_multiple(&r) == 0);
	report_release(&r);
}

static void test_json(void **state)
{
	struct report r = {0};
	auto_json json_t *j = NULL;
	json_t *bench, *one;

	fill(&r);
	r.labelled = true;
	j = report_json(&r);
	assert_string_equal(json_string_value(json_object_get(j, "schema")), "whet-report-1");
	assert_string_equal(
		json_string_value(json_object_get(j, "label")), "not a trained release");
	assert_int_equal(json_array_size(json_object_get(j, "stages")), 3);
	assert_int_equal(json_array_size(json_object_get(j, "gates")), 2);
	assert_true(
		fabs(json_number_value(json_object_get(json_object_get(j, "time"), "times_plain")) -
			14.4) < 1e-9);
	bench = json_object_get(j, "bench");
	assert_int_equal(json_array_size(json_object_get(bench, "scenarios")), 2);
	assert_int_equal(json_array_size(json_object_get(bench, "variants")), 3);
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(bench, "variants"), 2)), "null");
	one = json_array_get(json_object_get(bench, "comparisons"), 3);
	assert_string_equal(json_string_value(json_object_get(one, "scenario")), "mix");
	assert_string_equal(
		json_string_value(json_object_get(one, "label")), "not a trained release");
	one = json_array_get(json_object_get(bench, "samples"), 0);
	assert_int_equal(json_integer_value(json_object_get(one, "cpu_ns")), 48000000);
	one = json_array_get(json_object_get(j, "artefacts"), 0);
	assert_int_equal(json_integer_value(json_object_get(one, "bytes")), 1234567);
	report_release(&r);
}

static struct coverage_functions one_function(const char *name, const char *file, uint64_t count)
{
	struct coverage_functions f = {.n = 1, .cap = 1, .all = 3};

	f.v = xcalloc(1, sizeof(*f.v));
	f.v[0] = (struct coverage_function){.name = xstrdup(name),
		.file = xstrdup(file),
		.counters = 7,
		.count = count,
		.share = 0.625};
	return f;
}

static void add_phase(struct report *r, const struct coverage_phase *p)
{
	struct coverage_facts *c = &r->coverage;

	array_reserve(c->phases, c->n_phases, c->cap_phases);
	c->phases[c->n_phases] = *p;
	c->phases[c->n_phases].name = xstrdup(p->name);
	c->phases[c->n_phases].like = xstrdup(p->like);
	c->phases[c->n_phases++].setting = xstrdup(p->setting);
}

static void fill_coverage(struct report *r)
{
	r->has_coverage = true;
	r->coverage.functions = 20;
	r->coverage.phase_functions = 12;
	r->coverage.outside_functions = 2;
	r->coverage.counters = 90;
	r->coverage.executed_counters = 44;
	r->coverage.unreached = one_function("ngx_http_v2_init", "src/v2.c", 0);
	add_phase(r, &(struct coverage_phase){.count = 16, .functions = 3, .new_functions = 3});
	add_phase(r, &(struct coverage_phase){.part = COVERAGE_PHASE,
			     .name = (char *)(uintptr_t)"count",
			     .count = 14006,
			     .functions = 4,
			     .new_functions = 3,
			     .first = one_function("counted", NULL, 2000),
			     .mostly = one_function("answer", "a.c", 4000)});
	add_phase(r, &(struct coverage_phase){.part = COVERAGE_PHASE,
			     .name = (char *)(uintptr_t)"again",
			     .count = 14006,
			     .functions = 4,
			     .like = (char *)(uintptr_t)"count",
			     .alike = 0.9987,
			     .useless = true});
	add_phase(r, &(struct coverage_phase){.part = COVERAGE_PHASE,
			     .name = (char *)(uintptr_t)"idle",
			     .useless = true});
}

static void test_coverage(void **state)
{
	struct report r = {0};
	struct buf b = BUF_INIT;
	auto_free char *text = NULL;

	fill_coverage(&r);
	text = text_of(&r);
	has(text, "Coverage of the training\n");
	has(text, "\n  (start)       16          3           3            0\n");
	has(text, "\n  count      14006          4           3            3\n");
	has(text, "\n  again      14006          4           0            0  useless: nothing new, "
		  "and 99.9 % as 'count'\n");
	has(text, "\n  idle           0          0           0            0  useless: executes "
		  "nothing\n");
	has(text, "\n  12 of 20 functions in phases, 2 before and after them alone; 44 of 90 "
		  "counters\n");
	has(text, "\nFunctions that nothing executes: 3 of 20; the largest\n");
	has(text, "\n         7  ngx_http_v2_init  src/v2.c\n");
	assert_null(strstr(text, "a phase executes first"));
	assert_null(strstr(text, "times"));
	r.coverage.phases[1].times = 2.5;
	report_coverage_text(&r.coverage, false, &b);
	has(buf_str(&b), "  mostly here  times\n");
	has(buf_str(&b), "\n  count      14006          4           3            3    2.5\n");
	buf_clear(&b);
	report_coverage_text(&r.coverage, true, &b);
	has(buf_str(&b), "\nFunctions that a phase executes first\n");
	has(buf_str(&b), "\n  count  counted      2000      62.5 %\n");
	has(buf_str(&b), "\n  count  answer       4000      62.5 %  a.c\n");
	buf_release(&b);
	report_release(&r);
}

static void test_coverage_of_settings(void **state)
{
	struct report r = {0};
	struct coverage_setting *s;
	auto_free char *text = NULL;

	r.has_coverage = true;
	s = r.coverage.settings = xcalloc(2, sizeof(*s));
	r.coverage.n_settings = r.coverage.cap_settings = 2;
	s[0] = (struct coverage_setting){.name = xstrdup("http1=new"),
		.count = 9,
		.reached = true,
		.only = one_function("parse_new", NULL, 5)};
	s[1] = (struct coverage_setting){.name = xstrdup("http1=off")};
	add_phase(&r, &(struct coverage_phase){.part = COVERAGE_PHASE,
			      .name = (char *)(uintptr_t)"count",
			      .setting = (char *)(uintptr_t)"http1=new",
			      .count = 9});
	text = text_of(&r);
	has(text, "\n  http1=new  count        9 ");
	has(text, "\n  http1=new        9                     3  yes                              "
		  "parse_new\n");
	has(text, "\n  http1=off        0                     0  no: its phases executed "
		  "nothing\n");
	report_release(&r);
}

static void test_coverage_unknown(void **state)
{
	struct report r = {0};
	auto_free char *text = NULL;
	auto_json json_t *j = NULL;

	r.has_coverage = true;
	r.coverage.problem = xstrdup("no permission");
	text = text_of(&r);
	has(text, "Coverage of the training\n  not known: what each phase executes could not be "
		  "read\n  no permission\n");
	j = report_json(&r);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(j, "coverage"), "problem")),
		"no permission");
	report_release(&r);
}

static void test_empty(void **state)
{
	struct report r = {0};
	auto_free char *text = text_of(&r);
	auto_json json_t *j = report_json(&r);

	assert_string_equal(text, "?, started ?\n");
	assert_true(json_is_null(json_object_get(j, "bench")));
	assert_true(json_is_null(json_object_get(j, "label")));
	assert_true(json_is_null(json_object_get(j, "coverage")));
	report_release(&r);
}

/* ---- relinks --------------------------------------------------------------------------------- */

static void add_relinks(struct report *r)
{
	struct luck *l = &r->luck;
	static const double ratios[] = {1.002, 0.998};

	l->relinks = 2;
	l->launches = 10;
	l->base = xstrdup("plain");
	l->variant = xstrdup("pgo");
	l->linker = xstrdup("lld 22.1.8");
	strv_add(&l->own_linker, "GNU ld");
	for (int i = 0; i < 2; i++) {
		array_reserve(l->v, l->n, l->cap);
		l->v[l->n++] = (struct luck_row){
			.scenario = i ? NULL : xstrdup("mix"),
			.shipped = i ? 0.949 : 0.99,
			.ratio = 0.96,
			.low = i ? NAN : 0.95,
			.high = i ? NAN : 0.97,
			.base = {.sd = i ? NAN : 0.006, .noise = 0.001, .p = 0.01, .range = 0.021},
			.variant = {.sd = 0.001, .noise = 0.002, .p = 0.4, .range = 0.012},
			.inside = !i,
		};
	}
	l->v[0].base.relinks = xcalloc(2, sizeof(double));
	l->v[0].base.n_relinks = 2;
	memcpy(l->v[0].base.relinks, ratios, sizeof(ratios));
}

static void test_relinks_text(void **state)
{
	auto_buf struct buf text = BUF_INIT, problem = BUF_INIT, none = BUF_INIT;
	struct report r = {0};

	report_text(&r, &none);
	assert_null(strstr(buf_str(&none), "elinks"));
	add_relinks(&r);
	report_text(&r, &text);
	has(buf_str(&text),
		"2 relinks of each build with random padding by lld 22.1.8, 10 launches\n");
	has(buf_str(&text), "-1.0 %  -4.0 % [-5.0, -3.0]  ±2.1 % (layout sd 0.6 %)  ±1.2 % "
			    "(noise)  inside the spread of mere relinks (±2.1 %)\n");
	has(buf_str(&text), "beyond the spread of mere relinks (±2.1 %)\n");
	has(buf_str(&text), "are linked by GNU ld, the relinks by lld 22.1.8");
	r.labelled = true;
	r.luck.problem = xstrdup("no lld");
	report_text(&r, &problem);
	has(buf_str(&problem), "Relinks: none are compared: no lld\n");
	report_release(&r);
}

static void test_relinks_json(void **state)
{
	struct report r = {0};
	auto_json json_t *none = report_json(&r), *j = NULL, *unknown = NULL;
	const json_t *o, *row;

	assert_true(json_is_null(json_object_get(none, "relinks")));
	add_relinks(&r);
	r.labelled = true;
	j = report_json(&r);
	o = json_object_get(j, "relinks");
	assert_int_equal(json_integer_value(json_object_get(o, "count")), 2);
	row = json_array_get(json_object_get(o, "scenarios"), 0);
	assert_true(json_is_true(json_object_get(row, "inside")));
	assert_string_equal(
		json_string_value(json_object_get(row, "label")), "not a trained release");
	assert_true(
		json_real_value(json_object_get(json_object_get(row, "base"), "range")) == 0.021);
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(row, "base"), "relinks")), 2);
	row = json_array_get(json_object_get(o, "scenarios"), 1);
	assert_true(json_is_null(json_object_get(row, "scenario")));
	assert_true(json_is_null(json_object_get(row, "low")));
	assert_true(json_is_null(json_object_get(json_object_get(row, "base"), "sd")));
	assert_true(json_is_false(json_object_get(row, "inside")));
	/* Without the builds' own figure there is no verdict. */
	r.luck.v[1].shipped = NAN;
	unknown = report_json(&r);
	row = json_array_get(json_object_get(json_object_get(unknown, "relinks"), "scenarios"), 1);
	assert_true(json_is_null(json_object_get(row, "shipped")));
	assert_true(json_is_null(json_object_get(row, "inside")));
	report_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_relinks_text),
		cmocka_unit_test(test_relinks_json),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_launches),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_calibration),
		cmocka_unit_test(test_calibration_of_others),
		cmocka_unit_test(test_calibration_without_intervals),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_failed_gate_is_listed),
		cmocka_unit_test(test_weighted),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_too_few_launches),
		cmocka_unit_test(test_multiple),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_coverage_of_settings),
		cmocka_unit_test(test_coverage_unknown),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
