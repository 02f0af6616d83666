/* Layout luck: what a mere relink changes. Both builds are linked several times more with random
 * padding between the sections, and the relinks are measured against each other. docs/measuring.md.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "facts/trial.h"

/* The relinks of one variant in one scenario. */
struct luck_spread {
	double sd;    /* between relinks by layout alone, of the log cost: 0.01 is about 1 %; NAN:
		       * one launch cannot tell */
	double noise; /* what measuring adds to it, of a relink's mean over the launches; NAN */
	double p;     /* that chance alone makes relinks differ so (F test); NAN */
	double range; /* two relinks, measured as these, differ by less than this share of the
		       * cost (95 %): 0.02 is 2 % */
	double *relinks; /* of each relink: its cost against the geometric mean of all */
	size_t n_relinks;
};

struct luck_row {
	char *scenario; /* NULL: all, by weight */
	bool held_out;
	double shipped;          /* ratio of the comparison of the builds as they ship; NAN */
	double ratio, low, high; /* of the averages over the relinks, with a 95 % interval over
				  * layouts and launches; low and high are NAN for one launch */
	struct luck_spread base, variant;
	bool inside; /* `shipped` is known and lies inside the range of the base's relinks */
};

struct luck {
	uint32_t relinks;       /* of each variant, that were asked for; 0: none were */
	char *base, *variant;   /* their names */
	char *linker;           /* that made the relinks, one line; NULL */
	struct strv own_linker; /* that links the builds as they ship: "GNU ld"; one each */
	char *problem;          /* why there are no figures; NULL */
	struct luck_row *v;     /* scenarios; at last all by weight, where there are weights */
	size_t n, cap;
	uint32_t launches;
	char *warnings; /* lines; NULL or "" when none */
	/* Variants by index: the base's relinks, the other's, and the first one's second copy. */
	struct samples samples;
};

void luck_spread_release(struct luck_spread *s);
void luck_release(struct luck *l);
/* With samples; keys: docs/report-json.md. */
json_t *luck_json(const struct luck *l);
