#include <string.h>

#include "base/mem.h"
#include "gate/rules.h"

#define ONCE(m) .moment = (m), .again = (m)

const struct gate gates[] = {
	{
		.name = "phases-complete",
		ONCE(GATE_AFTER_TRAINING),
		.fn = gate_phases_complete,
		.meaning = "Every phase of the training ran to its end, and every answer was the "
			   "expected one.",
		.default_bound = "0 incomplete phases; at least 1 phase must have run.",
		.remedy = "Make the subject answer as the phase expects, or correct the phase in "
			  "whet.yaml.",
	},
	{
		.name = "raw-profiles-valid",
		ONCE(GATE_AFTER_TRAINING),
		.fn = gate_raw_profiles_valid,
		.meaning = "No raw profile is empty, truncated, corrupt, of another program or of "
			   "an unobserved process.",
		.default_bound = "0 unusable raw profiles.",
		.remedy = "Let only the subject write into its profile folder, with room on the "
			  "disk, and train again.",
	},
	{
		.name = "every-process-flushed",
		ONCE(GATE_AFTER_TRAINING),
		.fn = gate_every_process_flushed,
		.meaning = "Every process that ran instrumented code left a profile of its own.",
		.default_bound = "0 processes without one; at least 1 process must have run.",
		.remedy = "Let every process end through exit or its stop signal, and let its user "
			  "write to the profile folder.",
	},
	{
		.name = "min-functions",
		ONCE(GATE_AFTER_MERGE),
		.fn = gate_min_functions,
		.meaning = "The training executed enough functions of every released binary.",
		.default_bound = "At least 1 executed function; `gates: min-functions:` raises it.",
		.remedy = "Check that the phases reach the subject and cover its work.",
	},
	{
		.name = "same-source",
		.moment = GATE_AFTER_MERGE,
		.again = GATE_AFTER_OPTIMISED,
		.fn = gate_same_source,
		.meaning = "All builds saw the same sources, and a given profile is of this "
			   "source, training plan and target.",
		.default_bound = "0 differing digests; a given profile must carry its provenance; "
				 "that of `--profile last` may be of another source.",
		.remedy = "Do not edit while whet builds; train this revision, or check out the "
			  "one that was trained.",
	},
	{
		.name = "profile-unchanged",
		.of_profile = true,
		ONCE(GATE_AFTER_OPTIMISED),
		.fn = gate_profile_unchanged,
		.meaning = "The profile's content was what its name says before and after the "
			   "optimised build.",
		.default_bound = "0 differing digests.",
		.remedy = "Find what writes to the profile while it is in use, and build again.",
	},
	{
		.name = "same-flags",
		ONCE(GATE_AFTER_OPTIMISED),
		.fn = gate_same_flags,
		.meaning = "Apart from what whet adds, every compilation has the same words in the "
			   "plain, instrumented and optimised build.",
		.default_bound = "0 differing compilations; at least 1 must be compared.",
		.remedy = "Look for what changed the flags between the builds: environment, "
			  "profile settings, makefile, configure step.",
	},
	{
		.name = "same-identity",
		ONCE(GATE_AFTER_OPTIMISED),
		.fn = gate_same_identity,
		.meaning = "Every compilation has the same crate name, metadata, source key and "
			   "output in all builds.",
		.default_bound = "0 differing compilations.",
		.remedy = "Keep crate names, versions, features and source paths equal in all "
			  "builds.",
	},
	{
		.name = "stale",
		.of_profile = true,
		ONCE(GATE_AFTER_OPTIMISED),
		.fn = gate_stale,
		.meaning = "No function has another structure than the one that was trained; a "
			   "reused profile has lost no more than its budget.",
		.default_bound =
			"0 stale functions; with `--profile last` 2 % of all counts, which "
			"`gates: stale:` changes.",
		.remedy = "Train again on these sources; look for generated code or outside "
			  "headers that changed.",
	},
	{
		.name = "max-missing",
		.of_profile = true,
		ONCE(GATE_AFTER_OPTIMISED),
		.fn = gate_max_missing,
		.meaning = "The compilers found profile data for the functions of every released "
			   "binary, toolchain objects aside.",
		.default_bound = "At least 1 executed function must have data; the number without "
				 "is printed, and `gates: max-missing:` bounds it.",
		.remedy =
			"Find out why the compilers know these functions and the profile does not.",
	},
	{
		.name = "profile-was-used",
		.of_profile = true,
		ONCE(GATE_AFTER_OPTIMISED),
		.fn = gate_profile_was_used,
		.meaning = "Every object of the binary has a record; executed ones were compiled "
			   "with the profile, and their code differs from the plain build's.",
		.default_bound = "0 objects without a record or usable profile; at least 1 "
				 "executed object must differ; unchanged ones are listed.",
		.remedy = "Let the build call its compilers by name, bypass compiler caches, and "
			  "rebuild archives that were made before; whet build --log shows each "
			  "call and object with its class and why.",
	},
	{
		.name = "function-order",
		ONCE(GATE_AFTER_OPTIMISED),
		.fn = gate_function_order,
		.meaning = "The linker placed the functions of every released binary in the order "
			   "that was asked for.",
		.default_bound = "Of the listed functions that are in the binary 95 % must lie "
				 "there in that order; at least 1 function must.",
		.remedy = "Link by lld (-fuse-ld=lld), without a linker script that places code "
			  "itself, or leave function-order out.",
	},
	{
		.name = "not-instrumented-any-more",
		ONCE(GATE_FINAL),
		.fn = gate_not_instrumented_any_more,
		.meaning = "The files that ship hold no profile, coverage or BOLT runtime.",
		.default_bound = "0 marks of a runtime.",
		.remedy = "Take profiling and coverage flags out of the project's own flags, and "
			  "clean what was built with them.",
	},
	{
		.name = "strip-safe",
		ONCE(GATE_FINAL),
		.fn = gate_strip_safe,
		.meaning = "Stripping changed nothing of what is loaded: segments, their bytes, "
			   "and the sections in them.",
		.default_bound = "0 differences.",
		.remedy = "Strip with llvm-strip of the LLVM that laid the file out; GNU strip "
			  "breaks what BOLT has written.",
	},
	{
		.name = "unwind",
		ONCE(GATE_FINAL),
		.fn = gate_unwind,
		.meaning = "Exceptions, panics and backtraces find their way: every function and "
			   "cold part has its frame and landing pads.",
		.default_bound = "0 faults that the build before did not have; `gates: unwind:` "
				 "adds a command that must end alike.",
		.remedy = "Leave out the step that loses .eh_frame, .eh_frame_hdr or "
			  ".gcc_except_table, or lay nothing out.",
	},
	{
		.name = "replay",
		ONCE(GATE_FINAL),
		.fn = gate_replay,
		.meaning = "The binary that ships answers the full training load as expected.",
		.default_bound = "0 deviations; at least 1 request.",
		.remedy = "Look for undefined behaviour or timing in the named requests.",
	},
	{
		.name = "no-scenario-worse",
		ONCE(GATE_AFTER_BENCH),
		.fn = gate_no_scenario_worse,
		.meaning = "No scenario gains less than in the last release of the history, by "
			   "more than a margin.",
		.default_bound = "0 scenarios shown to be worse by more than 2 %; `gates: "
				 "no-scenario-worse:` sets the margin or switches it off.",
		.remedy = "Look for what changed in the training or in the code that the scenario "
			  "executes; measure again when the machine was busy.",
	},
};
const size_t n_gates = ARRAY_SIZE(gates);

const struct gate *gate_find(const char *name)
{
	for (size_t i = 0; i < n_gates; i++) {
		if (strcmp(gates[i].name, name) == 0)
			return &gates[i];
	}
	return NULL;
}

static void ask(const struct gate *g, const struct gate_facts *f, struct verdicts *vs)
{
#ifdef WHET_DISABLED_GATE
	/* Only in builds that test the tests: see tools/check-mutations. */
	if (strcmp(g->name, WHET_DISABLED_GATE) == 0) {
		verdict_pass(vs, g->name, NULL, "disabled in this test build");
		return;
	}
#endif
	if (f->without_profile && g->of_profile)
		verdict_skip(vs, g->name, "this variant is built without a profile");
	else
		g->fn(f, vs);
}

/* Says of the verdicts from n on which round they judge. */
static void name_round(const struct gate_facts *f, size_t n, struct verdicts *vs)
{
	for (; f->round && n < vs->n; n++) {
		auto_free char *summary = vs->v[n].summary;

		vs->v[n].summary = xasprintf("round %d: %s", f->round, summary);
	}
}

static void ask_round(const struct gate *g, const struct gate_facts *f, struct verdicts *vs)
{
	size_t n = vs->n;

	ask(g, f, vs);
	name_round(f, n, vs);
}

static struct verdict *earlier(struct verdicts *vs, size_t n, const char *gate)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(vs->v[i].gate, gate) == 0)
			return &vs->v[i];
	}
	return NULL;
}

/* The second answer takes the place of the first, except a failure: callers look for those among
 * the verdicts that were added. */
static void ask_again(const struct gate *g, const struct gate_facts *f, struct verdicts *vs)
{
	size_t n = vs->n;
	struct verdict *first, last;

	ask_round(g, f, vs);
	first = earlier(vs, n, g->name);
	if (!first || vs->v[n].state == VERDICT_FAIL)
		return;
	last = vs->v[n];
	vs->v[n] = *first;
	*first = last;
	verdicts_drop_last(vs);
}

void gates_run(enum gate_moment moment, const struct gate_facts *f, struct verdicts *vs)
{
	for (size_t i = 0; i < n_gates; i++) {
		const struct gate *g = &gates[i];
		bool twice = g->again != g->moment;

		/* Its answer to the first round is one of its first answers. */
		if (g->again == moment ? twice : g->moment == moment && twice && f->round == 2)
			ask_again(g, f, vs);
		else if (g->moment == moment)
			ask_round(g, f, vs);
	}
}
