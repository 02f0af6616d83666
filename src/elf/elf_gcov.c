#include "elf/elf_gcov.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "elf/elf_file.h"

#define RECORD "__gcov_." /* and the function's name */
#define KEY_SIZE 8        /* a pointer to the object's record stands in front of the numbers */
/* In that one: behind version, link, stamp and checksum (gcc 11: padding). */
#define PATH_AT 24

void elf_gcov_release(struct elf_gcov *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->v[i].name);
	free(g->v);
	strv_release(&g->objects);
	memset(g, 0, sizeof(*g));
}

/* What the file holds at an address when it is loaded. */
struct part {
	uint64_t at;
	const uint8_t *p;
	size_t n;
};

struct pointer {
	uint64_t at, to;
};

struct reading {
	const struct elf_image *image;
	struct elf_gcov *ret;
	struct part *parts; /* sorted by at */
	size_t n_parts, cap_parts;
	struct pointer *pointers; /* sorted by at */
	size_t n_pointers, cap_pointers;
	uint64_t *records; /* addresses of the objects' own records */
	size_t n_records, cap_records;
	size_t text; /* bytes of names and paths that may still come */
};

/* Strings lie beside each other, too: symbols that all take the same long one would make more of a
 * file than it holds. Some slack, since a linker lets one string be the end of another. */
#define TEXT_OF_FILE 4
#define TEXT_SLACK 65536

static int take_text(struct reading *r, size_t n, struct error *err)
{
	if (n > r->text)
		return error_set(err, ERR_CORRUPT,
			"not a readable ELF file: the names in its counters' records take more "
			"than %d times its size",
			TEXT_OF_FILE);
	r->text -= n;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The last of n elements whose address, their first member, is at most this one; NULL: none. */
static const void *last_up_to(const void *v, size_t n, size_t size, uint64_t address)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (*(const uint64_t *)((const char *)v + mid * size) <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? (const char *)v + (low - 1) * size : NULL;
}

/* The bytes from an address of the loaded file up to the end of what lies there, *n of them; NULL
 * when the file has none there. */
static const uint8_t *bytes_from(const struct reading *r, uint64_t address, size_t *n)
{
	const struct part *p = last_up_to(r->parts, r->n_parts, sizeof(*p), address);

	if (!p || address - p->at >= p->n)
		return NULL;
	*n = p->n - (size_t)(address - p->at);
	return p->p + (address - p->at);
}

static const uint8_t *bytes_at(const struct reading *r, uint64_t address, size_t size)
{
	size_t n = 0;
	const uint8_t *p = bytes_from(r, address, &n);

	return n >= size ? p : NULL;
}

static void add_part(struct reading *r, Elf_Scn *scn, const GElf_Shdr *head)
{
	size_t n;
	const uint8_t *p = elf_section_bytes(scn, head, &n);

	if (!n)
		return;
	array_reserve(r->parts, r->n_parts, r->cap_parts);
	r->parts[r->n_parts++] = (struct part){head->sh_addr, p, n};
}

/* ---- pointers: in a file that is loaded anywhere they are relocations --------------------------
 */

static void add_relocations(struct reading *r, Elf_Scn *scn, const GElf_Shdr *head)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = d ? elf_entries(head, d) : 0;

	for (size_t k = 0; k < n; k++) {
		GElf_Rela one;

		if (!gelf_getrela(d, (int)k, &one) || GELF_R_SYM(one.r_info))
			continue;
		array_reserve(r->pointers, r->n_pointers, r->cap_pointers);
		r->pointers[r->n_pointers++] =
			(struct pointer){one.r_offset, (uint64_t)one.r_addend};
	}
}

/* Where the pointer at this address points to, 0 when that is not known. */
static uint64_t pointer_at(const struct reading *r, uint64_t address)
{
	const struct pointer *found =
		last_up_to(r->pointers, r->n_pointers, sizeof(*found), address);
	uint64_t value = 0;
	const uint8_t *p;

	if (found && found->at == address)
		return found->to;
	p = bytes_at(r, address, sizeof(value));
	if (p)
		memcpy(&value, p, sizeof(value));
	return value;
}

/* ---- records ----------------------------------------------------------------------------------
 */

static int add_path(struct reading *r, uint64_t object, struct error *err)
{
	uint64_t at = object ? pointer_at(r, object + PATH_AT) : 0;
	size_t n = 0;
	const uint8_t *p = at ? bytes_from(r, at, &n) : NULL;
	const uint8_t *end = p ? memchr(p, 0, n) : NULL;

	if (!end || end == p || end - p >= PATH_MAX)
		return 0;
	if (take_text(r, (size_t)(end - p), err) < 0)
		return -1;
	strv_add(&r->ret->objects, (const char *)p);
	return 0;
}

/* Each object's record is that of many functions. */
static int add_paths(struct reading *r, struct error *err)
{
	if (r->n_records)
		qsort(r->records, r->n_records, sizeof(*r->records), by_address);
	for (size_t i = 0; i < r->n_records; i++)
		if ((!i || r->records[i] != r->records[i - 1]) &&
			add_path(r, r->records[i], err) < 0)
			return -1;
	return 0;
}

static int add_record(struct reading *r, const char *name, const GElf_Sym *s, struct error *err)
{
	struct elf_gcov *ret = r->ret;
	uint32_t numbers[3];
	const uint8_t *p = bytes_at(r, s->st_value, KEY_SIZE + sizeof(numbers));

	if (!p)
		return 0;
	if (take_text(r, strlen(name), err) < 0)
		return -1;
	memcpy(numbers, p + KEY_SIZE, sizeof(numbers));
	array_reserve(ret->v, ret->n, ret->cap);
	ret->v[ret->n++] =
		(struct elf_gcov_function){xstrdup(name), numbers[0], numbers[1], numbers[2]};
	array_reserve(r->records, r->n_records, r->cap_records);
	r->records[r->n_records++] = pointer_at(r, s->st_value);
	return 0;
}

static int add_records(struct reading *r, Elf_Scn *scn, const GElf_Shdr *head, struct error *err)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = d ? elf_entries(head, d) : 0;

	for (size_t k = 0; k < n; k++) {
		GElf_Sym s;
		const char *name;

		if (!gelf_getsym(d, (int)k, &s) || s.st_shndx == SHN_UNDEF)
			continue;
		name = elf_symbol_name(r->image, head, &s);
		if (strncmp(name, RECORD, strlen(RECORD)) == 0 &&
			add_record(r, name + strlen(RECORD), &s, err) < 0)
			return -1;
	}
	return 0;
}

/* What is loaded comes first: records are found by it. */
static int read_sections(struct reading *r, struct error *err)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	while ((scn = elf_nextscn(r->image->elf, scn))) {
		if (!gelf_getshdr(scn, &s) || !(s.sh_flags & SHF_ALLOC))
			continue;
		add_part(r, scn, &s);
		if (s.sh_type == SHT_RELA)
			add_relocations(r, scn, &s);
	}
	if (r->n_parts)
		qsort(r->parts, r->n_parts, sizeof(*r->parts), by_address);
	if (r->n_pointers)
		qsort(r->pointers, r->n_pointers, sizeof(*r->pointers), by_address);
	while ((scn = elf_nextscn(r->image->elf, scn)))
		if (gelf_getshdr(scn, &s) && s.sh_type == SHT_SYMTAB &&
			add_records(r, scn, &s, err) < 0)
			return -1;
	return add_paths(r, err);
}

static void reading_release(struct reading *r)
{
	free(r->parts);
	free(r->pointers);
	free(r->records);
}

static void sort_objects(struct elf_gcov *g)
{
	struct strv once = STRV_INIT;

	strv_sort(&g->objects);
	for (size_t i = 0; i < g->objects.n; i++)
		if (!once.n || strcmp(once.v[once.n - 1], g->objects.v[i]) != 0)
			strv_add(&once, g->objects.v[i]);
	strv_release(&g->objects);
	g->objects = once;
}

/* Moves what one file has to what others had. */
static void append(struct elf_gcov *to, struct elf_gcov *from)
{
	for (size_t i = 0; i < from->n; i++) {
		array_reserve(to->v, to->n, to->cap);
		to->v[to->n++] = from->v[i];
	}
	from->n = 0; /* their names are to's now */
	strv_add_all(&to->objects, &from->objects);
	sort_objects(to);
}

static int read_image(
	const struct elf_image *i, size_t size, struct elf_gcov *ret, struct error *err)
{
	struct elf_gcov own = {0};
	struct reading r = {.image = i, .ret = &own, .text = size * TEXT_OF_FILE + TEXT_SLACK};
	int result;

	if (i->head.e_ident[EI_CLASS] != ELFCLASS64 || i->head.e_ident[EI_DATA] != ELFDATA2LSB)
		return error_set(err, ERR_UNSUPPORTED,
			"no 64-bit little-endian program: the counters of gcc are known in such "
			"ones alone");
	result = read_sections(&r, err);
	if (result == 0)
		append(ret, &own);
	elf_gcov_release(&own);
	reading_release(&r);
	return result;
}

int elf_gcov_read(const char *path, struct elf_gcov *ret, struct error *err)
{
	auto_elf struct elf_image i = {0};
	auto_buf struct buf file = BUF_INIT;

	if (file_read(path, 0, &file, err) < 0)
		return -1;
	if (elf_image_open(file.p, file.n, &i, err) < 0 || read_image(&i, file.n, ret, err) < 0)
		return error_context(err, "'%s'", path);
	return 0;
}
