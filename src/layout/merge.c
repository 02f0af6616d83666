/* What a training left: judged, and merged to one profile. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "layout/internal.h"

/* Of the functions with a count, how many (one in …) a binary may lack before the profile counts as
 * another program's. Names that llvm-bolt made up are few. */
#define FOREIGN_ONE_IN 20

void layout_files_release(struct layout_files *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].path);
		free(f->v[i].problem);
	}
	free(f->v);
	memset(f, 0, sizeof(*f));
}

const char *layout_state_name(enum layout_state s)
{
	static const char *const names[] = {[LAYOUT_VALID] = "valid",
		[LAYOUT_MISSING] = "missing",
		[LAYOUT_EMPTY] = "empty",
		[LAYOUT_INVALID] = "invalid",
		[LAYOUT_FOREIGN] = "foreign"};

	return names[s];
}

static void set_state(struct layout_file *f, enum layout_state s, char *problem)
{
	f->state = s;
	f->problem = problem;
}

/* A symbol table to judge by; names of the binary for messages. */
struct judge {
	const char *binary;
	struct elf_names names;
};

static void judge_content(struct fdata *d, const struct judge *j, struct layout_file *ret)
{
	struct fdata_names n = {0};

	fdata_names_of(d, &j->names, &n);
	ret->functions = n.functions;
	ret->unknown = n.unknown;
	ret->executed = fdata_executed(d);
	for (size_t i = 0; i < d->n; i++)
		ret->branches += d->v[i].count > 0;
	if (d->n == 0)
		set_state(ret, LAYOUT_EMPTY,
			xasprintf("'%s' is empty: its process was killed while it wrote, or ended "
				  "before it had run anything",
				ret->path));
	else if (ret->executed == 0)
		set_state(ret, LAYOUT_EMPTY,
			xasprintf("'%s' has no count: all of its %zu lines are zero", ret->path,
				d->n));
	else if (n.unknown * FOREIGN_ONE_IN > n.functions)
		set_state(ret, LAYOUT_FOREIGN,
			xasprintf("'%s' is the profile of another program, or of another build of "
				  "it: %" PRIu64 " of its %" PRIu64
				  " functions are not in '%s', or smaller there (%s)",
				ret->path, n.unknown, n.functions, j->binary, n.example));
	free(n.example);
}

/* An error of reading is a state of the file, unless it could not be read at all. */
static int judge_file(const struct judge *j, struct layout_file *ret, struct error *err)
{
	struct error own = ERROR_INIT;
	struct fdata d = {0};

	if (!path_exists(ret->path)) {
		set_state(ret, LAYOUT_MISSING, xasprintf("'%s' is not there", ret->path));
		return 0;
	}
	if (fdata_read(ret->path, &d, &own) == 0) {
		judge_content(&d, j, ret);
		fdata_release(&d);
		return 0;
	}
	if (own.code == ERR_IO)
		return error_move(err, &own);
	set_state(ret, LAYOUT_INVALID, xstrdup(own.msg));
	error_release(&own);
	return 0;
}

static int judge_open(const char *binary, struct judge *ret, struct error *err)
{
	struct elf_layout l = {0};

	if (elf_layout_read(binary, &l, &ret->names, err) < 0)
		return -1;
	elf_layout_release(&l);
	ret->binary = binary;
	return 0;
}

static void judge_close(struct judge *j)
{
	elf_names_release(&j->names);
}
#define auto_judge __attribute__((cleanup(judge_close)))

int layout_profile_check(
	const char *path, const char *binary, struct layout_file *ret, struct error *err)
{
	auto_judge struct judge j = {0};
	struct layout_file f = {.path = xstrdup(path)};

	if (judge_open(binary, &j, err) < 0 || judge_file(&j, &f, err) < 0) {
		free(f.path);
		return -1;
	}
	*ret = f;
	return 0;
}

/* PREFIX, or PREFIX.PID.fdata. */
static bool is_of_prefix(const char *name, const char *base, pid_t *pid)
{
	size_t n = strlen(base), digits;

	*pid = 0;
	if (strncmp(name, base, n) != 0)
		return false;
	if (!name[n])
		return true;
	if (name[n] != '.')
		return false;
	digits = strspn(name + n + 1, "0123456789");
	if (!digits || digits > 10 || strcmp(name + n + 1 + digits, ".fdata") != 0)
		return false;
	*pid = (pid_t)strtoul(name + n + 1, NULL, 10);
	return true;
}

static int list_files(const char *prefix, struct strv *ret, struct error *err)
{
	auto_free char *folder = path_dirname(prefix);
	DIR *d = opendir(folder);
	const struct dirent *e;
	pid_t pid;

	if (!d)
		return errno == ENOENT ? 0 : file_error(err, "list", folder);
	while ((e = readdir(d)))
		if (is_of_prefix(e->d_name, path_basename(prefix), &pid))
			strv_take(ret, path_join(folder, e->d_name));
	closedir(d);
	strv_sort(ret);
	return 0;
}

int layout_collect(
	const char *prefix, const char *binary, struct layout_files *ret, struct error *err)
{
	auto_judge struct judge j = {0};
	auto_strv struct strv paths = STRV_INIT;
	struct layout_files all = {0};

	if (judge_open(binary, &j, err) < 0 || list_files(prefix, &paths, err) < 0)
		return -1;
	for (size_t i = 0; i < paths.n; i++) {
		struct layout_file *f;

		array_reserve(all.v, all.n, all.cap);
		f = &all.v[all.n++];
		*f = (struct layout_file){.path = xstrdup(paths.v[i])};
		is_of_prefix(path_basename(f->path), path_basename(prefix), &f->pid);
		if (judge_file(&j, f, err) < 0) {
			layout_files_release(&all);
			return -1;
		}
	}
	*ret = all;
	return 0;
}

/* ---- Merge ---- */

static enum error_code code_of(enum layout_state s)
{
	return s == LAYOUT_FOREIGN ? ERR_MISMATCH : ERR_CORRUPT;
}

/* Keys of `from` point into its text: it must outlive `into`. */
static int add_lines(
	struct fdata *into, const struct fdata *from, const char *path, struct error *err)
{
	if (into->n && (into->kind != from->kind || into->bolted != from->bolted))
		return error_set(err, ERR_MISMATCH,
			"'%s' holds %s and the files before it %s: they cannot be added up", path,
			from->kind == FDATA_SAMPLES ? "samples" : "branches",
			into->kind == FDATA_SAMPLES ? "samples" : "branches");
	into->kind = from->kind;
	into->bolted = from->bolted;
	if (!into->header)
		into->header = xstrdup(from->header);
	for (size_t i = 0; i < from->n; i++) {
		array_reserve(into->v, into->n, into->cap);
		into->v[into->n++] = from->v[i];
	}
	for (size_t i = 0; i < from->n_places; i++) {
		array_reserve(into->places, into->n_places, into->cap_places);
		into->places[into->n_places++] = from->places[i];
	}
	return 0;
}

static int write_lines(const struct fdata *f, const char *path, struct error *err)
{
	auto_buf struct buf out = BUF_INIT;

	if (f->bolted)
		buf_adds(&out, "boltedcollection\n");
	if (f->header)
		buf_addf(&out, "%s\n", f->header);
	for (size_t i = 0; i < f->n; i++) {
		const struct fdata_line *l = &f->v[i];

		if (l->count == 0)
			continue;
		buf_add(&out, l->key, l->n);
		if (l->branch)
			buf_addf(&out, " %" PRIu64, l->mispredicted);
		buf_addf(&out, " %" PRIu64 "\n", l->count);
	}
	if (buf_failed(&out))
		return error_set(err, ERR_UNSUPPORTED, "'%s' would be larger than 1 GiB", path);
	return file_write_atomic(path, out.p, out.n, 0644, err);
}

/* What a later run compares with: the build id, else the content. */
int layout_identity(const char *binary, char **ret, struct error *err)
{
	struct elf_layout l = {0};
	char hex[SHA256_HEX];

	if (elf_layout_read(binary, &l, NULL, err) < 0)
		return -1;
	*ret = take_ptr(l.build_id);
	elf_layout_release(&l);
	if (*ret)
		return 0;
	if (sha256_file(binary, hex, err) < 0)
		return -1;
	*ret = xstrdup(hex);
	return 0;
}

/* Reads and judges each; parts[] keep the texts. */
static int read_parts(const struct strv *files, const struct judge *j, struct fdata *parts,
	struct fdata *all, struct error *err)
{
	for (size_t i = 0; i < files->n; i++) {
		struct layout_file f = {.path = files->v[i]};
		int r = 0;

		if (fdata_read(files->v[i], &parts[i], err) < 0)
			return -1;
		judge_content(&parts[i], j, &f);
		if (f.state != LAYOUT_VALID)
			r = error_set(err, code_of(f.state), "%s", f.problem);
		free(f.problem);
		if (r < 0 || add_lines(all, &parts[i], files->v[i], err) < 0)
			return -1;
	}
	return 0;
}

static int merge_into(struct fdata *all, const struct judge *j, const char *out, size_t files,
	struct layout_profile *ret, struct error *err)
{
	struct layout_profile p = {.files = files};
	struct fdata_names n = {0};

	fdata_sum(all);
	fdata_names_of(all, &j->names, &n);
	free(n.example);
	p.functions = n.functions;
	p.unknown = n.unknown;
	p.executed = fdata_executed(all);
	for (size_t i = 0; i < all->n; i++)
		p.branches += all->v[i].count > 0;
	p.source = xstrdup(all->kind == FDATA_SAMPLES ? "samples" : "branches");
	if (layout_identity(j->binary, &p.binary, err) < 0 || write_lines(all, out, err) < 0) {
		layout_profile_release(&p);
		return -1;
	}
	*ret = p;
	return 0;
}

int layout_merge(const struct strv *files, const char *binary, const char *out,
	struct layout_profile *ret, struct error *err)
{
	auto_judge struct judge j = {0};
	auto_strv struct strv sorted = STRV_INIT;
	struct fdata *parts, all = {0};
	int r = -1;

	if (files->n == 0)
		return error_set(err, ERR_CORRUPT,
			"no process left a profile for layout: each of them was killed, or ended "
			"by _exit, or could not write to its folder; let the first process of the "
			"program end by exit(), or a return from main, and its user write there");
	if (judge_open(binary, &j, err) < 0)
		return -1;
	strv_add_all(&sorted, files);
	strv_sort(&sorted);
	parts = xcalloc(sorted.n, sizeof(*parts));
	if (read_parts(&sorted, &j, parts, &all, err) == 0)
		r = merge_into(&all, &j, out, sorted.n, ret, err);
	for (size_t i = 0; i < sorted.n; i++)
		fdata_release(&parts[i]);
	free(parts);
	fdata_release(&all);
	return r;
}
