/* What a call of a compiler does, told from its arguments alone. */
#pragma once

#include <stdbool.h>

#include "base/strv.h"
#include "facts/compile.h"

struct cc_call {
	enum call_kind kind;
	const char *language; /* static text: "c", "c++", "asm", "" */
	struct strv sources;  /* C, C++ and the like */
	struct strv assembly; /* .s and .S */
	struct strv objects;  /* everything else: objects, archives, shared objects */
	char *output;         /* as given with -o; NULL */
	char *map;            /* linker map that the call asks for itself; NULL */
	char *target;         /* triple asked for; NULL: the compiler's own */
	bool print_map;       /* the map goes to standard output: none can be added */
	bool no_warnings;     /* -w */
	bool werror;          /* any form of -Werror */
	bool to_assembler;    /* -S: a COMPILE that makes an assembler source */
	bool bitcode;         /* its objects hold LLVM's intermediate code (-flto, -emit-llvm) */
};
void cc_call_release(struct cc_call *c);
/* args: without the compiler, response files expanded. cxx: called as a C++ driver. */
void cc_classify(const struct strv *args, bool cxx, struct cc_call *ret);
/* The same for a linker that is called by itself. */
void ld_classify(const struct strv *args, struct cc_call *ret);
/* ld, ld.lld-22, rust-lld, x86_64-linux-gnu-ld: linkers that are called without a compiler driver
 * between, whose options stand without "-Wl,". */
bool is_linker_name(const char *path);
/* The outputs' absolute path: -o, or what the compiler makes of the only source; NULL when there
 * are several or none. Caller frees. */
char *cc_output(const struct cc_call *c, const char *cwd);
/* The same for a COMPILE of several sources: one for each. Adds to ret. */
void cc_objects(const struct cc_call *c, const char *cwd, struct strv *ret);
/* Whether code for one triple, as clang is given it, cannot be code for the other: another
 * processor or another system. */
bool cc_other_machine(const char *given, const char *triple);
/* Whether this argument hides the profile diagnostics of clang. */
bool cc_hides_warnings(const char *arg);

struct rustc_call {
	enum call_kind kind; /* CALL_QUERY or CALL_RUSTC */
	bool code;           /* makes machine code (not metadata alone) */
	bool links;          /* runs the linker: bin, cdylib, dylib, proc-macro, test */
	bool json;           /* diagnostics as JSON */
	bool std;            /* a crate of the standard library (build-std) */
	char *crate_name, *crate_type, *metadata, *extra, *target, *source, *out_dir, *output;
	char *linker;
};
void rustc_call_release(struct rustc_call *c);
void rustc_classify(const struct strv *args, struct rustc_call *ret);
/* Absolute path of what it makes; the rlib when it makes several. NULL when unknown. */
char *rustc_output(const struct rustc_call *c, const char *cwd);
