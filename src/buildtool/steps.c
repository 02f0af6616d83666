#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "buildtool/internal.h"

void build_steps_release(struct build_steps *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].label);
		free(s->v[i].cwd);
		strv_release(&s->v[i].argv);
		strv_release(&s->v[i].env);
	}
	free(s->v);
	strv_release(&s->binaries);
	*s = (struct build_steps){0};
}

bool buildtool_in_tree(enum build_tool tool)
{
	return tool == TOOL_MAKE || tool == TOOL_AUTOTOOLS || tool == TOOL_COMMAND;
}

struct build_step *add_step(struct step_context *x, const char *label, const char *cwd)
{
	struct build_steps *l = x->steps;
	struct build_step *s;

	array_reserve(l->v, l->n, l->cap);
	s = &l->v[l->n++];
	*s = (struct build_step){.label = xstrdup(label), .cwd = xstrdup(cwd)};
	s->configure = !strcmp(label, "configure");
	strv_add_all(&s->env, &x->env);
	return s;
}

int add_expanded(struct step_context *x, const struct strv *words, struct strv *ret)
{
	for (size_t i = 0; i < words->n; i++) {
		char *text;

		if (plan_expand(words->v[i], &x->vars, &text, x->err) < 0)
			return -1;
		strv_take(ret, text);
	}
	return 0;
}

/* A step that runs a shell command of the plan; more: words to put behind it, or NULL. */
static int add_shell(struct step_context *x, const char *label, const char *cwd,
	const char *command, const struct strv *more)
{
	auto_free char *text = NULL, *words = NULL;
	struct build_step *s;

	if (plan_expand(command, &x->vars, &text, x->err) < 0)
		return -1;
	s = add_step(x, label, cwd);
	strv_add(&s->argv, "sh");
	strv_add(&s->argv, "-c");
	if (more && more->n) {
		words = strv_shell_quote(more);
		strv_addf(&s->argv, "%s %s", text, words);
	} else {
		strv_add(&s->argv, text);
	}
	return 0;
}

/* An argument that sets this already: "--buildtype=debug", "-DCMAKE_BUILD_TYPE:STRING=Debug". */
static bool has_setting(const struct strv *args, const char *name)
{
	for (size_t i = 0; i < args->n; i++)
		if (strstr(args->v[i], name))
			return true;
	return false;
}

static int build_step(struct step_context *x, const char *cwd, const struct strv *otherwise)
{
	struct build_step *s;

	if (x->b->run)
		return add_shell(x, "build", cwd, x->b->run, NULL);
	s = add_step(x, "build", cwd);
	strv_add_all(&s->argv, otherwise);
	return 0;
}

static int cmake_steps(struct step_context *x)
{
	auto_strv struct strv args = STRV_INIT, build = STRV_INIT;
	struct build_step *s;

	if (add_expanded(x, &x->b->args, &args) < 0)
		return -1;
	s = add_step(x, "configure", x->place->source);
	strv_add(&s->argv, "cmake");
	strv_add(&s->argv, "-S");
	strv_add(&s->argv, x->place->source);
	strv_add(&s->argv, "-B");
	strv_add(&s->argv, x->place->build);
	if (!has_setting(&args, "CMAKE_BUILD_TYPE"))
		strv_add(&s->argv, "-DCMAKE_BUILD_TYPE=Release");
	cross_cmake(x, &args, &s->argv);
	strv_add_all(&s->argv, &args);
	strv_split_words(&build, "cmake --build");
	strv_add(&build, x->place->build);
	strv_addf(&build, "--parallel");
	strv_addf(&build, "%d", x->place->jobs);
	return build_step(x, x->place->build, &build);
}

static int meson_steps(struct step_context *x)
{
	auto_strv struct strv args = STRV_INIT, build = STRV_INIT;
	struct build_step *s;

	if (add_expanded(x, &x->b->args, &args) < 0)
		return -1;
	s = add_step(x, "configure", x->place->source);
	strv_split_words(&s->argv, "meson setup");
	if (!has_setting(&args, "buildtype") && !has_setting(&args, "optimization"))
		strv_add(&s->argv, "--buildtype=release");
	cross_meson(x, &args, &s->argv);
	strv_add_all(&s->argv, &args);
	strv_add(&s->argv, x->place->build);
	strv_add(&s->argv, x->place->source);
	strv_split_words(&build, "ninja -C");
	strv_add(&build, x->place->build);
	strv_addf(&build, "-j%d", x->place->jobs);
	return build_step(x, x->place->build, &build);
}

/* make, autotools, command: everything happens in the (copied) source folder. */
static int tree_steps(struct step_context *x)
{
	bool autotools = x->b->tool == TOOL_AUTOTOOLS;
	auto_strv struct strv args = STRV_INIT, build = STRV_INIT, more = STRV_INIT;
	const char *configure = x->b->configure;
	const char *source = x->place->source;

	if (!configure && autotools)
		configure = "./configure";
	if (x->b->tool == TOOL_COMMAND && !x->b->run)
		return error_set(x->err, ERR_CONFIG,
			"build lacks the key 'run': with 'tool: command' it is the command that "
			"builds");
	if (add_expanded(x, &x->b->args, &args) < 0)
		return -1;
	if (autotools) {
		cross_configure(x, &args, &more);
		strv_add_all(&more, &args);
	}
	if (configure && add_shell(x, "configure", source, configure, &more) < 0)
		return -1;
	strv_add(&build, "make");
	strv_addf(&build, "-j%d", x->place->jobs);
	if (!autotools)
		strv_add_all(&build, &args);
	return build_step(x, source, &build);
}

static int set_environment(struct step_context *x)
{
	if (add_expanded(x, &x->b->env, &x->env) < 0)
		return -1;
	/* crates choose their C compiler by rules of their own, unless the plan names one. */
	if (x->b->tool == TOOL_CARGO && !x->b->compiler)
		return 0;
	if (x->place->cc && !env_get(&x->env, "CC"))
		env_set(&x->env, "CC", x->place->cc);
	if (x->place->cxx && !env_get(&x->env, "CXX"))
		env_set(&x->env, "CXX", x->place->cxx);
	cross_environment(x);
	return 0;
}

static void set_vars(struct step_context *x, const struct strv *vars)
{
	const struct build_cross *cross = x->place->cross;
	struct target t = {0};

	if (vars)
		strv_add_all(&x->vars, vars);
	strv_addf(&x->vars, "jobs=%d", x->place->jobs);
	strv_addf(&x->vars, "source=%s", x->place->source);
	strv_addf(&x->vars, "build=%s", x->place->build);
	strv_addf(&x->vars, "cc=%s", x->place->cc ? x->place->cc : "cc");
	strv_addf(&x->vars, "cxx=%s", x->place->cxx ? x->place->cxx : "c++");
	strv_addf(&x->vars, "ar=%s", cross && cross->ar ? cross->ar : "ar");
	strv_addf(&x->vars, "ranlib=%s", cross && cross->ranlib ? cross->ranlib : "ranlib");
	if (x->b->target)
		target_read(x->b->target, &t);
	strv_addf(&x->vars, "target=%s", t.gnu ? t.gnu : "");
	target_release(&t);
}

static int tool_steps(struct step_context *x)
{
	switch (x->b->tool) {
	case TOOL_CARGO:
		return cargo_steps(x);
	case TOOL_CMAKE:
		return cmake_steps(x);
	case TOOL_MESON:
		return meson_steps(x);
	default:
		return tree_steps(x);
	}
}

int buildtool_steps(const struct plan_build *b, const struct build_place *place,
	const struct strv *vars, struct build_steps *ret, struct error *err)
{
	const char *folder = buildtool_in_tree(b->tool) ? place->source : place->build;
	struct build_steps steps = {0};
	struct step_context x = {.b = b, .place = place, .steps = &steps, .err = err};
	int rc;

	set_vars(&x, vars);
	rc = set_environment(&x) < 0 ? -1 : tool_steps(&x);
	strv_release(&x.vars);
	strv_release(&x.env);
	if (rc < 0) {
		build_steps_release(&steps);
		return -1;
	}
	for (size_t i = 0; b->tool != TOOL_CARGO && i < b->binary.n; i++)
		strv_take(&steps.binaries, path_join(folder, b->binary.v[i]));
	*ret = steps;
	return 0;
}
