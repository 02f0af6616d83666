/* Build: sources to binaries and a compile log, in one of three modes. Always in the slot, so that
 * the compilers see the same paths every time. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "buildtool/buildtool.h"
#include "pipeline/cross.h"
#include "pipeline/outside.h"
#include "pipeline/run.h"
#include "pipeline/step.h"
#include "pipeline/why.h"
#include "store/history.h"
#include "wrap/wrap.h"

static const char *build_name(const struct run *r, enum toolchain_mode mode)
{
	static const char *const names[] = {"plain", "instrumented", "optimised"};

	return mode == MODE_INSTRUMENTED && r->track->second ? "second instrumented" : names[mode];
}

/* Everything one build needs, gathered. */
struct building {
	struct run *r;
	enum toolchain_mode mode;
	char *name;            /* of the build */
	char *const *profiles; /* of each compiler; NULL: none is used */
	struct build_out *out;
	char token[65];
	char wrapper[65], commands[65]; /* digests that the token is made of */
	bool copies;                    /* the sources are copied into the slot */
	bool touched;                   /* a source was written while they were compiled in place */
	bool again;                     /* it is done once more for that */
	struct source_tree before;      /* the sources when it began */
	char *slot, *source, *build, *log, *state, *quarantine, *shim_folder, *node_file,
		*pkg_config, *target;
	char *order; /* counts of the functions, for the linker's order; NULL: none is asked for */
	char *meson_file, *meson_text; /* meson's cross file; text NULL: none is needed */
	struct strv names;             /* of the files that are released */
	struct wrap_node wrap;
	struct build_steps steps;
};

static struct build_out *out_of(struct run *r, enum toolchain_mode mode)
{
	return mode == MODE_PLAIN          ? &r->plain
	       : mode == MODE_INSTRUMENTED ? &r->track->instrumented
					   : &r->track->optimised;
}

/* Of the optimised build: one without is there to tell what the profile is worth. */
static bool has_profile(const struct run *r)
{
	return !r->track->variant || r->track->variant->profile;
}

/* "v3", "v3 instrumented" */
static char *name_of(const struct run *r, enum toolchain_mode mode)
{
	const struct plan_variant *v = mode == MODE_PLAIN ? NULL : r->track->variant;

	if (!v)
		return xstrdup(build_name(r, mode));
	return mode == MODE_OPTIMISED ? xstrdup(v->name)
				      : xasprintf("%s %s", v->name, build_name(r, mode));
}

static void building_release(struct building *b)
{
	free(b->name);
	free(b->slot);
	free(b->source);
	free(b->build);
	free(b->log);
	free(b->state);
	free(b->quarantine);
	free(b->shim_folder);
	free(b->node_file);
	free(b->pkg_config);
	free(b->target);
	free(b->meson_file);
	free(b->meson_text);
	free(b->order);
	strv_release(&b->names);
	build_steps_release(&b->steps);
	source_tree_release(&b->before);
}

static void set_paths(struct building *b)
{
	struct run *r = b->r;

	b->copies = r->plan.build.tool != TOOL_CARGO;
	b->slot = store_path(&r->store, "slot");
	b->source = b->copies ? path_join(b->slot, "src") : xstrdup(r->source_root);
	b->build = path_join(b->slot, "build");
	/* Beside the build, not in it: whet's own records travel with the slot. */
	b->state = path_join(b->slot, "whet");
	b->log = path_join(b->state, "log");
	b->pkg_config = path_join(b->state, "pkg-config.log");
	b->meson_file = path_join(b->state, "meson-cross.ini");
	/* The profile runtime expands '%' in the names of its files. */
	b->quarantine = path_join(strchr(b->state, '%') ? r->scratch : b->state, "quarantine");
	b->shim_folder = store_path(&r->store, "shim");
	b->node_file = store_path(&r->store, "shim-node.json");
	b->target = buildtool_rust_target(&r->plan.build);
}

static struct toolchain_build build_of(const struct run *r, enum toolchain_mode mode)
{
	const struct plan_variant *v = mode == MODE_PLAIN ? NULL : r->track->variant;
	bool second = mode == MODE_INSTRUMENTED && r->track->second;
	bool own = v && (mode == MODE_OPTIMISED || second);

	/* One instrumented build serves with and without link-time optimisation: its counters are
	 * put in before, apart from those of a second round. */
	return (struct toolchain_build){
		.mode = mode,
		.trace = r->last_profile,
		.context_sensitive = second || (mode == MODE_OPTIMISED && has_profile(r) &&
						       r->track->profile.context_sensitive),
		.order = mode == MODE_OPTIMISED && run_is_ordered(r),
		.neutral = run_pgo(r)->untrained == UNTRAINED_NEUTRAL,
		.lto = own ? v->lto : r->plan.build.lto,
		.cpu = v ? v->cpu : r->plan.build.cpu,
		.target = r->plan.build.target,
	};
}

/* The second round of the instrumented build uses the profile of the first. */
static char *const *profiles_of(const struct building *b)
{
	const struct track *t = b->r->track;

	if (b->mode == MODE_INSTRUMENTED)
		return t->second ? t->first.profiles : NULL;
	return b->mode == MODE_OPTIMISED && has_profile(b->r) ? t->profiles : NULL;
}

static void set_wrap(struct building *b)
{
	struct run *r = b->r;

	b->profiles = profiles_of(b);
	for (size_t i = 0; i < r->plan.build.binary.n; i++)
		strv_add(&b->names, path_basename(r->plan.build.binary.v[i]));
	b->wrap = (struct wrap_node){
		.build = build_of(r, b->mode),
		.lto_linker = r->lto_linker,
		.compilers = r->compilers,
		.n_compilers = r->n_compilers,
		.shim = r->o->shim,
		.folder = b->shim_folder,
		.log = b->log,
		.node_file = b->node_file,
		.quarantine = b->quarantine,
		.slot = b->slot,
		.target_dir = r->plan.build.tool == TOOL_CARGO ? b->build : NULL,
		.target = b->target,
		.cross = r->cross ? r->target.gnu : NULL,
		.profiles = (const char *const *)b->profiles,
		.main = run_main_compiler(r),
		.beside = r->beside,
		.gcov = b->mode == MODE_INSTRUMENTED ? r->gcov : NULL,
		.runtimes = b->mode == MODE_INSTRUMENTED ? r->runtimes : NULL,
		.n_runtimes = b->mode == MODE_INSTRUMENTED ? r->n_runtimes : 0,
		.hook = b->mode == MODE_INSTRUMENTED ? r->hook : NULL,
		.instrument_linker = r->plan.pgo.instrument_linker,
		.rustc_wrapper = r->rustc_wrapper,
		.zig = r->zig,
		.zig_cc = r->zig_cc,
		.relinks = node_relink_count(r, b->mode),
		.relinker = r->relinker.path,
		.order = b->order,
		.released = &b->names,
		.relocs = b->mode == MODE_OPTIMISED && layout_wanted(r),
	};
}

static void add_vars(const struct building *b, struct strv *vars)
{
	const struct run *r = b->r;

	strv_addf(vars, "commit=%s", r->commit ? r->commit : "");
	strv_addf(vars, "version=%s", r->version);
}

/* What will be run, with this many jobs. */
static int plan_steps(struct building *b, int jobs, struct build_steps *ret, struct error *err)
{
	struct run *r = b->r;
	auto_strv struct strv vars = STRV_INIT;
	auto_free char *cc = r->cc ? cross_command(r, r->cc) : xstrdup("cc");
	auto_free char *cxx = cross_cxx_command(r);
	struct cross_tools tools = {0};
	struct build_place place = {
		.source = b->source, .build = b->build, .cc = cc, .cxx = cxx, .jobs = jobs};
	int result;

	add_vars(b, &vars);
	if (r->cross) {
		cross_tools_find(r, b->meson_file, &tools);
		place.cross = &tools.c;
		free(b->meson_text);
		b->meson_text = buildtool_meson_file(&tools.c, cc, cxx);
	}
	result = buildtool_steps(&r->plan.build, &place, &vars, ret, err);
	cross_tools_release(&tools);
	return result;
}

/* Commands with their folders and environment. The number of jobs is none of it. */
static int digest_steps(struct building *b, struct error *err)
{
	struct build_steps steps = {0};
	struct sha256 h;

	if (plan_steps(b, 1, &steps, err) < 0)
		return -1;
	sha256_begin(&h);
	for (size_t i = 0; i < steps.n; i++) {
		auto_free char *words = strv_shell_quote(&steps.v[i].argv);
		auto_free char *env = strv_shell_quote(&steps.v[i].env);

		sha256_adds(&h, steps.v[i].cwd);
		sha256_adds(&h, words);
		sha256_adds(&h, env);
	}
	if (b->r->plan.build.tool == TOOL_MESON)
		sha256_adds(&h, b->meson_text);
	sha256_end(&h, b->commands);
	build_steps_release(&steps);
	return 0;
}

/* A build folder fits only what made it: wrapper and flags, steps with their arguments, and the
 * environment. */
static int set_token(struct building *b, struct error *err)
{
	struct sha256 h;

	if (digest_steps(b, err) < 0)
		return -1;
	wrap_token(&b->wrap, b->wrapper);
	sha256_begin(&h);
	sha256_adds(&h, b->wrapper);
	sha256_adds(&h, b->commands);
	sha256_add(&h, &b->r->epoch, sizeof(b->r->epoch));
	run_hash_environment(&h);
	sha256_end(&h, b->token);
	return 0;
}

/* The encodings that the compilers read, each once. */
static void list_profiles(const struct building *b, struct strv *ret)
{
	for (size_t i = 0; b->profiles && i < b->r->n_compilers; i++)
		if (b->profiles[i] && !strv_has(ret, b->profiles[i]))
			strv_add(ret, b->profiles[i]);
}

/* Their names, or what their content would name them by now: digests, parted by '+'. */
static char *profile_names(const struct building *b, bool by_content)
{
	auto_strv struct strv paths = STRV_INIT, names = STRV_INIT;

	list_profiles(b, &paths);
	for (size_t i = 0; i < paths.n; i++) {
		const char *name = path_basename(paths.v[i]);
		char hex[SHA256_HEX];

		if (by_content &&
			(path_is_dir(paths.v[i]) ? store_folder_digest(paths.v[i], hex, NULL)
						 : sha256_file(paths.v[i], hex, NULL)) < 0)
			return NULL;
		strv_take(&names, by_content ? xstrdup(hex) : xstrndup(name, strcspn(name, ".")));
	}
	return paths.n ? strv_join(&names, "+") : NULL;
}

static void build_key(const struct building *b, struct node_key *k)
{
	const struct run *r = b->r;
	auto_free char *epoch = xasprintf("%llu", (unsigned long long)r->epoch);
	auto_free char *profiles = profile_names(b, false);

	node_key_begin(k, "build", b->name);
	node_key_add(k, "whet", WHET_VERSION);
	node_key_add(k, "sources", r->sources.digest);
	node_key_add(k, "build", r->plan.build_digest);
	run_key_compilers(r, k);
	if (b->mode == MODE_OPTIMISED || b->profiles)
		node_key_add(k, "profile", profiles);
	node_key_add(k, "wrapper", b->wrapper);
	node_key_add(k, "steps", b->commands);
	node_key_add(k, "commit", r->commit);
	node_key_add(k, "version", r->version);
	node_key_add(k, "epoch", epoch);
	if (b->wrap.relinks) {
		auto_free char *relinks = xasprintf("%u", b->wrap.relinks);

		node_key_add_entry(k, "relinks", "count", relinks);
		node_key_add_entry(k, "relinks", r->relinker.path, r->relinker.version);
	}
	run_key_environment(k);
	node_key_end(k);
}

static void binary_paths(struct build_out *out)
{
	for (size_t i = 0; i < out->facts.n_binaries; i++)
		strv_addf(&out->binaries, "%s/bin/%s", out->folder, out->facts.binaries[i].name);
}

/* Takes a finished node from the store: record, facts and binaries. */
static bool reuse(struct building *b, const struct node_key *k)
{
	struct build_out *out = b->out;
	const char *key = k->hex, *changed = NULL;
	struct error ignored = ERROR_INIT;
	auto_json json_t *record = store_node_record(&b->r->store, key);
	auto_free char *folder = store_node_folder(&b->r->store, key);
	auto_free char *facts = path_join(folder, "facts.json");
	struct build_facts f = {0};
	bool ok = record != NULL;

	ok = ok && build_facts_read(facts, &f, &ignored) == 0;
	error_release(&ignored);
	ok = ok && outside_same(json_object_get(record, "outside"), &changed);
	if (!ok) {
		build_facts_release(&f);
		if (changed)
			why_say_because(
				b->r, "runs: %s '%s' changed", outside_kind(changed), changed);
		else
			why_say_runs(b->r, k);
		return false;
	}
	why_say_reused(b->r, record);
	out->facts = f;
	out->outside = json_incref(json_object_get(record, "outside"));
	out->key = xstrdup(key);
	out->token = xstrdup(b->token);
	out->folder = take_ptr(folder);
	json_opt_strv(record, "added", &out->added);
	out->no_relinks = json_opt_str(record, "no_relinks");
	binary_paths(out);
	return true;
}

/* Build tools rarely look at headers of the system, and at times alone. */
static bool folder_is_usable(const struct building *b, const char *list)
{
	int64_t newest;

	return outside_folder_usable(b->state) && store_newest(b->slot, &newest, NULL) == 0 &&
	       source_kept_usable(&b->r->sources, list, b->copies ? b->source : NULL, newest);
}

static int copy_sources(struct building *b, const char *list, struct error *err)
{
	struct run *r = b->r;

	if (!b->copies)
		return source_list_write(&r->sources, list, err);
	if (source_copy(&r->sources, r->source_root, b->source, list, err) == 0)
		return 0;
	return err->code == ERR_MISMATCH ? node_gate_copied(r, err) : -1;
}

static int prepare_slot(struct building *b, struct error *err)
{
	auto_free char *slot = NULL;
	auto_free char *list = path_join(b->state, "sources");
	bool reused;

	if (store_slot_begin(&b->r->store, b->token, &slot, &reused, err) < 0)
		return -1;
	if (reused && !folder_is_usable(b, list) &&
		(tree_remove(b->slot, err) < 0 || dir_create(b->slot, 0755, err) < 0))
		return -1;
	if (dir_create(b->log, 0755, err) < 0 || tree_remove(b->quarantine, err) < 0 ||
		dir_create(b->quarantine, 01777, err) < 0 || dir_create(b->build, 0755, err) < 0)
		return -1;
	return copy_sources(b, list, err);
}

/* What is taken at the end must come of this build's own link: in a kept folder lies the binary of
 * an earlier one, which nothing makes any more when its target was renamed. */
static int remove_binaries(const struct building *b, struct error *err)
{
	for (size_t i = 0; i < b->steps.binaries.n; i++)
		if (tree_remove(b->steps.binaries.v[i], err) < 0)
			return -1;
	return 0;
}

/* cargo takes a relative wrapper from its working folder, but starts it in those of the crates. */
static void locate_rustc_wrapper(const struct build_step *s, struct strv *env)
{
	const char *given = env_get(env, "RUSTC_WRAPPER");
	auto_free char *path = NULL;

	if (!given || given[0] == '/' || !strchr(given, '/'))
		return;
	path = path_join(s->cwd, given);
	env_set(env, "RUSTC_WRAPPER", path);
}

static int run_step(
	struct building *b, const struct build_step *s, uint64_t total, struct error *err)
{
	auto_strv struct strv env = STRV_INIT;
	auto_free char *output = xasprintf("%s/%s.log", b->state, s->label);
	struct step_watch watch = {
		.events = b->r->o->events,
		.variant = b->name,
		.records = b->log,
		.output = output,
		.total = total,
		.timeout_ns = b->r->plan.build.timeout_ns,
	};

	run_build_environment(b->r, &env, err);
	for (size_t i = 0; i < s->env.n; i++) {
		auto_free char *name = xstrndup(s->env.v[i], strcspn(s->env.v[i], "="));

		env_set(&env, name, strchr(s->env.v[i], '=') ? strchr(s->env.v[i], '=') + 1 : "");
	}
	env_set(&env, "PKG_CONFIG_LOG", b->pkg_config);
	locate_rustc_wrapper(s, &env);
	wrap_environment(&b->wrap, s->configure, &env);
	return step_run(s, &env, &watch, err);
}

/* What a failed step did up to its end is in the log, for the user to read. */
static int run_steps(struct building *b, struct error *err)
{
	uint64_t total = b->r->plain.facts.log.n;

	for (size_t i = 0; i < b->steps.n; i++) {
		if (run_step(b, &b->steps.v[i], total, err) == 0)
			continue;
		(void)compile_log_read(b->log, &b->out->facts.log, NULL);
		return -1;
	}
	return step_end_leftovers(b->r->o->events, b->name, err);
}

static int digest_now(struct building *b, char **ret, struct error *err)
{
	struct source_tree t = SOURCE_TREE_INIT;
	struct run *r = b->r;

	if (run_scan(r, &t, err) < 0)
		return -1;
	*ret = xstrdup(t.digest);
	if (strcmp(t.digest, r->sources.digest) != 0) {
		const char *first = source_first_difference(&r->sources, &t);

		if (!b->out->facts.source_changed)
			b->out->facts.source_changed = xstrdup(first);
		events_warning(
			r->o->events, "'%s' changed since the build began, or is new", first);
	}
	source_tree_release(&b->before);
	b->before = t;
	return 0;
}

/* A source that was compiled in place may have been changed and changed back meanwhile. */
static int digest_after(struct building *b, struct error *err)
{
	struct source_tree before = b->before;
	const char *touched;

	b->before = (struct source_tree)SOURCE_TREE_INIT;
	if (digest_now(b, &b->out->facts.source_after, err) < 0) {
		source_tree_release(&before);
		return -1;
	}
	touched = b->copies ? NULL : source_first_touched(&before, &b->before);
	if (touched)
		events_detail(b->r->o->events, "'%s' was written during the build", touched);
	b->touched = touched && !b->again;
	source_tree_release(&before);
	return 0;
}

static void note_profile(struct building *b, bool after)
{
	struct build_facts *f = &b->out->facts;

	if (!b->profiles)
		return;
	if (!f->profile_name)
		f->profile_name = profile_names(b, false);
	*(after ? &f->profile_after : &f->profile_before) = profile_names(b, true);
}

static int list_quarantine(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	if (S_ISREG(st->st_mode))
		strv_add(ctx, path);
	return 0;
}

/* Copies one binary out of the slot and says what it is made of. */
static int take_binary(struct building *b, const char *path, struct error *err)
{
	struct build_facts *f = &b->out->facts;
	auto_free char *to = xasprintf("%s/bin/%s", b->out->folder, path_basename(path));
	struct binary_fact one = {0};
	char hex[SHA256_HEX];

	if (!path_exists(path))
		return error_set(err, ERR_CONFIG,
			"%s:%d:%d: the %s build succeeded but left no '%s'\nexpected at: %s\nset "
			"build.binary to what the build makes",
			b->r->plan.file, b->r->plan.build.at.line, b->r->plan.build.at.column,
			b->name, path_basename(path), path);
	if (b->mode == MODE_PLAIN && cross_check_binary(b->r, path, err) < 0)
		return -1;
	if (wrap_binary_facts(&f->log, &b->wrap, path, &one, err) < 0) {
		auto_free char *why = err->code == ERR_GATE ? xstrdup(err->msg) : NULL;

		return why ? node_gate_no_link(b->r, f, b->slot, why, err) : -1;
	}
	array_reserve(f->binaries, f->n_binaries, f->cap_binaries);
	f->binaries[f->n_binaries++] = one;
	if (file_copy(path, to, 0755, err) < 0 || sha256_file(to, hex, err) < 0)
		return -1;
	free(f->binaries[f->n_binaries - 1].sha256);
	f->binaries[f->n_binaries - 1].sha256 = xstrdup(hex);
	return 0;
}

static bool is_released_as(const struct build_facts *f, const char *name)
{
	for (size_t i = 0; i < f->n_binaries; i++)
		if (strcmp(f->binaries[i].name, name) == 0)
			return true;
	return false;
}

/* Whether a binary needs this library by a name under which no binary lies. */
static bool is_missed(
	const struct build_facts *f, const struct elf_facts *elf, const struct elf_facts *library)
{
	if (!library->soname || is_released_as(f, library->soname))
		return false;
	for (size_t i = 0; i < f->n_binaries; i++)
		if (strv_has(&elf[i].needed, library->soname))
			return true;
	return false;
}

/* All binaries lie in one folder, each by the name that build.binary gives it. A library with a
 * version is needed by another name than its file's: it would not be found, or, worse, one that is
 * installed would be trained in its place. */
static int check_library_names(struct building *b, struct error *err)
{
	const struct build_facts *f = &b->out->facts;
	auto_free struct elf_facts *elf = xcalloc(f->n_binaries + 1, sizeof(*elf));
	int r = 0;

	for (size_t i = 0; i < f->n_binaries && r == 0; i++)
		r = elf_facts_read(f->binaries[i].path, &elf[i], err);
	for (size_t i = 0; i < f->n_binaries && r == 0; i++)
		if (is_missed(f, elf, &elf[i]))
			r = error_set(err, ERR_CONFIG,
				"%s:%d:%d: the library '%s' is needed by the name '%s', which is "
				"not beside the binaries\nname it so in build.binary: '%s' instead "
				"of '%s'; a link of that name will do",
				b->r->plan.file, b->r->plan.build.at.line,
				b->r->plan.build.at.column, f->binaries[i].name, elf[i].soname,
				elf[i].soname, f->binaries[i].name);
	for (size_t i = 0; i < f->n_binaries; i++)
		elf_facts_release(&elf[i]);
	return r;
}

/* What the build wished for and did not get is said, once for each. */
static void say_bypassed(struct building *b)
{
	const struct compile_log *l = &b->out->facts.log;

	for (size_t i = 0; i < l->n; i++) {
		const char *name = l->v[i].launcher;

		if (!name || !l->v[i].bypassed || strv_has(&b->r->bypassed, name))
			continue;
		strv_add(&b->r->bypassed, name);
		events_warning(b->r->o->events,
			"'%s' stands in front of the compilers and was bypassed: there it would "
			"not see what whet adds, and might give an object of another build (see "
			"docs/caches.md)",
			name);
	}
}

static int collect(struct building *b, int64_t start_ns, struct error *err)
{
	struct build_facts *f = &b->out->facts;
	struct outside_place place = {b->slot, b->build, b->log, b->state, b->pkg_config, start_ns};
	auto_free char *bin = path_join(b->out->folder, "bin");

	if (compile_log_read(b->log, &f->log, err) < 0 || dir_create(bin, 0755, err) < 0 ||
		tree_walk(b->quarantine, list_quarantine, &f->quarantine, err) < 0)
		return -1;
	for (size_t i = 0; i < b->steps.binaries.n; i++)
		if (take_binary(b, b->steps.binaries.v[i], err) < 0)
			return -1;
	if (check_library_names(b, err) < 0)
		return -1;
	say_bypassed(b);
	if (outside_collect(b->r, &place, &f->log, &b->out->outside, err) < 0)
		return -1;
	/* The optimised build is judged as a whole, with the other gates, if it has a profile. */
	return b->mode == MODE_OPTIMISED && has_profile(b->r) ? 0 : node_gate_objects(b->r, f, err);
}

/* One added word with the parts that differ from project to project named instead of written out.
 */
static char *general_word(const struct building *b, const char *word)
{
	const char *root = b->r->store.root, *at;

	if (strstr(word, "-Map="))
		return xstrndup(word, (size_t)(strstr(word, "-Map=") - word) + 5);
	at = strstr(word, root);
	return at ? xasprintf("%.*s{state}%s", (int)(at - word), word, at + strlen(root))
		  : xstrdup(word);
}

/* What whet added, as one list without repetitions. */
static void list_added(struct building *b)
{
	struct build_out *out = b->out;
	const struct compile_log *l = &out->facts.log;

	for (size_t i = 0; i < l->n; i++) {
		auto_strv struct strv general = STRV_INIT;
		auto_free char *words = NULL;

		b->r->wrapper_cpu_ns += l->v[i].own_cpu_ns;
		for (size_t j = 0; j < l->v[i].added.n; j++)
			strv_take(&general, general_word(b, l->v[i].added.v[j]));
		words = strv_join(&general, " ");
		if (*words && !strv_has(&out->added, words))
			strv_add(&out->added, words);
	}
	strv_sort(&out->added);
}

/* Whether sources and profile were what the node's key says, from its start to its end. */
static bool inputs_held(const struct building *b)
{
	const struct build_facts *f = &b->out->facts;
	const char *digest = b->r->sources.digest;

	if (strcmp(f->source_before, digest) != 0 || strcmp(f->source_after, digest) != 0)
		return false;
	return !f->profile_name ||
	       (f->profile_before && strcmp(f->profile_before, f->profile_name) == 0 &&
		       f->profile_after && strcmp(f->profile_after, f->profile_name) == 0);
}

/* A build whose inputs changed under it is judged by the gates, and never used again. Nor is one of
 * make: an object is current for it although its flags, or a header that the makefile does not
 * name, changed. cmake, meson and cargo look at both. */
static int keep_slot(struct building *b, struct error *err)
{
	if (inputs_held(b) && !b->touched && !buildtool_in_tree(b->r->plan.build.tool))
		return store_slot_end(&b->r->store, b->token, err);
	return tree_remove(b->slot, err);
}

static int commit_build(
	struct building *b, const struct node_key *k, uint64_t wall, struct error *err)
{
	auto_json json_t *record = json_object();
	auto_free char *facts = path_join(b->out->folder, "facts.json");

	list_added(b);
	if (!inputs_held(b) || b->touched)
		return 0;
	node_key_describe(k, record);
	json_set_text(record, "token", b->token);
	json_object_set_new(record, "wall_ns", json_integer((json_int_t)wall));
	json_object_set_new(record, "added", json_from_strv(&b->out->added));
	json_object_set(record, "outside", b->out->outside);
	json_set_text(record, "no_relinks", b->out->no_relinks);
	if (build_facts_write(&b->out->facts, facts, err) < 0 ||
		history_keep_sources(&b->r->store, &b->r->sources, err) < 0)
		return -1;
	return store_node_commit(&b->r->store, b->out->key, record, err);
}

/* The builds that follow have flags for what this one was seen to call. */
static int look_beside(struct building *b, struct error *err)
{
	return b->mode == MODE_PLAIN ? run_probe_beside(b->r, err) : 0;
}

static int do_build(struct building *b, const struct node_key *k, struct error *err)
{
	struct build_out *out = b->out;
	struct run *r = b->r;
	uint64_t start = clock_mono_ns();
	int64_t begun = (int64_t)clock_real_ns();

	out->facts.variant = xstrdup(b->name);
	out->token = xstrdup(b->token);
	if (digest_now(b, &out->facts.source_before, err) < 0 || prepare_slot(b, err) < 0 ||
		wrap_prepare(&b->wrap, err) < 0 || plan_steps(b, r->o->jobs, &b->steps, err) < 0 ||
		remove_binaries(b, err) < 0)
		return -1;
	if (b->meson_text && file_write_atomic(b->meson_file, b->meson_text, strlen(b->meson_text),
				     0644, err) < 0)
		return -1;
	note_profile(b, false);
	if (run_steps(b, err) < 0)
		return -1;
	note_profile(b, true);
	if (digest_after(b, err) < 0 ||
		store_node_begin(&r->store, out->key, &out->folder, err) < 0 ||
		collect(b, begun, err) < 0 || node_relink_take(out, &b->wrap, err) < 0 ||
		look_beside(b, err) < 0 || keep_slot(b, err) < 0)
		return -1;
	binary_paths(out);
	return commit_build(b, k, clock_mono_ns() - start, err);
}

/* What was compiled is not known when a source was touched: the build is done once more. Where one
 * is touched again, with the same content, the build does that itself (it generates it). */
static int do_build_surely(struct building *b, const struct node_key *k, struct error *err)
{
	struct run *r = b->r;

	b->out->key = xstrdup(k->hex);
	if (do_build(b, k, err) < 0)
		return -1;
	if (!b->touched || !inputs_held(b))
		return 0;
	events_note(r->o->events, "a source was written during the %s build: it is done again",
		b->name);
	build_out_release(b->out);
	build_steps_release(&b->steps);
	b->again = true;
	b->out->key = xstrdup(k->hex);
	return do_build(b, k, err);
}

int node_build(struct run *r, enum toolchain_mode mode, struct error *err)
{
	struct building b = {
		.r = r, .mode = mode, .name = name_of(r, mode), .out = out_of(r, mode)};
	auto_key struct node_key key = {0};
	int result = 0;

	set_paths(&b);
	if (run_order_counts(r, mode, &b.order, err) < 0) {
		building_release(&b);
		return -1;
	}
	set_wrap(&b);
	if (set_token(&b, err) < 0) {
		building_release(&b);
		return -1;
	}
	store_use(&r->store, "builds", b.token);
	build_key(&b, &key);
	if (!reuse(&b, &key)) {
		result = do_build_surely(&b, &key, err);
	} else {
		struct event e = {.kind = EVENT_NODE_REUSED, .name = b.name};

		events_emit(r->o->events, &e);
		r->reused = true;
		result = look_beside(&b, err);
	}
	if (result == 0 && b.out->no_relinks)
		events_warning(
			r->o->events, "no relinks of the %s build: %s", b.name, b.out->no_relinks);
	building_release(&b);
	return result;
}
