/* Objects without a record, made by the real `as` and cc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "wrap/assembled.h"
#include "wrap/evidence.h"

static char folder[] = "/tmp/test-assembled-XXXXXX";

static int setup(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	return tree_remove(folder, NULL);
}

static void file(const char *name, const char *text)
{
	auto_free char *path = path_join(folder, name);

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

static void run(const char *words)
{
	auto_strv struct strv argv = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;
	struct proc_exit e;

	strv_split_words(&argv, words);
	o.argv = &argv;
	o.cwd = folder;
	if (proc_run(&o, 60 * 1000000000ULL, &e, NULL) < 0 || e.code != 0)
		fail_msg("'%s' failed", words);
}

/* The object as the evidence of a link describes it. */
static struct link_input described(struct compile_record *link, const char *object)
{
	struct map_inputs map = {0};

	memset(link, 0, sizeof(*link));
	link->cwd = xstrdup(folder);
	map_inputs_add(&map, object, strlen(object), NULL, 0);
	assert_int_equal(evidence_collect(link, &map, NULL, NULL), 0);
	map_inputs_release(&map);
	assert_int_equal(link->n_links, 1);
	return link->links[0];
}

static bool by_hand(const char *object, char **source)
{
	struct assembler_sources sources = {0};
	const struct wrap_node n = {.slot = folder, .log = folder, .folder = "/none"};
	struct compile_record link;
	struct link_input in = described(&link, object);
	bool r = assembled_by_hand(&sources, &n, &in, source);

	assembler_sources_release(&sources);
	compile_record_release(&link);
	return r;
}

static const char mix[] = "\t.globl mix\nmix:\tleal (%rdi,%rsi,2), %eax\n\tret\n";

static void hand_written(void **state)
{
	auto_free char *source = NULL;

	file("mix.s", mix);
	run("as -o mix.o mix.s");
	assert_true(by_hand("mix.o", &source));
	assert_string_equal(path_basename(source), "mix.s");
}

/* The same symbol in another source proves nothing: its code is another. */
static void other_code(void **state)
{
	auto_free char *source = NULL;

	file("mix.s", mix);
	run("as -o mix.o mix.s");
	file("mix.s", "\t.globl mix\nmix:\tret\n");
	assert_false(by_hand("mix.o", &source));
	assert_null(source);
}

/* Neither without its .comment nor under the name of a source is a compiler's object an
 * assembler's. */
static void compiled(void **state)
{
	auto_free char *source = NULL;

	file("mix.s", mix);
	file("c.c", "int mix(int a, int b) { return a > 3 ? a + 2 * b : b; }\n");
	run("cc -O2 -c c.c -o c.o");
	run("cc -O2 -fno-ident -c c.c -o n.o");
	assert_false(by_hand("c.o", &source));
	assert_false(by_hand("n.o", &source));
	run("strip --strip-all -K mix n.o -o s.o");
	assert_false(by_hand("s.o", &source));
}

static void names_its_assembler(void **state)
{
	struct assembler_sources none = {0};
	const struct wrap_node n = {.slot = "/none", .log = "/none", .folder = "/none"};
	struct link_input in = {.sha256 = "0", .maker = "The Netwide Assembler 2.16.01"};
	char *source = NULL;

	assert_true(assembled_by_hand(&none, &n, &in, &source));
	in.maker = "The Netwide Assembler 2.16.01; GCC: 12";
	assert_false(assembled_by_hand(&none, &n, &in, &source));
	in.maker = NULL;
	strv_add(&in.files, "x.asm");
	assert_true(assembled_by_hand(&none, &n, &in, &source));
	strv_add(&in.files, "y.c");
	assert_false(assembled_by_hand(&none, &n, &in, &source));
	strv_release(&in.files);
	assert_null(source);
}

/* What a recorded call with -S wrote, and `as` made an object of. */
static void from_call(void **state)
{
	const struct wrap_node n = {.slot = folder, .log = folder, .folder = "/none"};
	struct compile_record call = {.id = "17",
		.kind = CALL_COMPILE,
		.class = CLASS_TARGET,
		.output = "/build/c.s",
		.source = "c.c"};
	const struct compile_log log = {.v = &call, .n = 1};
	struct compile_record link;
	struct link_input in;

	file("c.c", "int mix(int a, int b) { return a > 3 ? a + 2 * b : b; }\n");
	run("cc -O2 -S c.c -o .17.s");
	run("as -o kept.o .17.s");
	run("cc -O0 -c c.c -o other.o");
	in = described(&link, "kept.o");
	assert_ptr_equal(assembled_from_call(&log, &n, &in), &call);
	call.source = "d.c";
	assert_null(assembled_from_call(&log, &n, &in));
	call.source = "c.c";
	call.status = 1;
	assert_null(assembled_from_call(&log, &n, &in));
	call.status = 0;
	compile_record_release(&link);
	in = described(&link, "other.o");
	assert_null(assembled_from_call(&log, &n, &in));
	compile_record_release(&link);
}

static void data_alone(void **state)
{
	struct compile_record link;

	file("words.txt", "words\n");
	file("c.c", "int x = 1;\nint f(void) { return x; }\n");
	run("ld -r -b binary -o words.o words.txt");
	run("cc -c c.c -o c.o");
	assert_true(described(&link, "words.o").data);
	compile_record_release(&link);
	assert_false(described(&link, "c.o").data);
	compile_record_release(&link);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(hand_written),
		cmocka_unit_test(other_code), cmocka_unit_test(compiled),
		cmocka_unit_test(names_its_assembler), cmocka_unit_test(from_call),
		cmocka_unit_test(data_alone)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
