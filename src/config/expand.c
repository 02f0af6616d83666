#include "config/expand.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/plan.h"
#include "config/values.h"

/* The length of a placeholder's name when one begins at p ("{name}"), else 0. Braces around
 * anything else, and "${name}" of the shell, are plain text. */
static size_t name_length(const char *text, const char *p)
{
	size_t n = 0;

	if (*p != '{' || (p > text && p[-1] == '$') || !isalpha((unsigned char)p[1]))
		return 0;
	/* {cert:rsa} is one, {a:b} is none. */
	if (!strncmp(p + 1, "cert:", 5))
		n = 5;
	else if (!strncmp(p + 1, "key:", 4))
		n = 4;
	while (isalnum((unsigned char)p[1 + n]) || (p[1 + n] && strchr("._-", p[1 + n])))
		n++;
	return p[1 + n] == '}' ? n : 0;
}

static const char *find_value(const struct strv *vars, const char *name, size_t n)
{
	for (size_t i = 0; i < vars->n; i++) {
		const char *v = vars->v[i];

		if (strncmp(v, name, n))
			continue;
		if (v[n] == '=')
			return v + n + 1;
		if (!v[n])
			return v + n;
	}
	return NULL;
}

static char *unknown(const char *name, size_t n, const struct strv *vars)
{
	auto_free char *word = xstrndup(name, n);
	auto_strv struct strv names = STRV_INIT;
	struct buf b = BUF_INIT;
	const char *near;

	for (size_t i = 0; i < vars->n; i++)
		strv_take(&names, xstrndup(vars->v[i], strcspn(vars->v[i], "=")));
	near = nearest_word(word, (const char *const *)names.v, names.n);
	buf_addf(&b, "unknown placeholder '{%s}'", word);
	if (near)
		buf_addf(&b, "; did you mean '{%s}'", near);
	buf_adds(&b, near ? "? Known here:" : "; known here:");
	for (size_t i = 0; i < names.n; i++)
		buf_addf(&b, "%s {%s}", i ? "," : "", names.v[i]);
	if (!names.n)
		buf_adds(&b, " none");
	buf_addf(&b, "; write '{{%s}' for a literal brace", word);
	return buf_detach(&b);
}

/* out NULL: only looks. NULL, or what is wrong. */
static char *expand(const char *text, const struct strv *vars, struct buf *out)
{
	struct buf unused = BUF_INIT;

	if (!out)
		out = &unused;
	for (const char *p = text; *p;) {
		size_t n = name_length(text, p);
		const char *value;

		if (p[0] == '{' && p[1] == '{') {
			buf_addc(out, '{');
			p += 2;
			continue;
		}
		if (!n) {
			buf_addc(out, *p++);
			continue;
		}
		value = find_value(vars, p + 1, n);
		if (!value) {
			buf_release(&unused);
			return unknown(p + 1, n, vars);
		}
		buf_adds(out, value);
		p += n + 2;
	}
	buf_release(&unused);
	return NULL;
}

char *placeholder_fault(const char *text, const struct strv *names)
{
	return expand(text, names, NULL);
}

int plan_expand(const char *text, const struct strv *vars, char **ret, struct error *err)
{
	auto_buf struct buf out = BUF_INIT;
	auto_free char *fault = expand(text, vars, &out);

	if (fault)
		return error_set(err, ERR_CONFIG, "in '%s': %s", text, fault);
	if (buf_failed(&out))
		return error_set(err, ERR_CONFIG, "'%.60s' becomes too long", text);
	*ret = buf_detach(&out);
	return 0;
}

/* Copies the quoted part that begins at *p (the quote); leaves *p after the closing one. false: it
 * does not end. */
static bool quoted(const char **p, struct buf *word)
{
	char quote = *(*p)++;

	for (; **p && **p != quote; (*p)++) {
		if (quote == '"' && **p == '\\' && (*p)[1] && strchr("\"\\$`\n", (*p)[1])) {
			(*p)++;
			if (**p == '\n')
				continue;
		}
		buf_addc(word, **p);
	}
	if (!**p)
		return false;
	(*p)++;
	return true;
}

/* Copies what stands at *p and is not blank. false: a quote does not end. */
static bool one_word(const char **p, struct buf *word)
{
	while (**p && !strchr(" \t\n", **p)) {
		if (**p == '\'' || **p == '"') {
			if (!quoted(p, word))
				return false;
		} else if (**p == '\\' && (*p)[1]) {
			if ((*p)[1] != '\n')
				buf_addc(word, (*p)[1]);
			*p += 2;
		} else {
			buf_addc(word, *(*p)++);
		}
	}
	return true;
}

int plan_split(const char *text, struct strv *ret, struct error *err)
{
	auto_strv struct strv words = STRV_INIT;

	for (const char *p = text;;) {
		auto_buf struct buf word = BUF_INIT;

		p += strspn(p, " \t\n");
		if (!*p)
			break;
		if (!one_word(&p, &word))
			return error_set(err, ERR_CONFIG, "a quote in '%s' does not end", text);
		strv_take(&words, buf_detach(&word));
	}
	strv_add_all(ret, &words);
	return 0;
}
