#include "report/link_graph.h"

#include <string.h>

#include "base/mem.h"

static const struct build_facts *released(const struct compile_logs *l)
{
	for (size_t i = l->n; i-- > 0;)
		if (l->v[i].n_binaries)
			return &l->v[i];
	return NULL;
}

static const struct compile_record *find_call(const struct build_facts *f, const char *id)
{
	for (size_t i = 0; id && i < f->log.n; i++)
		if (strcmp(f->log.v[i].id, id) == 0)
			return &f->log.v[i];
	return NULL;
}

static json_t *word(const struct compile_logs *l, const char *s)
{
	auto_free char *w = s ? compile_log_word(l->slot, s) : NULL;

	return json_text(w);
}

/* The container of this type and path among inputs; made when it is not there yet. */
static json_t *container(json_t *inputs, const char *type, json_t *path)
{
	json_t *o, *a;
	size_t i;

	json_array_foreach(inputs, i, o)
	{
		if (json_equal(json_object_get(o, "path"), path) &&
			strcmp(json_string_value(json_object_get(o, "type")), type) == 0) {
			json_decref(path);
			return json_object_get(o, "inputs");
		}
	}
	o = json_object();
	a = json_array();
	json_object_set_new(o, "type", json_string(type));
	json_object_set_new(o, "path", path);
	json_object_set_new(o, "inputs", a);
	json_array_append_new(inputs, o);
	return a;
}

static json_t *call_json(const struct compile_logs *l, const struct compile_record *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "id", json_text(r->id));
	json_object_set_new(o, "kind", json_text(call_kind_name(r->kind)));
	json_object_set_new(o, "class", json_text(call_class_name(r->class)));
	json_object_set_new(o, "why", word(l, r->why));
	json_object_set_new(o, "language", json_text(r->language));
	json_object_set_new(o, "tool", word(l, r->tool));
	json_object_set_new(o, "crate_name", json_text(r->crate_name));
	return o;
}

static void add_object(const struct compile_logs *l, const struct build_facts *f, json_t *inputs,
	const struct object_fact *o)
{
	const struct compile_record *r = find_call(f, o->record);
	json_t *leaf = json_object();

	for (size_t i = 0; i < o->via.n; i++)
		inputs = container(inputs, "partial-link", word(l, o->via.v[i]));
	if (o->member)
		inputs = container(inputs, "archive", word(l, o->path));
	json_object_set_new(leaf, "type", json_string(o->member ? "member" : "object"));
	json_object_set_new(leaf, "path", o->member ? json_text(o->member) : word(l, o->path));
	json_object_set_new(leaf, "class", json_text(object_class_name(o->class)));
	json_object_set_new(leaf, "why", word(l, o->why));
	json_object_set_new(leaf, "source", word(l, o->source));
	json_object_set_new(leaf, "call", r ? call_json(l, r) : json_null());
	json_array_append_new(inputs, leaf);
}

json_t *link_graph_json(const struct compile_logs *l)
{
	const struct build_facts *f = released(l);
	json_t *a = json_array();

	for (size_t i = 0; f && i < f->n_binaries; i++) {
		const struct binary_fact *b = &f->binaries[i];
		const struct compile_record *link = find_call(f, b->link);
		json_t *o = json_object(), *inputs = json_array();

		for (size_t j = 0; j < b->n_objects; j++)
			add_object(l, f, inputs, &b->objects[j]);
		json_object_set_new(o, "name", json_text(b->name));
		json_object_set_new(o, "variant", json_text(f->variant));
		json_object_set_new(o, "output", word(l, link ? link->output : NULL));
		json_object_set_new(o, "call", link ? call_json(l, link) : json_null());
		json_object_set_new(o, "inputs", inputs);
		json_array_append_new(a, o);
	}
	return a;
}

/* ---- text ---------------------------------------------------------------------------------- */

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static void add_leaf(const json_t *o, int depth, struct buf *out)
{
	const json_t *call = json_object_get(o, "call");
	const char *source = text_of(o, "source");

	buf_addf(out, "%*s%s  %s (%s)\n", depth * 2, "", text_of(o, "path"), text_of(o, "class"),
		*text_of(o, "why") ? text_of(o, "why") : "reason not recorded");
	if (json_is_object(call))
		buf_addf(out, "%*s<- %s %s%s%s\n", depth * 2 + 2, "", text_of(call, "kind"),
			*source ? source : text_of(call, "crate_name"), *source ? " by " : "",
			*source ? text_of(call, "tool") : "");
}

static void add_inputs(const json_t *inputs, int depth, struct buf *out)
{
	const json_t *o;
	size_t i;

	json_array_foreach(inputs, i, o)
	{
		if (!json_object_get(o, "inputs")) {
			add_leaf(o, depth, out);
			continue;
		}
		buf_addf(out, "%*s%s  %s of %zu\n", depth * 2, "", text_of(o, "path"),
			text_of(o, "type"), json_array_size(json_object_get(o, "inputs")));
		/* Partial links nest as deep as the join follows them: few levels. */
		add_inputs(json_object_get(o, "inputs"), depth + 1, out);
	}
}

void link_graph_text(const struct compile_logs *l, struct buf *out)
{
	auto_json json_t *graph = link_graph_json(l);
	const json_t *o;
	size_t i;

	json_array_foreach(graph, i, o)
	{
		const json_t *call = json_object_get(o, "call");

		buf_addf(out, "%s%s (%s build): %s %s by %s\n", i ? "\n" : "", text_of(o, "name"),
			text_of(o, "variant"), text_of(call, "kind"), text_of(o, "output"),
			text_of(call, "tool"));
		add_inputs(json_object_get(o, "inputs"), 1, out);
	}
	if (json_array_size(graph))
		buf_addf(out, "\n{slot} is '%s'\n", l->slot ? l->slot : "?");
}
