/* Hardware counters by perf_event_open(2): what a tree of processes, or a command, made the
 * processor count. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "facts/counters.h"

/* One event as perf_event_open(2) names it. */
struct counting_event {
	uint32_t type;
	uint64_t config;
};
/* In the order of enum counter. */
extern const struct counting_event counting_hardware[COUNTERS_READ];

/* What can be counted here. */
struct counting_source {
	const struct counting_event *events; /* COUNTERS_READ of them; borrowed */
	enum counters_state state;           /* COUNTERS_COUNTED: something can be */
	bool can[COUNTER_MODES][COUNTERS_READ];
};

/* Tries every event on the calling thread. Why there is none, or which are missing, goes into the
 * note, with what helps. */
void counting_try(
	struct counting_source *ret, const struct counting_event *events, struct counters *note);

struct counting; /* open counters */

/* Counts what all threads of these processes do from now on, and all that they start. The list may
 * change while it is read: list() is asked again until it does not. ret is malloc'ed, count is
 * returned. ERR_ENVIRONMENT when that may not be. */
typedef size_t counting_list(const void *ctx, pid_t **ret);
int counting_tree(const struct counting_source *s, enum counter_mode mode, counting_list *list,
	const void *ctx, struct counting **ret, struct error *err);
/* Counts the programs that this thread starts from now on, from their execve(2) on, with all that
 * they start. */
int counting_programs(const struct counting_source *s, enum counter_mode mode,
	struct counting **ret, struct error *err);

/* What was counted so far. */
struct counting_sum {
	double v[COUNTERS_READ]; /* scaled up where a counter was not always there; NAN: not counted
				  */
	double running;          /* the smallest share of the time that one was; 1: always */
};
void counting_read(const struct counting *c, struct counting_sum *ret);
void counting_free(struct counting *c); /* NULL is fine */
