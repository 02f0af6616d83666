/* ledger-driver: notes one build in a history, for the tests of what reads it.
 *
 * ledger-driver FILE VERSION [NAME=VALUE | SCENARIO:VARIANT=RATIO[,LOW,HIGH]]...
 * NAME: revision, dirty (0, 1, 2: not known), machine, target, training, compiler, share (of each
 * scenario, in their order). The figures come by variant, then by scenario; the scenario * is all
 * by weight. The build ends a day after the one before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ledger/ledger.h"

#define FIRST 1790000000ULL
#define DAY 86400ULL

static int fail(struct error *err)
{
	fprintf(stderr, "ledger-driver: %s\n", err->msg ? err->msg : "failed");
	error_release(err);
	return 1;
}

static void add_figure(struct comparisons *to, const char *name, const char *value)
{
	const char *colon = strchr(name, ':'), *p = value;
	struct comparison c = {
		.variant = xstrdup(colon + 1),
		.base = xstrdup("plain"),
		.base_ns = 20000,
		.low = NAN,
		.high = NAN,
		.p = 0.002,
		.launches = 10,
		.slices = 120,
	};
	char *end;

	c.ratio = strtod(p, &end);
	if (*end == ',') {
		c.low = strtod(end + 1, &end);
		c.high = strtod(end + 1, &end);
	}
	c.shown = c.high < 1 ? SHOWN_LESS : c.low > 1 ? SHOWN_MORE : SHOWN_NONE;
	if (strncmp(name, "*:", 2) == 0) {
		array_reserve(to->weighted, to->n_weighted, to->cap_weighted);
		to->weighted[to->n_weighted++] = c;
		return;
	}
	c.scenario = xstrndup(name, (size_t)(colon - name));
	array_reserve(to->v, to->n, to->cap);
	to->v[to->n++] = c;
}

static void set(struct past_build *b, const char *name, const char *value)
{
	if (strcmp(name, "revision") == 0)
		b->revision = xstrdup(value);
	else if (strcmp(name, "dirty") == 0)
		b->dirty = atoi(value);
	else if (strcmp(name, "machine") == 0)
		b->machine = xstrdup(value);
	else if (strcmp(name, "target") == 0)
		b->target = xstrdup(value);
	else if (strcmp(name, "training") == 0)
		b->training = xstrdup(value);
	else if (strcmp(name, "compiler") == 0) {
		array_reserve(b->tools, b->n_tools, b->cap_tools);
		b->tools[b->n_tools++] =
			(struct past_tool){xstrdup("/usr/bin/clang"), xstrdup(value)};
	} else if (strcmp(name, "share") == 0) {
		b->bench.shares = xreallocarray(
			b->bench.shares, b->bench.n_shares + 1, sizeof(*b->bench.shares));
		b->bench.shares[b->bench.n_shares++] = strtod(value, NULL);
	} else {
		add_figure(&b->bench, name, value);
	}
}

static void add_lists(struct past_build *b)
{
	array_reserve(b->stages, b->n_stages, b->cap_stages);
	b->stages[b->n_stages++] =
		(struct past_stage){xstrdup("plain build"), 2 * NS_PER_S, 3 * NS_PER_S, false};
	array_reserve(b->stages, b->n_stages, b->cap_stages);
	b->stages[b->n_stages++] =
		(struct past_stage){xstrdup("bench"), 10 * NS_PER_S, 11 * NS_PER_S, false};
	array_reserve(b->artefacts, b->n_artefacts, b->cap_artefacts);
	b->artefacts[b->n_artefacts++] = (struct past_artefact){
		xasprintf("hello-%s.tar.gz", b->version), xstrdup("plain"), xstrdup("00ff"), 4711};
}

int main(int argc, char **argv)
{
	struct past_builds all = {0};
	struct error err = ERROR_INIT;
	struct past_build b = {.dirty = PAST_DIRTY_UNKNOWN};
	char started[CLOCK_TEXT];
	struct ledger l;
	int64_t id;

	if (argc < 3)
		return 2;
	l = (struct ledger){argv[1], LEDGER_PATIENCE_MS};
	if (ledger_read(&l, &all, &err) < 0)
		return fail(&err);
	b.bench.drift = NAN;
	b.finished_ns = (FIRST + all.n * DAY) * NS_PER_S;
	clock_utc_text(FIRST + all.n * DAY - 60, started);
	b.started = xstrdup(started);
	b.project = xstrdup("hello");
	b.version = xstrdup(argv[2]);
	b.whet = xstrdup("0.1.0");
	for (int i = 3; i < argc; i++) {
		char *equal = strrchr(argv[i], '=');

		if (!equal)
			return 2;
		*equal = '\0';
		set(&b, argv[i], equal + 1);
	}
	if (!b.target)
		b.target = xstrdup("x86_64-unknown-linux-gnu");
	add_lists(&b);
	if (ledger_add(&l, &b, &id, &err) < 0)
		return fail(&err);
	past_build_release(&b);
	past_builds_release(&all);
	return 0;
}
