/* Runs the phases of a plan with programs that no build of whet made: replay-driver PLAN WHET
 * FOLDER BINARY... Prints each phase with the requests that were answered as expected; exit code 1
 * when one is not complete. */
#include <inttypes.h>
#include <stdio.h>

#include "config/plan.h"
#include "train/train.h"

static int run(char **argv, int argc, struct error *err)
{
	auto_strv struct strv binaries = STRV_INIT;
	struct plan plan = {0};
	struct training_facts facts = {0};
	struct train_options o = {.plan = &plan,
		.binaries = &binaries,
		.self = argv[2],
		.folder = argv[3],
		.node = "replay"};
	int bad = 0;

	for (int i = 4; i < argc; i++)
		strv_add(&binaries, argv[i]);
	if (plan_read(argv[1], &plan, err) < 0 || train_run(&o, &facts, err) < 0)
		return -1;
	for (size_t i = 0; i < facts.n_phases; i++) {
		const struct phase_result *p = &facts.phases[i];

		printf("%s: %" PRIu64 " of %" PRIu64 " answered as expected%s%s\n", p->name,
			p->done, p->planned, p->problem ? "; " : "", p->problem ? p->problem : "");
		bad |= p->status != PHASE_OK || p->done != p->planned;
	}
	if (facts.failure)
		printf("failure: %s\n", facts.failure);
	bad |= facts.failure != NULL;
	training_facts_release(&facts);
	plan_release(&plan);
	return bad;
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	int r;

	if (argc < 5) {
		fprintf(stderr, "usage: replay-driver PLAN WHET FOLDER BINARY...\n");
		return 2;
	}
	r = run(argv, argc, &err);
	if (r < 0)
		fprintf(stderr, "%s\n", err.msg);
	error_release(&err);
	return r < 0 ? 3 : r;
}
