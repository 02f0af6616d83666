/* Branch stacks: which machines can record them, and the text of perf script to a program's traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "layout/branch_events.h"
#include "layout/branch_text.h"

static char *folder;

/* ---- Choice ---- */

struct answer {
	enum branch_vendor vendor;
	int with_stack[2], without;
	bool hypervisor, container, may_monitor, spe, no_perf;
	int paranoid;
	const char *event, *missing, *remedy; /* event NULL: parts of the other two */
};

static const struct answer answers[] = {
	{BRANCH_CPU_INTEL, {0, 0}, .paranoid = 2, .event = "cycles"},
	{BRANCH_CPU_AMD, {0, EINVAL}, .paranoid = 2, .event = "cycles"},
	{BRANCH_CPU_AMD, {EINVAL, 0}, .paranoid = 2, .event = "cpu/event=0xc4/"},
	{BRANCH_CPU_ARM, {0}, .paranoid = -1, .event = "cycles"},
	{BRANCH_CPU_INTEL, {0, 0}, .paranoid = 2, .no_perf = true,
		.missing = "no 'perf' is installed", .remedy = "linux-perf"},
	{BRANCH_CPU_AMD, {ENOENT, ENOENT}, ENOENT, .hypervisor = true, .paranoid = 2,
		.missing = "cycles:u: ENOENT (the kernel knows no such counter of this processor); "
			   "cpu/event=0xc4/u: ENOENT",
		.remedy = "no performance counters"},
	{BRANCH_CPU_INTEL, {EOPNOTSUPP, EOPNOTSUPP}, 0, .hypervisor = true, .paranoid = 2,
		.missing =
			"EOPNOTSUPP (the processor's counters take no branch stacks), although it "
			"counts",
		.remedy = "counters, but no branch stacks"},
	{BRANCH_CPU_AMD, {EINVAL, EINVAL}, 0, .paranoid = 2, .missing = "EINVAL",
		.remedy = "Zen 3"},
	{BRANCH_CPU_ARM, {EOPNOTSUPP}, 0, .spe = true, .paranoid = 2,
		.missing = "(SPE) takes single branches", .remedy = "BRBE"},
	{BRANCH_CPU_INTEL, {EACCES, EACCES}, EACCES, .paranoid = 4,
		.missing = "EACCES (not permitted); cpu/event=0xc4,umask=0x20/u: EACCES (not "
			   "permitted); kernel.perf_event_paranoid is 4",
		.remedy =
			"sysctl kernel.perf_event_paranoid=2 (it is 4), or give perf CAP_PERFMON"},
	{BRANCH_CPU_INTEL, {EPERM, EPERM}, EPERM, .container = true, .paranoid = 3,
		.missing = "(in a container)", .remedy = "of the machine, not of the container"},
	{BRANCH_CPU_INTEL, {EPERM, EPERM}, EPERM, .container = true, .paranoid = 2,
		.missing = "EPERM", .remedy = "--cap-add PERFMON"},
	{BRANCH_CPU_INTEL, {EPERM, EPERM}, EPERM, .may_monitor = true, .paranoid = 4,
		.missing = "perf_event_paranoid is 4",
		.remedy = "seccomp filter or security module"},
	{BRANCH_CPU_INTEL, {EPERM, EPERM}, EPERM, .paranoid = BRANCH_PARANOID_UNKNOWN,
		.missing = "perf_event_paranoid cannot be read", .remedy = "seccomp"},
	{BRANCH_CPU_INTEL, {EBUSY, EBUSY}, EBUSY, .paranoid = 2,
		.missing = "EBUSY (another program holds the counters)", .remedy = "nmi_watchdog"},
	{BRANCH_CPU_AMD, {ENOSYS, ENOSYS}, ENOSYS, .paranoid = BRANCH_PARANOID_UNKNOWN,
		.missing = "ENOSYS", .remedy = "CONFIG_PERF_EVENTS"},
	{BRANCH_CPU_AMD, {ENOSYS, ENOSYS}, ENOSYS, .container = true,
		.paranoid = BRANCH_PARANOID_UNKNOWN, .missing = "ENOSYS",
		.remedy = "--cap-add PERFMON"},
	{BRANCH_CPU_OTHER, {ENOENT}, ENOENT, .paranoid = 2,
		.missing = "this processor: cycles:u: "},
};

static void check_choice(const struct answer *a)
{
	static char perf[] = "/usr/bin/perf";
	struct branch_machine m = {.vendor = a->vendor,
		.hypervisor = a->hypervisor,
		.container = a->container,
		.paranoid = a->paranoid,
		.may_monitor = a->may_monitor,
		.spe = a->spe,
		.perf = a->no_perf ? NULL : perf};
	struct branch_choice c;
	struct error err = ERROR_INIT;

	for (const struct branch_event *e = branch_events(a->vendor); e->perf; e++, m.n_trials++)
		m.trials[m.n_trials] =
			(struct branch_trial){e, a->with_stack[m.n_trials], a->without};
	branch_choose(&m, &c);
	if (a->event) {
		assert_non_null(c.event);
		assert_string_equal(c.event->perf, a->event);
		assert_int_equal(branch_choice_demand(&c, &err), 0);
	} else {
		assert_null(c.event);
		if (!strstr(c.missing, a->missing))
			fail_msg("'%s' lacks '%s'", c.missing, a->missing);
		if (a->remedy ? !c.remedy || !strstr(c.remedy, a->remedy) : c.remedy != NULL)
			fail_msg("'%s' lacks '%s'", c.remedy, a->remedy);
		assert_int_equal(branch_choice_demand(&c, &err), -1);
		assert_int_equal(error_exit_code(err.code), 3);
		assert_non_null(strstr(err.msg, a->missing));
	}
	error_release(&err);
	branch_choice_release(&c);
}

static void test_choice(void **state)
{
	for (size_t k = 0; k < ARRAY_SIZE(answers); k++)
		check_choice(&answers[k]);
}

static void test_periods(void **state)
{
	/* Branch Sampling takes no frequency, and no period within its 16 entries. */
	assert_true(branch_events(BRANCH_CPU_AMD)[1].period > 16);
	assert_true(branch_events(BRANCH_CPU_AMD)[0].period == 0);
	assert_true(branch_events(BRANCH_CPU_INTEL)[1].config == 0x20c4);
}

static void test_this_machine(void **state)
{
	struct branch_machine m;
	struct branch_choice c;

	branch_machine_probe(getenv("PATH"), &m);
	assert_true(m.n_trials >= 1);
	branch_choose(&m, &c);
	assert_true(c.event ? m.perf && !c.missing : c.missing != NULL);
	branch_choice_release(&c);
	branch_machine_release(&m);
}

/* ---- Text ---- */

/* A program of two functions and one between which is none's; its code lies at 0x1000 in the file
 * and at 0x401000 as linked. */
static struct branch_function functions[] = {{0x401000, 0x401100}, {0x401200, 0x401300}};
static struct branch_segment segment = {0x1000, 0x400, 0x401000};
static char name_program[] = "program", path_program[] = "/opt/program", id_program[] = "00ff";
static const struct branch_image image = {.path = path_program,
	.name = name_program,
	.build_id = id_program,
	.segments = &segment,
	.n_segments = 1,
	.functions = functions,
	.n_functions = 2};

#define MAP(pid, at, path)                                                                         \
	" " pid " PERF_RECORD_MMAP2 " pid "/" pid ": [" at                                         \
	"(0x1000) @ 0x1000 fe:00 247072 0]: r-xp " path "\n"
#define MAPPED MAP("7", "0x555500001000", "/opt/program")

/* Reads text whole and cut at every place; the same must come of both. Returns what is written. */
static char *read_text(const char *text, enum branch_format format, struct branch_counts *counts,
	struct error *err)
{
	struct branch_reader_options o = {.image = &image, .max_distinct = 6, .max_processes = 3};
	size_t n = strlen(text), step = n < 2000 ? 1 : n / 2;
	auto_free char *path = xasprintf("%s/traces", folder);
	auto_buf struct buf got = BUF_INIT;
	char *first = NULL;

	for (size_t at = 0; at <= n; at += step) {
		struct branch_reader *r = branch_reader_new(&o);
		bool failed = branch_reader_add(r, text, at, err) < 0 ||
			      branch_reader_add(r, text + at, n - at, err) < 0 ||
			      branch_reader_end(r, err) < 0 ||
			      branch_reader_write(r, format, path, err) < 0;

		if (failed) {
			branch_reader_free(r);
			free(first);
			return NULL;
		}
		assert_int_equal(file_read(path, 0, &got, NULL), 0);
		if (!first)
			first = xstrdup(buf_str(&got));
		assert_string_equal(first, buf_str(&got));
		*counts = *branch_reader_counts(r);
		branch_reader_free(r);
	}
	return first;
}

static struct branch_counts expect(const char *text, enum branch_format format, const char *want)
{
	struct branch_counts c = {0};
	struct error err = ERROR_INIT;
	auto_free char *got = read_text(text, format, &c, &err);

	if (!got)
		fail_msg("%s", err.msg);
	assert_string_equal(got, want);
	return c;
}

#define STACK                                                                                      \
	"7  0x555500001080/0x555500001010/M/-/-/1/COND/- "                                         \
	"0x555500001040/0x555500001060/P/-/-/1/-/- 0x555500001220/0x555500001030/P/-/-/9/RET/- \n"

static void test_traces(void **state)
{
	struct branch_counts c = expect(MAPPED STACK STACK, BRANCH_TRACES,
		"T 401040 401060 401080 2\n"
		"T 401080 401010 ffffffffffffffff 2\n"
		"B 401080 401010 0 2\n"
		"R 401220 401030 401040 2\n");

	assert_true(c.samples == 2 && c.branches == 6 && c.inside == 6 && c.mispredicted == 2);
	assert_true(c.processes == 1 && c.of_program == 2 && c.lines == 3 && c.distinct == 3);
	assert_true(c.functions == 2 && c.traces == 4 && c.contradicted == 0);
	expect(MAPPED STACK, BRANCH_PAIRS,
		"B 401040 401060 1 0\n"
		"F 401060 401080 1\n"
		"B 401080 401010 1 1\n"
		"B 401220 401030 1 0\n"
		"f 401030 401040 1\n");
	assert_int_equal(branch_format_for(21), BRANCH_PAIRS);
	assert_int_equal(branch_format_for(22), BRANCH_TRACES);
}

/* A library calls in and is called; what lies in libraries alone is dropped. */
static void test_others(void **state)
{
	struct branch_counts c =
		expect(MAPPED MAP("7", "0x7f0000001000",
			       "/lib/libc.so.6") "7 0x7f0000001500/0x7f0000001600/P/-/-/1 "
						 "0x555500001020/0x7f0000001400/P/-/-/1 "
						 "0x7f0000001100/0x555500001010/P/-/-/1\n"
						 "8 0x555500001020/0x555500001400/P/-/-/1\n"
						 "7 \n",
			BRANCH_TRACES,
			"T 0 401010 401020 1\n"
			"T 401020 0 ffffffffffffffff 1\n");

	assert_true(c.samples == 3 && c.foreign == 1 && c.without_stack == 1 && c.of_program == 1);
	assert_true(c.entering == 1 && c.leaving == 1 && c.outside == 1 && c.inside == 0);
}

/* An interrupt between two branches does not end the stretch; nor does a branch not taken. */
static void test_passed_over(void **state)
{
	struct branch_counts c = expect(MAPPED
		"7 0x555500001040/0x555500001060/P/-/-/1 0xffffffff81000010/0x555500001020/P/-/-/1 "
		"0x555500001030/0xffffffff81000000/-/-/-/1 0x555500001034/0x555500001038/PN/-/-/1 "
		"0x555500001080/0x555500001010/P/-/-/1\n",
		BRANCH_TRACES,
		"T 401040 401060 ffffffffffffffff 1\n"
		"T 401080 401010 401040 1\n");

	assert_true(c.kernel == 2 && c.not_taken == 1 && c.branches == 5 && c.inside == 2);
}

#define ONE(pid, at) pid " " at "10/" at "20/P/-/-/1\n"
#define ONE_READ(count) "T 401010 401020 ffffffffffffffff " count "\n"

/* Each process has its own addresses; a child those of its parent until it runs another program. */
static void test_processes(void **state)
{
	struct branch_counts c = expect(
		MAPPED MAP("9", "0x560000001000", "/opt/program (deleted)") ONE(
			"7", "0x5555000010") ONE("9", "0x5600000010") ONE("9",
			"0x5555000010") "7 PERF_RECORD_FORK(11:11):(7:7)\n"
					"7 PERF_RECORD_FORK(7:12):(7:7)\n" ONE("11/12",
						"0x5555000010") "11 PERF_RECORD_COMM "
								"exec: a: "
								"b:11/11\n" ONE("11",
									"0x555500001"
									"0") "11 "
									     "PERF_"
									     "RECORD"
									     "_"
									     "COMM: "
									     "named:"
									     "11/"
									     "11\n"
									     "11 "
									     "PERF_"
									     "RECORD"
									     "_"
									     "EXIT("
									     "11:"
									     "11):("
									     "7:7)"
									     "\n"
									     "7 "
									     "PERF_"
									     "RECORD"
									     "_"
									     "LOST "
									     "lost "
									     "5\n"
									     "7 "
									     "PERF_"
									     "RECORD"
									     "_"
									     "FORK("
									     "9:9):"
									     "(1:1)"
									     "\n" /* the pid again,
										     for another
										     program */
		ONE("9", "0x5600000010"),
		BRANCH_TRACES, ONE_READ("3"));

	assert_true(c.processes == 3 && c.foreign == 2 && c.outside == 1 && c.lost == 5);
}

static void test_mappings(void **state)
{
	struct branch_counts c;

	/* By build-id, whatever the name; another build of the same name is none. */
	c = expect("7 PERF_RECORD_MMAP2 7/7: [0x555500001000(0x1000) @ 0x1000 <00ff>]: r-xp "
		   "/tmp/renamed\n"
		   "8 PERF_RECORD_MMAP2 8/8: [0x555500001000(0x1000) @ 0x1000 <00fe>]: r-xp "
		   "/opt/program\n" ONE("7", "0x5555000010") ONE("8", "0x5555000010"),
		BRANCH_TRACES, ONE_READ("1"));
	assert_true(c.other_builds == 1 && c.foreign == 1);
	/* The older event; one of data. */
	expect("7 PERF_RECORD_MMAP 7/7: [0x555500001000(0x1000) @ 0x1000]: x /opt/program\n"
	       "7 PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1000) @ 0]: x "
	       "[kernel.kallsyms]_text\n"
	       "7 PERF_RECORD_MMAP2 7/7: [0x555500001000(0x1000) @ 0 00:00 0 0]: rw-p //anon\n" ONE(
		       "7", "0x5555000010"),
		BRANCH_TRACES, ONE_READ("1"));
	/* Another file in the middle of it. */
	c = expect(MAPPED MAP("7", "0x555500001000", "/lib/other") ONE("7", "0x5555000010"),
		BRANCH_TRACES, "");
	assert_true(c.outside == 1);
	/* At another place once more: the second holds. */
	c = expect(MAPPED MAPPED ONE("7", "0x5555000010"), BRANCH_TRACES, ONE_READ("1"));
	assert_true(c.processes == 1);
}

static void test_lines_passed_over(void **state)
{
	struct branch_counts c =
		expect("# captured on: x\n\n" MAPPED
		       "7 PERF_RECORD_KSYMBOL addr 0 len 0 type 1 flags 0x0 name bpf\n"
		       "7 55550000abcd 0x555500001010/0x555500001020/-/-/-/1/IND_CALL/-/- \n",
			BRANCH_TRACES, ONE_READ("1"));

	assert_true(c.lines == 5 && c.samples == 1);
}

static const struct {
	const char *text, *problem;
} rejected[] = {
	{"perf: Segmentation fault\n", "line 1: neither an event nor a sample"},
	{MAPPED "seven 0x1/0x2/P/-/-/1\n", "line 2: neither an event nor a sample"},
	{"7 PERF_RECORD_MMAP2 7/7: [0x10(0x10) @ 0 0", "line 1: the text ends within this line"},
	{"7 PERF_RECORD_MMAP2 7/7: [0x10(0x10) @ 0 0\n", "line 1: an event that is not as perf"},
	{"7 PERF_RECORD_MMAP2 7/7: [0xffffffffffffffff(0x10) @ 0 0 0]: r-xp /a\n",
		"line 1: an event"},
	{"7 PERF_RECORD_FORK(7):(8)\n", "line 1: an event that is not as perf"},
	{"7 PERF_RECORD_COMM exec: nameless\n", "line 1: an event that is not as perf"},
	{"7 PERF_RECORD_LOST lost -2\n", "line 1: an event that is not as perf"},
	{MAPPED "7 0x1/0x2/P/-/-/1 0x555500001080/0x55\n",
		"line 2: expected an entry of a branch stack (0xFROM/0xTO/P|M|-/-/-/CYCLES/…), "
		"found "
		"'0x555500001080/0x55'"},
	{"7 0x1/0x2/P/-/-\n", "line 1: expected an entry"},
	{"7 0x1/0x2/Q/-/-/1\n", "line 1: expected an entry"},
	{"7 0x1/0x2/P/-//1\n", "line 1: expected an entry"},
	{"7 1/2/P/-/-/1\n", "line 1: expected an entry"},
	{"7 0x11111111111111111/0x2/P/-/-/1\n", "line 1: expected an entry"},
	{"7 main+0x4/foo+0x8/P/-/-/1\n", "line 1: expected an entry"},
	{MAPPED MAP("8", "0x10000", "program") MAP("9", "0x10000", "program")
			MAP("10", "0x10000", "program"),
		"more than 3 processes have the program mapped"},
	{MAPPED "7 0x555500001001/0x555500001020/P/-/-/1 0x555500001002/0x555500001020/P/-/-/1 "
		"0x555500001003/0x555500001020/P/-/-/1 0x555500001004/0x555500001020/P/-/-/1 "
		"0x555500001005/0x555500001020/P/-/-/1 0x555500001006/0x555500001020/P/-/-/1 "
		"0x555500001007/0x555500001020/P/-/-/1\n",
		"more than 6 different stretches"},
};

static void test_rejected(void **state)
{
	for (size_t k = 0; k < ARRAY_SIZE(rejected); k++) {
		struct branch_counts c;
		struct error err = ERROR_INIT;
		char *got = read_text(rejected[k].text, BRANCH_TRACES, &c, &err);

		if (got || !strstr(err.msg, rejected[k].problem))
			fail_msg("%zu: '%s'", k, got ? got : err.msg);
		error_release(&err);
	}
}

static void test_long_line(void **state)
{
	auto_buf struct buf b = BUF_INIT;
	struct branch_counts c;
	struct error err = ERROR_INIT;

	buf_adds(&b, "7");
	while (b.n <= BRANCH_LINE_MAX)
		buf_adds(&b, " 0x555500001010/0x555500001020/P/-/-/1");
	assert_null(read_text(b.p, BRANCH_TRACES, &c, &err));
	assert_non_null(strstr(err.msg, "line 1: longer than 1048576 bytes"));
	error_release(&err);
}

/* ---- Judgement ---- */

static void judge(struct branch_counts c, const char *problem)
{
	struct error err = ERROR_INIT;
	int result = branch_counts_judge(&c, &image, &err);

	assert_int_equal(result, problem ? -1 : 0);
	if (problem) {
		assert_int_equal(err.code, ERR_GATE);
		if (!strstr(err.msg, problem))
			fail_msg("'%s' instead of '%s'", err.msg, problem);
	}
	error_release(&err);
}

static void test_judgement(void **state)
{
	struct branch_counts good = {.samples = 1000,
		.foreign = 100,
		.without_stack = 100,
		.of_program = 700,
		.inside = 20000,
		.entering = 300,
		.leaving = 300,
		.traces = 20000,
		.contradicted = 100};
	struct branch_counts c;
	auto_buf struct buf b = BUF_INIT;

	judge(good, NULL);
	judge((struct branch_counts){0}, "holds no samples");
	c = good, c.foreign = 1000;
	judge(c, "none of 1000 samples is of a process in which 'program' is mapped");
	c.other_builds = 1;
	judge(c, "of another build of 'program': no mapped file has build-id 00ff");
	c = good, c.without_stack = 500;
	judge(c, "400 of 900 samples of 'program' (44.4 %) hold branches, at least 50 % must");
	c = good, c.of_program = 49;
	judge(c, "49 of 1000 samples (4.9 %) hold a branch of 'program', at least 5 % must");
	c = good, c.contradicted = 2001;
	judge(c, "2001 of 20000 stretches between branches (10.0 %)");
	c = good, c.inside = 9399;
	judge(c, "hold 9999 branches of 'program', at least 10000 are needed");
	good.branches = 20600, good.distinct = 5, good.functions = 2, good.lost = 3;
	branch_counts_describe(&good, &b);
	assert_string_equal(b.p, "1000 samples, 70.0 % of the program, with 20600 branches (97.1 % "
				 "within it, 0.0 % mispredicted), 5 different, in 2 functions; 3 "
				 "samples were lost");
}

static void test_contradicted(void **state)
{
	/* From one function into the other; backwards; and into code that is no function's. */
	struct branch_counts c = expect(MAPPED
		"7 0x555500001210/0x555500001220/P/-/-/1 0x555500001010/0x555500001020/P/-/-/1\n"
		"7 0x555500001010/0x555500001018/P/-/-/1 0x555500001010/0x555500001020/P/-/-/1\n"
		"7 0x555500001180/0x555500001220/P/-/-/1 0x555500001010/0x555500001020/P/-/-/1\n",
		BRANCH_TRACES,
		"T 401010 401018 ffffffffffffffff 1\n"
		"T 401010 401020 401010 1\n"
		"T 401010 401020 401180 1\n"
		"T 401010 401020 401210 1\n"
		"T 401180 401220 ffffffffffffffff 1\n"
		"T 401210 401220 ffffffffffffffff 1\n");

	assert_true(c.traces == 3 && c.contradicted == 2);
}

static void test_buildids(void **state)
{
	struct error err = ERROR_INIT;
	struct branch_image none = image;
	char *name = name_program;

	assert_int_equal(
		branch_buildid_find("ab /lib/a.so\n00ff /tmp/renamed\n", &image, &name, &err), 0);
	assert_string_equal(name, "renamed");
	free(name);
	assert_int_equal(branch_buildid_find("ab /lib/a.so\n", &image, &name, &err), 0);
	assert_null(name);
	assert_int_equal(branch_buildid_find("00fe /opt/program", &image, &name, &err), -1);
	assert_int_equal(err.code, ERR_MISMATCH);
	assert_string_equal(err.msg,
		"another build of 'program' was recorded: its build-id is 00fe, that "
		"of '/opt/program' is 00ff");
	error_release(&err);
	none.build_id = NULL;
	assert_int_equal(branch_buildid_find("00fe /opt/program", &none, &name, &err), 0);
	assert_null(name);
}

static void test_image(void **state)
{
	struct branch_image i;
	struct error err = ERROR_INIT;
	auto_free char *path = xasprintf("%s/text", folder);
	size_t own;

	assert_int_equal(branch_image_read("/proc/self/exe", &i, &err), 0);
	own = i.n_functions;
	assert_true(own > 100 && i.n_segments >= 1 && i.build_id);
	for (size_t k = 0; k + 1 < own; k++)
		assert_true(i.functions[k].end <= i.functions[k + 1].start);
	assert_int_equal(branch_image_function(&i, i.functions[own / 2].start), own / 2);
	assert_true(branch_image_function(&i, 1) == SIZE_MAX);
	branch_image_release(&i);
	assert_int_equal(file_write_atomic(path, "text", 4, 0644, NULL), 0);
	assert_int_equal(branch_image_read(path, &i, &err), -1);
	assert_int_equal(err.code, ERR_CORRUPT);
	error_release(&err);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_this_machine),
		cmocka_unit_test(test_traces),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_passed_over),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_lines_passed_over),
		cmocka_unit_test(test_rejected),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_judgement),
		cmocka_unit_test(test_contradicted),
		cmocka_unit_test(test_buildids),
		cmocka_unit_test(test_image),
	};
	char template[] = "/tmp/branch-test-XXXXXX";
	int failed;

	folder = mkdtemp(template);
	failed = folder ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
	tree_remove(folder, NULL);
	return failed;
}
