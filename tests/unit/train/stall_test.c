/* What a phase tells that ran out of time. */
#include "fixture.h"

/* The number behind text, or -1. */
static long number_after(const char *text, const char *part)
{
	const char *at = text ? strstr(text, part) : NULL;
	long v;

	return at && sscanf(at + strlen(part), "%ld", &v) == 1 ? v : -1;
}

/* The server reads the request's head and then nothing of 32 MB: they fill both queues. */
static void peer_that_stops_reading(void **state)
{
	struct fixture *f = *state;
	const char *problem;

	add_service(f, "edge", "{binary} serve {port} 1", READY_TCP);
	add_service(f, "other", "/bin/sh -c 'echo second; exec sleep 100'", READY_NONE);
	add_http(f, "/work", 20);
	add_http(f, "/deaf", 10)->timeout_ns = 1500 * NS_PER_MS;
	f->requests[1].method = TEXT("POST");
	f->requests[1].body_bytes = 32 << 20;
	f->phases[1].http.connections = 1;
	run(f);
	assert_int_equal(f->facts.phases[0].status, PHASE_OK);
	assert_int_equal(f->facts.phases[1].status, PHASE_TIMEOUT);
	assert_int_equal(f->facts.phases[1].done, 0);
	problem = f->facts.phases[1].problem;
	assert_part(problem, "no end within 1.5 s: 0 of 10 requests answered");
	assert_part(problem, "POST /deaf");
	/* Our end, and the server's. */
	assert_part(problem, "the server's window is closed: it does not read");
	assert_true(number_after(problem, "unacknowledged ") > 0);
	assert_true(number_after(problem, "server's end established, unread ") > 10000);
	assert_true(number_after(problem, "retransmits ") >= 0);
	assert_part(problem, "service 'edge', port ");
	assert_part(problem, "listening, 0 connections not accepted yet");
	assert_part(problem, "service 'edge', its end of port ");
	assert_part(f->facts.phases[1].log, "serving\nlast lines of service 'other':\nsecond");
}

/* A command that waits for a service: the same is told. */
static void command_that_waits_for_a_service(void **state)
{
	struct fixture *f = *state;

	add_service(f, "edge", "{binary} serve {port} 1", READY_TCP);
	add_run(f, "ask",
		"exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; echo asked; read x <&3'", 1)
		->timeout_ns = 600 * NS_PER_MS;
	run(f);
	assert_int_equal(f->facts.phases[0].status, PHASE_TIMEOUT);
	assert_part(f->facts.phases[0].problem, "did not end within 0.6 s (run 1 of 1)\nservice "
						"'edge', port ");
	assert_part(f->facts.phases[0].problem, "established, unread 0 bytes");
	assert_part(f->facts.phases[0].log, "asked\nlast lines of service 'edge':\nserving");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(peer_that_stops_reading),
		TEST(command_that_waits_for_a_service),
	};

	return run_trainings(tests, argc, argv);
}
