/* Headers whose value an earlier answer said: validators and cookies. */
#include "load/driver.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/plan.h"

int learn_check(const struct load *l, size_t class, struct error *err)
{
	const struct load_request *r = &l->plan.mix[class];

	for (size_t i = 0; i < r->n_learned; i++) {
		const struct load_learned *x = &r->learned[i];

		if (!plan_learned_source(x->name))
			return error_set(err, ERR_USAGE,
				"mix entry %zu: no answer teaches the header '%s'", class + 1,
				x->name);
		if (x->from >= l->plan.n_mix || l->plan.mix[x->from].n_learned ||
			l->plan.mix[x->from].websocket.messages)
			return error_set(err, ERR_USAGE,
				"mix entry %zu: '%s' must be learned from an entry of the mix that "
				"learns nothing itself and opens no WebSocket",
				class + 1, x->name);
	}
	return 0;
}

size_t learn_next(const struct load *l)
{
	size_t i = 0;

	while (i < l->plan.n_mix && (!l->classes[i].teaches || l->classes[i].asked))
		i++;
	return i;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Bytes of "name=value" in a Set-Cookie. Blanks around it are not of it (RFC 6265 section 5.2), and
 * HTTP/2 would not take them at the end of a field. */
static size_t cookie_n(const char *v, size_t n)
{
	const char *end = memchr(v, ';', n);

	if (end)
		n = (size_t)(end - v);
	while (n && is_blank(v[n - 1]))
		n--;
	return n;
}

/* The cookies of all Set-Cookie (RFC 6265 section 4.2.1), or the first field of that name. */
static char *value_of(const struct http_head *h, const char *p, const char *source)
{
	bool cookie = strcmp(source, "Set-Cookie") == 0;
	struct buf b = BUF_INIT;

	for (uint32_t i = 0; i < h->n_fields; i++) {
		const struct http_field *f = &h->fields[i];
		const char *v = p + f->value.off;
		size_t n;

		if (!http_span_is(f->name, p, source))
			continue;
		n = cookie ? cookie_n(v, f->value.n) : f->value.n;
		if (n && b.n)
			buf_adds(&b, "; ");
		buf_add(&b, v, n);
		if (!cookie)
			break;
	}
	if (b.n)
		return buf_detach(&b);
	buf_release(&b);
	return NULL;
}

static bool learn_one(struct load *l, struct exchange *x, struct load_class *k, size_t i,
	const struct http_head *h, const char *p)
{
	const char *source = plan_learned_source(k->r->learned[i].name);

	k->taught[i] = value_of(h, p, source);
	if (k->taught[i])
		return true;
	load_problem(l, x,
		"expected a header '%s', from which '%s' of '%s %s' is learned, got none", source,
		k->r->learned[i].name, k->r->method, k->r->path);
	return false;
}

bool learn_from(struct load *l, struct exchange *x, const struct http_head *h, const char *p)
{
	for (size_t c = 0; c < l->plan.n_mix; c++) {
		struct load_class *k = &l->classes[c];
		bool news = false;

		for (size_t i = 0; i < k->r->n_learned; i++) {
			if (k->r->learned[i].from != x->class || k->taught[i])
				continue;
			if (!learn_one(l, x, k, i, h, p))
				return false;
			news = true;
		}
		if (news)
			class_render(l, k);
	}
	l->classes[x->class].teaches = false;
	return true;
}
