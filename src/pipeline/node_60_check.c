/* Check: the files that ship, after strip, are what is judged: facts of the ELF files, and the
 * whole training load once more. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "elf/elf_facts.h"
#include "pipeline/cross.h"
#include "pipeline/run.h"
#include "pipeline/why.h"
#include "release/release.h"
#include "train/train.h"

int run_ship(struct run *r, const char *name, const struct strv *files, struct strv *ret,
	struct error *err)
{
	auto_free char *folder = path_join(r->scratch, name);
	auto_free char *strip =
		r->target.foreign ? toolchain_binutil(r->target.gnu, 0, "strip", getenv("PATH"))
				  : xstrdup(r->strip);

	if (dir_create(folder, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < files->n; i++) {
		auto_free char *to = path_join(folder, path_basename(files->v[i]));

		if (r->plan.release.strip ? release_strip(files->v[i], to, strip, err) < 0
					  : file_copy(files->v[i], to, 0755, err) < 0)
			return -1;
		strv_add(ret, to);
	}
	return 0;
}

static int ship(struct run *r, struct build_out *b, struct error *err)
{
	bool plain = b == &r->plain;
	auto_free char *name =
		xasprintf("ship-%s", plain               ? PLAN_PLAIN
				     : r->track->variant ? r->track->variant->file_name
							 : PLAN_OWN);
	int result;

	/* The plain one ships once, whatever is compared with it. */
	if (b->shipped.n)
		return 0;
	r->strip = NULL;
	if (!plain && r->track->base && r->plan.release.strip &&
		layout_strip_program(&r->layout_tool, &r->strip, err) < 0)
		return -1;
	result = run_ship(r, name, &b->binaries, &b->shipped, err);
	r->strip = NULL;
	return result;
}

static int read_final_facts(struct run *r, struct error *err)
{
	const struct strv *files = &r->track->optimised.shipped;

	r->track->final_facts = xcalloc(files->n, sizeof(*r->track->final_facts));
	r->track->final_names = xcalloc(files->n, sizeof(*r->track->final_names));
	for (size_t i = 0; i < files->n; i++) {
		if (elf_facts_read(files->v[i], &r->track->final_facts[i], err) < 0)
			return -1;
		r->track->final_names[i] = path_basename(files->v[i]);
		r->track->n_final = i + 1;
	}
	return 0;
}

static int replay_key(struct run *r, struct node_key *k, struct error *err)
{
	int result;

	node_key_begin(k, "replay", r->track->variant ? r->track->variant->name : "");
	node_key_add(k, "whet", WHET_VERSION);
	result = node_key_training(r, k, err);
	for (size_t i = 0; i < r->track->optimised.shipped.n; i++) {
		const char *path = r->track->optimised.shipped.v[i];
		char file[SHA256_HEX] = "";

		sha256_file(path, file, NULL);
		node_key_add_entry(k, "binaries", path_basename(path), file);
	}
	final_key(r, k);
	node_key_end(k);
	return result;
}

static int replay_fresh(struct run *r, const struct node_key *k, struct error *err)
{
	auto_free char *folder = run_track_scratch(r, "replay");
	auto_json json_t *record = NULL;
	auto_free char *node = NULL, *facts = NULL;
	auto_free char *bin = path_join(r->scratch, "replayed");
	const struct strv *shipped = &r->track->optimised.shipped;
	auto_strv struct strv binaries = STRV_INIT;
	struct train_options o = {
		.plan = &r->plan,
		.binaries = cross_emulator(r) ? &binaries : shipped,
		.emulator = cross_emulator(r),
		.folder = folder,
		.self = r->o->self,
		.events = r->o->events,
		.node = "check",
		.training = &r->track->training,
	};

	if (cross_emulator(r) && cross_place(r, shipped, bin, &binaries, err) < 0)
		return -1;
	if (dir_create(folder, 0711, err) < 0 || train_run(&o, &r->track->replay, err) < 0 ||
		final_prove(r, err) < 0)
		return -1;
	run_note_driver(r, &r->track->replay);
	if (node_gate(r, GATE_FINAL, err) < 0 ||
		store_node_begin(&r->store, k->hex, &node, err) < 0)
		return -1;
	facts = path_join(node, "facts.json");
	if (training_facts_write(&r->track->replay, facts, err) < 0 || final_keep(r, node, err) < 0)
		return -1;
	record = json_object();
	node_key_describe(k, record);
	return store_node_commit(&r->store, k->hex, record, err);
}

int node_check(struct run *r, struct error *err)
{
	auto_json json_t *record = NULL;
	auto_free char *folder = NULL, *facts = NULL;
	auto_key struct node_key key = {0};

	if (ship(r, &r->plain, err) < 0 || ship(r, &r->track->optimised, err) < 0 ||
		read_final_facts(r, err) < 0 || final_read(r, err) < 0)
		return -1;
	if (replay_key(r, &key, err) < 0)
		return -1;
	record = store_node_record(&r->store, key.hex);
	if (!record) {
		why_say_runs(r, &key);
		return replay_fresh(r, &key, err);
	}
	why_say_reused(r, record);
	folder = store_node_folder(&r->store, key.hex);
	facts = path_join(folder, "facts.json");
	if (training_facts_read(facts, &r->track->replay, err) < 0 ||
		final_recall(r, folder, err) < 0)
		return -1;
	return node_gate(r, GATE_FINAL, err);
}
