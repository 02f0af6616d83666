/* One document of a build, rendered as text for the terminal, as report.json, as a page for a
 * browser and as Markdown. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "facts/calibration.h"
#include "facts/compile.h"
#include "facts/coverage.h"
#include "facts/decision.h"
#include "facts/luck.h"
#include "facts/past.h"
#include "facts/profile_facts.h"
#include "facts/staleness.h"
#include "facts/training.h"
#include "facts/trial.h"
#include "facts/verdict.h"

struct report_stage {
	char *name;
	uint64_t wall_ns, cpu_ns;
	bool reused;
	char *why; /* it ran, or what it was reused from; NULL: not asked */
};

/* A program that the build put in front of its compilers (ccache, distcc). */
struct report_launcher {
	char *name;
	bool bypassed;  /* left out; otherwise it ran behind whet's wrapper */
	uint64_t calls; /* of the compilers, in all builds */
};

/* How the code of a released file is laid out in each build; all 0: not known. */
struct report_layout {
	char *name; /* of the file, without folders */
	struct text_bytes plain, pgo;
};

/* So many builds of the history stand in a report. */
#define REPORT_PAST_MAX 20

/* The same comparison once more. */
struct report_repeat {
	struct comparisons comparisons;
	struct samples samples;
};

/* A build of the history with its figure. Borrowed. */
struct report_past {
	const struct past_build *build;
	const struct comparison *figure;
	const char *label; /* as report_label() gives it: "" for those of the history */
};

struct report {
	char *project, *version, *target, *started; /* RFC 3339 */
	struct strv tools; /* one line each: whet's version first, then the compilers' */
	char *dist;        /* folder of the artefacts; in the text alone: report.json lies in it */
	uint64_t own_cpu_ns; /* CPU of whet itself and of its wrappers, the load driver left out */
	uint64_t driver_cpu_ns; /* CPU of the load driver in training and replay */
	struct report_stage *stages;
	size_t n_stages, cap_stages;
	struct verdicts verdicts;
	struct training_facts training;
	struct training_facts second_training; /* of context-sensitive PGO; else empty */
	struct coverage_facts coverage;
	bool has_coverage;
	struct profile_facts profile; /* its functions are not printed */
	struct provenance provenance;
	struct staleness staleness; /* of a reused profile */
	struct comparisons comparisons;
	struct samples samples;
	struct calibration calibration; /* of this machine; without runs: none is known */
	struct report_repeat *repeats;  /* further runs of `comparisons` */
	size_t n_repeats;
	struct decision decision; /* between the variants */
	struct luck luck;         /* what a mere relink changes; relinks 0: not asked */
	struct report_layout *layouts;
	size_t n_layouts, cap_layouts;
	/* Measured builds of this target in the project's history, the newest last, and behind them
	 * this one: its id is 0, and its figures are `comparisons`. Empty without a history. */
	struct past_builds past;
	/* Closed lists (rule 10); second: the instrumented build of the second round. */
	struct strv added_plain, added_instrumented, added_second, added_optimised;
	struct report_launcher *launchers;
	size_t n_launchers, cap_launchers;
	struct {
		char *name, *variant, *sha256;
		uint64_t bytes;
	} *artefacts;
	size_t n_artefacts, cap_artefacts;
	/* Profile files in the project's folder. */
	struct report_stray {
		char *path;
		bool tracked, source; /* by git; part of the source digest */
	} *strays;
	size_t n_strays, cap_strays;
	char *given_label; /* of a release that is measured again; NULL: none */
	bool labelled;     /* gates failed or the profile was given: every figure says so */
};
void report_release(struct report *r);
/* Counts one call that a launcher stood in front of. */
void report_add_launched(struct report *r, const char *launcher, bool bypassed);
/* The builds of the history that have the one figure of past_overall(), this one among them: at
 * most REPORT_PAST_MAX, the newest last; 0 without an earlier one. */
size_t report_past(const struct report *r, struct report_past *ret);
json_t *report_json(const struct report *r); /* schema: docs/report-json.md */
/* One self-contained page: docs/report.md. It needs no network, and no script for its tables. */
void report_html(const struct report *r, struct buf *out);
void report_markdown(const struct report *r, struct buf *out);
/* The tables at the end of a build. Why a gate stopped it is said by the error, and not again here.
 */
void report_text(const struct report *r, struct buf *out);

/* "" for a build whose figures stand for themselves, else why they do not: "gates failed",
 * "profile given", "profile reused", two of them, or "not a trained release" (labelled by the
 * caller). */
const char *report_label(const struct report *r);
/* The name of the stage whose wall time the total is compared with. */
#define REPORT_PLAIN_STAGE "plain build"
/* Wall time of all stages as a multiple of the plain build's; 0 when there is none, or when a stage
 * was taken from the store, because then the times say nothing about a build from nothing. */
double report_multiple(const struct report *r);
/* The comparison alone, as `whet bench` shows it; label as report_label() gives it. */
void report_comparison_text(const struct comparisons *c, const char *label, struct buf *out);
/* The same with its repeats, all of them in one cell. */
void report_bench_text(const struct report *r, const char *label, struct buf *out);
json_t *report_bench_json(const struct report *r);
/* The comparisons as ones of the base with itself, all runs together: how often a difference is
 * shown where there is none, and which are too small to be seen. */
int report_calibrate(struct report *r, struct error *err); /* fills r->calibration */
/* A table, after report_calibrate(). */
void report_calibration_text(const struct report *r, struct buf *out);
/* One sentence without its end, of a calibration that was kept, beside the comparison that is told
 * now; nothing without one. */
void report_calibration_note(
	const struct calibration *c, const struct comparisons *now, struct buf *out);
/* "-5.1 % [-6.2, -4.0] 10/10", "no difference shown [-0.6, +0.9] 4/10" or "too noisy: needs about 7
 * more launches [-2.6, +1.9] 4/10"; behind it, when that is
 * known, in how many launches it cost less. */
void report_change_text(const struct comparison *c, struct buf *out);
/* What the phases executed, as tables; many: all that is listed, not only the first of it. */
void report_coverage_text(const struct coverage_facts *c, bool many, struct buf *out);
