/* What the targets of the HTTP readers share. An input is a script of what a peer sends:
 *
 *	byte 0  settings, of each target its own
 *	byte 1  'a' to 'z': the last 1 to 26 bytes come again and again, SCRIPT_LONG bytes in all;
 *		anything else: they do not
 *	rest    the bytes. ff 00 'R' ends a round: what follows comes by another read. ff 00 'C'
 *		ends the connection: what follows comes by the next one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define SCRIPT_LONG ((size_t)160 << 10)
#define SCRIPT_ROUNDS 64

struct script_round {
	size_t from, to; /* in bytes */
	bool opens;      /* it is the first of a connection */
};

struct script {
	uint8_t settings;
	char *bytes;
	size_t n;
	struct script_round rounds[SCRIPT_ROUNDS];
	size_t n_rounds; /* at least 1 */
};

/* false: too short to be one. */
bool script_read(struct script *s, const uint8_t *data, size_t n);
void script_free(struct script *s);

/* How the bytes of a round arrive. */
enum cut {
	CUT_NOT,   /* at once */
	CUT_BYTES, /* one by one */
	CUT_SOME,  /* in pieces that the input's own hash decides */
	CUTS,
};

struct cuts {
	enum cut how;
	uint64_t rng;
};

struct cuts cuts_of(const struct script *s, enum cut how);
size_t cuts_next(struct cuts *c, size_t left); /* 1 to left; left must not be 0 */

/* One connection's place in the script. */
struct cursor {
	const struct script *s;
	size_t round, at; /* at: in bytes */
	bool over;
};

/* The next connection's place. *next counts the rounds that are given out; false: there is none. */
bool cursor_open(struct cursor *c, const struct script *s, size_t *next);
/* Bytes of the round that are left. At its end the next one begins with the next call. */
size_t cursor_left(const struct cursor *c);
/* Moves on to a round with bytes in it; false: the connection has no more. */
bool cursor_ready(struct cursor *c);
/* At most max bytes as k cuts them, at least 1; the cursor must be ready. */
size_t cursor_take(struct cursor *c, struct cuts *k, const char **p, size_t max);

/* Says what and aborts, unless it holds. */
void must(bool holds, const char *what);
/* The same memory in both, or it says what and shows both. */
void must_equal(const void *a, size_t a_n, const void *b, size_t b_n, const char *what);

/* Live memory of the process must not grow by more than this between the two. */
void memory_begin(void);
void memory_must(size_t max);

/* Whether what happened is to be told on standard output (tests/fuzz/golden). */
bool telling(void);
void tell_all(void);
