/* A plan's http phase becomes requests for the driver. */
#include "script.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "load/mix.h"

/* A plan as plan_read() never leaves it: every default is still open. */
struct fixture {
	struct plan_service services[2];
	struct plan_header header;
	struct plan_request request;
	struct plan_phase phase;
	struct plan plan;
	struct strv vars;
};

static void fixture_open(struct fixture *f)
{
	*f = (struct fixture){0};
	f->services[0].name = (char *)"upstream";
	f->services[1] = (struct plan_service){.name = (char *)"edge", .subject = true};
	f->request.method = (char *)"POST";
	f->request.path = (char *)"/in";
	f->request.expect.bytes = -1;
	f->phase.http.requests = 1000;
	f->phase.http.mix = &f->request;
	f->phase.http.n_mix = 1;
	f->plan.train.services = f->services;
	f->plan.train.n_services = 2;
	f->plan.train.seed = 7;
	strv_add(&f->vars, "upstream.port=4001");
	strv_add(&f->vars, "edge.port=4002");
	strv_add(&f->vars, "edge.port.admin=4003");
}

static void make(struct fixture *f, struct mix *m)
{
	struct error err = ERROR_INIT;

	if (mix_make(&f->plan, &f->phase, &f->vars, m, &err) < 0)
		fail_msg("%s", err.msg);
}

static void refuse(struct fixture *f, enum error_code code, const char *part)
{
	struct error err = ERROR_INIT;
	struct mix m = {.n = 12345};

	assert_int_equal(mix_make(&f->plan, &f->phase, &f->vars, &m, &err), -1);
	assert_int_equal(m.n, 12345);
	assert_int_equal(err.code, code);
	if (!strstr(err.msg, part))
		fail_msg("'%s' does not say '%s'", err.msg, part);
	error_release(&err);
}

static void test_defaults(void **state)
{
	struct fixture f;
	struct mix m;

	fixture_open(&f);
	make(&f, &m);
	assert_string_equal(m.plan.host, "127.0.0.1");
	assert_int_equal(m.plan.port, 4002);
	assert_int_equal(m.plan.connections, 32);
	assert_int_equal(m.plan.requests, 1000);
	assert_int_equal(m.plan.seed, 7);
	assert_int_equal(m.plan.n_mix, 1);
	assert_int_equal(m.plan.mix[0].weight, 1);
	assert_int_equal(m.plan.mix[0].expect_status, 200);
	assert_int_equal(m.plan.mix[0].expect_bytes, -1);
	assert_null(m.plan.mix[0].body);
	assert_null(m.plan.mix[0].expect_body);
	mix_release(&m);
	assert_null(m.requests);
	f.phase.http.requests = 5;
	make(&f, &m);
	assert_int_equal(m.plan.connections, 5);
	mix_release(&m);
	strv_release(&f.vars);
}

static void test_given(void **state)
{
	struct fixture f;
	struct mix m;

	fixture_open(&f);
	f.header = (struct plan_header){(char *)"X-Kind", NULL};
	f.request.weight = 9;
	f.request.body_text = (char *)"sent";
	f.request.expect.status = 204;
	f.request.expect.body = (char *)""; /* empty, which is not the same as unchecked */
	f.request.expect.headers = &f.header;
	f.request.expect.n_headers = 1;
	f.phase.http.connections = 3;
	f.phase.http.reuse = 10;
	f.phase.timeout_ns = 77;
	make(&f, &m);
	assert_int_equal(m.plan.connections, 3);
	assert_int_equal(m.plan.reuse, 10);
	assert_int_equal(m.plan.timeout_ns, 77);
	assert_int_equal(m.plan.mix[0].weight, 9);
	assert_int_equal(m.plan.mix[0].expect_status, 204);
	assert_int_equal(m.plan.mix[0].body_n, 4);
	assert_memory_equal(m.plan.mix[0].body, "sent", 4);
	assert_non_null(m.plan.mix[0].expect_body);
	assert_int_equal(m.plan.mix[0].expect_body_n, 0);
	assert_int_equal(m.plan.mix[0].n_expect_headers, 1);
	assert_string_equal(m.plan.mix[0].expect_headers[0].name, "X-Kind");
	assert_null(m.plan.mix[0].expect_headers[0].value);
	mix_release(&m);
	strv_release(&f.vars);
}

/* Profiles and figures of different versions compare only when these bytes never change. */
static void test_generated_body(void **state)
{
	struct fixture f;
	struct mix m;

	fixture_open(&f);
	f.request.body_bytes = 16;
	make(&f, &m);
	assert_int_equal(m.plan.mix[0].body_n, 16);
	assert_memory_equal(m.plan.mix[0].body, "fiqapwanhrdtmowe", 16);
	mix_release(&m);
	strv_release(&f.vars);
}

static void test_body_files(void **state)
{
	char folder[] = "/tmp/whet-mix-XXXXXX";
	auto_free char *path = NULL;
	struct fixture f;
	struct mix m;

	assert_non_null(mkdtemp(folder));
	path = path_join(folder, "body");
	assert_int_equal(file_write_atomic(path, "a\0b", 3, 0600, NULL), 0);
	fixture_open(&f);
	strv_addf(&f.vars, "here=%s", folder);
	f.request.body_file = f.request.expect.body_file = (char *)"{here}/body";
	make(&f, &m);
	assert_int_equal(m.plan.mix[0].body_n, 3);
	assert_memory_equal(m.plan.mix[0].body, "a\0b", 3);
	assert_int_equal(m.plan.mix[0].expect_body_n, 3);
	assert_memory_equal(m.plan.mix[0].expect_body, "a\0b", 3);
	mix_release(&m);
	f.request.expect.body_file = (char *)"{here}/none";
	refuse(&f, ERR_IO, "request 'POST /in': ");
	f.request.expect.body_file = (char *)"{nowhere}/body";
	refuse(&f, ERR_CONFIG, "nowhere");
	strv_release(&f.vars);
	assert_int_equal(tree_remove(folder, NULL), 0);
}

static void test_ports(void **state)
{
	struct fixture f;
	struct mix m;

	fixture_open(&f);
	f.phase.http.port = (char *)"admin";
	make(&f, &m);
	assert_int_equal(m.plan.port, 4003);
	mix_release(&m);
	f.phase.http.service = (char *)"upstream";
	refuse(&f, ERR_CONFIG, "service 'upstream' has no port 'admin'");
	f.phase.http.port = NULL;
	make(&f, &m);
	assert_int_equal(m.plan.port, 4001);
	mix_release(&m);
	f.phase.http.service = (char *)"other";
	refuse(&f, ERR_CONFIG, "service 'other' has no port 'port'");
	f.phase.http.service = NULL;
	f.services[1].subject = false;
	refuse(&f, ERR_CONFIG, "no service takes its requests");
	f.services[1].subject = true;
	env_set(&f.vars, "edge.port", "65536");
	refuse(&f, ERR_CONFIG, "service 'edge' has no port 'port'");
	strv_release(&f.vars);
}

const struct CMUnitTest mix_tests[] = {
	cmocka_unit_test(test_defaults),
	cmocka_unit_test(test_given),
	cmocka_unit_test(test_generated_body),
	cmocka_unit_test(test_body_files),
	cmocka_unit_test(test_ports),
};
const size_t n_mix_tests = sizeof(mix_tests) / sizeof(mix_tests[0]);
