/* A small HTTP/1.1 server with several worker processes: the subject of whet's own tests.
 *
 *   prefork --port N [--workers N] [--user NAME] [--work N] [--daemon 1] [--fault WHAT]
 *   prefork --mix N
 *
 * GET /count calls counted() --work times (default 1); GET /mix takes indirect calls; GET /fail is
 * 500 when --fault 500. Other faults show themselves while the profile is written or after: see
 * fault.c. */
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prefork.h"

const char *fault = "";
static volatile sig_atomic_t stopping;
static int work = 1;

static void on_term(int sig)
{
	(void)sig;
	stopping = 1;
}

static int answer(int fd, int status, const char *body)
{
	char text[512];
	int n = snprintf(text, sizeof(text),
		"HTTP/1.1 %d %s\r\nContent-Length: %zu\r\nContent-Type: text/plain\r\n\r\n%s",
		status,
		status == 200   ? "OK"
		: status == 404 ? "Not Found"
				: "Error",
		strlen(body), body);

	/* In one piece: two writes would wait for the other side's delayed acknowledgement. */
	return write(fd, text, (size_t)n) == n;
}

static int handle(int fd, const char *path)
{
	char body[128];

	if (strcmp(path, "/count") == 0) {
		for (int i = 0; i < work; i++)
			counted(i);
		return answer(fd, 200, "counted\n");
	}
	if (strcmp(path, "/mix") == 0) {
		snprintf(body, sizeof(body), "%u\n", mix(97));
		return answer(fd, 200, body);
	}
	if (strcmp(path, "/fail") == 0 && (strcmp(fault, "500") == 0 || untrained()))
		return answer(fd, 500, "broken\n");
	if (strcmp(path, "/health") == 0 || strcmp(path, "/fail") == 0)
		return answer(fd, 200, "ok\n");
	return answer(fd, 404, "no such thing\n");
}

/* Into the background: the process that was started ends, the server is another one. */
static void become_daemon(void)
{
	if (fork() != 0)
		exit(0);
	setsid();
	if (fork() != 0)
		exit(0);
}

/* One connection, request after request; every request fits into one read on loopback. */
static void serve(int fd)
{
	char in[4096], path[256];
	ssize_t n;

	fault_in_connection();
	while (!stopping && (n = read(fd, in, sizeof(in) - 1)) > 0) {
		in[n] = '\0';
		if (sscanf(in, "%*15s %255s", path) != 1 || !handle(fd, path))
			break;
	}
	close(fd);
}

static void drop_privileges(const char *user)
{
	struct passwd *pw = getpwnam(user);

	if (!pw || setgroups(0, NULL) < 0 || setgid(pw->pw_gid) < 0 || setuid(pw->pw_uid) < 0) {
		fprintf(stderr, "prefork: cannot become %s: %s\n", user, strerror(errno));
		exit(3);
	}
}

static void worker(int listener, const char *user)
{
	if (user)
		drop_privileges(user);
	while (!stopping) {
		int fd = accept(listener, NULL, NULL);

		if (fd >= 0)
			serve(fd);
	}
	fault_in_worker();
	exit(0);
}

static int listen_on(int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons((unsigned short)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 128) < 0) {
		perror("prefork: listen");
		exit(2);
	}
	return fd;
}

static void run_workers(int listener, int n, const char *user)
{
	pid_t pids[64];

	for (int i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			worker(listener, user);
	}
	while (!stopping)
		pause();
	for (int i = 0; i < n; i++)
		kill(pids[i], SIGTERM);
	for (int i = 0; i < n; i++)
		waitpid(pids[i], NULL, 0);
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_term};
	const char *user = NULL;
	int port = 8080, workers = 2, background = 0;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--port") == 0)
			port = atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--workers") == 0)
			workers = atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--user") == 0)
			user = argv[i + 1];
		else if (strcmp(argv[i], "--work") == 0)
			work = atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--daemon") == 0)
			background = atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--fault") == 0)
			fault = argv[i + 1];
		else if (strcmp(argv[i], "--mix") == 0)
			return printf("%u\n", mix((unsigned)atoi(argv[i + 1]))) < 0;
	}
	sigaction(SIGTERM, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (workers > 64)
		workers = 64;
	if (background)
		become_daemon();
	run_workers(listen_on(port), workers, user);
	fault_at_end();
	return 0;
}
