#include "elf/elf_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "elf/elf_file.h"

void elf_calls_release(struct elf_calls *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].name);
	free(c->v);
	free(c->calls);
	memset(c, 0, sizeof(*c));
}

static int by_place(const void *a, const void *b)
{
	const struct elf_function *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_functions(
	const struct elf_image *i, Elf_Scn *scn, const GElf_Shdr *head, struct elf_calls *c)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = d ? elf_entries(head, d) : 0;

	for (size_t k = 0; k < n; k++) {
		const char *name;
		GElf_Sym s;

		if (!gelf_getsym(d, (int)k, &s) || GELF_ST_TYPE(s.st_info) != STT_FUNC ||
			s.st_shndx == SHN_UNDEF || !s.st_size)
			continue;
		name = elf_symbol_name(i, head, &s);
		if (!*name)
			continue;
		array_reserve(c->v, c->n, c->cap);
		c->v[c->n++] = (struct elf_function){xstrdup(name), s.st_value, s.st_size};
	}
}

/* Names of one place (aliases) are one function. */
static void sort_functions(struct elf_calls *c)
{
	size_t n = 0;

	if (c->n)
		qsort(c->v, c->n, sizeof(*c->v), by_place);
	for (size_t i = 0; i < c->n; i++) {
		if (n && c->v[n - 1].at == c->v[i].at)
			free(c->v[i].name);
		else
			c->v[n++] = c->v[i];
	}
	c->n = n;
}

/* The function that holds an address; -1: none. */
static ssize_t function_at(const struct elf_calls *c, uint64_t at)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->v[mid].at <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low && at - c->v[low - 1].at < c->v[low - 1].size ? (ssize_t)low - 1 : -1;
}

/* Calls, jumps and addresses taken are alike here. Those relative to the program counter on x86
 * are counted from the end of their four bytes. */
static void add_call(struct elf_calls *c, const GElf_Rela *r, const GElf_Sym *s, uint64_t from_end)
{
	ssize_t from = function_at(c, r->r_offset), to;
	uint64_t at = s->st_value;

	if (GELF_ST_TYPE(s->st_info) == STT_SECTION)
		at += (uint64_t)r->r_addend + from_end;
	to = from < 0 || s->st_shndx == SHN_UNDEF ? -1 : function_at(c, at);
	if (to < 0 || to == from || c->v[to].at != at)
		return;
	array_reserve(c->calls, c->n_calls, c->cap_calls);
	c->calls[c->n_calls++] = (struct elf_call){(uint32_t)from, (uint32_t)to, 1};
}

static void add_calls(
	const struct elf_image *i, Elf_Scn *scn, const GElf_Shdr *head, struct elf_calls *c)
{
	Elf_Scn *symbols = elf_getscn(i->elf, head->sh_link),
		*code = elf_getscn(i->elf, head->sh_info);
	Elf_Data *d = elf_getdata(scn, NULL), *table = symbols ? elf_getdata(symbols, NULL) : NULL;
	uint64_t from_end = i->head.e_machine == EM_X86_64 || i->head.e_machine == EM_386 ? 4 : 0;
	GElf_Shdr of;

	if (!d || !table || !code || !gelf_getshdr(code, &of) || !(of.sh_flags & SHF_EXECINSTR))
		return;
	for (size_t k = 0; k < elf_entries(head, d); k++) {
		GElf_Rela r;
		GElf_Sym s;

		if (gelf_getrela(d, (int)k, &r) &&
			gelf_getsym(table, (int)GELF_R_SYM(r.r_info), &s))
			add_call(c, &r, &s, from_end);
	}
}

static int by_functions(const void *a, const void *b)
{
	const struct elf_call *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void join_calls(struct elf_calls *c)
{
	size_t n = 0;

	if (c->n_calls)
		qsort(c->calls, c->n_calls, sizeof(*c->calls), by_functions);
	for (size_t i = 0; i < c->n_calls; i++) {
		if (n && by_functions(&c->calls[n - 1], &c->calls[i]) == 0)
			c->calls[n - 1].sites++;
		else
			c->calls[n++] = c->calls[i];
	}
	c->n_calls = n;
}

static void each_section(const struct elf_image *i, unsigned type, struct elf_calls *c,
	void (*add)(const struct elf_image *, Elf_Scn *, const GElf_Shdr *, struct elf_calls *))
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	while ((scn = elf_nextscn(i->elf, scn)))
		if (gelf_getshdr(scn, &s) && s.sh_type == type)
			add(i, scn, &s, c);
}

int elf_calls_read(const char *path, struct elf_calls *ret, struct error *err)
{
	struct file_map m = {0};
	struct elf_image i = {0};
	struct elf_calls c = {0};

	if (file_map(path, &m, err) < 0)
		return -1;
	if (elf_image_open(m.p, m.n, &i, err) < 0) {
		file_unmap(&m);
		return error_context(err, "'%s'", path);
	}
	each_section(&i, SHT_SYMTAB, &c, add_functions);
	sort_functions(&c);
	each_section(&i, SHT_RELA, &c, add_calls);
	join_calls(&c);
	elf_image_close(&i);
	file_unmap(&m);
	*ret = c;
	return 0;
}
