#include "fixture.h"

#include "base/proc.h"
#include "elf/elf_facts.h"
#include "profile/profile.h"

char *folder, *subject, *plain, *hookless;
struct strv names;

int set_up(void **state)
{
	static int count;
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->root = xasprintf("%s/t%d", folder, ++count);
	f->profiles = xasprintf("%s/profiles", f->root);
	assert_int_equal(dir_create(f->root, 0755, NULL), 0);
	strv_add(&f->binaries, subject);
	strv_add(&f->plan.build.binary, "bin/subject");
	f->plan.root = f->root;
	f->plan.train.services = f->services;
	f->plan.train.phases = f->phases;
	f->plan.train.seed = 1;
	snprintf(f->plan.training_digest, sizeof(f->plan.training_digest), "asked");
	f->o = (struct train_options){.plan = &f->plan,
		.binaries = &f->binaries,
		.folder = f->root,
		.profiles = f->profiles,
		.self = "/bin/false",
		.names_sha256 = &names,
		.node = "training"};
	*state = f;
	return 0;
}

int tear_down(void **state)
{
	struct fixture *f = *state;

	training_facts_release(&f->facts);
	error_release(&f->err);
	strv_release(&f->binaries);
	strv_release(&f->plan.build.binary);
	free(f->root);
	free(f->profiles);
	free(f);
	return 0;
}

void add_service(struct fixture *f, const char *name, const char *run, enum ready_kind ready)
{
	size_t i = f->plan.train.n_services++;

	f->services[i] = (struct plan_service){.name = TEXT(name),
		.run = TEXT(run),
		.subject = i == 0,
		.ready = ready,
		.ready_timeout_ns = 10 * NS_PER_S,
		.stop_signal = SIGTERM,
		.stop_timeout_ns = 5 * NS_PER_S};
}

struct plan_phase *add_http(struct fixture *f, const char *path, uint64_t requests)
{
	size_t i = f->plan.train.n_phases++;

	f->requests[i] = (struct plan_request){.method = TEXT("GET"),
		.path = TEXT(path),
		.weight = 1,
		.expect = {.bytes = -1, .body = TEXT("hello")}};
	f->phases[i] = (struct plan_phase){.name = TEXT(path),
		.kind = PHASE_HTTP,
		.timeout_ns = 60 * NS_PER_S,
		.http = {.connections = 4,
			.requests = requests,
			.reuse = 1,
			.mix = &f->requests[i],
			.n_mix = 1}};
	return &f->phases[i];
}

struct plan_phase *add_run(struct fixture *f, const char *name, const char *run, uint32_t repeat)
{
	struct plan_phase *p = &f->phases[f->plan.train.n_phases++];

	*p = (struct plan_phase){.name = TEXT(name),
		.kind = PHASE_RUN,
		.run = TEXT(run),
		.repeat = repeat,
		.timeout_ns = 60 * NS_PER_S};
	return p;
}

void run(struct fixture *f)
{
	if (train_run(&f->o, &f->facts, &f->err) < 0)
		fail_msg("%s", f->err.msg);
}

void assert_part(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("'%s' is not in: %s", part, text ? text : "(nothing)");
}

static int find_work(void *ctx, const char *key, uint64_t hash, const uint64_t *counts, size_t n)
{
	uint64_t *to = ctx;

	/* Counters are on edges: the loop's back edge and the entry; the entry is the smaller one.
	 */
	if (!strcmp(key, "work"))
		for (size_t i = 0; i < n; i++)
			if (!*to || counts[i] < *to)
				*to = counts[i];
	return 0;
}

/* How often work() was entered, over all raw profiles. */
uint64_t count_work(const struct fixture *f)
{
	struct profile *p = profile_new();
	uint64_t count = 0;

	for (size_t i = 0; i < f->facts.n_raws; i++) {
		auto_free char *path = path_join(f->profiles, f->facts.raws[i].path);

		assert_int_equal(profile_add_file(p, path, 1, NULL, NULL), 0);
	}
	profile_each(p, find_work, &count);
	profile_free(p);
	return count;
}

size_t count_state(const struct fixture *f, enum raw_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < f->facts.n_processes; i++)
		n += !f->facts.processes[i].exec && f->facts.processes[i].state == state;
	return n;
}

/* ---- Set-up --------------------------------------------------------------------------------- */

static char *build(const char *cc, const char *to, const char *flags, const char *sources)
{
	char *path = xasprintf("%s/%s", folder, to);
	auto_free char *command = xasprintf("%s -O1 -w %s -o %s %s", cc, flags, path, sources);
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;
	struct error err = ERROR_INIT;

	strv_add(&argv, "/bin/sh");
	strv_add(&argv, "-c");
	strv_add(&argv, command);
	o.argv = &argv;
	if (proc_capture(&o, 60 * NS_PER_S, &lines, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		exit(2);
	}
	return path;
}

static void build_subjects(const char *cc, const char *source, const char *hook)
{
	auto_free char *object = xasprintf("%s/hook.o", folder);
	auto_free char *both = xasprintf("%s %s", source, object);
	struct elf_facts facts = {0};

	free(build(cc, "hook.o", "-c", hook));
	plain = build(cc, "plain", "", source);
	subject = build(cc, "subject", "-fprofile-generate", both);
	hookless = build(cc, "hookless", "-fprofile-generate -Dwork=other_work", source);
	if (elf_facts_read(subject, &facts, NULL) < 0 || !facts.names_sha256)
		exit(2);
	strv_add(&names, facts.names_sha256);
	elf_facts_release(&facts);
}

bool fixture_begin(int argc, char **argv)
{
	static char name[] = "/tmp/whet-train-XXXXXX";

	if (argc < 4)
		return false;
	folder = mkdtemp(name);
	if (!folder || chmod(folder, 0755) < 0)
		return false;
	build_subjects(argv[1], argv[2], argv[3]);
	return true;
}

int fixture_end(int failed)
{
	(void)tree_remove(folder, NULL);
	free(plain);
	free(subject);
	free(hookless);
	strv_release(&names);
	return failed;
}
