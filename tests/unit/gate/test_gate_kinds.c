/* A program with LLVM's counters and gcc's: neither half hides behind the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fixture.h"

/* The two functions of one object are counted by gcc's counters. */
static void have_both(struct fixture *x)
{
	for (size_t i = 0; i < x->profile.n; i++)
		x->profile.v[i].gcc = strstr(x->profile.v[i].key, "work") != NULL;
	x->profile.gcc_functions = x->profile.gcc_executed = 2;
}

static void both(struct fixture *x)
{
	have_both(x);
}

/* That the others have their data says nothing of these. */
static void half_missing(struct fixture *x)
{
	have_both(x);
	fixture_add_diag(&x->optimised, "work", DIAG_MISSING, "work");
	fixture_add_diag(&x->optimised, "work", DIAG_MISSING, "src/work.c;helper");
}

static void half_unchanged(struct fixture *x)
{
	have_both(x);
	set_text(&fixture_object(&x->optimised, "/slot/obj/work.o")->code_hash,
		fixture_object(&x->plain, "/slot/obj/work.o")->code_hash);
}

/* A process that wrote LLVM's alone. */
static void half_not_written(struct fixture *x)
{
	struct process_evidence *p = fixture_add_process(&x->training, 177);

	have_both(x);
	p->state = RAW_MISSING;
	set_text(&p->file, NULL);
	p->lacks = xstrdup("gcc");
}

void test_kinds_of_counters(void **state)
{
	static const struct {
		void (*make)(struct fixture *x);
		const char *gate, *text; /* NULL: it passes */
	} cases[] = {
		{both, "max-missing", NULL},
		{both, "profile-was-used", NULL},
		{half_missing, "max-missing", "0 of 2 executed functions"},
		{half_unchanged, "profile-was-used", "none of the 1 objects by gcc"},
		{half_not_written, "every-process-flushed", "missing profile of what gcc compiled"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct verdict *v;
		struct fixture x;

		fixture_make(&x);
		cases[i].make(&x);
		fixture_judge(&x);
		v = fixture_verdict(&x, cases[i].gate);
		assert_int_equal(v->state, cases[i].text ? VERDICT_FAIL : VERDICT_PASS);
		if (cases[i].text && !strstr(v->summary, cases[i].text) &&
			!strstr(v->evidence, cases[i].text))
			fail_msg("%s: '%s' says nothing of '%s'", v->summary, v->evidence,
				cases[i].text);
		fixture_release(&x);
	}
}
