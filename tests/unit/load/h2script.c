#include "h2script.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#define PREFACE 24
#define FRAME_HEAD 9

struct h2script {
	int fd;
	h2_fn *fn;
	void *ctx;
	SSL_CTX *tls;
	pthread_t thread;
	struct wire w;
	uint64_t requests, on_conn;
	struct h2_reply reply;
	uint8_t in[1 << 17];
	size_t have;
};

void h2_frame(
	struct h2_reply *r, uint8_t type, uint8_t flags, uint32_t stream, const void *p, size_t n)
{
	uint8_t head[FRAME_HEAD] = {(uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n, type, flags,
		(uint8_t)(stream >> 24), (uint8_t)(stream >> 16), (uint8_t)(stream >> 8),
		(uint8_t)stream};

	if (r->n + FRAME_HEAD + n > sizeof(r->bytes))
		abort();
	memcpy(r->bytes + r->n, head, FRAME_HEAD);
	if (n)
		memcpy(r->bytes + r->n + FRAME_HEAD, p, n);
	r->n += FRAME_HEAD + n;
}

void h2_number(struct h2_reply *r, uint8_t type, uint32_t stream, uint32_t a)
{
	uint32_t v = htonl(a);

	h2_frame(r, type, 0, stream, &v, sizeof(v));
}

void h2_goaway(struct h2_reply *r, uint32_t last, uint32_t code)
{
	uint32_t v[2] = {htonl(last), htonl(code)};

	h2_frame(r, H2_GOAWAY, 0, 0, v, sizeof(v));
}

void h2_answer(
	struct h2_reply *r, uint32_t stream, uint8_t status, const char *length, const char *body)
{
	uint8_t head[64] = {status};
	size_t n = 1;

	if (length) {
		head[n++] = 0x0f; /* Content-Length, not to be indexed */
		head[n++] = 28 - 15;
		head[n++] = (uint8_t)strlen(length);
		memcpy(head + n, length, strlen(length));
		n += strlen(length);
	}
	h2_frame(r, H2_HEADERS, H2_END_HEADERS, stream, head, n);
	h2_frame(r, H2_DATA, H2_END_STREAM, stream, body, strlen(body));
}

static bool send_reply(struct h2script *s)
{
	const struct h2_reply *r = &s->reply;
	size_t first = r->again ? r->again : r->n;

	if (!wire_write(&s->w, r->bytes, first))
		return false;
	for (size_t i = 0; r->again && i <= r->times; i++) {
		if (!wire_write(&s->w, r->bytes + r->again, r->n - r->again))
			return false;
	}
	return true;
}

static void reset_reply(struct h2_reply *r)
{
	r->n = r->again = r->times = 0;
	r->after = AFTER_KEEP;
}

/* One frame of the driver's; false at the end. */
static bool one_frame(struct h2script *s, const uint8_t *f, size_t n)
{
	uint32_t stream = (uint32_t)f[5] << 24 | (uint32_t)f[6] << 16 | (uint32_t)f[7] << 8 | f[8];
	struct h2_request q = {.stream = stream};

	reset_reply(&s->reply);
	if (f[3] == H2_SETTINGS && !(f[4] & H2_ACK))
		h2_frame(&s->reply, H2_SETTINGS, H2_ACK, 0, NULL, 0);
	if (f[3] == H2_PING && !(f[4] & H2_ACK))
		h2_frame(&s->reply, H2_PING, H2_ACK, 0, f + FRAME_HEAD, n);
	if (f[3] == H2_HEADERS) {
		q.number = ++s->requests;
		q.on_conn = ++s->on_conn;
		s->fn(s->ctx, &q, &s->reply);
	}
	return send_reply(s) && s->reply.after == AFTER_KEEP;
}

/* The frames that are whole; what is left of them moves to the front. */
static bool frames(struct h2script *s, size_t *off)
{
	while (s->have - *off >= FRAME_HEAD) {
		const uint8_t *f = s->in + *off;
		size_t n = (size_t)f[0] << 16 | (size_t)f[1] << 8 | f[2];

		if (s->have - *off < FRAME_HEAD + n)
			break;
		*off += FRAME_HEAD + n;
		if (!one_frame(s, f, n))
			return false;
	}
	memmove(s->in, s->in + *off, s->have - *off);
	s->have -= *off;
	*off = 0;
	return true;
}

static void serve(struct h2script *s)
{
	bool preface = false;
	size_t off = 0;
	ssize_t r;

	s->have = s->on_conn = 0;
	reset_reply(&s->reply);
	h2_frame(&s->reply, H2_SETTINGS, 0, 0, NULL, 0);
	if (!send_reply(s))
		return;
	while ((r = wire_read(&s->w, s->in + s->have, sizeof(s->in) - s->have)) > 0) {
		s->have += (size_t)r;
		if (!preface && s->have < PREFACE)
			continue;
		if (!preface)
			off = PREFACE;
		preface = true;
		if (!frames(s, &off))
			return;
	}
	s->reply.after = AFTER_CLOSE;
}

static void *run(void *arg)
{
	struct h2script *s = arg;
	int fd;

	while ((fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		if (wire_open(&s->w, fd, s->tls))
			serve(s);
		if (s->reply.after == AFTER_HANG) {
			while (wire_read(&s->w, s->in, sizeof(s->in)) > 0)
				;
		}
		if (s->reply.after == AFTER_ALERT && s->w.ssl)
			tls_send_alert(s->w.ssl);
		wire_close(&s->w, s->reply.after == AFTER_CLOSE, s->reply.after == AFTER_RESET);
	}
	return NULL;
}

struct h2script *h2script_start(h2_fn *fn, void *ctx, SSL_CTX *tls, uint16_t *port)
{
	struct h2script *s = calloc(1, sizeof(*s));
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);

	if (!s)
		abort();
	s->fn = fn;
	s->ctx = ctx;
	s->tls = tls;
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(s->fd, (struct sockaddr *)&a, n) < 0 || listen(s->fd, 128) < 0 ||
		getsockname(s->fd, (struct sockaddr *)&a, &n) < 0)
		abort();
	*port = ntohs(a.sin_port);
	pthread_create(&s->thread, NULL, run, s);
	return s;
}

void h2script_stop(struct h2script *s)
{
	shutdown(s->fd, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->fd);
	free(s);
}
