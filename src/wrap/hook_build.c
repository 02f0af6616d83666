#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "wrap/hook_source.h"
#include "wrap/wrap.h"

#define HOOK_TIMEOUT (60 * NS_PER_S)

/* rustc comes without a C compiler of its own: any C compiler serves, since the hook holds no
 * instrumentation. */
static char *c_compiler(const struct compiler *cc)
{
	static const char *const names[] = {"cc", "clang", "gcc"};

	if (cc->family == FAMILY_CLANG || cc->family == FAMILY_GCC)
		return xstrdup(cc->path);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *path = path_find_program(names[i], getenv("PATH"), NULL);

		if (path)
			return path;
	}
	return NULL;
}

/* Flags that the hook needs whatever the program uses: position-independent code links into
 * everything, and an object without bitcode survives link-time optimisation. Without -pipe gcc
 * leaves a file in $TMPDIR when it is killed. */
static void hook_argv(const struct compiler *cc, const char *compiler, const char *source,
	const char *out, const char *define, struct strv *argv)
{
	static const char *const flags[] = {"-pipe", "-O2", "-fPIC", "-fno-lto",
		"-fno-stack-protector", "-fno-profile-generate", "-w", "-c", "-o"};

	strv_add(argv, compiler);
	strv_add_all(argv, &cc->words);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		strv_add(argv, flags[i]);
	strv_add(argv, out);
	if (define)
		strv_add(argv, define);
	strv_add(argv, source);
}

static int build(const struct compiler *cc, const char *define, const char *out, struct error *err)
{
	auto_free char *compiler = c_compiler(cc);
	auto_free char *source = xasprintf("%s.c", out);
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT, env = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;
	int r;

	if (!compiler)
		return error_set(err, ERR_ENVIRONMENT,
			"no C compiler found for the fork hook: install gcc or clang");
	if (file_write_atomic(source, hook_source, strlen(hook_source), 0644, err) < 0)
		return -1;
	hook_argv(cc, compiler, source, out, define, &argv);
	env_copy_current(&env);
	env_set(&env, "WHET_NODE", NULL);
	env_set(&env, "LC_ALL", "C");
	o.argv = &argv;
	o.env = &env;
	r = proc_capture(&o, HOOK_TIMEOUT, &lines, err);
	(void)unlink(source);
	return r < 0 ? error_context(err, "cannot compile the fork hook with '%s'", compiler) : 0;
}

int wrap_build_hook(
	const struct compiler *cc, enum profile_kind kind, const char *out, struct error *err)
{
	return build(cc, kind == PROFILE_GCC ? "-DWHET_GCOV" : NULL, out, err);
}

int wrap_build_hook_of_both(const struct compiler *cc, const char *out, struct error *err)
{
	return build(cc, "-DWHET_BOTH", out, err);
}
