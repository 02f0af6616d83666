/* Bytes from outside, for messages. */
#pragma once

#include <stddef.h>

#include "base/buf.h"

/* The first max of n bytes in double quotes; what cannot be printed as \n, \r or \x00. */
void text_quote(struct buf *b, const char *p, size_t n, size_t max);
