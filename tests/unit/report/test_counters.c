/* The three outcomes of asking for hardware counters, and a simulation, in every form of the
 * report. */
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
#include "report/report.h"

static void add(struct report *r, const char *variant)
{
	struct comparisons *c = &r->comparisons;

	array_reserve(c->v, c->n, c->cap);
	c->v[c->n++] = (struct comparison){.scenario = xstrdup("mix"),
		.variant = xstrdup(variant),
		.base = xstrdup("plain"),
		.base_ns = 8012,
		.ratio = 0.949,
		.low = 0.938,
		.high = 0.96,
		.p = 0.002,
		.launches = 10};
}

static void begin(struct report *r)
{
	add(r, "pgo");
	add(r, "null");
	r->comparisons.warnings = xstrdup("");
	r->comparisons.drift = NAN;
}

static void allowed(struct report *r)
{
	struct counters *c = &r->comparisons.counters;
	static const char *const variants[] = {"plain", "pgo", "null"};

	begin(r);
	c->state = COUNTERS_COUNTED;
	c->running = 1;
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		struct counted *one = counters_add(c, "mix", variants[i], false);

		one->v[COUNTER_USER][COUNTER_INSTRUCTIONS].value = i == 1 ? 10811 : 14036;
		one->v[COUNTER_KERNEL][COUNTER_ITLB_MISSES].value = 3.25;
		one->kernel_share = 0.625;
		one->kernel_error = 0.0149;
	}
	c->v[1].v[COUNTER_USER][COUNTER_INSTRUCTIONS].ratio = 0.7702;
	c->v[1].v[COUNTER_USER][COUNTER_INSTRUCTIONS].low = 0.7695;
	c->v[1].v[COUNTER_USER][COUNTER_INSTRUCTIONS].high = 0.7711;
}

static void none(struct report *r, enum counters_state state, const char *note)
{
	begin(r);
	r->comparisons.counters.state = state;
	r->comparisons.counters.running = NAN;
	if (note)
		counters_note(&r->comparisons.counters, "%s", note);
}

static void has(void (*form)(const struct report *r, struct buf *out), const struct report *r,
	const char *expected)
{
	auto_buf struct buf out = BUF_INIT;

	form(r, &out);
	if (!strstr(buf_str(&out), expected)) {
		fprintf(stderr, "%s\n", buf_str(&out));
		fail_msg("expected '%s'", expected);
	}
}

static void lacks(void (*form)(const struct report *r, struct buf *out), const struct report *r,
	const char *text)
{
	auto_buf struct buf out = BUF_INIT;

	form(r, &out);
	if (strstr(buf_str(&out), text))
		fail_msg("not expected: '%s' in:\n%s", text, buf_str(&out));
}

static void bench_text(const struct report *r, struct buf *out)
{
	report_bench_text(r, "", out);
}

static void json(const struct report *r, struct buf *out)
{
	auto_json json_t *all = report_bench_json(r);
	auto_free char *text =
		json_dumps(json_object_get(all, "counters"), JSON_COMPACT | JSON_SORT_KEYS);

	buf_adds(out, text);
}

/* They are there, but each slice failed: nothing is said of figures that there are none of. */
static void test_failed(void **state)
{
	struct report r = {0};

	none(&r, COUNTERS_COUNTED, "variant 'pgo': cannot count in user mode: Too many open files");
	has(bench_text, &r, "\n  variant 'pgo': cannot count in user mode: Too many open files\n");
	lacks(bench_text, &r, "hardware counters by mode");
	lacks(bench_text, &r, "scaled up");
	lacks(bench_text, &r, "nan");
	report_release(&r);
}

static void test_allowed(void **state)
{
	struct report r = {0};

	allowed(&r);
	has(bench_text, &r,
		"Counters per request, beside the comparison\n"
		"  scenario  counter                            plain     pgo                  "
		"         null arm\n"
		"  mix       instructions, user                 14036     10811 -23.0 % [-23.1,"
		" -22.9]  14036\n"
		"            iTLB misses, kernel                3.25      3.25                 "
		"         3.25\n"
		"            kernel's share of CPU time, about  62 % ± 2  62 % ± 2             "
		"         62 % ± 2\n"
		"  user, kernel: hardware counters by mode, with the 95 % interval of each figure "
		"alone\n"
		"  kernel's share: approximate, sampled by the kernel's clock; no profile changes "
		"the kernel\n");
	lacks(bench_text, &r, "scaled up");
	lacks(bench_text, &r, "simulated");
	has(report_markdown, &r,
		"| mix | instructions, user | 14036 | 10811 -23.0 % [-23.1, -22.9] | 14036 |");
	has(report_html, &r, "10811 -23.0 % [-23.1, -22.9]");
	has(json, &r, "\"hardware\":\"counted\"");
	has(json, &r, "\"running_share\":1.0");
	has(json, &r, "\"instructions\":{\"high\":0.7711");
	has(json, &r, "\"cycles\":null");
	r.comparisons.counters.running = 0.62;
	has(bench_text, &r,
		"scaled up: the events shared the processor's counters; one had its own for 62 % "
		"of the time\n");
	/* Of a release that is none, every line says so. */
	r.given_label = xstrdup("gates failed");
	has(report_markdown, &r,
		"| mix | iTLB misses, kernel | 3.25 | 3.25 | 3.25 | gates failed |");
	report_release(&r);
}

/* A cell is never empty without a reason: with too few ticks it tells how many there were. */
static void test_too_few_ticks(void **state)
{
	struct report r = {0};
	struct counters *c = &r.comparisons.counters;
	static const char remark[] =
		"N of M ticks: too few ticks of the kernel's clock fell into this CPU time to tell "
		"user and kernel apart";

	allowed(&r);
	lacks(bench_text, &r, "of M ticks");
	c->v[1].kernel_share = c->v[1].kernel_error = NAN;
	c->v[1].kernel_ticks = 31;
	c->v[1].kernel_ticks_needed = 50;
	has(bench_text, &r,
		"            kernel's share of CPU time, about  62 % ± 2  31 of 50 ticks        "
		"        62 % ± 2\n");
	has(bench_text, &r, remark);
	has(report_markdown, &r,
		"| mix | kernel's share of CPU time, about | 62 % ± 2 | 31 of 50 ticks | 62 % ± 2 "
		"|");
	has(report_markdown, &r, remark);
	has(report_html, &r, "31 of 50 ticks");
	has(report_html, &r, "too few ticks of the kernel");
	has(json, &r,
		"\"kernel_share\":null,\"kernel_share_error\":null,\"kernel_ticks\":31.0,"
		"\"kernel_ticks_needed\":50.0");
	/* Nor is the row left out when no scenario has a share. */
	for (size_t i = 0; i < c->n; i++) {
		c->v[i].kernel_share = c->v[i].kernel_error = NAN;
		c->v[i].kernel_ticks = 12;
		c->v[i].kernel_ticks_needed = 600;
	}
	has(bench_text, &r, "kernel's share of CPU time, about  12 of 600 ticks");
	lacks(bench_text, &r, "kernel's share: approximate");
	report_release(&r);
}

/* Denied and absent are two things, with two remedies; neither has a table of nothing. */
static void test_none(void **state)
{
	struct report denied = {0}, absent = {0}, off = {0};

	none(&denied, COUNTERS_DENIED,
		"hardware counters are denied: kernel.perf_event_paranoid is 3; 'sysctl x'");
	none(&absent, COUNTERS_ABSENT, "hardware counters are absent: this machine has none");
	none(&off, COUNTERS_OFF, NULL);
	has(bench_text, &denied,
		"\n  hardware counters are denied: kernel.perf_event_paranoid is 3; 'sysctl x'\n");
	has(report_markdown, &denied,
		"\n- hardware counters are denied: kernel.perf_event_paranoid is 3");
	has(report_html, &denied,
		"<li>hardware counters are denied: kernel.perf_event_paranoid is 3");
	has(json, &denied, "\"hardware\":\"denied\",\"note\":\"hardware counters are denied");
	has(bench_text, &absent, "\n  hardware counters are absent: this machine has none\n");
	has(report_markdown, &absent, "\n- hardware counters are absent: this machine has none\n");
	has(report_html, &absent, "<li>hardware counters are absent: this machine has none</li>");
	has(json, &absent,
		"{\"figures\":[],\"hardware\":\"absent\",\"note\":\"hardware counters are absent: "
		"this machine has none\",\"running_share\":null,\"simulated\":[]}");
	has(json, &off,
		"{\"figures\":[],\"hardware\":\"off\",\"note\":null,\"running_share\":null,"
		"\"simulated\":[]}");
	lacks(bench_text, &off, "ounters");
	lacks(report_markdown, &off, "ounters");
	lacks(bench_text, &absent, "Counters per");
	report_release(&denied);
	report_release(&absent);
	report_release(&off);
}

static void test_simulated(void **state)
{
	struct report r = {0};
	struct simulated *s;

	none(&r, COUNTERS_ABSENT, "hardware counters are absent: this machine has none");
	counters_add_simulated(&r.comparisons.counters, "mix", "plain", false);
	s = counters_add_simulated(&r.comparisons.counters, "mix", "pgo", false);
	s->instructions = 10811.4;
	s->instructions_ratio = 0.7702;
	s->i1_misses = 0.5;
	s->outside = 0.405;
	s->assembly = 0.08;
	has(bench_text, &r,
		"  mix       instructions, simulated                 10811 -23.0 %\n"
		"            I1 misses, simulated                    0.50\n"
		"            outside the binaries, simulated         40 %\n"
		"            assembly, simulated                     8 %\n");
	has(bench_text, &r, "  simulated: by callgrind, not measured; user mode alone");
	has(json, &r, "\"instructions_ratio\":0.7702");
	report_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failed),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_too_few_ticks),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_simulated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
