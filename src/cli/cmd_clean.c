/* whet clean: removes what whet keeps about projects; never anything else. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/opt.h"
#include "store/trim.h"

#define NS_PER_DAY (86400 * (int64_t)NS_PER_S)

struct clean {
	struct cli *cli;
	char *file;
	int64_t older; /* days; -1: not given */
	bool all, list, dry_run;
	json_t *projects;
	uint64_t total; /* bytes removed, or found by --list and --dry-run */
	size_t n;
	struct error failure; /* the first; the others are printed as they come */
};

static char *size_text(uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	double v = (double)bytes;
	size_t u = 0;

	for (; v >= 1024 && u + 1 < ARRAY_SIZE(units); u++)
		v /= 1024;
	return xasprintf(u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

static void print_project(struct clean *c, const struct store_project *p, const char *what)
{
	auto_free char *size = size_text(p->bytes);
	time_t at = (time_t)(p->used_ns / (int64_t)NS_PER_S);
	json_t *o;
	struct tm tm;
	char text[32];

	localtime_r(&at, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm);
	if (!c->cli->json && !c->cli->quiet)
		printf("%-8s %-16s %10s  last used %s  %s\n", what, p->project, size, text,
			p->folder);
	o = json_object();
	json_set_text(o, "project", p->project);
	json_set_text(o, "folder", p->folder);
	json_set_text(o, "state", p->state);
	json_set_text(o, "result", what);
	json_object_set_new(o, "bytes", json_u64(p->bytes));
	json_object_set_new(o, "last_used_ns", json_integer(p->used_ns));
	json_array_append_new(c->projects, o);
}

static void note_failure(struct clean *c, struct error *err)
{
	if (c->failure.code == ERR_NONE)
		error_move(&c->failure, err);
	else
		(void)cli_fail(err);
}

static void take(struct clean *c, const struct store_project *p)
{
	auto_free char *foreign = NULL;
	struct error err = ERROR_INIT;

	c->n++;
	if (c->list || c->dry_run) {
		c->total += p->bytes;
		print_project(c, p, c->list ? "state" : "would go");
		return;
	}
	if (store_project_remove(p, &foreign, &err) < 0) {
		error_context(&err, "'%s' (%s)", p->project, p->folder);
		print_project(c, p, "kept");
		note_failure(c, &err);
		return;
	}
	c->total += p->bytes;
	print_project(c, p, "removed");
	if (foreign)
		fprintf(stderr, "whet: '%s' stays: it holds '%s', which whet did not put there\n",
			p->state, foreign);
}

/* A state belongs to the folder of the plan, whatever the plan called itself then. */
static bool is_meant(const struct clean *c, const struct store_project *p, const char *folder)
{
	int64_t now = (int64_t)clock_real_ns();

	if (folder && strcmp(p->folder, folder) != 0)
		return false;
	return c->older < 0 || now - p->used_ns >= c->older * NS_PER_DAY;
}

static int plan_folder(const struct clean *c, char **ret, struct error *err)
{
	auto_free char *dir = NULL;
	const char *file;

	if (c->all || c->list)
		return 0;
	file = cli_plan(c->cli, c->file, err);
	if (!file)
		return -1;
	if (!path_exists(file))
		return error_set(err, ERR_USAGE,
			"there is no '%s' here: give the plan by --file, or clean --all projects",
			file);
	dir = path_dirname(file);
	*ret = path_resolve(dir);
	return 0;
}

static void print_sum(const struct clean *c)
{
	const char *did = c->list ? "all together" : c->dry_run ? "would free" : "freed";
	auto_free char *size = size_text(c->total);
	auto_json json_t *j = NULL;

	if (c->cli->json) {
		j = json_object();
		json_object_set(j, "projects", c->projects);
		json_object_set_new(j, "bytes", json_u64(c->total));
		json_object_set_new(j, "removed", json_boolean(!c->list && !c->dry_run));
		json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
	} else if (!c->cli->quiet) {
		printf("%s: %s\n", did, size);
	}
}

static int clean(struct clean *c, struct error *err)
{
	struct store_projects all = {0};
	auto_free char *folder = NULL;

	if (c->older < -1 || c->older > 100000)
		return error_set(err, ERR_USAGE, "--older takes a number of days from 0 to 100000");
	if (plan_folder(c, &folder, err) < 0 || store_projects(&all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (is_meant(c, &all.v[i], folder))
			take(c, &all.v[i]);
	store_projects_release(&all);
	print_sum(c);
	return c->failure.code == ERR_NONE ? 0 : error_move(err, &c->failure);
}

static int clean_run(struct cli *cli, int argc, char **argv)
{
	struct clean c = {.cli = cli, .older = -1, .projects = json_array()};
	struct error err = ERROR_INIT;
	auto_strv struct strv args = STRV_INIT;
	const struct opt opts[] = {
		{"file", 'f', OPT_STRING, "FILE", "the plan (default: whet.yaml)", &c.file},
		{"all", 0, OPT_FLAG, NULL, "of every project, not of this one alone", &c.all},
		{"older", 0, OPT_NUMBER, "DAYS", "only what no whet used for so many days",
			&c.older},
		{"list", 'l', OPT_FLAG, NULL, "show all projects with size and last use", &c.list},
		{"dry-run", 'n', OPT_FLAG, NULL, "say what would go, remove nothing", &c.dry_run},
		{0},
	};
	int r = opt_parse(cli, &verb_clean, opts, argc, argv, &args, &err), code = 0;

	if (r == 0 && args.n)
		r = error_set(&err, ERR_USAGE, "clean takes no argument, but got '%s'", args.v[0]);
	if (r == 0)
		r = clean(&c, &err);
	if (r < 0)
		code = cli_fail(&err);
	json_decref(c.projects);
	error_release(&c.failure);
	free(c.file);
	return code;
}

const struct verb verb_clean = {
	.name = "clean",
	.args = "",
	.summary = "remove what whet keeps about a project",
	.text = "The state of a project holds finished steps, build folders and profiles, which "
		"the "
		"next build\n"
		"makes again, and the history of its builds (`whet history`), which is gone for "
		"good.\n"
		"Released artefacts and the project itself are not touched. While another whet "
		"works on a\n"
		"project, its state stays.",
	.run = clean_run,
};
