#include "report/layout.h"

#include <inttypes.h>

#include "base/mem.h"
#include "report/text.h"

const char *layout_sections(enum text_class c)
{
	static const char *const names[] = {
		[TEXT_HOT] = ".text.hot",
		[TEXT_UNLIKELY] = ".text.unlikely",
		[TEXT_SPLIT] = ".text.split",
		[TEXT_STARTUP] = ".text.startup, .text.exit",
		[TEXT_OTHER] = "other",
		[TEXT_PADDING] = "padding",
		[TEXT_CLASSES] = "all",
	};

	return names[c];
}

uint64_t layout_bytes(const struct text_bytes *t, enum text_class c)
{
	return c == TEXT_CLASSES ? text_bytes_sum(t) : t->v[c];
}

char *layout_change(uint64_t plain, uint64_t pgo)
{
	uint64_t by = pgo > plain ? pgo - plain : plain - pgo;
	const char *sign = pgo > plain ? "+" : "-";

	if (!by)
		return xstrdup("0");
	if (by > 10 * plain) /* from next to nothing: a percentage tells less */
		return xasprintf("%s%" PRIu64, sign, by);
	return xasprintf(
		"%s%" PRIu64 " (%s%.1f %%)", sign, by, sign, 100 * (double)by / (double)plain);
}

bool layout_has(const struct report_layout *l, enum text_class c)
{
	return layout_bytes(&l->plain, c) || layout_bytes(&l->pgo, c);
}

bool layout_known(const struct report_layout *l)
{
	return layout_bytes(&l->plain, TEXT_CLASSES) && layout_bytes(&l->pgo, TEXT_CLASSES);
}

static void row(struct table *t, const struct report_layout *l, enum text_class c)
{
	uint64_t plain = layout_bytes(&l->plain, c), pgo = layout_bytes(&l->pgo, c);
	auto_free char *change = layout_change(plain, pgo);

	table_cell(t, "%s", l->name);
	table_cell(t, "%s", layout_sections(c));
	table_cell(t, "%" PRIu64, plain);
	table_cell(t, "%" PRIu64, pgo);
	table_cell(t, "%s", change);
}

void layout_text(const struct report *r, const char *label, struct buf *out)
{
	static const char *const heads[] = {"file", "sections", ">plain", ">pgo", "change"};
	struct table *t = table_new(heads, ARRAY_SIZE(heads));
	size_t known = 0;

	for (size_t i = 0; i < r->n_layouts; i++) {
		const struct report_layout *l = &r->layouts[i];

		known += layout_known(l);
		for (size_t c = 0; layout_known(l) && c <= TEXT_CLASSES; c++)
			if (layout_has(l, (enum text_class)c))
				row(t, l, (enum text_class)c);
	}
	if (!known) {
		table_free(t);
		return;
	}
	buf_addf(out, "Code layout, bytes of .text%s%s%s\n", *label ? " (" : "", label,
		*label ? ")" : "");
	report_print_table(t, out);
	buf_addc(out, '\n');
}
