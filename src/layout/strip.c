/* What may strip a file that llvm-bolt wrote. */
#include "layout/internal.h"

/* llvm-bolt puts new segments, and a new table of them, behind everything else in a file. GNU
 * strip (2.40) says "section `.eh_frame' can't be allocated in segment 4", ends with exit code 0,
 * and leaves a program that dies at its start by SIGSEGV. The option that would let it work,
 * -use-gnu-stack, gives up the mark that stacks hold no code (PT_GNU_STACK), and is not used. */
int layout_strip_program(const struct layout_tool *t, const char **ret, struct error *err)
{
	if (!t->strip)
		return error_set(err, ERR_ENVIRONMENT,
			"there is no llvm-strip, and GNU strip breaks what llvm-bolt wrote; "
			"install it "
			"(Debian: 'llvm-%d'), or set 'strip: false' in release",
			t->major);
	*ret = t->strip;
	return 0;
}
