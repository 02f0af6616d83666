#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "service/batch.h"
#include "train/internal.h"

#define LOG_LINES 30
#define STEP_NS (50 * NS_PER_MS)
/* For processes that a command left behind: this long by themselves, then after SIGTERM. */
#define LEFTOVER_NS NS_PER_S
#define LEFTOVER_TERM_NS (5 * NS_PER_S)

/* One phase's command, started as often as the phase says. */
struct command {
	struct session *s;
	const struct plan_phase *phase;
	struct strv vars, argv;
	char *log, *prefix; /* prefix: of the names of whet's own files */
	struct batch *batch;
	uint64_t end;       /* of the phase, CLOCK_MONOTONIC */
	uint64_t cpu_ns;    /* of all runs' trees */
	const char *launch; /* of the present run; NULL: leaves no profiles */
	char *sockets;      /* of the services when the time was up; else NULL */
};

static void command_release(struct command *c)
{
	strv_release(&c->vars);
	strv_release(&c->argv);
	batch_close(c->batch);
	free(c->log);
	free(c->prefix);
	free(c->sockets);
}

static char *file_prefix(struct session *s, const struct plan_phase *p)
{
	auto_free char *name = xstrdup(p->name);

	for (char *c = name; *c; c++)
		if (strchr("/ ", *c))
			*c = '-';
	return xasprintf("%s/logs/phase-%s", s->o->folder, name);
}

/* Placeholders of a phase: those of the services; without a subject it has a folder of its own. */
static int phase_vars(
	struct session *s, const struct plan_phase *p, struct strv *vars, struct error *err)
{
	auto_free char *folder = path_absolute(s->o->folder), *work = NULL;
	size_t at = p - s->o->plan->train.phases;

	strv_add_all(vars, &s->vars);
	if (session_subject(s))
		return 0;
	work = xasprintf("%s/scratch/phase-%zu", folder, at + 1);
	env_set(vars, "work", work);
	return dir_create(work, 0755, err);
}

static int command_make(struct command *c, struct session *s, const struct plan_phase *p,
	uint64_t timeout_ns, struct error *err)
{
	struct batch_options b = {
		.phase = p, .root = s->o->plan->root, .seed = s->o->plan->train.seed};
	char *text;

	*c = (struct command){.s = s, .phase = p, .prefix = file_prefix(s, p)};
	c->log = xasprintf("%s.log", c->prefix);
	c->end = clock_mono_ns() + timeout_ns;
	b.vars = &c->vars;
	b.prefix = c->prefix;
	if (phase_vars(s, p, &c->vars, err) < 0 || batch_open(&b, &c->batch, err) < 0 ||
		plan_expand(p->run, &c->vars, &text, err) < 0)
		return -1;
	strv_add(&c->argv, "/bin/sh");
	strv_add(&c->argv, "-c");
	strv_take(&c->argv, text);
	return 0;
}

static int command_start(struct command *c, struct tree **ret, struct error *err)
{
	struct session *s = c->s;
	auto_strv struct strv env = STRV_INIT;
	auto_close int log = -1;
	struct proc_options o = PROC_OPTIONS_INIT;

	launch_environment(&env);
	c->launch = NULL;
	if (s->profiles && launch_runs_binary(c->phase->run)) {
		c->launch = launch_new(s->profiles, c->phase->name, &s->launches, &env, err);
		if (!c->launch)
			return -1;
	} else if (launch_runs_binary(c->phase->run) &&
		   session_aim(s, c->phase->name, false, &c->launch, err) < 0) {
		return -1;
	}
	log = open(c->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (log < 0)
		return error_set(err, ERR_IO, "cannot write log '%s': %s", c->log, strerror(errno));
	o.argv = &c->argv;
	o.env = &env;
	o.cwd = s->o->plan->root;
	o.out_fd = o.err_fd = log;
	if (batch_begin(c->batch, &o, err) < 0 ||
		(batch_on_terminal(c->batch) ? tree_start_terminal : tree_start)(&o, ret, err) < 0)
		return -1;
	if (batch_started(c->batch, err) == 0)
		return 0;
	tree_free(*ret);
	return -1;
}

static void sample(struct command *c, struct tree *t)
{
	auto_free pid_t *pids = NULL;
	size_t n;

	session_sample(c->s, false);
	if (!c->s->watch.binaries)
		return;
	n = tree_members(t, &pids);
	watch_pids(&c->s->watch, c->launch ? c->launch : c->phase->name, pids, n);
}

/* What the command left running ends, too. False when it had to be killed. */
static bool end_leftovers(struct tree *t)
{
	if (tree_wait_gone(t, LEFTOVER_NS) == 0)
		return true;
	tree_signal(t, SIGTERM);
	return tree_wait_gone(t, LEFTOVER_TERM_NS) == 0;
}

enum outcome { OUTCOME_ENDED, OUTCOME_TIME_UP, OUTCOME_LEFTOVERS, OUTCOME_SERVICE_DIED };

static enum outcome watch_command(struct command *c, struct tree *t)
{
	for (;;) {
		uint64_t now = clock_mono_ns(), left = c->end > now ? c->end - now : 0;

		if (tree_wait_main(t, left < STEP_NS ? left : STEP_NS) == 0)
			return end_leftovers(t) ? OUTCOME_ENDED : OUTCOME_LEFTOVERS;
		sample(c, t);
		if (session_dead(c->s))
			return OUTCOME_SERVICE_DIED;
		if (clock_mono_ns() >= c->end) {
			c->sockets = sockets_text(c->s);
			return OUTCOME_TIME_UP;
		}
	}
}

static int command_run(
	struct command *c, enum outcome *how, struct proc_exit *exit, struct error *err)
{
	struct tree *t;
	uint64_t cpu = 0;
	int r;

	if (command_start(c, &t, err) < 0)
		return -1;
	*how = watch_command(c, t);
	r = tree_kill(t, err);
	batch_ended(c->batch);
	if (r == 0)
		r = tree_cpu_ns(t, &cpu, err);
	(void)tree_main_ended(t, exit);
	if (*how != OUTCOME_ENDED || exit->signal)
		session_ended(c->s, tree_pid(t), exit->signal);
	c->cpu_ns += cpu;
	tree_free(t);
	return r;
}

/* What the command and its programs printed last. */
static char *log_tail(const struct command *c)
{
	auto_free char *out = batch_output_tail(c->batch, LOG_LINES);
	auto_free char *log = file_tail(c->log, LOG_LINES);

	if (!out || !*out)
		return take_ptr(log);
	return *log ? xasprintf("%s\n%s", out, log) : take_ptr(out);
}

/* With those of the services. */
static char *stalled_log(const struct command *c)
{
	auto_free char *own = log_tail(c), *others = logs_text(c->s, NULL);

	return xasprintf("%s%s%s", own, *own && *others ? "\n" : "", others);
}

static char *run_of(const struct phase_result *r)
{
	return xasprintf("(run %llu of %llu)", (unsigned long long)r->done + 1,
		(unsigned long long)r->planned);
}

static int judge(struct command *c, enum outcome how, const struct proc_exit *end,
	struct phase_result *r, struct error *err)
{
	auto_free char *which = run_of(r), *fault = NULL;
	const struct plan_phase *p = c->phase;

	if (how == OUTCOME_ENDED && batch_fault(c->batch, end, &fault, err) < 0)
		return -1;
	if (how == OUTCOME_ENDED && !fault) {
		r->done++;
		return 0;
	}
	r->status = how == OUTCOME_TIME_UP ? PHASE_TIMEOUT : PHASE_FAILED;
	r->log = how == OUTCOME_TIME_UP ? stalled_log(c) : log_tail(c);
	if (how == OUTCOME_TIME_UP)
		r->problem = xasprintf("'%s' did not end within %.3g s %s%s%s", p->run,
			(double)phase_timeout(p) / NS_PER_S, which, *c->sockets ? "\n" : "",
			c->sockets);
	else if (how == OUTCOME_LEFTOVERS)
		r->problem = xasprintf(
			"'%s' left processes that ignored SIGTERM and were killed", p->run);
	else if (how == OUTCOME_ENDED)
		r->problem = xasprintf("%s %s", fault, which);
	return 0;
}

static int run_all(struct command *c, struct phase_result *r, struct error *err)
{
	r->status = PHASE_OK;
	while (r->status == PHASE_OK && r->done < r->planned) {
		struct proc_exit end = {0};
		enum outcome how;

		events_progress(
			c->s->o->events, c->s->o->node, c->phase->name, r->done, r->planned);
		if (command_run(c, &how, &end, err) < 0 || judge(c, how, &end, r, err) < 0)
			return -1;
	}
	return 0;
}

int phase_run(
	struct session *s, const struct plan_phase *p, struct phase_result *r, struct error *err)
{
	struct running *subject = session_subject(s);
	uint64_t before = 0, after = 0, start = clock_mono_ns();
	struct command c;
	int result;

	r->planned = p->repeat ? p->repeat : 1;
	result = command_make(&c, s, p, phase_timeout(p), err);
	if (result == 0 && subject)
		result = service_cpu_ns(subject->s, &before, err);
	if (result == 0)
		result = run_all(&c, r, err);
	if (result == 0 && subject)
		result = service_cpu_ns(subject->s, &after, err);
	r->wall_ns = clock_mono_ns() - start;
	r->subject_cpu_ns = subject ? after - before : c.cpu_ns;
	r->driver_cpu_ns = subject ? c.cpu_ns : 0;
	command_release(&c);
	return result < 0 ? error_context(err, "phase '%s'", p->name) : 0;
}

int phase_run_once(struct session *s, const struct plan_phase *p, uint64_t timeout_ns,
	struct proc_exit *ret, struct error *err)
{
	struct command c;
	enum outcome how;
	int r = command_make(&c, s, p, timeout_ns, err);

	if (r == 0)
		r = command_run(&c, &how, ret, err);
	command_release(&c);
	return r;
}

int phase_wanted(struct session *s, const struct plan_phase *p, struct error *err)
{
	auto_strv struct strv vars = STRV_INIT, argv = STRV_INIT, env = STRV_INIT;
	auto_free char *text = NULL;
	struct proc_options o = PROC_OPTIONS_INIT;
	struct proc_exit end;

	if (!p->when)
		return 1;
	launch_environment(&env);
	if (phase_vars(s, p, &vars, err) < 0 || plan_expand(p->when, &vars, &text, err) < 0)
		return -1;
	strv_add(&argv, "/bin/sh");
	strv_add(&argv, "-c");
	strv_add(&argv, text);
	o.argv = &argv;
	o.env = &env;
	o.cwd = s->o->plan->root;
	if (proc_run(&o, phase_timeout(p), &end, err) < 0)
		return error_context(err, "phase '%s', when", p->name);
	/* Killed says neither yes nor no; a phase must not be left out for that. */
	if (end.signal || end.code > 128) {
		auto_free char *how = proc_exit_text(&end);

		return error_set(err, ERR_CHILD,
			"phase '%s', when: '%s' ended with %s, which says neither yes nor no",
			p->name, p->when, how);
	}
	return end.code == 0;
}
