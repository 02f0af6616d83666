#include "wrap/evidence.h"

#include <archive.h>
#include <archive_entry.h>
#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "elf/elf_facts.h"
#include "wrap/thin.h"
#include "wrap/zig.h"
#include "wrap/twins.h"

/* Members larger than this are no objects of a sane program. */
#define MEMBER_MAX ((int64_t)1 << 31)

enum content { CONTENT_OBJECT, CONTENT_BITCODE, CONTENT_ARCHIVE, CONTENT_THIN, CONTENT_OTHER };

static enum content content_of(const uint8_t *p, size_t n)
{
	uint16_t type;

	if (n >= 8 && memcmp(p, "!<arch>\n", 8) == 0)
		return CONTENT_ARCHIVE;
	if (n >= 8 && memcmp(p, "!<thin>\n", 8) == 0)
		return CONTENT_THIN;
	if (n >= 4 && (memcmp(p, "BC\xc0\xde", 4) == 0 || memcmp(p, "\xde\xc0\x17\x0b", 4) == 0))
		return CONTENT_BITCODE;
	if (n < EI_NIDENT + 2 || memcmp(p, ELFMAG, SELFMAG) != 0)
		return CONTENT_OTHER;
	type = p[EI_DATA] == ELFDATA2MSB ? (uint16_t)(p[EI_NIDENT] << 8 | p[EI_NIDENT + 1])
					 : (uint16_t)(p[EI_NIDENT + 1] << 8 | p[EI_NIDENT]);
	return type == ET_REL ? CONTENT_OBJECT : CONTENT_OTHER;
}

static struct link_input *add_link(struct compile_record *r, const char *path, const char *member)
{
	struct link_input *l;

	array_reserve(r->links, r->n_links, r->cap_links);
	l = &r->links[r->n_links++];
	memset(l, 0, sizeof(*l));
	l->path = xstrdup(path);
	l->member = xstrdup(member);
	return l;
}

static void describe(struct link_input *l, const void *p, size_t n)
{
	struct elf_origin o = {0};
	char hex[SHA256_HEX];

	sha256_of(p, n, hex);
	l->sha256 = xstrdup(hex);
	if (content_of(p, n) != CONTENT_OBJECT)
		return;
	if (elf_object_code(p, n, hex, &l->functions, NULL) == 0 && hex[0])
		l->code_hash = xstrdup(hex);
	if (elf_object_origin(p, n, &o, NULL) < 0)
		return;
	l->maker = take_ptr(o.maker);
	l->data = o.data;
	strv_add_all(&l->files, &o.files);
	if (!l->maker)
		strv_add_all(&l->labels, &o.labels);
	elf_origin_release(&o);
}

/* ---- archives ------------------------------------------------------------------------------ */

static bool wanted(const struct map_inputs *m, const char *path, const char *member, bool *seen)
{
	ssize_t i = map_inputs_find(m, path, member);

	if (i >= 0)
		seen[i] = true;
	return i >= 0;
}

/* bitcode: only if it is. */
static int read_member(struct compile_record *r, struct archive *a, struct archive_entry *e,
	const char *full, bool bitcode)
{
	int64_t n = archive_entry_size(e);
	auto_free uint8_t *p = NULL;

	if (n < 0 || n > MEMBER_MAX || !(p = malloc(n ? (size_t)n : 1)))
		return -1;
	if (archive_read_data(a, p, (size_t)n) != n)
		return -1;
	if (!bitcode || content_of(p, (size_t)n) == CONTENT_BITCODE)
		describe(add_link(r, full, archive_entry_pathname(e)), p, (size_t)n);
	return 0;
}

/* path: as in the map; full: absolute. Without a map: the members of bitcode. */
static int read_archive(struct compile_record *r, const struct map_inputs *m, const char *path,
	const char *full, bool *seen, struct error *err)
{
	struct archive *a = archive_read_new();
	struct archive_entry *e;
	int s;

	archive_read_support_format_ar(a);
	s = archive_read_open_filename(a, full, 1 << 16);
	while (s == ARCHIVE_OK && (s = archive_read_next_header(a, &e)) == ARCHIVE_OK) {
		const char *member = archive_entry_pathname(e);

		if (member && (!m || wanted(m, path, member, seen)) &&
			read_member(r, a, e, full, !m) < 0)
			s = ARCHIVE_FATAL;
	}
	if (s != ARCHIVE_EOF)
		error_set(err, ERR_CORRUPT, "cannot read the archive '%s': %s", full,
			archive_error_string(a) ? archive_error_string(a) : "member too large");
	archive_read_free(a);
	return s == ARCHIVE_EOF ? 0 : -1;
}

struct thin_job {
	struct compile_record *r;
	const struct map_inputs *m;
	const char *path, *full;
	bool *seen;
};

/* A member of a thin archive is a file of its own; linkers name it by its path or its last part. */
static int thin_member(void *ctx, const char *name, const char *file, struct error *err)
{
	struct thin_job *j = ctx;
	struct file_map f;
	struct link_input *l;

	if (!wanted(j->m, j->path, name, j->seen) &&
		!wanted(j->m, j->path, path_basename(name), j->seen) &&
		!wanted(j->m, j->path, file, j->seen))
		return 0;
	if (file_map(file, &f, err) < 0)
		return -1;
	l = add_link(j->r, file, NULL);
	describe(l, f.p, f.n);
	file_unmap(&f);
	return 0;
}

/* ---- files --------------------------------------------------------------------------------- */

static int archive_of(struct compile_record *r, const struct map_inputs *m, size_t i, bool *seen,
	struct error *err)
{
	auto_free char *joined = path_join(r->cwd, m->v[i].path);
	auto_free char *full = path_clean(joined);
	struct thin_job job = {r, m, m->v[i].path, full, seen};
	struct file_map f;
	enum content c;
	int e;

	/* Gone: listed without a hash. So is one of zig's: its members' names are paths, which
	 * other readers do not take. */
	if (zig_made(full) || file_map(full, &f, NULL) < 0) {
		add_link(r, full, m->v[i].member);
		seen[i] = true;
		return 0;
	}
	c = content_of(f.p, f.n);
	e = c == CONTENT_THIN ? thin_walk(&f, full, thin_member, &job, err)
			      : read_archive(r, m, m->v[i].path, full, seen, err);
	file_unmap(&f);
	if (e == 0 && !seen[i]) {
		add_link(r, full, m->v[i].member);
		seen[i] = true;
	}
	return e;
}

/* "lto-llvm-1a2b3c.o": what LLVM's plugin of GNU ld, gold and mold hands to them, and removes. */
static bool is_plugin_name(const char *base)
{
	static const char prefix[] = "lto-llvm-";
	const char *digits = base + strlen(prefix);
	size_t n;

	if (strncmp(base, prefix, strlen(prefix)) != 0)
		return false;
	n = strspn(digits, "0123456789abcdef");
	return n && strcmp(digits + n, ".o") == 0;
}

/* lld names the code that link-time optimisation made "OUTPUT.lto.o" or "lto.tmp"; bitcode objects
 * leave no line of their own. gcc has "….ltrans0.ltrans.o", and "….debug.temp.o" for what -g asked.
 */
static bool is_lto_name(const char *path)
{
	const char *base = path_basename(path);

	return is_plugin_name(base) || strstr(base, "lto.tmp") || strstr(base, ".lto.") ||
	       strstr(base, ".ltrans") || strstr(base, ".debug.temp.o");
}

/* The object of this path among those kept of the call, or NULL. */
static char *kept_object(const char *kept, const char *full)
{
	auto_free char *path = kept ? path_join(kept, path_basename(full)) : NULL;

	return path && path_exists(path) ? take_ptr(path) : NULL;
}

static void object_of(struct compile_record *r, const char *path, const char *kept, bool *bitcode)
{
	auto_free char *joined = path_join(r->cwd, path);
	auto_free char *full = path_clean(joined);
	auto_free char *copy = path_exists(full) ? NULL : kept_object(kept, full);
	struct link_input *l;
	struct file_map f;
	enum content c;

	if (file_map(copy ? copy : full, &f, NULL) < 0) {
		if (!is_lto_name(full))
			add_link(r, full, NULL);
		return;
	}
	c = content_of(f.p, f.n);
	if (c == CONTENT_OBJECT || c == CONTENT_BITCODE) {
		l = add_link(r, full, NULL);
		l->temporary = copy != NULL;
		describe(l, f.p, f.n);
	}
	if (c == CONTENT_BITCODE)
		*bitcode = true;
	file_unmap(&f);
}

static bool has_link(const struct compile_record *r, const char *path)
{
	for (size_t i = 0; i < r->n_links; i++)
		if (!r->links[i].member && strcmp(r->links[i].path, path) == 0)
			return true;
	return false;
}

static void add_bitcode(struct compile_record *r, const char *full, bool temporary)
{
	struct file_map f;

	if (has_link(r, full) || file_map(full, &f, NULL) < 0)
		return;
	if (content_of(f.p, f.n) == CONTENT_BITCODE) {
		struct link_input *l = add_link(r, full, NULL);

		l->temporary = temporary;
		describe(l, f.p, f.n);
	}
	file_unmap(&f);
}

static int add_kept(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	auto_free char *full = path_join(root, path);

	(void)err;
	if (S_ISREG(st->st_mode))
		add_bitcode(ctx, full, true);
	return 0;
}

static int thin_bitcode(void *ctx, const char *name, const char *file, struct error *err)
{
	(void)name;
	(void)err;
	add_bitcode(ctx, file, false);
	return 0;
}

/* Which bitcode members were loaded no map tells: all are taken for loaded. */
static int add_archive_bitcode(struct compile_record *r, const char *full, struct error *err)
{
	struct file_map f;
	enum content c;
	int e;

	if (zig_made(full) || file_map(full, &f, NULL) < 0)
		return 0;
	c = content_of(f.p, f.n);
	e = c == CONTENT_THIN      ? thin_walk(&f, full, thin_bitcode, r, err)
	    : c == CONTENT_ARCHIVE ? read_archive(r, NULL, full, full, NULL, err)
				   : 0;
	file_unmap(&f);
	return e;
}

/* "-lNAME" in the folders of -L, when no shared library comes first. */
static char *library_of(const struct compile_record *r, const char *name)
{
	for (size_t i = 0; i < r->argv.n; i++) {
		const char *a = r->argv.v[i];
		const char *folder = strncmp(a, "-L", 2) ? NULL : a[2] ? a + 2 : r->argv.v[i + 1];
		auto_free char *joined = folder ? path_join(r->cwd, folder) : NULL;
		auto_free char *shared = folder ? xasprintf("%s/lib%s.so", joined, name) : NULL;
		auto_free char *archive = folder ? xasprintf("%s/lib%s.a", joined, name) : NULL;

		if (folder && path_exists(shared) && !strv_has(&r->argv, "-static"))
			return NULL;
		if (folder && path_exists(archive))
			return path_clean(archive);
	}
	return NULL;
}

static int add_libraries(struct compile_record *r, struct error *err)
{
	for (size_t i = 0; i < r->argv.n; i++) {
		const char *a = r->argv.v[i];
		const char *name = strncmp(a, "-l", 2) ? NULL : a[2] ? a + 2 : r->argv.v[i + 1];
		auto_free char *path = name ? library_of(r, name) : NULL;

		if (path && add_archive_bitcode(r, path, err) < 0)
			return -1;
	}
	return 0;
}

static int add_bitcode_inputs(struct compile_record *r, const char *kept, struct error *err)
{
	for (size_t i = 0; i < r->inputs.n; i++) {
		auto_free char *joined = path_join(r->cwd, r->inputs.v[i]);
		auto_free char *full = path_clean(joined);

		add_bitcode(r, full, false);
		if (add_archive_bitcode(r, full, err) < 0)
			return -1;
	}
	if (add_libraries(r, err) < 0)
		return -1;
	return kept && path_is_dir(kept) ? tree_walk(kept, add_kept, r, err) : 0;
}

int evidence_collect(
	struct compile_record *r, const struct map_inputs *map, const char *kept, struct error *err)
{
	auto_free bool *seen = xcalloc(map->n + 1, sizeof(*seen));
	bool lto = false;

	for (size_t i = 0; i < map->n; i++) {
		const struct map_input *in = &map->v[i];

		if (in->member) {
			if (!seen[i] && archive_of(r, map, i, seen, err) < 0)
				return -1;
			continue;
		}
		lto |= is_lto_name(in->path);
		object_of(r, in->path, kept, &lto);
	}
	twins_drop_unloaded(r);
	return lto ? add_bitcode_inputs(r, kept, err) : 0;
}
