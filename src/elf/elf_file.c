#include "elf/elf_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Parts of a file lie beside each other. In a hostile one each may be the whole file, and what is
 * looked at would grow with the square of its size. Some slack: linkers let a few small parts lie
 * in others. */
#define PARTS_OF_FILE 4
#define PARTS_SLACK 65536

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t bytes_of_parts(Elf *elf, size_t segments)
{
	Elf_Scn *scn = NULL;
	uint64_t sum = 0;
	GElf_Shdr s;
	GElf_Phdr h;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &s) && s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL)
			sum = plus(sum, s.sh_size);
	for (size_t k = 0; k < segments; k++)
		if (gelf_getphdr(elf, (int)k, &h) && h.p_type == PT_NOTE)
			sum = plus(sum, h.p_filesz);
	return sum;
}

/* A count that does not fit into the header stands in the first section's, which may say four
 * billion (libelf calls that an error, and hands it out all the same). */
static int count_segments(Elf *elf, struct elf_image *i, size_t n, struct error *err)
{
	size_t size = gelf_fsize(elf, ELF_T_PHDR, 1, EV_CURRENT), count = 0;
	bool bad = elf_getphdrnum(elf, &count) < 0;

	if (!bad && !count)
		return 0;
	if (bad || !size || i->head.e_phoff > n || count > (n - i->head.e_phoff) / size)
		return error_set(err, ERR_CORRUPT,
			"not a readable ELF file: its %zu program headers lie outside of it",
			count);
	i->segments = count;
	return 0;
}

static int check_parts(Elf *elf, size_t n, size_t segments, struct error *err)
{
	uint64_t sum = bytes_of_parts(elf, segments);

	if (sum / PARTS_OF_FILE <= n + PARTS_SLACK)
		return 0;
	return error_set(err, ERR_CORRUPT,
		"not a readable ELF file: its sections and notes take %llu bytes of a file of %zu",
		(unsigned long long)sum, n);
}

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
	if (count_segments(i.elf, &i, n, err) < 0 || check_parts(i.elf, n, i.segments, err) < 0) {
		elf_image_close(&i);
		return -1;
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
