/* HTTP/2 by hand-made frames: what well-meaning clients get, and what becomes of the others. */
#include "child.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	DATA,
	HEADERS,
	PRIORITY,
	RST_STREAM,
	SETTINGS,
	PUSH,
	PING,
	GOAWAY,
	WINDOW_UPDATE,
	CONTINUATION
};
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4 };

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

struct frames {
	uint8_t *p;
	size_t n, cap;
};

static void put(struct frames *f, const void *p, size_t n)
{
	if (f->n + n > f->cap) {
		f->cap = 2 * (f->n + n);
		f->p = realloc(f->p, f->cap);
	}
	memcpy(f->p + f->n, p, n);
	f->n += n;
}

static void frame(struct frames *f, int type, int flags, uint32_t id, const void *p, size_t n)
{
	uint8_t head[9] = {(uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n, (uint8_t)type,
		(uint8_t)flags, (uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8),
		(uint8_t)id};

	put(f, head, 9);
	put(f, p, n);
}

static void begin(struct frames *f)
{
	*f = (struct frames){0};
	put(f, preface, sizeof(preface) - 1);
	frame(f, SETTINGS, 0, 0, "", 0);
}

/* The fields of a request, without compression; returns their bytes. */
static size_t fields(uint8_t *to, bool post, const char *path)
{
	size_t k = strlen(path), n = 0;

	assert_true(k < 127);
	to[n++] = post ? 0x83 : 0x82; /* :method */
	to[n++] = 0x86;               /* :scheme http */
	to[n++] = 0x01;               /* :authority, literal */
	to[n++] = 1;
	to[n++] = 'x';
	to[n++] = 0x04; /* :path, literal */
	to[n++] = (uint8_t)k;
	memcpy(to + n, path, k);
	return n + k;
}

static void request(struct frames *f, uint32_t id, bool post, const char *path)
{
	uint8_t block[256];

	frame(f, HEADERS, END_HEADERS | (post ? 0 : END_STREAM), id, block,
		fields(block, post, path));
}

/* What came back, by stream. */
struct got {
	uint8_t *p;
	size_t n, at;
	int status[64]; /* the first byte of the field block: 0x88 is 200 */
	size_t data[64], ended[64];
	char body[64][64];
	int reset[64];        /* code, or -1 */
	int goaway, last;     /* code, or -1 */
	size_t pongs, others; /* PINGs that were answered */
	bool closed;
};

static uint32_t number(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void take_frame(struct got *g, int type, int flags, uint32_t id, const uint8_t *p, size_t n)
{
	uint32_t i = id % 64;

	switch (type) {
	case DATA:
		if (g->data[i] + n < sizeof(g->body[0]))
			memcpy(g->body[i] + g->data[i], p, n);
		g->data[i] += n;
		g->ended[i] += flags & END_STREAM;
		break;
	case HEADERS:
		g->status[i] = p[0];
		g->ended[i] += flags & END_STREAM;
		break;
	case RST_STREAM:
		g->reset[i] = (int)number(p);
		break;
	case GOAWAY:
		g->last = (int)number(p);
		g->goaway = (int)number(p + 4);
		break;
	case PING:
		g->pongs++;
		break;
	default:
		g->others++;
		break;
	}
}

static void parse(struct got *g)
{
	while (g->n - g->at >= 9) {
		const uint8_t *p = g->p + g->at;
		size_t n = (size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2];

		if (g->n - g->at < 9 + n)
			return;
		take_frame(g, p[3], p[4], number(p + 5), p + 9, n);
		g->at += 9 + n;
	}
}

/* Reads until the origin closes, stream `until` has ended (0: none), or ms pass without a byte. */
static void receive(int fd, struct got *g, uint32_t until, int ms)
{
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t r;

		if ((until && (g->ended[until % 64] || g->reset[until % 64] >= 0)) ||
			poll(&p, 1, ms) <= 0)
			return;
		g->p = realloc(g->p, g->n + 65536);
		r = recv(fd, g->p + g->n, 65536, 0);
		if (r <= 0) {
			g->closed = true;
			return;
		}
		g->n += (size_t)r;
		parse(g);
	}
}

static void got_begin(struct got *g)
{
	memset(g, 0, sizeof(*g));
	g->goaway = g->last = -1;
	for (int i = 0; i < 64; i++)
		g->reset[i] = -1;
}

/* Sends all of f (as far as the origin takes it) and reads. */
static int talk(struct frames *f, struct got *g, uint32_t until, int ms)
{
	int fd = raw_open(&child);

	got_begin(g);
	raw_send(fd, (char *)f->p, f->n);
	free(f->p);
	receive(fd, g, until, ms);
	return fd;
}

static void finish(int fd, struct got *g)
{
	close(fd);
	free(g->p);
}

/* Of the origin, in KiB. */
static long memory(const char *name)
{
	char path[64], line[256];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)child.pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, strlen(name)) == 0)
			kib = strtol(line + strlen(name) + 1, NULL, 10);
	}
	if (f)
		fclose(f);
	assert_true(kib > 0);
	return kib;
}

static void still_well(void)
{
	struct frames f;
	struct got g;
	int fd;

	begin(&f);
	request(&f, 1, false, "/health");
	fd = talk(&f, &g, 1, 2000);
	assert_int_equal(g.status[1], 0x88);
	assert_string_equal(g.body[1], "ok\n");
	finish(fd, &g);
}

static void test_streams(void **state)
{
	struct frames f;
	struct got g;
	int fd;

	begin(&f);
	request(&f, 1, false, "/delay/60/bytes/20");
	request(&f, 3, false, "/bytes/5");
	request(&f, 5, true, "/echo");
	frame(&f, DATA, 0, 5, "abc", 3);
	request(&f, 7, false, "/status/404");
	request(&f, 9, false, "/slow/3");
	request(&f, 11, false, "/bytes/0");
	frame(&f, DATA, END_STREAM, 5, "def", 3);
	fd = talk(&f, &g, 1, 2000);
	receive(fd, &g, 9, 2000);
	assert_string_equal(g.body[1], "000000000000000\n0000");
	assert_string_equal(g.body[3], "00000");
	assert_string_equal(g.body[5], "abcdef");
	assert_string_equal(g.body[7], "status 404\n");
	assert_int_equal(g.status[7], 0x8d);
	assert_string_equal(g.body[9], "000");
	assert_int_equal(g.data[11], 0);
	for (int i = 1; i <= 11; i += 2)
		assert_int_equal(g.ended[i], 1);
	assert_int_equal(g.goaway, -1);
	assert_false(g.closed);
	finish(fd, &g);
}

static void test_wrong(void **state)
{
	static const struct {
		const char *path;
		const char *body;
		int status, ended, reset, goaway;
		bool closed;
	} t[] = {
		{"/wrong/status/1/bytes/20", "000000000000000\n0000", 0x8e, 1, -1, -1, false},
		{"/wrong/cut/1/bytes/20", "000000000000000\n000", 0x88, 1, -1, -1, false},
		{"/wrong/byte/1/bytes/20", "000000000010000\n0000", 0x88, 1, -1, -1, false},
		{"/wrong/half/1/bytes/20", "0000000000", 0x88, 0, 2, -1, false},
		{"/half/20", "0000000000", 0x88, 0, 2, -1, false},
		{"/reset", "", 0, 0, 2, -1, false},
		{"/close", "", 0, 0, -1, -1, true},
		{"/wrong/goaway/1/bytes/20", "0000000000", 0x88, 0, -1, 2, true},
		{"/keep/1/bytes/20", "000000000000000\n0000", 0x88, 1, -1, 0, true},
		{"/wrong/stall/1/bytes/20", "0000000000", 0x88, 0, -1, -1, false},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct frames f;
		struct got g;
		int fd;

		begin(&f);
		request(&f, 1, false, t[i].path);
		fd = talk(&f, &g, 0, 300);
		if (strcmp(g.body[1], t[i].body) != 0 || g.status[1] != t[i].status ||
			(int)g.ended[1] != t[i].ended || g.reset[1] != t[i].reset ||
			g.goaway != t[i].goaway || g.closed != t[i].closed)
			fail_msg("%s: status %x ended %d reset %d goaway %d closed %d body %s",
				t[i].path, g.status[1], (int)g.ended[1], g.reset[1], g.goaway,
				g.closed, g.body[1]);
		finish(fd, &g);
	}
}

/* Requests that are taken back at once. */
static void test_rapid_reset(void **state)
{
	static const uint8_t cancel[4] = {0, 0, 0, 8};
	long before = memory("VmRSS");
	struct frames f;
	struct got g;
	int fd;

	begin(&f);
	for (uint32_t id = 1; id < 100000; id += 2) {
		request(&f, id, false, "/delay/60000/bytes/1000000");
		frame(&f, RST_STREAM, 0, id, cancel, 4);
	}
	fd = talk(&f, &g, 0, 2000);
	assert_int_equal(g.goaway, 11); /* ENHANCE_YOUR_CALM */
	assert_true(g.last < 2000);
	finish(fd, &g);
	assert_true(memory("VmRSS") < before + 8192);
	still_well();
}

/* A client may take back some of its requests. */
static void test_some_resets(void **state)
{
	static const uint8_t cancel[4] = {0, 0, 0, 8};
	struct frames f;
	struct got g;
	int fd;

	begin(&f);
	for (uint32_t id = 1; id < 400; id += 2) {
		request(&f, id, false, "/delay/60000/health");
		frame(&f, RST_STREAM, 0, id, cancel, 4);
	}
	request(&f, 401, false, "/bytes/7");
	fd = talk(&f, &g, 401, 2000);
	assert_string_equal(g.body[401 % 64], "0000000");
	finish(fd, &g);
}

static void flood(int type, int flags, uint32_t id, const void *p, size_t n)
{
	long before = memory("VmRSS");
	struct frames f;
	struct got g;
	int fd;

	begin(&f);
	request(&f, 1, true, "/delay/60000/echo");
	for (int i = 0; i < 200000; i++)
		frame(&f, type, flags, id, p, n);
	fd = talk(&f, &g, 0, 2000);
	if (g.goaway != 11 || g.pongs > 1100)
		fail_msg("frame type %d: goaway %d, %zu pongs", type, g.goaway, g.pongs);
	finish(fd, &g);
	assert_true(memory("VmRSS") < before + 8192);
	still_well();
}

static void test_floods(void **state)
{
	static const uint8_t setting[6] = {0, 4, 0, 1, 0, 0}, more[4] = {0, 0, 0, 1},
			     priority[5] = {0, 0, 0, 3, 1};

	flood(PING, 0, 0, "12345678", 8);
	flood(SETTINGS, 0, 0, setting, 6);
	flood(PRIORITY, 0, 7, priority, 5);
	flood(WINDOW_UPDATE, 0, 0, more, 4);
	flood(DATA, 0, 1, "", 0);
}

/* A field section that does not end. */
static void test_continuation_flood(void **state)
{
	long before = memory("VmRSS");
	uint8_t block[16384];
	struct frames f;
	struct got g;
	int fd;

	begin(&f);
	frame(&f, HEADERS, END_STREAM, 1, block, fields(block, false, "/health"));
	/* Literal fields "a: bbbb…" that are not put into the table, 128 bytes each. */
	for (size_t i = 0; i < sizeof(block); i += 128) {
		memset(block + i, 'b', 128);
		memcpy(block + i,
			"\x00\x01"
			"a\x7b",
			4);
	}
	for (int i = 0; i < 1000; i++)
		frame(&f, CONTINUATION, 0, 1, block, sizeof(block));
	fd = talk(&f, &g, 0, 2000);
	assert_true(g.closed || g.goaway >= 0);
	assert_int_equal(g.status[1], 0);
	finish(fd, &g);
	assert_true(memory("VmRSS") < before + 8192);

	/* The same without a byte in them. */
	begin(&f);
	frame(&f, HEADERS, END_STREAM, 1, block, fields(block, false, "/health"));
	for (int i = 0; i < 100000; i++)
		frame(&f, CONTINUATION, 0, 1, "", 0);
	fd = talk(&f, &g, 0, 2000);
	assert_true(g.closed || g.goaway >= 0);
	assert_int_equal(g.status[1], 0);
	finish(fd, &g);
	still_well();
}

/* A large entry of the table, named again and again by one byte. */
static void test_hpack_bomb(void **state)
{
	long before = memory("VmHWM");
	uint8_t block[16384];
	size_t n = fields(block, false, "/health");
	struct frames f;
	struct got g;
	int fd;

	memcpy(block + n,
		"\x40\x01"
		"a\x7f\xa1\x1e",
		6); /* "a" with 4000 bytes, into the table */
	memset(block + n + 6, 'b', 4000);
	n += 4006;
	memset(block + n, 0xbe, sizeof(block) - n); /* index 62: 12000 times 4000 bytes */
	begin(&f);
	frame(&f, HEADERS, END_HEADERS | END_STREAM, 1, block, sizeof(block));
	fd = talk(&f, &g, 0, 2000);
	assert_true(g.goaway >= 0);
	assert_int_equal(g.status[1], 0);
	finish(fd, &g);
	assert_true(memory("VmHWM") < before + 8192);

	/* Ten times is only too much for one request. */
	n = fields(block, false, "/health");
	memcpy(block + n,
		"\x40\x01"
		"a\x7f\xa1\x1e",
		6);
	memset(block + n + 6, 'b', 4000);
	n += 4006;
	memset(block + n, 0xbe, 20);
	begin(&f);
	frame(&f, HEADERS, END_HEADERS | END_STREAM, 1, block, n + 20);
	request(&f, 3, false, "/health");
	fd = talk(&f, &g, 3, 2000);
	assert_non_null(strstr(g.body[1], "431 Request Header Fields Too Large"));
	assert_string_equal(g.body[3], "ok\n");
	finish(fd, &g);
	still_well();
}

static void test_no_http2(void **state)
{
	static const char *const starts[] = {"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
		"PRI / HTTP/1.1\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		struct frames f = {0};
		struct got g;
		int fd;

		put(&f, starts[i], strlen(starts[i]));
		fd = talk(&f, &g, 0, 2000);
		assert_true(g.closed);
		finish(fd, &g);
	}
	still_well();
}

/* Asks for much with a window for all of it, and reads nothing. */
static void test_not_reading(void **state)
{
	static const uint8_t wide[6] = {0, 4, 0x7f, 0xff, 0xff, 0xff}, more[4] = {0x7f, 0, 0, 0};
	long before = memory("VmRSS");
	int fds[8];

	for (int i = 0; i < 8; i++) {
		struct frames f = {0};

		put(&f, preface, sizeof(preface) - 1);
		frame(&f, SETTINGS, 0, 0, wide, 6);
		frame(&f, WINDOW_UPDATE, 0, 0, more, 4);
		for (uint32_t id = 1; id < 200; id += 2)
			request(&f, id, false, "/bytes/1000000000");
		fds[i] = raw_open(&child);
		raw_send(fds[i], (char *)f.p, f.n);
		free(f.p);
	}
	usleep(300000);
	assert_true(memory("VmRSS") < before + 16384);
	still_well();
	for (int i = 0; i < 8; i++)
		close(fds[i]);
}

/* It has more to send, there is room for that again, and the client's end is there: all of it at
 * once. */
static void test_end_while_sending(void **state)
{
	static const uint8_t wide[6] = {0, 4, 0x7f, 0xff, 0xff, 0xff}, more[4] = {0x7f, 0, 0, 0};
	static char away[1 << 16];
	struct frames f = {0};
	int fd = raw_open(&child);

	put(&f, preface, sizeof(preface) - 1);
	frame(&f, SETTINGS, 0, 0, wide, 6);
	frame(&f, WINDOW_UPDATE, 0, 0, more, 4);
	request(&f, 1, false, "/bytes/1000000000");
	raw_send(fd, (char *)f.p, f.n);
	free(f.p);
	usleep(100000);
	kill(child.pid, SIGSTOP);
	for (int quiet = 0; quiet < 5;) {
		if (recv(fd, away, sizeof(away), MSG_DONTWAIT) > 0)
			continue;
		quiet++;
		usleep(10000);
	}
	shutdown(fd, SHUT_WR);
	kill(child.pid, SIGCONT);
	usleep(20000);
	close(fd);
	still_well();
}

/* More streams at a time than are allowed. */
static void test_too_many_streams(void **state)
{
	size_t refused = 0;
	struct frames f;
	struct got g;
	int fd;

	begin(&f);
	for (uint32_t id = 1; id < 2 * 140; id += 2)
		request(&f, id, false, "/delay/60000/health");
	fd = talk(&f, &g, 0, 300);
	for (size_t i = 0; i < 64; i++)
		refused += g.reset[i] == 7; /* REFUSED_STREAM */
	assert_true(refused > 0 && refused <= 12);
	finish(fd, &g);
	still_well();
}

static void test_noise(void **state)
{
	uint32_t rng = 11;
	struct frames f;

	begin(&f);
	request(&f, 1, true, "/delay/1/echo");
	frame(&f, DATA, END_STREAM, 1, "abcdef", 6);
	request(&f, 3, false, "/chunked/20");
	frame(&f, PING, 0, 0, "12345678", 8);
	for (int i = 0; i < 500; i++) {
		uint8_t *s = malloc(f.n);
		int fd = raw_open(&child);

		memcpy(s, f.p, f.n);
		for (int k = 0; k < 1 + i % 4; k++) {
			rng = rng * 1664525u + 1013904223u;
			s[24 + (rng >> 8) % (f.n - 24)] = (uint8_t)(rng >> 24);
		}
		raw_send(fd, (char *)s, f.n);
		close(fd);
		free(s);
	}
	free(f.p);
	still_well();
}

const struct CMUnitTest h2_tests[] = {
	cmocka_unit_test(test_streams),
	cmocka_unit_test(test_wrong),
	cmocka_unit_test(test_rapid_reset),
	cmocka_unit_test(test_some_resets),
	cmocka_unit_test(test_floods),
	cmocka_unit_test(test_continuation_flood),
	cmocka_unit_test(test_hpack_bomb),
	cmocka_unit_test(test_no_http2),
	cmocka_unit_test(test_not_reading),
	cmocka_unit_test(test_end_while_sending),
	cmocka_unit_test(test_too_many_streams),
	cmocka_unit_test(test_noise),
};
const size_t n_h2_tests = sizeof(h2_tests) / sizeof(h2_tests[0]);
