/* whet profile snapshot: the counters of a live process. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "cli/cmd_snapshot.h"
#include "snapshot/snapshot.h"

static int read_pid(const char *text, pid_t *ret, struct error *err)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || *end || end == text || v < 1 || v > INT_MAX)
		return error_set(err, ERR_USAGE, "'%s' is no process id: expected a number", text);
	*ret = (pid_t)v;
	return 0;
}

static void print_text(const struct snapshot *s, const char *path)
{
	static const char *const columns[] = {
		">functions", ">executed", ">counters", ">raw version", "image"};
	auto_buf struct buf b = BUF_INIT;
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < s->n; i++) {
		const struct snapshot_image *m = &s->v[i];

		table_cell(t, "%" PRIu64, m->records);
		table_cell(t, "%" PRIu64, m->executed);
		table_cell(t, "%" PRIu64, m->counters);
		table_cell(t, m->profiles > 1 ? "%u, 8" : "%u", m->version);
		table_cell(t, "%s", m->path);
	}
	table_print(t, &b);
	table_free(t);
	printf("%s\nwrote '%s': %" PRIu64 " bytes\nthe process stood for %.3f ms: %zu threads, "
	       "%" PRIu64 " bytes of profile sections\n",
		buf_str(&b), path, s->bytes, (double)s->stopped_ns / 1e6, s->threads, s->sections);
}

static json_t *image_json(const struct snapshot_image *m)
{
	json_t *o = json_object();

	json_set_text(o, "path", m->path);
	json_set_text(o, "build_id", m->build_id);
	json_object_set_new(o, "raw_version", json_integer(m->version));
	json_object_set_new(o, "profiles", json_integer(m->profiles));
	json_object_set_new(o, "version_assumed", json_boolean(m->assumed));
	json_object_set_new(o, "functions", json_u64(m->records));
	json_object_set_new(o, "executed", json_u64(m->executed));
	json_object_set_new(o, "counters", json_u64(m->counters));
	json_object_set_new(o, "section_bytes", json_u64(m->bytes));
	return o;
}

static void print_json(const struct snapshot *s, const char *path)
{
	auto_json json_t *j = json_object();
	json_t *images = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(images, image_json(&s->v[i]));
	json_object_set_new(j, "images", images);
	json_set_text(j, "file", path);
	json_object_set_new(j, "bytes", json_u64(s->bytes));
	json_object_set_new(j, "section_bytes", json_u64(s->sections));
	json_object_set_new(j, "stopped_ns", json_u64(s->stopped_ns));
	json_object_set_new(j, "threads", json_u64(s->threads));
	json_object_set_new(j, "notes", json_from_strv(&s->notes));
	json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
}

static int snapshot(struct cli *cli, const char *word, const char *path, struct error *err)
{
	struct snapshot s = {0};
	pid_t pid = 0;

	if (read_pid(word, &pid, err) < 0 || snapshot_write(pid, path, &s, err) < 0)
		return -1;
	for (size_t i = 0; i < s.notes.n && !cli->quiet; i++)
		fprintf(stderr, "whet: %s\n", s.notes.v[i]);
	if (cli->json)
		print_json(&s, path);
	else if (!cli->quiet)
		print_text(&s, path);
	snapshot_release(&s);
	return 0;
}

static int run_snapshot(struct cli *cli, int argc, char **argv)
{
	auto_free char *out = NULL;
	auto_strv struct strv args = STRV_INIT;
	struct error err = ERROR_INIT;
	const struct opt opts[] = {
		{"output", 'o', OPT_STRING, "OUT", "where to write (PID.profraw)", &out},
		{0},
	};
	int rc = opt_parse(cli, &verb_snapshot, opts, argc, argv, &args, &err);

	if (rc == 0 && args.n != 1)
		rc = error_set(
			&err, ERR_USAGE, "snapshot takes one process id, %zu were given", args.n);
	if (rc == 0 && !out)
		out = xasprintf("%s.profraw", args.v[0]);
	if (rc == 0)
		rc = snapshot(cli, args.v[0], out, &err);
	return rc < 0 ? cli_fail(&err) : 0;
}

const struct verb verb_snapshot = {"profile snapshot", "PID",
	"write the raw profile of a live process",
	"Copies the counters of a program that clang or rustc instrumented, and of its shared\n"
	"objects, while it runs, hangs or is about to be killed. The process stands still for as\n"
	"long as that takes, which is printed, and goes on; it need not help. Needs the right to\n"
	"debug the process: the same user, or root.",
	run_snapshot};
