/* Requests as HTTP/2 takes them (RFC 9113 section 8.3): lists of names and values. */
#include "load/driver.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/strv.h"

static void add(struct strv *v, const char *name, const char *value)
{
	char *lower = xstrdup(name);

	for (char *c = lower; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	strv_take(v, lower);
	strv_add(v, value);
}

/* Fields of HTTP/1.1 alone (RFC 9113 section 8.2.2), and Host, which is ':authority'. */
static bool only_h1(const char *name)
{
	static const char *const names[] = {"Host", "Connection", "Proxy-Connection", "Keep-Alive",
		"Transfer-Encoding", "Upgrade"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcasecmp(names[i], name) == 0)
			return true;
	}
	return false;
}

static const char *authority(const struct load *l, const struct load_request *r)
{
	for (size_t i = 0; i < r->n_headers; i++) {
		if (strcasecmp(r->headers[i].name, "Host") == 0)
			return r->headers[i].value;
	}
	return l->addr.text;
}

void class_render_h2(const struct load *l, struct load_class *k)
{
	const struct load_request *r = k->r;
	struct strv v = STRV_INIT;

	add(&v, ":method", r->method);
	add(&v, ":scheme", l->tls ? "https" : "http");
	add(&v, ":authority", authority(l, r));
	add(&v, ":path", r->path);
	for (size_t i = 0; i < r->n_headers; i++) {
		if (!only_h1(r->headers[i].name))
			add(&v, r->headers[i].name, r->headers[i].value);
	}
	for (size_t i = 0; i < r->n_learned; i++) {
		if (k->taught[i])
			add(&v, r->learned[i].name, k->taught[i]);
	}
	if (request_needs_length(r)) {
		auto_free char *n = xasprintf("%zu", r->body_n);

		add(&v, "content-length", n);
	}
	class_release_h2(k);
	k->h2_text = v;
	k->n_nv = v.n / 2;
	k->nv = xcalloc(k->n_nv, sizeof(*k->nv));
	for (size_t i = 0; i < k->n_nv; i++)
		k->nv[i] = (nghttp2_nv){(uint8_t *)v.v[2 * i], (uint8_t *)v.v[2 * i + 1],
			strlen(v.v[2 * i]), strlen(v.v[2 * i + 1]),
			NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

void class_release_h2(struct load_class *k)
{
	strv_release(&k->h2_text);
	free(k->nv);
	k->nv = NULL;
}
