/* What is told of the files that ship beside their replay: what unwinding needs, what strip did,
 * and the plan's own proof (gates: unwind:). */
#include "pipeline/final.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "elf/elf_strip.h"
#include "elf/elf_unwind.h"
#include "pipeline/cross.h"
#include "pipeline/run.h"

#define PROOF_TIMEOUT_NS (300 * NS_PER_S)
#define PROOF_LINES 20
#define PROOF_FILE "unwind.json"

void final_release(struct final *f)
{
	for (size_t i = 0; i < f->n; i++) {
		unwind_facts_release(&f->unwind[i]);
		unwind_facts_release(&f->before[i]);
		strip_facts_release(&f->strips[i]);
	}
	free(f->unwind);
	free(f->before);
	free(f->strips);
	unwind_proof_release(&f->proof);
	strv_release(&f->unlaid);
	memset(f, 0, sizeof(*f));
}

const struct strv *final_before(const struct run *r)
{
	return r->track->final.unlaid.n ? &r->track->final.unlaid : &r->plain.binaries;
}

int final_read(struct run *r, struct error *err)
{
	struct final *f = &r->track->final;
	const struct build_out *b = &r->track->optimised;
	const struct strv *before = final_before(r);

	f->unwind = xcalloc(b->binaries.n, sizeof(*f->unwind));
	f->before = xcalloc(b->binaries.n, sizeof(*f->before));
	f->strips = xcalloc(b->binaries.n, sizeof(*f->strips));
	f->n = b->binaries.n;
	for (size_t i = 0; i < f->n; i++) {
		if (elf_unwind_read(b->binaries.v[i], &f->unwind[i], err) < 0 ||
			elf_unwind_read(before->v[i], &f->before[i], err) < 0)
			return -1;
		if (r->plan.release.strip && elf_strip_compare(b->binaries.v[i], b->shipped.v[i],
						     &f->strips[i], err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the plan's own proof ------------------------------------------------------------------ */

/* Both builds run at the same path, so that what a program says of itself is the same. */
static int place(struct run *r, const struct strv *files, const char *folder, struct strv *ret,
	struct error *err)
{
	if (tree_remove(folder, err) < 0)
		return -1;
	if (cross_emulator(r))
		return cross_place(r, files, folder, ret, err);
	if (dir_create(folder, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < files->n; i++) {
		char *to = path_join(folder, path_basename(files->v[i]));

		strv_take(ret, to);
		if (file_copy(files->v[i], to, 0755, err) < 0)
			return -1;
	}
	return 0;
}

static int expand(
	struct run *r, const struct strv *binaries, const char *work, char **ret, struct error *err)
{
	auto_strv struct strv vars = STRV_INIT;

	env_set(&vars, "work", work);
	env_set(&vars, "binary", binaries->v[0]);
	for (size_t i = 0; i < binaries->n; i++) {
		auto_free char *name =
			xasprintf("binary.%s", path_basename(r->plan.build.binary.v[i]));

		env_set(&vars, name, binaries->v[i]);
	}
	return plan_expand(r->plan.gates.unwind, &vars, ret, err);
}

static int start(
	struct run *r, char *command, const char *output, struct unwind_run *ret, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;
	auto_close int out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct error own = ERROR_INIT;
	struct proc_exit end;

	if (out < 0)
		return file_error(err, "write", output);
	strv_add(&argv, "/bin/sh");
	strv_add(&argv, "-c");
	strv_add(&argv, command);
	o.argv = &argv;
	o.cwd = r->plan.root;
	o.out_fd = out;
	if (proc_run(&o, PROOF_TIMEOUT_NS, &end, &own) == 0) {
		ret->end = proc_exit_text(&end);
		ret->passed = end.code == 0;
		return 0;
	}
	if (own.code != ERR_TIMEOUT)
		return error_move(err, &own);
	ret->end = xasprintf("no end within %.0f s", (double)PROOF_TIMEOUT_NS / NS_PER_S);
	error_release(&own);
	return 0;
}

static int prove_with(struct run *r, const struct strv *files, const char *folder,
	struct unwind_run *ret, struct error *err)
{
	auto_strv struct strv binaries = STRV_INIT;
	auto_free char *bin = path_join(folder, "bin"), *work = path_join(folder, "work"),
		       *output = path_join(folder, "output"), *command = NULL;

	if (place(r, files, bin, &binaries, err) < 0 || tree_remove(work, err) < 0 ||
		dir_create(work, 0755, err) < 0 || expand(r, &binaries, work, &command, err) < 0 ||
		start(r, command, output, ret, err) < 0 ||
		sha256_file(output, ret->sha256, err) < 0)
		return -1;
	ret->output = file_tail(output, PROOF_LINES);
	return 0;
}

void final_key(struct run *r, struct node_key *k)
{
	if (!r->plan.gates.unwind)
		return;
	node_key_add(k, "unwind", r->plan.gates.unwind);
	for (size_t i = 0; i < r->plain.shipped.n; i++) {
		char file[SHA256_HEX] = "";

		sha256_file(r->plain.shipped.v[i], file, NULL);
		node_key_add_entry(k, "plain", path_basename(r->plain.shipped.v[i]), file);
	}
}

int final_prove(struct run *r, struct error *err)
{
	auto_free char *folder = run_track_scratch(r, "unwind");
	struct unwind_proof *p = &r->track->final.proof;

	if (!r->plan.gates.unwind)
		return 0;
	if (dir_create(folder, 0755, err) < 0 ||
		prove_with(r, &r->plain.shipped, folder, &p->plain, err) < 0 ||
		prove_with(r, &r->track->optimised.shipped, folder, &p->final, err) < 0)
		return error_context(err, "gates.unwind");
	p->command = xstrdup(r->plan.gates.unwind);
	return 0;
}

int final_keep(struct run *r, const char *node, struct error *err)
{
	auto_free char *path = path_join(node, PROOF_FILE);

	return r->plan.gates.unwind ? unwind_proof_write(&r->track->final.proof, path, err) : 0;
}

int final_recall(struct run *r, const char *node, struct error *err)
{
	auto_free char *path = path_join(node, PROOF_FILE);

	return r->plan.gates.unwind ? unwind_proof_read(path, &r->track->final.proof, err) : 0;
}
