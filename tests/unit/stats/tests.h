#pragma once

void test_false_positives(void **state);
void test_interval_coverage(void **state);
void test_stopping_by_width(void **state);
void test_power(void **state);
void test_slices_as_unit_would_fail(void **state);
void test_difference_published(void **state);
void test_change(void **state);
void test_change_coverage(void **state);

void test_line(void **state);
void test_drift_of_shapes(void **state);
void test_drift_alarm(void **state);
void test_recorded_drift(void **state);
void test_outliers(void **state);
void test_launches_one_by_one(void **state);
void test_more_launches(void **state);
void test_resolved(void **state);
void test_calibrate(void **state);
void test_steady(void **state);

void test_hollander_wolfe(void **state);
void test_darwin(void **state);
void test_abramowitz_stegun_t(void **state);
void test_efron_tibshirani_mice(void **state);
void test_newcombe(void **state);

void test_relinks(void **state);
void test_shrout_fleiss(void **state);
void test_relinks_at_the_edges(void **state);
void test_relinks_coverage(void **state);
void test_one_link_would_fail(void **state);
void test_luck_of_samples(void **state);
void test_luck_mismatch(void **state);
