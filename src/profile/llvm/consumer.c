/* Which LLVM a compiler is built on, and what that LLVM reads. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/profile.h"

uint32_t profile_version_for_llvm(int llvm_major)
{
	static const uint8_t versions[] = {6, 7, 7, 7, 8, 9, 10, 11, 12, 12, 12, 13}; /* 11 to 22 */

	if (llvm_major < PROFILE_LLVM_OLDEST)
		return 5;
	if (llvm_major > PROFILE_LLVM_NEWEST)
		llvm_major = PROFILE_LLVM_NEWEST;
	return versions[llvm_major - PROFILE_LLVM_OLDEST];
}

static bool read_number(const char **s, int *ret)
{
	if (!isdigit((unsigned char)**s))
		return false;
	for (*ret = 0; isdigit((unsigned char)**s) && *ret < 10000; (*s)++)
		*ret = *ret * 10 + (**s - '0');
	return !isdigit((unsigned char)**s);
}

/* The Rust project's builds; distributions may build rustc on an older LLVM. */
static int llvm_of_rust(int minor)
{
	/* The first minor version on each LLVM from 11. */
	static const int first[] = {47, 52, 56, 60, 65, 70, 73, 78, 82, 87, 91, 95};
	int llvm = -1;

	for (size_t i = 0; i < ARRAY_SIZE(first) && minor >= first[i]; i++)
		llvm = PROFILE_LLVM_OLDEST + (int)i;
	return llvm;
}

/* What follows the name of a compiler, or NULL when it is none of LLVM's. */
static const char *version_in(const char *consumer)
{
	static const char *const families[] = {"rustc-", "rust-", "clang-", "clang++-", "llvm-"};

	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (strncmp(consumer, families[i], strlen(families[i])) == 0)
			return consumer + strlen(families[i]);
	return NULL;
}

int profile_llvm_of(const char *consumer)
{
	const char *s = version_in(consumer);
	int major, minor = 0;

	if (!s || !read_number(&s, &major))
		return -1;
	if (consumer[0] == 'r') {
		if (major != 1 || *s++ != '.' || !read_number(&s, &minor) || (*s && *s != '.'))
			return -1;
		return llvm_of_rust(minor);
	}
	if ((*s && *s != '.') || major < PROFILE_LLVM_OLDEST || major > 99)
		return -1;
	return major;
}
