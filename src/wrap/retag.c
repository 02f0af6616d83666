#include "wrap/retag.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

#define COMMON "__llvm_pr" /* of __llvm_prf_… sections and __llvm_profile_… symbols */
#define COMMON_N (sizeof(COMMON) - 1)
#define OBJECT_MAX ((size_t)2 << 30)

struct object {
	uint8_t *p;
	size_t n;
	const Elf64_Ehdr *head;
	const Elf64_Shdr *sections;
	char tag[COMMON_N + 8];
};

static int open_object(struct object *o, struct error *err)
{
	const Elf64_Ehdr *h = (const void *)o->p;

	if (o->n < sizeof(*h) || memcmp(o->p, ELFMAG, SELFMAG) != 0)
		return error_set(err, ERR_UNSUPPORTED, "is no ELF object");
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
		h->e_type != ET_REL || h->e_shentsize != sizeof(Elf64_Shdr))
		return error_set(err, ERR_UNSUPPORTED,
			"is no relocatable object of a 64-bit little-endian machine");
	if (h->e_shoff % 8 || h->e_shoff > o->n || o->n - h->e_shoff < sizeof(Elf64_Shdr))
		return error_set(err, ERR_CORRUPT, "its section headers lie outside of the file");
	o->head = h;
	o->sections = (const void *)(o->p + h->e_shoff);
	return 0;
}

/* The number stands in the first header when it does not fit. */
static size_t count_sections(const struct object *o)
{
	uint64_t n = o->head->e_shnum ? o->head->e_shnum : o->sections[0].sh_size;
	uint64_t room = (o->n - o->head->e_shoff) / sizeof(Elf64_Shdr);

	return n < room ? n : room;
}

static bool is_inside(const struct object *o, const Elf64_Shdr *s)
{
	return s->sh_offset <= o->n && s->sh_size <= o->n - s->sh_offset;
}

/* Where a name may begin: a table keeps a name that is the end of another one inside of that. */
static bool may_begin(const char *table, const char *at)
{
	static const char *const fronts[] = {".rela", ".rel", "__start_", "__stop_"};

	if (at == table || at[-1] == 0 || at[-1] == '.')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(fronts); i++) {
		size_t n = strlen(fronts[i]);

		if ((size_t)(at - table) >= n && memcmp(at - n, fronts[i], n) == 0)
			return true;
	}
	return false;
}

static void rename_in(struct object *o, const Elf64_Shdr *s)
{
	char *table = (char *)o->p + s->sh_offset, *end = table + s->sh_size, *at = table;

	while ((at = memmem(at, (size_t)(end - at), COMMON, COMMON_N))) {
		if (may_begin(table, at))
			memcpy(at, o->tag, COMMON_N);
		at += COMMON_N;
	}
}

/* Every instrumented object defines the name of its profile file. What the runtime's own archive
 * holds is as good, and being asked for it, the linker loads it. */
static void ask_for_runtime(struct object *o, const Elf64_Shdr s, const Elf64_Shdr names)
{
	const char *table = (const char *)o->p + names.sh_offset;
	auto_free char *wanted = xasprintf("%sofile_filename", o->tag);
	size_t n = strlen(wanted) + 1;

	for (size_t k = 0; k < s.sh_size / sizeof(Elf64_Sym); k++) {
		Elf64_Sym *y = (Elf64_Sym *)(void *)(o->p + s.sh_offset) + k;

		if (y->st_shndx == SHN_UNDEF || y->st_name >= names.sh_size ||
			names.sh_size - y->st_name < n ||
			memcmp(table + y->st_name, wanted, n) != 0)
			continue;
		y->st_shndx = SHN_UNDEF;
		y->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
		y->st_value = y->st_size = 0;
	}
}

int retag_bytes(uint8_t *data, size_t n, int raw_version, bool runtime, struct error *err)
{
	struct object o = {.p = data, .n = n};
	size_t sections;

	if (open_object(&o, err) < 0)
		return -1;
	snprintf(o.tag, sizeof(o.tag), RETAG_FORMAT "pr", (unsigned)raw_version % 100);
	sections = count_sections(&o);
	for (size_t k = 0; k < sections; k++)
		if (o.sections[k].sh_type == SHT_STRTAB && is_inside(&o, &o.sections[k]))
			rename_in(&o, &o.sections[k]);
	for (size_t k = 0; k < sections && !runtime; k++) {
		/* a copy: in a damaged file the symbols may lie over the headers */
		const Elf64_Shdr s = o.sections[k];

		if (s.sh_type == SHT_SYMTAB && is_inside(&o, &s) && s.sh_offset % 8 == 0 &&
			s.sh_link < sections && is_inside(&o, &o.sections[s.sh_link]))
			ask_for_runtime(&o, s, o.sections[s.sh_link]);
	}
	return 0;
}

int retag_file(const char *path, int raw_version, bool runtime, struct error *err)
{
	auto_buf struct buf b = BUF_INIT;
	struct stat st;

	if (stat(path, &st) < 0)
		return file_error(err, "read", path);
	if (!S_ISREG(st.st_mode)) /* /dev/null */
		return 0;
	if (file_read(path, OBJECT_MAX, &b, err) < 0)
		return -1;
	if (retag_bytes((uint8_t *)b.p, b.n, raw_version, runtime, err) < 0)
		return error_context(err, "'%s'", path);
	return file_write_atomic(path, b.p, b.n, st.st_mode & 07777, err);
}
