/* Overlap and difference of two profiles, with the right figures written out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "profile/compare.h"
#include "profile/model.h"

static struct profile *from_text(const char *text)
{
	struct profile *p = profile_new();
	struct error err = ERROR_INIT;

	if (profile_add_bytes(p, text, strlen(text), 1, NULL, &err) < 0)
		fail_msg("%s", err.msg);
	return p;
}

static void expect_near(double got, double want)
{
	if (got < want - 1e-9 || got > want + 1e-9)
		fail_msg("%.12f, expected %.12f", got, want);
}

/* ---------------------------------------------------------------- overlap */

/* Sums 100 and 200. f agrees half (10 of 100 against 40 of 200 and the other way round), g has
 * another hash, h is in the second alone, never is in both without a count. */
static const char first_text[] = ":ir\nf\n1\n2\n10\n40\n"
				 "2\n0\n1\n2\na:30\nb:10\n1\n1\n1\n8:5\n"
				 "g\n2\n1\n50\nnever\n3\n1\n0\nold\n9\n1\n0\n";
static const char second_text[] = ":ir\nf\n1\n2\n80\n20\n"
				  "2\n0\n1\n2\nb:5\na:5\n1\n1\n1\n16:7\n"
				  "g\n22\n1\n40\nh\n4\n1\n60\nnever\n5\n1\n0\n";

struct seen {
	int n;
	double f_share;
	enum profile_match of_g, of_h;
};

static void see(void *ctx, const struct profile_overlap_function *f)
{
	struct seen *s = ctx;

	s->n++;
	if (strcmp(f->key, "f") == 0)
		s->f_share = f->share.edges;
	if (strcmp(f->key, "g") == 0)
		s->of_g = f->match;
	if (strcmp(f->key, "h") == 0)
		s->of_h = f->match;
}

static void test_overlap(void **state)
{
	struct profile *a = from_text(first_text), *b = from_text(second_text);
	struct profile_overlap r;
	struct error err = ERROR_INIT;
	struct seen seen = {0};

	assert_int_equal(profile_overlap(a, b, false, &r, see, &seen, &err), 0);
	assert_true(r.first.edges == 100 && r.second.edges == 200);
	expect_near(r.share.edges, 0.1 + 0.1);
	expect_near(r.mismatched_share.edges, 0.2);
	expect_near(r.only_second_share.edges, 0.3);
	assert_true(
		r.functions == 2 && r.mismatched == 1 && r.only_second == 1 && r.only_first == 1);
	assert_true(r.first.values[0] == 40 && r.second.values[0] == 10);
	expect_near(r.share.values[0], 0.5 + 0.25);
	assert_true(r.first.values[1] == 5 && r.second.values[1] == 7 && r.share.values[1] == 0);
	assert_int_equal(seen.n, 4);
	expect_near(seen.f_share, 0.2 + 0.2);
	assert_true(seen.of_g == PROFILE_MISMATCHED && seen.of_h == PROFILE_ONLY_SECOND);
	profile_free(a);
	profile_free(b);
}

static void test_overlap_nothing(void **state)
{
	struct profile *a = from_text(first_text),
		       *b = from_text(":csir\nf\n1152921504606846977\n1\n5\n");
	struct profile_overlap r;
	struct error err = ERROR_INIT;

	assert_int_equal(profile_overlap(a, b, false, &r, NULL, NULL, &err), -1);
	assert_int_equal(err.code, ERR_MISMATCH);
	assert_string_equal(err.msg,
		"the second profile counted nothing, so there is nothing to compare; --cs compares "
		"the context-sensitive records");
	error_release(&err);
	assert_int_equal(profile_overlap(b, b, true, &r, NULL, NULL, &err), 0);
	expect_near(r.share.edges, 1);
	profile_free(a);
	profile_free(b);
}

/* Bit 60 marks context-sensitive records in IR profiles alone; sums go beyond 64 bits. */
static void test_overlap_large(void **state)
{
	struct profile *a = from_text(":fe\nf\n1152921504606846977\n2\n18446744073709551613\n"
				      "18446744073709551613\n");
	struct profile_overlap r;
	struct error err = ERROR_INIT;

	assert_int_equal(profile_overlap(a, a, false, &r, NULL, NULL, &err), 0);
	expect_near(r.share.edges, 1);
	assert_true(r.first.edges > 0x1.ffp64);
	profile_free(a);
}

/* ---------------------------------------------------------------- difference */

static const struct profile_diff_function *found(const struct profile_diff *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->v[i].name, name) == 0)
			return &d->v[i];
	return NULL;
}

static void expect_change(
	const struct profile_diff *d, const char *name, enum profile_change c, bool changed)
{
	const struct profile_diff_function *f = found(d, name);

	if (!f || f->change != c || f->changed != changed)
		fail_msg("%s: %s%s", name, f ? profile_change_name(f->change) : "not listed",
			f && f->changed ? ", changed" : "");
}

static void test_diff(void **state)
{
	/* 1000 counts each, so a count is 0.1 %. */
	struct profile *old = from_text(
		":ir\nalike\n1\n1\n400\nbit\n1\n1\n100\ncolder\n1\n1\n200\ngone\n1\n1\n50\n"
		"gone2\n1\n1\n40\nhotter\n1\n2\n8\n2\na.c:local\n1\n1\n100\nstale\n1\n1\n100\n"
		"unrun\n1\n1\n0\nunrun2\n1\n1\n0\nnever\n1\n1\n0\n");
	struct profile *new = from_text(
		":ir\nalike\n1\n1\n400\nbit\n1\n1\n104\ncolder\n1\n1\n150\ngone2\n1\n1\n0\n"
		"hotter\n1\n2\n58\n2\na.c;local\n1\n1\n100\nstale\n2\n1\n100\n"
		"unrun\n1\n1\n30\nunrun2\n7\n1\n6\nadded\n1\n1\n50\nnever\n2\n1\n0\n");
	struct profile_diff d;
	struct error err = ERROR_INIT;

	assert_int_equal(profile_diff(old, new, false, 0.005, &d, &err), 0);
	assert_true(d.old_sum == 1000 && d.new_sum == 1000);
	assert_true(d.old_trained == 8 && d.new_trained == 9);
	expect_change(&d, "added", PROFILE_NEW, false);
	expect_change(&d, "unrun", PROFILE_NEW, false);
	expect_change(&d, "unrun2", PROFILE_NEW, true);
	expect_change(&d, "gone", PROFILE_GONE, false);
	expect_change(&d, "gone2", PROFILE_GONE, false);
	expect_change(&d, "hotter", PROFILE_HOTTER, false);
	expect_change(&d, "colder", PROFILE_COLDER, false);
	expect_change(&d, "stale", PROFILE_STALE, true);
	assert_int_equal(d.n, 8);
	assert_string_equal(d.v[0].name, "added"); /* by change, then the largest first */
	assert_string_equal(d.v[3].name, "gone");
	assert_false(d.v[0].old.present);
	assert_true(found(&d, "gone2")->new.present && !found(&d, "gone")->new.present);
	expect_near(found(&d, "hotter")->old.share, 0.01);
	expect_near(found(&d, "hotter")->new.share, 0.06);
	assert_true(d.of[PROFILE_NEW].functions == 3 && d.of[PROFILE_ALIKE].functions == 3);
	expect_near(d.of[PROFILE_NEW].new, 0.086);
	expect_near(d.of[PROFILE_GONE].old, 0.09);
	profile_diff_release(&d);

	assert_int_equal(profile_diff(old, new, false, 0.0039, &d, &err), 0);
	expect_change(&d, "bit", PROFILE_HOTTER, false);
	profile_diff_release(&d);
	/* Without a threshold whatever moved at all is listed, and nothing else. */
	assert_int_equal(profile_diff(old, new, false, 0, &d, &err), 0);
	assert_int_equal(d.of[PROFILE_ALIKE].functions, 2);
	profile_diff_release(&d);
	profile_free(old);
	profile_free(new);
}

static void test_diff_refuses(void **state)
{
	struct profile *ir = from_text(first_text), *fe = from_text(":fe\nf\n1\n1\n5\n"),
		       *none = from_text(":ir\nf\n1\n1\n0\n");
	struct profile_diff d = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(profile_diff(ir, fe, false, 0, &d, &err), -1);
	assert_int_equal(err.code, ERR_MISMATCH);
	error_release(&err);
	assert_int_equal(profile_diff(ir, none, false, 0, &d, &err), -1);
	assert_string_equal(
		err.msg, "the new profile counted nothing, so there is nothing to compare");
	error_release(&err);
	assert_int_equal(d.n, 0);
	profile_free(ir);
	profile_free(fe);
	profile_free(none);
}

static void test_stable_names(void **state)
{
	static const char *const cases[][2] = {
		{"main", "main"},
		{"src/a.c;f", "src/a.c:f"},
		{"src/a.c:f", "src/a.c:f"},
		{"_ZN1a1fEv", "_ZN1a1fEv"},
		{"-[Object message:]", "-[Object message:]"},
		{"_RNvCs9jRqJJKAaWx_3app4main", "_RNvC3app4main"},
		{"_RNvCs1_3app4main", "_RNvC3app4main"},
		{"p.35898ce99c789843-cgu.0;_RNvNtCslf2pJcCcG7_5other3mod1fB4_",
			"_RNvNtC5other3mod1fB"},
		{"_ZN3app4main17h0123456789abcdefE", "_ZN3app4mainE"},
		{"_ZN3app4main17h0123456789abcdegE", "_ZN3app4main17h0123456789abcdegE"},
		{"<unknown>;f", "<unknown>:f"},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *s = profile_stable_name(cases[i][0]);

		assert_string_equal(s, cases[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_overlap_nothing),
		cmocka_unit_test(test_overlap_large),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_diff_refuses),
		cmocka_unit_test(test_stable_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
