#include <stdlib.h>
#include <string.h>

#include "words.h"

static unsigned next(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16;
}

void make_word(unsigned *seed, char *to)
{
	unsigned n = 2 + next(seed) % 3;

	for (unsigned i = 0; i < n; i++)
		to[i] = (char)('a' + next(seed) % (i ? 6 : 20));
	to[n] = '\0';
}

static int grow(struct words *w)
{
	size_t cap = w->cap ? w->cap * 2 : 64;
	struct word *v = realloc(w->v, cap * sizeof(*v));

	if (!v)
		return 0;
	w->v = v;
	w->cap = cap;
	return 1;
}

int add_word(struct words *w, const char *text)
{
	for (size_t i = 0; i < w->n; i++) {
		if (strcmp(w->v[i].text, text) == 0) {
			w->v[i].count++;
			return 1;
		}
	}
	if (w->n == w->cap && !grow(w))
		return 0;
	strcpy(w->v[w->n].text, text);
	w->v[w->n++].count = 1;
	return 1;
}
