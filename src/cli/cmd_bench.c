/* whet bench: interleaved comparison of any binaries under the plan's load. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "cli/opt.h"
#include "cli/supervise.h"
#include "cli/terminal.h"
#include "config/plan.h"
#include "report/report.h"

struct comparing {
	struct cli *cli;
	struct plan plan;
	struct bench_variant *variants;
	struct strv *binaries; /* one list per variant */
	struct strv names;
	size_t n;
	char *file;
	struct strv scenarios, resolve;
	char *until_resolved, *time_limit;
	int64_t launches;
};

static void comparing_release(struct comparing *c)
{
	for (size_t i = 0; i < c->n; i++)
		strv_release(&c->binaries[i]);
	free(c->binaries);
	free(c->variants);
	free(c->file);
	strv_release(&c->names);
	strv_release(&c->scenarios);
	strv_release(&c->resolve);
	free(c->until_resolved);
	free(c->time_limit);
	plan_release(&c->plan);
}

static void print(const struct comparing *c, const struct report *r)
{
	auto_buf struct buf text = BUF_INIT;
	auto_json json_t *j = NULL;

	if (c->cli->json) {
		j = report_bench_json(r);
		json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
		return;
	}
	report_comparison_text(&r->comparisons, "", &text);
	fputs(buf_str(&text), stdout);
}

static int bench_in(void *ctx, const char *folder, struct error *err)
{
	struct comparing *c = ctx;
	struct terminal *term = terminal_new(c->cli);
	struct report r = {0};
	struct bench_options o = {
		.plan = &c->plan,
		.variants = c->variants,
		.n_variants = c->n,
		.folder = folder,
		.self = c->cli->self,
		.events = terminal_events(term),
		.node = "bench",
		.launches = (uint32_t)c->launches,
	};
	int result = bench_run(&o, &r.samples, &r.comparisons, err);

	terminal_free(term);
	if (result == 0)
		print(c, &r);
	report_release(&r);
	return result;
}

static int bench_work(void *ctx)
{
	return cli_in_folder("bench", bench_in, ctx);
}

/* A variant is a file, or a folder that holds the plan's binaries under their names. */
static int add_variant(struct comparing *c, const char *given, struct error *err)
{
	const struct strv *wanted = &c->plan.build.binary;
	auto_free char *path = path_absolute(given);
	struct strv *list = &c->binaries[c->n];
	bool folder = path_is_dir(path);

	if (!folder && wanted->n != 1)
		return error_set(err, ERR_USAGE,
			"the plan has %zu binaries: expected a folder that holds them, but '%s' is "
			"none",
			wanted->n, given);
	for (size_t i = 0; i < wanted->n; i++) {
		const char *name = path_basename(wanted->v[i]);

		strv_take(list, folder ? path_join(path, name) : xstrdup(path));
		if (path_is_dir(list->v[i]) || access(list->v[i], X_OK) < 0) {
			c->n++; /* so that the list is released */
			return error_set(err, ERR_USAGE, "'%s' is no executable file", list->v[i]);
		}
	}
	c->n++;
	return 0;
}

/* The shortest names that tell the variants apart. */
static void name_variants(struct comparing *c, const struct strv *args)
{
	auto_strv struct strv bases = STRV_INIT;
	bool unique = true;

	for (size_t i = 0; i < args->n; i++) {
		auto_free char *path = path_absolute(args->v[i]);

		unique = unique && !strv_has(&bases, path_basename(path)) &&
			 strcmp(path_basename(path), BENCH_NULL_ARM) != 0;
		strv_add(&bases, path_basename(path));
	}
	for (size_t i = 0; i < args->n; i++) {
		const char *name = unique ? bases.v[i] : args->v[i];

		if (strv_has(&c->names, name) || strcmp(name, BENCH_NULL_ARM) == 0)
			strv_addf(&c->names, "%s (%zu)", name, i + 1);
		else
			strv_add(&c->names, name);
	}
	for (size_t i = 0; i < args->n; i++)
		c->variants[i] = (struct bench_variant){c->names.v[i], &c->binaries[i]};
}

/* --scenario and --resolve in place of the plan's. */
static int choose_scenarios(struct comparing *c, struct error *err)
{
	struct plan_bench *pb = &c->plan.bench;

	for (size_t i = 0; i < c->scenarios.n; i++)
		if (!plan_find_scenario(&c->plan, c->scenarios.v[i]))
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

static int prepare(struct comparing *c, const struct strv *args, struct error *err)
{
	if (!args->n)
		return error_set(err, ERR_USAGE,
			"bench needs at least one binary, for example: whet bench old/server "
			"new/server");
	if (c->launches < 0 || c->launches > 1000)
		return error_set(err, ERR_USAGE, "--launches takes a number from 1 to 1000");
	if (plan_read(c->file ? c->file : "whet.yaml", &c->plan, err) < 0)
		return -1;
	if (choose_scenarios(c, err) < 0 || set_end(c, err) < 0)
		return -1;
	c->binaries = xcalloc(args->n, sizeof(*c->binaries));
	c->variants = xcalloc(args->n, sizeof(*c->variants));
	for (size_t i = 0; i < args->n; i++)
		if (add_variant(c, args->v[i], err) < 0)
			return -1;
	name_variants(c, args);
	return 0;
}

static int bench_verb(struct cli *cli, int argc, char **argv)
{
	struct comparing c = {.cli = cli};
	struct error err = ERROR_INIT;
	auto_strv struct strv args = STRV_INIT;
	const struct opt opts[] = {
		{"file", 'f', OPT_STRING, "FILE", "the plan (default: whet.yaml)", &c.file},
		{"launches", 0, OPT_NUMBER, "N", "fresh launches, at least (default: the plan's)",
			&c.launches},
		{"resolve", 0, OPT_LIST, "NAME",
			"with --until-resolved: only this scenario; may be given several times",
			&c.resolve},
		{"scenario", 0, OPT_LIST, "NAME", "only this one; may be given several times",
			&c.scenarios},
		{"time-limit", 0, OPT_STRING, "TIME",
			"begin no launch that would end later, such as 10m", &c.time_limit},
		{"until-resolved", 0, OPT_STRING, "PERCENT",
			"go on until no interval is wider than this to each side, such as 0.5%",
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
	.args = "A [B...]",
	.summary = "compare binaries under the plan's load, interleaved",
	.text = "Runs the plan's services with each binary in the place of {binary}, all alive at "
		"the\n"
		"same time, and measures CPU time per verified request against A. A's own copy is\n"
		"measured, too: what it shows is noise. For a plan with several binaries A and B "
		"are\n"
		"folders that hold them.",
	.run = bench_verb,
};
