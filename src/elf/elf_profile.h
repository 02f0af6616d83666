/* What a snapshot of a live process needs to know of an image that LLVM instrumented. Addresses are
 * those of the file: where the image is loaded is added by the caller. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum elf_prf {
	ELF_PRF_COUNTERS,
	ELF_PRF_DATA,
	ELF_PRF_NAMES,
	ELF_PRF_VALUES, /* heads of value lists */
	ELF_PRF_NODES,  /* and their elements */
	ELF_PRF_BITMAP,
	ELF_PRF_VTABLES,
	ELF_PRF_VTABLE_NAMES,
	ELF_PRF_SECTIONS
};

struct elf_place {
	uint64_t at, off, n; /* address, offset in the file, bytes; n is 0 when it is absent */
};

/* How the names of a profile runtime's symbols and sections begin: LLVM's own, and those of further
 * runtimes in one image (wrap/retag.h). */
#define ELF_PROFILE_RUNTIMES 4
extern const char *const elf_profile_runtimes[ELF_PROFILE_RUNTIMES];

struct elf_profile {
	const char *runtime; /* one of these */
	bool plain;          /* 64-bit and little-endian: the rest is filled in */
	bool moves;          /* may be loaded anywhere (ET_DYN) */
	bool no_sections;    /* section headers were removed */
	bool correlated;     /* built with profile correlation: its records are not loaded */
	bool gcov;           /* carries the runtime of gcc's profiles */
	struct elf_place v[ELF_PRF_SECTIONS];
	struct elf_place first; /* loaded segment with the lowest address, rounded to pages */
	/* Variables of the runtime; 0 when no symbol tells. */
	uint64_t version_at, counter_bias_at, bitmap_bias_at;
	/* Constants in the data that look like the version word of IR profiles of raw version 8, 9
	 * or 10: looked for when there is no symbol. */
	uint64_t words[4];
	size_t n_words;
	struct buf ids; /* build ids as raw profiles hold them: u64 length, bytes, padding to 8 */
};
void elf_profile_release(struct elf_profile *p);
/* Of one runtime in the image. ERR_CORRUPT when data is no ELF file. */
int elf_profile_read(const void *data, size_t n, const char *runtime, struct elf_profile *ret,
	struct error *err);
