#include "fixture.h"

#include "base/proc.h"
#include "elf/elf_facts.h"
#include "train/internal.h"

/* ---- Training ------------------------------------------------------------------------------- */

static void forking_server_is_counted_exactly(void **state)
{
	struct fixture *f = *state;

	add_service(f, "edge", "{binary} serve {port} 3", READY_TCP);
	add_http(f, "/work", 2000);
	run(f);
	assert_null(f->facts.failure);
	assert_string_equal(f->facts.digest, "asked");
	assert_int_equal(f->facts.n_phases, 1);
	assert_null(f->facts.phases[0].problem);
	assert_int_equal(f->facts.phases[0].status, PHASE_OK);
	assert_int_equal(f->facts.phases[0].planned, 2000);
	assert_int_equal(f->facts.phases[0].done, 2000);
	assert_true(f->facts.phases[0].subject_cpu_ns > 0);
	assert_true(f->facts.phases[0].driver_cpu_ns > 0);
	assert_int_equal(f->facts.n_processes, 4);
	assert_int_equal(count_state(f, RAW_VALID), 4);
	assert_int_equal(f->facts.n_raws, 4);
	assert_int_equal(f->facts.processes[0].origin + f->facts.processes[1].origin +
				 f->facts.processes[2].origin + f->facts.processes[3].origin,
		PROCESS_STARTED + 3 * PROCESS_FORKED);
	assert_string_equal(f->facts.raws[0].launch, "edge");
	assert_true(f->facts.raws[0].functions >= 3);
	assert_int_equal(count_work(f), 2000);
}

static void unexpected_answer_stops_the_phases(void **state)
{
	struct fixture *f = *state;

	add_service(f, "edge", "{binary} serve {port} 1", READY_TCP);
	add_http(f, "/work", 10);
	add_http(f, "/bad", 10);
	add_http(f, "/work2", 10);
	run(f);
	assert_int_equal(f->facts.n_phases, 3);
	assert_int_equal(f->facts.phases[0].status, PHASE_OK);
	assert_int_equal(f->facts.phases[1].status, PHASE_FAILED);
	assert_part(f->facts.phases[1].problem, "500");
	assert_part(f->facts.phases[1].log, "serving");
	assert_int_equal(f->facts.phases[2].status, PHASE_NOT_RUN);
	/* The services were stopped as ever. */
	assert_int_equal(count_state(f, RAW_VALID), 2);
}

static void service_that_dies_fails_its_phase(void **state)
{
	struct fixture *f = *state;

	add_service(f, "edge", "{binary} serve {port}", READY_TCP);
	add_http(f, "/crash", 10);
	run(f);
	assert_int_equal(f->facts.phases[0].status, PHASE_FAILED);
	assert_part(f->facts.phases[0].problem,
		"service 'edge' ended during the phase: signal 9 (Killed)");
	assert_int_equal(f->facts.n_processes, 1);
	assert_int_equal(f->facts.processes[0].signal, SIGKILL);
	assert_int_not_equal(f->facts.processes[0].state, RAW_VALID);
}

static void slow_answer_is_a_time_out(void **state)
{
	struct fixture *f = *state;

	add_service(f, "edge", "{binary} serve {port}", READY_TCP);
	add_http(f, "/slow", 10)->timeout_ns = 300 * NS_PER_MS;
	run(f);
	assert_int_equal(f->facts.phases[0].status, PHASE_TIMEOUT);
	assert_part(f->facts.phases[0].problem, "no end within 0.3 s: 0 of 10 requests answered");
	assert_part(f->facts.phases[0].problem, "service 'edge', its end of port ");
	assert_part(f->facts.phases[0].problem, ": established, ");
}

static void service_that_does_not_start(void **state)
{
	struct fixture *f = *state;

	add_service(f, "edge", "{binary} fail", READY_TCP);
	add_http(f, "/work", 10);
	run(f);
	assert_part(f->facts.failure, "service 'edge' ended before it was ready: exit code 3");
	assert_part(f->facts.failure, "cannot go on");
	assert_int_equal(f->facts.phases[0].status, PHASE_NOT_RUN);
}

static void other_services_get_no_profile_environment(void **state)
{
	struct fixture *f = *state;
	auto_free char *path = xasprintf("%s/scratch/helper/env", f->root);
	auto_buf struct buf text = BUF_INIT;

	setenv("LLVM_PROFILE_FILE", "/nowhere/%p", 1);
	add_service(f, "edge", "{binary} serve {port} 1", READY_TCP);
	add_service(f, "helper", "/bin/sh -c 'env > env; exec sleep 100'", READY_COMMAND);
	f->services[1].ready_arg = TEXT("test -s {work}/env");
	add_run(f, "look", "env | grep -c PROFILE_ > {helper.work}/found; true", 1);
	run(f);
	unsetenv("LLVM_PROFILE_FILE");
	assert_null(f->facts.failure);
	assert_int_equal(file_read(path, 0, &text, NULL), 0);
	assert_null(strstr(buf_str(&text), "PROFILE_"));
	assert_int_equal(f->facts.phases[0].status, PHASE_OK);
	free(take_ptr(path));
	path = xasprintf("%s/scratch/helper/found", f->root);
	assert_int_equal(file_read(path, 0, &text, NULL), 0);
	assert_string_equal(buf_str(&text), "0\n");
	assert_int_equal(f->facts.n_processes, 2);
}

static void batch_program_in_repeated_runs(void **state)
{
	struct fixture *f = *state;

	add_run(f, "sum up", "{binary} batch 100 && touch {work}/done", 3);
	run(f);
	assert_null(f->facts.failure);
	assert_int_equal(f->facts.phases[0].status, PHASE_OK);
	assert_int_equal(f->facts.phases[0].done, 3);
	assert_true(f->facts.phases[0].subject_cpu_ns > 0);
	assert_int_equal(f->facts.n_raws, 3);
	assert_string_equal(f->facts.raws[0].launch, "sum-up");
	assert_string_equal(f->facts.raws[2].launch, "sum-up#3");
	assert_int_equal(count_work(f), 300);
}

static void failing_run_tells_its_output(void **state)
{
	struct fixture *f = *state;

	add_run(f, "first", "{binary} batch 1", 1);
	add_run(f, "broken", "{binary} fail", 2);
	add_run(f, "last", "{binary} batch 1", 1);
	run(f);
	assert_int_equal(f->facts.phases[0].status, PHASE_OK);
	assert_int_equal(f->facts.phases[1].status, PHASE_FAILED);
	assert_int_equal(f->facts.phases[1].done, 0);
	assert_part(f->facts.phases[1].problem,
		"'{binary} fail' ended with exit code 3, expected exit code 0 (run 1 of 2)");
	assert_string_equal(f->facts.phases[1].log, "cannot go on");
	assert_int_equal(f->facts.phases[2].status, PHASE_NOT_RUN);
}

static void hanging_run_is_killed_whole(void **state)
{
	struct fixture *f = *state;

	add_run(f, "hang", "{binary} hang", 1)->timeout_ns = 400 * NS_PER_MS;
	run(f);
	assert_int_equal(f->facts.phases[0].status, PHASE_TIMEOUT);
	assert_part(f->facts.phases[0].problem, "did not end within 0.4 s");
	assert_int_equal(f->facts.n_processes, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(kill(f->facts.processes[i].pid, 0), -1);
}

static void skipped_phase_and_only_phase(void **state)
{
	struct fixture *f = *state;

	add_run(f, "no", "{binary} batch 1", 1)->when = TEXT("test -e {source}/not-there");
	add_run(f, "yes", "{binary} batch 1", 1)->when = TEXT("test -d {source}");
	run(f);
	assert_int_equal(f->facts.phases[0].status, PHASE_SKIPPED);
	assert_int_equal(f->facts.phases[1].status, PHASE_OK);
	training_facts_release(&f->facts);
	assert_int_equal(tree_remove(f->profiles, NULL), 0);
	f->o.only_phase = "yes";
	run(f);
	assert_int_equal(f->facts.n_phases, 1);
	assert_string_equal(f->facts.phases[0].name, "yes");
	training_facts_release(&f->facts);
	f->facts = (struct training_facts){0};
	f->o.only_phase = "nowhere";
	assert_int_equal(train_run(&f->o, &f->facts, &f->err), -1);
	assert_int_equal(f->err.code, ERR_USAGE);
}

static void replay_expects_no_profiles(void **state)
{
	struct fixture *f = *state;

	f->o.profiles = NULL;
	f->binaries.v[0] = (free(f->binaries.v[0]), xstrdup(plain));
	add_service(f, "edge", "{binary} serve {port} 2", READY_TCP);
	add_http(f, "/work", 500);
	run(f);
	assert_null(f->facts.failure);
	assert_int_equal(f->facts.phases[0].done, 500);
	assert_int_equal(f->facts.n_processes, 0);
	assert_int_equal(f->facts.n_raws, 0);
	assert_false(path_exists(f->profiles));
}

static void clone_without_handlers_is_noticed(void **state)
{
	struct fixture *f = *state;
	size_t unhooked = 0;

	add_service(f, "edge", "{binary} clone", READY_NONE);
	add_run(f, "wait", "sleep 0.4", 1);
	run(f);
	assert_int_equal(f->facts.n_processes, 2);
	for (size_t i = 0; i < 2; i++) {
		if (f->facts.processes[i].origin != PROCESS_UNHOOKED)
			continue;
		unhooked++;
		assert_int_equal(f->facts.processes[i].parent, f->facts.processes[!i].pid);
		assert_int_equal(f->facts.processes[i].state, RAW_MISSING);
	}
	assert_int_equal(unhooked, 1);
}

static void exec_needs_no_profile(void **state)
{
	struct fixture *f = *state;

	add_run(f, "exec", "{binary} exec", 1);
	run(f);
	assert_null(f->facts.failure);
	assert_int_equal(f->facts.n_processes, 2);
	assert_int_equal(f->facts.processes[0].exec + f->facts.processes[1].exec, 1);
	assert_int_equal(count_state(f, RAW_VALID), 1);
	assert_int_equal(f->facts.n_raws, 1);
}

static void process_that_leaves_by_exit_handlers_skipped(void **state)
{
	struct fixture *f = *state;

	add_run(f, "quick", "{binary} quick", 1);
	run(f);
	assert_int_equal(f->facts.phases[0].status, PHASE_OK);
	assert_int_equal(f->facts.n_processes, 1);
	assert_int_equal(
		count_state(f, RAW_EMPTY), 1); /* the runtime makes its file at the start */
}

static void worker_of_another_user_can_write(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	add_service(f, "edge", "{binary} serve {port} 2 65534", READY_TCP);
	add_http(f, "/work", 100);
	run(f);
	assert_int_equal(count_state(f, RAW_VALID), 3);
	assert_int_equal(count_work(f), 100);
}

static void missing_hook_is_told(void **state)
{
	struct fixture *f = *state;

	f->binaries.v[0] = (free(f->binaries.v[0]), xstrdup(hookless));
	add_run(f, "batch", "{binary} batch 5", 1);
	run(f);
	assert_part(f->facts.failure, "launch 'batch': no process of it announced itself");
	assert_int_equal(f->facts.n_raws, 1);
	assert_int_equal(f->facts.raws[0].pid, 0);
}

static void configuration_errors_are_errors(void **state)
{
	struct fixture *f = *state;

	add_run(f, "batch", "{binary} {nothing}", 1);
	assert_int_equal(train_run(&f->o, &f->facts, &f->err), -1);
	assert_int_equal(f->err.code, ERR_CONFIG);
	assert_part(f->err.msg, "phase 'batch'");
}

/* ---- Proof ---------------------------------------------------------------------------------- */

static void proof_of_a_server(void **state)
{
	struct fixture *f = *state;

	add_service(f, "edge", "{binary} serve {port} 2", READY_TCP);
	add_http(f, "/work", 10);
	if (train_prove(&f->o, &f->err) < 0)
		fail_msg("%s", f->err.msg);
	assert_false(path_exists(f->profiles)); /* nothing of it lies among the training's */
}

static void proof_of_a_batch_program(void **state)
{
	struct fixture *f = *state;

	add_run(f, "other", "true", 1);
	add_run(f, "not here", "{binary} fail", 1)->when = TEXT("false");
	add_run(f, "batch", "{binary} batch 5", 1);
	if (train_prove(&f->o, &f->err) < 0)
		fail_msg("%s", f->err.msg);
}

static void assert_no_proof(struct fixture *f, const char *part)
{
	assert_int_equal(train_prove(&f->o, &f->err), -1);
	assert_part(f->err.msg, part);
}

/* Whet took the profile of each of n processes before the given signal ended the service. */
static void assert_snapshots(struct fixture *f, size_t n, int signal)
{
	bool ended = false;

	if (train_prove(&f->o, &f->err) < 0 || train_run(&f->o, &f->facts, &f->err) < 0)
		fail_msg("%s", f->err.msg);
	assert_int_equal(f->facts.n_processes, n);
	assert_int_equal(f->facts.n_raws, n);
	for (size_t i = 0; i < n; i++) {
		const struct process_evidence *p = &f->facts.processes[i];
		auto_free char *name = xasprintf("edge/%d.snapshot.profraw", (int)p->pid);

		assert_true(p->snapshot);
		assert_int_equal(p->state, RAW_VALID);
		assert_string_equal(p->file, name);
		assert_true(f->facts.raws[i].executed > 0);
		ended = ended || p->signal == signal;
	}
	assert_true(ended);
}

static void snapshot_when_the_signal_is_not_handled(void **state)
{
	struct fixture *f = *state;

	add_service(f, "edge", "{binary} deaf", READY_LOG);
	f->services[0].ready = READY_NONE;
	assert_snapshots(f, 1, SIGTERM);
}

static void snapshot_when_killed(void **state)
{
	struct fixture *f = *state;

	add_service(f, "edge", "{binary} hang", READY_NONE);
	f->services[0].stop_timeout_ns = 300 * NS_PER_MS;
	assert_snapshots(f, 2, SIGKILL);
}

static void no_proof_without_runtime(void **state)
{
	struct fixture *f = *state;

	f->binaries.v[0] = (free(f->binaries.v[0]), xstrdup(plain));
	add_service(f, "edge", "{binary} serve {port}", READY_TCP);
	assert_no_proof(f, "the profile runtime is not in the binary");
}

static void no_proof_when_it_leaves_by_exit(void **state)
{
	struct fixture *f = *state;

	add_run(f, "quick", "{binary} quick", 1);
	assert_no_proof(f, "0 bytes) after start and stop: the command ended with code 0; it must "
			   "end by exit() or a return from main");
}

/* ---- Evidence of a crafted folder -------------------------------------------------------------
 */

static void put(const char *at, const char *name, const void *data, size_t n)
{
	auto_free char *path = path_join(at, name);

	assert_int_equal(file_write_atomic(path, data, n, 0644, NULL), 0);
}

/* The bytes of a real raw profile of a program. */
static void make_raw(const char *program, struct buf *ret)
{
	auto_strv struct strv argv = STRV_INIT, env = STRV_INIT;
	auto_free char *path = xasprintf("%s/one.profraw", folder);
	struct proc_options o = PROC_OPTIONS_INIT;
	struct proc_exit end;

	strv_add(&argv, program);
	strv_add(&argv, "batch");
	env_copy_current(&env);
	env_set(&env, "LLVM_PROFILE_FILE", path);
	o.argv = &argv;
	o.env = &env;
	assert_int_equal(proc_run(&o, 10 * NS_PER_S, &end, NULL), 0);
	assert_int_equal(file_read(path, 0, ret, NULL), 0);
	unlink(path);
}

struct expected {
	pid_t pid;
	enum process_origin origin;
	bool exec;
	enum raw_state state;
	const char *file;
};

static void assert_processes(const struct fixture *f, const struct expected *v, size_t n)
{
	assert_int_equal(f->facts.n_processes, n);
	for (size_t i = 0; i < n; i++) {
		const struct process_evidence *p = &f->facts.processes[i];

		assert_int_equal(p->pid, v[i].pid);
		assert_int_equal(p->origin, v[i].origin);
		assert_int_equal(p->exec, v[i].exec);
		assert_int_equal(p->state, v[i].state);
		if (v[i].file)
			assert_string_equal(p->file, v[i].file);
		else
			assert_null(p->file);
	}
}

static void states_of_a_crafted_folder(void **state)
{
	static const char list[] = "start 100 1\n"
				   "fork 101 100\nfork 102 100\nfork 103 100\nfork 104 100\n"
				   "fork 105 100\nexec 105\n"             /* another program now */
				   "fork 106 100\nexec 106\nnoexec 106\n" /* could not */
				   "fork 107 100\nexec 107\nstart 107 100\n" /* itself again */
				   "exec 108\nnoexec 108\n"                  /* a vfork child */
				   "fork 109 100\n"
				   "fork 110 100\nfork 110 104\n" /* the pid was given again */
				   "load 100 1 7f00\nload 100 1 8f00\n" /* shared objects of 100 */
				   "load 105 100 7f00\nexec 105\n";     /* gone with the program */
	static const struct expected expected[] = {
		{100, PROCESS_STARTED, false, RAW_VALID, "edge/100.profraw"},
		{100, PROCESS_LOADED, false, RAW_VALID, "edge/100.7f00.profraw"},
		{100, PROCESS_LOADED, false, RAW_MISSING, NULL},
		{101, PROCESS_FORKED, false, RAW_EMPTY, "edge/101.profraw"},
		{102, PROCESS_FORKED, false, RAW_INVALID, "edge/102.profraw"},
		{103, PROCESS_FORKED, false, RAW_MISSING, NULL},
		{104, PROCESS_FORKED, false, RAW_FOREIGN, "edge/104.profraw"},
		{105, PROCESS_FORKED, true, RAW_MISSING, NULL},
		{105, PROCESS_LOADED, true, RAW_MISSING, NULL},
		{106, PROCESS_FORKED, false, RAW_MISSING, NULL},
		{107, PROCESS_STARTED, false, RAW_VALID, "edge/107.profraw"},
		{108, PROCESS_FORKED, true, RAW_MISSING, NULL},
		{109, PROCESS_FORKED, false, RAW_INVALID, "edge/109.profraw"},
		{110, PROCESS_FORKED, false, RAW_VALID, "edge/110.profraw"},
		{110, PROCESS_FORKED, false, RAW_MISSING, NULL},
	};
	struct fixture *f = *state;
	auto_free char *at = path_join(f->profiles, "edge");
	auto_free char *link = path_join(at, "109.profraw");
	auto_buf struct buf raw = BUF_INIT, other = BUF_INIT;

	make_raw(subject, &raw);
	make_raw(hookless, &other);
	assert_int_equal(dir_create(at, 0755, NULL), 0);
	put(at, "processes", list, strlen(list));
	put(at, "100.profraw", raw.p, raw.n);
	put(at, "100.7f00.profraw", raw.p, raw.n);
	put(at, "101.profraw", "", 0);
	put(at, "102.profraw", raw.p, raw.n / 2);
	put(at, "104.profraw", other.p, other.n);
	put(at, "107.profraw", raw.p, raw.n);
	put(at, "110.profraw", raw.p, raw.n);
	put(at, "999.profraw", raw.p, raw.n);
	put(at, "default.profraw", "rubbish", 7);
	assert_int_equal(symlink("100.profraw", link), 0);
	assert_int_equal(train_collect(f->profiles, "edge", &names, &f->facts, &f->err), 0);
	assert_null(f->facts.failure);
	assert_processes(f, expected, ARRAY_SIZE(expected));
	assert_int_equal(f->facts.n_raws, 10);
	assert_string_equal(f->facts.raws[0].path, "edge/100.7f00.profraw");
	assert_int_equal(f->facts.raws[0].pid, 100);
	assert_string_equal(f->facts.raws[1].path, "edge/100.profraw");
	assert_int_equal(f->facts.raws[1].size, raw.n);
	assert_null(f->facts.raws[1].problem);
	assert_non_null(f->facts.raws[3].problem);
	assert_part(f->facts.raws[4].problem, "written by another program");
	assert_part(f->facts.raws[6].problem, "not a regular file");
	assert_string_equal(f->facts.raws[8].path, "edge/999.profraw");
	assert_int_equal(f->facts.raws[8].pid, 0);
	assert_int_equal(f->facts.raws[8].state, RAW_VALID);
	assert_int_equal(f->facts.raws[9].state, RAW_INVALID);
}

/* An image with two runtimes: each writes its profile behind the other's. */
static void one_of_two_runtimes(void **state)
{
	static const char list[] = "start 100 1\nstart 101 1\nstart 102 1\n";
	struct fixture *f = *state;
	auto_free char *at = path_join(f->profiles, "edge");
	auto_buf struct buf one = BUF_INIT, two = BUF_INIT, both = BUF_INIT;
	auto_strv struct strv pair = STRV_INIT;
	struct elf_facts facts = {0};

	make_raw(subject, &one);
	make_raw(hookless, &two);
	buf_add(&both, one.p, one.n);
	buf_add(&both, two.p, two.n);
	assert_int_equal(elf_facts_read(hookless, &facts, NULL), 0);
	strv_addf(&pair, "%s+%s", names.v[0], facts.names_sha256);
	elf_facts_release(&facts);
	assert_int_equal(dir_create(at, 0755, NULL), 0);
	put(at, "processes", list, strlen(list));
	put(at, "100.profraw", both.p, both.n);
	put(at, "101.profraw", one.p, one.n);
	put(at, "102.profraw", two.p, two.n);
	assert_int_equal(train_collect(f->profiles, "edge", &pair, &f->facts, &f->err), 0);
	assert_int_equal(f->facts.n_raws, 3);
	assert_int_equal(f->facts.raws[0].state, RAW_VALID);
	assert_int_equal(f->facts.raws[1].state, RAW_INVALID);
	assert_part(f->facts.raws[1].problem, "holds 1 of the 2 profiles");
	assert_int_equal(f->facts.raws[2].state, RAW_INVALID);
}

/* An image with both kinds of counters: a process of it leaves a file and a folder. */
static void one_of_both_kinds(void **state)
{
	static const char list[] = "start 100 1\nstart 101 1\nstart 102 1\n";
	static char object[] = "/b/part.gcda";
	char *objects[] = {object, NULL};
	const struct strv gcov = {.v = objects, .n = 1};
	const char *const of[] = {names.v[0]}, *const none[] = {NULL};
	struct train_options o = {
		.names_sha256 = &names, .gcov = &gcov, .n_gcov = 1, .gcov_of = of};
	struct fixture *f = *state;
	auto_free char *at = path_join(f->profiles, "edge");
	auto_free char *empty = path_join(at, "101.gcov");
	auto_buf struct buf raw = BUF_INIT;

	make_raw(subject, &raw);
	assert_int_equal(dir_create(empty, 0755, NULL), 0);
	put(at, "processes", list, strlen(list));
	put(at, "100.profraw", raw.p, raw.n);
	put(at, "101.profraw", raw.p, raw.n);
	assert_int_equal(collect_launch(&o, f->profiles, "edge", &f->facts, &f->err), 0);
	assert_int_equal(f->facts.n_processes, 3);
	assert_int_equal(f->facts.processes[0].state, RAW_MISSING);
	assert_string_equal(f->facts.processes[0].lacks, "gcc");
	assert_null(f->facts.processes[0].file);
	assert_int_equal(f->facts.processes[1].state, RAW_EMPTY);
	assert_string_equal(f->facts.processes[1].lacks, "gcc");
	assert_string_equal(f->facts.processes[1].file, "edge/101.gcov");
	assert_int_equal(f->facts.processes[2].state, RAW_MISSING);
	assert_null(f->facts.processes[2].lacks);
	training_facts_release(&f->facts);
	/* The object by gcc is in another image. */
	o.gcov_of = none;
	assert_int_equal(collect_launch(&o, f->profiles, "edge", &f->facts, &f->err), 0);
	assert_int_equal(f->facts.processes[0].state, RAW_VALID);
	assert_null(f->facts.processes[0].lacks);
}

static void list_that_says_rubbish(void **state)
{
	static const char list[] =
		"start 100 1\nfork 101\n\xff\xfe\nstart -5 1\nexec\nstart 102 100";
	static const struct expected expected[] = {
		{100, PROCESS_STARTED, false, RAW_MISSING, NULL},
		{102, PROCESS_STARTED, false, RAW_MISSING, NULL},
	};
	struct fixture *f = *state;
	auto_free char *at = path_join(f->profiles, "edge");

	assert_int_equal(dir_create(at, 0755, NULL), 0);
	put(at, "processes", list, strlen(list));
	assert_int_equal(train_collect(f->profiles, "edge", &names, &f->facts, &f->err), 0);
	assert_processes(f, expected, ARRAY_SIZE(expected));
	assert_part(f->facts.failure, "line 2 of its list of processes, 'fork 101', says nothing");
	assert_part(f->facts.failure, "line 5");
	assert_int_equal(train_collect(f->profiles, "nowhere", &names, &f->facts, &f->err), -1);
	assert_int_equal(f->err.code, ERR_IO);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(forking_server_is_counted_exactly),
		TEST(unexpected_answer_stops_the_phases),
		TEST(service_that_dies_fails_its_phase),
		TEST(slow_answer_is_a_time_out),
		TEST(service_that_does_not_start),
		TEST(other_services_get_no_profile_environment),
		TEST(batch_program_in_repeated_runs),
		TEST(failing_run_tells_its_output),
		TEST(hanging_run_is_killed_whole),
		TEST(skipped_phase_and_only_phase),
		TEST(replay_expects_no_profiles),
		TEST(clone_without_handlers_is_noticed),
		TEST(exec_needs_no_profile),
		TEST(process_that_leaves_by_exit_handlers_skipped),
		TEST(worker_of_another_user_can_write),
		TEST(missing_hook_is_told),
		TEST(configuration_errors_are_errors),
		TEST(proof_of_a_server),
		TEST(proof_of_a_batch_program),
		TEST(snapshot_when_the_signal_is_not_handled),
		TEST(snapshot_when_killed),
		TEST(no_proof_without_runtime),
		TEST(no_proof_when_it_leaves_by_exit),
		TEST(states_of_a_crafted_folder),
		TEST(one_of_two_runtimes),
		TEST(one_of_both_kinds),
		TEST(list_that_says_rubbish),
	};

	return run_trainings(tests, argc, argv);
}
