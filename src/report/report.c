#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void report_release(struct report *r)
{
	free(r->project);
	free(r->version);
	free(r->target);
	free(r->started);
	free(r->dist);
	strv_release(&r->tools);
	for (size_t i = 0; i < r->n_stages; i++) {
		free(r->stages[i].name);
		free(r->stages[i].why);
	}
	free(r->stages);
	verdicts_release(&r->verdicts);
	training_facts_release(&r->training);
	training_facts_release(&r->second_training);
	coverage_facts_release(&r->coverage);
	profile_facts_release(&r->profile);
	provenance_release(&r->provenance);
	staleness_release(&r->staleness);
	comparisons_release(&r->comparisons);
	calibration_release(&r->calibration);
	samples_release(&r->samples);
	for (size_t i = 0; i < r->n_repeats; i++) {
		comparisons_release(&r->repeats[i].comparisons);
		samples_release(&r->repeats[i].samples);
	}
	free(r->repeats);
	luck_release(&r->luck);
	decision_release(&r->decision);
	for (size_t i = 0; i < r->n_layouts; i++)
		free(r->layouts[i].name);
	free(r->layouts);
	past_builds_release(&r->past);
	for (size_t i = 0; i < r->n_strays; i++)
		free(r->strays[i].path);
	free(r->strays);
	free(r->given_label);
	strv_release(&r->added_plain);
	strv_release(&r->added_instrumented);
	strv_release(&r->added_second);
	strv_release(&r->added_optimised);
	for (size_t i = 0; i < r->n_artefacts; i++) {
		free(r->artefacts[i].name);
		free(r->artefacts[i].variant);
		free(r->artefacts[i].sha256);
	}
	free(r->artefacts);
	for (size_t i = 0; i < r->n_launchers; i++)
		free(r->launchers[i].name);
	free(r->launchers);
	memset(r, 0, sizeof(*r));
}

void report_add_launched(struct report *r, const char *launcher, bool bypassed)
{
	for (size_t i = 0; i < r->n_launchers; i++) {
		struct report_launcher *l = &r->launchers[i];

		if (strcmp(l->name, launcher) == 0 && l->bypassed == bypassed) {
			l->calls++;
			return;
		}
	}
	array_reserve(r->launchers, r->n_launchers, r->cap_launchers);
	r->launchers[r->n_launchers++] = (struct report_launcher){
		.name = xstrdup(launcher), .bypassed = bypassed, .calls = 1};
}

const char *report_label(const struct report *r)
{
	bool failed = verdicts_failed(&r->verdicts);

	if (r->given_label)
		return r->given_label;
	if (!r->labelled && !failed && !r->profile.given)
		return "";
	if (r->profile.reused)
		return failed ? "gates failed, profile reused" : "profile reused";
	if (failed && r->profile.given)
		return "gates failed, profile given";
	if (r->profile.given)
		return "profile given";
	return failed ? "gates failed" : "not a trained release";
}

double report_multiple(const struct report *r)
{
	uint64_t plain = 0, total = 0;

	for (size_t i = 0; i < r->n_stages; i++) {
		const struct report_stage *s = &r->stages[i];

		if (s->reused)
			return 0;
		total += s->wall_ns;
		if (strcmp(s->name, REPORT_PLAIN_STAGE) == 0)
			plain += s->wall_ns;
	}
	return plain ? (double)total / (double)plain : 0;
}

size_t report_past(const struct report *r, struct report_past *ret)
{
	const char *label = report_label(r);
	size_t n = 0, earlier = 0;

	for (size_t i = r->past.n; i > 0 && n < REPORT_PAST_MAX; i--) {
		const struct past_build *b = &r->past.v[i - 1];
		const struct comparison *figure = past_overall(b->id ? &b->bench : &r->comparisons);

		if (!figure)
			continue;
		earlier += b->id != 0;
		ret[n++] = (struct report_past){b, figure, b->id ? "" : label};
	}
	for (size_t i = 0; i < n / 2; i++) {
		struct report_past x = ret[i];

		ret[i] = ret[n - 1 - i];
		ret[n - 1 - i] = x;
	}
	return earlier ? n : 0;
}
