/* What the profile made of the code's layout, as a section of the document. */
#include <inttypes.h>

#include "base/mem.h"
#include "report/layout.h"
#include "report/sections.h"

static void add_row(struct doc *d, const struct report_layout *l, enum text_class c)
{
	uint64_t plain = layout_bytes(&l->plain, c), pgo = layout_bytes(&l->pgo, c);
	auto_free char *change = layout_change(plain, pgo);

	doc_cell(d, "%s", layout_sections(c));
	doc_cell(d, "%" PRIu64, plain);
	doc_cell(d, "%" PRIu64, pgo);
	doc_cell(d, "%s", change);
}

static void add_table(struct doc *d, const struct report_layout *l, const char *label)
{
	static const char *const heads[] = {"sections", ">plain", ">pgo", ">change"};
	auto_free char *caption = xasprintf("Code of '%s' by section, bytes%s%s%s", l->name,
		*label ? " (" : "", label, *label ? ")" : "");

	doc_table(d, caption, heads, ARRAY_SIZE(heads));
	for (size_t c = 0; c <= TEXT_CLASSES; c++)
		if (layout_has(l, (enum text_class)c))
			add_row(d, l, (enum text_class)c);
	doc_end_table(d);
}

/* What is said of the classes that are there. */
static void add_reading(struct doc *d, const bool *seen)
{
	static const char *const words[TEXT_CLASSES] = {
		[TEXT_HOT] = ".text.hot: functions that the compiler takes for hot.",
		[TEXT_UNLIKELY] = ".text.unlikely: functions that the training never executed, and "
				  "what the source or the compiler's own guess says to be cold.",
		[TEXT_SPLIT] = ".text.split: cold parts that were taken out of functions.",
		[TEXT_STARTUP] = ".text.startup, .text.exit: what runs once, at the start or end.",
		[TEXT_OTHER] = "Other: all other code, that of libraries among it.",
		[TEXT_PADDING] = "Padding: between the sections, for alignment, and what the "
				 "linker itself put there.",
	};

	doc_begin_list(d);
	for (size_t i = 0; i < TEXT_CLASSES; i++)
		if (seen[i])
			doc_item(d, "%s", words[i]);
	doc_item(d,
		"Sections go by their names in the linker's map; all of them together are .text "
		"of the file.");
	doc_end_list(d);
}

void section_layout(struct doc *d, const struct report *r)
{
	const char *label = report_label(r);
	bool seen[TEXT_CLASSES] = {0}, any = false;

	for (size_t i = 0; i < r->n_layouts; i++)
		any |= layout_known(&r->layouts[i]);
	if (!any)
		return;
	doc_section(d, "layout", "Code layout");
	doc_text(d,
		"Compilers put code into sections by what the profile says of it, and linkers "
		"place "
		"those of a kind together: what runs often then lies close together in memory.");
	for (size_t i = 0; i < r->n_layouts; i++) {
		const struct report_layout *l = &r->layouts[i];

		if (!layout_known(l)) {
			doc_text(d, "Of '%s' the linker's map did not tell it.", l->name);
			continue;
		}
		add_table(d, l, label);
		for (size_t c = 0; c < TEXT_CLASSES; c++)
			seen[c] |= layout_has(l, (enum text_class)c);
	}
	add_reading(d, seen);
}
