/* Addresses: loopback alone, so that neither the driver nor the origin can touch other machines. */
#pragma once

#include <netinet/in.h>
#include <stdint.h>

#include "base/error.h"

#define LOOPBACK_TEXT 80

struct loopback {
	union {
		struct sockaddr sa;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t n;
	char text[LOOPBACK_TEXT]; /* "127.0.0.1:80" or "[::1]:80" */
};

/* host: an address of 127.0.0.0/8, or ::1; anything else is ERR_USAGE. */
int loopback_set(struct loopback *a, const char *host, uint16_t port, struct error *err);
/* The port, in host byte order. */
uint16_t loopback_port(const struct loopback *a);
