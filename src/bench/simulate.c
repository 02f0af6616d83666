/* The pass under callgrind: each variant once more, in a simulation that counts its instructions of
 * user mode exactly. Slow, asked for by name, and never part of the comparison. docs/measuring.md.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "bench/callgrind.h"
#include "bench/internal.h"

#define SLOWER 100                /* times, at most: for time limits */
#define WORK_NS (100 * NS_PER_MS) /* of CPU time that a variant is given without the simulation */
#define MIX_MAX 1000              /* a longer mix is not gone through whole */
#define LOG_MOST (1 << 20)        /* bytes */
#define TOP 10
#define ASK_NS (60 * NS_PER_S)
#define READY_DEFAULT_NS (30 * NS_PER_S) /* as services have them */
#define STOP_DEFAULT_NS (30 * NS_PER_S)

struct simulation {
	char *folder;       /* of what valgrind writes */
	struct strv prefix; /* in front of a command */
	char *vgdb;
	struct strv zeroed; /* processes, by number, whose counts began at nothing when asked */
};

static int find_tool(const char *name, char **ret, struct error *err)
{
	*ret = path_find_program(name, getenv("PATH"), NULL);
	if (*ret)
		return 0;
	return error_set(err, ERR_ENVIRONMENT,
		"'counters: callgrind' needs '%s', which is not installed: install valgrind, or "
		"leave counters at 'auto'",
		name);
}

int simulate_check(const struct bench *b, struct error *err)
{
	auto_free char *valgrind = NULL, *vgdb = NULL;

	if (b->o->plan->bench.counters != BENCH_COUNTERS_CALLGRIND)
		return 0;
	return find_tool("valgrind", &valgrind, err) < 0 ? -1 : find_tool("vgdb", &vgdb, err);
}

/* ---- Under valgrind -------------------------------------------------------------------------- */

static void simulation_release(struct simulation *s)
{
	free(s->folder);
	free(s->vgdb);
	strv_release(&s->prefix);
	strv_release(&s->zeroed);
}

/* folder: the arm's. */
static int simulation_make(const char *folder, struct simulation *ret, struct error *err)
{
	struct simulation s = {.folder = path_join(folder, "callgrind")};
	auto_free char *valgrind = NULL;

	if (find_tool("valgrind", &valgrind, err) < 0 || find_tool("vgdb", &s.vgdb, err) < 0 ||
		dir_create(s.folder, 0777, err) < 0) {
		simulation_release(&s);
		return -1;
	}
	/* Programs may change their user before they write. */
	(void)chmod(s.folder, 01777);
	strv_add(&s.prefix, valgrind);
	strv_add(&s.prefix, "--tool=callgrind");
	strv_add(&s.prefix, "--cache-sim=yes");
	strv_add(&s.prefix, "--trace-children=yes");
	strv_add(&s.prefix, "--combine-dumps=no");
	strv_addf(&s.prefix, "--callgrind-out-file=%s/out.%%p", s.folder);
	strv_addf(&s.prefix, "--log-file=%s/log.%%p", s.folder);
	strv_addf(&s.prefix, "--vgdb-prefix=%s/vgdb", s.folder);
	*ret = s;
	return 0;
}

/* Words of a command line as plan_split() and plan_expand() read them. Caller frees. */
static char *as_plan_text(const struct strv *words)
{
	auto_free char *quoted = strv_shell_quote(words);
	struct buf b = BUF_INIT;

	for (const char *p = quoted; *p; p++) {
		if (*p == '{')
			buf_addc(&b, '{');
		buf_addc(&b, *p);
	}
	return buf_detach(&b);
}

int simulate_service(const struct plan_service *plan, const char *folder, struct plan_service *ret,
	char **text, struct error *err)
{
	struct simulation s = {0};
	auto_free char *prefix = NULL;

	if (!plan->run)
		return error_set(err, ERR_CONFIG,
			"service '%s' is built into whet and cannot be simulated", plan->name);
	if (simulation_make(folder, &s, err) < 0)
		return -1;
	prefix = as_plan_text(&s.prefix);
	*text = xasprintf("%s %s", prefix, plan->run);
	simulation_release(&s);
	*ret = *plan;
	ret->run = *text;
	ret->ready_timeout_ns =
		SLOWER * (plan->ready_timeout_ns ? plan->ready_timeout_ns : READY_DEFAULT_NS);
	ret->stop_timeout_ns =
		SLOWER * (plan->stop_timeout_ns ? plan->stop_timeout_ns : STOP_DEFAULT_NS);
	return 0;
}

/* Asks every process of the service that runs under valgrind. A blocked one is woken for it, by
 * ptrace(2). */
static int ask_one(const struct simulation *s, pid_t pid, const char *what, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	struct proc_options p = PROC_OPTIONS_INIT;
	struct error own = ERROR_INIT;
	uint64_t start = proc_start_time(pid);

	strv_add(&argv, s->vgdb);
	strv_addf(&argv, "--vgdb-prefix=%s/vgdb", s->folder);
	strv_addf(&argv, "--pid=%d", (int)pid);
	strv_add(&argv, what);
	p.argv = &argv;
	if (proc_capture(&p, ASK_NS, &lines, &own) == 0)
		return 0;
	if (start && proc_start_time(pid) == start) {
		(void)error_move(err, &own);
		return error_context(err, "callgrind, process %d, '%s'", (int)pid, what);
	}
	error_release(&own); /* it has ended, and left its counts by itself */
	return 0;
}

/* Whether valgrind waits for orders for this process. */
static bool is_simulated(const struct simulation *s, pid_t pid)
{
	auto_free char *prefix = xasprintf("vgdb-from-vgdb-to-%d-by-", (int)pid);
	DIR *d = opendir(s->folder);
	struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d)))
		found = strncmp(e->d_name, prefix, strlen(prefix)) == 0;
	if (d)
		closedir(d);
	return found;
}

/* To begin at nothing, or to write what they counted. */
static int ask(struct simulation *s, const struct service *subject, bool to_dump, struct error *err)
{
	auto_free pid_t *pids = NULL;
	size_t n = service_tree(subject, &pids), asked = 0;

	for (size_t i = 0; i < n; i++) {
		if (!is_simulated(s, pids[i]))
			continue;
		if (ask_one(s, pids[i], to_dump ? "dump" : "zero", err) < 0)
			return -1;
		if (!to_dump)
			strv_addf(&s->zeroed, "%d", (int)pids[i]);
		asked++;
	}
	if (asked)
		return 0;
	return error_set(err, ERR_CHILD,
		"no process of the service runs under valgrind: its command starts a program "
		"that valgrind cannot run or follow");
}

/* ---- What it wrote --------------------------------------------------------------------------- */

/* Files of counts; empty ones are of processes that still run. */
static void list_counts(const struct simulation *s, struct strv *ret)
{
	DIR *d = opendir(s->folder);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		auto_free char *path = path_join(s->folder, e->d_name);
		struct stat st;

		if (strncmp(e->d_name, "out.", 4) == 0 && lstat(path, &st) == 0 &&
			S_ISREG(st.st_mode) && st.st_size > 0)
			strv_add(ret, path);
	}
	if (d)
		closedir(d);
	strv_sort(ret);
}

static void drop_counts(const struct simulation *s)
{
	auto_strv struct strv files = STRV_INIT;

	list_counts(s, &files);
	for (size_t i = 0; i < files.n; i++)
		(void)unlink(files.v[i]);
}

/* Whether a file's process began with the counts of its parent, as fork(2) has it. Those of a
 * program begin at nothing, which callgrind's log of it tells: after a fork the same log begins
 * without the line (valgrind 3.19). */
static bool has_inherited(const struct simulation *s, const char *path)
{
	static const char begun[] = "For interactive control, run 'callgrind_control";
	const char *from = path_basename(path) + strlen("out.");
	auto_free char *pid = xstrndup(from, strcspn(from, "."));
	auto_free char *log = xasprintf("%s/log.%s", s->folder, pid);
	auto_buf struct buf text = BUF_INIT;

	if (strv_has(&s->zeroed, pid))
		return false;
	return file_read(log, LOG_MOST, &text, NULL) < 0 || !strstr(buf_str(&text), begun);
}

/* ret_inherited: whether some instructions of parents are counted again with their children. */
static int read_counts(
	const struct simulation *s, bool *ret_inherited, struct callgrind *ret, struct error *err)
{
	auto_strv struct strv files = STRV_INIT;

	list_counts(s, &files);
	if (!files.n)
		return error_set(err, ERR_CHILD, "callgrind left no counts in '%s'", s->folder);
	for (size_t i = 0; i < files.n; i++) {
		if (callgrind_add(ret, files.v[i], err) < 0)
			return -1;
		*ret_inherited |= has_inherited(s, files.v[i]);
	}
	callgrind_sort(ret);
	if (!ret->instructions)
		return error_set(err, ERR_CHILD, "callgrind counted no instructions");
	return 0;
}

static bool is_own(const struct arm *a, const char *object)
{
	for (size_t i = 0; i < a->copies.n; i++) {
		auto_free char *real = path_resolve(a->copies.v[i]);

		if (strcmp(object, real) == 0 || strcmp(object, a->copies.v[i]) == 0)
			return true;
	}
	return false;
}

static void add_top(struct simulated *to, const struct callgrind_function *f, bool own,
	double requests, double all)
{
	const char *object = path_basename(f->object);

	if (to->n_top == TOP || !f->instructions)
		return;
	array_reserve(to->top, to->n_top, to->cap_top);
	to->top[to->n_top++] = (struct simulated_function){.name = xstrdup(f->name),
		.object = xstrdup(*object ? object : "???"),
		.instructions = (double)f->instructions / requests,
		.share = (double)f->instructions / all,
		.outside = !own};
}

static void conclude(
	const struct callgrind *c, const struct arm *a, uint64_t requests, struct simulated *ret)
{
	double n = (double)requests, all = (double)c->instructions;
	uint64_t outside = 0, assembly = 0;
	bool known = false;

	for (size_t i = 0; i < c->n; i++) {
		const struct callgrind_function *f = &c->v[i];
		bool own = is_own(a, f->object);

		add_top(ret, f, own, n, all);
		outside += own ? 0 : f->instructions;
		assembly += own && f->assembly ? f->instructions : 0;
		known |= own && f->known;
	}
	ret->requests = requests;
	ret->instructions = all / n;
	ret->i1_misses = (double)c->i1_misses / n;
	ret->outside = (double)outside / all;
	ret->assembly = known ? (double)assembly / all : NAN;
}

/* ---- The pass -------------------------------------------------------------------------------- */

/* A fixed number for all variants, so much that it takes seconds, and whole rounds of the mix. It
 * is rounded down, so that it does not change from run to run with the machine's mood. */
static uint64_t count_requests(const struct plan_phase *phase, double base_ns)
{
	static const uint64_t steps[] = {500, 200, 100, 50, 20, 10, 5, 2, 1};
	uint64_t n = 1, mix = 0;

	for (size_t i = 0; i < ARRAY_SIZE(steps) && n == 1; i++)
		if ((double)steps[i] * base_ns <= (double)WORK_NS)
			n = steps[i];
	for (size_t i = 0; i < phase->http.n_mix; i++)
		mix += phase->http.mix[i].weight;
	return mix > 1 && mix <= MIX_MAX ? (n + mix - 1) / mix * mix : n;
}

/* As it is measured, but one request after the other, which makes the sequence the same for all,
 * and with time enough. */
static void slow_down(const struct scenario *sc, struct plan_phase *phase, struct scenario *ret)
{
	*phase = *sc->phase;
	phase->timeout_ns *= SLOWER;
	phase->http.connections = phase->http.streams = 1;
	phase->http.rate = 0;
	*ret = *sc;
	ret->phase = phase;
}

/* Once before what counts, as every scenario is warmed up: a run may make files that the next one
 * finds, which needs no simulation. */
static int warm(struct bench *b, const struct scenario *sc, struct asker *a, struct simulation *s,
	uint64_t requests, struct error *err)
{
	struct sample ignored = {0};

	if (asker_slice(b, sc, a, requests, &ignored, err) < 0)
		return -1;
	launch_watch(b);
	return sc->batch ? 0 : ask(s, a->arm->subject, false, err);
}

static int count(struct bench *b, const struct scenario *sc, struct asker *a, struct simulation *s,
	uint64_t requests, struct callgrind *ret, struct error *err)
{
	struct sample ignored = {0};
	bool inherited = false;

	if (warm(b, sc, a, s, requests, err) < 0)
		return -1;
	drop_counts(s);
	a->prefix = sc->batch ? &s->prefix : NULL;
	if (asker_slice(b, sc, a, requests, &ignored, err) < 0 ||
		(!sc->batch && ask(s, a->arm->subject, true, err) < 0))
		return -1;
	if (read_counts(s, &inherited, ret, err) < 0)
		return -1;
	if (!inherited)
		return 0;
	/* A run forks a few times, a service perhaps with each request. */
	if (!sc->batch)
		return error_set(err, ERR_CHILD,
			"scenario '%s' makes the service start processes by fork(2), to which "
			"callgrind gives the counts of their parents, too",
			sc->phase->name);
	bench_warn(b,
		"scenario '%s': its run starts processes by fork(2) without a program of their "
		"own; what their parents did before is simulated more than once",
		sc->phase->name);
	return 0;
}

static int simulate_one(struct bench *b, const struct scenario *measured, struct arm *arm,
	double base_ns, struct simulated *ret, struct error *err)
{
	struct simulation s = {0};
	struct callgrind c = {0};
	struct plan_phase phase;
	struct scenario sc;
	struct asker a = {.arm = arm};
	uint64_t n =
		measured->phase->kind == PHASE_RUN ? 1 : count_requests(measured->phase, base_ns);
	auto_free char *text = xasprintf("callgrind: %s, %s", measured->phase->name, arm->name);
	int r = simulation_make(arm->folder, &s, err);

	events_progress(b->o->events, b->o->node, text, b->total * 100, b->total * 100);
	slow_down(measured, &phase, &sc);
	if (r == 0)
		r = asker_open(b, &sc, &a, err);
	if (r == 0)
		r = count(b, &sc, &a, &s, n, &c, err);
	if (r == 0)
		conclude(&c, arm, n, ret);
	asker_close(&a);
	callgrind_release(&c);
	simulation_release(&s);
	return r;
}

static void compare(const struct simulated *base, struct simulated *to)
{
	to->instructions_ratio = to->instructions / base->instructions;
	/* Code that fits into the cache hardly misses: no ratio comes of nothing. */
	if (base->i1_misses > 0)
		to->i1_ratio = to->i1_misses / base->i1_misses;
}

static int simulate_scenario(
	struct bench *b, size_t scenario, double base_ns, struct simulated *row, struct error *err)
{
	for (size_t k = 0; k < b->n_arms; k++) {
		if (simulate_one(b, &b->scenarios[scenario], &b->arms[k], base_ns, &row[k], err) <
			0)
			return -1;
		if (k)
			compare(row, &row[k]);
	}
	return 0;
}

/* All scenarios of the present combination of settings. rows: by scenario, then by arm. */
static int simulate_combination(
	struct bench *b, const struct comparisons *c, struct simulated *rows, struct error *err)
{
	bool any = false;

	for (size_t i = 0; i < b->n_scenarios; i++)
		any |= b->scenarios[i].combination == b->combination;
	if (!any)
		return 0;
	if (launch_start(b, err) < 0)
		return -1;
	for (size_t i = 0; i < b->n_scenarios; i++) {
		if (b->scenarios[i].combination != b->combination)
			continue;
		if (simulate_scenario(b, i, c->v[i].base_ns, &rows[i * b->n_arms], err) < 0)
			return -1;
	}
	return launch_stop(b, err);
}

/* The null arm would be the base again, and a peer is no build of the project. */
static void choose_arms(struct bench *b, const struct arm *all, size_t n)
{
	b->n_arms = 0;
	for (size_t i = 0; i + 1 < n; i++)
		if (!all[i].peer)
			b->arms[b->n_arms++] = all[i];
}

int simulate_run(
	struct bench *b, const struct comparisons *c, struct counters *ret, struct error *err)
{
	struct arm *all = b->arms;
	size_t n = b->n_arms;
	int r = 0;

	b->arms = xcalloc(n, sizeof(*b->arms));
	choose_arms(b, all, n);
	b->simulating = true;
	for (size_t i = 0; i < b->n_scenarios; i++)
		for (size_t k = 0; k < b->n_arms; k++)
			counters_add_simulated(
				ret, c->v[i].scenario, b->arms[k].name, c->v[i].per_run);
	for (b->combination = 0; r == 0 && b->combination < plan_combinations(b->o->plan);
		b->combination++)
		r = simulate_combination(b, c, ret->simulated, err);
	if (r < 0) {
		launch_abandon(b);
		counters_drop_simulated(ret);
	}
	b->simulating = false;
	free(b->arms);
	b->arms = all;
	b->n_arms = n;
	return r;
}
