/* Drawings of the report: SVG that needs no script and takes its colours from the page. */
#pragma once

#include "base/buf.h"
#include "report/drift.h"
#include "report/report.h"

/* Every change with its interval, below one another. */
void plot_intervals(const struct comparisons *c, const char *label, struct buf *svg);
/* The base and its own copy, launch by launch. */
void plot_drift(const struct drift *d, const char *base, struct buf *svg);
