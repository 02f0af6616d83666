/* The faults found in one reading of a file, collected so that they are told together. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "base/error.h"

struct node;

struct problem {
	int line, column; /* from 1 */
	size_t order;     /* in which it was found: keeps the sort stable */
	char *text;
};

struct problems {
	const char *file; /* as the user named it */
	struct problem *v;
	size_t n, cap;
	size_t dropped; /* found beyond the maximum */
};

#define PROBLEMS_MAX 50

void problem_at(struct problems *ps, int line, int column, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* At the place where the node begins. */
void problem_add(struct problems *ps, const struct node *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* 0 when there are none; else ERR_CONFIG, one "file:line:column: text" per line, in file order. */
int problems_error(struct problems *ps, struct error *err);
void problems_release(struct problems *ps);
