#include "base/strv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

void strv_take(struct strv *s, char *value)
{
	if (s->n + 1 >= s->cap) {
		s->cap = s->cap ? s->cap * 2 : 8;
		s->v = xreallocarray(s->v, s->cap, sizeof(*s->v));
	}
	s->v[s->n++] = value;
	s->v[s->n] = NULL;
}

void strv_add(struct strv *s, const char *value)
{
	strv_take(s, xstrdup(value));
}

void strv_addf(struct strv *s, const char *fmt, ...)
{
	va_list ap;
	char *p = NULL;
	int r;

	va_start(ap, fmt);
	r = vasprintf(&p, fmt, ap);
	va_end(ap);
	if (r < 0)
		mem_exhausted();
	strv_take(s, p);
}

void strv_add_all(struct strv *s, const struct strv *from)
{
	for (size_t i = 0; i < from->n; i++)
		strv_add(s, from->v[i]);
}

bool strv_has(const struct strv *s, const char *value)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i], value) == 0)
			return true;
	return false;
}

size_t strv_first_difference(const struct strv *a, const struct strv *b)
{
	size_t i;

	for (i = 0; i < a->n && i < b->n; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return i;
	return a->n == b->n ? (size_t)-1 : i;
}

bool strv_equal(const struct strv *a, const struct strv *b)
{
	return strv_first_difference(a, b) == (size_t)-1;
}

char *strv_join(const struct strv *s, const char *between)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < s->n; i++) {
		if (i)
			buf_adds(&b, between);
		buf_adds(&b, s->v[i]);
	}
	return buf_detach(&b);
}

static bool shell_safe(const char *s)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_@%+=:,./-";

	return *s && strspn(s, safe) == strlen(s);
}

char *strv_shell_quote(const struct strv *s)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < s->n; i++) {
		if (i)
			buf_addc(&b, ' ');
		if (shell_safe(s->v[i])) {
			buf_adds(&b, s->v[i]);
			continue;
		}
		buf_addc(&b, '\'');
		for (const char *p = s->v[i]; *p; p++) {
			if (*p == '\'')
				buf_adds(&b, "'\\''");
			else
				buf_addc(&b, *p);
		}
		buf_addc(&b, '\'');
	}
	return buf_detach(&b);
}

void strv_split_words(struct strv *s, const char *text)
{
	static const char blank[] = " \t\n";

	for (text += strspn(text, blank); *text; text += strspn(text, blank)) {
		size_t n = strcspn(text, blank);

		strv_take(s, xstrndup(text, n));
		text += n;
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strv_sort(struct strv *s)
{
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), compare);
}

void strv_release(struct strv *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct strv)STRV_INIT;
}

static size_t env_index(const struct strv *env, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < env->n; i++)
		if (strncmp(env->v[i], name, len) == 0 && env->v[i][len] == '=')
			return i;
	return env->n;
}

void env_set(struct strv *env, const char *name, const char *value)
{
	size_t i = env_index(env, name);

	if (i < env->n) {
		free(env->v[i]);
		if (value) {
			env->v[i] = xasprintf("%s=%s", name, value);
			return;
		}
		memmove(env->v + i, env->v + i + 1, (env->n - i) * sizeof(*env->v));
		env->n--;
	} else if (value) {
		strv_addf(env, "%s=%s", name, value);
	}
}

const char *env_get(const struct strv *env, const char *name)
{
	size_t i = env_index(env, name);

	return i < env->n ? env->v[i] + strlen(name) + 1 : NULL;
}

void env_copy_current(struct strv *env)
{
	extern char **environ;

	for (char **p = environ; p && *p; p++)
		strv_add(env, *p);
}
