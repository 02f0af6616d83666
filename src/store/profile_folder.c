/* A profile that is a folder of files: gcc's. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/store.h"

static int note(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	(void)root;
	(void)err;
	if (!S_ISDIR(st->st_mode))
		strv_add(ctx, path);
	return 0;
}

int store_folder_digest(const char *folder, char sha256[65], struct error *err)
{
	auto_strv struct strv files = STRV_INIT;
	struct sha256 h;

	if (tree_walk(folder, note, &files, err) < 0)
		return -1;
	strv_sort(&files);
	sha256_begin(&h);
	for (size_t i = 0; i < files.n; i++) {
		auto_free char *path = path_join(folder, files.v[i]);
		char hex[SHA256_HEX];

		if (sha256_file(path, hex, err) < 0)
			return -1;
		sha256_adds(&h, files.v[i]);
		sha256_adds(&h, hex);
	}
	sha256_end(&h, sha256);
	return 0;
}

int store_put_profile_folder(
	const struct store *s, const char *folder, char sha256[65], char **ret, struct error *err)
{
	auto_free char *all = store_path(s, "profiles");
	auto_free char *path = NULL;
	char there[SHA256_HEX] = "";

	if (store_folder_digest(folder, sha256, err) < 0 || dir_create(all, 0755, err) < 0)
		return -1;
	path = xasprintf("%s/%s.gcda", all, sha256);
	if (path_exists(path) && store_folder_digest(path, there, NULL) == 0 &&
		strcmp(there, sha256) == 0) {
		if (tree_remove(folder, err) < 0)
			return -1;
	} else if (tree_remove(path, err) < 0 || file_rename(folder, path, err) < 0) {
		return -1;
	}
	(void)utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* for store_trim() */
	store_use(s, "profiles", path_basename(path));
	*ret = take_ptr(path);
	return 0;
}
