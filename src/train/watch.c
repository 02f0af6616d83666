#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "train/internal.h"

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

static pid_t parent_of(pid_t pid)
{
	auto_buf struct buf text = BUF_INIT;
	char path[64], *p;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read(path, 4096, &text, NULL) < 0)
		return 0;
	p = strrchr(buf_str(&text), ')');
	return p && sscanf(p, ") %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

static void see(struct watch *w, const char *launch, pid_t pid)
{
	uint64_t start = proc_start_time(pid);

	for (size_t i = 0; i < w->n; i++) {
		if (w->v[i].pid == pid && w->v[i].start == start) {
			w->v[i].times++;
			return;
		}
	}
	array_reserve(w->v, w->n, w->cap);
	w->v[w->n++] = (struct sighting){.pid = pid,
		.parent = parent_of(pid),
		.start = start,
		.times = 1,
		.launch = xstrdup(launch)};
}

void watch_pids(struct watch *w, const char *launch, const pid_t *pids, size_t n)
{
	for (size_t i = 0; w->binaries && i < n; i++)
		if (runs_one_of(pids[i], w->binaries))
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
			.origin = PROCESS_UNHOOKED,
			.state = file ? file->state : RAW_MISSING,
			.file = file ? xstrdup(file->path) : NULL};
	}
}

void watch_release(struct watch *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i].launch);
	free(w->v);
	*w = (struct watch){0};
}
