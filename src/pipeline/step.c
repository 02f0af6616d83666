#include "pipeline/step.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"

#define LOG_LINES 30 /* of a failed step, in its message */
#define OUTPUT_ROOM ((off_t)32 << 10)
#define LOOK_NS (200 * NS_PER_MS)
/* For processes that a build left: this long by themselves, then after SIGTERM, then to be gone. */
#define LEFTOVER_NS (100 * NS_PER_MS)
#define LEFTOVER_TERM_NS (2 * NS_PER_S)
#define KILL_LIMIT_NS (10 * NS_PER_S)

static uint64_t count_records(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	uint64_t n = 0;

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

/* What a step has given so far; a step that gives nothing new is silent. */
struct progress {
	uint64_t calls;
	off_t bytes;
	uint64_t since; /* CLOCK_MONOTONIC */
};

static void look(const struct step_watch *w, int output, struct progress *p)
{
	uint64_t calls = count_records(w->records);
	struct stat st = {0};

	(void)fstat(output, &st);
	if (calls != p->calls || st.st_size != p->bytes)
		*p = (struct progress){calls, st.st_size, clock_mono_ns()};
}

static int silent(const struct build_step *s, const struct step_watch *w, struct error *err)
{
	auto_buf struct buf processes = BUF_INIT;
	auto_free char *tail = file_tail(w->output, LOG_LINES);
	auto_free char *command = strv_shell_quote(&s->argv);

	proc_describe_below(getpid(), &processes);
	(void)proc_kill_below(getpid(), KILL_LIMIT_NS);
	return error_set(err, ERR_TIMEOUT,
		"the %s build's step '%s' printed nothing and no compiler call ended for %.3g s: "
		"it "
		"was ended\ncommand: %s\nin: %s\nits processes:\n%s\nlast lines of its "
		"output:\n%s\n"
		"if it only needs longer, raise build.timeout in whet.yaml",
		w->variant, s->label, (double)w->timeout_ns / NS_PER_S, command, s->cwd,
		buf_str(&processes), *tail ? tail : "(none)");
}

static int wait_for_end(const struct build_step *s, const struct step_watch *w, int output,
	pid_t pid, struct proc_exit *end, struct error *err)
{
	auto_free char *name = xasprintf("%s build", w->variant);
	struct progress p = {.since = clock_mono_ns()};
	int result;

	while ((result = proc_wait(pid, LOOK_NS, end, err)) == 1) {
		look(w, output, &p);
		events_progress(w->events, name, "compiler calls", p.calls, w->total);
		if (clock_mono_ns() - p.since >= w->timeout_ns)
			return silent(s, w, err);
	}
	return result;
}

int step_run(const struct build_step *s, const struct strv *env, const struct step_watch *w,
	struct error *err)
{
	auto_close int fd = open(w->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct proc_options o = PROC_OPTIONS_INIT;
	struct proc_exit end;
	pid_t pid;

	if (fd < 0)
		return file_error(err, "create", w->output);
	/* Its last words must find room when the disk is full. */
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, OUTPUT_ROOM) < 0 && errno == ENOSPC)
		return file_error(err, "write", w->output);
	o.argv = &s->argv;
	o.env = env;
	o.cwd = s->cwd;
	o.out_fd = o.err_fd = fd;
	o.new_group = true;
	if (proc_start(&o, &pid, err) < 0 || wait_for_end(s, w, fd, pid, &end, err) < 0)
		return -1;
	if (end.code != 0) {
		auto_free char *how = proc_exit_text(&end);
		auto_free char *tail = file_tail(w->output, LOG_LINES);
		auto_free char *command = strv_shell_quote(&s->argv);

		return error_set(err, ERR_CHILD,
			"the %s build's step '%s' ended with %s\ncommand: %s\nin: %s\nlast lines "
			"of "
			"its output:\n%s",
			w->variant, s->label, how, command, s->cwd, tail);
	}
	return 0;
}

/* Waits until nothing is left, for at most ns. */
static bool gone_within(uint64_t ns)
{
	uint64_t end = clock_mono_ns() + ns;

	for (;;) {
		auto_buf struct buf ignored = BUF_INIT;

		proc_reap();
		if (!proc_describe_below(getpid(), &ignored))
			return true;
		if (clock_mono_ns() >= end)
			return false;
		nanosleep(&(struct timespec){.tv_nsec = 5 * (long)NS_PER_MS}, NULL);
	}
}

int step_end_leftovers(const struct events *events, const char *variant, struct error *err)
{
	auto_buf struct buf left = BUF_INIT;
	size_t n;

	if (gone_within(LEFTOVER_NS))
		return 0;
	n = proc_describe_below(getpid(), &left);
	if (!n)
		return 0;
	proc_signal_below(getpid(), SIGTERM);
	if (!gone_within(LEFTOVER_TERM_NS) && !proc_kill_below(getpid(), KILL_LIMIT_NS))
		return error_set(err, ERR_ENVIRONMENT,
			"what the %s build left running does not end after SIGKILL:\n%s", variant,
			buf_str(&left));
	events_note(events, "the %s build left %zu process%s running, which %s ended: %s", variant,
		n, n == 1 ? "" : "es", n == 1 ? "was" : "were", buf_str(&left));
	return 0;
}
