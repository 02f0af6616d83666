/* A list of strings that it owns; v[n] is always NULL, so v can be passed to exec. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct strv {
	char **v; /* NULL while empty and never added to */
	size_t n, cap;
};

#define STRV_INIT {0}

void strv_add(struct strv *s, const char *value);
void strv_take(struct strv *s, char *value); /* takes ownership of value */
void strv_addf(struct strv *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strv_add_all(struct strv *s, const struct strv *from);
bool strv_has(const struct strv *s, const char *value);
bool strv_equal(const struct strv *a, const struct strv *b);
/* The index of the first difference, or (size_t)-1 when equal. */
size_t strv_first_difference(const struct strv *a, const struct strv *b);
char *strv_join(const struct strv *s, const char *between); /* caller frees */
/* Quoted so that a POSIX shell reads the same words again; caller frees. */
char *strv_shell_quote(const struct strv *s);
/* Splits at runs of spaces, tabs and newlines; no quoting. */
void strv_split_words(struct strv *s, const char *text);
void strv_sort(struct strv *s); /* by bytes */
void strv_release(struct strv *s);

/* Environment lists: entries NAME=VALUE. */
void env_set(struct strv *env, const char *name, const char *value); /* replaces; NULL removes */
const char *env_get(const struct strv *env, const char *name);       /* NULL when absent */
void env_copy_current(struct strv *env);

#define auto_strv __attribute__((cleanup(strv_release)))
