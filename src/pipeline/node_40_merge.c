/* Merge: raw profiles to the profile that is published, and one encoding of it for each compiler
 * that will read it. Or a given profile in their place. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "pipeline/gcc_profile.h"
#include "pipeline/run.h"
#include "pipeline/trained.h"
#include "pipeline/why.h"
#include "profile/profile.h"
#include "train/train.h"

/* In the published profile the sources' folder in the keys of local functions reads like this. */
#define SOURCE_MARK "{source}/"

char *run_source_prefix(const struct run *r)
{
	auto_free char *slot = store_path(&r->store, "slot/src/");

	return r->plan.build.tool == TOOL_CARGO ? xasprintf("%s/", r->source_root) : take_ptr(slot);
}

static int newest_llvm(const struct run *r)
{
	int newest = 0;

	for (size_t i = 0; i < r->n_compilers; i++)
		if (r->compilers[i].llvm > newest)
			newest = r->compilers[i].llvm;
	return newest;
}

struct adding {
	struct profile *profile;
};

static int add_raw(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	struct adding *a = ctx;
	auto_free char *full = path_join(root, path);
	size_t n = strlen(path);

	if (!S_ISREG(st->st_mode) || n < 8 || strcmp(path + n - 8, ".profraw") != 0)
		return 0;
	return profile_add_file(a->profile, full, 1, NULL, err);
}

/* Whether the program has counters of this kind. */
static bool has(const struct run *r, enum profile_kind kind)
{
	return run_main_of(r, kind) != NULL;
}

static int merge_llvm(struct run *r, const char *path, struct error *err)
{
	auto_free char *folder = store_node_folder(&r->store, r->track->train_key);
	auto_free char *raw = path_join(folder, "raw");
	auto_free char *prefix = run_source_prefix(r);
	auto_free char *phases = path_join(folder, TRAIN_PHASES);
	struct adding a = {profile_new()};
	int result;

	result = tree_walk(raw, add_raw, &a, err);
	if (result == 0)
		result = train_weigh(a.profile, &r->plan.train, &r->track->coverage, phases, err);
	if (result == 0)
		result = profile_rekey(a.profile, prefix, SOURCE_MARK, err);
	/* Counters put in after inlining stand beside those of the first round. */
	if (result == 0 && r->track->second)
		result = profile_add_file(a.profile, r->track->first.published, 1, NULL, err);
	if (result == 0)
		result = profile_write_indexed(
			a.profile, profile_version_for_llvm(newest_llvm(r)), path, err);
	profile_free(a.profile);
	return result;
}

/* The merges of all raw profiles, with keys that fit every folder. */
static int merge_raw(struct run *r, struct error *err)
{
	const char *llvm = run_published(r, PROFILE_LLVM), *gcc = run_published(r, PROFILE_GCC);

	if (llvm && merge_llvm(r, llvm, err) < 0)
		return -1;
	return gcc ? gcc_profile_publish(r, gcc, err) : 0;
}

static int note_function(
	void *ctx, const char *key, uint64_t hash, const uint64_t *counts, size_t n)
{
	struct profile_facts *f = ctx;
	struct profile_function one = {.key = xstrdup(key),
		.hash = hash,
		.second = f->context_sensitive && (hash & PROFILE_CONTEXT_SENSITIVE)};

	for (size_t i = 0; i < n; i++) {
		one.count += (double)counts[i];
		if (counts[i] > one.max_count)
			one.max_count = counts[i];
	}
	f->second_functions += one.second;
	f->second_executed += one.second && one.max_count;
	array_reserve(f->v, f->n, f->cap);
	f->v[f->n++] = one;
	return 0;
}

/* The published profile with the keys that this LLVM uses for sources on this machine. */
static int localise(struct run *r, int llvm, struct profile *p, struct error *err)
{
	auto_free char *prefix = run_source_prefix(r);

	if (profile_add_file(p, run_published(r, PROFILE_LLVM), 1, NULL, err) < 0 ||
		profile_rekey(p, SOURCE_MARK, prefix, err) < 0)
		return -1;
	return profile_rekey_for_llvm(p, llvm, err);
}

/* Writes the profile as one compiler can read it. A function that it does not find there is
 * compiled as without a profile; one whose counts are all zero is cold. */
static int encode(struct run *r, int llvm, char **ret, struct error *err)
{
	auto_free char *path = xasprintf("%s/encoded-%d.profdata", r->scratch, llvm);
	struct profile *p = profile_new();
	char sha[SHA256_HEX];
	int result;

	result = localise(r, llvm, p, err);
	if (result == 0 && run_pgo(r)->untrained == UNTRAINED_NEUTRAL)
		profile_drop_unexecuted(p);
	if (result == 0)
		result = profile_write_indexed(p, profile_version_for_llvm(llvm), path, err);
	if (result == 0)
		result = store_put_profile(&r->store, path, sha, ret, err);
	profile_free(p);
	return result;
}

/* One for each LLVM, and one for gcc. gcc: gets the facts of that; NULL. */
static int encode_all(struct run *r, struct profile_facts *gcc, struct error *err)
{
	if (has(r, PROFILE_GCC) && gcc_profile_localise(r, gcc, err) < 0)
		return -1;
	for (size_t i = 0; has(r, PROFILE_LLVM) && i < r->n_compilers; i++) {
		int llvm = r->compilers[i].llvm;

		for (size_t k = 0; k < i && !r->track->profiles[i]; k++)
			if (r->compilers[k].llvm == llvm)
				r->track->profiles[i] = xstrdup(r->track->profiles[k]);
		if (llvm && run_takes_part(r, &r->compilers[i]) && !r->track->profiles[i] &&
			encode(r, llvm, &r->track->profiles[i], err) < 0)
			return -1;
	}
	return 0;
}

/* Facts of LLVM's profile with the keys that the compilers here use. */
static int read_facts(struct run *r, struct profile_facts *f, struct error *err)
{
	struct profile *p = profile_new();
	struct profile_summary s = {0};
	int result = localise(r, run_main_of(r, PROFILE_LLVM)->llvm, p, err);

	if (result == 0) {
		profile_summary(p, &s);
		f->context_sensitive = s.context_sensitive;
		f->left_out = run_pgo(r)->untrained == UNTRAINED_NEUTRAL;
		profile_each(p, note_function, f);
		f->functions = s.functions - f->second_functions;
		f->executed = s.executed - f->second_executed;
		f->total_count = s.total_count;
	}
	profile_free(p);
	return result;
}

static int by_key_and_hash(const void *a, const void *b)
{
	const struct profile_function *x = a, *y = b;
	int c = strcmp(x->key, y->key);

	return c ? c : (x->hash > y->hash) - (x->hash < y->hash);
}

/* Takes gcc's. */
static void join_facts(struct run *r, struct profile_facts *gcc)
{
	struct profile_facts *f = &r->track->profile;

	for (size_t i = 0; i < gcc->n; i++) {
		array_reserve(f->v, f->n, f->cap);
		f->v[f->n++] = gcc->v[i];
	}
	if (has(r, PROFILE_LLVM)) {
		f->gcc_functions = gcc->functions;
		f->gcc_executed = gcc->executed;
	}
	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), by_key_and_hash);
	f->functions += gcc->functions;
	f->executed += gcc->executed;
	f->total_count += gcc->total_count;
	gcc->n = 0;
}

/* NULL: no git. */
static char *commit_text(const struct run *r)
{
	return r->commit ? xasprintf("%s%s", r->commit, r->dirty == PAST_DIRTY ? "-dirty" : "")
			 : NULL;
}

static void fill_provenance(struct run *r)
{
	char text[CLOCK_TEXT];

	clock_utc_text(clock_real_ns() / NS_PER_S, text);
	r->track->provenance.profile = xstrdup(r->track->profile.sha256);
	r->track->provenance.beside = xstrdup(r->track->profile.beside_sha256);
	r->track->provenance.source = xstrdup(r->sources.digest);
	r->track->provenance.training = xstrdup(r->plan.training_digest);
	r->track->provenance.target = xstrdup(r->plan.build.target);
	r->track->provenance.project = xstrdup(r->plan.project);
	r->track->provenance.created = xstrdup(text);
	r->track->provenance.commit = commit_text(r);
	for (size_t i = 0; i < r->n_compilers; i++)
		if (run_takes_part(r, &r->compilers[i]) &&
			!strv_has(&r->track->provenance.compilers, r->compilers[i].version))
			strv_add(&r->track->provenance.compilers, r->compilers[i].version);
	r->track->has_provenance = true;
}

/* Two trainings with one key differ in their counts: what is merged belongs to this one alone. */
static void key_training(struct run *r, struct node_key *key)
{
	auto_json json_t *trained = store_node_record(&r->store, r->track->train_key);
	auto_free char *when =
		xasprintf("%" PRIu64, (uint64_t)json_opt_int(trained, "finished_ns", 0));

	node_key_add(key, "train", r->track->train_key);
	node_key_add(key, "trained", when);
}

static void name_published(struct run *r, const char *folder)
{
	static const char *const names[] = {
		[PROFILE_LLVM] = "published.profdata",
		[PROFILE_GCC] = "published" GCC_PROFILE_ENDING,
	};
	enum profile_kind main = toolchain_profile_kind(run_main_compiler(r));

	r->track->published = path_join(folder, names[main]);
	if (r->beside)
		r->track->published_beside =
			path_join(folder, names[main == PROFILE_GCC ? PROFILE_LLVM : PROFILE_GCC]);
}

static int note_digests(struct run *r, struct error *err)
{
	struct track *t = r->track;
	char sha[SHA256_HEX];

	if (sha256_file(t->published, sha, err) < 0)
		return -1;
	t->profile.sha256 = xstrdup(sha);
	if (!t->published_beside)
		return 0;
	if (sha256_file(t->published_beside, sha, err) < 0)
		return -1;
	t->profile.beside_sha256 = xstrdup(sha);
	return 0;
}

/* A merge node's record names the published profile; its provenance lies beside it, so that a later
 * build with the same training publishes the same bytes. */
static int merge_trained(struct run *r, struct error *err)
{
	auto_json json_t *record = NULL;
	auto_free char *folder = NULL, *beside = NULL;
	auto_key struct node_key key = {0};

	node_key_begin(&key, "merge", round_variant(r));
	node_key_add(&key, "whet", WHET_VERSION);
	key_training(r, &key);
	if (r->track->second)
		node_key_add(&key, "first", r->track->first.profile.sha256);
	run_key_compilers(r, &key);
	if (r->beside)
		node_key_add(&key, "beside", r->beside->version);
	node_key_end(&key);
	record = store_node_record(&r->store, key.hex);
	folder = store_node_folder(&r->store, key.hex);
	if (record) {
		why_say_reused(r, record);
	} else {
		why_say_runs(r, &key);
		free(take_ptr(folder));
		if (store_node_begin(&r->store, key.hex, &folder, err) < 0)
			return -1;
	}
	name_published(r, folder);
	beside = path_join(folder, PROVENANCE_FILE);
	if (record) {
		r->track->has_provenance = true;
		if (note_digests(r, err) < 0)
			return -1;
		return provenance_read(beside, &r->track->provenance, err);
	}
	if (merge_raw(r, err) < 0 || note_digests(r, err) < 0)
		return -1;
	fill_provenance(r);
	record = json_pack("{s:s}", "profile", r->track->profile.sha256);
	node_key_describe(&key, record);
	if (provenance_write(&r->track->provenance, beside, err) < 0)
		return -1;
	return store_node_commit(&r->store, key.hex, record, err);
}

static int take_given(struct run *r, struct error *err)
{
	enum profile_kind main = toolchain_profile_kind(run_main_compiler(r));
	const char *own = given_of(r, main);
	const char *other = given_of(r, main == PROFILE_GCC ? PROFILE_LLVM : PROFILE_GCC);
	auto_free char *beside = xasprintf("%s.json", own ? own : r->given);

	why_say_because(r, "is left out: a profile was given");
	r->track->profile.given = true;
	r->track->profile.reused = r->last_profile;
	r->track->published = path_absolute(own ? own : r->given);
	if (r->beside)
		r->track->published_beside = path_absolute(other);
	if (note_digests(r, err) < 0)
		return -1;
	if (path_exists(beside)) {
		if (provenance_read(beside, &r->track->provenance, err) < 0)
			return -1;
		r->track->has_provenance = true;
	}
	/* Published again, it must not pass for one that was trained on these sources. */
	if (r->last_profile) {
		r->track->provenance.reused_source = xstrdup(r->sources.digest);
		r->track->provenance.reused_commit = commit_text(r);
	}
	return 0;
}

int node_encode(struct run *r, struct error *err)
{
	/* gcc's are the same for all: an option tells it what to do. */
	if (!has(r, PROFILE_LLVM))
		return 0;
	memset(r->track->profiles, 0, sizeof(r->track->profiles));
	r->track->own_profiles = true;
	r->track->profile.left_out = run_pgo(r)->untrained == UNTRAINED_NEUTRAL;
	return encode_all(r, NULL, err);
}

/* A given profile has what the plan asks for. */
static int check_given(const struct run *r, struct error *err)
{
	if (!r->given || r->track->profile.context_sensitive || !r->plan.pgo.context_sensitive)
		return 0;
	return error_set(err, ERR_CONFIG,
		"the given profile '%s' has no counters put in after inlining, for which "
		"pgo.context-sensitive asks: give one that was trained with it, or leave the key "
		"out",
		r->given);
}

int node_merge(struct run *r, struct error *err)
{
	struct profile_facts gcc = {0};
	int result = r->given ? take_given(r, err) : merge_trained(r, err);

	if (result == 0)
		result = encode_all(r, &gcc, err);
	if (result == 0 && has(r, PROFILE_LLVM))
		result = read_facts(r, &r->track->profile, err);
	if (result == 0)
		join_facts(r, &gcc);
	profile_facts_release(&gcc);
	if (result < 0 || check_given(r, err) < 0)
		return -1;
	return node_gate(r, GATE_AFTER_MERGE, err);
}
