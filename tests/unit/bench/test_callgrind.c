/* What callgrind writes, and what it never would. */
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
#include "bench/callgrind.h"

/* Names in full and by number, compressed positions, costs that are left out at the end, calls,
 * code inlined from another file, a function in two parts, and one of assembly. */
static const char valid[] = "# callgrind format\n"
			    "version: 1\n"
			    "creator: callgrind-3.19.0\n"
			    "pid: 7160\n"
			    "cmd:  ./server --port 1\n"
			    "part: 1\n"
			    "\n"
			    "desc: I1 cache: 32768 B, 64 B, 8-way associative\n"
			    "positions: line\n"
			    "events: Ir Dr Dw I1mr D1mr\n"
			    "summary: 1160 20 10 7\n"
			    "\n"
			    "ob=(1) /opt/server\n"
			    "fl=(1) src/server.c\n"
			    "fn=(1) answer\n"
			    "16 400 10 5 3\n"
			    "+2 100\n"
			    "cob=(2) /lib/libc.so.6\n"
			    "cfi=(2) printf.c\n"
			    "cfn=(2) vfprintf\n"
			    "calls=12 40\n"
			    "* 9999 9999 9999 9999 9999\n"
			    "-1 50 0 0 1\n"
			    "fi=(3) src/inline.h\n"
			    "3 50\n"
			    "fe=(1)\n"
			    "\n"
			    "ob=(2)\n"
			    "fl=(2)\n"
			    "fn=(2)\n"
			    "0x1f 300 10 5 2\n"
			    "\n"
			    "ob=(1)\n"
			    "fl=(4) src/sha.S\n"
			    "fn=(3) sha_block\n"
			    "1 200\n"
			    "\n"
			    "fl=(1)\n"
			    "fn=(1)\n"
			    "90 60 0 0 1\n"
			    "\n"
			    "totals: 1160 20 10 7\n";

static char folder[] = "/tmp/whet-callgrind-XXXXXX";

static char *written(const char *text, size_t n)
{
	char *path = path_join(folder, "out.7");

	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	return path;
}

static const struct callgrind_function *find(const struct callgrind *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i].name, name) == 0)
			return &c->v[i];
	fail_msg("no function '%s'", name);
	return NULL;
}

static void test_valid(void **state)
{
	auto_free char *path = written(valid, strlen(valid));
	const struct callgrind_function *f;
	struct callgrind c = {0};
	struct error err = ERROR_INIT;

	if (callgrind_add(&c, path, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(c.instructions, 1160);
	assert_int_equal(c.i1_misses, 7);
	callgrind_sort(&c);
	assert_int_equal(c.n, 3);
	assert_string_equal(c.v[0].name, "answer");
	assert_int_equal(c.v[0].instructions, 660);
	assert_int_equal(c.v[0].i1_misses, 5);
	assert_string_equal(c.v[0].object, "/opt/server");
	assert_true(c.v[0].known && !c.v[0].assembly);
	f = find(&c, "vfprintf");
	assert_string_equal(f->object, "/lib/libc.so.6");
	assert_int_equal(f->instructions, 300);
	f = find(&c, "sha_block");
	assert_string_equal(f->object, "/opt/server");
	assert_true(f->assembly);
	callgrind_release(&c);
}

/* The numbers of names are each file's own. */
static void test_two_files(void **state)
{
	static const char other[] = "version: 1\n"
				    "events: I1mr Ir\n"
				    "ob=/opt/server\n"
				    "fn=(1) start\n"
				    "1 2 30\n"
				    "fn=answer\n"
				    "1 0 40\n"
				    "totals: 2 70\n";
	auto_free char *path = written(valid, strlen(valid)), *second = NULL;
	struct callgrind c = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(callgrind_add(&c, path, &err), 0);
	second = written(other, strlen(other));
	if (callgrind_add(&c, second, &err) < 0)
		fail_msg("%s", err.msg);
	callgrind_sort(&c);
	assert_int_equal(c.instructions, 1230);
	assert_int_equal(c.i1_misses, 9);
	assert_int_equal(c.n, 4);
	assert_int_equal(find(&c, "answer")->instructions, 700);
	assert_int_equal(find(&c, "start")->i1_misses, 2);
	callgrind_release(&c);
}

/* A process that only waited between two dumps: its names have the numbers that the whole process
 * gave them, larger than its file. */
static void test_short_file(void **state)
{
	static const char idle[] = "version: 1\n"
				   "events: Ir Dr Dw I1mr\n"
				   "ob=(5) /opt/idle\n"
				   "fl=(1046) idle.c\n"
				   "fn=(5036) main\n"
				   "8 5 3 2 1\n"
				   "totals: 5 3 2 1\n";
	auto_free char *path = written(idle, strlen(idle));
	struct callgrind c = {0};
	struct error err = ERROR_INIT;

	if (callgrind_add(&c, path, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(c.instructions, 5);
	assert_int_equal(c.i1_misses, 1);
	assert_string_equal(c.v[0].name, "main");
	callgrind_release(&c);
}

static void rejects(const char *text, size_t n, const char *expected)
{
	auto_free char *path = written(text, n), *want = xasprintf("%s:%s", path, expected);
	struct callgrind c = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(callgrind_add(&c, path, &err), -1);
	assert_int_equal(err.code, ERR_CORRUPT);
	if (!strstr(err.msg, want))
		fail_msg("expected '%s', got '%s'", want, err.msg);
	assert_int_equal(c.n, 0);
	assert_int_equal(c.instructions, 0);
	error_release(&err);
	callgrind_release(&c);
}

static void test_rejected(void **state)
{
	static const struct {
		const char *text, *expected;
	} v[] = {
		{"", "0: no output of callgrind: it ends without 'events:'"},
		{"version: 2\n", "1: no output of callgrind: version 1 expected, found '2'"},
		{"hello\n", "1: no output of callgrind: 'hello' is no line of that format"},
		{"events: Ir Dr\n", "1: no output of callgrind: it lacks the events Ir and I1mr"},
		{"1 2\n",
			"1: no output of callgrind: a cost stands before the line with the events"},
		{"events: Ir I1mr\n1 2\n",
			"2: no output of callgrind: a cost stands before the first"},
		{"events: Ir I1mr\nfn=(1)\n",
			"2: no output of callgrind: the name (1) was never given"},
		{"events: Ir I1mr\nfn=(99999999999) x\n",
			"2: no output of callgrind: the number 99999999999"},
		{"events: Ir I1mr\nfn=(4000001) x\n",
			"2: no output of callgrind: the number 4000001 of a name is larger than "
			"4000000"},
		{"events: Ir I1mr\nfn=(99999999999999999999999) x\n",
			"2: no output of callgrind: a name's"},
		{"events: Ir I1mr\nfn=x\n1 2 3 4\n",
			"3: no output of callgrind: more costs than events (2)"},
		{"events: Ir I1mr\nfn=x\n1 -2\n",
			"3: no output of callgrind: a cost must be a number"},
		{"events: Ir I1mr\nfn=x\n1 2x\n",
			"3: no output of callgrind: a cost must be a number"},
		{"events: Ir I1mr\nfn=x\n1x 2\n",
			"3: no output of callgrind: a position must be a number"},
		{"events: Ir I1mr\nfn=x\n+ 2\n",
			"3: no output of callgrind: a position must be a number"},
		{"events: Ir I1mr\nfn=x\n1 18446744073709551615\n2 1\n",
			"4: no output of callgrind: its costs add up to more than 2^64"},
		{"events: Ir I1mr\nfn=x\n1 18446744073709551616\n",
			"3: no output of callgrind: a cost"},
		{"events: Ir I1mr\nfn=x\n1 2\n",
			"3: no output of callgrind: it ends without 'totals:'"},
		{"events: Ir I1mr\nfn=x\n1 2\ntotals: 3\n",
			"4: no output of callgrind: event 1: the functions' costs add up to 2, its "
			"totals are 3"},
		{"positions: a b c\n", "1: no output of callgrind: more than 2 positions"},
		{"positions:\n", "1: no output of callgrind: no positions"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		rejects(v[i].text, strlen(v[i].text), v[i].expected);
	rejects("events: Ir\0I1mr\n", 16, "1: no output of callgrind: it holds a NUL");
}

/* Many a beginning of a valid file, and many with a byte that is another one: never a crash, and a
 * sum that is not the right one only where a number was changed in step. */
static void test_damaged(void **state)
{
	uint64_t random = 7;
	auto_free char *text = xstrdup(valid);
	size_t n = strlen(valid);

	for (size_t i = 0; i + 1 < n; i += 3) {
		auto_free char *path = written(valid, i);
		struct callgrind c = {0};
		struct error err = ERROR_INIT;

		assert_int_equal(callgrind_add(&c, path, &err), -1);
		error_release(&err);
	}
	for (size_t i = 0; i < 800; i++) {
		auto_free char *path = NULL;
		struct callgrind c = {0};
		struct error err = ERROR_INIT;
		size_t at;

		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		at = (size_t)(random >> 33) % n;
		text[at] = "09(=)\n -+*:x"[(random >> 20) % 12];
		path = written(text, n);
		if (callgrind_add(&c, path, &err) == 0)
			callgrind_sort(&c);
		else
			assert_non_null(strstr(err.msg, path));
		text[at] = valid[at];
		error_release(&err);
		callgrind_release(&c);
	}
}

static int setup(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	return tree_remove(folder, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_two_files),
		cmocka_unit_test(test_short_file),
		cmocka_unit_test(test_rejected),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
