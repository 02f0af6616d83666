#include "wrap/response.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"

#define RESPONSE_MAX ((size_t)64 << 20)
#define RESPONSE_DEPTH 8 /* files inside files; deeper ones stay unexpanded */

/* One word as gcc and clang read it: backslash takes the next byte, quotes group. */
static const char *read_word(const char *p, struct buf *word)
{
	char quote = 0;

	for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
		if (*p == '\\' && p[1])
			buf_addc(word, *++p);
		else if (quote ? *p == quote : *p == '"' || *p == '\'')
			quote = quote ? 0 : *p;
		else
			buf_addc(word, *p);
	}
	return p;
}

static void split_words(const char *p, struct strv *ret)
{
	for (;;) {
		auto_buf struct buf word = BUF_INIT;

		while (isspace((unsigned char)*p))
			p++;
		if (!*p)
			return;
		p = read_word(p, &word);
		strv_add(ret, buf_str(&word));
	}
}

static void split_lines(const char *p, struct strv *ret)
{
	while (*p) {
		size_t n = strcspn(p, "\n");
		size_t bare = n && p[n - 1] == '\r' ? n - 1 : n;

		strv_take(ret, xstrndup(p, bare));
		p += n + (p[n] == '\n');
	}
}

static void expand(
	const struct strv *args, const char *cwd, bool lines, int depth, struct strv *ret)
{
	for (size_t i = 0; i < args->n; i++) {
		auto_buf struct buf text = BUF_INIT;
		auto_strv struct strv words = STRV_INIT;
		auto_free char *path = NULL;
		const char *a = args->v[i];

		if (a[0] != '@' || !a[1] || depth >= RESPONSE_DEPTH) {
			strv_add(ret, a);
			continue;
		}
		path = path_join(cwd, a + 1);
		if (file_read(path, RESPONSE_MAX, &text, NULL) < 0) {
			strv_add(ret, a);
			continue;
		}
		if (lines)
			split_lines(buf_str(&text), &words);
		else
			split_words(buf_str(&text), &words);
		expand(&words, cwd, lines, depth + 1, ret);
	}
}

void response_expand(const struct strv *args, const char *cwd, bool lines, struct strv *ret)
{
	expand(args, cwd, lines, 0, ret);
}
