/* What a linked file tells of the counters that gcc put into it: which .gcda it writes, and the
 * names of the functions that they count, which the .gcda themselves do not hold. The layout of
 * these records is gcc's own (struct gcov_fn_info of libgcov); the symbols are those that gcc 11
 * and 12 give them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"

struct elf_gcov_function {
	char *name; /* as the assembler has it */
	uint32_t ident, lineno_checksum, cfg_checksum;
};

struct elf_gcov {
	/* Paths of the .gcda of the objects with functions, as the compiler was told them,
	 * absolute, with "." and ".." as given; each once, sorted. */
	struct strv objects;
	struct elf_gcov_function *v; /* none in a file without symbol table */
	size_t n, cap;
};
void elf_gcov_release(struct elf_gcov *g);
/* Adds those of a linked file (64-bit, little-endian; else ERR_UNSUPPORTED) to ret. A file without
 * such counters adds nothing. */
int elf_gcov_read(const char *path, struct elf_gcov *ret, struct error *err);
