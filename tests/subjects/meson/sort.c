#include <stdlib.h>
#include <string.h>

#include "words.h"

static int by_count(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->text, y->text);
}

void sort_words(struct words *w)
{
	qsort(w->v, w->n, sizeof(*w->v), by_count);
}
