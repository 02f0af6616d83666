/* The decision between variants: samples made up, the right answer written out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "gate/decide.h"
#include "stats/stats.h"

#define LAUNCHES 10
#define SLICES 8
#define SCENARIOS 2
#define ARMS 5 /* plain, three variants, null */

static const char *const scenarios[] = {"small", "large"};
static const char *const arms[] = {"plain", "pgo", "pgo+lto", "v3", "null"};

struct made {
	struct samples samples;
	struct comparisons bench;
	struct decision decision;
	struct plan_gates bounds;
	struct candidate candidates[3];
};

/* cost[scenario][variant] against plain; every slice of a launch has the same noise for all, and
 * each its own of about 0.3 %. */
static void make(struct made *m, const double cost[SCENARIOS][3], uint32_t launches)
{
	static const double weights[] = {3, 1};
	struct stats_frame f = {
		.scenarios = scenarios,
		.n_scenarios = SCENARIOS,
		.variants = arms,
		.n_variants = ARMS,
		.null_variant = ARMS - 1,
		.seed = 1,
		.weights = weights,
	};
	struct rng rng;

	*m = (struct made){.bounds = {.worse_margin = 0.02},
		.candidates = {{.name = "pgo"}, {.name = "pgo+lto", .differs = 1},
			{.name = "v3", .differs = 2}}};
	rng_seed(&rng, 7);
	for (uint32_t l = 0; l < launches; l++)
		for (uint32_t s = 0; s < SCENARIOS; s++)
			for (uint32_t k = 0; k < SLICES; k++) {
				double shared = 1 + (double)rng_below(&rng, 100) / 1000;

				for (uint32_t a = 0; a < ARMS; a++) {
					bool plain = a == 0 || a == ARMS - 1;
					double own = 1 + ((double)rng_below(&rng, 61) - 30) / 10000;

					samples_add(&m->samples,
						&(struct sample){.launch = l,
							.scenario = s,
							.variant = a,
							.slice = k,
							.requests = 1000,
							.wall_ns = 50000000,
							.cpu_ns =
								(uint64_t)(4e7 * shared * own *
									   (plain ? 1
										  : cost[s]
											[a - 1]))});
				}
			}
	assert_int_equal(stats_compare(&m->samples, &f, &m->bench, NULL), 0);
}

static void ask(struct made *m)
{
	const struct decide_facts f = {
		.candidates = m->candidates,
		.n = 3,
		.bounds = &m->bounds,
		.bench = &m->bench,
		.samples = &m->samples,
		.seed = 1,
	};
	struct error err = ERROR_INIT;

	decision_release(&m->decision);
	if (decide(&f, &m->decision, &err) < 0)
		fail_msg("%s", err.msg);
	error_release(&err);
}

static void made_release(struct made *m)
{
	samples_release(&m->samples);
	comparisons_release(&m->bench);
	decision_release(&m->decision);
}

static void holds(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("expected '%s' in '%s'", part, text ? text : "(nothing)");
}

static void test_best(void **state)
{
	static const double cost[SCENARIOS][3] = {{0.95, 0.90, 0.93}, {0.97, 0.96, 0.99}};
	struct made m;
	auto_free char *proposal = NULL;

	make(&m, cost, LAUNCHES);
	ask(&m);
	assert_string_equal(m.decision.proposed, "pgo+lto");
	holds(m.decision.why, "no scenario worse, all scenarios together -8.");
	/* 0.90^0.75 * 0.96^0.25 */
	assert_true(fabs(m.decision.v[1].ratio - 0.91463) < 0.002);
	holds(m.decision.v[0].why, "costs more than 'pgo+lto': +4.");
	holds(m.decision.v[2].why, "costs more than 'pgo+lto': +3.");
	proposal = decision_proposal(&m.decision, "pgo");
	holds(proposal, "proposes 'pgo+lto': no scenario worse");
	holds(proposal, "; set release.variant to it");
	assert_null(decision_proposal(&m.decision, "pgo+lto"));
	made_release(&m);
}

/* What is not shown to cost less is not worth a setting more. */
static void test_tie(void **state)
{
	static const double cost[SCENARIOS][3] = {{0.9001, 0.90, 0.93}, {0.96, 0.96, 0.99}};
	struct made m;

	make(&m, cost, LAUNCHES);
	ask(&m);
	assert_string_equal(m.decision.proposed, "pgo");
	assert_int_equal(m.decision.v[1].state, DECIDED_PASSES);
	/* Between two of the list, too, whatever their order. */
	m.candidates[0].out = "stale: 3 functions";
	m.candidates[1].differs = 2;
	m.candidates[2].differs = 1;
	ask(&m);
	assert_string_equal(m.decision.proposed, "pgo+lto");
	holds(m.decision.why, "'pgo' may not be: stale: 3 functions");
	assert_int_equal(m.decision.v[0].state, DECIDED_OUT);
	made_release(&m);
}

/* Within the margin everywhere, and dearer as a whole: plain is the better release. */
static void test_dearer_as_a_whole(void **state)
{
	static const double cost[SCENARIOS][3] = {{1.01, 1.012, 1.015}, {1.01, 1.012, 1.01}};
	struct made m;

	make(&m, cost, LAUNCHES);
	ask(&m);
	assert_string_equal(m.decision.proposed, "plain");
	assert_int_equal(m.decision.v[0].state, DECIDED_WORSE);
	holds(m.decision.v[0].why, "all scenarios together +1.");
	holds(m.decision.v[0].why, "] against plain");
	made_release(&m);
}

/* Which is simpler decides among equals alone. */
static void test_simpler(void **state)
{
	static const double cost[SCENARIOS][3] = {{0.93, 0.90, 0.9001}, {0.98, 0.96, 0.96}};
	struct made m;

	make(&m, cost, LAUNCHES);
	ask(&m);
	assert_string_equal(m.decision.proposed, "pgo+lto");
	m.candidates[1].differs = 3;
	ask(&m);
	assert_string_equal(m.decision.proposed, "v3");
	made_release(&m);
}

static void test_worse(void **state)
{
	static const double cost[SCENARIOS][3] = {{0.80, 0.93, 0.92}, {1.05, 0.99, 1.06}};
	struct made m;

	make(&m, cost, LAUNCHES);
	ask(&m);
	assert_string_equal(m.decision.proposed, "pgo+lto");
	assert_int_equal(m.decision.v[0].state, DECIDED_WORSE);
	holds(m.decision.v[0].why, "scenario 'large': +5.");
	holds(m.decision.v[0].why, "against plain, worse by more than 2 %");
	holds(m.decision.why, "; 'pgo' may not be: scenario 'large'");
	/* Within a wider margin, or without any, the cheapest of all is proposed. */
	m.bounds.worse_margin = 0.08;
	ask(&m);
	assert_string_equal(m.decision.proposed, "pgo");
	m.bounds.worse_margin = -1;
	ask(&m);
	assert_string_equal(m.decision.proposed, "pgo");
	made_release(&m);
}

static void test_none(void **state)
{
	static const double cost[SCENARIOS][3] = {{0.80, 0.93, 0.92}, {1.05, 1.09, 1.06}};
	struct made m;
	auto_free char *proposal = NULL;

	make(&m, cost, LAUNCHES);
	ask(&m);
	assert_string_equal(m.decision.proposed, "plain");
	holds(m.decision.why, "'v3': scenario 'large': +6.");
	proposal = decision_proposal(&m.decision, "pgo");
	holds(proposal, "none of 3 variants may be released, plain is what remains: 'pgo': ");
	made_release(&m);
}

/* Too few launches show nothing: the plan's own, unless the plan wants it shown. */
static void test_few_launches(void **state)
{
	static const double cost[SCENARIOS][3] = {{0.95, 0.80, 0.93}, {0.97, 0.80, 0.99}};
	struct made m;

	make(&m, cost, 3);
	ask(&m);
	assert_string_equal(m.decision.proposed, "pgo");
	holds(m.decision.why, "no interval");
	m.bounds.worse_undecided = true;
	ask(&m);
	assert_string_equal(m.decision.proposed, "plain");
	assert_int_equal(m.decision.v[1].state, DECIDED_UNDECIDED);
	made_release(&m);
}

static void test_nothing_measured(void **state)
{
	struct made m = {.candidates = {{.name = "pgo"}, {.name = "pgo+lto", .out = "replay: 1"},
				 {.name = "v3"}}};

	ask(&m);
	assert_null(m.decision.proposed);
	assert_int_equal(m.decision.v[1].state, DECIDED_OUT);
	assert_true(isnan(m.decision.v[0].ratio));
	assert_null(decision_proposal(&m.decision, "pgo"));
	made_release(&m);
}

/* Without weights there is no figure of all: nothing else than the simplest can be told. */
static void test_no_summary(void **state)
{
	static const double cost[SCENARIOS][3] = {{0.95, 0.80, 0.93}, {0.97, 0.80, 0.99}};
	struct made m;

	make(&m, cost, LAUNCHES);
	for (size_t i = 0; i < m.bench.n_weighted; i++)
		comparison_release(&m.bench.weighted[i]);
	m.bench.n_weighted = 0;
	ask(&m);
	assert_string_equal(m.decision.proposed, "pgo");
	holds(m.decision.why, "they have no weights");
	made_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_best),
		cmocka_unit_test(test_tie),
		cmocka_unit_test(test_simpler),
		cmocka_unit_test(test_dearer_as_a_whole),
		cmocka_unit_test(test_worse),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_few_launches),
		cmocka_unit_test(test_nothing_measured),
		cmocka_unit_test(test_no_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
