/* Any bytes as the fields of an answer from which others learn: what is sent later holds exactly
 * their values, and is the same by HTTP/1.1 and HTTP/2, however the answer comes.
 *
 * byte 0: which headers are learned, by bits; rest: the lines of the fields. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <nghttp2/nghttp2.h>

#include "base/mem.h"
#include "fuzz_driver.h"
#include "h1_reference.h"
#include "h2_reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char *const headers[][2] = {{"If-None-Match", "ETag"},
	{"If-Modified-Since", "Last-Modified"}, {"Cookie", "Set-Cookie"}, {"If-Range", "ETag"},
	{"If-Unmodified-Since", "Last-Modified"}};

#define MARK "\xff\0R"
#define EMPTY "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

struct lesson {
	struct load_learned learned[ARRAY_SIZE(headers)];
	char *value[ARRAY_SIZE(headers)]; /* NULL: the answer does not say it */
	size_t n;
	bool taught; /* all are said */
};

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/* What of a field's value counts, by its meaning: a cookie's name and value, the whole of others.
 */
static char *meaning(struct reference_text t, bool cookie)
{
	const char *end = t.p;

	while (end < t.p + t.n && !(cookie && *end == ';'))
		end++;
	while (end > t.p && blank(end[-1]))
		end--;
	return xstrndup(t.p, (size_t)(end - t.p));
}

static char *expected(const struct reference *m, const char *source)
{
	bool cookie = strcmp(source, "Set-Cookie") == 0;
	struct reference_text t;
	struct buf b = BUF_INIT;

	for (size_t i = 0; (t = reference_field(m, source, i)).p && (cookie || i == 0); i++) {
		auto_free char *one = meaning(t, cookie);

		if (*one)
			buf_addf(&b, "%s%s", b.n ? "; " : "", one);
	}
	return b.n ? buf_detach(&b) : NULL;
}

static void lesson_make(struct lesson *l, uint8_t which, const struct reference *m)
{
	*l = (struct lesson){.taught = true};
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		if (!(which & 1u << i) && (which || i > 2))
			continue;
		l->learned[l->n] = (struct load_learned){headers[i][0], 0};
		l->value[l->n] = expected(m, headers[i][1]);
		l->taught &= l->value[l->n++] != NULL;
	}
}

static void lesson_free(struct lesson *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->value[i]);
}

static void run(const struct lesson *l, const struct buf *bytes, enum load_protocol protocol,
	enum cut how, struct driver_run *ret)
{
	const struct load_request mix[] = {
		{.method = "GET", .path = "/a", .expect_bytes = -1}, {.method = "GET",
									     .path = "/b",
									     .expect_bytes = -1,
									     .learned = l->learned,
									     .n_learned = l->n}};
	struct load_plan p = {.host = "127.0.0.1",
		.port = 80,
		.protocol = protocol,
		.connections = 1,
		.requests = 2,
		.mix = mix,
		.n_mix = 2};
	struct driver_options o = {
		.how = how, .inside = protocol == LOAD_H2, .memory = (size_t)4 << 20};
	struct script s;

	script_read(&s, (const uint8_t *)bytes->p, bytes->n);
	driver_run(&p, &s, &o, ret);
	script_free(&s);
}

/* ---- HTTP/1.1 ------------------------------------------------------------------------------- */

static void check_h1(const struct lesson *l, const struct driver_run *r)
{
	const struct buf *sent = &r->links[0].sent;
	struct reference first, second;

	must(r->n_links == 1, "another connection");
	must(reference_request(sent->p, sent->n, &first) == REFERENCE_DONE, "no first request");
	must(reference_request(sent->p + first.n, sent->n - first.n, &second) == REFERENCE_DONE &&
			first.n + second.n == sent->n,
		"what was learned makes other requests");
	/* Who learns nothing need not come second. */
	must(l->n == 0 || (second.target.n == 2 && memcmp(second.target.p, "/b", 2) == 0),
		"another request");
	must(second.n_fields == first.n_fields + l->n, "other fields");
	for (size_t i = 0; i < l->n; i++) {
		struct reference_text t = reference_field(&second, l->learned[i].name, 0);

		must_equal(t.p, t.n, l->value[i], strlen(l->value[i]), "another value is sent");
	}
	buf_release(&first.body);
	buf_release(&second.body);
}

/* ---- HTTP/2 --------------------------------------------------------------------------------- */

static void add_frame(
	struct buf *b, uint8_t type, uint8_t flags, uint8_t stream, const void *p, size_t n)
{
	const uint8_t h[9] = {
		(uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n, type, flags, 0, 0, 0, stream};

	buf_add(b, h, sizeof(h));
	buf_add(b, p, n);
}

/* Fields that HTTP/2 knows otherwise or not at all. */
static bool of_h1(const char *name)
{
	static const char *const names[] = {"connection", "content-length", "transfer-encoding",
		"upgrade", "te", "keep-alive", "proxy-connection", "host"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

static char *lower(struct reference_text t)
{
	char *s = xstrndup(t.p, t.n);

	for (char *c = s; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return s;
}

/* The same answer in frames. */
static void translate(const struct reference *m, struct buf *b)
{
	char *names[REFERENCE_FIELDS];
	nghttp2_nv nv[REFERENCE_FIELDS + 1] = {{(uint8_t *)":status", (uint8_t *)"200", 7, 3, 0}};
	uint8_t block[32768];
	nghttp2_hd_deflater *hd;
	size_t n = 1;
	ssize_t size;

	for (size_t i = 0; i < m->n_fields; i++) {
		names[i] = lower(m->fields[i].name);
		if (!of_h1(names[i]))
			nv[n++] = (nghttp2_nv){(uint8_t *)names[i], (uint8_t *)m->fields[i].value.p,
				m->fields[i].name.n, m->fields[i].value.n, 0};
	}
	must(nghttp2_hd_deflate_new(&hd, 4096) == 0, "no memory");
	size = nghttp2_hd_deflate_hd(hd, block, sizeof(block), nv, n);
	must(size > 0, "no room for a head");
	buf_add(b, "--", 2);
	add_frame(b, 4, 0, 0, "", 0);
	if (size > 16384) {
		add_frame(b, 1, 1, 1, block, 16384);
		add_frame(b, 9, 4, 1, block + 16384, (size_t)size - 16384);
	} else {
		add_frame(b, 1, 5, 1, block, (size_t)size);
	}
	buf_add(b, MARK, 3);
	add_frame(b, 1, 5, 3, "\x88", 1);
	nghttp2_hd_deflate_del(hd);
	for (size_t i = 0; i < m->n_fields; i++)
		free(names[i]);
}

static void check_h2(const struct lesson *l, const struct reference *m)
{
	auto_buf struct buf b = BUF_INIT;
	struct h2_reference sent;
	struct driver_run r, cut;

	translate(m, &b);
	run(l, &b, LOAD_H2, CUT_NOT, &r);
	must(!r.result.problem == l->taught, "another result by HTTP/2");
	h2_reference_read(buf_str(&r.links[0].sent), r.links[0].sent.n, true, &sent);
	for (size_t i = 0; i < l->n && l->taught; i++) {
		auto_free char *name = lower(
			(struct reference_text){l->learned[i].name, strlen(l->learned[i].name)});
		auto_free char *line = xasprintf("%s: %s", name, l->value[i]);

		must(sent.n == 2 && h2_reference_has(&sent.streams[1], line),
			"another value is sent by HTTP/2");
		must(!blank(l->value[i][0]) && !blank(l->value[i][strlen(l->value[i]) - 1]),
			"a value is sent that HTTP/2 does not allow");
	}
	run(l, &b, LOAD_H2, CUT_BYTES, &cut);
	driver_must_agree(&r, &cut);
	h2_reference_free(&sent);
	driver_free(&cut);
	driver_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf b = BUF_INIT;
	struct driver_run whole, cut;
	struct reference m;
	struct lesson l;
	size_t head;
	bool good, closing;

	if (n < 1 || memmem(data, n, "\xff\0", 2))
		return -1;
	buf_adds(&b, "--HTTP/1.1 200 OK\r\n");
	buf_add(&b, data + 1, n - 1);
	buf_adds(&b, "Content-Length: 0\r\n\r\n");
	head = b.n - 2;
	buf_add(&b, MARK EMPTY, 3 + strlen(EMPTY));
	good = reference_response(b.p + 2, head, false, &m) == REFERENCE_DONE && m.n == head;
	closing = good && (!m.keep || m.until_close); /* then the other has no connection */
	good = good && !closing;
	lesson_make(&l, data[0], &m);
	run(&l, &b, LOAD_H1, CUT_NOT, &whole);
	driver_tell(&whole);
	must(closing || !whole.result.problem == (good && l.taught), "another result");
	if (!whole.result.problem)
		check_h1(&l, &whole);
	for (enum cut how = CUT_BYTES; how < CUTS; how++) {
		run(&l, &b, LOAD_H1, how, &cut);
		driver_must_agree(&whole, &cut);
		driver_free(&cut);
	}
	if (good)
		check_h2(&l, &m);
	buf_release(&m.body);
	lesson_free(&l);
	driver_free(&whole);
	return 0;
}
