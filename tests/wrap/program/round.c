#include "sift.h"

unsigned sift_round(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned s = sift_score(i);

		sum += s % 5 == 4 && i % 977 == 3 ? sift_rare(s, i) : s;
	}
	return sum;
}
