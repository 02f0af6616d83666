/* Facts about a linked file that a post-link optimiser depends on. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"

struct elf_symbol {
	const char *name; /* in the table that holds it */
	uint64_t bytes;   /* of the largest symbol of this name; 0: unknown */
};
/* Every name in the symbol tables, once, sorted by bytes. */
struct elf_names {
	struct elf_symbol *v;
	size_t n, cap;
	char *text;
};
void elf_names_release(struct elf_names *n);
/* NULL when there is none. n: length of name. */
const struct elf_symbol *elf_names_find(const struct elf_names *l, const char *name, size_t n);

struct elf_layout {
	char *machine;    /* as in struct elf_facts */
	char *build_id;   /* hex; NULL */
	bool linked;      /* a program or a shared object */
	bool relocations; /* of .text, kept by the linker */
	bool symbols, debug;
	bool bolted;                /* note of llvm-bolt (.note.bolt_info) */
	bool instrumented;          /* by llvm-bolt */
	bool is_static;             /* a program without interpreter */
	uint64_t bytes, text_bytes; /* of the file; of its executable sections */
	uint64_t functions;         /* with a size */
	struct strv split;          /* those of which a part is elsewhere, once each, sorted */
};
void elf_layout_release(struct elf_layout *l);
/* names may be NULL. ERR_CORRUPT when it is no ELF file. */
int elf_layout_read(
	const char *path, struct elf_layout *ret, struct elf_names *names, struct error *err);
