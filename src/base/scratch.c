#include "base/scratch.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"

static char own[PATH_MAX];
static char *noted = own;

void scratch_share(void)
{
	void *p = mmap(NULL, PATH_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	/* Without it, an interrupted run leaves its folder to the next one. */
	if (p != MAP_FAILED)
		noted = p;
}

int scratch_name(const char *word, char **ret, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	/* The profile runtime expands '%' in the names of its files. */
	bool usable = tmp && *tmp == '/' && !strchr(tmp, '%');
	uint64_t id;

	if (getrandom(&id, sizeof(id), 0) != (ssize_t)sizeof(id))
		return error_set(err, ERR_IO, "cannot get random bytes: %s", strerror(errno));
	*ret = xasprintf("%s/%s-%016" PRIx64, usable ? tmp : "/tmp", word, id);
	return 0;
}

int scratch_create(const char *path, struct error *err)
{
	if (strlen(path) >= PATH_MAX)
		return error_set(err, ERR_IO, "the path '%s' is too long", path);
	/* Noted first: whoever is killed in between leaves nothing. */
	memcpy(noted, path, strlen(path) + 1);
	if (mkdir(path, 0700) < 0) {
		*noted = '\0';
		return error_set(
			err, ERR_IO, "cannot make a folder '%s': %s", path, strerror(errno));
	}
	if (chmod(path, 0711) < 0)
		return error_set(err, ERR_IO, "cannot open up '%s': %s", path, strerror(errno));
	return 0;
}

void scratch_remove(void)
{
	if (*noted)
		(void)tree_remove(noted, NULL);
	*noted = '\0';
}
