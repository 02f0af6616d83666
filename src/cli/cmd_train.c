/* whet train: the training load against given binaries, every answer checked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "cli/opt.h"
#include "cli/supervise.h"
#include "cli/terminal.h"
#include "config/plan.h"
#include "report/report.h"
#include "train/train.h"

struct training {
	struct cli *cli;
	struct plan plan;
	struct strv binaries;
	struct train_emulator
		emulator; /* that they run by; without words: they run by themselves */
	char *file, *phase;
	bool coverage;
};

/* covered: NULL when that was not asked for. */
static void print_text(const struct training_facts *f, const struct coverage_facts *covered)
{
	static const char *const columns[] = {"phase", "result", ">done", ">planned", ">s"};
	struct table *t = table_new(columns, ARRAY_SIZE(columns));
	auto_buf struct buf b = BUF_INIT;

	for (size_t i = 0; i < f->n_phases; i++) {
		const struct phase_result *p = &f->phases[i];

		table_cell(t, "%s", p->name);
		table_cell(t, "%s", phase_status_name(p->status));
		table_cell(t, "%llu", (unsigned long long)p->done);
		table_cell(t, "%llu", (unsigned long long)p->planned);
		table_cell(t, "%.2f", (double)p->wall_ns / 1e9);
	}
	table_print(t, &b);
	if (covered) {
		buf_addc(&b, '\n');
		report_coverage_text(covered, true, &b);
	}
	fputs(buf_str(&b), stdout);
	table_free(t);
}

static void print_json(const struct training_facts *f, const struct coverage_facts *covered)
{
	auto_json json_t *j = json_object(), *phases = json_array();

	for (size_t i = 0; i < f->n_phases; i++)
		json_array_append_new(phases, phase_result_json(&f->phases[i]));
	json_object_set(j, "phases", phases);
	if (covered)
		json_object_set_new(j, "coverage", coverage_json(covered));
	json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
}

static int judge(const struct training_facts *f, struct error *err)
{
	if (f->failure)
		return error_set(err, ERR_CHILD, "%s", f->failure);
	for (size_t i = 0; i < f->n_phases; i++) {
		const struct phase_result *p = &f->phases[i];

		if (p->status == PHASE_OK || p->status == PHASE_SKIPPED)
			continue;
		return error_set(err, ERR_GATE, "phase '%s': %s: %s%s%s", p->name,
			phase_status_name(p->status), p->problem ? p->problem : "",
			p->log ? "\n" : "", p->log ? p->log : "");
	}
	return 0;
}

static int train_in(void *ctx, const char *folder, struct error *err)
{
	struct training *t = ctx;
	struct terminal *term = terminal_new(t->cli);
	struct training_facts facts = {0};
	struct coverage_facts coverage = {0};
	auto_free char *profiles = path_join(folder, "profiles");
	auto_free char *bin = path_join(folder, "bin");
	auto_strv struct strv placed = STRV_INIT;
	auto_free char *sources = xasprintf("%s/", t->plan.root);
	struct train_options o = {
		.plan = &t->plan,
		.binaries = &t->binaries,
		.folder = folder,
		.self = t->cli->self,
		.events = terminal_events(term),
		.node = "training",
		.only_phase = t->phase,
		.no_evidence = true,
	};
	int r;

	if (t->coverage) {
		o.profiles = profiles;
		o.coverage = &coverage;
		o.sources = sources;
	}
	r = 0;
	if (t->emulator.words.n) {
		o.emulator = &t->emulator;
		o.binaries = &placed;
		r = train_emulator_place(&t->emulator, &t->binaries, bin, &placed, err);
	}
	if (r == 0)
		r = train_run(&o, &facts, err);

	terminal_free(term);
	if (r == 0) {
		if (t->cli->json)
			print_json(&facts, t->coverage ? &coverage : NULL);
		else if (!t->cli->quiet)
			print_text(&facts, t->coverage ? &coverage : NULL);
		r = judge(&facts, err);
	}
	training_facts_release(&facts);
	coverage_facts_release(&coverage);
	return r;
}

static int train_work(void *ctx)
{
	return cli_in_folder("train", train_in, ctx);
}

static int prepare(struct training *t, const struct strv *args, struct error *err)
{
	const char *file = cli_plan(t->cli, t->file, err);

	if (!args->n)
		return error_set(err, ERR_USAGE,
			"train needs the binary to load, for example: whet train build/server");
	for (size_t i = 0; i < args->n; i++) {
		if (access(args->v[i], X_OK) < 0)
			return error_set(err, ERR_USAGE, "'%s' is no executable file", args->v[i]);
		strv_take(&t->binaries, path_absolute(args->v[i]));
	}
	if (!file || plan_read(file, &t->plan, err) < 0)
		return -1;
	if (t->binaries.n != t->plan.build.binary.n)
		return error_set(err, ERR_USAGE, "the plan has %zu binaries, but %zu were given",
			t->plan.build.binary.n, t->binaries.n);
	if (t->phase && !plan_find_phase(&t->plan, t->phase))
		return error_set(err, ERR_USAGE, "the plan has no phase '%s'", t->phase);
	return train_emulator_need(&t->plan, &t->emulator, err);
}

static int train_verb(struct cli *cli, int argc, char **argv)
{
	struct training t = {.cli = cli};
	struct error err = ERROR_INIT;
	auto_strv struct strv args = STRV_INIT;
	const struct opt opts[] = {
		{"file", 'f', OPT_STRING, "FILE", "the plan (default: whet.yaml)", &t.file},
		{"phase", 0, OPT_STRING, "NAME", "only this phase", &t.phase},
		{"coverage", 0, OPT_FLAG, NULL,
			"tell what each phase executes; BINARY is an instrumented one",
			&t.coverage},
		{0},
	};
	int r = opt_parse(cli, &verb_train, opts, argc, argv, &args, &err), code = 0;

	if (r == 0)
		r = prepare(&t, &args, &err);
	if (r < 0)
		code = cli_fail(&err);
	else if (r == 0)
		code = supervise(train_work, &t, NULL);
	strv_release(&t.binaries);
	train_emulator_release(&t.emulator);
	plan_release(&t.plan);
	free(t.file);
	free(t.phase);
	return code;
}

const struct verb verb_train = {
	.name = "train",
	.args = "BINARY...",
	.summary = "run the training load against a binary, every answer checked",
	.text = "Starts the plan's services with BINARY in the place of {binary}, runs the phases "
		"and\n"
		"stops the services. Exits with 1 when an answer was not the expected one.",
	.run = train_verb,
};
