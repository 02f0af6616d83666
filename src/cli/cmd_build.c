/* whet build: the whole pipeline. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/build_view.h"
#include "cli/opt.h"
#include "cli/report_file.h"
#include "cli/supervise.h"
#include "cli/terminal.h"
#include "pipeline/pipeline.h"

struct build {
	struct cli *cli;
	struct pipeline_options o;
	char *file, *dist, *until, *profile, *shim, *report, *relinks;
	int64_t jobs;
	bool no_bench, why;
	struct build_view view;
};

static void build_release(struct build *b)
{
	free(b->file);
	free(b->dist);
	free(b->until);
	free(b->profile);
	free(b->shim);
	free(b->report);
	free(b->relinks);
	free(b->view.commands);
}

static int check_stage(const char *until, struct error *err)
{
	const char *close;

	if (!until)
		return 0;
	for (size_t i = 0; pipeline_stages[i]; i++)
		if (strcmp(until, pipeline_stages[i]) == 0)
			return 0;
	close = cli_suggest(until, pipeline_stages);
	return error_set(err, ERR_USAGE, "unknown stage '%s'%s%s%s", until,
		close ? "; did you mean '" : "; --help lists the stages", close ? close : "",
		close ? "'?" : "");
}

/* Before the first compile, not when the profile is needed. */
static int check_profile(const char *path, struct error *err)
{
	struct stat st;

	if (!path || strcmp(path, "last") == 0)
		return 0;
	if (stat(path, &st) < 0 || access(path, R_OK) < 0)
		return error_set(
			err, ERR_USAGE, "cannot read the profile '%s': %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_USAGE, "the profile '%s' is not a regular file", path);
	return 0;
}

/* whet-shim lies beside whet in a build folder, and in libexec when installed. */
static char *find_shim(const char *self)
{
	static const char *const places[] = {
		"whet-shim", "../wrap/whet-shim", "../libexec/whet/whet-shim"};
	auto_free char *dir = path_dirname(self);

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		auto_free char *joined = path_join(dir, places[i]);
		auto_free char *path = path_clean(joined);

		if (access(path, X_OK) == 0)
			return take_ptr(path);
	}
	return NULL;
}

static int fill_options(struct build *b, struct error *err)
{
	b->shim = find_shim(b->cli->self);
	if (!b->shim)
		return error_set(err, ERR_ENVIRONMENT,
			"whet-shim is not beside '%s' nor in ../libexec/whet: the installation is "
			"incomplete",
			b->cli->self);
	if (b->jobs < 1 || b->jobs > 4096)
		return error_set(err, ERR_USAGE, "--jobs takes a number from 1 to 4096");
	b->o = (struct pipeline_options){
		.file = cli_plan(b->cli, b->file, err),
		.dist = b->dist,
		.until = b->until,
		.profile = b->profile,
		.no_bench = b->no_bench,
		.relinks = b->relinks,
		.why = b->why,
		.jobs = (int)b->jobs,
		.self = b->cli->self,
		.shim = b->shim,
		.written = b->view.commands,
	};
	if (!b->o.file || report_file_check(b->report, err) < 0 ||
		check_profile(b->profile, err) < 0)
		return -1;
	return check_stage(b->until, err);
}

/* A build that a gate stopped has no other place for it. */
static int write_report(const struct build *b, const struct report *r)
{
	struct error err = ERROR_INIT;

	if (b->report && report_file_write(r, b->report, &err) < 0)
		return cli_fail(&err);
	return 0;
}

static int print_report(const struct build *b, const struct report *r)
{
	auto_buf struct buf text = BUF_INIT;
	auto_json json_t *j = NULL;

	if (b->cli->json) {
		j = report_json(r);
		json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
	} else if (!b->cli->quiet) {
		report_text(r, &text);
		fputs(buf_str(&text), stdout);
	}
	return 0;
}

static const char after_interruption[] = "the next `whet build` goes on where this one was";

static int build_work(void *ctx)
{
	struct build *b = ctx;
	struct terminal *t = terminal_new(b->cli);
	struct report report = {0};
	struct compile_logs logs = {0};
	struct error err = ERROR_INIT;
	int result, code = 0;

	b->o.events = terminal_events(t);
	b->o.logs = build_view_needs_logs(&b->view) ? &logs : NULL;
	result = pipeline_run(&b->o, &report, &err);
	terminal_free(t);
	if (!build_view_prints(&b->view) && (result == 0 || err.code == ERR_GATE))
		print_report(b, &report);
	if (result == 0 || err.code == ERR_GATE)
		code = write_report(b, &report);
	/* A stopped build is when a user needs to see what was called. */
	if (b->o.logs && code == 0)
		code = build_view_show(&b->view, b->cli, &logs);
	compile_logs_release(&logs);
	if (result < 0) {
		fflush(stdout);
		code = cli_fail(&err);
	}
	report_release(&report);
	return code;
}

static int say_up_to_date(const struct build *b, const struct pipeline_last *last)
{
	struct error err = ERROR_INIT;

	if (b->why && !b->cli->quiet)
		fprintf(stderr, "  nothing runs: nothing changed since the build of %s\n",
			last->since ? last->since : "?");
	if (b->cli->json) {
		auto_free char *path = path_join(last->dist, "report.json");
		auto_buf struct buf text = BUF_INIT;

		if (file_read(path, 0, &text, &err) < 0)
			return cli_fail(&err);
		fputs(buf_str(&text), stdout);
	} else if (!b->cli->quiet) {
		fputs(last->text, stdout);
		printf("\nnothing to do: '%s' is up to date\n", last->dist);
	}
	return 0;
}

/* What the last build left, without a process; the state may have been cleaned since, then the
 * builds are made again. */
static int show_last(struct build *b, const struct pipeline_last *last)
{
	struct compile_logs logs = {0};
	struct error err = ERROR_INIT;
	int code = 0;

	if (build_view_needs_logs(&b->view) && pipeline_last_logs(last, &logs, NULL) < 0)
		return supervise(build_work, b, after_interruption);
	if (!build_view_prints(&b->view))
		code = say_up_to_date(b, last);
	if (code == 0 && b->report && report_file_copy(last->dist, b->report, &err) < 0)
		code = cli_fail(&err);
	if (code == 0 && build_view_needs_logs(&b->view))
		code = build_view_show(&b->view, b->cli, &logs);
	compile_logs_release(&logs);
	return code;
}

static int build_run(struct cli *cli, int argc, char **argv)
{
	struct build b = {.cli = cli, .jobs = sysconf(_SC_NPROCESSORS_ONLN)};
	struct pipeline_last last = {0};
	struct error err = ERROR_INIT;
	auto_strv struct strv args = STRV_INIT;
	const struct opt opts[] = {
		{"file", 'f', OPT_STRING, "FILE", "the plan (default: whet.yaml)", &b.file},
		{"dist", 0, OPT_STRING, "FOLDER",
			"where artefacts go (default: dist beside the plan)", &b.dist},
		{"until", 0, OPT_STRING, "STAGE", "stop after a stage", &b.until},
		{"profile", 0, OPT_STRING, "FILE",
			"use this profile instead of training; last: the last trained one",
			&b.profile},
		{"no-bench", 0, OPT_FLAG, NULL, "leave the comparison out", &b.no_bench},
		{"relinks", 0, OPT_STRING, "N",
			"measure the spread of N relinks of each build; 0: of none", &b.relinks},
		{"why", 0, OPT_FLAG, NULL, "tell before each stage why it runs", &b.why},
		{"log", 0, OPT_FLAG, NULL, "print every compiler call instead of the report",
			&b.view.log},
		{"links", 0, OPT_FLAG, NULL, "print what each binary is linked of instead",
			&b.view.links},
		{"compile-commands", 0, OPT_STRING, "FILE",
			"write the plain build's compile_commands.json", &b.view.commands},
		{"report", 0, OPT_STRING, "FILE", "write the report as .html, .md or .json",
			&b.report},
		{"jobs", 'j', OPT_NUMBER, "N", "compile this many files at once", &b.jobs},
		{0},
	};
	int r = opt_parse(cli, &verb_build, opts, argc, argv, &args, &err), code = 0;

	if (r == 0 && args.n)
		r = error_set(&err, ERR_USAGE, "build takes no argument, but got '%s'", args.v[0]);
	if (r == 0)
		r = fill_options(&b, &err);
	if (r == 0)
		r = pipeline_look(&b.o, &last, &err);
	b.view.state = last.state;
	if (r < 0)
		code = cli_fail(&err);
	else if (r == 0)
		code = last.up_to_date ? show_last(&b, &last)
				       : supervise(build_work, &b, after_interruption);
	pipeline_last_release(&last);
	build_release(&b);
	return code;
}

const struct verb verb_build = {
	.name = "build",
	.args = "",
	.summary = "take the project from source to a measured profile-guided release",
	.text = "Stages: probe, plain, instrument, train, merge, optimise, check, bench, release. "
		"What an\n"
		"earlier build finished and nothing changed is taken from the store; an "
		"interrupted build\n"
		"goes on where it was. The user's tree is not touched, apart from the folder of "
		"artefacts.\n"
		"--log tells for every compiler call and every object of the binaries its class "
		"and why.",
	.run = build_run,
};
