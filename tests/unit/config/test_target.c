/* Triples, as each tool names the machine. */
#include "tests.h"

#include <string.h>

#include "config/target.h"

static void reads(const char *triple, const char *gnu, const char *qemu, bool big, bool foreign)
{
	struct target t;

	target_read(triple, &t);
	assert_string_equal(t.triple, triple);
	assert_string_equal(t.gnu, gnu);
	assert_non_null(t.processor);
	assert_string_equal(t.processor->qemu, qemu);
	assert_int_equal(t.processor->big_endian, big);
	assert_int_equal(t.foreign, foreign);
	assert_true(t.other || !foreign);
	target_release(&t);
}

static void is_other(const char *triple, bool other, bool foreign)
{
	struct target t;

	target_read(triple, &t);
	assert_int_equal(t.other, other);
	assert_int_equal(t.foreign, foreign);
	target_release(&t);
}

void test_targets(void **state)
{
	struct target t;

	reads("s390x-linux-gnu", "s390x-linux-gnu", "s390x", true, true);
	reads("riscv64gc-unknown-linux-gnu", "riscv64-linux-gnu", "riscv64", false, true);
	reads("armv7-unknown-linux-gnueabihf", "arm-linux-gnueabihf", "arm", false, true);
	reads("powerpc64le-unknown-linux-gnu", "powerpc64le-linux-gnu", "ppc64le", false, true);
	is_other(target_host(), false, false);
#if defined(__x86_64__) && defined(__GLIBC__)
	reads("aarch64-unknown-linux-gnu", "aarch64-linux-gnu", "aarch64", false, true);
	reads("arm64-linux-gnu", "aarch64-linux-gnu", "aarch64", false, true);
	reads("i586-pc-linux-gnu", "i686-linux-gnu", "i386", false, false);
	is_other("x86_64-linux-gnu", false, false);
	is_other("amd64-unknown-linux-gnu", false, false);
	is_other("x86_64-unknown-linux-gnu.2.28", false, false);
	is_other("x86_64-linux-musl", true, false);
	is_other("i386-linux-gnu", true, false);
	is_other("x86_64-unknown-freebsd", true, true);
#endif
	/* A target file of rustc's counts as this machine's, as before. */
	target_read("board.json", &t);
	assert_null(t.processor);
	assert_false(t.other || t.foreign);
	target_release(&t);
}
