#include "train/train.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/mem.h"
#include "train/coverage.h"
#include "train/internal.h"

#define LOG_LINES 30

uint64_t phase_timeout(const struct plan_phase *p)
{
	return p->timeout_ns ? p->timeout_ns : 300 * NS_PER_S;
}

/* "service 'edge' ended during the phase: signal 9 (Killed)", after a problem that came first, and
 * its log. */
static void note_death(const struct running *dead, struct phase_result *r)
{
	struct service_end end = {0};
	struct error ignored = ERROR_INIT;
	auto_free char *old = r->problem;
	auto_free char *text = NULL;

	/* Only collects how it ended: its program is gone already. */
	if (service_stop(dead->s, &end, &ignored) == 0)
		text = proc_exit_text(&(struct proc_exit){.code = end.code, .signal = end.signal});
	error_release(&ignored);
	r->problem = xasprintf("%s%sservice '%s' ended during the phase: %s", old ? old : "",
		old ? "; " : "", dead->plan->name, text ? text : "unknown how");
	if (r->status != PHASE_TIMEOUT)
		r->status = PHASE_FAILED;
	free(r->log);
	r->log = service_log_tail(dead->s, LOG_LINES);
}

/* After a failure a connection may be seen closed before the process is seen ended. */
static struct running *find_dead(struct session *s, const struct phase_result *r)
{
	struct running *dead = session_dead(s);

	for (int i = 0; !dead && r->status != PHASE_OK && i < 20; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 10 * (long)NS_PER_MS}, NULL);
		dead = session_dead(s);
	}
	return dead;
}

static struct phase_result *new_result(struct session *s, const struct plan_phase *p, size_t at)
{
	auto_free char *setting = plan_combination_text(s->o->plan, at);
	struct training_facts *f = s->facts;
	struct phase_result *r;

	array_reserve(f->phases, f->n_phases, f->cap_phases);
	r = &f->phases[f->n_phases++];
	*r = (struct phase_result){.phase = xstrdup(p->name), .status = PHASE_NOT_RUN};
	r->name = setting ? xasprintf("%s [%s]", p->name, setting) : xstrdup(p->name);
	r->setting = take_ptr(setting);
	r->planned = p->kind == PHASE_HTTP ? p->http.requests : p->repeat ? p->repeat : 1;
	return r;
}

static int run_one(
	struct session *s, const struct plan_phase *p, struct phase_result *r, struct error *err)
{
	const struct plan_service *lacks = session_lacks(s, p);
	int wanted = lacks ? 0 : phase_wanted(s, p, err);
	struct running *dead;

	if (wanted < 0)
		return -1;
	if (lacks)
		r->problem = xasprintf("the `when:` of service '%s' said no", lacks->name);
	if (!wanted) {
		r->status = PHASE_SKIPPED;
		return 0;
	}
	session_sample(s, true);
	if ((p->kind == PHASE_HTTP ? phase_http : phase_run)(s, p, r, err) < 0)
		return -1;
	dead = find_dead(s, r);
	if (dead)
		note_death(dead, r);
	return 0;
}

static bool belongs(const struct session *s, const struct plan_phase *p, size_t combination)
{
	const char *only = s->o->only_phase;

	return (!only || !strcmp(only, p->name)) && plan_phase_runs_in(s->o->plan, p, combination);
}

/* *stop: nothing is to be run any more; then phases are noted as not run. */
static int run_phases(struct session *s, size_t combination, bool *stop, struct error *err)
{
	const struct plan_train *t = &s->o->plan->train;

	for (size_t i = 0; i < t->n_phases; i++) {
		const struct plan_phase *p = &t->phases[i];
		struct phase_result *r;

		if (!belongs(s, p, combination))
			continue;
		r = new_result(s, p, combination);
		if (*stop)
			continue;
		if (run_one(s, p, r, err) < 0)
			return -1;
		if (r->status != PHASE_SKIPPED)
			coverage_mark(s->coverage, s, COVERAGE_PHASE, r->setting, p->name);
		*stop = r->status == PHASE_FAILED || r->status == PHASE_TIMEOUT;
	}
	return 0;
}

/* A service that does not start says something about the program under training; a missing program
 * or a wrong placeholder does not. */
static bool can_be_judged(const struct error *err)
{
	return err->code == ERR_CHILD || err->code == ERR_TIMEOUT;
}

/* The services get the settings of a combination; when one does not start, *stop is set. */
static int enter(struct session *s, size_t combination, bool *stop, struct error *err)
{
	auto_free char *setting = plan_combination_text(s->o->plan, combination);
	struct error own = ERROR_INIT;

	if ((combination ? session_change(s, combination, &own) : session_start(s, NULL, &own)) ==
		0) {
		coverage_mark(s->coverage, s, COVERAGE_START, setting, NULL);
		return 0;
	}
	if (setting)
		(void)error_context(&own, "with %s", setting);
	if (!can_be_judged(&own))
		return error_move(err, &own);
	session_fail(s, own.msg);
	error_release(&own);
	*stop = true;
	return 0;
}

static int run_combinations(struct session *s, struct error *err)
{
	size_t n = plan_combinations(s->o->plan);
	bool stop = false;

	for (size_t i = 0; i < n; i++)
		if ((!stop && enter(s, i, &stop, err) < 0) || run_phases(s, i, &stop, err) < 0)
			return -1;
	return 0;
}

static int run_session(struct session *s, struct error *err)
{
	int r = run_combinations(s, err);

	if (session_stop(s, r < 0 ? NULL : err) < 0)
		r = -1;
	if (r < 0 || session_collect(s, err) < 0)
		return -1;
	coverage_mark(s->coverage, s, COVERAGE_STOP, NULL, NULL);
	snapshots_tell(s);
	return 0;
}

static int check_only(const struct train_options *o, struct error *err)
{
	if (!o->only_phase || plan_find_phase(o->plan, o->only_phase))
		return 0;
	return error_set(err, ERR_USAGE, "there is no phase '%s' in '%s'", o->only_phase,
		o->plan->file ? o->plan->file : "the plan");
}

/* With what each phase executes, when that is asked for. */
static int run_covered(struct session *s, struct error *err)
{
	const struct train_options *o = s->o;
	auto_free char *folder = path_join(o->folder, "coverage");
	int r;

	if (!o->coverage || !o->profiles)
		return run_session(s, err);
	s->coverage = coverage_new(o, folder, err);
	if (!s->coverage)
		return -1;
	r = run_session(s, err);
	if (r == 0)
		coverage_end(s->coverage, o->coverage);
	coverage_free(s->coverage);
	return r;
}

static int run_here(const struct train_options *o, struct training_facts *ret, struct error *err)
{
	struct training_facts facts = {.digest = xstrdup(o->plan->training_digest)};
	struct session s;
	int r = check_only(o, err);

	if (r == 0) {
		r = session_open(&s, o, o->profiles, &facts, err);
		if (r == 0)
			r = run_covered(&s, err);
		session_close(&s);
	}
	if (r == 0) {
		facts.emulator = o->emulator ? xstrdup(o->emulator->name) : NULL;
		facts.disk = disk_full_text(o->profiles ? o->profiles : o->folder);
		*ret = facts;
	} else {
		training_facts_release(&facts);
	}
	return r;
}

int train_run(const struct train_options *o, struct training_facts *ret, struct error *err)
{
	auto_free char *why = NULL;

	if (!o->plan->train.private_network)
		return run_here(o, ret, err);
	if (private_network_possible(&why))
		return private_run(o, run_here, ret, err);
	events_warning(o->events,
		"no private network for the training: this machine does not allow it (%s); it runs "
		"in the machine's own, whose loopback has larger packets",
		why ? why : "unknown why");
	return run_here(o, ret, err);
}

static void add_answer(struct strv *ret, const char *name, const char *setting, int wanted)
{
	strv_addf(ret, "%s%s%s%s=%s", name, setting ? " [" : "", setting ? setting : "",
		setting ? "]" : "",
		wanted < 0 ? "unknown"
		: wanted   ? "yes"
			   : "no");
}

/* All answers with one combination of settings. */
static void ask_all(struct session *s, size_t combination, struct strv *ret)
{
	const struct plan_train *t = &s->o->plan->train;
	auto_free char *setting = plan_combination_text(s->o->plan, combination);
	auto_strv struct strv env = STRV_INIT;
	struct error ignored = ERROR_INIT;

	launch_environment(&env);
	(void)plan_combination_vars(s->o->plan, combination, &s->vars, &ignored);
	for (size_t i = 0; i < t->n_services; i++) {
		const struct plan_service *one = &t->services[i];

		if (one->when)
			add_answer(ret, one->name, setting,
				service_wanted(one, &s->vars, &env, s->o->plan->root, &ignored));
	}
	for (size_t i = 0; i < t->n_phases; i++) {
		const struct plan_phase *p = &t->phases[i];

		if (p->when && plan_phase_runs_in(s->o->plan, p, combination))
			add_answer(ret, p->name, setting, phase_wanted(s, p, &ignored));
	}
	error_release(&ignored);
}

int train_conditions(const struct train_options *o, struct strv *ret, struct error *err)
{
	struct training_facts none = {0};
	struct session s;
	int r = session_open(&s, o, NULL, &none, err);

	for (size_t i = 0; r == 0 && i < plan_combinations(o->plan); i++)
		ask_all(&s, i, ret);
	session_close(&s);
	return r;
}
