/* The beginning of a run. What an interrupted one left is cleaned up by its record, run.json: the
 * id that all of its processes have in their environment, and when it began. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/scratch.h"
#include "pipeline/run.h"

#define RUN_ID "WHET_RUN_ID"
#define END_LIMIT_NS (10 * NS_PER_S) /* for survivors to be gone */

/* Start times are counted from the boot of the machine. */
static char *boot_id(void)
{
	auto_buf struct buf b = BUF_INIT;

	if (file_read("/proc/sys/kernel/random/boot_id", 256, &b, NULL) < 0)
		return xstrdup("");
	return xstrndup(buf_str(&b), strcspn(buf_str(&b), "\n"));
}

static bool has_environment_entry(pid_t pid, const char *entry)
{
	auto_free char *path = xasprintf("/proc/%d/environ", (int)pid);
	auto_buf struct buf b = BUF_INIT;

	if (file_read(path, 4 << 20, &b, NULL) < 0)
		return false;
	for (const char *p = buf_str(&b), *end = p + b.n; p < end; p += strlen(p) + 1)
		if (strcmp(p, entry) == 0)
			return true;
	return false;
}

static bool is_dead(pid_t pid)
{
	struct proc_stat s;

	return !proc_stat(pid, &s) || s.state == 'Z' || s.state == 'X';
}

static bool is_own(pid_t pid)
{
	return pid == getpid() || pid == getppid();
}

/* Kills what is left of a run, with all that descends from it: a program may have overwritten its
 * environment. Returns how many were found; *last is one of them. */
static size_t kill_once(const char *entry, uint64_t since, pid_t *last)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		char *end;
		pid_t pid = (pid_t)strtol(e->d_name, &end, 10);
		uint64_t start = *end || pid <= 0 ? 0 : proc_start_time(pid);

		/* Older than the run: whatever it has in its environment, it is not of it. */
		if (!start || start < since || is_own(pid) || is_dead(pid) ||
			!has_environment_entry(pid, entry))
			continue;
		n++;
		*last = pid;
		/* By its start time: the pid may have been given to a stranger by now. */
		(void)proc_kill_tree(pid, start);
	}
	if (d)
		closedir(d);
	return n;
}

static int end_survivors(const json_t *record, struct error *err)
{
	auto_free char *id = json_opt_str(record, "run_id");
	auto_free char *then = json_opt_str(record, "boot"), *boot = boot_id();
	auto_free char *entry = xasprintf(RUN_ID "=%s", id ? id : "");
	uint64_t since = (uint64_t)json_opt_int(record, "since", 0);
	uint64_t end = clock_mono_ns() + END_LIMIT_NS;
	pid_t last = 0;

	if (!id || (then && strcmp(then, boot) != 0))
		return 0;
	while (kill_once(entry, since, &last)) {
		if (clock_mono_ns() >= end)
			return error_set(err, ERR_ENVIRONMENT,
				"process %d of an interrupted build of this project does not end "
				"after SIGKILL; end it, then build again",
				(int)last);
		nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
	}
	return 0;
}

static int clean_up_earlier_run(const char *path, struct error *err)
{
	auto_json json_t *j = path_exists(path) ? json_read_file(path, NULL) : NULL;
	auto_free char *scratch = j ? json_opt_str(j, "scratch") : NULL;

	if (j && end_survivors(j, err) < 0)
		return -1;
	if (scratch && strncmp(path_basename(scratch), "whet-", 5) == 0)
		(void)tree_remove(scratch, NULL);
	return 0;
}

int run_begin(struct run *r, struct error *err)
{
	auto_free char *path = store_path(&r->store, "run.json"), *boot = boot_id();
	auto_free char *tmp = NULL;
	auto_json json_t *j = json_object();
	const char *id;

	if (clean_up_earlier_run(path, err) < 0 || scratch_name("whet", &r->scratch, err) < 0)
		return -1;
	id = strrchr(r->scratch, '-') + 1;
	setenv(RUN_ID, id, 1);
	json_set_text(j, "run_id", id);
	json_set_text(j, "scratch", r->scratch);
	json_set_text(j, "boot", boot);
	json_object_set_new(j, "since", json_integer((json_int_t)proc_start_time(getpid())));
	/* Recorded first: then a run that is killed here leaves nothing either. */
	if (json_write_file(j, path, err) < 0)
		return -1;
	if (scratch_create(r->scratch, err) < 0)
		return -1;
	tmp = path_join(r->scratch, SCRATCH_TMP);
	return dir_create(tmp, 0777, err);
}
