#include "fuzz_origin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <nghttp2/nghttp2.h>

#include "base/clock.h"
#include "base/mem.h"
#include "h2_reference.h"
#include "origin/server.h"

#define STEPS_MAX 1000000
#define TIME_MAX (700 * NS_PER_S) /* to any timer */

static struct {
	const struct script *script;
	const struct origin_run_options *opt;
	struct origin_run *run;
	struct cursor at;
	struct origin_client *now;
	struct client *c;
	struct cuts cuts;
	uint32_t events;
	bool room, shut;
	size_t held; /* by this file */
} peer;

/* ---- Taken over ------------------------------------------------------------------------------ */

int __wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev);
int __wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev)
{
	peer.events = ev->events;
	return 0;
}

int __wrap_shutdown(int fd, int how);
int __wrap_shutdown(int fd, int how)
{
	must(!peer.shut, "it is shut twice");
	peer.shut = true;
	return 0;
}

ssize_t __wrap_transport_read(struct origin *o, struct client *c, void *to, size_t n);
ssize_t __wrap_transport_read(struct origin *o, struct client *c, void *to, size_t n)
{
	const char *from;
	size_t got;

	must(!c->dead, "a client that is gone is read");
	memory_must(peer.opt->memory + peer.held);
	if (!cursor_ready(&peer.at))
		return 0;
	got = cursor_take(&peer.at, &peer.cuts, &from, n);
	memcpy(to, from, got);
	peer.now->n += got;
	return (ssize_t)got;
}

ssize_t __wrap_transport_write(struct origin *o, struct client *c, const struct iovec v[2]);
ssize_t __wrap_transport_write(struct origin *o, struct client *c, const struct iovec v[2])
{
	struct buf *sent = &peer.now->sent;
	size_t left = ORIGIN_SENT_MAX - sent->n, all = v[0].iov_len + v[1].iov_len, n, k;

	must(!c->dead && !peer.shut, "something is sent to a client that is gone");
	must(all > 0, "nothing is sent");
	if (left == 0) {
		peer.now->full = true;
		return TRANSPORT_GONE;
	}
	if (!peer.room)
		return TRANSPORT_AGAIN;
	n = peer.opt->stingy && all > 1000 ? 1000 : all;
	n = n < left ? n : left;
	peer.room = !peer.opt->stingy;
	k = v[0].iov_len < n ? v[0].iov_len : n;
	peer.held -= sent->cap;
	buf_add(sent, v[0].iov_base, k);
	if (n > k)
		buf_add(sent, v[1].iov_base, n - k);
	peer.held += sent->cap;
	c->moved_ns = o->now;
	return (ssize_t)n;
}

ssize_t __real_nghttp2_session_mem_recv(nghttp2_session *session, const uint8_t *p, size_t n);
ssize_t __wrap_nghttp2_session_mem_recv(nghttp2_session *session, const uint8_t *p, size_t n);
ssize_t __wrap_nghttp2_session_mem_recv(nghttp2_session *session, const uint8_t *p, size_t n)
{
	struct cuts cuts = cuts_of(peer.script, peer.opt->inside ? peer.opt->how : CUT_NOT);

	for (size_t at = 0, k; at < n; at += k) {
		ssize_t r;

		peer.run->undecided |= at > 0 && !nghttp2_session_want_read(session);
		k = cuts_next(&cuts, n - at);
		r = __real_nghttp2_session_mem_recv(session, p + at, k);
		memory_must(peer.opt->memory + peer.held);
		if (r < 0)
			peer.run->undecided |= h2_cut_counts(r);
		if (r < 0)
			return r;
		must((size_t)r == k, "nghttp2 leaves bytes");
	}
	return (ssize_t)n;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Kept, as making the pattern takes long. */
static struct origin *fresh_origin(void)
{
	static struct origin o;
	char *rx = o.rx, *scratch = o.scratch, *table = o.table;
	struct timers timers = o.timers;
	struct buf frames = o.frames;

	if (!table) {
		rx = xmalloc(ORIGIN_RX_SIZE);
		scratch = xmalloc(ORIGIN_RX_SIZE);
		table = xmalloc(ORIGIN_TABLE_SIZE);
		origin_pattern(0, table, ORIGIN_TABLE_SIZE);
	}
	o = (struct origin){.epfd = -1,
		.signal_fd = -1,
		.dead_fd = -1,
		.rx = rx,
		.scratch = scratch,
		.table = table,
		.timers = timers,
		.frames = frames,
		.now = NS_PER_S};
	return &o;
}

/* One thing that can happen now; false: nothing can. */
static bool step(struct origin *o)
{
	struct exchange *x = timer_first(&o->timers);

	if (peer.events & EPOLLIN && cursor_ready(&peer.at)) {
		client_event(o, peer.c, EPOLLIN);
		return true;
	}
	if (peer.events & EPOLLOUT) {
		peer.room = true;
		client_event(o, peer.c, EPOLLOUT);
		return true;
	}
	if (x) {
		must(x->due_ns < o->now + TIME_MAX, "a timer is set that is never due");
		o->now = x->due_ns > o->now ? x->due_ns : o->now;
		exchange_due(o, x);
		return true;
	}
	if (peer.events & EPOLLIN) {
		client_event(o, peer.c, EPOLLIN); /* the end */
		return true;
	}
	return false;
}

static void serve(struct origin *o)
{
	peer.room = true;
	peer.shut = false;
	peer.c = client_new(o, -1, NULL);
	must(peer.c != NULL, "no client");
	for (size_t steps = 0; !peer.c->dead; steps++) {
		must(steps < STEPS_MAX, "it never ends");
		if (!step(o))
			break;
	}
	must(peer.c->dead, "a client is left alone");
	peer.now->ended = !peer.at.over || peer.shut;
	clients_reap(o);
}

void origin_run(const struct script *s, const struct origin_run_options *o, struct origin_run *ret)
{
	struct origin *origin = fresh_origin();
	size_t next = 0;

	memset(ret, 0, sizeof(*ret));
	memset(&peer, 0, sizeof(peer));
	peer.script = s;
	peer.opt = o;
	peer.run = ret;
	peer.cuts = cuts_of(s, o->inside ? CUT_NOT : o->how);
	memory_begin();
	while (ret->n < ORIGIN_CLIENTS && cursor_open(&peer.at, s, &next)) {
		peer.now = &ret->clients[ret->n++];
		peer.now->bytes = s->bytes + peer.at.at;
		serve(origin);
		origin->now += NS_PER_S;
	}
	must(origin->n_clients == 0 && !origin->clients, "clients stay");
	must(origin->timers.n == 0, "timers stay");
	must(origin->echo_bytes == 0, "bodies stay");
}

void origin_free(struct origin_run *r)
{
	for (size_t i = 0; i < r->n; i++)
		buf_release(&r->clients[i].sent);
}

void origin_must_agree(const struct origin_run *a, const struct origin_run *b)
{
	if (a->undecided || b->undecided)
		return;
	must(a->n == b->n, "other clients");
	for (size_t i = 0; i < a->n; i++) {
		const struct origin_client *x = &a->clients[i], *y = &b->clients[i];

		must_equal(buf_str(&x->sent), x->sent.n, buf_str(&y->sent), y->sent.n,
			"what is sent depends on how bytes come");
	}
}
