#pragma once

void test_false_positives(void **state);
void test_interval_coverage(void **state);
void test_power(void **state);
void test_slices_as_unit_would_fail(void **state);
