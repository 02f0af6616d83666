/* The machine that a build is for, by the names that the tools have for it. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* What is known of a processor. All texts are static. */
struct target_processor {
	const char *name;   /* first word of GNU's triples: "aarch64" */
	const char *qemu;   /* qemu-user's program is qemu-NAME */
	const char *debian; /* architecture of Debian's packages */
	const char *elf;    /* struct elf_facts.machine */
	const char *family; /* meson's cpu_family */
	const char *uname;  /* uname -m, cmake's CMAKE_SYSTEM_PROCESSOR */
	bool big_endian;
};

struct target {
	char *triple; /* as the plan gives it */
	/* GNU's form, which Debian's cross compilers have in front of their names and clang takes:
	 * "aarch64-linux-gnu" for "aarch64-unknown-linux-gnu" too. */
	char *gnu;
	const struct target_processor *processor; /* NULL: none that whet knows */
	bool other;   /* another processor or C library than this machine's: compilers must be told
		       */
	bool foreign; /* another processor: its programs do not run here by themselves */
};

/* A triple whose processor is not known (a target file of rustc's) counts as this machine's. */
void target_read(const char *triple, struct target *ret);
void target_release(struct target *t);
/* This machine's own, in Rust's form: "x86_64-unknown-linux-gnu". Static. */
const char *target_host(void);
/* This machine's in GNU's form; caller frees. */
char *target_host_gnu(void);
