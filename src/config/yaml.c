#include "config/yaml.h"

#include <libfyaml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct anchor {
	char *name;
	struct node *node;
};

/* What is known while the events of one file go by. */
struct builder {
	struct yaml *yaml;
	struct problems *ps;
	struct node *stack[YAML_DEPTH_MAX];
	size_t depth;
	struct anchor *anchors;
	size_t n_anchors, cap_anchors;
	size_t documents;
	bool failed;
};

static void fail(struct builder *b, const struct fy_event *e, const char *text)
{
	const struct fy_mark *m = fy_event_start_mark((struct fy_event *)e);

	problem_at(b->ps, m ? m->line + 1 : 1, m ? m->column + 1 : 1, "%s", text);
	b->failed = true;
}

static void fail_at(struct builder *b, const struct node *n, const char *text)
{
	problem_add(b->ps, n, "%s", text);
	b->failed = true;
}

/* A value that is left out has no place in the file: its key's is given. */
static void set_place(const struct builder *b, struct node *n, const struct fy_mark *m)
{
	const struct node *parent = b->depth ? b->stack[b->depth - 1] : NULL;

	n->line = m ? m->line + 1 : 1;
	n->column = m ? m->column + 1 : 1;
	if ((!m || (!m->line && !m->column)) && parent && parent->n % 2) {
		n->line = parent->items[parent->n - 1]->line;
		n->column = parent->items[parent->n - 1]->column;
	}
}

static struct node *new_node(struct builder *b, struct fy_event *e, enum node_kind kind)
{
	const struct fy_mark *m = fy_event_start_mark(e);
	struct node *n = xcalloc(1, sizeof(*n));

	n->kind = kind;
	set_place(b, n, m);
	n->size = 1;
	array_reserve(b->yaml->all, b->yaml->n_all, b->yaml->cap_all);
	b->yaml->all[b->yaml->n_all++] = n;
	if (b->yaml->n_all > YAML_NODES_MAX)
		fail(b, e, "the file has too many values for a configuration (more than 100000)");
	return n;
}

static bool same_key(const struct node *a, const struct node *b)
{
	return !strcmp(a->text, b->text);
}

/* A key has just been put at the end of mapping m. */
static void check_key(struct builder *b, const struct node *m)
{
	const struct node *key = m->items[m->n - 1];

	if (key->kind != NODE_SCALAR) {
		fail_at(b, key, "a key must be a plain word, not a list or a mapping");
		return;
	}
	if (m->n > 2 * YAML_KEYS_MAX) {
		fail_at(b, key, "this mapping has more than 1000 keys");
		return;
	}
	for (size_t i = 0; i + 1 < m->n; i += 2) {
		if (!same_key(m->items[i], key))
			continue;
		problem_add(b->ps, key, "the key '%s' is given twice; it first stands in line %d",
			key->text, m->items[i]->line);
		return;
	}
}

static void attach(struct builder *b, struct node *n)
{
	struct node *parent;

	if (!b->depth) {
		b->yaml->root = n;
		return;
	}
	parent = b->stack[b->depth - 1];
	array_reserve(parent->items, parent->n, parent->cap);
	parent->items[parent->n++] = n;
	if (parent->kind == NODE_MAPPING && parent->n % 2)
		check_key(b, parent);
}

/* n is complete: its size counts in the node around it. */
static void add_size(struct builder *b, const struct node *n)
{
	if (!b->depth)
		return;
	b->stack[b->depth - 1]->size += n->size;
	if (b->stack[b->depth - 1]->size > YAML_NODES_MAX)
		fail_at(b, n,
			"the file, with its aliases written out, has more than 100000 values");
}

static void set_anchor(
	struct builder *b, struct fy_event *e, struct fy_token *token, struct node *n)
{
	const char *text;
	size_t len;

	if (!token)
		return;
	text = fy_token_get_text(token, &len);
	if (!text)
		return;
	if (b->n_anchors >= YAML_ANCHORS_MAX) {
		fail(b, e, "the file has more than 1000 anchors");
		return;
	}
	array_reserve(b->anchors, b->n_anchors, b->cap_anchors);
	b->anchors[b->n_anchors++] = (struct anchor){.name = xstrndup(text, len), .node = n};
}

static void on_alias(struct builder *b, struct fy_event *e)
{
	size_t len = 0;
	const char *text = fy_token_get_text(e->alias.anchor, &len);
	auto_free char *name = xstrndup(text ? text : "", text ? len : 0);
	auto_free char *why = NULL;

	/* The newest anchor of a name holds. */
	for (size_t i = b->n_anchors; i-- > 0;) {
		struct node *n = b->anchors[i].node;

		if (strcmp(b->anchors[i].name, name))
			continue;
		if (n->open) {
			why = xasprintf("the alias '*%s' stands inside the value it names", name);
			fail(b, e, why);
			return;
		}
		attach(b, n);
		add_size(b, n);
		return;
	}
	why = xasprintf("the alias '*%s' names no anchor above it", name);
	fail(b, e, why);
}

static void on_scalar(struct builder *b, struct fy_event *e)
{
	struct node *n = new_node(b, e, NODE_SCALAR);
	size_t len = 0;
	const char *text = fy_token_get_text(e->scalar.value, &len);

	n->plain = !text || fy_token_scalar_style(e->scalar.value) == FYSS_PLAIN;
	n->text = xstrndup(text ? text : "", text ? len : 0);
	if (text && memchr(text, 0, len)) {
		fail(b, e, "a text may not hold a NUL character");
		return;
	}
	if (e->scalar.tag) {
		fail(b, e, "tags (!…) have no meaning here; leave it out");
		return;
	}
	set_anchor(b, e, e->scalar.anchor, n);
	attach(b, n);
	add_size(b, n);
}

static void on_start(struct builder *b, struct fy_event *e, enum node_kind kind)
{
	bool map = kind == NODE_MAPPING;
	struct node *n = new_node(b, e, kind);

	if (map ? e->mapping_start.tag : e->sequence_start.tag) {
		fail(b, e, "tags (!…) have no meaning here; leave it out");
		return;
	}
	if (b->depth == YAML_DEPTH_MAX) {
		fail(b, e, "lists and mappings are nested too deeply (more than 32)");
		return;
	}
	n->open = true;
	set_anchor(b, e, map ? e->mapping_start.anchor : e->sequence_start.anchor, n);
	attach(b, n);
	b->stack[b->depth++] = n;
}

static void merge_one(struct builder *b, struct node *into, const struct node *from)
{
	if (from->kind != NODE_MAPPING) {
		fail_at(b, from, "'<<' takes a mapping or a list of mappings");
		return;
	}
	for (size_t i = 0; i + 1 < from->n; i += 2) {
		if (node_get(into, from->items[i]->text))
			continue;
		for (size_t k = i; k < i + 2; k++) {
			array_reserve(into->items, into->n, into->cap);
			into->items[into->n++] = from->items[k];
			into->size += from->items[k]->size;
		}
	}
	if (into->n > 2 * YAML_KEYS_MAX || into->size > YAML_NODES_MAX)
		fail_at(b, into, "with '<<' written out this mapping is too large");
}

/* YAML's merge key: what the mapping itself says holds. */
static void merge_keys(struct builder *b, struct node *m)
{
	const struct node *from = NULL;

	for (size_t i = 0; i + 1 < m->n; i += 2) {
		if (!m->items[i]->plain || strcmp(m->items[i]->text, "<<"))
			continue;
		from = m->items[i + 1];
		memmove(m->items + i, m->items + i + 2, (m->n - i - 2) * sizeof(*m->items));
		m->n -= 2;
		break;
	}
	if (!from)
		return;
	if (from->kind != NODE_SEQUENCE) {
		merge_one(b, m, from);
		return;
	}
	for (size_t i = 0; i < from->n && !b->failed; i++)
		merge_one(b, m, from->items[i]);
}

static void on_end(struct builder *b)
{
	struct node *n = b->stack[--b->depth];

	n->open = false;
	if (n->kind == NODE_MAPPING)
		merge_keys(b, n);
	add_size(b, n);
}

static void on_event(struct builder *b, struct fy_event *e)
{
	switch (e->type) {
	case FYET_DOCUMENT_START:
		if (b->documents++)
			fail(b, e, "the file holds a second YAML document; only one is read");
		break;
	case FYET_ALIAS:
		on_alias(b, e);
		break;
	case FYET_SCALAR:
		on_scalar(b, e);
		break;
	case FYET_SEQUENCE_START:
		on_start(b, e, NODE_SEQUENCE);
		break;
	case FYET_MAPPING_START:
		on_start(b, e, NODE_MAPPING);
		break;
	case FYET_SEQUENCE_END:
	case FYET_MAPPING_END:
		on_end(b);
		break;
	default:
		break;
	}
}

static void report_syntax(struct builder *b, struct fy_diag *diag)
{
	struct fy_diag_error *e;
	void *iter = NULL;
	bool any = false;

	while ((e = fy_diag_errors_iterate(diag, &iter))) {
		problem_at(b->ps, e->line > 0 ? e->line : 1, e->column > 0 ? e->column : 1,
			"this is not valid YAML: %s", e->msg);
		any = true;
	}
	if (!any)
		problem_at(b->ps, 1, 1, "this is not valid YAML");
}

static void run(struct builder *b, struct fy_parser *p, struct fy_diag *diag)
{
	bool more = true;

	while (more && !b->failed) {
		struct fy_event *e = fy_parser_parse(p);

		if (!e)
			break;
		more = e->type != FYET_STREAM_END;
		on_event(b, e);
		fy_parser_event_free(p, e);
	}
	if (more && !b->failed) {
		report_syntax(b, diag);
		b->failed = true;
	}
}

/* What costs the library time or memory out of proportion and is never meant: the place and the
 * reason are told before it sees the text. */
static bool is_hostile(const char *text, size_t n, struct problems *ps)
{
	size_t open = 0;
	int line = 1, column = 0;

	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		column++;
		if (column == 1 && n - i >= 4 && !memcmp(text + i, "%TAG", 4)) {
			problem_at(
				ps, line, 1, "tag directives have no meaning here; leave it out");
			return true;
		}
		if (c == '[' || c == '{')
			open++;
		else if (!strchr(" \n,?:-", c))
			open = 0;
		if (open > YAML_DEPTH_MAX) {
			problem_at(ps, line, column,
				"lists and mappings are nested too deeply (more than 32)");
			return true;
		}
		if (c == '\n') {
			line++;
			column = 0;
		}
	}
	return false;
}

void yaml_read(const char *text, size_t n, struct yaml *ret, struct problems *ps)
{
	struct fy_diag_cfg diag_cfg;
	struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2};
	struct builder b = {.yaml = ret, .ps = ps};
	struct fy_parser *p;

	*ret = (struct yaml){0};
	if (is_hostile(text, n, ps))
		return;
	fy_diag_cfg_default(&diag_cfg);
	diag_cfg.fp = NULL; /* nothing is printed */
	cfg.diag = fy_diag_create(&diag_cfg);
	if (!cfg.diag)
		mem_exhausted();
	fy_diag_set_collect_errors(cfg.diag, true);
	p = fy_parser_create(&cfg);
	if (!p)
		mem_exhausted();
	if (fy_parser_set_string(p, text, n) < 0)
		mem_exhausted();
	run(&b, p, cfg.diag);
	fy_parser_destroy(p);
	fy_diag_destroy(cfg.diag);
	for (size_t i = 0; i < b.n_anchors; i++)
		free(b.anchors[i].name);
	free(b.anchors);
	if (!b.failed && !ret->root)
		problem_at(ps, 1, 1, "the file is empty; see docs/whet-yaml.md for what it says");
	if (b.failed)
		ret->root = NULL;
}

void yaml_release(struct yaml *y)
{
	for (size_t i = 0; i < y->n_all; i++) {
		free(y->all[i]->text);
		free(y->all[i]->items);
		free(y->all[i]);
	}
	free(y->all);
	*y = (struct yaml){0};
}

const struct node *node_get(const struct node *m, const char *key)
{
	if (!m || m->kind != NODE_MAPPING)
		return NULL;
	for (size_t i = 0; i + 1 < m->n; i += 2)
		if (!strcmp(m->items[i]->text, key))
			return m->items[i + 1];
	return NULL;
}

bool node_is_null(const struct node *n)
{
	return n->kind == NODE_SCALAR && n->plain &&
	       (!n->text[0] || !strcmp(n->text, "~") || !strcmp(n->text, "null"));
}

char *node_describe(const struct node *n)
{
	if (n->kind == NODE_SEQUENCE)
		return xstrdup("a list");
	if (n->kind == NODE_MAPPING)
		return xstrdup("a mapping");
	if (node_is_null(n))
		return xstrdup("nothing");
	if (strlen(n->text) > 60)
		return xasprintf("a text of %zu bytes", strlen(n->text));
	return xasprintf("%s'%s'", n->plain ? "" : "the quoted text ", n->text);
}
