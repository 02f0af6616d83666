/* whet bench: interleaved comparison of any binaries under the plan's load. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "cli/bench_variants.h"
#include "cli/opt.h"
#include "cli/report_file.h"
#include "cli/supervise.h"
#include "cli/terminal.h"
#include "config/plan.h"
#include "pipeline/note.h"
#include "report/report.h"
#include "stats/stats.h"
#include "store/store.h"
#include "train/emulator.h"

#define REPEATS_MAX 1000
#define CALIBRATION_RUNS 20

struct comparing {
	struct cli *cli;
	struct plan plan;
	struct bench_variants variants;
	char *file, *report;
	struct strv scenarios, resolve, peers;
	char *until_resolved, *time_limit, *counters;
	int64_t launches, repeat;
	bool calibrate;
};

static void comparing_release(struct comparing *c)
{
	bench_variants_release(&c->variants);
	free(c->file);
	free(c->report);
	strv_release(&c->scenarios);
	strv_release(&c->resolve);
	strv_release(&c->peers);
	free(c->until_resolved);
	free(c->time_limit);
	free(c->counters);
	plan_release(&c->plan);
}

static void print(const struct comparing *c, const struct report *r)
{
	auto_buf struct buf text = BUF_INIT;
	auto_json json_t *j = NULL;

	if (c->cli->json) {
		j = c->calibrate ? calibration_json(&r->calibration) : report_bench_json(r);
		json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
		return;
	}
	if (c->calibrate)
		report_calibration_text(r, &text);
	else
		report_bench_text(r, report_label(r), &text);
	fputs(buf_str(&text), stdout);
}

/* What an earlier calibration found. That it cannot be told is no reason to lose what was measured.
 */
static void recall_calibration(
	const struct comparing *c, struct report *r, const struct events *events)
{
	auto_free char *machine = note_machine();
	struct error err = ERROR_INIT;
	auto_free char *state = store_folder(c->plan.project, c->plan.root, &err);

	if (state)
		note_calibration(state, machine, &c->plan.bench, events, &r->calibration);
	else
		events_warning(events, "the calibration is left out: %s", err.msg);
	error_release(&err);
}

/* What the machine can tell apart. */
static int calibrate(const struct comparing *c, struct report *r, struct error *err)
{
	char now[CLOCK_TEXT];

	if (report_calibrate(r, err) < 0)
		return -1;
	clock_utc_text(clock_real_ns() / NS_PER_S, now);
	r->calibration.at = xstrdup(now);
	r->calibration.machine = note_machine();
	r->calibration.slices = c->plan.bench.slices;
	r->calibration.slice_ns = c->plan.bench.slice_ns;
	return 0;
}

/* For the reports to come. */
static int keep_calibration(const struct comparing *c, const struct report *r, struct error *err)
{
	auto_store struct store store = STORE_INIT;
	auto_free char *path = NULL;

	if (!c->calibrate)
		return 0;
	if (store_open(&store, c->plan.project, c->plan.root, err) < 0)
		return -1;
	path = store_path(&store, STORE_CALIBRATION);
	return calibration_write(&r->calibration, path, err);
}

/* All runs, each with an order of its own. */
static int measure(
	struct comparing *c, struct bench_options *o, struct report *r, struct error *err)
{
	const char *top = o->folder;
	uint64_t seed = c->plan.bench.seed;

	r->repeats = xcalloc((size_t)c->repeat, sizeof(*r->repeats));
	for (int64_t i = 0; i < c->repeat; i++) {
		auto_free char *folder = xasprintf("%s/run%lld", top, (long long)i + 1);
		struct report_repeat *more = i ? &r->repeats[i - 1] : NULL;

		/* A simulation counts the same each time. */
		if (i && c->plan.bench.counters == BENCH_COUNTERS_CALLGRIND)
			c->plan.bench.counters = BENCH_COUNTERS_AUTO;
		o->folder = folder;
		c->plan.bench.seed = seed + (uint64_t)i;
		if (c->repeat > 1)
			events_note(o->events, "run %lld of %lld", (long long)i + 1,
				(long long)c->repeat);
		if (bench_run(o, more ? &more->samples : &r->samples,
			    more ? &more->comparisons : &r->comparisons, err) < 0)
			return -1;
		r->n_repeats = (size_t)i;
	}
	return 0;
}

/* A comparison by itself: what was compared, and when. */
static int write_report(const struct comparing *c, struct report *r, struct error *err)
{
	char text[CLOCK_TEXT];

	if (!c->report)
		return 0;
	clock_utc_text(clock_real_ns() / NS_PER_S, text);
	r->project = xstrdup(c->plan.project);
	r->started = xstrdup(text);
	strv_add(&r->tools, "whet " WHET_VERSION);
	return report_file_write(r, c->report, err);
}

static int bench_in(void *ctx, const char *folder, struct error *err)
{
	struct comparing *c = ctx;
	struct terminal *term = terminal_new(c->cli);
	struct report r = {0};
	struct bench_options o = {
		.plan = &c->plan,
		.folder = folder,
		.self = c->cli->self,
		.events = terminal_events(term),
		.node = "bench",
		.launches = (uint32_t)c->launches,
	};
	int result = bench_variants_unpack(&c->variants, &c->plan, folder, err);

	o.variants = c->variants.v;
	o.n_variants = c->variants.n;
	if (result == 0)
		result = measure(c, &o, &r, err);
	if (result == 0 && c->calibrate)
		result = calibrate(c, &r, err);
	else if (result == 0)
		recall_calibration(c, &r, o.events);
	terminal_free(term);
	if (c->variants.label)
		r.given_label = xstrdup(c->variants.label);
	if (result == 0)
		print(c, &r);
	if (result == 0)
		result = keep_calibration(c, &r, err);
	if (result == 0)
		result = write_report(c, &r, err);
	report_release(&r);
	return result;
}

static int bench_work(void *ctx)
{
	return cli_in_folder("bench", bench_in, ctx);
}

/* --scenario and --resolve in place of the plan's. */
static int choose_scenarios(struct comparing *c, struct error *err)
{
	struct plan_bench *pb = &c->plan.bench;

	for (size_t i = 0; i < c->scenarios.n; i++)
		if (!plan_find_scenario(&c->plan, c->scenarios.v[i], NULL))
			return error_set(err, ERR_USAGE, "the plan has no phase or scenario '%s'",
				c->scenarios.v[i]);
	if (c->scenarios.n) {
		strv_release(&pb->scenarios);
		strv_add_all(&pb->scenarios, &c->scenarios);
	}
	if (c->resolve.n) {
		strv_release(&pb->resolve);
		strv_add_all(&pb->resolve, &c->resolve);
	}
	for (size_t i = 0; i < c->resolve.n; i++)
		if (!strv_has(&pb->scenarios, c->resolve.v[i]))
			return error_set(
				err, ERR_USAGE, "--resolve: '%s' is not measured", c->resolve.v[i]);
	return 0;
}

/* When it ends, in place of the plan's. */
static int set_end(struct comparing *c, struct error *err)
{
	if (c->time_limit && plan_set_bench(&c->plan, "time-limit", c->time_limit, err) < 0)
		return -1;
	if (c->until_resolved &&
		plan_set_bench(&c->plan, "until-resolved", c->until_resolved, err) < 0)
		return -1;
	if (c->resolve.n && !(c->plan.bench.until_resolved > 0))
		return error_set(err, ERR_USAGE,
			"--resolve says whose intervals must be narrow: it belongs to "
			"--until-resolved");
	return 0;
}

/* How often, and of what. */
static int choose_runs(struct comparing *c, const struct strv *args, struct error *err)
{
	if (report_file_check(c->report, err) < 0)
		return -1;
	if (!args->n)
		return error_set(err, ERR_USAGE,
			"bench needs at least one binary, for example: whet bench old/server "
			"new/server");
	if (c->calibrate && args->n != 1)
		return error_set(err, ERR_USAGE,
			"--calibrate compares one binary with itself, but %zu are given", args->n);
	if (c->calibrate && c->peers.n)
		return error_set(err, ERR_USAGE,
			"--calibrate compares one binary with itself, not with a peer");
	if (c->launches < 0 || c->launches > 1000)
		return error_set(err, ERR_USAGE, "--launches takes a number from 1 to 1000");
	if (c->repeat < 0 || c->repeat > REPEATS_MAX)
		return error_set(
			err, ERR_USAGE, "--repeat takes a number from 1 to %d", REPEATS_MAX);
	if (!c->repeat)
		c->repeat = c->calibrate ? CALIBRATION_RUNS : 1;
	return 0;
}

/* What is counted beside CPU time, in place of the plan's. */
static int set_counters(struct comparing *c, struct error *err)
{
	if (c->calibrate) /* asks for intervals alone */
		c->plan.bench.counters = BENCH_COUNTERS_OFF;
	return c->counters ? plan_set_bench(&c->plan, "counters", c->counters, err) : 0;
}

/* Fewer launches give no interval, which is what a calibration is made of. */
static int check_launches(const struct comparing *c, struct error *err)
{
	int64_t launches = c->launches ? c->launches : c->plan.bench.launches;

	if (!c->calibrate || launches >= STATS_MIN_LAUNCHES)
		return 0;
	return error_set(err, ERR_USAGE,
		"--calibrate needs at least %d launches, not %lld: fewer give no intervals",
		STATS_MIN_LAUNCHES, (long long)launches);
}

static int check_target(const struct plan *p, struct error *err)
{
	struct target t = {0};
	bool emulated;

	target_read(p->build.target, &t);
	emulated = train_is_emulated(p, &t);
	target_release(&t);
	if (!emulated)
		return 0;
	return error_set(err, ERR_ENVIRONMENT,
		"programs for %s run by an emulator on this machine, whose time says nothing about "
		"the target: compare them on a machine of that kind",
		p->build.target);
}

static int prepare(struct comparing *c, const struct strv *args, struct error *err)
{
	const char *file = cli_plan(c->cli, c->file, err);

	if (!file || choose_runs(c, args, err) < 0 || plan_read(file, &c->plan, err) < 0 ||
		check_target(&c->plan, err) < 0 || choose_scenarios(c, err) < 0 ||
		set_end(c, err) < 0 || set_counters(c, err) < 0 || check_launches(c, err) < 0 ||
		bench_variants_find(args, &c->peers, &c->plan, &c->variants, err) < 0)
		return -1;
	if (c->calibrate)
		c->variants.n = 1; /* of a release: the plain build */
	return 0;
}

static int bench_verb(struct cli *cli, int argc, char **argv)
{
	struct comparing c = {.cli = cli};
	struct error err = ERROR_INIT;
	auto_strv struct strv args = STRV_INIT;
	const struct opt opts[] = {
		{"calibrate", 0, OPT_FLAG, NULL,
			"compare A with itself, 20 times: what can this machine tell apart?",
			&c.calibrate},
		{"counters", 0, OPT_STRING, "WHICH",
			"auto: hardware counters where there are; callgrind: simulate, too; off",
			&c.counters},
		{"file", 'f', OPT_STRING, "FILE", "the plan (default: whet.yaml)", &c.file},
		{"launches", 0, OPT_NUMBER, "N", "fresh launches, at least (default: the plan's)",
			&c.launches},
		{"peer", 0, OPT_LIST, "NAME",
			"also this server of the plan's bench.peers; may be given several times",
			&c.peers},
		{"repeat", 0, OPT_NUMBER, "N",
			"make the whole comparison N times, all in one table", &c.repeat},
		{"report", 0, OPT_STRING, "FILE", "write the report as .html, .md or .json",
			&c.report},
		{"resolve", 0, OPT_LIST, "NAME",
			"with --until-resolved: only this scenario; may be given several times",
			&c.resolve},
		{"scenario", 0, OPT_LIST, "NAME", "only this one; may be given several times",
			&c.scenarios},
		{"time-limit", 0, OPT_STRING, "TIME",
			"begin no launch that would end later, such as 10m", &c.time_limit},
		{"until-resolved", 0, OPT_STRING, "PERCENT",
			"go on until every interval is as narrow as this, such as 0.5%",
			&c.until_resolved},
		{0},
	};
	int r = opt_parse(cli, &verb_bench, opts, argc, argv, &args, &err), code = 0;

	if (r == 0)
		r = prepare(&c, &args, &err);
	if (r < 0)
		code = cli_fail(&err);
	else if (r == 0)
		code = supervise(bench_work, &c, NULL);
	comparing_release(&c);
	return code;
}

const struct verb verb_bench = {
	.name = "bench",
	.args = "A|DIST [B...]",
	.summary = "compare binaries under the plan's load, interleaved",
	.text = "Runs the plan's services with each binary in the place of {binary}, all alive at "
		"the\n"
		"same time, and measures CPU time per verified request against A. A's own copy is\n"
		"measured, too: what it shows is noise. For a plan with several binaries A and B "
		"are\n"
		"folders that hold them. A folder with a release (its SHA256SUMS and report.json) "
		"stands\n"
		"for the two builds in its archives, plain and pgo, as they ship.",
	.run = bench_verb,
};
