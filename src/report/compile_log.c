#include "report/compile_log.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"

#define INPUTS_SHOWN 3 /* of one call in the text; the JSON has all */

void compile_logs_release(struct compile_logs *l)
{
	for (size_t i = 0; i < l->n; i++)
		build_facts_release(&l->v[i]);
	free(l->v);
	free(l->slot);
	free(l->source);
	free(l->copy);
	free(l->kept);
	memset(l, 0, sizeof(*l));
}

char *compile_log_word(const char *slot, const char *word)
{
	return slot ? path_replace(word, slot, "{slot}") : xstrdup(word);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Every key is there in every entry; what is not known is null. */
static void set(json_t *o, const char *key, const char *slot, const char *s)
{
	auto_free char *word = s ? compile_log_word(slot, s) : NULL;

	json_object_set_new(o, key, json_text(word));
}

static void set_list(json_t *o, const char *key, const char *slot, const struct strv *list)
{
	json_t *a = json_array();

	for (size_t i = 0; i < list->n; i++) {
		auto_free char *word = compile_log_word(slot, list->v[i]);

		json_array_append_new(a, json_text(word));
	}
	json_object_set_new(o, key, a);
}

static json_t *call_json(const char *slot, const struct compile_record *r)
{
	json_t *o = json_object();

	set(o, "id", NULL, r->id);
	set(o, "parent", NULL, r->parent);
	set(o, "class", NULL, call_class_name(r->class));
	set(o, "why", slot, r->why);
	set(o, "kind", NULL, call_kind_name(r->kind));
	set(o, "language", NULL, r->language);
	set(o, "tool", slot, r->tool);
	set(o, "cwd", slot, r->cwd);
	set_list(o, "argv", slot, &r->argv);
	set_list(o, "inputs", slot, &r->inputs);
	set(o, "output", slot, r->output);
	set_list(o, "added", slot, &r->added);
	set_list(o, "removed", slot, &r->removed);
	json_object_set_new(o, "status", json_integer(r->status));
	set(o, "crate_name", NULL, r->crate_name);
	return o;
}

static json_t *object_json(const char *slot, const struct object_fact *f)
{
	json_t *o = json_object();

	set(o, "class", NULL, object_class_name(f->class));
	set(o, "why", slot, f->why);
	set(o, "path", slot, f->path);
	set(o, "member", slot, f->member);
	set_list(o, "via", slot, &f->via);
	set(o, "record", NULL, f->record);
	set(o, "unit", slot, f->unit);
	set(o, "source", slot, f->source);
	set(o, "code_hash", NULL, f->code_hash);
	return o;
}

static json_t *node_json(const char *slot, const struct build_facts *f)
{
	json_t *o = json_object(), *calls = json_array(), *binaries = json_array();

	for (size_t i = 0; i < f->log.n; i++)
		json_array_append_new(calls, call_json(slot, &f->log.v[i]));
	for (size_t i = 0; i < f->n_binaries; i++) {
		const struct binary_fact *b = &f->binaries[i];
		json_t *binary = json_object(), *objects = json_array();

		for (size_t j = 0; j < b->n_objects; j++)
			json_array_append_new(objects, object_json(slot, &b->objects[j]));
		set(binary, "name", NULL, b->name);
		set(binary, "link", NULL, b->link);
		json_object_set_new(binary, "objects", objects);
		json_array_append_new(binaries, binary);
	}
	set(o, "variant", NULL, f->variant);
	json_object_set_new(o, "calls", calls);
	json_object_set_new(o, "binaries", binaries);
	set_list(o, "quarantine", slot, &f->quarantine);
	return o;
}

json_t *compile_logs_json(const struct compile_logs *l)
{
	json_t *o = json_object(), *nodes = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(nodes, node_json(l->slot, &l->v[i]));
	json_object_set_new(o, "nodes", nodes);
	return o;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void add_word(struct buf *out, const char *slot, const char *word)
{
	auto_free char *w = compile_log_word(slot, word);

	buf_adds(out, w);
}

static void add_call(struct buf *out, const char *slot, const struct compile_record *r)
{
	buf_addf(out, "  %-8s %-12s %-4s ", call_class_name(r->class), call_kind_name(r->kind),
		*r->language ? r->language : "-");
	for (size_t i = 0; i < r->inputs.n && i < INPUTS_SHOWN; i++) {
		buf_adds(out, i ? " " : "");
		add_word(out, slot, r->inputs.v[i]);
	}
	if (r->inputs.n > INPUTS_SHOWN)
		buf_addf(out, " and %zu more", r->inputs.n - INPUTS_SHOWN);
	if (!r->inputs.n) /* a question: what was asked */
		for (size_t i = 0; i < r->argv.n && i < INPUTS_SHOWN; i++)
			buf_addf(out, "%s%s", i ? " " : "", r->argv.v[i]);
	if (r->output) {
		buf_adds(out, " -> ");
		add_word(out, slot, r->output);
	}
	buf_addf(out, "  (%s)", r->why ? r->why : "reason not recorded");
	if (r->status)
		buf_addf(out, "  exit code %d", r->status);
	buf_addc(out, '\n');
}

static void add_object(struct buf *out, const char *slot, const struct object_fact *o)
{
	buf_addf(out, "    %-9s ", object_class_name(o->class));
	add_word(out, slot, o->path);
	if (o->member)
		buf_addf(out, "(%s)", o->member);
	if (o->source) {
		buf_adds(out, " <- ");
		add_word(out, slot, o->source);
	}
	buf_addf(out, "  (%s)\n", o->why ? o->why : "reason not recorded");
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void add_node(struct buf *out, const char *slot, const struct build_facts *f)
{
	buf_addf(out, "%s build: %zu call%s\n", f->variant, f->log.n, plural(f->log.n));
	for (size_t i = 0; i < f->log.n; i++)
		add_call(out, slot, &f->log.v[i]);
	for (size_t i = 0; i < f->n_binaries; i++) {
		const struct binary_fact *b = &f->binaries[i];

		buf_addf(out, "  binary '%s': %zu object%s\n", b->name, b->n_objects,
			plural(b->n_objects));
		for (size_t j = 0; j < b->n_objects; j++)
			add_object(out, slot, &b->objects[j]);
	}
	if (f->quarantine.n)
		buf_addf(out, "  profiles that build steps left, not merged: %zu\n",
			f->quarantine.n);
}

void compile_logs_text(const struct compile_logs *l, struct buf *out)
{
	for (size_t i = 0; i < l->n; i++) {
		if (i)
			buf_addc(out, '\n');
		add_node(out, l->slot, &l->v[i]);
	}
	if (l->n)
		buf_addf(out, "\n{slot} is '%s'\n", l->slot ? l->slot : "?");
}
