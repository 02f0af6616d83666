/* The budget of a reused profile: which records no compilation took, and how much they weigh. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void expect(const struct fixture *x, enum verdict_state state, const char *text)
{
	const struct verdict *v = fixture_verdict(x, "stale");
	auto_free char *all = xasprintf("%s\n%s\n%s", v->summary, v->evidence, v->remedy);

	if (!strstr(all, text))
		print_message("expected '%s' in: %s\n", text, all);
	assert_non_null(strstr(all, text));
	assert_int_equal(v->state, state);
}

static void seek(
	struct fixture *x, const char *record, const char *name, const char *source, uint64_t hash)
{
	struct sought *s = &fixture_record(&x->optimised, record)->sought;

	array_reserve(s->v, s->n, s->cap);
	s->v[s->n++] = (struct sought_function){xstrdup(name), xstrdup(source), hash};
}

/* The clean build with a reused profile, all of whose records are looked up, but those of `but`. */
static void make(struct fixture *x, const char *but)
{
	fixture_make(x);
	x->profile.given = x->profile.reused = true;
	x->facts.training = NULL;
	x->facts.instrumented = NULL;
	x->facts.provenance = &x->provenance;
	set_text(&x->provenance.source, "another");
	set_text(&x->provenance.created, "2026-11-30T20:00:00Z");
	set_text(&x->provenance.commit, "0123456789abcdef0123");
	x->bounds.stale = 0.02;
	for (size_t i = 0; i < x->optimised.log.n; i++)
		strv_add(&x->optimised.log.v[i].added, "-pgo-trace-func-hash=");
	if (strcmp(but, "run") != 0)
		seek(x, "crate", "_RNvCs1_4edge3run", "edge.0-cgu.0", 0x111);
	if (strcmp(but, "main") != 0)
		seek(x, "main", "main", "src/main.c", 0x222);
	if (strcmp(but, "helper") != 0)
		seek(x, "work", "helper", "src/work.c", 0x444);
	if (strcmp(but, "tiny") != 0)
		seek(x, "tiny", "tiny", "src/tiny.c", 0x0a4d0ad3efffffffULL);
	if (strcmp(but, "work") != 0)
		seek(x, "work", "work", "src/work.c", 0x555);
}

/* Of the profile's 2958 counts, run has 2000, main 1, helper 50, tiny 7 and work 900. */
static void test_nothing_lost(void **state)
{
	struct staleness s;
	struct fixture x;

	make(&x, "");
	fixture_judge(&x);
	assert_false(verdicts_failed(&x.verdicts));
	expect(&x, VERDICT_PASS,
		"profile of 2026-11-30T20:00:00Z, commit 0123456789ab: 0 of 5 trained functions "
		"are "
		"lost, 0 % of all counts; budget 2 %");
	gate_staleness(&x.facts, &s);
	assert_true(s.judged);
	assert_int_equal(s.trained, 5);
	assert_int_equal(s.all_lost, 0);
	assert_false(staleness_near(&s));
	staleness_release(&s);
	fixture_release(&x);
}

static void test_other_source_is_accepted(void **state)
{
	const struct verdict *v;
	struct fixture x;

	make(&x, "");
	fixture_judge(&x);
	v = fixture_verdict(&x, "same-source");
	assert_int_equal(v->state, VERDICT_PASS);
	assert_non_null(strstr(v->summary, "of another source"));
	fixture_release(&x);

	make(&x, "");
	set_text(&x.provenance.training, "another");
	fixture_judge(&x);
	assert_int_equal(fixture_verdict(&x, "same-source")->state, VERDICT_FAIL);
	fixture_release(&x);

	make(&x, "");
	set_text(&x.provenance.target, "another");
	fixture_judge(&x);
	assert_int_equal(fixture_verdict(&x, "same-source")->state, VERDICT_FAIL);
	fixture_release(&x);
}

/* 50 of 2958 are 1.69 %: within 2 %, beyond half of it, and above 1.6 %. */
static void test_budget(void **state)
{
	struct staleness s;
	struct fixture x;

	make(&x, "helper");
	fixture_judge(&x);
	expect(&x, VERDICT_PASS,
		"1 of 5 trained functions are lost (1 gone), 1.69 % of all counts");
	expect(&x, VERDICT_PASS, "train again soon");
	expect(&x, VERDICT_PASS, "src/work.c;helper: gone, 1.69 % of all counts");
	gate_staleness(&x.facts, &s);
	assert_true(staleness_near(&s));
	assert_true(s.all_share > 0.0169 && s.all_share < 0.01691);
	staleness_release(&s);
	fixture_release(&x);

	make(&x, "helper");
	x.bounds.stale = 0.016;
	fixture_judge(&x);
	expect(&x, VERDICT_FAIL, "1.69 % of all counts; budget 1.6 %");
	expect(&x, VERDICT_FAIL, "`whet build` without --profile");
	fixture_release(&x);

	make(&x, "main");
	fixture_judge(&x);
	expect(&x, VERDICT_PASS, "(1 gone), 0.034 % of all counts");
	fixture_release(&x);
}

static void test_stale(void **state)
{
	struct fixture x;

	make(&x, "work");
	seek(&x, "work", "work", "src/work.c", 0x556);
	fixture_judge(&x);
	expect(&x, VERDICT_FAIL, "(1 stale), 30.4 % of all counts");
	fixture_release(&x);

	/* another file's function of the same name is none */
	make(&x, "helper");
	seek(&x, "main", "helper", "src/main.c", 0x999);
	fixture_judge(&x);
	expect(&x, VERDICT_PASS, "(1 gone)");
	fixture_release(&x);
}

/* The compiler says of all of them that they have no data. */
static void missing(
	struct fixture *x, const char *record, const char *name, const char *source, uint64_t hash)
{
	seek(x, record, name, source, hash);
	fixture_add_diag(&x->optimised, record, DIAG_MISSING, name);
}

static void test_moved_and_renamed(void **state)
{
	struct fixture x;

	make(&x, "helper");
	missing(&x, "main", "helper", "src/main.c", 0x444);
	fixture_judge(&x);
	expect(&x, VERDICT_PASS, "(1 moved)");
	expect(&x, VERDICT_PASS, "it is in another file now: src/main.c");
	fixture_release(&x);

	make(&x, "helper");
	missing(&x, "work", "assistant", "src/work.c", 0x444);
	fixture_judge(&x);
	expect(&x, VERDICT_PASS, "(1 renamed)");
	expect(&x, VERDICT_PASS, "has another name now: assistant");
	fixture_release(&x);

	/* two of one structure: which it was is not known */
	make(&x, "helper");
	missing(&x, "work", "assistant", "src/work.c", 0x444);
	missing(&x, "work", "deputy", "src/work.c", 0x444);
	fixture_judge(&x);
	expect(&x, VERDICT_PASS, "(1 gone)");
	expect(&x, VERDICT_PASS, "2 functions of this build are not in the profile");
	fixture_release(&x);

	/* without a branch every function has the same structure */
	make(&x, "tiny");
	missing(&x, "tiny", "small", "src/tiny.c", 0x0a4d0ad3efffffffULL);
	fixture_judge(&x);
	expect(&x, VERDICT_PASS, "(1 gone)");
	fixture_release(&x);

	/* rustc's hash of the crate in the name */
	make(&x, "run");
	missing(&x, "crate", "_RNvCs2_4edge3run", "edge.1-cgu.0", 0x111);
	fixture_judge(&x);
	expect(&x, VERDICT_FAIL, "(1 renamed), 67.6 % of all counts");
	fixture_release(&x);
}

/* A compiler that cannot tell: a symbol means that the function is there, none that nobody knows.
 */
static void test_older_compiler(void **state)
{
	struct staleness s;
	struct fixture x;

	make(&x, "helper");
	strv_release(&fixture_record(&x.optimised, "work")->added);
	strv_add(&fixture_record(&x.optimised, "work")->added, "-fprofile-use=/p/x.profdata");
	fixture_judge(&x);
	expect(&x, VERDICT_PASS, "0 of 5 trained functions are lost");
	fixture_release(&x);

	make(&x, "helper");
	strv_release(&fixture_record(&x.optimised, "work")->added);
	strv_add(&fixture_record(&x.optimised, "work")->added, "-fprofile-use=/p/x.profdata");
	set_text(&x.profile.v[3].key, "src/work.c;inlined");
	gate_staleness(&x.facts, &s);
	assert_int_equal(s.all_lost, 0);
	assert_int_equal(s.unknown, 1);
	staleness_release(&s);
	fixture_judge(&x);
	expect(&x, VERDICT_PASS, "of 1 more, 1.69 % of all counts, it is not known");
	verdicts_release(&x.verdicts);
	x.bounds.stale = 0.016;
	fixture_judge(&x);
	expect(&x, VERDICT_FAIL, "compile with clang 19");
	verdicts_release(&x.verdicts);
	set_text(&x.provenance.source, x.facts.source_digest);
	fixture_judge(&x);
	expect(&x, VERDICT_PASS,
		"0 of 5 trained functions are lost, 0 % of all counts; budget 1.6 %");
	fixture_release(&x);

	make(&x, "helper");
	fixture_add_diag(&x.optimised, "work", DIAG_MISMATCH, "src/work.c;helper");
	strv_release(&fixture_record(&x.optimised, "work")->added);
	strv_add(&fixture_record(&x.optimised, "work")->added, "-fprofile-use=/p/x.profdata");
	fixture_judge(&x);
	expect(&x, VERDICT_PASS, "(1 stale)");
	fixture_release(&x);
}

/* Two threads of rustc wrote at once: the names are there, the hashes are not. */
static void test_garbled(void **state)
{
	struct sought s = {0};
	struct fixture x;

	assert_false(sought_parse(&s, "warning: unused variable", true));
	assert_true(
		sought_parse(&s, "Funcname=f, Hash=798733565113550750 in building a b.c", false));
	assert_string_equal(s.v[0].name, "f");
	assert_string_equal(s.v[0].source, "a b.c");
	assert_true(s.v[0].hash == 798733565113550750ULL);
	assert_true(sought_parse(
		&s, "Funcname=_Rone, Hash=Funcname=_Rtwo, Hash=12 in building x", true));
	assert_int_equal(s.garbled, 1);
	assert_string_equal(s.v[1].name, "_Rone");
	assert_string_equal(s.v[2].name, "_Rtwo");
	assert_null(s.v[2].source);
	/* a line end of the other thread left a name alone; for one thread that is another's word
	 */
	assert_true(sought_parse(&s, "_Rthree", true));
	assert_string_equal(s.v[s.n - 1].name, "_Rthree");
	assert_false(sought_parse(&s, "_Rthree", false));
	assert_false(sought_parse(&s, "{\"message\":\"loss in building x\"}", true));
	sought_release(&s);

	make(&x, "work");
	seek(&x, "work", "work", NULL, 0);
	fixture_judge(&x);
	expect(&x, VERDICT_PASS, "0 of 5 trained functions are lost");
	fixture_release(&x);
}

/* The list is of the hottest ones. */
static void test_many(void **state)
{
	struct staleness s;
	struct fixture x;

	make(&x, "");
	for (unsigned i = 0; i < 30; i++) {
		auto_free char *name = xasprintf("lost%02u", i);

		fixture_add_function(&x.profile, name, i + 1, i + 1);
	}
	gate_staleness(&x.facts, &s);
	assert_int_equal(s.all_lost, 30);
	assert_int_equal(s.n, STALENESS_LISTED);
	assert_string_equal(s.v[0].name, "lost29");
	assert_int_equal(s.trained, 35);
	staleness_release(&s);
	fixture_release(&x);
}

/* In a trained build: a static function whose source is compiled under another path each time. */
static void test_path_differs(void **state)
{
	const struct verdict *v;
	struct compile_record *r;
	struct fixture x;

	fixture_make(&x);
	r = fixture_record(&x.optimised, "main");
	fixture_add_diag(&x.optimised, "main", DIAG_MISSING, "helper");
	r->diags[0].hash = 0x444;
	fixture_judge(&x);
	v = fixture_verdict(&x, "same-identity");
	assert_int_equal(v->state, VERDICT_FAIL);
	assert_string_equal(
		v->summary, "1 executed functions were trained under another path, 0 allowed");
	assert_string_equal(v->evidence,
		"function 'helper' of 'src/main.c': trained as 'src/work.c;helper', a key that "
		"holds another path");
	fixture_release(&x);

	/* of another structure: another function */
	fixture_make(&x);
	fixture_add_diag(&x.optimised, "main", DIAG_MISSING, "helper");
	fixture_record(&x.optimised, "main")->diags[0].hash = 0x445;
	fixture_judge(&x);
	assert_int_equal(fixture_verdict(&x, "same-identity")->state, VERDICT_PASS);
	fixture_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_lost),
		cmocka_unit_test(test_other_source_is_accepted),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_moved_and_renamed),
		cmocka_unit_test(test_older_compiler),
		cmocka_unit_test(test_garbled),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_path_differs),
	};

	return cmocka_run_group_tests_name("staleness", tests, NULL, NULL);
}
