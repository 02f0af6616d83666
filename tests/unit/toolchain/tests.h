/* The tests of src/toolchain. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void test_clang_flags(void **state);
void test_rustc_flags(void **state);
void test_mixed_link(void **state);
void test_trace_flags(void **state);
void test_gcc_flags(void **state);
void test_both_kinds(void **state);
void test_takes_part(void **state);
void test_other_flags(void **state);
void test_settings(void **state);
void test_settings_of_compilers(void **state);
void test_unsilence(void **state);
void test_warnings_are_errors(void **state);
void test_cxx_name(void **state);
/* What the flags are for, by real compilers. */
void test_clang_tells_of_stale_profile(void **state);
void test_rustc_tells_of_missing_profile(void **state);
