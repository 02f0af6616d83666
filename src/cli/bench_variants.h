/* What `whet bench` compares: files, folders of binaries, or releases. */
#pragma once

#include "bench/bench.h"
#include "config/plan.h"

struct bench_variants {
	struct bench_variant *v; /* what bench_run() takes */
	size_t n;
	struct strv *binaries; /* one list per variant */
	char **archives;       /* one per variant, out of which they come; NULL: they are files */
	struct strv names;
	char *label; /* of a release whose figures do not stand for themselves; NULL */
};

/* Finds them by the arguments and names them; behind them come the plan's peers of the names in
 * `peers`. ERR_USAGE for what is neither, and for a peer that the plan does not have. The archives
 * of a release are checked against its SHA256SUMS. Release ret on failure, too. */
int bench_variants_find(const struct strv *args, const struct strv *peers, const struct plan *plan,
	struct bench_variants *ret, struct error *err);
/* Takes the programs out of the archives, into a folder of their own below `folder`. */
int bench_variants_unpack(
	struct bench_variants *v, const struct plan *plan, const char *folder, struct error *err);
void bench_variants_release(struct bench_variants *v);
