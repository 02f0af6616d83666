#include "pipeline/pipeline.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "pipeline/last.h"
#include "pipeline/note.h"
#include "pipeline/run.h"
#include "pipeline/space.h"
#include "pipeline/trained.h"
#include "pipeline/why.h"
#include "store/trim.h"

static int stage_plain(struct run *r, struct error *err)
{
	if (node_build(r, MODE_PLAIN, err) < 0)
		return -1;
	return plan_has_second_round(&r->plan) ? round_check_links(r, err) : 0;
}

/* A given profile stands in the place of training, and of what leads to it. */
static int leave_out(struct run *r)
{
	why_say_because(r, "is left out: a profile was given");
	return 0;
}

static int stage_instrumented(struct run *r, struct error *err)
{
	return r->given ? leave_out(r) : node_build(r, MODE_INSTRUMENTED, err);
}

static int stage_train(struct run *r, struct error *err)
{
	return r->given ? leave_out(r) : node_train(r, err);
}

static int stage_second(struct run *r, struct error *err)
{
	if (r->given)
		return leave_out(r);
	round_next(r);
	return node_build(r, MODE_INSTRUMENTED, err);
}

/* What was given holds the counts of both rounds. */
static int stage_second_merge(struct run *r, struct error *err)
{
	return r->given ? leave_out(r) : node_merge(r, err);
}

static int stage_optimised(struct run *r, struct error *err)
{
	if (r->track->profile.context_sensitive && round_check_links(r, err) < 0)
		return -1;
	if (node_build(r, MODE_OPTIMISED, err) < 0 || node_gate(r, GATE_AFTER_OPTIMISED, err) < 0)
		return -1;
	return node_gate_outside(r, err);
}

static int stage_bench(struct run *r, struct error *err)
{
	if (node_bench(r, err) < 0 || node_luck(r, err) < 0)
		return -1;
	return node_choose(r, err);
}

/* The order of the data flow. `name` is what --until takes. */
static const struct stage {
	const char *name, *title;
	int (*run)(struct run *r, struct error *err);
	const char *of_two; /* its title where there are two rounds; NULL: the same */
	bool second;        /* of the second round alone */
} stages[] = {
	{"probe", "probe", node_probe},
	{"plain", "plain build", stage_plain},
	{"instrument", "instrumented build", stage_instrumented, "instrumented build, round 1"},
	{"train", "training", stage_train, "training, round 1"},
	{"merge", "merge", node_merge, "merge, round 1"},
	{"instrument-2", "instrumented build, round 2", stage_second, .second = true},
	{"train-2", "training, round 2", stage_train, .second = true},
	{"merge-2", "merge, round 2", stage_second_merge, .second = true},
	{"optimise", "optimised build", stage_optimised},
	{"check", "check", node_check},
	{"variants", "variants", node_variants},
	{"layout", "layout", node_laid_out},
	{"bench", "bench", stage_bench},
	{"release", "release", node_release},
};

const char *const pipeline_stages[] = {"probe", "plain", "instrument", "train", "merge",
	"instrument-2", "train-2", "merge-2", "optimise", "check", "variants", "layout", "bench",
	"release", NULL};

static uint64_t cpu_so_far(void)
{
	return clock_usage_ns(RUSAGE_SELF) + clock_usage_ns(RUSAGE_CHILDREN);
}

static void note_stage(struct run *r, const char *name, uint64_t wall, uint64_t cpu)
{
	struct report *p = r->report;

	p->stages = xreallocarray(p->stages, p->n_stages + 1, sizeof(*p->stages));
	p->stages[p->n_stages++] = (struct report_stage){
		.name = xstrdup(name),
		.wall_ns = wall,
		.cpu_ns = cpu,
		.reused = r->reused,
		.why = take_ptr(r->stage_why),
	};
}

static void begin_report(struct run *r)
{
	struct report *p = r->report;
	char text[CLOCK_TEXT];

	clock_utc_text(clock_real_ns() / NS_PER_S, text);
	p->project = xstrdup(r->plan.project);
	p->version = xstrdup(r->version);
	p->target = xstrdup(r->plan.build.target);
	p->started = xstrdup(text);
	p->labelled = r->given != NULL;
}

/* whet's own CPU: this process and its shims, without the load that it drives on the plan's behalf.
 */
static void note_own_cpu(struct run *r)
{
	struct report *p = r->report;
	uint64_t self = clock_usage_ns(RUSAGE_SELF);

	p->driver_cpu_ns = r->driver_cpu_ns;
	p->own_cpu_ns = (self > r->driver_cpu_ns ? self - r->driver_cpu_ns : 0) + r->wrapper_cpu_ns;
}

static void note_launchers(struct report *p, const struct compile_log *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].launcher)
			report_add_launched(p, l->v[i].launcher, l->v[i].bypassed);
}

static struct text_bytes text_of(const struct build_facts *f, const struct binary_fact *b)
{
	const struct compile_record *link = build_facts_link(f, b);

	return link ? link->text : (struct text_bytes){0};
}

/* Of files that both builds made. */
static void note_layouts(struct report *p, const struct build_facts *a, const struct build_facts *b)
{
	for (size_t i = 0; i < a->n_binaries && i < b->n_binaries; i++) {
		array_reserve(p->layouts, p->n_layouts, p->cap_layouts);
		p->layouts[p->n_layouts++] = (struct report_layout){
			.name = xstrdup(a->binaries[i].name),
			.plain = text_of(a, &a->binaries[i]),
			.pgo = text_of(b, &b->binaries[i]),
		};
	}
}

static void take_training(struct training_facts *from, struct training_facts *to)
{
	*to = *from;
	*from = (struct training_facts){0};
}

static void take_coverage(struct report *p, struct coverage_facts *from, bool has)
{
	p->coverage = *from;
	p->has_coverage = has;
	*from = (struct coverage_facts){0};
}

/* Of two rounds the coverage is told of the first, whose counters are those of whole functions. */
static void add_rounds(struct report *p, struct track *t)
{
	if (t->second) {
		strv_add_all(&p->added_instrumented, &t->first.instrumented.added);
		strv_add_all(&p->added_second, &t->instrumented.added);
		take_training(&t->first.training, &p->training);
		take_training(&t->training, &p->second_training);
		take_coverage(p, &t->first.coverage, t->first.has_coverage);
	} else {
		strv_add_all(&p->added_instrumented, &t->instrumented.added);
		take_training(&t->training, &p->training);
		take_coverage(p, &t->coverage, t->has_coverage);
	}
}

/* Hands the facts over; the nodes that need them have run. */
static void end_report(struct run *r)
{
	const struct build_out *builds[RUN_BUILDS_MAX];
	struct track *t = r->chosen ? r->chosen : &r->own;
	struct track *from = t->from ? t->from : t;
	struct report *p = r->report;
	size_t n;

	if (r->reported)
		return;
	r->reported = true;
	note_own_cpu(r);
	strv_add(&p->tools, "whet " WHET_VERSION);
	for (size_t i = 0; i < r->n_compilers; i++)
		if (!strv_has(&p->tools, r->compilers[i].version))
			strv_add(&p->tools, r->compilers[i].version);
	n = run_builds(r, builds);
	for (size_t i = 0; i < n; i++)
		note_launchers(p, &builds[i]->facts.log);
	note_layouts(p, &r->plain.facts, &r->own.optimised.facts);
	note_past(r);
	strv_add_all(&p->added_plain, &r->plain.added);
	add_rounds(p, from);
	strv_add_all(&p->added_optimised, &t->optimised.added);
	p->profile = from->profile;
	from->profile = (struct profile_facts){0};
	p->provenance = from->provenance;
	from->provenance = (struct provenance){0};
	p->labelled = p->labelled || verdicts_failed(&p->verdicts);
}

static int run_stage(struct run *r, const struct stage *s, struct error *err)
{
	const char *title = s->of_two && round_count(r) > 1 ? s->of_two : s->title;
	struct event e = {.kind = EVENT_NODE_BEGIN, .name = title};
	uint64_t wall = clock_mono_ns(), cpu = cpu_so_far(), self = clock_usage_ns(RUSAGE_SELF);
	int result;

	events_emit(r->o->events, &e);
	r->reused = false;
	r->stage = title;
	if (s->run == node_release)
		end_report(r);
	result = s->run(r, err);
	if (s->run == stage_bench)
		r->driver_cpu_ns += clock_usage_ns(RUSAGE_SELF) - self; /* load, nothing else */
	e.kind = EVENT_NODE_END;
	e.text = result < 0 ? "stopped" : NULL;
	e.done = clock_mono_ns() - wall;
	events_emit(r->o->events, &e);
	note_stage(r, title, e.done, cpu_so_far() - cpu);
	return result;
}

static void say_why_at_all(const struct run *r)
{
	auto_free char *why = r->o->why ? last_difference(r, NULL) : NULL;

	if (why)
		events_note(r->o->events, "not up to date: %s", why);
}

static bool has_variants(const struct run *r, bool laid_out)
{
	for (size_t i = 0; i < r->plan.n_variants; i++)
		if ((r->plan.variants[i].layout.mode != PLAN_LAYOUT_OFF) == laid_out)
			return true;
	return false;
}

static int run_stages(struct run *r, struct error *err)
{
	say_why_at_all(r);
	for (size_t i = 0; i < ARRAY_SIZE(stages); i++) {
		bool left_out = (stages[i].run == node_variants && !has_variants(r, false)) ||
				(stages[i].run == node_laid_out && !has_variants(r, true)) ||
				(stages[i].second && round_count(r) == 1);

		if (!left_out && run_stage(r, &stages[i], err) < 0)
			return -1;
		if (r->o->until && strcmp(r->o->until, stages[i].name) == 0)
			return 0;
	}
	if (trained_keep(r, err) < 0)
		return -1;
	return last_write(r, err);
}

/* For `whet explain`: how the last build ended. */
static void keep_stop(const struct run *r, const struct error *err)
{
	const struct report *p = r->report;
	auto_free char *folder = store_path(&r->store, "last");
	auto_free char *path = path_join(folder, "stop.json");
	auto_json json_t *j = json_object();

	if (!err) {
		tree_remove(path, NULL);
		return;
	}
	json_set_text(j, "started", p->started);
	json_set_text(j, "stage", p->n_stages ? p->stages[p->n_stages - 1].name : "");
	json_set_text(j, "message", err->msg);
	/* The build has failed already; what failed is said in any case. An earlier stop is none of
	 * it. */
	if (dir_create(folder, 0755, NULL) < 0 || json_write_file(j, path, NULL) < 0)
		tree_remove(path, NULL);
}

/* At the end of a build that went well, so that nothing goes that the next one could need. */
static int keep_budget(struct run *r, uint64_t budget, struct error *err)
{
	auto_strv struct strv keep = STRV_INIT;
	struct store_trimmed t = {0};
	int result;

	last_used(r, &keep);
	result = store_trim(&r->store, budget, &keep, &t, err);
	for (size_t i = 0; i < t.gone.n; i++)
		events_detail(
			r->o->events, "over the budget of the state: removed %s", t.gone.v[i]);
	if (result == 0 && t.left > budget)
		events_detail(r->o->events,
			"the state takes %llu bytes, over its budget of %llu: this build and the "
			"last complete one need them",
			(unsigned long long)t.left, (unsigned long long)budget);
	store_trimmed_release(&t);
	return result;
}

/* Hands over what the builds recorded. The run has ended: nothing needs it any more. */
static void hand_over_logs(struct run *r, struct compile_logs *to)
{
	const struct build_out *outs[RUN_BUILDS_MAX];
	size_t n = run_builds(r, outs);

	if (!to)
		return;
	to->slot = store_path(&r->store, "slot");
	to->source = xstrdup(r->source_root);
	to->copy = run_source_copy(r);
	to->kept = r->plain.token ? last_kept(&r->store, r->plain.token) : NULL;
	for (size_t i = 0; i < n; i++) {
		struct build_out *out = (struct build_out *)(uintptr_t)outs[i];

		array_reserve(to->v, to->n, to->cap);
		to->v[to->n++] = out->facts;
		out->facts = (struct build_facts){0};
	}
}

int pipeline_run(const struct pipeline_options *o, struct report *report, struct error *err)
{
	uint64_t budget = 0;
	struct run r;
	int result;

	/* Modes in archives and folders for other users do not depend on who runs whet. */
	umask(022);
	result = run_open(&r, o, err);
	r.report = report;
	if (result == 0)
		result = store_budget(&budget, err);
	if (result == 0)
		result = store_lock(&r.store, err);
	if (result == 0) {
		store_sweep(&r.store);
		begin_report(&r);
		result = run_stages(&r, err);
		if (result == 0)
			result = keep_budget(&r, budget, err);
		if (result == 0 && report->dist)
			note_build(&r);
		if (result < 0)
			space_explain(&r, err);
		keep_stop(&r, result < 0 ? err : NULL);
		last_keep_stopped(&r, result < 0);
		end_report(&r); /* stopped, or ended before the release */
		hand_over_logs(&r, o->logs);
	}
	run_close(&r);
	return result;
}

int pipeline_look(const struct pipeline_options *o, struct pipeline_last *ret, struct error *err)
{
	struct report none = {0};
	struct run r;
	int result = run_open(&r, o, err);

	r.report = &none;
	if (result == 0) {
		auto_free char *text = store_path(&r.store, "last/report.txt");
		auto_free char *why = last_difference(&r, &ret->since);
		auto_buf struct buf b = BUF_INIT;

		ret->up_to_date = !why && file_read(text, 0, &b, NULL) == 0;
		ret->dist = run_dist(&r);
		ret->state = xstrdup(r.store.root);
		ret->source = xstrdup(r.source_root);
		ret->copy = run_source_copy(&r);
		if (ret->up_to_date) {
			last_builds(&r, &ret->nodes);
			/* What stopped in between was undone. */
			keep_stop(&r, NULL);
			last_keep_stopped(&r, false);
		}
		ret->text = buf_detach(&b);
	}
	if (result < 0)
		space_explain(&r, err);
	run_close(&r);
	return result;
}

void pipeline_last_release(struct pipeline_last *l)
{
	free(l->dist);
	free(l->state);
	free(l->since);
	free(l->source);
	free(l->copy);
	free(l->text);
	strv_release(&l->nodes);
	memset(l, 0, sizeof(*l));
}
