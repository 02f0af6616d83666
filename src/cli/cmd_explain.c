/* whet explain: why the last build stopped, or what a gate means. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/build_view.h"
#include "cli/opt.h"
#include "config/plan.h"
#include "facts/verdict.h"
#include "gate/gate.h"
#include "pipeline/pipeline.h"
#include "store/seal.h"
#include "store/store.h"

/* Prints lines, each indented. */
static void print_indented(const char *text, const char *indent)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		printf("%s%.*s\n", indent, (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static const struct gate *find_gate(const char *name, struct error *err)
{
	const struct gate *g = gate_find(name);
	auto_free const char **names = xcalloc(n_gates + 1, sizeof(*names));
	auto_buf struct buf list = BUF_INIT;
	const char *close;

	if (g)
		return g;
	for (size_t i = 0; i < n_gates; i++)
		names[i] = gates[i].name;
	close = cli_suggest(name, names);
	for (size_t i = 0; i < n_gates; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", gates[i].name);
	error_set(err, ERR_USAGE, "unknown gate '%s'%s%s%s\nthe gates: %s", name,
		close ? "; did you mean '" : "", close ? close : "", close ? "'?" : "",
		buf_str(&list));
	return NULL;
}

static void explain_gate(const struct cli *cli, const struct gate *g)
{
	if (cli->json) {
		auto_json json_t *j = json_object();

		json_set_text(j, "gate", g->name);
		json_set_text(j, "meaning", g->meaning);
		json_set_text(j, "default", g->default_bound);
		json_set_text(j, "remedy", g->remedy);
		json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
		return;
	}
	printf("%s\n  checks:     %s\n  default:    %s\n  what to do: %s\n", g->name, g->meaning,
		g->default_bound, g->remedy);
}

/* How the last build ended, when it did not end well; NULL otherwise. */
static json_t *read_stop(const struct store *store)
{
	auto_free char *path = store_path(store, "last/stop.json");

	return path_exists(path) ? json_read_file(path, NULL) : NULL;
}

/* The store of the plan's project; project: its name, caller frees. */
static int open_store(const char *file, struct store *ret, char **project, struct error *err)
{
	struct plan plan = {0};
	int r = plan_read(file, &plan, err);

	if (r == 0)
		r = store_open(ret, plan.project, plan.root, err);
	if (r == 0)
		*project = xstrdup(plan.project);
	plan_release(&plan);
	return r;
}

static int read_last(const char *file, struct verdicts *ret, json_t **ret_stop, struct error *err)
{
	auto_store struct store store = STORE_INIT;
	auto_free char *project = NULL, *path = NULL;
	auto_json json_t *j = NULL;

	if (open_store(file, &store, &project, err) < 0)
		return -1;
	path = store_path(&store, "last/verdicts.json");
	*ret_stop = read_stop(&store);
	if (!path_exists(path))
		return *ret_stop ? 0
				 : error_set(err, ERR_ENVIRONMENT,
					   "no gate of project '%s' has been asked yet; run `whet "
					   "build` first",
					   project);
	j = sealed_read(path, err);
	return j ? verdicts_from_json(json_object_get(j, "verdicts"), ret, err) : -1;
}

/* Of a gate that was asked twice the last verdict counts. */
static bool is_superseded(const struct verdicts *vs, size_t i)
{
	for (size_t k = i + 1; k < vs->n; k++) {
		if (strcmp(vs->v[k].gate, vs->v[i].gate) == 0)
			return true;
	}
	return false;
}

static void print_stop(const json_t *stop)
{
	auto_free char *started = json_opt_str(stop, "started");
	auto_free char *stage = json_opt_str(stop, "stage");
	auto_free char *message = json_opt_str(stop, "message");

	printf("the last build (started %s) stopped at: %s\n", started ? started : "?",
		stage ? stage : "?");
	print_indented(message ? message : "", "  ");
}

static void print_failed(const struct cli *cli, const struct verdicts *vs, json_t *stop)
{
	struct verdicts failed = {0};
	size_t asked = 0;

	for (size_t i = 0; i < vs->n; i++) {
		const struct verdict *v = &vs->v[i];

		if (is_superseded(vs, i))
			continue;
		asked++;
		/* Failed verdicts without a stop are of a build that a later look found no need
		 * to repeat. */
		if (v->state == VERDICT_FAIL && stop)
			verdict_add(&failed, v->gate, v->state, v->summary, v->evidence, v->remedy);
	}
	if (cli->json) {
		auto_json json_t *j = json_object();

		json_object_set(j, "stop", stop ? stop : json_null());
		json_object_set_new(j, "asked", json_integer((json_int_t)asked));
		json_object_set_new(j, "failed", verdicts_json(&failed));
		json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
	} else if (!failed.n) {
		printf("no gate stopped the last build (%zu were asked)\n", asked);
	}
	verdicts_release(&failed);
}

static int show_log(const struct cli *cli, const char *file, struct error *err)
{
	const struct build_view view = {.log = true};
	auto_store struct store store = STORE_INIT;
	auto_free char *project = NULL;
	struct compile_logs logs = {0};
	int r;

	file = cli_plan(cli, file, err);
	r = file ? open_store(file, &store, &project, err) : -1;
	if (r == 0)
		r = pipeline_stopped_logs(store.root, &logs, err);
	if (r == 0 && !logs.n)
		r = error_set(err, ERR_ENVIRONMENT,
			"the last build was not stopped, or not during or after a build; `whet "
			"build --log` shows the calls of one that went well");
	if (r == 0)
		build_view_show(&view, cli, &logs);
	compile_logs_release(&logs);
	return r;
}

static int explain(
	const struct cli *cli, const char *file, const struct strv *args, struct error *err)
{
	auto_json json_t *stop = NULL;
	struct verdicts vs = {0};
	const struct gate *g;

	if (args->n > 1)
		return error_set(err, ERR_USAGE, "explain takes one gate, not %zu", args->n);
	if (args->n) {
		g = find_gate(args->v[0], err);
		if (!g)
			return -1;
		explain_gate(cli, g);
		return 0;
	}
	file = cli_plan(cli, file, err);
	if (!file || read_last(file, &vs, &stop, err) < 0)
		return -1;
	if (stop && !cli->json)
		print_stop(stop);
	else
		print_failed(cli, &vs, stop);
	verdicts_release(&vs);
	return 0;
}

static int explain_verb(struct cli *cli, int argc, char **argv)
{
	auto_free char *file = NULL;
	auto_strv struct strv args = STRV_INIT;
	struct error err = ERROR_INIT;
	bool log = false;
	const struct opt opts[] = {
		{"file", 'f', OPT_STRING, "FILE", "the plan (default: whet.yaml)", &file},
		{"log", 0, OPT_FLAG, NULL, "print the compiler calls of the stopped build", &log},
		{0},
	};
	int r = opt_parse(cli, &verb_explain, opts, argc, argv, &args, &err);

	if (r > 0)
		return 0;
	if (r == 0 && log && args.n)
		r = error_set(&err, ERR_USAGE, "--log and GATE ask for two things: give one");
	if (r == 0)
		r = log ? show_log(cli, file, &err) : explain(cli, file, &args, &err);
	if (r < 0)
		return cli_fail(&err);
	return 0;
}

const struct verb verb_explain = {
	.name = "explain",
	.args = "[GATE]",
	.summary = "why the last build stopped, or what a gate means",
	.text = "Without GATE: the gates that stopped the last build, with evidence and remedy.\n"
		"With GATE: what it checks, its default and what to do when it fires. The names "
		"are\n"
		"those that a build prints.",
	.run = explain_verb,
};
