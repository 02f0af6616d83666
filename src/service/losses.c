/* Which processes of a service were ended from outside or by a fault of their own.
 *
 * Only a parent learns how its child ended; a worker is the child of the service's own master. But
 * who holds a pidfd from before may ask the kernel afterwards: PIDFD_GET_INFO with PIDFD_INFO_EXIT,
 * Linux 6.15 and later (include/uapi/linux/pidfd.h). Older kernels refuse the question; then it is
 * known only that the process is gone. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "service/internal.h"

/* Each costs a file descriptor, and the load driver needs them for its connections. */
#define WATCHED_MAX 256

/* The first 64 bytes of the kernel's struct pidfd_info: the headers of many systems lack it. */
struct exit_info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t exit_code; /* as wait() gives it */
};
_Static_assert(sizeof(struct exit_info) == 64, "the size is part of the request's number");
#define ASK_EXIT_INFO _IOWR(0xFF, 11, struct exit_info)
#define MASK_EXIT (UINT64_C(1) << 3)

static bool is_watched(const struct service *s, pid_t pid)
{
	for (size_t i = 0; i < s->n_watched; i++)
		if (s->watched[i].pid == pid && !s->watched[i].ended)
			return true;
	return false;
}

static bool has_ended(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

bool process_end(int pidfd, int *status)
{
	struct exit_info info = {.mask = MASK_EXIT};

	if (!has_ended(pidfd) || ioctl(pidfd, ASK_EXIT_INFO, &info) < 0 || !(info.mask & MASK_EXIT))
		return false;
	*status = info.exit_code;
	return true;
}

void service_watch(struct service *s)
{
	auto_free pid_t *v = NULL;
	size_t n = tree_members(s->tree, &v);

	for (size_t i = 0; i < s->n_watched; i++)
		s->watched[i].ended = has_ended(s->watched[i].pidfd);
	for (size_t i = 0; i < n && s->n_watched < WATCHED_MAX; i++) {
		int fd;

		if (is_watched(s, v[i]))
			continue;
		fd = (int)syscall(SYS_pidfd_open, v[i], 0);
		if (fd < 0)
			continue; /* it has ended meanwhile */
		array_reserve(s->watched, s->n_watched, s->cap_watched);
		s->watched[s->n_watched++] = (struct watched){.pid = v[i], .pidfd = fd};
	}
}

/* Signals by which no program ends its own helpers in good order. */
static bool is_violent(int sig)
{
	static const int violent[] = {SIGKILL, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS,
		SIGTRAP, SIGXCPU, SIGXFSZ};

	for (size_t i = 0; i < ARRAY_SIZE(violent); i++)
		if (violent[i] == sig)
			return true;
	return false;
}

enum service_loss service_lost(const struct service *s, char **text)
{
	enum service_loss r = LOSS_NONE;

	*text = NULL;
	for (size_t i = 0; i < s->n_watched; i++) {
		int fd = s->watched[i].pidfd, status;

		if (!has_ended(fd))
			continue;
		if (!process_end(fd, &status)) {
			r = LOSS_UNKNOWN;
			free(*text);
			*text = xasprintf("process %d has ended, this kernel does not tell how",
				(int)s->watched[i].pid);
			continue;
		}
		if (!WIFSIGNALED(status) || !is_violent(WTERMSIG(status)))
			continue;
		free(*text);
		*text = xasprintf("process %d was ended by signal %d (%s)", (int)s->watched[i].pid,
			WTERMSIG(status), strsignal(WTERMSIG(status)));
		return LOSS_SIGNAL;
	}
	return r;
}

void service_watch_release(struct service *s)
{
	for (size_t i = 0; i < s->n_watched; i++)
		close(s->watched[i].pidfd);
	free(s->watched);
}
