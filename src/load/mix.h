/* A plan's http phase as the driver takes it: the same requests, bodies and expectations in
 * training and in every measurement. */
#pragma once

#include "base/buf.h"
#include "base/strv.h"
#include "config/plan.h"
#include "load/load.h"

/* What plan.mix borrows lives here; strings of the phase itself stay borrowed from the plan. */
struct mix {
	struct load_plan plan; /* complete but for tick, which is the caller's */
	struct load_request *requests;
	size_t n;
	struct buf *bodies;           /* two for each request: sent, expected */
	struct load_header **headers; /* the same */
	struct load_learned **learned;
};

/* Defaults: weight 1, status 200, 32 connections and never more than requests. vars holds the
 * placeholders for body files and the ports ("SERVICE.port", "SERVICE.port.NAME"). A service or
 * port that is not there is ERR_CONFIG. ret is written only on success. */
int mix_make(const struct plan *plan, const struct plan_phase *phase, const struct strv *vars,
	struct mix *ret, struct error *err);
void mix_release(struct mix *m); /* and empties it */
