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
