/* whet profile show|validate, and the table of all actions: the profile engine on its
 * own. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "cli/cmd_snapshot.h"
#include "cli/opt.h"
#include "cli/profile_compare.h"
#include "cli/profile_gcc.h"
#include "cli/profile_inputs.h"
#include "cli/profile_merge.h"
#include "profile/profile.h"

static const struct verb verb_show, verb_validate;
static const struct verb *const actions[] = {&verb_profile_merge, &verb_profile_convert, &verb_show,
	&verb_overlap, &verb_diff, &verb_validate, &verb_snapshot, NULL};

struct listing {
	struct table *table;
	json_t *json;
};

static int list_function(
	void *ctx, const char *key, uint64_t hash, const uint64_t *counts, size_t n)
{
	struct listing *l = ctx;
	auto_free char *hex = xasprintf("0x%016" PRIx64, hash);
	uint64_t max = 0;

	for (size_t i = 0; i < n; i++)
		max = counts[i] > max ? counts[i] : max;
	if (l->json) {
		json_t *o = json_object();

		json_set_text(o, "key", key);
		json_set_text(o, "hash", hex);
		json_object_set_new(o, "counters", json_u64(n));
		/* A saturated counter does not fit into a JSON integer. */
		json_object_set_new(o, "max_count", json_u64(max));
		json_array_append_new(l->json, o);
		return 0;
	}
	table_cell(l->table, "%" PRIu64, max);
	table_cell(l->table, "%zu", n);
	table_cell(l->table, "%s", hex);
	table_cell(l->table, "%s", key);
	return 0;
}

static void show_text(const struct profile *p, const struct profile_summary *s, bool functions)
{
	static const char *const columns[] = {">max count", ">counters", "hash", "key"};
	auto_buf struct buf b = BUF_INIT;

	printf("instrumentation    %s%s\n", s->ir ? "IR" : "front end",
		s->context_sensitive ? ", context-sensitive records" : "");
	printf("functions          %" PRIu64 "\n", s->functions);
	printf("executed           %" PRIu64 "\n", s->executed);
	printf("counters           %" PRIu64 "\n", s->counters);
	printf("total count        %" PRIu64 "\n", s->total_count);
	printf("largest count      %" PRIu64 "\n", s->max_count);
	printf("value sites        %" PRIu64 "\n", s->sites);
	printf("values             %" PRIu64 "\n", s->values);
	if (functions) {
		struct listing l = {.table = table_new(columns, ARRAY_SIZE(columns))};

		profile_each(p, list_function, &l);
		table_print(l.table, &b);
		printf("\n%s", buf_str(&b));
		table_free(l.table);
	}
}

static void show_json(const struct profile *p, const struct profile_summary *s, bool functions)
{
	auto_json json_t *j = json_object();

	json_object_set_new(j, "format", json_string("llvm"));
	json_object_set_new(j, "ir", json_boolean(s->ir));
	json_object_set_new(j, "context_sensitive", json_boolean(s->context_sensitive));
	json_object_set_new(j, "functions", json_u64(s->functions));
	json_object_set_new(j, "executed", json_u64(s->executed));
	json_object_set_new(j, "counters", json_u64(s->counters));
	json_object_set_new(j, "total_count", json_u64(s->total_count));
	json_object_set_new(j, "max_count", json_u64(s->max_count));
	json_object_set_new(j, "value_sites", json_u64(s->sites));
	json_object_set_new(j, "values", json_u64(s->values));
	if (functions) {
		struct listing l = {.json = json_array()};

		profile_each(p, list_function, &l);
		json_object_set_new(j, "records", l.json);
	}
	json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
}

static int show(struct cli *cli, const struct strv *files, bool functions, struct error *err)
{
	struct profile *p = profile_new();
	struct profile_summary s;
	int rc = 0;

	for (size_t i = 0; i < files->n && rc == 0; i++)
		rc = profile_add_input(p, files->v[i], 1, err);
	if (rc == 0) {
		profile_summary(p, &s);
		if (cli->json)
			show_json(p, &s, functions);
		else
			show_text(p, &s, functions);
	}
	profile_free(p);
	return rc;
}

static int show_any(struct cli *cli, const struct strv *files, bool functions, struct error *err)
{
	bool gcc;

	if (profile_inputs_are_gcc(files, NULL, &gcc, err) < 0)
		return -1;
	return gcc ? gcc_profile_show(cli, files, functions, err)
		   : show(cli, files, functions, err);
}

static int run_show(struct cli *cli, int argc, char **argv)
{
	bool functions = false;
	auto_strv struct strv files = STRV_INIT;
	struct error err = ERROR_INIT;
	const struct opt opts[] = {
		{"functions", 'f', OPT_FLAG, NULL, "list every function record", &functions},
		{0},
	};
	int rc = opt_parse(cli, &verb_show, opts, argc, argv, &files, &err);

	if (rc == 0 && !files.n)
		rc = error_set(&err, ERR_USAGE, "nothing to show: name a profile");
	if (rc == 0)
		rc = show_any(cli, &files, functions, &err);
	return rc < 0 ? cli_fail(&err) : 0;
}

/* Each input is read on its own: whether they belong together is what merging finds out. */
static int validate(struct cli *cli, const struct strv *files, struct error *err)
{
	auto_strv struct strv all = STRV_INIT;

	for (size_t i = 0; i < files->n; i++)
		if (profile_expand(files->v[i], &all, err) < 0)
			return -1;
	for (size_t i = 0; i < all.n; i++) {
		struct profile *p = profile_new();
		int rc = profile_add_input(p, all.v[i], 1, err);

		profile_free(p);
		if (rc < 0)
			return -1;
	}
	if (cli->json)
		printf("{\"format\": \"llvm\", \"profiles\": %zu}\n", all.n);
	else
		printf("%zu profiles are valid\n", all.n);
	return 0;
}

static int run_validate(struct cli *cli, int argc, char **argv)
{
	auto_strv struct strv files = STRV_INIT;
	struct error err = ERROR_INIT;
	const struct opt opts[] = {{0}};
	bool gcc = false;
	int rc = opt_parse(cli, &verb_validate, opts, argc, argv, &files, &err);

	if (rc == 0 && !files.n)
		rc = error_set(&err, ERR_USAGE, "nothing to validate: name a profile");
	if (rc == 0)
		rc = profile_inputs_are_gcc(&files, NULL, &gcc, &err);
	if (rc == 0)
		rc = gcc ? gcc_profile_validate(cli, &files, &err) : validate(cli, &files, &err);
	return rc < 0 ? cli_fail(&err) : 0;
}

static const struct verb verb_show = {
	"profile show", "FILE...", "print what a profile holds", "", run_show};
static const struct verb verb_validate = {"profile validate", "FILE...",
	"check that profiles are whole",
	"Reads every file from end to end. A .gcda is compared with the .gcno beside it, if there "
	"is one.",
	run_validate};

static int help(const char *const *names)
{
	printf("usage: whet profile ACTION [OPTIONS] FILE...\n\n%s\n\nactions:\n",
		verb_profile.summary);
	for (size_t i = 0; actions[i]; i++)
		printf("  %-10s %s\n", names[i], actions[i]->summary);
	return 0;
}

static int unknown_action(const char *word, const char *const *names)
{
	struct error err = ERROR_INIT;
	const char *close = word ? cli_suggest(word, names) : NULL;

	if (!word)
		error_set(&err, ERR_USAGE,
			"profile needs an action: merge, convert, show, overlap, diff, validate or "
			"snapshot");
	else if (close)
		error_set(&err, ERR_USAGE, "unknown action '%s'; did you mean '%s'?", word, close);
	else
		error_set(&err, ERR_USAGE,
			"unknown action '%s': merge, convert, show, overlap, diff, validate or "
			"snapshot",
			word);
	return cli_fail(&err);
}

static int run_profile(struct cli *cli, int argc, char **argv)
{
	const char *names[ARRAY_SIZE(actions)] = {NULL};
	const char *word = argc > 0 ? argv[0] : NULL;

	for (size_t n = 0; actions[n]; n++) {
		names[n] = actions[n]->name + strlen("profile ");
		if (word && strcmp(word, names[n]) == 0)
			return actions[n]->run(cli, argc - 1, argv + 1);
	}
	if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0))
		return help(names);
	return unknown_action(word, names);
}

const struct verb verb_profile = {"profile",
	"merge|convert|show|overlap|diff|validate|snapshot ...",
	"merge, convert, show, check and compare profiles", "", run_profile};
