/* The options of each version, in one table. */
#include "base/mem.h"
#include "layout/internal.h"

enum when { ALWAYS, DEBUG };
#define LATEST 999

static const struct {
	const char *option;
	int from, to; /* LLVM's major versions */
	enum when when;
} table[] = {
	/* Blocks of a function by how often they follow each other (extended travelling salesman).
	 */
	{"-reorder-blocks=ext-tsp", 15, LATEST, ALWAYS},
	/* Functions by who calls whom; cache-directed sort replaced hfsort+ in LLVM 18. */
	{"-reorder-functions=hfsort+", 15, 17, ALWAYS},
	{"-reorder-functions=cdsort", 18, LATEST, ALWAYS},
	/* What never ran, landing pads too, goes elsewhere. */
	{"-split-functions", 15, LATEST, ALWAYS},
	{"-split-all-cold", 15, LATEST, ALWAYS},
	{"-split-eh", 15, LATEST, ALWAYS},
	/* Equal code once; "safe" leaves functions alone whose address is taken, so that their
	 * addresses still differ. Older versions have no such mode: they do not fold. */
	{"-icf=safe", 20, LATEST, ALWAYS},
	/* New segments at normal pages: at huge ones each file grows by 4 to 6 MB, for kernels that
	 * map programs by huge pages. */
	{"-no-huge-pages", 15, LATEST, ALWAYS},
	/* Counts of what would run before and after. */
	{"-dyno-stats", 15, LATEST, ALWAYS},
	{"-update-debug-sections", 15, LATEST, DEBUG},
};

void layout_options(const struct layout_tool *t, const struct layout_optimise *o, struct strv *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (t->major >= table[i].from && t->major <= table[i].to &&
			(table[i].when == ALWAYS || o->keep_debug))
			strv_add(ret, table[i].option);
}
