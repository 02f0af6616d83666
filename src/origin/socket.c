/* The WebSocket of /ws: each frame goes back as it came, piece by piece, so no message is kept. */
#include "origin/server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/mem.h"
#include "http/websocket.h"

enum { STATUS_AWAY = 1001, STATUS_PROTOCOL = 1002 };

struct socket {
	struct websocket *frames;
	uint8_t fault; /* of the first frame that brings something; FAULT_NONE: that is over */
	bool inside;   /* a frame has not gone back to its end */
	bool told;     /* our Close came first: the client's is awaited */
	bool end;      /* what is in the client's out, and then the end */
};

/* ---- The handshake -------------------------------------------------------------------------- */

static void add_field(struct buf *b, const char *name, const char *value)
{
	buf_add(b, name, strlen(name) + 1);
	buf_add(b, value, strlen(value) + 1);
}

static void refuse(struct exchange *x, const struct ask *q)
{
	answer_error(x, 426, "here is a WebSocket, of version 13 and over HTTP/1.1");
	if (!q->head)
		return; /* HTTP/2 has none of these fields */
	add_field(&x->extra, "Upgrade", "websocket");
	add_field(&x->extra, "Connection", "Upgrade");
	add_field(&x->extra, "Sec-WebSocket-Version", "13");
}

void socket_answer(struct exchange *x, const struct ask *q)
{
	const struct http_field *key;
	char accept[WEBSOCKET_ACCEPT];

	if (!q->head || q->head->minor == 0 || !text_is(q->method, "GET") ||
		!http_field_has(q->head, q->bytes, "Upgrade", "websocket") ||
		!http_field_has(q->head, q->bytes, "Connection", "upgrade") ||
		!http_field_has(q->head, q->bytes, "Sec-WebSocket-Version", "13")) {
		refuse(x, q);
		return;
	}
	key = http_field_find(q->head, q->bytes, "Sec-WebSocket-Key");
	if (!key || !websocket_key_ok(q->bytes + key->value.off, key->value.n)) {
		answer_error(x, 400, "the Sec-WebSocket-Key is not 16 bytes in base64");
		return;
	}
	if (x->fault == FAULT_STATUS) {
		answer_error(x, 500, "as was asked for");
		return;
	}
	websocket_accept(q->bytes + key->value.off, key->value.n, accept);
	if (x->fault == FAULT_ACCEPT)
		accept[0] = accept[0] == 'A' ? 'B' : 'A';
	buf_clear(&x->kept);
	buf_adds(&x->kept, accept);
	x->answer.nothing = true;
	x->answer.after = AFTER_SOCKET;
}

static void head_of(struct client *c)
{
	struct buf *b = &c->out;

	buf_adds(b, "HTTP/1.1 101 Switching Protocols\r\nServer: whet-origin\r\n"
		    "Upgrade: websocket\r\nConnection: Upgrade\r\n");
	if (c->x.fault != FAULT_HEADER) {
		buf_addf(b, "Sec-WebSocket-Accept: %s\r\n", buf_str(&c->x.kept));
		if (c->x.extra.n)
			head_extra(b, &c->x.extra);
	}
	buf_adds(b, "\r\n");
}

void socket_begin(struct origin *o, struct client *c)
{
	auto_buf struct buf first = BUF_INIT;

	c->x.answer.after = AFTER_DONE;
	if (c->x.fault == FAULT_RESET) {
		client_reset(o, c);
		return;
	}
	if (c->x.fault == FAULT_CLOSE) {
		client_free(o, c);
		return;
	}
	head_of(c);
	c->socket = xcalloc(1, sizeof(*c->socket));
	c->socket->frames = websocket_new(c->x.fault == FAULT_MASK, true, 1);
	c->socket->fault = c->x.fault;
	c->state = CLIENT_SOCKET;
	c->served++;
	/* A client may have sent more at once. */
	first = c->in;
	c->in = (struct buf)BUF_INIT;
	socket_receive(o, c, first.p, first.n);
}

void socket_free(struct client *c)
{
	if (c->socket)
		websocket_free(c->socket->frames);
	free(c->socket);
	c->socket = NULL;
}

/* ---- Echo ----------------------------------------------------------------------------------- */

static void send_back(struct client *c, const struct websocket_frame *f, const char *p, size_t n)
{
	(void)websocket_write(c->socket->frames, f, p, n, &c->out, SIZE_MAX);
}

/* How many bytes of a spoilt frame go back, and what follows. */
static uint64_t bytes_left_of(uint8_t fault, uint64_t length, uint8_t *after)
{
	static const uint8_t ends[FAULTS] = {
		[FAULT_CUT] = AFTER_CLOSE,
		[FAULT_HALF] = AFTER_CLOSE,
		[FAULT_GOAWAY] = AFTER_CLOSE,
		[FAULT_STALL] = AFTER_STALL,
		[FAULT_ALERT] = AFTER_ALERT,
	};

	*after = ends[fault];
	if (fault == FAULT_CUT || fault == FAULT_SHORT)
		return length - 1;
	return *after ? length / 2 : length;
}

static void send_changed(struct client *c, const struct websocket_frame *f,
	const struct websocket_piece *p, size_t n)
{
	uint64_t at = f->length / 2;
	size_t before = (size_t)(at - p->off);
	char changed;

	if (at < p->off || at >= p->off + n) {
		send_back(c, f, p->p, n);
		return;
	}
	changed = (char)(p->p[before] ^ 1);
	if (before)
		send_back(c, f, p->p, before);
	send_back(c, f, &changed, 1);
	if (before + 1 < n)
		send_back(c, f, p->p + before + 1, n - before - 1);
}

static void spoil(struct client *c, const struct websocket_piece *p)
{
	struct socket *s = c->socket;
	struct websocket_frame f = p->frame;
	uint8_t after;
	uint64_t keep = bytes_left_of(s->fault, f.length, &after);
	size_t n = p->off >= keep ? 0 : p->n < keep - p->off ? p->n : (size_t)(keep - p->off);

	if (s->fault == FAULT_SHORT)
		f.length--;
	if (s->fault == FAULT_BYTE)
		send_changed(c, &f, p, n);
	else if (n || f.length == 0)
		send_back(c, &f, p->p, n);
	if (after && p->off + p->n >= keep) {
		c->x.answer.after = after;
		s->end = true;
	}
	if (p->off + p->n == p->frame.length)
		s->fault = FAULT_NONE;
}

/* false: nothing more is taken. */
static bool take(struct client *c, const struct websocket_piece *p)
{
	struct socket *s = c->socket;

	switch (p->frame.opcode) {
	case WEBSOCKET_CLOSE:
		if (!s->told)
			websocket_control(
				s->frames, WEBSOCKET_CLOSE, p->p, p->n < 2 ? 0 : 2, &c->out);
		s->end = true;
		return false;
	case WEBSOCKET_PING:
		if (!s->told)
			websocket_control(s->frames, WEBSOCKET_PONG, p->p, p->n, &c->out);
		return true;
	case WEBSOCKET_PONG:
		return true;
	default:
		break;
	}
	if (s->told)
		return true;
	if (s->fault && p->frame.length)
		spoil(c, p);
	else
		send_back(c, &p->frame, p->p, p->n);
	s->inside = p->off + p->n < p->frame.length;
	return !s->end;
}

/* ---- The connection ------------------------------------------------------------------------- */

static void finish(struct origin *o, struct client *c)
{
	if (c->x.answer.after == AFTER_DONE)
		client_linger(o, c);
	else
		client_end_badly(o, c);
}

/* While something waits to be sent nothing is read: what is kept stays small. */
static void flush(struct origin *o, struct client *c)
{
	while (c->out_off < c->out.n) {
		struct iovec v[2] = {{c->out.p + c->out_off, c->out.n - c->out_off}, {NULL, 0}};
		ssize_t r = transport_write(o, c, v);

		if (r == TRANSPORT_AGAIN) {
			(void)client_want(o, c, EPOLLOUT);
			return;
		}
		if (r < 0) {
			client_free(o, c);
			return;
		}
		c->out_off += (size_t)r;
	}
	buf_clear(&c->out);
	c->out_off = 0;
	if (c->socket->end)
		finish(o, c);
	else
		(void)client_want(o, c, c->read_wants_out ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void socket_receive(struct origin *o, struct client *c, const char *p, size_t n)
{
	struct socket *s = c->socket;
	struct websocket_piece piece;
	enum http_progress r = HTTP_MORE;

	if (!s->end) {
		websocket_feed(s->frames, p, n);
		while ((r = websocket_next(s->frames, &piece)) == HTTP_DONE && take(c, &piece))
			;
	}
	if (r == HTTP_BAD) {
		if (!s->told && !s->inside)
			websocket_close(s->frames, STATUS_PROTOCOL, &c->out);
		s->end = true;
	}
	flush(o, c);
}

void socket_event(struct origin *o, struct client *c)
{
	flush(o, c);
}

void socket_stop(struct origin *o, struct client *c)
{
	struct socket *s = c->socket;

	if (s->told || s->end)
		return;
	if (s->inside) {
		client_free(o, c);
		return;
	}
	s->told = true;
	websocket_close(s->frames, STATUS_AWAY, &c->out);
	flush(o, c);
}
