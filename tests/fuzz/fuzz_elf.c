/* Any bytes as an object file or a linked one: facts, or an error that says why not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "elf/elf_facts.h"
#include "elf/elf_gcov.h"
#include "elf/elf_profile.h"
#include "wrap/retag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz_elf: %s\n", what);
	abort();
}

static void told(int result, struct error *err)
{
	must((result < 0) == (err->msg != NULL),
		"a failure without a reason, or a reason without one");
	error_release(err);
}

static void from_memory(const uint8_t *data, size_t n)
{
	auto_strv struct strv functions = STRV_INIT;
	struct elf_profile profile = {0};
	struct elf_origin origin = {0};
	struct error err = ERROR_INIT;
	char hash[65];

	for (size_t i = 0; i < ELF_PROFILE_RUNTIMES; i++) {
		told(elf_profile_read(data, n, elf_profile_runtimes[i], &profile, &err), &err);
		elf_profile_release(&profile);
	}
	told(elf_object_code(data, n, hash, &functions, &err), &err);
	told(elf_object_origin(data, n, &origin, &err), &err);
	elf_origin_release(&origin);
}

static void renamed(const uint8_t *data, size_t n)
{
	auto_free uint8_t *copy = malloc(n ? n : 1);
	struct error err = ERROR_INIT;

	must(copy, "no memory");
	memcpy(copy, data, n);
	told(retag_bytes(copy, n, 8, false, &err), &err);
}

static void from_file(const char *path)
{
	struct elf_gcov counters = {0};
	struct elf_facts facts = {0};
	struct error err = ERROR_INIT;
	char hash[65];

	told(elf_facts_read(path, &facts, &err), &err);
	elf_facts_release(&facts);
	told(elf_text_hash(path, hash, &err), &err);
	told(elf_gcov_read(path, &counters, &err), &err);
	elf_gcov_release(&counters);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	must(fd >= 0 && write(fd, data, n) == (ssize_t)n, "no memory file");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	from_memory(data, n);
	renamed(data, n);
	from_file(path);
	close(fd);
	return 0;
}
