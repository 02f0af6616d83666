#include "echo.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/websocket.h"

struct echo {
	int fd;
	enum echo_fault fault;
	SSL_CTX *tls;
	pthread_t thread;
	struct wire w;
	struct websocket *frames;
	struct buf message, out;
	uint64_t messages, pongs;
	uint8_t opcode;
	bool over;
};

static void handshake(struct echo *e)
{
	char head[4096], accept[WEBSOCKET_ACCEPT];
	struct buf b = BUF_INIT;
	const char *key;
	size_t n = 0;

	head[0] = '\0';
	while (!strstr(head, "\r\n\r\n") && n + 1 < sizeof(head)) {
		ssize_t r = wire_read(&e->w, head + n, sizeof(head) - 1 - n);

		if (r <= 0)
			return;
		n += (size_t)r;
		head[n] = '\0';
	}
	key = strstr(head, "Sec-WebSocket-Key: ") + 19;
	websocket_accept(key, 24, accept);
	buf_addf(&b,
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
		"Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		accept);
	(void)wire_write(&e->w, b.p, b.n);
	buf_release(&b);
}

static void frame(struct echo *e, uint8_t opcode, bool fin, const char *p, size_t n)
{
	struct websocket_frame f = {opcode, fin, n};

	(void)websocket_write(e->frames, &f, p, n, &e->out, SIZE_MAX);
}

static void send_back(struct echo *e)
{
	if (e->fault != ECHO_FRAGMENTS) {
		frame(e, e->opcode, true, e->message.p, e->message.n);
		return;
	}
	for (size_t i = 0; i < e->message.n; i++) {
		frame(e, i ? WEBSOCKET_CONTINUATION : e->opcode, false, e->message.p + i, 1);
		if (i < 3)
			frame(e, WEBSOCKET_PING, true, "hi", i);
	}
	frame(e, e->message.n ? WEBSOCKET_CONTINUATION : e->opcode, true, "", 0);
}

static void say_bye(struct echo *e)
{
	e->over = true;
	if (e->fault == ECHO_NO_CLOSE)
		return;
	if (e->fault == ECHO_MORE)
		frame(e, WEBSOCKET_TEXT, true, "more", 4);
	else if (e->fault == ECHO_EMPTY_CLOSE)
		frame(e, WEBSOCKET_CLOSE, true, "", 0);
	else
		websocket_close(e->frames, e->fault == ECHO_STATUS ? 1011 : 1000, &e->out);
	if (e->fault == ECHO_AFTER_CLOSE)
		buf_adds(&e->out, "x");
}

static void take(struct echo *e, const struct websocket_piece *p)
{
	switch (p->frame.opcode) {
	case WEBSOCKET_CLOSE:
		say_bye(e);
		return;
	case WEBSOCKET_PONG:
		e->pongs += p->n <= 2 && memcmp(p->p, "hi", p->n) == 0;
		return;
	case WEBSOCKET_TEXT:
	case WEBSOCKET_BINARY:
		e->opcode = p->frame.opcode;
		break;
	default:
		break;
	}
	buf_add(&e->message, p->p, p->n);
	if (p->off + p->n < p->frame.length || !p->frame.fin)
		return;
	e->messages++;
	send_back(e);
	buf_clear(&e->message);
}

static void serve(struct echo *e)
{
	char in[65536];

	e->over = false;
	e->frames = websocket_new(false, true, 0);
	handshake(e);
	while (!e->over) {
		struct websocket_piece piece;
		ssize_t r = wire_read(&e->w, in, sizeof(in));

		if (r <= 0)
			break;
		websocket_feed(e->frames, in, (size_t)r);
		while (websocket_next(e->frames, &piece) == HTTP_DONE)
			take(e, &piece);
		(void)wire_write(&e->w, e->out.p, e->out.n);
		buf_clear(&e->out);
	}
	if (e->fault == ECHO_STAYS)
		(void)wire_read(&e->w, in, sizeof(in));
	websocket_free(e->frames);
	buf_clear(&e->message);
}

static void *run(void *arg)
{
	struct echo *e = arg;

	for (;;) {
		int fd = accept4(e->fd, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			return NULL;
		if (wire_open(&e->w, fd, e->tls))
			serve(e);
		wire_close(&e->w, e->fault != ECHO_RESET, e->fault == ECHO_RESET);
	}
}

struct echo *echo_start(enum echo_fault fault, SSL_CTX *tls, uint16_t *port)
{
	struct echo *e = calloc(1, sizeof(*e));
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);

	e->fault = fault;
	e->tls = tls;
	e->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(e->fd, (struct sockaddr *)&a, n) < 0 || listen(e->fd, 16) < 0 ||
		getsockname(e->fd, (struct sockaddr *)&a, &n) < 0)
		abort();
	*port = ntohs(a.sin_port);
	pthread_create(&e->thread, NULL, run, e);
	return e;
}

void echo_stop(struct echo *e, uint64_t n[2])
{
	shutdown(e->fd, SHUT_RDWR);
	pthread_join(e->thread, NULL);
	close(e->fd);
	n[0] = e->messages;
	n[1] = e->pongs;
	buf_release(&e->message);
	buf_release(&e->out);
	free(e);
}
