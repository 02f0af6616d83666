/* Ending, stopping and naming the processes below one. Each case runs in a child subreaper of its
 * own, so that what it forgets would show as a descendant of that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/proc.h"

static _Atomic unsigned *count; /* shared with the processes under test */
static uint64_t last;           /* when they end by themselves, should they be forgotten */

static void nap(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * (long)NS_PER_MS}, NULL);
}

/* Runs fn in a subreaper; it says what went wrong, or NULL. */
static void in_subreaper(const char *(*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		const char *problem;

		prctl(PR_SET_CHILD_SUBREAPER, 1);
		problem = fn();
		if (problem)
			(void)!write(2, problem, strlen(problem));
		_exit(problem ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static pid_t start(void (*fn)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		fn();
		_exit(0);
	}
	return pid;
}

static void wait_for(unsigned n)
{
	for (int i = 0; i < 2000 && atomic_load(count) < n; i++)
		nap(5);
}

static const char *all_gone(void)
{
	auto_free pid_t *v = NULL;

	if (!proc_kill_below(getpid(), 20 * NS_PER_S))
		return "not all were killed\n";
	return proc_descendants(getpid(), &v) ? "some are left\n" : NULL;
}

/* Forks the next one and ends, again and again, each in a session of its own: no process lives
 * long enough to be found in a listing of all. */
static void hop(void)
{
	while (clock_mono_ns() < last) {
		pid_t pid = fork();

		if (pid != 0)
			_exit(0);
		setsid();
		prctl(PR_SET_NAME, "another-name");
		atomic_fetch_add(count, 1);
	}
}

static const char *kill_hopper(void)
{
	unsigned then;
	const char *problem;

	start(hop);
	wait_for(20);
	problem = all_gone();
	then = atomic_load(count);
	nap(100);
	return atomic_load(count) != then ? "it hops on\n" : problem;
}

static void test_hopper(void **state)
{
	in_subreaper(kill_hopper);
}

/* Every process forks, up to 300 of them. */
static void bomb(void)
{
	while (clock_mono_ns() < last) {
		if (atomic_load(count) < 300 && fork() == 0)
			atomic_fetch_add(count, 1);
		nap(1);
	}
}

static const char *kill_bomb(void)
{
	start(bomb);
	wait_for(50);
	return all_gone();
}

static void test_bomb(void **state)
{
	in_subreaper(kill_bomb);
}

static void tick(void)
{
	setsid();
	if (fork() == 0)
		setsid();
	while (clock_mono_ns() < last) {
		atomic_fetch_add(count, 1);
		nap(1);
	}
}

static const char *stop_and_go_on(void)
{
	unsigned then;

	start(tick);
	wait_for(10);
	proc_stop_below(getpid(), 10 * NS_PER_S);
	then = atomic_load(count);
	nap(50);
	if (atomic_load(count) != then)
		return "something still runs\n";
	proc_signal_below(getpid(), SIGCONT);
	wait_for(then + 10);
	if (atomic_load(count) < then + 10)
		return "it does not go on\n";
	proc_stop_below(getpid(), 10 * NS_PER_S);
	return all_gone(); /* stopped ones, too */
}

static void test_stop(void **state)
{
	in_subreaper(stop_and_go_on);
}

static void idle(void)
{
	while (clock_mono_ns() < last)
		nap(100);
}

/* A pid alone may be a stranger's. */
static const char *only_the_one(void)
{
	pid_t pid = start(idle);
	uint64_t begin = proc_start_time(pid);

	if (proc_signal(pid, begin + 1, SIGKILL) || proc_kill_tree(pid, begin - 1))
		return "killed by another start time\n";
	nap(20);
	if (waitpid(pid, NULL, WNOHANG) != 0)
		return "it is gone\n";
	if (!proc_signal(pid, begin, SIGKILL) || waitpid(pid, NULL, 0) != pid)
		return "not killed by its own\n";
	return NULL;
}

static void test_only_the_one(void **state)
{
	in_subreaper(only_the_one);
}

static void nest(void)
{
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			idle();
		atomic_fetch_add(count, 1);
		idle();
	}
	idle();
}

static const char *kill_with_children(void)
{
	auto_buf struct buf text = BUF_INIT;
	pid_t pid = start(nest);

	wait_for(1);
	if (proc_describe_below(getpid(), &text) != 3 || !strstr(buf_str(&text), "(state "))
		return "not three processes\n";
	if (!proc_kill_tree(pid, proc_start_time(pid)))
		return "not killed\n";
	for (int i = 0; i < 200; i++) {
		auto_free pid_t *v = NULL;

		proc_reap();
		if (!proc_descendants(getpid(), &v))
			return NULL;
		nap(5);
	}
	return "some are left\n";
}

static void test_kill_with_children(void **state)
{
	in_subreaper(kill_with_children);
}

/* Time limits do not run while everything is stopped. */
static void test_pause(void **state)
{
	uint64_t before, after;

	clock_share_pause();
	before = clock_mono_ns();
	if (fork() == 0) {
		nap(30);
		clock_add_pause(30 * NS_PER_MS);
		_exit(0);
	}
	wait(NULL);
	after = clock_mono_ns();
	assert_true(after >= before);
	nap(1);
	assert_true(clock_mono_ns() > after);
	clock_add_pause(5000 * NS_PER_MS);
	assert_true(clock_mono_ns() < after);
}

static int fresh(void **state)
{
	atomic_store(count, 0);
	last = clock_mono_ns() + 60 * NS_PER_S;
	return 0;
}

#define CASE(name) cmocka_unit_test_setup(test_##name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(hopper),
		CASE(bomb),
		CASE(stop),
		CASE(only_the_one),
		CASE(kill_with_children),
		CASE(pause),
	};

	count = mmap(
		NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (count == MAP_FAILED)
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
