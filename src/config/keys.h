/* The tables that say what may stand in whet.yaml: one per mapping, one line per key. The reading
 * goes by them, and docs/whet-yaml.md is checked against them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strv.h"
#include "config/plan.h"
#include "config/problems.h"
#include "config/yaml.h"

struct key;

/* Reads a value whose shape no simple type describes. target: the struct of the table. */
typedef void key_fn(struct problems *ps, const struct key *k, const struct node *n, void *target);

enum key_type {
	KEY_TEXT,     /* char * */
	KEY_NAME,     /* char *: letters, digits, '.', '_', '-', '+', '~' */
	KEY_PATH,     /* char *: relative, without ".." */
	KEY_LIST,     /* struct strv: one text, or a list of texts */
	KEY_PATHS,    /* struct strv: the same with relative paths */
	KEY_ENV,      /* struct strv: a mapping NAME: value */
	KEY_BOOL,     /* bool */
	KEY_U32,      /* uint32_t, min to max */
	KEY_U64,      /* uint64_t */
	KEY_I64,      /* int64_t */
	KEY_WEIGHT,   /* double */
	KEY_PERCENT,  /* double, 0.005 for 0.5 % */
	KEY_DURATION, /* uint64_t, nanoseconds */
	KEY_SIZE,     /* int64_t, bytes */
	KEY_PART,     /* read by its function; NULL: by the reader of the whole mapping */
	KEY_REFUSED,  /* always an error; text: the reason */
	KEY_LATER,    /* of a later version; text: the only value that this one takes, or NULL */
};

struct key {
	const char *name;
	enum key_type type;
	size_t at; /* offset of the field in the table's struct */
	uint64_t min, max;
	const char *text;
	key_fn *read;
	bool required;
	const char *doc;
};

struct key_table {
	const char *name; /* as in the documentation: "train.phases[].http" */
	const struct key *keys;
	size_t n;
};

extern const struct key_table table_top, table_build, table_pgo, table_train, table_service,
	table_ready, table_phase, table_http, table_request, table_expect, table_body,
	table_websocket, table_events, table_run_expect, table_output, table_content, table_gates,
	table_worse, table_bench, table_peer, table_release, table_variant, table_layout;
/* All of them, in the order of the documentation; NULL at the end. */
extern const struct key_table *const key_tables[];

/* Reads a mapping by its table into target. Unknown and missing keys, wrong types and values go to
 * ps. false when n is no mapping. */
bool keys_read(struct problems *ps, const struct key_table *t, const struct node *n, void *target);
/* Relative and without "..". */
bool key_is_relative(const char *path);
/* "text", "duration", … for the documentation. */
const char *key_type_name(const struct key *k);
/* "a, b, c": the keys that may be used. Caller frees. */
char *keys_list(const struct key_table *t);

void read_build(struct problems *ps, const struct key *k, const struct node *n, void *target);
/* read_pgo.c */
/* target: struct plan_pgo */
void read_order(struct problems *ps, const struct key *k, const struct node *n, void *target);
void read_untrained(struct problems *ps, const struct key *k, const struct node *n, void *target);
void read_pgo(struct problems *ps, const struct key *k, const struct node *n, void *target);
/* read_layout.c; target: struct plan */
void read_layout(struct problems *ps, const struct key *k, const struct node *n, void *target);
void read_layout_value(
	struct problems *ps, const struct key *k, const struct node *n, struct plan_layout *ret);
/* read_variants.c */
void read_lto(struct problems *ps, const struct node *n, enum plan_lto *ret);
void read_cpu(struct problems *ps, const struct node *n, char **ret);
/* target: struct plan */
void read_variants(struct problems *ps, const struct key *k, const struct node *n, void *target);
/* When build:, pgo: and bench: have been read: what a variant leaves out is taken from there. */
void check_variants(struct problems *ps, const struct node *root, struct plan *p);
void variants_release(struct plan_variant *v, size_t n);
void read_services(struct problems *ps, const struct key *k, const struct node *n, void *target);
/* Of a service; target: struct plan_service. */
void read_ready(struct problems *ps, const struct key *k, const struct node *n, void *target);
void read_stop(struct problems *ps, const struct key *k, const struct node *n, void *target);
void service_init(struct plan_service *s, const struct node *name);
void service_release(struct plan_service *s);
/* read_peer.c */
void read_peers(struct problems *ps, const struct key *k, const struct node *n, void *target);
/* What a peer has from the subject; own_ready: not its readiness. */
void peer_complete(struct plan_peer *p, const struct plan_service *subject, bool own_ready);
void read_phases(struct problems *ps, const struct key *k, const struct node *n, void *target);
/* A scenario of its own, held out of the training. */
void read_held_out(struct problems *ps, const struct node *n, struct plan_phase *ret);
void phase_release(struct plan_phase *ph);
/* matrix.c */
void read_matrix(struct problems *ps, const struct key *k, const struct node *n, void *target);
void read_phase_settings(
	struct problems *ps, const struct key *k, const struct node *n, void *target);
void axes_release(struct plan_service *s);
/* content.c */
void read_service_files(
	struct problems *ps, const struct key *k, const struct node *n, void *target);
void read_train_files(struct problems *ps, const struct key *k, const struct node *n, void *target);
void read_templates(struct problems *ps, const struct key *k, const struct node *n, void *target);
/* Reads the templates of a service and checks their placeholders. n: the value of 'template'. */
void check_templates(struct problems *ps, const struct node *n, const char *root,
	struct plan_service *s, const struct strv *names);
/* bench: its scenarios and peers may name some, too. */
void find_certs(const struct node *train, const struct node *bench, struct plan *p);
/* Adds the templates' content to a digest; leaves it as it is when there are none. */
void digest_templates(const struct plan_train *t, char hex[65]);
void documents_release(struct plan_document *v, size_t n);
void templates_release(struct plan_template *v, size_t n);
void read_headers(struct problems *ps, const struct node *n, bool any_value,
	struct plan_header **ret, size_t *ret_n);
void read_expect(struct problems *ps, const struct node *n, struct plan_expect *ret);
void read_request_part(
	struct problems *ps, const struct key *k, const struct node *n, void *target);
/* What one table does not say of a request: exactly one method, a body only where one may be. */
void finish_request(struct problems *ps, const struct node *n, struct plan_request *r);
/* read_stream.c: target: struct plan_request. */
void read_websocket(struct problems *ps, const struct key *k, const struct node *n, void *target);
void read_events(struct problems *ps, const struct key *k, const struct node *n, void *target);
/* What a request with one of them may not have. */
void check_stream(struct problems *ps, const struct plan_request *r, enum http_protocol protocol);
void expect_copy(const struct plan_expect *from, struct plan_expect *to);
void request_release(struct plan_request *r);
void expect_release(struct plan_expect *e);

/* read_run.c: of a run phase; target: struct plan_phase. */
void read_stdin(struct problems *ps, const struct key *k, const struct node *n, void *target);
void read_files(struct problems *ps, const struct key *k, const struct node *n, void *target);
void read_run_expect(struct problems *ps, const struct node *n, struct plan_batch *ret);
void batch_release(struct plan_batch *b);

/* order.c: puts the services into the order of their starts. */
void order_services(struct problems *ps, const struct node *services, struct plan_train *t);
/* check.c: what only the whole file shows. Orders services and reads templates, too. */
void check_plan(struct problems *ps, const struct node *root, struct plan *p);
/* digest.c: of a part's content, without comments, formatting, the order of unordered keys, and its
 * key `skip`.
 * n NULL: of nothing. */
void digest_node(const struct node *n, const char *skip, char hex[65]);
