/* From what the processes left to the archive that is published. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "elf/elf_facts.h"
#include "elf/elf_gcov.h"
#include "pipeline/gcc_profile.h"
#include "profile/gcc/gcda.h"
#include "profile/gcc/ident.h"
#include "profile/gcc/objects.h"
#include "release/release.h"

#define SUFFIX ".gcda"
#define LINES_MAX 1000000 /* of a source: more is no line, but another source */

struct publishing {
	struct run *r;
	char *slot;
	struct elf_gcov gcov; /* of all instrumented binaries */
	struct strv folders;  /* in which the compiler was called */
	struct strv files;    /* of the sources, as they may be given */
	struct gcc_index index;
	struct gcda **data; /* of each object of the index */
	struct gcc_rename *all;
	size_t n_all, cap_all;
};

static void publishing_release(struct publishing *p)
{
	for (size_t i = 0; p->data && i < p->index.n; i++)
		gcda_free(p->data[i]);
	free(p->data);
	free(p->all);
	free(p->slot);
	strv_release(&p->folders);
	strv_release(&p->files);
	elf_gcov_release(&p->gcov);
	gcc_index_release(&p->index);
}

/* ---- what is known of the functions --------------------------------------------------------- */

static int by_ident(const void *a, const void *b)
{
	const struct elf_gcov_function *x = a, *y = b;

	return x->ident < y->ident ? -1 : x->ident > y->ident;
}

/* gcc counts a function under one ident in all objects that have a copy of it. */
static const char *name_of(const struct elf_gcov *g, const struct gcda_function *f)
{
	struct elf_gcov_function key = {.ident = f->ident}, *found;

	found = g->n ? bsearch(&key, g->v, g->n, sizeof(key), by_ident) : NULL;
	while (found && found > g->v && found[-1].ident == f->ident)
		found--;
	for (; found && found < g->v + g->n && found->ident == f->ident; found++)
		if (found->lineno_checksum == f->lineno_checksum &&
			found->cfg_checksum == f->cfg_checksum)
			return found->name;
	return NULL;
}

/* One object in hand. */
struct object {
	struct publishing *p;
	struct gcc_indexed *to;
	struct strv names;   /* of the object without suffix, as they may be given */
	struct strv sources; /* of the calls that made it, as given */
	struct gcc_rename *own;
	size_t n_own, cap_own;
};

static const char *relative(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 && path[n] == '/' && path[n + 1] ? path + n + 1 : NULL;
}

static void find_names(struct object *o, const char *path)
{
	auto_free char *bare = xstrndup(path, strlen(path) - strlen(SUFFIX));

	for (size_t i = 0; i < o->p->folders.n; i++) {
		const char *rest = relative(bare, o->p->folders.v[i]);

		if (rest)
			strv_add(&o->names, rest);
	}
	strv_add(&o->names, bare);
}

/* Whether a call may have made the object: "x.gcda" belongs to "x.o", "prog-x.gcda" to "prog". */
static bool may_be_of(const struct compile_record *c, const char *clean)
{
	const char *dot = c->output ? strrchr(path_basename(c->output), '.') : NULL;
	size_t n = c->output ? (dot && dot != path_basename(c->output) ? (size_t)(dot - c->output)
								       : strlen(c->output))
			     : 0;

	if (c->class != CLASS_TARGET || !c->inputs.n || c->kind == CALL_LINK ||
		c->kind == CALL_PARTIAL_LINK)
		return false;
	return !n || (strncmp(clean, c->output, n) == 0 && strchr(".-", clean[n]));
}

static void find_sources(struct object *o, const char *path)
{
	const struct compile_log *l = &o->p->r->track->instrumented.facts.log;
	auto_free char *clean = path_clean(path);

	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; may_be_of(&l->v[i], clean) && k < l->v[i].inputs.n; k++)
			if (!strv_has(&o->sources, l->v[i].inputs.v[k]))
				strv_add(&o->sources, l->v[i].inputs.v[k]);
}

/* Its ident is made of source, name and object: tried until it is that one. */
static bool find_local(
	const struct object *o, const struct strv *sources, uint32_t ident, struct gcc_named *f)
{
	const char *slot = o->p->slot;

	for (size_t i = 0; i < sources->n; i++)
		for (size_t k = 0; k < o->names.n; k++) {
			if (gcc_ident_local(sources->v[i], f->name, o->names.v[k]) != ident)
				continue;
			f->source = gcc_mark(sources->v[i], slot);
			f->object = gcc_mark(o->names.v[k], slot);
			return true;
		}
	return false;
}

/* Another source gives a line that no source has. */
static void find_line(const struct object *o, uint32_t checksum, struct gcc_named *f)
{
	auto_free char *own = f->source ? gcc_unmark(f->source, o->p->slot) : NULL;
	size_t n = own ? 1 : o->sources.n;

	for (size_t i = 0; i < n; i++) {
		const char *source = own ? own : o->sources.v[i];
		uint32_t line = gcc_line_of(checksum, source, f->name);

		if (!line || line > LINES_MAX)
			continue;
		f->line = line;
		if (!f->source)
			f->source = gcc_mark(source, o->p->slot);
		return;
	}
}

static void add_rename(struct object *o, const struct gcc_named *f, uint32_t from, bool own)
{
	struct publishing *p = o->p;
	struct gcc_rename x = {.from = from,
		.to = f->ident,
		.lines = f->line ? gcc_lines(f->line, f->source, f->name) : 0};

	if (own) {
		array_reserve(o->own, o->n_own, o->cap_own);
		o->own[o->n_own++] = x;
	} else if (x.from != x.to) {
		array_reserve(p->all, p->n_all, p->cap_all);
		p->all[p->n_all++] = x;
	}
}

static void add_function(struct object *o, const struct gcda_function *g)
{
	const char *name = name_of(&o->p->gcov, g);
	struct gcc_indexed *to = o->to;
	struct gcc_named *f;

	array_reserve(to->v, to->n, to->cap);
	f = &to->v[to->n++];
	*f = (struct gcc_named){.ident = g->ident, .name = xstrdup(name)};
	if (!name)
		return;
	if (gcc_ident(name) != g->ident && (find_local(o, &o->sources, g->ident, f) ||
						   find_local(o, &o->p->files, g->ident, f)))
		f->ident = gcc_ident_local(f->source, f->name, f->object);
	find_line(o, g->lineno_checksum, f);
	add_rename(o, f, g->ident, true);
	add_rename(o, f, g->ident, false);
}

/* ---- objects --------------------------------------------------------------------------------- */

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct gcc_indexed *)a)->path, ((const struct gcc_indexed *)b)->path);
}

/* The objects that a process wrote. One whose image never ran has no data. */
static void list_objects(struct publishing *p, const char *merged)
{
	for (size_t i = 0; i < p->gcov.objects.n; i++) {
		auto_free char *clean = path_clean(p->gcov.objects.v[i]);
		auto_free char *at = xasprintf("%s%s", merged, clean);

		if (!path_exists(at))
			continue;
		array_reserve(p->index.v, p->index.n, p->index.cap);
		p->index.v[p->index.n++] =
			(struct gcc_indexed){.path = gcc_mark(p->gcov.objects.v[i], p->slot)};
	}
	if (p->index.n)
		qsort(p->index.v, p->index.n, sizeof(*p->index.v), by_path);
	for (size_t i = 0; i < p->index.n; i++)
		p->index.v[i].file = xasprintf("%05zu" SUFFIX, i + 1);
}

static int add_object(struct publishing *p, size_t i, const char *merged, struct error *err)
{
	struct object o = {.p = p, .to = &p->index.v[i]};
	auto_free char *path = gcc_unmark(p->index.v[i].path, p->slot);
	auto_free char *clean = path_clean(path);
	auto_free char *at = xasprintf("%s%s", merged, clean);
	struct gcda *g = p->data[i] = gcda_read_file(at, err);
	struct gcc_renames none = {0};

	if (!g)
		return -1;
	find_names(&o, path);
	find_sources(&o, path);
	for (size_t k = 0; k < g->n_functions; k++)
		if (g->functions[k].present)
			add_function(&o, &g->functions[k]);
	gcc_renames_sort(o.own, o.n_own);
	gcda_rename(g, (struct gcc_renames){o.own, o.n_own}, none);
	/* Of one compilation, with its paths: the compiler passes over both. */
	g->stamp = g->checksum = 0;
	gcda_forget_addresses(g);
	free(o.own);
	strv_release(&o.names);
	strv_release(&o.sources);
	return 0;
}

static int write_archive(
	struct publishing *p, const char *folder, const char *path, struct error *err)
{
	struct gcc_renames none = {0}, all = {p->all, p->n_all};
	auto_free char *index = path_join(folder, GCC_PROFILE_INDEX);
	auto_free struct release_file *files = xcalloc(p->index.n + 1, sizeof(*files));
	auto_strv struct strv paths = STRV_INIT;

	gcc_renames_sort(p->all, p->n_all);
	for (size_t i = 0; i < p->index.n; i++) {
		strv_take(&paths, path_join(folder, p->index.v[i].file));
		gcda_rename(p->data[i], none, all);
		if (gcda_write_file(p->data[i], paths.v[i], err) < 0)
			return -1;
		files[i] = (struct release_file){paths.v[i], p->index.v[i].file, false};
	}
	if (gcc_index_write(&p->index, index, err) < 0)
		return -1;
	files[p->index.n] = (struct release_file){index, GCC_PROFILE_INDEX, false};
	return release_archive(path, GCC_PROFILE_TOP, files, p->index.n + 1, 0, err);
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool is_code(const char *path)
{
	static const char *const ends[] = {".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp",
		".tcc", ".c", ".cc", ".cpp", ".cxx", ".C"};
	const char *dot = strrchr(path_basename(path), '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(ends); i++)
		if (strcmp(dot, ends[i]) == 0)
			return true;
	return false;
}

/* Local functions come of headers too, and those of what a source includes. */
static void list_files(struct publishing *p)
{
	const struct source_tree *t = &p->r->sources;
	const struct compile_log *l = &p->r->track->instrumented.facts.log;
	auto_free char *prefix = run_source_prefix(p->r);

	for (size_t i = 0; i < t->n; i++) {
		if (!is_code(t->v[i].path))
			continue;
		strv_addf(&p->files, "%s%s", prefix, t->v[i].path);
		strv_add(&p->files, t->v[i].path);
	}
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].cwd && !strv_has(&p->folders, l->v[i].cwd))
			strv_add(&p->folders, l->v[i].cwd);
}

static int read_binaries(struct publishing *p, struct error *err)
{
	const struct strv *binaries = &p->r->track->instrumented.binaries;

	for (size_t i = 0; i < binaries->n; i++)
		if (elf_gcov_read(binaries->v[i], &p->gcov, err) < 0)
			return -1;
	if (p->gcov.n)
		qsort(p->gcov.v, p->gcov.n, sizeof(*p->gcov.v), by_ident);
	return 0;
}

static int list_folders(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	const char *slash = strchr(path, '/');
	size_t n = strlen(path);

	(void)err;
	if (S_ISDIR(st->st_mode) && slash && !strchr(slash + 1, '/') && n > 5 &&
		strcmp(path + n - 5, ".gcov") == 0)
		strv_take(ctx, path_join(root, path));
	return 0;
}

/* Adds up what all processes left. */
static int merge(struct run *r, const char *to, struct error *err)
{
	auto_free char *node = store_node_folder(&r->store, r->track->train_key);
	auto_free char *raw = path_join(node, "raw");
	auto_strv struct strv folders = STRV_INIT;
	auto_free struct gcc_input *in = NULL;

	if (tree_walk(raw, list_folders, &folders, err) < 0)
		return -1;
	strv_sort(&folders);
	in = xcalloc(folders.n + 1, sizeof(*in));
	for (size_t i = 0; i < folders.n; i++)
		in[i] = (struct gcc_input){folders.v[i], 1};
	return gcc_merge_folders(in, folders.n, to, err);
}

int gcc_profile_publish(struct run *r, const char *path, struct error *err)
{
	struct publishing p = {.r = r, .slot = store_path(&r->store, "slot")};
	auto_free char *merged = run_track_scratch(r, "gcc-merged");
	auto_free char *folder = run_track_scratch(r, "gcc-published");
	int result = tree_remove(merged, err) < 0 || merge(r, merged, err) < 0 ? -1 : 0;

	if (result == 0)
		result = read_binaries(&p, err);
	if (result == 0) {
		list_files(&p);
		list_objects(&p, merged);
		p.data = xcalloc(p.index.n + 1, sizeof(struct gcda *));
	}
	for (size_t i = 0; result == 0 && i < p.index.n; i++)
		result = add_object(&p, i, merged, err);
	if (result == 0 && (tree_remove(folder, err) < 0 || dir_create(folder, 0755, err) < 0))
		result = -1;
	if (result == 0)
		result = write_archive(&p, folder, path, err);
	publishing_release(&p);
	return result;
}

/* Without symbols nothing is known of the counters. */
static int none_found(struct run *r, struct error *err)
{
	const struct strv *binaries = &r->track->instrumented.binaries;

	for (size_t i = 0; i < binaries->n; i++) {
		struct elf_facts f = {0};
		bool counts;

		if (elf_facts_read(binaries->v[i], &f, err) < 0)
			return -1;
		counts = f.profile_marks.n > 0;
		elf_facts_release(&f);
		if (counts)
			return error_set(err, ERR_CONFIG,
				"the instrumented '%s' was linked without its symbols (-s, strip): "
				"which functions it counts is not known\nlink it with them; what "
				"ships is stripped all the same (release: strip)",
				path_basename(binaries->v[i]));
	}
	return node_gate_nothing_instrumented(r, err);
}

int gcc_profile_objects(
	struct run *r, struct strv **ret, size_t *images, size_t *n, struct error *err)
{
	const struct strv *binaries = &r->track->instrumented.binaries;
	struct strv *all = xcalloc(binaries->n + 1, sizeof(*all));
	int result = 0;

	*n = 0;
	for (size_t i = 0; i < binaries->n && result == 0; i++) {
		struct elf_gcov g = {0};

		result = elf_gcov_read(binaries->v[i], &g, err);
		for (size_t k = 0; k < g.objects.n; k++)
			strv_take(&all[*n], path_clean(g.objects.v[k]));
		strv_sort(&all[*n]);
		images[*n] = i;
		*n += all[*n].n > 0;
		elf_gcov_release(&g);
	}
	*ret = all;
	if (result == 0 && !*n && run_main_compiler(r)->family == FAMILY_GCC)
		result = none_found(r, err);
	return result;
}
