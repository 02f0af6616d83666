#include "layout/branch_image.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "elf/elf_facts.h"
#include "elf/elf_file.h"

void branch_image_release(struct branch_image *i)
{
	free(i->path);
	free(i->name);
	free(i->build_id);
	free(i->segments);
	free(i->functions);
	*i = (struct branch_image){0};
}

static void read_segments(const struct elf_image *e, struct branch_image *i)
{
	size_t n = 0, cap = 0;
	GElf_Phdr h;

	elf_getphdrnum(e->elf, &n);
	for (size_t k = 0; k < n; k++) {
		if (!gelf_getphdr(e->elf, (int)k, &h) || h.p_type != PT_LOAD ||
			!(h.p_flags & PF_X) || !h.p_filesz)
			continue;
		array_reserve(i->segments, i->n_segments, cap);
		i->segments[i->n_segments++] =
			(struct branch_segment){h.p_offset, h.p_filesz, h.p_vaddr};
	}
}

static bool in_segment(const struct branch_image *i, uint64_t at)
{
	for (size_t k = 0; k < i->n_segments; k++)
		if (at >= i->segments[k].address &&
			at - i->segments[k].address < i->segments[k].file_size)
			return true;
	return false;
}

static void add_symbols(struct branch_image *i, Elf_Scn *scn, const GElf_Shdr *s, size_t *cap)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	GElf_Sym symbol;

	for (size_t k = 0, n = d ? elf_entries(s, d) : 0; k < n; k++) {
		if (!gelf_getsym(d, (int)k, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
			symbol.st_shndx == SHN_UNDEF || !in_segment(i, symbol.st_value) ||
			symbol.st_size > UINT64_MAX - symbol.st_value)
			continue;
		array_reserve(i->functions, i->n_functions, *cap);
		i->functions[i->n_functions++] =
			(struct branch_function){symbol.st_value, symbol.st_value + symbol.st_size};
	}
}

static int by_start(const void *a, const void *b)
{
	const struct branch_function *x = a, *y = b;

	return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
				    : (x->end < y->end) - (x->end > y->end);
}

/* Aliases become one; a symbol without a size reaches to the next; one within another (a label in
 * hand-written assembly) belongs to it. */
static void settle_functions(struct branch_image *i)
{
	size_t n = 0;

	if (i->n_functions)
		qsort(i->functions, i->n_functions, sizeof(*i->functions), by_start);
	for (size_t k = 0; k < i->n_functions; k++) {
		struct branch_function f = i->functions[k];

		if (n && f.start < i->functions[n - 1].end)
			continue;
		if (n && f.start == i->functions[n - 1].start)
			n--;
		else if (n && i->functions[n - 1].end == i->functions[n - 1].start)
			i->functions[n - 1].end = f.start;
		i->functions[n++] = f;
	}
	i->n_functions = n;
}

static void read_functions(const struct elf_image *e, struct branch_image *i)
{
	Elf_Scn *scn = NULL;
	size_t cap = 0;
	GElf_Shdr s;

	while ((scn = elf_nextscn(e->elf, scn)))
		if (gelf_getshdr(scn, &s) && s.sh_type == SHT_SYMTAB)
			add_symbols(i, scn, &s, &cap);
	settle_functions(i);
}

static int check(const struct elf_image *e, const struct branch_image *i, struct error *err)
{
	if (e->head.e_ident[EI_CLASS] != ELFCLASS64 || e->head.e_ident[EI_DATA] != ELFDATA2LSB)
		return error_set(err, ERR_UNSUPPORTED,
			"branch stacks of '%s' cannot be read: it is no 64-bit little-endian ELF "
			"file",
			i->path);
	if (!i->n_segments)
		return error_set(err, ERR_UNSUPPORTED, "'%s' has no code", i->path);
	if (!i->n_functions)
		return error_set(err, ERR_UNSUPPORTED,
			"'%s' has no symbols of functions: branch stacks must be read with the "
			"file "
			"before strip",
			i->path);
	return 0;
}

int branch_image_read(const char *path, struct branch_image *ret, struct error *err)
{
	struct branch_image i = {.path = xstrdup(path), .name = xstrdup(path_basename(path))};
	struct elf_image e = {0};
	struct elf_facts facts = {0};
	struct file_map map = {0};
	int r = -1;

	if (file_map(path, &map, err) < 0)
		goto out;
	if (elf_image_open(map.p, map.n, &e, err) < 0) {
		error_context(err, "'%s'", path);
		goto out;
	}
	i.fixed = e.head.e_type == ET_EXEC;
	read_segments(&e, &i);
	read_functions(&e, &i);
	if (check(&e, &i, err) < 0 || elf_facts_read(path, &facts, err) < 0)
		goto out;
	i.build_id = take_ptr(facts.build_id);
	*ret = i;
	i = (struct branch_image){0};
	r = 0;
out:
	elf_facts_release(&facts);
	elf_image_close(&e);
	file_unmap(&map);
	branch_image_release(&i);
	return r;
}

size_t branch_image_function(const struct branch_image *i, uint64_t address)
{
	size_t low = 0, high = i->n_functions;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (i->functions[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < i->n_functions && i->functions[low].start <= address ? low : SIZE_MAX;
}
