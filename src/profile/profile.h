/* The profile engine: reads, merges and writes PGO profile files without LLVM.
 * Formats: docs/formats/llvm.md. Input is hostile until validated. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"

struct profile; /* a merged set of function records */

enum profile_format { PROFILE_RAW, PROFILE_INDEXED, PROFILE_TEXT, PROFILE_UNKNOWN };

struct profile *profile_new(void);
void profile_free(struct profile *p); /* NULL is fine */

/* What reading one raw file found, profile by profile inside it. */
struct profile_image {
	uint32_t version; /* raw version */
	uint64_t records, executed, counters;
	/* Value sites without their data: the file was written in continuous mode, or ends early.
	 */
	bool values_missing;
	/* Records of two LLVMs' sizes lay in one section: all were read, their values are lost. */
	bool mixed;
	char names_sha256[65]; /* of the names block as it stands in the file: equals the
				* __llvm_prf_names section of the image that wrote it */
	char *build_id;        /* hex, or NULL */
};
struct profile_images {
	struct profile_image *v;
	size_t n, cap;
};
void profile_images_release(struct profile_images *i);

/* Adds one file (raw, indexed or text, found out by its magic) to p with a weight >= 1. On failure
 * p is unchanged and err names file, section and offset. An empty file is ERR_CORRUPT. images, when
 * not NULL, gets what a raw file holds. */
int profile_add_file(struct profile *p, const char *path, uint64_t weight,
	struct profile_images *images, struct error *err);
int profile_add_bytes(struct profile *p, const void *data, size_t n, uint64_t weight,
	struct profile_images *images, struct error *err);
struct profile_input {
	const char *path;
	uint64_t weight;            /* 1 or more */
	bool values_missing, mixed; /* set by merging, as in struct profile_image */
};
/* Merges files, by up to `jobs` threads (each needs the memory of a merged profile). The result
 * does not depend on their number, nor on the order of the files. NULL on failure; err is that of
 * the first file that cannot be added to those before it. */
struct profile *profile_merge(struct profile_input *in, size_t n, unsigned jobs, struct error *err);
/* Takes the functions out whose counters and bitmaps are all zero, in every record of the name. */
void profile_drop_unexecuted(struct profile *p);
/* Validates one raw file without keeping anything. Missing value data are ERR_CORRUPT. */
int profile_check_raw(const char *path, struct profile_images *ret, struct error *err);

/* Writes p as an indexed profile of a version (7 to 13), the whole file, atomically. */
int profile_write_indexed(struct profile *p, uint32_t version, const char *path, struct error *err);

/* Writes p in LLVM's text form, as far as the llvm-profdata of an LLVM major reads it. A name that
 * no line can hold is ERR_UNSUPPORTED. */
int profile_write_text(struct profile *p, int llvm_major, const char *path, struct error *err);

/* Consumer rules (docs/formats/llvm.md): the newest index version and the key separator that a
 * compiler with this LLVM major accepts. */
uint32_t profile_version_for_llvm(int llvm_major);
/* The LLVM major of "clang-14", "llvm-14" or "rustc-1.95" (as the Rust project builds it), or -1.
 */
int profile_llvm_of(const char *consumer);
/* The oldest and the newest LLVM that the engine knows. */
#define PROFILE_LLVM_OLDEST 11
#define PROFILE_LLVM_NEWEST 22

struct profile_summary {
	uint64_t functions, executed, counters, total_count, max_count;
	uint64_t sites, values; /* of value profiles */
	bool ir, context_sensitive;
	/* Front-end hashes have lost their upper 4 bits (index version 13 keeps 60): an index of an
	 * older version would not be matched by the compilers that read it. */
	bool short_hashes;
};
void profile_summary(const struct profile *p, struct profile_summary *ret);

/* Calls fn for each record in ascending (key, hash) order; stops when it returns non-zero. */
typedef int profile_visit(
	void *ctx, const char *key, uint64_t hash, const uint64_t *counts, size_t n);
int profile_each(const struct profile *p, profile_visit *fn, void *ctx);

/* Replaces a path prefix in the keys of local functions (path;name), and in the value profiles
 * that refer to them. Used to make the published keys source-relative and to localise them. */
int profile_rekey(struct profile *p, const char *from, const char *to, struct error *err);
/* Turns `path;name` into `path:name` for consumers older than LLVM 18, and drops the mark of loop
 * entries for those older than 20. */
int profile_rekey_for_llvm(struct profile *p, int llvm_major, struct error *err);
/* The same to a copy; free it with profile_free(). */
int profile_copy_for_llvm(
	const struct profile *p, int llvm_major, struct profile **ret, struct error *err);
