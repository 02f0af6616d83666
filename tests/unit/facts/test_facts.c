#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "facts/calibration.h"
#include "facts/compile.h"
#include "facts/coverage.h"
#include "facts/profile_facts.h"
#include "facts/training.h"
#include "facts/trial.h"
#include "facts/verdict.h"

static char folder[] = "/tmp/test-facts-XXXXXX";

static int setup(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	return tree_remove(folder, NULL);
}

static char *in_folder(const char *name)
{
	return path_join(folder, name);
}

static void put(const char *name, const char *text)
{
	auto_free char *path = in_folder(name);

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

static struct compile_record sample_record(const char *id, uint64_t order)
{
	struct compile_record r = {.id = xstrdup(id),
		.parent = xstrdup("p1"),
		.order = order,
		.kind = CALL_COMPILE_LINK,
		.class = CLASS_FOREIGN,
		.language = xstrdup("c++"),
		.tool = xstrdup("/usr/bin/g++"),
		.cwd = xstrdup("/slot"),
		.output = xstrdup("/slot/a b\xff.out"),
		.status = 139,
		.cpu_ns = 12345678901ULL,
		.text_hash = xstrdup("ab12"),
		.text = {{10, 20, 0, 3, 100, 7}},
		.map_error = xstrdup("no map")};

	strv_add(&r.argv, "-O2");
	strv_add(&r.argv, "");
	strv_add(&r.argv, "-DX=\"\n\"");
	strv_add(&r.added, "-fprofile-use=x");
	strv_add(&r.removed, "-w");
	strv_add(&r.inputs, "a.cc");
	r.diags = xcalloc(1, sizeof(*r.diags));
	r.n_diags = r.cap_diags = 1;
	r.diags[0] = (struct profile_diag){
		DIAG_MISMATCH, xstrdup("_Z1fv"), 0xfedcba9876543210ULL, xstrdup("hash mismatch")};
	r.links = xcalloc(1, sizeof(*r.links));
	r.n_links = r.cap_links = 1;
	r.links[0] = (struct link_input){.path = xstrdup("/slot/liba.a"),
		.member = xstrdup("a.o"),
		.sha256 = xstrdup("aa"),
		.code_hash = xstrdup("bb")};
	strv_add(&r.links[0].functions, "_Z1fv");
	return r;
}

static void check_record(const struct compile_record *r)
{
	assert_string_equal(r->parent, "p1");
	assert_int_equal(r->kind, CALL_COMPILE_LINK);
	assert_int_equal(r->class, CLASS_FOREIGN);
	assert_string_equal(r->language, "c++");
	assert_string_equal(r->output, "/slot/a b\xef\xbf\xbd.out");
	assert_int_equal(r->status, 139);
	assert_true(r->cpu_ns == 12345678901ULL);
	assert_int_equal(r->argv.n, 3);
	assert_string_equal(r->argv.v[1], "");
	assert_string_equal(r->argv.v[2], "-DX=\"\n\"");
	assert_string_equal(r->removed.v[0], "-w");
	assert_null(r->crate_name);
	assert_int_equal(r->n_diags, 1);
	assert_true(r->diags[0].hash == 0xfedcba9876543210ULL);
	assert_int_equal(r->diags[0].kind, DIAG_MISMATCH);
	assert_int_equal(r->n_links, 1);
	assert_string_equal(r->links[0].member, "a.o");
	assert_string_equal(r->links[0].functions.v[0], "_Z1fv");
	assert_string_equal(r->text_hash, "ab12");
	assert_int_equal(r->text.v[TEXT_UNLIKELY], 20);
	assert_int_equal(text_bytes_sum(&r->text), 140);
	assert_string_equal(r->map_error, "no map");
}

static void test_record_comes_back(void **state)
{
	struct compile_record r = sample_record("r1", 7), back;
	auto_free char *path = in_folder("r1.json");
	auto_buf struct buf text = BUF_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(compile_record_write(&r, path, &err), 0);
	assert_int_equal(compile_record_read(path, &back, &err), 0);
	check_record(&back);
	assert_int_equal(file_read(path, 0, &text, NULL), 0);
	/* One line: the shim writes one of these per compilation. */
	assert_ptr_equal(strchr(text.p, '\n'), text.p + text.n - 1);
	compile_record_release(&r);
	compile_record_release(&back);
	assert_int_equal(unlink(path), 0);
}

static void test_log_is_sorted_and_ignores_foreign_files(void **state)
{
	static const uint64_t orders[] = {30, 10, 20};
	auto_free char *sub = in_folder("sub.json");
	struct compile_log l;

	for (size_t i = 0; i < 3; i++) {
		auto_free char *id = xasprintf("log-%zu", i);
		auto_free char *name = xasprintf("%s.json", id);
		auto_free char *path = in_folder(name);
		struct compile_record r = sample_record(id, orders[i]);

		assert_int_equal(compile_record_write(&r, path, NULL), 0);
		compile_record_release(&r);
	}
	put(".log-9.json.Ab12Cd", "{\"cut of");
	put(".hidden.json", "{\"cut of");
	put("notes.txt", "not JSON");
	put("package.json", "{\"name\": \"something else\", \"kind\": 3}");
	put("list.json", "[1, 2, 3]");
	assert_int_equal(dir_create(sub, 0755, NULL), 0);
	assert_int_equal(compile_log_read(folder, &l, NULL), 0);
	assert_int_equal(l.n, 3);
	assert_string_equal(l.v[0].id, "log-1");
	assert_string_equal(l.v[1].id, "log-2");
	assert_string_equal(l.v[2].id, "log-0");
	compile_log_release(&l);
}

static void test_damaged_record_is_an_error(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{\"format\": \"whet compile record 1\", \"id\": \"x\", \"ki", "not valid JSON"},
		{"", "not valid JSON"},
		{"{\"format\": \"whet compile record 1\"}", "'id' is missing"},
		{"{\"format\": \"whet compile record 1\", \"id\": \"x\"}", "'kind' is missing"},
		{"{\"format\": \"whet compile record 1\", \"id\": \"x\", \"kind\": \"brew\"}",
			"unknown value 'brew'"},
		{"{\"format\": \"whet compile record 1\", \"id\": \"x\", \"kind\": \"link\", "
		 "\"class\": "
		 "\"target\", \"links\": [{}]}",
			"link input 0: 'path' is missing"},
	};
	auto_free char *path = in_folder("damaged.json");

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error err = ERROR_INIT;
		struct compile_log l;

		put("damaged.json", cases[i].text);
		assert_int_equal(compile_log_read(folder, &l, &err), -1);
		assert_int_equal(err.code, ERR_CORRUPT);
		if (!strstr(err.msg, cases[i].message) || !strstr(err.msg, path))
			fail_msg("'%s' lacks '%s' or the path", err.msg, cases[i].message);
		error_release(&err);
	}
	assert_int_equal(unlink(path), 0);
}

static void test_build_facts_come_back(void **state)
{
	auto_free char *path = in_folder("build.facts");
	struct build_facts f = {.variant = xstrdup("optimised"),
		.source_before = xstrdup("s1"),
		.source_after = xstrdup("s2"),
		.profile_name = xstrdup("p1"),
		.profile_before = xstrdup("p2")};
	struct build_facts back;

	f.log.v = xcalloc(1, sizeof(*f.log.v));
	f.log.v[0] = sample_record("r", 1);
	f.log.n = f.log.cap = 1;
	f.binaries = xcalloc(1, sizeof(*f.binaries));
	f.n_binaries = f.cap_binaries = 1;
	f.binaries[0] = (struct binary_fact){.name = xstrdup("prog"), .sha256 = xstrdup("cc")};
	f.binaries[0].objects = xcalloc(1, sizeof(struct object_fact));
	f.binaries[0].n_objects = f.binaries[0].cap_objects = 1;
	f.binaries[0].objects[0] = (struct object_fact){
		.path = xstrdup("/slot/a.o"), .class = OBJECT_WHET, .unit = xstrdup("a.c a.o")};
	strv_add(&f.binaries[0].objects[0].functions, "main");
	strv_add(&f.quarantine, "q/1.profraw");
	assert_int_equal(build_facts_write(&f, path, NULL), 0);
	assert_int_equal(build_facts_read(path, &back, NULL), 0);
	assert_string_equal(back.variant, "optimised");
	assert_string_equal(back.source_after, "s2");
	assert_string_equal(back.profile_before, "p2");
	assert_null(back.profile_after);
	assert_int_equal(back.log.n, 1);
	check_record(&back.log.v[0]);
	assert_int_equal(back.binaries[0].objects[0].class, OBJECT_WHET);
	assert_string_equal(back.binaries[0].objects[0].functions.v[0], "main");
	assert_string_equal(back.quarantine.v[0], "q/1.profraw");
	build_facts_release(&f);
	build_facts_release(&back);
}

static void test_training_facts_come_back(void **state)
{
	auto_free char *path = in_folder("training.facts");
	struct training_facts t = {.digest = xstrdup("d"), .failure = xstrdup("it stopped")};
	struct training_facts back;

	t.phases = xcalloc(1, sizeof(*t.phases));
	t.n_phases = t.cap_phases = 1;
	t.phases[0] = (struct phase_result){.name = xstrdup("mix"),
		.status = PHASE_TIMEOUT,
		.planned = 100,
		.done = 99,
		.wall_ns = 5,
		.problem = xstrdup("late")};
	t.processes = xcalloc(1, sizeof(*t.processes));
	t.n_processes = t.cap_processes = 1;
	t.processes[0] = (struct process_evidence){.pid = 12,
		.parent = 11,
		.launch = xstrdup("edge"),
		.origin = PROCESS_UNHOOKED,
		.exec = true,
		.signal = 9,
		.state = RAW_FOREIGN,
		.command = xstrdup("edge -x"),
		.cause = CAUSE_SANDBOX,
		.detail = xstrdup("why")};
	t.raws = xcalloc(1, sizeof(*t.raws));
	t.n_raws = t.cap_raws = 1;
	t.raws[0] = (struct raw_file){.path = xstrdup("a.profraw"),
		.pid = 12,
		.size = 77,
		.state = RAW_INVALID,
		.problem = xstrdup("cut")};
	assert_int_equal(training_facts_write(&t, path, NULL), 0);
	assert_int_equal(training_facts_read(path, &back, NULL), 0);
	assert_string_equal(back.failure, "it stopped");
	assert_int_equal(back.phases[0].status, PHASE_TIMEOUT);
	assert_true(back.phases[0].done == 99);
	assert_string_equal(back.phases[0].problem, "late");
	assert_int_equal(back.processes[0].origin, PROCESS_UNHOOKED);
	assert_true(back.processes[0].exec);
	assert_int_equal(back.processes[0].signal, 9);
	assert_int_equal(back.processes[0].state, RAW_FOREIGN);
	assert_null(back.processes[0].file);
	assert_string_equal(back.processes[0].command, "edge -x");
	assert_int_equal(back.processes[0].cause, CAUSE_SANDBOX);
	assert_string_equal(back.processes[0].detail, "why");
	assert_int_equal(back.raws[0].state, RAW_INVALID);
	assert_true(back.raws[0].size == 77);
	training_facts_release(&t);
	training_facts_release(&back);
}

static void test_provenance(void **state)
{
	auto_free char *path = in_folder("provenance.facts");
	struct provenance p = {.profile = xstrdup("p"),
		.source = xstrdup("s"),
		.training = xstrdup("t"),
		.target = xstrdup("x86_64"),
		.project = xstrdup("edge")};
	struct provenance back;
	struct error err = ERROR_INIT;

	strv_add(&p.compilers, "clang 22.1.8");
	assert_int_equal(provenance_write(&p, path, NULL), 0);
	assert_int_equal(provenance_read(path, &back, NULL), 0);
	assert_string_equal(back.training, "t");
	assert_string_equal(back.compilers.v[0], "clang 22.1.8");
	assert_null(back.created);
	provenance_release(&p);
	provenance_release(&back);
	put("provenance.facts", "{\"format\": \"whet profile provenance 1\", \"profile\": \"p\"}");
	assert_int_equal(provenance_read(path, &back, &err), -1);
	assert_non_null(strstr(err.msg, "'source' is missing"));
	error_release(&err);
	put("provenance.facts", "{\"format\": \"another\"}");
	assert_int_equal(provenance_read(path, &back, &err), -1);
	assert_int_equal(err.code, ERR_CORRUPT);
	error_release(&err);
}

static void test_verdicts(void **state)
{
	struct verdicts vs = {0}, back;
	struct error err = ERROR_INIT;

	verdict_add(&vs, "stale", VERDICT_PASS, "0 stale", "", "");
	assert_false(verdicts_failed(&vs));
	verdict_add(&vs, "replay", VERDICT_FAIL, "3 deviations", "phase 'mix'", "look");
	assert_true(verdicts_failed(&vs));
	auto_json json_t *j = verdicts_json(&vs);
	auto_json json_t *wrong = json_pack("[{s:s,s:s}]", "gate", "stale", "state", "maybe");

	assert_int_equal(verdicts_from_json(j, &back, NULL), 0);
	assert_int_equal(back.n, 2);
	assert_string_equal(back.v[1].gate, "replay");
	assert_int_equal(back.v[1].state, VERDICT_FAIL);
	assert_string_equal(back.v[1].remedy, "look");
	assert_int_equal(verdicts_from_json(wrong, &back, &err), -1);
	assert_non_null(strstr(err.msg, "unknown value 'maybe'"));
	error_release(&err);
	verdicts_release(&vs);
	verdicts_release(&back);
}

static void test_comparisons(void **state)
{
	struct comparisons c = {.driver_busy = 0.25};
	struct samples s = {0};
	struct sample one = {.launch = 1, .requests = 10, .cpu_ns = 1000};

	c.v = xcalloc(1, sizeof(*c.v));
	c.n = c.cap = 1;
	c.v[0] = (struct comparison){
		.scenario = xstrdup("mix"), .ratio = 0.9, .low = NAN, .shown = SHOWN_LESS};
	samples_add(&s, &one);
	auto_json json_t *j = comparisons_json(&c);
	auto_json json_t *samples = samples_json(&s);
	const json_t *first = json_array_get(json_object_get(j, "comparisons"), 0);

	assert_string_equal(json_string_value(json_object_get(first, "shown")), "less");
	assert_true(json_is_null(json_object_get(first, "low")));
	assert_true(fabs(json_real_value(json_object_get(first, "ratio")) - 0.9) < 1e-12);
	assert_int_equal(
		json_integer_value(json_object_get(json_array_get(samples, 0), "cpu_ns")), 1000);
	comparisons_release(&c);
	samples_release(&s);
}

static struct coverage_functions functions_of(const char *name, const char *file, uint64_t all)
{
	struct coverage_functions f = {.n = 1, .cap = 1, .all = all};

	f.v = xcalloc(1, sizeof(*f.v));
	f.v[0] = (struct coverage_function){.name = xstrdup(name),
		.source_name = xasprintf("%s()", name),
		.file = xstrdup(file),
		.counters = 12,
		.count = 3000000000ULL,
		.share = 0.25};
	return f;
}

static struct coverage_facts sample_coverage(void)
{
	struct coverage_facts c = {.notes = xstrdup("one is missing"),
		.functions = 10,
		.counters = 50,
		.executed_counters = 30,
		.phase_functions = 6,
		.outside_functions = 1,
		.unreached = functions_of("v2", "h.c", 3),
		.stopped_ns = 77};

	c.n_phases = c.cap_phases = 1;
	c.phases = xcalloc(1, sizeof(*c.phases));
	c.phases[0] = (struct coverage_phase){.part = COVERAGE_PHASE,
		.setting = xstrdup("a=1"),
		.name = xstrdup("mix"),
		.count = 9,
		.functions = 8,
		.counters = 7,
		.new_functions = 6,
		.new_counters = 5,
		.new_count = 4,
		.first = functions_of("f", NULL, 1),
		.mostly = functions_of("m", NULL, 2),
		.like = xstrdup("count"),
		.alike = 0.5,
		.useless = true,
		.weight = 3,
		.times = 2.5,
		.profile = xstrdup("1.proftext")};
	c.n_settings = c.cap_settings = 1;
	c.settings = xcalloc(1, sizeof(*c.settings));
	c.settings[0] =
		(struct coverage_setting){xstrdup("a=1"), 9, functions_of("only", NULL, 4), true};
	return c;
}

static void test_coverage_comes_back(void **state)
{
	auto_free char *path = in_folder("coverage.facts");
	struct coverage_facts c = sample_coverage(), back = {0};
	auto_json json_t *want = coverage_json(&c), *got = NULL;

	assert_int_equal(coverage_facts_write(&c, path, NULL), 0);
	assert_int_equal(coverage_facts_read(path, &back, NULL), 0);
	got = coverage_json(&back);
	assert_true(json_equal(want, got));
	assert_string_equal(back.phases[0].like, "count");
	assert_int_equal(back.phases[0].part, COVERAGE_PHASE);
	assert_string_equal(back.unreached.v[0].source_name, "v2()");
	assert_string_equal(back.unreached.v[0].file, "h.c");
	assert_true(back.unreached.v[0].count == 3000000000ULL && back.unreached.all == 3);
	assert_true(back.settings[0].reached && back.settings[0].only.all == 4);
	assert_true(back.stopped_ns == 77);
	coverage_facts_release(&c);
	coverage_facts_release(&back);
	put("coverage.facts",
		"{\"format\":\"whet coverage facts 1\",\"phases\":[{\"part\":\"x\"}]}");
	assert_int_equal(coverage_facts_read(path, &back, NULL), -1);
}

static void refused(const struct calibration *c, const char *path)
{
	struct calibration got;
	struct error err = ERROR_INIT;

	assert_int_equal(calibration_write(c, path, &err), 0);
	assert_int_equal(calibration_read(path, &got, &err), -1);
	assert_int_equal(err.code, ERR_CORRUPT);
	assert_int_equal(got.n, 0);
	error_release(&err);
}

/* What no measuring gives is not told. */
static void check_absurd(const char *path, const struct calibration *sound)
{
	struct calibration c = *sound;

	c.high = 1.5;
	refused(&c, path);
	c.high = 0.0001; /* below low */
	refused(&c, path);
	c = *sound;
	c.false_runs = 21;
	refused(&c, path);
	c = *sound;
	c.launches = 0;
	refused(&c, path);
	c = *sound;
	c.slice_ns = 0;
	refused(&c, path);
	c = *sound;
	c.v[0].half_width = 1e308;
	refused(&c, path);
	c.v[0].half_width = -0.01;
	refused(&c, path);
	c.v[0].half_width = 0.006;
	c.v[0].shown = 21;
	refused(&c, path);
	c.v[0].shown = 1;
}

/* What was kept is read as it was; a file that is something else is named. */
static void test_calibration(void **state)
{
	char own[] = "calibration-XXXXXX";
	auto_free char *path = NULL;
	struct calibrated v[] = {{(char[]){"doc"}, 20, 1, 0.006, 0.001, 0.009},
		{(char[]){"mix"}, 0, 0, NAN, NAN, NAN}};
	struct calibration c = {(char[]){"2026-11-30T12:00:00Z"}, (char[]){"A processor, 2"},
				   (char[]){"plain"}, 10, 12, 50000000, 20, 1, 0.001, 0.249, v, 2},
			   got;
	struct error err = ERROR_INIT;

	assert_non_null(mkdtemp(own));
	path = path_join(own, "calibration.json");
	assert_int_equal(calibration_read(path, &got, &err), 0);
	assert_int_equal(got.runs, 0);
	assert_int_equal(calibration_write(&c, path, &err), 0);
	assert_int_equal(calibration_read(path, &got, &err), 0);
	assert_string_equal(got.at, c.at);
	assert_string_equal(got.machine, c.machine);
	assert_string_equal(got.base, c.base);
	assert_int_equal(got.launches, 10);
	assert_int_equal(got.slices, 12);
	assert_int_equal(got.slice_ns, 50000000);
	assert_int_equal(got.runs, 20);
	assert_int_equal(got.false_runs, 1);
	assert_true(got.low == 0.001 && got.high == 0.249);
	assert_int_equal(got.n, 2);
	assert_string_equal(got.v[0].scenario, "doc");
	assert_int_equal(got.v[0].shown, 1);
	assert_true(got.v[0].half_width == 0.006 && got.v[0].worst == 0.009);
	assert_true(isnan(got.v[1].half_width) && isnan(got.v[1].worst));
	calibration_release(&got);
	check_absurd(path, &c);
	assert_int_equal(file_write_atomic(path, "{\"runs\": 3}\n", 12, 0644, &err), 0);
	assert_int_equal(calibration_read(path, &got, &err), -1);
	assert_int_equal(err.code, ERR_CORRUPT);
	assert_non_null(
		strstr(err.msg, "is no calibration: `whet bench --calibrate` writes it anew"));
	error_release(&err);
	assert_int_equal(tree_remove(own, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_comes_back),
		cmocka_unit_test(test_log_is_sorted_and_ignores_foreign_files),
		cmocka_unit_test(test_damaged_record_is_an_error),
		cmocka_unit_test(test_build_facts_come_back),
		cmocka_unit_test(test_training_facts_come_back),
		cmocka_unit_test(test_coverage_comes_back),
		cmocka_unit_test(test_provenance),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_comparisons),
		cmocka_unit_test(test_calibration),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
