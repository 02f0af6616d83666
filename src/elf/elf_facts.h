/* Bounded facts about ELF files, by libelf. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"

struct elf_facts {
	bool executable, shared, relocatable;
	char *machine;  /* "x86_64", … */
	char *build_id; /* hex; NULL */
	/* Of section __llvm_prf_names, and of those of further runtimes (__wr08_prf_names, …),
	 * joined by '+'; NULL when it has none. */
	char *names_sha256;
	uint64_t prf_data_bytes; /* of __llvm_prf_data */
	struct strv
		profile_marks; /* every section or symbol that belongs to a profile or BOLT
				* runtime, e.g. "section __llvm_prf_cnts", "symbol __gcov_exit" */
	struct strv needed;    /* DT_NEEDED */
	char *soname;          /* DT_SONAME: the name by which others need it; NULL */
	char *glibc_floor;     /* "2.34"; NULL: none needed */
	bool has_hook;         /* whet's fork hook is in it (symbol whet_profile_hook) */
	bool no_sections;      /* no section headers: marks cannot be told */
};
void elf_facts_release(struct elf_facts *f);
int elf_facts_read(const char *path, struct elf_facts *ret, struct error *err);

/* Facts of one relocatable object in memory (a file or an archive member). code_hash: SHA-256 over
 * name and bytes of every executable section together with its relocations' targets (symbol names,
 * not indices), so that equal code gives equal hashes; "" when it has no code. functions (may be
 * NULL; added to): names of defined functions, local ones too. */
int elf_object_code(
	const void *data, size_t n, char code_hash[65], struct strv *functions, struct error *err);
/* The same hash of an object file; NULL when it is no object or has no code. Caller frees. */
char *elf_code_of_file(const char *path);
/* Adds the names of the functions, local ones too, in the symbol table of an ELF file; none when it
 * was stripped. */
void elf_functions_of_file(const char *path, struct strv *ret);
/* What a relocatable object tells of the program that made it. */
struct elf_origin {
	char *maker;        /* what its section .comment says; NULL: nothing */
	struct strv files;  /* the sources that its symbol table names */
	struct strv labels; /* global symbols that it defines */
	bool data;          /* neither machine code nor the intermediate code of a compiler */
};
void elf_origin_release(struct elf_origin *o);
int elf_object_origin(const void *data, size_t n, struct elf_origin *ret, struct error *err);
/* SHA-256 of .text of a linked file. */
int elf_text_hash(const char *path, char hash[65], struct error *err);
