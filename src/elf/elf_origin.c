#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/elf_facts.h"
#include "elf/elf_file.h"

void elf_origin_release(struct elf_origin *o)
{
	free(o->maker);
	strv_release(&o->files);
	strv_release(&o->labels);
	memset(o, 0, sizeof(*o));
}

/* A string table; makers are told once. */
static void add_makers(struct strv *makers, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t k = strnlen((const char *)p + i, n - i);
		auto_free char *one = xstrndup((const char *)p + i, k);

		if (k && !strv_has(makers, one))
			strv_add(makers, one);
		i += k + 1;
	}
}

static void add_symbols(
	const struct elf_image *i, Elf_Scn *scn, const GElf_Shdr *head, struct elf_origin *o)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = d ? elf_entries(head, d) : 0;

	for (size_t k = 0; k < n; k++) {
		const char *name;
		GElf_Sym s;

		if (!gelf_getsym(d, (int)k, &s))
			continue;
		name = elf_symbol_name(i, head, &s);
		if (!*name)
			continue;
		if (GELF_ST_TYPE(s.st_info) == STT_FILE)
			strv_add(&o->files, name);
		else if (s.st_shndx != SHN_UNDEF && GELF_ST_BIND(s.st_info) != STB_LOCAL)
			strv_add(&o->labels, name);
	}
}

/* Intermediate code of link-time optimisation, beside or in place of machine code. */
static bool is_intermediate(const char *name)
{
	return strncmp(name, ".gnu.lto_", 9) == 0 || strncmp(name, ".llvm.lto", 9) == 0 ||
	       strncmp(name, ".llvmbc", 7) == 0;
}

int elf_object_origin(const void *data, size_t n, struct elf_origin *ret, struct error *err)
{
	auto_elf struct elf_image i = {0};
	auto_strv struct strv makers = STRV_INIT;
	struct elf_origin o = {.data = true};
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	if (elf_image_open(data, n, &i, err) < 0)
		return -1;
	if (i.head.e_type != ET_REL)
		return error_set(err, ERR_UNSUPPORTED, "ELF type %u is not a relocatable object",
			(unsigned)i.head.e_type);
	while ((scn = elf_nextscn(i.elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &s))
			continue;
		name = elf_section_name(&i, &s);
		if (((s.sh_flags & SHF_EXECINSTR) && s.sh_size > 0) || is_intermediate(name))
			o.data = false;
		if (s.sh_type == SHT_SYMTAB) {
			add_symbols(&i, scn, &s, &o);
		} else if (strcmp(name, ".comment") == 0) {
			size_t bytes;
			const uint8_t *p = elf_section_bytes(scn, &s, &bytes);

			if (p)
				add_makers(&makers, p, bytes);
		}
	}
	o.maker = makers.n ? strv_join(&makers, "; ") : NULL;
	*ret = o;
	return 0;
}
