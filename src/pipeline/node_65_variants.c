/* Variants: further optimised builds with the profile of the plan's own training, judged by the
 * same gates. The plan's own has passed them by now. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pipeline/layout.h"

const char *run_variant_name(const struct track *t)
{
	return t->variant ? t->variant->name : PLAN_OWN;
}

static void add_build(const struct build_out *b, const struct build_out **ret, size_t *n)
{
	if (b->facts.variant)
		ret[(*n)++] = b;
}

size_t run_builds(const struct run *r, const struct build_out **ret)
{
	size_t n = 0;

	add_build(&r->plain, ret, &n);
	add_build(&r->own.first.instrumented, ret, &n);
	add_build(&r->own.instrumented, ret, &n);
	add_build(&r->own.optimised, ret, &n);
	for (size_t i = 0; i < r->n_variants; i++) {
		if (!r->variants[i].from) {
			add_build(&r->variants[i].first.instrumented, ret, &n);
			add_build(&r->variants[i].instrumented, ret, &n);
		}
		add_build(&r->variants[i].unlaid, ret, &n);
		add_build(&r->variants[i].optimised, ret, &n);
	}
	return n;
}

char *run_track_scratch(const struct run *r, const char *name)
{
	const struct plan_variant *v = r->track->variant;

	return xasprintf("%s/%s%s%s%s", r->scratch, name, v ? "-" : "", v ? v->file_name : "",
		r->track->second ? "-2" : "");
}

struct settings {
	enum plan_lto lto;
	const char *cpu;
	const struct plan_pgo *pgo;
};

static struct settings settings_of(const struct plan_variant *v)
{
	return (struct settings){v->lto, v->cpu, &v->pgo};
}

/* Whether the same instrumented builds serve both: what the compiler does before it puts in the
 * counters depends on the processor, and of a function with other counters the data is stale. Those
 * of a second round are put in after all that inlining depends on. */
static bool same_training(struct settings a, struct settings b)
{
	if (strcmp(a.cpu ? a.cpu : "", b.cpu ? b.cpu : "") != 0 ||
		a.pgo->context_sensitive != b.pgo->context_sensitive)
		return false;
	return !a.pgo->context_sensitive ||
	       (a.lto == b.lto && a.pgo->untrained == b.pgo->untrained);
}

/* A track that has the profile that this variant needs, or NULL. */
static struct track *lender(struct run *r, const struct plan_variant *v)
{
	struct settings own = {r->plan.build.lto, r->plan.build.cpu, &r->plan.pgo};

	if (!v->profile || r->given || same_training(settings_of(v), own))
		return &r->own;
	for (size_t i = 0; i < r->n_variants; i++) {
		struct track *t = &r->variants[i];

		if (t->published && !t->from &&
			same_training(settings_of(v), settings_of(t->variant)))
			return t;
	}
	return NULL;
}

static struct track *begin(struct run *r, const struct plan_variant *v)
{
	struct track *from = lender(r, v);
	struct track *t = &r->variants[r->n_variants++];

	if (from) {
		*t = *from;
		t->from = from;
		t->optimised = (struct build_out){0};
		t->replay = (struct training_facts){0};
		t->final_facts = NULL;
		t->final_names = NULL;
		t->n_final = 0;
		t->final = (struct final){0};
		t->verdicts = (struct verdicts){0};
		t->out = NULL;
		t->own_profiles = false;
		t->base = NULL;
		t->base_of = NULL;
		t->unlaid = (struct build_out){0};
		t->layouts = NULL;
		t->n_layouts = 0;
		t->layout_key = NULL;
	}
	t->variant = v;
	return t;
}

static int run_round(struct run *r, struct error *err)
{
	if (node_build(r, MODE_INSTRUMENTED, err) < 0 || node_train(r, err) < 0)
		return -1;
	return node_merge(r, err);
}

static int train_own(struct run *r, struct error *err)
{
	if (run_round(r, err) < 0)
		return -1;
	if (round_count(r) == 1)
		return 0;
	round_next(r);
	return run_round(r, err);
}

/* The profile of another track, as this one's compilers are to read it. */
static int borrow(struct run *r, struct error *err)
{
	const struct track *from = r->track->from;
	bool left_out = r->track->variant->pgo.untrained == UNTRAINED_NEUTRAL;

	if (!r->track->variant->profile)
		return 0;
	if (r->given && from->profile.context_sensitive != r->track->variant->pgo.context_sensitive)
		return error_set(err, ERR_GATE, "the profile that was given has %s second round",
			from->profile.context_sensitive ? "a" : "no");
	if (from->profile.left_out == left_out)
		return 0;
	return node_encode(r, err);
}

/* The track whose optimised build differs from this one in nothing but the layout; NULL: none. */
static struct track *same_unlaid(struct run *r, const struct plan_variant *v)
{
	struct plan_variant own = plan_own_variant(&r->plan);

	if (plan_same_but_layout(v, &own))
		return &r->own;
	for (size_t i = 0; i < r->n_variants; i++) {
		struct track *t = &r->variants[i];

		if (t->variant != v && t->variant->layout.mode == PLAN_LAYOUT_OFF &&
			plan_same_but_layout(v, t->variant))
			return t;
	}
	return NULL;
}

/* The optimised build that is to be laid out: judged as any other, wherever it comes from. */
static int make_base(struct run *r, struct error *err)
{
	struct track *t = r->track, *other = same_unlaid(r, t->variant);

	if (other && other->out)
		return error_set(err, ERR_GATE, "'%s', which was to be laid out, is out: %s",
			run_variant_name(other), other->out);
	if (!other && (node_build(r, MODE_OPTIMISED, err) < 0 || node_gate_outside(r, err) < 0))
		return -1;
	if (!other) {
		t->unlaid = t->optimised;
		t->optimised = (struct build_out){0};
	}
	t->base_of = other;
	t->base = other ? &other->optimised : &t->unlaid;
	return node_gate(r, GATE_AFTER_OPTIMISED, err);
}

static int run_laid_out(struct run *r, struct error *err)
{
	bool reused;

	if (r->track->from ? borrow(r, err) < 0 : train_own(r, err) < 0)
		return -1;
	if (make_base(r, err) < 0)
		return -1;
	r->reused = false;
	if (node_layout(r, err) < 0)
		return -1;
	reused = r->reused;
	if (node_check(r, err) < 0)
		return -1;
	r->reused = reused;
	return 0;
}

static int run_one(struct run *r, struct error *err)
{
	if (r->track->from ? borrow(r, err) < 0 : train_own(r, err) < 0)
		return -1;
	if (node_build(r, MODE_OPTIMISED, err) < 0 || node_gate(r, GATE_AFTER_OPTIMISED, err) < 0 ||
		node_gate_outside(r, err) < 0)
		return -1;
	return node_check(r, err);
}

char *run_failed_gates(const struct verdicts *vs)
{
	auto_strv struct strv lines = STRV_INIT;

	for (size_t i = 0; i < vs->n; i++)
		if (vs->v[i].state == VERDICT_FAIL)
			strv_addf(&lines, "%s: %s", vs->v[i].gate, vs->v[i].summary);
	return lines.n ? strv_join(&lines, "; ") : NULL;
}

/* What a gate says against it, or a compiler that cannot make it, is a result like any other. What
 * keeps whet from working at all is not. */
int run_rule_out(struct run *r, struct track *t, struct error *why, struct error *err)
{
	if (why->code != ERR_GATE && why->code != ERR_CHILD)
		return error_move(err, why);
	t->out = run_failed_gates(&t->verdicts);
	if (!t->out)
		t->out = xstrndup(why->msg, strcspn(why->msg, "\n"));
	events_warning(r->o->events, "the variant '%s' is out: %s", t->variant->name, why->msg);
	error_release(why);
	return 0;
}

static int run_those(struct run *r, bool laid_out, struct error *err)
{
	bool all_reused = true;
	int result = 0;

	if (!r->variants)
		r->variants = xcalloc(r->plan.n_variants, sizeof(*r->variants));
	for (size_t i = 0; i < r->plan.n_variants && result == 0; i++) {
		const struct plan_variant *v = &r->plan.variants[i];
		struct error why = ERROR_INIT;

		if ((v->layout.mode != PLAN_LAYOUT_OFF) != laid_out)
			continue;
		r->track = begin(r, v);
		r->reused = false;
		if ((laid_out ? run_laid_out(r, &why) : run_one(r, &why)) < 0)
			result = run_rule_out(r, r->track, &why, err);
		all_reused = all_reused && r->reused;
	}
	r->track = &r->own;
	r->reused = all_reused;
	return result;
}

int node_variants(struct run *r, struct error *err)
{
	return run_those(r, false, err);
}

int node_laid_out(struct run *r, struct error *err)
{
	return run_those(r, true, err);
}
