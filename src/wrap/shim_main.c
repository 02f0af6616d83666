/* whet-shim: stands in front of the compilers of one build node. It is started once for every call
 * of a compiler, so it links little and reads one small file. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/launcher.h"
#include "wrap/shim.h"

static int fail(const struct error *err, const char *name)
{
	fprintf(stderr, "whet: %s: %s\n", name, err->msg ? err->msg : "failed");
	return error_exit_code(err->code);
}

/* The first program of this name in PATH that is not the shim itself. */
static char *real_program(const char *name)
{
	char self[PATH_MAX], real[PATH_MAX];
	const char *list = getenv("PATH");

	if (!realpath("/proc/self/exe", self))
		return NULL;
	while (list) {
		const char *end = strchrnul(list, ':');
		auto_free char *dir = xstrndup(list, (size_t)(end - list));
		auto_free char *path = path_join(*dir ? dir : ".", name);

		if (access(path, X_OK) == 0 && realpath(path, real) && strcmp(real, self) != 0)
			return take_ptr(path);
		list = *end ? end + 1 : NULL;
	}
	return NULL;
}

static int start(char *path, char **argv)
{
	argv[0] = path;
	execv(path, argv);
	fprintf(stderr, "whet: cannot start '%s'\n", path);
	return 127;
}

/* Outside a build of whet the shim is transparent. */
static int pass_through(const char *name, int argc, char **argv)
{
	auto_free char *path = NULL;

	if (strcmp(name, SHIM_RUSTC) == 0) {
		if (argc < 2) {
			fprintf(stderr, "whet: %s: expected the path of rustc\n", name);
			return 2;
		}
		execvp(argv[1], argv + 1);
		fprintf(stderr, "whet: cannot start '%s'\n", argv[1]);
		return 127;
	}
	if (strncmp(name, LAUNCHER_PREFIX, strlen(LAUNCHER_PREFIX)) == 0)
		path = argc > 1 ? xstrdup((argv++)[1]) : NULL;
	else
		path = real_program(name);
	if (path) {
		argv[0] = path;
		execv(path, argv);
	}
	fprintf(stderr, "whet: '%s' was not found in PATH behind the shim\n", name);
	return 127;
}

/* Ends as the compiler ended. */
static int end_as(int status)
{
	struct rlimit none = {0, 0};

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &none); /* the compiler left its core already */
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

static int plan(struct shim_call *c, const char *name, int argc, char **argv, struct error *err)
{
	auto_free char *own = NULL;
	const struct node_tool *t;
	struct node_tool linker;
	int skip = 0;

	if (strcmp(name, SHIM_RUSTC) == 0)
		return shim_plan_rustc(c, argc, argv, err);
	if (shim_is_rust_linker(c->node, argv[0], &linker, &own))
		return shim_plan_cc(c, &linker, argc, argv, err);
	if (strcmp(name, ZIG) == 0) {
		t = shim_node_zig(c->node, argc, argv);
		return shim_plan_cc(c, t, argc - 1, argv + 1, err);
	}
	c->launcher = launcher_named(name);
	t = c->launcher ? launcher_compiler(c->node, argc, argv, &skip)
			: shim_node_tool(c->node, name);
	if (!t)
		return error_set(err, ERR_ENVIRONMENT,
			"'%s' was called, which the node file does not know", name);
	return shim_plan_cc(c, t, argc - skip, argv + skip, err);
}

/* `ccache -s`, or a compiler that whet does not know: the launcher's own affair. */
static bool is_own_call(const struct shim_node *n, const char *name, int argc, char **argv)
{
	int place;

	return launcher_named(name) && !launcher_compiler(n, argc, argv, &place);
}

static int run(const char *name, const char *node_path, int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct shim_node node = {0};
	struct shim_call call = {.node = &node};
	auto_free char *path = NULL;
	int status, r;

	r = shim_node_read(node_path, &node, &err);
	if (r == 0 && strcmp(name, ZIG) == 0 && !shim_node_zig(&node, argc, argv)) {
		/* `zig version`, `zig ar`: no compilation */
		path = take_ptr(node.zig);
		shim_node_release(&node);
		return path ? start(path, argv) : pass_through(name, argc, argv);
	}
	if (r == 0 && is_own_call(&node, name, argc, argv)) {
		shim_node_release(&node);
		return pass_through(name, argc, argv);
	}
	if (r == 0)
		r = plan(&call, name, argc, argv, &err);
	if (r == 0)
		r = shim_run(&call, &status, &err);
	if (r == 0 && shim_record(&call, &err) < 0) {
		/* A call without a record would be a silent gap in the evidence. */
		error_context(&err, "the call cannot be recorded");
		r = -1;
	}
	r = r < 0 ? fail(&err, name) : end_as(status);
	error_release(&err);
	shim_call_release(&call);
	shim_node_release(&node);
	return r;
}

static bool is_linker(const char *name, const char *path)
{
	auto_free char *folder = path_dirname(path);

	for (const char *const *l = shim_linkers; *l; l++)
		if (strcmp(*l, name) == 0)
			return strcmp(path_basename(folder), KEEP_FOLDER) == 0;
	return false;
}

static int link_as(const char *name, char **argv)
{
	struct error err = ERROR_INIT;
	int r;

	(void)shim_link(name, argv, &err);
	r = fail(&err, name);
	error_release(&err);
	return r;
}

int main(int argc, char **argv)
{
	const char *node = getenv(ENV_NODE);
	const char *name;

	if (argc < 1)
		return 2;
	name = path_basename(argv[0]);
	if (is_linker(name, argv[0]))
		return link_as(name, argv);
	if (!node || !*node)
		return pass_through(name, argc, argv);
	return run(name, node, argc, argv);
}
