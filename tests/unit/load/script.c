#include "script.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "base/clock.h"
#include "http/tls_bio.h"

#define CONNECTIONS_MAX 512

struct peer {
	struct script *s;
	struct wire w;
	bool used, closed;
	uint64_t on_conn;
	pthread_t thread;
};

struct script {
	int fd;
	script_fn *fn;
	void *ctx;
	SSL_CTX *tls;
	pthread_mutex_t lock;
	pthread_t thread;
	uint64_t requests, connections;
	struct peer peers[CONNECTIONS_MAX];
};

void reply_text(struct script_reply *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	r->n += (size_t)vsnprintf(r->bytes + r->n, sizeof(r->bytes) - r->n, fmt, ap);
	va_end(ap);
}

static bool send_reply(struct wire *w, const struct script_reply *r)
{
	size_t first = r->again ? r->again : r->n, step = r->bytewise ? 1 : first;

	for (size_t i = 0; i < first; i += step) {
		if (!wire_write(w, r->bytes + i, step))
			return false;
		if (r->bytewise)
			usleep(100);
	}
	if (!r->again)
		return true;
	usleep(r->pause_us);
	for (size_t i = 0; i <= r->times; i++) {
		if (!wire_write(w, r->bytes + r->again, r->n - r->again))
			return false;
	}
	return true;
}

/* Reads one request; false at the end of the connection. */
static bool read_request(struct peer *p, char *buf, size_t size, struct http_head *h, size_t *have)
{
	http_request_begin(h);
	for (;;) {
		enum http_progress r = http_head_parse(h, buf, *have);
		ssize_t k;

		if (r == HTTP_BAD)
			return false;
		if (r == HTTP_DONE && *have >= h->size + h->length)
			return true;
		k = wire_read(&p->w, buf + *have, size - *have);
		if (k <= 0)
			return false;
		*have += (size_t)k;
	}
}

static void ask(struct peer *p, const struct http_head *h, const char *buf, struct script_reply *r)
{
	char *head = strndup(buf, h->size);
	char *method = strndup(buf + h->method.off, h->method.n);
	char *target = strndup(buf + h->target.off, h->target.n);
	struct script_request q = {.method = method,
		.target = target,
		.head = head,
		.body_n = h->length,
		.on_conn = ++p->on_conn};

	pthread_mutex_lock(&p->s->lock);
	q.number = ++p->s->requests;
	p->s->fn(p->s->ctx, &q, r);
	pthread_mutex_unlock(&p->s->lock);
	free(head);
	free(method);
	free(target);
}

/* Records that hold no data. That a ticket cannot be sent is no failure for OpenSSL. */
static void flood(SSL *ssl, enum after after)
{
	int r = 1;

	while (r == 1 && !tls_socket_of(ssl)->error) {
		r = after == AFTER_TICKETS ? SSL_new_session_ticket(ssl)
					   : SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
		if (r == 1)
			r = SSL_do_handshake(ssl);
	}
}

static void peer_end(struct peer *p, enum after after)
{
	if (after == AFTER_ALERT && p->w.ssl)
		tls_send_alert(p->w.ssl);
	pthread_mutex_lock(&p->s->lock);
	wire_close(&p->w, after == AFTER_CLOSE || after == AFTER_KEEP, after == AFTER_RESET);
	p->closed = true;
	pthread_mutex_unlock(&p->s->lock);
}

static void *peer_run(void *arg)
{
	struct peer *p = arg;
	struct http_head *h = malloc(sizeof(*h));
	struct script_reply *r = malloc(sizeof(*r));
	size_t have = 0, size = 65536;
	char *buf = malloc(size);
	enum after after = AFTER_KEEP;

	if (!wire_open(&p->w, p->w.fd, p->s->tls))
		after = AFTER_CUT;
	while (after == AFTER_KEEP && read_request(p, buf, size, h, &have)) {
		r->n = 0;
		r->after = AFTER_KEEP;
		r->bytewise = false;
		r->again = r->times = r->pause_us = 0;
		ask(p, h, buf, r);
		after = r->after;
		have -= h->size + h->length;
		memmove(buf, buf + h->size + h->length, have);
		if (!send_reply(&p->w, r))
			break;
	}
	if (after == AFTER_TICKETS || after == AFTER_KEYS)
		flood(p->w.ssl, after);
	if (after == AFTER_HANG) {
		while (wire_read(&p->w, buf, size) > 0)
			;
	}
	peer_end(p, after);
	free(h);
	free(r);
	free(buf);
	return NULL;
}

static void *accept_run(void *arg)
{
	struct script *s = arg;

	for (;;) {
		int one = 1, fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
		struct peer *p;

		if (fd < 0)
			return NULL;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		pthread_mutex_lock(&s->lock);
		if (s->connections == CONNECTIONS_MAX)
			abort();
		p = &s->peers[s->connections++];
		*p = (struct peer){.s = s, .w.fd = fd, .used = true};
		pthread_create(&p->thread, NULL, peer_run, p);
		pthread_mutex_unlock(&s->lock);
	}
}

struct script *script_start(script_fn *fn, void *ctx, uint16_t *port)
{
	return script_start_tls(fn, ctx, NULL, port);
}

struct script *script_start_tls(script_fn *fn, void *ctx, SSL_CTX *tls, uint16_t *port)
{
	struct script *s = calloc(1, sizeof(*s));
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);

	s->fn = fn;
	s->ctx = ctx;
	s->tls = tls;
	pthread_mutex_init(&s->lock, NULL);
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(s->fd, (struct sockaddr *)&a, n) < 0 || listen(s->fd, 128) < 0 ||
		getsockname(s->fd, (struct sockaddr *)&a, &n) < 0)
		abort();
	*port = ntohs(a.sin_port);
	pthread_create(&s->thread, NULL, accept_run, s);
	return s;
}

uint64_t script_requests(struct script *s)
{
	uint64_t n;

	pthread_mutex_lock(&s->lock);
	n = s->requests;
	pthread_mutex_unlock(&s->lock);
	return n;
}

uint64_t script_connections(struct script *s)
{
	uint64_t n;

	pthread_mutex_lock(&s->lock);
	n = s->connections;
	pthread_mutex_unlock(&s->lock);
	return n;
}

void script_close_idle(struct script *s)
{
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->connections; i++) {
		if (s->peers[i].used && !s->peers[i].closed)
			shutdown(s->peers[i].w.fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&s->lock);
}

void script_stop(struct script *s)
{
	shutdown(s->fd, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->fd);
	script_close_idle(s);
	for (size_t i = 0; i < s->connections; i++)
		pthread_join(s->peers[i].thread, NULL);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static long status_kib(const char *name)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[200];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, strlen(name)) == 0)
			kib = strtol(line + strlen(name), NULL, 10);
	}
	if (f)
		fclose(f);
	assert_true(kib >= 0);
	return kib;
}

long memory_reset(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "we");

	if (!f)
		return status_kib("VmHWM:"); /* not every kernel has it */
	assert_true(fputs("5", f) >= 0);     /* the peak begins anew */
	assert_int_equal(fclose(f), 0);
	return status_kib("VmRSS:");
}

long memory_grown(long before)
{
	return status_kib("VmHWM:") - before;
}

struct load_plan script_plan(const struct load_request *q, uint64_t requests)
{
	return (struct load_plan){.host = "127.0.0.1",
		.connections = 1,
		.requests = requests,
		.mix = q,
		.n_mix = 1,
		.timeout_ns = 5 * NS_PER_S};
}

void script_load(struct load_plan *p, script_fn *fn, void *ctx, SSL_CTX *tls, struct load_result *r)
{
	struct error err = ERROR_INIT;
	struct script *s = script_start_tls(fn, ctx, tls, &p->port);

	p->protocol = tls ? LOAD_H1_TLS : LOAD_H1;
	if (load_run(p, r, &err) < 0)
		fail_msg("%s", err.msg);
	script_stop(s);
}

void script_problem(const char *name, const struct load_result *r, const char *problem)
{
	static const char prefix[] = "GET /x, request 1 of 1: ";
	const char *got = r->problem ? r->problem : r->timed_out ? r->sockets : NULL;

	if (!problem && got)
		fail_msg("%s: %s", name, got);
	if (problem &&
		(!r->problem || strncmp(got + strlen(prefix), problem, strlen(problem)) != 0))
		fail_msg("%s: %s", name, got ? got : "no problem");
}
