#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fixture.h"

static void expect(
	const struct fixture *x, const char *gate, enum verdict_state state, const char *text)
{
	const struct verdict *v = fixture_verdict(x, gate);

	assert_non_null(v);
	if (v->state != state || (!strstr(v->summary, text) && !strstr(v->evidence, text)))
		fail_msg("%s: %s: '%s' / '%s', wanted '%s'", gate, verdict_state_name(v->state),
			v->summary, v->evidence, text);
}

/* A bound that is just met passes; without one the figure to pin is printed. */
void test_bounds(void **state)
{
	struct fixture x;

	fixture_make(&x);
	fixture_add_diag(&x.optimised, "work", DIAG_MISSING, "added");
	fixture_judge(&x);
	expect(&x, "min-functions", VERDICT_PASS, "gates: {min-functions: 5}");
	expect(&x, "max-missing", VERDICT_PASS, "gates: {max-missing: 1}");
	fixture_release(&x);

	fixture_make(&x);
	x.bounds.min_functions = 5;
	x.bounds.max_missing = 1;
	fixture_add_diag(&x.optimised, "work", DIAG_MISSING, "added");
	fixture_judge(&x);
	expect(&x, "min-functions", VERDICT_PASS, "5 executed functions, at least 5 needed");
	expect(&x, "max-missing", VERDICT_PASS,
		"1 functions without profile data, at most 1 allowed");
	fixture_release(&x);

	fixture_make(&x);
	x.bounds.max_missing = 0;
	fixture_add_diag(&x.optimised, "work", DIAG_MISSING, "added");
	fixture_judge(&x);
	expect(&x, "max-missing", VERDICT_FAIL, "added");
	fixture_release(&x);
}

void test_exceptions(void **state)
{
	struct fixture x;

	fixture_make(&x);
	fixture_add_object(&x.optimised, "/slot/obj/g.o", OBJECT_FOREIGN, NULL, "g");
	/* A function of this name was executed, but the local one of another file. */
	fixture_add_object(&x.optimised, "/slot/obj/s.o", OBJECT_ASSEMBLY, NULL, "memcpy");
	fixture_judge(&x);
	expect(&x, "profile-was-used", VERDICT_PASS,
		"exception: /slot/obj/tiny.o: its code equals the plain build's (1 executed "
		"functions, "
		"none with a branch)");
	expect(&x, "profile-was-used", VERDICT_PASS,
		"exception: /slot/obj/g.o: made by a compiler");
	expect(&x, "profile-was-used", VERDICT_PASS,
		"4 executed objects compiled with the profile, 3 of 4 differ");
	fixture_release(&x);

	/* Bitcode: no code to compare, so the files must differ. */
	fixture_make(&x);
	for (size_t i = 0; i < x.optimised.binaries[0].n_objects; i++) {
		struct object_fact *o = &x.optimised.binaries[0].objects[i];

		set_text(&o->code_hash, NULL);
		strv_release(&o->functions);
	}
	fixture_judge(&x);
	expect(&x, "profile-was-used", VERDICT_PASS, "5 objects without code that can be compared");
	verdicts_release(&x.verdicts);
	set_text(&x.optimised.binaries[0].sha256, "file of plain");
	fixture_judge(&x);
	expect(&x, "profile-was-used", VERDICT_FAIL, "prog: the whole file equals the plain one");
	fixture_release(&x);
}

void test_many_lines(void **state)
{
	struct fixture x;
	size_t lines = 1;

	fixture_make(&x);
	for (int i = 0; i < 50; i++) {
		auto_free char *name = xasprintf("stale_%02d", i);

		fixture_add_diag(&x.optimised, "work", DIAG_MISMATCH, name);
	}
	fixture_judge(&x);
	expect(&x, "stale", VERDICT_FAIL, "50 functions differ in structure");
	expect(&x, "stale", VERDICT_FAIL, "… and 30 more");
	for (const char *s = fixture_verdict(&x, "stale")->evidence; *s; s++)
		lines += *s == '\n';
	assert_int_equal(lines, 21);
	fixture_release(&x);
}

void test_skipped_with_given_profile(void **state)
{
	static const char *const skipped[] = {
		"phases-complete", "raw-profiles-valid", "every-process-flushed"};
	struct fixture x;

	fixture_make(&x);
	x.profile.given = true;
	x.facts.training = NULL;
	x.facts.instrumented = NULL;
	x.facts.provenance = &x.provenance;
	fixture_judge(&x);
	assert_false(verdicts_failed(&x.verdicts));
	for (size_t i = 0; i < ARRAY_SIZE(skipped); i++)
		expect(&x, skipped[i], VERDICT_SKIPPED, "the profile was given");
	expect(&x, "same-source", VERDICT_PASS, "source digests differ");
	fixture_release(&x);
}

static void set_gain(struct comparison *c, double ratio, double low, double high)
{
	c->ratio = ratio;
	c->low = low;
	c->high = high;
}

#define WORSE "no-scenario-worse"

/* 0.95 [0.94, 0.96] then; each figure of now is on another side of 2 %. */
void test_worse_outcomes(void **state)
{
	struct fixture x;

	fixture_make(&x);
	fixture_judge(&x);
	expect(&x, WORSE, VERDICT_PASS,
		"0 of 2 scenarios shown to gain less than in the last release by more than 2 %, 0 "
		"allowed (2 shown not to, 0 undecided)");
	expect(&x, WORSE, VERDICT_PASS, "the last release: build 7, 1.0, started 2026");
	fixture_release(&x);

	/* +3.2 % [+1.7, +4.7]: the margin lies inside */
	fixture_make(&x);
	set_gain(&x.bench.v[1], 0.98, 0.97, 0.99);
	fixture_judge(&x);
	expect(&x, WORSE, VERDICT_PASS, "(1 shown not to, 1 undecided)");
	expect(&x, WORSE, VERDICT_PASS, "change +3.2 % [+1.7, +4.7]: undecided");
	fixture_release(&x);

	fixture_make(&x);
	set_gain(&x.bench.v[1], 0.98, 0.97, 0.99);
	x.bounds.worse_undecided = true;
	fixture_judge(&x);
	expect(&x, WORSE, VERDICT_FAIL,
		"1 of 2 scenarios not shown to be within 2 % of the last release, 0 allowed");
	fixture_release(&x);

	/* The same figures with a margin that they are shown to be beyond: +1.7 % is more than 1 %
	 */
	fixture_make(&x);
	set_gain(&x.bench.v[1], 0.98, 0.97, 0.99);
	x.bounds.worse_margin = 0.01;
	fixture_judge(&x);
	expect(&x, WORSE, VERDICT_FAIL, "1 of 2 scenarios shown to gain less");
	fixture_release(&x);

	/* No interval: nothing can be shown. */
	fixture_make(&x);
	set_gain(&x.bench.v[0], 1.5, NAN, NAN);
	fixture_judge(&x);
	expect(&x, WORSE, VERDICT_PASS, "(1 shown not to, 1 undecided)");
	expect(&x, WORSE, VERDICT_PASS, "+50.0 % (no interval) now, change +66.7 % (no interval)");
	fixture_release(&x);
}

/* A scenario that has no counterpart is told, and none is held against the null arm. */
static void test_unmatched(void)
{
	struct fixture x;

	fixture_make(&x);
	set_text(&x.bench.v[1].scenario, "put");
	set_text(&x.bench.v[3].scenario, "put");
	set_gain(&x.bench.v[2], 1.3, 1.2, 1.4);
	set_text(&x.last.training, "0ther");
	set_text(&x.last.bench.drift_alarm, "it drifted");
	x.bench.v[0].held_out = true;
	fixture_judge(&x);
	expect(&x, WORSE, VERDICT_PASS, "0 of 1 scenarios shown");
	expect(&x, WORSE, VERDICT_PASS, "scenario 'put', pgo: not in the last release");
	expect(&x, WORSE, VERDICT_PASS, "scenario 'post', pgo: not measured any more");
	expect(&x, WORSE, VERDICT_PASS, "the training part of the plan has changed since");
	expect(&x, WORSE, VERDICT_PASS, "alarm went off in the last release: the machine drifted");
	expect(&x, WORSE, VERDICT_PASS, "scenario 'mix' (held out), pgo: -10.0 %");
	fixture_release(&x);

	/* A run is no request. */
	fixture_make(&x);
	x.bench.v[0].per_run = x.bench.v[1].per_run = true;
	fixture_judge(&x);
	expect(&x, WORSE, VERDICT_SKIPPED, "no scenario of the last release is measured any more");
	fixture_release(&x);
}

void test_worse_skips(void **state)
{
	static struct comparisons none;
	struct fixture x;

	test_unmatched();
	fixture_make(&x);
	x.bounds.worse_margin = -1;
	fixture_judge(&x);
	expect(&x, WORSE, VERDICT_SKIPPED, "the plan says off");
	fixture_release(&x);

	fixture_make(&x);
	x.facts.bench = &none;
	fixture_judge(&x);
	expect(&x, WORSE, VERDICT_SKIPPED, "nothing was measured");
	fixture_release(&x);

	fixture_make(&x);
	x.facts.last_release = NULL;
	x.facts.history_problem = "it is damaged";
	fixture_judge(&x);
	expect(&x, WORSE, VERDICT_SKIPPED, "no history to compare with: it is damaged");
	fixture_release(&x);

	fixture_make(&x);
	x.facts.last_release = NULL;
	fixture_judge(&x);
	expect(&x, WORSE, VERDICT_SKIPPED, "no earlier release that was measured");
	fixture_release(&x);

	fixture_make(&x);
	x.facts.machine = "another processor, 2 of them";
	fixture_judge(&x);
	expect(&x, WORSE, VERDICT_SKIPPED, "measured on another machine (a processor, 2 of them)");
	fixture_release(&x);
}

/* pgo: instrument-linker: the words of that link are meant for another program. */
void test_other_linker(void **state)
{
	struct fixture x;
	struct compile_record *link;

	fixture_make(&x);
	link = fixture_record(&x.instrumented, "rlink");
	free(link->tool);
	link->tool = xstrdup("/usr/bin/other-cc");
	strv_add(&link->argv, "-fother-dialect");
	strv_add(&fixture_record(&x.instrumented, "crate")->added, "-Clinker=other-cc");
	gates_run(GATE_AFTER_OPTIMISED, &x.facts, &x.verdicts);
	assert_int_equal(fixture_verdict(&x, "same-flags")->state, VERDICT_PASS);
	fixture_release(&x);

	/* The project's own linker stands behind whet's link: its words have to be equal. */
	fixture_make(&x);
	link = fixture_record(&x.instrumented, "rlink");
	free(link->tool);
	link->tool = xstrdup("/usr/bin/other-cc");
	strv_add(&link->argv, "-fother-dialect");
	strv_add(&fixture_record(&x.instrumented, "crate")->added,
		"-Clinker=/s/shim/linker/other-cc");
	gates_run(GATE_AFTER_OPTIMISED, &x.facts, &x.verdicts);
	assert_int_equal(fixture_verdict(&x, "same-flags")->state, VERDICT_FAIL);
	fixture_release(&x);
}
