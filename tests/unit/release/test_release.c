#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/proc.h"
#include "release/release.h"

static char folder[] = "/tmp/whet-release-XXXXXX";

static char *at(const char *name)
{
	return path_join(folder, name);
}

static void put(const char *name, const char *text)
{
	auto_free char *path = at(name), *parent = path_dirname(path);
	struct error err = ERROR_INIT;

	if (dir_create(parent, 0755, &err) < 0 ||
		file_write_atomic(path, text, strlen(text), 0600, &err) < 0)
		fail_msg("%s", err.msg);
}

/* Runs a shell command in the test's folder; its output as one text. */
static char *sh(const char *command)
{
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	struct proc_options p = PROC_OPTIONS_INIT;
	struct error err = ERROR_INIT;

	strv_add(&argv, "/bin/sh");
	strv_add(&argv, "-c");
	strv_add(&argv, command);
	p.argv = &argv;
	p.cwd = folder;
	if (proc_capture(&p, 60 * NS_PER_S, &lines, &err) < 0)
		fail_msg("%s: %s", command, err.msg);
	return strv_join(&lines, "\n");
}

static void archive(const char *to, const char *tree, bool reversed)
{
	auto_free char *path = at(to), *a = NULL, *b = NULL, *c = NULL;
	auto_free char *tree_a = xasprintf("%s/server", tree);
	auto_free char *tree_b = xasprintf("%s/README", tree);
	auto_free char *tree_c = xasprintf("%s/mime.types", tree);
	struct release_file files[3], t;
	struct error err = ERROR_INIT;

	a = at(tree_a), b = at(tree_b), c = at(tree_c);
	files[0] = (struct release_file){a, "bin/server", true};
	files[1] = (struct release_file){b, "README", false};
	files[2] = (struct release_file){c, "conf/d/mime.types", false};
	if (reversed)
		t = files[0], files[0] = files[2], files[2] = t;
	if (release_archive(path, "edge-1.0-x86_64", files, 3, 1700000000, &err) < 0)
		fail_msg("%s", err.msg);
}

static void fill_tree(const char *tree)
{
	static const char *const names[] = {"server", "README", "mime.types"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *name = xasprintf("%s/%s", tree, names[i]);
		auto_free char *text = xasprintf("content of %s\n", names[i]);

		put(name, text);
	}
}

static int take_out(const char *archive, const char *to, struct error *err)
{
	auto_free char *path = at(archive), *own = at(to);
	auto_strv struct strv names = STRV_INIT;

	*err = (struct error)ERROR_INIT;
	strv_add(&names, "server");
	assert_int_equal(dir_create(own, 0755, NULL), 0);
	return release_take_out(path, &names, own, err);
}

/* Only what is asked for, only out of the archive's folder, and executable. */
static void test_take_out(void **state)
{
	auto_free char *made = NULL, *list = NULL;
	struct error err;

	made = sh(
		"mkdir -p pack/top/sub && cd pack && echo right >top/server && echo other "
		">top/README && "
		"echo wrong >top/sub/server && echo evil >../server && "
		"tar -Pczf ../pack.tar.gz top/sub ../server top/README top/server && rm ../server");
	assert_string_equal(made, "");
	if (take_out("pack.tar.gz", "taken", &err) < 0)
		fail_msg("%s", err.msg);
	list = sh("cat taken/server; ls taken; stat -c %a taken/server; ls server 2>&1 | wc -l");
	assert_string_equal(list, "right\nserver\n755\n1");
}

static void refuse_take_out(const char *make, const char *to, const char *text)
{
	auto_free char *made = sh(make);
	struct error err;

	assert_string_equal(made, "");
	assert_int_equal(take_out("bad.tar.gz", to, &err), -1);
	if (!strstr(err.msg, text))
		fail_msg("no '%s' in '%s'", text, err.msg);
	error_release(&err);
}

static void test_take_out_refusals(void **state)
{
	refuse_take_out("cd pack && tar -czf ../bad.tar.gz top/README", "a",
		"does not hold the program 'server'");
	refuse_take_out(
		"mkdir -p link/top && ln -s /etc/passwd link/top/server && tar -C link -czf "
		"bad.tar.gz top/server",
		"b", "'server' in archive '");
	refuse_take_out("head -c 60 pack.tar.gz >bad.tar.gz", "c", "cannot read archive '");
	refuse_take_out("echo no archive >bad.tar.gz", "d", "cannot read archive '");
	refuse_take_out("rm bad.tar.gz", "e", "cannot read archive '");
}

static void test_check(void **state)
{
	auto_free char *own = at("sums"), *made = NULL;
	struct error err = ERROR_INIT;

	made = sh("mkdir sums && cd sums && echo one >one && echo two >two && sha256sum one two "
		  ">SHA256SUMS && echo three >three && echo changed >two");
	assert_string_equal(made, "");
	assert_int_equal(release_check(own, "one", &err), 0);
	assert_int_equal(release_check(own, "two", &err), -1);
	assert_non_null(strstr(err.msg, "is not what"));
	error_release(&err);
	assert_int_equal(release_check(own, "three", &err), -1);
	assert_non_null(strstr(err.msg, "does not list 'three'"));
	error_release(&err);
}

/* Two trees with other times, modes and owners, given in another order. */
static void test_same_bytes(void **state)
{
	auto_free char *one = at("one.tar.gz"), *two = at("two.tar.gz"), *server = at("two/server");
	struct timespec times[2] = {{1000, 0}, {1000, 0}};
	char a[SHA256_HEX], b[SHA256_HEX];

	fill_tree("one");
	fill_tree("two");
	assert_int_equal(utimensat(AT_FDCWD, server, times, 0), 0);
	assert_int_equal(chmod(server, 0444), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(server, 65534, 65534), 0);
	archive("one.tar.gz", "one", false);
	archive("two.tar.gz", "two", true);
	assert_int_equal(sha256_file(one, a, NULL), 0);
	assert_int_equal(sha256_file(two, b, NULL), 0);
	assert_string_equal(a, b);
}

static void test_tar_reads_it(void **state)
{
	auto_free char *list = sh("TZ=UTC tar --numeric-owner -tvzf one.tar.gz");
	auto_free char *content = sh("tar -xOzf one.tar.gz edge-1.0-x86_64/bin/server");
	auto_free char *kind = sh("gzip -dc one.tar.gz | dd bs=1 skip=257 count=5 2>/dev/null");

	assert_string_equal(list,
		"drwxr-xr-x 0/0               0 2023-11-14 22:13 edge-1.0-x86_64/\n"
		"-rw-r--r-- 0/0              18 2023-11-14 22:13 edge-1.0-x86_64/README\n"
		"drwxr-xr-x 0/0               0 2023-11-14 22:13 edge-1.0-x86_64/bin/\n"
		"-rwxr-xr-x 0/0              18 2023-11-14 22:13 edge-1.0-x86_64/bin/server\n"
		"drwxr-xr-x 0/0               0 2023-11-14 22:13 edge-1.0-x86_64/conf/\n"
		"drwxr-xr-x 0/0               0 2023-11-14 22:13 edge-1.0-x86_64/conf/d/\n"
		"-rw-r--r-- 0/0              22 2023-11-14 22:13 "
		"edge-1.0-x86_64/conf/d/mime.types");
	assert_string_equal(content, "content of server");
	assert_string_equal(kind, "ustar");
}

/* Bytes 4 to 7 are the time, bit 3 of byte 3 a file name. */
static void test_gzip_header(void **state)
{
	auto_free char *path = at("one.tar.gz");
	auto_buf struct buf b = BUF_INIT;

	assert_int_equal(file_read(path, 0, &b, NULL), 0);
	assert_memory_equal(b.p, "\x1f\x8b\x08\x00\x00\x00\x00\x00", 8);
}

static void refuse(const struct release_file *files, size_t n, const char *top, const char *text)
{
	auto_free char *path = at("refused.tar.gz");
	struct error err = ERROR_INIT;

	assert_int_equal(release_archive(path, top, files, n, 0, &err), -1);
	assert_non_null(strstr(err.msg, text));
	assert_false(path_exists(path));
	error_release(&err);
}

static void test_archive_refusals(void **state)
{
	auto_free char *file = at("one/server"), *gone = at("one/gone"), *dir = at("one");
	struct release_file twice[] = {{file, "a", false}, {file, "a", false}};
	struct release_file bad[] = {{file, "../a", false}};
	struct release_file absolute[] = {{file, "/a", false}};
	struct release_file missing[] = {{gone, "a", false}};
	struct release_file a_folder[] = {{dir, "a", false}};
	char name[300];
	struct release_file longest[] = {{file, name, false}};

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	refuse(twice, 2, "top", "two files of an archive have the name 'a'");
	refuse(bad, 1, "top", "'../a' cannot be a name");
	refuse(absolute, 1, "top", "'/a' cannot be a name");
	refuse(missing, 1, "top", "cannot read");
	refuse(a_folder, 1, "top", "no regular file");
	refuse(longest, 1, "top", "too long");
	refuse(missing, 1, "a/b", "cannot be the folder");
}

static void test_checksums(void **state)
{
	auto_strv struct strv names = STRV_INIT, bad = STRV_INIT;
	auto_free char *said = NULL, *path = at("SHA256SUMS");
	auto_buf struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;

	put("b.txt", "abc");
	put("a.txt", "");
	strv_add(&names, "b.txt");
	strv_add(&names, "a.txt");
	strv_add(&names, "one.tar.gz");
	assert_int_equal(release_checksums(folder, &names, &err), 0);
	said = sh("sha256sum -c --strict SHA256SUMS");
	assert_string_equal(said, "a.txt: OK\nb.txt: OK\none.tar.gz: OK");
	assert_int_equal(file_read(path, 0, &b, NULL), 0);
	assert_memory_equal(b.p,
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a.txt\n"
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b.txt\n",
		2 * 72);
	strv_add(&bad, "b\nc");
	assert_int_equal(release_checksums(folder, &bad, &err), -1);
	assert_int_equal(err.code, ERR_CONFIG);
	error_release(&err);
}

static void test_strip(void **state)
{
	auto_free char *to = at("stripped"), *text = at("a.txt"), *sections = NULL, *said = NULL;
	struct error err = ERROR_INIT;
	struct stat before, after;

	if (release_strip("/proc/self/exe", to, NULL, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(stat("/proc/self/exe", &before), 0);
	assert_int_equal(stat(to, &after), 0);
	assert_true(after.st_size < before.st_size);
	assert_int_equal(after.st_mode & 0777, 0755);
	/* It has no symbol table any more, and it runs. */
	sections = sh("grep -c '[.]symtab' stripped || true");
	assert_string_equal(sections, "0");
	said = sh("./stripped --only-say");
	assert_string_equal(said, "it runs");
	assert_int_equal(release_strip(text, to, NULL, &err), -1);
	assert_int_equal(err.code, ERR_CORRUPT);
	error_release(&err);
}

/* Puts strip programs into PATH that exit with 0 and do harm. */
static void test_strip_that_lies(void **state)
{
	static const char *const scripts[] = {"for f; do :; done; : > \"$f\"",
		"for f; do :; done; head -c 100000000 /dev/zero >> \"$f\"", "exit 3"};
	static const char *const messages[] = {"left no ELF file", "larger", "exit code 3"};
	auto_free char *to = at("kept"), *bin = at("bin");
	auto_free char *saved = xstrdup(getenv("PATH"));
	auto_free char *path = xasprintf("%s:%s", bin, saved);

	put("kept", "old");
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		auto_free char *text = xasprintf("#!/bin/sh\n%s\n", scripts[i]);
		auto_free char *program = at("bin/llvm-strip"), *left = at("kept.strip");
		auto_free char *content = NULL;
		struct error err = ERROR_INIT;
		int r;

		put("bin/llvm-strip", text);
		assert_int_equal(chmod(program, 0755), 0);
		/* One that says that it failed is not the last one, unless there is no other. */
		setenv("PATH", i == 2 ? bin : path, 1);
		r = release_strip("/proc/self/exe", to, NULL, &err);
		setenv("PATH", saved, 1);
		assert_int_equal(r, -1);
		assert_int_equal(err.code, ERR_CHILD);
		assert_non_null(strstr(err.msg, messages[i]));
		assert_false(path_exists(left));
		content = sh("cat kept");
		assert_string_equal(content, "old");
		error_release(&err);
	}
}

/* llvm-strip refuses what is linked statically with glibc; another one can. */
static void test_strip_that_refuses(void **state)
{
	auto_free char *to = at("second"), *bin = at("bin"), *program = at("bin/llvm-strip");
	auto_free char *saved = xstrdup(getenv("PATH")), *sections = NULL;
	auto_free char *path = xasprintf("%s:%s", bin, saved);
	struct error err = ERROR_INIT;
	int r;

	put("bin/llvm-strip",
		"#!/bin/sh\necho 'Link field value 35 is not a symbol table' >&2\nexit 1\n");
	assert_int_equal(chmod(program, 0755), 0);
	setenv("PATH", path, 1);
	r = release_strip("/proc/self/exe", to, NULL, &err);
	setenv("PATH", saved, 1);
	if (r < 0)
		fail_msg("%s", err.msg);
	sections = sh("grep -c '[.]symtab' second || true");
	assert_string_equal(sections, "0");
}

/* One that is killed has not refused: another would make another file. */
static void test_strip_that_is_killed(void **state)
{
	auto_free char *to = at("third"), *bin = at("bin"), *program = at("bin/llvm-strip");
	auto_free char *saved = xstrdup(getenv("PATH"));
	auto_free char *path = xasprintf("%s:%s", bin, saved);
	struct error err = ERROR_INIT;
	int r;

	put("bin/llvm-strip", "#!/bin/sh\nkill -9 $$\n");
	assert_int_equal(chmod(program, 0755), 0);
	setenv("PATH", path, 1);
	r = release_strip("/proc/self/exe", to, NULL, &err);
	setenv("PATH", saved, 1);
	assert_int_equal(r, -1);
	assert_int_equal(err.code, ERR_KILLED);
	assert_false(path_exists(to));
	error_release(&err);
}

static void test_no_strip_program(void **state)
{
	auto_free char *saved = xstrdup(getenv("PATH")), *to = at("kept");
	struct error err = ERROR_INIT;
	int r;

	setenv("PATH", "/nonexistent", 1);
	r = release_strip("/proc/self/exe", to, NULL, &err);
	setenv("PATH", saved, 1);
	assert_int_equal(r, -1);
	assert_int_equal(err.code, ERR_ENVIRONMENT);
	error_release(&err);
}

static int begin(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	return tree_remove(folder, NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_tar_reads_it),
		cmocka_unit_test(test_gzip_header),
		cmocka_unit_test(test_archive_refusals),
		cmocka_unit_test(test_checksums),
		cmocka_unit_test(test_take_out),
		cmocka_unit_test(test_take_out_refusals),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_strip),
		cmocka_unit_test(test_strip_that_lies),
		cmocka_unit_test(test_strip_that_refuses),
		cmocka_unit_test(test_strip_that_is_killed),
		cmocka_unit_test(test_no_strip_program),
	};

	if (argc == 2 && strcmp(argv[1], "--only-say") == 0)
		return puts("it runs") < 0;
	return cmocka_run_group_tests(tests, begin, end);
}
