/* The training load with counters of the post-link optimiser's in the program. Each launch counts
 * into a folder of its own, and must leave what it counted. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "pipeline/layout.h"
#include "pipeline/why.h"
#include "train/train.h"

#define INSTRUMENT_TIMEOUT_NS (900 * NS_PER_S)
#define COUNTS                                                                                     \
	"counts" /* prefix of the profiles in a launch's folder; behind it the binary's number */
/* Left by whet in a launch's folder. */
#define MARK_PID "service"
#define MARK_STOPPING "stopping"

struct counting {
	struct run *r;
	const struct strv *inputs;
	char *folder, *bin, *launches;
	struct strv binaries; /* {binary}: what is aimed before each launch */
};

static const char *const dump_names[] = {
	[LAYOUT_DUMP_SHARED] = "shared",
	[LAYOUT_DUMP_WATCHED] = "watched",
	[LAYOUT_DUMP_PROCESS] = "process",
};

/* "edge" and "edge#2" are launches of one service. */
static bool is_launch_of(const char *launch, const char *name)
{
	size_t n = strcspn(name, "#");

	return strncmp(launch, name, n) == 0 && (!launch[n] || launch[n] == '#');
}

/* By how the processes of the first training ended: one that a signal ended writes nothing itself,
 * and programs that are started anew in a launch would overwrite each other's file. */
static enum layout_dump dump_of(const struct run *r, const char *launch, bool service)
{
	const struct training_facts *t = &r->track->training;
	bool killed = false;
	size_t started = 0;

	if (!service)
		return LAYOUT_DUMP_PROCESS;
	for (size_t i = 0; i < t->n_processes; i++) {
		const struct process_evidence *p = &t->processes[i];

		if (!is_launch_of(p->launch, launch))
			continue;
		started += !strcmp(p->launch, launch) && p->origin == PROCESS_STARTED && !p->exec;
		killed = killed || (p->origin == PROCESS_STARTED && (p->snapshot || p->signal));
	}
	return killed        ? LAYOUT_DUMP_WATCHED
	       : started > 1 ? LAYOUT_DUMP_PROCESS
			     : LAYOUT_DUMP_SHARED;
}

static int instrument(
	struct counting *c, size_t i, enum layout_dump dump, char **ret, struct error *err)
{
	const char *input = c->inputs->v[i];
	auto_free char *folder = path_join(c->folder, dump_names[dump]);
	auto_free char *out = path_join(folder, path_basename(input));
	auto_free char *log = xasprintf("%s.log", out);
	auto_free char *prefix = xasprintf("%s/" COUNTS "-%zu", c->launches, i);
	struct layout_instrument o = {
		.binary = input,
		.out = out,
		.prefix = prefix,
		.dump = dump,
		.log = log,
		.timeout_ns = INSTRUMENT_TIMEOUT_NS,
	};

	if (!path_exists(out) && (dir_create(folder, 0755, err) < 0 ||
					 layout_instrument(&c->r->layout_tool, &o, err) < 0))
		return -1;
	*ret = take_ptr(out);
	return 0;
}

static int before_launch(void *ctx, const char *launch, bool service, struct error *err)
{
	struct counting *c = ctx;
	auto_free char *folder = path_join(c->launches, launch);

	/* The programs may run under another user. */
	if (dir_create(folder, 0755, err) < 0 || chmod(folder, 01777) < 0)
		return error_set(err, ERR_IO, "cannot make '%s'", folder);
	for (size_t i = 0; i < c->inputs->n; i++) {
		auto_free char *from = NULL;
		auto_free char *fresh = xasprintf("%s.new", c->binaries.v[i]);
		auto_free char *prefix = xasprintf("%s/" COUNTS "-%zu", folder, i);

		if (instrument(c, i, dump_of(c->r, launch, service), &from, err) < 0 ||
			layout_aim(from, fresh, prefix, err) < 0 ||
			file_rename(fresh, c->binaries.v[i], err) < 0)
			return -1;
	}
	return 0;
}

static int mark(const struct counting *c, const char *launch, const char *name, const char *text,
	struct error *err)
{
	auto_free char *path = xasprintf("%s/%s/%s", c->launches, launch, name);

	return file_write_atomic(path, text, strlen(text), 0644, err);
}

static int service_started(void *ctx, const char *launch, pid_t pid, struct error *err)
{
	auto_free char *text = xasprintf("%d", (int)pid);

	return mark(ctx, launch, MARK_PID, text, err);
}

static int service_stopping(void *ctx, const char *launch, struct error *err)
{
	return mark(ctx, launch, MARK_STOPPING, "", err);
}

/* ---- what was left --------------------------------------------------------------------------- */

static bool is_older(const char *path, const char *than)
{
	struct stat a, b;

	if (stat(path, &a) < 0 || stat(than, &b) < 0)
		return false;
	return a.st_mtim.tv_sec != b.st_mtim.tv_sec ? a.st_mtim.tv_sec < b.st_mtim.tv_sec
						    : a.st_mtim.tv_nsec < b.st_mtim.tv_nsec;
}

static char *pid_of(const struct counting *c, const char *launch)
{
	auto_free char *path = xasprintf("%s/%s/" MARK_PID, c->launches, launch);
	auto_buf struct buf b = BUF_INIT;

	if (!path_exists(path) || file_read(path, 64, &b, NULL) < 0)
		return xasprintf("launch '%s'", launch);
	return xasprintf("process %s (launch '%s')", buf_str(&b), launch);
}

/* Every file must be whole, and that of a service be written after it was told to stop. */
static int judge_files(const struct counting *c, const char *launch,
	const struct layout_files *files, struct strv *ret, struct error *err)
{
	auto_free char *stopping = xasprintf("%s/%s/" MARK_STOPPING, c->launches, launch);
	auto_free char *who = pid_of(c, launch);
	bool late = files->n == 0 || !path_exists(stopping);

	for (size_t k = 0; k < files->n; k++) {
		const struct layout_file *f = &files->v[k];

		if (f->state != LAYOUT_VALID)
			return error_set(err, ERR_GATE,
				"the training for the layout left a profile that is %s: '%s'%s%s, "
				"written by %s",
				layout_state_name(f->state), path_basename(f->path),
				f->problem ? ": " : "", f->problem ? f->problem : "", who);
		late = late || !is_older(f->path, stopping);
		strv_add(ret, f->path);
	}
	if (!late)
		return error_set(err, ERR_GATE,
			"%s wrote what it counted before it was told to stop, and not again: what "
			"it "
			"counted later is lost; let it end by exit() or a return from main on its "
			"stop signal",
			who);
	return 0;
}

/* The files of one binary; *n: those of the launch that ran it. */
static int collect_one(
	struct counting *c, const char *launch, size_t i, struct strv *ret, struct error *err)
{
	auto_free char *prefix = xasprintf("%s/%s/" COUNTS "-%zu", c->launches, launch, i);
	struct layout_files files = {0};
	int result = layout_collect(prefix, c->inputs->v[i], &files, err);

	if (result == 0)
		result = judge_files(c, launch, &files, ret, err);
	layout_files_release(&files);
	return result;
}

static int list_launch(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	if (S_ISDIR(st->st_mode) && !strchr(path, '/'))
		strv_add(ctx, path);
	return 0;
}

/* files: of each binary. */
static int collect_all(struct counting *c, struct strv *files, struct error *err)
{
	auto_strv struct strv launches = STRV_INIT;

	if (tree_walk(c->launches, list_launch, &launches, err) < 0)
		return -1;
	for (size_t k = 0; k < launches.n; k++) {
		size_t before = 0, after = 0;

		for (size_t i = 0; i < c->inputs->n; i++) {
			before += files[i].n;
			if (collect_one(c, launches.v[k], i, &files[i], err) < 0)
				return -1;
			after += files[i].n;
		}
		if (after == before) {
			auto_free char *who = pid_of(c, launches.v[k]);

			return error_set(err, ERR_GATE,
				"%s left no profile for the layout: it did not end by exit() or a "
				"return from main, or could not write to its folder",
				who);
		}
	}
	return 0;
}

/* ---- the node -------------------------------------------------------------------------------- */

static int train_key(
	struct run *r, const struct strv *inputs, struct node_key *k, struct error *err)
{
	int result;

	node_key_begin(k, "layout training", run_variant_name(r->track));
	node_key_add(k, "whet", WHET_VERSION);
	result = node_key_training(r, k, err);
	node_key_add(k, "tool", r->layout_tool.version);
	for (size_t i = 0; i < inputs->n; i++) {
		char hex[SHA256_HEX] = "";

		sha256_file(inputs->v[i], hex, NULL);
		node_key_add_entry(k, "binaries", path_basename(inputs->v[i]), hex);
	}
	node_key_end(k);
	return result;
}

static char *profile_path(const char *folder, const char *binary)
{
	return xasprintf("%s/%s" LAYOUT_SUFFIX, folder, path_basename(binary));
}

static char *facts_path(const char *folder, const char *binary)
{
	return xasprintf("%s/%s" LAYOUT_PROVENANCE, folder, path_basename(binary));
}

/* The first deviation of the load, as a message; NULL: none. */
static char *deviation(const struct training_facts *t)
{
	for (size_t i = 0; i < t->n_phases; i++)
		if (t->phases[i].status != PHASE_OK && t->phases[i].status != PHASE_SKIPPED)
			return xasprintf("phase '%s': %s", t->phases[i].name,
				t->phases[i].problem ? t->phases[i].problem
						     : phase_status_name(t->phases[i].status));
	return t->failure ? xstrdup(t->failure) : NULL;
}

static int run_load(struct counting *c, struct error *err)
{
	struct run *r = c->r;
	struct train_aim aim = {before_launch, service_started, service_stopping, c};
	auto_free char *folder = path_join(c->folder, "train");
	struct training_facts facts = {0};
	struct train_options o = {
		.plan = &r->plan,
		.binaries = &c->binaries,
		.folder = folder,
		.self = r->o->self,
		.events = r->o->events,
		.node = "layout training",
		.training = &r->track->training,
		.aim = &aim,
	};
	auto_free char *why = NULL;
	int result = dir_create(folder, 0711, err);

	if (result == 0)
		result = train_run(&o, &facts, err);
	if (result < 0)
		return -1;
	run_note_driver(r, &facts);
	why = deviation(&facts);
	training_facts_release(&facts);
	if (why)
		return error_set(err, ERR_GATE, "the training for the layout failed: %s", why);
	return 0;
}

static int keep(struct counting *c, const struct node_key *k, struct strv *files, uint64_t start,
	struct strv *profiles, struct error *err)
{
	struct run *r = c->r;
	auto_json json_t *record = json_object();
	auto_free char *folder = NULL;

	if (store_node_begin(&r->store, k->hex, &folder, err) < 0)
		return -1;
	for (size_t i = 0; i < c->inputs->n; i++) {
		struct layout_facts *f = &r->track->layouts[i];
		char *path = profile_path(folder, c->inputs->v[i]);
		auto_free char *facts = facts_path(folder, c->inputs->v[i]);

		strv_take(profiles, path);
		if (layout_merge(&files[i], c->inputs->v[i], path, &f->profile, err) < 0 ||
			layout_facts_write(f, facts, err) < 0)
			return -1;
	}
	node_key_describe(k, record);
	json_object_set_new(record, "wall_ns", json_integer((json_int_t)(clock_mono_ns() - start)));
	return store_node_commit(&r->store, k->hex, record, err);
}

static int train_fresh(struct run *r, const struct node_key *k, const struct strv *inputs,
	struct strv *profiles, struct error *err)
{
	struct counting c = {.r = r, .inputs = inputs, .folder = run_track_scratch(r, "layout")};
	struct strv *files = xcalloc(inputs->n + 1, sizeof(*files));
	uint64_t start = clock_mono_ns();
	int result;

	c.bin = path_join(c.folder, "bin");
	c.launches = path_join(c.folder, "launches");
	for (size_t i = 0; i < inputs->n; i++)
		strv_addf(&c.binaries, "%s/%s", c.bin, path_basename(inputs->v[i]));
	result = dir_create(c.folder, 0711, err);
	if (result == 0)
		result = dir_create(c.bin, 0755, err);
	if (result == 0)
		result = dir_create(c.launches, 0711, err);
	for (size_t i = 0; i < inputs->n && result == 0; i++)
		result = file_copy(inputs->v[i], c.binaries.v[i], 0755, err);
	if (result == 0)
		result = run_load(&c, err);
	if (result == 0)
		result = collect_all(&c, files, err);
	if (result == 0)
		result = keep(&c, k, files, start, profiles, err);
	for (size_t i = 0; i < inputs->n; i++)
		strv_release(&files[i]);
	free(files);
	strv_release(&c.binaries);
	free(c.folder);
	free(c.bin);
	free(c.launches);
	return result;
}

static bool reuse(
	struct run *r, const struct node_key *k, const struct strv *inputs, struct strv *profiles)
{
	auto_json json_t *record = store_node_record(&r->store, k->hex);
	auto_free char *folder = store_node_folder(&r->store, k->hex);

	for (size_t i = 0; record && i < inputs->n; i++) {
		auto_free char *path = facts_path(folder, inputs->v[i]);
		struct layout_facts f = {0};

		if (layout_facts_read(path, &f, NULL) < 0)
			return false;
		layout_facts_release(&r->track->layouts[i]);
		r->track->layouts[i] = f;
		strv_take(profiles, profile_path(folder, inputs->v[i]));
	}
	return record != NULL;
}

int layout_train(struct run *r, const struct strv *inputs, struct strv *profiles, struct error *err)
{
	auto_key struct node_key key = {0};

	if (train_key(r, inputs, &key, err) < 0)
		return -1;
	free(r->track->layout_key);
	r->track->layout_key = xstrdup(key.hex);
	if (reuse(r, &key, inputs, profiles))
		return 0;
	strv_release(profiles);
	why_say_runs(r, &key);
	return train_fresh(r, &key, inputs, profiles, err);
}
