/* The half in C: a record is scored by one of four rules, nearly always the same one. Only a profile knows
 * which, so only a profile can call it directly and keep the others out of the way. */
typedef unsigned (*rule)(unsigned, unsigned);

static unsigned plain(unsigned x, unsigned i)
{
	return x + (i ^ 5);
}

static unsigned mixed(unsigned x, unsigned i)
{
	for (unsigned k = 0; k < 9; k++)
		x = x * 31 + (i >> k);
	return x;
}

static unsigned odd(unsigned x, unsigned i)
{
	return x % 7 ? x / (i | 1) : x ^ i * 2654435761u;
}

static unsigned last(unsigned x, unsigned i)
{
	return x * i + 1;
}

static rule rules[] = {plain, mixed, odd, last};

/* Not known to the compiler: another file could change it. */
rule *volatile c_rules = rules;

unsigned c_score(unsigned seed, unsigned n)
{
	rule *r = c_rules;
	unsigned x = seed;

	for (unsigned i = 0; i < n; i++) {
		unsigned which = (x & 0xfff) == 0xabc ? 1 + x % 3 : 0;

		x = r[which](x, i);
	}
	return x;
}
