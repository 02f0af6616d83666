#include "elf/elf_unwind.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/unwind_image.h"

static void image_release(struct unwind_image *i)
{
	elf_image_close(&i->elf);
	file_unmap(&i->map);
	free(i->loads);
	free(i->frames);
}
#define auto_image __attribute__((cleanup(image_release)))

static void facts_drop(struct unwind_facts *f)
{
	unwind_facts_release(f);
}
#define auto_facts __attribute__((cleanup(facts_drop)))

const uint8_t *unwind_bytes(const struct unwind_image *i, uint64_t at, size_t *n)
{
	*n = 0;
	for (size_t k = 0; k < i->n_loads; k++) {
		const GElf_Phdr *h = &i->loads[k];

		if (at < h->p_vaddr || at - h->p_vaddr >= h->p_filesz)
			continue;
		if (h->p_offset > i->map.n || h->p_filesz > i->map.n - h->p_offset)
			return NULL;
		*n = (size_t)(h->p_filesz - (at - h->p_vaddr));
		return i->map.p + h->p_offset + (at - h->p_vaddr);
	}
	return NULL;
}

struct reader unwind_reader(const struct unwind_image *i, uint64_t at)
{
	size_t n;
	const uint8_t *p = unwind_bytes(i, at, &n);
	struct reader r = reader_of(p, n);

	r.big = i->big;
	return r;
}

uint64_t unwind_uleb(struct reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; !r->failed; shift += 7) {
		uint8_t b = rd_u8(r);

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			break;
	}
	return v;
}

static uint64_t sleb(struct reader *r)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b = 0;

	do {
		b = rd_u8(r);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (!r->failed && (b & 0x80));
	if (shift < 64 && (b & 0x40))
		v |= ~UINT64_C(0) << shift;
	return v;
}

/* The value alone, as the lower four bits say. */
static uint64_t pointer_value(struct reader *r, uint8_t encoding)
{
	switch (encoding & PTR_FORMAT) {
	case 0x00: /* absptr of a 64-bit file */
	case 0x04: /* udata8 */
	case 0x0c: /* sdata8 */
		return rd_u64(r);
	case 0x01:
		return unwind_uleb(r);
	case 0x02:
		return rd_u16(r);
	case 0x03:
		return rd_u32(r);
	case 0x09:
		return sleb(r);
	case 0x0a:
		return (uint64_t)(int64_t)(int16_t)rd_u16(r);
	case 0x0b:
		return (uint64_t)(int64_t)(int32_t)rd_u32(r);
	default:
		r->failed = true;
		return 0;
	}
}

uint64_t unwind_pointer(struct reader *r, uint64_t at, uint8_t encoding, uint64_t base)
{
	uint64_t place = at + r->off, v = pointer_value(r, encoding);

	if (!v)
		return 0;
	switch (encoding & PTR_BASE) {
	case 0:
		return v;
	case PTR_PCREL:
		return v + place;
	case PTR_DATAREL:
		return v + base;
	default:
		r->failed = true;
		return 0;
	}
}

/* ---- functions ----------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct unwind_function *x = a, *y = b;

	/* Of one address the longest last: those that hold an address are then side by side. */
	if (x->start != y->start)
		return x->start > y->start ? 1 : -1;
	return (x->size > y->size) - (x->size < y->size);
}

const struct unwind_function *unwind_functions_at(
	const struct unwind_image *i, uint64_t pc, size_t *n)
{
	const struct unwind_function *v = i->facts->functions;
	size_t low = 0, high = i->facts->n_functions, end;

	*n = 0;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (v[mid].start <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	for (end = low; low && v[low - 1].start == v[end - 1].start; low--)
		*n += pc - v[low - 1].start < v[low - 1].size;
	return *n ? &v[end - *n] : NULL;
}

const char *unwind_name_at(const struct unwind_image *i, uint64_t pc)
{
	size_t n;
	const struct unwind_function *f = unwind_functions_at(i, pc, &n);

	return f ? f->name : "";
}

static bool is_code(const struct elf_image *i, size_t section)
{
	GElf_Shdr s;
	Elf_Scn *scn = section && section < SHN_LORESERVE ? elf_getscn(i->elf, section) : NULL;

	return scn && gelf_getshdr(scn, &s) && (s.sh_flags & SHF_ALLOC) &&
	       (s.sh_flags & SHF_EXECINSTR);
}

static void add_function(struct unwind_facts *f, const char *name, const GElf_Sym *s)
{
	size_t n = unwind_name_length(name);

	array_reserve(f->functions, f->n_functions, f->cap_functions);
	f->functions[f->n_functions++] = (struct unwind_function){.name = xstrndup(name, n),
		.part = xstrdup(name + n),
		.start = s->st_value,
		.size = s->st_size};
	f->n_parts += name[n] != '\0';
}

static void read_table_of_symbols(struct unwind_image *i, Elf_Scn *scn, const GElf_Shdr *head)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = d ? elf_entries(head, d) : 0;

	for (size_t k = 0; k < n; k++) {
		GElf_Sym s;
		int kind;

		if (!gelf_getsym(d, (int)k, &s) || !s.st_size)
			continue;
		kind = GELF_ST_TYPE(s.st_info);
		if ((kind == STT_FUNC || kind == STT_GNU_IFUNC) && is_code(&i->elf, s.st_shndx))
			add_function(i->facts, elf_symbol_name(&i->elf, head, &s), &s);
	}
}

static void read_functions(struct unwind_image *i)
{
	static const uint32_t kinds[] = {SHT_SYMTAB, SHT_DYNSYM};
	GElf_Shdr s;

	/* The dynamic symbols are among the others, where there are others. */
	for (size_t k = 0; k < ARRAY_SIZE(kinds) && !i->facts->n_functions; k++) {
		Elf_Scn *scn = NULL;

		while ((scn = elf_nextscn(i->elf.elf, scn)))
			if (gelf_getshdr(scn, &s) && s.sh_type == kinds[k])
				read_table_of_symbols(i, scn, &s);
	}
	if (i->facts->n_functions)
		qsort(i->facts->functions, i->facts->n_functions, sizeof(*i->facts->functions),
			by_start);
}

/* What the frames say of each function. */
static void mark_functions(struct unwind_image *i)
{
	for (size_t k = 0; k < i->facts->n_functions; k++) {
		struct unwind_function *f = &i->facts->functions[k];
		const struct unwind_frame *first = unwind_frame_of(i, f->start);

		f->framed = first && unwind_frame_of(i, f->start + f->size - 1);
		f->handles = first && first->data;
	}
}

/* ---- the file ------------------------------------------------------------------------------ */

static int open_image(const char *path, struct unwind_image *i, struct error *err)
{
	size_t n = 0;

	if (file_map(path, &i->map, err) < 0)
		return -1;
	if (elf_image_open(i->map.p, i->map.n, &i->elf, err) < 0)
		return error_context(err, "'%s'", path);
	i->big = i->elf.head.e_ident[EI_DATA] == ELFDATA2MSB;
	elf_getphdrnum(i->elf.elf, &n);
	i->loads = xcalloc(n + 1, sizeof(*i->loads));
	for (size_t k = 0; k < n; k++) {
		GElf_Phdr h;

		if (!gelf_getphdr(i->elf.elf, (int)k, &h))
			continue;
		if (h.p_type == PT_LOAD)
			i->loads[i->n_loads++] = h;
		else if (h.p_type == PT_GNU_EH_FRAME)
			i->table = h;
	}
	return 0;
}

static char *why_unknown(const struct unwind_image *i)
{
	if (i->elf.head.e_ident[EI_CLASS] != ELFCLASS64)
		return xstrdup("it is a 32-bit file");
	if (i->elf.head.e_type != ET_EXEC && i->elf.head.e_type != ET_DYN)
		return xstrdup("it is no linked file");
	return i->elf.names ? NULL : xstrdup("it has no section headers");
}

int elf_unwind_read(const char *path, struct unwind_facts *ret, struct error *err)
{
	auto_facts struct unwind_facts f = {0};
	auto_image struct unwind_image i = {.facts = &f};

	if (open_image(path, &i, err) < 0)
		return -1;
	f.unknown = why_unknown(&i);
	if (!f.unknown) {
		read_functions(&i);
		unwind_read_frames(&i);
		unwind_check_table(&i);
		unwind_execute(&i);
		unwind_check_data(&i);
		mark_functions(&i);
		unwind_facts_seal(&f);
	}
	*ret = f;
	f = (struct unwind_facts){0};
	return 0;
}
