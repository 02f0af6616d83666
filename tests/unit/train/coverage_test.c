/* Coverage and weights, on profiles that are written here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "train/counts.h"
#include "train/coverage.h"

static char folder[] = "/tmp/whet-coverage-XXXXXX";
static char *scratch;

static int set_up(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	scratch = path_join(folder, "scratch");
	return 0;
}

static int tear_down(void **state)
{
	free(scratch);
	return tree_remove(folder, NULL);
}

static struct profile *profile_of(const char *text)
{
	struct profile *p = profile_new();
	struct error err = ERROR_INIT;

	if (profile_add_bytes(p, text, strlen(text), 1, NULL, &err) < 0)
		fail_msg("%s in: %s", err.msg, text);
	return p;
}

static void text_is(const struct buf *b, const char *want)
{
	struct profile *p = profile_of(buf_str(b)); /* the engine reads it */

	profile_free(p);
	assert_string_equal(buf_str(b), want);
}

/* ---- counts.c ------------------------------------------------------------------------------- */

/* Targets have names in the text form when the profile has a record of them. */
#define TARGETS "one\n1\n1\n0\n\nthree\n1\n1\n0\n\ntwo\n1\n1\n0\n\n"
#define BEFORE                                                                                     \
	":ir\ncall\n7\n2\n100\n5\n1\n0\n2\n2\none:60\ntwo:40\n1\none:3\n\n"                        \
	"main\n1\n1\n4\n\nsteady\n3\n1\n9\n\n" TARGETS
#define AFTER                                                                                      \
	":ir\nadded\n2\n1\n6\n\ncall\n7\n2\n150\n4\n1\n0\n2\n3\none:61\nthree:9\ntwo:80\n1\none:"  \
	"3\n\n"                                                                                    \
	"main\n1\n1\n5\n\nsteady\n3\n1\n9\n\n" TARGETS

static void difference_keeps_what_grew(void **state)
{
	struct profile *before = profile_of(BEFORE), *after = profile_of(AFTER);
	auto_buf struct buf b = BUF_INIT;

	assert_int_equal(counts_between(before, after, scratch, &b, NULL), 0);
	/* A counter that went down counts as 0, and so does a value; `steady` is left out. */
	text_is(&b,
		"# counters\n:ir\nadded\n2\n1\n6\n\n"
		"call\n7\n2\n50\n0\n1\n0\n2\n3\ntwo:40\none:1\nthree:9\n0\n\nmain\n1\n1\n1\n\n");
	assert_false(path_exists(scratch));
	profile_free(before);
	profile_free(after);
}

static void difference_from_nothing(void **state)
{
	struct profile *after = profile_of(":ir\nmain\n1\n2\n0\n5\n\nnever\n4\n1\n0\n\n");
	auto_buf struct buf b = BUF_INIT;

	assert_int_equal(counts_between(NULL, after, scratch, &b, NULL), 0);
	text_is(&b, "# counters\n:ir\nmain\n1\n2\n0\n5\n\n");
	profile_free(after);
}

/* Another hash is another function: the program was replaced by one with other code. */
static void difference_of_other_code(void **state)
{
	struct profile *before = profile_of(":ir\nmain\n1\n1\n4\n\n");
	struct profile *after = profile_of(":ir\nmain\n2\n1\n5\n\n");
	auto_buf struct buf b = BUF_INIT;

	assert_int_equal(counts_between(before, after, scratch, &b, NULL), 0);
	text_is(&b, "# counters\n:ir\nmain\n2\n1\n5\n\n");
	profile_free(before);
	profile_free(after);
}

static void difference_keeps_bitmaps_and_front_end(void **state)
{
	struct profile *after = profile_of("main\n1\n1\n4\n$2\n0x3\n0x80\n\n");
	auto_buf struct buf b = BUF_INIT;

	assert_int_equal(counts_between(NULL, after, scratch, &b, NULL), 0);
	text_is(&b, "# counters\nmain\n1\n1\n4\n$2\n0x3\n0x80\n\n");
	profile_free(after);
}

static int scaled(const char *text, uint64_t factor, struct buf *ret)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, text);
	return counts_scaled(&b, factor, ret, NULL);
}

static void factor_rounds_and_saturates(void **state)
{
	static const char counted[] =
		(":ir\nf\n1\n4\n1\n3\n0\n10000000000000000000\n1\n1\n1\n1\n64:5\n\n");
	auto_buf struct buf b = BUF_INIT;

	assert_int_equal(scaled(counted, COUNTS_FACTOR_ONE * 5 / 2, &b), 0);
	/* 2.5 and 7.5 and 12.5, halves up. */
	text_is(&b,
		"# counters\n:ir\nf\n1\n4\n3\n8\n0\n18446744073709551613\n1\n1\n1\n1\n64:13\n\n");
	assert_int_equal(scaled(counted, COUNTS_FACTOR_ONE / 1000, &b), 0);
	text_is(&b, "# counters\n:ir\nf\n1\n4\n0\n0\n0\n9994506835937500\n1\n1\n1\n0\n\n");
	assert_int_equal(scaled(":ir\nf\n1\n2\n1\n", COUNTS_FACTOR_ONE, &b), -1);
}

/* ---- coverage_table.c ----------------------------------------------------------------------- */

static const char known[] =
	":ir\nsrc/a.c;local\n1\n2\n0\n0\n\nhot\n2\n2\n0\n0\n\nother\n3\n1\n0\n\nsetup\n4\n1\n0\n\n"
	"/tmp/src/v2.c;v2_big\n5\n3\n0\n0\n0\n\nv2_small\n6\n1\n0\n\n";

static void add(struct coverage_table *t, enum coverage_part part, const char *setting,
	const char *phase, const char *text)
{
	coverage_table_add(t, part, setting, phase, profile_of(text));
}

static struct coverage_table *table(void)
{
	struct coverage_table *t = coverage_table_new("/tmp/src/");
	struct profile *all = profile_of(known);

	assert_true(coverage_table_empty(t));
	coverage_table_know(t, all);
	coverage_table_know(t, all);
	assert_false(coverage_table_empty(t));
	profile_free(all);
	add(t, COVERAGE_START, NULL, NULL, ":ir\nhot\n2\n2\n1\n0\n\nsetup\n4\n1\n1\n\n");
	return t;
}

static void functions_of_phases(void **state)
{
	struct coverage_table *t = table();
	struct coverage_facts c = {0};
	const struct coverage_phase *p;

	add(t, COVERAGE_PHASE, NULL, "one",
		":ir\nhot\n2\n2\n80\n20\n\nsrc/a.c;local\n1\n2\n7\n0\n\n");
	add(t, COVERAGE_PHASE, NULL, "two", ":ir\nhot\n2\n2\n10\n20\n\nother\n3\n1\n500\n\n");
	add(t, COVERAGE_STOP, NULL, NULL, "# counters\n:ir\n");
	coverage_table_judge(t, &c);
	assert_int_equal(c.n_phases, 4);
	assert_int_equal(c.n_settings, 0);
	p = &c.phases[1];
	assert_string_equal(p->name, "one");
	assert_true(p->count == 107 && p->functions == 2 && p->counters == 3);
	assert_true(p->new_functions == 1 && p->new_counters == 2 && p->new_count == 27);
	assert_int_equal(p->first.n, 1);
	assert_string_equal(p->first.v[0].name, "local");
	assert_string_equal(p->first.v[0].file, "src/a.c");
	assert_true(p->first.v[0].counters == 2 && p->first.v[0].count == 7);
	assert_true(p->first.v[0].share == 1);
	/* hot: 100 of 131 here. */
	assert_int_equal(p->mostly.n, 2);
	assert_string_equal(p->mostly.v[0].name, "hot");
	assert_true(p->mostly.v[0].count == 100 && p->mostly.v[0].share == 100.0 / 131);
	assert_false(p->useless);
	assert_null(p->like);
	p = &c.phases[2];
	assert_string_equal(p->like, "one");
	assert_string_equal(p->first.v[0].name, "other");
	assert_false(p->useless);
	assert_true(c.functions == 6 && c.counters == 10);
	assert_true(c.phase_functions == 3 && c.outside_functions == 1 && c.executed_counters == 5);
	assert_true(c.unreached.all == 2 && c.unreached.n == 2);
	assert_string_equal(c.unreached.v[0].name, "v2_big");
	assert_string_equal(c.unreached.v[0].file, "v2.c");
	assert_true(c.unreached.v[0].counters == 3);
	assert_string_equal(c.unreached.v[1].name, "v2_small");
	assert_null(c.unreached.v[1].file);
	coverage_facts_release(&c);
	coverage_table_free(t);
}

static void useless_phases(void **state)
{
	static const char one[] = ":ir\nhot\n2\n2\n80000\n20000\n\n";
	struct coverage_table *t = table();
	struct coverage_facts c = {0};

	add(t, COVERAGE_PHASE, NULL, "one", one);
	add(t, COVERAGE_PHASE, NULL, "as one", ":ir\nhot\n2\n2\n8100\n2000\n\n");
	add(t, COVERAGE_PHASE, NULL, "other share", ":ir\nhot\n2\n2\n2000\n8000\n\n");
	add(t, COVERAGE_PHASE, NULL, "a rare function",
		":ir\nhot\n2\n2\n80000\n20000\n\nother\n3\n1\n1\n\n");
	add(t, COVERAGE_PHASE, NULL, "idle", "# counters\n:ir\n");
	coverage_table_judge(t, &c);
	assert_false(c.phases[1].useless);
	assert_true(c.phases[2].useless);
	assert_string_equal(c.phases[2].like, "one");
	assert_true(c.phases[2].alike > 0.99 && c.phases[2].alike <= 1);
	assert_false(c.phases[3].useless);
	assert_false(c.phases[4].useless);
	assert_true(c.phases[5].useless && !c.phases[5].like);
	coverage_facts_release(&c);
	coverage_table_free(t);
}

/* The same code with other sizes or targets is no repetition. */
static void values_count(void **state)
{
	struct coverage_table *t = table();
	struct coverage_facts c = {0};

	add(t, COVERAGE_PHASE, NULL, "short",
		":ir\nhot\n2\n2\n80\n20\n1\n1\n1\n2\n8:60\n16:20\n\n");
	add(t, COVERAGE_PHASE, NULL, "short again",
		":ir\nhot\n2\n2\n80\n20\n1\n1\n1\n2\n8:60\n16:20\n\n");
	add(t, COVERAGE_PHASE, NULL, "long",
		":ir\nhot\n2\n2\n80\n20\n1\n1\n1\n2\n8:20\n4096:60\n\n");
	coverage_table_judge(t, &c);
	assert_true(c.phases[2].useless && c.phases[2].alike == 1);
	assert_false(c.phases[3].useless);
	assert_true(c.phases[3].alike == 0.25);
	coverage_facts_release(&c);
	coverage_table_free(t);
}

static void settings_are_told_apart(void **state)
{
	struct coverage_table *t = table();
	struct coverage_facts c = {0};

	add(t, COVERAGE_PHASE, "h=old", "one", ":ir\nhot\n2\n2\n80\n20\n\nother\n3\n1\n5\n\n");
	add(t, COVERAGE_START, "h=new", NULL, ":ir\nsetup\n4\n1\n1\n\n");
	add(t, COVERAGE_PHASE, "h=new", "one", ":ir\nhot\n2\n2\n80\n20\n\nv2_small\n6\n1\n5\n\n");
	add(t, COVERAGE_PHASE, "h=off", "one", "# counters\n:ir\n");
	coverage_table_judge(t, &c);
	assert_int_equal(c.n_settings, 3);
	assert_string_equal(c.settings[0].name, "h=old");
	assert_true(
		c.settings[0].reached && c.settings[0].only.all == 1 && c.settings[0].count == 105);
	assert_string_equal(c.settings[0].only.v[0].name, "other");
	assert_true(c.settings[1].reached && c.settings[1].only.all == 1);
	assert_string_equal(c.settings[1].only.v[0].name, "v2_small");
	assert_false(c.settings[2].reached);
	/* A phase repeated for another setting is not compared with itself. */
	assert_null(c.phases[3].like);
	assert_false(c.phases[3].useless);
	coverage_facts_release(&c);
	coverage_table_free(t);
}

static void values_of_combinations(void **state)
{
	struct coverage_table *t = table();
	struct coverage_facts c = {0};

	add(t, COVERAGE_PHASE, "h=old, log=on", "one",
		":ir\nhot\n2\n2\n80\n20\n\nother\n3\n1\n5\n\n");
	add(t, COVERAGE_PHASE, "h=old, log=off", "one",
		":ir\nhot\n2\n2\n80\n20\n\nother\n3\n1\n5\n\n");
	add(t, COVERAGE_PHASE, "h=new, log=on", "one",
		":ir\nhot\n2\n2\n80\n20\n\nv2_small\n6\n1\n5\n\n");
	add(t, COVERAGE_PHASE, "h=new, log=off", "one", ":ir\nhot\n2\n2\n80\n20\n\n");
	coverage_table_judge(t, &c);
	assert_int_equal(c.n_settings, 4);
	assert_string_equal(c.settings[0].name, "h=old");
	assert_true(c.settings[0].count == 210 && c.settings[0].only.all == 1);
	assert_string_equal(c.settings[0].only.v[0].name, "other");
	assert_true(c.settings[0].only.v[0].count == 10);
	/* v2_small has one combination alone, so both of its values. */
	assert_string_equal(c.settings[1].name, "log=on");
	assert_true(c.settings[1].only.all == 1 && c.settings[1].count == 210);
	assert_string_equal(c.settings[2].name, "log=off");
	assert_true(c.settings[2].only.all == 0 && c.settings[2].reached);
	assert_string_equal(c.settings[3].name, "h=new");
	assert_string_equal(c.settings[3].only.v[0].name, "v2_small");
	coverage_facts_release(&c);
	coverage_table_free(t);
}

/* ---- weigh.c -------------------------------------------------------------------------------- */

struct weighing {
	struct plan_train plan;
	struct plan_phase phases[2];
	struct coverage_facts c;
	struct coverage_phase parts[3];
};

static void keep(const char *name, const char *text)
{
	auto_free char *path = path_join(folder, name);

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

#define TEXT(text) ((char *)(uintptr_t)(text))

/* Phase a counted 1000 of f, b 100 of g and 20 of both's h; the start 3 of f. */
static void weighing_make(struct weighing *w, double a, double b)
{
	*w = (struct weighing){0};
	w->plan.phases = w->phases;
	w->plan.n_phases = 2;
	w->phases[0] = (struct plan_phase){.name = TEXT("a"), .weight = a};
	w->phases[1] = (struct plan_phase){.name = TEXT("b"), .weight = b};
	w->c.phases = w->parts;
	w->c.n_phases = 3;
	w->parts[0] = (struct coverage_phase){.part = COVERAGE_START, .count = 3};
	w->parts[1] = (struct coverage_phase){.part = COVERAGE_PHASE,
		.name = TEXT("a"),
		.count = 1000,
		.profile = TEXT("1.proftext")};
	w->parts[2] = (struct coverage_phase){.part = COVERAGE_PHASE,
		.name = TEXT("b"),
		.count = 120,
		.profile = TEXT("2.proftext")};
	keep("1.proftext", ":ir\nf\n1\n1\n980\n\nh\n3\n1\n20\n\n");
	keep("2.proftext", ":ir\ng\n2\n1\n100\n1\n0\n1\n1\nf:100\n\nh\n3\n1\n20\n\n");
}

static int note(void *ctx, const char *key, uint64_t hash, const uint64_t *counts, size_t n)
{
	uint64_t *to = ctx;

	assert_int_equal(n, 1);
	to[*key - 'f'] = counts[0];
	return 0;
}

static void weighted(struct weighing *w, const uint64_t want[3])
{
	struct profile *p = profile_of(
		":ir\nf\n1\n1\n983\n\ng\n2\n1\n100\n1\n0\n1\n1\nf:100\n\nh\n3\n1\n40\n\n");
	struct error err = ERROR_INIT;
	uint64_t got[3] = {0};

	if (train_weigh(p, &w->plan, &w->c, folder, &err) < 0)
		fail_msg("%s", err.msg);
	profile_each(p, note, got);
	for (size_t i = 0; i < 3; i++)
		if (got[i] != want[i])
			fail_msg("%c: %llu, not %llu", (char)('f' + i), (unsigned long long)got[i],
				(unsigned long long)want[i]);
	profile_free(p);
}

static void shares_follow_the_weights(void **state)
{
	struct weighing w;

	/* 3:1: a keeps its 1000, b is 333.3 in sum: 100 and 20 times 2.7778. */
	weighing_make(&w, 3, 1);
	assert_true(train_is_weighted(&w.plan));
	weighted(&w, (uint64_t[]){983, 278, 20 + 56});
	weigh_parts(&w.plan, &w.c);
	assert_true(w.parts[0].weight == 0 && w.parts[0].times == 1);
	assert_true(w.parts[1].weight == 3 && w.parts[1].times == 1);
	assert_true(w.parts[2].times > 2.777777 && w.parts[2].times < 2.777779);
	/* 1:3: b is 3000 in sum, 25 times its own. */
	weighing_make(&w, 1, 3);
	weighted(&w, (uint64_t[]){983, 2500, 20 + 500});
	/* 1:0.1: b counted more than its weight asks for, so a is raised to 1200. */
	weighing_make(&w, 1, 0.1);
	weighted(&w, (uint64_t[]){3 + 1176, 100, 24 + 20});
}

static void equal_weights_change_nothing(void **state)
{
	struct weighing w;

	weighing_make(&w, 2, 2);
	w.c.problem = TEXT("not known, and not needed");
	assert_false(train_is_weighted(&w.plan));
	weigh_parts(&w.plan, &w.c);
	assert_true(w.parts[2].weight == 2 && w.parts[2].times == 1);
	weighted(&w, (uint64_t[]){983, 100, 40});
}

static void settings_share_a_weight(void **state)
{
	struct weighing w;

	/* The two are one phase with two settings: alone, so nothing is to be weighed. */
	weighing_make(&w, 3, 1);
	w.parts[2].name = TEXT("a");
	weighted(&w, (uint64_t[]){983, 100, 40});
}

static void unknown_counts_are_an_error(void **state)
{
	struct weighing w;
	struct error err = ERROR_INIT;
	struct profile *p = profile_new();

	weighing_make(&w, 3, 1);
	w.c.problem = TEXT("no permission");
	assert_int_equal(train_weigh(p, &w.plan, &w.c, folder, &err), -1);
	assert_int_equal(err.code, ERR_ENVIRONMENT);
	assert_non_null(strstr(err.msg, "no permission"));
	error_release(&err);
	profile_free(p);
}

/* A phase that counted next to nothing: the factor ends where numbers do. */
static void factors_saturate(void **state)
{
	struct weighing w;

	weighing_make(&w, 1e6, 1e-6);
	w.parts[2].count = UINT64_MAX;
	w.parts[1].count = 1;
	keep("1.proftext", ":ir\nf\n1\n1\n18446744073709551000\n\n");
	weighted(&w, (uint64_t[]){UINT64_MAX - 2, 100, 40});
}

/* ---- demangle.c ----------------------------------------------------------------------------- */

static void names_of_the_source(void **state)
{
	static const char *const names[][2] = {
		{"_ZN3foo3barEi", "foo::bar(int)"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
		{"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
		{"_Zbroken", NULL},
		{"main", NULL},
	};
	struct coverage_facts c = {0};
	struct coverage_functions *f = &c.unreached;

	f->n = ARRAY_SIZE(names);
	f->v = xcalloc(f->n, sizeof(*f->v));
	for (size_t i = 0; i < f->n; i++)
		f->v[i].name = xstrdup(names[i][0]);
	coverage_demangle(&c);
	for (size_t i = 0; i < f->n; i++) {
		assert_string_equal(f->v[i].name, names[i][0]);
		if (names[i][1])
			assert_string_equal(f->v[i].source_name, names[i][1]);
		else
			assert_null(f->v[i].source_name);
	}
	coverage_facts_release(&c);
}

static void names_without_demangler(void **state)
{
	auto_free char *path = xstrdup(getenv("PATH"));
	struct coverage_facts c = {0};

	c.unreached.n = 1;
	c.unreached.v = xcalloc(1, sizeof(*c.unreached.v));
	c.unreached.v[0].name = xstrdup("_ZN3foo3barEi");
	setenv("PATH", "/nowhere", 1);
	coverage_demangle(&c);
	setenv("PATH", path, 1);
	assert_null(c.unreached.v[0].source_name);
	coverage_facts_release(&c);
}

#define TEST(f) cmocka_unit_test(f)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(difference_keeps_what_grew),
		TEST(difference_from_nothing),
		TEST(difference_of_other_code),
		TEST(difference_keeps_bitmaps_and_front_end),
		TEST(factor_rounds_and_saturates),
		TEST(functions_of_phases),
		TEST(useless_phases),
		TEST(values_count),
		TEST(settings_are_told_apart),
		TEST(values_of_combinations),
		TEST(shares_follow_the_weights),
		TEST(equal_weights_change_nothing),
		TEST(settings_share_a_weight),
		TEST(unknown_counts_are_an_error),
		TEST(factors_saturate),
		TEST(names_of_the_source),
		TEST(names_without_demangler),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
