#include "prefork.h"

static volatile unsigned total;

void counted(int i)
{
	if (i % 3 == 0)
		total += 2;
	else
		total += 1;
}

static unsigned add(unsigned a, unsigned b)
{
	return a + b;
}

static unsigned mul(unsigned a, unsigned b)
{
	return a * b + 1;
}

static unsigned xor_(unsigned a, unsigned b)
{
	return a ^ (b << 3);
}

typedef unsigned step_fn(unsigned, unsigned);
static step_fn *const volatile steps[] = {add, mul, xor_};

/* Nine of ten calls go to add. */
unsigned mix(unsigned n)
{
	unsigned v = 1;

	for (unsigned i = 0; i < n; i++)
		v = steps[i % 10 ? 0 : 1 + i / 10 % 2](v, i);
	return v;
}
