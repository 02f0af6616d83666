#include "elf/elf_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int elf_image_open(const void *data, size_t n, struct elf_image *ret, struct error *err)
{
	struct elf_image i = {0};

	if (elf_version(EV_CURRENT) == EV_NONE)
		return error_set(err, ERR_INTERNAL, "libelf: %s", elf_errmsg(-1));
	if (n < EI_NIDENT || memcmp(data, ELFMAG, SELFMAG) != 0)
		return error_set(err, ERR_CORRUPT, "not an ELF file");
	if ((uintptr_t)data % 8) { /* an archive member: libelf reads headers in place */
		i.aligned = malloc(n);
		if (!i.aligned)
			return error_set(err, ERR_IO, "no memory for %zu bytes", n);
		memcpy(i.aligned, data, n);
	}
	/* The image is only read; libelf's prototype lacks the const. */
	i.elf = elf_memory(i.aligned ? i.aligned : (char *)(uintptr_t)data, n);
	if (!i.elf || elf_kind(i.elf) != ELF_K_ELF || !gelf_getehdr(i.elf, &i.head)) {
		elf_image_close(&i);
		return error_set(err, ERR_CORRUPT, "not a readable ELF file: %s", elf_errmsg(-1));
	}
	if (elf_getshdrstrndx(i.elf, &i.names) < 0)
		i.names = 0;
	*ret = i;
	return 0;
}

void elf_image_close(struct elf_image *i)
{
	if (i->elf)
		elf_end(i->elf);
	free(i->aligned);
	memset(i, 0, sizeof(*i));
}

const char *elf_section_name(const struct elf_image *i, const GElf_Shdr *s)
{
	const char *name = i->names ? elf_strptr(i->elf, i->names, s->sh_name) : NULL;

	return name ? name : "";
}

const uint8_t *elf_section_bytes(Elf_Scn *scn, const GElf_Shdr *s, size_t *n)
{
	Elf_Data *d = s->sh_type == SHT_NOBITS ? NULL : elf_rawdata(scn, NULL);

	*n = d && d->d_buf ? d->d_size : 0;
	return *n ? d->d_buf : NULL;
}

const char *elf_symbol_name(const struct elf_image *i, const GElf_Shdr *table, const GElf_Sym *s)
{
	const char *name;
	GElf_Shdr target;
	Elf_Scn *scn;

	if (GELF_ST_TYPE(s->st_info) == STT_SECTION) {
		scn = elf_getscn(i->elf, s->st_shndx);
		return scn && gelf_getshdr(scn, &target) ? elf_section_name(i, &target) : "";
	}
	name = elf_strptr(i->elf, table->sh_link, s->st_name);
	return name ? name : "";
}

size_t elf_entries(const GElf_Shdr *s, const Elf_Data *d)
{
	size_t n = s->sh_entsize ? (size_t)(d->d_size / s->sh_entsize) : 0;

	/* The access functions count entries in an int. */
	return n > INT32_MAX ? INT32_MAX : n;
}
