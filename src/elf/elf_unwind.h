/* Reads what a linked file holds for stack unwinding, and checks it against itself: .eh_frame and
 * its table .eh_frame_hdr (Linux Standard Base Core 5.0, "Exception Frames"; DWARF 5, 6.4), the
 * instructions in it (executed by libdw), and the exception data of C++, Rust and C's cleanups
 * (Itanium C++ ABI, "Exception Handling Tables"). */
#pragma once

#include "base/error.h"
#include "facts/unwinding.h"

/* The file should have its symbol table: without it functions have no names. A 32-bit file, or one
 * without section headers, is told in ret->unknown. */
int elf_unwind_read(const char *path, struct unwind_facts *ret, struct error *err);
