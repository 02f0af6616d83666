#include "sift.h"

unsigned sift_rare(unsigned x, unsigned i)
{
	if (x & 0x40000000)
		return i > 12 ? x / (i + 1) : x + i;
	return x ^ (i << 7);
}
