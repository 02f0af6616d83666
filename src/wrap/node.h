/* The description of one build node as the shim sees it: written by wrap_prepare(), read by every
 * call of the shim, so it holds no more than a call needs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"
#include "toolchain/toolchain.h"

/* The closed list of what is added for one of the node's compilers. */
struct node_compiler {
	enum compiler_family family;
	struct strv compile, link;
	/* Link-time optimisation of the node's own: see toolchain_lto_flags(). lto_linker: where
	 * a call names no linker; NULL. */
	enum plan_lto lto;
	struct strv lto_words;
	char *lto_linker;
	char *profile;   /* indexed, or gcc's folder; NULL */
	bool takes_part; /* what it makes is instrumented; else it is foreign */
	int retag;       /* raw version of its objects that are to be retagged; 0: none are */
};

/* A name in the shim folder. */
struct node_tool {
	char *name;       /* as the build calls it */
	char *path;       /* the real compiler, absolute */
	char *launcher;   /* what stood at its place in PATH (a masquerade of ccache); NULL */
	bool cxx;         /* a C++ driver */
	bool bare_linker; /* a linker and no driver */
	enum compiler_family family;
	int compiler;  /* index of its flags; -1: none of the node's compilers */
	char *machine; /* triple in front of its name, which it compiles for; NULL: none is */
};

struct shim_node {
	enum toolchain_mode mode;
	char *folder; /* the shim folder */
	char *space;  /* what a cache behind the shim may not share with another build */
	char *log;
	char *slot;
	char *target_dir;  /* cargo's target folder; NULL without cargo */
	char *target;      /* cargo's target triple; NULL */
	char *cross;       /* of a build for another machine: its triple; NULL */
	char *rust_linker; /* what rustc links by for it when its call names none; NULL: cc */
	char *instrument_linker;
	char *zig;            /* path; NULL: none is called */
	char *evidence;       /* path of the program that reads linker maps */
	uint32_t relinks;     /* of each link that one of `released` may come of */
	char *relinker;       /* path of the lld that makes them; NULL without relinks */
	bool relocs;          /* those links are done once more with --emit-relocs */
	struct strv released; /* file names of the released binaries */
	char *order;          /* counts of the functions (order.h); NULL: they are not placed */
	char *order_program;  /* path of the program that makes an order of them */
	struct node_compiler *compilers;
	size_t n_compilers, cap_compilers;
	struct node_tool *tools;
	size_t n_tools, cap_tools;
};

void shim_node_release(struct shim_node *n);
int shim_node_read(const char *path, struct shim_node *ret, struct error *err);
int shim_node_write(const struct shim_node *n, const char *path, struct error *err);

/* The drivers by which `zig cc` and `zig c++` are one program each: tools like any other. */
#define ZIG "zig"
#define ZIG_CC "zig-clang"
#define ZIG_CXX "zig-clang++"
/* The tool that a call of zig is, or NULL. */
const struct node_tool *shim_node_zig(const struct shim_node *n, int argc, char **argv);
bool shim_is_zig(const struct node_tool *t);

/* The tool of this name, or NULL. */
const struct node_tool *shim_node_tool(const struct shim_node *n, const char *name);
/* Flags of the first compiler of this family, or NULL. */
const struct node_compiler *shim_node_compiler(
	const struct shim_node *n, enum compiler_family family);

/* Guesses the family from the name of a driver, symlinks followed. */
enum compiler_family compiler_family_of(const char *path);
/* PATH list without one folder; caller frees. */
char *path_list_without(const char *list, const char *folder);
