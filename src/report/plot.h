/* Drawings of the report: SVG that needs no script and takes its colours from the page. */
#pragma once

#include "base/buf.h"
#include "report/drift.h"
#include "report/report.h"

/* Every change with its interval, below one another. run: from 1, of several; 0: the only one. */
void plot_intervals(const struct comparisons *c, size_t run, const char *label, struct buf *svg);
/* The gain of each build with its interval, from left to right. */
void plot_history(const struct report_past *v, size_t n, struct buf *svg);
/* The base and its own copy, launch by launch. */
void plot_drift(const struct drift *d, size_t run, const char *base, struct buf *svg);
