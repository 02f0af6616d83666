/* What reading branch stacks needs of the program that they were recorded of: where its code lies
 * in the file and in memory, its build-id, and its functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* An executable PT_LOAD segment (ELF specification, "Program Header"). */
struct branch_segment {
	uint64_t offset, file_size; /* in the file */
	uint64_t address;           /* as linked */
};

/* A function of the symbol table: [start, end), as linked. */
struct branch_function {
	uint64_t start, end;
};

struct branch_image {
	char *path, *name; /* as given, and its last component */
	char *build_id;    /* hex; NULL: it has none */
	bool fixed;        /* linked to one address (ET_EXEC) */
	struct branch_segment *segments;
	size_t n_segments;
	struct branch_function *functions; /* by start, none within another */
	size_t n_functions;
};

/* ERR_CORRUPT: no ELF file that can be read; ERR_UNSUPPORTED: it has no code, or no symbols of
 * functions (stripped), or is no 64-bit little-endian file. */
int branch_image_read(const char *path, struct branch_image *ret, struct error *err);
void branch_image_release(struct branch_image *i);

/* The function that holds an address, as its index; SIZE_MAX: none. */
size_t branch_image_function(const struct branch_image *i, uint64_t address);
