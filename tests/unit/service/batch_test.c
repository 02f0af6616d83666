/* What goes into a command and comes out of it, with real shells and terminals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "service/batch.h"
#include "service/tree.h"

static char *folder;

struct fixture {
	struct plan_phase phase;
	struct plan_output outputs[3];
	struct plan_file files[2];
	struct strv vars;
	char *work, *prefix, *log;
	struct batch *batch;
	struct error err;
	char *fault;
};

#define TEXT(text) ((char *)(uintptr_t)(text))

static int set_up(void **state)
{
	static int count;
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->work = xasprintf("%s/work%d", folder, ++count);
	f->prefix = xasprintf("%s/own%d", folder, count);
	f->log = xasprintf("%s/log%d", folder, count);
	assert_int_equal(dir_create(f->work, 0755, NULL), 0);
	strv_addf(&f->vars, "work=%s", f->work);
	f->phase.run = TEXT("x");
	f->phase.batch.outputs = f->outputs;
	f->phase.batch.files = f->files;
	f->phase.batch.input.bytes = -1;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	batch_close(f->batch);
	error_release(&f->err);
	strv_release(&f->vars);
	free(f->fault);
	free(f->work);
	free(f->prefix);
	free(f->log);
	free(f);
	return 0;
}

static struct plan_output *expect(struct fixture *f, const char *path)
{
	struct plan_output *o = &f->outputs[f->phase.batch.n_outputs++];

	*o = (struct plan_output){.path = TEXT(path), .bytes = -1};
	return o;
}

static void input(struct fixture *f, const char *text)
{
	f->phase.batch.has_input = true;
	f->phase.batch.input.text = TEXT(text);
}

/* Runs a shell command as a phase does; the first time it opens the batch. */
static void run(struct fixture *f, const char *command)
{
	struct batch_options o = {.phase = &f->phase,
		.vars = &f->vars,
		.root = folder,
		.prefix = f->prefix,
		.seed = 1};
	auto_strv struct strv argv = STRV_INIT;
	auto_close int log = open(f->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct proc_options p = PROC_OPTIONS_INIT;
	struct proc_exit end;
	struct tree *t;

	if (!f->batch)
		assert_int_equal(batch_open(&o, &f->batch, &f->err), 0);
	strv_add(&argv, "/bin/sh");
	strv_add(&argv, "-c");
	strv_add(&argv, command);
	p.argv = &argv;
	p.cwd = f->work;
	p.out_fd = p.err_fd = log;
	if (batch_begin(f->batch, &p, &f->err) < 0)
		fail_msg("%s", f->err.msg);
	assert_int_equal(
		(batch_on_terminal(f->batch) ? tree_start_terminal : tree_start)(&p, &t, &f->err),
		0);
	assert_int_equal(batch_started(f->batch, &f->err), 0);
	if (tree_wait_main(t, 20 * NS_PER_S) != 0)
		fail_msg("'%s' does not end", command);
	assert_int_equal(tree_kill(t, NULL), 0);
	batch_ended(f->batch);
	assert_true(tree_main_ended(t, &end));
	tree_free(t);
	free(f->fault);
	if (batch_fault(f->batch, &end, &f->fault, &f->err) < 0)
		fail_msg("%s", f->err.msg);
}

static void assert_fault(const struct fixture *f, const char *text)
{
	if (!f->fault && text)
		fail_msg("no fault, expected: %s", text);
	if (f->fault && !text)
		fail_msg("%s", f->fault);
	if (!text)
		return;
	assert_memory_equal(f->fault, "'x'", 3);
	assert_string_equal(f->fault + (f->fault[3] == ':' ? 5 : 4), text);
}

static void output_is_compared(void **state)
{
	struct fixture *f = *state;

	expect(f, NULL)->text = TEXT("one\ntwo\nthree\n");
	run(f, "printf 'one\\ntwo\\nthree\\n'");
	assert_fault(f, NULL);
	run(f, "printf 'one\\ntXo\\nthree\\n'");
	assert_fault(f, "its output differs first at byte 6 (line 2): expected "
			"\"wo\\nthree\\n\", got \"Xo\\nthree\\n\"");
	run(f, "printf 'one\\ntwo\\n'");
	assert_fault(f, "its output ends after 8 of 14 bytes");
	run(f, "printf 'one\\ntwo\\nthree\\n\\001'");
	assert_fault(
		f, "its output is 15 bytes long, expected 14: behind the end stands \"\\x01\"");
	run(f, ":");
	assert_fault(f, "its output ends after 0 of 14 bytes");
	run(f, "exit 3");
	assert_fault(f, "ended with exit code 3, expected exit code 0");
	run(f, "kill -9 $$");
	assert_fault(f, "ended with signal 9 (Killed), expected exit code 0");
}

static void digest_and_length(void **state)
{
	struct fixture *f = *state;
	struct plan_output *o = expect(f, NULL);

	o->bytes = 3;
	o->sha256 = TEXT("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	run(f, "printf abc");
	assert_fault(f, NULL);
	run(f, "printf abcd");
	assert_fault(f, "its output is 4 bytes long, expected 3");
	run(f, "printf abd");
	assert_fault(f,
		"its output has the sha256 "
		"a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9, expected "
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad; it is 3 "
		"bytes long and begins with \"abd\"");
}

static void exit_code_may_be_another(void **state)
{
	struct fixture *f = *state;

	f->phase.batch.exit_code = 3;
	run(f, "exit 3");
	assert_fault(f, NULL);
	run(f, "exit 0");
	assert_fault(f, "ended with exit code 0, expected exit code 3");
}

static void input_comes_from_text_file_and_generator(void **state)
{
	struct fixture *f = *state;
	auto_free char *path = xasprintf("%s/typed", folder);

	expect(f, NULL)->text = TEXT("3 8\n");
	input(f, "a\nb\nccc\n");
	run(f, "wc -lc | awk '{print $1, $2}'");
	assert_fault(f, NULL);
	assert_int_equal(file_write_atomic(path, "x\ny\nzzz\n", 8, 0644, NULL), 0);
	f->phase.batch.input = (struct plan_content){.file = TEXT("typed"), .bytes = -1};
	batch_close(take_ptr(f->batch));
	run(f, "wc -lc | awk '{print $1, $2}'");
	assert_fault(f, NULL);
	/* 1 MB in lines of 80, the same in every run. */
	f->phase.batch.input = (struct plan_content){.bytes = 1000000};
	f->outputs[0].text = TEXT("12500 1000000\n");
	batch_close(take_ptr(f->batch));
	run(f, "tee copy | wc -lc | awk '{print $1, $2}'");
	assert_fault(f, NULL);
}

static void files_are_put_before_each_run(void **state)
{
	struct fixture *f = *state;

	f->files[0] = (struct plan_file){
		.path = TEXT("deep/in"), .content = {.text = TEXT("abc"), .bytes = -1}};
	f->files[1] = (struct plan_file){.path = TEXT("big"), .content = {.bytes = 300000}};
	f->phase.batch.n_files = 2;
	expect(f, "out")->text = TEXT("abc");
	expect(f, "big")->bytes = 299999;
	/* The program consumes one input and shortens the other; both are whole again then. */
	run(f, "test $(wc -c < big) = 300000 && mv deep/in out && truncate -s 299999 big");
	assert_fault(f, NULL);
	run(f, "test $(wc -c < big) = 300000 && mv deep/in out && truncate -s 299999 big");
	assert_fault(f, NULL);
	/* What the run before wrote does not stand for this one's output. */
	run(f, "truncate -s 299999 big");
	assert_fault(f, "it did not write 'out'");
	run(f, "mkdir out; truncate -s 299999 big");
	assert_fault(f, "'out' is not a regular file");
}

/* Through a link that a run left, nothing outside is removed or written. */
static void links_do_not_lead_out(void **state)
{
	struct fixture *f = *state;
	auto_free char *outside = xasprintf("%s/outside", folder);
	auto_free char *kept = xasprintf("%s/kept", outside);
	struct proc_options p = PROC_OPTIONS_INIT;

	assert_int_equal(dir_create(outside, 0755, NULL), 0);
	assert_int_equal(file_write_atomic(kept, "x", 1, 0644, NULL), 0);
	expect(f, "sub/kept")->bytes = 1;
	run(f, "ln -s ../outside sub");
	assert_fault(f, NULL);
	assert_int_equal(batch_begin(f->batch, &p, &f->err), -1);
	assert_non_null(strstr(f->err.msg, "'sub/kept' leads out of {work}, to '"));
	assert_true(path_exists(kept));
}

static void expected_file_is_read(void **state)
{
	struct fixture *f = *state;
	auto_free char *path = xasprintf("%s/expected", folder);

	assert_int_equal(file_write_atomic(path, "yes\n", 4, 0644, NULL), 0);
	expect(f, NULL)->file = TEXT("expected");
	run(f, "echo yes");
	assert_fault(f, NULL);
	run(f, "echo no");
	assert_fault(f, "its output differs first at byte 1 (line 1): expected \"yes\\n\", got "
			"\"no\\n\"");
	unlink(path);
	f->outputs[0].file = TEXT("not-there");
	batch_close(take_ptr(f->batch));
	assert_int_equal(batch_open(&(struct batch_options){.phase = &f->phase,
					    .vars = &f->vars,
					    .root = folder,
					    .prefix = f->prefix},
				 &f->batch, &f->err),
		-1);
	assert_non_null(strstr(f->err.msg, "not-there"));
}

/* ---- Terminal ------------------------------------------------------------------------------- */

static void terminal(struct fixture *f, const char *typed, const char *printed)
{
	f->phase.batch.pty = true;
	if (typed)
		input(f, typed);
	expect(f, NULL)->text = TEXT(printed);
}

static void lines_are_typed(void **state)
{
	struct fixture *f = *state;

	terminal(f, "ada\n36\n", "name? age? hello ada, 36\nend\n");
	run(f, "test -t 0 && test -t 1 && test -t 2 || exit 9\n"
	       "printf 'name? '; read name; printf 'age? '; read age\n"
	       "echo \"hello $name, $age\"; read more || echo end");
	assert_fault(f, NULL);
	run(f, "printf 'name? '; read name; echo $name >&2");
	assert_fault(f, "its output differs first at byte 8 (line 1): expected \"ge? hello ada, "
			"36\\nend\\n\", got \"da\\n\"");
}

/* It drops what was typed before it was ready, as programs do that ask for a password. */
static void typing_waits_for_the_program(void **state)
{
	struct fixture *f = *state;

	terminal(f, "secret\nnext\n", "password: [secret] then: [next]\n");
	run(f, "sleep 0.1; stty -echo; printf 'password: '; read a; printf \"[$a] \"\n"
	       "sleep 0.1; printf 'then: '; read b; echo \"[$b]\"");
	assert_fault(f, NULL);
}

static void control_characters_are_typed(void **state)
{
	struct fixture *f = *state;

	terminal(f, "\003\n", "ready\ninterrupted\n");
	run(f, "trap 'echo interrupted; exit 0' INT; echo ready; read a; read b; read c; echo no");
	assert_fault(f, NULL);
}

/* A program that reads keys gets what the keyboard sends. */
static void enter_is_a_key(void **state)
{
	struct fixture *f = *state;

	terminal(f, "ab\n", "go 61 62 0d\n");
	run(f, "stty -icanon -icrnl min 1; printf go; head -c 3 | od -An -tx1");
	assert_fault(f, NULL);
}

static void terminal_is_the_controlling_one(void **state)
{
	struct fixture *f = *state;

	terminal(f, NULL, "24 80 xterm\nvia tty\n");
	run(f, "echo $(stty size) $TERM; echo via tty > /dev/tty");
	assert_fault(f, NULL);
}

/* All of it arrives, also what is printed right before the end. */
static void long_output_is_whole(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf all = BUF_INIT;

	for (int i = 1; i <= 20000; i++)
		buf_addf(&all, "%d\n", i);
	terminal(f, NULL, buf_str(&all));
	run(f, "seq 20000");
	assert_fault(f, NULL);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(output_is_compared),
		TEST(digest_and_length),
		TEST(exit_code_may_be_another),
		TEST(input_comes_from_text_file_and_generator),
		TEST(files_are_put_before_each_run),
		TEST(links_do_not_lead_out),
		TEST(expected_file_is_read),
		TEST(lines_are_typed),
		TEST(typing_waits_for_the_program),
		TEST(control_characters_are_typed),
		TEST(enter_is_a_key),
		TEST(terminal_is_the_controlling_one),
		TEST(long_output_is_whole),
	};
	char name[] = "/tmp/whet-batch-XXXXXX";
	int failed;

	folder = mkdtemp(name);
	if (!folder)
		return 2;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)tree_remove(folder, NULL);
	return failed;
}
