#include "elf/elf_strip.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "elf/elf_file.h"

/* A file with its program headers. */
struct loaded {
	struct file_map map;
	struct elf_image image;
	GElf_Phdr *v;
	size_t n;
};

static void loaded_release(struct loaded *l)
{
	elf_image_close(&l->image);
	file_unmap(&l->map);
	free(l->v);
}
#define auto_loaded __attribute__((cleanup(loaded_release)))

static int loaded_open(const char *path, struct loaded *ret, struct error *err)
{
	if (file_map(path, &ret->map, err) < 0)
		return -1;
	if (elf_image_open(ret->map.p, ret->map.n, &ret->image, err) < 0)
		return error_context(err, "'%s'", path);
	if (elf_getphdrnum(ret->image.elf, &ret->n) < 0)
		ret->n = 0;
	ret->v = xcalloc(ret->n + 1, sizeof(*ret->v));
	for (size_t i = 0; i < ret->n; i++)
		if (!gelf_getphdr(ret->image.elf, (int)i, &ret->v[i]))
			return error_set(err, ERR_CORRUPT,
				"'%s': program header %zu cannot be read", path, i);
	return 0;
}

static const char *segment_kind(uint32_t type)
{
	static const struct {
		uint32_t type;
		const char *name;
	} known[] = {
		{PT_LOAD, "LOAD"},
		{PT_DYNAMIC, "DYNAMIC"},
		{PT_INTERP, "INTERP"},
		{PT_NOTE, "NOTE"},
		{PT_PHDR, "PHDR"},
		{PT_TLS, "TLS"},
		{PT_GNU_EH_FRAME, "GNU_EH_FRAME"},
		{PT_GNU_STACK, "GNU_STACK"},
		{PT_GNU_RELRO, "GNU_RELRO"},
		{PT_GNU_PROPERTY, "GNU_PROPERTY"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].type == type)
			return known[i].name;
	return "other";
}

/* One that lies in memory has the bytes [offset, offset + filesz) of the file. */
static bool in_file(const struct loaded *l, const GElf_Phdr *h)
{
	return h->p_offset <= l->map.n && h->p_filesz <= l->map.n - h->p_offset;
}

/* Of [at, at + n): nothing wraps around. */
static bool within(uint64_t at, uint64_t n, uint64_t start, uint64_t size)
{
	return at >= start && n <= size && at - start <= size - n;
}

/* The loadable segment that holds these addresses, and, when the file has bytes for them, those too
 * at the right place. */
static const GElf_Phdr *holder(
	const struct loaded *l, uint64_t at, uint64_t memory, uint64_t offset, uint64_t bytes)
{
	for (size_t i = 0; i < l->n; i++) {
		const GElf_Phdr *h = &l->v[i];

		if (h->p_type != PT_LOAD || !within(at, memory, h->p_vaddr, h->p_memsz))
			continue;
		if (!bytes || (within(at, bytes, h->p_vaddr, h->p_filesz) &&
				      offset - h->p_offset == at - h->p_vaddr))
			return h;
	}
	return NULL;
}

static void fault_headers(const struct loaded *b, const struct loaded *a, struct strip_facts *f)
{
	const GElf_Ehdr *x = &b->image.head, *y = &a->image.head;

	if (x->e_type != y->e_type || x->e_machine != y->e_machine ||
		memcmp(x->e_ident, y->e_ident, EI_NIDENT) != 0 || x->e_flags != y->e_flags)
		strv_addf(
			&f->faults, "another kind of file (type %u, was %u)", y->e_type, x->e_type);
	if (x->e_entry != y->e_entry)
		strv_addf(&f->faults, "entry point at 0x%llx, was 0x%llx",
			(unsigned long long)y->e_entry, (unsigned long long)x->e_entry);
	if (b->n != a->n)
		strv_addf(&f->faults, "%zu program headers, were %zu", a->n, b->n);
}

/* What differs of a program header, apart from its place in the file. NULL: nothing. */
static const char *header_difference(const GElf_Phdr *x, const GElf_Phdr *y)
{
	if (x->p_type != y->p_type)
		return "kind";
	if (x->p_vaddr != y->p_vaddr || x->p_paddr != y->p_paddr)
		return "address";
	if (x->p_memsz != y->p_memsz)
		return "size in memory";
	if (x->p_filesz != y->p_filesz)
		return "size in the file";
	if (x->p_flags != y->p_flags)
		return "permissions";
	return x->p_align != y->p_align ? "alignment" : NULL;
}

/* Ranges of a segment that tell where things lie in the file, and so may change. */
struct holes {
	uint64_t at[4], end[4];
	size_t n;
};

static void hole_add(struct holes *h, const GElf_Phdr *s, uint64_t offset, uint64_t size)
{
	uint64_t at, end;

	if (offset >= s->p_offset + s->p_filesz || offset + size <= s->p_offset)
		return;
	at = offset > s->p_offset ? offset - s->p_offset : 0;
	end = offset + size - s->p_offset;
	h->at[h->n] = at;
	h->end[h->n++] = end < s->p_filesz ? end : s->p_filesz;
}

static void holes_of(const struct loaded *l, const GElf_Phdr *s, struct holes *h)
{
	const GElf_Ehdr *e = &l->image.head;

	hole_add(h, s, 0, e->e_ehsize);
	hole_add(h, s, e->e_phoff, (uint64_t)e->e_phentsize * l->n);
}

/* Bytes that differ outside the holes; *first: offset of the first. */
static uint64_t differences(
	const uint8_t *x, const uint8_t *y, uint64_t n, const struct holes *h, uint64_t *first)
{
	uint64_t differ = 0;

	if (memcmp(x, y, n) == 0)
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		bool hole = x[i] == y[i];

		for (size_t k = 0; k < h->n; k++)
			hole |= i >= h->at[k] && i < h->end[k];
		if (hole)
			continue;
		if (!differ++)
			*first = i;
	}
	return differ;
}

static void compare_bytes(
	const struct loaded *b, const struct loaded *a, size_t i, struct strip_facts *f)
{
	const GElf_Phdr *x = &b->v[i], *y = &a->v[i];
	struct holes holes = {.n = 0};
	uint64_t differ, first = 0;

	if (!in_file(a, y)) {
		strv_addf(&f->faults, "segment %zu (%s) ends behind the file", i,
			segment_kind(y->p_type));
		return;
	}
	if (!in_file(b, x))
		return;
	holes_of(b, x, &holes);
	holes_of(a, y, &holes);
	differ = differences(
		b->map.p + x->p_offset, a->map.p + y->p_offset, x->p_filesz, &holes, &first);
	f->bytes += x->p_filesz;
	if (differ)
		strv_addf(&f->faults,
			"segment %zu (%s): %llu of %llu bytes differ, the first at 0x%llx", i,
			segment_kind(x->p_type), (unsigned long long)differ,
			(unsigned long long)x->p_filesz, (unsigned long long)(x->p_vaddr + first));
}

static void compare_segment(
	const struct loaded *b, const struct loaded *a, size_t i, struct strip_facts *f)
{
	const GElf_Phdr *x = &b->v[i], *y = &a->v[i];
	const char *what = header_difference(x, y);

	if (what) {
		strv_addf(&f->faults, "segment %zu (%s at 0x%llx) has another %s", i,
			segment_kind(x->p_type), (unsigned long long)x->p_vaddr, what);
		return;
	}
	if (x->p_type == PT_LOAD) {
		if (y->p_align > 1 && y->p_offset % y->p_align != y->p_vaddr % y->p_align &&
			x->p_offset % x->p_align == x->p_vaddr % x->p_align)
			strv_addf(&f->faults,
				"segment %zu (LOAD at 0x%llx) cannot be loaded: its place in the "
				"file and its address do not match",
				i, (unsigned long long)y->p_vaddr);
		compare_bytes(b, a, i, f);
	} else if (x->p_memsz && holder(b, x->p_vaddr, x->p_filesz, x->p_offset, x->p_filesz) &&
		   !holder(a, y->p_vaddr, y->p_filesz, y->p_offset, y->p_filesz)) {
		strv_addf(&f->faults, "segment %zu (%s at 0x%llx) lies in no loaded segment", i,
			segment_kind(y->p_type), (unsigned long long)y->p_vaddr);
	}
}

/* A section that is loaded, as its header says, apart from room for threads' zeroes (.tbss), which
 * takes no addresses. */
static bool is_loaded(const GElf_Shdr *s)
{
	return (s->sh_flags & SHF_ALLOC) && s->sh_size &&
	       !((s->sh_flags & SHF_TLS) && s->sh_type == SHT_NOBITS);
}

static bool held(const struct loaded *l, const GElf_Shdr *s)
{
	return holder(
		l, s->sh_addr, s->sh_size, s->sh_offset, s->sh_type == SHT_NOBITS ? 0 : s->sh_size);
}

/* The loaded section of a name and address. */
static bool section_find(const struct loaded *l, const char *name, uint64_t at, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(l->image.elf, scn)))
		if (gelf_getshdr(scn, ret) && is_loaded(ret) && ret->sh_addr == at &&
			strcmp(elf_section_name(&l->image, ret), name) == 0)
			return true;
	return false;
}

/* Sections that lay in their segments, and do so no more: what GNU strip calls "section can't be
 * allocated in segment" and then writes all the same. */
static void compare_sections(const struct loaded *b, const struct loaded *a, struct strip_facts *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s, after;

	while ((scn = elf_nextscn(b->image.elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &s) || !is_loaded(&s) || !held(b, &s))
			continue;
		name = elf_section_name(&b->image, &s);
		f->n_sections++;
		if (!section_find(a, name, s.sh_addr, &after))
			strv_addf(&f->faults, "section %s at 0x%llx is gone, or elsewhere", name,
				(unsigned long long)s.sh_addr);
		else if (!held(a, &after))
			strv_addf(&f->faults, "section %s at 0x%llx lies in no loaded segment",
				name, (unsigned long long)s.sh_addr);
	}
}

static bool has_bolt_section(const struct elf_image *i)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	while ((scn = elf_nextscn(i->elf, scn))) {
		const char *name = gelf_getshdr(scn, &s) ? elf_section_name(i, &s) : "";

		if (strcmp(name, ".note.bolt_info") == 0 || strncmp(name, ".bolt.", 6) == 0)
			return true;
	}
	return false;
}

bool elf_by_bolt(const char *path)
{
	auto_loaded struct loaded l = {0};

	return loaded_open(path, &l, NULL) == 0 && has_bolt_section(&l.image);
}

int elf_strip_compare(
	const char *before, const char *after, struct strip_facts *ret, struct error *err)
{
	auto_loaded struct loaded b = {0}, a = {0};
	struct strip_facts f = {.stripped = true};
	struct error own = ERROR_INIT;

	if (loaded_open(before, &b, err) < 0)
		return -1;
	f.laid_out = has_bolt_section(&b.image);
	if (loaded_open(after, &a, &own) < 0) {
		if (own.code != ERR_CORRUPT)
			return error_move(err, &own);
		strv_addf(&f.faults, "%s", own.msg);
		error_release(&own);
		*ret = f;
		return 0;
	}
	fault_headers(&b, &a, &f);
	f.n_segments = b.n;
	for (size_t i = 0; i < b.n && a.n == b.n; i++)
		compare_segment(&b, &a, i, &f);
	compare_sections(&b, &a, &f);
	*ret = f;
	return 0;
}
