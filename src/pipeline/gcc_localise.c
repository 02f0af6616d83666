/* From the published archive to the folder that the compilers read on this machine. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "pipeline/gcc_profile.h"
#include "profile/gcc/gcda.h"
#include "profile/gcc/ident.h"
#include "release/release.h"

#define NAME_BYTES_MAX 255

struct localising {
	struct run *r;
	char *slot;
	char *from, *to; /* unpacked; made */
	struct gcc_index index;
	struct gcda **data;
	struct profile_facts *facts; /* NULL: not asked for */
	size_t n_fixed;              /* executed functions that may be lost in another folder */
	struct gcc_rename *all;
	size_t n_all, cap_all;
};

static void localising_release(struct localising *l)
{
	for (size_t i = 0; l->data && i < l->index.n; i++)
		gcda_free(l->data[i]);
	free(l->data);
	free(l->all);
	free(l->slot);
	free(l->from);
	free(l->to);
	gcc_index_release(&l->index);
}

/* ---- here's names -----------------------------------------------------------------------------
 */

static struct gcc_rename rename_of(const struct localising *l, const struct gcc_named *f)
{
	auto_free char *source = f->source ? gcc_unmark(f->source, l->slot) : NULL;
	auto_free char *object = f->object ? gcc_unmark(f->object, l->slot) : NULL;

	return (struct gcc_rename){.from = f->ident,
		.to = object ? gcc_ident_local(source, f->name, object) : f->ident,
		.lines = source && f->line ? gcc_lines(f->line, source, f->name) : 0};
}

static void rename_own(struct localising *l, size_t i)
{
	const struct gcc_indexed *o = &l->index.v[i];
	auto_free struct gcc_rename *own = xcalloc(o->n + 1, sizeof(*own));
	struct gcc_renames none = {0};

	for (size_t k = 0; k < o->n; k++) {
		own[k] = rename_of(l, &o->v[k]);
		if (own[k].from == own[k].to)
			continue;
		array_reserve(l->all, l->n_all, l->cap_all);
		l->all[l->n_all++] = own[k];
	}
	gcc_renames_sort(own, o->n);
	gcda_rename(l->data[i], (struct gcc_renames){own, o->n}, none);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static int by_ident(const void *a, const void *b)
{
	const struct gcc_named *x = a, *y = b;

	return x->ident < y->ident ? -1 : x->ident > y->ident;
}

static char *key_of(const struct localising *l, const struct gcc_named *f, uint32_t ident)
{
	auto_free char *source = f && f->object ? gcc_unmark(f->source, l->slot) : NULL;

	if (!f || !f->name)
		return xasprintf("#%08x", ident);
	return source ? xasprintf("%s;%s", source, f->name) : xstrdup(f->name);
}

/* A local function whose source was not found when it was published: its ident is that of the
 * folder in which it was trained. */
static bool is_fixed(const struct gcc_named *f)
{
	return f && f->name && !f->object && gcc_ident(f->name) != f->ident;
}

static void note_function(
	struct localising *l, const struct gcc_indexed *o, const struct gcda_function *g)
{
	struct profile_facts *p = l->facts;
	const struct gcda_counters *arcs = gcda_find(g, GCDA_ARCS);
	struct gcc_named key = {.ident = g->ident};
	const struct gcc_named *f = o->n ? bsearch(&key, o->v, o->n, sizeof(key), by_ident) : NULL;

	l->n_fixed += is_fixed(f) && gcda_largest(arcs);
	array_reserve(p->v, p->n, p->cap);
	p->v[p->n++] = (struct profile_function){.key = key_of(l, f, g->ident),
		.hash = g->cfg_checksum,
		.max_count = gcda_largest(arcs),
		.single_block = arcs && arcs->n <= 1,
		.gcc = true};
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct profile_function *)a)->key,
		((const struct profile_function *)b)->key);
}

/* A function that several objects or libraries have counts once. */
static void settle_facts(struct profile_facts *p)
{
	size_t n = 0;

	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), by_key);
	for (size_t i = 0; i < p->n; i++) {
		if (n && strcmp(p->v[n - 1].key, p->v[i].key) == 0) {
			if (p->v[i].max_count > p->v[n - 1].max_count)
				p->v[n - 1].max_count = p->v[i].max_count;
			free(p->v[i].key);
		} else {
			p->v[n++] = p->v[i];
		}
	}
	p->functions = p->n = n;
	p->executed = 0;
	for (size_t i = 0; i < n; i++)
		p->executed += p->v[i].max_count > 0;
}

/* With the idents of the archive: that is what the index has. */
static void note_facts(struct localising *l)
{
	struct profile_facts *p = l->facts;
	struct gcda_summary sum = {0};

	for (size_t i = 0; i < l->index.n; i++) {
		struct gcc_indexed *o = &l->index.v[i];
		const struct gcda *g = l->data[i];

		if (o->n)
			qsort(o->v, o->n, sizeof(*o->v), by_ident);
		gcda_summarise(g, &sum);
		for (size_t k = 0; k < g->n_functions; k++)
			if (g->functions[k].present)
				note_function(l, o, &g->functions[k]);
	}
	p->total_count = sum.total_count;
	settle_facts(p);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int write_as(struct localising *l, size_t i, const char *name, struct error *err)
{
	auto_free char *path = path_join(l->to, name);
	auto_free char *folder = path_dirname(path);

	if (strlen(path_basename(name)) > NAME_BYTES_MAX)
		return error_set(err, ERR_CONFIG,
			"the profile of '%s' has a name of more than %d bytes, '%s': gcc puts the "
			"object's whole path into it\nlet the objects' paths be shorter",
			l->index.v[i].path, NAME_BYTES_MAX, name);
	if (dir_create(folder, 0755, err) < 0)
		return -1;
	return gcda_write_file(l->data[i], path, err);
}

/* By the name that gcc looks for when the object's path was given as relative, and when it was
 * absolute: which one it was, the path does not tell. */
static int write_object(struct localising *l, size_t i, struct error *err)
{
	auto_free char *path = gcc_unmark(l->index.v[i].path, l->slot);
	size_t n = strlen(l->slot);
	bool below = strncmp(path, l->slot, n) == 0 && path[n] == '/';
	auto_free char *mangled = gcc_mangled(below ? path + n + 1 : path);
	auto_free char *clean = path_clean(path);

	if (write_as(l, i, mangled, err) < 0)
		return -1;
	return write_as(l, i, clean + strspn(clean, "/"), err);
}

static int read_index(struct localising *l, struct error *err)
{
	auto_free char *path = path_join(l->from, GCC_PROFILE_INDEX);

	return run_main_compiler(l->r)->family == FAMILY_GCC
		       ? gcc_index_read(path, &l->index, err)
		       : gcc_index_read_beside(path, &l->index, err);
}

static int unpack(struct localising *l, const char *archive, struct error *err)
{
	auto_strv struct strv index = STRV_INIT, files = STRV_INIT;

	strv_add(&index, GCC_PROFILE_INDEX);
	if (tree_remove(l->from, err) < 0 || dir_create(l->from, 0755, err) < 0 ||
		release_take_out(archive, &index, l->from, err) < 0 || read_index(l, err) < 0)
		return -1;
	for (size_t i = 0; i < l->index.n; i++)
		strv_add(&files, l->index.v[i].file);
	return files.n ? release_take_out(archive, &files, l->from, err) : 0;
}

static int check_version(const struct localising *l, size_t i, struct error *err)
{
	const struct compiler *c = run_main_of(l->r, PROFILE_GCC);
	auto_free char *text = gcda_version_text(l->data[i]->version);

	if ((int)l->data[i]->major == c->major)
		return 0;
	return error_set(err, ERR_MISMATCH,
		"it is of %s, and '%s' is %s: gcc reads the profiles of its own version alone; "
		"train again, or set build.compiler to that version",
		text, c->path, c->version);
}

static int read_objects(struct localising *l, struct error *err)
{
	l->data = xcalloc(l->index.n + 1, sizeof(struct gcda *));
	for (size_t i = 0; i < l->index.n; i++) {
		auto_free char *path = path_join(l->from, l->index.v[i].file);

		l->data[i] = gcda_read_file(path, err);
		if (!l->data[i] || check_version(l, i, err) < 0)
			return -1;
	}
	return 0;
}

static int make(struct localising *l, struct error *err)
{
	struct gcc_renames none = {0};

	for (size_t i = 0; i < l->index.n; i++)
		rename_own(l, i);
	gcc_renames_sort(l->all, l->n_all);
	if (tree_remove(l->to, err) < 0 || dir_create(l->to, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < l->index.n; i++)
		gcda_rename(l->data[i], none, (struct gcc_renames){l->all, l->n_all});
	gcc_fill_copies(&l->index, l->data);
	for (size_t i = 0; i < l->index.n; i++)
		if (write_object(l, i, err) < 0)
			return -1;
	return 0;
}

static void tell_fixed(const struct localising *l)
{
	if (!l->n_fixed || !l->r->track->profile.given)
		return;
	events_warning(l->r->o->events,
		"%zu executed functions of the profile, local ones of which it does not know the "
		"source, are known by the folder in which they were trained: here they may have no "
		"data (max-missing)",
		l->n_fixed);
}

static int put(struct localising *l, struct error *err)
{
	struct run *r = l->r;
	auto_free char *path = NULL;
	char sha[SHA256_HEX];

	if (store_put_profile_folder(&r->store, l->to, sha, &path, err) < 0)
		return -1;
	for (size_t i = 0; i < r->n_compilers; i++)
		if (r->compilers[i].family == FAMILY_GCC && run_takes_part(r, &r->compilers[i]) &&
			!r->track->profiles[i])
			r->track->profiles[i] = xstrdup(path);
	return 0;
}

int gcc_profile_localise(struct run *r, struct profile_facts *facts, struct error *err)
{
	const char *archive = run_published(r, PROFILE_GCC);
	struct localising l = {.r = r,
		.facts = facts,
		.slot = store_path(&r->store, "slot"),
		.from = run_track_scratch(r, "gcc-unpacked"),
		.to = store_path(&r->store, "profiles/making.gcda")};
	int result = 0;

	if (unpack(&l, archive, err) < 0 || read_objects(&l, err) < 0)
		result = error_context(err, "profile '%s'", archive);
	if (result == 0 && facts)
		note_facts(&l);
	if (result == 0)
		result = make(&l, err);
	if (result == 0)
		result = put(&l, err);
	if (result == 0)
		tell_fixed(&l);
	localising_release(&l);
	return result;
}
