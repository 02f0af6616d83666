#include "elf/elf_layout.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "elf/elf_facts.h"
#include "elf/elf_file.h"

/* Names are gathered as offsets into one text, which moves while it grows. */
struct gather {
	struct {
		size_t at;
		uint64_t bytes;
	} *v;
	size_t n, cap;
	struct buf text;
};

static void unmap(struct file_map *m)
{
	file_unmap(m);
}
#define auto_map __attribute__((cleanup(unmap)))

void elf_names_release(struct elf_names *n)
{
	free(n->v);
	free(n->text);
	memset(n, 0, sizeof(*n));
}

void elf_layout_release(struct elf_layout *l)
{
	free(l->machine);
	free(l->build_id);
	strv_release(&l->split);
	memset(l, 0, sizeof(*l));
}

static int compare(const char *a, const char *b, size_t n)
{
	int r = strncmp(a, b, n);

	return r ? r : (unsigned char)a[n];
}

const struct elf_symbol *elf_names_find(const struct elf_names *l, const char *name, size_t n)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int r = compare(l->v[mid].name, name, n);

		if (r == 0)
			return &l->v[mid];
		if (r < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct elf_symbol *)a)->name, ((const struct elf_symbol *)b)->name);
}

static void sort_names(struct gather *g, struct elf_names *ret)
{
	size_t n = 0;

	ret->text = buf_detach(&g->text);
	ret->v = xcalloc(g->n + 1, sizeof(*ret->v));
	for (size_t i = 0; i < g->n; i++)
		ret->v[i] = (struct elf_symbol){ret->text + g->v[i].at, g->v[i].bytes};
	qsort(ret->v, g->n, sizeof(*ret->v), by_name);
	for (size_t i = 0; i < g->n; i++) {
		if (n && strcmp(ret->v[n - 1].name, ret->v[i].name) == 0) {
			if (ret->v[n - 1].bytes < ret->v[i].bytes)
				ret->v[n - 1].bytes = ret->v[i].bytes;
			continue;
		}
		ret->v[n++] = ret->v[i];
	}
	ret->n = ret->cap = n;
}

/* The function that a fragment belongs to: gcc's and clang's "f.cold", "f.cold.1",
 * "f.part.0.cold". Length of its name; 0: no fragment. */
static size_t parent_of(const char *name)
{
	size_t n = strlen(name), k = n;

	while (k && isdigit((unsigned char)name[k - 1]))
		k--;
	if (k < n && k && name[k - 1] == '.')
		n = k - 1;
	if (n > 5 && memcmp(name + n - 5, ".cold", 5) == 0)
		return n - 5;
	return 0;
}

static void add_symbol(const GElf_Sym *s, const char *name, struct elf_layout *l, struct gather *g)
{
	size_t parent;

	if (!*name)
		return;
	if (g) {
		array_reserve(g->v, g->n, g->cap);
		g->v[g->n].at = g->text.n;
		g->v[g->n++].bytes = s->st_shndx == SHN_UNDEF ? 0 : s->st_size;
		buf_add(&g->text, name, strlen(name) + 1);
	}
	if (s->st_shndx == SHN_UNDEF || GELF_ST_TYPE(s->st_info) != STT_FUNC)
		return;
	l->functions += s->st_size > 0;
	parent = parent_of(name);
	if (parent)
		strv_take(&l->split, xstrndup(name, parent));
}

static void read_table(const struct elf_image *i, Elf_Scn *scn, const GElf_Shdr *head,
	struct elf_layout *l, struct gather *g)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = d ? elf_entries(head, d) : 0;

	for (size_t k = 0; k < n; k++) {
		GElf_Sym s;

		if (gelf_getsym(d, (int)k, &s) && GELF_ST_TYPE(s.st_info) != STT_SECTION &&
			GELF_ST_TYPE(s.st_info) != STT_FILE)
			add_symbol(&s, elf_symbol_name(i, head, &s), l, g);
	}
}

static void read_name(const char *name, const GElf_Shdr *head, struct elf_layout *l)
{
	if (strcmp(name, ".rela.text") == 0 || strcmp(name, ".rel.text") == 0)
		l->relocations = head->sh_size > 0;
	else if (strcmp(name, ".note.bolt_info") == 0)
		l->bolted = true;
	else if (strncmp(name, ".bolt.instr", 11) == 0)
		l->instrumented = true;
	else if (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0)
		l->debug = true;
	else if (strcmp(name, ".interp") == 0)
		l->is_static = false;
}

static void read_section(const struct elf_image *i, Elf_Scn *scn, const GElf_Shdr *head,
	struct elf_layout *l, struct gather *g)
{
	read_name(elf_section_name(i, head), head, l);
	if (head->sh_flags & SHF_EXECINSTR)
		l->text_bytes += head->sh_size;
	if (head->sh_type == SHT_SYMTAB) {
		l->symbols = true;
		read_table(i, scn, head, l, g);
	}
}

static void drop_repeats(struct strv *s)
{
	size_t n = 0;

	strv_sort(s);
	for (size_t k = 0; k < s->n; k++) {
		if (n && strcmp(s->v[n - 1], s->v[k]) == 0)
			free(s->v[k]);
		else
			s->v[n++] = s->v[k];
	}
	s->n = n;
	if (s->v)
		s->v[n] = NULL;
}

static int read_image(const char *path, struct elf_layout *l, struct gather *g, struct error *err)
{
	auto_map struct file_map m = {0};
	auto_elf struct elf_image i = {0};
	Elf_Scn *scn = NULL;
	GElf_Shdr head;
	bool shared;

	if (file_map(path, &m, err) < 0)
		return -1;
	if (elf_image_open(m.p, m.n, &i, err) < 0)
		return error_context(err, "'%s'", path);
	shared = i.head.e_type == ET_DYN;
	l->bytes = m.n;
	l->linked = shared || i.head.e_type == ET_EXEC;
	l->is_static = true;
	while ((scn = elf_nextscn(i.elf, scn)))
		if (gelf_getshdr(scn, &head))
			read_section(&i, scn, &head, l, g);
	return 0;
}

int elf_layout_read(
	const char *path, struct elf_layout *ret, struct elf_names *names, struct error *err)
{
	struct elf_facts f = {0};
	struct elf_layout l = {0};
	struct gather g = {0};
	int r;

	if (elf_facts_read(path, &f, err) < 0)
		return -1;
	r = read_image(path, &l, names ? &g : NULL, err);
	l.machine = take_ptr(f.machine);
	l.build_id = take_ptr(f.build_id);
	/* A shared object has no interpreter either; it needs others, or has a name. */
	if (f.needed.n || f.soname)
		l.is_static = false;
	elf_facts_release(&f);
	if (r < 0) {
		elf_layout_release(&l);
	} else if (buf_failed(&g.text)) {
		elf_layout_release(&l);
		r = error_set(err, ERR_UNSUPPORTED, "'%s': its symbols take more than 1 GiB", path);
	} else {
		drop_repeats(&l.split);
		if (names)
			sort_names(&g, names);
		*ret = l;
	}
	free(g.v);
	buf_release(&g.text);
	return r;
}
