#include "child.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "origin/origin.h"

void child_start(struct child *c)
{
	char line[32] = "";
	int fds[2];

	if (pipe(fds) < 0)
		abort();
	c->pid = fork();
	if (c->pid == 0) {
		struct origin_options o = {.host = "127.0.0.1", .ready_fd = fds[1]};
		struct error err = ERROR_INIT;

		sigset_t set;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigfillset(&set);
		sigprocmask(SIG_BLOCK, &set, NULL);
		close(fds[0]);
		_exit(origin_serve(&o, &err) < 0 ? 9 : 0);
	}
	close(fds[1]);
	for (size_t n = 0; n < sizeof(line) - 1 && !strchr(line, '\n'); n++) {
		if (read(fds[0], line + n, 1) != 1)
			break;
	}
	close(fds[0]);
	if (sscanf(line, "ports %hu %hu %hu\n", &c->port, &c->tls, &c->dead) != 3)
		abort();
}

int child_stop(struct child *c)
{
	struct error err = ERROR_INIT;
	struct proc_exit e = {0};

	kill(c->pid, SIGTERM);
	if (proc_wait(c->pid, 5 * NS_PER_S, &e, &err) != 0) {
		kill(c->pid, SIGKILL);
		(void)proc_wait(c->pid, UINT64_MAX, &e, &err);
		error_release(&err);
		return -1;
	}
	return e.signal ? -1 : e.code;
}

int raw_open(const struct child *c)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons(c->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

void raw_send(int fd, const char *s, size_t n)
{
	while (n) {
		ssize_t r = send(fd, s, n, MSG_NOSIGNAL);

		if (r <= 0)
			return; /* the server may have closed: the answer tells */
		s += r;
		n -= (size_t)r;
	}
}

char *raw_read(int fd, const char *until, size_t *n, bool *reset)
{
	size_t cap = 4 << 20;
	char *buf = malloc(cap);

	*n = 0;
	if (reset)
		*reset = false;
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t r;

		buf[*n] = 0;
		if ((until && strstr(buf, until)) || poll(&p, 1, 2000) <= 0)
			return buf;
		r = recv(fd, buf + *n, cap - 1 - *n, 0);
		if (r < 0 && errno == ECONNRESET && reset)
			*reset = true;
		if (r <= 0)
			return buf;
		*n += (size_t)r;
	}
}

char *raw_ask(const struct child *c, const char *request, size_t *n)
{
	int fd = raw_open(c);
	char *text;

	raw_send(fd, request, strlen(request));
	shutdown(fd, SHUT_WR); /* complete requests are answered all the same */
	text = raw_read(fd, NULL, n, NULL);
	close(fd);
	return text;
}
