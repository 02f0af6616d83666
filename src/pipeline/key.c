#include "pipeline/key.h"

#include <string.h>

#include "base/mem.h"

void node_key_begin(struct node_key *k, const char *kind, const char *variant)
{
	*k = (struct node_key){.kind = kind, .variant = variant, .parts = json_object()};
}

void node_key_add(struct node_key *k, const char *part, const char *text)
{
	json_object_set_new(k->parts, part, json_text(text ? text : ""));
}

void node_key_add_entry(struct node_key *k, const char *part, const char *name, const char *text)
{
	json_t *o = json_object_get(k->parts, part);

	if (!o) {
		o = json_object();
		json_object_set_new(k->parts, part, o);
	}
	json_object_set_new(o, name, json_text(text ? text : ""));
}

void node_key_end(struct node_key *k)
{
	auto_free char *text = json_dumps(k->parts, JSON_COMPACT | JSON_SORT_KEYS);
	struct sha256 h;

	sha256_begin(&h);
	sha256_adds(&h, "whet node key 2");
	sha256_adds(&h, k->kind);
	sha256_adds(&h, k->variant);
	sha256_adds(&h, text);
	sha256_end(&h, k->hex);
}

void node_key_release(struct node_key *k)
{
	json_decref(k->parts);
	k->parts = NULL;
}

void node_key_describe(const struct node_key *k, json_t *record)
{
	json_set_text(record, "kind", k->kind);
	json_set_text(record, "variant", k->variant);
	json_object_set(record, "parts", k->parts);
}
