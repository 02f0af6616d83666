#include "pipeline/note.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "ledger/ledger.h"

/* ---- the machine ---- */

char *note_machine(void)
{
	static const char key[] = "model name\t: ";
	auto_buf struct buf b = BUF_INIT;
	struct utsname u = {0};
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	const char *at = NULL;

	if (file_read("/proc/cpuinfo", 16 << 20, &b, NULL) == 0)
		at = strstr(buf_str(&b), key);
	if (at)
		at += strlen(key);
	else if (uname(&u) == 0)
		at = u.machine;
	return at ? xasprintf("%.*s, %ld processor%s", (int)strcspn(at, "\n"), at, n,
			    n == 1 ? "" : "s")
		  : NULL;
}

void note_calibration(const char *state, const char *machine, const struct plan_bench *now,
	const struct events *events, struct calibration *ret)
{
	auto_free char *path = path_join(state, STORE_CALIBRATION);
	struct error err = ERROR_INIT;

	if (calibration_read(path, ret, &err) < 0)
		events_warning(events, "the calibration is left out: %s", err.msg);
	else if (!machine || !ret->machine || strcmp(machine, ret->machine) != 0)
		calibration_release(ret);
	else if (ret->slices != now->slices || ret->slice_ns != now->slice_ns) {
		events_warning(events,
			"the calibration is left out: it was made with %u slices of %.0f ms, and "
			"here are %u of %.0f ms: `whet bench --calibrate` makes one that fits",
			ret->slices, (double)ret->slice_ns / NS_PER_MS, now->slices,
			(double)now->slice_ns / NS_PER_MS);
		calibration_release(ret);
	}
	error_release(&err);
}

/* ---- the last release ---- */

static char *ledger_path(const struct run *r)
{
	return store_path(&r->store, STORE_HISTORY);
}

/* The kinds of compiler behind what they say of themselves, as a set. */
static unsigned maker(const char *version)
{
	return strstr(version, "rustc") ? 1 : strstr(version, "clang") ? 2 : 4;
}

static unsigned makers_now(const struct run *r)
{
	unsigned set = 0;

	for (size_t i = 0; i < r->n_compilers; i++)
		set |= maker(r->compilers[i].version);
	return set;
}

static unsigned makers_then(const struct past_build *b)
{
	unsigned set = 0;

	for (size_t i = 0; i < b->n_tools; i++)
		set |= maker(b->tools[i].version);
	return set;
}

static char *other_makers(const struct past_build *b)
{
	auto_strv struct strv names = STRV_INIT;
	auto_free char *all = NULL;

	for (size_t i = 0; i < b->n_tools; i++)
		if (!strv_has(&names, b->tools[i].version))
			strv_add(&names, b->tools[i].version);
	all = strv_join(&names, ", ");
	return xasprintf("its last release was built by another kind of compiler (%s), over whose "
			 "plain build a gain is another thing",
		all);
}

bool note_last_release(const struct run *r, struct past_build *ret, char **problem)
{
	auto_free char *path = ledger_path(r);
	const struct ledger l = {path, LEDGER_PATIENCE_MS};
	auto_past_builds struct past_builds all = {0};
	struct error err = ERROR_INIT;

	*problem = NULL;
	if (ledger_read(&l, &all, &err) < 0) {
		*problem = xstrdup(err.msg);
		error_release(&err);
		return false;
	}
	for (size_t i = all.n; i > 0; i--) {
		struct past_build *b = &all.v[i - 1];

		if (!b->bench.n || strcmp(b->target, r->plan.build.target) != 0)
			continue;
		if (makers_then(b) != makers_now(r)) {
			if (!*problem)
				*problem = other_makers(b);
			continue;
		}
		free(*problem);
		*problem = NULL;
		*ret = *b;
		*b = (struct past_build){0};
		return true;
	}
	return false;
}

/* ---- this build ---- */

static void add_tools(const struct run *r, struct past_build *b)
{
	for (size_t i = 0; i < r->n_compilers; i++) {
		array_reserve(b->tools, b->n_tools, b->cap_tools);
		b->tools[b->n_tools++] = (struct past_tool){
			xstrdup(r->compilers[i].path), xstrdup(r->compilers[i].version)};
	}
}

static void add_artefacts(const struct report *p, struct past_build *b)
{
	for (size_t i = 0; i < p->n_artefacts; i++) {
		array_reserve(b->artefacts, b->n_artefacts, b->cap_artefacts);
		b->artefacts[b->n_artefacts++] = (struct past_artefact){
			.name = xstrdup(p->artefacts[i].name),
			.variant = xstrdup(p->artefacts[i].variant),
			.sha256 = xstrdup(p->artefacts[i].sha256),
			.bytes = p->artefacts[i].bytes,
		};
	}
}

static void add_stages(const struct report *p, struct past_build *b)
{
	for (size_t i = 0; i < p->n_stages; i++) {
		array_reserve(b->stages, b->n_stages, b->cap_stages);
		b->stages[b->n_stages++] = (struct past_stage){
			.name = xstrdup(p->stages[i].name),
			.wall_ns = p->stages[i].wall_ns,
			.cpu_ns = p->stages[i].cpu_ns,
			.reused = p->stages[i].reused,
		};
	}
}

static void describe(const struct run *r, struct past_build *b)
{
	*b = (struct past_build){
		.finished_ns = clock_real_ns(),
		.started = xstrdup(r->report->started),
		.project = xstrdup(r->plan.project),
		.version = xstrdup(r->version),
		.target = xstrdup(r->plan.build.target),
		.whet = xstrdup(WHET_VERSION),
		.revision = xstrdup(r->commit),
		.dirty = r->dirty,
		.machine = xstrdup(r->machine),
		.source = xstrdup(r->sources.digest),
		.training = xstrdup(r->plan.training_digest),
		.profile = xstrdup(r->report->profile.sha256),
	};
	add_tools(r, b);
	add_artefacts(r->report, b);
	add_stages(r->report, b);
}

void note_past(const struct run *r)
{
	auto_free char *path = ledger_path(r);
	const struct ledger l = {path, LEDGER_PATIENCE_MS};
	struct past_builds *ret = &r->report->past;
	auto_past_builds struct past_builds all = {0};

	if (ledger_read(&l, &all, NULL) < 0)
		return;
	for (size_t i = 0; i < all.n; i++) {
		if (!past_overall(&all.v[i].bench) ||
			strcmp(all.v[i].target, r->plan.build.target) != 0)
			continue;
		array_reserve(ret->v, ret->n, ret->cap);
		ret->v[ret->n++] = all.v[i];
		all.v[i] = (struct past_build){0};
	}
	if (!ret->n)
		return;
	array_reserve(ret->v, ret->n, ret->cap);
	describe(r, &ret->v[ret->n++]);
}

void note_build(const struct run *r)
{
	auto_free char *path = ledger_path(r);
	const struct ledger l = {path, LEDGER_PATIENCE_MS};
	const char *label = report_label(r->report);
	struct error err = ERROR_INIT;
	struct past_build b;
	int64_t id;

	if (*label) {
		events_detail(r->o->events, "not noted in the history: %s", label);
		return;
	}
	describe(r, &b);
	b.bench = r->report->comparisons; /* borrowed */
	if (ledger_add(&l, &b, &id, &err) == 0)
		events_detail(r->o->events, "noted as build %lld of the history", (long long)id);
	else
		events_warning(r->o->events,
			"the build is whole, but could not be noted in the history: %s", err.msg);
	error_release(&err);
	b.bench = (struct comparisons){0};
	past_build_release(&b);
}
