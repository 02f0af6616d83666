/* .eh_frame and its table. */
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/unwind_image.h"

#define TABLE_VERSION 1

__attribute__((format(printf, 4, 5))) static void fault(
	struct unwind_image *i, enum unwind_kind kind, uint64_t pc, const char *fmt, ...)
{
	auto_buf struct buf b = BUF_INIT;
	const char *name = pc ? unwind_name_at(i, pc) : "";
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	if (*name)
		buf_addf(&b, " (%s)", name);
	unwind_fault_add(i->facts, kind, name, buf_detach(&b));
}

/* ---- reading FDEs -------------------------------------------------------------------------- */

/* What the augmentation of a CIE says of its FDEs. */
struct augmentation {
	uint8_t pointers, data; /* encodings; PTR_OMIT: no exception data */
	bool sized;             /* 'z': the FDE has augmentation data with their length */
};

static bool read_augmentation(
	const struct unwind_image *i, const Dwarf_CIE *cie, struct augmentation *ret)
{
	struct reader r = reader_of(cie->augmentation_data, cie->augmentation_data_size);
	const char *c = cie->augmentation;

	*ret = (struct augmentation){.data = PTR_OMIT};
	if (!c || !*c)
		return true;
	r.big = i->big;
	if (*c++ != 'z')
		return false;
	ret->sized = true;
	for (; *c && !r.failed; c++) {
		if (*c == 'L') {
			ret->data = rd_u8(&r);
		} else if (*c == 'R') {
			ret->pointers = rd_u8(&r);
		} else if (*c == 'P') {
			uint8_t encoding = rd_u8(&r);

			(void)unwind_pointer(&r, 0, encoding & ~PTR_BASE, 0);
		} else if (!strchr("SBG", *c)) {
			return false;
		}
	}
	return !r.failed;
}

/* A section that holds FDEs. */
struct frame_section {
	Elf_Data *data;
	uint64_t at; /* its address */
	bool main;
	Dwarf_Off cie; /* offset of the CIE that was read last; (Dwarf_Off)-1: none */
	struct augmentation how;
	bool readable; /* that CIE can be read */
};

static void read_cie(struct unwind_image *i, struct frame_section *s, Dwarf_Off off)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (s->cie == off)
		return;
	s->cie = off;
	s->readable = off < s->data->d_size &&
		      dwarf_next_cfi((const unsigned char *)i->elf.head.e_ident, s->data, true, off,
			      &next, &entry) == 0 &&
		      dwarf_cfi_cie_p(&entry) && read_augmentation(i, &entry.cie, &s->how);
}

static void read_fde(
	struct unwind_image *i, struct frame_section *s, Dwarf_Off off, const Dwarf_FDE *fde)
{
	uint64_t fields = s->at + (uint64_t)(fde->start - (const uint8_t *)s->data->d_buf);
	struct reader r = reader_of(fde->start, (size_t)(fde->end - fde->start));
	struct unwind_frame f = {.at = s->at + off, .main = s->main};

	r.big = i->big;
	read_cie(i, s, fde->CIE_pointer);
	if (s->readable) {
		f.start = unwind_pointer(&r, fields, s->how.pointers, i->table.p_vaddr);
		/* The length has the form of the address and is relative to nothing. */
		f.size = unwind_pointer(&r, fields, s->how.pointers & PTR_FORMAT, 0);
		if (s->how.sized && unwind_uleb(&r) && s->how.data != PTR_OMIT)
			f.data = unwind_pointer(&r, fields, s->how.data, i->table.p_vaddr);
	}
	if (!s->readable || r.failed) {
		fault(i, UNWIND_FRAME, f.start, "the FDE at 0x%llx cannot be read",
			(unsigned long long)f.at);
		return;
	}
	array_reserve(i->frames, i->n_frames, i->cap_frames);
	i->frames[i->n_frames++] = f;
}

static void read_section(struct unwind_image *i, struct frame_section *s)
{
	Dwarf_Off off = 0, next;

	while (off + 4 < s->data->d_size) {
		Dwarf_CFI_Entry entry;
		int end = dwarf_next_cfi((const unsigned char *)i->elf.head.e_ident, s->data, true,
			off, &next, &entry);

		if (end < 0) {
			fault(i, UNWIND_FRAME, 0, "the entry at 0x%llx cannot be read: %s",
				(unsigned long long)(s->at + off), dwarf_errmsg(-1));
			return;
		}
		if (end > 0) /* a terminator; what lies behind is found by the table */
			next = off + 4;
		else if (!dwarf_cfi_cie_p(&entry))
			read_fde(i, s, off, &entry.fde);
		off = next;
	}
}

static bool holds_frames(const char *name)
{
	static const char end[] = ".eh_frame";
	size_t n = strlen(name);

	return n >= strlen(end) && strcmp(name + n - strlen(end), end) == 0;
}

/* Address of the section that the table is of; 0: it does not say. */
static uint64_t main_section(const struct unwind_image *i)
{
	struct reader r = unwind_reader(i, i->table.p_vaddr);
	uint8_t encoding;

	if (i->table.p_type != PT_GNU_EH_FRAME || rd_u8(&r) != TABLE_VERSION)
		return 0;
	encoding = rd_u8(&r);
	(void)rd_u16(&r);
	return encoding == PTR_OMIT
		       ? 0
		       : unwind_pointer(&r, i->table.p_vaddr, encoding, i->table.p_vaddr);
}

static int by_address(const void *a, const void *b)
{
	const struct unwind_frame *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

void unwind_read_frames(struct unwind_image *i)
{
	uint64_t at = main_section(i);
	Elf_Scn *scn = NULL;
	GElf_Shdr head;

	while ((scn = elf_nextscn(i->elf.elf, scn))) {
		struct frame_section s = {.cie = (Dwarf_Off)-1};

		if (!gelf_getshdr(scn, &head) || !(head.sh_flags & SHF_ALLOC) ||
			head.sh_type == SHT_NOBITS ||
			!holds_frames(elf_section_name(&i->elf, &head)))
			continue;
		s.data = elf_rawdata(scn, NULL);
		s.at = head.sh_addr;
		s.main = at >= head.sh_addr && at - head.sh_addr < head.sh_size;
		if (s.data && s.data->d_buf)
			read_section(i, &s);
	}
	i->facts->n_frames = i->n_frames;
	if (i->n_frames)
		qsort(i->frames, i->n_frames, sizeof(*i->frames), by_address);
}

/* ---- the table ----------------------------------------------------------------------------- */

static struct unwind_frame *frame_at(const struct unwind_image *i, uint64_t at)
{
	struct unwind_frame key = {.at = at};

	return i->n_frames ? bsearch(&key, i->frames, i->n_frames, sizeof(*i->frames), by_address)
			   : NULL;
}

struct table {
	struct reader r;
	uint64_t at, n, before;
	uint8_t encoding;
	size_t unsorted, dangling; /* only the first of each is a fault of its own */
};

static bool table_open(struct unwind_image *i, struct table *t)
{
	uint8_t frame, count;

	*t = (struct table){.r = unwind_reader(i, i->table.p_vaddr), .at = i->table.p_vaddr};
	if (i->table.p_type != PT_GNU_EH_FRAME) {
		fault(i, UNWIND_TABLE, 0, "no segment GNU_EH_FRAME: nothing is found by it");
		return false;
	}
	if (rd_u8(&t->r) != TABLE_VERSION) {
		fault(i, UNWIND_TABLE, 0, "the table at 0x%llx is of an unknown version",
			(unsigned long long)t->at);
		return false;
	}
	frame = rd_u8(&t->r);
	count = rd_u8(&t->r);
	t->encoding = rd_u8(&t->r);
	if (frame != PTR_OMIT)
		(void)unwind_pointer(&t->r, t->at, frame, t->at);
	if (count == PTR_OMIT || t->encoding == PTR_OMIT) {
		fault(i, UNWIND_TABLE, 0, "the table at 0x%llx has no entries",
			(unsigned long long)t->at);
		return false;
	}
	t->n = unwind_pointer(&t->r, t->at, count, t->at);
	return !t->r.failed;
}

static void table_entry(struct unwind_image *i, struct table *t)
{
	uint64_t start = unwind_pointer(&t->r, t->at, t->encoding, t->at);
	uint64_t at = unwind_pointer(&t->r, t->at, t->encoding, t->at);
	struct unwind_frame *f = t->r.failed ? NULL : frame_at(i, at);

	if (t->r.failed)
		return;
	if (start < t->before && !t->unsorted++)
		fault(i, UNWIND_TABLE, 0, "the table is not sorted: 0x%llx follows 0x%llx",
			(unsigned long long)start, (unsigned long long)t->before);
	t->before = start;
	i->facts->n_entries++;
	if (f)
		f->lists++;
	if (f && f->start != start)
		fault(i, UNWIND_TABLE, start, "the table says 0x%llx of an FDE that is for 0x%llx",
			(unsigned long long)start, (unsigned long long)f->start);
	else if (!f && !t->dangling++)
		fault(i, UNWIND_TABLE, start,
			"the table's entry for 0x%llx leads to 0x%llx, where no FDE is",
			(unsigned long long)start, (unsigned long long)at);
}

static void check_listed(struct unwind_image *i)
{
	for (size_t k = 0; k < i->n_frames; k++) {
		const struct unwind_frame *f = &i->frames[k];

		if (f->main && f->size && !f->lists)
			fault(i, UNWIND_TABLE, f->start,
				"the table lacks the FDE for 0x%llx to 0x%llx",
				(unsigned long long)f->start,
				(unsigned long long)(f->start + f->size));
	}
}

static int by_code(const void *a, const void *b)
{
	const struct unwind_frame *x = a, *y = b;

	/* Those that are found come after the others of the same address. */
	if (x->start != y->start)
		return x->start > y->start ? 1 : -1;
	return (x->lists > y->lists) - (x->lists < y->lists);
}

/* Frames that are not found are not looked at any more. */
static void keep_listed(struct unwind_image *i)
{
	size_t n = 0;

	for (size_t k = 0; k < i->n_frames; k++)
		if (i->frames[k].lists && i->frames[k].size)
			i->frames[n++] = i->frames[k];
	i->n_frames = n;
}

static void check_overlaps(struct unwind_image *i)
{
	for (size_t k = 1; k < i->n_frames; k++) {
		const struct unwind_frame *a = &i->frames[k - 1], *b = &i->frames[k];

		if (a->start + a->size > b->start)
			fault(i, UNWIND_TABLE, b->start, "two FDEs are for 0x%llx",
				(unsigned long long)b->start);
	}
}

void unwind_check_table(struct unwind_image *i)
{
	struct table t;
	bool usable = table_open(i, &t);

	for (uint64_t k = 0; usable && k < t.n && !t.r.failed; k++)
		table_entry(i, &t);
	if (usable && t.r.failed)
		fault(i, UNWIND_TABLE, 0, "the table at 0x%llx is cut off: %zu of %llu entries",
			(unsigned long long)t.at, i->facts->n_entries, (unsigned long long)t.n);
	if (usable) {
		check_listed(i);
		keep_listed(i);
	}
	if (i->n_frames)
		qsort(i->frames, i->n_frames, sizeof(*i->frames), by_code);
	check_overlaps(i);
}

const struct unwind_frame *unwind_frame_of(const struct unwind_image *i, uint64_t pc)
{
	size_t low = 0, high = i->n_frames;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (i->frames[mid].start <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || pc - i->frames[low - 1].start >= i->frames[low - 1].size)
		return NULL;
	return &i->frames[low - 1];
}

/* ---- executing ----------------------------------------------------------------------------- */

static bool executes(Dwarf_CFI *cfi, uint64_t pc)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t n;
	bool good =
		dwarf_cfi_addrframe(cfi, pc, &frame) == 0 && dwarf_frame_cfa(frame, &ops, &n) == 0;

	free(frame);
	return good;
}

/* The rules at the first and at the last byte: the latter takes all instructions that come into
 * effect. */
void unwind_execute(struct unwind_image *i)
{
	Dwarf_CFI *cfi = i->n_frames ? dwarf_getcfi_elf(i->elf.elf) : NULL;

	if (!i->n_frames)
		return;
	if (!cfi) {
		fault(i, UNWIND_FRAME, 0, "the frames cannot be read: %s", dwarf_errmsg(-1));
		return;
	}
	for (size_t k = 0; k < i->n_frames; k++) {
		const struct unwind_frame *f = &i->frames[k];

		if (f->size && (!executes(cfi, f->start) || !executes(cfi, f->start + f->size - 1)))
			fault(i, UNWIND_FRAME, f->start, "the FDE for 0x%llx does not decode: %s",
				(unsigned long long)f->start, dwarf_errmsg(-1));
	}
	dwarf_cfi_end(cfi);
}
