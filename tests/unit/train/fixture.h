/* A training of a small program, built once by a real compiler with instrumentation and the hook.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "train/train.h"

extern char *folder, *subject, *plain, *hookless;
extern struct strv names;

#define TEXT(text) ((char *)(uintptr_t)(text))

struct fixture {
	struct plan plan;
	struct plan_service services[3];
	struct plan_phase phases[3];
	struct plan_request requests[3];
	struct train_options o;
	struct strv binaries;
	char *root, *profiles;
	struct training_facts facts;
	struct error err;
};

int set_up(void **state);
int tear_down(void **state);
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

/* The first service is the subject. */
void add_service(struct fixture *f, const char *name, const char *run, enum ready_kind ready);
struct plan_phase *add_http(struct fixture *f, const char *path, uint64_t requests);
struct plan_phase *add_run(struct fixture *f, const char *name, const char *run, uint32_t repeat);
void run(struct fixture *f); /* the training */
void assert_part(const char *text, const char *part);
uint64_t count_work(const struct fixture *f); /* entries of work(), over all raw profiles */
size_t count_state(const struct fixture *f, enum raw_state state);

/* argv: compiler, source of the subject, source of the hook. Builds them, then runs the tests. */
#define run_trainings(tests, argc, argv)                                                           \
	(fixture_begin(argc, argv) ? fixture_end(cmocka_run_group_tests(tests, NULL, NULL)) : 2)
bool fixture_begin(int argc, char **argv);
int fixture_end(int failed);
