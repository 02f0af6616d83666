/* WebSocket: the handshake's values, frames to and fro, and frames that are not valid. */
#include "tests.h"

#include "http/websocket.h"

/* The example of RFC 6455 section 1.3. */
static void test_handshake(void **state)
{
	static const char key[] = "dGhlIHNhbXBsZSBub25jZQ==";
	char accept[WEBSOCKET_ACCEPT], own[WEBSOCKET_KEY], other[WEBSOCKET_KEY];

	websocket_accept(key, 24, accept);
	assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
	assert_true(websocket_key_ok(key, 24));
	assert_false(websocket_key_ok("dGhlIHNhbXBsZSBub25jZQ", 22));
	assert_false(websocket_key_ok("dGhlIHNhbXBsZSBub25jZQ=*", 24));
	assert_false(websocket_key_ok("dGhlIHNhbXBsZSBub25jZQQ=", 24));
	assert_false(websocket_key_ok("dGhl(HNhbXBsZSBub25jZQ==", 24));
	websocket_key(1, own);
	websocket_key(1, other);
	assert_string_equal(own, other);
	assert_true(websocket_key_ok(own, 24));
	websocket_key(2, other);
	assert_string_not_equal(own, other);
}

static void test_lists(void **state)
{
	assert_true(http_list_has("keep-alive, Upgrade", 19, "upgrade"));
	assert_true(http_list_has("upgrade", 7, "UPGRADE"));
	assert_true(http_list_has(",\t upgrade ,x", 13, "upgrade"));
	assert_false(http_list_has("upgraded", 8, "upgrade"));
	assert_false(http_list_has("up, grade", 9, "upgrade"));
	assert_false(http_list_has("", 0, "upgrade"));
}

struct seen {
	struct buf data;
	size_t frames, controls;
	uint8_t opcode;
	uint64_t length;
	enum http_progress r;
	uint16_t status;
};

/* Feeds n bytes, step at a time (0: all at once). */
static void feed(struct websocket *w, const char *p, size_t n, size_t step, struct seen *s)
{
	s->r = HTTP_MORE;
	for (size_t off = 0; s->r != HTTP_BAD && off < n;) {
		size_t k = step && step < n - off ? step : n - off;
		struct websocket_piece piece;
		char *copy = malloc(k);

		memcpy(copy, p + off, k);
		websocket_feed(w, copy, k);
		while ((s->r = websocket_next(w, &piece)) == HTTP_DONE) {
			s->opcode = piece.frame.opcode;
			s->length = piece.frame.length;
			s->controls += piece.frame.opcode >= 8;
			s->frames += piece.off + piece.n == piece.frame.length;
			if (piece.frame.opcode == WEBSOCKET_CLOSE)
				s->status = websocket_close_status(&piece);
			buf_add(&s->data, piece.p, piece.n);
		}
		free(copy);
		off += k;
	}
}

/* What one end writes, the other reads: all lengths, masked or not, in any pieces. */
static void test_lengths(void **state)
{
	static const struct {
		size_t n, header;
	} t[] = {{0, 2}, {1, 2}, {125, 2}, {126, 4}, {65535, 4}, {65536, 10}, {200000, 10}};
	char *content = malloc(200000);

	for (size_t i = 0; i < 200000; i++)
		content[i] = (char)(i * 7);
	for (size_t i = 0; i < 4 * sizeof(t) / sizeof(t[0]); i++) {
		size_t n = t[i / 4].n;
		struct websocket_frame f = {WEBSOCKET_BINARY, true, n};
		struct websocket *from = websocket_new(i & 1, false, 5),
				 *to = websocket_new(false, i & 1, 0);
		struct buf out = BUF_INIT;
		struct seen s = {0};

		assert_int_equal(websocket_write(from, &f, content, n, &out, SIZE_MAX), n);
		assert_int_equal(out.n, t[i / 4].header + n + (i & 1 ? 4 : 0));
		if (i & 1 && n > 100) /* masked indeed */
			assert_null(memmem(out.p, out.n, content, 32));
		feed(to, out.p, out.n, i & 2 ? 3 : 0, &s);
		assert_int_equal(s.r, HTTP_MORE);
		assert_int_equal(s.frames, 1);
		assert_int_equal(s.opcode, WEBSOCKET_BINARY);
		assert_int_equal(s.length, n);
		assert_int_equal(s.data.n, n);
		assert_memory_equal(buf_str(&s.data), content, n);
		buf_release(&s.data);
		buf_release(&out);
		websocket_free(from);
		websocket_free(to);
	}
	free(content);
}

/* Into little room, piece by piece. */
static void test_room(void **state)
{
	struct websocket *from = websocket_new(true, false, 5), *to = websocket_new(false, true, 0);
	struct websocket_frame f = {WEBSOCKET_TEXT, true, 100};
	struct buf out = BUF_INIT;
	char content[100];
	struct seen s = {0};

	memset(content, 'a', sizeof(content));
	for (size_t sent = 0; sent < 100;) {
		size_t k = websocket_write(from, &f, content + sent, 100 - sent, &out, 16);

		assert_true(k > 0 && out.n <= 16);
		sent += k;
		feed(to, out.p, out.n, 0, &s);
		buf_clear(&out);
	}
	websocket_control(from, WEBSOCKET_PING, "hi", 2, &out);
	websocket_close(from, 1000, &out);
	feed(to, out.p, out.n, 0, &s);
	assert_int_equal(s.r, HTTP_MORE);
	assert_int_equal(s.data.n, 104);
	assert_int_equal(s.frames, 3);
	assert_int_equal(s.controls, 2);
	assert_int_equal(s.status, 1000);
	buf_release(&s.data);
	buf_release(&out);
	websocket_free(from);
	websocket_free(to);
}

#define HEADER                                                                                     \
	"a frame's header is malformed: a length above 2^63 or not in its shortest form, or a "    \
	"control frame in fragments or of more than 125 bytes"

#define BYTES(s) s, sizeof(s) - 1

/* What a client may be sent, and may not. */
static void test_frames(void **state)
{
	static const struct {
		const char *p;
		size_t n;
		const char *problem, *data;
	} t[] = {
		{BYTES("\x81\x02hi"), NULL, "hi"},
		{BYTES("\x01\x01h\x80\x01i"), NULL, "hi"},
		{BYTES("\x01\x01h\x89\x01p\x00\x00\x80\x01i"), NULL, "hpi"},
		{BYTES("\x81\x00"), NULL, ""},
		{BYTES("\x8a\x00\x81\x02hi\x88\x00"), NULL, "hi"},
		{BYTES("\x88\x04\x0f\xa0no"), NULL, "\x0f\xa0no"}, /* 4000 */
		{BYTES("\x81\x7e\x00\x7dhi"), HEADER, ""},
		{BYTES("\x81\x7f\x00\x00\x00\x00\x00\x00\xff\xffhi"), HEADER, ""},
		{BYTES("\x81\x7f\x80\x00\x00\x00\x00\x00\x00\x00hi"), HEADER, ""},
		{BYTES("\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xffhi"), HEADER, ""},
		{BYTES("\x89\x7e\x00\x7ehi"), HEADER, ""},
		{BYTES("\x09\x01h"), HEADER, ""},
		{BYTES("\x08\x00"), HEADER, ""},
		{BYTES("\xc1\x02hi"),
			"a frame has a reserved bit set, but no extension was agreed on", ""},
		{BYTES("\x81\x82\x00\x00\x00\x00hi"),
			"a frame is masked, as those of clients alone are", ""},
		{BYTES("\x83\x02hi"), "a frame has a reserved opcode", ""},
		{BYTES("\x87\x02hi"), "a frame has a reserved opcode", ""},
		{BYTES("\x8b\x02hi"), "a frame has a reserved opcode", ""},
		{BYTES("\x80\x02hi"), "a frame continues a message, but none has begun", ""},
		{BYTES("\x81\x01h\x80\x01i"), "a frame continues a message, but none has begun",
			"h"},
		{BYTES("\x01\x01h\x81\x01i"), "a message begins inside another", "h"},
		{BYTES("\x88\x01\x03"), "a Close frame has no valid status", ""},
		{BYTES("\x88\x02\x03\xed"), "a Close frame has no valid status", ""}, /* 1005 */
		{BYTES("\x88\x02\x03\xe7"), "a Close frame has no valid status", ""}, /* 999 */
		{BYTES("\x88\x02\x0b\xb7"), "a Close frame has no valid status", ""}, /* 2999 */
		{BYTES("\x88\x02\x13\x88"), "a Close frame has no valid status", ""}, /* 5000 */
		{BYTES("\x88\x02\x03\xe8\x81\x00"), "something follows a Close frame", "\x03\xe8"},
		{BYTES("\x88\x02\x03\xe8x"), "something follows a Close frame", "\x03\xe8"},
	};

	for (size_t i = 0; i < 2 * sizeof(t) / sizeof(t[0]); i++) {
		struct websocket *w = websocket_new(true, false, 1);
		struct seen s = {0};

		feed(w, t[i / 2].p, t[i / 2].n, i % 2, &s);
		if (t[i / 2].problem) {
			assert_int_equal(s.r, HTTP_BAD);
			assert_string_equal(websocket_problem(w), t[i / 2].problem);
		} else {
			assert_int_equal(s.r, HTTP_MORE);
		}
		assert_string_equal(buf_str(&s.data), t[i / 2].data);
		buf_release(&s.data);
		websocket_free(w);
	}
}

static void test_unmasked(void **state)
{
	struct websocket *w = websocket_new(false, true, 0);
	struct seen s = {0};

	feed(w, BYTES("\x81\x02hi"), 0, &s);
	assert_int_equal(s.r, HTTP_BAD);
	assert_string_equal(websocket_problem(w), "a frame is not masked");
	buf_release(&s.data);
	websocket_free(w);
}

/* Bytes of all kinds: nothing but an end, sooner or later. */
static void test_noise(void **state)
{
	uint32_t x = 1;

	for (int i = 0; i < 2000; i++) {
		struct websocket *w = websocket_new(true, i & 1, 0);
		struct seen s = {0};
		char bytes[300];

		for (size_t k = 0; k < sizeof(bytes); k++) {
			x = x * 1103515245 + 12345;
			bytes[k] = (char)(x >> 16);
		}
		bytes[0] = (char)(x & 0x8f);
		feed(w, bytes, sizeof(bytes), (size_t)i % 7, &s);
		assert_true(s.data.n <= sizeof(bytes));
		buf_release(&s.data);
		websocket_free(w);
	}
}

const struct CMUnitTest websocket_tests[] = {
	cmocka_unit_test(test_handshake),
	cmocka_unit_test(test_lists),
	cmocka_unit_test(test_lengths),
	cmocka_unit_test(test_room),
	cmocka_unit_test(test_frames),
	cmocka_unit_test(test_unmasked),
	cmocka_unit_test(test_noise),
};
const size_t n_websocket_tests = sizeof(websocket_tests) / sizeof(websocket_tests[0]);
