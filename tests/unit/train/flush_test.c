/* Processes that leave no profile, or would not without whet: each with its cause. */
#include "fixture.h"

#include <sched.h>
#include <sys/mount.h>

#include "base/proc.h"

/* The one process that has no valid profile; fails when there is none, or more. */
static const struct process_evidence *lacking(const struct fixture *f)
{
	const struct process_evidence *found = NULL;

	for (size_t i = 0; i < f->facts.n_processes; i++) {
		const struct process_evidence *p = &f->facts.processes[i];

		if (p->state == RAW_VALID)
			continue;
		assert_null(found);
		found = p;
	}
	assert_non_null(found);
	return found;
}

static void worker_killed_by_somebody(void **state)
{
	struct fixture *f = *state;
	const struct process_evidence *p;

	add_service(f, "edge", "{binary} serve {port} 2", READY_TCP);
	add_run(f, "kill", "kill -9 $(cat {work}/worker)", 1);
	run(f);
	p = lacking(f);
	assert_int_equal(p->origin, PROCESS_FORKED);
	assert_int_equal(count_state(f, RAW_VALID), 2);
	assert_part(p->command, "subject serve ");
	/* A kernel before 6.15 does not tell. */
	if (!p->signal)
		skip();
	assert_int_equal(p->signal, SIGKILL);
	assert_int_equal(p->cause, CAUSE_SIGNAL);
}

static void server_that_ignores_its_signal(void **state)
{
	struct fixture *f = *state;

	add_service(f, "edge", "{binary} hang", READY_NONE);
	f->services[0].stop_timeout_ns = 300 * NS_PER_MS;
	add_run(f, "wait", "sleep 0.2", 1);
	run(f);
	assert_int_equal(f->facts.n_processes, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_true(f->facts.processes[i].snapshot);
		assert_int_equal(f->facts.processes[i].state, RAW_VALID);
		assert_int_equal(f->facts.processes[i].cause, CAUSE_UNKNOWN);
		assert_null(f->facts.processes[i].command);
	}
}

static void server_that_leaves_by_exit(void **state)
{
	struct fixture *f = *state;
	const struct process_evidence *p;

	add_service(f, "edge", "{binary} leave", READY_NONE);
	add_run(f, "wait", "sleep 0.2", 1);
	run(f);
	p = lacking(f);
	assert_int_equal(p->cause, CAUSE_EXIT);
	assert_part(p->command, "subject leave");
	if (p->detail)
		assert_string_equal(p->detail, "exit code 5");
}

/* The remedy that whet names: a signal that it does not handle. */
static void server_that_leaves_by_exit_on_another_signal_only(void **state)
{
	struct fixture *f = *state;

	add_service(f, "edge", "{binary} leave", READY_NONE);
	f->services[0].stop_signal = SIGUSR1;
	add_run(f, "wait", "sleep 0.2", 1);
	run(f);
	assert_int_equal(f->facts.n_processes, 1);
	assert_true(f->facts.processes[0].snapshot);
	assert_int_equal(f->facts.processes[0].state, RAW_VALID);
	assert_int_equal(f->facts.processes[0].signal, SIGUSR1);
}

/* It lives too shortly to be seen: its command is that of the process that made it. */
static void child_that_leaves_at_once(void **state)
{
	struct fixture *f = *state;

	add_service(f, "edge", "{binary} child", READY_NONE);
	add_run(f, "wait", "sleep 0.2", 1);
	run(f);
	assert_int_equal(f->facts.n_processes, 2);
	assert_int_equal(lacking(f)->origin, PROCESS_FORKED);
	assert_part(lacking(f)->command, "subject child");
}

static void batch_program_that_leaves_by_exit(void **state)
{
	struct fixture *f = *state;

	add_run(f, "quick", "{binary} quick", 1);
	run(f);
	assert_int_equal(lacking(f)->cause, CAUSE_EXIT);
	assert_int_equal(lacking(f)->state, RAW_EMPTY);
}

/* What the process itself wrote before the snapshot lacks what it counted later. */
static void own_profile_of_before_the_snapshot(void **state)
{
	struct fixture *f = *state;
	auto_free char *name = NULL;

	add_service(f, "edge", "{binary} early 100", READY_LOG);
	f->services[0].ready_arg = TEXT("counted");
	add_run(f, "wait", "sleep 0.1", 1);
	run(f);
	assert_int_equal(f->facts.n_processes, 1);
	assert_int_equal(f->facts.n_raws, 1);
	assert_true(f->facts.processes[0].snapshot);
	name = xasprintf("edge/%d.snapshot.profraw", (int)f->facts.processes[0].pid);
	assert_string_equal(f->facts.raws[0].path, name);
	assert_int_equal(count_work(f), 200);
}

static void sandbox(void **state)
{
	struct fixture *f = *state;
	const struct process_evidence *p;

	add_service(f, "edge", "{binary} filter", READY_NONE);
	add_run(f, "wait", "sleep 0.2", 1);
	run(f);
	p = lacking(f);
	assert_int_equal(p->cause, CAUSE_SANDBOX);
	assert_part(p->detail, "Operation not permitted");
}

static void another_root_folder(void **state)
{
	struct fixture *f = *state;
	auto_free char *root = xasprintf("%s/jail", f->root);
	auto_free char *command = xasprintf("{binary} chroot %s", root);

	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdir(root, 0755), 0);
	add_service(f, "edge", command, READY_NONE);
	add_run(f, "wait", "sleep 0.2", 1);
	run(f);
	assert_int_equal(lacking(f)->cause, CAUSE_ROOT);
}

/* Neither the list of processes nor a profile can be written; the process is noticed all the same.
 */
static void folder_that_the_user_cannot_write(void **state)
{
	struct fixture *f = *state;
	const struct process_evidence *p;

	if (geteuid() != 0)
		skip();
	add_service(f, "edge",
		"/bin/sh -c 'chmod 700 $WHET_PROFILE_DIR && "
		"exec setpriv --reuid=65534 --clear-groups {binary} wait'",
		READY_NONE);
	add_run(f, "wait", "sleep 0.3", 1);
	run(f);
	p = lacking(f);
	assert_int_equal(p->origin, PROCESS_SILENT);
	assert_int_equal(p->state, RAW_MISSING);
	assert_int_equal(p->cause, CAUSE_USER);
	assert_part(p->detail, "user 65534 may not write to, or pass through, '");
	assert_part(p->detail, "/profiles/edge'");
	assert_part(p->command, "subject wait");
	assert_part(f->facts.failure, "could not write to its profile folder");
}

static void write_to(const char *path, const char *text)
{
	FILE *o = fopen(path, "w");

	if (o)
		fputs(text, o);
	if (o)
		fclose(o);
}

/* A small file system at path: as root, or in a user namespace where that is allowed. */
static bool mount_small(const char *path)
{
	auto_free char *uid = xasprintf("%u %u 1", geteuid(), geteuid());
	auto_free char *gid = xasprintf("%u %u 1", getegid(), getegid());

	if (geteuid() != 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			return false;
		write_to("/proc/self/setgroups", "deny");
		write_to("/proc/self/uid_map", uid);
		write_to("/proc/self/gid_map", gid);
	} else if (unshare(CLONE_NEWNS) < 0) {
		return false;
	}
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", path, "tmpfs", 0, "size=64k,mode=0711") == 0;
}

/* The last test: it leaves this process in a mount namespace of its own. */
static void full_disk(void **state)
{
	struct fixture *f = *state;
	auto_free char *fill = xasprintf("head -c 1000000 /dev/zero > %s/fill; true", f->profiles);
	const struct process_evidence *p;

	assert_int_equal(mkdir(f->profiles, 0711), 0);
	if (!mount_small(f->profiles))
		skip();
	add_service(f, "edge", "{binary} wait", READY_NONE);
	add_run(f, "fill", fill, 1);
	run(f);
	p = lacking(f);
	assert_int_equal(p->cause, CAUSE_DISK);
	assert_part(p->detail, "No space left on device");
	assert_part(f->facts.disk, "is full");
	umount2(f->profiles, MNT_DETACH);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(worker_killed_by_somebody),
		TEST(server_that_ignores_its_signal),
		TEST(server_that_leaves_by_exit),
		TEST(server_that_leaves_by_exit_on_another_signal_only),
		TEST(child_that_leaves_at_once),
		TEST(batch_program_that_leaves_by_exit),
		TEST(own_profile_of_before_the_snapshot),
		TEST(sandbox),
		TEST(another_root_folder),
		TEST(folder_that_the_user_cannot_write),
		TEST(full_disk),
	};

	return run_trainings(tests, argc, argv);
}
