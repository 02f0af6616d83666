/* HTTP/2: one connection, with its bounds. */
#include "origin/h2.h"

#include <stdlib.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/mem.h"

static void h2_flush(struct origin *o, struct client *c);

static nghttp2_session *new_session(struct h2 *h)
{
	static const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, H2_STREAMS_MAX},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, H2_WINDOW},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, H2_FIELDS_BYTES_MAX},
	};
	nghttp2_session_callbacks *cb = NULL;
	nghttp2_session *session = NULL;

	if (nghttp2_session_callbacks_new(&cb) == 0) {
		h2_callbacks(cb);
		if (nghttp2_session_server_new(&session, cb, h) != 0)
			session = NULL;
	}
	nghttp2_session_callbacks_del(cb);
	if (session &&
		nghttp2_submit_settings(
			session, NGHTTP2_FLAG_NONE, settings, ARRAY_SIZE(settings)) == 0 &&
		nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, H2_WINDOW) ==
			0)
		return session;
	nghttp2_session_del(session);
	return NULL;
}

bool h2_begin(struct origin *o, struct client *c)
{
	struct h2 *h = xcalloc(1, sizeof(*h));

	h->o = o;
	h->c = c;
	c->h2 = h;
	c->state = CLIENT_H2;
	h->session = new_session(h);
	if (h->session) {
		h2_flush(o, c);
		return !c->dead;
	}
	client_free(o, c);
	return false;
}

void h2_free(struct origin *o, struct client *c)
{
	struct h2 *h = c->h2;

	if (!h)
		return;
	c->h2 = NULL;
	while (h->streams)
		h2_stream_free(h, h->streams);
	nghttp2_session_del(h->session);
	free(h);
}

void h2_noise(struct h2 *h)
{
	if (++h->noise <= H2_NOISE_MAX || h->ending)
		return;
	h->ending = true;
	(void)nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE,
		nghttp2_session_get_last_proc_stream_id(h->session), NGHTTP2_ENHANCE_YOUR_CALM,
		NULL, 0);
}

/* Bytes of bodies went either way. */
void h2_quiet(struct h2 *h, uint64_t bytes)
{
	uint64_t allowance;

	h->credit += bytes;
	allowance = h->credit / H2_NOISE_BYTES * H2_NOISE_PER_ANSWER;
	h->credit %= H2_NOISE_BYTES;
	h->noise -= h->noise < allowance ? h->noise : allowance;
}

bool h2_idle(const struct client *c)
{
	return !c->h2 || !c->h2->streams;
}

bool h2_waits(const struct client *c)
{
	for (const struct stream *s = c->h2 ? c->h2->streams : NULL; s; s = s->next) {
		if (s->x.due_ns)
			return true;
	}
	return false;
}

void h2_stop(struct client *c)
{
	struct h2 *h = c->h2;

	if (h->stopped)
		return;
	h->stopped = true;
	(void)nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE,
		nghttp2_session_get_last_proc_stream_id(h->session), NGHTTP2_NO_ERROR, NULL, 0);
}

void h2_end_badly(struct h2 *h, struct stream *s)
{
	switch (s->x.answer.after) {
	case AFTER_STALL:
		timer_set(&h->o->timers, &s->x, h->o->now + ORIGIN_STALL_NS);
		break;
	case AFTER_ALERT:
		h->alert = h->ending = true;
		break;
	case AFTER_GOAWAY:
		h->ending = true;
		(void)nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE,
			nghttp2_session_get_last_proc_stream_id(h->session), NGHTTP2_INTERNAL_ERROR,
			NULL, 0);
		break;
	case AFTER_GONE:
		h->close = true;
		break;
	default:
		(void)nghttp2_submit_rst_stream(
			h->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_INTERNAL_ERROR);
		break;
	}
}

/* Frames into o->frames, as many as one call sends; false: the session has failed. */
static bool gather(struct origin *o, struct h2 *h)
{
	buf_clear(&o->frames);
	while (o->frames.n < ORIGIN_RX_SIZE) {
		const uint8_t *p;
		ssize_t n = nghttp2_session_mem_send(h->session, &p);

		if (n < 0)
			return false;
		if (n == 0)
			break;
		buf_add(&o->frames, p, (size_t)n);
	}
	return !buf_failed(&o->frames);
}

/* Sends what lies in b from *off on: 1 all of it, 0 the socket is full, -1 the client is gone. */
static int send_all(struct origin *o, struct client *c, const struct buf *b, size_t *off)
{
	while (*off < b->n) {
		struct iovec v[2] = {{b->p + *off, b->n - *off}, {NULL, 0}};
		ssize_t r = transport_write(o, c, v);

		if (r < 0)
			return r == TRANSPORT_AGAIN ? 0 : -1;
		*off += (size_t)r;
		h2_quiet(c->h2, (uint64_t)r);
	}
	return 1;
}

/* The next frames: 1 sent, 0 the socket is full, -1 the client is gone, 2 there are none. */
static int send_frames(struct origin *o, struct client *c)
{
	size_t off = 0;
	int r;

	if (!gather(o, c->h2))
		return -1;
	if (o->frames.n == 0)
		return 2;
	r = send_all(o, c, &o->frames, &off);
	if (r == 0)
		buf_add(&c->out, o->frames.p + off, o->frames.n - off);
	return r;
}

static int send_on(struct origin *o, struct client *c)
{
	int r = send_all(o, c, &c->out, &c->out_off);

	if (r <= 0)
		return r;
	buf_release(&c->out);
	c->out_off = 0;
	for (size_t sent = 0; sent < ORIGIN_RUN_MAX; sent += o->frames.n) {
		r = send_frames(o, c);
		if (r != 1)
			return r;
	}
	return 0; /* the others have their turn */
}

static void finish(struct origin *o, struct client *c)
{
	if (c->h2->alert && c->ssl)
		transport_alert(c);
	else if (c->h2->alert) {
		client_reset(o, c);
		return;
	}
	if (o->stopping) {
		transport_end(c);
		client_free(o, c);
		return;
	}
	client_linger(o, c);
}

/* Sends what can be sent, and decides what is awaited next. */
static void h2_flush(struct origin *o, struct client *c)
{
	struct h2 *h = c->h2;
	int r = h->close ? -1 : send_on(o, c);

	if (r < 0 || h->close) {
		client_free(o, c);
		return;
	}
	if (r == 0) {
		/* Reading goes on: it may say that less is to be sent. What it can leave behind is
		 * bounded by the number of streams, and h2_noise(). */
		(void)client_want(o, c, EPOLLIN | EPOLLOUT);
		return;
	}
	if (h->ending ||
		(!nghttp2_session_want_read(h->session) && !nghttp2_session_want_write(h->session)))
		finish(o, c);
	else
		(void)client_want(o, c, c->read_wants_out ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void h2_receive(struct origin *o, struct client *c, const char *p, size_t n)
{
	struct h2 *h = c->h2;
	ssize_t r = nghttp2_session_mem_recv(h->session, (const uint8_t *)p, n);

	/* After a fatal error there may be a GOAWAY that says why. */
	if (r < 0 || h->broken) {
		bool calm = h->broken || r == NGHTTP2_ERR_FLOODED;

		h->ending = true;
		(void)nghttp2_session_terminate_session(
			h->session, calm ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
	}
	h2_flush(o, c);
}

void h2_event(struct origin *o, struct client *c)
{
	h2_flush(o, c);
}

void h2_due(struct origin *o, struct exchange *x)
{
	struct client *c = x->client;
	struct h2 *h = c->h2;
	struct stream *s = (struct stream *)((char *)x - offsetof(struct stream, x));

	if (c->state != CLIENT_H2)
		return;
	if (s->answering && x->answer.after == AFTER_STALL && x->answer.off == x->answer.end)
		(void)nghttp2_submit_rst_stream(
			h->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_INTERNAL_ERROR);
	else if (s->answering)
		(void)nghttp2_session_resume_data(h->session, s->id);
	else if (x->answer.nothing)
		h2_end_badly(h, s);
	else if (h2_submit(h, s) < 0)
		h->broken = true;
	h2_flush(o, c);
}
