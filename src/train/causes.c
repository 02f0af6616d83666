/* Why a process that ran instrumented code left no profile: what the runtime said in a log, how the
 * process ended, and what was seen of it while it lived. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/file.h"
#include "base/mem.h"
#include "train/internal.h"

struct looking {
	const struct session *s;
	const char *wanted; /* what stands in front of the reason */
	char *reason;
};

/* LLVM's runtime says: Failed to write file "PATH": REASON. */
static int look_in_log(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	struct looking *l = ctx;
	auto_free char *full = path_join(root, path);
	struct file_map m;
	const char *at, *end;

	if (!S_ISREG(st->st_mode) || l->reason || file_map(full, &m, NULL) < 0)
		return 0;
	at = m.n ? memmem(m.p, m.n, l->wanted, strlen(l->wanted)) : NULL;
	if (at) {
		const char *stop = (const char *)m.p + m.n;

		at += strlen(l->wanted);
		end = memchr(at, '\n', (size_t)(stop - at));
		l->reason = xstrndup(at, (size_t)((end ? end : stop) - at));
	}
	file_unmap(&m);
	return 0;
}

/* What the runtime said when it could not write the process's file; NULL: nothing. Caller frees. */
static char *said_of(const struct session *s, const struct process_evidence *p)
{
	auto_free char *logs = path_join(s->o->folder, "logs");
	auto_free char *wanted = xasprintf("/%s/%d.profraw\": ", p->launch, (int)p->pid);
	struct looking l = {.s = s, .wanted = wanted};
	struct error ignored = ERROR_INIT;

	(void)tree_walk(logs, look_in_log, &l, &ignored);
	error_release(&ignored);
	return l.reason;
}

static bool may(const struct stat *st, uid_t uid, gid_t gid, mode_t bits)
{
	mode_t shift = st->st_uid == uid ? 6 : st->st_gid == gid ? 3 : 0;

	return uid == 0 || ((st->st_mode >> shift) & bits) == bits;
}

/* The folder on the way to path, itself included, that keeps the user out; NULL: none. Caller
 * frees. */
static char *closed_folder(const char *path, uid_t uid, gid_t gid)
{
	struct stat st;

	for (size_t n = 1; n <= strlen(path); n++) {
		auto_free char *part = NULL;

		if (path[n] != '/' && path[n] != '\0')
			continue;
		part = xstrndup(path, n);
		if (stat(part, &st) == 0 && !may(&st, uid, gid, path[n] ? 01 : 03))
			return take_ptr(part);
	}
	return NULL;
}

static enum flush_cause cause_of_reason(const char *reason, const struct sighting *seen)
{
	if (disk_full_named(reason))
		return CAUSE_DISK;
	if (seen && seen->filtered)
		return CAUSE_SANDBOX;
	if (seen && seen->other_root)
		return CAUSE_ROOT;
	return strstr(reason, "Permission denied") ? CAUSE_USER : CAUSE_FOLDER;
}

/* What keeps the process's user out of the folder; NULL: nothing. Caller frees. */
static char *closed_text(const char *folder, const struct sighting *seen)
{
	auto_free char *closed = seen ? closed_folder(folder, seen->uid, seen->gid) : NULL;

	return closed ? xasprintf("user %u may not write to, or pass through, '%s'",
				(unsigned int)seen->uid, closed)
		      : NULL;
}

/* From what was seen of it while it lived. */
static enum flush_cause cause_of_sighting(
	const struct sighting *seen, const char *folder, bool left, char **detail)
{
	int status;

	if (seen->filtered)
		return CAUSE_SANDBOX;
	if (seen->other_root)
		return CAUSE_ROOT;
	*detail = closed_text(folder, seen);
	if (*detail)
		return CAUSE_USER;
	if (left && seen->pidfd >= 0 && process_end(seen->pidfd, &status) && WIFEXITED(status)) {
		*detail = xasprintf("exit code %d", WEXITSTATUS(status));
		return CAUSE_EXIT;
	}
	return CAUSE_UNKNOWN;
}

static void find_signal(const struct sighting *seen, struct process_evidence *p)
{
	int status;

	if (!p->signal && seen && seen->pidfd >= 0 && process_end(seen->pidfd, &status) &&
		WIFSIGNALED(status))
		p->signal = WTERMSIG(status);
}

/* A process that skips its exit handlers had one, and has written nothing. */
static bool may_have_left(const struct process_evidence *p)
{
	return p->origin != PROCESS_SILENT && (p->state == RAW_MISSING || p->state == RAW_EMPTY);
}

/* One that lived too shortly to be seen runs what the process runs that made it. */
static char *command_of(
	const struct session *s, const struct process_evidence *p, const struct sighting *seen)
{
	if (!seen && p->origin == PROCESS_FORKED)
		seen = watch_find(&s->watch, p->launch, p->parent);
	return seen ? xstrdup(seen->command) : NULL;
}

static void find_cause(const struct session *s, struct process_evidence *p)
{
	const struct sighting *seen = watch_find(&s->watch, p->launch, p->pid);
	auto_free char *joined = path_join(s->profiles, p->launch);
	auto_free char *folder = path_absolute(joined);
	auto_free char *full = NULL, *reason = said_of(s, p);

	p->command = command_of(s, p, seen);
	find_signal(seen, p);
	if (p->signal) {
		p->cause = p->signal == SIGSYS ? CAUSE_SANDBOX : CAUSE_SIGNAL;
		return;
	}
	if (reason) {
		p->cause = cause_of_reason(reason, seen);
		if (p->cause == CAUSE_USER)
			p->detail = closed_text(folder, seen);
		if (!p->detail)
			p->detail = take_ptr(reason);
		return;
	}
	full = disk_full_text(folder);
	if (full) {
		p->cause = CAUSE_DISK;
		p->detail = take_ptr(full);
	} else if (seen) {
		p->cause = cause_of_sighting(seen, folder, may_have_left(p), &p->detail);
	}
	/* Its file could be made when it started. */
	if (p->cause == CAUSE_UNKNOWN && p->state == RAW_EMPTY && may_have_left(p))
		p->cause = CAUSE_EXIT;
}

void causes_find(const struct session *s)
{
	struct training_facts *f = s->facts;

	for (size_t i = 0; s->profiles && i < f->n_processes; i++)
		if (!f->processes[i].exec && f->processes[i].state != RAW_VALID)
			find_cause(s, &f->processes[i]);
}
