/* train: and its services. */
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "config/keys.h"
#include "config/values.h"

#define TIMEOUT_MIN (100 * NS_PER_MS)
#define TIMEOUT_MAX (24 * 3600 * NS_PER_S)

#define COUNTED                                                                                    \
	"training is counted, not timed, because a slow machine must train the same profile as a " \
	"fast one; give 'requests' in http, or 'repeat' beside run"

static void read_builtin(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_service *s = target;

	if (!value_text(ps, n, "builtin", &s->builtin) || !strcmp(s->builtin, "origin"))
		return;
	problem_add(ps, n,
		"'builtin' must be 'origin', the only service that whet brings, not '%s'",
		s->builtin);
}

void read_stop(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = {{"TERM", SIGTERM}, {"INT", SIGINT}, {"QUIT", SIGQUIT}, {"HUP", SIGHUP},
		{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"WINCH", SIGWINCH}};
	struct plan_service *s = target;
	auto_free char *text = NULL;
	const char *name;

	if (!value_text(ps, n, "stop", &text))
		return;
	name = strncmp(text, "SIG", 3) ? text : text + 3;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (strcmp(signals[i].name, name))
			continue;
		s->stop_signal = signals[i].number;
		return;
	}
	if (!strcmp(name, "KILL"))
		problem_add(ps, n,
			"'stop: KILL' would lose the profile: a killed process writes none; "
			"use TERM, INT, QUIT, HUP, USR1, USR2 or WINCH");
	else
		problem_add(ps, n,
			"'stop' must be one of TERM, INT, QUIT, HUP, USR1, USR2, WINCH, not '%s'",
			text);
}

static void set_ready(struct problems *ps, const struct node *n, struct plan_service *s,
	enum ready_kind kind, char *arg)
{
	if (s->ready != READY_NONE) {
		problem_add(
			ps, n, "'ready' takes one of http, https, tcp, log, command, not several");
		free(arg);
		return;
	}
	s->ready = kind;
	s->ready_arg = arg;
}

static void read_ready_http(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	char *path = NULL;

	if (!value_text(ps, n, k->name, &path))
		return;
	if (path[0] != '/')
		problem_add(
			ps, n, "'%s' must be a path that begins with '/', not '%s'", k->name, path);
	set_ready(ps, n, target, !strcmp(k->name, "https") ? READY_HTTPS : READY_HTTP, path);
}

static void read_ready_tcp(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	bool on = false;

	if (!value_bool(ps, n, "tcp", &on))
		return;
	if (!on)
		problem_add(ps, n, "'tcp' can only be true; leave it out, or write 'ready: none'");
	set_ready(ps, n, target, READY_TCP, NULL);
}

static void read_ready_text(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	char *text = NULL;

	if (value_text(ps, n, k->name, &text))
		set_ready(ps, n, target, !strcmp(k->name, "log") ? READY_LOG : READY_COMMAND, text);
}

void read_ready(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_service *s = target;
	size_t before = ps->n;

	free(take_ptr(s->ready_arg));
	s->ready = READY_NONE;
	if (n->kind == NODE_SCALAR && !strcmp(n->text, "none"))
		return;
	if (n->kind == NODE_SCALAR && !strcmp(n->text, "tcp")) {
		s->ready = READY_TCP;
		return;
	}
	if (n->kind == NODE_SCALAR) {
		auto_free char *what = node_describe(n);

		problem_add(ps, n,
			"'ready' must be tcp, none, or a mapping with one of http, https, tcp, "
			"log, command, not %s",
			what);
		return;
	}
	if (!keys_read(ps, &table_ready, n, s))
		return;
	if (s->ready == READY_NONE && ps->n == before)
		problem_add(ps, n,
			"'ready' lacks what is waited for: one of http, https, tcp, log, command");
}

/* The origin's ports beside its first one (docs/origin.md). */
static void add_builtin_ports(struct plan_service *s)
{
	static const char *const names[] = {"tls", "dead"};

	for (size_t i = 0; s->builtin && i < ARRAY_SIZE(names); i++) {
		if (!strv_has(&s->ports, names[i]))
			strv_add(&s->ports, names[i]);
	}
}

/* Keys that say how a program of the user's is run. */
static void without_program(struct problems *ps, const struct node *n, const char *name)
{
	static const char *const keys[] = {"user", "pid-file", "matrix"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (node_get(n, keys[i]))
			problem_add(ps, node_get(n, keys[i]),
				"'%s' has no effect on service '%s', which is part of whet",
				keys[i], name);
}

void service_init(struct plan_service *s, const struct node *name)
{
	*s = (struct plan_service){.name = xstrdup(name->text),
		.ready = READY_TCP,
		.ready_timeout_ns = 30 * NS_PER_S,
		.stop_signal = SIGTERM,
		.stop_timeout_ns = 30 * NS_PER_S,
		.at = {name->line, name->column}};
}

static void read_service(
	struct problems *ps, const struct node *name, const struct node *n, struct plan_service *s)
{
	service_init(s, name);
	if (!s->name[0] || s->name[strspn(s->name, "abcdefghijklmnopqrstuvwxyz"
						   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")])
		problem_add(ps, name,
			"a service's name may hold letters, digits, '_' and '-' only, not '%s'",
			s->name);
	if (!keys_read(ps, &table_service, n, s))
		return;
	if (!node_get(n, "run") && !node_get(n, "builtin"))
		problem_add(ps, name, "service '%s' lacks the key 'run' (or 'builtin')", s->name);
	if (node_get(n, "run") && node_get(n, "builtin"))
		problem_add(ps, name, "service '%s' has both 'run' and 'builtin'; give one of them",
			s->name);
	if (s->builtin && s->subject)
		problem_add(ps, node_get(n, "subject"),
			"service '%s' is part of whet and cannot be the subject of the training",
			s->name);
	add_builtin_ports(s);
	if (s->subject && s->when)
		problem_add(ps, node_get(n, "when"),
			"service '%s' is the subject and cannot be left out; give 'when' to its "
			"phases",
			s->name);
	if (s->builtin)
		without_program(ps, n, s->name);
}

void read_services(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_train *t = target;

	if (n->kind != NODE_MAPPING) {
		auto_free char *what = node_describe(n);

		problem_add(
			ps, n, "'services' must be a mapping of names to services, not %s", what);
		return;
	}
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		t->services = xreallocarray(t->services, t->n_services + 1, sizeof(*t->services));
		read_service(ps, n->items[i], n->items[i + 1], &t->services[t->n_services++]);
	}
}

static void read_network(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_train *t = target;
	auto_free char *text = NULL;

	if (!value_text(ps, n, k->name, &text))
		return;
	t->private_network = !strcmp(text, "private");
	if (!t->private_network && strcmp(text, "host") != 0)
		problem_add(ps, n, "'network' must be host or private, not '%s'", text);
}

#define TRAIN(field) offsetof(struct plan_train, field)
static const struct key train[] = {
	{"seed", KEY_U64, TRAIN(seed), 0, UINT64_MAX,
		.doc = "Of the order of mixed requests and of generated files; default 1."},
	{"emulator", KEY_TEXT, TRAIN(emulator),
		.doc = "Command that runs programs of the target on this machine, split into words "
		       "by shell rules; default: qemu-user's, when the target has another "
		       "processor ([Cross builds](cross.md))."},
	{"network", KEY_PART, .read = read_network,
		.doc = "`host` (default), or `private`: services and driver have a network of "
		       "their own, whose loopback has an MTU of 1500."},
	{"files", KEY_PART, .read = read_train_files,
		.doc = "Files to make in the folder `{files}`: a mapping of paths to sizes, or to "
		       "`{text: …}`."},
	{"services", KEY_PART, .read = read_services,
		.doc = "Programs to start before the phases, by name, in this order (see `after`); "
		       "stopped in reverse."},
	{"phases", KEY_PART, .read = read_phases, .required = true,
		.doc = "What is done with them: a list."},
	{"seconds", KEY_REFUSED, .text = COUNTED, .doc = "Training is counted, not timed."},
	{"duration", KEY_REFUSED, .text = COUNTED, .doc = "Training is counted, not timed."},
};
const struct key_table table_train = {"train", train, ARRAY_SIZE(train)};

#define SERVICE(field) offsetof(struct plan_service, field)
static const struct key service[] = {
	{"run", KEY_TEXT, SERVICE(run),
		.doc = "Command line, split into words by shell rules and started without a "
		       "shell."},
	{"builtin", KEY_PART, .read = read_builtin,
		.doc = "`origin`: whet's own upstream server, in place of `run`; its ports are "
		       "`tls` "
		       "and `dead` beside the first one ([The origin](origin.md))."},
	{"subject", KEY_BOOL, SERVICE(subject),
		.doc = "true for the one service that is trained and measured."},
	{"ready", KEY_PART, .read = read_ready,
		.doc = "When it counts as started: `tcp` (default), `none`, or a mapping."},
	{"stop", KEY_PART, .read = read_stop,
		.doc = "Signal that stops it: TERM (default), INT, QUIT, HUP, USR1, USR2, WINCH."},
	{"stop-timeout", KEY_DURATION, SERVICE(stop_timeout_ns), TIMEOUT_MIN, TIMEOUT_MAX,
		.doc = "How long it may take to stop; default 30s."},
	{"env", KEY_ENV, SERVICE(env), .doc = "Environment on top of the present one."},
	{"cwd", KEY_TEXT, SERVICE(cwd), .doc = "Working folder; default `{work}`."},
	{"setup", KEY_TEXT, SERVICE(setup),
		.doc = "Shell command run in `{work}` before each start."},
	{"ports", KEY_LIST, SERVICE(ports), .doc = "Names of further free ports: `{port.NAME}`."},
	{"after", KEY_LIST, SERVICE(after),
		.doc = "Services that must be ready before it starts; they may stand further "
		       "down."},
	{"when", KEY_TEXT, SERVICE(when),
		.doc = "Shell command; the service, and the phases that ask it, are skipped when "
		       "it "
		       "fails."},
	{"files", KEY_PART, .read = read_service_files,
		.doc = "Files to make in `{work}`: a mapping of paths to sizes, or to `{text: "
		       "…}`."},
	{"template", KEY_PART, .read = read_templates,
		.doc = "Files to make in `{work}` out of templates: a mapping of paths to files of "
		       "the project (relative to whet.yaml), whose placeholders are replaced."},
	{"user", KEY_TEXT, SERVICE(user),
		.doc = "User (name or number) as whom it runs, when whet is root."},
	{"pid-file", KEY_PATH, SERVICE(pid_file),
		.doc = "File in `{work}` with the pid that gets the stop signal, of a server that "
		       "puts itself into the background."},
	{"matrix", KEY_PART, .read = read_matrix,
		.doc = "Settings for each of which all phases run: a mapping of names to values."},
	{"seconds", KEY_REFUSED, .text = COUNTED, .doc = "Training is counted, not timed."},
	{"duration", KEY_REFUSED, .text = COUNTED, .doc = "Training is counted, not timed."},
};
const struct key_table table_service = {"train.services.NAME", service, ARRAY_SIZE(service)};

static const struct key ready[] = {
	{"http", KEY_PART, .read = read_ready_http,
		.doc = "Path on `{port}` that must answer with a status from 200 to 499: a "
		       "redirect "
		       "or a 404 is an answer of a server that is up."},
	{"https", KEY_PART, .read = read_ready_http,
		.doc = "The same over TLS, with any certificate."},
	{"tcp", KEY_PART, .read = read_ready_tcp, .doc = "`true`: `{port}` accepts a connection."},
	{"log", KEY_PART, .read = read_ready_text, .doc = "Text that must appear in its output."},
	{"command", KEY_PART, .read = read_ready_text,
		.doc = "Shell command, repeated until it succeeds."},
	{"port", KEY_TEXT, SERVICE(ready_port),
		.doc = "Named port that `http`, `https` or `tcp` asks in place of `{port}`."},
	{"timeout", KEY_DURATION, SERVICE(ready_timeout_ns), TIMEOUT_MIN, TIMEOUT_MAX,
		.doc = "How long it may take; default 30s."},
};
const struct key_table table_ready = {"train.services.NAME.ready", ready, ARRAY_SIZE(ready)};
