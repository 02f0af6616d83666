#include <stddef.h>
struct word {
	char text[16];
	size_t count;
};
struct words {
	struct word *v;
	size_t n, cap;
};
void make_word(unsigned *seed, char *to);
int add_word(struct words *w, const char *text);
void sort_words(struct words *w);
