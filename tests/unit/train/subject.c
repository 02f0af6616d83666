/* A small server and batch program to be trained: compiled with instrumentation by the test. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void on_term(int sig)
{
	(void)sig;
	stopped = 1;
}

static void nap_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

int work(int x); /* what the tests count */

__attribute__((noinline)) int work(int x)
{
	for (int i = 0; i < 50; i++)
		x = x * 31 + i;
	return x;
}

static int listen_on(const char *port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 128) < 0) {
		perror("listen");
		exit(3);
	}
	return fd;
}

static void answer(int c, const char *request)
{
	const char *ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
	const char *bad = "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

	if (!strncmp(request, "GET /crash", 10))
		raise(SIGKILL);
	if (!strncmp(request, "GET /work", 9))
		work(c);
	if (!strncmp(request, "GET /slow", 9) || !strncmp(request, "POST /deaf", 10))
		nap_ms(5000);
	if (!strncmp(request, "GET /bad", 8))
		ok = bad;
	if (write(c, ok, strlen(ok)) < 0)
		perror("write");
}

static void serve(int fd)
{
	while (!stopped) {
		char request[4096];
		size_t n = 0;
		int c = accept(fd, NULL, NULL);

		if (c < 0)
			continue;
		while (n < sizeof(request) - 1) {
			ssize_t r = read(c, request + n, sizeof(request) - 1 - n);

			if (r <= 0)
				break;
			n += (size_t)r;
			request[n] = 0;
			if (strstr(request, "\r\n\r\n"))
				break;
		}
		if (n)
			answer(c, request);
		close(c);
	}
}

static void note_pid(const char *name, pid_t pid)
{
	FILE *f = fopen(name, "w");

	if (f)
		fprintf(f, "%d\n", (int)pid);
	if (f)
		fclose(f);
}

static int server(const char *port, int workers, int user)
{
	pid_t pids[16];
	int fd;

	puts("serving");
	fflush(stdout);
	fd = listen_on(port);

	for (int i = 0; i < workers; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			if (user && setuid((uid_t)user) < 0)
				return 9;
			serve(fd);
			return 0;
		}
		if (i == 0)
			note_pid("worker", pids[i]);
	}
	if (!workers)
		serve(fd);
	while (!stopped)
		nap_ms(5);
	for (int i = 0; i < workers; i++)
		kill(pids[i], SIGTERM);
	while (wait(NULL) > 0)
		;
	return 0;
}

/* A child that no fork handler sees. */
static int raw_clone(void)
{
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0) {
		while (!stopped)
			nap_ms(5);
		_exit(0);
	}
	while (!stopped)
		nap_ms(5);
	kill((pid_t)pid, SIGTERM);
	wait(NULL);
	return 0;
}

static void batch(int n)
{
	for (int i = 0; i < n; i++)
		work(i);
}

static void run_other_program(void)
{
	if (fork() == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	wait(NULL);
}

static void hang(void)
{
	signal(SIGTERM, SIG_IGN);
	if (fork() == 0)
		setsid();
	for (;;)
		nap_ms(1000);
}

/* Its child ends by itself, some time after it was woken. */
static void late(void)
{
	pid_t child;

	signal(SIGUSR1, on_term);
	child = fork();
	if (child == 0) {
		while (!stopped)
			nap_ms(5);
		nap_ms(150);
		batch(1000);
		exit(0);
	}
	note_pid("worker", child);
}

static void wait_for_stop(void)
{
	while (!stopped)
		nap_ms(5);
}

extern int __llvm_profile_write_file(void) __attribute__((weak));

/* Writes a profile of its own and counts on; the default action of SIGTERM ends it. */
static void early(int n)
{
	batch(n);
	if (__llvm_profile_write_file)
		__llvm_profile_write_file();
	batch(n);
	signal(SIGTERM, SIG_DFL);
	puts("counted");
	fflush(stdout);
	for (;;)
		nap_ms(1000);
}

/* From here on no file can be opened. */
static int filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return 4;
	wait_for_stop();
	return 0;
}

static int other_root(const char *path)
{
	if (chroot(path) < 0 || chdir("/") < 0)
		return 4;
	wait_for_stop();
	return 0;
}

static int fail(void)
{
	puts("cannot go on");
	return 3;
}

/* Ways to end that leave no profile, or only a part of one. */
static int end_badly(const char *mode, const char *arg)
{
	if (!strcmp(mode, "hang"))
		hang();
	if (!strcmp(mode, "early"))
		early(atoi(arg));
	if (!strcmp(mode, "filter"))
		return filter();
	if (!strcmp(mode, "chroot"))
		return other_root(arg);
	if (!strcmp(mode, "child") && fork() == 0)
		_exit(0);
	if (!strcmp(mode, "leave") || !strcmp(mode, "child"))
		wait_for_stop();
	if (!strcmp(mode, "leave") || !strcmp(mode, "quick"))
		_exit(strcmp(mode, "quick") ? 5 : 0);
	return strcmp(mode, "fail") ? 0 : fail();
}

/* Ways to be there until the stop. */
static void stay(const char *mode)
{
	if (!strcmp(mode, "late"))
		late();
	if (!strcmp(mode, "wait") || !strcmp(mode, "late"))
		wait_for_stop();
	while (!strcmp(mode, "spin") && !stopped)
		work(1);
}

static int print_mtu(void)
{
	struct ifreq r = {.ifr_name = "lo"};

	if (ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCGIFMTU, &r) < 0)
		return 4;
	printf("%d\n", r.ifr_mtu);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "", *arg = argc > 2 ? argv[2] : "";
	struct sigaction sa = {.sa_handler = on_term};

	while (!strcmp(mode, "deaf")) /* the default action of SIGTERM */
		nap_ms(1000);
	sigaction(SIGTERM, &sa, NULL);
	if (!strcmp(mode, "serve"))
		return server(arg, argc > 3 ? atoi(argv[3]) : 0, argc > 4 ? atoi(argv[4]) : 0);
	if (!strcmp(mode, "clone"))
		return raw_clone();
	if (!strcmp(mode, "batch"))
		batch(atoi(arg));
	if (!strcmp(mode, "mtu"))
		return print_mtu();
	if (!strcmp(mode, "exec"))
		run_other_program();
	stay(mode);
	return end_badly(mode, arg);
}
