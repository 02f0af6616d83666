/* Private to elf_unwind.c and its parts: a linked file by addresses, and its FDEs. */
#pragma once

#include "base/file.h"
#include "base/reader.h"
#include "elf/elf_file.h"
#include "facts/unwinding.h"

/* Encodings of pointers (LSB Core 5.0, "DWARF Exception Header Encoding"). */
enum {
	PTR_OMIT = 0xff,
	PTR_FORMAT = 0x0f, /* the bits that tell how long it is */
	PTR_BASE = 0x70,   /* and what it is relative to */
	PTR_PCREL = 0x10,
	PTR_DATAREL = 0x30,
};

struct unwind_image {
	struct file_map map;
	struct elf_image elf;
	bool big;
	GElf_Phdr *loads;
	size_t n_loads;
	GElf_Phdr table; /* PT_GNU_EH_FRAME; p_type PT_NULL: there is none */
	struct unwind_frame *frames;
	size_t n_frames, cap_frames;
	/* Indices into facts->functions, by start; before those are sorted by name. */
	struct unwind_facts *facts;
};

/* One FDE. */
struct unwind_frame {
	uint64_t at; /* its own address */
	uint64_t start, size;
	uint64_t data;  /* address of its exception data; 0: none */
	bool main;      /* in the section that the table is of */
	uint32_t lists; /* how often the table names it */
};

/* Bytes from an address on, as far as its segment's bytes in the file go; *n is 0 when none. */
const uint8_t *unwind_bytes(const struct unwind_image *i, uint64_t at, size_t *n);
/* A reader of them, in the file's byte order. */
struct reader unwind_reader(const struct unwind_image *i, uint64_t at);
/* An encoded pointer; at: the address of r's first byte; base: of the table, for PTR_DATAREL. The
 * reader fails for an encoding that is none. A null pointer stays null. */
uint64_t unwind_pointer(struct reader *r, uint64_t at, uint8_t encoding, uint64_t base);
uint64_t unwind_uleb(struct reader *r);

/* The frame that an unwinder finds for a code address: frames are sorted by start, and those that
 * the table does not name are not found when there is one. */
const struct unwind_frame *unwind_frame_of(const struct unwind_image *i, uint64_t pc);
/* The functions at an address, those that start highest: the first and how many. The functions are
 * sorted by start. NULL: none. */
const struct unwind_function *unwind_functions_at(
	const struct unwind_image *i, uint64_t pc, size_t *n);
/* Name of a function at an address, "" when none is known. */
const char *unwind_name_at(const struct unwind_image *i, uint64_t pc);

/* Checks the exception data of all frames; counts data and pads. */
void unwind_check_data(struct unwind_image *i);
/* Reads all FDEs and the table, checks them against each other, and executes them. */
void unwind_read_frames(struct unwind_image *i);
void unwind_check_table(struct unwind_image *i);
void unwind_execute(struct unwind_image *i);
