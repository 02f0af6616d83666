#include "pipeline/outside.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "pipeline/tool_files.h"
#include "wrap/zig.h"

#define ABSENT "absent"

static int64_t ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

char *file_identity(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return xstrdup(ABSENT);
	return xasprintf("%llx:%llx:%llx:%lld:%lld", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino, (unsigned long long)st.st_size,
		(long long)ns(&st.st_mtim), (long long)ns(&st.st_ctim));
}

/* ---- which files ------------------------------------------------------------------------------
 */

struct collecting {
	const struct run *r;
	const struct outside_place *p;
	json_t *seen;       /* the names as they were given */
	json_t *followed;   /* those of them that cargo looks at; NULL: not reading its lists */
	struct strv *tools; /* whose own files are in already */
	json_t *files;
	struct error unanswered; /* a program that did not answer what else is used */
};

static int by_path(const void *key, const void *file)
{
	return strcmp(key, ((const struct source_file *)file)->path);
}

/* Whether the digest of the sources covers it. */
static bool is_source(const struct run *r, const char *path)
{
	const struct source_tree *t = &r->sources;
	size_t n = strlen(r->source_root);
	const struct source_file *f;

	if (!t->n || strncmp(path, r->source_root, n) != 0 || path[n] != '/')
		return false;
	f = bsearch(path + n + 1, t->v, t->n, sizeof(*t->v), by_path);
	return f && !f->built;
}

/* Downloaded crates are named by version and checksum, and cargo itself never looks again. */
static bool is_cargo_download(const char *path)
{
	return strstr(path, "/registry/src/") || strstr(path, "/git/checkouts/");
}

/* Whether the plain build read the file with this content. */
static bool plain_read(const struct run *r, const char *path, const char *hex)
{
	const json_t *entry = r->plain.outside ? json_object_get(r->plain.outside, path) : NULL;
	const char *then = json_string_value(json_object_get(entry, "sha256"));

	return then && *then && strcmp(then, hex) == 0;
}

/* A file that was touched while the build ran may have been read in two forms: what is recorded
 * then equals nothing, unless an earlier build of the run found it as it is now (a backup by hard
 * links, say, changes a file's times and not its content). */
static void add_file(struct collecting *c, const char *path)
{
	char hex[SHA256_HEX] = ABSENT;
	auto_free char *id = file_identity(path);
	struct stat st;
	json_t *o;

	if (stat(path, &st) == 0 &&
		(sha256_file(path, hex, NULL) < 0 ||
			(ns(&st.st_ctim) >= c->p->start_ns && !plain_read(c->r, path, hex))))
		hex[0] = '\0';
	o = json_object();
	json_set_text(o, "sha256", hex);
	json_set_text(o, "identity", id);
	json_object_set_new(c->files, path, o);
}

static void consider(struct collecting *c, const char *cwd, const char *name)
{
	auto_free char *path = path_join(cwd, name);
	char real[PATH_MAX];
	struct stat st;

	if (c->followed)
		json_object_set_new(c->followed, path, json_true());
	if (json_object_get(c->seen, path))
		return;
	json_object_set_new(c->seen, path, json_true());
	/* What is gone by now was a temporary file of the build itself. */
	if (!realpath(path, real) || stat(real, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	if (path_is_below(real, c->p->slot) || path_is_below(real, c->r->store.root) ||
		is_source(c->r, real) || is_cargo_download(real) || json_object_get(c->files, real))
		return;
	add_file(c, real);
}

/* One name a line, written by the compiler itself (see shim_run.c); merged into the list then. */
static void add_headers(struct collecting *c, const struct compile_record *r)
{
	auto_free char *path = xasprintf("%s/.%s.headers", c->p->log, r->id);
	auto_buf struct buf text = BUF_INIT;
	char *save = NULL;

	if (!path_exists(path) || file_read(path, 0, &text, NULL) < 0)
		return;
	for (char *l = strtok_r(text.p, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		consider(c, r->cwd, l);
	unlink(path);
}

/* The next word of a rule for make, its quoting undone; returns where it ends. */
static const char *rule_word(const char *p, struct buf *word)
{
	buf_clear(word);
	for (; *p && *p != ' ' && *p != '\n'; p++) {
		if (p[0] == '\\' && p[1] == '\n')
			return p + 2;
		if ((p[0] == '\\' && (p[1] == ' ' || p[1] == '#')) || (p[0] == '$' && p[1] == '$'))
			p++;
		buf_addc(word, *p);
	}
	return p + (*p != '\0');
}

/* "it: header header\\\n header", as gcc and rustc write them. */
static void add_rules(struct collecting *c, const char *cwd, const char *path)
{
	auto_buf struct buf text = BUF_INIT, word = BUF_INIT;

	if (!path_exists(path) || file_read(path, 0, &text, NULL) < 0)
		return;
	for (const char *p = buf_str(&text); *p;) {
		p = rule_word(p, &word);
		if (word.n && word.p[word.n - 1] != ':')
			consider(c, cwd, buf_str(&word));
	}
}

/* A call that asks for such a rule itself (-MD, -MF) gets none from the environment. */
static char *own_rules(const struct compile_record *r)
{
	bool asked = false;

	for (size_t i = 0; i < r->argv.n; i++) {
		const char *a = r->argv.v[i];

		if (strcmp(a, "-MF") == 0 && i + 1 < r->argv.n)
			return path_join(r->cwd, r->argv.v[i + 1]);
		if (strncmp(a, "-MF", 3) == 0 && a[3])
			return path_join(r->cwd, a + 3);
		asked = asked || strcmp(a, "-MD") == 0 || strcmp(a, "-MMD") == 0;
	}
	if (asked && r->output) {
		size_t n = strlen(r->output);

		if (n > 2 && strcmp(r->output + n - 2, ".o") == 0)
			return xasprintf("%.*s.d", (int)n - 2, r->output);
	}
	return NULL;
}

static void add_gcc_headers(struct collecting *c, const struct compile_record *r)
{
	auto_free char *path = xasprintf("%s/.%s.rule", c->p->log, r->id);
	auto_free char *own = own_rules(r);

	add_rules(c, r->cwd, path);
	unlink(path);
	if (own)
		add_rules(c, r->cwd, own);
}

/* The programs that a compiler starts, and the libraries that all of them load. */
static void add_tool(struct collecting *c, const char *tool)
{
	json_t *known = c->r->tool_files; /* asked once in a run */
	auto_strv struct strv files = STRV_INIT;

	if (strv_has(c->tools, tool))
		return;
	strv_add(c->tools, tool);
	if (!json_object_get(known, tool)) {
		tool_files(tool, &files, &c->unanswered);
		json_object_set_new(known, tool, json_from_strv(&files));
		strv_release(&files);
	}
	json_opt_strv(known, tool, &files);
	for (size_t i = 0; i < files.n; i++)
		consider(c, "/", files.v[i]);
}

static void add_record(struct collecting *c, const struct compile_record *r)
{
	consider(c, r->cwd, r->tool);
	add_tool(c, r->tool);
	if (r->kind == CALL_QUERY)
		return;
	for (size_t i = 0; i < r->inputs.n; i++)
		if (!zig_made(r->inputs.v[i]))
			consider(c, r->cwd, r->inputs.v[i]);
	/* What zig makes for itself in the first build lies in a folder named by what it is made
	 * of. */
	for (size_t i = 0; i < r->n_links; i++)
		if (!zig_made(r->links[i].path))
			consider(c, r->cwd, r->links[i].path);
	add_headers(c, r);
	add_gcc_headers(c, r);
}

/* What pkg-config found, and where it looked before: a file that appears there is another answer.
 */
static void add_packages(struct collecting *c)
{
	auto_strv struct strv files = STRV_INIT;
	const struct strv *env = &c->r->plan.build.env;

	if (!path_exists(c->p->pkg_config))
		return;
	tool_packages(c->p->pkg_config, env, &files, &c->unanswered);
	for (size_t i = 0; i < files.n; i++)
		if (!json_object_get(c->files, files.v[i]))
			add_file(c, files.v[i]);
}

/* What rustc read, in cargo's target folder. */
static int add_dep_info(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	struct collecting *c = ctx;
	auto_free char *full = path_join(root, path);
	size_t n = strlen(path);

	if (S_ISREG(st->st_mode) && n > 2 && strcmp(path + n - 2, ".d") == 0)
		add_rules(c, c->r->source_root, full);
	return 0;
}

/* Settings that cargo and rustup look for above the project, there or not. */
static void add_settings(struct collecting *c)
{
	static const char *const names[] = {
		".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"};
	const char *home = getenv("HOME"), *cargo = getenv("CARGO_HOME");
	auto_free char *user = cargo ? xstrdup(cargo) : xasprintf("%s/.cargo", home ? home : "");
	auto_free char *folder = xstrdup(c->r->source_root);

	for (size_t i = 0; i < 2; i++) {
		auto_free char *path = path_join(user, i ? "config" : "config.toml");

		add_file(c, path);
	}
	while (strcmp(folder, "/") != 0 && strcmp(folder, ".") != 0) {
		char *parent = path_dirname(folder);

		free(folder);
		folder = parent;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			auto_free char *path = path_join(folder, names[i]);

			add_file(c, path);
		}
	}
}

/* cargo looks at its own files and at what stands in its lists of what rustc and build scripts
 * read. */
static bool cargo_looks_at(const struct collecting *c, const char *path, const char *full)
{
	static const char *const own[] = {
		"Cargo.toml", "Cargo.lock", ".cargo/config.toml", ".cargo/config"};
	size_t n = strlen(path);

	if (json_object_get(c->followed, full) || (n > 3 && strcmp(path + n - 3, ".rs") == 0))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		size_t k = strlen(own[i]);

		if (n >= k && strcmp(path + n - k, own[i]) == 0 &&
			(n == k || path[n - k - 1] == '/'))
			return true;
	}
	return false;
}

/* The others (a script that links or wraps rustc, a file that a macro reads) decide what is built
 * as well, and cargo calls what was made with their old content fresh: a kept folder ends with it.
 */
static void add_overlooked(struct collecting *c)
{
	const struct source_tree *t = &c->r->sources;

	for (size_t i = 0; i < t->n; i++) {
		const struct source_file *f = &t->v[i];
		auto_free char *full = path_join(c->r->source_root, f->path);

		if (!f->built && !cargo_looks_at(c, f->path, full))
			add_file(c, full);
	}
}

static char *list_path(const char *state)
{
	return path_join(state, "outside.json");
}

static json_t *read_list(const char *state)
{
	auto_free char *path = list_path(state);
	struct error ignored = ERROR_INIT;
	json_t *j = path_exists(path) ? json_read_file(path, &ignored) : NULL;

	error_release(&ignored);
	return j;
}

int outside_collect(const struct run *r, const struct outside_place *p,
	const struct compile_log *log, json_t **ret, struct error *err)
{
	auto_free char *path = list_path(p->state);
	auto_json json_t *seen = json_object(), *followed = json_object();
	auto_strv struct strv tools = STRV_INIT;
	json_t *old = read_list(p->state);
	struct collecting c = {r, p, seen, NULL, &tools, old ? old : json_object()};
	int result = 0;

	for (size_t i = 0; i < log->n; i++)
		add_record(&c, &log->v[i]);
	add_packages(&c);
	if (r->rustc && r->rustc->sysroot) {
		auto_free char *real = path_join(r->rustc->sysroot, "bin/rustc");

		consider(&c, "/", real);
		add_tool(&c, real);
	}
	if (r->plan.build.tool == TOOL_CARGO) {
		add_settings(&c);
		c.followed = followed;
		result = tree_walk(p->build, add_dep_info, &c, err);
		add_overlooked(&c);
	}
	if (result == 0 && c.unanswered.code)
		result = error_move(err, &c.unanswered);
	if (result == 0)
		result = json_write_file(c.files, path, err);
	error_release(&c.unanswered);
	if (result < 0)
		json_decref(c.files);
	else
		*ret = c.files;
	return result;
}

/* ---- are they what they were ------------------------------------------------------------------
 */

static bool same_content(const char *path, json_t *entry)
{
	auto_free char *then = json_opt_str(entry, "sha256"), *id = json_opt_str(entry, "identity");
	auto_free char *now = file_identity(path);
	char hex[SHA256_HEX] = ABSENT;

	if (!then || !*then)
		return false;
	if (id && strcmp(id, now) == 0)
		return true;
	if (strcmp(now, ABSENT) != 0 && sha256_file(path, hex, NULL) < 0)
		return false;
	json_set_text(entry, "identity", now);
	return strcmp(then, hex) == 0;
}

bool outside_same(json_t *outside, const char **changed)
{
	const char *path;
	json_t *entry;

	json_object_foreach(outside, path, entry)
	{
		if (same_content(path, entry))
			continue;
		if (changed)
			*changed = path;
		return false;
	}
	return outside != NULL;
}

const char *outside_kind(const char *path)
{
	static const char *const headers[] = {".h", ".hh", ".hpp", ".hxx", ".inc"};
	const char *base = path_basename(path), *dot = strrchr(base, '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(headers); i++)
		if (strcmp(dot, headers[i]) == 0)
			return "header";
	if (strstr(path, "/include/"))
		return "header"; /* <vector> has no suffix */
	if (strstr(base, ".so") || (dot && strcmp(dot, ".a") == 0))
		return "library";
	return "file";
}

bool outside_folder_usable(const char *state)
{
	auto_json json_t *list = read_list(state);

	return outside_same(list, NULL);
}

bool outside_touched(const json_t *outside, const char *path)
{
	const char *hex =
		json_string_value(json_object_get(json_object_get(outside, path), "sha256"));

	return hex && !*hex;
}

const char *outside_difference(const json_t *a, const json_t *b)
{
	const char *path;
	json_t *entry;

	json_object_foreach((json_t *)(uintptr_t)a, path, entry)
	{
		const json_t *other = json_object_get(b, path);

		if (other &&
			(outside_touched(a, path) || !json_equal(json_object_get(entry, "sha256"),
							     json_object_get(other, "sha256"))))
			return path;
	}
	return NULL;
}

void outside_add_identities(const json_t *outside, json_t *to)
{
	const char *path;
	json_t *entry;

	json_object_foreach((json_t *)(uintptr_t)outside, path, entry)
		json_object_set(to, path, json_object_get(entry, "identity"));
}
