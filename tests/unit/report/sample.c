#include "sample.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

#define LAUNCHES 10
#define SLICES 12
#define SCENARIOS 3
#define ARMS 4

/* What a name becomes when it comes from somebody with intentions. */
static char *name_of(enum sample_kind kind, const char *name)
{
	static const char *const attacks[] = {
		"</script><img src=x onerror=\"alert('%s')\">",
		"\"><svg onload=alert('%s')>",
		"'-alert(`%s`)-' | x | <b>\n## **y** [z](javascript:alert(1))",
		"--><!--<script>alert('%s')</script>",
		"\x1b[31m%s\xff\xe2\x80\xae&lt;<style>*{display:none}</style>",
	};
	static unsigned next;
	auto_buf struct buf b = BUF_INIT;
	const char *form;

	if (kind != SAMPLE_HOSTILE)
		return xstrdup(name);
	form = attacks[next++ % ARRAY_SIZE(attacks)];
	for (const char *p = form; *p; p++) {
		if (strncmp(p, "%s", 2) == 0) {
			buf_adds(&b, name);
			p++;
		} else {
			buf_addc(&b, *p);
		}
	}
	return xstrdup(buf_str(&b));
}

/* A generator without state outside: equal calls, equal reports. */
static double noise(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(*state >> 40) / (double)(1 << 24) * 2 - 1;
}

static void add_stages(struct report *r)
{
	static const char *const names[] = {"probe", REPORT_PLAIN_STAGE, "instrumented build",
		"training", "merge", "optimised build", "check", "bench"};
	static const double seconds[] = {0.6, 34.4, 36.9, 7.3, 0.04, 36, 5.9, 96.8};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		array_reserve(r->stages, r->n_stages, r->cap_stages);
		r->stages[r->n_stages++] = (struct report_stage){.name = xstrdup(names[i]),
			.wall_ns = (uint64_t)(seconds[i] * NS_PER_S),
			.cpu_ns = (uint64_t)(1.6 * seconds[i] * NS_PER_S),
			.reused = false,
			.why = i == 1 ? xstrdup("'src/edge.c' changed") : NULL};
	}
}

static void add_gates(struct report *r, enum sample_kind kind)
{
	static const char *const passed[] = {"phases-complete", "raw-profiles-valid",
		"every-process-flushed", "min-functions", "same-source", "same-flags"};

	for (size_t i = 0; i < ARRAY_SIZE(passed); i++)
		verdict_add(&r->verdicts, passed[i], VERDICT_PASS,
			"0 of 72 deviate, 0 allowed: as it should be", "", "");
	verdict_add(&r->verdicts, "profile-was-used", VERDICT_PASS,
		"87 executed objects compiled with the profile; exceptions: 1",
		"src/table.o: generated, holds no code", "");
	if (kind == SAMPLE_RELEASE) {
		verdict_add(
			&r->verdicts, "stale", VERDICT_SKIPPED, "no rustc in this build", "", "");
		return;
	}
	auto_free char *file = name_of(kind, "src/edge.c");
	auto_free char *lines = xasprintf("%s: parse_request\n%s: send_answer", file, file);

	verdict_add(&r->verdicts, "stale", VERDICT_FAIL,
		"2 functions differ in structure from the trained ones, 0 allowed", lines,
		"Train again with the present sources.");
}

static void add_phase(struct report *r, enum sample_kind kind, const char *name, uint64_t n)
{
	struct training_facts *t = &r->training;
	bool fails = kind != SAMPLE_RELEASE && t->n_phases == 2;

	array_reserve(t->phases, t->n_phases, t->cap_phases);
	t->phases[t->n_phases++] = (struct phase_result){
		.name = name_of(kind, name),
		.status = fails ? PHASE_FAILED : PHASE_OK,
		.planned = n,
		.done = fails ? n - 3 : n,
		.wall_ns = n * 26000,
		.driver_cpu_ns = n * 9000,
		.subject_cpu_ns = n * 18000,
		.problem = fails ? name_of(kind, "GET /a: status 200 expected, got 500") : NULL,
		.log = fails ? name_of(kind, "edge: no such table") : NULL,
	};
}

static void add_function(struct coverage_functions *f, enum sample_kind kind, const char *name,
	uint64_t count, double share)
{
	array_reserve(f->v, f->n, f->cap);
	f->v[f->n++] = (struct coverage_function){
		.name = name_of(kind, name),
		.source_name = strcmp(name, "_ZN4edge5parseEv") == 0
				       ? name_of(kind, "edge::parse()")
				       : NULL,
		.file = *name == '_' ? NULL : name_of(kind, "src/edge.c"),
		.counters = 12,
		.count = count,
		.share = share,
	};
	f->all++;
}

static void add_covered(struct report *r, enum sample_kind kind, enum coverage_part part,
	const char *name, uint64_t count)
{
	struct coverage_facts *c = &r->coverage;
	struct coverage_phase *p;

	array_reserve(c->phases, c->n_phases, c->cap_phases);
	p = &c->phases[c->n_phases++];
	*p = (struct coverage_phase){.part = part,
		.name = name ? name_of(kind, name) : NULL,
		.count = count,
		.functions = 40 + count / 1000000,
		.counters = 300,
		.new_functions = part == COVERAGE_PHASE ? 2 : 31,
		.times = 1,
		.weight = part == COVERAGE_PHASE};
	if (part != COVERAGE_PHASE)
		return;
	add_function(&p->first, kind, "_ZN4edge5parseEv", count / 2, 0.82);
	add_function(&p->first, kind, "send_answer", count / 5, 1);
	add_function(&p->mostly, kind, "lookup", count / 7, 0.61);
}

static void add_coverage(struct report *r, enum sample_kind kind)
{
	struct coverage_facts *c = &r->coverage;

	add_covered(r, kind, COVERAGE_START, NULL, 81000);
	add_covered(r, kind, COVERAGE_PHASE, "documents", 48123456);
	add_covered(r, kind, COVERAGE_PHASE, "echo", 9123456);
	add_covered(r, kind, COVERAGE_PHASE, "errors", 0);
	c->phases[3].useless = true;
	c->phases[3].new_functions = 0;
	add_covered(r, kind, COVERAGE_STOP, NULL, 1200);
	c->functions = 1023;
	c->counters = 8000;
	c->executed_counters = 1100;
	c->phase_functions = 190;
	c->outside_functions = 43;
	for (size_t i = 0; i < 12; i++)
		add_function(&c->unreached, kind, "usage", 0, 0);
	c->unreached.all = 790;
	r->has_coverage = true;
}

static void add_profile(struct report *r, enum sample_kind kind)
{
	static const char *const keys[] = {
		"src/edge.c;lookup", "_ZN4edge5parseEv", "main", "usage"};
	static const uint64_t counts[] = {24000000, 9000000, 3, 0};
	struct profile_facts *p = &r->profile;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		array_reserve(p->v, p->n, p->cap);
		p->v[p->n++] = (struct profile_function){name_of(kind, keys[i]), i, counts[i]};
	}
	p->sha256 = xstrdup("947e5e84ba5c6414f65952d4fb741a685990675c436b6f73f71b21aa8c265336");
	p->functions = 1023;
	p->executed = 233;
	p->total_count = 57000000;
	r->provenance.source = xstrdup("7f8bd41fc3292ec179e2f95805de6abd");
	r->provenance.created = xstrdup("2026-01-02T03:05:11Z");
	strv_add(&r->provenance.compilers, "clang 19.1.7 (3~deb12u1)");
}

static void add_comparison(
	struct report *r, const char *const *scenarios, size_t arm, size_t s, double change)
{
	static const char *const arms[ARMS] = {"plain", "pgo", "pgo-lto", "null"};
	struct comparisons *c = &r->comparisons;
	double half = arm + 1 == ARMS ? 0.021 : 0.012;
	bool shown = fabs(change) > half && arm + 1 < ARMS;

	array_reserve(c->v, c->n, c->cap);
	c->v[c->n++] = (struct comparison){
		.scenario = xstrdup(scenarios[s]),
		.variant = xstrdup(arms[arm]),
		.base = xstrdup("plain"),
		.base_ns = s == 2 ? 42608250 : 21054 + 1500 * (double)s,
		.per_run = s == 2,
		.ratio = 1 + change,
		.low = 1 + change - half,
		.high = 1 + change + half,
		.p = shown ? 0.002 : 0.4,
		.launches = LAUNCHES,
		.slices = LAUNCHES * SLICES,
		.shown = !shown       ? SHOWN_NONE
			 : change < 0 ? SHOWN_LESS
				      : SHOWN_MORE,
	};
}

static void add_comparisons(struct report *r, enum sample_kind kind, const char *const *scenarios)
{
	static const double changes[ARMS][SCENARIOS] = {
		{0}, {-0.087, -0.004, -0.054}, {-0.112, 0.031, -0.061}, {0.003, -0.002, 0.008}};
	struct comparisons *c = &r->comparisons;

	for (size_t arm = 1; arm < ARMS; arm++)
		for (size_t s = 0; s < SCENARIOS; s++)
			add_comparison(r, scenarios, arm, s, changes[arm][s]);
	for (size_t arm = 1; arm < ARMS; arm++) {
		struct comparison all = c->v[(arm - 1) * SCENARIOS];

		array_reserve(c->weighted, c->n_weighted, c->cap_weighted);
		all.scenario = NULL;
		all.variant = xstrdup(all.variant);
		all.base = xstrdup(all.base);
		all.ratio = arm + 1 == ARMS ? 1.002 : all.ratio + 0.03;
		all.low = all.ratio - 0.011;
		all.high = all.ratio + 0.011;
		all.shown = arm == 3 ? SHOWN_NONE : SHOWN_LESS;
		c->weighted[c->n_weighted++] = all;
	}
	c->driver_busy = kind == SAMPLE_RELEASE ? 0.61 : 0.97;
	c->warnings = xstrdup("");
	if (kind == SAMPLE_RELEASE)
		return;
	c->drift = 0.041;
	samples_add_canary(&r->samples, &(struct canary){0, 1000, 2000});
	c->drift_alarm = xstrdup("drift of 4.1 %: read the table as one of a machine that changed");
	c->v[1].held_out = true;
	free(c->warnings);
	c->warnings = xasprintf(
		"client-bound: in scenario '%s' the driver used 97 %% of its processor; CPU per "
		"request stays valid, throughput does not\n"
		"the null arm (the base against its own copy) shows +2.4 %% in scenario '%s': read "
		"differences of that size as noise",
		scenarios[0], scenarios[2]);
	c->v[8].shown = SHOWN_MORE;
	c->v[8].ratio = 1.024;
	c->v[8].low = 1.003;
	c->v[8].high = 1.045;
}

static void add_samples(struct report *r)
{
	static const double costs[SCENARIOS] = {21054, 22579, 42608250};
	static const double arms[ARMS] = {1, 0.94, 0.93, 1};
	uint64_t state = 7;

	for (uint32_t l = 0; l < LAUNCHES; l++)
		for (uint32_t s = 0; s < SCENARIOS; s++)
			for (uint32_t i = 0; i < SLICES; i++)
				for (uint32_t a = 0; a < ARMS; a++) {
					uint64_t n = s == 2 ? 1 : 2300;
					double level = 1 + 0.002 * l + 0.012 * noise(&state);
					double ns = costs[s] * arms[a] * level * (double)n;
					struct sample one = {l, s, a, i, n, (uint64_t)ns,
						(uint64_t)(ns * 1.1), (uint64_t)(ns / 2),
						n > 1 ? (uint64_t)(ns / (double)n * 14) : 0,
						n > 1 ? (uint64_t)(ns / (double)n * 40) : 0};

					samples_add(&r->samples, &one);
				}
}

static void count(struct counter_figure *f, double value, double change, bool base)
{
	*f = (struct counter_figure){value, NAN, NAN, NAN};
	if (!base)
		*f = (struct counter_figure){
			value * (1 + change), 1 + change, 0.999 + change, 1.001 + change};
}

/* A processor that counts, or one that may not. */
static void add_counted(struct report *r, enum sample_kind kind, const struct comparison *of,
	const char *variant, double change)
{
	static const double values[COUNTERS] = {14036, 9100, 804, 3.1, 22, 1.54};
	struct counted *c =
		counters_add(&r->comparisons.counters, of->scenario, variant, of->per_run);
	bool base = strcmp(variant, of->base) == 0;

	c->kernel_share = 0.62;
	c->kernel_error = 0.011;
	for (size_t k = 0; kind == SAMPLE_RELEASE && k < COUNTERS; k++) {
		count(&c->v[COUNTER_USER][k], values[k], k == COUNTER_IPC ? 0.02 : change, base);
		count(&c->v[COUNTER_KERNEL][k], 1.4 * values[k], 0.001, base);
	}
}

static void add_simulated(struct report *r, enum sample_kind kind, const struct comparison *of,
	const char *variant, double change)
{
	struct simulated *s = counters_add_simulated(
		&r->comparisons.counters, of->scenario, variant, of->per_run);

	s->requests = 500;
	s->instructions = 14036 * (1 + change);
	s->i1_misses = 804 * (1 + 2 * change);
	s->outside = 0.41;
	s->assembly = kind == SAMPLE_RELEASE ? 0.07 : NAN;
	if (strcmp(variant, of->base) != 0) {
		s->instructions_ratio = 1 + change;
		s->i1_ratio = 1 + 2 * change;
	}
	for (size_t i = 0; i < 3; i++) {
		array_reserve(s->top, s->n_top, s->cap_top);
		s->top[s->n_top++] = (struct simulated_function){
			.name = name_of(kind, i ? "memcpy" : "edge::parse()"),
			.object = name_of(kind, i ? "libc.so.6" : "edge"),
			.instructions = 3000 - 900 * (double)i,
			.share = 0.21 - 0.06 * (double)i,
			.outside = i > 0};
	}
}

static void add_counters(struct report *r, enum sample_kind kind)
{
	struct comparisons *c = &r->comparisons;

	c->counters.state = kind == SAMPLE_RELEASE ? COUNTERS_COUNTED : COUNTERS_DENIED;
	c->counters.running = kind == SAMPLE_RELEASE ? 0.83 : NAN;
	if (kind != SAMPLE_RELEASE)
		counters_note(&c->counters,
			"hardware counters are denied: kernel.perf_event_paranoid is 3");
	for (size_t s = 0; s < SCENARIOS; s++) {
		add_counted(r, kind, &c->v[s], c->v[s].base, 0);
		add_simulated(r, kind, &c->v[s], c->v[s].base, 0);
		for (size_t i = s; i < c->n; i += SCENARIOS) {
			add_counted(r, kind, &c->v[i], c->v[i].variant, c->v[i].ratio - 1);
			if (!comparisons_is_null(c, i))
				add_simulated(
					r, kind, &c->v[i], c->v[i].variant, -0.03 * (double)s);
		}
	}
}

static void add_luck_row(struct luck *l, const char *scenario, double shipped, double range)
{
	struct luck_spread spread = {0.006, 0.003, 0.001, range, NULL, 0}, even = spread;

	even.sd = 0.001;
	even.p = 0.31;
	array_reserve(l->v, l->n, l->cap);
	l->v[l->n++] = (struct luck_row){
		.scenario = xstrdup(scenario),
		.shipped = shipped,
		.ratio = shipped + 0.003,
		.low = shipped - 0.009,
		.high = shipped + 0.016,
		.base = spread,
		.variant = even,
		.inside = fabs(log(shipped)) <= log1p(range),
	};
}

/* A build that did not go well has none, for a reason in somebody else's words. */
static void add_luck(struct report *r, enum sample_kind kind, const char *const *scenarios)
{
	struct luck *l = &r->luck;

	l->relinks = 5;
	l->launches = LAUNCHES;
	l->base = xstrdup("plain");
	l->variant = xstrdup("pgo");
	l->linker = xstrdup("lld 22.1.8");
	strv_add(&l->own_linker, "GNU ld");
	if (kind == SAMPLE_LABELLED) {
		l->problem = xstrdup("plain build: 'edge': lld cannot repeat the link: ld.lld: "
				     "error: unknown argument '--<b>x</b>'");
		return;
	}
	for (size_t s = 0; s < SCENARIOS; s++)
		add_luck_row(l, scenarios[s], s == 1 ? 0.996 : 0.931, 0.021);
	add_luck_row(l, NULL, 0.953, 0.017);
}

static void add_variant(struct report *r, enum sample_kind kind, const char *name,
	const char *settings, const struct decided *as)
{
	struct decision *d = &r->decision;
	struct decided v = *as;

	v.name = name_of(kind, name);
	v.settings = xstrdup(settings);
	v.why = name_of(kind, as->why);
	strv_addf(&v.added, "-fprofile-use={state}/profiles/%s.profdata -Wbackend-plugin", name);
	array_reserve(d->v, d->n, d->cap);
	d->v[d->n++] = v;
}

/* Four of them: of a release another than the released one is proposed, else none may be. */
static void add_decision(struct report *r, enum sample_kind kind)
{
	char worse[] = "scenario 'echo': +3.1 % [+2.6, +3.7] against plain, worse by more than 2 %",
	     equal[] = "no difference to 'pgo+lto' shown: +0.3 % [-0.2, +0.8]",
	     out[] = "stale: 2 functions differ in structure from the trained ones, 0 allowed",
	     none[] = "";
	struct decision *d = &r->decision;
	bool well = kind == SAMPLE_RELEASE;

	add_variant(r, kind, "pgo", "the plan's own",
		&(struct decided){.state = well ? DECIDED_PASSES : DECIDED_WORSE,
			.why = well ? equal : worse,
			.ratio = 0.953,
			.low = 0.949,
			.high = 0.957});
	add_variant(r, kind, "pgo+lto", "lto thin",
		&(struct decided){.state = well ? DECIDED_PASSES : DECIDED_WORSE,
			.why = well ? none : worse,
			.ratio = 0.929,
			.low = 0.923,
			.high = 0.935});
	add_variant(r, kind, "v3", "cpu x86-64-v3",
		&(struct decided){
			.state = DECIDED_OUT, .why = out, .ratio = NAN, .low = NAN, .high = NAN});
	d->proposed = well ? name_of(kind, "pgo+lto") : xstrdup("plain");
	d->why = name_of(kind,
		well ? "no scenario worse, all scenarios together -7.1 % [-7.7, -6.5]" : worse);
	d->released = well ? name_of(kind, "pgo") : xstrdup("plain");
}

/* Two files; of the second the linker's map told nothing. */
static void add_layouts(struct report *r, enum sample_kind kind)
{
	static const char *const names[] = {"edge", "edge-admin"};
	static const struct text_bytes plain = {{0, 5213, 0, 1409, 391022, 8120}},
				       pgo = {{40912, 218733, 3077, 1388, 161204, 11873}};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct report_layout l = {.name = name_of(kind, names[i])};

		if (i == 0) {
			l.plain = plain;
			l.pgo = pgo;
		}
		array_reserve(r->layouts, r->n_layouts, r->cap_layouts);
		r->layouts[r->n_layouts++] = l;
	}
}

static struct past_build *add_past(struct report *r, enum sample_kind kind, int64_t id)
{
	struct past_builds *p = &r->past;

	array_reserve(p->v, p->n, p->cap);
	p->v[p->n] = (struct past_build){
		.id = id,
		.started = id ? xasprintf("2025-12-%02dT03:04:05Z", 10 + (int)id)
			      : xstrdup(r->started),
		.project = xstrdup(r->project),
		.version = name_of(kind, id && id < 7 ? "1.1" : "1.2"),
		.target = xstrdup(r->target),
		.revision = xstrdup("7f8bd41fc3292ec179e2f95805de6abd"),
		.dirty = id == 6 ? PAST_DIRTY : PAST_CLEAN,
		.machine = name_of(kind, id && id < 5 ? "Example CPU 1, 2 processors"
						      : "Example CPU 2, 4 processors"),
	};
	return &p->v[p->n++];
}

/* One scenario then, three now; one build was not measured, one had too few launches. */
static void add_history(struct report *r, enum sample_kind kind)
{
	static const double changes[] = {-0.081, -0.074, NAN, -0.012, 0.019, -0.068};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct past_build *b = add_past(r, kind, (int64_t)i + 3);
		struct report one = {0};
		bool few = i == 1, shown = fabs(changes[i]) > 0.013 && !few;
		const char *const scenario[] = {"documents"};

		if (!isfinite(changes[i]))
			continue;
		add_comparison(&one, scenario, 1, 0, changes[i]);
		b->bench = one.comparisons;
		b->bench.v[0].shown = !shown           ? SHOWN_NONE
				      : changes[i] < 0 ? SHOWN_LESS
						       : SHOWN_MORE;
		if (few) {
			b->bench.v[0].launches = 3;
			b->bench.v[0].low = b->bench.v[0].high = NAN;
		}
	}
	add_past(r, kind, 0);
}

static void add_calibration(struct report *r, enum sample_kind kind, const char *const *scenarios)
{
	struct calibration *c = &r->calibration;

	*c = (struct calibration){
		.at = xstrdup("2025-12-24T10:00:00Z"),
		.machine = name_of(kind, "Example CPU 2, 4 processors"),
		.base = xstrdup("plain"),
		.launches = LAUNCHES,
		.runs = 40,
		.false_runs = 2,
		.low = 0.006,
		.high = 0.169,
		.v = xcalloc(SCENARIOS, sizeof(*c->v)),
		.n = SCENARIOS,
	};
	for (size_t s = 0; s < SCENARIOS; s++)
		c->v[s] = (struct calibrated){
			xstrdup(scenarios[s]), 40, s == 1, 0.005 + 0.003 * (double)s, 0.002, 0.011};
}

/* The comparison a second time. */
static void add_repeat(struct report *r, enum sample_kind kind, const char *const *scenarios)
{
	struct report second = {0};

	add_comparisons(&second, kind, scenarios);
	add_samples(&second);
	add_counters(&second, kind);
	r->repeats = xcalloc(1, sizeof(*r->repeats));
	r->repeats[r->n_repeats++] = (struct report_repeat){second.comparisons, second.samples};
}

static void add_artefact(
	struct report *r, enum sample_kind kind, const char *name, const char *variant, uint64_t n)
{
	r->artefacts = xreallocarray(r->artefacts, r->n_artefacts + 1, sizeof(*r->artefacts));
	r->artefacts[r->n_artefacts].name = name_of(kind, name);
	r->artefacts[r->n_artefacts].variant = xstrdup(variant);
	r->artefacts[r->n_artefacts].sha256 =
		xstrdup("cfbcfacc68b65cc3510c99a556f4b34ff498b4fee2f301ac02ac8b2872672d29");
	r->artefacts[r->n_artefacts++].bytes = n;
}

void sample_report(struct report *r, enum sample_kind kind)
{
	auto_free char *documents = name_of(kind, "documents"), *echo = name_of(kind, "echo");
	auto_free char *merge = name_of(kind, "profile merge"), *cache = name_of(kind, "ccache");
	const char *const scenarios[SCENARIOS] = {documents, echo, merge};

	r->project = name_of(kind, "edge");
	r->version = xstrdup("1.2");
	r->target = xstrdup("x86_64-unknown-linux-gnu");
	r->started = xstrdup("2026-01-02T03:04:05Z");
	strv_add(&r->tools, "whet 0.1.0");
	strv_add(&r->tools, "clang 19.1.7 (3~deb12u1)");
	add_stages(r);
	add_gates(r, kind);
	add_phase(r, kind, "documents", 20000);
	add_phase(r, kind, "echo", 10000);
	add_phase(r, kind, "errors", 2000);
	r->training.digest = xstrdup("d3b3980b49d25efd");
	r->training.n_processes = r->training.n_raws = 3;
	r->training.processes = xcalloc(3, sizeof(*r->training.processes));
	r->training.raws = xcalloc(3, sizeof(*r->training.raws));
	add_coverage(r, kind);
	add_profile(r, kind);
	add_comparisons(r, kind, scenarios);
	add_samples(r);
	add_counters(r, kind);
	add_decision(r, kind);
	add_luck(r, kind, scenarios);
	if (kind != SAMPLE_LABELLED)
		add_calibration(r, kind, scenarios);
	if (kind != SAMPLE_RELEASE)
		add_repeat(r, kind, scenarios);
	add_layouts(r, kind);
	add_history(r, kind);
	strv_add(&r->added_plain, "-Wl,-Map=");
	strv_add(&r->added_optimised,
		"-fprofile-use={state}/profiles/947e.profdata -Wbackend-plugin");
	report_add_launched(r, cache, true);
	add_artefact(r, kind, "edge-1.2-x86_64-unknown-linux-gnu.tar.gz", "plain", 692175);
	add_artefact(r, kind, "edge-1.2-x86_64-unknown-linux-gnu-pgo.tar.gz", "pgo", 682236);
}
