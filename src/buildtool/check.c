#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "buildtool/internal.h"

static bool has_file(const char *folder, const char *name)
{
	auto_free char *path = path_join(folder, name);

	return path_exists(path);
}

/* A member of a workspace has its Cargo.lock in a folder above. */
static bool has_lock(const char *source)
{
	auto_free char *folder = path_absolute(source);

	for (;;) {
		char *above;

		if (has_file(folder, "Cargo.lock"))
			return true;
		if (!strcmp(folder, "/"))
			return false;
		above = path_dirname(folder);
		free(folder);
		folder = above;
	}
}

static int check_cargo(const char *source, struct error *err)
{
	if (!has_file(source, "Cargo.toml"))
		return error_set(err, ERR_CONFIG,
			"'%s' has no Cargo.toml; set build.dir to the folder of the crate, or "
			"build.tool to "
			"what builds this project",
			source);
	if (!has_lock(source))
		return error_set(err, ERR_CONFIG,
			"'%s' has no Cargo.lock: without it every build may take other "
			"dependencies, and "
			"whet does not write into your tree; run 'cargo generate-lockfile' there",
			source);
	return 0;
}

static int check_makefile(const struct plan_build *b, const char *source, struct error *err)
{
	bool named = false;

	for (size_t i = 0; i < b->args.n; i++)
		named |= !strncmp(b->args.v[i], "-f", 2) || !strncmp(b->args.v[i], "-C", 2) ||
			 !strncmp(b->args.v[i], "--file", 6) ||
			 !strncmp(b->args.v[i], "--directory", 11);
	if (b->configure || b->run || named || has_file(source, "Makefile") ||
		has_file(source, "makefile") || has_file(source, "GNUmakefile"))
		return 0;
	return error_set(err, ERR_CONFIG,
		"'%s' has no Makefile; set build.dir, or build.configure to the command that makes "
		"one%s",
		source,
		has_file(source, "configure") ? " (there is a 'configure': tool: autotools)" : "");
}

static int check_configure(const struct plan_build *b, const char *source, struct error *err)
{
	const char *how = "set build.dir to the folder of the source";

	if ((b->configure && strcmp(b->configure, "./configure") != 0) ||
		has_file(source, "configure"))
		return 0;
	if (has_file(source, "autogen.sh"))
		how = "it has an autogen.sh: set build.configure to './autogen.sh && ./configure'";
	else if (has_file(source, "configure.ac"))
		how = "it has a configure.ac: set build.configure to 'autoreconf -fi && "
		      "./configure'";
	return error_set(err, ERR_CONFIG, "'%s' has no configure script; %s", source, how);
}

static int check_files(const struct plan_build *b, const char *source, struct error *err)
{
	if (!path_is_dir(source))
		return error_set(err, ERR_CONFIG,
			"the source folder '%s' does not exist; see build.dir", source);
	switch (b->tool) {
	case TOOL_CARGO:
		return check_cargo(source, err);
	case TOOL_CMAKE:
		return has_file(source, "CMakeLists.txt")
			       ? 0
			       : error_set(err, ERR_CONFIG,
					 "'%s' has no CMakeLists.txt; set build.dir to the folder "
					 "that does",
					 source);
	case TOOL_MESON:
		return has_file(source, "meson.build")
			       ? 0
			       : error_set(err, ERR_CONFIG,
					 "'%s' has no meson.build; set build.dir to the folder "
					 "that does",
					 source);
	case TOOL_MAKE:
		return check_makefile(b, source, err);
	case TOOL_AUTOTOOLS:
		return check_configure(b, source, err);
	case TOOL_COMMAND:
		return 0;
	}
	return 0;
}

static void need(struct buf *missing, const char *program, const char *how)
{
	const char *path_list = getenv("PATH");
	auto_free char *path = path_find_program(program, path_list ? path_list : "", NULL);

	if (!path)
		buf_addf(
			missing, "%s'%s' is not in PATH; %s", missing->n ? "\n" : "", program, how);
}

static int need_cargo(
	const struct plan_build *b, const char *source, struct buf *missing, struct error *err)
{
	auto_strv struct strv words = STRV_INIT;
	auto_free char *program = NULL;

	if (cargo_front_end(b, &words, err) < 0)
		return -1;
	/* A script of the project is named from the folder where it is started. */
	program = strchr(words.v[0], '/') ? path_join(source, words.v[0]) : xstrdup(words.v[0]);
	need(missing, program,
		strcmp(words.v[0], "cargo") ? "build.cargo names it"
					    : "install Rust by rustup (https://rustup.rs)");
	if (strv_has(&words, "zigbuild"))
		need(missing, "cargo-zigbuild", "install it by 'cargo install cargo-zigbuild'");
	return 0;
}

static int check_programs(const struct plan_build *b, const char *source, struct error *err)
{
	auto_buf struct buf missing = BUF_INIT;

	if (b->tool == TOOL_CARGO && need_cargo(b, source, &missing, err) < 0)
		return -1;
	if (b->tool == TOOL_CMAKE)
		need(&missing, "cmake", "install the Debian package 'cmake'");
	if (b->tool == TOOL_MESON)
		need(&missing, "meson", "install the Debian package 'meson'");
	if (b->tool == TOOL_MESON && !b->run)
		need(&missing, "ninja", "install the Debian package 'ninja-build'");
	if ((b->tool == TOOL_MAKE || b->tool == TOOL_AUTOTOOLS) && !b->run)
		need(&missing, "make", "install the Debian package 'make'");
	if (missing.n)
		return error_set(err, ERR_ENVIRONMENT, "%s", buf_str(&missing));
	return 0;
}

int buildtool_check(const struct plan_build *b, const char *source, struct error *err)
{
	if (check_files(b, source, err) < 0)
		return -1;
	return check_programs(b, source, err);
}
