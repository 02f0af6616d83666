/* Counters that are read between phases: none is lost and none is counted twice, whatever ends in
 * between. */
#include "fixture.h"

#include "profile/profile.h"

static int sum_counts(void *ctx, const char *key, uint64_t hash, const uint64_t *counts, size_t n)
{
	uint64_t *to = ctx;

	for (size_t i = 0; i < n; i++)
		*to += counts[i];
	return 0;
}

static uint64_t of_profiles(const struct fixture *f)
{
	struct profile *p = profile_new();
	uint64_t sum = 0;

	for (size_t i = 0; i < f->facts.n_raws; i++) {
		auto_free char *path = path_join(f->profiles, f->facts.raws[i].path);

		assert_int_equal(profile_add_file(p, path, 1, NULL, NULL), 0);
	}
	profile_each(p, sum_counts, &sum);
	profile_free(p);
	return sum;
}

static uint64_t of_parts(const struct coverage_facts *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->n_phases; i++)
		sum += c->phases[i].count;
	return sum;
}

/* What the parts counted is what the profiles hold, and nothing is said to be missing. */
static void assert_whole(struct fixture *f, struct coverage_facts *c)
{
	f->o.coverage = c;
	run(f);
	assert_null(f->facts.failure);
	assert_null(c->problem);
	if (c->notes)
		fail_msg("%s", c->notes);
	assert_true(of_profiles(f) > 0);
	assert_int_equal(of_parts(c), of_profiles(f));
}

/* A process that has been read and ends while another one is: the busy one is waited for. */
static void ends_while_another_is_read(void **state)
{
	struct fixture *f = *state;
	struct coverage_facts c = {0};

	add_service(f, "edge", "{binary} late", READY_NONE);
	add_service(f, "busy", "{binary} spin", READY_NONE);
	add_run(f, "wake",
		"while [ ! -s {work}/worker ]; do sleep 0.01; done; kill -USR1 $(cat "
		"{work}/worker)",
		1);
	add_run(f, "rest", "sleep 0.1", 1);
	assert_whole(f, &c);
	assert_int_equal(count_state(f, RAW_VALID), 3);
	coverage_facts_release(&c);
}

/* One that whet kills at the change of a setting: its snapshot is all that is left of it. */
static void killed_between_settings(void **state)
{
	static struct plan_value values[] = {{.name = TEXT("a")}, {.name = TEXT("b")}};
	struct plan_axis axis = {.name = TEXT("set"), .values = values, .n = 2};
	struct fixture *f = *state;
	struct coverage_facts c = {0};

	add_service(f, "edge", "{binary} deaf", READY_NONE);
	f->services[0].axes = &axis;
	f->services[0].n_axes = 1;
	add_run(f, "wait", "sleep 0.1", 1);
	assert_whole(f, &c);
	assert_int_equal(f->facts.n_processes, 2);
	assert_true(f->facts.processes[0].snapshot && f->facts.processes[1].snapshot);
	coverage_facts_release(&c);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(ends_while_another_is_read),
		TEST(killed_between_settings),
	};

	return run_trainings(tests, argc, argv);
}
