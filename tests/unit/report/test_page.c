#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "report/doc.h"
#include "report/drift.h"
#include "sample.h"

static const char *html_of(const char *text)
{
	static struct buf b;

	buf_clear(&b);
	html_text(&b, text);
	return buf_str(&b);
}

static const char *markdown_of(const char *text)
{
	static struct buf b;

	buf_clear(&b);
	markdown_text(&b, text);
	return buf_str(&b);
}

static const char *code_of(const char *text)
{
	static struct buf b;

	buf_clear(&b);
	markdown_code(&b, text);
	return buf_str(&b);
}

static void test_html_escaping(void **state)
{
	assert_string_equal(html_of("a < b && \"c\" > 'd'"),
		"a &lt; b &amp;&amp; &quot;c&quot; &gt; &#39;d&#39;");
	assert_string_equal(html_of("</script><img src=x onerror=alert(1)>"),
		"&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;");
	/* What is escaped already is text like any other. */
	assert_string_equal(html_of("&lt;"), "&amp;lt;");
	assert_string_equal(html_of("\x1b[31m\x01"), "\xef\xbf\xbd[31m\xef\xbf\xbd");
	assert_string_equal(html_of("a\tb\nc"), "a\tb\nc");
	/* What turns the direction of the text: the name would read as another one. */
	assert_string_equal(html_of("a\xe2\x80\xae"
				    "b\xe2\x81\xa6"
				    "c\xd8\x9c\xe2\x80\x8f\xe2\x80\x94"),
		"a\xef\xbf\xbd"
		"b\xef\xbf\xbd"
		"c\xef\xbf\xbd\xef\xbf\xbd\xe2\x80\x94");
	/* Half a character at the end, and one that is no UTF-8. */
	assert_string_equal(html_of("\xc3\xa9\xff\xc3"), "\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(html_of(""), "");
}

static void test_markdown_escaping(void **state)
{
	assert_string_equal(markdown_of("x86_64 _a_ *b* `c`"), "x86_64 \\_a\\_ \\*b\\* \\`c\\`");
	assert_string_equal(markdown_of("a | b"), "a \\| b");
	assert_string_equal(markdown_of("[z](javascript:alert(1))"), "[z\\](javascript:alert(1))");
	assert_string_equal(markdown_of("-5.1 % [-6.2, -4.0]"), "-5.1 % [-6.2, -4.0]");
	assert_string_equal(markdown_of("<b>&amp; a&b"), "\\<b\\>\\&amp; a\\&b");
	assert_string_equal(markdown_of("one\ntwo\r"), "one two\xef\xbf\xbd");
	/* At the start of a block. */
	assert_string_equal(markdown_of("- a"), "\\- a");
	assert_string_equal(markdown_of("12. a"), "12\\. a");
	assert_string_equal(markdown_of("1.2 a"), "1.2 a");
	assert_string_equal(markdown_of("# a"), "\\# a");
	assert_string_equal(markdown_of("==="), "\\===");
}

static void test_markdown_code(void **state)
{
	assert_string_equal(code_of("main"), "`main`");
	assert_string_equal(code_of("a|b"), "`a\\|b`");
	assert_string_equal(code_of("a`b``c"), "``` a`b``c ```");
	assert_string_equal(code_of("one\ntwo"), "`one two`");
	assert_string_equal(code_of(""), "");
}

static char *render(enum sample_kind kind, void (*form)(const struct report *, struct buf *))
{
	struct report r = {0};
	struct buf out = BUF_INIT;

	sample_report(&r, kind);
	form(&r, &out);
	report_release(&r);
	return buf_detach(&out);
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
	const char *at = strstr(text, part);

	if (at)
		fail_msg("'%s' at: %.200s", part, at);
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, part)); p += strlen(part))
		n++;
	return n;
}

/* The whole of the Markdown, word for word. Wrong? Look at the difference; when it is meant, write
 * what `print-sample release markdown` prints over report.md. */
static void test_markdown_golden(void **state)
{
	auto_free char *text = render(SAMPLE_RELEASE, report_markdown);
	auto_buf struct buf golden = BUF_INIT;
	const char *path = getenv("WHET_GOLDEN");

	if (!path)
		skip();
	assert_int_equal(file_read(path, 0, &golden, NULL), 0);
	assert_string_equal(text, buf_str(&golden));
}

static void test_page(void **state)
{
	auto_free char *page = render(SAMPLE_RELEASE, report_html);

	has(page, "<html lang=\"en\">");
	has(page, "default-src 'none'; style-src 'sha256-");
	lacks(page, "unsafe-inline");
	has(page, "<caption id=\"table-1\">CPU time against plain, 10 launches, percent with 95 % "
		  "intervals</caption>");
	has(page, "<th scope=\"row\">documents</th><td class=\"number\">21054 ns/request</td>"
		  "<td class=\"figure\"><span class=\"mark good\">-8.7 % [-9.9, -7.5]</span></td>");
	has(page, "<td class=\"figure\">no difference shown [-1.8, +2.4]</td>");
	has(page, "<span class=\"mark bad\">+3.1 % [+1.9, +4.3]</span>");
	has(page, "<code>&#39;-fprofile-use={state}/profiles/947e.profdata "
		  "-Wbackend-plugin&#39;</code>");
	has(page, "<th scope=\"row\"><code>lookup</code></th><td class=\"number\">24000000</td>"
		  "<td><code>src/edge.c</code></td>");
	/* The name of the source, where the coverage knows it. */
	has(page, "<th scope=\"row\"><code>edge::parse()</code></th>"
		  "<td class=\"number\">9000000</td>");
	has(page, "bypassed");
	/* The third scenario is a run: the driver asked nothing. */
	has(page, "<th scope=\"row\">documents</th><td>plain</td><td class=\"number\">29");
	has(page, "<th scope=\"row\">echo</th><td>null arm</td><td class=\"number\">31");
	lacks(page, "<th scope=\"row\">profile merge</th><td>plain</td>");
	lacks(page, "Not to be published");
	assert_int_equal(count(page, "<table>"), count(page, "<caption"));
	assert_true(strlen(page) < 1000000);
}

static void test_layout(void **state)
{
	auto_free char *page = render(SAMPLE_RELEASE, report_html);

	has(page, "<h2 id=\"layout-title\">Code layout</h2>");
	has(page, "Code of &#39;edge&#39; by section, bytes</caption>");
	has(page, "<th scope=\"row\">.text.hot</th><td class=\"number\">0</td>"
		  "<td class=\"number\">40912</td><td class=\"number\">+40912</td>");
	has(page, "<td class=\"number\">+213520</td>"); /* 42 times: no percentage */
	has(page, "<th scope=\"row\">.text.startup, .text.exit</th><td class=\"number\">1409</td>"
		  "<td class=\"number\">1388</td><td class=\"number\">-21 (-1.5 %)</td>");
	has(page, "<th scope=\"row\">all</th><td class=\"number\">405764</td>"
		  "<td class=\"number\">437187</td><td class=\"number\">+31423 (+7.7 %)</td>");
	has(page, "Of &#39;edge-admin&#39; the linker&#39;s map did not tell it.");
}

static void test_history(void **state)
{
	auto_free char *page = render(SAMPLE_RELEASE, report_html);
	struct report r = {0};
	struct report_past v[REPORT_PAST_MAX];

	has(page, "<svg class=\"plot\" role=\"img\" aria-labelledby=\"plot-history\"");
	has(page, "<th scope=\"row\">3</th><td>2025-12-13T03:04:05Z</td><td>1.1</td>"
		  "<td><code>7f8bd41fc329</code></td><td class=\"figure\">"
		  "<span class=\"mark good\">-8.1 % [-9.3, -6.9]</span></td>"
		  "<td>Example CPU 1, 2 processors</td></tr>");
	has(page, "<code>7f8bd41fc329+</code>");
	has(page, "<th scope=\"row\">this build</th>");
	lacks(page, "<th scope=\"row\">5</th><td>"); /* was not measured */
	sample_report(&r, SAMPLE_RELEASE);
	assert_int_equal(report_past(&r, v), 6);
	assert_int_equal(v[0].build->id, 3);
	assert_int_equal(v[4].build->id, 8);
	assert_int_equal(v[5].build->id, 0);
	assert_ptr_equal(v[5].figure, &r.comparisons.weighted[0]);
	/* This build alone is no history. */
	for (size_t i = 0; i + 1 < r.past.n; i++)
		r.past.v[i].id = 0;
	assert_int_equal(report_past(&r, v), 0);
	report_release(&r);
}

/* Not more than the last ones. */
static void test_long_history(void **state)
{
	struct report r = {0};
	struct report_past v[REPORT_PAST_MAX];
	char pgo[] = "pgo", plain[] = "plain";
	struct comparison one = {.scenario = pgo, .variant = pgo, .base = plain, .ratio = 0.9};

	r.past.n = 50;
	r.past.v = xcalloc(r.past.n, sizeof(*r.past.v));
	for (size_t i = 0; i < r.past.n; i++) {
		r.past.v[i].id = (int64_t)i + 1;
		r.past.v[i].bench = (struct comparisons){.v = &one, .n = 1};
	}
	assert_int_equal(report_past(&r, v), REPORT_PAST_MAX);
	assert_int_equal(v[0].build->id, 31);
	assert_int_equal(v[REPORT_PAST_MAX - 1].build->id, 50);
	free(r.past.v);
}

/* Every run has its table and its plot. */
static void test_repeats(void **state)
{
	auto_free char *page = render(SAMPLE_LABELLED, report_html);

	has(page, "<title id=\"plot-intervals\">Run 1: Change of CPU time");
	has(page, "<title id=\"plot-intervals-2\">Run 2: Change of CPU time");
	has(page, "Run 1: CPU time against plain");
	has(page, "Run 2: CPU time against plain");
	has(page, "<title id=\"plot-drift-2\">");
	has(page, "<h3>Counters: run 2</h3>");
	assert_int_equal(count(page, "client-bound: in scenario"), 2);
}

/* Wherever a figure of the comparison stands, the label stands too. */
static void test_labelled(void **state)
{
	auto_free char *page = render(SAMPLE_LABELLED, report_html);
	auto_free char *text = render(SAMPLE_LABELLED, report_markdown);

	has(page, "<p class=\"label\">Not to be published: gates failed</p>");
	has(page, "intervals (gates failed)</caption>");
	assert_int_equal(
		count(page, "<span class=\"mark warn\">gates failed</span></td></tr>"), 33);
	has(page, "percent of CPU time (gates failed)</text>");
	has(page, "<dd>(gates failed) 95 % interval");
	has(page, "against the whole run (gates failed)</caption>");
	has(page, "build (this one: gates failed)</text>");
	has(page, "Code of &#39;edge&#39; by section, bytes (gates failed)</caption>");
	has(page, "The figure of this build is not that of a release: gates failed.");
	has(text,
		"CPU time against plain, 10 launches, percent with 95 % intervals (gates failed)");
	has(text, "stale failed: 2 functions differ");
	has(text, "    src/edge.c: parse_request\n");
	has(text, "What to do: Train again with the present sources.");
	/* How to read it: what the comparison warns of, and what lies inside the null arm. */
	has(page, "<p class=\"note warn\">drift of 4.1 %: read the table as one of a machine that "
		  "changed</p>");
	has(page, "(the canary) changed by 4.1 % over the run; from 3 % on there is an alarm.</p>");
	has(page, "<th scope=\"row\">echo (held out)</th>");
	has(page, "<p class=\"note warn\">client-bound: in scenario");
	has(page, "<p class=\"note warn\">the null arm (the base against its own copy) shows");
}

static void test_inside_null(void **state)
{
	struct report r = {0};
	auto_buf struct buf out = BUF_INIT;

	sample_report(&r, SAMPLE_RELEASE);
	r.comparisons.v[0].ratio = 0.985; /* the null arm of this scenario: -1.8 to +2.4 % */
	report_markdown(&r, &out);
	has(buf_str(&out), "'documents' with pgo: a change of -1.5 % lies inside the interval of "
			   "the null arm (-1.8 to +2.4 %).");
	report_release(&r);
}

/* Names of every kind, from somebody with intentions: none of them is markup. */
static void test_hostile(void **state)
{
	auto_free char *page = render(SAMPLE_HOSTILE, report_html);
	auto_free char *text = render(SAMPLE_HOSTILE, report_markdown);

	lacks(page, "<img");
	lacks(page, "<svg onload");
	lacks(page, "<script>alert");
	lacks(page, "<style>*");
	lacks(page, "<b>");
	lacks(page, "\x1b");
	lacks(page, "\xe2\x80\xae");
	lacks(text, "\n## **y**");
	lacks(text, "\\*\\*y\\*\\* [z](javascript"); /* escaped, but still a link */
	lacks(text, "\x1b");
	/* As many scripts begin as end: the data and, with the plot library, the program. */
	assert_int_equal(count(page, "<script"), count(page, "</script"));
	assert_int_equal(count(page, "<style"), 1);
	assert_true(count(page, "<script") == 2 || count(page, "<script") == 0);
	/* Every row has as many cells as its table has columns. */
	assert_int_equal(count(page, "<tr>"), count(page, "</tr>"));
}

/* A report that ended early, and one of a comparison alone. */
static void test_parts(void **state)
{
	struct report r = {0};
	auto_buf struct buf empty = BUF_INIT, bench = BUF_INIT;

	report_html(&r, &empty);
	has(buf_str(&empty), "<h1>?</h1>");
	lacks(buf_str(&empty), "<table>");
	lacks(buf_str(&empty), "<script");
	sample_report(&r, SAMPLE_RELEASE);
	r.n_stages = r.verdicts.n = 0;
	r.has_coverage = false;
	report_html(&r, &bench);
	has(buf_str(&bench), "id=\"comparison\"");
	lacks(buf_str(&bench), "id=\"stages\"");
	lacks(buf_str(&bench), "id=\"gates\"");
	lacks(buf_str(&bench), "id=\"coverage\"");
	r.n_stages = 8;
	r.verdicts.n = 8;
	r.has_coverage = true;
	report_release(&r);
}

/* Too few launches: no interval, and nothing drawn that would look like one. */
static void test_no_interval(void **state)
{
	struct report r = {0};
	auto_buf struct buf out = BUF_INIT;

	sample_report(&r, SAMPLE_RELEASE);
	for (size_t i = 0; i < r.comparisons.n; i++) {
		r.comparisons.v[i].low = r.comparisons.v[i].high = r.comparisons.v[i].p = NAN;
		r.comparisons.v[i].shown = SHOWN_NONE;
		r.comparisons.v[i].launches = 3;
	}
	r.comparisons.n_weighted = 0;
	report_html(&r, &out);
	has(buf_str(&out), "not shown by 3 launches");
	lacks(buf_str(&out), "nan");
	r.comparisons.n_weighted = 3;
	report_release(&r);
}

/* The base becomes 2 % slower from launch to launch: the drift says so, in any unit. */
static void test_drift(void **state)
{
	struct report r = {0};
	struct drift d;

	sample_report(&r, SAMPLE_RELEASE);
	r.samples.n = 0;
	for (uint32_t l = 0; l < 5; l++)
		for (uint32_t s = 0; s < 3; s++)
			for (uint32_t a = 0; a < 4; a++) {
				struct sample one = {l, s, a, 0, 10,
					(uint64_t)((s + 1) * 1e6 * (1 + 0.02 * ((double)l - 2))),
					1000000000, 0};

				samples_add(&r.samples, &one);
			}
	drift_of(&r, &d);
	assert_int_equal(d.n, 5);
	for (size_t i = 0; i < 5; i++) {
		double expected = 1 + 0.02 * ((double)i - 2);

		assert_true(fabs(d.v[i].base - expected) < 1e-9);
		assert_true(fabs(d.v[i].null - expected) < 1e-9);
		assert_true(fabs(d.v[i].begun_s - 12 * (double)i) < 1e-9);
		assert_int_equal(d.v[i].slices, 12);
	}
	drift_release(&d);
	report_release(&r);
}

/* Many samples: the page stays small. */
static void test_size(void **state)
{
	struct report r = {0};
	auto_buf struct buf out = BUF_INIT;

	sample_report(&r, SAMPLE_RELEASE);
	for (size_t i = 0, n = r.samples.n; i < 100000; i++)
		samples_add(&r.samples, &(struct sample){(uint32_t)(10 + i / 1000), i % 3, i % 4, 0,
						2300, 48000000 + i % n * 100, 50000000, 0});
	report_html(&r, &out);
	assert_true(out.n < 1000000);
	report_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_html_escaping),
		cmocka_unit_test(test_markdown_escaping),
		cmocka_unit_test(test_markdown_code),
		cmocka_unit_test(test_markdown_golden),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_long_history),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_labelled),
		cmocka_unit_test(test_inside_null),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_no_interval),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests_name("report-page", tests, NULL, NULL);
}
