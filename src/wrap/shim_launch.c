/* Which program stands in front of a call, and which one runs it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/shim.h"

/* What a launcher does anything with: it hands every other call straight on. */
static bool is_compilation(enum call_kind k)
{
	return k == CALL_COMPILE || k == CALL_ASSEMBLE || k == CALL_PCH || k == CALL_COMPILE_LINK ||
	       k == CALL_RUSTC;
}

/* A launcher that was called past the shim runs the compiler, here the shim, as its child. */
static const struct launcher *launcher_of_parent(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)getppid());
	return launcher_of_file(path);
}

static void put_in_front(struct shim_call *c, const char *program)
{
	auto_strv struct strv argv = STRV_INIT;

	strv_add(&argv, program);
	strv_add_all(&argv, &c->argv);
	strv_release(&c->argv);
	c->argv = argv;
	argv = (struct strv)STRV_INIT;
	c->compiler = 1;
}

void shim_leave_launcher(struct shim_call *c)
{
	auto_strv struct strv argv = STRV_INIT;

	for (size_t i = c->compiler; i < c->argv.n; i++)
		strv_add(&argv, c->argv.v[i]);
	strv_release(&c->argv);
	c->argv = argv;
	argv = (struct strv)STRV_INIT;
	c->compiler = 0;
}

void shim_launch(struct shim_call *c, const struct node_tool *t)
{
	struct compile_record *r = &c->record;
	const struct launcher *l = c->launcher;
	auto_free char *program = NULL;
	char real[PATH_MAX];

	if (!is_compilation(r->kind))
		return;
	if (!l && t->launcher) {
		l = launcher_of_file(t->launcher);
		/* By its own name: under the compiler's it takes what follows for a source. */
		program = realpath(t->launcher, real) ? xstrdup(real) : NULL;
	}
	if (!l) {
		l = launcher_of_parent();
		r->launcher = l ? xstrdup(l->name) : NULL;
		r->bypassed = l != NULL;
		return;
	}
	if (launcher_is_off(l, &c->env))
		return;
	if (c->launcher)
		program = path_find_program(l->name, env_get(&c->env, "PATH"), NULL);
	r->launcher = xstrdup(l->name);
	r->bypassed = !l->cache || !program;
	if (r->bypassed)
		return;
	launcher_behind(l, c->node->space, &c->env);
	put_in_front(c, program);
}

void shim_launch_rustc(struct shim_call *c, const char *wrapper)
{
	auto_free char *path =
		path_list_without(getenv("PATH") ? getenv("PATH") : "", c->node->folder);
	auto_free char *program = path_find_program(wrapper, path, NULL);

	if (c->record.kind == CALL_RUSTC)
		c->record.launcher = xstrdup(path_basename(wrapper));
	launcher_behind(launcher_named(path_basename(wrapper)), c->node->space, &c->env);
	put_in_front(c, program ? program : wrapper);
}
