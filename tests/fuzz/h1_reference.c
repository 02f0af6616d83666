#include "h1_reference.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "http/http.h"

static bool token(const char *p, size_t n)
{
	static const char set[] = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "abcdefghijklmnopqrstuvwxyz";

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\0' || !strchr(set, p[i]))
			return false;
	}
	return n > 0;
}

static bool printable(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		if ((c < 32 && c != 9) || c == 127)
			return false;
	}
	return true;
}

static bool named(struct reference_text t, const char *name)
{
	return t.n == strlen(name) && strncasecmp(t.p, name, t.n) == 0;
}

struct reference_text reference_field(const struct reference *m, const char *name, size_t index)
{
	for (size_t i = 0; i < m->n_fields; i++) {
		if (named(m->fields[i].name, name) && index-- == 0)
			return m->fields[i].value;
	}
	return (struct reference_text){NULL, 0};
}

static size_t count(const struct reference *m, const char *name)
{
	size_t n = 0;

	while (reference_field(m, name, n).p)
		n++;
	return n;
}

/* The line at *p as far as its CR LF, and moves *p behind it. */
static enum reference_end line(const char **p, const char *end, struct reference_text *ret)
{
	const char *lf = memchr(*p, '\n', (size_t)(end - *p));

	if (!lf)
		return REFERENCE_MORE;
	if (lf == *p || lf[-1] != '\r')
		return REFERENCE_BAD;
	*ret = (struct reference_text){*p, (size_t)(lf - 1 - *p)};
	*p = lf + 1;
	return REFERENCE_DONE;
}

static bool status_line(struct reference_text t, struct reference *m)
{
	int minor = t.n >= 8 && memcmp(t.p, "HTTP/1.1", 8) == 0   ? 1
		    : t.n >= 8 && memcmp(t.p, "HTTP/1.0", 8) == 0 ? 0
								  : -1;

	if (minor < 0 || t.n < 12 || t.p[8] != ' ' || (t.n > 12 && t.p[12] != ' '))
		return false;
	m->minor = minor;
	for (int i = 9; i < 12; i++) {
		if (!isdigit((unsigned char)t.p[i]))
			return false;
		m->status = m->status * 10 + (t.p[i] - '0');
	}
	return m->status >= 100 && printable(t.p + 12, t.n - 12);
}

static bool request_line(struct reference_text t, struct reference *m)
{
	const char *one = memchr(t.p, ' ', t.n), *end = t.p + t.n;
	const char *two = one ? memchr(one + 1, ' ', (size_t)(end - one - 1)) : NULL;

	if (!two || end - two != 9 || memcmp(two, " HTTP/1.", 8) != 0 ||
		(two[8] != '0' && two[8] != '1'))
		return false;
	m->minor = two[8] - '0';
	m->method = (struct reference_text){t.p, (size_t)(one - t.p)};
	m->target = (struct reference_text){one + 1, (size_t)(two - one - 1)};
	for (size_t i = 0; i < m->target.n; i++) {
		if (m->target.p[i] <= 0x20 || m->target.p[i] >= 0x7f)
			return false;
	}
	return token(m->method.p, m->method.n) && m->target.n > 0;
}

static bool field_line(struct reference_text t, struct reference *m)
{
	const char *colon = memchr(t.p, ':', t.n), *end = t.p + t.n, *v = colon ? colon + 1 : NULL;

	if (!colon || !token(t.p, (size_t)(colon - t.p)) || !printable(v, (size_t)(end - v)) ||
		m->n_fields == REFERENCE_FIELDS)
		return false;
	while (v < end && (*v == ' ' || *v == '\t'))
		v++;
	while (end > v && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	m->fields[m->n_fields].name = (struct reference_text){t.p, (size_t)(colon - t.p)};
	m->fields[m->n_fields++].value = (struct reference_text){v, (size_t)(end - v)};
	return true;
}

/* Whether a Connection field holds this word. */
static bool connection(const struct reference *m, const char *word)
{
	struct reference_text t;

	for (size_t i = 0; (t = reference_field(m, "Connection", i)).p; i++) {
		for (size_t at = 0, n; at < t.n; at += n + 1) {
			for (n = 0; at + n < t.n && token(t.p + at + n, 1); n++)
				;
			if (named((struct reference_text){t.p + at, n}, word))
				return true;
		}
	}
	return false;
}

/* Every Expect says 100-continue, and there is the number of Hosts that the version wants. */
static bool of_requests(struct reference *m)
{
	size_t hosts = count(m, "Host"), n = count(m, "Expect");

	for (size_t i = 0; i < n; i++) {
		if (!named(reference_field(m, "Expect", i), "100-continue"))
			return false;
	}
	m->continues = n && m->minor == 1;
	return hosts == 1 || (hosts == 0 && m->minor == 0);
}

/* What all fields together must be. length is -1 without Content-Length. */
static bool framing(struct reference *m, bool request, bool *chunked, long long *length)
{
	struct reference_text te = reference_field(m, "Transfer-Encoding", 0),
			      cl = reference_field(m, "Content-Length", 0);

	*chunked = te.p != NULL;
	*length = -1;
	if (count(m, "Transfer-Encoding") + count(m, "Content-Length") > 1)
		return false;
	if (te.p && (!named(te, "chunked") || m->minor == 0))
		return false;
	if (cl.p) {
		if (cl.n == 0 || cl.n > 18 || strspn(cl.p, "0123456789") < cl.n)
			return false;
		for (*length = 0; cl.n; cl.n--)
			*length = *length * 10 + (*cl.p++ - '0');
	}
	return !request || of_requests(m);
}

static enum reference_end head(const char *p, size_t n, bool request, struct reference *m)
{
	const char *at = p, *end = p + (n < HTTP_HEAD_MAX ? n : HTTP_HEAD_MAX);
	enum reference_end e;

	*m = (struct reference){.n = 0};
	for (size_t i = 0;; i++) {
		struct reference_text t;

		e = line(&at, end, &t);
		if (e != REFERENCE_DONE)
			return e;
		if (i && t.n == 0)
			break;
		if (!(i ? field_line(t, m) : request ? request_line(t, m) : status_line(t, m)))
			return REFERENCE_BAD;
	}
	m->head_n = m->n = (size_t)(at - p);
	m->keep = !connection(m, "close") && (m->minor == 1 || connection(m, "keep-alive"));
	return REFERENCE_DONE;
}

static bool chunk_size(struct reference_text t, unsigned long long *ret)
{
	size_t digits = 0;

	for (*ret = 0; digits < t.n && isxdigit((unsigned char)t.p[digits]); digits++) {
		int c = tolower((unsigned char)t.p[digits]);

		if (digits == 15)
			return false;
		*ret = *ret * 16 + (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return digits && (digits == t.n || t.p[digits] == ';') &&
	       printable(t.p + digits, t.n - digits) && t.n <= digits + 1 + HTTP_EXTENSION_MAX;
}

static enum reference_end trailers(const char **p, const char *end)
{
	const char *from = *p;

	for (;;) {
		struct reference_text t;
		enum reference_end e = line(p, end, &t);
		const char *colon;

		if (e != REFERENCE_DONE)
			return e;
		if (*p - from > HTTP_TRAILER_MAX + 1)
			return REFERENCE_BAD;
		if (t.n == 0)
			return REFERENCE_DONE;
		colon = memchr(t.p, ':', t.n);
		if (!colon || !token(t.p, (size_t)(colon - t.p)) || !printable(t.p, t.n))
			return REFERENCE_BAD;
	}
}

/* A chunked body at *p. */
static enum reference_end chunks(const char **p, const char *end, struct reference *m)
{
	for (;;) {
		unsigned long long size;
		struct reference_text t;
		enum reference_end e = line(p, end, &t);

		if (e != REFERENCE_DONE)
			return e;
		if (!chunk_size(t, &size))
			return REFERENCE_BAD;
		if (size == 0)
			return trailers(p, end);
		if (size + 2 > (unsigned long long)(end - *p))
			return REFERENCE_MORE;
		buf_add(&m->body, *p, size);
		*p += size;
		if (memcmp(*p, "\r\n", 2) != 0)
			return REFERENCE_BAD;
		*p += 2;
	}
}

static enum reference_end body(
	const char *p, size_t n, bool chunked, long long length, struct reference *m)
{
	const char *at = p + m->head_n, *end = p + n;
	enum reference_end e = REFERENCE_DONE;

	if (chunked) {
		e = chunks(&at, end, m);
	} else {
		if (length > end - at)
			return REFERENCE_MORE;
		buf_add(&m->body, at, (size_t)length);
		at += length;
	}
	m->n = (size_t)(at - p);
	return e;
}

enum reference_end reference_request(const char *p, size_t n, struct reference *m)
{
	enum reference_end e = head(p, n, true, m);
	long long length = -1;
	bool chunked;

	if (e != REFERENCE_DONE)
		return e;
	if (!framing(m, true, &chunked, &length))
		return REFERENCE_BAD;
	return body(p, n, chunked, length < 0 ? 0 : length, m);
}

enum reference_end reference_response(const char *p, size_t n, bool to_head, struct reference *m)
{
	enum reference_end e = head(p, n, false, m);
	long long length = -1;
	bool chunked;

	if (e != REFERENCE_DONE)
		return e;
	if (!framing(m, false, &chunked, &length))
		return REFERENCE_BAD;
	if (to_head || m->status < 200 || m->status == 204 || m->status == 304)
		return REFERENCE_DONE;
	m->until_close = !chunked && length < 0;
	return body(p, n, chunked, m->until_close ? (long long)(n - m->head_n) : length, m);
}
