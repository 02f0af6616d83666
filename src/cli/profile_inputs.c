#include "cli/profile_inputs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "profile/gcc/gcda.h"
#include "profile/gcc/gcno.h"

int profile_weighted(const char *text, uint64_t *weight, const char **path, struct error *err)
{
	char *end;

	errno = 0;
	*weight = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || errno || *end != ',' || !end[1] || *weight < 1)
		return error_set(err, ERR_USAGE,
			"--weighted '%s': expected WEIGHT,FILE with a weight of 1 or more, for "
			"example 3,a.profraw",
			text);
	*path = end + 1;
	return 0;
}

/* Whether a line of a list begins with a weight. */
static bool has_weight(const char *line)
{
	size_t n = strspn(line, "0123456789");

	return n && line[n] == ',';
}

int profile_read_list(
	const char *path, struct strv *files, struct strv *weighted, struct error *err)
{
	auto_buf struct buf text = BUF_INIT;
	char *rest, *line;

	if (file_read(path, 0, &text, err) < 0)
		return error_context(err, "list of inputs");
	rest = text.p;
	while ((line = strsep(&rest, "\n"))) {
		size_t n;

		line += strspn(line, " \t\r");
		n = strlen(line);
		while (n && strchr(" \t\r", line[n - 1]))
			line[--n] = '\0';
		if (n && line[0] != '#')
			strv_add(has_weight(line) ? weighted : files, line);
	}
	return 0;
}

void profile_warn(const char *path, bool values_missing, bool mixed)
{
	if (mixed)
		fprintf(stderr,
			"whet: '%s' is of a program with objects of LLVMs whose records differ in "
			"size: the counts of all were read, their values are lost\n",
			path);
	else if (values_missing)
		fprintf(stderr,
			"whet: '%s' has counters, but no value data: it was written in continuous "
			"mode (%%c), or by a process that died while it wrote\n",
			path);
}

/* What was found so far: a path of each kind, or NULL. */
struct found {
	char *gcc, *llvm;
};

static bool ends_with(const char *path, const char *suffix)
{
	size_t n = strlen(path), k = strlen(suffix);

	return n >= k && strcmp(path + n - k, suffix) == 0;
}

static void note(char **to, const char *path)
{
	if (!*to)
		*to = xstrdup(path);
}

static int look_below(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	struct found *f = ctx;
	auto_free char *full = path_join(root, path);

	(void)err;
	if (!S_ISREG(st->st_mode))
		return 0;
	if (ends_with(path, ".gcda"))
		note(&f->gcc, full);
	else if (ends_with(path, ".profraw"))
		note(&f->llvm, full);
	return 0;
}

/* A file that says nothing (empty, damaged) is what its name says. */
static bool is_gcc_file(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t first[4] = {0};
	ssize_t n = fd < 0 ? -1 : read(fd, first, sizeof(first));

	if (n < 0)
		return false;
	return gcda_magic(first, (size_t)n) || gcno_magic(first, (size_t)n) ||
	       ends_with(path, ".gcda");
}

static int look(struct found *f, const char *path, struct error *err)
{
	if (path_is_dir(path))
		return tree_walk(path, look_below, f, err);
	note(is_gcc_file(path) ? &f->gcc : &f->llvm, path);
	return 0;
}

int profile_inputs_are_gcc(
	const struct strv *files, const struct strv *weighted, bool *ret, struct error *err)
{
	struct found f = {0};
	const char *path;
	uint64_t weight;
	int rc = 0;

	for (size_t i = 0; i < files->n && rc == 0; i++)
		rc = look(&f, files->v[i], err);
	for (size_t i = 0; weighted && i < weighted->n && rc == 0; i++) {
		rc = profile_weighted(weighted->v[i], &weight, &path, err);
		if (rc == 0)
			rc = look(&f, path, err);
	}
	if (rc == 0 && f.gcc && f.llvm)
		rc = error_set(err, ERR_USAGE,
			"'%s' is a profile of GCC and '%s' one of LLVM; they have nothing in "
			"common: "
			"name inputs of one kind",
			f.gcc, f.llvm);
	*ret = f.gcc != NULL;
	free(f.gcc);
	free(f.llvm);
	return rc;
}

static int raw_below(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	size_t n = strlen(path);

	(void)err;
	if (S_ISREG(st->st_mode) && n > 8 && strcmp(path + n - 8, ".profraw") == 0)
		strv_take(ctx, path_join(root, path));
	return 0;
}

int profile_expand(const char *path, struct strv *files, struct error *err)
{
	auto_strv struct strv found = STRV_INIT;

	if (!path_is_dir(path)) {
		strv_add(files, path);
		return 0;
	}
	if (tree_walk(path, raw_below, &found, err) < 0)
		return -1;
	if (!found.n)
		return error_set(
			err, ERR_USAGE, "folder '%s' holds no .profraw or .gcda files", path);
	strv_sort(&found);
	strv_add_all(files, &found);
	return 0;
}

static int add_one(struct profile *p, const char *path, uint64_t weight, struct error *err)
{
	struct profile_images images = {0};
	int rc = profile_add_file(p, path, weight, &images, err);
	bool values_missing = false, mixed = false;

	for (size_t i = 0; i < images.n && rc == 0; i++) {
		values_missing |= images.v[i].values_missing;
		mixed |= images.v[i].mixed;
	}
	profile_warn(path, values_missing, mixed);
	profile_images_release(&images);
	return rc;
}

int profile_add_input(struct profile *p, const char *path, uint64_t weight, struct error *err)
{
	auto_strv struct strv files = STRV_INIT;

	if (profile_expand(path, &files, err) < 0)
		return -1;
	for (size_t i = 0; i < files.n; i++)
		if (add_one(p, files.v[i], weight, err) < 0)
			return -1;
	return 0;
}
