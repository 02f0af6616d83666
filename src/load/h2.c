/* HTTP/2 by nghttp2: as many requests at a time on a connection as it has streams. */
#include "load/driver.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "load/h2_pool.h"

#define SEND_SIZE ((size_t)16 << 10) /* about one TLS record */
#define STREAM_WINDOW (16 << 20)
#define CONNECTION_WINDOW (64 << 20)
#define CONTINUATIONS_MAX 32 /* of one head; its size has a bound of its own */

struct h2_side {
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *option;
	struct h2_pool *pool;
};

struct h2 {
	struct load *l;
	struct conn *c;
	nghttp2_session *session;
	struct buf out; /* not sent yet */
	size_t out_off;
	struct exchange *heads; /* whose head is being received */
	size_t head_n; /* bytes of the head that is being received, as RFC 9113 counts them */
	unsigned int continuations;
	char *fault;    /* what the server did wrong, as nghttp2 found it */
	char *farewell; /* its GOAWAY in words */
};

static void set_text(char **at, char *text)
{
	free(*at);
	*at = text;
}

static struct exchange *exchange_of(struct h2 *h, int32_t stream)
{
	return nghttp2_session_get_stream_user_data(h->session, stream);
}

/* ---- Heads ---------------------------------------------------------------------------------- */

/* The whole connection is bad: there may be no request that it belongs to. */
static int abandon(struct h2 *h, struct exchange *x, const char *what)
{
	if (!x)
		x = h->c->x;
	load_problem(h->l, x, "expected an HTTP/2 answer, but %s", what);
	return NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd, void *ctx)
{
	struct h2 *h = ctx;
	struct exchange *x = hd->type == NGHTTP2_DATA ? exchange_of(h, hd->stream_id) : NULL;

	if (h->l->problem)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	if (x) {
		x->announced += hd->length;
		x->padded |= (hd->flags & NGHTTP2_FLAG_PADDED) != 0;
	}
	if (hd->type != NGHTTP2_CONTINUATION) {
		h->continuations = 0;
		return 0;
	}
	if (++h->continuations <= CONTINUATIONS_MAX)
		return 0;
	return abandon(
		h, exchange_of(h, hd->stream_id), "its head has too many CONTINUATION frames");
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
	struct h2 *h = ctx;

	h->heads = exchange_of(h, frame->hd.stream_id); /* a look-up for each field would be dear */
	http_response_begin(&h->c->head);
	h->c->head.minor = 1;
	buf_clear(&h->c->part);
	h->head_n = 0;
	return 0;
}

static int status_of(const uint8_t *v, size_t n)
{
	return n == 3 ? (v[0] - '0') * 100 + (v[1] - '0') * 10 + (v[2] - '0') : 0;
}

static bool read_length(struct http_head *head, const uint8_t *v, size_t n)
{
	uint64_t length = 0;

	if (n == 0 || head->has_length)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (v[i] < '0' || v[i] > '9' || __builtin_mul_overflow(length, 10, &length) ||
			__builtin_add_overflow(length, (uint64_t)(v[i] - '0'), &length))
			return false;
	}
	head->has_length = true;
	head->length = length;
	return true;
}

/* Kept for the check of headers; most requests ask for none. */
static void keep_field(
	struct conn *c, const uint8_t *name, size_t name_n, const uint8_t *value, size_t value_n)
{
	uint32_t at = (uint32_t)c->part.n;

	buf_add(&c->part, name, name_n);
	buf_add(&c->part, value, value_n);
	c->head.fields[c->head.n_fields].name = (struct http_span){at, (uint32_t)name_n};
	c->head.fields[c->head.n_fields].value =
		(struct http_span){at + (uint32_t)name_n, (uint32_t)value_n};
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
	size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *ctx)
{
	struct h2 *h = ctx;
	struct http_head *head = &h->c->head;
	struct exchange *x = h->heads;
	const struct load_class *k;

	h->head_n += name_n + value_n + 32;
	if (h->head_n > HTTP_HEAD_MAX)
		return abandon(h, x, "its head is too long");
	if (head->n_fields == HTTP_FIELDS_MAX)
		return abandon(h, x, "there are too many fields");
	if (!x || x->state != EXCHANGE_HEAD || x->stream != frame->hd.stream_id)
		return 0; /* a trailer section, or of a stream that is given up */
	k = &h->l->classes[x->class];
	x->answer_n += name_n + value_n;
	if (name_n == 7 && memcmp(name, ":status", 7) == 0) {
		head->status = status_of(value, value_n);
		return 0;
	}
	if (name_n == 14 && memcmp(name, "content-length", 14) == 0 &&
		!read_length(head, value, value_n))
		return abandon(h, x, "its Content-Length is malformed");
	if (k->fields || k->teaches)
		keep_field(h->c, name, name_n, value, value_n);
	head->n_fields++;
	return 0;
}

static void head_done(struct h2 *h, struct exchange *x)
{
	struct http_head *head = &h->c->head;

	if (x->state != EXCHANGE_HEAD)
		return; /* trailers */
	if (head->status < 200) {
		(void)answer_interim_ok(h->l, x, head->status);
		return;
	}
	if (!h->l->classes[x->class].fields && !h->l->classes[x->class].teaches)
		head->n_fields = 0;
	if (answer_head_ok(h->l, x, head, buf_str(&h->c->part), (struct http_piece){NULL, 0}))
		x->state = EXCHANGE_BODY;
}

/* ---- Frames --------------------------------------------------------------------------------- */

static void goaway(struct h2 *h, const nghttp2_goaway *f)
{
	auto_buf struct buf b = BUF_INIT;

	buf_addf(&b, "the server ended the connection by GOAWAY (%s)",
		nghttp2_http2_strerror(f->error_code));
	if (f->opaque_data_len) {
		buf_adds(&b, ": ");
		text_quote(&b, (const char *)f->opaque_data, f->opaque_data_len, 80);
	}
	set_text(&h->farewell, buf_detach(&b));
	h->c->last = true;
}

/* In frames of other types the flag's bit means nothing. */
static bool ends_stream(const nghttp2_frame_hd *hd)
{
	return (hd->type == NGHTTP2_DATA || hd->type == NGHTTP2_HEADERS) &&
	       (hd->flags & NGHTTP2_FLAG_END_STREAM);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
	struct h2 *h = ctx;
	struct exchange *x = frame->hd.stream_id ? exchange_of(h, frame->hd.stream_id) : NULL;

	if (frame->hd.type == NGHTTP2_GOAWAY)
		goaway(h, &frame->goaway);
	if (x && frame->hd.type == NGHTTP2_HEADERS)
		head_done(h, x);
	if (h->l->problem)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	if (!x || x->state != EXCHANGE_BODY || !ends_stream(&frame->hd))
		return 0;
	x->ended = true;
	/* An answer that is complete before the request is (413, say) ends the stream. */
	if (x->out_off < h->l->classes[x->class].r->body_n)
		nghttp2_submit_rst_stream(
			session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *p,
	size_t n, void *ctx)
{
	struct h2 *h = ctx;
	struct exchange *x = exchange_of(h, stream);

	if (!x || x->state != EXCHANGE_BODY)
		return 0;
	x->answer_n += n;
	if (!answer_piece_ok(h->l, x, (struct http_piece){(const char *)p, n}))
		return h->l->problem ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
	return 0;
}

/* Of such a body nghttp2 hands on what fits, or nothing, by how the bytes come. */
static void too_long(struct h2 *h, struct exchange *x, const char *name)
{
	unsigned long long length = x->length;

	if (x->padded)
		load_problem(h->l, x,
			"expected a body of %llu bytes, got another: the stream was reset (%s)",
			length, name);
	else
		load_problem(h->l, x,
			"expected a body of %llu bytes, as its Content-Length says, got more",
			length);
}

static void reset(struct h2 *h, struct exchange *x, uint32_t code)
{
	const char *name = nghttp2_http2_strerror(code);

	if (code == NGHTTP2_REFUSED_STREAM && exchange_again(h->l, x, true))
		return;
	if (code == NGHTTP2_REFUSED_STREAM)
		load_problem(h->l, x, "expected an answer, but the server refused it %d times (%s)",
			LOAD_REFUSED_MAX + 1, name);
	else if (h->fault)
		load_problem(h->l, x, "expected an HTTP/2 answer, but %s", h->fault);
	else if (x->state == EXCHANGE_BODY && x->has_length && x->announced > x->length)
		too_long(h, x, name);
	else if (x->state == EXCHANGE_BODY && x->has_length)
		load_problem(h->l, x,
			"expected a body of %llu bytes, got %llu: the stream was reset (%s)",
			(unsigned long long)x->length, (unsigned long long)x->got, name);
	else if (x->state == EXCHANGE_BODY)
		load_problem(h->l, x,
			"expected a whole body, got %llu bytes: the stream was reset (%s)",
			(unsigned long long)x->got, name);
	else
		load_problem(
			h->l, x, "expected an answer, got none: the stream was reset (%s)", name);
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t code, void *ctx)
{
	struct h2 *h = ctx;
	struct exchange *x = exchange_of(h, stream);

	if (!x || x->state < EXCHANGE_HEAD || x->stream != stream)
		return 0;
	if (code == NGHTTP2_NO_ERROR && x->ended)
		exchange_done(h->l, x);
	else
		reset(h, x, code);
	/* Where nghttp2 closes a stream that it could not open, it forgets to free on a failure:
	 * on_begin_frame() tells it of a problem. */
	return 0;
}

/* nghttp2 says in words what it refuses; the text may hold what the server sent. */
static int on_error(nghttp2_session *session, int code, const char *msg, size_t n, void *ctx)
{
	struct h2 *h = ctx;
	auto_buf struct buf b = BUF_INIT;

	text_quote(&b, msg, n, 200);
	set_text(&h->fault, buf_detach(&b));
	return 0;
}

/* When nghttp2 ends the connection it tells the server why, and nobody else. */
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
	const nghttp2_goaway *f = &frame->goaway;
	struct h2 *h = ctx;
	auto_buf struct buf b = BUF_INIT;

	if (frame->hd.type != NGHTTP2_GOAWAY || f->error_code == NGHTTP2_NO_ERROR || h->fault)
		return 0;
	buf_adds(&b, nghttp2_http2_strerror(f->error_code));
	if (f->opaque_data_len) {
		buf_adds(&b, ": ");
		text_quote(&b, (const char *)f->opaque_data, f->opaque_data_len, 200);
	}
	set_text(&h->fault, buf_detach(&b));
	return 0;
}

static int on_invalid_frame(
	nghttp2_session *session, const nghttp2_frame *frame, int code, void *ctx)
{
	struct h2 *h = ctx;

	if (!h->fault)
		set_text(&h->fault, xasprintf("a frame is not valid: %s", nghttp2_strerror(code)));
	return 0;
}

/* ---- Sending -------------------------------------------------------------------------------- */

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *to, size_t n,
	uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
	struct h2 *h = ctx;
	struct exchange *x = source->ptr;
	const struct load_request *r = h->l->classes[x->class].r;
	size_t left = r->body_n - x->out_off;

	if (r->chunk && n > r->chunk)
		n = r->chunk;
	if (n > left)
		n = left;
	if (n)
		memcpy(to, (const char *)r->body + x->out_off, n);
	x->out_off += n;
	if (x->out_off == r->body_n)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

void load_h2_begin(struct load *l, struct exchange *x)
{
	const struct load_class *k = &l->classes[x->class];
	nghttp2_data_provider body = {.source.ptr = x, .read_callback = read_body};
	bool with_body = k->r->body_n || k->r->chunk;

	x->ended = false;
	x->announced = 0;
	x->padded = false;
	x->stream = nghttp2_submit_request(
		x->c->h2->session, NULL, k->nv, k->n_nv, with_body ? &body : NULL, x);
	if (x->stream >= 0)
		return;
	/* The numbers of streams are used up: the next connection has new ones. */
	x->c->active--;
	x->c->last = true;
	x->state = EXCHANGE_WAITING;
}

/* What still comes on the stream belongs to nobody. */
void load_h2_leave(struct exchange *x)
{
	nghttp2_session *session = x->c->h2->session;

	nghttp2_session_set_stream_user_data(session, x->stream, NULL);
	nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, x->stream, NGHTTP2_CANCEL);
}

/* Sends what waits; false when it has to wait on. */
static bool send_out(struct load *l, struct conn *c)
{
	struct h2 *h = c->h2;
	char why[TRANSPORT_WHY];

	while (h->out_off < h->out.n) {
		ssize_t r =
			transport_write(&c->t, h->out.p + h->out_off, h->out.n - h->out_off, why);

		if (r < 0) {
			/* What the server said before it went away is still to be read. */
			conn_interest(l, c, r == TRANSPORT_AGAIN && c->t.want_out);
			return false;
		}
		h->out_off += (size_t)r;
		c->bytes_out += (uint64_t)r;
		c->moved_ns = l->now;
	}
	buf_clear(&h->out);
	h->out_off = 0;
	return true;
}

static void broken(struct load *l, struct conn *c, int code)
{
	struct h2 *h = c->h2;
	auto_free char *how = NULL;

	if (h->farewell)
		how = xstrdup(h->farewell);
	else
		how = xasprintf("HTTP/2 fails: %s", h->fault ? h->fault : nghttp2_strerror(code));
	conn_lost(l, c, how);
}

/* Moves frames to out until it holds about a record. */
static int collect(struct h2 *h)
{
	while (h->out.n < SEND_SIZE) {
		const uint8_t *p;
		ssize_t n = nghttp2_session_mem_send(h->session, &p);

		if (n <= 0)
			return (int)n;
		buf_add(&h->out, p, (size_t)n);
	}
	return 0;
}

void load_h2_send(struct load *l, struct conn *c)
{
	struct h2 *h = c->h2;
	int r = 0;

	do {
		if (!send_out(l, c))
			return;
		c->busy = true;
		r = collect(h);
		c->busy = false;
	} while (r == 0 && h->out.n && !l->problem);
	if (l->problem)
		return;
	if (r < 0) {
		broken(l, c, r);
		return;
	}
	conn_interest(l, c, false);
	/* nghttp2 has ended the session because of what the server sent. */
	if (!nghttp2_session_want_read(h->session) && !nghttp2_session_want_write(h->session) &&
		c->active)
		broken(l, c, NGHTTP2_ERR_PROTO);
}

/* ---- Receiving ------------------------------------------------------------------------------ */

void load_h2_received(struct load *l, struct conn *c, const char *p, size_t n)
{
	struct h2 *h = c->h2;
	ssize_t r;

	if (c->bytes_in == n && n >= 5 && memcmp(p, "HTTP/", 5) == 0) {
		auto_buf struct buf b = BUF_INIT;

		text_quote(&b, p, n, 80);
		load_problem(l, c->x, "expected HTTP/2, got an answer of HTTP/1: %s", buf_str(&b));
		return;
	}
	c->busy = true;
	r = nghttp2_session_mem_recv(h->session, (const uint8_t *)p, n);
	c->busy = false;
	if (r < 0 && !l->problem)
		broken(l, c, (int)r);
}

const char *load_h2_farewell(const struct conn *c)
{
	return c->h2->farewell ? c->h2->farewell : "";
}

/* ---- Sessions ------------------------------------------------------------------------------- */

int load_h2_open(struct load *l, struct conn *c)
{
	static const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP_HEAD_MAX},
	};
	struct h2 *h = xcalloc(1, sizeof(*h));

	h->l = l;
	h->c = c;
	if (nghttp2_session_client_new3(&h->session, l->h2->callbacks, h, l->h2->option,
		    h2_pool_mem(l->h2->pool)) != 0 ||
		nghttp2_submit_settings(
			h->session, NGHTTP2_FLAG_NONE, settings, ARRAY_SIZE(settings)) != 0 ||
		nghttp2_session_set_local_window_size(
			h->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW) != 0) {
		nghttp2_session_del(h->session);
		free(h);
		return -1;
	}
	c->h2 = h;
	return 0;
}

void load_h2_close(struct load *l, struct conn *c, bool gentle)
{
	struct h2 *h = c->h2;

	if (gentle && !c->busy &&
		nghttp2_session_terminate_session(h->session, NGHTTP2_NO_ERROR) == 0 &&
		collect(h) == 0)
		(void)send_out(l, c);
	nghttp2_session_del(h->session);
	buf_release(&h->out);
	free(h->fault);
	free(h->farewell);
	free(h);
	c->h2 = NULL;
}

int load_h2_side_make(struct load *l, struct error *err)
{
	struct h2_side *s = xcalloc(1, sizeof(*s));

	l->h2 = s;
	s->pool = h2_pool_new();
	if (nghttp2_session_callbacks_new(&s->callbacks) != 0 ||
		nghttp2_option_new(&s->option) != 0)
		return error_set(err, ERR_INTERNAL, "load: cannot begin with HTTP/2");
	nghttp2_session_callbacks_set_on_begin_frame_callback(s->callbacks, on_begin_frame);
	nghttp2_session_callbacks_set_on_begin_headers_callback(s->callbacks, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(s->callbacks, on_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(s->callbacks, on_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(s->callbacks, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(s->callbacks, on_stream_close);
	nghttp2_session_callbacks_set_on_frame_send_callback(s->callbacks, on_sent);
	nghttp2_session_callbacks_set_error_callback2(s->callbacks, on_error);
	nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(
		s->callbacks, on_invalid_frame);
	nghttp2_option_set_no_closed_streams(s->option, 1);
	return 0;
}

void load_h2_side_free(struct load *l)
{
	if (!l->h2)
		return;
	nghttp2_session_callbacks_del(l->h2->callbacks);
	nghttp2_option_del(l->h2->option);
	h2_pool_free(l->h2->pool);
	free(l->h2);
	l->h2 = NULL;
}
