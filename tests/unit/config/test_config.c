/* Valid files: every field, every default, digests. */
#include "tests.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "config/plan.h"

const char *config_folder, *docs_folder;

static void read_valid(const char *name, struct plan *p)
{
	auto_free char *path = xasprintf("%s/valid/%s", config_folder, name);
	struct error err = ERROR_INIT;

	if (plan_read(path, p, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(p->file, path);
	error_release(&err);
}

static int read_text(const char *text, struct plan *p, struct error *err)
{
	char path[] = "/tmp/whet-config-XXXXXX";
	int fd = mkstemp(path), rc;

	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
	close(fd);
	rc = plan_read(path, p, err);
	unlink(path);
	return rc;
}

static void test_full_build(void **state)
{
	struct plan p;

	read_valid("full.yaml", &p);
	assert_string_equal(p.project, "edge");
	assert_string_equal(p.version, "1.10");
	assert_int_equal(p.build.tool, TOOL_MAKE);
	assert_string_equal(p.build.target, "x86_64-unknown-linux-musl");
	assert_int_equal(p.build.binary.n, 2);
	assert_string_equal(p.build.binary.v[0], "objs/edge");
	assert_string_equal(p.build.binary.v[1], "objs/edge-ctl");
	assert_int_equal(p.build.env.n, 2);
	assert_string_equal(p.build.env.v[0], "EDGE_GIT_SHA={commit}");
	assert_string_equal(p.build.env.v[1], "EMPTY=");
	assert_string_equal(p.build.args.v[1], "CC={cc}");
	assert_string_equal(p.build.configure, "./configure --with-cc={cc}");
	assert_null(p.build.run);
	assert_string_equal(p.build.compiler, "clang-22");
	assert_string_equal(p.build.cxx, "clang++-22");
	assert_string_equal(p.build.dir, "src");
	assert_int_equal(p.build.exclude.n, 2);
	assert_string_equal(p.build.include.v[0], "vendor/*.a");
	assert_true(p.build.timeout_ns == 120000000000);
	assert_int_equal(p.build.at.line, 5);
	assert_int_equal(p.build.at.column, 3);
	assert_string_equal(p.pgo.instrument_linker, "cc");
	assert_true(p.pgo.context_sensitive);
	assert_int_equal(p.pgo.untrained, UNTRAINED_NEUTRAL);
	assert_int_equal(p.gates.min_functions, 2000);
	assert_int_equal(p.gates.max_missing, 0);
	assert_true(p.gates.stale == 0.05);
	assert_true(p.gates.worse_margin == 0.5 / 100);
	assert_true(p.gates.worse_undecided);
	assert_true(p.bench.enabled);
	assert_int_equal(p.bench.scenarios.n, 1);
	assert_string_equal(p.bench.scenarios.v[0], "script");
	assert_int_equal(p.bench.launches, 12);
	assert_int_equal(p.bench.slices, 4);
	assert_int_equal(p.bench.slice_ns, 20000000);
	assert_int_equal(p.bench.seed, 3);
	assert_int_equal(p.bench.counters, BENCH_COUNTERS_CALLGRIND);
	assert_int_equal(p.bench.relinks, 5);
	assert_false(p.release.strip);
	assert_string_equal(p.release.files.v[0], "README.md");
	plan_release(&p);
}

static void test_full_services(void **state)
{
	const struct plan_service *s;
	struct plan p;

	read_valid("full.yaml", &p);
	assert_int_equal(p.train.seed, 7);
	assert_int_equal(p.train.n_services, 5);
	s = &p.train.services[0];
	assert_string_equal(s->name, "origin");
	assert_string_equal(s->builtin, "origin");
	assert_null(s->run);
	assert_int_equal(s->ready, READY_TCP);
	s = plan_subject(&p);
	assert_ptr_equal(s, &p.train.services[1]);
	assert_string_equal(s->name, "edge");
	assert_int_equal(s->ready, READY_HTTP);
	assert_string_equal(s->ready_arg, "/health");
	assert_int_equal(s->ready_timeout_ns, 5000000000);
	assert_int_equal(s->stop_signal, SIGQUIT);
	assert_int_equal(s->stop_timeout_ns, 60000000000);
	assert_string_equal(s->env.v[0], "A=1");
	assert_string_equal(s->cwd, "{work}/sub");
	assert_string_equal(s->setup, "mkdir sub; echo \"${HOME} {port.admin}\"");
	assert_string_equal(s->ports.v[0], "admin");
	assert_int_equal(s->at.line, 22);
	assert_int_equal(s->at.column, 5);
	assert_int_equal(p.train.services[2].ready, READY_LOG);
	assert_string_equal(p.train.services[2].ready_arg, "started");
	assert_int_equal(p.train.services[2].stop_signal, SIGINT);
	assert_int_equal(p.train.services[3].ready, READY_COMMAND);
	assert_int_equal(p.train.services[4].ready, READY_NONE);
	plan_release(&p);
}

static void test_full_document_phase(void **state)
{
	const struct plan_phase *ph;
	const struct plan_request *r;
	struct plan p;

	read_valid("full.yaml", &p);
	assert_int_equal(p.train.n_phases, 3);
	ph = plan_find_phase(&p, "document");
	assert_non_null(ph);
	assert_int_equal(ph->kind, PHASE_HTTP);
	assert_true(ph->weight == 2.5);
	assert_string_equal(ph->when, "command -v true");
	assert_int_equal(ph->timeout_ns, 90000000000);
	assert_int_equal(ph->http.connections, 64);
	assert_int_equal(ph->http.requests, 200000);
	assert_int_equal(ph->http.reuse, 1);
	assert_null(ph->http.service);
	assert_int_equal(ph->http.n_mix, 1);
	r = &ph->http.mix[0];
	assert_string_equal(r->method, "GET");
	assert_string_equal(r->path, "/doc.html");
	assert_int_equal(r->weight, 1);
	assert_int_equal(r->expect.status, 200);
	assert_int_equal(r->expect.bytes, 5120);
	assert_int_equal(r->expect.n_headers, 2);
	assert_string_equal(r->expect.headers[0].name, "ETag");
	assert_null(r->expect.headers[0].value);
	assert_string_equal(r->expect.headers[1].value, "text/html");
	ph = plan_find_phase(&p, "script");
	assert_int_equal(ph->kind, PHASE_RUN);
	assert_int_equal(ph->repeat, 3);
	assert_string_equal(ph->run, "./train.sh {url} {port.admin} {binary.edge-ctl}");
	assert_null(plan_find_phase(&p, "nothing"));
	plan_release(&p);
}

static void test_full_mix_phase(void **state)
{
	const struct plan_http *h;
	struct plan p;

	read_valid("full.yaml", &p);
	h = &plan_find_phase(&p, "mix")->http;
	assert_int_equal(
		h->connections, 20); /* the default of 32 would be more than the requests */
	assert_int_equal(h->reuse, 100);
	assert_string_equal(h->service, "edge");
	assert_string_equal(h->port, "admin");
	assert_int_equal(h->n_mix, 6);
	assert_int_equal(h->mix[0].weight, 5);
	assert_int_equal(h->mix[0].expect.status, 200);
	assert_int_equal(h->mix[0].expect.bytes, -1);
	assert_string_equal(h->mix[1].headers[0].value, "\"x\"");
	assert_string_equal(h->mix[1].headers[1].name, "Host");
	assert_int_equal(h->mix[1].expect.status, 304);
	assert_string_equal(h->mix[1].expect.body, "");
	assert_string_equal(h->mix[2].method, "POST");
	assert_int_equal(h->mix[2].body_bytes, 4000);
	assert_int_equal(h->mix[2].expect.status, 200);
	assert_string_equal(h->mix[2].expect.body_file, "{source}/x");
	assert_string_equal(h->mix[3].method, "PUT");
	assert_string_equal(h->mix[3].body_text, "text");
	assert_int_equal(h->mix[3].expect.status, 404); /* the phase's */
	assert_string_equal(h->mix[4].method, "DELETE");
	assert_string_equal(h->mix[4].body_file, "{work}/f");
	assert_string_equal(h->mix[5].method, "HEAD");
	assert_int_equal(h->mix[5].at.line, 51);
	assert_int_equal(h->mix[5].at.column, 11);
	plan_release(&p);
}

/* A peer has the subject's ports, files and readiness, unless it gives its own. */
static void test_peers(void **state)
{
	const struct plan_peer *peer;
	size_t combination = 9;
	struct plan p;

	read_valid("peers.yaml", &p);
	/* A scenario may say with which setting. */
	assert_ptr_equal(
		plan_find_scenario(&p, p.bench.scenarios.v[0], &combination), &p.train.phases[0]);
	assert_int_equal(combination, 1);
	assert_ptr_equal(plan_find_scenario(&p, "one", &combination), &p.train.phases[0]);
	assert_int_equal(combination, 0);
	assert_null(plan_find_scenario(&p, "", NULL));
	assert_null(plan_find_scenario(&p, " [", NULL));
	assert_null(plan_find_scenario(&p, "one [log=maybe]", NULL));
	assert_null(plan_find_scenario(&p, "one[log=off]", NULL));
	assert_null(plan_find_scenario(&p, " [log=off]", NULL));
	assert_int_equal(p.bench.n_peers, 2);
	assert_null(plan_find_peer(&p, "edge"));
	peer = plan_find_peer(&p, "other");
	assert_string_equal(peer->service.name, "edge");
	assert_true(peer->service.subject);
	assert_int_equal(peer->service.ready, READY_HTTPS);
	assert_string_equal(peer->service.ready_arg, "/health");
	assert_string_equal(peer->service.ready_port, "tls");
	assert_true(peer->service.ready_timeout_ns == 7000000000);
	assert_int_equal(peer->service.stop_signal, SIGQUIT);
	assert_string_equal(peer->service.ports.v[0], "tls");
	assert_int_equal(peer->service.n_files, 1);
	assert_true(peer->service.files[0].bytes == 5120);
	assert_int_equal(p.train.certs, PLAN_CERT_ECDSA);
	peer = plan_find_peer(&p, "by log");
	assert_int_equal(peer->service.ready, READY_LOG);
	assert_null(peer->service.ready_port);
	assert_int_equal(peer->service.stop_signal, SIGTERM);
	plan_release(&p);
}

/* Scenarios of their own are measured where they stand, and are no phases. */
static void test_held_out(void **state)
{
	const struct plan_phase *ph;
	char digest[65];
	struct plan p;

	read_valid("held-out.yaml", &p);
	assert_int_equal(p.train.n_phases, 2);
	assert_int_equal(p.bench.n_held_out, 3);
	assert_int_equal(p.bench.scenarios.n, 4);
	assert_string_equal(p.bench.scenarios.v[0], "three");
	assert_string_equal(p.bench.scenarios.v[1], "two");
	assert_string_equal(p.bench.scenarios.v[3], "five");
	assert_null(plan_find_phase(&p, "three"));
	ph = plan_find_scenario(&p, "three", NULL);
	assert_true(ph->held_out && ph->weight == 3 && ph->http.requests == 5);
	ph = plan_find_scenario(&p, "four", NULL);
	assert_true(ph->held_out && ph->weight == 0.5 && ph->http.connections == 32);
	assert_int_equal(ph->http.mix[0].expect.status, 200);
	assert_int_equal(p.train.certs, PLAN_CERT_RSA);
	ph = plan_find_scenario(&p, "five", NULL);
	assert_true(ph->held_out && ph->weight == 0 && ph->kind == PHASE_RUN);
	assert_false(plan_find_scenario(&p, "two", NULL)->held_out);
	assert_true(p.bench.until_resolved == 0.005);
	assert_int_equal(p.bench.resolve.n, 2);
	assert_true(p.bench.time_limit_ns == 1800000000000);
	memcpy(digest, p.training_digest, sizeof(digest));
	plan_release(&p);
	/* The training is the same without them. */
	assert_int_equal(read_text("project: edge\nbuild: {tool: make, binary: edge}\ntrain:\n"
				   "  services: {edge: {subject: true, run: \"{binary} {port}\"}}\n"
				   "  phases:\n"
				   "    - {name: one, weight: 3, http: {requests: 5, get: /}}\n"
				   "    - {name: two, run: \"{binary} x\"}\n",
				 &p, NULL),
		0);
	assert_string_equal(p.training_digest, digest);
	assert_int_equal(p.bench.time_limit_ns, 0);
	plan_release(&p);
}

static void test_protocols(void **state)
{
	const struct plan_http *h;
	struct plan p;

	read_valid("protocols.yaml", &p);
	h = &plan_find_phase(&p, "plain")->http;
	assert_int_equal(h->protocol, PROTOCOL_H1);
	assert_int_equal(h->streams, 1);
	assert_true(h->resume);
	assert_int_equal(h->rate, 0);
	assert_string_equal(h->mix[0].method, "OPTIONS");
	assert_string_equal(h->mix[0].path, "*");
	h = &plan_find_phase(&p, "h2")->http;
	assert_int_equal(h->protocol, PROTOCOL_H2_TLS);
	assert_int_equal(h->streams, 8);
	assert_false(h->resume);
	assert_int_equal(h->rate, 500);
	assert_int_equal(h->mix[0].n_learned, 2);
	assert_string_equal(h->mix[0].learned[0].name, "if-none-match");
	assert_int_equal(h->mix[0].learned[0].from, 2);
	assert_string_equal(h->mix[0].learned[1].name, "cookie");
	assert_int_equal(h->mix[0].learned[1].from, 1);
	assert_int_equal(h->mix[0].expect.n_any, 0);
	assert_int_equal(h->mix[0].expect.status, 304);
	assert_int_equal(h->mix[1].body_chunk, 1024);
	assert_int_equal(h->mix[1].expect.n_any, 2); /* the phase's */
	assert_int_equal(h->mix[1].expect.any[1], 206);
	assert_int_equal(strlen(h->mix[2].expect.sha256), 64);
	assert_string_equal(h->mix[3].method, "PATCH");
	assert_string_equal(h->mix[4].method, "TRACE");
	assert_string_equal(h->mix[5].method, "PURGE");
	assert_string_equal(h->mix[5].path, "/b");
	plan_release(&p);
}

static void test_streams(void **state)
{
	const struct plan_request *r;
	struct plan p;

	read_valid("streams.yaml", &p);
	r = plan_find_phase(&p, "socket")->http.mix;
	assert_int_equal(r->messages, 40);
	assert_int_equal(r->message_size, 1024);
	assert_int_equal(r->frame, 0);
	assert_false(r->binary);
	assert_int_equal(r->events, 0);
	assert_int_equal(r->expect.n_headers, 1);
	r = plan_find_phase(&p, "mix")->http.mix;
	assert_int_equal(r[0].messages, 0);
	assert_int_equal(r[0].expect.bytes, 5);
	assert_int_equal(r[1].messages, 2);
	assert_int_equal(r[1].message_size, 65536);
	assert_int_equal(r[1].frame, 1000);
	assert_true(r[1].binary);
	assert_int_equal(r[1].expect.status, 200); /* not the phase's */
	assert_int_equal(r[1].expect.bytes, -1);
	assert_int_equal(r[2].events, 7);
	assert_false(r[2].events_end);
	assert_int_equal(r[2].expect.bytes, -1);
	assert_int_equal(r[3].events, 3);
	assert_true(r[3].events_end);
	assert_int_equal(r[3].expect.status, 201);
	r = plan_find_phase(&p, "h2")->http.mix;
	assert_int_equal(r->events, 1);
	assert_false(r->events_end);
	plan_release(&p);
}

static void test_defaults(void **state)
{
	struct plan p;

	read_valid("small.yaml", &p);
	assert_null(p.version);
	assert_null(p.pgo.instrument_linker);
	assert_false(p.pgo.context_sensitive);
	assert_int_equal(p.pgo.untrained, UNTRAINED_COLD);
	assert_int_equal(p.build.tool, TOOL_CARGO);
	assert_string_equal(p.build.cargo, "cargo");
	assert_string_equal(p.build.dir, ".");
	assert_null(p.build.configure);
	assert_null(p.build.compiler);
	assert_true(p.build.timeout_ns == 3600000000000);
#ifdef __x86_64__
	assert_memory_equal(p.build.target, "x86_64-unknown-linux-", 21);
#endif
	assert_int_equal(p.train.seed, 1);
	assert_false(p.train.private_network);
	assert_null(plan_subject(&p));
	assert_true(p.train.phases[0].weight == 1);
	assert_int_equal(p.train.phases[0].repeat, 1);
	assert_int_equal(p.train.phases[0].timeout_ns, 300000000000);
	assert_int_equal(p.gates.min_functions, -1);
	assert_int_equal(p.gates.max_missing, -1);
	assert_true(p.gates.stale == 0.02);
	assert_true(p.gates.worse_margin == 0.02);
	assert_false(p.gates.worse_undecided);
	assert_true(p.bench.enabled);
	assert_int_equal(p.bench.launches, 10);
	assert_int_equal(p.bench.relinks, 0);
	assert_int_equal(p.bench.slices, 12);
	assert_int_equal(p.bench.slice_ns, 50000000);
	assert_int_equal(p.bench.scenarios.n, 1);
	assert_string_equal(p.bench.scenarios.v[0], "run");
	assert_true(p.release.strip);
	plan_release(&p);
}

static void test_anchors_and_merge_keys(void **state)
{
	struct plan p;

	read_valid("anchors.yaml", &p);
	assert_int_equal(p.train.n_phases, 3);
	assert_string_equal(p.train.phases[1].name, "two");
	assert_int_equal(p.train.phases[1].timeout_ns, 60000000000);
	assert_int_equal(p.train.phases[1].http.connections, 20);
	assert_int_equal(p.train.phases[1].http.requests, 100);
	assert_string_equal(p.train.phases[1].http.mix[0].path, "/one");
	assert_string_equal(p.train.phases[2].name, "three");
	assert_int_equal(p.train.phases[2].http.connections, 10);
	assert_true(p.train.phases[2].weight == 2);
	plan_release(&p);
}

static void test_batch_phases(void **state)
{
	const struct plan_batch *b;
	struct plan p;

	read_valid("batch.yaml", &p);
	assert_true(p.gates.worse_margin < 0);
	assert_true(p.train.private_network);
	b = &p.train.phases[0].batch;
	assert_int_equal(b->exit_code, 2);
	assert_true(b->has_input);
	assert_string_equal(b->input.text, "one\ntwo\n");
	assert_false(b->pty);
	assert_int_equal(b->n_files, 3);
	assert_string_equal(b->files[0].path, "a/in.txt");
	assert_int_equal(b->files[0].content.bytes, 3072);
	assert_string_equal(b->files[1].content.text, "");
	assert_int_equal(b->files[1].content.bytes, -1);
	assert_string_equal(b->files[2].content.file, "{source}/c.txt");
	assert_int_equal(b->n_outputs, 4);
	assert_null(b->outputs[0].path);
	assert_string_equal(b->outputs[0].text, "done\n");
	assert_int_equal(b->outputs[0].bytes, -1);
	assert_string_equal(b->outputs[1].path, "out.bin");
	assert_int_equal(b->outputs[1].bytes, 12);
	assert_string_equal(b->outputs[1].sha256,
		"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
	assert_string_equal(b->outputs[2].file, "expected.txt");
	assert_string_equal(b->outputs[3].text, "");
	b = &p.train.phases[1].batch;
	assert_true(b->pty);
	assert_string_equal(b->input.file, "typed.txt");
	assert_int_equal(b->outputs[0].bytes, 0);
	assert_int_equal(p.train.phases[2].batch.input.bytes, 4096);
	plan_release(&p);
}

#define HEAD "project: app\nbuild: {tool: make, binary: app}\n"
#define TRAIN "train: {phases: [{name: a, run: 'x {binary}'}]}\n"

static void same_digests(const char *a, const char *b, bool all, bool training, bool build)
{
	struct plan p, q;

	assert_int_equal(read_text(a, &p, NULL), 0);
	assert_int_equal(read_text(b, &q, NULL), 0);
	assert_int_equal(!strcmp(p.digest, q.digest), all);
	assert_int_equal(!strcmp(p.training_digest, q.training_digest), training);
	assert_int_equal(!strcmp(p.build_digest, q.build_digest), build);
	assert_int_equal(strlen(p.digest), 64);
	plan_release(&p);
	plan_release(&q);
}

static void test_digests(void **state)
{
	same_digests(HEAD TRAIN,
		"# a comment\ntrain:\n  phases:\n  - run: 'x {binary}'\n    name: a\nbuild:\n  "
		"binary: app\n"
		"  tool: make\nproject: \"app\"\n",
		true, true, true);
	same_digests(HEAD TRAIN, HEAD "train: {phases: [{name: a, run: 'y {binary}'}]}\n", false,
		false, true);
	same_digests(HEAD TRAIN, HEAD TRAIN "bench: false\n", false, true, true);
	same_digests(HEAD TRAIN, "project: app\nbuild: {tool: make, binary: b}\n" TRAIN, false,
		true, false);
	/* How long whet waits says nothing about what is built. But a variable of that name does.
	 */
	same_digests(HEAD TRAIN,
		"project: app\nbuild: {tool: make, binary: app, timeout: 2s}\n" TRAIN, false, true,
		true);
	same_digests("project: app\nbuild: {tool: make, binary: app, env: {timeout: '1'}}\n" TRAIN,
		"project: app\nbuild: {tool: make, binary: app, env: {timeout: '2'}}\n" TRAIN,
		false, true, false);
	/* The order of services is the order of their starts. */
	same_digests(HEAD "train: {services: {a: {run: a}, b: {run: b}}, phases: [{name: a, run: "
			  "'x {binary}'}]}\n",
		HEAD "train: {services: {b: {run: b}, a: {run: a}}, phases: [{name: a, run: 'x "
		     "{binary}'}]}\n",
		false, false, true);
	same_digests(HEAD "train: {phases: [{name: a, run: 'x {binary}', stdin: a}]}\n",
		HEAD "train: {phases: [{name: a, run: 'x {binary}', stdin: b}]}\n", false, false,
		true);
	/* A part does not flow into its neighbour. */
	same_digests(HEAD "train: {phases: [{name: ab, run: 'c {binary}'}]}\n",
		HEAD "train: {phases: [{name: a, run: 'bc {binary}'}]}\n", false, false, true);
}

static void test_bench_false(void **state)
{
	struct plan p;

	assert_int_equal(read_text(HEAD TRAIN "bench: false\n", &p, NULL), 0);
	assert_false(p.bench.enabled);
	assert_int_equal(p.bench.scenarios.n, 0);
	plan_release(&p);
}

static void test_root_and_missing_file(void **state)
{
	struct error err = ERROR_INIT;
	struct plan p;

	assert_int_equal(read_text(HEAD TRAIN, &p, NULL), 0);
	assert_string_equal(p.root, "/tmp");
	plan_release(&p);
	assert_int_equal(plan_read("/nonexistent/whet.yaml", &p, &err), -1);
	assert_int_equal(err.code, ERR_CONFIG);
	assert_non_null(strstr(err.msg, "/nonexistent/whet.yaml"));
	error_release(&err);
}

/* What a variant does not say is what build: says, wherever that stands. */
static void test_variants(void **state)
{
	struct plan p;
	const struct plan_variant *v;

	read_valid("variants.yaml", &p);
	assert_int_equal(p.build.lto, PLAN_LTO_FULL);
	assert_string_equal(p.build.cpu, "x86-64-v2");
	assert_int_equal(p.n_variants, 3);
	v = plan_find_variant(&p, "pgo+lto");
	assert_ptr_equal(v, &p.variants[0]);
	assert_int_equal(v->lto, PLAN_LTO_THIN);
	assert_string_equal(v->cpu, "x86-64-v2");
	assert_string_equal(v->file_name, "pgo+lto");
	assert_true(v->profile);
	assert_int_equal(v->pgo.untrained, UNTRAINED_COLD);
	assert_int_equal(v->at.line, 3);
	v = plan_find_variant(&p, "v3 without profile");
	assert_int_equal(v->lto, PLAN_LTO_DEFAULT);
	assert_string_equal(v->cpu, "x86-64-v3");
	assert_string_equal(v->file_name, "v3-without-profile");
	assert_false(v->profile);
	v = plan_find_variant(&p, "neutral");
	assert_int_equal(v->lto, PLAN_LTO_FULL);
	assert_null(v->cpu);
	assert_int_equal(v->pgo.untrained, UNTRAINED_NEUTRAL);
	assert_null(plan_find_variant(&p, "pgo"));
	plan_release(&p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_build),
		cmocka_unit_test(test_full_services),
		cmocka_unit_test(test_full_document_phase),
		cmocka_unit_test(test_full_mix_phase),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_held_out),
		cmocka_unit_test(test_protocols),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_anchors_and_merge_keys),
		cmocka_unit_test(test_batch_phases),
		cmocka_unit_test(test_digests),
		cmocka_unit_test(test_bench_false),
		cmocka_unit_test(test_root_and_missing_file),
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_rejects),
		cmocka_unit_test(test_file_size_limit),
		cmocka_unit_test(test_error_limit),
		cmocka_unit_test(test_documentation_has_every_key),
		cmocka_unit_test(test_combinations),
		cmocka_unit_test(test_without_matrix),
		cmocka_unit_test(test_start_order),
		cmocka_unit_test(test_content),
		cmocka_unit_test(test_matrix_digest),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_expand),
		cmocka_unit_test(test_edit_distance),
		cmocka_unit_test(test_durations_and_sizes),
	};

	if (argc != 3)
		return 2;
	config_folder = argv[1];
	docs_folder = argv[2];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
