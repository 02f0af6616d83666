#include "store/place.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/seal.h"
#include "store/store.h"

static char *named_base(void)
{
	const char *v = getenv("WHET_STATE");

	if (v && *v)
		return xstrdup(v);
	v = getenv("XDG_CACHE_HOME");
	if (v && *v == '/')
		return path_join(v, "whet");
	v = getenv("HOME");
	return v && *v == '/' ? path_join(v, ".cache/whet") : NULL;
}

char *store_base(struct error *err)
{
	auto_free char *named = named_base();
	auto_free char *base = named ? path_resolve(named) : NULL;

	if (!base) {
		error_set(err, ERR_ENVIRONMENT,
			"neither HOME nor WHET_STATE is set: nowhere to keep the build state");
		return NULL;
	}
	/* A folder in it goes into PATH, and names go into lists with a line each. */
	if (strpbrk(base, ":\n")) {
		error_set(err, ERR_CONFIG,
			"the state folder '%s' has a colon or a line end in its name, which PATH "
			"cannot hold: set WHET_STATE to another folder",
			base);
		return NULL;
	}
	return take_ptr(base);
}

static char *state_name(const char *project, const char *folder)
{
	auto_free char *name = xstrdup(project);
	char hex[SHA256_HEX];

	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-_.", *p))
			*p = '_';
	sha256_of(folder, strlen(folder), hex);
	return xasprintf("%s-%.12s", name, hex);
}

/* ---- the marker ---- */

void state_mark_release(struct state_mark *m)
{
	free(m->project);
	free(m->folder);
	*m = (struct state_mark){0};
}

/* JSON holds text, a path is bytes: written so that every path comes back as it was. */
static char *escaped(const char *path)
{
	auto_buf struct buf b = BUF_INIT;

	for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
		if (*p == '%' || *p < 0x20 || *p >= 0x7f)
			buf_addf(&b, "%%%02x", *p);
		else
			buf_addc(&b, (char)*p);
	}
	return buf_detach(&b);
}

static char *unescaped(const char *text)
{
	auto_buf struct buf b = BUF_INIT;

	for (; *text; text++) {
		char hex[3] = {0};

		if (*text != '%' || !isxdigit((unsigned char)text[1]) ||
			!isxdigit((unsigned char)text[2])) {
			buf_addc(&b, *text);
			continue;
		}
		memcpy(hex, text + 1, 2);
		buf_addc(&b, (char)strtoul(hex, NULL, 16));
		text += 2;
	}
	return buf_detach(&b);
}

bool state_recognise(const char *base, const char *name, struct state_mark *ret)
{
	auto_free char *folder = path_join(base, name);
	auto_free char *path = path_join(folder, STATE_MARKER);
	auto_free char *project = NULL, *text = NULL, *at = NULL, *expected = NULL;
	auto_json json_t *j = NULL;
	struct error ignored = ERROR_INIT;
	struct stat st;

	if (lstat(folder, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
		lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	j = sealed_read(path, &ignored);
	error_release(&ignored);
	project = j ? json_opt_str(j, "project") : NULL;
	text = j ? json_opt_str(j, "folder") : NULL;
	at = text ? unescaped(text) : NULL;
	expected = project && at ? state_name(project, at) : NULL;
	if (!expected || strcmp(expected, name) != 0)
		return false;
	*ret = (struct state_mark){take_ptr(project), take_ptr(at)};
	return true;
}

/* Its time is that of the last use. */
static int put_marker(const char *base, const char *name, const char *project,
	const char *project_root, struct error *err)
{
	auto_free char *path = xasprintf("%s/%s/%s", base, name, STATE_MARKER);
	auto_free char *folder = escaped(project_root);
	auto_json json_t *j = NULL;
	struct state_mark there = {0};
	bool known = state_recognise(base, name, &there);

	state_mark_release(&there);
	if (known) {
		(void)utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
		return 0;
	}
	j = json_object();
	json_set_text(j, "whet", "the state of a project; `whet clean` removes it");
	json_set_text(j, "project", project);
	json_set_text(j, "folder", folder);
	return sealed_write(j, path, err);
}

char *store_folder(const char *project, const char *project_root, struct error *err)
{
	auto_free char *base = store_base(err);
	auto_free char *name = state_name(project, project_root);

	return base ? path_join(base, name) : NULL;
}

int store_open(struct store *s, const char *project, const char *project_root, struct error *err)
{
	auto_free char *base = store_base(err);
	auto_free char *name = state_name(project, project_root);
	auto_free char *root = base ? path_join(base, name) : NULL;

	if (!base)
		return -1;
	if (path_is_below(base, project_root))
		return error_set(err, ERR_CONFIG,
			"the state folder '%s' lies inside the project '%s': set WHET_STATE to a "
			"folder outside it",
			base, project_root);
	if (dir_create(root, 0755, err) < 0 ||
		put_marker(base, name, project, project_root, err) < 0)
		return -1;
	*s = (struct store){
		.root = take_ptr(root), .lock_fd = -1, .used = xcalloc(1, sizeof(*s->used))};
	return 0;
}
