/* When a service is ready, and what is said when it never is. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <openssl/ssl.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "http/loopback.h"
#include "http/tls.h"
#include "service/internal.h"

#define ALIVE_NS (50 * NS_PER_MS) /* "ready" without any condition: still alive after this */
#define PROBE_NS (2 * NS_PER_S)   /* for one request */
#define POLL_MAX_NS (50 * NS_PER_MS)

struct waiting {
	struct service *s;
	const struct service_options *o;
	const struct strv *env;
	const char *cwd, *arg; /* arg: expanded */
	uint16_t port;         /* that is asked */
	SSL_CTX *tls;          /* READY_HTTPS */
	uint64_t end;
	off_t log_at; /* READY_LOG: read up to here */
	char *last;   /* what the last attempt gave, in words; NULL: nothing tried yet */
};

static void say(struct waiting *w, char *text)
{
	free(w->last);
	w->last = text;
}

static uint64_t left_ns(const struct waiting *w, uint64_t most)
{
	uint64_t now = clock_mono_ns(), left = w->end > now ? w->end - now : 0;

	return left < most ? left : most;
}

/* Waits for an event on a socket; false when time is up. */
static bool await_fd(int fd, short events, uint64_t ns)
{
	struct pollfd p = {.fd = fd, .events = events};

	return poll(&p, 1, (int)(ns / NS_PER_MS) + 1) > 0;
}

/* A connected non-blocking socket, or -1 and errno. */
static int connect_loopback(struct waiting *w, const char *host)
{
	struct loopback a;
	int fd = -1, e = 0;
	socklen_t n = sizeof(e);

	if (loopback_set(&a, host, w->port, NULL) == 0)
		fd = socket(a.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, &a.sa, a.n) < 0)
		e = errno;
	if (e == EINPROGRESS) {
		e = ETIMEDOUT;
		if (await_fd(fd, POLLOUT, left_ns(w, PROBE_NS)))
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &n);
	}
	if (!e)
		return fd;
	close(fd);
	errno = e;
	return -1;
}

/* "localhost" may mean ::1 alone; then everybody asks there. -1 with what went wrong said. */
static int connect_to(struct waiting *w)
{
	int fd = connect_loopback(w, "127.0.0.1"), e = errno;

	w->s->v6 = false;
	if (fd >= 0)
		return fd;
	fd = e == ECONNREFUSED ? connect_loopback(w, "::1") : -1;
	w->s->v6 = fd >= 0;
	if (fd < 0)
		say(w, xasprintf("connection to 127.0.0.1:%u: %s", w->o->port, strerror(e)));
	return fd;
}

static bool ready_tcp(struct waiting *w)
{
	auto_close int fd = connect_to(w);

	return fd >= 0;
}

/* A connection that is asked once. */
struct probe {
	int fd;
	SSL *ssl; /* NULL: in clear */
	uint64_t end;
};

/* For what TLS asks; false when time is up. */
static bool probe_wait(const struct probe *p, int want)
{
	uint64_t now = clock_mono_ns();

	return now < p->end &&
	       await_fd(p->fd, want == TLS_WANT_WRITE ? POLLOUT : POLLIN, p->end - now);
}

static int probe_step(struct probe *p, char *text, size_t n, bool send)
{
	if (!text)
		return tls_handshake(p->ssl);
	return send ? tls_write(p->ssl, text, n) : tls_read(p->ssl, text, n);
}

/* Handshake (text NULL), or bytes in one direction; at most 0 when there are none. */
static ssize_t probe_tls(struct probe *p, char *text, size_t n, bool send)
{
	for (;;) {
		int r = probe_step(p, text, n, send);

		if ((r != TLS_WANT_READ && r != TLS_WANT_WRITE) || !probe_wait(p, r))
			return r;
	}
}

static ssize_t probe_read(struct probe *p, char *text, size_t n)
{
	if (p->ssl)
		return probe_tls(p, text, n, false);
	return probe_wait(p, TLS_WANT_READ) ? read(p->fd, text, n) : -1;
}

static bool probe_send(struct probe *p, char *text)
{
	ssize_t n = (ssize_t)strlen(text);

	if (p->ssl)
		return probe_tls(p, text, (size_t)n, true) == n;
	return send(p->fd, text, (size_t)n, MSG_NOSIGNAL) == n;
}

/* Reads the status line into text. */
static bool read_status_line(struct probe *p, char *text, size_t cap)
{
	size_t n = 0;

	while (n + 1 < cap) {
		ssize_t r = probe_read(p, text + n, cap - 1 - n);

		if (r <= 0)
			return false;
		n += (size_t)r;
		text[n] = '\0';
		if (strchr(text, '\n')) {
			text[strcspn(text, "\r\n")] = '\0';
			return true;
		}
	}
	return false;
}

/* An attempt that the end of the time cut off says less than one before it. */
static bool got_nothing(struct waiting *w, char *text)
{
	if (!w->last || clock_mono_ns() < w->end)
		say(w, text);
	else
		free(text);
	return false;
}

/* Asks on a connection that is open. */
static bool ask(struct waiting *w, struct probe *p)
{
	auto_free char *request = xasprintf("GET %s HTTP/1.1\r\nHost: %s:%u\r\n"
					    "User-Agent: whet\r\nConnection: close\r\n\r\n",
		w->arg, w->s->v6 ? "[::1]" : "127.0.0.1", w->port);
	char line[1024] = "";
	int status = 0;

	if (!probe_send(p, request) || !read_status_line(p, line, sizeof(line)))
		return got_nothing(w, xasprintf("GET %s got no answer", w->arg));
	/* A 404 or a redirect is an answer of a server that is up; 5xx is what one says that is
	 * not. */
	if (sscanf(line, "HTTP/1.%*1[01] %3d", &status) == 1 && status >= 200 && status < 500)
		return true;
	say(w, xasprintf("GET %s got '%s', expected a status from 200 to 499", w->arg, line));
	return false;
}

static bool ready_http(struct waiting *w)
{
	auto_close int fd = connect_to(w);
	struct probe p = {.fd = fd, .end = clock_mono_ns() + left_ns(w, PROBE_NS)};

	return fd >= 0 && ask(w, &p);
}

static bool handshake_ok(struct waiting *w, struct probe *p)
{
	ssize_t r = probe_tls(p, NULL, 0, false);
	auto_free char *why = NULL;

	if (r == 1)
		return true;
	why = r == TLS_FAILED || r == TLS_EOF ? tls_problem(p->ssl) : NULL;
	return got_nothing(w, xasprintf("the TLS handshake with port %u: %s", w->port,
				      why               ? why
				      : r == TLS_CLOSED ? "the service ended it"
							: "no answer"));
}

static bool ready_https(struct waiting *w)
{
	struct tls_client_options o = {.alpn = TLS_ALPN_H1};
	auto_close int fd = connect_to(w);
	struct probe p = {.fd = fd, .end = clock_mono_ns() + left_ns(w, PROBE_NS)};
	bool ready;

	if (fd < 0)
		return false;
	if (!w->tls)
		w->tls = tls_client_context(&o, NULL);
	p.ssl = w->tls ? tls_connect_new(w->tls, fd, NULL) : NULL;
	if (!p.ssl) {
		say(w, xstrdup("OpenSSL makes no TLS connection"));
		return false;
	}
	ready = handshake_ok(w, &p) && ask(w, &p);
	if (ready)
		tls_bye(p.ssl);
	tls_free(p.ssl);
	return ready;
}

static bool ready_log(struct waiting *w)
{
	auto_close int fd = open(w->o->log, O_RDONLY | O_CLOEXEC);
	auto_buf struct buf text = BUF_INIT;
	size_t n = strlen(w->arg);
	char block[16384];
	ssize_t r;

	text.max = 64 << 20;
	while (fd >= 0 && (r = pread(fd, block, sizeof(block), w->log_at + (off_t)text.n)) > 0)
		buf_add(&text, block, (size_t)r);
	if (text.n && memmem(text.p, text.n, w->arg, n))
		return true;
	/* Its beginning may stand at the end of what is there now. */
	if (text.n >= n)
		w->log_at += (off_t)(text.n - n + 1);
	say(w, xasprintf("'%s' is not in its output", w->arg));
	return false;
}

static bool ready_command(struct waiting *w)
{
	struct error err = ERROR_INIT;
	char *how = NULL;
	int r = service_command(w->arg, w->o, w->env, w->cwd, left_ns(w, UINT64_MAX), &how, &err);

	if (r == 0)
		return true;
	if (r < 0)
		how = xstrdup(err.msg);
	error_release(&err);
	say(w, xasprintf("'%s': %s", w->arg, how));
	free(how);
	return false;
}

static bool ready_now(struct waiting *w)
{
	switch (w->o->plan->ready) {
	case READY_HTTP:
		return ready_http(w);
	case READY_HTTPS:
		return ready_https(w);
	case READY_TCP:
		return ready_tcp(w);
	case READY_LOG:
		return ready_log(w);
	case READY_COMMAND:
		return ready_command(w);
	case READY_NONE:
		break;
	}
	if (w->o->plan->builtin)
		return ready_tcp(w);
	return clock_mono_ns() >= w->s->started + ALIVE_NS;
}

static const char *condition(const struct plan_service *p)
{
	switch (p->ready) {
	case READY_HTTP:
		return "http";
	case READY_HTTPS:
		return "https";
	case READY_TCP:
		return "tcp";
	case READY_LOG:
		return "log";
	case READY_COMMAND:
		return "command";
	case READY_NONE:
		break;
	}
	return "start";
}

/* Whether a text of the plan hands the port over. */
static bool hands_port(const struct plan_service *p)
{
	bool named = (p->run && strstr(p->run, "{port")) ||
		     (p->setup && strstr(p->setup, "{port")) ||
		     (p->run && strstr(p->run, "{url}")) || (p->setup && strstr(p->setup, "{url}"));

	for (size_t i = 0; i < p->n_templates; i++)
		named |= strstr(p->templates[i].text, "{port") ||
			 strstr(p->templates[i].text, "{url}");
	for (size_t i = 0; i < p->env.n; i++)
		named |= strstr(p->env.v[i], "{port") || strstr(p->env.v[i], "{url}");
	return named;
}

/* What asks the port can only succeed when the service was told it. */
static const char *hint(const struct plan_service *p)
{
	bool asks = p->ready == READY_HTTP || p->ready == READY_HTTPS || p->ready == READY_TCP;

	if (!asks || p->builtin || hands_port(p))
		return "";
	return "\nits `run`, `env`, `setup` and `template` hold no {port}: whet chooses a free "
	       "port for every "
	       "start, and the service must listen on it";
}

static int failed(struct waiting *w, struct error *err)
{
	const struct plan_service *p = w->o->plan;
	auto_free char *tail = service_log_tail(w->s, 20);
	auto_free char *how = service_end_text(w->s);
	const char *said = *tail ? "; its last output:\n" : "; it printed nothing";

	if (!service_alive(w->s))
		return error_set(err, ERR_CHILD, "service '%s' ended before it was ready: %s%s%s",
			p->name, how, said, tail);
	return error_set(err, ERR_TIMEOUT,
		"service '%s' was not ready within %.3g s (ready: %s): %s%s%s%s", p->name,
		(double)w->s->ready_timeout_ns / NS_PER_S, condition(p),
		w->last ? w->last : "it did not answer", hint(p), said, tail);
}

static uint16_t asked_port(const struct service_options *o)
{
	auto_free char *name = NULL;
	const char *value;
	unsigned int port = 0;

	if (!o->plan->ready_port)
		return o->port;
	name = xasprintf("port.%s", o->plan->ready_port);
	value = env_get(o->vars, name);
	return value && sscanf(value, "%u", &port) == 1 ? (uint16_t)port : o->port;
}

int service_await_ready(struct service *s, const struct service_options *o, const struct strv *env,
	const char *cwd, struct error *err)
{
	auto_free char *arg = NULL;
	struct waiting w = {.s = s, .o = o, .env = env, .cwd = cwd, .port = asked_port(o)};
	uint64_t pause = NS_PER_MS;
	int r = 0;

	w.arg = o->plan->ready_arg ? o->plan->ready_arg : "/";
	if (o->plan->ready == READY_COMMAND) {
		if (plan_expand(w.arg, o->vars, &arg, err) < 0)
			return error_context(err, "service '%s', ready", o->plan->name);
		w.arg = arg;
	}
	w.end = s->started + s->ready_timeout_ns;
	w.log_at = s->log_from;
	for (;;) {
		/* Asked before and after: what answers could be another program on that port. */
		bool ready = service_alive(s) && ready_now(&w) && service_alive(s);

		if (ready)
			break;
		if (!service_alive(s) || clock_mono_ns() >= w.end) {
			r = failed(&w, err);
			break;
		}
		(void)tree_wait_main(s->tree, left_ns(&w, pause));
		if (tree_main_ended(s->tree, NULL))
			nanosleep(&(struct timespec){.tv_nsec = (long)pause}, NULL);
		pause = pause * 3 / 2 < POLL_MAX_NS ? pause * 3 / 2 : POLL_MAX_NS;
	}
	SSL_CTX_free(w.tls);
	free(w.last);
	return r;
}
