/* variants: further optimised builds, and what all builds are compiled for. */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/keys.h"
#include "config/values.h"

#define NAME_MAX_BYTES 60

static const char *const lto_names[] = {
	[PLAN_LTO_DEFAULT] = "default",
	[PLAN_LTO_NONE] = "none",
	[PLAN_LTO_THIN] = "thin",
	[PLAN_LTO_FULL] = "full",
	NULL,
};

const char *plan_lto_name(enum plan_lto lto)
{
	return lto == PLAN_LTO_DEFAULT ? NULL : lto_names[lto];
}

void read_lto(struct problems *ps, const struct node *n, enum plan_lto *ret)
{
	size_t i;

	if (value_choice(ps, n, "lto", lto_names, &i))
		*ret = (enum plan_lto)i;
}

void read_cpu(struct problems *ps, const struct node *n, char **ret)
{
	auto_free char *text = NULL;

	if (!value_text(ps, n, "cpu", &text))
		return;
	free(*ret);
	*ret = NULL;
	if (strcmp(text, "default") == 0)
		return;
	if (strcmp(text, "native") == 0) {
		problem_add(ps, n,
			"'cpu: native' is another processor on each machine, so the build could "
			"not be repeated: name one, such as x86-64-v3");
		return;
	}
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-+", *c)) {
			problem_add(ps, n, "'cpu' must be the name of a processor, not '%s'", text);
			return;
		}
	*ret = take_ptr(text);
}

/* ---- one variant ----------------------------------------------------------------------------- */

static void read_variant_lto(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	read_lto(ps, n, &((struct plan_variant *)target)->lto);
}

static void read_variant_cpu(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	read_cpu(ps, n, &((struct plan_variant *)target)->cpu);
}

static void read_profile(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	static const char *const names[] = {"none", "training", NULL};
	size_t i;

	if (value_choice(ps, n, k->name, names, &i))
		((struct plan_variant *)target)->profile = i > 0;
}

static void read_variant_untrained(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	read_untrained(ps, k, n, &((struct plan_variant *)target)->pgo);
}

static void read_variant_order(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	read_order(ps, k, n, &((struct plan_variant *)target)->pgo);
}

static void read_variant_layout(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	read_layout_value(ps, k, n, &((struct plan_variant *)target)->layout);
}

#define VARIANT(field) offsetof(struct plan_variant, field)
static const struct key variant[] = {
	{"name", KEY_TEXT, VARIANT(name), .required = true,
		.doc = "What it is called in reports and, with `-` for what is no part of a file "
		       "name, in that of its archive."},
	{"lto", KEY_PART, .read = read_variant_lto,
		.doc = "As `build.lto`; `default`: what the project's own flags say. Default: that "
		       "of `build`."},
	{"cpu", KEY_PART, .read = read_variant_cpu,
		.doc = "As `build.cpu`; `default`: what the project's own flags say. Default: that "
		       "of `build`."},
	{"profile", KEY_PART, .read = read_profile,
		.doc = "`training` (default): the profile of the training; `none`: it is compiled "
		       "without one."},
	{"context-sensitive", KEY_BOOL, VARIANT(pgo.context_sensitive),
		.doc = "As `pgo.context-sensitive`. Default: that of `pgo`."},
	{"untrained", KEY_PART, .read = read_variant_untrained,
		.doc = "As `pgo.untrained`. Default: that of `pgo`."},
	{"function-order", KEY_PART, .read = read_variant_order,
		.doc = "As `pgo.function-order`. Default: that of `pgo`."},
	{"layout", KEY_PART, .read = read_variant_layout,
		.doc = "As `layout` of the whole file. Default: `off`, whatever that says."},
};
const struct key_table table_variant = {"variants[]", variant, ARRAY_SIZE(variant)};

void read_variants(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan *p = target;

	if (n->kind != NODE_SEQUENCE) {
		auto_free char *what = node_describe(n);

		problem_add(ps, n, "'variants' must be a list of mappings, not %s", what);
		return;
	}
	p->variants = xcalloc(n->n + 1, sizeof(*p->variants));
	for (size_t i = 0; i < n->n; i++) {
		struct plan_variant *v = &p->variants[p->n_variants++];

		v->profile = true;
		v->at = (struct place){n->items[i]->line, n->items[i]->column};
		keys_read(ps, &table_variant, n->items[i], v);
	}
}

void variants_release(struct plan_variant *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].name);
		free(v[i].file_name);
		free(v[i].cpu);
		free(v[i].pgo.instrument_linker);
		free(v[i].layout.tool);
	}
	free(v);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static char *file_name(const char *name)
{
	struct buf b = BUF_INIT;

	for (const char *c = name; *c; c++) {
		bool kept = isalnum((unsigned char)*c) || strchr("._-+~", *c);

		if (kept || !b.n || b.p[b.n - 1] != '-')
			buf_addc(&b, kept ? *c : '-');
	}
	return buf_detach(&b);
}

static bool is_taken(const struct plan *p, const char *name)
{
	static const char *const others[] = {PLAN_PLAIN, PLAN_OWN, PLAN_BEST, "null", "profile"};

	if (p->layout.mode != PLAN_LAYOUT_OFF && strcmp(PLAN_OWN_LAYOUT, name) == 0)
		return true;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(others[i], name) == 0)
			return true;
	return plan_find_peer(p, name) != NULL;
}

static void check_name(struct problems *ps, const struct node *n, const struct plan *p, size_t i)
{
	const struct plan_variant *v = &p->variants[i];
	const struct node *at = node_get(n, "name");

	for (const char *c = v->name; *c; c++)
		if (iscntrl((unsigned char)*c) || *c == '/') {
			problem_add(ps, at, "the name of a variant has no '/' and is one line");
			return;
		}
	if (strlen(v->name) > NAME_MAX_BYTES)
		problem_add(ps, at, "the name of a variant has at most %d bytes", NAME_MAX_BYTES);
	/* "plain, relink 1" is an arm of another comparison */
	if (is_taken(p, v->name) || strstr(v->name, ", relink "))
		problem_add(ps, at,
			"a variant cannot be called '%s': plain, pgo, best, null, profile, relinks "
			"and bench.peers have their names already%s",
			v->name,
			strcmp(v->name, PLAN_OWN_LAYOUT) ? "" : ", and 'layout' gives that one");
	for (size_t k = 0; k < i; k++)
		if (p->variants[k].name && strcmp(p->variants[k].name, v->name) == 0)
			problem_add(ps, at, "the variant '%s' is given twice", v->name);
		else if (p->variants[k].file_name &&
			 strcmp(p->variants[k].file_name, v->file_name) == 0)
			problem_add(ps, at,
				"the variants '%s' and '%s' would both have '%s' in the names of "
				"their files",
				p->variants[k].name, v->name, v->file_name);
	if (strcmp(v->file_name, PLAN_OWN) == 0 && strcmp(v->name, PLAN_OWN) != 0)
		problem_add(ps, at, "'%s' would stand in the name of a file as '%s' does", v->name,
			PLAN_OWN);
}

/* What it does not say is what the plan says. */
static void complete(const struct node *n, const struct plan *p, struct plan_variant *v)
{
	if (!node_get(n, "lto"))
		v->lto = p->build.lto;
	if (!node_get(n, "cpu"))
		v->cpu = xstrdup(p->build.cpu);
	if (!node_get(n, "context-sensitive"))
		v->pgo.context_sensitive = p->pgo.context_sensitive;
	v->pgo.instrument_linker = xstrdup(p->pgo.instrument_linker);
	if (!node_get(n, "untrained"))
		v->pgo.untrained = p->pgo.untrained;
	if (!node_get(n, "function-order"))
		v->pgo.order = p->pgo.order;
	if (!v->layout.tool)
		v->layout.tool = xstrdup(p->layout.tool);
}

struct plan_variant plan_own_variant(const struct plan *p)
{
	static char name[] = PLAN_OWN;

	return (struct plan_variant){
		.name = name,
		.lto = p->build.lto,
		.cpu = p->build.cpu,
		.profile = true,
		.pgo = p->pgo,
	};
}

/* layout: of the whole file is one more variant. */
static void add_own_layout(struct plan *p, const struct node *at)
{
	struct plan_variant own = plan_own_variant(p);
	struct plan_variant *v;

	if (p->layout.mode == PLAN_LAYOUT_OFF)
		return;
	p->variants = xreallocarray(p->variants, p->n_variants + 1, sizeof(*p->variants));
	v = &p->variants[p->n_variants++];
	*v = own;
	v->name = xstrdup(PLAN_OWN_LAYOUT);
	v->file_name = xstrdup(PLAN_OWN_LAYOUT);
	v->cpu = xstrdup(own.cpu);
	v->pgo.instrument_linker = xstrdup(own.pgo.instrument_linker);
	v->layout = p->layout;
	v->layout.tool = xstrdup(p->layout.tool);
	v->at = (struct place){at->line, at->column};
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

bool plan_same_but_layout(const struct plan_variant *a, const struct plan_variant *b)
{
	return a->lto == b->lto && same_text(a->cpu, b->cpu) && a->profile == b->profile &&
	       (!a->profile || (a->pgo.context_sensitive == b->pgo.context_sensitive &&
				       a->pgo.untrained == b->pgo.untrained &&
				       a->pgo.order == b->pgo.order));
}

static bool same_build(const struct plan_variant *a, const struct plan_variant *b)
{
	return a->layout.mode == b->layout.mode &&
	       (a->layout.mode == PLAN_LAYOUT_OFF || same_text(a->layout.tool, b->layout.tool)) &&
	       plan_same_but_layout(a, b);
}

/* What is measured twice under two names shows noise as a difference. */
static void check_same(struct problems *ps, const struct node *n, const struct plan *p, size_t i)
{
	static const char *const of_profile[] = {
		"context-sensitive", "untrained", "function-order"};
	char plain_name[] = PLAN_PLAIN;
	const struct plan_variant own = plan_own_variant(p);
	const struct plan_variant plain = {
		.name = plain_name, .lto = p->build.lto, .cpu = p->build.cpu};
	const struct plan_variant *v = &p->variants[i], *same = NULL;

	if (same_build(v, &own))
		same = &own;
	if (same_build(v, &plain))
		same = &plain;
	for (size_t k = 0; k < i && !same; k++)
		if (p->variants[k].name && same_build(v, &p->variants[k]))
			same = &p->variants[k];
	if (same)
		problem_add(
			ps, n, "the variant '%s' is the same build as '%s'", v->name, same->name);
	if (v->pgo.context_sensitive && p->build.tool == TOOL_CARGO &&
		node_get(n, "context-sensitive"))
		problem_add(ps, node_get(n, "context-sensitive"),
			"'context-sensitive' is not possible with cargo: rustc has no option that "
			"puts counters in after inlining; clang has");
	for (size_t k = 0; !v->profile && k < ARRAY_SIZE(of_profile); k++)
		if (node_get(n, of_profile[k]))
			problem_add(ps, node_get(n, of_profile[k]),
				"'%s' has no effect here: the variant has no profile",
				of_profile[k]);
}

static void check_released(struct problems *ps, const struct node *at, const struct plan *p)
{
	const char *name = p->release.variant, *near;
	auto_strv struct strv known = STRV_INIT;

	if (!name || !strcmp(name, PLAN_OWN) || !strcmp(name, PLAN_BEST) ||
		plan_find_variant(p, name))
		return;
	strv_add(&known, PLAN_OWN);
	strv_add(&known, PLAN_BEST);
	for (size_t i = 0; i < p->n_variants; i++)
		if (p->variants[i].name)
			strv_add(&known, p->variants[i].name);
	near = nearest_word(name, (const char *const *)known.v, known.n);
	problem_add(ps, at, "there is no variant '%s'%s%s%s", name, near ? "; did you mean '" : "",
		near ? near : "", near ? "'?" : "");
}

/* listed: how many variants are in the list; the next is what 'layout' adds. */
static void check_own_layout(
	struct problems *ps, const struct node *root, const struct plan *p, size_t listed)
{
	const struct node *list = node_get(root, "variants");

	if (p->layout.mode == PLAN_LAYOUT_OFF)
		return;
	for (size_t i = 0; i < listed && !ps->n; i++)
		if (same_build(&p->variants[i], &p->variants[listed]))
			problem_add(ps, list->items[i],
				"the variant '%s' is the same build as '%s', which 'layout' adds",
				p->variants[i].name, PLAN_OWN_LAYOUT);
	if (!p->bench.enabled && !p->release.variant)
		problem_add(ps, node_get(root, "layout"),
			"'layout' has no effect here: a laid-out program is released when it is "
			"shown "
			"to be better, and nothing is measured (bench: false); 'release: "
			"{variant: pgo+layout}' releases it in any case");
}

void check_variants(struct problems *ps, const struct node *root, struct plan *p)
{
	const struct node *list = node_get(root, "variants");
	const struct node *release = node_get(root, "release");
	size_t listed = p->n_variants;

	for (size_t i = 0; i < listed; i++) {
		struct plan_variant *v = &p->variants[i];

		if (!v->name)
			continue;
		v->file_name = file_name(v->name);
		complete(list->items[i], p, v);
		check_name(ps, list->items[i], p, i);
	}
	add_own_layout(p, node_get(root, "layout"));
	if (p->n_variants > PLAN_VARIANTS_MAX)
		problem_add(ps, list, "%zu variants: at most %d can be compared", p->n_variants,
			PLAN_VARIANTS_MAX);
	/* What could not be read may be where they differ. */
	for (size_t i = 0; i < listed && !ps->n; i++)
		check_same(ps, list->items[i], p, i);
	check_own_layout(ps, root, p, listed);
	check_released(ps, node_get(release, "variant"), p);
	if (p->release.variant && !p->bench.enabled && !strcmp(p->release.variant, PLAN_BEST))
		problem_add(ps, node_get(release, "variant"),
			"'variant: best' has no effect here: nothing is measured (bench: false)");
}
