#include "config/target.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strv.h"

#if defined(__x86_64__)
#define HOST_ARCH "x86_64"
#elif defined(__aarch64__)
#define HOST_ARCH "aarch64"
#elif defined(__riscv) && __riscv_xlen == 64
#define HOST_ARCH "riscv64gc"
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define HOST_ARCH "powerpc64le"
#elif defined(__s390x__)
#define HOST_ARCH "s390x"
#else
#error "no target triple is known for this processor"
#endif

#if defined(__GLIBC__)
#define HOST_LIBC "gnu"
#else
#define HOST_LIBC "musl"
#endif

static const struct target_processor processors[] = {
	{"x86_64", "x86_64", "amd64", "x86_64", "x86_64", "x86_64", false},
	{"i686", "i386", "i386", "i386", "x86", "i686", false},
	{"i386", "i386", "i386", "i386", "x86", "i686", false},
	{"aarch64", "aarch64", "arm64", "aarch64", "aarch64", "aarch64", false},
	{"arm", "arm", "armhf", "arm", "arm", "armv7l", false},
	{"riscv64", "riscv64", "riscv64", "riscv", "riscv64", "riscv64", false},
	{"powerpc64le", "ppc64le", "ppc64el", "ppc64", "ppc64", "ppc64le", false},
	{"powerpc64", "ppc64", "ppc64", "ppc64", "ppc64", "ppc64", true},
	{"powerpc", "ppc", "powerpc", "ppc", "ppc", "ppc", true},
	{"s390x", "s390x", "s390x", "s390x", "s390x", "s390x", true},
};

/* Other first words of a triple for the same processor. */
static const struct {
	const char *prefix, *name;
} aliases[] = {
	{"amd64", "x86_64"},
	{"arm64", "aarch64"},
	{"riscv64", "riscv64"}, /* riscv64gc */
	{"armv", "arm"},        /* armv7 */
	{"i586", "i686"},
};

static bool starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static const struct target_processor *processor_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(processors); i++)
		if (strcmp(word, processors[i].name) == 0)
			return &processors[i];
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		if (starts(word, aliases[i].prefix))
			return processor_of(aliases[i].name);
	return NULL;
}

/* ARCH-VENDOR-SYSTEM-ABI without its vendor, and the processor by GNU's name. */
static char *gnu_form(const char *triple, const struct target_processor *p)
{
	static const char *const vendors[] = {"unknown", "pc", "none", "redhat", "suse", "alpine"};
	size_t arch = strcspn(triple, "-");
	const char *rest = triple + arch;

	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++) {
		size_t n = strlen(vendors[i]);

		if (*rest == '-' && starts(rest + 1, vendors[i]) && rest[1 + n] == '-')
			rest += 1 + n;
	}
	return p ? xasprintf("%s%s", p->name, rest) : xasprintf("%.*s%s", (int)arch, triple, rest);
}

/* "gnu", "gnueabihf", "musl": what the C library is. */
static const char *libc_of(const char *gnu)
{
	return strrchr(gnu, '-') ? strrchr(gnu, '-') + 1 : "";
}

/* A 64-bit x86 processor runs 32-bit programs. */
static bool runs_here(const struct target_processor *p)
{
	const struct target_processor *host = processor_of(HOST_ARCH);

	return p == host || (strcmp(host->name, "x86_64") == 0 && strcmp(p->elf, "i386") == 0);
}

const char *target_host(void)
{
	return HOST_ARCH "-unknown-linux-" HOST_LIBC;
}

char *target_host_gnu(void)
{
	return gnu_form(target_host(), processor_of(HOST_ARCH));
}

void target_read(const char *triple, struct target *ret)
{
	size_t n = strcspn(triple, "-");
	auto_free char *word = xstrndup(triple, n), *host = target_host_gnu();
	struct target t = {.triple = xstrdup(triple), .processor = processor_of(word)};

	t.gnu = gnu_form(triple, t.processor);
	t.foreign = t.processor && (!runs_here(t.processor) || !strstr(triple, "linux"));
	t.other =
		t.processor && (t.foreign || t.processor != processor_of(HOST_ARCH) ||
				       strncmp(libc_of(t.gnu), HOST_LIBC, strlen(HOST_LIBC)) != 0);
	*ret = t;
}

void target_release(struct target *t)
{
	free(t->triple);
	free(t->gnu);
	*t = (struct target){0};
}
