#include "profile/gcc/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

static int data_below(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	size_t n = strlen(path);

	(void)root;
	(void)err;
	if (S_ISREG(st->st_mode) && n >= 5 && strcmp(path + n - 5, ".gcda") == 0)
		strv_add(ctx, path);
	return 0;
}

int gcc_list(const char *folder, struct strv *ret, struct error *err)
{
	if (tree_walk(folder, data_below, ret, err) < 0)
		return -1;
	strv_sort(ret);
	return 0;
}

int gcc_merge_files(const struct gcc_input *in, size_t n, const char *out, struct error *err)
{
	struct gcda *sum = NULL;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = gcda_add_file(&sum, in[i].path, in[i].weight, err);
	if (rc == 0 && sum)
		rc = gcda_write_file(sum, out, err);
	gcda_free(sum);
	return rc;
}

/* One folder to merge: its files, and how far they are done. */
struct source {
	const struct gcc_input *in;
	struct strv files;
	size_t next;
};

static int open_sources(const struct gcc_input *in, size_t n, struct source *ret, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		ret[i].in = &in[i];
		if (gcc_list(in[i].path, &ret[i].files, err) < 0)
			return -1;
		if (!ret[i].files.n)
			return error_set(
				err, ERR_USAGE, "folder '%s' holds no .gcda files", in[i].path);
	}
	return 0;
}

static const char *front(const struct source *s)
{
	return s->next < s->files.n ? s->files.v[s->next] : NULL;
}

/* The first name in byte order that is not done; NULL at the end. */
static const char *next_name(const struct source *s, size_t n)
{
	const char *least = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *name = front(&s[i]);

		if (name && (!least || strcmp(name, least) < 0))
			least = name;
	}
	return least;
}

static int merge_name(
	struct source *s, size_t n, const char *name, const char *folder, struct error *err)
{
	auto_free char *to = path_join(folder, name), *parent = path_dirname(to);
	struct gcda *sum = NULL;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		auto_free char *from = NULL;

		if (!front(&s[i]) || strcmp(front(&s[i]), name) != 0)
			continue;
		from = path_join(s[i].in->path, name);
		rc = gcda_add_file(&sum, from, s[i].in->weight, err);
		s[i].next++;
	}
	if (rc == 0)
		rc = dir_create(parent, 0755, err);
	if (rc == 0)
		rc = gcda_write_file(sum, to, err);
	gcda_free(sum);
	return rc;
}

static int merge_into(struct source *s, size_t n, const char *folder, struct error *err)
{
	const char *name;

	while ((name = next_name(s, n)))
		if (merge_name(s, n, name, folder, err) < 0)
			return -1;
	return 0;
}

static int any_entry(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	return error_set(err, ERR_USAGE,
		"folder '%s' is not empty: name a new one for the merged files", root);
}

/* Into a folder beside the final one, which is renamed at the end. */
static int write_folder(struct source *s, size_t n, const char *out, struct error *err)
{
	auto_free char *parent = path_dirname(out);
	auto_free char *temporary = xasprintf("%s/.%s.XXXXXX", parent, path_basename(out));
	int rc;

	if (dir_create(parent, 0755, err) < 0)
		return -1;
	if (!mkdtemp(temporary) || chmod(temporary, 0755) < 0)
		return file_error(err, "create folder", temporary);
	rc = merge_into(s, n, temporary, err);
	if (rc == 0)
		rc = file_rename(temporary, out, err);
	if (rc < 0)
		tree_remove(temporary, NULL);
	return rc;
}

int gcc_merge_folders(const struct gcc_input *in, size_t n, const char *out, struct error *err)
{
	auto_free char *to = path_clean(out);
	struct source *s;
	int rc = 0;

	if (path_exists(to) && tree_walk(to, any_entry, NULL, err) < 0)
		return -1;
	s = xcalloc(n, sizeof(*s));
	rc = open_sources(in, n, s, err);
	if (rc == 0)
		rc = write_folder(s, n, to, err);
	for (size_t i = 0; i < n; i++)
		strv_release(&s[i].files);
	free(s);
	return rc;
}

void gcc_objects_release(struct gcc_objects *o)
{
	for (size_t i = 0; i < o->n; i++) {
		free(o->v[i].name);
		free(o->v[i].path);
		gcda_free(o->v[i].data);
	}
	free(o->v);
	*o = (struct gcc_objects){0};
}

/* Where the name is, or belongs. */
static size_t place_of(const struct gcc_objects *o, const char *name)
{
	size_t low = 0, high = o->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(o->v[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int add_one(struct gcc_objects *o, const char *name, const char *path, uint64_t weight,
	struct error *err)
{
	size_t at = place_of(o, name);
	struct gcda *data = NULL;

	if (at < o->n && strcmp(o->v[at].name, name) == 0)
		return gcda_add_file(&o->v[at].data, path, weight, err);
	if (gcda_add_file(&data, path, weight, err) < 0)
		return -1;
	array_reserve(o->v, o->n, o->cap);
	memmove(&o->v[at + 1], &o->v[at], (o->n - at) * sizeof(*o->v));
	o->v[at] = (struct gcc_object){xstrdup(name), xstrdup(path), data};
	o->n++;
	return 0;
}

int gcc_objects_add(struct gcc_objects *ret, const char *path, uint64_t weight, struct error *err)
{
	auto_strv struct strv files = STRV_INIT;

	if (!path_is_dir(path))
		return add_one(ret, path, path, weight, err);
	if (gcc_list(path, &files, err) < 0)
		return -1;
	if (!files.n)
		return error_set(err, ERR_USAGE, "folder '%s' holds no .gcda files", path);
	for (size_t i = 0; i < files.n; i++) {
		auto_free char *full = path_join(path, files.v[i]);

		if (add_one(ret, files.v[i], full, weight, err) < 0)
			return -1;
	}
	return 0;
}
