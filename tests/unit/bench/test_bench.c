#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "bench/bench.h"

static const char *servers[4]; /* plain, slower, wrong, robbed */
static char folder[] = "/tmp/whet-bench-XXXXXX";

/* With the path of a server for the upstream, and the numbers that bench must use. */
static const char yaml[] =
	"project: demo\n"
	"build: {tool: command, run: \"true\", binary: server}\n"
	"train:\n"
	"  services:\n"
	"    upstream:\n"
	"      run: \"%s {port}\"\n"
	"      ready: tcp\n"
	"    server:\n"
	"      run: \"{binary} {port}\"\n"
	"      env: {UPSTREAM: \"{upstream.port}\"}\n"
	"      setup: \"test {upstream.port} -gt 1023 && test {upstream.port} -ne {port}\"\n"
	"      ready: tcp\n"
	"      subject: true\n"
	"  phases:\n"
	"    - name: hello\n"
	"      http: {protocol: h1, connections: 4, requests: 1000, get: /}\n"
	"      expect: {status: 200, body: hello}\n"
	"    - {name: batch, run: \"{binary} work 400\"}\n"
	"    - name: prepared\n"
	"      run: \"test -e {work}/made || { sleep 0.2; : >{work}/made; }; {binary} work 1\"\n"
	"    - {name: idle, run: \"test {port} -ne {upstream.port} && test -d {work}\"}\n"
	"    - {name: fails, run: \"{binary} a b c\"}\n"
	"    - {name: never, when: \"test {port} = 0\", run: \"{binary} work 1\"}\n"
	"bench:\n"
	"  scenarios: [hello, batch, {name: other, http: {connections: 2, get: /other},\n"
	"    expect: {body: hello}}]\n"
	"  launches: 6\n"
	"  slices: 4\n"
	"  slice: 20 ms\n";

static void read_plan(struct plan *plan)
{
	auto_free char *path = path_join(folder, "whet.yaml");
	auto_free char *text = xasprintf(yaml, servers[0]);
	struct error err = ERROR_INIT;

	if (file_write_atomic(path, text, strlen(text), 0644, &err) < 0 ||
		plan_read(path, plan, &err) < 0)
		fail_msg("%s", err.msg);
}

struct seen {
	struct buf text;
	uint64_t last, total, steps;
};

static void on_event(void *ctx, const struct event *e)
{
	struct seen *seen = ctx;

	if (e->kind == EVENT_PROGRESS) {
		assert_true(e->done >= seen->last && e->done <= e->total);
		seen->last = e->done;
		seen->total = e->total;
		seen->steps++;
	}
	buf_addf(&seen->text, "%s\n", e->text ? e->text : "");
}

struct outcome {
	struct samples samples;
	struct comparisons comparisons;
	struct error err;
	struct seen seen;
	int r;
};

/* As --until-resolved and --time-limit give them; NULL: not asked. */
static const char *until_resolved, *time_limit;

static void set_end(struct plan *plan)
{
	struct error err = ERROR_INIT;

	if (until_resolved)
		assert_int_equal(plan_set_bench(plan, "until-resolved", until_resolved, &err), 0);
	if (time_limit)
		assert_int_equal(plan_set_bench(plan, "time-limit", time_limit, &err), 0);
	until_resolved = time_limit = NULL;
}

/* Compares the first servers in the scenarios named (NULL ends). */
static void measure(struct outcome *ret, const char *a, const char *b, const char *const *scenarios)
{
	struct strv one = STRV_INIT, two = STRV_INIT;
	struct bench_variant variants[2] = {{"plain", &one}, {"other", &two}};
	auto_free char *work = path_join(folder, "bench");
	struct plan plan = {0};
	struct events ev = {on_event, &ret->seen};
	struct bench_options o = {.plan = &plan, .variants = variants, .n_variants = b ? 2 : 1};

	read_plan(&plan);
	set_end(&plan);
	strv_release(&plan.bench.scenarios);
	for (; *scenarios; scenarios++)
		strv_add(&plan.bench.scenarios, *scenarios);
	strv_add(&one, a);
	strv_add(&two, b ? b : "");
	o.folder = work;
	o.self = "/bin/false";
	o.events = &ev;
	o.node = "bench";
	assert_int_equal(tree_remove(work, NULL), 0);
	ret->r = bench_run(&o, &ret->samples, &ret->comparisons, &ret->err);
	if (ret->r == 0 && ret->err.msg)
		fail_msg("no error, but '%s'", ret->err.msg);
	strv_release(&one);
	strv_release(&two);
	plan_release(&plan);
}

static void outcome_release(struct outcome *o)
{
	samples_release(&o->samples);
	comparisons_release(&o->comparisons);
	error_release(&o->err);
	buf_release(&o->seen.text);
}

static void succeed(const struct outcome *o)
{
	if (o->r < 0)
		fail_msg("%s", o->err.msg);
}

/* Every launch, scenario and variant has all its slices, and the same number of requests. */
static void check_samples(const struct outcome *o, size_t scenarios, size_t variants)
{
	assert_int_equal(o->samples.n, 6 * scenarios * variants * 4);
	for (size_t i = 0; i < o->samples.n; i++) {
		const struct sample *s = &o->samples.v[i];

		assert_true(s->launch < 6 && s->scenario < scenarios && s->variant < variants);
		assert_true(s->slice < 4 && s->cpu_ns > 0 && s->wall_ns > 0);
		assert_int_equal(s->requests, o->samples.v[0].requests);
	}
}

/* It ran on the subject's processor, in the order of time, and took a small part of it. */
static void check_canary(const struct samples *s)
{
	uint64_t cost = 0, last = 0;

	assert_true(s->n_canaries >= 6);
	for (size_t i = 0; i < s->n_canaries; i++) {
		const struct canary *c = &s->canaries[i];

		assert_true(c->cpu_ns > 0 && (i == 0 || c->at_ns > last));
		assert_true(i == 0 || c->launch >= c[-1].launch);
		cost += c->cpu_ns;
		last = c->at_ns;
	}
	assert_int_equal(s->canaries[s->n_canaries - 1].launch, 5);
	print_message("canary: %zu times, %.2f %% of the time\n", s->n_canaries,
		100 * (double)cost / (double)last);
	assert_true(cost * 50 < last);
}

static void test_planted_difference(void **state)
{
	static const char *const scenarios[] = {"hello", NULL};
	struct outcome o = {0};
	const struct comparison *c;
	cpu_set_t before, after;

	sched_getaffinity(0, sizeof(before), &before);
	measure(&o, servers[0], servers[1], scenarios);
	sched_getaffinity(0, sizeof(after), &after);
	assert_true(CPU_EQUAL(&before, &after));
	succeed(&o);
	check_samples(&o, 1, 3);
	assert_int_equal(o.comparisons.n, 2);
	c = o.comparisons.v;
	print_message("other %.3f [%.3f, %.3f] of %.0f ns; null %.3f [%.3f, %.3f]\n", c[0].ratio,
		c[0].low, c[0].high, c[0].base_ns, c[1].ratio, c[1].low, c[1].high);
	assert_string_equal(c[0].scenario, "hello");
	assert_string_equal(c[0].variant, "other");
	assert_string_equal(c[1].variant, BENCH_NULL_ARM);
	assert_int_equal(c[0].shown, SHOWN_MORE);
	assert_true(c[0].ratio > 1.2 && c[0].ratio < 3.1);
	assert_true(c[1].ratio > 0.8 && c[1].ratio < 1.25);
	assert_int_equal(c[0].launches, 6);
	assert_int_equal(c[0].slices, 24);
	assert_true(c[0].better_launches <= 1 && c[0].better_slices <= 6);
	check_canary(&o.samples);
	assert_true(isnan(o.comparisons.drift) || o.comparisons.drift >= 0);
	assert_true(o.seen.steps >= 24 && o.seen.total == 600);
	assert_non_null(strstr(buf_str(&o.seen.text), "launch 6 of 6: hello, about"));
	outcome_release(&o);
}

/* The launches' folders are gone, and no service is left. */
static void test_nothing_stays(void **state)
{
	auto_free char *work = path_join(folder, "bench/launch0001");

	assert_false(path_exists(work));
}

static void test_one_binary_against_itself(void **state)
{
	static const char *const scenarios[] = {"hello", NULL};
	struct outcome o = {0};

	measure(&o, servers[0], NULL, scenarios);
	succeed(&o);
	assert_int_equal(o.comparisons.n, 1);
	assert_string_equal(o.comparisons.v[0].variant, BENCH_NULL_ARM);
	assert_string_equal(o.comparisons.v[0].base, "plain");
	outcome_release(&o);
}

static void test_batch(void **state)
{
	static const char *const scenarios[] = {"batch", "never", NULL};
	struct outcome o = {0};

	measure(&o, servers[0], servers[1], scenarios);
	succeed(&o);
	assert_int_equal(o.samples.v[0].requests, 1);
	assert_int_equal(o.comparisons.n, 2); /* "never" was not measured, and that is said */
	assert_non_null(strstr(o.comparisons.warnings, "scenario 'never' was not measured"));
	print_message("batch %.3f [%.3f, %.3f] of %.0f us\n", o.comparisons.v[0].ratio,
		o.comparisons.v[0].low, o.comparisons.v[0].high, o.comparisons.v[0].base_ns / 1000);
	assert_int_equal(o.comparisons.v[0].shown, SHOWN_MORE);
	assert_true(o.comparisons.v[0].ratio > 1.2 && o.comparisons.v[0].ratio < 3.1);
	outcome_release(&o);
}

/* What the first run makes for the others does not tell how long one takes, and so not how often it
 * is measured. */
static void test_prepared(void **state)
{
	static const char *const scenarios[] = {"prepared", NULL};
	struct outcome o = {0};
	size_t slices = 0;

	measure(&o, servers[0], servers[1], scenarios);
	succeed(&o);
	for (size_t i = 0; i < o.samples.n; i++)
		slices += o.samples.v[i].launch == 0 && o.samples.v[i].variant == 0;
	assert_int_equal(slices, 4);
	outcome_release(&o);
}

/* A server against itself: half of the base's cost is wide enough for any machine. */
static void test_until_resolved(void **state)
{
	static const char *const scenarios[] = {"other", NULL};
	struct outcome o = {0};

	until_resolved = "50%";
	measure(&o, servers[0], NULL, scenarios);
	succeed(&o);
	assert_true(o.comparisons.v[0].held_out);
	assert_int_equal(o.comparisons.end, TRIAL_RESOLVED);
	assert_int_equal(o.comparisons.v[0].launches, 6);
	assert_int_equal(o.comparisons.v[0].more_launches, 0);
	assert_true(o.comparisons.time_limit_ns == 1800 * NS_PER_S);
	outcome_release(&o);
}

/* And no machine is as quiet as this. */
static void test_time_limit(void **state)
{
	static const char *const scenarios[] = {"other", NULL};
	struct outcome o = {0};

	until_resolved = "0.01%";
	time_limit = "6s";
	measure(&o, servers[0], NULL, scenarios);
	succeed(&o);
	assert_int_equal(o.comparisons.end, TRIAL_TIME);
	assert_true(o.comparisons.wall_ns < 12 * NS_PER_S);
	assert_true(o.comparisons.v[0].more_launches > 0);
	print_message("%u launches in 6 s, about %u more\n", o.comparisons.v[0].launches,
		o.comparisons.v[0].more_launches);
	assert_true(o.seen.last <= o.seen.total);
	outcome_release(&o);
}

static void test_wrong_answer_stops(void **state)
{
	static const char *const scenarios[] = {"hello", NULL};
	struct outcome o = {0};

	measure(&o, servers[0], servers[2], scenarios);
	assert_int_equal(o.r, -1);
	assert_int_equal(o.err.code, ERR_CHILD);
	assert_non_null(strstr(o.err.msg, "scenario 'hello', variant 'other', launch "));
	assert_null(o.samples.v);
	outcome_release(&o);
}

/* It answers on, and all its answers are right: but it is not the server that was to be measured.
 */
static void test_killed_worker_stops(void **state)
{
	static const char *const scenarios[] = {"hello", NULL};
	struct outcome o = {0};

	measure(&o, servers[0], servers[3], scenarios);
	if (o.r == 0) { /* before Linux 6.15 */
		print_message("this kernel does not tell how a process ended\n");
		assert_non_null(strstr(o.comparisons.warnings,
			"service 'server' of variant other: a process ended"));
	} else {
		assert_int_equal(o.err.code, ERR_CHILD);
		assert_non_null(strstr(o.err.msg, "service 'server' of variant other, launch 1"));
		assert_non_null(strstr(o.err.msg, "was ended by signal 9 (Killed)"));
		assert_null(o.samples.v);
	}
	outcome_release(&o);
}

static void test_failing_command_stops(void **state)
{
	static const char *const scenarios[] = {"fails", NULL};
	struct outcome o = {0};

	measure(&o, servers[0], servers[1], scenarios);
	assert_int_equal(o.r, -1);
	assert_int_equal(o.err.code, ERR_CHILD);
	assert_non_null(strstr(o.err.msg, "scenario 'fails', variant 'plain', launch 1"));
	assert_non_null(strstr(o.err.msg, "ended with exit code 2"));
	outcome_release(&o);
}

/* A command that is no load costs the subject nothing: that is said, not divided by. */
static void test_run_that_asks_nothing(void **state)
{
	static const char *const scenarios[] = {"idle", NULL};
	struct outcome o = {0};

	measure(&o, servers[0], NULL, scenarios);
	assert_int_equal(o.r, -1);
	assert_int_equal(o.err.code, ERR_MISMATCH);
	assert_non_null(strstr(o.err.msg, "scenario 'idle'"));
	assert_non_null(strstr(o.err.msg, "no CPU time"));
	outcome_release(&o);
}

static void test_unknown_scenario(void **state)
{
	static const char *const scenarios[] = {"hullo", NULL};
	struct outcome o = {0};

	measure(&o, servers[0], servers[1], scenarios);
	assert_int_equal(o.r, -1);
	assert_int_equal(o.err.code, ERR_CONFIG);
	outcome_release(&o);
}

static void test_scenario_given_twice(void **state)
{
	static const char *const scenarios[] = {"hello", "batch", "hello", NULL};
	struct outcome o = {0};

	measure(&o, servers[0], servers[1], scenarios);
	assert_int_equal(o.r, -1);
	assert_int_equal(o.err.code, ERR_CONFIG);
	assert_string_equal(o.err.msg, "scenario 'hello' would be measured twice, as 'hello' and "
				       "'hello': leave one out");
	outcome_release(&o);
}

static void test_missing_binary(void **state)
{
	static const char *const scenarios[] = {"hello", NULL};
	struct outcome o = {0};

	measure(&o, servers[0], "/nonexistent/server", scenarios);
	assert_int_equal(o.r, -1);
	assert_int_equal(o.err.code, ERR_IO);
	assert_non_null(strstr(o.err.msg, "/nonexistent/server"));
	outcome_release(&o);
}

static int begin(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	return tree_remove(folder, NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planted_difference),
		cmocka_unit_test(test_nothing_stays),
		cmocka_unit_test(test_one_binary_against_itself),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_prepared),
		cmocka_unit_test(test_until_resolved),
		cmocka_unit_test(test_time_limit),
		cmocka_unit_test(test_wrong_answer_stops),
		cmocka_unit_test(test_killed_worker_stops),
		cmocka_unit_test(test_failing_command_stops),
		cmocka_unit_test(test_run_that_asks_nothing),
		cmocka_unit_test(test_unknown_scenario),
		cmocka_unit_test(test_scenario_given_twice),
		cmocka_unit_test(test_missing_binary),
	};

	if (argc != 5)
		return 2;
	for (int i = 0; i < 4; i++)
		servers[i] = argv[i + 1];
	return cmocka_run_group_tests(tests, begin, end);
}
