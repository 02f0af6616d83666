#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>

#include "base/file.h"
#include "base/mem.h"
#include "bench/internal.h"

#define PAD_MAX 4096

/* A copy per launch, so that where the kernel puts the pages varies, too. Not synchronised: it
 * lives as long as the launch. */
static int copy_binary(const char *from, const char *to, struct error *err)
{
	auto_close int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
	struct stat st;
	ssize_t n = 1;
	off_t at = 0;

	if (in < 0 || fstat(in, &st) < 0)
		return error_set(err, ERR_IO, "cannot read binary '%s': %s", from, strerror(errno));
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (out < 0)
		return error_set(err, ERR_IO, "cannot write '%s': %s", to, strerror(errno));
	while (at < st.st_size && n > 0)
		n = sendfile(out, in, &at, (size_t)(st.st_size - at));
	if (at < st.st_size)
		return error_set(err, ERR_IO, "cannot copy '%s' to '%s': %s", from, to,
			n < 0 ? strerror(errno) : "the file became shorter");
	return 0;
}

static int copy_binaries(const struct bench *b, struct arm *a, struct error *err)
{
	const struct strv *names = &b->o->plan->build.binary;
	auto_free char *folder = path_join(a->folder, "bin");

	if (a->peer)
		return 0;
	if (dir_create(folder, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < a->binaries->n; i++) {
		const char *name = path_basename(i < names->n ? names->v[i] : a->binaries->v[i]);
		char *to = path_join(folder, name);
		auto_free char *var = xasprintf("binary.%s", name);

		strv_take(&a->copies, to);
		if (copy_binary(a->binaries->v[i], to, err) < 0)
			return -1;
		env_set(&a->vars, var, to);
		if (i == 0)
			env_set(&a->vars, "binary", to);
	}
	return 0;
}

static void common_vars(const struct bench *b, struct strv *vars)
{
	const struct plan *plan = b->o->plan;
	auto_free char *source = path_join(plan->root, plan->build.dir ? plan->build.dir : ".");
	auto_free char *clean = path_clean(source);

	env_set(vars, "source", clean);
	env_set(vars, "root", plan->root);
	service_content_names(&plan->train, b->o->folder, vars);
}

/* The environment of a launch: its size moves the stack, so it varies from launch to launch, and
 * is the same for all arms. */
static void make_env(struct bench *b, size_t pad, struct strv *env)
{
	auto_free char *text = xmalloc(pad + 1);

	memset(text, 'x', pad);
	text[pad] = '\0';
	env_copy_current(env);
	env_set(env, "LLVM_PROFILE_FILE", NULL);
	env_set(env, "WHET_PROFILE_DIR", NULL);
	env_set(env, "WHET_BENCH_PAD", text);
}

/* Adds it to v; leaves it out when its `when:` says no, its placeholders are there all the same.
 * left_out: whether it was. */
static int start_one(struct bench *b, const struct plan_service *plan, bool *left_out,
	const char *folder, struct strv *vars, const struct strv *env, struct running *v, size_t *n,
	struct error *err)
{
	struct running *ret = &v[*n];
	auto_free char *note = NULL, *slow_run = NULL;
	struct plan_service slow;
	int wanted;
	auto_free char *work = path_join(folder, plan->name);
	auto_free char *log = xasprintf("%s.log", work);
	struct service_options so = {
		.plan = plan,
		.vars = vars,
		.work = work,
		.log = log,
		.env = env,
		.self = b->o->self,
		.seed = b->o->plan->train.seed,
		.cpu = plan->subject ? b->cores.subject : b->cores.driver,
	};

	if (service_place(plan, work, vars, &so.port, err) < 0)
		return -1;
	wanted = service_wanted(plan, vars, env, b->o->plan->root, err);
	*left_out = wanted == 0;
	if (wanted <= 0)
		return wanted;
	note = service_user_note(plan);
	if (note)
		bench_warn(b, "%s", note);
	if (b->simulating && plan->subject) {
		if (simulate_service(plan, folder, &slow, &slow_run, err) < 0)
			return -1;
		so.plan = &slow;
	}
	if (service_start(&so, &ret->service, err) < 0)
		return -1;
	service_placed(ret->service, vars);
	ret->plan = plan;
	++*n;
	return 0;
}

/* {port}, {port.NAME}, {url} and {work} of a phase are the subject's. */
static void subject_vars(struct arm *a, const struct plan_service *subject)
{
	static const char *const names[] = {"port", "url", "work"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *from = xasprintf("%s.%s", subject->name, names[i]);
		auto_free char *value = xstrdup(env_get(&a->vars, from));

		env_set(&a->vars, names[i], value);
	}
	for (size_t i = 0; i < subject->ports.n; i++) {
		auto_free char *from = xasprintf("%s.port.%s", subject->name, subject->ports.v[i]);
		auto_free char *to = xasprintf("port.%s", subject->ports.v[i]);
		auto_free char *value = xstrdup(env_get(&a->vars, from));

		env_set(&a->vars, to, value);
	}
}

/* Services before the subject do not know of it and serve all arms of a launch; the subject and
 * what comes after it belong to one arm. Without a subject all are shared. */
static size_t count_shared(const struct plan_train *t)
{
	size_t n = 0;

	while (n < t->n_services && !t->services[n].subject)
		n++;
	return n;
}

/* A peer stands in for the subject. */
static const struct plan_service *service_of(const struct arm *a, const struct plan_service *s)
{
	return a->peer && s->subject ? &a->peer->service : s;
}

static int start_arm(struct bench *b, struct arm *a, struct error *err)
{
	const struct plan_train *t = &b->o->plan->train;

	strv_add_all(&a->vars, &b->shared_vars);
	if (dir_create(a->folder, 0755, err) < 0 || copy_binaries(b, a, err) < 0)
		return -1;
	a->services = xcalloc(t->n_services + 1, sizeof(*a->services));
	for (size_t i = count_shared(t); i < t->n_services; i++)
		if (start_one(b, service_of(a, &t->services[i]), &b->left_out[i], a->folder,
			    &a->vars, &a->env, a->services, &a->n_services, err) < 0)
			return error_context(err, "variant '%s'", a->name);
	for (size_t i = 0; i < a->n_services; i++)
		if (a->services[i].plan->subject)
			a->subject = a->services[i].service;
	if (a->subject)
		subject_vars(a, plan_subject(b->o->plan));
	else {
		auto_free char *work = path_join(a->folder, "work");

		if (dir_create(work, 0755, err) < 0)
			return -1;
		env_set(&a->vars, "work", work);
	}
	return 0;
}

static char *launch_folder(const struct bench *b)
{
	return xasprintf("%s/launch%04u", b->o->folder, b->launch + 1);
}

static int start_shared(
	struct bench *b, const char *folder, const struct strv *env, struct error *err)
{
	const struct plan_train *t = &b->o->plan->train;
	auto_free char *shared = path_join(folder, "shared");
	size_t n = count_shared(t);

	common_vars(b, &b->shared_vars);
	if (plan_combination_vars(b->o->plan, b->combination, &b->shared_vars, err) < 0 ||
		dir_create(shared, 0755, err) < 0)
		return -1;
	b->shared = xcalloc(n + 1, sizeof(*b->shared));
	for (size_t i = 0; i < n; i++) {
		if (start_one(b, &t->services[i], &b->left_out[i], shared, &b->shared_vars, env,
			    b->shared, &b->n_shared, err) < 0)
			return -1;
	}
	return 0;
}

int launch_start(struct bench *b, struct error *err)
{
	auto_free char *folder = launch_folder(b);
	auto_free uint32_t *order = xcalloc(b->n_arms, sizeof(*order));
	auto_strv struct strv env = STRV_INIT;

	make_env(b, (size_t)rng_below(&b->rng, PAD_MAX), &env);
	if (start_shared(b, folder, &env, err) < 0)
		return -1;
	for (uint32_t i = 0; i < b->n_arms; i++)
		order[i] = i;
	rng_shuffle(&b->rng, order, b->n_arms);
	for (size_t i = 0; i < b->n_arms; i++) {
		struct arm *a = &b->arms[order[i]];

		/* The letter follows the order of the launch: no variant keeps a name. */
		a->folder = xasprintf("%s/%c", folder, (char)('a' + i));
		strv_add_all(&a->env, &env);
		if (start_arm(b, a, err) < 0)
			return -1;
	}
	return 0;
}

void launch_watch(struct bench *b)
{
	for (size_t i = 0; i < b->n_arms; i++)
		for (size_t k = 0; k < b->arms[i].n_services; k++)
			service_watch(b->arms[i].services[k].service);
	for (size_t i = 0; i < b->n_shared; i++)
		service_watch(b->shared[i].service);
}

/* Figures of a service that has lost a worker are those of another service. */
static int check_whole(
	struct bench *b, const struct running *one, const char *variant, struct error *err)
{
	auto_free char *how = NULL, *tail = NULL;
	const char *of = variant ? " of variant " : "";
	enum service_loss loss = service_lost(one->service, &how);

	if (loss == LOSS_NONE)
		return 0;
	if (!variant)
		variant = "";
	if (loss == LOSS_UNKNOWN) {
		bench_warn(b,
			"service '%s'%s%s: a process ended during the measurement; this kernel "
			"does "
			"not tell whether it was killed (Linux 6.15 does)",
			one->plan->name, of, variant);
		return 0;
	}
	tail = service_log_tail(one->service, LOG_LINES);
	return error_set(err, ERR_CHILD,
		"service '%s'%s%s, launch %u: %s during the measurement; its figures would be "
		"those "
		"of a service with other workers\nlast lines of the service's log:\n%s",
		one->plan->name, of, variant, b->launch + 1, how, tail);
}

/* Stops in reverse order; the first fault is kept, the rest is stopped all the same. */
static int stop_all(
	struct bench *b, struct running *v, size_t *n, const char *variant, struct error *err)
{
	int r = 0;

	while (*n) {
		struct running *one = &v[--*n];
		struct error own = ERROR_INIT;
		struct service_end end = {0};
		int failed = check_whole(b, one, variant, &own);

		if (service_stop(one->service, &end, failed ? NULL : &own) < 0)
			failed = -1;
		if (!failed && end.died_early)
			failed = error_set(&own, ERR_CHILD,
				"service '%s'%s%s ended by itself during the measurement",
				one->plan->name, variant ? " of variant " : "",
				variant ? variant : "");
		if (failed && !r)
			r = error_move(err, &own);
		error_release(&own);
		service_free(one->service);
	}
	return r;
}

static void arm_reset(struct arm *a)
{
	struct arm kept = {.name = a->name, .binaries = a->binaries, .peer = a->peer};

	free(a->services);
	free(a->folder);
	strv_release(&a->copies);
	strv_release(&a->vars);
	strv_release(&a->env);
	*a = kept;
}

static void launch_reset(struct bench *b)
{
	for (size_t i = 0; i < b->n_arms; i++)
		arm_reset(&b->arms[i]);
	free(b->shared);
	b->shared = NULL;
	strv_release(&b->shared_vars);
}

int launch_stop(struct bench *b, struct error *err)
{
	auto_free char *folder = launch_folder(b);
	int r = 0;

	for (size_t i = 0; i < b->n_arms; i++) {
		struct arm *a = &b->arms[i];

		if (stop_all(b, a->services, &a->n_services, a->name, r ? NULL : err) < 0)
			r = -1;
	}
	if (stop_all(b, b->shared, &b->n_shared, NULL, r ? NULL : err) < 0)
		r = -1;
	launch_reset(b);
	if (r == 0)
		r = tree_remove(folder, err);
	return r;
}

void launch_abandon(struct bench *b)
{
	for (size_t i = 0; i < b->n_arms; i++) {
		struct arm *a = &b->arms[i];

		for (size_t k = 0; k < a->n_services; k++)
			service_free(a->services[k].service);
		a->n_services = 0;
	}
	for (size_t i = 0; i < b->n_shared; i++)
		service_free(b->shared[i].service);
	b->n_shared = 0;
	launch_reset(b);
}
