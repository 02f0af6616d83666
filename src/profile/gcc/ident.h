/* How gcc names functions in a .gcda, and the same data under other names: so a profile is carried
 * from one folder to another. docs/formats/gcc.md, "Function ident". */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profile/gcc/gcda.h"

/* Of a function that other objects can call. */
uint32_t gcc_ident(const char *name);
/* Of a function of one object alone. source: as the compiler was given it; object: the output's
 * name without its suffix, as given. */
uint32_t gcc_ident_local(const char *source, const char *name, const char *object);

/* The checksum of a function's lines: of its first line, the source as given, and its name. */
uint32_t gcc_lines(uint32_t line, const char *source, const char *name);
/* The line that gives this checksum. With another source or name it is any number. */
uint32_t gcc_line_of(uint32_t checksum, const char *source, const char *name);

struct gcc_rename {
	uint32_t from, to;
	uint32_t lines; /* with own, the checksum of lines that it gets; 0: it keeps its own */
};
/* Sorts by from, as gcda_rename() wants it. */
void gcc_renames_sort(struct gcc_rename *v, size_t n);
/* Gives functions other idents: those of the object itself by `own`, targets of indirect calls by
 * `all`. What no list names stays. The file is written in canonical form from then on. */
struct gcc_renames {
	const struct gcc_rename *v;
	size_t n;
};
void gcda_rename(struct gcda *g, struct gcc_renames own, struct gcc_renames all);
/* Keeps the lowest bit alone of what was or-ed: these are addresses, other ones in each run, and
 * gcc reads the alignment out of them, which is that bit. */
void gcda_forget_addresses(struct gcda *g);
/* As the compiler names the .gcda of an object in a folder that -fprofile-use names: '/' becomes
 * '#' and ".." becomes '^'. path: without a slash in front. Caller frees. */
char *gcc_mangled(const char *path);
