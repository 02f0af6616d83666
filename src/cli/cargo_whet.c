#include "cli/cargo_whet.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"

bool cargo_whet_called(const char *argv0)
{
	return argv0 && !strcmp(path_basename(argv0), "cargo-whet");
}

/* The folder that a variable holds although it is the default below the user's home: rustup's proxy
 * writes it out. */
static void forget_default(const char *name, const char *below_home)
{
	const char *value = getenv(name), *home = getenv("HOME");
	auto_free char *standard = home ? path_join(home, below_home) : NULL;

	if (value && standard && !strcmp(value, standard))
		unsetenv(name);
}

/* The proxy puts the toolchain's libraries in front, where a program under training would find
 * them, too. */
static void forget_libraries(void)
{
	const char *value = getenv("LD_LIBRARY_PATH"), *home = getenv("RUSTUP_HOME");
	const char *toolchain = getenv("RUSTUP_TOOLCHAIN");
	auto_free char *added = NULL;
	size_t n;

	if (!value || !home || !toolchain)
		return;
	added = xasprintf("%s/toolchains/%s/lib", home, toolchain);
	n = strlen(added);
	if (!strcmp(value, added)) {
		unsetenv("LD_LIBRARY_PATH");
	} else if (!strncmp(value, added, n) && value[n] == ':') {
		auto_free char *rest = xstrdup(value + n + 1);

		setenv("LD_LIBRARY_PATH", rest, 1);
	}
}

void cargo_whet_environment(void)
{
	const char *source = getenv("RUSTUP_TOOLCHAIN_SOURCE");

	forget_libraries();
	/* What a folder's settings chose is chosen again where the sources are. Older proxies do
	 * not tell who chose. */
	if (source && strcmp(source, "cli") != 0 && strcmp(source, "env") != 0)
		unsetenv("RUSTUP_TOOLCHAIN");
	unsetenv("RUSTUP_TOOLCHAIN_SOURCE");
	unsetenv("RUST_RECURSION_COUNT");
	unsetenv("CARGO");
	forget_default("CARGO_HOME", ".cargo");
	forget_default("RUSTUP_HOME", ".rustup");
}

static char *plan_in(const char *folder)
{
	auto_free char *path = path_join(folder, "whet.yaml");

	return path_exists(path) ? take_ptr(path) : NULL;
}

static char *nearest_plan(const char *from)
{
	auto_free char *folder = xstrdup(from);

	for (;;) {
		char *plan = plan_in(folder), *above;

		if (plan || !strcmp(folder, "/"))
			return plan;
		above = path_dirname(folder);
		free(folder);
		folder = above;
	}
}

/* The folder of the workspace that the working folder belongs to; NULL: of none. */
static char *workspace_root(void)
{
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;
	struct error ignored = ERROR_INIT;
	const char *cargo = getenv("CARGO");
	char *root = NULL;

	strv_add(&argv, cargo && *cargo ? cargo : "cargo");
	strv_split_words(&argv, "locate-project --workspace --message-format plain");
	o.argv = &argv;
	if (proc_capture(&o, 60 * NS_PER_S, &lines, &ignored) == 0 && lines.n)
		root = path_dirname(lines.v[0]);
	error_release(&ignored);
	return root;
}

void cargo_whet_find_plan(struct cli *cli)
{
	auto_free char *here = path_absolute(".");
	auto_free char *root = NULL;

	cli->plan = nearest_plan(here);
	if (cli->plan)
		return;
	root = workspace_root();
	cli->plan = root ? plan_in(root) : NULL;
	if (cli->plan)
		return;
	cli->no_plan =
		xasprintf("there is no whet.yaml in '%s' or a folder above it%s%s%s\n"
			  "write '%s/whet.yaml' (docs/whet-yaml.md); the least that it holds:\n"
			  "project: NAME\n"
			  "build: {tool: cargo, binary: NAME}\n"
			  "train:\n"
			  "  phases:\n"
			  "    - {name: work, run: \"{binary} ARGUMENTS\"}",
			here, root ? ", nor in the workspace's folder '" : "", root ? root : "",
			root ? "'" : "", root ? root : here);
}
