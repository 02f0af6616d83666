/* Ways to go wrong in training. Without --fault nothing here does anything. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prefork.h"

static const char *folder(void)
{
	const char *f = getenv("WHET_PROFILE_DIR");

	return f ? f : "";
}

/* Right while it is trained, wrong afterwards. */
int untrained(void)
{
	return strcmp(fault, "untrained") == 0 && !*folder();
}

static int truncate_me;

/* Runs after the profile runtime has written the file, since exit handlers come before destructors.
 */
static void truncate_own(void)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%d.profraw", folder(), (int)getpid());
	if (*folder() && stat(path, &st) == 0)
		(void)!truncate(path, st.st_size / 2);
}

__attribute__((destructor(101))) static void last(void)
{
	if (truncate_me)
		truncate_own();
}

/* Not before the readiness check and the first connections of the training: a mere start and stop is
 * as it should be. */
void fault_in_connection(void)
{
	static int connections;

	if (strcmp(fault, "stubborn") == 0 && ++connections > 1)
		signal(SIGTERM, SIG_IGN);
}

void fault_in_worker(void)
{
	if (strcmp(fault, "kill-worker") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(fault, "_exit") == 0)
		_exit(0);
}

static void put(const char *name, const char *from)
{
	char path[4096], block[65536];
	int in, out;
	ssize_t n;

	if (!*folder())
		return;
	snprintf(path, sizeof(path), "%s/%s", folder(), name);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	in = from ? open(from, O_RDONLY) : -1;
	while (in >= 0 && (n = read(in, block, sizeof(block))) > 0)
		(void)!write(out, block, (size_t)n);
	close(in);
	close(out);
}

void fault_at_end(void)
{
	if (strcmp(fault, "truncate") == 0)
		truncate_me = 1;
	if (strcmp(fault, "empty") == 0)
		put("extra.profraw", NULL);
	if (strcmp(fault, "foreign") == 0)
		put("extra.profraw", getenv("FOREIGN_PROFILE"));
	if (strcmp(fault, "kill") == 0)
		kill(getpid(), SIGKILL);
}
