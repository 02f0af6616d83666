#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/response.h"
#include "wrap/retag.h"
#include "wrap/shim.h"

#define ENV_COMPILER_PATH "COMPILER_PATH"
#define ENV_USERS_PATH "WHET_COMPILER_PATH"
#define QUESTION "question" /* file in the folder: how to ask the compiler for its linker */

const char *const shim_linkers[] = {"ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold", NULL};

/* The words of the call, NUL behind each: the linker asks the same compiler where its real linker
 * is, because options decide it. */
static int write_question(const struct shim_call *c, struct error *err)
{
	auto_free char *path = path_join(c->kept, QUESTION);
	auto_buf struct buf b = BUF_INIT;

	for (size_t i = c->compiler; i < c->argv.n; i++)
		buf_add(&b, c->argv.v[i], strlen(c->argv.v[i]) + 1);
	return file_write_atomic(path, b.p, b.n, 0644, err);
}

int shim_keep_objects(struct shim_call *c, struct error *err)
{
	const char *users = env_get(&c->env, ENV_COMPILER_PATH);
	auto_free char *list = xasprintf("%s/" KEEP_FOLDER "%s%s", c->node->folder,
		users && *users ? ":" : "", users ? users : "");
	auto_free char *name = xasprintf(KEPT_OBJECTS, c->record.id);

	c->kept = path_join(c->node->log, name);
	if (dir_create(c->kept, 0755, err) < 0 || write_question(c, err) < 0)
		return -1;
	env_set(&c->env, ENV_USERS_PATH, users);
	env_set(&c->env, ENV_COMPILER_PATH, list);
	env_set(&c->env, ENV_KEEP, c->kept);
	if (c->retag) {
		auto_free char *raw = xasprintf("%d", c->retag);

		env_set(&c->env, ENV_RETAG, raw);
	}
	return 0;
}

/* ---- as the linker ------------------------------------------------------------------------- */

/* Where the compiler makes temporary files. */
static const char *temporary_folder(void)
{
	static const char *const names[] = {"TMPDIR", "TMP", "TEMP", "TEMPDIR"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return value;
	}
	return "/tmp";
}

/* A copy, since a further name would change the file's ctime. What does not lie right in the folder
 * for temporary files stays where it is. */
static int keep(const char *folder, const char *path, const char *temporary, struct error *err)
{
	size_t n = strlen(path);
	auto_free char *dir = path_dirname(path);
	const char *raw = getenv(ENV_RETAG);
	auto_free char *to = NULL;
	struct stat st;

	if (strcmp(dir, temporary) != 0 || n < 2 || strcmp(path + n - 2, ".o") != 0 ||
		lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (raw && retag_file(path, (int)strtol(raw, NULL, 10), false, err) < 0)
		return -1;
	to = path_join(folder, path_basename(path));
	return file_copy(path, to, 0644, err);
}

static int keep_all(const char *folder, char **argv, struct error *err)
{
	auto_strv struct strv given = STRV_INIT, words = STRV_INIT;
	auto_free char *cwd = path_absolute(".");
	auto_free char *temporary = path_clean(temporary_folder());

	for (size_t i = 1; argv[i]; i++)
		strv_add(&given, argv[i]);
	response_expand(&given, cwd, false, &words);
	for (size_t i = 0; i < words.n; i++)
		if (keep(folder, words.v[i], temporary, err) < 0)
			return -1;
	return 0;
}

void shim_keep_restore(struct strv *env)
{
	const char *users = env_get(env, ENV_USERS_PATH);
	auto_free char *list = xstrdup(users);

	env_set(env, ENV_COMPILER_PATH, list);
	env_set(env, ENV_USERS_PATH, NULL);
	env_set(env, ENV_KEEP, NULL);
	env_set(env, ENV_RETAG, NULL);
}

static int read_question(const char *folder, const char *name, struct strv *ret, struct error *err)
{
	auto_free char *path = path_join(folder, QUESTION);
	auto_buf struct buf b = BUF_INIT;

	if (file_read(path, 0, &b, err) < 0)
		return -1;
	for (size_t i = 0; i < b.n; i += strlen(b.p + i) + 1)
		strv_add(ret, b.p + i);
	strv_addf(ret, "-print-prog-name=%s", name);
	return 0;
}

static int ask(const struct strv *argv, const struct strv *env, struct buf *ret, struct error *err)
{
	posix_spawn_file_actions_t actions;
	int fds[2], status, e;
	ssize_t n = -1;
	char *room;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	e = posix_spawn(&pid, argv->v[0], &actions, NULL, argv->v, env->v);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	while (!e && (room = buf_reserve(ret, 4096)) &&
		((n = read(fds[0], room, 4096)) > 0 || (n < 0 && errno == EINTR)))
		ret->n += n > 0 ? (size_t)n : 0;
	close(fds[0]);
	while (!e && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return e || !ret->n ? error_set(err, ERR_ENVIRONMENT,
				      "'%s' does not tell where its linker is", argv->v[0])
			    : 0;
}

/* The linker that the compiler would have started. */
static char *real_linker(
	const char *folder, const char *name, const struct strv *env, struct error *err)
{
	auto_strv struct strv question = STRV_INIT;
	auto_buf struct buf answer = BUF_INIT;
	const char *list = env_get(env, "PATH");
	auto_free char *line = NULL;

	if (read_question(folder, name, &question, err) < 0 ||
		ask(&question, env, &answer, err) < 0)
		return NULL;
	line = xstrndup(buf_str(&answer), strcspn(buf_str(&answer), "\n"));
	if (strchr(line, '/'))
		return take_ptr(line);
	return path_find_program(line, list ? list : "/usr/bin:/bin", NULL);
}

int shim_link(const char *name, char **argv, struct error *err)
{
	const char *folder = getenv(ENV_KEEP);
	auto_strv struct strv env = STRV_INIT;
	auto_free char *path = NULL;

	if (!folder || !*folder)
		return error_set(err, ERR_USAGE,
			"this linker keeps the objects of one compiler call; it was called outside "
			"of one");
	env_copy_current(&env);
	shim_keep_restore(&env);
	path = real_linker(folder, name, &env, err);
	if (!path || keep_all(folder, argv, err) < 0)
		return -1;
	argv[0] = path;
	execve(path, argv, env.v);
	return error_set(err, ERR_ENVIRONMENT, "cannot start '%s': %s", path, strerror(errno));
}
