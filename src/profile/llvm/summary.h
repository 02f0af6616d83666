/* The summary section of an indexed profile. */
#pragma once

#include "profile/model.h"

#define SUMMARY_BYTES 448

/* Writes the summary of the context-sensitive records, or of the others, and returns its end.
 * hash_mask: the bits of a structural hash that the file keeps. */
uint8_t *summary_write(
	const struct profile *p, bool context_sensitive, uint64_t hash_mask, uint8_t *to);
