#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "snapshot/internal.h"

#define PAGE 4096ULL
#define SECTIONS_MAX (2ULL << 30) /* bytes of one image */
#define VERSION_LOW 0xffffffffULL
#define IR (1ULL << 56)
#define MAGIC 0xff6c70726f667281ULL /* of raw profiles */

static void image_release(struct image *i)
{
	free(i->path);
	elf_profile_release(&i->elf);
	raw_records_release(&i->records);
	buf_release(&i->constant);
}

void images_release(struct images *i)
{
	for (size_t k = 0; k < i->n; k++)
		image_release(&i->v[k]);
	free(i->v);
	*i = (struct images){0};
}

struct finding {
	pid_t pid, tid;
	struct mappings maps;
	struct images *images;
	struct strv *notes;
	struct image one; /* the file that is looked at */
	bool gcov;
};

/* ---- files ----------------------------------------------------------------------------------- */

/* A path that the kernel names may lead to another file by now: its inode is compared, and where
 * that says nothing (overlay file systems) its first page with the one in memory. */
static bool is_file_of(
	const struct finding *f, const struct mapping *m, const char *path, const struct stat *st)
{
	uint8_t there[PAGE];
	struct file_map file;
	bool same;

	if (!S_ISREG(st->st_mode))
		return false;
	if (st->st_ino == m->inode)
		return true;
	if (file_map(path, &file, NULL) < 0)
		return false;
	same = file.n >= PAGE && m->end - m->start >= PAGE &&
	       memory_read(f->tid, m->start, there, PAGE, NULL) == 0 &&
	       memcmp(there, file.p, PAGE) == 0;
	file_unmap(&file);
	return same;
}

/* How the mapped file can be opened although it may be deleted, or in another mount namespace. */
static char *way_to(const struct finding *f, const struct mapping *m)
{
	char *ways[] = {
		m->inode == f->images->program_inode ? xasprintf("/proc/%d/exe", (int)f->tid)
						     : NULL,
		m->path[0] == '/' ? xasprintf("/proc/%d/root%s", (int)f->tid, m->path) : NULL,
		xasprintf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)f->tid, m->start, m->end),
	};
	char *found = NULL;
	struct stat st;

	for (size_t k = 0; k < ARRAY_SIZE(ways); k++) {
		if (ways[k] && !found && stat(ways[k], &st) == 0 && is_file_of(f, m, ways[k], &st))
			found = take_ptr(ways[k]);
		free(ways[k]);
	}
	return found;
}

static bool has_code(const struct mappings *maps, const struct mapping *file)
{
	for (size_t k = 0; k < maps->n; k++)
		if (maps->v[k].exec && same_file(&maps->v[k], file))
			return true;
	return false;
}

/* ---- where it is loaded ------------------------------------------------------------------------
 */

static bool starts_here(const struct finding *f, const struct mapping *m, uint64_t bias)
{
	uint64_t at = bias + f->one.elf.first.at;
	const struct mapping *start = mapping_at(&f->maps, at);

	if (bias % PAGE || (!f->one.elf.moves && bias) || !start)
		return false;
	if (!same_file(start, m)) /* code moved to large pages is anonymous memory */
		return !start->inode;
	return start->off + (at - start->start) == f->one.elf.first.off;
}

static const struct elf_place *telling_section(const struct elf_profile *e)
{
	return &e->v[e->v[ELF_PRF_DATA].n ? ELF_PRF_DATA : ELF_PRF_COUNTERS];
}

/* ---- what never changes ------------------------------------------------------------------------
 */

uint64_t image_place(const struct image *i, enum elf_prf section)
{
	uint64_t at = i->bias + i->elf.v[section].at;

	if (section == ELF_PRF_COUNTERS)
		at += i->counter_bias;
	if (section == ELF_PRF_BITMAP)
		at += i->bitmap_bias;
	return at;
}

void image_sections(const struct image *i, struct raw_sections *ret)
{
	struct raw_part parts[ELF_PRF_SECTIONS];

	for (size_t k = 0; k < ELF_PRF_SECTIONS; k++)
		parts[k] = (struct raw_part){
			i->elf.v[k].at ? i->bias + i->elf.v[k].at : 0, i->copies[k], i->elf.v[k].n};
	*ret = (struct raw_sections){
		.version = i->version,
		.data = parts[ELF_PRF_DATA],
		.counters = parts[ELF_PRF_COUNTERS],
		.bitmap = parts[ELF_PRF_BITMAP],
		.names = parts[ELF_PRF_NAMES],
		.vtables = parts[ELF_PRF_VTABLES],
		.vtable_names = parts[ELF_PRF_VTABLE_NAMES],
		.ids = (const uint8_t *)i->elf.ids.p,
		.ids_n = i->elf.ids.n,
	};
}

/* Without a symbol the version word is looked for by its look: every IR profile has it. */
static void assume_version(struct finding *f, struct image *i)
{
	i->assumed = true;
	if (i->elf.n_words == 1) {
		i->version = i->elf.words[0];
		strv_addf(f->notes,
			"'%s' is stripped: its version word, 0x%016" PRIx64
			", was told by its look, not by a symbol",
			i->path, i->version);
	} else if (!i->elf.n_words) {
		i->version = 0;
		strv_addf(f->notes,
			"'%s' is stripped and holds no version word of IR profiles: taken for a "
			"front-end profile (-fprofile-instr-generate)",
			i->path);
	} else {
		i->version = IR;
		strv_addf(f->notes,
			"'%s' is stripped, and several constants in it look like a version word: "
			"taken for an IR profile (-fprofile-generate) without further options",
			i->path);
	}
}

static int read_variables(struct finding *f, struct image *i, struct error *err)
{
	uint32_t version;

	if (!i->elf.version_at)
		assume_version(f, i);
	else if (memory_read(f->tid, i->bias + i->elf.version_at, &i->version, 8, err) < 0)
		return -1;
	version = (uint32_t)(i->version & VERSION_LOW);
	if (version && (version < 8 || version > 10))
		return error_set(err, ERR_UNSUPPORTED,
			"'%s' has raw profile version %u; whet takes snapshots of versions 8 to 10 "
			"(LLVM 14 to 22)",
			i->path, version);
	if (i->elf.counter_bias_at &&
		memory_read(f->tid, i->bias + i->elf.counter_bias_at, &i->counter_bias, 8, err) < 0)
		return -1;
	if (i->elf.bitmap_bias_at &&
		memory_read(f->tid, i->bias + i->elf.bitmap_bias_at, &i->bitmap_bias, 8, err) < 0)
		return -1;
	return 0;
}

static int check_mapped(const struct finding *f, const struct image *i, struct error *err)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < ELF_PRF_SECTIONS; k++) {
		if (!mapped(&f->maps, image_place(i, k), i->elf.v[k].n))
			return error_set(err, ERR_CORRUPT,
				"'%s': profile section %zu of %" PRIu64
				" bytes is not in memory at "
				"0x%" PRIx64,
				i->path, k, i->elf.v[k].n, image_place(i, k));
		sum += i->elf.v[k].n;
	}
	if (sum > SECTIONS_MAX)
		return error_set(err, ERR_UNSUPPORTED,
			"'%s' has %" PRIu64
			" bytes of profile sections, more than whet reads (%llu)",
			i->path, sum, SECTIONS_MAX);
	return 0;
}

static int read_constant(struct finding *f, struct image *i, struct error *err)
{
	static const enum elf_prf constant[] = {
		ELF_PRF_NAMES, ELF_PRF_VTABLES, ELF_PRF_VTABLE_NAMES};
	size_t off[ELF_PRF_SECTIONS] = {0};

	for (size_t k = 0; k < ARRAY_SIZE(constant); k++) {
		size_t n = i->elf.v[constant[k]].n;
		char *to = buf_reserve(&i->constant, n);

		if (!to)
			return error_set(err, ERR_UNSUPPORTED,
				"'%s' has more names than whet reads", i->path);
		if (memory_read(f->tid, image_place(i, constant[k]), to, n, err) < 0)
			return -1;
		off[constant[k]] = i->constant.n;
		i->constant.n += n;
	}
	for (size_t k = 0; k < ARRAY_SIZE(constant); k++)
		i->copies[constant[k]] = (const uint8_t *)i->constant.p + off[constant[k]];
	return 0;
}

static int find_records(struct finding *f, struct image *i, struct error *err)
{
	size_t n = i->elf.v[ELF_PRF_DATA].n;
	auto_free uint8_t *data = xmalloc(n);
	struct raw_sections s;

	if (memory_read(f->tid, image_place(i, ELF_PRF_DATA), data, n, err) < 0)
		return -1;
	i->copies[ELF_PRF_DATA] = data;
	image_sections(i, &s);
	i->copies[ELF_PRF_DATA] = NULL;
	if (raw_records_find(&s, &i->records, err) < 0)
		return error_context(err, "'%s'", i->path);
	if (i->records.n[0] && i->records.n[1])
		strv_addf(f->notes,
			"'%s' has objects of LLVM 17 or older and of LLVM 18 or newer (%zu and %zu "
			"functions): written as two profiles, of raw versions 8 and 10",
			i->path, i->records.n[0], i->records.n[1]);
	return 0;
}

/* A stripped program in continuous mode does not tell that its counters are in the file. */
static int refuse_continuous(const struct finding *f, const struct image *i, struct error *err)
{
	for (size_t k = 0; k < f->maps.n; k++) {
		const struct mapping *m = &f->maps.v[k];
		uint64_t word;

		if (i->elf.counter_bias_at || !i->assumed || !m->shared || !m->write || !m->inode ||
			m->off || memory_read(f->tid, m->start, &word, 8, NULL) < 0 ||
			word != MAGIC)
			continue;
		return error_set(err, ERR_UNSUPPORTED,
			"process %d counts into the file '%s' itself (continuous mode, %%c), and "
			"'%s' is stripped: use that file, it is up to date at every moment",
			(int)f->pid, m->path, i->path);
	}
	return 0;
}

static int fill_image(struct finding *f, struct image *i, struct error *err)
{
	if (!i->elf.v[ELF_PRF_DATA].n)
		return error_set(err, ERR_UNSUPPORTED,
			"'%s' was built with profile correlation%s: it has counters in memory, but "
			"no records that say whose they are; build it without -profile-correlate "
			"(-debug-info-correlate)",
			i->path, i->elf.correlated ? " (binary)" : "");
	if (read_variables(f, i, err) < 0 || refuse_continuous(f, i, err) < 0 ||
		check_mapped(f, i, err) < 0 || read_constant(f, i, err) < 0)
		return -1;
	return find_records(f, i, err);
}

static int add_image(
	struct finding *f, const struct mapping *file, uint64_t bias, struct error *err)
{
	struct images *to = f->images;
	struct image i = {.path = xstrdup(file->path),
		.device = file->device,
		.inode = file->inode,
		.bias = bias,
		.elf = f->one.elf};

	i.elf.ids = (struct buf)BUF_INIT;
	buf_add(&i.elf.ids, f->one.elf.ids.p, f->one.elf.ids.n);
	if (fill_image(f, &i, err) < 0) {
		image_release(&i);
		return -1;
	}
	array_reserve(to->v, to->n, to->cap);
	to->v[to->n++] = i;
	return 0;
}

/* The place where a section of the file is mapped tells the load bias. One file may be loaded
 * several times (dlmopen), and one page of it may be mapped twice. */
static int find_places(struct finding *f, const struct mapping *file, struct error *err)
{
	const struct elf_place *s = telling_section(&f->one.elf);
	size_t first = f->images->n;

	for (size_t k = 0; k < f->maps.n; k++) {
		const struct mapping *m = &f->maps.v[k];
		uint64_t bias = m->start + (s->off - m->off) - s->at;
		bool have = false;

		if (!same_file(m, file) || s->off < m->off ||
			s->off - m->off >= m->end - m->start || !starts_here(f, m, bias))
			continue;
		for (size_t i = first; i < f->images->n; i++)
			have = have || f->images->v[i].bias == bias;
		if (!have && add_image(f, file, bias, err) < 0)
			return -1;
	}
	return 0;
}

/* What the image's further runtimes have. */
static int find_others(
	struct finding *f, const struct mapping *m, const struct file_map *file, struct error *err)
{
	int rc = 0;

	for (size_t k = 1; k < ELF_PROFILE_RUNTIMES && rc == 0; k++) {
		if (elf_profile_read(file->p, file->n, elf_profile_runtimes[k], &f->one.elf, NULL) <
			0)
			return 0;
		if (f->one.elf.v[ELF_PRF_COUNTERS].n)
			rc = find_places(f, m, err);
		elf_profile_release(&f->one.elf);
	}
	return rc;
}

static int look_at(struct finding *f, const struct mapping *m, struct error *err)
{
	auto_free char *way = way_to(f, m);
	struct file_map file;
	int rc = 0;

	if (!way || file_map(way, &file, NULL) < 0) {
		if (has_code(&f->maps, m))
			strv_addf(f->notes,
				"'%s' cannot be opened: if it is instrumented, its counters are "
				"missing from the profile; run whet as root",
				m->path);
		return 0;
	}
	if (elf_profile_read(file.p, file.n, elf_profile_runtimes[0], &f->one.elf, NULL) == 0) {
		f->gcov = f->gcov || f->one.elf.gcov;
		if (!f->one.elf.plain)
			strv_addf(f->notes,
				"'%s' is no 64-bit little-endian image, which whet does not read",
				m->path);
		else if (f->one.elf.no_sections)
			strv_addf(f->notes,
				"'%s' has no section headers: if it is instrumented, its counters "
				"cannot be found",
				m->path);
		if (f->one.elf.v[ELF_PRF_COUNTERS].n)
			rc = find_places(f, m, err);
		elf_profile_release(&f->one.elf);
		if (rc == 0)
			rc = find_others(f, m, &file, err);
	}
	file_unmap(&file);
	return rc;
}

static bool seen(const struct mappings *maps, size_t k)
{
	for (size_t i = 0; i < k; i++)
		if (same_file(&maps->v[i], &maps->v[k]) && !maps->v[i].off)
			return true;
	return false;
}

/* The program, then its shared objects in the order in which they were loaded, which the kernel
 * places downwards. */
static int program_first(const void *a, const void *b, void *ctx)
{
	const struct image *x = a, *y = b;
	const struct images *all = ctx;
	int px = x->inode == all->program_inode, py = y->inode == all->program_inode;

	return px != py ? py - px : x->bias > y->bias ? -1 : x->bias < y->bias;
}

static int not_instrumented(const struct finding *f, struct error *err)
{
	auto_free char *notes = strv_join(f->notes, "\n");

	if (f->gcov)
		return error_set(err, ERR_UNSUPPORTED,
			"process %d is instrumented by gcc (or for gcov), whose counters cannot be "
			"found from outside; let it call __gcov_dump()",
			(int)f->pid);
	return error_set(err, ERR_UNSUPPORTED,
		"process %d is not instrumented: neither its program nor a shared object in it has "
		"the counters of -fprofile-generate, -fprofile-instr-generate or rustc's "
		"-Cprofile-generate%s%s",
		(int)f->pid, f->notes->n ? "\n" : "", f->notes->n ? notes : "");
}

static int find(struct finding *f, struct error *err)
{
	auto_free char *exe = xasprintf("/proc/%d/exe", (int)f->tid);
	struct stat st;

	if (mappings_read(f->pid, f->tid, &f->maps, err) < 0)
		return -1;
	f->images->program_inode = stat(exe, &st) == 0 ? st.st_ino : 0;
	for (size_t k = 0; k < f->maps.n; k++)
		if (f->maps.v[k].inode && !f->maps.v[k].off && !f->maps.v[k].shared &&
			!seen(&f->maps, k) && look_at(f, &f->maps.v[k], err) < 0)
			return -1;
	if (!f->images->n)
		return not_instrumented(f, err);
	qsort_r(f->images->v, f->images->n, sizeof(*f->images->v), program_first, f->images);
	return 0;
}

int images_find(pid_t pid, pid_t tid, struct images *ret, struct mappings *ret_maps,
	struct strv *notes, struct error *err)
{
	struct images images = {0};
	struct finding f = {.pid = pid, .tid = tid, .images = &images, .notes = notes};

	if (find(&f, err) < 0) {
		mappings_release(&f.maps);
		images_release(&images);
		return -1;
	}
	*ret = images;
	*ret_maps = f.maps;
	return 0;
}
