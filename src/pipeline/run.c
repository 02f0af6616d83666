#include "pipeline/cross.h"
#include "pipeline/run.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/scratch.h"
#include "buildtool/buildtool.h"

void build_out_release(struct build_out *b)
{
	free(b->key);
	free(b->folder);
	free(b->token);
	build_facts_release(&b->facts);
	strv_release(&b->binaries);
	strv_release(&b->shipped);
	strv_release(&b->added);
	json_decref(b->outside);
	free(b->no_relinks);
	memset(b, 0, sizeof(*b));
}

char *run_dist(const struct run *r)
{
	return r->o->dist ? path_absolute(r->o->dist) : path_join(r->plan.root, "dist");
}

char *run_source_copy(const struct run *r)
{
	return r->plan.build.tool == TOOL_CARGO ? NULL : store_path(&r->store, "slot/src");
}

/* ---- files that whet wrote into the user's tree beside dist ---- */

#define WRITTEN "written.json"

static void skip_written(struct run *r)
{
	auto_free char *list = store_path(&r->store, WRITTEN);
	auto_json json_t *o = path_exists(list) ? json_read_file(list, NULL) : NULL;

	json_opt_strv(o, "files", &r->skip);
	if (r->o->written)
		strv_take(&r->skip, path_absolute(r->o->written));
}

int pipeline_note_written(const char *state, const char *path, struct error *err)
{
	auto_free char *list = path_join(state, WRITTEN);
	auto_free char *absolute = path_absolute(path);
	auto_json json_t *o = path_exists(list) ? json_read_file(list, NULL) : NULL;
	auto_json json_t *now = json_object();
	auto_strv struct strv files = STRV_INIT;

	json_opt_strv(o, "files", &files);
	if (strv_has(&files, absolute))
		return 0;
	strv_add(&files, absolute);
	json_object_set_new(now, "files", json_from_strv(&files));
	return json_write_file(now, list, err);
}

int run_scan(struct run *r, struct source_tree *ret, struct error *err)
{
	auto_free char *index = store_path(&r->store, "index");

	struct source_rules rules = {.exclude = &r->plan.build.exclude,
		.include = &r->plan.build.include,
		.skip = &r->skip};

	return source_scan(r->source_root, &rules, index, ret, err);
}

/* The text of a small file without its last newline, or NULL. */
static char *small_file(const char *folder, const char *name)
{
	auto_free char *path = path_join(folder, name);
	auto_buf struct buf b = BUF_INIT;

	if (file_read(path, 1 << 20, &b, NULL) < 0)
		return NULL;
	while (b.n && isspace((unsigned char)b.p[b.n - 1]))
		b.p[--b.n] = '\0';
	return buf_detach(&b);
}

static char *packed_ref(const char *git, const char *ref)
{
	auto_free char *text = small_file(git, "packed-refs");
	auto_free char *needle = xasprintf(" %s", ref);
	char *save = NULL;

	if (!text)
		return NULL;
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		size_t n = strlen(l), k = strlen(needle);

		if (n > k && n - k == 40 && strcmp(l + n - k, needle) == 0)
			return xstrndup(l, 40);
	}
	return NULL;
}

char *run_read_commit(const char *root)
{
	auto_free char *git = path_join(root, ".git");
	auto_free char *head = small_file(git, "HEAD");
	char *id;

	if (!head)
		return NULL;
	if (strncmp(head, "ref: ", 5) != 0)
		return take_ptr(head);
	id = small_file(git, head + 5);
	return id ? id : packed_ref(git, head + 5);
}

static int set_version(struct run *r)
{
	if (r->plan.version)
		r->version = xstrdup(r->plan.version);
	else if (r->commit)
		r->version = xasprintf("0.%.12s", r->commit);
	else
		r->version = xasprintf("0.%.12s", r->sources.digest);
	return 0;
}

/* Of a build that is not measured, nothing is linked again. */
static int set_relinks(struct run *r, struct error *err)
{
	const char *given = r->o->relinks;

	if (given && strcmp(given, "0") != 0 && plan_set_bench(&r->plan, "relinks", given, err) < 0)
		return error_context(err, "--relinks");
	if ((given && strcmp(given, "0") == 0) || r->o->no_bench || !r->plan.bench.enabled)
		r->plan.bench.relinks = 0;
	return 0;
}

int run_open(struct run *r, const struct pipeline_options *o, struct error *err)
{
	auto_free char *dist = NULL, *parent = NULL, *joined = NULL, *plan_path = NULL;

	memset(r, 0, sizeof(*r));
	r->track = &r->own;
	r->store.lock_fd = -1;
	r->tool_files = json_object();
	r->o = o;
	if (plan_read(o->file, &r->plan, err) < 0 || set_relinks(r, err) < 0)
		return -1;
	cross_open(r);
	joined = path_join(r->plan.root, r->plan.build.dir);
	r->source_root = path_clean(joined);
	dist = run_dist(r);
	strv_add(&r->skip, dist);
	/* The plan is no source: what matters of it is in the keys of the nodes by its parts. */
	plan_path = path_join(r->plan.root, path_basename(r->plan.file));
	strv_add(&r->skip, plan_path);
	parent = path_dirname(dist);
	strv_addf(&r->skip, "%s/.%s.whet-new", parent, path_basename(dist));
	strv_addf(&r->skip, "%s/.%s.whet-new.old", parent, path_basename(dist));
	if (!path_is_dir(r->source_root))
		return error_set(err, ERR_CONFIG, "%s:%d:%d: the source folder '%s' does not exist",
			r->plan.file, r->plan.build.at.line, r->plan.build.at.column,
			r->source_root);
	if (store_open(&r->store, r->plan.project, r->plan.root, err) < 0)
		return -1;
	if (given_find(r, err) < 0)
		return -1;
	skip_written(r);
	if (run_scan(r, &r->sources, err) < 0)
		return -1;
	r->commit = run_read_commit(r->plan.root);
	return set_version(r);
}

/* What no two tracks share. */
static void track_release_end(struct track *t)
{
	for (size_t i = 0; i < t->n_final; i++)
		elf_facts_release(&t->final_facts[i]);
	free(t->final_facts);
	free(t->final_names);
	final_release(&t->final);
	build_out_release(&t->optimised);
	build_out_release(&t->unlaid);
	for (size_t i = 0; i < t->n_layouts; i++)
		layout_facts_release(&t->layouts[i]);
	free(t->layouts);
	free(t->layout_key);
	training_facts_release(&t->replay);
	verdicts_release(&t->verdicts);
	free(t->out);
}

static void track_release(struct track *t)
{
	track_release_end(t);
	for (size_t i = 0; (!t->from || t->own_profiles) && i < ARRAY_SIZE(t->profiles); i++)
		free(t->profiles[i]);
	if (t->from)
		return;
	round_release(&t->first);
	build_out_release(&t->instrumented);
	training_facts_release(&t->training);
	profile_facts_release(&t->profile);
	coverage_facts_release(&t->coverage);
	provenance_release(&t->provenance);
	free(t->train_key);
	free(t->published);
	free(t->published_beside);
}

void run_close(struct run *r)
{
	if (r->scratch)
		scratch_remove();
	for (size_t i = 0; i < r->n_compilers; i++)
		compiler_release(&r->compilers[i]);
	free(r->compilers);
	build_out_release(&r->plain);
	for (size_t i = 0; i < r->n_variants; i++)
		track_release(&r->variants[i]);
	free(r->variants);
	track_release(&r->own);
	source_tree_release(&r->sources);
	strv_release(&r->skip);
	free(r->given);
	free(r->given_beside);
	free(r->source_root);
	free(r->commit);
	free(r->machine);
	free(r->version);
	free(r->toolchain_id);
	free(r->rustc_wrapper);
	free(r->zig);
	free(r->zig_cc);
	strv_release(&r->bypassed);
	free(r->lto_linker);
	free(r->hook);
	free(r->gcov);
	lld_release(&r->relinker);
	layout_tool_release(&r->layout_tool);
	free(r->no_layout);
	free(r->no_relinks);
	free(r->scratch);
	json_decref(r->tool_files);
	free(r->stage_why);
	strv_release(&r->conditions);
	for (size_t i = 0; i < r->n_runtimes; i++)
		free(r->runtimes[i].archive);
	free(r->runtimes);
	store_close(&r->store);
	cross_close(r);
	plan_release(&r->plan);
}

/* Whether a variable says nothing that a build could depend on. Every other one counts: a build
 * sees them all, and a makefile or a build script may read any. */
static bool is_session_variable(const char *entry)
{
	static const char *const names[] = {"PWD", "OLDPWD", "SHLVL", "_", "TERM", "COLORTERM",
		"COLUMNS", "LINES", "LS_COLORS", "DISPLAY", "WAYLAND_DISPLAY", "WINDOWID", "TMUX",
		"TMUX_PANE", "STY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_VTNR",
		"XDG_SEAT", "GPG_AGENT_INFO", "GPG_TTY", "MAIL", "PAGER", "EDITOR", "VISUAL",
		"LESSOPEN", "LESSCLOSE", "HISTFILE", "HISTSIZE", "PS1", "PS2", "PROMPT_COMMAND",
		"NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TMPDIR",
		/* set or removed for every build: see run_build_environment() */
		"LC_ALL", "LANG", "LANGUAGE", "TZ", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"};
	static const char *const prefixes[] = {"WHET_", "SSH_", "XDG_SESSION_", "LC_"};
	size_t n = strcspn(entry, "=");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n && strncmp(names[i], entry, n) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

void run_hash_environment(struct sha256 *h)
{
	auto_strv struct strv env = STRV_INIT;

	env_copy_current(&env);
	strv_sort(&env);
	for (size_t i = 0; i < env.n; i++)
		if (!is_session_variable(env.v[i]))
			sha256_adds(h, env.v[i]);
}

void run_build_environment(const struct run *r, struct strv *env, struct error *err)
{
	auto_free char *epoch = xasprintf("%llu", (unsigned long long)r->epoch);
	auto_free char *tmp = r->scratch ? path_join(r->scratch, SCRATCH_TMP) : NULL;

	(void)err;
	env_copy_current(env);
	env_set(env, "LC_ALL", "C");
	env_set(env, "TZ", "UTC");
	env_set(env, "SOURCE_DATE_EPOCH", epoch);
	/* A compiler that is killed leaves its temporary files; these go with the scratch folder.
	 */
	if (tmp)
		env_set(env, "TMPDIR", tmp);
	/* A job server of a make that called whet is none of the build's. */
	env_set(env, "MAKEFLAGS", NULL);
	env_set(env, "MFLAGS", NULL);
	env_set(env, "MAKELEVEL", NULL);
}

/* The digest of all decides; a few digits of each variable's own serve to name the one that
 * changed, and give no secret away. */
void run_key_environment(struct node_key *k)
{
	auto_strv struct strv env = STRV_INIT;
	char hex[SHA256_HEX];
	struct sha256 h;

	sha256_begin(&h);
	run_hash_environment(&h);
	sha256_end(&h, hex);
	node_key_add_entry(k, "environment", "", hex);
	env_copy_current(&env);
	for (size_t i = 0; i < env.n; i++) {
		auto_free char *name = xstrndup(env.v[i], strcspn(env.v[i], "="));

		if (is_session_variable(env.v[i]))
			continue;
		sha256_of(env.v[i], strlen(env.v[i]), hex);
		hex[4] = '\0';
		node_key_add_entry(k, "environment", name, hex);
	}
}

void run_key_compilers(const struct run *r, struct node_key *k)
{
	node_key_add(k, "runtimes", r->toolchain_id);
	for (size_t i = 0; i < r->n_compilers; i++)
		node_key_add_entry(k, "compilers", r->compilers[i].path, r->compilers[i].version);
}

static void key_file(struct node_key *k, const char *part, const char *path)
{
	struct stat st = {0};
	auto_free char *text = NULL;

	text = stat(path, &st) < 0 ? xstrdup("absent")
				   : xasprintf("%lld %lld.%09ld %llu", (long long)st.st_size,
					     (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
					     (unsigned long long)st.st_ino);
	node_key_add_entry(k, part, path, text);
}

void run_top_key(const struct run *r, struct node_key *k)
{
	auto_free char *dist = run_dist(r);

	node_key_begin(k, "whole", "");
	key_file(k, "whet", r->o->self);
	key_file(k, "whet", r->o->shim);
	node_key_add(k, "plan", r->plan.digest);
	node_key_add(k, "sources", r->sources.digest);
	node_key_add(k, "commit", r->commit);
	node_key_add_entry(k, "options", "--until", r->o->until);
	node_key_add_entry(k, "options", "--no-bench", r->o->no_bench ? "given" : "");
	if (r->o->relinks)
		node_key_add_entry(k, "options", "--relinks", r->o->relinks);
	node_key_add(k, "dist", dist);
	if (r->given) {
		auto_free char *beside = xasprintf("%s.json", r->given);

		key_file(k, "given", r->given);
		key_file(k, "given", beside);
		if (r->given_beside)
			key_file(k, "given", r->given_beside);
	}
	run_key_environment(k);
	node_key_end(k);
}

void run_note_driver(struct run *r, const struct training_facts *t)
{
	for (size_t i = 0; i < t->n_phases; i++)
		r->driver_cpu_ns += t->phases[i].driver_cpu_ns;
}
