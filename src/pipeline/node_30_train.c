/* Train: the instrumented binary under the plan's load; raw profiles and evidence. Commits as one
 * set or not at all. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "elf/elf_facts.h"
#include "pipeline/cross.h"
#include "pipeline/gcc_profile.h"
#include "pipeline/run.h"
#include "pipeline/why.h"
#include "train/train.h"

#define COVERAGE "coverage.json"

/* Asked once in a run, so that training and replay have the same answer. */
static int ask_conditions(struct run *r, struct error *err)
{
	auto_free char *folder = path_join(r->scratch, "conditions");
	auto_free char *bin = path_join(folder, "bin");
	auto_strv struct strv binaries = STRV_INIT;
	const struct build_out *asked =
		r->track->instrumented.binaries.n ? &r->track->instrumented : &r->track->optimised;
	struct train_options o = {
		.plan = &r->plan,
		.binaries = cross_emulator(r) ? &binaries : &asked->binaries,
		.folder = folder,
		.self = r->o->self,
	};

	if (r->conditions.n)
		return 0;
	if ((cross_emulator(r) && cross_place(r, &asked->binaries, bin, &binaries, err) < 0) ||
		train_conditions(&o, &r->conditions, err) < 0)
		return -1;
	return tree_remove(folder, err);
}

int node_key_training(struct run *r, struct node_key *k, struct error *err)
{
	auto_free char *answers = NULL;

	if (ask_conditions(r, err) < 0)
		return -1;
	answers = strv_join(&r->conditions, "\n");
	node_key_add(k, "training", r->plan.training_digest);
	node_key_add(k, "conditions", answers);
	if (cross_emulator(r)) {
		auto_free char *words = strv_shell_quote(&r->emulator.words);

		node_key_add(k, "emulator", r->emulator.name);
		node_key_add(k, "emulator's command", words);
	}
	run_key_environment(k);
	return 0;
}

static const char *training_name(const struct run *r)
{
	return r->track->second ? "second training" : "training";
}

static int train_key(struct run *r, struct node_key *k, struct error *err)
{
	int result;

	node_key_begin(k, "train", round_variant(r));
	node_key_add(k, "whet", WHET_VERSION);
	result = node_key_training(r, k, err);
	node_key_add(k, "instrumented", r->track->instrumented.key);
	for (size_t i = 0; i < r->track->instrumented.facts.n_binaries; i++) {
		const struct binary_fact *b = &r->track->instrumented.facts.binaries[i];

		node_key_add_entry(k, "binaries", b->name, b->sha256);
	}
	node_key_end(k);
	return result;
}

/* The names sections of the instrumented images: what a raw profile of theirs must carry. images:
 * of each the index of its binary. */
static int instrumented_names(struct run *r, struct strv *ret, size_t *images, struct error *err)
{
	for (size_t i = 0; i < r->track->instrumented.binaries.n; i++) {
		const char *path = r->track->instrumented.binaries.v[i];
		struct elf_facts f = {0};

		if (elf_facts_read(path, &f, err) < 0)
			return -1;
		images[ret->n] = i;
		if (f.names_sha256)
			strv_add(ret, f.names_sha256);
		elf_facts_release(&f);
	}
	return ret->n || run_main_compiler(r)->family == FAMILY_GCC
		       ? 0
		       : node_gate_nothing_instrumented(r, err);
}

static int copy_raw(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	auto_free char *from = path_join(root, path);
	auto_free char *to = path_join(ctx, path);

	if (S_ISDIR(st->st_mode))
		return dir_create(to, 0755, err);
	return S_ISREG(st->st_mode) ? file_copy(from, to, 0644, err) : 0;
}

static bool reuse(struct run *r, const struct node_key *k)
{
	const char *key = k->hex;
	struct error ignored = ERROR_INIT;
	auto_json json_t *record = store_node_record(&r->store, key);
	auto_free char *folder = store_node_folder(&r->store, key);
	auto_free char *facts = path_join(folder, "facts.json");
	auto_free char *coverage = path_join(folder, COVERAGE);
	struct event e = {.kind = EVENT_NODE_REUSED, .name = training_name(r)};
	bool ok = record && training_facts_read(facts, &r->track->training, &ignored) == 0 &&
		  coverage_facts_read(coverage, &r->track->coverage, &ignored) == 0;

	error_release(&ignored);
	r->track->has_coverage = ok;
	if (ok) {
		events_emit(r->o->events, &e);
		why_say_reused(r, record);
	} else {
		training_facts_release(&r->track->training);
		why_say_runs(r, k);
	}
	return ok;
}

/* phases: what each phase counted; absent when it is not kept. */
static int commit(struct run *r, const struct node_key *k, const char *profiles, const char *phases,
	uint64_t wall, struct error *err)
{
	auto_json json_t *record = json_object();
	auto_free char *folder = NULL, *facts = NULL, *raw = NULL, *coverage = NULL, *kept = NULL;

	if (store_node_begin(&r->store, r->track->train_key, &folder, err) < 0)
		return -1;
	facts = path_join(folder, "facts.json");
	raw = path_join(folder, "raw");
	coverage = path_join(folder, COVERAGE);
	kept = path_join(folder, TRAIN_PHASES);
	node_key_describe(k, record);
	json_object_set_new(record, "wall_ns", json_integer((json_int_t)wall));
	if (dir_create(raw, 0755, err) < 0 || tree_walk(profiles, copy_raw, raw, err) < 0 ||
		training_facts_write(&r->track->training, facts, err) < 0 ||
		coverage_facts_write(&r->track->coverage, coverage, err) < 0)
		return -1;
	if (path_exists(phases) &&
		(dir_create(kept, 0755, err) < 0 || tree_walk(phases, copy_raw, kept, err) < 0))
		return -1;
	return store_node_commit(&r->store, r->track->train_key, record, err);
}

/* What tells the profiles of the instrumented binaries from those of other programs. */
struct images {
	struct strv names;    /* LLVM's */
	struct strv *gcov;    /* gcc's */
	const char **gcov_of; /* of each of these, the names of the same image; NULL: it has none */
	size_t n_gcov;
};

static void images_release(struct images *i)
{
	strv_release(&i->names);
	for (size_t k = 0; k < i->n_gcov; k++)
		strv_release(&i->gcov[k]);
	free(i->gcov);
	free(i->gcov_of);
}

static int known_images(struct run *r, struct images *ret, struct error *err)
{
	size_t n = r->track->instrumented.binaries.n;
	auto_free size_t *names = xcalloc(n + 1, sizeof(*names));
	auto_free size_t *gcov = xcalloc(n + 1, sizeof(*gcov));

	if (run_main_of(r, PROFILE_LLVM) && instrumented_names(r, &ret->names, names, err) < 0)
		return -1;
	if (!run_main_of(r, PROFILE_GCC))
		return 0;
	if (gcc_profile_objects(r, &ret->gcov, gcov, &ret->n_gcov, err) < 0)
		return -1;
	ret->gcov_of = xcalloc(n + 1, sizeof(*ret->gcov_of));
	for (size_t i = 0; i < ret->n_gcov; i++)
		for (size_t k = 0; k < ret->names.n; k++)
			if (names[k] == gcov[i])
				ret->gcov_of[i] = ret->names.v[k];
	return 0;
}

static int train_images(
	struct run *r, const struct node_key *k, const struct images *images, struct error *err)
{
	auto_free char *folder = run_track_scratch(r, "train");
	auto_free char *bin = run_track_scratch(r, "instrumented");
	auto_free char *profiles = run_track_scratch(r, "profiles");
	auto_free char *proof = run_track_scratch(r, "proof");
	auto_free char *phases = run_track_scratch(r, TRAIN_PHASES);
	auto_free char *sources = run_source_prefix(r);
	auto_strv struct strv binaries = STRV_INIT;
	uint64_t start = clock_mono_ns();
	struct train_options o = {
		.plan = &r->plan,
		.binaries = &binaries,
		.folder = folder,
		.profiles = profiles,
		.self = r->o->self,
		.events = r->o->events,
		.node = training_name(r),
		.names_sha256 = &images->names,
		.gcov = images->gcov,
		.gcov_of = images->gcov_of,
		.n_gcov = images->n_gcov,
		.emulator = cross_emulator(r),
	};
	struct train_options prove = o;

	prove.folder = proof;
	o.coverage = &r->track->coverage;
	o.sources = sources;
	o.phase_profiles = train_is_weighted(&r->plan.train) ? phases : NULL;
	if (cross_place(r, &r->track->instrumented.binaries, bin, &binaries, err) < 0 ||
		dir_create(folder, 0711, err) < 0 || dir_create(profiles, 0711, err) < 0 ||
		dir_create(proof, 0711, err) < 0 || train_prove(&prove, err) < 0)
		return -1;
	/* Nothing of the proof may be left among the profiles. */
	if (tree_remove(profiles, err) < 0 || dir_create(profiles, 0711, err) < 0 ||
		train_run(&o, &r->track->training, err) < 0)
		return -1;
	r->track->has_coverage = true;
	run_note_driver(r, &r->track->training);
	if (node_gate(r, GATE_AFTER_TRAINING, err) < 0)
		return -1;
	return commit(r, k, profiles, phases, clock_mono_ns() - start, err);
}

static int train_fresh(struct run *r, const struct node_key *k, struct error *err)
{
	struct images images = {0};
	int result = known_images(r, &images, err);

	if (result == 0)
		result = train_images(r, k, &images, err);
	images_release(&images);
	return result;
}

int node_train(struct run *r, struct error *err)
{
	auto_key struct node_key key = {0};

	if (train_key(r, &key, err) < 0)
		return -1;
	r->track->train_key = xstrdup(key.hex);
	r->reused = reuse(r, &key);
	if (r->reused)
		return node_gate(r, GATE_AFTER_TRAINING, err);
	return train_fresh(r, &key, err);
}
