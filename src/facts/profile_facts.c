#include "facts/profile_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "facts/fact_io.h"

#define PROVENANCE_FORMAT "whet profile provenance 1"

void profile_facts_release(struct profile_facts *p)
{
	free(p->sha256);
	free(p->beside_sha256);
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i].key);
	free(p->v);
	memset(p, 0, sizeof(*p));
}

void provenance_release(struct provenance *p)
{
	free(p->profile);
	free(p->beside);
	free(p->source);
	free(p->training);
	free(p->target);
	free(p->project);
	free(p->created);
	free(p->commit);
	free(p->reused_source);
	free(p->reused_commit);
	strv_release(&p->compilers);
	memset(p, 0, sizeof(*p));
}

static json_t *reused_json(const struct provenance *p)
{
	json_t *o = json_object();

	json_set_text(o, "source", p->reused_source);
	json_set_text(o, "commit", p->reused_commit);
	return o;
}

/* Published beside the profile, so in the readable form. */
int provenance_write(const struct provenance *p, const char *path, struct error *err)
{
	auto_json json_t *o = json_object();

	json_object_set_new(o, "format", json_string(PROVENANCE_FORMAT));
	json_set_text(o, "profile", p->profile);
	if (p->beside)
		json_set_text(o, "beside", p->beside);
	json_set_text(o, "source", p->source);
	json_set_text(o, "training", p->training);
	json_set_text(o, "target", p->target);
	json_set_text(o, "project", p->project);
	json_set_text(o, "created", p->created);
	json_set_text(o, "commit", p->commit);
	json_object_set_new(o, "compilers", json_from_strv(&p->compilers));
	if (p->reused_source)
		json_object_set_new(o, "reused_for", reused_json(p));
	return json_write_file(o, path, err);
}

int provenance_read(const char *path, struct provenance *ret, struct error *err)
{
	auto_json json_t *o = fact_read(path, PROVENANCE_FORMAT, err);
	struct provenance p = {0};

	if (!o)
		return -1;
	if (json_get_str(o, "profile", &p.profile, err) < 0 ||
		json_get_str(o, "source", &p.source, err) < 0 ||
		json_get_str(o, "training", &p.training, err) < 0 ||
		json_get_str(o, "target", &p.target, err) < 0) {
		provenance_release(&p);
		return error_context(err, "profile provenance '%s'", path);
	}
	fact_take_str(o, "beside", &p.beside);
	fact_take_str(o, "project", &p.project);
	fact_take_str(o, "created", &p.created);
	fact_take_str(o, "commit", &p.commit);
	fact_take_str(json_object_get(o, "reused_for"), "source", &p.reused_source);
	fact_take_str(json_object_get(o, "reused_for"), "commit", &p.reused_commit);
	json_opt_strv(o, "compilers", &p.compilers);
	*ret = p;
	return 0;
}
