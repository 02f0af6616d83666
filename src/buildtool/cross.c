/* What the build tools must be told when they build for another machine. What the plan says itself
 * stands. */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "buildtool/internal.h"

static void set_if_unset(struct step_context *x, const char *name, const char *value)
{
	if (value && !env_get(&x->env, name))
		env_set(&x->env, name, value);
}

/* Programs for files of this machine read no others: an archive by its ar has no index. */
void cross_environment(struct step_context *x)
{
	const struct build_cross *c = x->place->cross;

	/* The crate cc takes them for this machine, too. */
	if (!c || x->b->tool == TOOL_CARGO)
		return;
	set_if_unset(x, "AR", c->ar);
	set_if_unset(x, "RANLIB", c->ranlib);
	set_if_unset(x, "NM", c->nm);
	set_if_unset(x, "STRIP", c->strip);
	set_if_unset(x, "OBJCOPY", c->objcopy);
	set_if_unset(x, "PKG_CONFIG_LIBDIR", c->pkg_config);
}

static bool says(const struct strv *args, const char *name)
{
	for (size_t i = 0; i < args->n; i++)
		if (strstr(args->v[i], name))
			return true;
	return false;
}

void cross_configure(const struct step_context *x, const struct strv *args, struct strv *ret)
{
	const struct build_cross *c = x->place->cross;
	auto_free char *build = NULL;

	if (!c || says(args, "--host"))
		return;
	build = target_host_gnu();
	if (!says(args, "--build"))
		strv_addf(ret, "--build=%s", build);
	strv_addf(ret, "--host=%s", c->target->gnu);
}

static void define(struct strv *ret, const struct strv *args, const char *name, const char *value)
{
	if (value && *value && !says(args, name))
		strv_addf(ret, "-D%s=%s", name, value);
}

void cross_cmake(const struct step_context *x, const struct strv *args, struct strv *ret)
{
	const struct build_cross *c = x->place->cross;
	auto_free char *emulator = NULL;

	/* A project's toolchain file says all of it. */
	if (!c || says(args, "CMAKE_TOOLCHAIN_FILE") || says(args, "--toolchain"))
		return;
	emulator = strv_join(c->emulator, ";");
	define(ret, args, "CMAKE_SYSTEM_NAME", "Linux");
	define(ret, args, "CMAKE_SYSTEM_PROCESSOR", c->target->processor->uname);
	define(ret, args, "CMAKE_AR", c->ar);
	define(ret, args, "CMAKE_RANLIB", c->ranlib);
	define(ret, args, "CMAKE_SYSROOT", c->sysroot);
	define(ret, args, "CMAKE_CROSSCOMPILING_EMULATOR", emulator);
}

void cross_meson(const struct step_context *x, const struct strv *args, struct strv *ret)
{
	const struct build_cross *c = x->place->cross;

	if (!c || says(args, "--cross-file"))
		return;
	strv_add(ret, "--cross-file");
	strv_add(ret, c->meson_file);
}

/* A list of meson's: ['clang', '--target=x']. */
static void add_list(struct buf *b, const char *name, const struct strv *words)
{
	if (!words->n)
		return;
	buf_addf(b, "%s = [", name);
	for (size_t i = 0; i < words->n; i++) {
		buf_addf(b, "%s'", i ? ", " : "");
		for (const char *p = words->v[i]; *p; p++)
			buf_addf(b, "%s%c", *p == '\'' || *p == '\\' ? "\\" : "", *p);
		buf_addc(b, '\'');
	}
	buf_adds(b, "]\n");
}

static void add_program(struct buf *b, const char *name, const char *path)
{
	auto_strv struct strv words = STRV_INIT;

	if (!path)
		return;
	strv_add(&words, path);
	add_list(b, name, &words);
}

char *buildtool_meson_file(const struct build_cross *c, const char *cc, const char *cxx)
{
	const struct target_processor *p = c->target->processor;
	auto_strv struct strv c_words = STRV_INIT, cxx_words = STRV_INIT, folders = STRV_INIT;
	struct buf b = BUF_INIT;

	strv_split_words(&c_words, cc);
	strv_split_words(&cxx_words, cxx);
	buf_adds(&b, "[binaries]\n");
	add_list(&b, "c", &c_words);
	add_list(&b, "cpp", &cxx_words);
	add_program(&b, "ar", c->ar);
	add_program(&b, "strip", c->strip);
	add_program(&b, "objcopy", c->objcopy);
	add_program(&b, "pkg-config", "pkg-config");
	add_list(&b, "exe_wrapper", c->emulator);
	for (const char *at = c->pkg_config; at && *at; at += strcspn(at, ":"), at += *at == ':')
		strv_take(&folders, xstrndup(at, strcspn(at, ":")));
	buf_adds(&b, "[properties]\n");
	add_list(&b, "pkg_config_libdir", &folders);
	buf_addf(&b,
		"[host_machine]\nsystem = 'linux'\ncpu_family = '%s'\ncpu = '%s'\nendian = '%s'\n",
		p->family, p->uname, p->big_endian ? "big" : "little");
	return buf_detach(&b);
}
