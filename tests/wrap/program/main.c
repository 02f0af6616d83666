#include <stdio.h>
#include <stdlib.h>

#include "sift.h"

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;

	printf("%u\n", sift_round(n));
	return 0;
}
