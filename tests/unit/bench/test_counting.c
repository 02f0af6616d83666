/* Counting by perf_event_open(2), with events of the kernel's own making: every Linux has those,
 * and they go the same way as those of a processor. */
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/proc.h"
#include "bench/counting.h"

/* Nanoseconds on a processor, and pages that were not there. */
static const struct counting_event clocks[COUNTERS_READ] = {
	[COUNTER_INSTRUCTIONS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	[COUNTER_CYCLES] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	[COUNTER_L1I_MISSES] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	[COUNTER_ITLB_MISSES] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
	[COUNTER_BRANCH_MISSES] = {PERF_TYPE_MAX + 1000, 0}, /* no machine has it */
};
static const struct counting_event nothing[COUNTERS_READ] = {
	{PERF_TYPE_MAX + 1000, 0},
	{PERF_TYPE_MAX + 1000, 0},
	{PERF_TYPE_MAX + 1000, 0},
	{PERF_TYPE_MAX + 1000, 0},
	{PERF_TYPE_MAX + 1000, 0},
};

static bool open_source(struct counting_source *s)
{
	struct counters note = {0};

	counting_try(s, clocks, &note);
	counters_release(&note);
	return s->state == COUNTERS_COUNTED;
}

static void burn(unsigned int ms)
{
	struct timespec t;
	uint64_t end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	end = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec + ms * 1000000ULL;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec < end);
}

static void test_try(void **state)
{
	struct counters note = {0};
	struct counting_source s;

	counting_try(&s, nothing, &note);
	/* A container may deny what is not even there. */
	assert_true(s.state == COUNTERS_ABSENT || s.state == COUNTERS_DENIED);
	assert_int_equal(note.state, s.state);
	assert_non_null(strstr(
		note.note, s.state == COUNTERS_ABSENT ? "this machine has none" : "are denied"));
	counters_release(&note);
	if (!open_source(&s))
		skip();
	assert_true(s.can[COUNTER_USER][COUNTER_INSTRUCTIONS]);
	assert_false(s.can[COUNTER_USER][COUNTER_BRANCH_MISSES]);
	counting_try(&s, clocks, &note);
	assert_non_null(strstr(note.note, "this processor does not count: branch misses"));
	counters_release(&note);
}

static uint64_t children_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

/* A command and what it starts, and nothing of the process that counts. */
static void test_programs(void **state)
{
	auto_strv struct strv argv = STRV_INIT;
	struct proc_options p = PROC_OPTIONS_INIT;
	struct counting *c = NULL;
	struct counting_source s;
	struct counting_sum sum;
	struct proc_exit end;
	struct error err = ERROR_INIT;
	uint64_t before;

	if (!open_source(&s))
		skip();
	strv_add(&argv, "/bin/sh");
	strv_add(&argv, "-c");
	strv_add(&argv, "i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; (i=0; while [ $i -lt "
			"60000 ]; do i=$((i + 1)); done) & wait; /bin/true");
	p.argv = &argv;
	assert_int_equal(counting_programs(&s, COUNTER_USER, &c, &err), 0);
	before = children_ns();
	burn(200);
	assert_int_equal(proc_run(&p, 60000000000ULL, &end, &err), 0);
	burn(200);
	before = children_ns() - before;
	counting_read(c, &sum);
	counting_free(c);
	assert_int_equal(end.code, 0);
	/* The fork before execve(2) is not counted. */
	assert_true(sum.v[COUNTER_INSTRUCTIONS] > 0.8 * (double)before);
	assert_true(sum.v[COUNTER_INSTRUCTIONS] < 1.05 * (double)before);
	assert_true(sum.v[COUNTER_L1I_MISSES] > 10);
	assert_true(sum.v[COUNTER_ITLB_MISSES] == 0);
	assert_true(isnan(sum.v[COUNTER_BRANCH_MISSES]));
	assert_true(sum.running > 0.99);
}

static void *thread(void *ctx)
{
	int *pipes = ctx;
	char c;

	while (read(pipes[0], &c, 1) == 1) {
		burn(50);
		if (fork() == 0) {
			burn(50);
			_exit(0);
		}
		(void)wait(NULL);
		if (write(pipes[1], &c, 1) != 1)
			break;
	}
	return NULL;
}

/* A server with a thread beside its first one, that starts a process for a request. */
static _Noreturn void serve(int in, int out)
{
	int pipes[2] = {in, out};
	pthread_t t;

	pthread_create(&t, NULL, thread, pipes);
	if (write(out, "r", 1) != 1)
		_exit(1);
	pthread_join(t, NULL);
	_exit(0);
}

static size_t list_one(const void *ctx, pid_t **ret)
{
	*ret = xcalloc(1, sizeof(**ret));
	**ret = *(const pid_t *)ctx;
	return 1;
}

static void test_tree(void **state)
{
	struct counting_source s;
	struct counting *c = NULL;
	struct counting_sum first, second;
	struct error err = ERROR_INIT;
	int to[2], from[2];
	pid_t pid;
	char x;

	if (!open_source(&s))
		skip();
	assert_int_equal(pipe(to) + pipe(from), 0);
	pid = fork();
	if (pid == 0) {
		close(to[1]);
		serve(to[0], from[1]);
	}
	close(to[0]);
	assert_int_equal(read(from[0], &x, 1), 1);
	assert_int_equal(counting_tree(&s, COUNTER_USER, list_one, &pid, &c, &err), 0);
	assert_int_equal(write(to[1], "x", 1), 1);
	assert_int_equal(read(from[0], &x, 1), 1);
	counting_read(c, &first);
	assert_int_equal(write(to[1], "x", 1), 1);
	assert_int_equal(read(from[0], &x, 1), 1);
	counting_read(c, &second);
	counting_free(c);
	close(to[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* 50 ms in the thread and 50 in the process that it started, each time. */
	assert_true(first.v[COUNTER_INSTRUCTIONS] >= 98e6 && first.v[COUNTER_INSTRUCTIONS] < 130e6);
	assert_true(
		second.v[COUNTER_INSTRUCTIONS] >= 198e6 && second.v[COUNTER_INSTRUCTIONS] < 250e6);
	/* Another count begins at nothing. */
	assert_int_equal(counting_programs(&s, COUNTER_KERNEL, &c, &err), 0);
	counting_read(c, &first);
	counting_free(c);
	assert_true(first.v[COUNTER_INSTRUCTIONS] == 0);
	close(from[0]);
	close(from[1]);
}

/* Lists one that was not there before, as if the tree never came to rest. */
static size_t list_growing(const void *ctx, pid_t **ret)
{
	static size_t calls;
	const pid_t *pids = ctx;

	calls++;
	*ret = xcalloc(2, sizeof(**ret));
	(*ret)[0] = pids[0];
	(*ret)[1] = pids[1];
	return calls % 2 ? 1 : 2;
}

static void test_restless(void **state)
{
	struct counting_source s;
	struct counting *c = NULL;
	struct error err = ERROR_INIT;
	pid_t pids[2] = {getpid(), fork()};

	if (pids[1] == 0) {
		pause();
		_exit(0);
	}
	if (open_source(&s)) {
		assert_int_equal(counting_tree(&s, COUNTER_USER, list_growing, pids, &c, &err), -1);
		assert_int_equal(err.code, ERR_ENVIRONMENT);
		assert_non_null(strstr(err.msg, "starts threads or processes all the time"));
		error_release(&err);
	}
	kill(pids[1], SIGKILL);
	assert_int_equal(waitpid(pids[1], NULL, 0), pids[1]);
}

/* The load needs file descriptors, too. */
static void test_spare(void **state)
{
	struct counting_source s;
	struct counting *c = NULL;
	struct error err = ERROR_INIT;
	struct rlimit own, few;

	if (!open_source(&s))
		skip();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &own), 0);
	few = own;
	few.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(counting_programs(&s, COUNTER_USER, &c, &err), -1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &own), 0);
	assert_string_equal(err.msg, "cannot count in user mode: Too many open files (ulimit -n)");
	error_release(&err);
	assert_int_equal(counting_programs(&s, COUNTER_USER, &c, &err), 0);
	counting_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_try),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_restless),
		cmocka_unit_test(test_spare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
