#include "elf/elf_gcov.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "elf/elf_file.h"

#define RECORD "__gcov_." /* and the function's name */
#define KEY_SIZE 8        /* a pointer to the object's record stands in front of the numbers */
/* In that one: behind version, link, stamp and checksum (gcc 11: padding). */
#define PATH_AT 24
#define PATH_BYTES_MAX 65536

void elf_gcov_release(struct elf_gcov *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->v[i].name);
	free(g->v);
	strv_release(&g->objects);
	memset(g, 0, sizeof(*g));
}

/* The bytes at an address of the loaded file, `size` of them; NULL when the file has none there. */
static const uint8_t *bytes_at(const struct elf_image *i, uint64_t address, size_t size)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	while ((scn = elf_nextscn(i->elf, scn))) {
		const uint8_t *p;
		size_t n;

		if (!gelf_getshdr(scn, &s) || !(s.sh_flags & SHF_ALLOC) || address < s.sh_addr ||
			address - s.sh_addr >= s.sh_size)
			continue;
		p = elf_section_bytes(scn, &s, &n);
		if (p && n >= size && address - s.sh_addr <= n - size)
			return p + (address - s.sh_addr);
	}
	return NULL;
}

/* ---- pointers: in a file that is loaded anywhere they are relocations --------------------------
 */

struct pointer {
	uint64_t at, to;
};

struct reading {
	const struct elf_image *image;
	struct elf_gcov *ret;
	struct pointer *v; /* sorted by at */
	size_t n, cap;
	uint64_t last; /* the object's record of the function before */
};

static int by_place(const void *a, const void *b)
{
	const struct pointer *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static void add_relocations(struct reading *r, Elf_Scn *scn, const GElf_Shdr *head)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = d ? elf_entries(head, d) : 0;

	for (size_t k = 0; k < n; k++) {
		GElf_Rela one;

		if (!gelf_getrela(d, (int)k, &one) || GELF_R_SYM(one.r_info))
			continue;
		array_reserve(r->v, r->n, r->cap);
		r->v[r->n++] = (struct pointer){one.r_offset, (uint64_t)one.r_addend};
	}
}

/* Where the pointer at this address points to, 0 when that is not known. */
static uint64_t pointer_at(const struct reading *r, uint64_t address)
{
	struct pointer key = {.at = address}, *found;
	uint64_t value = 0;
	const uint8_t *p;

	found = r->n ? bsearch(&key, r->v, r->n, sizeof(key), by_place) : NULL;
	if (found)
		return found->to;
	p = bytes_at(r->image, address, sizeof(value));
	if (p)
		memcpy(&value, p, sizeof(value));
	return value;
}

/* ---- records ----------------------------------------------------------------------------------
 */

static void add_path(struct reading *r, uint64_t object)
{
	uint64_t at = object ? pointer_at(r, object + PATH_AT) : 0;
	size_t n = 0;

	if (!at || object == r->last)
		return;
	r->last = object;
	while (n < PATH_BYTES_MAX) {
		const uint8_t *p = bytes_at(r->image, at, n + 1);

		if (!p)
			return;
		if (!p[n])
			break;
		n++;
	}
	if (n && n < PATH_BYTES_MAX)
		strv_add(&r->ret->objects, (const char *)bytes_at(r->image, at, n + 1));
}

static void add_record(struct reading *r, const char *name, const GElf_Sym *s)
{
	struct elf_gcov *ret = r->ret;
	uint32_t numbers[3];
	const uint8_t *p = bytes_at(r->image, s->st_value, KEY_SIZE + sizeof(numbers));

	if (!p)
		return;
	memcpy(numbers, p + KEY_SIZE, sizeof(numbers));
	array_reserve(ret->v, ret->n, ret->cap);
	ret->v[ret->n++] =
		(struct elf_gcov_function){xstrdup(name), numbers[0], numbers[1], numbers[2]};
	add_path(r, pointer_at(r, s->st_value));
}

static void add_records(struct reading *r, Elf_Scn *scn, const GElf_Shdr *head)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = d ? elf_entries(head, d) : 0;

	for (size_t k = 0; k < n; k++) {
		GElf_Sym s;
		const char *name;

		if (!gelf_getsym(d, (int)k, &s) || s.st_shndx == SHN_UNDEF)
			continue;
		name = elf_symbol_name(r->image, head, &s);
		if (strncmp(name, RECORD, strlen(RECORD)) == 0)
			add_record(r, name + strlen(RECORD), &s);
	}
}

/* Relocations first: records are found by them. */
static void read_sections(struct reading *r)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	while ((scn = elf_nextscn(r->image->elf, scn)))
		if (gelf_getshdr(scn, &s) && s.sh_type == SHT_RELA && (s.sh_flags & SHF_ALLOC))
			add_relocations(r, scn, &s);
	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_place);
	while ((scn = elf_nextscn(r->image->elf, scn)))
		if (gelf_getshdr(scn, &s) && s.sh_type == SHT_SYMTAB)
			add_records(r, scn, &s);
	free(r->v);
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

int elf_gcov_read(const char *path, struct elf_gcov *ret, struct error *err)
{
	auto_elf struct elf_image i = {0};
	auto_buf struct buf file = BUF_INIT;
	struct reading r = {.image = &i, .ret = ret};

	if (file_read(path, 0, &file, err) < 0)
		return -1;
	if (elf_image_open(file.p, file.n, &i, err) < 0)
		return error_context(err, "'%s'", path);
	if (i.head.e_ident[EI_CLASS] != ELFCLASS64 || i.head.e_ident[EI_DATA] != ELFDATA2LSB)
		return error_set(err, ERR_UNSUPPORTED,
			"'%s' is no 64-bit little-endian program: the counters of gcc are known in "
			"such ones alone",
			path);
	read_sections(&r);
	sort_objects(ret);
	return 0;
}
