#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "service/internal.h"

#define PORT_FIRST 10240

/* Ports below those that the kernel gives to outgoing connections: otherwise a connection of the
 * load driver could sit on the port before the service binds it. */
static void port_range(uint32_t *first, uint32_t *n)
{
	auto_buf struct buf text = BUF_INIT;
	unsigned int low = 32768;

	if (file_read("/proc/sys/net/ipv4/ip_local_port_range", 256, &text, NULL) < 0 ||
		sscanf(buf_str(&text), "%u", &low) != 1 || low > 65536)
		low = 32768;
	*first = PORT_FIRST;
	*n = low > PORT_FIRST + 1000 ? low - PORT_FIRST : 65536 - PORT_FIRST;
}

static bool can_bind(uint16_t port)
{
	auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

	/* To any address, so that a server that listens on all of them finds it free, too. */
	a.sin_addr.s_addr = htonl(INADDR_ANY);
	return fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
}

int service_free_port(uint16_t *ret, struct error *err)
{
	static uint32_t next; /* never the same one twice in a row: services start one by one */
	uint32_t first, n;

	port_range(&first, &n);
	if (!next)
		next = (uint32_t)(clock_real_ns() / 1000 + (uint64_t)getpid() * 7919);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t port = first + next++ % n;

		if (can_bind((uint16_t)port)) {
			*ret = (uint16_t)port;
			return 0;
		}
	}
	return error_set(
		err, ERR_ENVIRONMENT, "no free port between %u and %u", first, first + n - 1);
}

static int place_port(
	const char *service, const char *name, struct strv *vars, uint16_t *ret, struct error *err)
{
	auto_free char *own = xasprintf("port%s%s", *name ? "." : "", name);
	auto_free char *global = xasprintf("%s.%s", service, own);
	auto_free char *value = NULL;

	if (service_free_port(ret, err) < 0)
		return -1;
	value = xasprintf("%u", *ret);
	env_set(vars, own, value);
	env_set(vars, global, value);
	return 0;
}

/* Takes out the named ports of the service that was placed before. */
static void drop_named_ports(struct strv *vars)
{
	size_t i = 0;

	while (i < vars->n) {
		auto_free char *name = NULL;

		if (strncmp(vars->v[i], "port.", 5) != 0) {
			i++;
			continue;
		}
		name = xstrndup(vars->v[i], strcspn(vars->v[i], "="));
		env_set(vars, name, NULL);
	}
}

int service_place(const struct plan_service *plan, const char *work, struct strv *vars,
	uint16_t *port, struct error *err)
{
	auto_free char *url_name = xasprintf("%s.url", plan->name);
	auto_free char *work_name = xasprintf("%s.work", plan->name);
	auto_free char *url = NULL;
	uint16_t own, other;

	drop_named_ports(vars);
	if (place_port(plan->name, "", vars, &own, err) < 0)
		return -1;
	for (size_t i = 0; i < plan->ports.n; i++)
		if (place_port(plan->name, plan->ports.v[i], vars, &other, err) < 0)
			return -1;
	url = xasprintf("http://127.0.0.1:%u", own);
	env_set(vars, "url", url);
	env_set(vars, url_name, url);
	env_set(vars, "work", work);
	env_set(vars, work_name, work);
	*port = own;
	return 0;
}

void service_placed(const struct service *s, struct strv *vars)
{
	auto_free char *host_name = xasprintf("%s.host", s->name);
	auto_free char *url_name = xasprintf("%s.url", s->name);
	auto_free char *port_name = xasprintf("%s.port", s->name);
	auto_free char *url = NULL;

	env_set(vars, host_name, s->v6 ? "::1" : "127.0.0.1");
	if (!s->v6)
		return;
	url = xasprintf("http://[::1]:%s", env_get(vars, port_name));
	env_set(vars, "url", url);
	env_set(vars, url_name, url);
}
