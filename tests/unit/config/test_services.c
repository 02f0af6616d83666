/* Services: the order of their starts, settings, what is put into their folders. */
#include "tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "config/plan.h"

#define HEAD                                                                                       \
	"project: app\n"                                                                           \
	"build: {tool: make, binary: app}\n"                                                       \
	"train:\n"
#define PHASES "  phases: [{name: one, http: {requests: 10, get: /}}]\n"

/* A plan in a folder of its own, with a template beside it. */
struct project {
	char folder[32];
	struct plan plan;
};

static void project_open(struct project *p, const char *text, const char *template)
{
	struct error err = ERROR_INIT;
	auto_free char *yaml = NULL, *conf = NULL;

	snprintf(p->folder, sizeof(p->folder), "/tmp/whet-services-XXXXXX");
	assert_non_null(mkdtemp(p->folder));
	yaml = path_join(p->folder, "whet.yaml");
	conf = path_join(p->folder, "app.conf.in");
	assert_int_equal(file_write_atomic(yaml, text, strlen(text), 0644, NULL), 0);
	assert_int_equal(file_write_atomic(conf, template, strlen(template), 0644, NULL), 0);
	if (plan_read(yaml, &p->plan, &err) < 0)
		fail_msg("%s", err.msg);
}

static void project_close(struct project *p)
{
	plan_release(&p->plan);
	assert_int_equal(tree_remove(p->folder, NULL), 0);
}

static const char two_settings[] =
	HEAD "  services:\n"
	     "    origin: {builtin: origin}\n"
	     "    app:\n"
	     "      run: 'app {port} --http1 {matrix.http1} --log {matrix.instance.log}'\n"
	     "      subject: true\n"
	     "      matrix:\n"
	     "        http1: [default, experimental]\n"
	     "        instance:\n"
	     "          logged: {log: 'on', cert: '{cert:ecdsa}'}\n"
	     "          quiet: {cert: '{cert:rsa}', log: 'off'}\n"
	     "    side: {run: 'side {port}', matrix: {kind: [x]}}\n"
	     "  phases:\n"
	     "    - {name: all, http: {requests: 10, get: /}}\n"
	     "    - {name: some, matrix: {http1: experimental}, http: {requests: 10, get: /}}\n"
	     "    - {name: both, matrix: {instance: [quiet, logged]}, http: {requests: 10, get: "
	     "/}}\n"
	     "    - {name: one, matrix: {instance: quiet, http1: [default]}, run: '{binary}'}\n";

static void assert_setting(const struct plan *p, size_t i, const char *expected)
{
	auto_free char *text = plan_combination_text(p, i);

	assert_string_equal(text, expected);
}

void test_combinations(void **state)
{
	struct project pr = {0};
	struct plan *p = &pr.plan;
	auto_strv struct strv vars = STRV_INIT;
	bool runs[4][4];

	project_open(&pr, two_settings, "");
	assert_int_equal(plan_combinations(p), 4);
	assert_setting(p, 0, "http1=default, instance=logged, kind=x");
	assert_setting(p, 1, "http1=default, instance=quiet, kind=x");
	assert_setting(p, 2, "http1=experimental, instance=logged, kind=x");
	assert_setting(p, 3, "http1=experimental, instance=quiet, kind=x");
	assert_int_equal(plan_first_changed(p, 0, 1), 1);
	assert_int_equal(plan_first_changed(p, 1, 2), 1);
	assert_int_equal(plan_first_changed(p, 2, 2), 3);

	strv_add(&vars, "cert:rsa=/certs/rsa.crt");
	strv_add(&vars, "cert:ecdsa=/certs/ecdsa.crt");
	assert_int_equal(plan_combination_vars(p, 3, &vars, NULL), 0);
	assert_string_equal(env_get(&vars, "matrix.http1"), "experimental");
	assert_string_equal(env_get(&vars, "matrix.instance"), "quiet");
	assert_string_equal(env_get(&vars, "matrix.instance.log"), "off");
	assert_string_equal(env_get(&vars, "matrix.instance.cert"), "/certs/rsa.crt");
	assert_int_equal(plan_combination_vars(p, 0, &vars, NULL), 0);
	assert_string_equal(env_get(&vars, "matrix.http1"), "default");
	assert_string_equal(env_get(&vars, "matrix.instance.log"), "on");
	assert_string_equal(env_get(&vars, "matrix.instance.cert"), "/certs/ecdsa.crt");
	assert_int_equal(p->train.certs, PLAN_CERT_RSA | PLAN_CERT_ECDSA);

	for (size_t i = 0; i < 4; i++)
		for (size_t c = 0; c < 4; c++)
			runs[i][c] = plan_phase_runs_in(p, &p->train.phases[i], c);
	assert_memory_equal(runs[0], ((bool[]){true, true, true, true}), 4);
	assert_memory_equal(runs[1], ((bool[]){false, false, true, true}), 4);
	assert_memory_equal(runs[2], ((bool[]){true, true, true, true}), 4);
	assert_memory_equal(runs[3], ((bool[]){false, true, false, false}), 4);
	project_close(&pr);
}

void test_without_matrix(void **state)
{
	struct project pr = {0};

	project_open(
		&pr, HEAD "  services: {app: {run: 'app {port}', subject: true}}\n" PHASES, "");
	assert_int_equal(plan_combinations(&pr.plan), 1);
	assert_null(plan_combination_text(&pr.plan, 0));
	assert_true(plan_phase_runs_in(&pr.plan, &pr.plan.train.phases[0], 0));
	assert_int_equal(pr.plan.train.certs, 0);
	project_close(&pr);
}

static void assert_order(const char *services, const char *expected)
{
	auto_free char *text = xasprintf(HEAD "  services:\n%s" PHASES, services);
	auto_strv struct strv names = STRV_INIT;
	auto_free char *order = NULL;
	struct project pr = {0};

	project_open(&pr, text, "");
	for (size_t i = 0; i < pr.plan.train.n_services; i++)
		strv_add(&names, pr.plan.train.services[i].name);
	order = strv_join(&names, " ");
	assert_string_equal(order, expected);
	project_close(&pr);
}

void test_start_order(void **state)
{
	assert_order("    a: {run: a, subject: true}\n    b: {run: b}\n    c: {run: c}\n", "a b c");
	/* a waits for c, which waits for nothing: b keeps its place before c. */
	assert_order("    a: {run: 'a {c.port}', subject: true, after: c}\n    b: {run: b}\n"
		     "    c: {run: c}\n    d: {run: '{a.url}'}\n",
		"b c a d");
	assert_order("    a: {run: a, subject: true, after: [d, b]}\n    b: {run: b, after: [d]}\n"
		     "    c: {run: c}\n    d: {run: d, after: [c]}\n",
		"c d b a");
}

#define CONTENT                                                                                    \
	HEAD "  files: {up/form.txt: 5 KB}\n"                                                      \
	     "  services:\n"                                                                       \
	     "    app:\n"                                                                          \
	     "      run: 'app {work}/app.conf'\n"                                                  \
	     "      subject: true\n"                                                               \
	     "      files: {docs/doc.html: 5KiB, big.bin: 10 MB, a.php: {text: 'x {y}'}}\n"        \
	     "      template: {conf/app.conf: app.conf.in}\n"                                      \
	     "      ports: [admin]\n"                                                              \
	     "      ready: {tcp: true, port: admin}\n" PHASES

void test_content(void **state)
{
	struct project pr = {0}, other = {0};
	const struct plan_service *s;

	project_open(&pr, CONTENT, "listen {port};\nroot {files}; key {key:rsa}; x {a b} {{z}\n");
	s = &pr.plan.train.services[0];
	assert_int_equal(pr.plan.train.n_files, 1);
	assert_string_equal(pr.plan.train.files[0].path, "up/form.txt");
	assert_int_equal(pr.plan.train.files[0].bytes, 5000);
	assert_int_equal(s->n_files, 3);
	assert_string_equal(s->files[0].path, "docs/doc.html");
	assert_int_equal(s->files[0].bytes, 5120);
	assert_int_equal(s->files[1].bytes, 10000000);
	assert_string_equal(s->files[2].text, "x {y}");
	assert_int_equal(s->n_templates, 1);
	assert_string_equal(s->templates[0].to, "conf/app.conf");
	assert_string_equal(s->templates[0].text,
		"listen {port};\nroot {files}; key {key:rsa}; x {a b} {{z}\n");
	assert_string_equal(s->ready_port, "admin");
	/* Used by a template alone. */
	assert_int_equal(pr.plan.train.certs, PLAN_CERT_RSA);
	/* Another text of the template is another training. */
	project_open(&other, CONTENT, "listen {port};\n");
	assert_string_not_equal(pr.plan.training_digest, other.plan.training_digest);
	assert_string_equal(pr.plan.build_digest, other.plan.build_digest);
	project_close(&other);
	project_close(&pr);
}

/* The first value is the one that is measured: its order counts, that of its words does not. */
void test_matrix_digest(void **state)
{
	static const char *const matrices[] = {
		"{a: [x, y], b: {p: {k: 1, l: 2}, q: {k: 3, l: 4}}}",
		"{a: [x, y], b: {p: {l: 2, k: 1}, q: {k: 3, l: 4}}}",
		"{a: [y, x], b: {p: {k: 1, l: 2}, q: {k: 3, l: 4}}}",
		"{a: [x, y], b: {q: {k: 3, l: 4}, p: {k: 1, l: 2}}}",
		"{b: {p: {k: 1, l: 2}, q: {k: 3, l: 4}}, a: [x, y]}",
	};
	char first[65];

	for (size_t i = 0; i < ARRAY_SIZE(matrices); i++) {
		auto_free char *text = xasprintf(HEAD "  services: {app: {run: app, subject: true, "
						      "matrix: %s}}\n" PHASES,
			matrices[i]);
		struct project pr = {0};

		project_open(&pr, text, "");
		if (i == 0)
			memcpy(first, pr.plan.training_digest, sizeof(first));
		if (i <= 1)
			assert_string_equal(pr.plan.training_digest, first);
		else
			assert_string_not_equal(pr.plan.training_digest, first);
		project_close(&pr);
	}
}
