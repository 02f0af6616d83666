#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "toolchain/internal.h"

/* key = "VALUE" # ORIGIN: a line of TOML as cargo prints it. VALUE with its escapes undone. */
static char *value_of(const char *line, const char **origin)
{
	const char *p = strstr(line, "= \"");
	auto_buf struct buf b = BUF_INIT;

	if (!p)
		return NULL;
	for (p += 3; *p && *p != '"'; p++) {
		if (*p == '\\' && p[1])
			p++;
		buf_addc(&b, *p);
	}
	p = strstr(p, "# ");
	*origin = p ? p + 2 : "";
	return buf_detach(&b);
}

/* A path in a settings file counts from the folder that .cargo lies in, one of a variable from the
 * working folder. */
static char *resolve(const char *value, const char *origin, const char *folder)
{
	auto_free char *settings = path_dirname(origin);
	auto_free char *above = path_dirname(settings);
	auto_free char *joined = NULL;

	if (!strchr(value, '/'))
		return xstrdup(value);
	joined = path_join(origin[0] == '/' ? above : folder, value);
	return path_clean(joined);
}

int toolchain_cargo_rustc_wrapper(const struct strv *cargo, const struct strv *settings,
	const char *folder, char **ret, struct error *err)
{
	static const char not_set[] = "is not set";
	struct proc_options o = PROC_OPTIONS_INIT;
	auto_strv struct strv argv = STRV_INIT, env = STRV_INIT, lines = STRV_INIT;
	const char *origin = "";
	auto_free char *value = NULL;
	struct error why = ERROR_INIT;

	strv_add_all(&argv, cargo);
	strv_split_words(&argv, "-Zunstable-options config get --format toml --show-origin");
	strv_add_all(&argv, settings);
	strv_add(&argv, "build.rustc-wrapper");
	env_copy_current(&env);
	/* The question is not stable yet; nothing is compiled with this. */
	env_set(&env, "RUSTC_BOOTSTRAP", "1");
	o.argv = &argv;
	o.env = &env;
	o.cwd = folder;
	*ret = NULL;
	if (proc_capture(&o, 60 * NS_PER_S, &lines, &why) < 0) {
		bool unset = why.msg && strstr(why.msg, not_set);
		int r = unset ? 0 : error_set(err, why.code, "%s", why.msg);

		error_release(&why);
		return r;
	}
	value = lines.n ? value_of(lines.v[0], &origin) : NULL;
	if (value && *value)
		*ret = resolve(value, origin, folder);
	return 0;
}
