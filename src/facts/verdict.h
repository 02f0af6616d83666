/* What a gate says. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"

enum verdict_state {
	VERDICT_PASS,
	VERDICT_FAIL,
	VERDICT_SKIPPED, /* nothing to judge in this build; the summary says why */
};

struct verdict {
	const char *gate; /* stable name, static storage */
	enum verdict_state state;
	char *summary;  /* one line: what was found, with the figure and the bound */
	char *evidence; /* more lines: file, function, pid; "" when none */
	char *remedy;   /* what to do next; "" when it passed */
};

struct verdicts {
	struct verdict *v;
	size_t n, cap;
};

/* The texts are copied. */
void verdict_add(struct verdicts *vs, const char *gate, enum verdict_state state,
	const char *summary, const char *evidence, const char *remedy);
void verdicts_drop_last(struct verdicts *vs); /* vs is not empty */
bool verdicts_failed(const struct verdicts *vs);
void verdicts_release(struct verdicts *vs);
json_t *verdicts_json(const struct verdicts *vs);
int verdicts_from_json(const json_t *j, struct verdicts *ret, struct error *err);
const char *verdict_state_name(enum verdict_state s); /* "pass", "FAIL", "skipped" */
