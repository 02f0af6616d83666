/* With the llvm-bolt that is installed, on programs by the compilers that are. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "elf/elf_strip.h"
#include "layout/layout.h"

#define LIMIT_NS (120 * NS_PER_S)

static char folder[] = "/tmp/whet-layout-XXXXXX";
static struct layout_tool tool;
static bool ready;

static char *at(const char *name)
{
	return path_join(folder, name);
}

static void put(const char *name, const char *text)
{
	auto_free char *path = at(name);
	struct error err = ERROR_INIT;

	if (file_write_atomic(path, text, strlen(text), 0755, &err) < 0)
		fail_msg("%s", err.msg);
}

/* Runs a shell command in the test's folder; what it said, or NULL when it failed. */
static char *try_sh(const char *command)
{
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	struct proc_options p = PROC_OPTIONS_INIT;

	strv_add(&argv, "/bin/sh");
	strv_add(&argv, "-c");
	strv_add(&argv, command);
	p.argv = &argv;
	p.cwd = folder;
	if (proc_capture(&p, LIMIT_NS, &lines, NULL) < 0)
		return NULL;
	return strv_join(&lines, "\n");
}

static char *sh(const char *command)
{
	char *said = try_sh(command);

	if (!said)
		fail_msg("failed: %s", command);
	return said;
}

static void expect(const struct error *e, enum error_code code, const char *text)
{
	if (e->code != code || !e->msg || !strstr(e->msg, text))
		fail_msg("expected error %d with \"%s\", got %d: %s", code, text, e->code,
			e->msg ? e->msg : "none");
}

static const char server[] =
	"#include <signal.h>\n#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n"
	"#include <sys/wait.h>\n#include <unistd.h>\n"
	"__attribute__((noinline)) long work(long n) { long r = 0;\n"
	" for (long i = 0; i < n; i++) { if (i % 3) r += i; else r ^= i; } return r; }\n"
	"__attribute__((noinline)) long child_only(long n) { long r = 0;\n"
	" for (long i = 0; i < n; i++) r += i * i % 7; return r; }\n"
	"int main(int c, char **v) { const char *mode = c > 1 ? v[1] : \"exit\"; int st;\n"
	" printf(\"%ld\\n\", work(1000)); fflush(stdout);\n"
	" pid_t p = fork(); if (!p) { printf(\"%ld\\n\", child_only(5000)); fflush(stdout);\n"
	"  if (!strcmp(mode, \"kill\")) kill(getpid(), SIGKILL);\n"
	"  if (!strcmp(mode, \"_exit\")) _exit(0);\n"
	"  if (!strcmp(mode, \"nobody\") && (setgid(65534) || setuid(65534))) abort();\n"
	"  return 0; }\n"
	" waitpid(p, &st, 0); if (!strcmp(mode, \"die\")) kill(getpid(), SIGKILL);\n"
	" return 0; }\n";
static const char other[] =
	"#include <stdio.h>\n#include <stdlib.h>\n"
	"__attribute__((cold, noinline)) static void bad(const char *s) {\n"
	" fprintf(stderr, \"bad %s\\n\", s); abort(); }\n"
	"__attribute__((noinline)) long first(long x) { long r = 0;\n"
	" if (x < 0) { bad(\"x\"); fprintf(stderr, \"more %ld\\n\", x); }\n"
	" for (long i = 0; i < x; i++) r += i * (i & 3); return r; }\n"
	"__attribute__((noinline)) long second(long x) { long r = 1;\n"
	" if (x == -5) bad(\"y\"); for (long i = 1; i < x; i++) r = r * i + 1; return r; }\n"
	"int main(void) { long s = 0;\n"
	" for (int i = 0; i < 3000; i++) s += first(i % 50) + second(i % 30);\n"
	" printf(\"%ld\\n\", s); return 0; }\n";

static int set_up(void **state)
{
	struct error err = ERROR_INIT;
	const char *name = getenv("TEST_BOLT");

	if (!mkdtemp(folder))
		return -1;
	if (layout_find(name, 0, getenv("PATH"), &tool, &err) < 0) {
		error_release(&err);
		return 0;
	}
	put("server.c", server);
	put("other.c", other);
	free(sh("gcc -O2 -fno-reorder-blocks-and-partition server.c -o server -Wl,-q,--build-id"));
	free(sh("gcc -O2 -freorder-blocks-and-partition other.c -o other -Wl,-q,--build-id"));
	ready = true;
	return 0;
}

static int tear_down(void **state)
{
	layout_tool_release(&tool);
	return tree_remove(folder, NULL);
}

static void need_bolt(void)
{
	if (!ready)
		skip();
}

/* ---- Preflight ---- */

static void refused(const char *name, enum error_code code, const char *text)
{
	auto_free char *path = at(name);
	struct layout_input i;
	struct error err = ERROR_INIT;

	assert_int_equal(layout_preflight(&tool, path, &i, &err), -1);
	expect(&err, code, text);
	layout_input_release(&i);
	error_release(&err);
}

static void test_preflight(void **state)
{
	auto_free char *path = at("server");
	struct layout_input i;
	struct error err = ERROR_INIT;

	need_bolt();
	if (layout_preflight(&tool, path, &i, &err) < 0)
		fail_msg("%s", err.msg);
	assert_true(i.relocations && i.symbols && i.build_id && !i.bolted && !i.is_static);
	assert_true(i.functions >= 3 && i.text_bytes > 100 && i.memory_need > i.text_bytes);
	assert_int_equal(i.split_functions, 0);
	assert_int_equal(layout_can_instrument(&tool, &i, &err), 0);
	layout_input_release(&i);
	free(sh("gcc -O2 server.c -o plain; cp server stripped; strip stripped; gcc -c server.c -o "
		"object.o"));
	refused("plain", ERR_UNSUPPORTED, "no relocations of its code");
	refused("plain", ERR_UNSUPPORTED, "-Wl,--emit-relocs");
	refused("stripped", ERR_UNSUPPORTED, "no symbol table (stripped)");
	refused("object.o", ERR_UNSUPPORTED, "neither a program nor a shared object");
	refused("server.c", ERR_CORRUPT, "not an ELF file");
	refused("nothing", ERR_IO, "nothing");
}

static void test_split_functions(void **state)
{
	auto_free char *path = at("other");
	auto_strv struct strv remarks = STRV_INIT;
	struct layout_input i;
	struct error err = ERROR_INIT;

	need_bolt();
	assert_int_equal(layout_preflight(&tool, path, &i, &err), 0);
	assert_true(i.split_functions >= 1 && strv_has(&i.split_names, "first"));
	layout_remarks(&i, &remarks);
	assert_true(remarks.n >= 1);
	assert_non_null(strstr(remarks.v[0], "-fno-reorder-blocks-and-partition"));
	layout_input_release(&i);
}

static void test_static(void **state)
{
	auto_free char *path = at("static");
	struct layout_input i;
	struct error err = ERROR_INIT;
	auto_free char *made = NULL;

	need_bolt();
	made = try_sh("gcc -O2 -static server.c -o static -Wl,-q");
	if (!made)
		skip();
	assert_int_equal(layout_preflight(&tool, path, &i, &err), 0);
	assert_true(i.is_static);
	assert_int_equal(layout_can_instrument(&tool, &i, &err), -1);
	expect(&err, ERR_UNSUPPORTED, "linked statically");
	error_release(&err);
	layout_input_release(&i);
}

static void test_little_memory(void **state)
{
	auto_free char *path = at("server");
	struct rlimit before, less;
	struct layout_input i;
	struct error err = ERROR_INIT;
	int r;

	need_bolt();
	getrlimit(RLIMIT_AS, &before);
	less = before;
	less.rlim_cur = 100u << 20;
	setrlimit(RLIMIT_AS, &less);
	r = layout_preflight(&tool, path, &i, &err);
	setrlimit(RLIMIT_AS, &before);
	assert_int_equal(r, -1);
	expect(&err, ERR_ENVIRONMENT, "(ulimit -v) is 100 MiB");
	error_release(&err);
	layout_input_release(&i);
}

/* ---- Instrumentation and profiles ---- */

static void instrument(const char *name, enum layout_dump dump, const char *prefix)
{
	auto_free char *binary = at(name), *out = xasprintf("%s.i", binary), *p = at(prefix),
		       *log = at("log");
	struct layout_instrument o = {.binary = binary,
		.out = out,
		.prefix = p,
		.dump = dump,
		.log = log,
		.timeout_ns = LIMIT_NS};
	struct error err = ERROR_INIT;

	if (layout_instrument(&tool, &o, &err) < 0)
		fail_msg("%s", err.msg);
}

static void collect(const char *prefix, const char *binary, struct layout_files *ret)
{
	auto_free char *p = at(prefix), *b = at(binary);
	struct error err = ERROR_INIT;

	memset(ret, 0, sizeof(*ret));
	if (layout_collect(p, b, ret, &err) < 0)
		fail_msg("%s", err.msg);
}

static bool holds(const char *path, const char *text)
{
	auto_buf struct buf b = BUF_INIT;

	return file_read(path, 0, &b, NULL) == 0 && strstr(buf_str(&b), text);
}

/* The one file holds what a child counted that was killed, too. */
static void test_shared(void **state)
{
	static const char *const modes[] = {"exit", "kill", "_exit"};

	need_bolt();
	instrument("server", LAYOUT_DUMP_SHARED, "shared");
	for (size_t k = 0; k < ARRAY_SIZE(modes); k++) {
		auto_free char *command = xasprintf("rm -f shared; ./server.i %s", modes[k]);
		struct layout_files f;

		free(sh(command));
		collect("shared", "server", &f);
		assert_int_equal(f.n, 1);
		if (f.v[0].state != LAYOUT_VALID)
			fail_msg("%s", f.v[0].problem);
		assert_true(f.v[0].functions >= 3 && f.v[0].executed > 5000);
		assert_int_equal(f.v[0].unknown, 0);
		assert_true(holds(f.v[0].path, "child_only"));
		layout_files_release(&f);
	}
}

static void test_aim(void **state)
{
	auto_free char *from = at("server.i"), *to = at("aimed"), *p = at("elsewhere"),
		       *plain = at("server");
	struct error err = ERROR_INIT;
	struct layout_files f;

	need_bolt();
	if (layout_aim(from, to, p, &err) < 0)
		fail_msg("%s", err.msg);
	free(sh("rm -f shared; ./aimed exit; test ! -e shared"));
	collect("elsewhere", "server", &f);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].state, LAYOUT_VALID);
	layout_files_release(&f);
	assert_int_equal(layout_aim(plain, to, p, &err), -1);
	expect(&err, ERR_CORRUPT, "is no file that was instrumented for layout");
	error_release(&err);
}

static void no_process_mode(void)
{
	auto_free char *binary = at("server"), *out = at("server.i"), *p = at("own");
	struct layout_instrument o = {.binary = binary,
		.out = out,
		.prefix = p,
		.dump = LAYOUT_DUMP_PROCESS,
		.timeout_ns = LIMIT_NS};
	struct error err = ERROR_INIT;

	assert_int_equal(layout_instrument(&tool, &o, &err), -1);
	expect(&err, ERR_ENVIRONMENT, "cannot count each process for itself");
	error_release(&err);
}

static void test_per_process(void **state)
{
	struct layout_files f;

	need_bolt();
	if (tool.major < 19) {
		no_process_mode();
		return;
	}
	instrument("server", LAYOUT_DUMP_PROCESS, "own");
	free(sh("./server.i exit"));
	collect("own", "server", &f);
	assert_int_equal(f.n, 2);
	assert_true(f.v[0].pid > 0 && f.v[1].pid > 0 && f.v[0].pid != f.v[1].pid);
	layout_files_release(&f);
	free(sh("rm -f own.*; ./server.i kill"));
	collect("own", "server", &f);
	assert_int_equal(f.n, 1); /* the killed worker left none */
	assert_false(holds(f.v[0].path, "1 child_only"));
	layout_files_release(&f);
}

static void test_watched(void **state)
{
	struct layout_files f;

	need_bolt();
	instrument("server", LAYOUT_DUMP_WATCHED, "watched");
	/* The further process writes last, and ends within a second. */
	free(sh("./server.i die >/dev/null 2>&1 || true; n=0; "
		"until grep -qs child_only watched* || [ $n = 100 ]; do n=$((n + 1)); sleep 0.2; "
		"done; "
		"sleep 2"));
	collect("watched", "server", &f);
	assert_int_equal(f.n, 1);
	if (f.v[0].state != LAYOUT_VALID)
		fail_msg("%s", f.v[0].problem);
	assert_true(holds(f.v[0].path, "child_only"));
	layout_files_release(&f);
}

static void judged(const char *text, enum layout_state state, const char *problem)
{
	auto_free char *path = at("judged.fdata"), *binary = at("server");
	struct layout_file f = {0};
	struct error err = ERROR_INIT;

	put("judged.fdata", text);
	assert_int_equal(layout_profile_check(path, binary, &f, &err), 0);
	if (f.state != state || (problem && !strstr(f.problem, problem)))
		fail_msg("expected %s \"%s\", got %s: %s", layout_state_name(state),
			problem ? problem : "", layout_state_name(f.state),
			f.problem ? f.problem : "");
	free(f.path);
	free(f.problem);
}

static void test_states(void **state)
{
	need_bolt();
	judged("1 main 0 1 work 0 0 7\n0 [unknown] 0 1 main 0 0 1\n", LAYOUT_VALID, NULL);
	judged("no_lbr cycles:u\n1 work 3 12\n", LAYOUT_VALID, NULL);
	judged("1 work/1 3 1 work/server.c/1 0 0 7\n", LAYOUT_VALID, NULL);
	judged("", LAYOUT_EMPTY, "was killed while it wrote");
	judged("1 main 0 1 work 0 0 0\n", LAYOUT_EMPTY, "has no count");
	judged("1 main 0 1 work 0 0 7\n1 main 0 1 wo", LAYOUT_INVALID, "is cut off in line 2");
	judged("hello\n", LAYOUT_INVALID, "line 1 is no line");
	judged("1 main zz 1 work 0 0 7\n", LAYOUT_INVALID, "line 1 is no line");
	judged("1 main 0 1 work 0 0 99999999999999999999\n", LAYOUT_INVALID, "line 1");
	judged("1 work 3 12\n", LAYOUT_INVALID, "first line is not \"no_lbr\"");
	judged("1 nowhere 0 1 neither 0 0 7\n", LAYOUT_FOREIGN, "2 of its 2 functions are not in");
	judged("1 work 99999 1 work 0 0 7\n", LAYOUT_FOREIGN, "or smaller there (work)");
}

static void test_merge(void **state)
{
	auto_free char *a = at("a.fdata"), *b = at("b.fdata"), *c = at("c.fdata"),
		       *binary = at("server"), *out = at("out.fdata");
	auto_strv struct strv files = STRV_INIT, none = STRV_INIT;
	auto_buf struct buf text = BUF_INIT;
	struct layout_profile p = {0};
	struct error err = ERROR_INIT;

	need_bolt();
	put("a.fdata", "1 work 3 1 work 8 1 5\n1 main 0 1 work 0 0 7\n");
	put("b.fdata", "1 main 0 1 work 0 2 3\n0 [unknown] 0 1 main 0 0 1\n");
	put("c.fdata", "no_lbr\n1 main 0 1\n");
	strv_add(&files, b);
	strv_add(&files, a);
	if (layout_merge(&files, binary, out, &p, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(file_read(out, 0, &text, &err), 0);
	assert_string_equal(buf_str(&text), "0 [unknown] 0 1 main 0 0 1\n1 main 0 1 work 0 2 10\n"
					    "1 work 3 1 work 8 1 5\n");
	assert_int_equal(p.files, 2);
	assert_int_equal(p.functions, 2);
	assert_int_equal(p.branches, 3);
	assert_int_equal(p.executed, 16);
	layout_profile_release(&p);
	strv_add(&files, c);
	assert_int_equal(layout_merge(&files, binary, out, &p, &err), -1);
	expect(&err, ERR_MISMATCH, "cannot be added up");
	assert_int_equal(layout_merge(&none, binary, out, &p, &err), -1);
	expect(&err, ERR_CORRUPT, "no process left a profile");
	error_release(&err);
}

/* ---- Layout ---- */

/* A profile of the program by itself. */
static void train(const char *name, struct layout_profile *p)
{
	auto_free char *binary = at(name), *raw = at("raw"), *out = xasprintf("%s.fdata", binary);
	auto_free char *command = xasprintf("rm -f raw; ./%s.i", name);
	auto_strv struct strv files = STRV_INIT;
	struct error err = ERROR_INIT;

	instrument(name, LAYOUT_DUMP_SHARED, "raw");
	free(sh(command));
	strv_add(&files, raw);
	if (layout_merge(&files, binary, out, p, &err) < 0)
		fail_msg("%s", err.msg);
}

static void test_optimise(void **state)
{
	auto_free char *binary = at("server"), *out = at("server.o"), *again = at("server.oo"),
		       *profile = at("server.fdata"), *log = at("log"), *said = NULL,
		       *expected = NULL;
	struct layout_profile made = {0};
	struct layout_optimise o = {.binary = binary,
		.profile = profile,
		.made = &made,
		.out = out,
		.log = log,
		.timeout_ns = LIMIT_NS};
	struct layout_result r = {0};
	struct error err = ERROR_INIT;

	need_bolt();
	train("server", &made);
	if (layout_optimise(&tool, &o, &r, &err) < 0 || layout_deterministic(&tool, &o, &err) < 0)
		fail_msg("%s", err.msg);
	assert_true(r.with_profile >= 3 && r.functions > r.with_profile && r.laid_out >= 1);
	assert_int_equal(r.stale, 0);
	assert_true(r.n_changes > 10 && r.bytes_after > r.bytes_before && r.peak_memory > 0);
	assert_true(strv_has(&r.options, "-reorder-blocks=ext-tsp"));
	assert_true(elf_by_bolt(out) && !elf_by_bolt(binary));
	layout_result_release(&r);
	said = sh("./server.o");
	expected = sh("./server");
	assert_string_equal(said, expected);
	o.binary = out;
	o.out = again;
	o.made = NULL;
	assert_int_equal(layout_optimise(&tool, &o, &r, &err), -1);
	expect(&err, ERR_UNSUPPORTED, "llvm-bolt has laid it out already");
	layout_profile_release(&made);
	error_release(&err);
}

static void test_foreign(void **state)
{
	auto_free char *binary = at("server"), *out = at("foreign.o"), *profile = at("other.fdata");
	struct layout_profile made = {0};
	struct layout_optimise o = {
		.binary = binary, .profile = profile, .out = out, .timeout_ns = LIMIT_NS};
	struct layout_result r = {0};
	struct error err = ERROR_INIT;

	need_bolt();
	train("other", &made);
	assert_int_equal(layout_optimise(&tool, &o, &r, &err), -1);
	expect(&err, ERR_MISMATCH, "is the profile of another program");
	o.made = &made;
	assert_int_equal(layout_optimise(&tool, &o, &r, &err), -1);
	expect(&err, ERR_MISMATCH, "was made with another file");
	assert_false(path_exists(out));
	layout_profile_release(&made);
	error_release(&err);
}

/* Another llvm-bolt in the place of the real one, which says what it is. */
static void with_script(const char *body, enum error_code code, const char *text)
{
	auto_free char *binary = at("server"), *out = at("script.o"), *profile = at("server.fdata"),
		       *path = at("llvm-bolt");
	auto_free char *script = xasprintf("#!/bin/sh\n%s\n", body);
	struct layout_tool t = tool;
	struct layout_optimise o = {
		.binary = binary, .profile = profile, .out = out, .timeout_ns = LIMIT_NS};
	struct layout_result r = {0};
	struct error err = ERROR_INIT;

	put("llvm-bolt", script);
	t.bolt = path;
	assert_int_equal(layout_optimise(&t, &o, &r, &err), -1);
	expect(&err, code, text);
	assert_false(path_exists(out));
	error_release(&err);
}

static void test_failures(void **state)
{
	auto_free char *limited = NULL;

	need_bolt();
	limited = xasprintf("ulimit -v 40000; exec %s \"$@\"", tool.bolt);
	with_script("echo working; kill -SEGV $$", ERR_CHILD, "crashed when it was to lay out");
	with_script("echo working; kill -KILL $$", ERR_KILLED, "the kernel for want of memory");
	with_script("echo 'what():  std::bad_alloc'; kill -ABRT $$", ERR_ENVIRONMENT,
		"not enough memory");
	with_script("echo 'BOLT-ERROR: no'; exit 1", ERR_CHILD, "BOLT-ERROR: no");
	with_script("exit 0", ERR_CHILD, "left no file");
	with_script("cp input output", ERR_CHILD, "without its note");
	with_script(limited, ERR_CHILD, "lay out");
}

static void test_strip(void **state)
{
	const char *program = NULL;
	struct error err = ERROR_INIT;
	auto_free char *command = NULL;

	need_bolt();
	if (layout_strip_program(&tool, &program, &err) < 0) {
		expect(&err, ERR_ENVIRONMENT, "GNU strip breaks");
		error_release(&err);
		skip();
	}
	command = xasprintf("%s --strip-all server.o -o server.s && ./server.s", program);
	free(sh(command));
}

static void test_find(void **state)
{
	struct layout_tool t = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(layout_find("no-such-bolt", 0, getenv("PATH"), &t, &err), -1);
	expect(&err, ERR_ENVIRONMENT, "'no-such-bolt' is no llvm-bolt that is installed");
	error_release(&err);
}

static void test_facts(void **state)
{
	auto_free char *path = at("facts.json");
	struct layout_facts f = {0}, back = {0};
	struct error err = ERROR_INIT;

	f.input.machine = xstrdup("x86_64");
	f.input.relocations = true;
	f.input.split_functions = 3;
	strv_add(&f.input.split_names, "first");
	f.profile.binary = xstrdup("abc");
	f.profile.executed = 12;
	f.result.tool = xstrdup("llvm-bolt 22.1.8");
	f.result.stale_samples = 4;
	strv_add(&f.result.options, "-split-eh");
	f.result.changes = xcalloc(1, sizeof(*f.result.changes));
	f.result.changes[0] = (struct layout_change){xstrdup("taken branches"), 9, 4};
	f.result.n_changes = f.result.cap_changes = 1;
	assert_int_equal(layout_facts_write(&f, path, &err), 0);
	assert_int_equal(layout_facts_read(path, &back, &err), 0);
	assert_string_equal(back.input.machine, "x86_64");
	assert_true(back.input.relocations && !back.input.bolted);
	assert_int_equal(back.input.split_functions, 3);
	assert_string_equal(back.input.split_names.v[0], "first");
	assert_string_equal(back.profile.binary, "abc");
	assert_int_equal(back.profile.executed, 12);
	assert_int_equal(back.result.stale_samples, 4);
	assert_string_equal(back.result.options.v[0], "-split-eh");
	assert_string_equal(back.result.changes[0].what, "taken branches");
	assert_int_equal(back.result.changes[0].after, 4);
	layout_facts_release(&f);
	layout_facts_release(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_preflight),
		cmocka_unit_test(test_split_functions),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_little_memory),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_aim),
		cmocka_unit_test(test_per_process),
		cmocka_unit_test(test_watched),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_optimise),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_strip),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
