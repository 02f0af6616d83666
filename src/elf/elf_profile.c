#include "elf/elf_profile.h"

#include <string.h>

#include "base/mem.h"
#include "elf/elf_file.h"

#define PAGE 4096ULL
/* In the version word: the version below, flags above; bit 56 is set in IR profiles. */
#define WORD_FLAGS 0xff80000000000000ULL
#define WORD_IR (1ULL << 56)

void elf_profile_release(struct elf_profile *p)
{
	buf_release(&p->ids);
	memset(p, 0, sizeof(*p));
}

const char *const elf_profile_runtimes[ELF_PROFILE_RUNTIMES] = {
	"__llvm_", "__wr08_", "__wr09_", "__wr10_"};

/* Behind the runtime's own beginning. */
static const char *const names[ELF_PRF_SECTIONS] = {
	[ELF_PRF_COUNTERS] = "prf_cnts",
	[ELF_PRF_DATA] = "prf_data",
	[ELF_PRF_NAMES] = "prf_names",
	[ELF_PRF_VALUES] = "prf_vals",
	[ELF_PRF_NODES] = "prf_vnds",
	[ELF_PRF_BITMAP] = "prf_bits",
	[ELF_PRF_VTABLES] = "prf_vtab",
	[ELF_PRF_VTABLE_NAMES] = "prf_vns",
};

/* What stands behind the beginning, or NULL when the name has another one. */
static const char *behind(const char *name, const char *beginning)
{
	size_t n = strlen(beginning);

	return strncmp(name, beginning, n) == 0 ? name + n : NULL;
}

static void note_section(const char *name, const GElf_Shdr *s, struct elf_profile *p)
{
	if (strcmp(name, "__llvm_covdata") == 0 || strcmp(name, "__llvm_covnames") == 0)
		p->correlated = true;
	name = behind(name, p->runtime);
	if (!name || !(s->sh_flags & SHF_ALLOC))
		return;
	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		if (strcmp(name, names[k]) == 0)
			p->v[k] = (struct elf_place){s->sh_addr, s->sh_offset, s->sh_size};
}

/* An output section that would be empty is left out, but the linker still says where it would
 * start, which goes into the header of profiles. */
static void note_start(const char *symbol, uint64_t at, struct elf_profile *p)
{
	const char *section = behind(symbol, "__start_");

	section = section ? behind(section, p->runtime) : NULL;
	for (size_t k = 0; k < ARRAY_SIZE(names) && section; k++)
		if (!p->v[k].n && strcmp(section, names[k]) == 0)
			p->v[k].at = at;
}

static void note_symbols(
	const struct elf_image *i, Elf_Scn *scn, const GElf_Shdr *head, struct elf_profile *p)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = d ? elf_entries(head, d) : 0;
	const struct {
		const char *name;
		uint64_t *to;
	} wanted[] = {
		{"profile_raw_version", &p->version_at},
		{"profile_counter_bias", &p->counter_bias_at},
		{"profile_bitmap_bias", &p->bitmap_bias_at},
	};

	for (size_t k = 0; k < n; k++) {
		const char *name;
		GElf_Sym s;

		if (!gelf_getsym(d, (int)k, &s) || s.st_shndx == SHN_UNDEF)
			continue;
		name = elf_symbol_name(i, head, &s);
		if (strncmp(name, "__", 2) != 0)
			continue;
		note_start(name, s.st_value, p);
		p->gcov = p->gcov || strcmp(name, "__gcov_exit") == 0 ||
			  strcmp(name, "__gcov_dump") == 0;
		name = behind(name, p->runtime);
		for (size_t w = 0; w < ARRAY_SIZE(wanted) && name; w++)
			if (strcmp(name, wanted[w].name) == 0)
				*wanted[w].to = s.st_value;
	}
}

static void note_word(struct elf_profile *p, uint64_t word)
{
	for (size_t k = 0; k < p->n_words; k++)
		if (p->words[k] == word)
			return;
	if (p->n_words < ARRAY_SIZE(p->words))
		p->words[p->n_words++] = word;
}

static void search_words(Elf_Scn *scn, const GElf_Shdr *s, struct elf_profile *p)
{
	size_t n;
	const uint8_t *at = elf_section_bytes(scn, s, &n);

	if (s->sh_type != SHT_PROGBITS || !(s->sh_flags & SHF_ALLOC) ||
		(s->sh_flags & SHF_EXECINSTR))
		return;
	for (size_t k = -s->sh_addr & 7; k + 8 <= n; k += 8) {
		uint64_t word, version;

		memcpy(&word, at + k, 8);
		version = word & ~WORD_FLAGS;
		if ((word & WORD_IR) && version >= 8 && version <= 10)
			note_word(p, word);
	}
}

static void note_first(const struct elf_image *i, struct elf_profile *p)
{
	bool have = false;

	for (size_t k = 0; k < i->segments; k++) {
		GElf_Phdr h;

		if (!gelf_getphdr(i->elf, (int)k, &h) || h.p_type != PT_LOAD ||
			(have && h.p_vaddr >= p->first.at))
			continue;
		p->first = (struct elf_place){
			h.p_vaddr & ~(PAGE - 1), h.p_offset & ~(PAGE - 1), h.p_memsz};
		have = true;
	}
}

static void add_id(struct buf *ids, const uint8_t *p, uint64_t n)
{
	static const uint8_t zero[8];

	buf_add(ids, &n, 8);
	buf_add(ids, p, n);
	buf_add(ids, zero, -n & 7);
}

/* The runtime walks the note segments of its own image, with parts padded to 4 bytes. */
static void add_ids(const uint8_t *p, size_t n, struct buf *ids)
{
	size_t at = 0;

	while (at + 12 <= n) {
		uint32_t head[3]; /* bytes of the name, of the content; type */
		size_t content, end;

		memcpy(head, p + at, 12);
		content = at + 12 + (((size_t)head[0] + 3) & ~(size_t)3);
		end = content + (((size_t)head[1] + 3) & ~(size_t)3);
		if (end > n)
			return;
		if (head[2] == NT_GNU_BUILD_ID && head[0] == 4 &&
			memcmp(p + at + 12, "GNU", 4) == 0 && head[1])
			add_id(ids, p + content, head[1]);
		at = end;
	}
}

static void note_ids(
	const struct elf_image *i, const uint8_t *data, size_t size, struct elf_profile *p)
{
	for (size_t k = 0; k < i->segments; k++) {
		GElf_Phdr h;

		if (gelf_getphdr(i->elf, (int)k, &h) && h.p_type == PT_NOTE && h.p_offset <= size &&
			h.p_filesz <= size - h.p_offset)
			add_ids(data + h.p_offset, h.p_filesz, &p->ids);
	}
}

/* Symbols come after all sections, and constants are looked for only where no symbol helps. */
static void note_sections(const struct elf_image *i, struct elf_profile *p)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	while ((scn = elf_nextscn(i->elf, scn))) {
		if (!gelf_getshdr(scn, &s))
			continue;
		p->no_sections = false;
		note_section(elf_section_name(i, &s), &s, p);
	}
	while ((scn = elf_nextscn(i->elf, scn)))
		if (gelf_getshdr(scn, &s) && (s.sh_type == SHT_SYMTAB || s.sh_type == SHT_DYNSYM))
			note_symbols(i, scn, &s, p);
	while (p->v[ELF_PRF_COUNTERS].n && !p->version_at && (scn = elf_nextscn(i->elf, scn)))
		if (gelf_getshdr(scn, &s))
			search_words(scn, &s, p);
}

int elf_profile_read(
	const void *data, size_t n, const char *runtime, struct elf_profile *ret, struct error *err)
{
	auto_elf struct elf_image i = {0};
	struct elf_profile p = {.runtime = runtime};

	if (elf_image_open(data, n, &i, err) < 0)
		return -1;
	p.plain = i.head.e_ident[EI_CLASS] == ELFCLASS64 && i.head.e_ident[EI_DATA] == ELFDATA2LSB;
	p.moves = i.head.e_type == ET_DYN;
	p.no_sections = true;
	if (p.plain)
		note_sections(&i, &p);
	note_first(&i, &p);
	if (p.v[ELF_PRF_COUNTERS].n)
		note_ids(&i, data, n, &p);
	*ret = p;
	return 0;
}
