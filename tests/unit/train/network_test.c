/* A training in a network of its own. */
#include "fixture.h"

#include "profile/profile.h"

static int note_executed(
	void *ctx, const char *key, uint64_t hash, const uint64_t *counts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!counts[i])
			continue;
		strv_add(ctx, key);
		return 0;
	}
	return 0;
}

static void executed(const struct fixture *f, struct strv *ret)
{
	struct profile *p = profile_new();

	for (size_t i = 0; i < f->facts.n_raws; i++) {
		auto_free char *path = path_join(f->profiles, f->facts.raws[i].path);

		assert_int_equal(profile_add_file(p, path, 1, NULL, NULL), 0);
	}
	profile_each(p, note_executed, ret);
	profile_free(p);
	strv_sort(ret);
}

static struct strv warnings;

static void keep_warnings(void *ctx, const struct event *e)
{
	if (e->kind == EVENT_WARNING)
		strv_add(&warnings, e->text);
}

static const struct events events = {.emit = keep_warnings};

static void begin(struct fixture *f, bool private)
{
	strv_release(&warnings);
	f->o.events = &events;
	f->plan.train.private_network = private;
	run(f);
	if (warnings.n && strstr(warnings.v[0], "no private network"))
		skip();
}

/* A server whose answers and requests pass a loopback with small packets. */
static void executes_the_same(void **state)
{
	struct fixture *f = *state;
	auto_strv struct strv without = STRV_INIT, with = STRV_INIT;

	add_service(f, "edge", "{binary} serve {port} 2", READY_TCP);
	add_http(f, "/work", 200);
	run(f);
	executed(f, &without);
	assert_int_equal(count_work(f), 200);
	assert_true(without.n >= 3);
	training_facts_release(&f->facts);
	assert_int_equal(tree_remove(f->profiles, NULL), 0);
	begin(f, true);
	assert_int_equal(warnings.n, 0);
	assert_null(f->facts.failure);
	assert_int_equal(f->facts.phases[0].status, PHASE_OK);
	assert_int_equal(f->facts.phases[0].done, 200);
	assert_int_equal(count_state(f, RAW_VALID), 3);
	assert_int_equal(count_work(f), 200);
	executed(f, &with);
	assert_true(strv_equal(&without, &with));
}

static void loopback_alone_with_its_mtu(void **state)
{
	struct fixture *f = *state;
	struct plan_output out = {.text = TEXT("1500\n3\n"), .bytes = -1};
	struct plan_phase *p;

	p = add_run(f, "look", "{binary} mtu; wc -l < /proc/net/dev", 1);
	p->batch.outputs = &out;
	p->batch.n_outputs = 1;
	begin(f, true);
	assert_null(f->facts.phases[0].problem);
	assert_int_equal(f->facts.phases[0].status, PHASE_OK);
}

/* Files belong to whom they would belong without, and whet may still look into its processes. */
static void owners_and_snapshots(void **state)
{
	struct fixture *f = *state;
	auto_free char *path = NULL;
	struct stat st;

	add_service(f, "edge", "{binary} deaf", READY_NONE);
	add_run(f, "touch", "touch {work}/file", 1);
	begin(f, true);
	assert_true(f->facts.processes[0].snapshot);
	assert_int_equal(f->facts.processes[0].state, RAW_VALID);
	path = xasprintf("%s/scratch/edge/file", f->root);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, geteuid());
}

static void another_user_in_it(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	add_service(f, "edge", "{binary} serve {port} 2 65534", READY_TCP);
	add_http(f, "/work", 100);
	begin(f, true);
	assert_int_equal(count_state(f, RAW_VALID), 3);
	assert_int_equal(count_work(f), 100);
}

static void errors_come_through(void **state)
{
	struct fixture *f = *state;

	f->plan.train.private_network = true;
	add_run(f, "batch", "{binary} {nothing}", 1);
	assert_int_equal(train_run(&f->o, &f->facts, &f->err), -1);
	assert_int_equal(f->err.code, ERR_CONFIG);
	assert_part(f->err.msg, "phase 'batch'");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(executes_the_same),
		TEST(loopback_alone_with_its_mtu),
		TEST(owners_and_snapshots),
		TEST(another_user_in_it),
		TEST(errors_come_through),
	};
	int failed = run_trainings(tests, argc, argv);

	strv_release(&warnings);
	return failed;
}
