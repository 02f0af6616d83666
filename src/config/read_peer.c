/* bench.peers: other servers, which the same scenarios are put to. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "config/keys.h"
#include "config/values.h"

#define TIMEOUT_MIN (100 * NS_PER_MS)
#define TIMEOUT_MAX (24 * 3600 * NS_PER_S)

static void read_peer(
	struct problems *ps, const struct node *name, const struct node *n, struct plan_peer *p)
{
	p->name = xstrdup(name->text);
	service_init(&p->service, name);
	keys_read(ps, &table_peer, n, &p->service);
}

void read_peers(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_bench *b = target;

	if (n->kind != NODE_MAPPING) {
		auto_free char *what = node_describe(n);

		problem_add(ps, n, "'peers' must be a mapping of names to how each is run, not %s",
			what);
		return;
	}
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		b->peers = xreallocarray(b->peers, b->n_peers + 1, sizeof(*b->peers));
		read_peer(ps, n->items[i], n->items[i + 1], &b->peers[b->n_peers++]);
	}
}

static void copy_files(struct plan_service *to, const struct plan_service *from)
{
	to->files = xcalloc(from->n_files + 1, sizeof(*to->files));
	to->n_files = from->n_files;
	for (size_t i = 0; i < from->n_files; i++)
		to->files[i] = (struct plan_document){
			.path = xstrdup(from->files[i].path),
			.bytes = from->files[i].bytes,
			.text = from->files[i].text ? xstrdup(from->files[i].text) : NULL,
		};
}

/* The scenarios name its ports, its files and, by {work}, its folder: they are a peer's, too. */
void peer_complete(struct plan_peer *p, const struct plan_service *subject, bool own_ready)
{
	struct plan_service *s = &p->service;

	free(s->name);
	s->name = xstrdup(subject->name);
	s->subject = true;
	strv_add_all(&s->ports, &subject->ports);
	copy_files(s, subject);
	if (own_ready)
		return;
	s->ready = subject->ready;
	s->ready_arg = subject->ready_arg ? xstrdup(subject->ready_arg) : NULL;
	s->ready_timeout_ns = subject->ready_timeout_ns;
	s->ready_port = subject->ready_port ? xstrdup(subject->ready_port) : NULL;
}

#define PEER(field) offsetof(struct plan_service, field)
static const struct key peer[] = {
	{"run", KEY_TEXT, PEER(run), .required = true,
		.doc = "Command line, as of a service. `{binary}` is not known here."},
	{"ready", KEY_PART, .read = read_ready, .doc = "As of a service; default: the subject's."},
	{"stop", KEY_PART, .read = read_stop, .doc = "As of a service; default TERM."},
	{"stop-timeout", KEY_DURATION, PEER(stop_timeout_ns), TIMEOUT_MIN, TIMEOUT_MAX,
		.doc = "As of a service; default 30s."},
	{"env", KEY_ENV, PEER(env), .doc = "As of a service."},
	{"cwd", KEY_TEXT, PEER(cwd), .doc = "As of a service; default `{work}`."},
	{"setup", KEY_TEXT, PEER(setup), .doc = "As of a service."},
	{"template", KEY_PART, .read = read_templates, .doc = "As of a service."},
	{"user", KEY_TEXT, PEER(user), .doc = "As of a service."},
	{"pid-file", KEY_PATH, PEER(pid_file), .doc = "As of a service."},
};
const struct key_table table_peer = {"bench.peers.NAME", peer, ARRAY_SIZE(peer)};
