/* What went wrong, written where it arises and printed only by the command line.
 *
 * A function that can fail takes a `struct error *err` last, returns 0 or -1 (or NULL), and on
 * failure leaves its outputs untouched. A caller that knows more adds context in front. */
#pragma once

#include <stdbool.h>

enum error_code {
	ERR_NONE,
	ERR_USAGE,       /* wrong command line */
	ERR_CONFIG,      /* whet.yaml is wrong; the message carries file:line:column */
	ERR_ENVIRONMENT, /* the machine lacks something */
	ERR_CHILD,       /* a program that whet ran failed */
	ERR_GATE,        /* a gate stopped the build */
	ERR_IO,          /* a file or socket operation failed */
	ERR_CORRUPT,     /* a file's content is not what its format allows */
	ERR_UNSUPPORTED, /* valid, but beyond what whet reads or writes */
	ERR_MISMATCH,    /* two valid things that do not belong together */
	ERR_TIMEOUT,     /* a time limit ran out */
	ERR_KILLED,      /* a signal ended a program that whet asked something */
	ERR_INTERRUPTED, /* SIGINT or SIGTERM */
	ERR_INTERNAL,    /* a defect of whet */
};

struct error {
	enum error_code code;
	char *msg; /* one or more lines, no trailing newline; owned */
};

#define ERROR_INIT {ERR_NONE, 0}

/* Sets code and message (an earlier message is dropped). Returns -1, so that
 * `return error_set(err, ...)` reads well. err may be NULL. */
int error_set(struct error *err, enum error_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "<text>: " in front of the message. Returns -1. */
int error_context(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Moves src into dst and leaves src empty. Returns -1. */
int error_move(struct error *dst, struct error *src);

/* A program that was asked gave no answer at all (killed, too slow): a no must not be read into
 * that. */
bool error_is_no_answer(const struct error *err);

void error_release(struct error *err);

/* The process's exit code for an error (docs/cli: 0 done, 1 gate, 2 usage or configuration,
 * 3 environment, 4 a program failed, 5 internal, 130 interrupted). */
int error_exit_code(enum error_code code);
