#include "http/tls_bio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/bio.h>
#include <openssl/ssl.h>

#define IN_SIZE ((size_t)32 << 10)

/* An application record of 64 bytes whose seal is wrong under every key. */
static int forge(char *to, int n)
{
	static const char head[] = "\x17\x03\x03\x00\x40";
	char record[5 + 64];

	memset(record, 0x5a, sizeof(record));
	memcpy(record, head, 5);
	if (n > (int)sizeof(record))
		n = (int)sizeof(record);
	memcpy(to, record, (size_t)n);
	return n;
}

static bool would_block(int e)
{
	return e == EAGAIN || e == EWOULDBLOCK || e == EINTR;
}

static ssize_t receive(BIO *b, struct tls_socket *s, char *to, size_t n)
{
	ssize_t r;

	if (s->turns == 0) {
		/* As if nothing were there: the socket tells of it again. */
		BIO_set_retry_read(b);
		return -1;
	}
	s->turns--;
	r = recv(s->fd, to, n, 0);
	if (r < 0 && would_block(errno))
		BIO_set_retry_read(b);
	else if (r < 0)
		s->error = errno;
	else if (r == 0 && n > 0)
		s->eof = true;
	return r;
}

static int socket_read(BIO *b, char *to, int n)
{
	struct tls_socket *s = BIO_get_data(b);
	size_t k;

	BIO_clear_retry_flags(b);
	if (s->forged)
		return forge(to, n);
	if (!s->in || n <= 0)
		return (int)receive(b, s, to, (size_t)n);
	if (s->in_off == s->in_n) {
		ssize_t r = receive(b, s, s->in, IN_SIZE);

		if (r <= 0)
			return (int)r;
		s->in_off = 0;
		s->in_n = (size_t)r;
	}
	k = s->in_n - s->in_off;
	if (k > (size_t)n)
		k = (size_t)n;
	memcpy(to, s->in + s->in_off, k);
	s->in_off += k;
	return (int)k;
}

static int socket_write(BIO *b, const char *from, int n)
{
	struct tls_socket *s = BIO_get_data(b);
	ssize_t r;

	BIO_clear_retry_flags(b);
	r = send(s->fd, from, (size_t)n, MSG_NOSIGNAL);
	if (r < 0 && would_block(errno))
		BIO_set_retry_write(b);
	else if (r < 0)
		s->error = errno;
	return (int)r;
}

static long socket_ctrl(BIO *b, int cmd, long num, void *ptr)
{
	return cmd == BIO_CTRL_FLUSH || cmd == BIO_CTRL_DUP;
}

static int socket_destroy(BIO *b)
{
	struct tls_socket *s = BIO_get_data(b);

	if (s)
		free(s->in);
	free(s);
	BIO_set_data(b, NULL);
	return 1;
}

/* Lives as long as the process. */
static const BIO_METHOD *method(void)
{
	static BIO_METHOD *m;

	if (m)
		return m;
	m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without signals");
	if (m && BIO_meth_set_read(m, socket_read) && BIO_meth_set_write(m, socket_write) &&
		BIO_meth_set_ctrl(m, socket_ctrl) && BIO_meth_set_destroy(m, socket_destroy))
		return m;
	BIO_meth_free(m);
	m = NULL;
	return NULL;
}

int tls_socket_attach(SSL *ssl, int fd)
{
	const BIO_METHOD *m = method();
	struct tls_socket *s = calloc(1, sizeof(*s));
	BIO *b = m && s ? BIO_new(m) : NULL;

	if (!b) {
		free(s);
		return -1;
	}
	s->fd = fd;
	BIO_set_data(b, s);
	BIO_set_init(b, 1);
	SSL_set_bio(ssl, b, b);
	return 0;
}

struct tls_socket *tls_socket_of(const SSL *ssl)
{
	BIO *b = SSL_get_rbio(ssl);

	return b ? BIO_get_data(b) : NULL;
}

void tls_socket_forge(SSL *ssl)
{
	struct tls_socket *s = tls_socket_of(ssl);

	if (s)
		s->forged = true;
}

void tls_socket_buffer(SSL *ssl)
{
	struct tls_socket *s = tls_socket_of(ssl);

	if (s && !s->in)
		s->in = malloc(IN_SIZE);
}
