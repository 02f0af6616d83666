/* The linker that rustc starts. One that is called by a name of the shim folder is met there; one
 * named by a path, or by a name that is no compiler's, is called through a link of the same name to
 * the shim: rustc tells by a linker's name how to speak to it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/classify.h"
#include "wrap/shim.h"

/* The linker itself, absolute: rustc takes a relative path from its own working folder. */
static char *real_linker(const struct shim_call *c, const char *linker)
{
	const char *list = getenv("PATH");

	if (strchr(linker, '/'))
		return path_join(c->record.cwd, linker);
	return path_find_program(linker, list ? list : "", c->node->folder);
}

static int make_link(const char *folder, const char *path, struct error *err)
{
	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		return error_set(
			err, ERR_IO, "cannot make the folder '%s': %s", folder, strerror(errno));
	if (symlink("../" SHIM_RUSTC, path) < 0 && errno != EEXIST)
		return error_set(err, ERR_IO, "cannot make '%s': %s", path, strerror(errno));
	return 0;
}

/* The script of cargo-zigbuild ends in a call of zig, which is met there with its final words. */
static bool leads_to_zig(const struct shim_node *n, const char *linker)
{
	return n->zig && strncmp(path_basename(linker), "zigcc-", 6) == 0;
}

int shim_watch_linker(struct shim_call *c, const char *linker, struct error *err)
{
	auto_free char *folder = path_join(c->node->folder, SHIM_LINKERS);
	auto_free char *path = NULL;
	auto_free char *real = NULL;

	if (!linker || shim_node_tool(c->node, linker) || leads_to_zig(c->node, linker))
		return 0;
	real = real_linker(c, linker);
	if (!real)
		return 0; /* rustc itself says that there is no such program */
	path = path_join(folder, path_basename(linker));
	if (make_link(folder, path, err) < 0)
		return -1;
	env_set(&c->env, ENV_LINKER, real);
	strv_take(&c->record.added, xasprintf("-Clinker=%s", path));
	return 0;
}

static bool is_link_of_ours(const char *argv0)
{
	auto_free char *folder = path_dirname(argv0);

	return strcmp(path_basename(folder), SHIM_LINKERS) == 0 && getenv(ENV_LINKER);
}

bool shim_is_rust_linker(
	const struct shim_node *n, const char *argv0, struct node_tool *ret, char **own)
{
	const char *list = getenv("PATH");
	const char *name = path_basename(argv0);
	const struct node_tool *known = shim_node_tool(n, name);
	char *path = NULL;

	if (is_link_of_ours(argv0)) {
		path = getenv(ENV_LINKER);
	} else if (getenv(ENV_PARENT) && strcmp(name, "cc") == 0) {
		/* rustc links by "cc": the project's own, whatever compiles its C. */
		path = *own = path_find_program(name, list ? list : "", n->folder);
	}
	if (!path)
		return false;
	*ret = (struct node_tool){.name = (char *)name, .path = path, .compiler = -1};
	ret->family = compiler_family_of(path);
	ret->bare_linker = is_linker_name(path);
	ret->cxx = known && known->cxx;
	return true;
}
