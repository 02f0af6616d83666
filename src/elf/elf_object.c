#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "elf/elf_facts.h"
#include "elf/elf_file.h"

/* One symbol table; an object has at most one. */
struct symbols {
	GElf_Shdr head;
	Elf_Data *data;
	size_t n;
};

static bool find_symbols(const struct elf_image *i, struct symbols *ret)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(i->elf, scn))) {
		struct symbols s;

		if (!gelf_getshdr(scn, &s.head) || s.head.sh_type != SHT_SYMTAB)
			continue;
		s.data = elf_getdata(scn, NULL);
		if (!s.data)
			continue;
		s.n = elf_entries(&s.head, s.data);
		*ret = s;
		return true;
	}
	return false;
}

static bool is_code(const GElf_Shdr *s)
{
	return s->sh_type == SHT_PROGBITS && (s->sh_flags & SHF_EXECINSTR);
}

static void add_number(struct sha256 *h, uint64_t v)
{
	sha256_add(h, &v, sizeof(v));
}

static void hash_target(
	struct sha256 *h, const struct elf_image *i, const struct symbols *symbols, uint64_t symbol)
{
	GElf_Sym s;

	if (symbols && symbol < symbols->n && gelf_getsym(symbols->data, (int)symbol, &s))
		sha256_adds(h, elf_symbol_name(i, &symbols->head, &s));
	else
		sha256_adds(h, "");
}

/* Targets enter by name: their indices move when an unrelated symbol comes or goes. */
static void hash_relocations(struct sha256 *h, const struct elf_image *i, Elf_Scn *scn,
	const GElf_Shdr *head, const struct symbols *symbols)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = d ? elf_entries(head, d) : 0;

	for (size_t k = 0; k < n; k++) {
		GElf_Rela r = {0};
		GElf_Rel short_form;

		if (head->sh_type == SHT_RELA) {
			if (!gelf_getrela(d, (int)k, &r))
				return;
		} else {
			if (!gelf_getrel(d, (int)k, &short_form))
				return;
			r.r_offset = short_form.r_offset;
			r.r_info = short_form.r_info;
		}
		add_number(h, r.r_offset);
		add_number(h, GELF_R_TYPE(r.r_info));
		add_number(h, (uint64_t)r.r_addend);
		hash_target(h, i, symbols, GELF_R_SYM(r.r_info));
	}
}

/* Returns how many code sections there are. */
static size_t hash_code(const struct elf_image *i, const struct symbols *symbols, struct sha256 *h)
{
	size_t codes = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr s, target;

	while ((scn = elf_nextscn(i->elf, scn))) {
		size_t n;
		const uint8_t *p;

		if (!gelf_getshdr(scn, &s))
			continue;
		if (is_code(&s)) {
			p = elf_section_bytes(scn, &s, &n);
			codes += n > 0;
			sha256_adds(h, elf_section_name(i, &s));
			add_number(h, n);
			sha256_add(h, p, n);
		} else if (s.sh_type == SHT_RELA || s.sh_type == SHT_REL) {
			Elf_Scn *to = elf_getscn(i->elf, s.sh_info);

			if (to && gelf_getshdr(to, &target) && is_code(&target))
				hash_relocations(h, i, scn, &s, symbols);
		}
	}
	return codes;
}

static void add_functions(
	const struct elf_image *i, const struct symbols *symbols, struct strv *functions)
{
	for (size_t k = 0; k < symbols->n; k++) {
		const char *name;
		GElf_Sym s;
		int type;

		if (!gelf_getsym(symbols->data, (int)k, &s) || s.st_shndx == SHN_UNDEF)
			continue;
		type = GELF_ST_TYPE(s.st_info);
		if (type != STT_FUNC && type != STT_GNU_IFUNC)
			continue;
		name = elf_symbol_name(i, &symbols->head, &s);
		if (*name)
			strv_add(functions, name);
	}
}

int elf_object_code(
	const void *data, size_t n, char code_hash[65], struct strv *functions, struct error *err)
{
	auto_elf struct elf_image i = {0};
	struct symbols symbols;
	struct sha256 h;
	char hex[SHA256_HEX];
	bool has_symbols;
	size_t codes;

	if (elf_image_open(data, n, &i, err) < 0)
		return -1;
	if (i.head.e_type != ET_REL)
		return error_set(err, ERR_UNSUPPORTED, "ELF type %u is not a relocatable object",
			(unsigned)i.head.e_type);
	has_symbols = find_symbols(&i, &symbols);
	sha256_begin(&h);
	codes = hash_code(&i, has_symbols ? &symbols : NULL, &h);
	sha256_end(&h, hex);
	if (codes)
		memcpy(code_hash, hex, sizeof(hex));
	else
		code_hash[0] = '\0';
	if (functions && has_symbols)
		add_functions(&i, &symbols, functions);
	return 0;
}

char *elf_code_of_file(const char *path)
{
	char hex[SHA256_HEX] = "";
	struct file_map f;

	if (file_map(path, &f, NULL) < 0)
		return NULL;
	if (elf_object_code(f.p, f.n, hex, NULL, NULL) < 0)
		hex[0] = '\0';
	file_unmap(&f);
	return *hex ? xstrdup(hex) : NULL;
}

void elf_functions_of_file(const char *path, struct strv *ret)
{
	auto_elf struct elf_image i = {0};
	struct symbols symbols;
	struct file_map f;

	if (file_map(path, &f, NULL) < 0)
		return;
	if (elf_image_open(f.p, f.n, &i, NULL) == 0 && find_symbols(&i, &symbols))
		add_functions(&i, &symbols, ret);
	elf_image_close(&i);
	file_unmap(&f);
}
