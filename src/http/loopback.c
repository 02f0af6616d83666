#include "http/loopback.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static int set_v4(struct loopback *a, const char *host)
{
	if (inet_pton(AF_INET, host, &a->v4.sin_addr) != 1 ||
		(ntohl(a->v4.sin_addr.s_addr) >> 24) != 127)
		return -1;
	a->v4.sin_family = AF_INET;
	a->n = sizeof(a->v4);
	return 0;
}

static int set_v6(struct loopback *a, const char *host)
{
	if (inet_pton(AF_INET6, host, &a->v6.sin6_addr) != 1 ||
		!IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr))
		return -1;
	a->v6.sin6_family = AF_INET6;
	a->n = sizeof(a->v6);
	return 0;
}

int loopback_set(struct loopback *ret, const char *host, uint16_t port, struct error *err)
{
	struct loopback a;

	memset(&a, 0, sizeof(a));
	if (host && set_v4(&a, host) == 0) {
		a.v4.sin_port = htons(port);
		snprintf(a.text, sizeof(a.text), "%s:%u", host, port);
	} else if (host && set_v6(&a, host) == 0) {
		a.v6.sin6_port = htons(port);
		snprintf(a.text, sizeof(a.text), "[%s]:%u", host, port);
	} else {
		return error_set(err, ERR_USAGE,
			"'%s' is not a loopback address; give 127.0.0.1 or ::1", host ? host : "");
	}
	*ret = a;
	return 0;
}

uint16_t loopback_port(const struct loopback *a)
{
	return ntohs(a->sa.sa_family == AF_INET6 ? a->v6.sin6_port : a->v4.sin_port);
}
