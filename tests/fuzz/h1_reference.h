/* An independent reading of HTTP/1.1 messages, to compare the readers with: it sees all bytes at
 * once and is written for shortness, by the rules that src/http/http.h states. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define REFERENCE_FIELDS 128

enum reference_end {
	REFERENCE_BAD,  /* a reader has to refuse it */
	REFERENCE_MORE, /* it ends too early, and may be bad as well */
	REFERENCE_DONE, /* a reader has to take it */
};

struct reference_text {
	const char *p;
	size_t n;
};

struct reference {
	int status, minor;
	struct reference_text method, target;
	struct {
		struct reference_text name, value;
	} fields[REFERENCE_FIELDS];
	size_t n_fields;
	bool keep;        /* the connection goes on after it */
	bool until_close; /* the body ends with the connection */
	bool continues;   /* it waits for 100 Continue */
	size_t head_n, n; /* bytes of the head, of the whole */
	struct buf body;
};

/* The message at the front of the n bytes at p, after which the peer closes. Release m->body. */
enum reference_end reference_request(const char *p, size_t n, struct reference *m);
enum reference_end reference_response(const char *p, size_t n, bool to_head, struct reference *m);
/* The value of the field of this name, the index-th of them, or NULL in p. */
struct reference_text reference_field(const struct reference *m, const char *name, size_t index);
