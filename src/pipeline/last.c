/* The record of the last complete build: lets a build with nothing to do see that by stat alone. */
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "pipeline/last.h"
#include "pipeline/outside.h"
#include "pipeline/why.h"
#include "store/history.h"
#include "store/seal.h"

#define REPORT_TEXT "last/report.txt"

static void add_identity(json_t *o, const char *path)
{
	auto_free char *id = file_identity(path);

	json_object_set_new(o, path, json_string(id));
}

static void add_compiler(json_t *o, const struct compiler *c)
{
	add_identity(o, c->path);
	if (c->runtime)
		add_identity(o, c->runtime);
	if (c->family == FAMILY_RUSTC && c->sysroot) {
		auto_free char *real = path_join(c->sysroot, "bin/rustc");

		add_identity(o, real);
	}
}

/* rustup decides by its settings which toolchain "rustc" is. */
static void add_rustup(json_t *o)
{
	const char *home = getenv("HOME"), *rustup = getenv("RUSTUP_HOME");
	auto_free char *path = rustup ? path_join(rustup, "settings.toml")
				      : xasprintf("%s/.rustup/settings.toml", home ? home : "");

	add_identity(o, path);
}

static char *record_path(const struct run *r)
{
	return store_path(&r->store, "last/build.json");
}

static void add_artefacts(json_t *o, const struct run *r)
{
	auto_free char *dist = run_dist(r);
	static const char *const others[] = {
		"report.json", "report.html", "report.md", "SHA256SUMS"};

	for (size_t i = 0; i < r->report->n_artefacts; i++) {
		auto_free char *path = path_join(dist, r->report->artefacts[i].name);

		add_identity(o, path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		auto_free char *path = path_join(dist, others[i]);

		add_identity(o, path);
	}
}

static json_t *build_keys(const struct run *r)
{
	const struct build_out *outs[RUN_BUILDS_MAX];
	size_t n = run_builds(r, outs);
	json_t *keys = json_array();

	for (size_t i = 0; i < n; i++)
		if (outs[i]->key)
			json_array_append_new(keys, json_string(outs[i]->key));
	return keys;
}

int last_write(const struct run *r, struct error *err)
{
	auto_free char *path = record_path(r);
	auto_free char *text_path = store_path(&r->store, REPORT_TEXT);
	auto_json json_t *j = json_object();
	auto_buf struct buf text = BUF_INIT;
	const struct build_out *outs[RUN_BUILDS_MAX];
	size_t n = run_builds(r, outs);
	json_t *files = json_object();
	auto_key struct node_key top;
	char sha[SHA256_HEX];

	run_top_key(r, &top);
	json_set_text(j, "key", top.hex);
	json_object_set(j, "parts", top.parts);
	json_object_set_new(j, "finished_ns", json_u64(clock_real_ns()));
	json_object_set_new(j, "files", files);
	json_object_set_new(j, "builds", build_keys(r));
	for (size_t i = 0; i < r->n_compilers; i++)
		add_compiler(files, &r->compilers[i]);
	if (r->rustc)
		add_rustup(files);
	for (size_t i = 0; i < n; i++)
		outside_add_identities(outs[i]->outside, files);
	add_artefacts(files, r);
	json_object_set_new(j, "used", json_from_strv(r->store.used));
	report_text(r->report, &text);
	sha256_of(buf_str(&text), text.n, sha);
	json_set_text(j, "report", sha);
	if (file_write_atomic(text_path, buf_str(&text), text.n, 0644, err) < 0 ||
		history_keep_sources(&r->store, &r->sources, err) < 0)
		return -1;
	return sealed_write(j, path, err);
}

static bool report_is_whole(const struct run *r, const json_t *record)
{
	auto_free char *path = store_path(&r->store, REPORT_TEXT);
	auto_free char *then = json_opt_str(record, "report");
	auto_buf struct buf text = BUF_INIT;
	char now[SHA256_HEX];

	if (!then || file_read(path, 0, &text, NULL) < 0)
		return false;
	sha256_of(buf_str(&text), text.n, now);
	return strcmp(then, now) == 0;
}

/* The first file that is not what it was. */
static const char *changed_file(const json_t *record)
{
	const char *file;
	json_t *value;

	json_object_foreach(json_object_get(record, "files"), file, value)
	{
		auto_free char *now = file_identity(file);
		const char *then = json_string_value(value);

		if (!then || strcmp(now, then) != 0)
			return file;
	}
	return NULL;
}

static char *difference(const struct run *r, const json_t *record, const struct node_key *top)
{
	auto_free char *key = json_opt_str(record, "key");
	const char *file;
	char *why;

	if (!key)
		return xstrdup("there is no earlier complete build");
	if (strcmp(key, top->hex) != 0) {
		why = why_parts_differ(
			&r->store, &r->sources, json_object_get(record, "parts"), top->parts);
		return why ? why : xstrdup("whet itself changed");
	}
	file = changed_file(record);
	if (file)
		return xasprintf("'%s' changed", file);
	return report_is_whole(r, record) ? NULL : xstrdup("the kept report is damaged");
}

char *last_difference(const struct run *r, char **since)
{
	auto_free char *path = record_path(r);
	struct error ignored = ERROR_INIT;
	auto_json json_t *j = path_exists(path) ? sealed_read(path, &ignored) : NULL;
	auto_key struct node_key top;

	error_release(&ignored);
	run_top_key(r, &top);
	if (since && j) {
		char text[CLOCK_TEXT];

		clock_utc_text((uint64_t)json_opt_int(j, "finished_ns", 0) / NS_PER_S, text);
		*since = xstrdup(text);
	}
	return difference(r, j, &top);
}

void last_builds(const struct run *r, struct strv *keys)
{
	auto_free char *path = record_path(r);
	auto_json json_t *j = path_exists(path) ? sealed_read(path, NULL) : NULL;

	json_opt_strv(j, "builds", keys);
}

char *last_kept(const struct store *s, const char *token)
{
	auto_free char *path = xasprintf("%s/builds/%s", s->root, token);

	return path_is_dir(path) ? take_ptr(path) : NULL;
}

/* Where the slot of the plain build, the first of the nodes, lies now. */
static char *kept_of(const struct store *s, const json_t *record)
{
	auto_free char *variant = json_opt_str(record, "variant");
	auto_free char *token = json_opt_str(record, "token");

	return variant && token && strcmp(variant, "plain") == 0 ? last_kept(s, token) : NULL;
}

int pipeline_last_logs(const struct pipeline_last *l, struct compile_logs *ret, struct error *err)
{
	const struct store store = {.root = l->state, .lock_fd = -1};
	struct compile_logs logs = {
		.slot = store_path(&store, "slot"),
		.source = xstrdup(l->source),
		.copy = xstrdup(l->copy),
	};

	for (size_t i = 0; i < l->nodes.n; i++) {
		auto_free char *folder = store_node_folder(&store, l->nodes.v[i]);
		auto_free char *path = path_join(folder, "facts.json");
		auto_json json_t *record = store_node_record(&store, l->nodes.v[i]);
		struct build_facts f;

		if (!record || build_facts_read(path, &f, err) < 0) {
			compile_logs_release(&logs);
			return error_set(err, ERR_ENVIRONMENT,
				"the state folder '%s' does not hold the builds of the last "
				"release any more",
				l->state);
		}
		if (!logs.kept)
			logs.kept = kept_of(&store, record);
		array_reserve(logs.v, logs.n, logs.cap);
		logs.v[logs.n++] = f;
	}
	*ret = logs;
	return 0;
}

/* ---- the logs of a stopped build ---- */

#define STOPPED "last/stopped"

void last_keep_stopped(const struct run *r, bool stopped)
{
	const struct build_out *outs[RUN_BUILDS_MAX];
	size_t n = run_builds(r, outs);
	auto_free char *folder = store_path(&r->store, STOPPED);

	if (tree_remove(folder, NULL) < 0 || !stopped || dir_create(folder, 0755, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		auto_free char *path = xasprintf("%s/%zu.json", folder, i);

		(void)build_facts_write(&outs[i]->facts, path, NULL);
	}
}

int pipeline_stopped_logs(const char *state, struct compile_logs *ret, struct error *err)
{
	struct compile_logs logs = {.slot = path_join(state, "slot")};

	for (size_t i = 0; i < RUN_BUILDS_MAX; i++) {
		auto_free char *path = xasprintf("%s/" STOPPED "/%zu.json", state, i);
		struct build_facts f;

		if (!path_exists(path))
			continue;
		if (build_facts_read(path, &f, err) < 0) {
			compile_logs_release(&logs);
			return -1;
		}
		array_reserve(logs.v, logs.n, logs.cap);
		logs.v[logs.n++] = f;
	}
	*ret = logs;
	return 0;
}

void last_used(const struct run *r, struct strv *ret)
{
	auto_free char *path = record_path(r);
	struct error ignored = ERROR_INIT;
	auto_json json_t *j = path_exists(path) ? sealed_read(path, &ignored) : NULL;

	error_release(&ignored);
	if (j)
		json_opt_strv(j, "used", ret);
}
