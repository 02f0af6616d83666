/* unwind and strip-safe: what each fault says, and what is no fault. */
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

static struct unwind_function *function(struct unwind_facts *f, const char *name, const char *part)
{
	for (size_t i = 0; i < f->n_functions; i++)
		if (!strcmp(f->functions[i].name, name) && !strcmp(f->functions[i].part, part))
			return &f->functions[i];
	fail_msg("the fixture has no function '%s%s'", name, part);
	return NULL;
}

void cold_part_without_frame(struct fixture *x)
{
	function(&x->unwind, "work", ".cold.0")->framed = false;
}

void strip_moved_segment(struct fixture *x)
{
	strv_add(&x->strips.faults, "section .eh_frame at 0x600000 lies in no loaded segment");
}

static void fault_after(struct fixture *x)
{
	unwind_fault_add(&x->unwind, UNWIND_PAD, "work", xstrdup("no FDE is for the landing pad"));
}

static void fault_before_and_after(struct fixture *x)
{
	fault_after(x);
	unwind_fault_add(&x->before, UNWIND_PAD, "work", xstrdup("no FDE is for the landing pad"));
}

/* The same kind in another function is no excuse. */
static void fault_elsewhere_before(struct fixture *x)
{
	fault_after(x);
	unwind_fault_add(&x->before, UNWIND_PAD, "tiny", xstrdup("no FDE is for the landing pad"));
}

static void never_framed(struct fixture *x)
{
	function(&x->before, "tiny", "")->framed = false;
	function(&x->unwind, "tiny", "")->framed = false;
}

static void new_function(struct fixture *x)
{
	set_text(&function(&x->before, "tiny", "")->name, "sparse");
	function(&x->unwind, "tiny", "")->framed = false;
}

static void data_lost(struct fixture *x)
{
	function(&x->unwind, "work", "")->handles = false;
	function(&x->unwind, "work", ".cold.0")->handles = false;
}

static void data_lost_against_plain(struct fixture *x)
{
	data_lost(x);
	x->facts.laid_out = false;
}

static void all_lost(struct fixture *x)
{
	x->unwind.n_frames = 0;
}

static void narrow_file(struct fixture *x)
{
	x->unwind.unknown = xstrdup("it is a 32-bit file");
}

static void set_run(struct unwind_run *r, const char *output, const char *end, bool passed)
{
	r->output = xstrdup(output);
	r->end = xstrdup(end);
	r->passed = passed;
	snprintf(r->sha256, sizeof(r->sha256), "%zu %s", strlen(output), output);
}

static void proof(struct fixture *x, const char *plain, const char *final, const char *end)
{
	x->proof.command = xstrdup("prog --throw");
	set_run(&x->proof.plain, plain, "exit code 0", true);
	set_run(&x->proof.final, final, end, strcmp(end, "exit code 0") == 0);
}

static void proof_holds(struct fixture *x)
{
	proof(x, "caught 5", "caught 5", "exit code 0");
}

static void proof_dies(struct fixture *x)
{
	proof(x, "caught 5", "caught 5", "signal 6 (Aborted)");
}

static void proof_differs(struct fixture *x)
{
	proof(x, "caught 5", "caught 4", "exit code 0");
}

static void proof_fails_with_plain(struct fixture *x)
{
	proof_holds(x);
	free(x->proof.plain.end);
	x->proof.plain.end = xstrdup("exit code 2");
	x->proof.plain.passed = false;
}

static void not_stripped(struct fixture *x)
{
	x->strips = (struct strip_facts){0};
}

static const struct {
	const char *name;
	void (*make)(struct fixture *x);
	const char *gate;
	enum verdict_state state;
	const char *text;
} cases[] = {
	{"clean", NULL, "unwind", VERDICT_PASS,
		"the file before its layout, 0 allowed (4 functions and parts, 1 of them cold "
		"parts, 3 landing pads)"},
	{"cold part", cold_part_without_frame, "unwind", VERDICT_FAIL,
		"prog: no FDE is for work.cold.0 at 0x9000; there was one"},
	{"pad", fault_after, "unwind", VERDICT_FAIL, "prog: no FDE is for the landing pad"},
	{"pad before, too", fault_before_and_after, "unwind", VERDICT_PASS, "0 faults"},
	{"pad elsewhere before", fault_elsewhere_before, "unwind", VERDICT_FAIL, "1 faults"},
	{"never framed", never_framed, "unwind", VERDICT_PASS, "3 functions and parts"},
	{"new function", new_function, "unwind", VERDICT_PASS, "3 functions and parts"},
	{"data lost", data_lost, "unwind", VERDICT_FAIL, "work has lost its exception data"},
	{"data lost, another build", data_lost_against_plain, "unwind", VERDICT_PASS,
		"held against the plain build"},
	{"all lost", all_lost, "unwind", VERDICT_FAIL, "no FDE at all; there were 3"},
	{"32-bit", narrow_file, "unwind", VERDICT_SKIPPED, "it is a 32-bit file"},
	{"proof", proof_holds, "unwind", VERDICT_PASS, "the command ended alike"},
	{"proof dies", proof_dies, "unwind", VERDICT_FAIL,
		"'prog --throw': signal 6 (Aborted), with the plain build exit code 0"},
	{"proof differs", proof_differs, "unwind", VERDICT_FAIL,
		"prints \"caught 4\", with the plain build \"caught 5\""},
	{"proof fails", proof_fails_with_plain, "unwind", VERDICT_FAIL,
		"'prog --throw' fails with the plain build: exit code 2"},
	{"strip: clean", NULL, "strip-safe", VERDICT_PASS, "(13 segments, 4096 bytes)"},
	{"strip: moved", strip_moved_segment, "strip-safe", VERDICT_FAIL,
		"prog: section .eh_frame at 0x600000"},
	{"strip: none", not_stripped, "strip-safe", VERDICT_SKIPPED, "release.strip is false"},
};

void test_final_cases(void **state)
{
	size_t wrong = 0;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fixture x;
		const struct verdict *v;

		fixture_make(&x);
		if (cases[i].make)
			cases[i].make(&x);
		fixture_judge(&x);
		v = fixture_verdict(&x, cases[i].gate);
		if (v->state != cases[i].state || (!strstr(v->summary, cases[i].text) &&
							  !strstr(v->evidence, cases[i].text))) {
			print_error("'%s': %s: %s\n%s\n", cases[i].name,
				verdict_state_name(v->state), v->summary, v->evidence);
			wrong++;
		}
		fixture_release(&x);
	}
	assert_int_equal(wrong, 0);
}

void test_part_names(void **state)
{
	static const struct {
		const char *name, *own;
	} names[] = {
		{"work", "work"},
		{"work.cold", "work"},
		{"work.cold.0", "work"},
		{"work.cold.12", "work"},
		{"work.warm", "work"},
		{"work.cold.0.cold.1", "work"},
		{"work.part.0.cold", "work.part.0"},
		{"work.part.0", "work.part.0"},
		{"work.llvm.123", "work.llvm.123"},
		{"scold0", "scold0"},
		{".cold", ".cold"},
		{"7", "7"},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *own = xstrndup(names[i].name, unwind_name_length(names[i].name));

		assert_string_equal(own, names[i].own);
	}
}
