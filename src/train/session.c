#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "train/internal.h"

#define SAMPLE_NS (50 * NS_PER_MS)

void session_fail(struct session *s, const char *text)
{
	char *old = s->facts->failure;

	s->facts->failure = old ? xasprintf("%s\n%s", old, text) : xstrdup(text);
	free(old);
}

static void set_vars(struct session *s)
{
	const struct plan *p = s->o->plan;
	auto_free char *source = path_join(p->root, p->build.dir ? p->build.dir : ".");
	auto_free char *clean = path_clean(source);

	env_set(&s->vars, "source", clean);
	for (size_t i = 0; i < s->o->binaries->n; i++) {
		auto_free char *path = path_absolute(s->o->binaries->v[i]);
		auto_free char *name = NULL;

		if (i == 0)
			env_set(&s->vars, "binary", path);
		if (i >= p->build.binary.n)
			break;
		name = xasprintf("binary.%s", path_basename(p->build.binary.v[i]));
		env_set(&s->vars, name, path);
	}
}

/* A program that gave up its rights must still reach its files: only folders made for this. */
static int make_traversable(const char *path, struct error *err)
{
	struct stat st;

	if (dir_create(path, 0711, err) < 0)
		return -1;
	if (stat(path, &st) == 0 && (st.st_mode & 0111) != 0111)
		(void)chmod(path, (st.st_mode & 07777) | 0111);
	return 0;
}

int session_open(struct session *s, const struct train_options *o, const char *profiles,
	struct training_facts *facts, struct error *err)
{
	auto_free char *work = path_join(o->folder, "work"), *logs = path_join(o->folder, "logs");

	*s = (struct session){.o = o, .profiles = profiles, .facts = facts};
	if (make_traversable(o->folder, err) < 0 || make_traversable(work, err) < 0 ||
		dir_create(logs, 0755, err) < 0 ||
		(profiles && make_traversable(profiles, err) < 0))
		return -1;
	s->services = xcalloc(o->plan->train.n_services + 1, sizeof(*s->services));
	s->left_out = xcalloc(o->plan->train.n_services + 1, sizeof(*s->left_out));
	s->starts = xcalloc(o->plan->train.n_services + 1, sizeof(*s->starts));
	if (profiles)
		s->watch.binaries = o->binaries;
	s->watch.emulator = o->emulator;
	set_vars(s);
	service_content_names(&o->plan->train, o->folder, &s->vars);
	return 0;
}

void session_close(struct session *s)
{
	for (size_t i = s->n_services; i-- > 0;)
		service_free(s->services[i].s);
	free(s->services);
	free(s->left_out);
	free(s->starts);
	free(s->ends);
	free(s->snapshots);
	strv_release(&s->vars);
	strv_release(&s->launches);
	watch_release(&s->watch);
}

/* ---- Start ------------------------------------------------------------------------------------
 */

/* Each start has a folder and a log of its own: "edge", then "edge#2". */
static char *start_name(struct session *s, const struct plan_service *plan)
{
	unsigned int n = ++s->starts[plan - s->o->plan->train.services];

	return n > 1 ? xasprintf("%s#%u", plan->name, n) : xstrdup(plan->name);
}

/* A service that is another user gets its profile folder. */
static int give_launch(const struct session *s, const struct running *r, struct error *err)
{
	auto_free char *path = path_join(s->profiles, r->launch);

	return service_give(r->plan, path, err);
}

static void tell_user(const struct session *s, const struct plan_service *plan)
{
	auto_free char *note = service_user_note(plan);

	if (note)
		events_warning(s->o->events, "%s", note);
}

int session_aim(
	struct session *s, const char *name, bool service, const char **launch, struct error *err)
{
	const struct train_aim *a = s->o->aim;

	if (!a)
		return 0;
	*launch = launch_name(name, &s->launches);
	return a->before(a->ctx, *launch, service, err);
}

/* Leaves it out when its `when:` says no; its placeholders are there all the same. */
static int start_one(struct session *s, const struct plan_service *plan, struct error *err)
{
	auto_free char *folder = path_absolute(s->o->folder), *name = start_name(s, plan);
	auto_free char *work = xasprintf("%s/scratch/%s", folder, name);
	auto_free char *log = xasprintf("%s/logs/%s.log", folder, name);
	auto_strv struct strv env = STRV_INIT;
	bool *left_out = &s->left_out[plan - s->o->plan->train.services];
	int wanted;
	struct running *r = &s->services[s->n_services];
	struct service_options o = {.plan = plan,
		.vars = &s->vars,
		.work = work,
		.log = log,
		.env = &env,
		.self = s->o->self,
		.seed = s->o->plan->train.seed,
		.cpu = -1};

	*r = (struct running){.session = s, .plan = plan};
	launch_environment(&env);
	if (service_place(plan, work, &s->vars, &o.port, err) < 0)
		return -1;
	wanted = service_wanted(plan, &s->vars, &env, s->o->plan->root, err);
	*left_out = wanted == 0;
	if (wanted <= 0)
		return wanted;
	tell_user(s, plan);
	if (s->profiles && (plan->subject || launch_runs_binary(plan->run))) {
		r->launch = launch_new(s->profiles, plan->name, &s->launches, &env, err);
		if (!r->launch || give_launch(s, r, err) < 0)
			return -1;
		o.last_words = (struct service_last_words){.call = snapshots_take, .ctx = r};
	} else if ((plan->subject || launch_runs_binary(plan->run)) &&
		   session_aim(s, plan->name, true, &r->launch, err) < 0) {
		return -1;
	}
	if (service_start(&o, &r->s, err) < 0)
		return -1;
	service_placed(r->s, &s->vars);
	r->pid = service_pid(r->s);
	s->n_services++;
	if (s->o->aim && r->launch)
		return s->o->aim->started(s->o->aim->ctx, r->launch, r->pid, err);
	return 0;
}

/* Phases see the subject's own port, url and work folder as {port}, {url} and {work}. */
static void point_to_subject(struct session *s)
{
	struct running *r = session_subject(s);
	size_t n;

	if (!r)
		return;
	n = strlen(r->plan->name);
	for (size_t i = 0; i < s->vars.n; i++) {
		auto_free char *name = xstrndup(s->vars.v[i], strcspn(s->vars.v[i], "="));

		if (strncmp(name, r->plan->name, n) == 0 && name[n] == '.') {
			auto_free char *value = xstrdup(env_get(&s->vars, name));

			env_set(&s->vars, name + n + 1, value);
		}
	}
}

/* With the combination that is set: the services from this one on. */
static int start_from(
	struct session *s, size_t first, const struct plan_service *until, struct error *err)
{
	const struct plan_train *t = &s->o->plan->train;

	if (plan_combination_vars(s->o->plan, s->combination, &s->vars, err) < 0)
		return -1;
	for (size_t i = first; i < t->n_services; i++) {
		auto_free char *text = xasprintf("starting %s", t->services[i].name);

		events_progress(s->o->events, s->o->node, text, 0, 0);
		if (start_one(s, &t->services[i], err) < 0)
			return -1;
		if (&t->services[i] == until)
			break;
	}
	point_to_subject(s);
	session_sample(s, true);
	return 0;
}

int session_start(struct session *s, const struct plan_service *until, struct error *err)
{
	if (service_content(&s->o->plan->train, s->o->folder, err) < 0)
		return -1;
	return start_from(s, 0, until, err);
}

const struct plan_service *session_lacks(const struct session *s, const struct plan_phase *p)
{
	const struct plan_train *t = &s->o->plan->train;

	for (size_t i = 0; i < t->n_services; i++)
		if (s->left_out[i] && plan_phase_uses(p, &t->services[i]))
			return &t->services[i];
	return NULL;
}

struct running *session_subject(struct session *s)
{
	for (size_t i = 0; i < s->n_services; i++)
		if (s->services[i].plan->subject)
			return &s->services[i];
	return NULL;
}

struct running *session_dead(struct session *s)
{
	for (size_t i = 0; i < s->n_services; i++)
		if (!service_alive(s->services[i].s))
			return &s->services[i];
	return NULL;
}

void session_sample(struct session *s, bool force)
{
	uint64_t now = clock_mono_ns();

	if (!s->watch.binaries || (!force && now - s->watch.last < SAMPLE_NS))
		return;
	s->watch.last = now;
	for (size_t i = 0; i < s->n_services; i++) {
		const struct running *r = &s->services[i];
		auto_free pid_t *pids = NULL;
		size_t n = service_tree(r->s, &pids);

		watch_pids(&s->watch, r->launch ? r->launch : r->plan->name, pids, n);
	}
}

/* ---- Stop -------------------------------------------------------------------------------------
 */

void session_ended(struct session *s, pid_t pid, int signal)
{
	if (!signal)
		return;
	array_reserve(s->ends, s->n_ends, s->cap_ends);
	s->ends[s->n_ends].pid = pid;
	s->ends[s->n_ends++].signal = signal;
}

/* In any of its starts: "edge", "edge#2". */
static bool was_killed_in_training(const struct session *s, const char *service)
{
	const struct training_facts *f = s->o->training;
	size_t n = strlen(service);

	for (size_t i = 0; f && i < f->n_processes; i++) {
		const char *launch = f->processes[i].launch;

		if (f->processes[i].signal == SIGKILL && !strncmp(launch, service, n) &&
			(!launch[n] || launch[n] == '#'))
			return true;
	}
	return false;
}

/* In a replay nothing else would tell of a bad end; in a training the evidence does. */
static void judge_end(struct session *s, const struct running *r, const struct service_end *end)
{
	struct proc_exit how = {.code = end->code, .signal = end->signal};
	auto_free char *text = proc_exit_text(&how);
	auto_free char *say = NULL;

	session_ended(s, r->pid, end->signal);
	if (end->killed)
		say = xasprintf("service '%s' did not end within %.3g s after signal %d (%s) and "
				"was killed",
			r->plan->name, (double)r->plan->stop_timeout_ns / NS_PER_S,
			r->plan->stop_signal, strsignal(r->plan->stop_signal));
	else if (!end->died_early && end->signal && end->signal != r->plan->stop_signal)
		say = xasprintf(
			"service '%s' ended with %s when it was stopped", r->plan->name, text);
	if (!say)
		return;
	if (s->profiles || (end->killed && was_killed_in_training(s, r->plan->name)))
		events_warning(s->o->events, "%s", say);
	else
		session_fail(s, say);
}

/* Stops the last ones that were started, until `left` are left. */
static int stop_down_to(struct session *s, size_t left, struct error *err)
{
	int r = 0;

	session_sample(s, true);
	while (s->n_services > left) {
		struct running *one = &s->services[--s->n_services];
		auto_free char *text = xasprintf("stopping %s", one->plan->name);
		struct service_end end;

		events_progress(s->o->events, s->o->node, text, 0, 0);
		if (s->o->aim && one->launch &&
			s->o->aim->stopping(s->o->aim->ctx, one->launch, r < 0 ? NULL : err) < 0)
			r = -1;
		if (service_stop(one->s, &end, r < 0 ? NULL : err) < 0)
			r = -1;
		else
			judge_end(s, one, &end);
		service_free(one->s);
		one->s = NULL;
	}
	return r;
}

int session_stop(struct session *s, struct error *err)
{
	return stop_down_to(s, 0, err);
}

int session_change(struct session *s, size_t combination, struct error *err)
{
	const struct plan *p = s->o->plan;
	size_t first = plan_first_changed(p, s->combination, combination), left = 0;

	while (left < s->n_services && (size_t)(s->services[left].plan - p->train.services) < first)
		left++;
	s->combination = combination;
	if (stop_down_to(s, left, err) < 0)
		return -1;
	return start_from(s, first, NULL, err);
}

/* ---- Evidence -----------------------------------------------------------------------------------
 */

int session_collect(struct session *s, struct error *err)
{
	struct training_facts *f = s->facts;

	if (snapshots_put(s, err) < 0)
		return -1;
	if (s->o->no_evidence)
		return 0;
	for (size_t i = 0; s->profiles && i < s->launches.n; i++)
		if (collect_launch(s->o, s->profiles, s->launches.v[i], f, err) < 0)
			return -1;
	watch_report(&s->watch, f);
	for (size_t i = 0; i < f->n_processes; i++)
		for (size_t k = 0; k < s->n_ends; k++)
			if (f->processes[i].pid == s->ends[k].pid)
				f->processes[i].signal = s->ends[k].signal;
	causes_find(s);
	collect_sort(f);
	return 0;
}
