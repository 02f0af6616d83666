#include "sift.h"

unsigned sift_score(unsigned x)
{
	unsigned s = 0;

	for (unsigned i = 0; i < 24; i++) {
		if (x % 1021 == 7)
			s += sift_rare(x, i);
		else if (x % 3 == 0)
			s ^= x >> 3;
		else
			s += x * 3;
		x = x * 1103515245u + 12345u;
	}
	return s;
}
