/* The process tree as /proc shows it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/mem.h"
#include "base/proc.h"

const char *proc_stat(pid_t pid, char *text, size_t size)
{
	auto_close int fd = -1;
	char path[64], *p;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (n <= 0)
		return NULL;
	text[n] = '\0';
	p = strrchr(text, ')'); /* the name may hold anything */
	return p && p[1] == ' ' ? p + 2 : NULL;
}

/* Field n (from 4 on) of /proc/PID/stat. */
static bool stat_field(pid_t pid, int field, uint64_t *ret)
{
	char text[1024];
	const char *p = proc_stat(pid, text, sizeof(text));

	for (int at = 3; p && at < field; at++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	if (!p)
		return false;
	*ret = strtoull(p, NULL, 10);
	return true;
}

static bool is_zombie(pid_t pid)
{
	char text[1024];
	const char *p = proc_stat(pid, text, sizeof(text));

	return !p || *p == 'Z' || *p == 'X';
}

uint64_t proc_start_time(pid_t pid)
{
	uint64_t t = 0;

	return stat_field(pid, 22, &t) ? t : 0;
}

struct pair {
	pid_t pid, parent;
};

static size_t all_processes(struct pair **ret)
{
	struct pair *v = NULL;
	size_t n = 0, cap = 0;
	DIR *d = opendir("/proc");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		uint64_t parent;
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (*end || pid <= 0 || !stat_field((pid_t)pid, 4, &parent))
			continue;
		array_reserve(v, n, cap);
		v[n++] = (struct pair){(pid_t)pid, (pid_t)parent};
	}
	if (d)
		closedir(d);
	*ret = v;
	return n;
}

static bool among(const pid_t *v, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == pid)
			return true;
	return false;
}

size_t proc_descendants(pid_t pid, pid_t **ret)
{
	struct pair *all;
	size_t total = all_processes(&all), n = 0, cap = 0, before;
	pid_t *v = NULL;

	/* A parent may come after its child in the listing: repeat until nothing is added. */
	do {
		before = n;
		for (size_t i = 0; i < total; i++) {
			if (all[i].parent != pid && !among(v, n, all[i].parent))
				continue;
			if (among(v, n, all[i].pid))
				continue;
			array_reserve(v, n, cap);
			v[n++] = all[i].pid;
		}
	} while (n != before);
	free(all);
	*ret = v;
	return n;
}

void proc_kill_descendants(pid_t except)
{
	for (int round = 0; round < 1000; round++) {
		auto_free pid_t *v = NULL;
		size_t n = proc_descendants(getpid(), &v), alive = 0;

		for (size_t i = 0; i < n; i++) {
			if (v[i] == except || is_zombie(v[i]))
				continue;
			alive++;
			kill(v[i], SIGKILL);
		}
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (!alive)
			return;
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	}
}
