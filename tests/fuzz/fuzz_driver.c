#include "fuzz_driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/mem.h"
#include "h2_reference.h"
#include "load/driver.h"

#define FD_FIRST 100000 /* no descriptor of this process has such a number */
#define IDLE_MAX 4      /* waits in a row in which nothing can happen */
#define STEPS_MAX 2000000
#define SENT_MAX ((size_t)4 << 20)

struct link {
	struct cursor at;
	struct conn *c;
	uint32_t events;
	bool open, fresh; /* fresh: a round begins with the next read */
	bool room;        /* for 20 bytes more, when stingy */
	uint64_t round_served;
};

static struct {
	const struct script *script;
	const struct driver_options *opt;
	struct driver_run *run;
	size_t next_round;
	struct link links[DRIVER_LINKS];
	struct cuts cuts;
	size_t turn, idle, steps;
	uint64_t now;
	bool h1;
	size_t held; /* by this file */
} peer;

/* ---- Taken over ------------------------------------------------------------------------------ */

uint64_t __wrap_clock_mono_ns(void);
uint64_t __wrap_clock_mono_ns(void)
{
	return ++peer.now;
}

static size_t index_of(int fd)
{
	must(fd >= FD_FIRST && fd < FD_FIRST + (int)peer.run->n_links, "a descriptor of nobody");
	return (size_t)(fd - FD_FIRST);
}

int __wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev);
int __wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev)
{
	struct link *k = &peer.links[index_of(fd)];

	must(k->open, "a closed connection is watched");
	k->c = ev->data.ptr;
	k->events = ev->events;
	return 0;
}

int __wrap_transport_connect(struct transport *t, const struct loopback *a);
int __wrap_transport_connect(struct transport *t, const struct loopback *a)
{
	size_t i = peer.run->n_links;
	struct link *k = &peer.links[i];

	if (i == DRIVER_LINKS || !cursor_open(&k->at, peer.script, &peer.next_round)) {
		/* The descriptor of an attempt that failed: transport_close() only resets it. */
		t->fd = FD_FIRST + DRIVER_LINKS;
		errno = ECONNREFUSED;
		return -1;
	}
	k->open = k->fresh = k->room = true;
	peer.run->links[i] = (struct driver_link){.bytes = peer.script->bytes + k->at.at};
	peer.run->n_links++;
	t->fd = FD_FIRST + (int)i;
	return 0;
}

/* What the driver has taken since it was last looked at. */
static void look(size_t i)
{
	struct driver_link *l = &peer.run->links[i];
	struct link *k = &peer.links[i];

	if (!k->c || k->c->served <= l->served)
		return;
	l->served = k->c->served;
	l->served_at = l->n;
}

void __wrap_transport_close(struct transport *t, bool gentle);
void __wrap_transport_close(struct transport *t, bool gentle)
{
	if (t->fd >= FD_FIRST && t->fd < FD_FIRST + DRIVER_LINKS) {
		size_t i = index_of(t->fd);
		struct link *k = &peer.links[i];

		must(k->open, "a connection is closed twice");
		look(i);
		peer.run->surplus |= peer.h1 && k->c && k->c->served > k->round_served &&
				     !k->fresh && cursor_left(&k->at) > 0;
		k->open = false;
	}
	t->fd = -1;
	t->want_out = false;
}

ssize_t __wrap_transport_plain_read(struct transport *t, char *p, size_t n, char *why);
ssize_t __wrap_transport_plain_read(struct transport *t, char *p, size_t n, char *why)
{
	size_t i = index_of(t->fd);
	struct driver_link *l = &peer.run->links[i];
	struct link *k = &peer.links[i];
	const char *from;
	size_t got;

	must(k->open, "a closed connection is read");
	memory_must(peer.opt->memory + peer.held);
	look(i);
	if (!k->fresh && cursor_left(&k->at) && k->c->served > k->round_served && peer.h1) {
		peer.run->surplus = true;
		snprintf(why, TRANSPORT_WHY, "surplus");
		return TRANSPORT_LOST;
	}
	k->fresh |= cursor_left(&k->at) == 0;
	if (!cursor_ready(&k->at)) {
		l->ended = true;
		return TRANSPORT_EOF;
	}
	if (k->fresh)
		k->round_served = k->c->served;
	k->fresh = false;
	got = cursor_take(&k->at, &peer.cuts, &from, n);
	memcpy(p, from, got);
	l->n += got;
	return (ssize_t)got;
}

ssize_t __wrap_transport_plain_write(struct transport *t, const char *p, size_t n, char *why);
ssize_t __wrap_transport_plain_write(struct transport *t, const char *p, size_t n, char *why)
{
	size_t i = index_of(t->fd);
	struct link *k = &peer.links[i];
	struct buf *sent = &peer.run->links[i].sent;

	must(k->open, "a closed connection is written to");
	t->want_out = peer.opt->stingy && !k->room;
	if (t->want_out)
		return TRANSPORT_AGAIN;
	if (peer.opt->stingy && n > 20)
		n = 20;
	k->room = false;
	peer.held -= sent->cap;
	buf_add(sent, p, n);
	peer.held += sent->cap;
	must(sent->n < SENT_MAX, "it never ends to send");
	return (ssize_t)n;
}

static bool inside_round(const struct link *k)
{
	return k->open && !k->fresh && cursor_left(&k->at) > 0;
}

/* The connection that is in the midst of a round, or the next one; NULL: none is open. */
static struct link *whose_turn(void)
{
	size_t n = peer.run->n_links;

	if (n && inside_round(&peer.links[peer.turn]))
		return &peer.links[peer.turn];
	for (size_t i = 0; i < n; i++) {
		peer.turn = (peer.turn + 1) % n;
		if (peer.links[peer.turn].open)
			return &peer.links[peer.turn];
	}
	return NULL;
}

/* One event at a time. Room to send is told between rounds alone, so that it does not depend on how
 * a round is cut. */
int __wrap_epoll_wait(int epfd, struct epoll_event *ev, int max, int ms);
int __wrap_epoll_wait(int epfd, struct epoll_event *ev, int max, int ms)
{
	struct link *k = whose_turn();

	must(++peer.steps < STEPS_MAX, "it never ends");
	if (!k) {
		must(++peer.idle < IDLE_MAX, "the driver waits for nothing");
		return 0;
	}
	peer.idle = 0;
	look(peer.turn);
	ev->data.ptr = k->c;
	ev->events = EPOLLIN;
	if ((k->events & EPOLLOUT) && !k->room && !inside_round(k)) {
		k->room = true;
		ev->events = EPOLLOUT;
	}
	return 1;
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

void driver_run(const struct load_plan *p, const struct script *s, const struct driver_options *o,
	struct driver_run *ret)
{
	struct error err = ERROR_INIT;

	memset(ret, 0, sizeof(*ret));
	memset(&peer, 0, sizeof(peer));
	peer.script = s;
	peer.opt = o;
	peer.run = ret;
	peer.h1 = p->protocol == LOAD_H1;
	peer.cuts = cuts_of(s, o->inside ? CUT_NOT : o->how);
	memory_begin();
	if (load_run(p, &ret->result, &err) < 0)
		must(false, err.msg);
	must(!ret->result.timed_out, "time passes");
	must(!ret->result.problem == (ret->result.done == p->requests), "neither right nor wrong");
	must(ret->result.connects >= ret->n_links, "connections that were not counted");
}

void driver_free(struct driver_run *r)
{
	load_result_release(&r->result);
	for (size_t i = 0; i < r->n_links; i++)
		buf_release(&r->links[i].sent);
}

/* What depends on how bytes came: a quote of those that were there, and how many too many. */
static size_t fixed_part(const char *problem)
{
	static const char *const marks[] = {": \"", "; its body starts with ", ", got at least ",
		"expected the answer to end after its body"};
	size_t n = strlen(problem);

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		const char *at = strstr(problem, marks[i]);

		if (at && (size_t)(at - problem) < n)
			n = (size_t)(at - problem);
	}
	return n;
}

static bool is_surplus(const struct driver_run *r)
{
	return r->surplus ||
	       (r->result.problem &&
		       strstr(r->result.problem, "expected the answer to end after its body"));
}

void driver_must_agree(const struct driver_run *a, const struct driver_run *b)
{
	const char *x = a->result.problem ? a->result.problem : "",
		   *y = b->result.problem ? b->result.problem : "";

	if (a->undecided || b->undecided)
		return;
	if (is_surplus(a) || is_surplus(b)) {
		must((is_surplus(a) || *x) && (is_surplus(b) || *y),
			"bytes behind an answer are right when they come otherwise");
		return;
	}
	must_equal(x, fixed_part(x), y, fixed_part(y), "the problem depends on how bytes come");
	must(a->result.done == b->result.done && a->result.connects == b->result.connects &&
			a->result.retries == b->result.retries && a->n_links == b->n_links,
		"the counts depend on how bytes come");
	for (size_t i = 0; i < a->n_links; i++)
		must_equal(buf_str(&a->links[i].sent), a->links[i].sent.n,
			buf_str(&b->links[i].sent), b->links[i].sent.n,
			"what is sent depends on how bytes come");
}

void driver_tell(const struct driver_run *r)
{
	if (telling())
		printf("%llu right, %llu connections, %llu retries%s%s\n",
			(unsigned long long)r->result.done, (unsigned long long)r->result.connects,
			(unsigned long long)r->result.retries, r->result.problem ? ": " : "",
			r->result.problem ? r->result.problem : "");
}
