/* A report with everything in it, for tests of its forms. */
#pragma once

#include "report/report.h"

enum sample_kind {
	SAMPLE_RELEASE,  /* all went well */
	SAMPLE_LABELLED, /* a gate failed, a phase too, the null arm showed something */
	SAMPLE_HOSTILE,  /* as the second, and every name tries to break out of the page */
};

void sample_report(struct report *r, enum sample_kind kind);
