/* What the bench's test measures: a server that answers every request with "hello", or, called with
 * "work N", a batch program. BURN sets how much each costs. */
#include <poll.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONNECTIONS 64

static volatile uint64_t sink;

static void burn(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sink += i * i;
}

static pid_t worker; /* with KILLED_AFTER: one that waits, until it is killed */

static void lose_worker(void)
{
	if (!worker)
		return;
	kill(worker, SIGKILL);
	waitpid(worker, NULL, 0);
	worker = 0;
}

static int answer(int fd, uint64_t *answered)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
	static const char wrong[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhallo";
	char in[4096];
	ssize_t n = read(fd, in, sizeof(in));

	if (n <= 0)
		return -1;
	burn(BURN);
	++*answered;
	if (KILLED_AFTER && *answered > KILLED_AFTER)
		lose_worker();
	if (WRONG_AFTER && *answered > WRONG_AFTER)
		return write(fd, wrong, sizeof(wrong) - 1) > 0 ? 0 : -1;
	return write(fd, text, sizeof(text) - 1) > 0 ? 0 : -1;
}

static int listen_on(const char *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	a.sin_port = htons((uint16_t)atoi(port));
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 64) < 0)
		exit(1);
	return fd;
}

int main(int argc, char **argv)
{
	struct pollfd p[CONNECTIONS + 1];
	nfds_t n = 1;
	uint64_t answered = 0;

	if (argc == 3 && strcmp(argv[1], "work") == 0) {
		burn((uint64_t)BURN * strtoull(argv[2], NULL, 10));
		return 0;
	}
	if (argc != 2)
		return 2;
	if (KILLED_AFTER && (worker = fork()) == 0)
		for (;;)
			pause();
	p[0] = (struct pollfd){listen_on(argv[1]), POLLIN, 0};
	while (poll(p, n, -1) > 0) {
		for (nfds_t i = n - 1; i > 0; i--)
			if (p[i].revents && answer(p[i].fd, &answered) < 0) {
				close(p[i].fd);
				p[i] = p[--n];
			}
		if (p[0].revents && n <= CONNECTIONS) {
			int fd = accept(p[0].fd, NULL, NULL);

			if (fd >= 0)
				p[n++] = (struct pollfd){fd, POLLIN, 0};
		}
	}
	return 1;
}
