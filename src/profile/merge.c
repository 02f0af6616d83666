/* Merging many files, by several threads when asked to. Adding is associative and does not depend
 * on an order, so each thread merges a part of the inputs, and the parts are merged at the end. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/model.h"

static int add_all(struct profile *p, struct profile_input *in, size_t n, const atomic_bool *stop,
	struct error *err)
{
	for (size_t i = 0; i < n && !(stop && *stop); i++) {
		if (profile_add_file(p, in[i].path, in[i].weight, NULL, err) < 0)
			return -1;
		in[i].values_missing = p->values_missing;
		in[i].mixed = p->mixed;
	}
	return 0;
}

/* Adds a record of another profile, whose values may be put into another order. */
static int absorb_record(struct profile *to, struct record *r, struct error *err)
{
	struct record_shape s = {.hash = r->hash, .n_counts = r->n_counts, .n_bitmap = r->n_bitmap};
	struct record *d;
	size_t sites = 0;

	for (int i = 0; i < VALUE_KINDS; i++)
		sites += s.n_sites[i] = r->n_sites[i];
	d = profile_resolve(to, r->key->name, r->key->n, r->key->ref, &s, err);
	if (!d)
		return -1;
	if (d->adds && r->n_counts && (r->counts[0] > COUNT_MAX) != (d->counts[0] > COUNT_MAX))
		return error_set(
			err, ERR_MISMATCH, "a pseudo count cannot be merged with a real one");
	record_add_counts(d, (const uint8_t *)r->counts, 1);
	for (uint32_t i = 0; i < r->n_bitmap; i++)
		d->bitmap[i] |= r->bitmap[i];
	for (size_t i = 0; i < sites; i++)
		site_add(&to->arena, &d->sites[i], r->sites[i].v, r->sites[i].n, 1, d->adds == 0);
	d->adds += r->adds;
	return 0;
}

static int absorb(struct profile *to, struct profile *from, struct error *err)
{
	if (profile_join_flags(to, from->flags, from->n_records, err) < 0)
		return -1;
	for (size_t i = 0; i < from->n_records; i++)
		if (absorb_record(to, from->records[i], err) < 0)
			return -1;
	for (size_t i = 0; i < from->n_ids; i++)
		profile_add_id(to, from->ids[i].p, from->ids[i].n);
	for (size_t i = 0; i < from->n_traces; i++)
		profile_add_trace(
			to, from->traces[i].weight, from->traces[i].refs, from->traces[i].n);
	profile_count_traces(to, from->trace_stream);
	to->short_hashes |= from->short_hashes;
	return 0;
}

struct part {
	pthread_t thread;
	bool started;
	struct profile *p;
	struct profile_input *in;
	size_t n;
	atomic_bool *failed; /* in any of the parts */
};

static void *merge_part(void *arg)
{
	struct part *part = arg;
	struct error err = ERROR_INIT;

	if (add_all(part->p, part->in, part->n, part->failed, &err) < 0)
		*part->failed = true;
	error_release(&err);
	return NULL;
}

/* NULL when anything went wrong. */
static struct profile *merge_parts(struct part *parts, unsigned jobs)
{
	struct error err = ERROR_INIT;
	atomic_bool *failed = parts[0].failed;
	struct profile *p;

	for (unsigned i = 1; i < jobs; i++)
		parts[i].started =
			pthread_create(&parts[i].thread, NULL, merge_part, &parts[i]) == 0;
	for (unsigned i = 0; i < jobs; i++)
		if (!parts[i].started)
			merge_part(&parts[i]);
	for (unsigned i = 0; i < jobs; i++)
		if (parts[i].started)
			pthread_join(parts[i].thread, NULL);
	for (unsigned i = 1; i < jobs && !*failed; i++)
		*failed = absorb(parts[0].p, parts[i].p, &err) < 0;
	error_release(&err);
	p = *failed ? NULL : take_ptr(parts[0].p);
	for (unsigned i = 0; i < jobs; i++)
		profile_free(parts[i].p);
	return p;
}

static struct profile *merge_by_threads(struct profile_input *in, size_t n, unsigned jobs)
{
	auto_free struct part *parts = xcalloc(jobs, sizeof(*parts));
	atomic_bool failed = false;

	for (unsigned i = 0; i < jobs; i++) {
		size_t from = n * i / jobs, end = n * (i + 1) / jobs;

		parts[i].p = profile_new();
		parts[i].in = in + from;
		parts[i].n = end - from;
		parts[i].failed = &failed;
	}
	return merge_parts(parts, jobs);
}

struct profile *profile_merge(struct profile_input *in, size_t n, unsigned jobs, struct error *err)
{
	struct profile *p = NULL;

	if (jobs > n)
		jobs = (unsigned)n;
	if (jobs > 1)
		p = merge_by_threads(in, n, jobs);
	if (p)
		return p;
	/* After a failure as well: the error is to be the one of the first input that fails. */
	p = profile_new();
	if (add_all(p, in, n, NULL, err) < 0) {
		profile_free(p);
		return NULL;
	}
	return p;
}
