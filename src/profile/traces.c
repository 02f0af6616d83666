/* Temporal traces: in which order a program first called its functions. A merged profile keeps at
 * most 100 of them. llvm-profdata draws those by its random numbers; here the traces with the
 * smallest digests stay, in that order, which does not depend on the order of the inputs. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "profile/model.h"

#define TRACES_MAX 100
#define TRACE_LENGTH_MAX 10000

static uint64_t digest_of(const struct trace *t)
{
	uint64_t head[2] = {t->weight, md5_name(t->refs, t->n * sizeof(*t->refs))};

	return md5_name(head, sizeof(head));
}

/* Where a new trace goes, or NULL when those that are there stay. */
static struct trace *place_for(struct profile *p, uint64_t digest)
{
	size_t i;

	if (p->n_traces == TRACES_MAX) {
		if (digest >= p->traces[TRACES_MAX - 1].digest)
			return NULL;
		free(p->traces[--p->n_traces].refs);
	}
	array_reserve(p->traces, p->n_traces, p->cap_traces);
	for (i = p->n_traces++; i > 0 && p->traces[i - 1].digest > digest; i--)
		p->traces[i] = p->traces[i - 1];
	return &p->traces[i];
}

void profile_add_trace(struct profile *p, uint64_t weight, const uint64_t *refs, size_t n)
{
	struct trace t = {.weight = weight, .n = n < TRACE_LENGTH_MAX ? n : TRACE_LENGTH_MAX};
	struct trace *to;

	if (n == 0)
		return;
	t.refs = xreallocarray(NULL, t.n, sizeof(*t.refs));
	memcpy(t.refs, refs, t.n * sizeof(*t.refs));
	t.digest = digest_of(&t);
	to = place_for(p, t.digest);
	if (to)
		*to = t;
	else
		free(t.refs);
}

void profile_count_traces(struct profile *p, uint64_t stream)
{
	p->trace_stream = saturating_add(p->trace_stream, stream);
}

void profile_release_traces(struct profile *p)
{
	for (size_t i = 0; i < p->n_traces; i++)
		free(p->traces[i].refs);
	free(p->traces);
	p->traces = NULL;
	p->n_traces = p->cap_traces = 0;
	p->trace_stream = 0;
}
