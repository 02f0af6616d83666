#include "layout/branch_record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/strv.h"

#define SECOND UINT64_C(1000000000)
#define START_LIMIT (60 * SECOND) /* perf looks at every thread of every process first */
#define STOP_LIMIT (60 * SECOND)

struct branch_recording {
	char *data, *log, *control, *ack;
	int control_fd, ack_fd;
	pid_t pid;
	uint64_t start; /* of pid */
	bool running;
	struct proc_exit end;
};

static void recording_free(struct branch_recording *r)
{
	if (r->control)
		unlink(r->control);
	if (r->ack)
		unlink(r->ack);
	if (r->control_fd >= 0)
		close(r->control_fd);
	if (r->ack_fd >= 0)
		close(r->ack_fd);
	free(r->data);
	free(r->log);
	free(r->control);
	free(r->ack);
	free(r);
}

/* A fifo with both of its ends here, so that neither side waits for the other to open it. */
static int open_fifo(const char *path, int *fd, struct error *err)
{
	unlink(path);
	if (mkfifo(path, 0600) < 0)
		return file_error(err, "make", path);
	*fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return *fd < 0 ? file_error(err, "open", path) : 0;
}

static void record_arguments(
	const struct branch_record_options *o, const struct branch_recording *r, struct strv *argv)
{
	auto_strv struct strv pids = STRV_INIT;
	auto_free char *list = NULL;

	for (size_t k = 0; k < o->n_pids; k++)
		strv_addf(&pids, "%d", (int)o->pids[k]);
	list = strv_join(&pids, ",");
	strv_add(argv, o->perf);
	strv_add(argv, "record");
	strv_add(argv, "-e");
	strv_take(argv, branch_event_text(o->event));
	strv_add(argv, "-j");
	strv_add(argv, "any,u");
	strv_add(argv, o->event->period ? "-c" : "-F");
	strv_addf(
		argv, "%" PRIu64, o->event->period ? o->event->period : (uint64_t)BRANCH_FREQUENCY);
	strv_add(argv, "--no-buildid-cache");
	strv_add(argv, "--delay=-1"); /* stands until it is told to begin */
	strv_addf(argv, "--control=fifo:%s,%s", r->control, r->ack);
	strv_add(argv, "-o");
	strv_add(argv, o->data);
	strv_add(argv, "-p");
	strv_add(argv, list);
}

static int perf_failed(const struct branch_recording *r, const char *what, struct error *err)
{
	auto_free char *end = proc_exit_text(&r->end), *tail = file_tail(r->log, 5);

	return error_set(err, ERR_CHILD, "%s: %s%s%s", what, end, *tail ? ":\n" : "", tail);
}

static int start_perf(
	const struct branch_record_options *o, struct branch_recording *r, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT;
	auto_close int log = open(o->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct proc_options p = PROC_OPTIONS_INIT;

	if (log < 0)
		return file_error(err, "write", o->log);
	record_arguments(o, r, &argv);
	p.argv = &argv;
	p.out_fd = p.err_fd = log;
	p.new_group = true; /* a signal of the terminal is whet's to answer */
	if (proc_start(&p, &r->pid, err) < 0)
		return -1;
	r->start = proc_start_time(r->pid);
	r->running = true;
	return 0;
}

/* Tells perf to begin, and waits for its answer. */
static int begin(struct branch_recording *r, struct error *err)
{
	static const char enable[] = "enable\n";
	uint64_t until = clock_mono_ns() + START_LIMIT;
	struct pollfd p = {.fd = r->ack_fd, .events = POLLIN};

	if (file_write_all(r->control_fd, enable, sizeof(enable) - 1) < 0)
		return file_error(err, "write", r->control);
	while (poll(&p, 1, 50) <= 0) {
		int state = proc_wait(r->pid, 0, &r->end, err);

		if (state < 0)
			return -1;
		if (!state) {
			r->running = false;
			return perf_failed(r, "perf record did not begin", err);
		}
		if (clock_mono_ns() > until)
			return error_set(err, ERR_TIMEOUT,
				"perf record did not begin within %d s: see '%s'",
				(int)(START_LIMIT / SECOND), r->log);
	}
	return 0;
}

struct branch_recording *branch_record_start(
	const struct branch_record_options *o, struct error *err)
{
	struct branch_recording *r = xcalloc(1, sizeof(*r));

	r->control_fd = r->ack_fd = -1;
	r->data = xstrdup(o->data);
	r->log = xstrdup(o->log);
	r->control = xasprintf("%s.control", o->data);
	r->ack = xasprintf("%s.ack", o->data);
	unlink(o->data);
	if (open_fifo(r->control, &r->control_fd, err) < 0 ||
		open_fifo(r->ack, &r->ack_fd, err) < 0 || start_perf(o, r, err) < 0 ||
		begin(r, err) < 0) {
		branch_record_abandon(r);
		return NULL;
	}
	return r;
}

static int end_perf(struct branch_recording *r, int sig, struct error *err)
{
	int state;

	if (!r->running)
		return 0;
	proc_signal(r->pid, r->start, sig);
	state = proc_wait(r->pid, STOP_LIMIT, &r->end, err);
	if (state > 0) {
		proc_signal(r->pid, r->start, SIGKILL);
		proc_wait(r->pid, UINT64_MAX, &r->end, NULL);
		r->running = false;
		return error_set(err, ERR_TIMEOUT,
			"perf record did not end within %d s and was killed: see '%s'",
			(int)(STOP_LIMIT / SECOND), r->log);
	}
	r->running = false;
	return state;
}

int branch_record_stop(struct branch_recording *r, struct error *err)
{
	int result = end_perf(r, SIGINT, err);

	/* It writes the recording, and then ends by the signal that it was stopped by. */
	if (!result && r->end.code != 0 && r->end.signal != SIGINT)
		result = perf_failed(r, "perf record failed", err);
	if (!result && !path_exists(r->data))
		result = perf_failed(r, "perf record left no recording", err);
	recording_free(r);
	return result;
}

void branch_record_abandon(struct branch_recording *r)
{
	if (!r)
		return;
	end_perf(r, SIGKILL, NULL);
	unlink(r->data);
	recording_free(r);
}

/* Under which name the program was recorded; another build of it is refused. */
static int find_name(const struct branch_read_options *o, char **ret, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	auto_free char *list = NULL;
	struct proc_options p = PROC_OPTIONS_INIT;

	strv_add(&argv, o->perf);
	strv_add(&argv, "buildid-list");
	strv_add(&argv, "-f");
	strv_add(&argv, "-i");
	strv_add(&argv, o->data);
	p.argv = &argv;
	if (proc_capture(&p, o->timeout_ns, &lines, err) < 0)
		return -1;
	list = strv_join(&lines, "\n");
	return branch_buildid_find(list, o->image, ret, err);
}

static int start_script(
	const struct branch_read_options *o, int out, int log, pid_t *pid, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT;
	struct proc_options p = PROC_OPTIONS_INIT;

	strv_add(&argv, o->perf);
	strv_add(&argv, "script");
	strv_add(&argv, "-f"); /* also when the recording is another user's */
	strv_add(&argv, "-F");
	strv_add(&argv, "pid,brstack");
	strv_add(&argv, "--show-mmap-events");
	strv_add(&argv, "--show-task-events");
	strv_add(&argv, "--show-lost-events");
	strv_add(&argv, "-i");
	strv_add(&argv, o->data);
	p.argv = &argv;
	p.out_fd = out;
	p.err_fd = log;
	p.new_group = true;
	return proc_start(&p, pid, err);
}

/* Waits for its end. 0, or -1 when it failed. That its reader stopped is no failure of its. */
static int end_script(const struct branch_read_options *o, pid_t pid, struct error *err)
{
	struct proc_exit end = {0};
	auto_free char *how = NULL, *tail = NULL;
	int state = proc_wait(pid, o->timeout_ns, &end, err);

	if (state > 0) {
		kill(pid, SIGKILL); /* not waited for yet, so the pid is its */
		proc_wait(pid, UINT64_MAX, &end, NULL);
		return error_set(err, ERR_TIMEOUT, "perf script did not end");
	}
	if (state < 0)
		return -1;
	if (!end.code || end.signal == SIGPIPE)
		return 0;
	how = proc_exit_text(&end);
	tail = file_tail(o->log, 5);
	return error_set(
		err, ERR_CHILD, "perf script failed: %s%s%s", how, *tail ? ":\n" : "", tail);
}

static int read_script(
	const struct branch_read_options *o, struct branch_reader *r, struct error *err)
{
	auto_close int log = open(o->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int ends[2], started, result;
	struct error reading = ERROR_INIT;
	pid_t pid;

	if (log < 0)
		return file_error(err, "write", o->log);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
	started = start_script(o, ends[1], log, &pid, err);
	close(ends[1]);
	result = started < 0 ? -1 : branch_reader_take(r, ends[0], &reading);
	close(ends[0]); /* a writer that has more to say ends, too */
	if (started < 0)
		return -1;
	/* A text that was cut off is explained by how its writer ended. */
	if (end_script(o, pid, err) < 0) {
		error_release(&reading);
		return -1;
	}
	if (result < 0) {
		error_context(&reading, "the branch stacks of '%s'", o->data);
		return error_move(err, &reading);
	}
	return 0;
}

int branch_record_read(
	const struct branch_read_options *o, struct branch_reader **ret, struct error *err)
{
	struct branch_reader_options ro = {.image = o->image};
	struct branch_reader *r;
	auto_free char *name = NULL;

	if (find_name(o, &name, err) < 0)
		return -1;
	ro.recorded_as = name;
	r = branch_reader_new(&ro);
	if (read_script(o, r, err) < 0 ||
		branch_counts_judge(branch_reader_counts(r), o->image, err) < 0) {
		branch_reader_free(r);
		return -1;
	}
	*ret = r;
	return 0;
}
