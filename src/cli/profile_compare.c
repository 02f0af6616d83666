#include "cli/profile_compare.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "cli/profile_gcc.h"
#include "cli/profile_inputs.h"
#include "profile/compare.h"

static const char *const value_kinds[PROFILE_VALUE_KINDS] = {
	"indirect_call", "memory_operation", "vtable"};
static const char *const value_titles[PROFILE_VALUE_KINDS] = {
	"indirect calls", "memory operations", "vtables"};

/* Sums may be larger than an integer of JSON. */
static json_t *json_sum(double sum)
{
	return sum < 0x1p63 ? json_integer((json_int_t)sum) : json_real(sum);
}

static void print_json(const json_t *j)
{
	json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(9));
	putchar('\n');
}

/* The caller frees both, also on failure. */
static int read_both(const struct strv *files, struct profile **first, struct profile **second,
	struct error *err)
{
	int rc;

	*first = profile_new();
	*second = profile_new();
	rc = profile_add_input(*first, files->v[0], 1, err);
	return rc == 0 ? profile_add_input(*second, files->v[1], 1, err) : rc;
}

/* ---------------------------------------------------------------- overlap */

struct rows {
	struct table *table;
	json_t *json;
};

static const char *match_name(enum profile_match m)
{
	return m == PROFILE_IN_BOTH ? "both" : m == PROFILE_MISMATCHED ? "mismatched" : "second";
}

static void function_row(void *ctx, const struct profile_overlap_function *f)
{
	struct rows *r = ctx;
	auto_free char *hex = xasprintf("0x%016" PRIx64, f->hash);
	json_t *o;

	if (r->json) {
		o = json_object();
		json_set_text(o, "key", f->key);
		json_set_text(o, "hash", hex);
		json_set_text(o, "in", match_name(f->match));
		json_object_set_new(o, "overlap", json_real(f->share.edges));
		json_object_set_new(o, "first_count", json_sum(f->first.edges));
		json_object_set_new(o, "second_count", json_sum(f->second.edges));
		json_array_append_new(r->json, o);
	}
	if (!r->table)
		return;
	if (f->match == PROFILE_IN_BOTH && f->second.edges >= 1)
		table_cell(r->table, "%.3f %%", f->share.edges * 100);
	else
		table_cell(r->table, "-");
	table_cell(r->table, "%.0f", f->first.edges);
	table_cell(r->table, "%.0f", f->second.edges);
	table_cell(r->table, "%s", match_name(f->match));
	table_cell(r->table, "%s", hex);
	table_cell(r->table, "%s", f->key);
}

static void figure_row(struct table *t, const char *title, double share, double mismatched,
	double only_second, const double sums[2])
{
	if (sums[0] < 1 && sums[1] < 1)
		return;
	table_cell(t, "%s", title);
	table_cell(t, "%.3f %%", share * 100);
	table_cell(t, "%.3f %%", mismatched * 100);
	table_cell(t, "%.3f %%", only_second * 100);
	table_cell(t, "%.0f", sums[0]);
	table_cell(t, "%.0f", sums[1]);
}

static void print_figures(const struct profile_overlap *r)
{
	static const char *const columns[] = {"counts", ">overlap", ">mismatched",
		">only in second", ">sum of first", ">sum of second"};
	struct table *t = table_new(columns, ARRAY_SIZE(columns));
	auto_buf struct buf b = BUF_INIT;

	printf("functions in both  %" PRIu64 "\n", r->functions);
	printf("mismatched         %" PRIu64 "\n", r->mismatched);
	printf("only in the first  %" PRIu64 "\n", r->only_first);
	printf("only in the second %" PRIu64 "\n", r->only_second);
	figure_row(t, "counters", r->share.edges, r->mismatched_share.edges,
		r->only_second_share.edges, (double[]){r->first.edges, r->second.edges});
	for (int k = 0; k < PROFILE_VALUE_KINDS; k++)
		figure_row(t, value_titles[k], r->share.values[k], r->mismatched_share.values[k],
			r->only_second_share.values[k],
			(double[]){r->first.values[k], r->second.values[k]});
	table_print(t, &b);
	printf("\n%s", buf_str(&b));
	table_free(t);
}

static void json_figures(
	json_t *o, double share, double mismatched, double only_second, double first, double second)
{
	json_object_set_new(o, "overlap", json_real(share));
	json_object_set_new(o, "mismatched_share", json_real(mismatched));
	json_object_set_new(o, "only_second_share", json_real(only_second));
	json_object_set_new(o, "first_count", json_sum(first));
	json_object_set_new(o, "second_count", json_sum(second));
}

static void overlap_json(const struct profile_overlap *r, json_t *functions)
{
	auto_json json_t *j = json_object();
	json_t *values = json_object();

	json_object_set_new(j, "format", json_string("llvm"));
	json_object_set_new(j, "functions", json_u64(r->functions));
	json_object_set_new(j, "mismatched", json_u64(r->mismatched));
	json_object_set_new(j, "only_first", json_u64(r->only_first));
	json_object_set_new(j, "only_second", json_u64(r->only_second));
	json_figures(j, r->share.edges, r->mismatched_share.edges, r->only_second_share.edges,
		r->first.edges, r->second.edges);
	for (int k = 0; k < PROFILE_VALUE_KINDS; k++) {
		json_t *o = json_object();

		json_figures(o, r->share.values[k], r->mismatched_share.values[k],
			r->only_second_share.values[k], r->first.values[k], r->second.values[k]);
		json_object_set_new(values, value_kinds[k], o);
	}
	json_object_set_new(j, "values", values);
	if (functions)
		json_object_set(j, "records", functions);
	print_json(j);
}

static void overlap_text(struct cli *cli, const struct profile_overlap *r, const struct table *t)
{
	auto_buf struct buf b = BUF_INIT;

	printf("%.3f %%\n", r->share.edges * 100);
	if (cli->verbose)
		print_figures(r);
	if (!t)
		return;
	table_print(t, &b);
	printf("\n%s", buf_str(&b));
}

static int overlap(
	struct cli *cli, const struct strv *files, bool cs, bool functions, struct error *err)
{
	static const char *const columns[] = {
		">overlap", ">count in first", ">count in second", "in", "hash", "key"};
	auto_json json_t *list = functions && cli->json ? json_array() : NULL;
	struct rows rows = {.json = list};
	struct profile *first, *second;
	struct profile_overlap r;
	int rc = read_both(files, &first, &second, err);

	if (functions && !cli->json)
		rows.table = table_new(columns, ARRAY_SIZE(columns));
	if (rc == 0)
		rc = profile_overlap(first, second, cs, &r, function_row, &rows, err);
	if (rc == 0 && cli->json)
		overlap_json(&r, list);
	else if (rc == 0)
		overlap_text(cli, &r, rows.table);
	if (rows.table)
		table_free(rows.table);
	profile_free(first);
	profile_free(second);
	return rc;
}

static int overlap_any(
	struct cli *cli, const struct strv *files, bool cs, bool functions, struct error *err)
{
	bool gcc;

	if (profile_inputs_are_gcc(files, NULL, &gcc, err) < 0)
		return -1;
	if (gcc && (cs || functions))
		return error_set(err, ERR_USAGE,
			cs ? "--cs is for LLVM profiles: GCC has no context-sensitive records"
			   : "--functions is for LLVM profiles: those of GCC are listed object by "
			     "object with --verbose");
	return gcc ? gcc_profile_overlap(cli, files->v[0], files->v[1], err)
		   : overlap(cli, files, cs, functions, err);
}

static int two_files(const char *verb, const struct strv *files, struct error *err)
{
	if (files->n == 2)
		return 0;
	return error_set(
		err, ERR_USAGE, "%s compares two profiles, %zu were named", verb, files->n);
}

static int run_overlap(struct cli *cli, int argc, char **argv)
{
	auto_strv struct strv files = STRV_INIT;
	struct error err = ERROR_INIT;
	bool cs = false, functions = false;
	const struct opt opts[] = {
		{"functions", 'f', OPT_FLAG, NULL, "list every function record of B", &functions},
		{"cs", 0, OPT_FLAG, NULL, "of the context-sensitive records", &cs},
		{0},
	};
	int rc = opt_parse(cli, &verb_overlap, opts, argc, argv, &files, &err);

	if (rc == 0)
		rc = two_files("overlap", &files, &err);
	if (rc == 0)
		rc = overlap_any(cli, &files, cs, functions, &err);
	return rc < 0 ? cli_fail(&err) : 0;
}

const struct verb verb_overlap = {"profile overlap", "A B",
	"print how far two profiles agree on where time goes",
	"The figure is that of `llvm-profdata overlap`: the sum over all counters of the smaller "
	"share.\n--verbose adds the value profiles, and what is in one of them alone.",
	run_overlap};

/* ---------------------------------------------------------------- difference */

static void share_cell(struct table *t, const struct profile_diff_side *s)
{
	if (s->present)
		table_cell(t, "%.3f %%", s->share * 100);
	else
		table_cell(t, "-");
}

static void diff_changes(const struct profile_diff *d)
{
	static const char *const columns[] = {"change", ">functions", ">of old", ">of new"};
	struct table *t = table_new(columns, ARRAY_SIZE(columns));
	auto_buf struct buf b = BUF_INIT;

	for (int c = 0; c < PROFILE_CHANGES; c++) {
		table_cell(t, "%s", profile_change_name((enum profile_change)c));
		table_cell(t, "%" PRIu64, d->of[c].functions);
		table_cell(t, "%.3f %%", d->of[c].old * 100);
		table_cell(t, "%.3f %%", d->of[c].new * 100);
	}
	table_print(t, &b);
	printf("%s", buf_str(&b));
	table_free(t);
}

static void diff_text(const struct profile_diff *d)
{
	static const char *const columns[] = {"change", ">old", ">new", "function", "object"};
	/* Objects are of GCC's profiles alone. */
	bool objects = d->n && d->v[0].object;
	struct table *t = table_new(columns, ARRAY_SIZE(columns) - !objects);
	auto_buf struct buf b = BUF_INIT;

	diff_changes(d);
	for (size_t i = 0; i < d->n; i++) {
		const struct profile_diff_function *f = &d->v[i];

		table_cell(t, "%s%s", profile_change_name(f->change),
			f->changed && f->change != PROFILE_STALE ? " (changed)" : "");
		share_cell(t, &f->old);
		share_cell(t, &f->new);
		table_cell(t, "%s", f->name);
		if (objects)
			table_cell(t, "%s", f->object);
	}
	table_print(t, &b);
	if (d->n)
		printf("\n%s", buf_str(&b));
	table_free(t);
}

static json_t *json_side(const struct profile_diff_side *s)
{
	json_t *o;

	if (!s->present)
		return json_null();
	o = json_object();
	json_object_set_new(o, "count", json_sum(s->count));
	json_object_set_new(o, "share", json_real(s->share));
	return o;
}

static json_t *json_changes(const struct profile_diff *d)
{
	json_t *j = json_object();

	for (int c = 0; c < PROFILE_CHANGES; c++) {
		json_t *o = json_object();

		json_object_set_new(o, "functions", json_u64(d->of[c].functions));
		json_object_set_new(o, "old_share", json_real(d->of[c].old));
		json_object_set_new(o, "new_share", json_real(d->of[c].new));
		json_object_set_new(j, profile_change_name((enum profile_change)c), o);
	}
	return j;
}

static json_t *json_profile(double sum, uint64_t trained)
{
	json_t *o = json_object();

	json_object_set_new(o, "total_count", json_sum(sum));
	json_object_set_new(o, "trained", json_u64(trained));
	return o;
}

static void diff_json(const struct profile_diff *d, bool gcc)
{
	auto_json json_t *j = json_object();
	json_t *list = json_array();

	json_object_set_new(j, "format", json_string(gcc ? "gcda" : "llvm"));
	json_object_set_new(j, "threshold", json_real(d->threshold));
	json_object_set_new(j, "old", json_profile(d->old_sum, d->old_trained));
	json_object_set_new(j, "new", json_profile(d->new_sum, d->new_trained));
	json_object_set_new(j, "changes", json_changes(d));
	json_object_set_new(j, "functions", list);
	for (size_t i = 0; i < d->n; i++) {
		const struct profile_diff_function *f = &d->v[i];
		json_t *o = json_object();

		json_set_text(o, "object", f->object);
		json_set_text(o, "name", f->name);
		json_set_text(o, "change", profile_change_name(f->change));
		json_object_set_new(o, "changed", json_boolean(f->changed));
		json_object_set_new(o, "old", json_side(&f->old));
		json_object_set_new(o, "new", json_side(&f->new));
		json_array_append_new(list, o);
	}
	print_json(j);
}

/* Percent of all counts, as a fraction. */
static int read_threshold(const char *text, double *ret, struct error *err)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= 0 && v <= 100))
		return error_set(err, ERR_USAGE,
			"--threshold '%s': expected 0 to 100, in percent of all counts", text);
	*ret = v / 100;
	return 0;
}

static int diff_llvm(const struct strv *files, bool cs, double threshold, struct profile_diff *d,
	struct error *err)
{
	struct profile *old, *new;
	int rc = read_both(files, &old, &new, err);

	if (rc == 0)
		rc = profile_diff(old, new, cs, threshold, d, err);
	profile_free(old);
	profile_free(new);
	return rc;
}

static int diff(struct cli *cli, const struct strv *files, bool cs, const char *threshold,
	struct error *err)
{
	struct profile_diff d = {0};
	double least = 0.001;
	bool gcc = false;
	int rc = threshold ? read_threshold(threshold, &least, err) : 0;

	if (rc == 0)
		rc = profile_inputs_are_gcc(files, NULL, &gcc, err);
	if (rc == 0 && gcc && cs)
		rc = error_set(err, ERR_USAGE,
			"--cs is for LLVM profiles: GCC has no context-sensitive records");
	if (rc == 0)
		rc = gcc ? gcc_profile_diff(files->v[0], files->v[1], least, &d, err)
			 : diff_llvm(files, cs, least, &d, err);
	if (rc == 0 && cli->json)
		diff_json(&d, gcc);
	else if (rc == 0)
		diff_text(&d);
	profile_diff_release(&d);
	return rc;
}

static int run_diff(struct cli *cli, int argc, char **argv)
{
	auto_strv struct strv files = STRV_INIT;
	auto_free char *threshold = NULL;
	struct error err = ERROR_INIT;
	bool cs = false;
	const struct opt opts[] = {
		{"threshold", 't', OPT_STRING, "PERCENT",
			"hotter, colder: by this much of all counts (0.1)", &threshold},
		{"cs", 0, OPT_FLAG, NULL, "of the context-sensitive records", &cs},
		{0},
	};
	int rc = opt_parse(cli, &verb_diff, opts, argc, argv, &files, &err);

	if (rc == 0)
		rc = two_files("diff", &files, &err);
	if (rc == 0)
		rc = diff(cli, &files, cs, threshold, &err);
	return rc < 0 ? cli_fail(&err) : 0;
}

const struct verb verb_diff = {"profile diff", "OLD NEW",
	"print what one profile trained that another did not",
	"A function is new or gone when it ran in one training alone, stale when its code has "
	"changed\nin between, and hotter or colder when its share of all counts moved by the "
	"threshold. The\nshares are those of the old and the new profile; '-' stands for a "
	"function "
	"that is not there.\nHashes that rustc puts into names are left out.",
	run_diff};
