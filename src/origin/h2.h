/* Inside the origin's HTTP/2 only. */
#pragma once

#include <nghttp2/nghttp2.h>

#include "origin/server.h"

#define H2_STREAMS_MAX 128
#define H2_WINDOW (1 << 20)         /* of a stream and of the connection, for what clients send */
#define H2_FIELDS_BYTES_MAX 65536   /* of one request: names, values and 32 for each */
#define H2_FIELDS_BYTES_END 1048576 /* the connection ends, as the client does not listen */
#define H2_REFUSED_MAX ((uint64_t)64 << 20) /* of a body that is read after its refusal */
#define H2_CONTINUATIONS_MAX 64             /* of one request */
/* Frames that ask for nothing (RST_STREAM, PING, SETTINGS, PRIORITY, empty DATA, requests that are
 * taken back …) may come in this number, and this many more for every answer that is sent in whole
 * or 16 KiB of bodies. */
#define H2_NOISE_MAX 1000
#define H2_NOISE_PER_ANSWER 20
#define H2_NOISE_BYTES 16384

struct stream {
	struct exchange x;
	int32_t id;
	bool complete; /* the request */
	bool refused;  /* answered before its end */
	bool answering;
	uint64_t got;  /* body bytes */
	size_t fields; /* bytes of its fields */
	size_t lines;
	struct buf text; /* the fields that matter, one after the other */
	struct span {
		size_t off, n;
		bool set;
	} method, path, known[ASK_FIELDS];
	struct stream *prev, *next;
};

struct h2 {
	nghttp2_session *session;
	struct origin *o;
	struct client *c;
	struct stream *streams;
	uint64_t noise, credit; /* credit: bytes that are not turned into allowance yet */
	uint64_t requests;
	uint32_t continuations;
	bool stopped; /* GOAWAY is sent, the streams end in peace */
	bool ending;  /* GOAWAY and the end as soon as all is sent */
	bool alert;   /* the same, with a TLS alert */
	bool close;   /* the same, at once */
	bool broken;  /* the client does not speak HTTP/2 */
};

/* h2_answer.c */
int h2_submit(struct h2 *h, struct stream *s); /* the answer's head, its body to follow */
/* h2_request.c */
void h2_callbacks(nghttp2_session_callbacks *cb);
struct stream *h2_stream(struct h2 *h, int32_t id);
void h2_stream_free(struct h2 *h, struct stream *s);
/* h2.c: ends the stream or connection as the answer's `after` says. */
void h2_end_badly(struct h2 *h, struct stream *s);
void h2_noise(struct h2 *h);
void h2_quiet(struct h2 *h, uint64_t bytes);
