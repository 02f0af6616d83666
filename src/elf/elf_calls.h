/* The functions of a linked file, where they lie, and, when it was linked with --emit-relocs, which
 * of them name each other in their code. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct elf_function {
	char *name; /* as the symbol table has it; of several at one place the first by bytes */
	uint64_t at, size; /* address and bytes in the file */
};

struct elf_call {
	uint32_t from, to; /* indices of functions; never the same */
	uint32_t sites;    /* how often the code of `from` names the begin of `to` */
};

struct elf_calls {
	struct elf_function *v; /* in order of their addresses, one for each address */
	size_t n, cap;
	struct elf_call *calls; /* in order of from, then of to */
	size_t n_calls, cap_calls;
};
void elf_calls_release(struct elf_calls *c);
/* Sizes are those of the symbol table; functions without a size are left out. A stripped file has
 * none, and one that was linked without --emit-relocs has no calls. ERR_CORRUPT when it is no ELF
 * file. */
int elf_calls_read(const char *path, struct elf_calls *ret, struct error *err);
