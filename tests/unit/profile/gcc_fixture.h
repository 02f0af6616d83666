/* .gcda and .gcno files made by hand, word for word, for the tests of the GCC side. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* A writer of one file. Lengths are given in bytes and written as the version wants them. */
struct gcc_maker {
	struct buf *out;
	bool big;
	unsigned major;
};

/* Begins a file of gcc `major` (11 to 15) with stamp 0x5747a3c1 and, from 12 on, checksum 0xc0ffee.
 */
struct gcc_maker gcda_begin(struct buf *out, unsigned major, bool big);
struct gcc_maker gcno_begin(struct buf *out, unsigned major, bool big); /* with working folder /w */
void put_word(struct gcc_maker *m, uint32_t v);
void put_long(struct gcc_maker *m, uint64_t v);
void put_record(struct gcc_maker *m, uint32_t tag, int64_t bytes);
void put_summary(struct gcc_maker *m, uint32_t runs, uint32_t sum_max);
void put_data_function(struct gcc_maker *m, uint32_t ident, uint32_t lineno, uint32_t cfg);
void put_counters(struct gcc_maker *m, unsigned kind, const uint64_t *v, size_t n);
void put_notes_function(
	struct gcc_maker *m, uint32_t ident, uint32_t lineno, uint32_t cfg, const char *name);
void put_notes_text(struct gcc_maker *m, const char *s);

/* A file with all kinds that gcc 11 and 12 have: function 1000 (arcs 5 7 0; one site of common
 * values: 10 executions, 3 of value 8 and 7 of value 4; one of call targets: 2 of ident 3000;
 * average 12 4; ior 6; time 2), function 2000 that is not in the program, function 3000 (arc 0
 * elided, a site that never ran, average and ior elided, time elided). runs 1, sum_max 7. times
 * multiplies counts. */
void gcda_sample(struct buf *out, unsigned major, bool big, uint64_t times);
/* Notes for the sample's function 1000, named "loop": blocks 0 2 3 4 1; 3 counters. */
void gcno_sample(struct buf *out, unsigned major, bool big);
