/* whet history: what earlier builds gained. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/opt.h"
#include "config/plan.h"
#include "ledger/ledger.h"
#include "report/history.h"
#include "store/store.h"

#define WIDTH_DEFAULT 100
#define WIDTH_MIN 40
#define WIDTH_MAX 400

struct history {
	struct cli *cli;
	char *file, *project;
	int64_t compare; /* number of a build; 0: not given */
	bool plot;
	struct past_builds builds;
};

static void print_json(json_t *j)
{
	json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
	json_decref(j);
}

/* Nothing is made: a project that was never built stays without a state. */
static int read_builds(struct history *h, struct error *err)
{
	auto_free char *state = NULL, *path = NULL;
	struct plan plan = {0};
	const char *file = cli_plan(h->cli, h->file, err);
	int r = file ? plan_read(file, &plan, err) : -1;

	if (r == 0) {
		state = store_folder(plan.project, plan.root, err);
		h->project = xstrdup(plan.project);
	}
	plan_release(&plan);
	if (!state)
		return -1;
	path = path_join(state, STORE_HISTORY);
	return ledger_read(&(const struct ledger){path, LEDGER_PATIENCE_MS}, &h->builds, err);
}

static const struct past_build *find(const struct history *h, int64_t id, struct error *err)
{
	const struct past_build *b = past_find(&h->builds, id);

	if (!b && !h->builds.n)
		error_set(err, ERR_USAGE, "the history of '%s' holds no build yet", h->project);
	else if (!b)
		error_set(err, ERR_USAGE,
			"the history of '%s' has no build %" PRId64
			"; `whet history` lists %" PRId64 " to %" PRId64,
			h->project, id, h->builds.v[0].id, h->builds.v[h->builds.n - 1].id);
	return b;
}

static int parse_id(const char *text, int64_t *ret, struct error *err)
{
	char *end;
	long long v = strtoll(text, &end, 10);

	if (*end || end == text || v < 1)
		return error_set(err, ERR_USAGE,
			"'%s' is no number of a build; `whet history` lists them (for a scenario: "
			"--plot)",
			text);
	*ret = v;
	return 0;
}

static unsigned terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize w = {0};
	long v = columns ? strtol(columns, NULL, 10) : 0;

	if (v <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0)
		v = w.ws_col;
	if (v <= 0)
		v = WIDTH_DEFAULT;
	return (unsigned)(v < WIDTH_MIN ? WIDTH_MIN : v > WIDTH_MAX ? WIDTH_MAX : v);
}

static int show_list(const struct history *h)
{
	auto_buf struct buf text = BUF_INIT;

	if (h->cli->json) {
		print_json(report_history_json(h->project, h->builds.v, h->builds.n));
		return 0;
	}
	if (h->builds.n)
		report_history_list(h->project, &h->builds, &text);
	else
		buf_addf(&text,
			"%s: no build is noted yet; `whet build` notes each one that ends well\n",
			h->project);
	fputs(buf_str(&text), stdout);
	return 0;
}

static int show_plot(const struct history *h, const char *scenario, struct error *err)
{
	auto_buf struct buf text = BUF_INIT;

	if (report_history_plot(&h->builds, scenario, terminal_width(), &text, err) < 0)
		return -1;
	fputs(buf_str(&text), stdout);
	return 0;
}

static int show_build(const struct history *h, const struct past_build *b)
{
	auto_buf struct buf text = BUF_INIT;

	if (h->cli->json) {
		print_json(report_history_json(h->project, b, 1));
		return 0;
	}
	report_history_build(b, &text);
	fputs(buf_str(&text), stdout);
	return 0;
}

/* id 0: the newest that was measured, or NULL when none was. */
static const struct past_build *later(const struct history *h, int64_t id, struct error *err)
{
	if (id)
		return find(h, id, err);
	for (size_t i = h->builds.n; i > 0; i--)
		if (h->builds.v[i - 1].bench.n)
			return &h->builds.v[i - 1];
	error_set(err, ERR_USAGE, "no build in the history was measured");
	return NULL;
}

static int show_change(const struct history *h, int64_t id, struct error *err)
{
	const struct past_build *before = find(h, h->compare, err), *after;
	auto_buf struct buf text = BUF_INIT;

	after = before ? later(h, id, err) : NULL;
	if (!after)
		return -1;
	if (before == after)
		return error_set(err, ERR_USAGE,
			"build %" PRId64 " cannot be compared with itself: give an earlier one",
			before->id);
	for (int i = 0; i < 2; i++) {
		const struct past_build *b = i ? after : before;

		if (!b->bench.n)
			return error_set(err, ERR_USAGE,
				"build %" PRId64 " was not measured: there is nothing to compare",
				b->id);
	}
	if (h->cli->json) {
		print_json(report_history_compare_json(before, after));
		return 0;
	}
	report_history_compare(before, after, &text);
	fputs(buf_str(&text), stdout);
	return 0;
}

static int check_use(const struct history *h, const struct strv *args, struct error *err)
{
	if (args->n > 1)
		return error_set(err, ERR_USAGE,
			"history takes one build or, with --plot, one scenario, but got '%s' and "
			"'%s'",
			args->v[0], args->v[1]);
	if (h->plot && h->compare)
		return error_set(
			err, ERR_USAGE, "--plot and --compare ask for two things: give one");
	if (h->plot && h->cli->json)
		return error_set(
			err, ERR_USAGE, "--plot draws text; `whet history --json` has the figures");
	if (h->compare < 0)
		return error_set(err, ERR_USAGE, "--compare takes the number of a build");
	return 0;
}

static int show(struct history *h, const struct strv *args, struct error *err)
{
	const char *arg = args->n ? args->v[0] : NULL;
	const struct past_build *b;
	int64_t id = 0;

	if (check_use(h, args, err) < 0 || (arg && !h->plot && parse_id(arg, &id, err) < 0) ||
		read_builds(h, err) < 0)
		return -1;
	if (h->plot)
		return show_plot(h, arg, err);
	if (h->compare)
		return show_change(h, id, err);
	if (!id)
		return show_list(h);
	b = find(h, id, err);
	return b ? show_build(h, b) : -1;
}

static int history_verb(struct cli *cli, int argc, char **argv)
{
	struct history h = {.cli = cli};
	struct error err = ERROR_INIT;
	auto_strv struct strv args = STRV_INIT;
	const struct opt opts[] = {
		{"file", 'f', OPT_STRING, "FILE", "the plan (default: whet.yaml)", &h.file},
		{"plot", 0, OPT_FLAG, NULL,
			"draw the gain over the builds, as a whole or in SCENARIO", &h.plot},
		{"compare", 0, OPT_NUMBER, "BUILD",
			"hold the newest build, or the one given, against this one", &h.compare},
		{0},
	};
	int r = opt_parse(cli, &verb_history, opts, argc, argv, &args, &err), code = 0;

	if (r == 0)
		r = show(&h, &args, &err);
	if (r < 0)
		code = cli_fail(&err);
	past_builds_release(&h.builds);
	free(h.file);
	free(h.project);
	return code;
}

const struct verb verb_history = {
	.name = "history",
	.args = "[BUILD | --plot [SCENARIO]]",
	.summary = "what earlier builds gained, and how that moved",
	.text = "Without arguments: a line for each build of this project that ended well, with "
		"its "
		"gain over\n"
		"its plain build. With BUILD, a number of that list: all that is remembered of it. "
		"Builds whose\n"
		"gates failed or whose profile was given are never in it.",
	.run = history_verb,
};
