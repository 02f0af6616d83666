/* Any bytes: refused, or read, written, read again and written to the same bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "profile/llvm/blocks.h"
#include "profile/model.h"
#include "profile/profile.h"

#ifndef MAGIC
#define MAGIC(data, n) true
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_profile: %s\n", what);
	abort();
}

static void round_trip(const struct profile *p, uint32_t version)
{
	struct profile *q = profile_new();
	struct buf first = BUF_INIT, second = BUF_INIT;
	struct error err = ERROR_INIT;

	must(profile_encode_indexed(p, version, &first, &err) == 0, "what was read is not written");
	must(profile_add_bytes(q, first.p, first.n, 1, NULL, &err) == 0,
		"what was written is not read");
	must(profile_encode_indexed(q, version, &second, &err) == 0, "it is not written again");
	must(first.n == second.n, "the second writing has another size");
	/* Records under one key may change places: they are kept in a hash map's order. */
	if (q->n_records == q->n_keys)
		must(memcmp(first.p, second.p, first.n) == 0, "the second writing differs");
	buf_release(&first);
	buf_release(&second);
	profile_free(q);
}

/* The text form refuses some names, and forgets targets that are no keys; what it holds stays. */
static void round_trip_text(const struct profile *p)
{
	struct profile *q = profile_new();
	struct buf first = BUF_INIT, second = BUF_INIT;
	struct error err = ERROR_INIT;

	if (profile_encode_text(p, 22, &first, &err) == 0 && first.n) {
		must(profile_add_bytes(q, first.p, first.n, 1, NULL, &err) == 0,
			"the text that was written is not read");
		must(profile_encode_text(q, 22, &second, &err) == 0, "text is not written again");
		must(first.n == second.n && memcmp(first.p, second.p, first.n) == 0,
			"the second text differs");
	}
	error_release(&err);
	buf_release(&first);
	buf_release(&second);
	profile_free(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct profile *p = profile_new();
	struct profile_images images = {0};
	struct error err = ERROR_INIT;

	/* One format at a time: a fuzzer that searches all of them searches the easiest one. */
	if (!MAGIC(data, n)) {
		profile_free(p);
		return -1;
	}
	if (profile_add_bytes(p, data, n, 1, &images, &err) == 0) {
		/* Once more: the layout is known now. */
		must(profile_add_bytes(p, data, n, 3, NULL, &err) == 0, "a file is not read twice");
		round_trip(p, 13);
		round_trip(p, 7);
		round_trip_text(p);
	} else {
		must(err.msg && p->n_records == 0 && p->n_keys == 0, "a refusal left something");
	}
	profile_images_release(&images);
	error_release(&err);
	profile_free(p);
	return 0;
}
