#include "cli/profile_gcc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "cli/profile_inputs.h"
#include "profile/gcc/gcno.h"
#include "profile/gcc/objects.h"

int gcc_profile_merge(
	const struct strv *files, const struct strv *weighted, const char *out, struct error *err)
{
	size_t n = files->n + weighted->n, folders = 0;
	auto_free struct gcc_input *in = xcalloc(n, sizeof(*in));

	if (!out)
		return error_set(err, ERR_USAGE,
			"--output is needed for .gcda files: gcc finds a profile by its name, so "
			"there "
			"is none that fits all");
	for (size_t i = 0; i < n; i++) {
		in[i] = (struct gcc_input){i < files->n ? files->v[i] : NULL, 1};
		if (i >= files->n && profile_weighted(weighted->v[i - files->n], &in[i].weight,
					     &in[i].path, err) < 0)
			return -1;
		folders += path_is_dir(in[i].path);
	}
	if (folders == n)
		return gcc_merge_folders(in, n, out, err);
	if (folders)
		return error_set(err, ERR_USAGE,
			"files and folders cannot be merged with each other: a .gcda belongs to "
			"one "
			"object, a folder to all objects of a program");
	return gcc_merge_files(in, n, out, err);
}

static int load(const struct strv *files, struct gcc_objects *ret, struct error *err)
{
	for (size_t i = 0; i < files->n; i++)
		if (gcc_objects_add(ret, files->v[i], 1, err) < 0)
			return -1;
	return 0;
}

/* The notes that belong to a .gcda: beside it, of the same compilation. *ret is NULL without. */
static int find_notes(const struct gcc_object *o, struct gcno **ret, struct error *err)
{
	size_t n = strlen(o->path);
	auto_free char *path = NULL;

	*ret = NULL;
	if (n < 5 || strcmp(o->path + n - 5, ".gcda") != 0)
		return 0;
	path = xasprintf("%.*s.gcno", (int)(n - 5), o->path);
	if (!path_exists(path))
		return 0;
	*ret = gcno_read_file(path, err);
	return *ret ? 0 : -1;
}

/* What is printed of a function. */
struct row {
	const struct gcda_function *f;
	const struct gcda_counters *arcs;
	const char *name; /* NULL when no notes tell it */
	bool has_entry;
	uint64_t entry; /* how often it was entered */
};

static void solve(struct row *r, const struct gcno_function *n)
{
	auto_free uint64_t *arcs = xcalloc((size_t)n->n_arcs + 1, sizeof(*arcs));
	auto_free uint64_t *blocks = xcalloc((size_t)n->n_blocks + 1, sizeof(*blocks));
	auto_free uint64_t *zeros = NULL;
	const uint64_t *counts = r->arcs->v;

	if (!counts)
		counts = zeros = xcalloc((size_t)r->arcs->n + 1, sizeof(*zeros));
	r->has_entry = gcno_solve(n, counts, arcs, blocks, NULL) == 0;
	r->entry = r->has_entry ? blocks[0] : 0;
}

static struct row row_of(const struct gcda_function *f, const struct gcno *notes)
{
	struct row r = {.f = f, .arcs = gcda_find(f, GCDA_ARCS)};
	const struct gcno_function *n = notes ? gcno_find(notes, f->ident) : NULL;

	if (!n)
		return r;
	r.name = n->name;
	if (r.arcs && r.arcs->n == n->n_counted)
		solve(&r, n);
	return r;
}

typedef void row_fn(void *ctx, const struct gcc_object *o, const struct row *r);

static int each_row(const struct gcc_object *o, row_fn *fn, void *ctx, struct error *err)
{
	struct gcno *notes;

	if (find_notes(o, &notes, err) < 0)
		return -1;
	if (notes && gcno_check(notes, o->data, NULL) < 0) {
		/* Of another compilation: of no use here. `validate` says so. */
		gcno_free(notes);
		notes = NULL;
	}
	for (size_t i = 0; i < o->data->n_functions; i++) {
		struct row r = row_of(&o->data->functions[i], notes);

		if (r.f->present)
			fn(ctx, o, &r);
	}
	gcno_free(notes);
	return 0;
}

static void table_row(void *ctx, const struct gcc_object *o, const struct row *r)
{
	struct table *t = ctx;

	table_cell(t, "%" PRIu64, gcda_largest(r->arcs));
	if (r->has_entry)
		table_cell(t, "%" PRIu64, r->entry);
	else
		table_cell(t, "-");
	table_cell(t, "%" PRIu32, r->arcs ? r->arcs->n : 0);
	table_cell(t, "%" PRIu32, r->f->ident);
	table_cell(t, "0x%08" PRIx32, r->f->cfg_checksum);
	table_cell(t, "%s", o->name);
	table_cell(t, "%s", r->name ? r->name : "-");
}

static void json_row(void *ctx, const struct gcc_object *o, const struct row *r)
{
	auto_free char *hex = xasprintf("0x%08" PRIx32, r->f->cfg_checksum);
	json_t *j = json_object();

	(void)o;
	json_set_text(j, "name", r->name);
	json_object_set_new(j, "ident", json_u64(r->f->ident));
	json_set_text(j, "cfg_checksum", hex);
	json_object_set_new(j, "counters", json_u64(r->arcs ? r->arcs->n : 0));
	json_object_set_new(j, "max_count", json_u64(gcda_largest(r->arcs)));
	if (r->has_entry)
		json_object_set_new(j, "entry_count", json_u64(r->entry));
	json_array_append_new(ctx, j);
}

/* One version for all objects, or "several". */
static char *version_of(const struct gcc_objects *o)
{
	for (size_t i = 1; i < o->n; i++)
		if (o->v[i].data->version != o->v[0].data->version)
			return xstrdup("several versions of gcc");
	return gcda_version_text(o->v[0].data->version);
}

static uint32_t most_runs(const struct gcc_objects *o)
{
	uint32_t runs = 0;

	for (size_t i = 0; i < o->n; i++)
		runs = o->v[i].data->runs > runs ? o->v[i].data->runs : runs;
	return runs;
}

static int show_text(const struct gcc_objects *o, const struct gcda_summary *s, bool functions,
	struct error *err)
{
	static const char *const columns[] = {
		">max count", ">entered", ">counters", ">ident", "cfg checksum", "object", "name"};
	auto_free char *version = version_of(o);
	auto_buf struct buf b = BUF_INIT;
	struct table *t;
	int rc = 0;

	printf("producer           %s\n", version);
	printf("objects            %zu\n", o->n);
	printf("runs               %" PRIu32 "\n", most_runs(o));
	printf("functions          %" PRIu64 "\n", s->functions);
	printf("executed           %" PRIu64 "\n", s->executed);
	printf("counters           %" PRIu64 "\n", s->counters);
	printf("total count        %" PRIu64 "\n", s->total_count);
	printf("largest count      %" PRIu64 "\n", s->max_count);
	printf("value sites        %" PRIu64 "\n", s->sites);
	printf("values             %" PRIu64 "\n", s->values);
	if (!functions)
		return 0;
	t = table_new(columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < o->n && rc == 0; i++)
		rc = each_row(&o->v[i], table_row, t, err);
	table_print(t, &b);
	if (rc == 0)
		printf("\n%s", buf_str(&b));
	table_free(t);
	return rc;
}

static json_t *json_of_object(const struct gcc_object *o, bool functions, struct error *err)
{
	auto_free char *stamp = xasprintf("0x%08" PRIx32, o->data->stamp);
	auto_free char *version = gcda_version_text(o->data->version);
	json_t *j = json_object(), *rows;

	json_object_set_new(j, "path", json_text(o->name));
	json_set_text(j, "producer", version);
	json_set_text(j, "stamp", stamp);
	json_object_set_new(j, "runs", json_u64(o->data->runs));
	json_object_set_new(j, "sum_max", json_u64(o->data->sum_max));
	if (!functions)
		return j;
	rows = json_array();
	json_object_set_new(j, "functions", rows);
	if (each_row(o, json_row, rows, err) == 0)
		return j;
	json_decref(j);
	return NULL;
}

static int show_json(const struct gcc_objects *o, const struct gcda_summary *s, bool functions,
	struct error *err)
{
	auto_json json_t *j = json_object();
	json_t *objects = json_array();

	json_object_set_new(j, "format", json_string("gcda"));
	json_object_set_new(j, "functions", json_u64(s->functions));
	json_object_set_new(j, "executed", json_u64(s->executed));
	json_object_set_new(j, "counters", json_u64(s->counters));
	json_object_set_new(j, "total_count", json_u64(s->total_count));
	json_object_set_new(j, "max_count", json_u64(s->max_count));
	json_object_set_new(j, "value_sites", json_u64(s->sites));
	json_object_set_new(j, "values", json_u64(s->values));
	json_object_set_new(j, "objects", objects);
	for (size_t i = 0; i < o->n; i++) {
		json_t *one = json_of_object(&o->v[i], functions, err);

		if (!one)
			return -1;
		json_array_append_new(objects, one);
	}
	json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
	return 0;
}

int gcc_profile_show(struct cli *cli, const struct strv *files, bool functions, struct error *err)
{
	struct gcc_objects o = {0};
	struct gcda_summary s = {0};
	int rc = load(files, &o, err);

	for (size_t i = 0; i < o.n && rc == 0; i++)
		gcda_summarise(o.v[i].data, &s);
	if (rc == 0)
		rc = cli->json ? show_json(&o, &s, functions, err)
			       : show_text(&o, &s, functions, err);
	gcc_objects_release(&o);
	return rc;
}

static void share_row(void *ctx, const char *name, double share, double first, double second)
{
	struct table *t = ctx;

	table_cell(t, "%.3f %%", share * 100);
	table_cell(t, "%.3f %%", first * 100);
	table_cell(t, "%.3f %%", second * 100);
	table_cell(t, "%s", name);
}

static void print_overlap(struct cli *cli, const struct gcc_overlap *r, const struct table *t)
{
	auto_buf struct buf b = BUF_INIT;

	if (cli->json) {
		printf("{\"format\": \"gcda\", \"functions\": %" PRIu64 ", \"mismatched\": %" PRIu64
		       ", \"objects\": %" PRIu64 ", \"only_first\": %" PRIu64
		       ", \"only_second\": %" PRIu64 ", \"overlap\": %.6f}\n",
			r->functions, r->mismatched, r->objects, r->only_first, r->only_second,
			r->share);
		return;
	}
	printf("%.3f %%\n", r->share * 100);
	if (!cli->verbose)
		return;
	printf("objects in both    %" PRIu64 "\n", r->objects);
	printf("only in the first  %" PRIu64 "\n", r->only_first);
	printf("only in the second %" PRIu64 "\n", r->only_second);
	printf("functions in both  %" PRIu64 "\n", r->functions);
	printf("of them changed    %" PRIu64 "\n", r->mismatched);
	table_print(t, &b);
	printf("\n%s", buf_str(&b));
}

static int load_both(const char *a, const char *b, struct gcc_objects *first,
	struct gcc_objects *second, struct error *err)
{
	if (path_is_dir(a) != path_is_dir(b))
		return error_set(err, ERR_USAGE,
			"'%s' is a folder and '%s' a file: compare two of a kind",
			path_is_dir(a) ? a : b, path_is_dir(a) ? b : a);
	if (gcc_objects_add(first, a, 1, err) < 0)
		return -1;
	return gcc_objects_add(second, b, 1, err);
}

int gcc_profile_overlap(struct cli *cli, const char *a, const char *b, struct error *err)
{
	static const char *const columns[] = {">overlap", ">of first", ">of second", "object"};
	struct gcc_objects first = {0}, second = {0};
	struct gcc_overlap r;
	struct table *t = table_new(columns, ARRAY_SIZE(columns));
	int rc = load_both(a, b, &first, &second, err);

	if (rc == 0)
		rc = gcc_overlap(&first, &second, &r, share_row, t, err);
	if (rc == 0)
		print_overlap(cli, &r, t);
	table_free(t);
	gcc_objects_release(&first);
	gcc_objects_release(&second);
	return rc;
}

/* The notes of the object that was asked for last. */
struct last_notes {
	const struct gcc_object *of;
	struct gcno *notes;
};

static char *name_of(void *ctx, const struct gcc_object *o, const struct gcda_function *f)
{
	struct last_notes *last = ctx;
	const struct gcno_function *n;

	if (last->of != o) {
		gcno_free(last->notes);
		last->of = o;
		/* Damaged or of another compilation: of no use here, `validate` says so. */
		if (find_notes(o, &last->notes, NULL) < 0 ||
			(last->notes && gcno_check(last->notes, o->data, NULL) < 0)) {
			gcno_free(last->notes);
			last->notes = NULL;
		}
	}
	n = last->notes ? gcno_find(last->notes, f->ident) : NULL;
	return n ? xstrdup(n->name) : xasprintf("ident %" PRIu32, f->ident);
}

int gcc_profile_diff(const char *old, const char *new, double threshold, struct profile_diff *ret,
	struct error *err)
{
	struct gcc_objects a = {0}, b = {0};
	struct last_notes last = {0};
	int rc = load_both(old, new, &a, &b, err);

	if (rc == 0)
		rc = gcc_diff(&a, &b, threshold, name_of, &last, ret, err);
	gcno_free(last.notes);
	gcc_objects_release(&a);
	gcc_objects_release(&b);
	return rc;
}

/* Adds its notes' count to *ret. */
static int validate_one(const struct gcc_object *o, size_t *ret, struct error *err)
{
	struct gcno *notes;
	int rc;

	if (find_notes(o, &notes, err) < 0)
		return -1;
	rc = notes && gcno_check(notes, o->data, err) < 0
		     ? error_context(err, "profile '%s'", o->path)
		     : 0;
	*ret += notes != NULL;
	gcno_free(notes);
	return rc;
}

int gcc_profile_validate(struct cli *cli, const struct strv *files, struct error *err)
{
	struct gcc_objects o = {0};
	size_t notes = 0;
	int rc = load(files, &o, err);

	for (size_t i = 0; i < o.n && rc == 0; i++)
		rc = validate_one(&o.v[i], &notes, err);
	if (rc == 0 && cli->json)
		printf("{\"format\": \"gcda\", \"objects\": %zu, \"with_notes\": %zu}\n", o.n,
			notes);
	else if (rc == 0)
		printf("%zu objects are valid, %zu of them checked against their .gcno\n", o.n,
			notes);
	gcc_objects_release(&o);
	return rc;
}
