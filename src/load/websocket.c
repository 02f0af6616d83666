/* WebSocket: a request that becomes a session. Messages go out one at a time and must come back as
 * they were, then both sides close. */
#include "load/driver.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "http/websocket.h"

#define SEND_SIZE ((size_t)16 << 10)
#define HEADER_ROOM ((size_t)16) /* more than a frame's header takes */
/* Message i begins so many bytes further on in the content, modulo SHIFTS: an echo of another one
 * is seen. */
#define SHIFTS 61
/* Control frames, and data frames that bring nothing, that a server may send for one message. */
#define NOISE_MAX 100
#define CLOSE_NORMAL 1000
#define CLOSE_NONE 1005

/* Of a class: what its sessions have in common. */
struct ws_class {
	char key[WEBSOCKET_KEY], accept[WEBSOCKET_ACCEPT];
	char *content; /* SHIFTS bytes more than a message */
};

/* Of a connection. */
struct ws {
	struct websocket *frames;
	uint64_t message; /* that is under way, from 1 */
	size_t sent;      /* bytes of it handed on */
	size_t frame_end; /* where its present frame ends */
	bool all_sent;
	size_t got;   /* bytes of its echo */
	bool closing; /* our Close is on its way */
	bool closed;  /* the server's came */
	unsigned int noise;
	bool ping; /* the last one is to be answered, between two frames */
	char ping_text[WEBSOCKET_CONTROL_MAX];
	size_t ping_n;
	struct buf out; /* not sent yet */
	size_t out_off;
};

/* ---- Classes -------------------------------------------------------------------------------- */

int load_ws_class_make(const struct load *l, struct load_class *k, size_t i, struct error *err)
{
	const struct load_request *r = k->r;
	struct ws_class *w;
	uint64_t x;

	if (!r->websocket.messages)
		return 0;
	if (l->h2)
		return error_set(err, ERR_USAGE,
			"mix entry %zu ('%s %s'): a WebSocket is opened over HTTP/1.1", i + 1,
			r->method, r->path);
	if (r->expect_status != 101 || r->n_expect_any)
		return error_set(err, ERR_USAGE,
			"mix entry %zu ('%s %s'): a WebSocket begins with status 101", i + 1,
			r->method, r->path);
	if (strcmp(r->method, "GET") != 0 || r->body_n || r->chunk || r->events.count)
		return error_set(err, ERR_USAGE,
			"mix entry %zu ('%s %s'): a WebSocket is opened by a GET request without "
			"a body",
			i + 1, r->method, r->path);
	w = k->ws = xcalloc(1, sizeof(*w));
	websocket_key(l->plan.seed + i, w->key);
	websocket_accept(w->key, strlen(w->key), w->accept);
	w->content = malloc(r->websocket.size + SHIFTS);
	if (!w->content)
		return error_set(err, ERR_ENVIRONMENT, "no memory for a message of %zu bytes",
			r->websocket.size);
	x = l->plan.seed + i;
	for (size_t n = 0; n < r->websocket.size + SHIFTS; n++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		w->content[n] = (char)(r->websocket.binary ? x >> 56 : 'a' + (x >> 56) % 26);
	}
	return 0;
}

void load_ws_class_release(struct load_class *k)
{
	if (k->ws)
		free(k->ws->content);
	free(k->ws);
	k->ws = NULL;
}

void load_ws_fields(const struct load_class *k, struct buf *b)
{
	buf_addf(b,
		"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
		"Sec-WebSocket-Key: %s\r\n",
		k->ws->key);
}

/* ---- Words ---------------------------------------------------------------------------------- */

static void problem(struct load *l, const struct exchange *x, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* With the message in front. */
static void problem(struct load *l, const struct exchange *x, const char *fmt, ...)
{
	const struct ws *s = x->c->ws;
	unsigned long long messages = l->classes[x->class].r->websocket.messages;
	auto_buf struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	if (s->closing)
		load_problem(
			l, x, "after message %llu of %llu: %s", messages, messages, buf_str(&b));
	else
		load_problem(l, x, "message %llu of %llu: %s", (unsigned long long)s->message,
			messages, buf_str(&b));
}

void load_ws_describe(struct buf *b, const struct load *l, const struct exchange *x)
{
	const struct ws *s = x->c->ws;
	const struct load_websocket *want = &l->classes[x->class].r->websocket;

	if (s->closing) {
		buf_addf(b, "closing the WebSocket after %llu messages, %s",
			(unsigned long long)want->messages,
			s->closed ? "the server did not end the connection"
				  : "the server did not answer the Close frame");
		return;
	}
	buf_addf(b,
		"inside the WebSocket, message %llu of %llu (sent %zu of %zu bytes, got %zu of its "
		"echo)",
		(unsigned long long)s->message, (unsigned long long)want->messages, s->sent,
		want->size, s->got);
}

void load_ws_lost(struct load *l, struct exchange *x, const char *how)
{
	const struct ws *s = x->c->ws;

	if (s->closing)
		problem(l, x, "expected a Close frame, got none: %s", how);
	else
		problem(l, x, "expected an echo of %zu bytes, got %zu: %s",
			l->classes[x->class].r->websocket.size, s->got, how);
}

/* ---- Sending -------------------------------------------------------------------------------- */

/* The frame of the message that is the next one, or the one under way; *begin: where it does. */
static struct websocket_frame frame_of(
	const struct load_websocket *want, const struct ws *s, size_t *begin)
{
	size_t most = want->frame && want->frame < want->size ? want->frame : want->size;
	size_t left;

	*begin = most ? s->sent / most * most : 0;
	left = want->size - *begin;
	return (struct websocket_frame){
		.opcode = *begin         ? WEBSOCKET_CONTINUATION
			  : want->binary ? WEBSOCKET_BINARY
					 : WEBSOCKET_TEXT,
		.fin = left <= most,
		.length = left < most ? left : most,
	};
}

/* The last one, when there were several. Between two frames. */
static void answer_ping(struct ws *s)
{
	if (s->ping)
		websocket_control(s->frames, WEBSOCKET_PONG, s->ping_text, s->ping_n, &s->out);
	s->ping = false;
}

/* Moves what is to be sent to out, as far as there is room. */
static void fill(struct load *l, struct conn *c)
{
	const struct load_class *k = &l->classes[c->x->class];
	const struct load_websocket *want = &k->r->websocket;
	struct ws *s = c->ws;

	while (s->out.n + HEADER_ROOM <= SEND_SIZE) {
		size_t begin;
		struct websocket_frame f = frame_of(want, s, &begin);

		if (s->ping && (s->all_sent || s->sent == begin)) {
			answer_ping(s);
			continue; /* a header is to find room for all of it */
		}
		if (s->all_sent)
			return;
		s->sent += websocket_write(s->frames, &f,
			k->ws->content + s->message % SHIFTS + s->sent,
			begin + (size_t)f.length - s->sent, &s->out, SEND_SIZE);
		s->all_sent = s->sent == want->size;
	}
}

void load_ws_send(struct load *l, struct conn *c)
{
	struct ws *s = c->ws;
	char why[TRANSPORT_WHY];

	for (;;) {
		fill(l, c);
		if (s->out_off == s->out.n)
			break;
		while (s->out_off < s->out.n) {
			ssize_t r = transport_write(
				&c->t, s->out.p + s->out_off, s->out.n - s->out_off, why);

			if (r < 0) {
				/* What the server said before it went away is still to be read. */
				conn_interest(l, c, r == TRANSPORT_AGAIN && c->t.want_out);
				return;
			}
			s->out_off += (size_t)r;
			c->bytes_out += (uint64_t)r;
			c->moved_ns = l->now;
		}
		buf_clear(&s->out);
		s->out_off = 0;
	}
	conn_interest(l, c, false);
}

static void next_message(struct load *l, struct conn *c)
{
	struct ws *s = c->ws;

	s->noise = 0;
	if (s->message == l->classes[c->x->class].r->websocket.messages) {
		s->closing = true;
		answer_ping(s); /* nothing follows the Close */
		websocket_close(s->frames, CLOSE_NORMAL, &s->out);
		return;
	}
	s->message++;
	s->sent = s->got = 0;
	s->all_sent = false;
}

/* ---- Receiving ------------------------------------------------------------------------------ */

/* A piece of an echo; false when it is wrong. */
static bool echo_ok(struct load *l, struct exchange *x, const struct websocket_piece *p)
{
	const struct load_class *k = &l->classes[x->class];
	const struct load_websocket *want = &k->r->websocket;
	struct ws *s = x->c->ws;
	const char *content = k->ws->content + s->message % SHIFTS + s->got;
	uint8_t opcode = want->binary ? WEBSOCKET_BINARY : WEBSOCKET_TEXT;

	if (p->off == 0 && p->frame.opcode != WEBSOCKET_CONTINUATION && p->frame.opcode != opcode) {
		problem(l, x, "expected its echo to be a %s message, got a %s one",
			want->binary ? "binary" : "text", want->binary ? "text" : "binary");
		return false;
	}
	if (p->n > want->size - s->got || p->frame.length - p->off > want->size - s->got) {
		problem(l, x, "expected an echo of %zu bytes, got a frame of %llu behind %zu of it",
			want->size, (unsigned long long)p->frame.length, s->got - (size_t)p->off);
		return false;
	}
	if (p->n && memcmp(content, p->p, p->n) != 0) {
		auto_buf struct buf b = BUF_INIT;

		answer_difference(&b, content, p->p, s->got, want->size);
		problem(l, x, "its echo %s", buf_str(&b));
		return false;
	}
	s->got += p->n;
	return true;
}

/* The last byte of a frame of data is there. */
static bool frame_done(struct load *l, struct conn *c, const struct websocket_piece *p)
{
	size_t size = l->classes[c->x->class].r->websocket.size;
	struct ws *s = c->ws;

	if (!p->frame.fin)
		return true;
	if (s->got != size || !s->all_sent) {
		problem(l, c->x, "expected an echo of %zu bytes, got one of %zu%s", size, s->got,
			s->got == size ? " before all of the message was sent" : "");
		return false;
	}
	next_message(l, c);
	return true;
}

static bool data(struct load *l, struct conn *c, const struct websocket_piece *p)
{
	struct ws *s = c->ws;

	if (s->closing) {
		problem(l, c->x, "expected a Close frame, got one more message");
		return false;
	}
	if (!echo_ok(l, c->x, p))
		return false;
	if (p->frame.length == 0)
		s->noise++;
	return p->off + p->n < p->frame.length || frame_done(l, c, p);
}

/* The server ends the session. */
static bool closed(struct load *l, struct conn *c, const struct websocket_piece *p)
{
	unsigned int status = websocket_close_status(p);
	struct ws *s = c->ws;
	auto_buf struct buf b = BUF_INIT;

	s->closed = true;
	if (s->closing && (status == CLOSE_NORMAL || status == CLOSE_NONE))
		return true;
	if (status == CLOSE_NONE)
		buf_adds(&b, "no status");
	else
		buf_addf(&b, "status %u", status);
	if (p->n > 2) {
		buf_addc(&b, ' ');
		text_quote(&b, p->p + 2, p->n - 2, WEBSOCKET_CONTROL_MAX);
	}
	if (s->closing)
		problem(l, c->x, "expected a Close frame with status %u, got %s", CLOSE_NORMAL,
			buf_str(&b));
	else
		problem(l, c->x, "expected an echo, got a Close frame with %s", buf_str(&b));
	return false;
}

static bool take(struct load *l, struct conn *c, const struct websocket_piece *p)
{
	struct ws *s = c->ws;

	switch (p->frame.opcode) {
	case WEBSOCKET_CLOSE:
		return closed(l, c, p);
	case WEBSOCKET_PING:
		s->noise++;
		s->ping = !s->closing;
		s->ping_n = p->n;
		memcpy(s->ping_text, p->p, p->n);
		break;
	case WEBSOCKET_PONG:
		s->noise++;
		break;
	default:
		if (!data(l, c, p))
			return false;
		break;
	}
	if (s->noise <= NOISE_MAX)
		return true;
	problem(l, c->x, "expected an echo, got more than %d frames that bring none of it",
		NOISE_MAX);
	return false;
}

void load_ws_received(struct load *l, struct conn *c, const char *p, size_t n)
{
	struct ws *s = c->ws;
	struct websocket_piece piece;
	enum http_progress r;

	websocket_feed(s->frames, p, n);
	do {
		r = websocket_next(s->frames, &piece);
		if (r == HTTP_BAD)
			problem(l, c->x, "expected WebSocket frames, but %s",
				websocket_problem(s->frames));
	} while (r == HTTP_DONE && take(l, c, &piece));
	if (!l->problem)
		load_ws_send(l, c);
}

/* ---- Begin and end -------------------------------------------------------------------------- */

static void missing(
	struct load *l, struct exchange *x, const char *p, const char *name, const char *value)
{
	const struct http_field *f = http_field_find(&x->c->head, p, name);
	auto_buf struct buf b = BUF_INIT;

	if (f)
		text_quote(&b, p + f->value.off, f->value.n, 200);
	load_problem(l, x, "expected the header '%s: %s' with status 101, got %s", name, value,
		f ? buf_str(&b) : "none");
}

/* The fields without which status 101 means something else (RFC 6455 section 4.1). */
static bool handshake_ok(struct load *l, struct exchange *x, const char *p)
{
	static const char *const words[][2] = {{"Upgrade", "websocket"}, {"Connection", "upgrade"}};
	static const char accept[] = "Sec-WebSocket-Accept";
	const struct http_head *h = &x->c->head;
	const struct http_field *f = http_field_find(h, p, accept);
	const char *want = l->classes[x->class].ws->accept;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (http_field_has(h, p, words[i][0], words[i][1]))
			continue;
		missing(l, x, p, words[i][0], words[i][1]);
		return false;
	}
	if (f && f->value.n == strlen(want) && memcmp(p + f->value.off, want, f->value.n) == 0)
		return true;
	missing(l, x, p, accept, want);
	return false;
}

/* What the server chose without having been offered it (RFC 6455 section 4.1). */
static bool choice_ok(struct load *l, struct exchange *x, const char *p, const char *name)
{
	const struct http_field *f = http_field_find(&x->c->head, p, name);
	const struct load_request *r = l->classes[x->class].r;
	auto_buf struct buf b = BUF_INIT;
	auto_free char *chosen = NULL;

	if (!f)
		return true;
	chosen = xstrndup(p + f->value.off, f->value.n);
	for (size_t i = 0; i < r->n_headers; i++) {
		const char *offered = r->headers[i].value;

		if (strcasecmp(r->headers[i].name, name) == 0 &&
			http_list_has(offered, strlen(offered), chosen))
			return true;
	}
	text_quote(&b, chosen, f->value.n, 200);
	load_problem(l, x, "the server chose '%s' %s, which was not offered", name, buf_str(&b));
	return false;
}

bool load_ws_begin(struct load *l, struct conn *c, const char *p)
{
	struct exchange *x = c->x;

	answer_head_known(x, &c->head);
	if (x->out_off < conn_request_bytes(l, c)->n) {
		load_problem(l, x, "got status 101 before all of the request was sent");
		return false;
	}
	if (!handshake_ok(l, x, p) || !choice_ok(l, x, p, "Sec-WebSocket-Extensions") ||
		!choice_ok(l, x, p, "Sec-WebSocket-Protocol") ||
		!answer_fields_ok(l, x, &c->head, p))
		return false;
	c->ws = xcalloc(1, sizeof(*c->ws));
	c->ws->frames = websocket_new(true, false, l->plan.seed ^ x->seq);
	c->last = true;
	x->state = EXCHANGE_SOCKET;
	next_message(l, c);
	return true;
}

bool load_ws_over(struct load *l, struct conn *c)
{
	if (!c->ws->closing || !c->ws->closed)
		return false;
	exchange_done(l, c->x);
	return true;
}

void load_ws_close(struct conn *c)
{
	websocket_free(c->ws->frames);
	buf_release(&c->ws->out);
	free(c->ws);
	c->ws = NULL;
}
