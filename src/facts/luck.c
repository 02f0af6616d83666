#include "facts/luck.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "facts/figure_json.h"

void luck_spread_release(struct luck_spread *s)
{
	free(s->relinks);
	memset(s, 0, sizeof(*s));
}

void luck_release(struct luck *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].scenario);
		luck_spread_release(&l->v[i].base);
		luck_spread_release(&l->v[i].variant);
	}
	free(l->v);
	free(l->base);
	free(l->variant);
	free(l->linker);
	strv_release(&l->own_linker);
	free(l->problem);
	free(l->warnings);
	samples_release(&l->samples);
	memset(l, 0, sizeof(*l));
}

static json_t *spread_json(const struct luck_spread *s)
{
	json_t *o = json_object(), *a = json_array();

	for (size_t i = 0; i < s->n_relinks; i++)
		json_array_append_new(a, figure_json_real(s->relinks[i]));
	json_object_set_new(o, "sd", figure_json_real(s->sd));
	json_object_set_new(o, "noise", figure_json_real(s->noise));
	json_object_set_new(o, "p", figure_json_real(s->p));
	json_object_set_new(o, "range", figure_json_real(s->range));
	json_object_set_new(o, "relinks", a);
	return o;
}

static json_t *row_json(const struct luck_row *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "scenario", json_text(r->scenario));
	json_object_set_new(o, "held_out", json_boolean(r->held_out));
	json_object_set_new(o, "shipped", figure_json_real(r->shipped));
	json_object_set_new(o, "ratio", figure_json_real(r->ratio));
	json_object_set_new(o, "low", figure_json_real(r->low));
	json_object_set_new(o, "high", figure_json_real(r->high));
	json_object_set_new(
		o, "inside", isfinite(r->shipped) ? json_boolean(r->inside) : json_null());
	json_object_set_new(o, "base", spread_json(&r->base));
	json_object_set_new(o, "variant", spread_json(&r->variant));
	return o;
}

json_t *luck_json(const struct luck *l)
{
	json_t *o = json_object(), *rows = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(rows, row_json(&l->v[i]));
	json_object_set_new(o, "count", json_integer(l->relinks));
	json_object_set_new(o, "base", json_text(l->base));
	json_object_set_new(o, "variant", json_text(l->variant));
	json_object_set_new(o, "linker", json_text(l->linker));
	json_object_set_new(o, "own_linker", json_from_strv(&l->own_linker));
	json_object_set_new(o, "problem", json_text(l->problem));
	json_object_set_new(o, "launches", json_integer(l->launches));
	json_object_set_new(o, "scenarios", rows);
	json_object_set_new(o, "warnings", json_text(l->warnings ? l->warnings : ""));
	json_object_set_new(o, "samples", samples_json(&l->samples));
	return o;
}
