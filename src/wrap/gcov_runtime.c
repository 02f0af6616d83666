/* gcc's profile runtime for programs that have LLVM's, too. compiler-rt and rustc's
 * profiler_builtins define __gcov_dump, __gcov_reset and __gcov_fork as well, for clang's
 * --coverage: whichever archive comes first would serve a call of them, and both in one link are
 * defined twice. So gcc's own becomes one object in which these are local. The hook calls it by a
 * name that nobody else has, and the links get --wrap for the program's own calls. The hook has
 * what gcc calls in the place of fork and exec. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/runtime_build.h"
#include "wrap/wrap.h"

static const char glue_source[] = "#define HIDDEN __attribute__((visibility(\"hidden\")))\n"
				  "void __gcov_dump(void);\n"
				  "void __gcov_reset(void);\n"
				  "HIDDEN void __whet_gcov_reset(void) { __gcov_reset(); }\n"
				  "HIDDEN void __wrap___gcov_reset(void) { __gcov_reset(); }\n"
				  "HIDDEN void __wrap___gcov_dump(void) { __gcov_dump(); }\n";

static int compile_glue(const struct compiler *cc, const char *out, struct error *err)
{
	static const char *const flags[] = {
		"-pipe", "-O2", "-fPIC", "-fno-lto", "-fno-stack-protector", "-w", "-c", "-o"};
	auto_free char *source = xasprintf("%s.c", out);
	auto_strv struct strv argv = STRV_INIT;
	int r;

	if (file_write_atomic(source, glue_source, strlen(glue_source), 0644, err) < 0)
		return -1;
	strv_add(&argv, cc->path);
	strv_add_all(&argv, &cc->words);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		strv_add(&argv, flags[i]);
	strv_add(&argv, out);
	strv_add(&argv, source);
	r = runtime_run(&argv, err);
	(void)unlink(source);
	return r;
}

static int join(const struct compiler *linker, const char *glue, const char *archive,
	const char *out, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT;

	strv_add(&argv, linker->path);
	strv_add_all(&argv, &linker->words);
	strv_add(&argv, "-r");
	strv_add(&argv, "-nostdlib");
	strv_add(&argv, "-o");
	strv_add(&argv, out);
	strv_add(&argv, glue);
	strv_add(&argv, "-Wl,--whole-archive");
	strv_add(&argv, archive);
	strv_add(&argv, "-Wl,--no-whole-archive");
	return runtime_run(&argv, err);
}

static int hide(const char *cross, const char *object, struct error *err)
{
	static const char *const kept[] = {"__gcov_*", "!__gcov_dump", "!__gcov_reset",
		"!__gcov_fork", "!__gcov_exec*", "__wrap___gcov_*", "__whet_gcov_*"};
	auto_strv struct strv argv = STRV_INIT;
	auto_free char *objcopy = runtime_tool(cross, "objcopy", err);

	if (!objcopy)
		return -1;
	strv_add(&argv, objcopy);
	strv_add(&argv, "--wildcard");
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		strv_addf(&argv, "--keep-global-symbol=%s", kept[i]);
	strv_add(&argv, object);
	return runtime_run(&argv, err);
}

int wrap_build_gcov_runtime(const struct compiler *linker, const struct compiler *gcc,
	const char *cross, const char *out, struct error *err)
{
	auto_free char *glue = xasprintf("%s.%d.glue.o", out, (int)getpid());
	auto_free char *object = xasprintf("%s.%d.o", out, (int)getpid());
	auto_free char *archive = xasprintf("%s.%d.a", out, (int)getpid());
	int r = 0;

	if (path_exists(out))
		return 0;
	r = compile_glue(linker, glue, err);
	if (r == 0)
		r = join(linker, glue, gcc->runtime, object, err);
	if (r == 0)
		r = hide(cross, object, err);
	if (r == 0)
		r = runtime_archive(cross, object, archive, err);
	if (r == 0)
		r = file_rename(archive, out, err);
	(void)unlink(glue);
	(void)unlink(object);
	(void)unlink(archive);
	return r < 0 ? error_context(err, "cannot make a profile runtime of '%s'", gcc->runtime)
		     : 0;
}
