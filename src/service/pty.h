/* A terminal for a program: what it prints is kept, and lines are typed when it waits for them.
 * Private to src/service. */
#pragma once

#include "base/error.h"

struct pty;

/* Echo is off, and line ends stay what the program writes, so that output is the program's alone.
 */
int pty_open(struct pty **ret, struct error *err);
int pty_slave(const struct pty *p); /* the program's end; pty_free() closes it */
/* Types the content of in_fd line by line, each once the terminal is silent and the one before was
 * read, then Ctrl-D; what the program prints goes to out_fd. Both are borrowed until pty_finish().
 */
int pty_begin(struct pty *p, int in_fd, int out_fd, struct error *err);
/* Takes what is left of the output; the program has ended. */
void pty_finish(struct pty *p);
void pty_free(struct pty *p); /* NULL is fine */
