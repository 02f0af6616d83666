/* Snapshots of processes that are about to be killed. They wait in a folder of their own until all
 * processes are gone: a process that still wrote its profile needs none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "profile/profile.h"
#include "snapshot/snapshot.h"
#include "train/internal.h"

#define FOLDER ".snapshots" /* below the profiles; no launch has that name */

static char *waiting_path(const struct session *s, const char *launch, pid_t pid)
{
	return xasprintf("%s/" FOLDER "/%s/%d.profraw", s->profiles, launch, (int)pid);
}

static bool is_taken(const struct session *s, const char *launch, pid_t pid)
{
	for (size_t i = 0; i < s->n_snapshots; i++)
		if (s->snapshots[i].pid == pid && !strcmp(s->snapshots[i].launch, launch))
			return true;
	return false;
}

bool snapshots_wait(const struct session *s, const char *launch, pid_t pid)
{
	return !s->snapshots_put && is_taken(s, launch, pid);
}

static void take(struct session *s, const char *launch, pid_t pid)
{
	auto_free char *path = waiting_path(s, launch, pid), *folder = path_dirname(path);
	struct error err = ERROR_INIT;
	struct snapshot made = {0};

	if (is_taken(s, launch, pid))
		return;
	if (dir_create(folder, 0700, &err) < 0 || snapshot_write(pid, path, &made, &err) < 0) {
		/* A process without counters, as a shell around the program, needs none. */
		if (err.code != ERR_UNSUPPORTED ||
			train_emulates(s->o->emulator, pid, s->o->binaries))
			events_warning(s->o->events, "no snapshot of process %d before its end: %s",
				(int)pid, err.msg);
		error_release(&err);
		return;
	}
	for (size_t i = 0; i < made.notes.n; i++)
		events_warning(
			s->o->events, "snapshot of process %d: %s", (int)pid, made.notes.v[i]);
	snapshot_release(&made);
	array_reserve(s->snapshots, s->n_snapshots, s->cap_snapshots);
	s->snapshots[s->n_snapshots].pid = pid;
	s->snapshots[s->n_snapshots++].launch = launch;
}

void snapshots_take(void *running, const pid_t *pids, size_t n)
{
	const struct running *r = running;

	for (size_t i = 0; r->launch && i < n; i++)
		take(r->session, r->launch, pids[i]);
}

static bool is_valid(const char *path)
{
	struct profile_images images = {0};
	bool valid = path_exists(path) && profile_check_raw(path, &images, NULL) == 0;

	profile_images_release(&images);
	return valid;
}

/* Whether the process itself wrote after its snapshot was taken: what it wrote before, by a call of
 * its own, lacks what it counted later. */
static bool is_newer(const char *own, const char *snapshot)
{
	struct stat a, b;

	if (stat(own, &a) < 0 || stat(snapshot, &b) < 0)
		return false;
	return a.st_mtim.tv_sec != b.st_mtim.tv_sec ? a.st_mtim.tv_sec > b.st_mtim.tv_sec
						    : a.st_mtim.tv_nsec > b.st_mtim.tv_nsec;
}

/* What the process itself left unfinished, or wrote earlier, goes: the snapshot has all of it. */
static int put(const struct session *s, const char *launch, pid_t pid, struct error *err)
{
	auto_free char *waiting = waiting_path(s, launch, pid);
	auto_free char *own = xasprintf("%s/%s/%d.profraw", s->profiles, launch, (int)pid);
	auto_free char *to =
		xasprintf("%s/%s/%d." SNAPSHOT_IMAGE ".profraw", s->profiles, launch, (int)pid);

	if (is_newer(own, waiting) && is_valid(own))
		return 0;
	(void)unlink(own);
	return file_rename(waiting, to, err);
}

int snapshots_put(struct session *s, struct error *err)
{
	auto_free char *folder = s->profiles ? path_join(s->profiles, FOLDER) : NULL;

	for (size_t i = 0; i < s->n_snapshots; i++)
		if (put(s, s->snapshots[i].launch, s->snapshots[i].pid, err) < 0)
			return -1;
	s->snapshots_put = true;
	return folder ? tree_remove(folder, err) : 0;
}

void snapshots_tell(const struct session *s)
{
	const struct training_facts *f = s->facts;

	for (size_t i = 0; i < f->n_processes; i++)
		if (f->processes[i].snapshot)
			events_warning(s->o->events,
				"process %d (launch '%s') did not write its profile at the stop: a "
				"snapshot was taken right before; what it counted later is not in "
				"the profile",
				(int)f->processes[i].pid, f->processes[i].launch);
}
