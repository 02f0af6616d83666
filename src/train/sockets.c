/* The services when a phase ran out of time: their ends of their connections (whether they have
 * read what was sent to them, and whether their answers lie in the kernel), and their last words.
 */
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "load/sockdiag.h"
#include "train/internal.h"

#define LINES_MAX 20 /* of one port */
#define LOG_LINES 30
#define OTHER_LOG_LINES 10

static void add_port(struct buf *b, const char *service, uint16_t port)
{
	auto_sockdiag struct sockdiag table;
	size_t n = 0;

	sockdiag_read(port, &table);
	for (size_t i = 0; i < table.n; i++)
		if (table.v[i].local == port && table.v[i].state == TCP_LISTEN)
			buf_addf(b,
				"service '%s', port %u: listening, %u connections not accepted "
				"yet\n",
				service, port, table.v[i].unread);
	for (size_t i = 0; i < table.n; i++) {
		const struct sockdiag_row *r = &table.v[i];

		if (r->local != port || r->state == TCP_LISTEN || n++ >= LINES_MAX)
			continue;
		buf_addf(b, "service '%s', its end of port %u to %u: ", service, port, r->remote);
		sockdiag_describe(b, r);
		buf_addc(b, '\n');
	}
	if (n > LINES_MAX)
		buf_addf(b, "and %zu more connections of service '%s'\n", n - LINES_MAX, service);
	if (table.refused)
		buf_addf(b, "service '%s', port %u: the kernel tells nothing of its sockets\n",
			service, port);
}

/* Ports are the variables SERVICE.port and SERVICE.port.NAME. */
static void add_service(struct buf *b, const struct session *s, const char *service)
{
	auto_free char *start = xasprintf("%s.port", service);
	size_t n = strlen(start);

	for (size_t i = 0; i < s->vars.n; i++) {
		const char *v = s->vars.v[i], *value = strchr(v, '=');
		unsigned int port;

		if (strncmp(v, start, n) == 0 && (v[n] == '=' || v[n] == '.') && value &&
			sscanf(value, "=%u", &port) == 1 && port && port <= UINT16_MAX)
			add_port(b, service, (uint16_t)port);
	}
}

char *sockets_text(const struct session *s)
{
	auto_buf struct buf b = BUF_INIT;

	for (size_t i = 0; i < s->n_services; i++)
		add_service(&b, s, s->services[i].plan->name);
	if (b.n)
		b.p[--b.n] = '\0';
	return buf_detach(&b);
}

char *logs_text(const struct session *s, const struct running *first)
{
	struct buf b = BUF_INIT;
	auto_free char *own = first ? service_log_tail(first->s, LOG_LINES) : NULL;

	if (own)
		buf_adds(&b, own);
	for (size_t i = 0; i < s->n_services; i++) {
		const struct running *r = &s->services[i];
		auto_free char *tail = NULL;

		if (r == first)
			continue;
		tail = service_log_tail(r->s, OTHER_LOG_LINES);
		if (*tail)
			buf_addf(&b, "%slast lines of service '%s':\n%s", b.n ? "\n" : "",
				r->plan->name, tail);
	}
	return buf_detach(&b);
}
