/* Which class comes next: shares exact up to rounding, order random by the seed alone. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct load_order {
	size_t n;
	uint64_t total_weight;
	uint32_t *weight;
	int64_t *credit; /* what a class is owed from earlier slices, in 1/total_weight requests */
	uint64_t *left;  /* requests of each class not handed out yet */
	uint64_t total_left;
	uint64_t rng;
};

/* All weights zero counts as all one. */
void order_init(struct load_order *o, const uint32_t *weight, size_t n, uint64_t seed);
void order_release(struct load_order *o);
/* Deals out n requests (at most 2^40) to the classes; adds to nothing: call it when all are taken.
 */
void order_deal(struct load_order *o, uint64_t n);
/* The next class; o->total_left must not be 0. */
size_t order_next(struct load_order *o);
/* Takes one of class i before its turn; total_left must not be 0. */
void order_take(struct load_order *o, size_t i);
