/* Single values: numbers, durations, sizes. Each gives false, with a problem added, when the node
 * does not hold one or it is out of range; then *ret is untouched. name: the key, for messages. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/problems.h"
#include "config/yaml.h"

bool value_text(struct problems *ps, const struct node *n, const char *name, char **ret);
bool value_bool(struct problems *ps, const struct node *n, const char *name, bool *ret);
/* A whole number from min to max. */
bool value_number(struct problems *ps, const struct node *n, const char *name, uint64_t min,
	uint64_t max, uint64_t *ret);
/* Above zero, at most a million; a fraction is allowed. */
bool value_weight(struct problems *ps, const struct node *n, const char *name, double *ret);
/* "0.5%": 0.005; from 0.01% to 50%. */
bool value_percent(struct problems *ps, const struct node *n, const char *name, double *ret);
/* "300s", "50ms", "5m": nanoseconds from min to max. */
bool value_duration(struct problems *ps, const struct node *n, const char *name, uint64_t min,
	uint64_t max, uint64_t *ret);
/* "4096", "4KiB", "1MB": bytes, at most max. */
bool value_size(
	struct problems *ps, const struct node *n, const char *name, uint64_t max, uint64_t *ret);

/* One of these words, NULL behind the last; *ret: its place. */
bool value_choice(struct problems *ps, const struct node *n, const char *name,
	const char *const *words, size_t *ret);

/* How many single-letter edits (swaps of neighbours included) part two words; '_' equals '-' and
 * case does not count. */
unsigned edit_distance(const char *a, const char *b);
/* The nearest of n words when it is near enough to be meant, or NULL. */
const char *nearest_word(const char *word, const char *const *words, size_t n);
