#include "pipeline/trained.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"

#define FOLDER "trained"
#define EXTENSION ".profdata"

static char *profile_path(const struct run *r)
{
	auto_free char *folder = store_path(&r->store, FOLDER);

	return xasprintf("%s/%s" EXTENSION, folder, r->plan.build.target);
}

/* Of what gcc compiled in a program of clang or rustc. */
static char *other_path(const struct run *r)
{
	auto_free char *folder = store_path(&r->store, FOLDER);

	return xasprintf("%s/%s" GCC_PROFILE_ENDING, folder, r->plan.build.target);
}

int trained_keep(const struct run *r, struct error *err)
{
	auto_free char *folder = store_path(&r->store, FOLDER);
	auto_free char *path = profile_path(r);
	auto_free char *beside = xasprintf("%s.json", path);
	auto_free char *other = other_path(r);
	auto_free char *node = NULL, *provenance = NULL;

	if (r->given)
		return 0;
	/* Of the plan's own training, whichever variant is released. */
	node = path_dirname(r->own.published);
	provenance = path_join(node, PROVENANCE_FILE);
	/* The provenance names the profile by its content: whoever is killed in between leaves a
	 * pair that does not fit, and that is seen. */
	if (dir_create(folder, 0755, err) < 0 || file_copy(r->own.published, path, 0644, err) < 0 ||
		tree_remove(other, err) < 0)
		return -1;
	if (r->own.published_beside && !trained_is_archive(path) &&
		file_copy(r->own.published_beside, other, 0644, err) < 0)
		return -1;
	return file_copy(provenance, beside, 0644, err);
}

static int note_target(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	struct strv *targets = ctx;
	size_t n = strlen(path), k = strlen(EXTENSION);

	if (n > k && strcmp(path + n - k, EXTENSION) == 0)
		strv_take(targets, xstrndup(path, n - k));
	return 0;
}

static int no_profile(const struct run *r, struct error *err)
{
	auto_free char *folder = store_path(&r->store, FOLDER);
	auto_strv struct strv targets = STRV_INIT;
	auto_free char *others = NULL;

	if (path_is_dir(folder) && tree_walk(folder, note_target, &targets, err) < 0)
		return -1;
	others = strv_join(&targets, ", ");
	if (targets.n)
		return error_set(err, ERR_ENVIRONMENT,
			"--profile last: no build of this project was trained for '%s', only for "
			"%s; a profile of another target does not fit: train for this one with "
			"`whet build`",
			r->plan.build.target, others);
	return error_set(err, ERR_ENVIRONMENT,
		"--profile last: no complete trained build of this project is in its state '%s': "
		"run `whet build` first, and keep that folder from build to build",
		r->store.root);
}

int trained_find(const struct run *r, char **ret, struct error *err)
{
	auto_free char *path = profile_path(r);
	auto_free char *beside = xasprintf("%s.json", path);
	struct error why = ERROR_INIT;
	struct provenance p = {0};
	char sha[SHA256_HEX];
	bool whole;

	if (!path_exists(path))
		return no_profile(r, err);
	whole = provenance_read(beside, &p, &why) == 0 && sha256_file(path, sha, &why) == 0 &&
		strcmp(sha, p.profile) == 0;
	error_release(&why);
	provenance_release(&p);
	if (!whole)
		return error_set(err, ERR_ENVIRONMENT,
			"--profile last: the kept profile '%s' is not the one that its provenance "
			"describes: train again with `whet build`",
			path);
	*ret = take_ptr(path);
	return 0;
}

bool trained_is_archive(const char *path)
{
	auto_buf struct buf b = BUF_INIT;

	return file_read(path, 0, &b, NULL) == 0 && b.n > 2 && memcmp(b.p, "\x1f\x8b", 2) == 0;
}

int trained_check_kind(const struct run *r, struct error *err)
{
	if (!r->last_profile)
		return 0;
	if (toolchain_profile_kind(run_main_compiler(r)) == PROFILE_GCC)
		return error_set(err, ERR_CONFIG,
			"--profile last: the plan's compiler is gcc, whose profiles fit the "
			"sources that "
			"were trained and no others: it numbers the functions of a file, so one "
			"that is "
			"added or taken out gives its counts to another. Train this revision with "
			"`whet "
			"build`, or compile with clang");
	if (trained_is_archive(r->given))
		return error_set(err, ERR_CONFIG,
			"--profile last: the last trained build was one of gcc, whose profiles "
			"other "
			"compilers do not take: train with this one by `whet build`");
	return 0;
}
