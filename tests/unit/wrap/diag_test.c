#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "wrap/diag.h"
#include "wrap/diag_gcc.h"

struct diag_case {
	const char *line;
	enum diag_kind kind;
	const char *function;
	uint64_t hash;
};

static const struct diag_case cases[] = {
	{"warning: p.c: function control flow change detected (hash mismatch) changed Hash = "
	 "567185239100086256 up to 3400 count discarded [-Wbackend-plugin]",
		DIAG_MISMATCH, "changed", 567185239100086256u},
	{"warning: p.c: function control flow change detected (hash mismatch) changed Hash = "
	 "12345678901234567890 [-Wbackend-plugin]",
		DIAG_MISMATCH, "changed", 12345678901234567890u},
	{"warning: p.c: function basic block count change detected (counter mismatch) f Hash = 7 "
	 "up to "
	 "0 count discarded [-Wbackend-plugin]",
		DIAG_MISMATCH, "f", 7},
	{"warning: p.c: no profile data available for function brandnew Hash = 382993475055910911 "
	 "up "
	 "to 0 count discarded [-Wbackend-plugin]",
		DIAG_MISSING, "brandnew", 382993475055910911u},
	{"warning: w2.35898ce99c789843-cgu.0: function control flow change detected (hash "
	 "mismatch) "
	 "_RNvCs1_2w27changed Hash = 694937217487615315 up to 1335 count discarded",
		DIAG_MISMATCH, "_RNvCs1_2w27changed", 694937217487615315u},
	{"error: Could not read profile /p/x.profdata: unsupported instrumentation profile format "
	 "version",
		DIAG_UNREADABLE, "", 0},
	{"clang-22: error: Error in reading profile /p/x.profdata: invalid instrumentation profile "
	 "data (bad magic)",
		DIAG_UNREADABLE, "", 0},
	{"warning: w14.profdata: unsupported instrumentation profile format version",
		DIAG_UNREADABLE, "", 0},
	{"warning: afe.profdata: Not an IR level instrumentation profile", DIAG_UNREADABLE, "", 0},
	{"warning: t.profdata: malformed instrumentation profile data: corrupted binary ids",
		DIAG_UNREADABLE, "", 0},
	{"warning: /p/given.profdata: some reason never seen", DIAG_UNREADABLE, "", 0},
	{"error: file `nofile.profdata` passed to `-C profile-use` does not exist", DIAG_UNREADABLE,
		"", 0},
	{"warning: a.c: Inconsistent number of value sites for indirect call target profiling in "
	 "\"F\", possibly due to the use of a stale profile. [-Wbackend-plugin]",
		DIAG_OTHER, "F", 0},
};

/* Of gcc 11 and 12. */
static const struct diag_case gcc_cases[] = {
	{"sub/g.c:2:1: warning: '/p/a1.gcda/src#sub#h.gcda' profile count data file not found "
	 "[-Wmissing-profile]",
		DIAG_MISSING, "", 0},
	{"t.cc:7:5: warning: profile for function 'int f(int) [with T = int]' not found in profile "
	 "data "
	 "[-Wmissing-profile]",
		DIAG_MISSING, "int f(int) [with T = int]", 0},
	{"a.c:3:5: error: the control flow of function 'f' does not match its profile data "
	 "(counter "
	 "'arcs') [-Werror=coverage-mismatch]",
		DIAG_MISMATCH, "f", 0},
	{"a.c:3:5: warning: number of counters in profile data for function 'f' does not match its "
	 "profile data (counter 'arcs', expected 3 and have 2) [-Wcoverage-mismatch]",
		DIAG_MISMATCH, "f", 0},
	{"a.c:3:5: warning: source locations for function 'f' have changed, the profile data may "
	 "be out "
	 "of date [-Wcoverage-mismatch]",
		DIAG_OTHER, "f", 0},
	{"cc1: warning: '/p/a1.gcda/x.gcda' is not a gcov data file", DIAG_UNREADABLE, "", 0},
	{"cc1: warning: '/p/a1.gcda/x.gcda' is version 'B13*', expected version 'B22*'",
		DIAG_UNREADABLE, "", 0},
	{"cc1: warning: '/p/a1.gcda/x.gcda' is corrupted", DIAG_UNREADABLE, "", 0},
	{"cc1: warning: profile data for function 12 is corrupted", DIAG_UNREADABLE, "", 0},
	{"a.c:3:5: error: corrupted profile info: profile data is not flow-consistent", DIAG_OTHER,
		"", 0},
};

static void gcc_texts(void **state)
{
	struct profile_diag d;

	for (size_t i = 0; i < ARRAY_SIZE(gcc_cases); i++) {
		assert_true(diag_parse_gcc(gcc_cases[i].line, &d));
		assert_int_equal(d.kind, gcc_cases[i].kind);
		assert_string_equal(d.function, gcc_cases[i].function);
		profile_diag_release(&d);
	}
	assert_false(diag_parse_gcc("a.c:1:1: warning: unused variable 'x' [-Wunused]", &d));
	assert_false(diag_parse_gcc("a.c:1:1: note: 'x' is corrupted", &d));
}

/* The line that says where goes with the diagnostic that it stands in front of. */
static void gcc_filter(void **state)
{
	static const char *const lines[] = {"a.c: In function 'f':\n",
		"a.c:3:5: warning: profile for function 'f' not found in profile data "
		"[-Wmissing-profile]\n",
		"    3 | int f(int x)\n", "      |     ^\n", "a.c: In function 'g':\n",
		"a.c:9:5: warning: unused variable 'x' [-Wunused-variable]\n", "    9 | int x;\n"};
	struct compile_record r = {0};
	struct diag_filter f = {.record = &r, .profile = "/p/a1.gcda", .gcc = true};
	auto_buf struct buf out = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		diag_filter_line(&f, lines[i], strlen(lines[i]), &out);
	diag_filter_end(&f, &out);
	assert_string_equal(buf_str(&out),
		"a.c: In function 'g':\na.c:9:5: warning: unused variable 'x' "
		"[-Wunused-variable]\n    9 | int x;\n");
	assert_int_equal(r.n_diags, 1);
	compile_record_release(&r);
}

static void texts(void **state)
{
	struct profile_diag d;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct diag_case *k = &cases[i];

		if (!diag_parse(k->line, "/p/given.profdata", &d))
			fail_msg("not recognised: %s", k->line);
		assert_int_equal(d.kind, k->kind);
		assert_string_equal(d.function, k->function);
		assert_true(d.hash == k->hash);
		assert_string_equal(d.text, k->line);
		profile_diag_release(&d);
	}
	assert_false(diag_parse("a.c:1:2: warning: unused variable 'x' [-Wunused-variable]",
		"/p/given.profdata", &d));
	assert_false(diag_parse("error: use of undeclared identifier 'profile'", NULL, &d));
}

#define MISMATCH                                                                                   \
	"warning: p.c: function control flow change detected (hash mismatch) f Hash = 5 up to 9 "  \
	"count discarded [-Wbackend-plugin]\n"
#define MISSING                                                                                    \
	"warning: p.c: no profile data available for function g Hash = 6 up to 0 count discarded " \
	"[-Wbackend-plugin]\n"
#define UNUSED                                                                                     \
	"a.c:1:5: warning: unused variable 'x' [-Wunused-variable]\n    1 | int x;\n      |     "  \
	"^\n"
#define INCLUDED "In file included from a.c:1:\n"
#define ERROR_BLOCK                                                                                \
	"a.c:3:1: error: unknown type name 'foo'\n    3 | foo x;\n      | ^\n"                     \
	"a.c:2:1: note: declared here\n"

struct filter_case {
	bool rust, hide;
	const char *in, *out;
	size_t diags;
};

static const struct filter_case filter_cases[] = {
	/* a call without -w: only missing data is kept from the user, and the count follows */
	{false, false, UNUSED MISSING "2 warnings generated.\n", UNUSED "1 warning generated.\n",
		1},
	{false, false, MISSING "1 warning generated.\n", "", 1},
	{false, false, MISMATCH "1 warning generated.\n", MISMATCH "1 warning generated.\n", 1},
	{false, false, UNUSED "1 warning generated.\n", UNUSED "1 warning generated.\n", 0},
	{false, false, MISSING ERROR_BLOCK "1 warning and 1 error generated.\n",
		ERROR_BLOCK "1 error generated.\n", 1},
	/* -w was dropped: other warnings stay hidden, with what belongs to them */
	{false, true, INCLUDED UNUSED ERROR_BLOCK MISMATCH "2 warnings and 1 error generated.\n",
		ERROR_BLOCK MISMATCH "1 warning and 1 error generated.\n", 1},
	{false, true, UNUSED "1 warning generated.\n", "", 0},
	{false, true, UNUSED INCLUDED ERROR_BLOCK, INCLUDED ERROR_BLOCK, 0},
	{false, true, "text without a newline", "text without a newline", 0},
	/* colours do not hide a diagnostic */
	{false, false,
		"\033[0;1;35mwarning: \033[0m\033[1mp.c: no profile data available for function g "
		"Hash = 6 up to 0 count discarded [-Wbackend-plugin]\033[0m\n",
		"", 1},
	/* rustc, text */
	{true, false,
		"warning: m.1-cgu.0: no profile data available for function g Hash = 6 up to 0 "
		"count "
		"discarded\n\nwarning: 1 warning emitted\n\n",
		"", 1},
	{true, false,
		"warning: unused variable: `x`\n --> a.rs:1:1\n\nwarning: 1 warning emitted\n\n",
		"warning: unused variable: `x`\n --> a.rs:1:1\n\nwarning: 1 warning emitted\n\n",
		0},
	/* rustc, JSON */
	{true, false,
		"{\"message\":\"m.1-cgu.0: function control flow change detected (hash mismatch) f "
		"Hash "
		"= 5 up to 1 count discarded\",\"level\":\"warning\"}\n"
		"{\"artifact\":\"/x\",\"emit\":\"link\"}\n",
		"{\"artifact\":\"/x\",\"emit\":\"link\"}\n", 1},
	{true, false,
		"{\"message\":\"file `p` passed to `-C profile-use` does not "
		"exist\",\"level\":\"error\"}\n",
		"{\"message\":\"file `p` passed to `-C profile-use` does not "
		"exist\",\"level\":\"error\"}\n",
		1},
	{true, true, "{\"message\":\"unused\",\"level\":\"warning\"}\n", "", 0},
	{true, true, "{\"message\":\"bad\",\"level\":\"error\"}\n",
		"{\"message\":\"bad\",\"level\":\"error\"}\n", 0},
};

static void filter(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(filter_cases); i++) {
		const struct filter_case *k = &filter_cases[i];
		struct compile_record r = {0};
		struct diag_filter f = {.record = &r, .rust = k->rust, .hide_warnings = k->hide};
		auto_buf struct buf out = BUF_INIT;

		for (const char *p = k->in; *p;) {
			size_t n = strcspn(p, "\n");

			n += p[n] == '\n';
			diag_filter_line(&f, p, n, &out);
			p += n;
		}
		diag_filter_end(&f, &out);
		if (strcmp(buf_str(&out), k->out) != 0 || r.n_diags != k->diags)
			fail_msg("case %zu: %zu diagnostics, forwarded '%s', expected '%s'", i,
				r.n_diags, buf_str(&out), k->out);
		compile_record_release(&r);
	}
}

/* rustc with whet's own flag that tells lookups: another thread's message begins in a line, and
 * what two threads wrote at once is kept in pieces; no message is lost, and nothing else is
 * forwarded. */
static void lookups(void **state)
{
	static const char text[] =
		"Funcname=_Rone, Hash=12 in building a.1-cgu.0\n"
		"Funcname=_Rtwo{\"$message_type\":\"artifact\",\"artifact\":\"x.rmeta\"}\n"
		", Hash=13 in building a.1-cgu.1\n"
		"_Rthree\n"
		"{\"$message_type\":\"artifact\",\"artifact\":\"z\"}Funcname=_Rfour\n"
		"{\"$message_type\":\"artifact\",\"artifact\":\"in building y\"}\n"
		"warning: a word\n";
	struct compile_record r = {0};
	struct diag_filter f = {.record = &r, .rust = true};
	struct buf out = BUF_INIT;

	for (const char *p = text; *p; p += strcspn(p, "\n") + 1)
		diag_filter_line(&f, p, strcspn(p, "\n") + 1, &out);
	diag_filter_end(&f, &out);
	assert_string_equal(buf_str(&out),
		"{\"$message_type\":\"artifact\",\"artifact\":\"x.rmeta\"}\n"
		"{\"$message_type\":\"artifact\",\"artifact\":\"z\"}\n"
		"{\"$message_type\":\"artifact\",\"artifact\":\"in building y\"}\n"
		"warning: a word\n");
	assert_string_equal(r.sought.v[0].name, "_Rone");
	assert_string_equal(r.sought.v[0].source, "a.1-cgu.0");
	assert_string_equal(r.sought.v[1].name, "_Rtwo");
	assert_true(r.sought.v[1].hash == 0);
	assert_string_equal(r.sought.v[r.sought.n - 2].name, "_Rthree");
	assert_string_equal(r.sought.v[r.sought.n - 1].name, "_Rfour");
	assert_int_equal(r.sought.garbled, 4);
	buf_release(&out);
	compile_record_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(lookups),
		cmocka_unit_test(filter), cmocka_unit_test(gcc_texts),
		cmocka_unit_test(gcc_filter)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
