#include "fixture.h"

#include <math.h>

#include "base/mem.h"

static void add_gain(struct comparisons *c, const char *scenario, const char *variant, double ratio)
{
	array_reserve(c->v, c->n, c->cap);
	c->v[c->n++] = (struct comparison){
		.scenario = xstrdup(scenario),
		.variant = xstrdup(variant),
		.base = xstrdup("plain"),
		.base_ns = 21054.25,
		.per_run = false,
		.ratio = ratio,
		.low = ratio - 0.01,
		.high = ratio + 0.02,
		.p = 0.00390625,
		.launches = 10,
		.slices = 120,
		.shown = ratio + 0.02 < 1 ? SHOWN_LESS : SHOWN_NONE,
	};
}

/* Ratios of each launch, the third an outlier. */
static void add_launches(struct comparison *c)
{
	c->by_launch = xcalloc(c->launches, sizeof(*c->by_launch));
	c->outlier = xcalloc(c->launches, sizeof(*c->outlier));
	for (uint32_t i = 0; i < c->launches; i++)
		c->by_launch[i] = c->ratio + (double)i / 1000;
	c->outlier[2] = true;
	c->outlier_slices = 4;
	c->better_launches = 9;
	c->better_slices = 100;
}

static void add_weighted(struct comparisons *c, const char *variant, double ratio)
{
	array_reserve(c->weighted, c->n_weighted, c->cap_weighted);
	c->weighted[c->n_weighted++] = (struct comparison){
		.variant = xstrdup(variant),
		.base = xstrdup("plain"),
		.base_ns = NAN,
		.ratio = ratio,
		.low = NAN,
		.high = NAN,
		.p = NAN,
		.launches = 10,
	};
}

static void make_bench(struct comparisons *c, int n)
{
	double gain = 1 - n / 100.0;

	add_gain(c, "mix [log=on]", "pgo", gain);
	add_gain(c, "post", "pgo", gain + 0.01);
	add_gain(c, "mix [log=on]", "null", 1);
	add_gain(c, "post", "null", 1.001);
	add_weighted(c, "pgo", gain + 0.0025);
	add_weighted(c, "null", 1.0005);
	c->shares = xcalloc(2, sizeof(*c->shares));
	c->shares[0] = 0.75;
	c->shares[1] = 0.25;
	c->n_shares = 2;
	add_launches(&c->v[1]);
	add_launches(&c->weighted[0]);
	c->v[1].held_out = c->v[3].held_out = true;
	c->v[0].more_launches = 7;
	c->driver_busy = 0.5;
	c->drift = 0.031;
	c->drift_alarm = xstrdup("the machine drifted");
	c->end = TRIAL_TIME;
	c->until_resolved = 0.005;
	c->time_limit_ns = 1800000000000;
	c->wall_ns = 1790000000000;
	c->warnings = xstrdup("one\ntwo");
}

static void make_lists(struct past_build *b)
{
	array_reserve(b->tools, b->n_tools, b->cap_tools);
	b->tools[b->n_tools++] =
		(struct past_tool){xstrdup("/usr/bin/clang-19"), xstrdup("clang version 19.1.7")};
	array_reserve(b->artefacts, b->n_artefacts, b->cap_artefacts);
	b->artefacts[b->n_artefacts++] = (struct past_artefact){
		xstrdup("a-1.0.tar.gz"), xstrdup("plain"), xstrdup("00ff"), 123456789012};
	for (int i = 0; i < 3; i++) {
		array_reserve(b->stages, b->n_stages, b->cap_stages);
		b->stages[b->n_stages++] = (struct past_stage){xasprintf("stage %d", i),
			1000000000ULL * (unsigned)(i + 1), 1500000000, i == 1};
	}
}

void build_make(struct past_build *b, int n)
{
	*b = (struct past_build){
		.finished_ns = 1790000000123456789 + (uint64_t)n * 1000000000,
		.started = xstrdup("2026-11-29T16:51:21Z"),
		.project = xstrdup("a"),
		.version = xasprintf("1.%d", n),
		.target = xstrdup("x86_64-unknown-linux-gnu"),
		.whet = xstrdup("0.1.0"),
		.revision = xstrdup("0123456789abcdef0123456789abcdef01234567"),
		.dirty = PAST_DIRTY,
		.machine = xstrdup("a processor, 2 processors"),
		.source = xstrdup("50"),
		.training = xstrdup("7a"),
		.profile = xstrdup("9f"),
	};
	make_lists(b);
	make_bench(&b->bench, n);
}
