#include "elf/elf_gcov.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "elf/elf_file.h"

#define SUFFIX ".gcda"
#define RECORD "__gcov_." /* and the function's name */
#define KEY_SIZE 8        /* a pointer stands in front of the record's numbers */

void elf_gcov_release(struct elf_gcov *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->v[i].name);
	free(g->v);
	strv_release(&g->objects);
	memset(g, 0, sizeof(*g));
}

/* Texts in the data that are absolute paths of .gcda. */
static void add_paths(const uint8_t *p, size_t n, struct elf_gcov *ret)
{
	static const char end[] = SUFFIX;
	const uint8_t *at = p, *found;

	while ((found = memmem(at, n - (size_t)(at - p), end, sizeof(end)))) {
		const uint8_t *start = found;

		while (start > p && start[-1])
			start--;
		if (*start == '/')
			strv_add(&ret->objects, (const char *)start);
		at = found + sizeof(end);
	}
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

static void add_record(
	const struct elf_image *i, const char *name, const GElf_Sym *s, struct elf_gcov *ret)
{
	struct elf_gcov_function f;
	uint32_t numbers[3];
	const uint8_t *p = bytes_at(i, s->st_value, KEY_SIZE + sizeof(numbers));

	if (!p)
		return;
	memcpy(numbers, p + KEY_SIZE, sizeof(numbers));
	f = (struct elf_gcov_function){xstrdup(name), numbers[0], numbers[1], numbers[2]};
	array_reserve(ret->v, ret->n, ret->cap);
	ret->v[ret->n++] = f;
}

static void add_records(
	const struct elf_image *i, Elf_Scn *scn, const GElf_Shdr *head, struct elf_gcov *ret)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = d ? elf_entries(head, d) : 0;

	for (size_t k = 0; k < n; k++) {
		GElf_Sym s;
		const char *name;

		if (!gelf_getsym(d, (int)k, &s) || s.st_shndx == SHN_UNDEF)
			continue;
		name = elf_symbol_name(i, head, &s);
		if (strncmp(name, RECORD, strlen(RECORD)) == 0)
			add_record(i, name + strlen(RECORD), &s, ret);
	}
}

static void read_sections(const struct elf_image *i, struct elf_gcov *ret)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	while ((scn = elf_nextscn(i->elf, scn))) {
		if (!gelf_getshdr(scn, &s))
			continue;
		if (s.sh_type == SHT_SYMTAB) {
			add_records(i, scn, &s, ret);
		} else if (s.sh_type == SHT_PROGBITS && (s.sh_flags & SHF_ALLOC) &&
			   !(s.sh_flags & SHF_EXECINSTR)) {
			size_t n;
			const uint8_t *p = elf_section_bytes(scn, &s, &n);

			if (p)
				add_paths(p, n, ret);
		}
	}
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

	if (file_read(path, 0, &file, err) < 0)
		return -1;
	if (elf_image_open(file.p, file.n, &i, err) < 0)
		return error_context(err, "'%s'", path);
	if (i.head.e_ident[EI_CLASS] != ELFCLASS64 || i.head.e_ident[EI_DATA] != ELFDATA2LSB)
		return error_set(err, ERR_UNSUPPORTED,
			"'%s' is no 64-bit little-endian program: the counters of gcc are known in "
			"such ones alone",
			path);
	read_sections(&i, ret);
	sort_objects(ret);
	return 0;
}
