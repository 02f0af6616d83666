#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "train/internal.h"

#define COMMAND_MAX 4096
/* Each is a file descriptor, and the load driver needs them for its connections. */
#define PIDFDS_MAX 256
/* Looked at twice, 50 ms apart, a process is no vfork child on its way to exec. */
#define WATCH_TIMES 2

static bool runs_one_of(pid_t pid, const struct strv *binaries)
{
	char path[64];
	struct stat exe, st;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (stat(path, &exe) < 0)
		return false;
	for (size_t i = 0; i < binaries->n; i++)
		if (stat(binaries->v[i], &st) == 0 && st.st_dev == exe.st_dev &&
			st.st_ino == exe.st_ino)
			return true;
	return false;
}

/* The number behind a name in /proc/PID/status (proc_pid_status(5)), or -1. */
static long status_number(const struct buf *status, const char *name)
{
	const char *at = strstr(buf_str(status), name);
	long v;

	return at && sscanf(at + strlen(name), "%ld", &v) == 1 ? v : -1;
}

static char *command_of(pid_t pid)
{
	auto_buf struct buf text = BUF_INIT;
	auto_strv struct strv words = STRV_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	if (file_read(path, COMMAND_MAX, &text, NULL) < 0)
		return xstrdup("");
	for (size_t at = 0; at < text.n; at += strlen(text.p + at) + 1)
		strv_add(&words, text.p + at);
	return strv_shell_quote(&words);
}

/* What may change while it lives. */
static void look(struct sighting *s)
{
	auto_buf struct buf status = BUF_INIT;
	struct stat own, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)s->pid);
	if (file_read(path, 65536, &status, NULL) < 0)
		return;
	if (s->times == 1) /* later it may be an orphan */
		s->parent = (pid_t)status_number(&status, "\nPPid:");
	s->uid = (uid_t)status_number(&status, "\nUid:");
	s->gid = (gid_t)status_number(&status, "\nGid:");
	s->filtered = status_number(&status, "\nSeccomp:") == 2;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)s->pid);
	if (stat("/", &own) == 0 && stat(path, &its) == 0)
		s->other_root = own.st_dev != its.st_dev || own.st_ino != its.st_ino;
}

static void see(struct watch *w, const char *launch, pid_t pid)
{
	uint64_t start = proc_start_time(pid);
	struct sighting *s;

	for (size_t i = 0; i < w->n; i++) {
		if (w->v[i].pid == pid && w->v[i].start == start) {
			w->v[i].times++;
			look(&w->v[i]);
			return;
		}
	}
	array_reserve(w->v, w->n, w->cap);
	s = &w->v[w->n++];
	*s = (struct sighting){.pid = pid,
		.start = start,
		.times = 1,
		.launch = xstrdup(launch),
		.pidfd = w->n <= PIDFDS_MAX ? (int)syscall(SYS_pidfd_open, pid, 0) : -1,
		.command = command_of(pid)};
	look(s);
}

void watch_pids(struct watch *w, const char *launch, const pid_t *pids, size_t n)
{
	for (size_t i = 0; w->binaries && i < n; i++)
		if (w->emulator ? train_emulates(w->emulator, pids[i], w->binaries)
				: runs_one_of(pids[i], w->binaries))
			see(w, launch, pids[i]);
}

static bool is_known(const struct training_facts *facts, const struct sighting *s)
{
	for (size_t i = 0; i < facts->n_processes; i++)
		if (facts->processes[i].pid == s->pid &&
			strcmp(facts->processes[i].launch, s->launch) == 0)
			return true;
	return false;
}

static const struct raw_file *file_of(const struct training_facts *facts, const struct sighting *s)
{
	for (size_t i = 0; i < facts->n_raws; i++)
		if (facts->raws[i].pid == s->pid && strcmp(facts->raws[i].launch, s->launch) == 0)
			return &facts->raws[i];
	return NULL;
}

const struct sighting *watch_find(const struct watch *w, const char *launch, pid_t pid)
{
	for (size_t i = w->n; i-- > 0;)
		if (w->v[i].pid == pid && strcmp(w->v[i].launch, launch) == 0)
			return &w->v[i];
	return NULL;
}

/* A process below one that runs the binary was made by clone without the fork handlers. Any other
 * one started the binary afresh: it has a hook, or should have, that could not speak. */
static enum process_origin origin_of(const struct watch *w, const struct sighting *s)
{
	return watch_find(w, s->launch, s->parent) ? PROCESS_UNHOOKED : PROCESS_SILENT;
}

void watch_report(const struct watch *w, struct training_facts *facts)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct sighting *s = &w->v[i];
		const struct raw_file *file = file_of(facts, s);

		if (s->times < WATCH_TIMES || is_known(facts, s))
			continue;
		array_reserve(facts->processes, facts->n_processes, facts->cap_processes);
		facts->processes[facts->n_processes++] = (struct process_evidence){.pid = s->pid,
			.parent = s->parent,
			.launch = xstrdup(s->launch),
			.origin = origin_of(w, s),
			.state = file ? file->state : RAW_MISSING,
			.file = file ? xstrdup(file->path) : NULL};
	}
}

void watch_release(struct watch *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->v[i].launch);
		free(w->v[i].command);
		if (w->v[i].pidfd >= 0)
			close(w->v[i].pidfd);
	}
	free(w->v);
	*w = (struct watch){0};
}
