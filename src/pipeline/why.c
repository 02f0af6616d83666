#include "pipeline/why.h"

#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/history.h"

/* What a part of a key is called, and the parts whose change explains its own. */
static const struct part {
	const char *name, *text, *causes[5];
} parts[] = {
	{"sources", "sources changed", {0}},
	{"plan", "the plan changed", {0}},
	{"build", "the plan's build: section changed", {0}},
	{"training", "the plan's train: section changed", {0}},
	{"emulator", "another emulator", {0}},
	{"emulator's command", "the emulator's command changed", {"training", "emulator"}},
	{"conditions", "the answer of a when: command changed", {"training"}},
	{"compilers", "compiler changed", {0}},
	{"runtimes", "another profile runtime", {"compilers"}},
	{"profile", "the profile changed", {0}},
	{"environment", "environment changed", {0}},
	{"commit", "another commit", {0}},
	{"version", "the version changed", {"sources", "commit"}},
	{"epoch", "SOURCE_DATE_EPOCH changed", {"commit"}},
	{"steps", "the commands of the build changed",
		{"build", "version", "commit", "sources", "compilers"}},
	{"wrapper", "the flags of the wrapper changed", {"compilers", "runtimes", "profile"}},
	{"instrumented", "another instrumented build", {0}},
	{"binaries", "the binaries changed", {"instrumented"}},
	{"train", "another training", {0}},
	{"options", "other options were given", {0}},
	{"dist", "another folder for artefacts", {0}},
	{"given", "another profile was given", {0}},
	{"whet", "whet itself changed", {0}},
};

static bool part_differs(const json_t *then, const json_t *now, const char *name)
{
	const json_t *a = json_object_get(then, name), *b = json_object_get(now, name);

	return a || b ? !json_equal((json_t *)(uintptr_t)a, (json_t *)(uintptr_t)b) : false;
}

static void add_count(struct buf *out, const char *first, size_t n)
{
	buf_addf(out, ": '%s'", first);
	if (n > 1)
		buf_addf(out, " (and %zu more)", n - 1);
}

/* Names the entries of a part that has several. */
static void add_entries(struct buf *out, const json_t *then, const json_t *now)
{
	const char *name, *first = NULL;
	const json_t *value;
	size_t n = 0;

	json_object_foreach((json_t *)(uintptr_t)now, name, value)
	{
		if (!*name || json_equal(json_object_get(then, name), (json_t *)(uintptr_t)value))
			continue; /* "": the digest of them all */
		first = first ? first : name;
		n++;
	}
	json_object_foreach((json_t *)(uintptr_t)then, name, value)
	{
		if (!*name || json_object_get(now, name))
			continue;
		first = first ? first : name;
		n++;
	}
	if (n)
		add_count(out, first, n);
}

static void add_sources(struct buf *out, const struct store *s, const struct source_tree *sources,
	const json_t *then)
{
	const char *digest = json_string_value(then);
	struct history_change c = {0};

	if (digest && history_changed_sources(s, digest, sources, &c) && c.n)
		add_count(out, c.first, c.n);
	free(c.first);
}

static bool is_caused(const struct part *p, const json_t *then, const json_t *now)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->causes) && p->causes[i]; i++)
		if (part_differs(then, now, p->causes[i]))
			return true;
	return false;
}

char *why_parts_differ(const struct store *s, const struct source_tree *sources, const json_t *then,
	const json_t *now)
{
	auto_buf struct buf out = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const char *name = parts[i].name;
		const json_t *a = json_object_get(then, name), *b = json_object_get(now, name);

		if (!part_differs(then, now, name) || is_caused(&parts[i], then, now))
			continue;
		buf_addf(&out, "%s%s", out.n ? "; " : "", parts[i].text);
		if (strcmp(name, "sources") == 0)
			add_sources(&out, s, sources, a);
		else if (json_is_object(a) && json_is_object(b))
			add_entries(&out, a, b);
	}
	return out.n ? buf_detach(&out) : NULL;
}

char *why_node_runs(const struct run *r, const struct node_key *k)
{
	auto_json json_t *newest = NULL;
	char *why;

	switch (history_node_state(&r->store, k->hex)) {
	case NODE_DAMAGED:
		return xstrdup("its kept outputs are damaged");
	case NODE_UNFINISHED:
		return xstrdup("the last attempt did not end well");
	case NODE_COMPLETE:
		return xstrdup("its kept outputs cannot be used");
	case NODE_ABSENT:
		break;
	}
	newest = history_newest(&r->store, k->kind, k->variant);
	if (!newest)
		return xstrdup("no earlier one is kept");
	why = why_parts_differ(&r->store, &r->sources, json_object_get(newest, "parts"), k->parts);
	return why ? why : xstrdup("its outputs were removed");
}

/* ---- said ---------------------------------------------------------------------------------- */

void why_say_because(struct run *r, const char *fmt, ...)
{
	auto_buf struct buf text = BUF_INIT;
	va_list ap;

	if (!r->o->why)
		return;
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	events_note(r->o->events, "%s %s", r->stage, buf_str(&text));
	free(r->stage_why);
	r->stage_why = buf_detach(&text);
}

void why_say_runs(struct run *r, const struct node_key *k)
{
	auto_free char *why = r->o->why ? why_node_runs(r, k) : NULL;

	if (why)
		why_say_because(r, "runs: %s", why);
}

void why_say_reused(struct run *r, const json_t *record)
{
	char text[CLOCK_TEXT];
	int64_t ns = json_opt_int(record, "finished_ns", 0);

	clock_utc_text((uint64_t)ns / NS_PER_S, text);
	why_say_because(r, "is reused, made %s", text);
}
