/* Stopping a process by ptrace.
 *
 * A thread of its own does it: the kernel lets go of everything that a tracing thread holds when
 * that thread ends, however it ends, so no path out of here (nor SIGKILL to whet) leaves the
 * process standing. Ends of traced threads are not waited for (WEXITED): a child of whet that dies
 * now belongs to whoever waits for it. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "snapshot/internal.h"

#define LIMIT_NS (5 * NS_PER_S)      /* for all threads to stand */
#define IN_KERNEL_NS (5 * NS_PER_MS) /* until a thread that sleeps in the kernel is left there */

struct thread {
	pid_t tid;
	int signal; /* it was about to get: delivered when it is let go */
	enum { RUNNING, STANDING, IN_KERNEL, ENDED } state;
};

struct stop {
	pid_t pid;
	struct thread *v;
	size_t n, cap;
	bool refused;
	uint64_t began;
	int (*work)(void *ctx, struct error *err);
	void *ctx;
	struct stop_facts *facts;
	struct error *err;
	int rc;
};

static void seize(void *ctx, pid_t tid)
{
	struct stop *s = ctx;
	struct thread t = {.tid = tid};
	char state;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].tid == tid && s->v[i].state != ENDED)
			return;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0) {
		state = errno == EPERM ? process_state(s->pid, tid) : 0;
		s->refused = s->refused || (state && state != 'Z' && state != 'X');
		return;
	}
	array_reserve(s->v, s->n, s->cap);
	s->v[s->n++] = t;
}

/* Takes what the kernel reports of the thread, without waiting. */
static void look(struct stop *s, struct thread *t)
{
	siginfo_t info = {0};
	char state;

	if (waitid(P_PID, (id_t)t->tid, &info, WSTOPPED | WNOHANG | __WALL | __WNOTHREAD) < 0) {
		t->state = errno == EINTR ? RUNNING : ENDED;
		return;
	}
	if (info.si_pid) {
		/* An event above the signal: the stop that was asked for. None: a signal came. */
		t->signal = info.si_status >> 8 ? 0 : info.si_status;
		t->state = STANDING;
		return;
	}
	if (clock_mono_ns() - s->began < IN_KERNEL_NS)
		return;
	/* A thread that sleeps in the kernel, out of reach of signals, runs no code of the program
	 * before it has stopped. */
	state = process_state(s->pid, t->tid);
	if (state == 'D')
		t->state = IN_KERNEL;
	else if (!state || state == 'Z' || state == 'X')
		t->state = ENDED;
}

/* A quarter of the time so far: what is lost stays small, and so does the time taken from threads
 * that need a processor to stop on. */
static void rest(uint64_t elapsed)
{
	uint64_t ns = elapsed / 4;
	struct timespec pause = {0, (long)(ns < 20000 ? 20000 : ns > NS_PER_MS ? NS_PER_MS : ns)};

	nanosleep(&pause, NULL);
}

static int wait_standing(struct stop *s, struct error *err)
{
	for (;;) {
		const struct thread *running = NULL;

		for (size_t i = 0; i < s->n; i++) {
			if (s->v[i].state == RUNNING)
				look(s, &s->v[i]);
			if (s->v[i].state == RUNNING)
				running = &s->v[i];
		}
		if (!running)
			return 0;
		if (clock_mono_ns() - s->began > LIMIT_NS)
			return error_set(err, ERR_TIMEOUT,
				"thread %d of process %d did not stop within 5 s",
				(int)running->tid, (int)s->pid);
		rest(clock_mono_ns() - s->began);
	}
}

/* Only a thread that runs can make new ones: when all known ones stand and a listing has no other,
 * all stand. */
static int stop_all(struct stop *s, struct error *err)
{
	size_t asked = 0;

	process_threads(s->pid, seize, s);
	s->began = clock_mono_ns();
	do {
		for (; asked < s->n; asked++)
			ptrace(PTRACE_INTERRUPT, s->v[asked].tid, NULL, NULL);
		if (wait_standing(s, err) < 0)
			return -1;
		process_threads(s->pid, seize, s);
	} while (asked < s->n);
	if (s->refused)
		return process_refused(s->pid, err);
	for (size_t i = 0; i < s->n; i++)
		s->facts->threads += s->v[i].state != ENDED;
	if (!s->facts->threads)
		return error_set(err, ERR_IO, "process %d has ended", (int)s->pid);
	return 0;
}

static void let_go(struct stop *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].state == STANDING)
			ptrace(PTRACE_DETACH, s->v[i].tid, NULL, (void *)(uintptr_t)s->v[i].signal);
	if (s->began)
		s->facts->ns = clock_mono_ns() - s->began;
}

/* While the process stands, nothing on the machine should come before letting it go. Only root may
 * ask for that; it is a matter of milliseconds. */
static void hurry(void)
{
	struct sched_param p = {.sched_priority = 1};

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &p);
}

static void *tracer(void *ctx)
{
	struct stop *s = ctx;

	hurry();
	s->rc = stop_all(s, s->err);
	if (s->rc == 0)
		s->rc = s->work(s->ctx, s->err);
	let_go(s);
	return NULL;
}

int stopped_call(pid_t pid, int (*work)(void *ctx, struct error *err), void *ctx,
	struct stop_facts *ret, struct error *err)
{
	struct stop s = {.pid = pid, .work = work, .ctx = ctx, .facts = ret, .err = err};
	sigset_t all, before;
	pthread_t thread;
	int rc;

	*ret = (struct stop_facts){0};
	/* Ctrl-Z or Ctrl-C must not come in between: the process would stand as long as whet does.
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, tracer, &s);
	if (rc == 0)
		pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	free(s.v);
	if (rc)
		return error_set(err, ERR_ENVIRONMENT, "cannot start a thread: %s", strerror(rc));
	return s.rc;
}
