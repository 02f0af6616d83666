/* Gates: gathers the facts that exist by now and asks every gate of a moment. */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "pipeline/run.h"

static const struct build_facts *if_built(const struct build_out *b)
{
	return b->facts.variant ? &b->facts : NULL;
}

static int keep_verdicts(struct run *r, struct error *err)
{
	auto_free char *folder = store_path(&r->store, "last");
	auto_free char *path = path_join(folder, "verdicts.json");
	auto_json json_t *j = verdicts_json(&r->report->verdicts);

	if (dir_create(folder, 0755, err) < 0)
		return -1;
	return json_write_file(j, path, err);
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

int node_gate(struct run *r, enum gate_moment moment, struct error *err)
{
	struct verdicts *vs = &r->report->verdicts;
	size_t from = vs->n;
	struct gate_facts f = {
		.bounds = &r->plan.gates,
		.plain = if_built(&r->plain),
		.instrumented = if_built(&r->instrumented),
		.optimised = if_built(&r->optimised),
		.training = r->train_key ? &r->training : NULL,
		.replay = moment == GATE_FINAL ? &r->replay : NULL,
		.profile = r->profile.sha256 ? &r->profile : NULL,
		.provenance = r->has_provenance ? &r->provenance : NULL,
		.source_digest = r->sources.digest,
		.training_digest = r->plan.training_digest,
		.target = r->plan.build.target,
		.final_binaries = r->final_facts,
		.final_names = r->final_names,
		.n_final = r->n_final,
	};

	gates_run(moment, &f, vs);
	if (keep_verdicts(r, err) < 0)
		return -1;
	for (size_t i = from; i < vs->n; i++)
		if (vs->v[i].state == VERDICT_FAIL)
			return stopped(vs, from, err);
	return 0;
}
