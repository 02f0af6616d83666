/* Counts and sorts words: the batch subject of whet's own tests.  words N [SEED] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
	unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	struct words w = {0};
	char word[16];

	for (unsigned i = 0; i < n; i++) {
		make_word(&seed, word);
		if (!add_word(&w, word))
			return 1;
	}
	sort_words(&w);
	printf("%zu different words, %zu in all, first '%s'\n", w.n, (size_t)n, w.v[0].text);
	return 0;
}
