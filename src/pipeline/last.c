/* The record of the last complete build: lets a build with nothing to do see that by stat alone. */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "pipeline/last.h"
#include "pipeline/outside.h"
#include "store/seal.h"

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
	static const char *const others[] = {"report.json", "SHA256SUMS"};

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
	const struct build_out *const outs[] = {&r->plain, &r->instrumented, &r->optimised};
	json_t *keys = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(outs); i++)
		if (outs[i]->key)
			json_array_append_new(keys, json_string(outs[i]->key));
	return keys;
}

int last_write(const struct run *r, struct error *err)
{
	auto_free char *path = record_path(r);
	auto_free char *text_path = store_path(&r->store, "last/report.txt");
	auto_json json_t *j = json_object();
	auto_buf struct buf text = BUF_INIT;
	json_t *files = json_object();
	char top[SHA256_HEX], sha[SHA256_HEX];

	run_top_key(r, top);
	json_set_text(j, "key", top);
	json_object_set_new(j, "files", files);
	json_object_set_new(j, "builds", build_keys(r));
	for (size_t i = 0; i < r->n_compilers; i++)
		add_compiler(files, &r->compilers[i]);
	if (r->rustc)
		add_rustup(files);
	outside_add_identities(r->plain.outside, files);
	outside_add_identities(r->instrumented.outside, files);
	outside_add_identities(r->optimised.outside, files);
	add_artefacts(files, r);
	json_object_set_new(j, "used", json_from_strv(r->store.used));
	report_text(r->report, &text);
	sha256_of(buf_str(&text), text.n, sha);
	json_set_text(j, "report", sha);
	if (file_write_atomic(text_path, buf_str(&text), text.n, 0644, err) < 0)
		return -1;
	return sealed_write(j, path, err);
}

bool last_is_current(const struct run *r, const struct buf *text)
{
	auto_free char *path = record_path(r);
	struct error ignored = ERROR_INIT;
	auto_json json_t *j = path_exists(path) ? sealed_read(path, &ignored) : NULL;
	auto_free char *key = j ? json_opt_str(j, "key") : NULL;
	auto_free char *report = j ? json_opt_str(j, "report") : NULL;
	char top[SHA256_HEX], sha[SHA256_HEX];
	const char *file;
	json_t *value;

	error_release(&ignored);
	run_top_key(r, top);
	if (!key || strcmp(key, top) != 0)
		return false;
	sha256_of(buf_str(text), text->n, sha);
	if (!report || strcmp(report, sha) != 0)
		return false;
	json_object_foreach(json_object_get(j, "files"), file, value)
	{
		auto_free char *now = file_identity(file);
		const char *then = json_string_value(value);

		if (!then || strcmp(now, then) != 0)
			return false;
	}
	return true;
}

void last_builds(const struct run *r, struct strv *keys)
{
	auto_free char *path = record_path(r);
	auto_json json_t *j = path_exists(path) ? sealed_read(path, NULL) : NULL;

	json_opt_strv(j, "builds", keys);
}

int pipeline_last_logs(const struct pipeline_last *l, struct compile_logs *ret, struct error *err)
{
	const struct store store = {.root = l->state, .lock_fd = -1};
	struct compile_logs logs = {.slot = store_path(&store, "slot")};

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
