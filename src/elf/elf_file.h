/* An ELF image opened by libelf, for the files of this folder. */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct elf_image {
	Elf *elf;
	GElf_Ehdr head;
	size_t names;    /* index of the section name table */
	size_t segments; /* number of program headers, all within the file */
	void *aligned;   /* copy of data that did not lie aligned, or NULL */
};

/* data must outlive the image. ERR_CORRUPT, ERR_UNSUPPORTED (an archive) when it is no ELF file, or
 * one whose sections take many times its size. */
int elf_image_open(const void *data, size_t n, struct elf_image *ret, struct error *err);
void elf_image_close(struct elf_image *i);
#define auto_elf __attribute__((cleanup(elf_image_close)))

/* Name of a section, "" when its offset is bad. */
const char *elf_section_name(const struct elf_image *i, const GElf_Shdr *s);
/* A section's bytes; *n is 0 for NOBITS. NULL with *n 0 when they lie outside the file. */
const uint8_t *elf_section_bytes(Elf_Scn *scn, const GElf_Shdr *s, size_t *n);
/* Name of a symbol; that of its section for a section symbol; "" when unknown. */
const char *elf_symbol_name(const struct elf_image *i, const GElf_Shdr *table, const GElf_Sym *s);
/* Number of entries of a table section, bounded by the bytes that are there. */
size_t elf_entries(const GElf_Shdr *s, const Elf_Data *d);
