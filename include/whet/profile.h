/* libwhet-profile: reads, merges, compares and writes the profile files of profile-guided
 * optimisation, without LLVM and without GCC.
 *
 * LLVM: raw profiles (versions 5 to 10), indexed ones (4 to 13) and text are read; indexed ones (7
 * to 13) and text are written. GCC: .gcda files are read, merged and written.
 *
 * Conventions. A function that can fail returns 0 or a negative enum whet_result, takes a `struct
 * whet_error *` last (NULL is fine), and on failure leaves its objects and outputs as they were.
 * Objects are opaque; each belongs to one thread at a time, different ones are independent. Input
 * is taken as hostile: sizes are checked before they are believed. Files are written whole or not
 * at all. Memory that is handed out is freed with free(). When memory runs out, the process is
 * ended by abort(). Nothing is ever printed.
 *
 * An option struct begins with its own size, set by its ..._INIT: fields may be added at its end,
 * and a program keeps working with a newer library. */
#ifndef WHET_PROFILE_H
#define WHET_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum whet_result {
	WHET_OK = 0,
	WHET_INVALID = -1,     /* the call itself is wrong: an argument, an option, a weight of 0 */
	WHET_IO = -2,          /* a file could not be read or written */
	WHET_CORRUPT = -3,     /* the content is not what its format allows */
	WHET_UNSUPPORTED = -4, /* valid, but nothing that the library reads or can write so */
	WHET_MISMATCH = -5,    /* two valid things that do not belong together */
	WHET_INTERNAL = -6     /* a defect of the library */
};

struct whet_error {
	enum whet_result code;
	/* What is wrong, where (file, section, offset), and what was expected; cut at its end when
	 * it is longer. */
	char message[1024];
};

/* The version of the library, "0.1.0". */
const char *whet_version(void);

/* ---- LLVM profiles -------------------------------------------------------------------------- */

/* A merged set of function records. */
struct whet_profile;

struct whet_profile *whet_profile_new(void);
void whet_profile_free(struct whet_profile *p); /* NULL is fine */

struct whet_add_options {
	size_t size;
	uint64_t weight; /* all counts times this; 0 means 1 */
};
#define WHET_ADD_OPTIONS_INIT {sizeof(struct whet_add_options), 0}
/* Adds one profile, raw, indexed or text, told apart by content; counts saturate. o may be NULL. An
 * empty input is WHET_CORRUPT; a function with another number of counters than it had, or a mix of
 * front-end and IR profiles, WHET_MISMATCH. */
int whet_profile_add_file(struct whet_profile *p, const char *path,
	const struct whet_add_options *o, struct whet_error *err);
int whet_profile_add_bytes(struct whet_profile *p, const void *data, size_t n,
	const struct whet_add_options *o, struct whet_error *err);

enum whet_form { WHET_INDEXED = 0, WHET_TEXT = 1 };
struct whet_write_options {
	size_t size;
	enum whet_form form;
	/* Who is to read it: "clang-14", "llvm-19", "rustc-1.95". NULL: the newest LLVM that the
	 * library knows. Names and hashes are written as that compiler looks them up. */
	const char *consumer;
};
#define WHET_WRITE_OPTIONS_INIT {sizeof(struct whet_write_options), WHET_INDEXED, NULL}
/* o may be NULL. The same records give the same bytes, in whatever order they were added. Writing
 * for an old consumer does not change p. */
int whet_profile_write_file(const struct whet_profile *p, const char *path,
	const struct whet_write_options *o, struct whet_error *err);
/* The file's bytes: *data is malloc'ed. */
int whet_profile_write_bytes(const struct whet_profile *p, const struct whet_write_options *o,
	void **data, size_t *n, struct whet_error *err);

struct whet_profile_summary {
	size_t size;                  /* set by the caller, as that of options */
	uint64_t functions, executed; /* executed: with a counter that is not zero */
	uint64_t counters;
	uint64_t total_count, max_count; /* of all counters; saturating */
	int is_ir;                       /* instrumented in the middle end, not in the front end */
	int is_context_sensitive;
};
#define WHET_PROFILE_SUMMARY_INIT {sizeof(struct whet_profile_summary), 0, 0, 0, 0, 0, 0, 0}
int whet_profile_summarise(
	const struct whet_profile *p, struct whet_profile_summary *ret, struct whet_error *err);

/* Called for each record in ascending order of name and hash; counts is valid during the call.
 * Another return value than 0 stops. */
typedef int whet_profile_visit(
	void *context, const char *name, uint64_t hash, const uint64_t *counts, size_t n_counts);
/* The value of the last call of visit. */
int whet_profile_each(const struct whet_profile *p, whet_profile_visit *visit, void *context);

/* How far two profiles agree, 0 to 1: what `llvm-profdata overlap` prints of edge counts. */
int whet_profile_overlap(const struct whet_profile *base, const struct whet_profile *test,
	double *ret, struct whet_error *err);

/* ---- GCC profiles --------------------------------------------------------------------------- */

/* The content of .gcda files of one object. */
struct whet_gcda;

/* NULL on failure; *err says why. */
struct whet_gcda *whet_gcda_read_file(const char *path, struct whet_error *err);
struct whet_gcda *whet_gcda_read_bytes(const void *data, size_t n, struct whet_error *err);
void whet_gcda_free(struct whet_gcda *g); /* NULL is fine */

/* Adds `from`, its counts times o's weight, to `into`. Both must be of one compilation: else
 * WHET_MISMATCH. In any order and grouping the same files give the same bytes. */
int whet_gcda_merge(struct whet_gcda *into, const struct whet_gcda *from,
	const struct whet_add_options *o, struct whet_error *err);
int whet_gcda_write_file(const struct whet_gcda *g, const char *path, struct whet_error *err);
int whet_gcda_write_bytes(
	const struct whet_gcda *g, void **data, size_t *n, struct whet_error *err);

#ifdef __cplusplus
}
#endif
#endif
