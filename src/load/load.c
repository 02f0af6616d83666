#include "load/load.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "base/clock.h"
#include "base/mem.h"
#include "load/driver.h"

#define TICK_NS (100 * NS_PER_MS)
#define TIMEOUT_DEFAULT_NS (300 * NS_PER_S)
#define CONNECTIONS_MAX 100000
#define STREAMS_MAX 1000
#define RATE_MAX 10000000
#define REQUESTS_MAX ((uint64_t)1 << 40)
#define EVENTS 64

void load_result_release(struct load_result *r)
{
	free(r->by_class);
	free(r->problem);
	free(r->sockets);
	*r = (struct load_result){0};
}

static int plan_check(const struct load_plan *p, struct error *err)
{
	if (p->n_mix == 0 || !p->mix)
		return error_set(err, ERR_USAGE, "load: the mix holds no request");
	if (p->n_mix > UINT32_MAX / 2)
		return error_set(err, ERR_USAGE, "load: the mix holds too many requests");
	if (p->connections == 0 || p->connections > CONNECTIONS_MAX)
		return error_set(err, ERR_USAGE, "load: %u connections; expected 1 to %d",
			p->connections, CONNECTIONS_MAX);
	if (p->streams > STREAMS_MAX)
		return error_set(err, ERR_USAGE, "load: %u streams; expected 1 to %d", p->streams,
			STREAMS_MAX);
	if (p->rate > RATE_MAX)
		return error_set(err, ERR_USAGE, "load: a rate above %d per second", RATE_MAX);
	if (p->port == 0)
		return error_set(err, ERR_USAGE, "load: the port is 0");
	return 0;
}

static void order_begin(struct load *l)
{
	uint32_t *weights = xcalloc(l->plan.n_mix, sizeof(*weights));

	for (size_t i = 0; i < l->plan.n_mix; i++)
		weights[i] = l->plan.mix[i].weight;
	order_init(&l->order, weights, l->plan.n_mix, l->plan.seed);
	free(weights);
}

static void places_make(struct load *l)
{
	l->streams = l->h2 && l->plan.streams ? l->plan.streams : 1;
	l->conns = xcalloc(l->plan.connections, sizeof(*l->conns));
	l->exchanges = xcalloc((size_t)l->plan.connections * l->streams, sizeof(*l->exchanges));
	l->events = load_events_new(l, (size_t)l->plan.connections * l->streams);
	for (uint32_t i = 0; i < l->plan.connections; i++) {
		l->conns[i].t.fd = -1;
		l->conns[i].x = &l->exchanges[(size_t)i * l->streams];
		for (uint32_t s = 0; s < l->streams; s++)
			l->conns[i].x[s].c = &l->conns[i];
	}
}

/* What the protocol needs that all connections share. */
static int sides_make(struct load *l, struct error *err)
{
	bool h2 = l->plan.protocol == LOAD_H2 || l->plan.protocol == LOAD_H2_TLS;
	struct tls_client_options o = {
		.alpn = h2 ? TLS_ALPN_H2 : TLS_ALPN_H1, .resume = !l->plan.no_resume};

	if (h2 && load_h2_side_make(l, err) < 0)
		return -1;
	if (l->plan.protocol != LOAD_H1_TLS && l->plan.protocol != LOAD_H2_TLS)
		return 0;
	l->tls = tls_client_context(&o, err);
	return l->tls ? 0 : -1;
}

int load_open(const struct load_plan *p, struct load **ret, struct error *err)
{
	struct load *l;

	if (plan_check(p, err) < 0)
		return -1;
	l = xcalloc(1, sizeof(*l));
	l->plan = *p;
	l->epfd = epoll_create1(EPOLL_CLOEXEC);
	l->rx = xmalloc(LOAD_RX_SIZE);
	order_begin(l);
	if (l->epfd < 0) {
		error_set(err, ERR_ENVIRONMENT, "load: cannot make an epoll descriptor: %s",
			strerror(errno));
		load_close(l);
		return -1;
	}
	if (loopback_set(&l->addr, p->host, p->port, err) < 0 || sides_make(l, err) < 0 ||
		classes_build(l, err) < 0) {
		load_close(l);
		return -1;
	}
	places_make(l);
	*ret = l;
	return 0;
}

static void close_all(struct load *l)
{
	for (uint32_t i = 0; l->conns && i < l->plan.connections; i++) {
		conn_close(l, &l->conns[i], false);
		for (uint32_t s = 0; s < l->streams; s++) {
			answer_drop(l, &l->conns[i].x[s]);
			l->conns[i].x[s].state = EXCHANGE_IDLE;
		}
	}
}

void load_close(struct load *l)
{
	if (!l)
		return;
	close_all(l);
	for (uint32_t i = 0; l->conns && i < l->plan.connections; i++)
		buf_release(&l->conns[i].part);
	if (l->epfd >= 0)
		close(l->epfd);
	classes_release(l);
	order_release(&l->order);
	free(l->by_class);
	free(l->problem);
	load_h2_side_free(l);
	SSL_CTX_free(l->tls);
	free(l->exchanges);
	free(l->events);
	free(l->conns);
	free(l->rx);
	free(l);
}

static void slice_begin(struct load *l, uint64_t requests, struct error *err)
{
	l->slice_requests = requests;
	l->answered = l->under_way = l->connects = l->resumed = l->retries = 0;
	l->by_class = xcalloc(l->plan.n_mix, sizeof(*l->by_class));
	histogram_clear(&l->latency);
	l->fatal = err;
	l->failed = false;
	order_deal(&l->order, requests);
}

/* epoll_wait() knows whole milliseconds alone, too coarse for a rate. */
static int wait_events(const struct load *l, struct epoll_event *ev, uint64_t wait_ns)
{
	struct timespec t = {(time_t)(wait_ns / NS_PER_S), (long)(wait_ns % NS_PER_S)};
	struct pollfd p = {.fd = l->epfd, .events = POLLIN};

	if (!l->plan.rate || wait_ns == 0)
		return epoll_wait(
			l->epfd, ev, EVENTS, (int)((wait_ns + NS_PER_MS - 1) / NS_PER_MS));
	if (ppoll(&p, 1, &t, NULL) < 0)
		return -1;
	return epoll_wait(l->epfd, ev, EVENTS, 0);
}

/* Waits at most wait_ns and serves what happened. Returns the number of events, -1 on failure. */
static int serve(struct load *l, uint64_t wait_ns)
{
	struct epoll_event ev[EVENTS];
	int n = wait_events(l, ev, wait_ns);

	if (n < 0 && errno == EINTR)
		n = 0;
	if (n < 0) {
		error_set(l->fatal, ERR_INTERNAL, "load: epoll_wait: %s", strerror(errno));
		l->failed = true;
		return -1;
	}
	l->now = clock_mono_ns();
	for (int i = 0; i < n && !l->problem && !l->failed; i++)
		conn_event(l, ev[i].data.ptr, ev[i].events);
	return n;
}

/* Connections that the server closed while nothing was under way are no fault; they are taken out
 * before a request goes to one of them. */
static void drop_closed(struct load *l)
{
	while (serve(l, 0) == EVENTS && !l->problem && !l->failed)
		;
}

static int tick(struct load *l, uint64_t *next)
{
	if (l->now < *next)
		return 0;
	*next = l->now + TICK_NS;
	if (!l->plan.tick || l->plan.tick(l->plan.tick_ctx, l->answered) == 0)
		return 0;
	l->failed = true;
	return error_set(l->fatal, ERR_INTERRUPTED, "load on %s: stopped after %llu requests",
		l->addr.text, (unsigned long long)l->answered);
}

/* Until all is answered, something is wrong, or the time is over. Returns true on a time-out. */
static bool slice_loop(struct load *l, uint64_t deadline)
{
	uint64_t next_tick = l->now + TICK_NS;

	while ((l->under_way || l->order.total_left) && !l->problem && !l->failed) {
		uint64_t due = exchange_next_ns(l);
		uint64_t until = next_tick < deadline ? next_tick : deadline;

		if (due < until)
			until = due;
		serve(l, until > l->now ? until - l->now : 0);
		exchange_begin_due(l);
		if (tick(l, &next_tick) < 0)
			return false;
		if (l->now >= deadline && (l->under_way || l->order.total_left) && !l->problem &&
			!l->failed)
			return true;
	}
	return false;
}

static void slice_result(struct load *l, struct load_result *r)
{
	r->done = l->answered;
	r->by_class = take_ptr(l->by_class);
	r->connects = l->connects;
	r->resumed = l->resumed;
	r->retries = l->retries;
	r->latency_p50_ns = histogram_quantile(&l->latency, 0.5);
	r->latency_p99_ns = histogram_quantile(&l->latency, 0.99);
	r->latency_max_ns = l->latency.max;
	r->problem = take_ptr(l->problem);
}

static void slice_drop(struct load *l)
{
	free(take_ptr(l->by_class));
	free(take_ptr(l->problem));
}

int load_slice(struct load *l, uint64_t requests, struct load_result *ret, struct error *err)
{
	uint64_t timeout = l->plan.timeout_ns ? l->plan.timeout_ns : TIMEOUT_DEFAULT_NS;
	uint64_t cpu = clock_thread_cpu_ns(), begun = clock_mono_ns();
	struct load_result r = {0};

	if (requests > REQUESTS_MAX)
		return error_set(err, ERR_USAGE, "load: more than 2^40 requests in one run");
	slice_begin(l, requests, err);
	drop_closed(l);
	l->now = clock_mono_ns();
	l->begun = l->now;
	exchange_begin_all(l);
	r.timed_out = slice_loop(l, begun + timeout < begun ? UINT64_MAX : begun + timeout);
	if (l->failed) {
		close_all(l);
		slice_drop(l);
		return -1;
	}
	r.cpu_ns = clock_thread_cpu_ns() - cpu;
	r.wall_ns = clock_mono_ns() - begun;
	if (r.timed_out)
		r.sockets = sockets_describe(l);
	if (r.timed_out || l->problem)
		close_all(l);
	slice_result(l, &r);
	*ret = r;
	return 0;
}

int load_run(const struct load_plan *p, struct load_result *ret, struct error *err)
{
	struct load *l = NULL;
	int rc;

	if (load_open(p, &l, err) < 0)
		return -1;
	rc = load_slice(l, p->requests, ret, err);
	load_close(l);
	return rc;
}
