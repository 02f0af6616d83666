/* The tests of src/config, one list per file. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

extern const char *config_folder; /* tests/unit/config */
extern const char *docs_folder;

void test_rejects(void **state);
void test_file_size_limit(void **state);
void test_error_limit(void **state);
void test_documentation_has_every_key(void **state);

void test_combinations(void **state);
void test_without_matrix(void **state);
void test_start_order(void **state);
void test_content(void **state);
void test_matrix_digest(void **state);

void test_targets(void **state);

void test_split(void **state);
void test_expand(void **state);
void test_edit_distance(void **state);
void test_durations_and_sizes(void **state);
