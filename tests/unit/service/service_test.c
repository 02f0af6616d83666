#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "http/certs.h"
#include "service/service.h"

static char *folder;
static const char *helper;

struct fixture {
	struct plan_service plan;
	struct service_options o;
	struct strv vars, env;
	char *work, *log;
	struct service *s;
	struct error err;
};

static int set_up(void **state)
{
	static int count;
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->work = xasprintf("%s/%d", folder, ++count);
	f->log = xasprintf("%s/%d.log", folder, count);
	f->plan = (struct plan_service){.name = (char *)(uintptr_t)"edge",
		.ready_timeout_ns = 5 * NS_PER_S,
		.stop_signal = SIGTERM,
		.stop_timeout_ns = 5 * NS_PER_S};
	env_copy_current(&f->env);
	strv_addf(&f->vars, "binary=%s", helper);
	assert_int_equal(service_place(&f->plan, f->work, &f->vars, &f->o.port, NULL), 0);
	f->o.plan = &f->plan;
	f->o.vars = &f->vars;
	f->o.work = f->work;
	f->o.log = f->log;
	f->o.env = &f->env;
	f->o.self = helper;
	f->o.cpu = -1;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	service_free(f->s);
	error_release(&f->err);
	strv_release(&f->vars);
	strv_release(&f->env);
	strv_release(&f->plan.env);
	strv_release(&f->plan.ports);
	free(f->work);
	free(f->log);
	free(f);
	return 0;
}

#define RUN(text) ((char *)(uintptr_t)"{binary} " text)
#define TEXT(text) ((char *)(uintptr_t)text)

static void start(struct fixture *f)
{
	if (service_start(&f->o, &f->s, &f->err) < 0)
		fail_msg("%s", f->err.msg);
}

static struct service_end stop(struct fixture *f)
{
	struct service_end end;

	if (service_stop(f->s, &end, &f->err) < 0)
		fail_msg("%s", f->err.msg);
	return end;
}

static void assert_message(const struct fixture *f, const char *part)
{
	if (!strstr(f->err.msg, part))
		fail_msg("'%s' is not in: %s", part, f->err.msg);
}

static bool process_exists(pid_t pid)
{
	return kill(pid, 0) == 0;
}

static void starts_and_stops(void **state)
{
	struct fixture *f = *state;
	struct service_end end;
	pid_t pid;

	f->plan.run = RUN("idle");
	start(f);
	assert_true(service_alive(f->s));
	pid = service_pid(f->s);
	assert_true(process_exists(pid));
	end = stop(f);
	assert_int_equal(end.code, 7);
	assert_int_equal(end.signal, 0);
	assert_false(end.killed);
	assert_false(end.died_early);
	assert_false(service_alive(f->s));
	assert_false(process_exists(pid));
}

static void early_death_is_told_with_the_log(void **state)
{
	struct fixture *f = *state;
	uint64_t before = clock_mono_ns();

	f->plan.run = RUN("exit 3 'no config'");
	f->plan.ready = READY_TCP;
	assert_int_equal(service_start(&f->o, &f->s, &f->err), -1);
	assert_int_equal(f->err.code, ERR_CHILD);
	assert_message(f, "service 'edge' ended before it was ready: exit code 3");
	assert_message(f, "last words: no config");
	assert_true(clock_mono_ns() - before < 2 * NS_PER_S);
}

static void never_ready_is_a_time_out(void **state)
{
	struct fixture *f = *state;

	f->plan.run = RUN("idle");
	f->plan.ready = READY_HTTP;
	f->plan.ready_arg = TEXT("/health");
	f->plan.ready_timeout_ns = 300 * NS_PER_MS;
	assert_int_equal(service_start(&f->o, &f->s, &f->err), -1);
	assert_int_equal(f->err.code, ERR_TIMEOUT);
	assert_message(f, "service 'edge' was not ready within 0.3 s (ready: http)");
	assert_message(f, "Connection refused");
	assert_message(f, "hold no {port}");
}

/* It was told its port: then that is not the cause, and is not said. */
static void no_hint_without_cause(void **state)
{
	struct fixture *f = *state;

	f->plan.run = RUN("idle {port}");
	f->plan.ready = READY_TCP;
	f->plan.ready_timeout_ns = 300 * NS_PER_MS;
	assert_int_equal(service_start(&f->o, &f->s, &f->err), -1);
	assert_null(strstr(f->err.msg, "{port}"));
}

/* "localhost" may be ::1 alone. The driver and {url} then go there, too. */
static void ready_on_the_other_loopback(void **state)
{
	struct fixture *f = *state;
	auto_free char *url = NULL;

	f->plan.run = RUN("http6 {port}");
	f->plan.ready = READY_HTTP;
	f->plan.ready_arg = TEXT("/health");
	if (service_start(&f->o, &f->s, &f->err) < 0 && strstr(f->err.msg, "no IPv6"))
		skip();
	assert_non_null(f->s);
	service_placed(f->s, &f->vars);
	url = xasprintf("http://[::1]:%u", f->o.port);
	assert_string_equal(env_get(&f->vars, "edge.host"), "::1");
	assert_string_equal(env_get(&f->vars, "edge.url"), url);
	assert_string_equal(env_get(&f->vars, "url"), url);
	assert_false(stop(f).killed);
}

static void missing_program(void **state)
{
	struct fixture *f = *state;

	f->plan.run = TEXT("/nowhere/at/all");
	assert_int_equal(service_start(&f->o, &f->s, &f->err), -1);
	assert_int_equal(f->err.code, ERR_ENVIRONMENT);
	assert_message(f, "'/nowhere/at/all'");
}

static void http_waits_while_503(void **state)
{
	struct fixture *f = *state;

	f->plan.run = RUN("http {port}");
	f->plan.ready = READY_HTTP;
	f->plan.ready_arg = TEXT("/health");
	start(f);
	service_placed(f->s, &f->vars);
	assert_string_equal(env_get(&f->vars, "edge.host"), "127.0.0.1");
	assert_false(stop(f).killed);
}

/* A server that is up may well have nothing at "/". */
static void http_takes_404(void **state)
{
	struct fixture *f = *state;

	f->plan.run = RUN("http {port} 404");
	f->plan.ready = READY_HTTP;
	start(f);
	assert_false(stop(f).killed);
}

static void http_refuses_500(void **state)
{
	struct fixture *f = *state;

	f->plan.run = RUN("http {port} 500");
	f->plan.ready = READY_HTTP;
	f->plan.ready_timeout_ns = 300 * NS_PER_MS;
	assert_int_equal(service_start(&f->o, &f->s, &f->err), -1);
	assert_message(f, "GET / got 'HTTP/1.1 500 X', expected a status from 200 to 499");
}

/* OpenSSL's own server. */
static void https_is_answered(void **state)
{
	struct fixture *f = *state;
	auto_free char *run = xasprintf("openssl s_server -accept 127.0.0.1:{port} -www "
					"-cert %s/ecdsa.crt -key %s/ecdsa.key",
		folder, folder);

	if (system("command -v openssl >/dev/null") != 0)
		skip();
	assert_int_equal(certs_write(folder, "ecdsa", NULL), 0);
	f->plan.run = run;
	f->plan.ready = READY_HTTPS;
	start(f);
	assert_false(stop(f).killed);
}

static void https_from_a_server_in_clear(void **state)
{
	struct fixture *f = *state;

	f->plan.run = RUN("http {port} 204");
	f->plan.ready = READY_HTTPS;
	f->plan.ready_timeout_ns = 300 * NS_PER_MS;
	assert_int_equal(service_start(&f->o, &f->s, &f->err), -1);
	assert_message(f, "(ready: https): the TLS handshake with port ");
}

static void port_can_be_used_again(void **state)
{
	struct fixture *f = *state;

	f->plan.run = RUN("tcp {port}");
	f->plan.ready = READY_TCP;
	for (int i = 0; i < 3; i++) {
		start(f);
		assert_int_equal(stop(f).code, 7);
		service_free(take_ptr(f->s));
	}
}

static void taken_port_is_not_readiness(void **state)
{
	struct fixture *f = *state;
	struct service *first;

	f->plan.run = RUN("tcp {port}");
	f->plan.ready = READY_TCP;
	start(f);
	first = take_ptr(f->s);
	assert_int_equal(service_start(&f->o, &f->s, &f->err), -1);
	assert_message(f, "port");
	assert_message(f, "in use");
	service_free(first);
}

static void log_line_in_two_writes(void **state)
{
	struct fixture *f = *state;

	f->plan.run = RUN("late-log");
	f->plan.ready = READY_LOG;
	f->plan.ready_arg = TEXT("ready to serve");
	f->plan.setup = TEXT("echo not ready to serve yet"); /* must not count */
	start(f);
	assert_true(clock_mono_ns() > 0);
	{
		auto_free char *tail = service_log_tail(f->s, 1);

		assert_string_equal(tail, "now ready to serve");
	}
	stop(f);
}

static void ready_command(void **state)
{
	struct fixture *f = *state;

	f->plan.run = RUN("idle");
	f->plan.ready = READY_COMMAND;
	f->plan.ready_arg = TEXT("test -e {work}/flag || { touch {work}/flag; exit 1; }");
	/* Braces of the shell are doubled. */
	f->plan.ready_arg = TEXT("test -e {work}/flag || ! touch {work}/flag");
	start(f);
	stop(f);
}

static void setup_and_environment(void **state)
{
	struct fixture *f = *state;
	struct service_end end;

	f->plan.setup = TEXT("echo $LLVM_PROFILE_FILE-$WHET_PROFILE_DIR > setup.txt; mkdir d");
	f->plan.run =
		TEXT("/bin/sh -c 'echo $LLVM_PROFILE_FILE $MINE $WHET_SERVICE; pwd; sleep 0.2'");
	f->plan.cwd = TEXT("{work}/d");
	f->plan.stop_signal = SIGKILL;
	strv_add(&f->plan.env, "MINE={work}");
	env_set(&f->env, "LLVM_PROFILE_FILE", "/p/%p.profraw");
	env_set(&f->env, "WHET_PROFILE_DIR", "/p");
	start(f);
	end = stop(f);
	assert_int_equal(end.signal, SIGKILL);
	assert_false(end.killed); /* it is the signal that was asked for */
	{
		auto_buf struct buf text = BUF_INIT;
		auto_free char *path = xasprintf("%s/setup.txt", f->work);
		auto_free char *expect = xasprintf("/p/%%p.profraw %s %d.", f->work, getpid());
		auto_free char *cwd = xasprintf("\n%s/d\n", f->work);

		assert_int_equal(file_read(path, 0, &text, NULL), 0);
		assert_string_equal(buf_str(&text), "/dev/null-\n");
		assert_int_equal(file_read(f->log, 0, &text, NULL), 0);
		assert_non_null(strstr(buf_str(&text), expect));
		assert_non_null(strstr(buf_str(&text), cwd));
	}
}

static void failing_setup(void **state)
{
	struct fixture *f = *state;

	f->plan.setup = TEXT("echo cannot do it; exit 4");
	f->plan.run = RUN("idle");
	assert_int_equal(service_start(&f->o, &f->s, &f->err), -1);
	assert_message(f, "setup ended with exit code 4");
	assert_message(f, "cannot do it");
}

static void ignores_term_is_killed(void **state)
{
	struct fixture *f = *state;
	struct service_end end;

	f->plan.run = RUN("ignore-term");
	f->plan.stop_timeout_ns = 200 * NS_PER_MS;
	start(f);
	end = stop(f);
	assert_true(end.killed);
	assert_int_equal(end.signal, SIGKILL);
	assert_int_equal(end.code, -1);
}

static void crash_is_seen(void **state)
{
	struct fixture *f = *state;
	struct service_end end;
	auto_free char *now = path_join(f->work, "crash-now");

	f->plan.run = RUN("crash");
	f->plan.ready = READY_COMMAND;
	f->plan.ready_arg = TEXT("true");
	start(f);
	assert_int_equal(file_write_atomic(now, "", 0, 0644, NULL), 0);
	for (int i = 0; i < 1000 && service_alive(f->s); i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_false(service_alive(f->s));
	end = stop(f);
	assert_true(end.died_early);
	assert_int_equal(end.signal, SIGSEGV);
	assert_false(end.killed);
}

static void daemon_is_followed(void **state)
{
	struct fixture *f = *state;
	auto_free pid_t *pids = NULL;
	auto_free char *done = xasprintf("%s/done", f->work);
	struct service_end end;

	f->plan.run = RUN("daemon {work}/done");
	start(f);
	assert_true(service_alive(f->s));
	assert_int_equal(service_tree(f->s, &pids), 1);
	assert_int_not_equal(pids[0], service_pid(f->s));
	end = stop(f);
	assert_false(end.killed);
	assert_false(end.died_early);
	assert_false(process_exists(pids[0]));
	assert_true(path_exists(done)); /* it got the stop signal and its time */
}

static void stubborn_grandchild_is_killed(void **state)
{
	struct fixture *f = *state;
	auto_free pid_t *pids = NULL;
	struct service_end end;

	f->plan.run = RUN("grandchild");
	f->plan.ready = READY_LOG;
	f->plan.ready_arg = TEXT("up");
	f->plan.stop_timeout_ns = 300 * NS_PER_MS;
	start(f);
	assert_int_equal(service_tree(f->s, &pids), 2);
	assert_int_equal(pids[0], service_pid(f->s));
	end = stop(f);
	assert_true(end.killed);
	assert_int_equal(end.code, 0);
	assert_false(process_exists(pids[1]));
}

static void child_that_outlives_the_program_may_finish(void **state)
{
	struct fixture *f = *state;
	auto_free char *done = xasprintf("%s/done", f->work);

	f->plan.run = RUN("slow-child {work}/done");
	start(f);
	assert_false(stop(f).killed);
	assert_true(path_exists(done));
}

static void freed_while_running(void **state)
{
	struct fixture *f = *state;
	pid_t pid;

	f->plan.run = RUN("ignore-term");
	start(f);
	pid = service_pid(f->s);
	service_free(take_ptr(f->s));
	assert_false(process_exists(pid));
}

/* whet killed by SIGKILL: its services go with it, also those that daemonised. */
static void nothing_outlives_whet(void **state)
{
	struct fixture *f = *state;
	auto_free char *path = xasprintf("%s/pids", folder);
	auto_buf struct buf text = BUF_INIT;
	int status, daemon = 0, alive = 0;
	pid_t whet = fork();

	f->plan.run = RUN("daemon {work}/done");
	if (whet == 0) {
		auto_free pid_t *pids = NULL;
		auto_free char *pid = NULL;

		if (service_start(&f->o, &f->s, &f->err) < 0 || service_tree(f->s, &pids) != 1)
			_exit(1);
		pid = xasprintf("%d", (int)pids[0]);
		if (file_write_atomic(path, pid, strlen(pid), 0644, NULL) < 0)
			_exit(2);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(whet, &status, 0), whet);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(file_read(path, 0, &text, NULL), 0);
	daemon = atoi(buf_str(&text));
	assert_true(daemon > 1);
	for (int i = 0; i < 2000; i++) {
		alive = process_exists(daemon);
		if (!alive)
			break;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	assert_false(alive);
}

static uint64_t used(struct fixture *f)
{
	uint64_t ns = 0;

	assert_int_equal(service_cpu_ns(f->s, &ns, NULL), 0);
	return ns;
}

static void assert_within_5_percent(uint64_t got, uint64_t expected)
{
	if (got * 100 < expected * 95 || got * 100 > expected * 105)
		fail_msg("%llu ns of CPU, expected %llu", (unsigned long long)got,
			(unsigned long long)expected);
}

static void cpu_of_forking_children(void **state)
{
	struct fixture *f = *state;
	unsigned long long expected = 0;
	uint64_t last = 0;

	f->plan.run = RUN("busy 60 10"); /* 60 children of 10 ms, one of 100 ms that stays */
	start(f);
	for (int i = 0; i < 2000 && !expected; i++) {
		auto_free char *tail = service_log_tail(f->s, 1);
		uint64_t now = used(f);

		assert_true(now >= last);
		last = now;
		if (sscanf(tail, "used %llu", &expected) != 1)
			nanosleep(&(struct timespec){.tv_nsec = 7000000}, NULL);
	}
	assert_true(expected > 600 * NS_PER_MS);
	assert_within_5_percent(used(f), expected);
	stop(f);
	assert_within_5_percent(used(f), expected); /* all reaped by now */
}

static void cpu_seen_only_at_the_end(void **state)
{
	struct fixture *f = *state;
	unsigned long long expected = 0;

	f->plan.run = RUN("busy 60 10");
	f->plan.ready = READY_LOG;
	f->plan.ready_arg = TEXT("used");
	start(f);
	{
		auto_free char *tail = service_log_tail(f->s, 1);

		assert_int_equal(sscanf(tail, "used %llu", &expected), 1);
	}
	assert_within_5_percent(used(f), expected);
	stop(f);
}

static void cpu_of_orphans(void **state)
{
	struct fixture *f = *state;
	unsigned long long others = 0;

	f->plan.run = RUN("orphans 30 10");
	f->plan.ready = READY_LOG;
	f->plan.ready_arg = TEXT("all gone");
	start(f);
	{
		auto_free char *tail = service_log_tail(f->s, 1);

		assert_int_equal(sscanf(tail, "all gone %llu", &others), 1);
	}
	assert_within_5_percent(used(f), 300 * NS_PER_MS + others);
	stop(f);
}

/* Twice per slice of 50 ms must cost nothing: less than 0.2 ms for a quiet tree. */
static void cpu_reading_is_cheap(void **state)
{
	struct fixture *f = *state;
	struct timespec a, b;

	f->plan.run = RUN("idle");
	start(f);
	used(f);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (int i = 0; i < 200; i++)
		used(f);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	assert_true((b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec < 200 * 200000LL);
	stop(f);
}

static void ports_and_placeholders(void **state)
{
	struct fixture *f = *state;
	uint16_t ports[50];

	for (int i = 0; i < 50; i++) {
		assert_int_equal(service_free_port(&ports[i], NULL), 0);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(ports[i], ports[k]);
	}
	strv_add(&f->plan.ports, "admin");
	assert_int_equal(service_place(&f->plan, "/w", &f->vars, &ports[0], NULL), 0);
	{
		auto_free char *url = xasprintf("http://127.0.0.1:%u", ports[0]);

		assert_string_equal(env_get(&f->vars, "url"), url);
		assert_string_equal(env_get(&f->vars, "edge.url"), url);
		assert_string_equal(env_get(&f->vars, "port"), url + 17);
		assert_string_equal(
			env_get(&f->vars, "port.admin"), env_get(&f->vars, "edge.port.admin"));
		assert_string_equal(env_get(&f->vars, "work"), "/w");
	}
	f->plan.name = TEXT("second");
	strv_release(&f->plan.ports);
	assert_int_equal(service_place(&f->plan, "/v", &f->vars, &ports[1], NULL), 0);
	assert_null(env_get(&f->vars, "port.admin"));
	assert_non_null(env_get(&f->vars, "edge.port.admin"));
	assert_string_not_equal(env_get(&f->vars, "edge.port"), env_get(&f->vars, "port"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(starts_and_stops),
		TEST(early_death_is_told_with_the_log),
		TEST(never_ready_is_a_time_out),
		TEST(missing_program),
		TEST(http_waits_while_503),
		TEST(http_takes_404),
		TEST(http_refuses_500),
		TEST(https_is_answered),
		TEST(https_from_a_server_in_clear),
		TEST(no_hint_without_cause),
		TEST(ready_on_the_other_loopback),
		TEST(port_can_be_used_again),
		TEST(taken_port_is_not_readiness),
		TEST(log_line_in_two_writes),
		TEST(ready_command),
		TEST(setup_and_environment),
		TEST(failing_setup),
		TEST(ignores_term_is_killed),
		TEST(crash_is_seen),
		TEST(daemon_is_followed),
		TEST(stubborn_grandchild_is_killed),
		TEST(child_that_outlives_the_program_may_finish),
		TEST(freed_while_running),
		TEST(nothing_outlives_whet),
		TEST(cpu_of_forking_children),
		TEST(cpu_seen_only_at_the_end),
		TEST(cpu_of_orphans),
		TEST(cpu_reading_is_cheap),
		TEST(ports_and_placeholders),
	};
	char name[] = "/tmp/whet-service-XXXXXX";
	int failed;

	if (argc < 2)
		return 2;
	helper = argv[1];
	folder = mkdtemp(name);
	if (!folder)
		return 2;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)tree_remove(folder, NULL);
	return failed;
}
