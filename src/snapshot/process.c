#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "snapshot/internal.h"

/* The number behind a name in /proc/PID/status, or -1. */
static long status_field(const char *status, const char *name)
{
	auto_free char *line = xasprintf("\n%s:", name);
	const char *at = strstr(status, line);
	long v;

	return at && sscanf(at + strlen(line), "%ld", &v) == 1 ? v : -1;
}

static int read_status(pid_t pid, struct buf *ret)
{
	auto_free char *path = xasprintf("/proc/%d/status", (int)pid);

	return file_read(path, 65536, ret, NULL);
}

char process_state(pid_t pid, pid_t tid)
{
	auto_free char *path = xasprintf("/proc/%d/task/%d/stat", (int)pid, (int)tid);
	auto_buf struct buf b = BUF_INIT;
	const char *end;

	if (file_read(path, 4096, &b, NULL) < 0 || !(end = strrchr(buf_str(&b), ')')) || !end[1])
		return 0;
	return end[2];
}

size_t process_threads(pid_t pid, void (*fn)(void *ctx, pid_t tid), void *ctx)
{
	auto_free char *path = xasprintf("/proc/%d/task", (int)pid);
	DIR *d = opendir(path);
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		long tid = 0;

		if (!isdigit((unsigned char)e->d_name[0]) || sscanf(e->d_name, "%ld", &tid) != 1)
			continue;
		fn(ctx, (pid_t)tid);
		n++;
	}
	if (d)
		closedir(d);
	return n;
}

struct alive {
	pid_t pid, tid;
};

static void note_alive(void *ctx, pid_t tid)
{
	struct alive *a = ctx;
	char state = a->tid ? 0 : process_state(a->pid, tid);

	if (state && state != 'Z' && state != 'X')
		a->tid = tid;
}

int process_find(pid_t pid, pid_t *ret_pid, pid_t *ret_tid, struct error *err)
{
	auto_buf struct buf status = BUF_INIT;
	struct alive a = {0};

	if (read_status(pid, &status) < 0)
		return error_set(err, ERR_IO, "there is no process %d", (int)pid);
	a.pid = (pid_t)status_field(buf_str(&status), "Tgid");
	if (a.pid <= 0)
		return error_set(err, ERR_IO, "there is no process %d", (int)pid);
	if (a.pid == getpid())
		return error_set(err, ERR_USAGE,
			"process %d is whet itself, which cannot stop itself to be read", (int)pid);
	process_threads(a.pid, note_alive, &a);
	if (!a.tid)
		return error_set(err, ERR_IO,
			"process %d has ended (its parent has not taken its exit code yet): its "
			"counters are gone",
			(int)pid);
	*ret_pid = a.pid;
	*ret_tid = a.tid;
	return 0;
}

static long yama(void)
{
	auto_buf struct buf b = BUF_INIT;
	long v = 0;

	if (file_read("/proc/sys/kernel/yama/ptrace_scope", 64, &b, NULL) < 0 ||
		sscanf(buf_str(&b), "%ld", &v) != 1)
		return 0;
	return v;
}

int process_refused(pid_t pid, struct error *err)
{
	auto_buf struct buf status = BUF_INIT;
	long tracer, uid, scope = yama();

	if (read_status(pid, &status) < 0)
		return error_set(err, ERR_IO, "process %d has ended", (int)pid);
	tracer = status_field(buf_str(&status), "TracerPid");
	uid = status_field(buf_str(&status), "Uid");
	if (tracer > 0)
		return error_set(err, ERR_ENVIRONMENT,
			"process %d is traced by process %ld already (a debugger, strace): only "
			"one "
			"can; end that one first",
			(int)pid, tracer);
	if (geteuid() != 0 && uid != (long)geteuid())
		return error_set(err, ERR_ENVIRONMENT,
			"no permission: process %d belongs to user %ld, whet runs as user %ld; run "
			"whet as that user, or as root",
			(int)pid, uid, (long)geteuid());
	if (scope >= 3)
		return error_set(err, ERR_ENVIRONMENT,
			"no permission: kernel.yama.ptrace_scope is %ld, which forbids looking "
			"into "
			"any process until the next boot",
			scope);
	if (scope > 0)
		return error_set(err, ERR_ENVIRONMENT,
			"no permission: kernel.yama.ptrace_scope is %ld, with which %s may look "
			"into "
			"process %d; run whet as root, or set it to 0 (sysctl "
			"kernel.yama.ptrace_scope=0)",
			scope, scope == 1 ? "only the processes that started it" : "only root",
			(int)pid);
	return error_set(err, ERR_ENVIRONMENT,
		"no permission: the kernel lets nobody but root look into process %d (it changed "
		"its user, made itself undumpable, or whet is in a container without "
		"CAP_SYS_PTRACE); run whet as root, in a container with that capability",
		(int)pid);
}
