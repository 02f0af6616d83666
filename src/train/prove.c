/* The proof before the training: a start and a stop leave a valid profile. */
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "train/internal.h"

struct proof {
	struct session s;
	const struct plan_service *subject;
	const struct plan_phase *phase;
	struct service_end end; /* of the subject */
	struct proc_exit exit;  /* of the phase's command */
};

static int run_subject(struct proof *p, struct error *err)
{
	struct running *r;

	if (session_start(&p->s, p->subject, err) < 0)
		return -1;
	r = session_subject(&p->s);
	session_sample(&p->s, true);
	if (service_stop(r->s, &p->end, err) < 0)
		return -1;
	session_ended(&p->s, r->pid, p->end.signal);
	return session_stop(&p->s, err);
}

static bool can_prove(const struct plan_phase *p)
{
	return p->kind == PHASE_RUN && launch_runs_binary(p->run);
}

/* The first phase of the plan that runs the binary on this machine. */
static int find_phase(struct proof *p, struct error *err)
{
	const struct plan_train *t = &p->s.o->plan->train;

	for (size_t i = 0; i < t->n_phases; i++) {
		int wanted = can_prove(&t->phases[i]) ? phase_wanted(&p->s, &t->phases[i], err) : 0;

		if (wanted < 0)
			return -1;
		if (wanted) {
			p->phase = &t->phases[i];
			return 0;
		}
	}
	return error_set(err, ERR_CONFIG,
		"'%s': nothing runs the instrumented binary: mark a service with 'subject: true', "
		"or "
		"use {binary} in a phase's 'run'",
		p->s.o->plan->file ? p->s.o->plan->file : "the plan");
}

static int run_batch(struct proof *p, struct error *err)
{
	int r = session_start(&p->s, NULL, err);

	if (r == 0)
		r = find_phase(p, err);
	if (r == 0)
		r = phase_run_once(&p->s, p->phase, phase_timeout(p->phase), &p->exit, err);
	if (session_stop(&p->s, r < 0 ? NULL : err) < 0)
		r = -1;
	return r;
}

/* How the subject took its stop signal, as far as it explains a missing profile. */
static char *remedy(const struct proof *p)
{
	const struct plan_service *s = p->subject;

	if (!s)
		return xasprintf("the command ended with %s %d; it must end by exit() or a return "
				 "from main",
			p->exit.signal ? "signal" : "code",
			p->exit.signal ? p->exit.signal : p->exit.code);
	if (p->end.died_early)
		return xstrdup("it ended before it was told to stop; see its log");
	if (p->end.killed)
		return xasprintf(
			"it did not end within %.3g s after signal %d (%s) and was killed; "
			"choose a signal that it handles by 'stop:', or a longer time",
			(double)s->stop_timeout_ns / NS_PER_S, s->stop_signal,
			strsignal(s->stop_signal));
	if (p->end.signal)
		return xasprintf(
			"signal %d (%s) ended it before it could write; choose a signal that it "
			"handles by 'stop:', or make the program exit on it",
			p->end.signal, strsignal(p->end.signal));
	return xstrdup("it ended by itself, but without exit handlers (_exit, quick_exit), or it "
		       "could not write there; see its log");
}

/* What was seen of a process explains more than how the program ended. */
static char *cause_of(const struct proof *p, const struct training_facts *f)
{
	for (size_t i = 0; i < f->n_processes; i++) {
		const struct process_evidence *e = &f->processes[i];

		if (e->state != RAW_VALID && e->cause != CAUSE_UNKNOWN &&
			e->cause != CAUSE_SIGNAL && e->cause != CAUSE_EXIT)
			return xasprintf("%s%s%s%s; %s", flush_cause_text(e), e->detail ? " (" : "",
				e->detail ? e->detail : "", e->detail ? ")" : "",
				flush_cause_remedy(e));
	}
	return remedy(p);
}

/* None of the processes was on the hook's list. */
static bool all_silent(const struct training_facts *f)
{
	for (size_t i = 0; i < f->n_processes; i++)
		if (f->processes[i].origin != PROCESS_SILENT || f->processes[i].cause)
			return false;
	return true;
}

static bool failed(const struct proof *p)
{
	return !p->subject && (p->exit.code != (int)p->phase->batch.exit_code || p->exit.signal);
}

static int judge(const struct proof *p, const struct training_facts *f, struct error *err)
{
	const char *name = p->subject ? p->subject->name : p->phase->name;
	auto_free char *why = cause_of(p, f);
	const struct raw_file *bad = NULL;

	for (size_t i = 0; i < f->n_raws; i++) {
		if (f->raws[i].state == RAW_VALID)
			return 0;
		bad = &f->raws[i];
	}
	if (bad && bad->state == RAW_EMPTY)
		return error_set(err, ERR_CHILD,
			"'%s' left an empty profile ('%s', 0 bytes) after start and stop: %s", name,
			bad->path, why);
	if (bad)
		return error_set(err, ERR_CHILD,
			"'%s' left no usable profile after start and stop: "
			"'%s' is %s: %s",
			name, bad->path, raw_state_name(bad->state), bad->problem);
	if (all_silent(f) && failed(p))
		return error_set(err, ERR_CHILD,
			"'%s' left no profile after start and stop: its command ended with %s %d "
			"before the program began; see its log",
			name, p->exit.signal ? "signal" : "code",
			p->exit.signal ? p->exit.signal : p->exit.code);
	if (all_silent(f))
		return error_set(err, ERR_CHILD,
			"'%s' left no profile after start and stop, and no process of it announced "
			"itself: the profile runtime is not in the binary, or the command does not "
			"run {binary}",
			name);
	return error_set(err, ERR_CHILD,
		"'%s' left no profile after start and stop: process %d wrote none: %s", name,
		(int)f->processes[0].pid, why);
}

static int prove_in(const struct train_options *o, struct proof *p, struct error *err)
{
	auto_free char *profiles = path_join(o->folder, "proof-profiles");
	struct training_facts facts = {0};
	int r;

	r = tree_remove(profiles, err);
	if (r == 0)
		r = session_open(&p->s, o, profiles, &facts, err);
	if (r == 0)
		r = p->subject ? run_subject(p, err) : run_batch(p, err);
	if (r == 0)
		r = session_collect(&p->s, err);
	if (r == 0)
		r = judge(p, &facts, err);
	session_close(&p->s);
	training_facts_release(&facts);
	if (r == 0)
		r = tree_remove(profiles, err);
	return r;
}

int train_prove(const struct train_options *o, struct error *err)
{
	struct proof p = {.subject = plan_subject(o->plan)};

	return prove_in(o, &p, err);
}
