/* Exception data ("language-specific data area") as gcc, clang and rustc write it. */
#include <string.h>

#include "base/mem.h"
#include "elf/unwind_image.h"

struct call_sites {
	struct reader r;
	uint64_t at;   /* address of r's first byte */
	uint64_t pads; /* what landing pads are relative to */
	uint8_t encoding;
	size_t end; /* of the call sites, in r */
};

static bool open_sites(
	const struct unwind_image *i, const struct unwind_frame *f, struct call_sites *ret)
{
	uint8_t encoding;
	uint64_t n;

	*ret = (struct call_sites){.r = unwind_reader(i, f->data), .at = f->data, .pads = f->start};
	encoding = rd_u8(&ret->r);
	if (encoding != PTR_OMIT)
		ret->pads = unwind_pointer(&ret->r, ret->at, encoding, i->table.p_vaddr);
	if (rd_u8(&ret->r) != PTR_OMIT) /* of types; where they end does not matter here */
		(void)unwind_uleb(&ret->r);
	ret->encoding = rd_u8(&ret->r);
	n = unwind_uleb(&ret->r);
	if (ret->r.failed || n > ret->r.n - ret->r.off)
		return false;
	ret->end = ret->r.off + (size_t)n;
	return true;
}

static void fault(struct unwind_image *i, enum unwind_kind kind, const struct unwind_frame *f,
	const char *what, uint64_t at)
{
	const char *name = unwind_name_at(i, f->start);

	unwind_fault_add(i->facts, kind, name,
		xasprintf("%s 0x%llx, of the code at 0x%llx%s%s%s", what, (unsigned long long)at,
			(unsigned long long)f->start, *name ? " (" : "", name, *name ? ")" : ""));
}

/* Whether two addresses are in parts of one function: folded functions have several names, of which
 * one must be common. Without a name nothing can be said against it. */
static bool same_function(const struct unwind_image *i, uint64_t a, uint64_t b)
{
	size_t n, m;
	const struct unwind_function *x = unwind_functions_at(i, a, &n);
	const struct unwind_function *y = unwind_functions_at(i, b, &m);

	if (!n || !m)
		return true;
	for (size_t j = 0; j < n; j++)
		for (size_t k = 0; k < m; k++)
			if (strcmp(x[j].name, y[k].name) == 0)
				return true;
	return false;
}

static void check_pad(struct unwind_image *i, const struct unwind_frame *f, uint64_t pad)
{
	const struct unwind_frame *of = unwind_frame_of(i, pad);

	i->facts->n_pads++;
	if (of == f)
		return;
	if (!of)
		fault(i, UNWIND_PAD, f, "no FDE is for the landing pad", pad);
	else if (!same_function(i, f->start, pad))
		fault(i, UNWIND_PAD, f, "in another function is the landing pad", pad);
}

static void check_sites(struct unwind_image *i, const struct unwind_frame *f)
{
	struct call_sites s;

	if (!open_sites(i, f, &s)) {
		fault(i, UNWIND_DATA, f, "the exception data cannot be read at", f->data);
		return;
	}
	while (s.r.off < s.end && !s.r.failed) {
		uint64_t start = unwind_pointer(&s.r, s.at, s.encoding & PTR_FORMAT, 0);
		uint64_t size = unwind_pointer(&s.r, s.at, s.encoding & PTR_FORMAT, 0);
		uint64_t pad = unwind_pointer(&s.r, s.at, s.encoding & PTR_FORMAT, 0);

		(void)unwind_uleb(&s.r); /* the action */
		if (s.r.failed || start > f->size || size > f->size - start) {
			fault(i, UNWIND_DATA, f, "outside its code is a call site of the data at",
				f->data);
			return;
		}
		if (pad)
			check_pad(i, f, s.pads + pad);
	}
}

void unwind_check_data(struct unwind_image *i)
{
	for (size_t k = 0; k < i->n_frames; k++) {
		if (!i->frames[k].data)
			continue;
		i->facts->n_data++;
		check_sites(i, &i->frames[k]);
	}
}
