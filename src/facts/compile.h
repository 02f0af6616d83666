/* What whet knows of one call of a compiler, and of one build. Written by the shim (src/wrap), one
 * JSON file per call; read back by the pipeline and handed to the gates. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"
#include "facts/function_order.h"
#include "facts/sought.h"
#include "facts/text_bytes.h"

enum call_kind {
	CALL_QUERY,        /* --version, -vV, --print, `--crate-name ___`: passed untouched */
	CALL_PREPROCESS,   /* -E, -M, -fsyntax-only */
	CALL_ASSEMBLE,     /* only .s or .S inputs */
	CALL_COMPILE,      /* makes objects, or assembler sources (-S) */
	CALL_PCH,          /* makes a precompiled header */
	CALL_PARTIAL_LINK, /* -r */
	CALL_LINK,         /* makes an executable or shared object of objects only */
	CALL_COMPILE_LINK, /* both in one call */
	CALL_RUSTC,        /* any rustc call that makes a crate */
};

enum call_class {
	CLASS_TARGET,  /* part of the target: the node's flags were added */
	CLASS_HOST,    /* runs on the build machine: build script, proc macro, host tool */
	CLASS_OBSERVE, /* of a configure step: nothing added */
	CLASS_FOREIGN, /* target code by a compiler that whet cannot instrument (gcc beside clang,
			  …) */
	CLASS_NONE,    /* nothing to add for this kind of call */
};

/* A profile diagnostic that the compiler printed. */
enum diag_kind {
	DIAG_MISMATCH,   /* structural hash differs: stale */
	DIAG_MISSING,    /* no profile data for the function */
	DIAG_UNREADABLE, /* the compiler could not use the profile at all */
	DIAG_OTHER,      /* another message of the profile passes */
};

struct profile_diag {
	enum diag_kind kind;
	char *function; /* as printed by the compiler; "" when it names none */
	uint64_t hash;  /* the hash that the compiler computed; 0 when not printed */
	char *text;     /* the whole line */
};

/* One object that a link loaded. */
struct link_input {
	char *path;            /* as the linker named it, made absolute */
	char *member;          /* archive member, NULL for a plain object */
	char *sha256;          /* of the object's bytes, taken at link time; NULL when unreadable */
	char *code_hash;       /* of its executable sections' bytes; NULL when unreadable or none */
	struct strv functions; /* names of the functions it defines (local ones too) */
	char *maker;           /* what its section .comment says; NULL: nothing */
	struct strv files;     /* the sources that its symbol table names */
	struct strv labels;    /* without maker: the global symbols that it defines */
	bool data;             /* an object without any code */
	bool temporary;        /* made and removed by the call that compiled and linked */
};

struct compile_record {
	char *id;       /* unique in its log, and the name of its file */
	char *parent;   /* id of the rustc call that made this call (a link), or NULL */
	uint64_t order; /* CLOCK_MONOTONIC at start, ns */
	enum call_kind kind;
	enum call_class class;
	char *why;      /* the reason for the class, a few words; NULL in old records */
	char *language; /* "c", "c++", "rust", "asm" or "" */
	char *tool;     /* the real compiler, absolute */
	char *launcher; /* what the build put in front of it (ccache, distcc); NULL: nothing */
	bool bypassed;  /* the launcher did nothing; a cache otherwise ran behind the shim */
	char *cwd;
	struct strv argv;    /* as called, without the compiler itself */
	struct strv added;   /* what whet added */
	struct strv removed; /* what whet took out (-w) */
	struct strv inputs;  /* source or object files, as given */
	char *output;        /* absolute; NULL when none */
	int status;          /* exit code, or 128 + signal */
	uint64_t cpu_ns;     /* of the compiler */
	uint64_t own_cpu_ns; /* of the shim and of reading the link's evidence */
	/* rustc only */
	char *crate_name, *crate_type, *metadata, *target_triple, *source;
	struct profile_diag *diags;
	size_t n_diags, cap_diags;
	struct sought sought;     /* what it looked up, when the build asks for that */
	struct link_input *links; /* kinds LINK and COMPILE_LINK of target code */
	size_t n_links, cap_links;
	char *text_hash; /* of the linked file's code right after the link; NULL: none or no link */
	char *linker;    /* that made it: "GNU ld", "gold", "lld", "mold"; NULL: not known */
	struct text_bytes text;          /* of its code, as the linker's map says */
	struct function_order functions; /* of a link that is to have an order of its functions */
	char *map_error; /* why the links are not known although they should be; or NULL */
};

struct compile_log {
	struct compile_record *v; /* in order of start */
	size_t n, cap;
};

void profile_diag_release(struct profile_diag *d);
void compile_record_release(struct compile_record *r);
void compile_log_release(struct compile_log *l);

/* JSON, one object per record; keys are the field names above. */
int compile_record_write(const struct compile_record *r, const char *path, struct error *err);
int compile_record_read(const char *path, struct compile_record *ret, struct error *err);
/* Reads every *.json of a folder, sorted by order. */
int compile_log_read(const char *folder, struct compile_log *ret, struct error *err);

const char *call_kind_name(enum call_kind k);   /* "compile", … */
const char *call_class_name(enum call_class c); /* "target", … */

/* ---- What a released binary is made of (rule 9) -------------------------------------------- */

enum object_class {
	OBJECT_TARGET,    /* made by a recorded call that got the node's flags */
	OBJECT_FOREIGN,   /* made by a recorded call of class FOREIGN */
	OBJECT_ASSEMBLY,  /* made of an assembler source: by a recorded call, or provably */
	OBJECT_DATA,      /* without record, and without code that a profile could change */
	OBJECT_TOOLCHAIN, /* under the toolchain's sysroot, the compiler's or libc's folders */
	OBJECT_WHET,      /* the hook and the compiler's profile runtime */
	OBJECT_UNKNOWN,   /* no record: stops the build */
};

struct object_fact {
	char *path, *member; /* as in link_input */
	enum object_class class;
	char *why;       /* the reason for the class, a few words; NULL in old records */
	struct strv via; /* the partial links that it came through, from the binary inwards */
	char *record;    /* id of the compile record, or NULL */
	char *unit;      /* a name that pairs it across builds: source and output relative to the
			  * slot, or crate name + metadata; NULL for toolchain objects */
	char *source;    /* the source as given to the compiler, or NULL */
	char *code_hash; /* of its executable sections, or NULL */
	struct strv functions;
};

struct binary_fact {
	char *name;   /* base name */
	char *path;   /* where it lies now */
	char *sha256; /* of the file */
	char *link;   /* id of the record of its final link; NULL in old records */
	struct object_fact *objects;
	size_t n_objects, cap_objects;
};

/* One build node as the gates see it. */
struct build_facts {
	char *variant;       /* "plain", "instrumented", "optimised" */
	char *source_before; /* digest of the sources before and after */
	char *source_after;
	char *source_changed; /* the first file that differs from the start of whet; NULL: none */
	char *profile_name;   /* digest that names the profile it was given; NULL: none */
	char *profile_before; /* digest of that file's content before and after; NULL: gone */
	char *profile_after;
	struct compile_log log;
	struct binary_fact *binaries;
	size_t n_binaries, cap_binaries;
	struct strv quarantine; /* profiles that build steps left behind (reported, not merged) */
};

void link_input_release(struct link_input *l);
void object_fact_release(struct object_fact *o);
void binary_fact_release(struct binary_fact *b);
void build_facts_release(struct build_facts *f);
int build_facts_write(const struct build_facts *f, const char *path, struct error *err);
int build_facts_read(const char *path, struct build_facts *ret, struct error *err);
/* The record of a binary's final link; NULL: not known. */
const struct compile_record *build_facts_link(
	const struct build_facts *f, const struct binary_fact *b);
const char *object_class_name(enum object_class c);
