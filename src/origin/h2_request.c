/* HTTP/2: from frames to requests. */
#include "origin/h2.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

struct stream *h2_stream(struct h2 *h, int32_t id)
{
	return nghttp2_session_get_stream_user_data(h->session, id);
}

void h2_stream_free(struct h2 *h, struct stream *s)
{
	exchange_release(h->o, &s->x);
	buf_release(&s->text);
	if (s->prev)
		s->prev->next = s->next;
	else
		h->streams = s->next;
	if (s->next)
		s->next->prev = s->prev;
	free(s);
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct h2 *h = user;
	struct stream *s;

	h->continuations = 0;
	if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	h->requests++;
	s = xcalloc(1, sizeof(*s));
	s->id = frame->hd.stream_id;
	s->x.client = h->c;
	s->next = h->streams;
	if (s->next)
		s->next->prev = s;
	h->streams = s;
	return nghttp2_session_set_stream_user_data(session, s->id, s);
}

static void remember(struct stream *s, struct span *at, const uint8_t *value, size_t n)
{
	if (at->set)
		return; /* the first one counts, as in HTTP/1.1 */
	*at = (struct span){s->text.n, n, true};
	buf_add(&s->text, value, n);
}

static struct span *place_of(struct stream *s, const uint8_t *name, size_t n)
{
	static const char *const names[ASK_FIELDS] = {
		[ASK_CONTENT_TYPE] = "content-type",
		[ASK_IF_NONE_MATCH] = "if-none-match",
		[ASK_IF_RANGE] = "if-range",
		[ASK_RANGE] = "range",
	};
	struct text t = {(const char *)name, n};

	if (name[0] == ':') {
		if (text_is(t, ":path"))
			return &s->path;
		return text_is(t, ":method") ? &s->method : NULL;
	}
	for (int i = 0; i < ASK_FIELDS; i++) {
		if (text_is(t, names[i]))
			return &s->known[i];
	}
	return NULL;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
	size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *user)
{
	struct h2 *h = user;
	struct stream *s = h2_stream(h, frame->hd.stream_id);
	struct span *at;

	if (!s)
		return 0;
	s->fields += name_n + value_n + 32;
	s->lines++;
	/* A table entry of a few bytes may be sent a million times in little space. */
	if (s->fields > H2_FIELDS_BYTES_END) {
		h->broken = true;
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	}
	if (s->fields > H2_FIELDS_BYTES_MAX || s->lines > HTTP_FIELDS_MAX || s->complete ||
		name_n == 0)
		return 0;
	at = place_of(s, name, name_n);
	if (at)
		remember(s, at, value, value_n);
	return 0;
}

static struct text text_of(const struct stream *s, struct span at)
{
	if (!at.set)
		return (struct text){NULL, 0};
	return (struct text){at.n ? s->text.p + at.off : "", at.n};
}

static void refuse(struct h2 *h, struct stream *s, int status, const char *why)
{
	exchange_clear(h->o, &s->x);
	answer_error(&s->x, status, why);
	s->refused = true;
	if (h2_submit(h, s) < 0)
		h->broken = true;
}

/* All fields of the request are there. */
static void decide(struct h2 *h, struct stream *s)
{
	struct text fields[ASK_FIELDS];
	struct ask ask = {.method = text_of(s, s->method), .fields = fields};
	struct text path = text_of(s, s->path);
	struct route route;

	if (s->fields > H2_FIELDS_BYTES_MAX || s->lines > HTTP_FIELDS_MAX) {
		refuse(h, s, 431, "there are too many fields");
		return;
	}
	for (int i = 0; i < ASK_FIELDS; i++)
		fields[i] = text_of(s, s->known[i]);
	if (!path.p) /* CONNECT has none */
		path = (struct text){"", 0};
	route_parse(path.p, path.n, &route);
	if (route.keep && h->requests >= route.keep)
		h2_stop(h->c);
	answer_begin(h->o, &s->x, &route, &ask);
	buf_release(&s->text);
}

static void complete(struct h2 *h, struct stream *s)
{
	if (s->complete)
		return;
	s->complete = true;
	if (s->refused)
		return;
	answer_finish(&s->x);
	if (s->x.delay_ns)
		timer_set(&h->o->timers, &s->x, h->o->now + s->x.delay_ns);
	else if (s->x.answer.nothing)
		h2_end_badly(h, s);
	else if (h2_submit(h, s) < 0)
		h->broken = true;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct h2 *h = user;
	struct stream *s = NULL;

	if (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA)
		s = h2_stream(h, frame->hd.stream_id);
	if (!s)
		return 0;
	if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
		decide(h, s);
	if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		complete(h, s);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
	size_t n, void *user)
{
	struct h2 *h = user;
	struct stream *s = h2_stream(h, id);
	int status;

	h2_quiet(h, n);
	if (!s)
		return 0;
	s->got += n;
	if (s->refused) {
		/* Some clients (curl 7.88) drop the answer when a reset cuts their upload short. */
		if (s->got > H2_REFUSED_MAX)
			(void)nghttp2_submit_rst_stream(
				session, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
		return 0;
	}
	status = exchange_keep(h->o, &s->x, data, n, s->got);
	if (status)
		refuse(h, s, status, "there is no room for the body");
	return 0;
}

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd, void *user)
{
	struct h2 *h = user;

	if (hd->type == NGHTTP2_CONTINUATION && ++h->continuations > H2_CONTINUATIONS_MAX)
		h->broken = true;
	/* A request's frame is made up for by its answer. */
	if (hd->type != NGHTTP2_DATA || hd->length == 0)
		h2_noise(h);
	return h->broken ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *user)
{
	struct h2 *h = user;
	struct stream *s = h2_stream(h, id);

	if (s)
		h2_stream_free(h, s);
	return 0;
}

static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct h2 *h = user;

	if ((frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) ||
		!(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
		return 0;
	h->c->served++;
	h->noise -= h->noise < H2_NOISE_PER_ANSWER ? h->noise : H2_NOISE_PER_ANSWER;
	return 0;
}

void h2_callbacks(nghttp2_session_callbacks *cb)
{
	nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
	nghttp2_session_callbacks_set_on_begin_frame_callback(cb, on_begin_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
	nghttp2_session_callbacks_set_on_frame_send_callback(cb, on_sent);
}
