/* What a strip program did to a linked file, by its program headers (ELF specification, "Program
 * Header") and the bytes that they load. */
#pragma once

#include "base/error.h"
#include "facts/stripped.h"

/* Compares a file before and after it was stripped. A stripped file that cannot be read is a fault,
 * too; an error is one that says nothing of it (no such file, `before` is no ELF file). */
int elf_strip_compare(
	const char *before, const char *after, struct strip_facts *ret, struct error *err);
/* Whether llvm-bolt wrote the file, by the note or sections that it leaves. False when it cannot be
 * read. */
bool elf_by_bolt(const char *path);
