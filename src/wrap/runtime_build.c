/* The second profile runtime of a program whose objects come from LLVMs with different layouts: a
 * compiler's own runtime as one object, in which all is local but the names that retagged objects
 * and the fork hook ask for. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "wrap/retag.h"
#include "wrap/runtime_build.h"
#include "wrap/wrap.h"

#define STEP_TIMEOUT (60 * NS_PER_S)

int runtime_run(const struct strv *argv, struct error *err)
{
	auto_strv struct strv lines = STRV_INIT, env = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;

	env_copy_current(&env);
	env_set(&env, "WHET_NODE", NULL);
	env_set(&env, "LC_ALL", "C");
	o.argv = argv;
	o.env = &env;
	return proc_capture(&o, STEP_TIMEOUT, &lines, err);
}

char *runtime_tool(const char *cross, const char *name, struct error *err)
{
	static const int majors[] = {22, 21, 20, 19, 18, 17, 16, 15, 14};
	const char *list = getenv("PATH");
	auto_free char *own = cross ? xasprintf("%s-%s", cross, name) : xstrdup(name);
	char *found = path_find_program(own, list, NULL);
	auto_free char *llvm = xasprintf("llvm-%s", name);

	if (!found)
		found = path_find_program(llvm, list, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(majors) && !found; i++) {
		auto_free char *numbered = xasprintf("%s-%d", llvm, majors[i]);

		found = path_find_program(numbered, list, NULL);
	}
	if (!found)
		error_set(err, ERR_ENVIRONMENT,
			"neither '%s' nor '%s' is in PATH; install the Debian package "
			"'binutils%s%s'",
			own, llvm, cross ? "-" : "", cross ? cross : "");
	return found;
}

/* Only what is needed of the archive: no code for gcov. */
static int join_members(
	const struct compiler *linker, const char *archive, const char *out, struct error *err)
{
	static const char *const wanted[] = {"runtime", "set_filename", "reset_counters",
		"instrument_target", "instrument_memop"};
	auto_strv struct strv argv = STRV_INIT;

	strv_add(&argv, linker->path);
	strv_add_all(&argv, &linker->words);
	strv_add(&argv, "-r");
	strv_add(&argv, "-nostdlib");
	strv_add(&argv, "-o");
	strv_add(&argv, out);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		strv_addf(&argv, "-Wl,-u,__llvm_profile_%s", wanted[i]);
	strv_add(&argv, archive);
	return runtime_run(&argv, err);
}

static int hide_the_rest(const char *cross, const char *object, int raw_version, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT;
	auto_free char *objcopy = runtime_tool(cross, "objcopy", err);

	if (!objcopy)
		return -1;
	strv_add(&argv, objcopy);
	strv_add(&argv, "--wildcard");
	strv_addf(&argv, "--keep-global-symbol=" RETAG_FORMAT "*", (unsigned)raw_version);
	strv_add(&argv, object);
	return runtime_run(&argv, err);
}

int runtime_archive(const char *cross, const char *object, const char *out, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT;
	auto_free char *ar = runtime_tool(cross, "ar", err);

	if (!ar)
		return -1;
	strv_add(&argv, ar);
	strv_add(&argv, "crsD");
	strv_add(&argv, out);
	strv_add(&argv, object);
	return runtime_run(&argv, err);
}

int wrap_build_runtime(const struct compiler *linker, const struct compiler *of, const char *cross,
	const char *out, struct error *err)
{
	auto_free char *object = xasprintf("%s.%d.o", out, (int)getpid());
	auto_free char *archive = xasprintf("%s.%d.a", out, (int)getpid());
	int raw = toolchain_raw_version(of);
	int r = 0;

	if (path_exists(out))
		return 0;
	r = join_members(linker, of->runtime, object, err);
	if (r == 0)
		r = retag_file(object, raw, true, err);
	if (r == 0)
		r = hide_the_rest(cross, object, raw, err);
	if (r == 0)
		r = runtime_archive(cross, object, archive, err);
	if (r == 0)
		r = file_rename(archive, out, err);
	(void)unlink(object);
	(void)unlink(archive);
	return r < 0 ? error_context(
			       err, "cannot make a second profile runtime of '%s'", of->runtime)
		     : 0;
}
