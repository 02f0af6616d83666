/* The folder that a process of a program by gcc left: a .gcda for each object of its images. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "profile/gcc/gcda.h"
#include "profile/gcc/objects.h"
#include "train/internal.h"

struct looking {
	const struct train_options *o;
	const char *folder;
	struct raw_file *r;
	struct strv found; /* absolute paths, as the objects have them, in byte order */
};

static void spoil(struct raw_file *r, enum raw_state state, char *problem)
{
	if (r->state != RAW_VALID) {
		free(problem);
		return;
	}
	r->state = state;
	r->problem = problem;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* sorted: in byte order. */
static bool has(const struct strv *sorted, const char *path)
{
	return sorted->n && bsearch(&path, sorted->v, sorted->n, sizeof(*sorted->v), by_text);
}

static bool is_known(const struct train_options *o, const char *path)
{
	for (size_t i = 0; i < o->n_gcov; i++)
		if (has(&o->gcov[i], path))
			return true;
	return false;
}

static void look_at(struct looking *l, const char *relative)
{
	auto_free char *path = path_join(l->folder, relative);
	auto_free char *object = xasprintf("/%s", relative);
	struct gcda_summary sum = {0};
	struct error why = ERROR_INIT;
	struct stat st;
	struct gcda *g = gcda_read_file(path, &why);

	if (stat(path, &st) == 0)
		l->r->size += (uint64_t)st.st_size;
	strv_add(&l->found, object);
	if (!g) {
		spoil(l->r, RAW_INVALID, xasprintf("'%s': %s", relative, why.msg));
		error_release(&why);
		return;
	}
	gcda_summarise(g, &sum);
	l->r->functions += sum.functions;
	l->r->executed += sum.executed;
	gcda_free(g);
	if (!is_known(l->o, object))
		spoil(l->r, RAW_FOREIGN,
			xasprintf("written by another program: '%s' is no object of an "
				  "instrumented binary",
				object));
}

/* What of an image's objects is not there; NULL: it is whole. */
static const char *lacking_of(const struct looking *l, const struct strv *objects)
{
	for (size_t k = 0; k < objects->n; k++)
		if (!has(&l->found, objects->v[k]))
			return objects->v[k];
	return NULL;
}

/* The image that is whole; n_gcov: none is. */
static size_t whole_image(const struct looking *l)
{
	size_t i = 0;

	while (i < l->o->n_gcov && (!l->o->gcov[i].n || lacking_of(l, &l->o->gcov[i])))
		i++;
	return i;
}

static void judge_whole(const struct looking *l, const struct strv *files, size_t whole, bool done)
{
	const char *lacks = NULL;

	for (size_t i = 0; whole == l->o->n_gcov && i < l->o->n_gcov && !lacks; i++)
		lacks = lacking_of(l, &l->o->gcov[i]);
	if (lacks)
		spoil(l->r, RAW_INVALID,
			xasprintf("holds %zu .gcda, but not that of '%s': it could not be written, "
				  "or "
				  "the process ended before",
				files->n, lacks));
	else if (!done)
		spoil(l->r, RAW_INVALID,
			xasprintf("holds %zu .gcda, but the process ended while it wrote them",
				files->n));
}

size_t collect_gcov(
	const struct train_options *o, const char *folder, bool done, struct raw_file *r)
{
	struct looking l = {.o = o, .folder = folder, .r = r};
	auto_strv struct strv files = STRV_INIT;
	struct error why = ERROR_INIT;
	size_t whole;

	r->state = RAW_VALID;
	if (gcc_list(folder, &files, &why) < 0) {
		spoil(r, RAW_INVALID, xstrdup(why.msg));
		error_release(&why);
		return o->n_gcov;
	}
	if (!files.n) {
		r->state = RAW_EMPTY;
		return o->n_gcov;
	}
	for (size_t i = 0; i < files.n; i++)
		look_at(&l, files.v[i]);
	whole = whole_image(&l);
	judge_whole(&l, &files, whole, done);
	strv_release(&l.found);
	return whole;
}
