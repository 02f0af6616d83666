/* Release artefacts: deterministic archives, checksums. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"

struct release_file {
	const char *path; /* where it lies */
	const char *name; /* inside the archive, below NAME-VERSION-TARGET/ */
	bool executable;
};

/* A gzip'ed ustar archive whose bytes depend on names and contents alone: sorted, owner 0, mode
 * 0755 or 0644, mtime = epoch, no time in the gzip header. ERR_CONFIG for a name that is absolute,
 * holds "." or "..", or comes twice. Appears whole or not at all. */
int release_archive(const char *path, const char *top, const struct release_file *files, size_t n,
	uint64_t epoch, struct error *err);
/* SHA256SUMS over the named files of a folder, sorted; format of sha256sum(1). */
int release_checksums(const char *folder, const struct strv *names, struct error *err);
/* Whether a file of the folder is what its SHA256SUMS says; ERR_MISMATCH when not. */
int release_check(const char *folder, const char *name, struct error *err);
/* Takes the named programs out of an archive as release_archive() makes it (TOP/NAME) and writes
 * them, executable, into a folder that is there. Everything else in the archive is passed over.
 * ERR_MISMATCH when one is missing or is no regular file. */
int release_take_out(
	const char *path, const struct strv *names, const char *folder, struct error *err);
/* Strips a copy: symbol table and debug sections out, by the first of llvm-strip and strip in PATH;
 * own: path of one that is asked before them, NULL: none. ERR_ENVIRONMENT when there is none;
 * ERR_CHILD when it fails or leaves something that is no ELF file or larger than before. llvm-strip
 * comes first because GNU strip breaks files that a post-link optimiser laid out; of such a file
 * the newest llvm-strip-NN is asked before all others. A result that would not be loaded as the
 * file is (elf/elf_strip.h) is taken only when there is no other one. */
int release_strip(const char *from, const char *to, const char *own, struct error *err);
