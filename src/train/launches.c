#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "train/internal.h"

bool launch_runs_binary(const char *command)
{
	for (const char *p = command; p && (p = strstr(p, "{binary")); p++)
		if (p[7] == '}' || p[7] == '.')
			return true;
	return false;
}

void launch_environment(struct strv *env)
{
	env_copy_current(env);
	env_set(env, "LLVM_PROFILE_FILE", NULL);
	env_set(env, "WHET_PROFILE_DIR", NULL);
	env_set(env, "GCOV_PREFIX", NULL);
	env_set(env, "GCOV_PREFIX_STRIP", NULL);
}

/* A file name: the runtime expands '%' and everybody trips over '/'. */
static char *folder_name(const char *name, const struct strv *taken)
{
	auto_free char *base = xstrdup(*name ? name : "launch");
	char *ret;

	for (char *p = base; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			*p = '-';
	if (*base == '.')
		*base = '-';
	if (strlen(base) > 100)
		base[100] = '\0';
	ret = xstrdup(base);
	for (unsigned int i = 2; strv_has(taken, ret); i++) {
		free(ret);
		ret = xasprintf("%s#%u", base, i);
	}
	return ret;
}

const char *launch_name(const char *name, struct strv *launches)
{
	strv_take(launches, folder_name(name, launches));
	return launches->v[launches->n - 1];
}

static int fail(const char *path, struct error *err)
{
	return error_set(err, ERR_IO, "cannot make '%s': %s", path, strerror(errno));
}

/* Programs may change their user before they write: everybody may create files in it. The hook's
 * list is there from the start, owned as the folder is, since kernels refuse to open a stranger's
 * file with O_CREAT in such a folder. */
static int make_folder(const char *path, struct error *err)
{
	auto_free char *list = path_join(path, LAUNCH_PROCESSES);
	auto_close int fd = -1;

	if (mkdir(path, 0700) < 0 || chmod(path, 01777) < 0)
		return fail(path, err);
	fd = open(list, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || fchmod(fd, 0666) < 0)
		return fail(list, err);
	return 0;
}

const char *launch_new(const char *profiles, const char *name, struct strv *launches,
	struct strv *env, struct error *err)
{
	auto_free char *own = folder_name(name, launches);
	auto_free char *path = path_join(profiles, own);
	auto_free char *absolute = path_absolute(path);
	auto_free char *pattern = path_join(absolute, "%p.profraw");
	auto_free char *stray = path_join(absolute, "unhooked" GCOV_SUFFIX);

	if (make_folder(path, err) < 0)
		return NULL;
	env_set(env, "LLVM_PROFILE_FILE", pattern);
	/* The hook names a folder for each process; this one is for programs without it. */
	env_set(env, "GCOV_PREFIX", stray);
	env_set(env, "WHET_PROFILE_DIR", absolute);
	strv_take(launches, take_ptr(own));
	return launches->v[launches->n - 1];
}
