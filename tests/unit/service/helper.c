/* Programs that behave in the ways that a service can. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void on_term(int sig)
{
	stopped = 1;
}

static void nap_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void until_stopped(void)
{
	while (!stopped)
		nap_ms(5);
}

static void burn_ms(long ms)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

static int listen_on(const char *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 16) < 0) {
		perror("listen");
		exit(3);
	}
	return fd;
}

static int listen_on_v6(const char *port)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)atoi(port))};
	int fd = socket(AF_INET6, SOCK_STREAM, 0);

	a.sin6_addr = in6addr_loopback;
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 16) < 0) {
		puts("no IPv6");
		exit(3);
	}
	return fd;
}

/* Answers 503 to the first two requests, then this status. */
static int http(int fd, const char *status)
{
	for (int n = 0; !stopped; n++) {
		int c = accept(fd, NULL, NULL);
		char text[1024], a[128];

		snprintf(a, sizeof(a), "HTTP/1.1 %s X\r\nContent-Length: 0\r\n\r\n",
			n < 2 ? "503" : status);

		if (c < 0)
			continue;
		if (read(c, text, sizeof(text)) > 0 && write(c, a, strlen(a)) < 0)
			perror("write");
		close(c);
	}
	return 0;
}

static void touch(const char *path)
{
	FILE *f = fopen(path, "w");

	if (f)
		fclose(f);
}

static int in_background(const char *done)
{
	if (fork() > 0)
		return 0;
	setsid();
	if (fork() > 0)
		_exit(0);
	until_stopped();
	nap_ms(100);
	touch(done);
	return 0;
}

/* Leaves a grandchild behind that ignores the stop signal. */
static int stubborn_grandchild(void)
{
	if (fork() == 0) {
		if (fork() > 0)
			_exit(0);
		setsid();
		signal(SIGTERM, SIG_IGN);
		for (;;)
			nap_ms(1000);
	}
	wait(NULL);
	puts("up");
	fflush(stdout);
	until_stopped();
	return 0;
}

/* The program ends at once on the signal, its child needs 300 ms more. */
static int slow_child(const char *done)
{
	if (fork() == 0) {
		until_stopped();
		nap_ms(300);
		touch(done);
		return 0;
	}
	until_stopped();
	kill(0, SIGTERM);
	return 0;
}

static long long usage_ns(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000LL +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000LL;
}

/* Children that live for a few milliseconds, one after the other, then one that stays. */
static int busy(int children, long ms)
{
	pid_t stays;

	for (int i = 0; i < children; i++) {
		if (fork() == 0) {
			burn_ms(ms);
			_exit(0);
		}
		wait(NULL);
	}
	stays = fork();
	if (stays == 0) {
		burn_ms(ms * 10);
		touch("burnt");
		until_stopped();
		_exit(0);
	}
	while (access("burnt", F_OK) != 0)
		nap_ms(5);
	printf("used %lld\n", usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN) + ms * 10000000LL);
	fflush(stdout);
	until_stopped();
	kill(stays, SIGTERM);
	wait(NULL);
	return 0;
}

/* Each child is an orphan at once: whoever adopts it knows what it used. */
static int orphans(int n, long ms)
{
	for (int i = 0; i < n; i++) {
		if (fork() == 0) {
			if (fork() > 0)
				_exit(0);
			burn_ms(ms);
			_exit(0);
		}
		wait(NULL);
	}
	nap_ms(n * ms + 200);
	printf("all gone %lld\n", usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN));
	fflush(stdout);
	until_stopped();
	return 0;
}

static int late_log(void)
{
	nap_ms(60);
	printf("now re");
	fflush(stdout);
	nap_ms(60);
	printf("ady to serve\n");
	fflush(stdout);
	until_stopped();
	return 0;
}

/* The modes that listen; -1: go on. */
static int servers(int argc, const char *mode, const char *a, const char *b)
{
	if (!strcmp(mode, "http"))
		return http(listen_on(a), argc > 3 ? b : "204");
	if (!strcmp(mode, "http6"))
		return http(listen_on_v6(a), "204");
	if (!strcmp(mode, "tcp"))
		listen_on(a);
	return -1;
}

/* The modes that are about processes and their time; -1: another mode. */
static int processes(const char *mode, const char *a, const char *b)
{
	if (!strcmp(mode, "daemon"))
		return in_background(a);
	if (!strcmp(mode, "grandchild"))
		return stubborn_grandchild();
	if (!strcmp(mode, "slow-child"))
		return slow_child(a);
	if (!strcmp(mode, "busy"))
		return busy(atoi(a), atol(b));
	if (!strcmp(mode, "orphans"))
		return orphans(atoi(a), atol(b));
	if (!strcmp(mode, "late-log"))
		return late_log();
	return -1;
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_term};
	const char *mode = argc > 1 ? argv[1] : "", *a = argc > 2 ? argv[2] : "0";
	const char *b = argc > 3 ? argv[3] : "0";
	int code;

	sigaction(SIGTERM, &sa, NULL);
	if (!strcmp(mode, "exit")) {
		printf("first line\nlast words: %s\n", b);
		return atoi(a);
	}
	if (!strcmp(mode, "ignore-term"))
		signal(SIGTERM, SIG_IGN);
	code = servers(argc, mode, a, b);
	if (code < 0)
		code = processes(mode, a, b);
	if (code >= 0)
		return code;
	if (!strcmp(mode, "crash")) {
		while (access("crash-now", F_OK) < 0)
			nap_ms(1);
		raise(SIGSEGV);
	}
	until_stopped();
	return 7;
}
