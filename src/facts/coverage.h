/* What the phases of a training executed: counters read between them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"

struct coverage_function {
	char *name;        /* as the profile has it, without the file */
	char *source_name; /* demangled; NULL: the name is that of the source, or is not understood
			    */
	char *file;        /* of a local function: where it is defined; NULL */
	uint32_t counters; /* how many it has: its size, in branches */
	uint64_t count;    /* what they counted, where it is listed */
	double share;      /* of all that the function counted; 1: nothing else executes it */
};

struct coverage_functions {
	struct coverage_function *v;
	size_t n, cap;
	uint64_t all; /* how many there are; v has the first of them */
};

enum coverage_part {
	COVERAGE_START, /* until the first phase */
	COVERAGE_PHASE,
	COVERAGE_STOP, /* after the last one */
};

/* One phase with one setting, or what came before and after the phases. */
struct coverage_phase {
	enum coverage_part part;
	char *setting;                        /* of the matrix; NULL: there is none */
	char *name;                           /* of the phase; NULL: start or stop */
	uint64_t count;                       /* of all counters */
	uint64_t functions, counters;         /* executed */
	uint64_t new_functions, new_counters; /* executed by nothing before */
	uint64_t new_count;                   /* of new_counters */
	struct coverage_functions first;      /* of the new ones, most counted first */
	struct coverage_functions mostly;     /* that count more here than in all others together */
	char *like;   /* the phase before it (with this setting) that is most like it; NULL: none */
	double alike; /* 0 to 1: how far their counters and value profiles agree */
	bool useless; /* adds nothing: executed nothing, or nothing new and as that phase */
	double weight; /* of the phase in the plan; 0: no phase */
	double times;  /* so often its counts stand in the merged profile; 1: weights do not differ
			*/
	char *profile; /* file of its counters in the training's folder; NULL: not kept */
};

/* What the phases with one value of a setting of the matrix executed, and no others. */
struct coverage_setting {
	char *name;
	uint64_t count;                 /* in its phases */
	struct coverage_functions only; /* most counted first */
	bool reached;                   /* something was executed in its phases */
};

struct coverage_facts {
	char *problem; /* why nothing is known; NULL: it is */
	char *notes;   /* lines: what is missing in the figures; NULL */
	struct coverage_phase *phases;
	size_t n_phases, cap_phases;
	struct coverage_setting *settings;
	size_t n_settings, cap_settings;
	uint64_t functions, counters; /* of the program */
	uint64_t executed_counters;
	uint64_t phase_functions;            /* executed by phases */
	uint64_t outside_functions;          /* executed before and after them alone */
	struct coverage_functions unreached; /* executed by nothing, largest first */
	uint64_t stopped_ns; /* the longest that a process was stopped to be read; 0: none was */
};

void coverage_facts_release(struct coverage_facts *c);
/* The object that docs/report-json.md describes; null for NULL. */
json_t *coverage_json(const struct coverage_facts *c);
int coverage_facts_write(const struct coverage_facts *c, const char *path, struct error *err);
int coverage_facts_read(const char *path, struct coverage_facts *ret, struct error *err);
const char *coverage_part_name(enum coverage_part p);
