/* Gates: gathers the facts that exist by now and asks every gate of a moment. */
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "pipeline/note.h"
#include "pipeline/outside.h"
#include "pipeline/run.h"
#include "store/seal.h"

static const struct build_facts *if_built(const struct build_out *b)
{
	return b->facts.variant ? &b->facts : NULL;
}

/* What llvm-bolt made has no records of its own: those of what it was made of. */
static const struct build_facts *if_optimised(const struct track *t)
{
	return if_built(t->base ? t->base : &t->optimised);
}

struct verdicts *run_verdicts(struct run *r)
{
	return r->track->variant ? &r->track->verdicts : &r->report->verdicts;
}

/* Of what stops the build: a variant does not. */
static int keep_verdicts(struct run *r, struct error *err)
{
	auto_free char *folder = store_path(&r->store, "last");
	auto_free char *path = path_join(folder, "verdicts.json");
	auto_json json_t *j = json_object();

	json_object_set_new(j, "verdicts", verdicts_json(&r->report->verdicts));
	if (dir_create(folder, 0755, err) < 0)
		return -1;
	return sealed_write(j, path, err);
}

static int stopped(const struct verdicts *vs, size_t from, struct error *err)
{
	auto_buf struct buf b = BUF_INIT;
	size_t n = 0;

	for (size_t i = from; i < vs->n; i++) {
		const struct verdict *v = &vs->v[i];

		if (v->state != VERDICT_FAIL)
			continue;
		if (n++)
			buf_addc(&b, '\n');
		buf_addf(&b, "gate %s: %s", v->gate, v->summary);
		if (v->evidence && *v->evidence)
			buf_addf(&b, "\n%s", v->evidence);
		if (v->remedy && *v->remedy)
			buf_addf(&b, "\nwhat to do: %s", v->remedy);
	}
	return error_set(err, ERR_GATE, "%zu gate%s stopped the build\n%s", n, n == 1 ? "" : "s",
		buf_str(&b));
}

/* ---- evidence that every build must leave, judged before anyone trains with it ---- */

struct unrecorded {
	const struct compile_log *log;
	struct buf lines;
	size_t n;
};

static void note_unrecorded(struct unrecorded *u, const char *path, const char *why)
{
	if (u->n++ < 20)
		buf_addf(&u->lines, "%s%s: %s", u->n > 1 ? "\n" : "", path,
			why ? why : "no recorded compilation made it");
}

static int look_at_object(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	struct unrecorded *u = ctx;
	auto_free char *full = path_join(root, path);
	size_t n = strlen(path);

	if (!S_ISREG(st->st_mode) || n < 3 || strcmp(path + n - 2, ".o") != 0)
		return 0;
	for (size_t i = 0; i < u->log->n; i++)
		if (u->log->v[i].output && strcmp(u->log->v[i].output, full) == 0)
			return 0;
	note_unrecorded(u, full, NULL);
	return 0;
}

/* remedy NULL: the gate's own. */
static int fail_evidence(struct run *r, struct unrecorded *u, const char *summary,
	const char *remedy, struct error *err)
{
	struct verdicts *vs = run_verdicts(r);
	const struct gate *g = gate_find("profile-was-used");
	size_t from = vs->n;

	if (u->n > 20)
		buf_addf(&u->lines, "\n... and %zu more", u->n - 20);
	verdict_add(vs, g->name, VERDICT_FAIL, summary, buf_str(&u->lines),
		remedy ? remedy : g->remedy);
	buf_release(&u->lines);
	if (keep_verdicts(r, err) < 0)
		return -1;
	return stopped(vs, from, err);
}

int node_gate_no_link(struct run *r, const struct build_facts *f, const char *slot, const char *why,
	struct error *err)
{
	struct unrecorded u = {.log = &f->log};

	if (tree_walk(slot, look_at_object, &u, err) < 0) {
		buf_release(&u.lines);
		return -1;
	}
	return fail_evidence(r, &u, why, NULL, err);
}

int node_gate_nothing_instrumented(struct run *r, struct error *err)
{
	static const char linked[] =
		"with link-time optimisation the linker puts the counters of round 2 in: pass the "
		"project's -flto to the link, too (LDFLAGS)";
	static const char remedy[] =
		"let the build use the compiler that whet hands it in CC; for a makefile that "
		"assigns CC itself: build: args: [\"CC={cc}\"]";
	const struct compile_log *log = &r->track->instrumented.facts.log;
	struct unrecorded u = {.log = log};

	for (size_t i = 0; i < log->n; i++) {
		const struct compile_record *c = &log->v[i];

		if (c->class != CLASS_FOREIGN || !c->inputs.n || u.n++ >= 20)
			continue;
		buf_addf(&u.lines, "%s%s: compiled by %s, which takes no such profile",
			u.n > 1 ? "\n" : "", c->inputs.v[0], c->tool);
	}
	return fail_evidence(r, &u,
		toolchain_profile_kind(run_main_compiler(r)) == PROFILE_GCC
			? "nothing was instrumented: 0 of the released binaries hold counters of "
			  "gcc, at least 1 must"
			: "nothing was instrumented: 0 of the released binaries hold profile names "
			  "(section __llvm_prf_names), at least 1 must",
		r->track->second ? linked : remedy, err);
}

int node_gate_objects(struct run *r, const struct build_facts *f, struct error *err)
{
	struct unrecorded u = {.log = &f->log};
	auto_free char *summary = NULL;

	for (size_t i = 0; i < f->n_binaries; i++) {
		for (size_t k = 0; k < f->binaries[i].n_objects; k++) {
			const struct object_fact *o = &f->binaries[i].objects[k];
			auto_free char *label = o->member ? xasprintf("%s(%s)", o->path, o->member)
							  : xstrdup(o->path);

			if (o->class == OBJECT_UNKNOWN)
				note_unrecorded(&u, label, o->why);
		}
	}
	if (!u.n)
		return 0;
	summary = xasprintf("%zu objects of the %s build have no record of their compilation, 0 "
			    "allowed",
		u.n, f->variant);
	return fail_evidence(r, &u, summary, NULL, err);
}

int node_gate_copied(struct run *r, struct error *err)
{
	struct verdicts *vs = run_verdicts(r);
	size_t from = vs->n;

	verdict_add(vs, "same-source", VERDICT_FAIL,
		"a source changed while the sources were copied, 0 may", err->msg,
		"let the sources alone while whet builds, and build again; name what is no "
		"source, such as a log that whet's own output goes to, in build.exclude");
	if (keep_verdicts(r, err) < 0)
		return -1;
	return stopped(vs, from, err);
}

/* The digests of the sources do not cover what lies outside of them. A change of structure there is
 * `stale`, asked before; what keeps the structure is seen here alone. */
int node_gate_outside(struct run *r, struct error *err)
{
	const struct build_out *others[] = {
		&r->plain, &r->track->first.instrumented, &r->track->instrumented};
	struct verdicts *vs = run_verdicts(r);
	size_t from = vs->n;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		const json_t *now = r->track->optimised.outside, *then = others[i]->outside;
		const char *file = outside_difference(now, then);
		auto_free char *evidence = NULL;

		if (!file)
			continue;
		if (outside_touched(now, file) || outside_touched(then, file))
			evidence =
				xasprintf("%s: no source of the project, but it was touched while "
					  "the %s build read it: with which content is not known",
					file,
					outside_touched(then, file) ? others[i]->facts.variant
								    : "optimised");
		else
			evidence = xasprintf(
				"%s: no source of the project, but the %s and the optimised build "
				"read it with different content",
				file, others[i]->facts.variant);
		verdict_add(vs, "same-source", VERDICT_FAIL,
			"a file outside the sources changed between the builds, 0 may", evidence,
			"let it alone while whet builds, and build again");
		if (keep_verdicts(r, err) < 0)
			return -1;
		return stopped(vs, from, err);
	}
	return 0;
}

/* For the report, whatever the gate says of it. */
static void note_staleness(struct run *r, const struct gate_facts *f)
{
	struct staleness *s = &r->report->staleness;
	auto_free char *text = NULL;

	staleness_release(s);
	gate_staleness(f, s);
	text = staleness_text(s);
	if (staleness_near(s))
		events_warning(r->o->events,
			"%s: more than half of it is used; `whet build` trains anew", text);
}

int node_gate(struct run *r, enum gate_moment moment, struct error *err)
{
	struct verdicts *vs = run_verdicts(r);
	struct past_build last = {0};
	auto_free char *problem = NULL;
	size_t from = vs->n;
	struct gate_facts f = {
		.bounds = &r->plan.gates,
		.plain = if_built(&r->plain),
		.first = if_built(&r->track->first.instrumented),
		.instrumented = if_built(&r->track->instrumented),
		.optimised = if_optimised(r->track),
		.training = r->track->train_key ? &r->track->training : NULL,
		.replay = moment == GATE_FINAL ? &r->track->replay : NULL,
		.profile = r->track->profile.sha256 ? &r->track->profile : NULL,
		.variant = run_variant_name(r->track),
		.ordered = run_is_ordered(r),
		.without_profile = r->track->variant && !r->track->variant->profile,
		.provenance = r->track->has_provenance ? &r->track->provenance : NULL,
		.source_digest = r->sources.digest,
		.training_digest = r->plan.training_digest,
		.target = r->plan.build.target,
		.final_binaries = r->track->final_facts,
		.final_names = r->track->final_names,
		.n_final = r->track->n_final,
		.unwind = r->track->final.unwind,
		.unwind_before = r->track->final.before,
		.strips = r->track->final.strips,
		.laid_out = r->track->final.unlaid.n > 0,
		.proof = &r->track->final.proof,
		.bench = &r->report->comparisons,
		.machine = r->machine,
		.round = moment <= GATE_AFTER_MERGE && !r->given ? round_number(r) : 0,
	};

	if (moment == GATE_AFTER_BENCH && note_last_release(r, &last, &problem))
		f.last_release = &last;
	f.history_problem = problem;
	gates_run(moment, &f, vs);
	if (moment == GATE_AFTER_OPTIMISED && r->track == &r->own)
		note_staleness(r, &f);
	past_build_release(&last);
	if (keep_verdicts(r, err) < 0)
		return -1;
	for (size_t i = from; i < vs->n; i++)
		if (vs->v[i].state == VERDICT_FAIL)
			return stopped(vs, from, err);
	return 0;
}
