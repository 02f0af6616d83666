/* Raw samples of a comparison, and what statistics make of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "facts/counters.h"

/* One measured slice. */
struct sample {
	uint32_t launch, scenario, variant, slice; /* indices; slice: position inside the launch */
	uint64_t requests;                         /* verified */
	uint64_t cpu_ns; /* of the subject's whole process tree during the slice */
	uint64_t wall_ns, driver_cpu_ns;
	uint64_t latency_p50_ns,
		latency_p99_ns; /* as the driver saw it; 0: no requests of its own */
};

/* One time that the canary ran: fixed work on the subject's processor. */
struct canary {
	uint32_t launch;
	uint64_t at_ns; /* since the comparison began */
	uint64_t cpu_ns;
};

struct samples {
	struct sample *v;
	size_t n, cap;
	struct canary *canaries; /* in the order of time */
	size_t n_canaries, cap_canaries;
};

/* variant against the base variant in one scenario. */
struct comparison {
	char *scenario, *variant, *base;
	double base_ns;          /* median CPU per request (or run) of the base, ns */
	bool per_run;            /* a request is a whole run of a command */
	double ratio, low, high; /* estimate and 95 % interval, corrected over scenarios */
	double p;                /* two-sided, sign-flip over launches, max-T over scenarios */
	uint32_t launches, slices;
	enum { SHOWN_NONE, SHOWN_LESS, SHOWN_MORE } shown;
	/* Of each launch, in their order; NULL: not known, and none of the next four is. */
	double *by_launch;        /* its ratio */
	bool *outlier;            /* it lies far from the others; kept in all figures */
	uint32_t outlier_slices;  /* that lie far from the other slices of their launch */
	uint32_t better_launches; /* in which the variant cost less than the base */
	uint32_t better_slices;   /* not of all scenarios together */
	bool held_out;            /* the scenario was not trained */
	uint32_t more_launches;   /* about so many more would make the interval as narrow as was
				   * asked; 0: it is, or nothing was asked of this one */
};

/* Why a comparison went no further. */
enum trial_end { TRIAL_COUNTED, TRIAL_RESOLVED, TRIAL_TIME, TRIAL_MOST };

struct comparisons {
	struct comparison *v;
	size_t n, cap;
	/* All scenarios together, the ratios by their shares of the traffic: one for each variant,
	 * in the order of v; none for a single scenario. scenario and base_ns are not set. */
	struct comparison *weighted;
	size_t n_weighted, cap_weighted;
	double *shares; /* of the scenarios, in the order of v; their sum is 1; NULL: none known */
	size_t n_shares;
	double driver_busy; /* largest share of wall time that the driver used in a slice set */
	double drift;       /* of the canary's smoothed cost over the run, largest against
			     * smallest, 0.03 for 3 %; NAN: not known */
	char *drift_alarm;  /* a sentence: how to read the table; NULL: it is quiet */
	char *warnings;     /* lines; "" when none */
	/* What ended it; TRIAL_COUNTED: all launches that were asked for are done. */
	enum trial_end end;
	double until_resolved; /* the half-width that was asked; 0: none was */
	uint64_t time_limit_ns, wall_ns;
	struct counters counters; /* beside the figures, never in them */
};

/* From this drift on there is an alarm. */
#define DRIFT_TOLERANCE 0.03

void samples_add(struct samples *s, const struct sample *one);
void samples_add_canary(struct samples *s, const struct canary *one);
void samples_release(struct samples *s);
void comparison_release(struct comparison *c);
void comparisons_release(struct comparisons *c);
/* v comes by variant, then by scenario: how many scenarios each variant has. */
size_t comparisons_scenarios(const struct comparisons *c);
/* Whether v[i] is of the null arm: the base against its own copy, the last of the variants. */
bool comparisons_is_null(const struct comparisons *c, size_t i);
/* 0.949 gives -5.1; what is printed as zero is zero, without a sign. */
double ratio_percent(double ratio);
json_t *samples_json(const struct samples *s); /* the slices */
json_t *canaries_json(const struct samples *s);
json_t *comparisons_json(const struct comparisons *c);
