#pragma once

#include "ledger/ledger.h"

#define PATIENCE_MS 10000

/* A build with everything; n tells them apart: its figures are n percent better. */
void build_make(struct past_build *b, int n);
