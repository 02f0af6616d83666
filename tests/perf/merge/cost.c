/* What a command costs: user and system time in ns, largest resident size in KiB. Its standard
 * output is thrown away. A program of its own, since a child counts the memory of who started it.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long long ns(struct timeval t)
{
	return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL;
}

int main(int argc, char **argv)
{
	posix_spawn_file_actions_t actions;
	struct rusage used;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	if (argc < 2 || posix_spawnp(&pid, argv[1], &actions, NULL, argv + 1, environ) != 0)
		return 3;
	if (wait4(pid, &status, 0, &used) < 0)
		return 3;
	printf("%lld %ld\n", ns(used.ru_utime) + ns(used.ru_stime), used.ru_maxrss);
	return status != 0;
}
