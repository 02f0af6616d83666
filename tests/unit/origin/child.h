/* The origin in a child process, and a raw client. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

struct child {
	pid_t pid;
	uint16_t port, tls, dead;
};

void child_start(struct child *c);
/* SIGTERM; returns the exit code, or -1 when it did not end by itself within five seconds. */
int child_stop(struct child *c);

int raw_open(const struct child *c);
void raw_send(int fd, const char *s, size_t n);
/* Reads until the peer closes, the text `until` is there (NULL: never), or two seconds pass without
 * a byte. Returns a NUL-terminated text; the caller frees. reset, when not NULL, says whether the
 * connection was reset. */
char *raw_read(int fd, const char *until, size_t *n, bool *reset);
/* One request on a connection of its own, closed after the answer. */
char *raw_ask(const struct child *c, const char *request, size_t *n);

extern const struct CMUnitTest hostile_tests[];
extern const size_t n_hostile_tests;
extern const struct CMUnitTest wrong_tests[];
extern const size_t n_wrong_tests;
extern const struct CMUnitTest h2_tests[];
extern const size_t n_h2_tests;
extern const struct CMUnitTest socket_tests[];
extern const size_t n_socket_tests;
extern struct child child; /* shared by all tests */
