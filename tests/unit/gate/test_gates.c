/* Every fault fires exactly the gate that owns it, and names what it is about; a clean build fires
 * none. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fixture.h"

/* ---- training ---- */

static void one_500(struct fixture *x)
{
	struct phase_result *p = &x->training.phases[0];

	p->status = PHASE_FAILED;
	p->done = 412;
	p->problem = xstrdup("GET /doc.html: expected status 200, got 500");
	x->training.phases[1].status = PHASE_NOT_RUN;
	x->training.phases[1].done = 0;
}

static void phase_counts_short(struct fixture *x)
{
	x->training.phases[1].done = 499;
}

static void phase_timeout(struct fixture *x)
{
	x->training.phases[1].status = PHASE_TIMEOUT;
	x->training.phases[1].done = 3;
}

static void service_never_ready(struct fixture *x)
{
	training_facts_release(&x->training);
	x->training.failure = xstrdup("service 'edge' ended before it was ready");
}

/* Every phase did its work, and then the services could not be stopped. */
static void training_failed_beside_phases(struct fixture *x)
{
	x->training.failure = xstrdup("service 'edge' ignored SIGTERM");
}

static void all_phases_skipped(struct fixture *x)
{
	for (size_t i = 0; i < 2; i++) {
		x->training.phases[i].status = PHASE_SKIPPED;
		x->training.phases[i].done = x->training.phases[i].planned = 0;
	}
}

static void no_training(struct fixture *x)
{
	x->facts.training = NULL;
}

/* ---- raw profiles ---- */

static void set_raw(struct fixture *x, size_t i, enum raw_state state, const char *problem)
{
	x->training.raws[i].state = state;
	set_text(&x->training.raws[i].problem, problem);
	x->training.processes[i].state = state;
}

static void raw_truncated(struct fixture *x)
{
	set_raw(x, 1, RAW_INVALID, "counter section ends at 4160, file at 4096");
}

static void raw_empty(struct fixture *x)
{
	set_raw(x, 1, RAW_EMPTY, NULL);
}

static void raw_foreign(struct fixture *x)
{
	set_raw(x, 0, RAW_FOREIGN, "names section of another binary");
}

static void raw_empty_without_process(struct fixture *x)
{
	set_raw(x, 1, RAW_EMPTY, NULL);
	x->training.raws[1].pid = 0;
	x->training.processes[1].state = RAW_VALID;
}

static void raw_of_nobody(struct fixture *x)
{
	process_evidence_release(&x->training.processes[1]);
	x->training.n_processes = 1;
}

/* ---- processes ---- */

static void lose_file(struct fixture *x, size_t i)
{
	x->training.processes[i].state = RAW_MISSING;
	set_text(&x->training.processes[i].file, NULL);
	raw_file_release(&x->training.raws[i]);
	x->training.raws[i] = x->training.raws[--x->training.n_raws];
}

static void worker_cannot_write(struct fixture *x)
{
	lose_file(x, 1);
}

/* With a cause that was found: named with command and remedy. */
static void lose_by(struct fixture *x, enum flush_cause cause, const char *detail)
{
	lose_file(x, 1);
	x->training.processes[1].cause = cause;
	x->training.processes[1].command = xstrdup("/x/edge --port 80");
	x->training.processes[1].detail = detail ? xstrdup(detail) : NULL;
}

static void user_cannot_write(struct fixture *x)
{
	lose_by(x, CAUSE_USER, "user 33 may not write to '/p/edge'");
}

static void sandboxed(struct fixture *x)
{
	lose_by(x, CAUSE_SANDBOX, NULL);
}

static void left_by_exit(struct fixture *x)
{
	lose_by(x, CAUSE_EXIT, "exit code 5");
}

static void disk_was_full(struct fixture *x)
{
	lose_by(x, CAUSE_DISK, "No space left on device");
}

static void empty_by_full_disk(struct fixture *x)
{
	set_raw(x, 1, RAW_EMPTY, NULL);
	x->training.processes[1].cause = CAUSE_DISK;
}

static void hook_said_nothing(struct fixture *x)
{
	lose_file(x, 1);
	x->training.processes[1].origin = PROCESS_SILENT;
}

static void server_killed(struct fixture *x)
{
	lose_file(x, 0);
	x->training.processes[0].signal = SIGKILL;
	one_500(x);
}

static void killed_while_writing(struct fixture *x)
{
	set_raw(x, 1, RAW_EMPTY, NULL);
	x->training.processes[1].signal = SIGKILL;
}

static void process_without_hook(struct fixture *x)
{
	x->training.processes[1].origin = PROCESS_UNHOOKED;
}

static void nothing_instrumented_ran(struct fixture *x)
{
	for (size_t i = 0; i < 2; i++) {
		process_evidence_release(&x->training.processes[i]);
		raw_file_release(&x->training.raws[i]);
	}
	x->training.n_processes = x->training.n_raws = 0;
}

/* ---- functions ---- */

static void nothing_executed(struct fixture *x)
{
	for (size_t i = 0; i < x->profile.n; i++)
		x->profile.v[i].max_count = 0;
	x->profile.executed = 0;
	/* Without executed functions there is nothing that the optimised build could show. */
	x->facts.optimised = NULL;
}

static void too_few_executed(struct fixture *x)
{
	x->bounds.min_functions = 6;
}

static void too_many_missing(struct fixture *x)
{
	x->bounds.max_missing = 1;
	fixture_add_diag(&x->optimised, "work", DIAG_MISSING, "added_one");
	fixture_add_diag(&x->optimised, "main", DIAG_MISSING, "added_one");
	fixture_add_diag(&x->optimised, "crate", DIAG_MISSING, "added_two");
}

static void all_executed_missing(struct fixture *x)
{
	fixture_add_diag(&x->optimised, "main", DIAG_MISSING, "main");
	fixture_add_diag(&x->optimised, "work", DIAG_MISSING, "work");
	fixture_add_diag(&x->optimised, "work", DIAG_MISSING, "src/work.c;helper");
	fixture_add_diag(&x->optimised, "tiny", DIAG_MISSING, "tiny");
	fixture_add_diag(&x->optimised, "crate", DIAG_MISSING, "_RNvCs1_4edge3run");
	set_text(&fixture_object(&x->optimised, "/slot/obj/work.o")->code_hash,
		fixture_object(&x->plain, "/slot/obj/work.o")->code_hash);
}

static void stale_function(struct fixture *x)
{
	fixture_add_diag(&x->optimised, "work", DIAG_MISMATCH, "work");
	fixture_record(&x->optimised, "work")->diags[0].hash = 0x1234abcd;
}

static void stale_object(struct fixture *x)
{
	/* The only executed function is stale, so that the object was compiled as if plain. */
	fixture_add_diag(&x->optimised, "main", DIAG_MISMATCH, "main");
	set_text(&fixture_object(&x->optimised, "/slot/obj/main.o")->code_hash,
		fixture_object(&x->plain, "/slot/obj/main.o")->code_hash);
}

/* ---- sources ---- */

static void edited_between(struct fixture *x)
{
	set_text(&x->optimised.source_before, "another");
	set_text(&x->optimised.source_after, "another");
	stale_function(x);
}

static void edited_during_build(struct fixture *x)
{
	set_text(&x->instrumented.source_after, "another");
	set_text(&x->instrumented.source_changed, "lib/work.c");
}

static void digest_missing(struct fixture *x)
{
	set_text(&x->plain.source_after, NULL);
}

static void given(struct fixture *x)
{
	x->profile.given = true;
	x->facts.training = NULL;
	x->facts.instrumented = NULL;
	x->facts.provenance = &x->provenance;
}

static void given_without_provenance(struct fixture *x)
{
	given(x);
	x->facts.provenance = NULL;
}

static void given_other_revision(struct fixture *x)
{
	given(x);
	set_text(&x->provenance.source, "0ther000");
}

static void given_other_training(struct fixture *x)
{
	given(x);
	set_text(&x->provenance.training, "0ther111");
}

static void given_other_target(struct fixture *x)
{
	given(x);
	set_text(&x->provenance.target, "aarch64-unknown-linux-gnu");
}

static void given_other_file(struct fixture *x)
{
	given(x);
	set_text(&x->provenance.profile, "0ther333");
}

/* ---- the builds against each other ---- */

static void set_word(struct build_facts *b, const char *record, const char *from, const char *to)
{
	struct strv *argv = &fixture_record(b, record)->argv;

	for (size_t i = 0; i < argv->n; i++) {
		if (strcmp(argv->v[i], from) == 0)
			set_text(&argv->v[i], to);
	}
}

static void panic_changed(struct fixture *x)
{
	/* cargo derives the metadata from the profile settings, and symbols from the metadata. */
	set_word(&x->optimised, "crate", "panic=unwind", "panic=abort");
	set_word(&x->optimised, "crate", "metadata=0123456789abcdef", "metadata=fedcba9876543210");
	set_text(&fixture_record(&x->optimised, "crate")->metadata, "fedcba9876543210");
	fixture_add_diag(&x->optimised, "crate", DIAG_MISSING, "_RNvCs1_4edge3run");
}

static void lto_added(struct fixture *x)
{
	strv_add(&fixture_record(&x->optimised, "crate")->argv, "-Clto=fat");
}

static void cflags_changed(struct fixture *x)
{
	set_word(&x->instrumented, "work", "-O2", "-O1");
}

static void libraries_changed(struct fixture *x)
{
	set_word(&x->plain, "link", "-lm", "-ldl");
}

static void rustc_link_changed(struct fixture *x)
{
	strv_add(&fixture_record(&x->optimised, "rlink")->argv, "-Wl,-z,lazy");
}

/* The list of what rustc may derive is closed. */
static void rustc_link_derives_more(struct fixture *x)
{
	strv_add(&fixture_record(&x->instrumented, "rlink")->argv, "-lunheard");
}

/* Derived from instrumentation alone: beside the plain build it is a difference. */
static void sections_kept(struct fixture *x)
{
	struct strv *argv = &fixture_record(&x->optimised, "rlink")->argv;

	free(argv->v[--argv->n]);
	argv->v[argv->n] = NULL;
}

static void words_swapped(struct fixture *x)
{
	struct strv *argv = &fixture_record(&x->plain, "link")->argv;
	char *first = argv->v[0];

	argv->v[0] = argv->v[1];
	argv->v[1] = first;
}

static void metadata_changed(struct fixture *x)
{
	set_word(&x->optimised, "crate", "metadata=0123456789abcdef", "metadata=fedcba9876543210");
	set_text(&fixture_record(&x->optimised, "crate")->metadata, "fedcba9876543210");
}

static void crate_renamed(struct fixture *x)
{
	set_word(&x->optimised, "crate", "edge", "edge2");
	set_text(&fixture_record(&x->optimised, "crate")->crate_name, "edge2");
}

static void source_key_changed(struct fixture *x)
{
	struct compile_record *r = fixture_record(&x->optimised, "work");

	set_word(&x->optimised, "work", "src/work.c", "/home/u/src/work.c");
	set_text(&r->source, "/home/u/src/work.c");
	set_text(&r->inputs.v[0], "/home/u/src/work.c");
}

static void extra_compilation(struct fixture *x)
{
	fixture_add_c(&x->optimised, "extra");
	fixture_add_object(&x->optimised, "/slot/obj/extra.o", OBJECT_TARGET, "extra", "extra");
}

/* ---- the use of the profile ---- */

static void profile_rewritten(struct fixture *x)
{
	set_text(&x->optimised.profile_after, "tampered");
	fixture_add_diag(&x->optimised, "work", DIAG_UNREADABLE, "");
}

static void profile_gone(struct fixture *x)
{
	set_text(&x->optimised.profile_after, NULL);
}

static void profile_misnamed(struct fixture *x)
{
	set_text(&x->optimised.profile_before, "tampered");
}

static void absolute_compiler(struct fixture *x)
{
	fixture_add_object(&x->optimised, "/slot/obj/hidden.o", OBJECT_UNKNOWN, NULL, "hidden");
}

static void record_lost(struct fixture *x)
{
	set_text(&fixture_object(&x->optimised, "/slot/obj/work.o")->record, "gone");
}

static void flag_not_added(struct fixture *x)
{
	strv_release(&fixture_record(&x->optimised, "work")->added);
}

static void profile_unreadable(struct fixture *x)
{
	fixture_add_diag(&x->optimised, "crate", DIAG_UNREADABLE, "");
}

static void links_unknown(struct fixture *x)
{
	fixture_record(&x->optimised, "link")->map_error = xstrdup("no map was written");
}

static void no_object_differs(struct fixture *x)
{
	for (size_t i = 0; i < x->optimised.binaries[0].n_objects; i++)
		set_text(&x->optimised.binaries[0].objects[i].code_hash,
			x->plain.binaries[0].objects[i].code_hash);
}

static void cached_plain_objects(struct fixture *x)
{
	static const char *const paths[] = {
		"/slot/obj/main.o", "/slot/obj/work.o", "/slot/deps/libedge.rlib"};

	fixture_add_function(&x->profile, "zoom", 0x666, 10);
	struct build_facts *builds[] = {&x->plain, &x->instrumented, &x->optimised};

	for (size_t i = 0; i < 3; i++) {
		fixture_add_c(builds[i], "zoom");
		fixture_add_object(builds[i], "/slot/obj/zoom.o", OBJECT_TARGET, "zoom", "zoom");
		set_text(&fixture_object(&x->optimised, paths[i])->code_hash,
			fixture_object(&x->plain, paths[i])->code_hash);
	}
}

static void executed_but_missing(struct fixture *x)
{
	fixture_add_diag(&x->optimised, "tiny", DIAG_MISSING, "tiny");
}

static void functions_unknown(struct fixture *x)
{
	struct build_facts *builds[] = {&x->plain, &x->instrumented, &x->optimised};

	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < builds[i]->binaries[0].n_objects; k++)
			strv_release(&builds[i]->binaries[0].objects[k].functions);
	}
}

/* Nothing pairs with the plain build, so nothing shows that the profile changed any code. */
static void units_renamed(struct fixture *x)
{
	for (size_t i = 0; i < x->optimised.binaries[0].n_objects; i++) {
		struct object_fact *o = &x->optimised.binaries[0].objects[i];
		auto_free char *other = xasprintf("%s.11g82ir", o->unit ? o->unit : "");

		if (o->class == OBJECT_TARGET)
			set_text(&o->unit, other);
	}
}

/* ---- the files that ship ---- */

static void still_instrumented(struct fixture *x)
{
	strv_add(&x->final.profile_marks, "section __llvm_prf_cnts");
}

static void hook_left(struct fixture *x)
{
	x->final.has_hook = true;
}

static void sections_cut_off(struct fixture *x)
{
	x->final.no_sections = true;
}

static void replay_deviates(struct fixture *x)
{
	x->replay.phases[1].status = PHASE_FAILED;
	x->replay.phases[1].done = 12;
	x->replay.phases[1].problem = xstrdup("POST /form: expected 200, got no answer");
}

static void replay_too_short(struct fixture *x)
{
	x->replay.phases[0].planned = x->replay.phases[0].done = 10;
}

static void replay_absent(struct fixture *x)
{
	x->facts.replay = NULL;
}

/* 0.95 then, 0.99 now: 4.2 % more of the plain build's cost, the interval [+2.7, +5.7]. */
static void scenario_worse(struct fixture *x)
{
	x->bench.v[1].ratio = 0.99;
	x->bench.v[1].low = 0.98;
	x->bench.v[1].high = 1.0;
}

static const struct fault {
	const char *name;
	void (*make)(struct fixture *x);
	const char *owner;
	const char *text; /* in summary or evidence */
} faults[] = {
	{"one 500", one_500, "phases-complete", "GET /doc.html: expected status 200, got 500"},
	{"too few answers", phase_counts_short, "phases-complete", "phase 'post': ok, 499 of 500"},
	{"time-out", phase_timeout, "phases-complete", "phase 'post': timeout, 3 of 500"},
	{"service never ready", service_never_ready, "phases-complete",
		"ended before it was ready"},
	{"failed beside the phases", training_failed_beside_phases, "phases-complete",
		"0 of 2 phases incomplete (1500 of 1500 requests as expected), 0 allowed; the "
		"training as a whole failed"},
	{"all phases skipped", all_phases_skipped, "phases-complete", "0 of 2 phases ran"},
	{"no training", no_training, "phases-complete", "not there"},
	{"truncated", raw_truncated, "raw-profiles-valid",
		"profiles/edge/102.profraw: counter section ends at 4160, file at 4096"},
	{"empty", raw_empty, "raw-profiles-valid", "profiles/edge/102.profraw: empty"},
	{"empty, of nobody", raw_empty_without_process, "raw-profiles-valid", "102.profraw: empty"},
	{"foreign", raw_foreign, "raw-profiles-valid", "101.profraw: of another program: names"},
	{"unattributed", raw_of_nobody, "raw-profiles-valid", "no observed process"},
	{"worker cannot write", worker_cannot_write, "every-process-flushed",
		"pid 102 (launch 'edge', forked by 100): missing profile"},
	{"user cannot write", user_cannot_write, "every-process-flushed",
		"missing profile\ncommand: /x/edge --port 80\nlikely cause: its user cannot write "
		"to the profile folder (user 33 may not write to '/p/edge')\nremedy: let all users "
		"pass through"},
	{"sandbox", sandboxed, "every-process-flushed",
		"a system call filter (seccomp) forbids it to write\nremedy: switch its sandbox "
		"off"},
	{"_exit", left_by_exit, "every-process-flushed",
		"without exit handlers: _exit, quick_exit, abort (exit code 5)\nremedy: let it end "
		"by "
		"exit()"},
	{"full disk", disk_was_full, "every-process-flushed",
		"the disk was full (No space left on device)\nremedy: make room"},
	{"empty by a full disk", empty_by_full_disk, "every-process-flushed",
		"pid 102 (launch 'edge', forked by 100): empty profile profiles/edge/102.profraw\n"
		"likely cause: the disk was full"},
	{"no hook", hook_said_nothing, "every-process-flushed",
		"seen running the binary, started by 100): missing profile\nlikely cause: the fork "
		"hook is not in the binary"},
	{"server killed", server_killed, "every-process-flushed", "ended by signal 9 (Killed)"},
	{"killed while writing", killed_while_writing, "every-process-flushed",
		"empty profile, ended by signal 9"},
	{"clone without handlers", process_without_hook, "every-process-flushed",
		"pid 102 (launch 'edge', child of 100): made by clone"},
	{"nothing instrumented ran", nothing_instrumented_ran, "every-process-flushed",
		"0 processes ran instrumented code"},
	{"too few executed", too_few_executed, "min-functions", "5 executed functions, at least 6"},
	{"too many missing", too_many_missing, "max-missing", "added_two"},
	{"all executed missing", all_executed_missing, "max-missing",
		"0 of 5 executed functions of 'prog'"},
	{"stale function", stale_function, "stale",
		"function 'work' in 'src/work.c': its structure is 000000001234abcd now"},
	{"stale object", stale_object, "stale", "function 'main' in 'src/main.c'"},
	{"edited between", edited_between, "same-source", "before the optimised build: another"},
	{"edited during", edited_during_build, "same-source",
		"'lib/work.c' is not what it was at the start, seen with the instrumented build"},
	{"digest missing", digest_missing, "same-source", "after the plain build: no digest"},
	{"no provenance", given_without_provenance, "same-source", "no provenance file"},
	{"given: revision", given_other_revision, "same-source", "another source: 0ther000"},
	{"given: training", given_other_training, "same-source", "another training plan: 0ther111"},
	{"given: target", given_other_target, "same-source", "another target: aarch64"},
	{"given: file", given_other_file, "same-source", "0ther333"},
	{"panic changed", panic_changed, "same-flags",
		"crate 'edge' (src/lib.rs): optimised has '-C panic=abort', plain has '-C "
		"panic=unwind'"},
	{"lto added", lto_added, "same-flags", "optimised has '-C lto=fat', plain has ''"},
	{"cflags changed", cflags_changed, "same-flags",
		"'src/work.c': optimised has '-O2', instrumented has '-O1'"},
	{"libraries changed", libraries_changed, "same-flags",
		"optimised has '-lm', plain has '-ldl'"},
	{"rustc's link changed", rustc_link_changed, "same-flags",
		"link of '/slot/deps/tool': optimised has '-Wl,-z,lazy', plain has ''"},
	{"rustc's link derives more", rustc_link_derives_more, "same-flags",
		"link of '/slot/deps/tool': optimised has '', instrumented has '-lunheard'"},
	{"sections kept in the release", sections_kept, "same-flags",
		"optimised has '', plain has '-Wl,--gc-sections'"},
	{"order changed", words_swapped, "same-flags", "another order"},
	{"metadata changed", metadata_changed, "same-identity",
		"-C metadata is 'fedcba9876543210'"},
	{"crate renamed", crate_renamed, "same-identity", "crate name is 'edge2'"},
	{"source key changed", source_key_changed, "same-identity",
		"source is '/home/u/src/work.c' in the optimised build and 'src/work.c' in the "
		"plain one"},
	{"extra compilation", extra_compilation, "same-identity",
		"'src/extra.c' has no counterpart in the plain build"},
	{"profile rewritten", profile_rewritten, "profile-unchanged", "after the optimised build"},
	{"profile gone", profile_gone, "profile-unchanged", "found no file"},
	{"profile misnamed", profile_misnamed, "profile-unchanged", "before the optimised build"},
	{"absolute compiler", absolute_compiler, "profile-was-used", "/slot/obj/hidden.o"},
	{"record lost", record_lost, "profile-was-used", "/slot/obj/work.o: the record"},
	{"flag not added", flag_not_added, "profile-was-used",
		"/slot/obj/work.o: compiled from 'src/work.c' without the profile"},
	{"profile unreadable", profile_unreadable, "profile-was-used", "crate 'edge' (src/lib.rs)"},
	{"links unknown", links_unknown, "profile-was-used", "no map was written"},
	{"no object differs", no_object_differs, "profile-was-used", "none of 4 executed objects"},
	{"cached objects", cached_plain_objects, "profile-was-used", "3 equal the plain build's"},
	{"executed but missing", executed_but_missing, "profile-was-used",
		"executed function 'tiny'"},
	{"units renamed", units_renamed, "profile-was-used",
		"none of 4 executed objects can be compared"},
	{"functions unknown", functions_unknown, "profile-was-used", "no object with an executed"},
	{"order passed over", fixture_order_passed_over, "function-order",
		"1 of 3 listed functions lie"},
	{"no order written", fixture_no_order, "function-order", "prog: mold has no option"},
	{"functions not there", fixture_functions_not_there, "function-order",
		"0 of 3 listed functions"},
	{"still instrumented", still_instrumented, "not-instrumented-any-more",
		"prog: section __llvm_prf_cnts"},
	{"hook left", hook_left, "not-instrumented-any-more", "prog: symbol of the fork hook"},
	{"no section headers", sections_cut_off, "not-instrumented-any-more",
		"cannot be ruled out"},
	{"a cold part has no frame", cold_part_without_frame, "unwind", "work.cold.0 at 0x9000"},
	{"strip broke it", strip_moved_segment, "strip-safe", "section .eh_frame at 0x600000"},
	{"replay deviates", replay_deviates, "replay", "POST /form: expected 200, got no answer"},
	{"replay too short", replay_too_short, "replay",
		"1000 requests in the training, 10 in the"},
	{"replay absent", replay_absent, "replay", "was not replayed"},
	{"a scenario got worse", scenario_worse, "no-scenario-worse",
		"scenario 'post', pgo: -5.0 % [-6.0, -4.0] then, -1.0 % [-2.0, +0.0] now, change "
		"+4.2 % [+2.7, +5.7]: worse by more than the margin"},
};

static void show(const struct fixture *x)
{
	for (size_t i = 0; i < x->verdicts.n; i++) {
		const struct verdict *v = &x->verdicts.v[i];

		print_error("  %s %s: %s\n%s\n", verdict_state_name(v->state), v->gate, v->summary,
			v->evidence);
	}
}

static bool is_right(const struct fixture *x, const struct fault *fault)
{
	bool named = false;

	for (size_t i = 0; i < x->verdicts.n; i++) {
		const struct verdict *v = &x->verdicts.v[i];

		if (v->state != VERDICT_FAIL)
			continue;
		if (strcmp(v->gate, fault->owner) != 0 || !*v->remedy)
			return false;
		named = named || strstr(v->summary, fault->text) ||
			strstr(v->evidence, fault->text);
	}
	return named;
}

static void test_each_fault_fires_its_owner_alone(void **state)
{
	size_t wrong = 0;

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct fixture x;

		fixture_make(&x);
		faults[i].make(&x);
		fixture_judge(&x);
		if (!is_right(&x, &faults[i])) {
			print_error("fault '%s' should fire %s alone, with '%s':\n", faults[i].name,
				faults[i].owner, faults[i].text);
			show(&x);
			wrong++;
		}
		fixture_release(&x);
	}
	assert_int_equal(wrong, 0);
}

static void test_every_gate_has_a_fault(void **state)
{
	for (size_t g = 0; g < n_gates; g++) {
		size_t n = 0;

		for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
			n += strcmp(faults[i].owner, gates[g].name) == 0;
		if (!n)
			fail_msg("no fault fires gate %s", gates[g].name);
	}
}

static void test_clean_build_is_silent(void **state)
{
	struct fixture x;

	fixture_make(&x);
	fixture_judge(&x);
	for (size_t i = 0; i < x.verdicts.n; i++) {
		if (x.verdicts.v[i].state != VERDICT_PASS) {
			show(&x);
			fail_msg("gate %s did not pass", x.verdicts.v[i].gate);
		}
		assert_true(*x.verdicts.v[i].summary);
	}
	for (size_t g = 0; g < n_gates; g++)
		assert_non_null(fixture_verdict(&x, gates[g].name));
	/* One verdict for each gate, also for the one that is asked twice. */
	assert_int_equal(x.verdicts.n, n_gates);
	assert_non_null(
		strstr(fixture_verdict(&x, "same-source")->summary, "0 of 7 source digests"));
	fixture_release(&x);
}

/* What differs between two equal builds: temporary names, widths of terminals. */
static void test_harmless_differences(void **state)
{
	struct fixture x;

	fixture_make(&x);
	set_word(&x.optimised, "link", "/tmp/ccAbCd12/x.o", "/tmp/ccZZZZ99/x.o");
	/* The TMPDIR of two runs, in words of any kind. */
	strv_add(&fixture_record(&x.plain, "link")->argv,
		"-Wl,--list=/tmp/whet-0123/whet-tmp/rustcAbc/list");
	strv_add(&fixture_record(&x.instrumented, "link")->argv,
		"-Wl,--list=/tmp/whet-89ab/whet-tmp/rustcDef/list");
	strv_add(&fixture_record(&x.optimised, "link")->argv,
		"-Wl,--list=/var/tmp/whet-4567/whet-tmp/rustcXyz/list");
	strv_add(&fixture_record(&x.optimised, "crate")->argv, "--diagnostic-width=80");
	strv_add(&fixture_record(&x.plain, "crate")->argv, "--diagnostic-width=211");
	/* Words to a linker without a driver before it. */
	set_word(&x.plain, "rlink", "-Wl,--gc-sections", "--gc-sections");
	set_word(&x.optimised, "rlink", "-Wl,--gc-sections", "--gc-sections");
	fixture_judge(&x);
	if (verdicts_failed(&x.verdicts)) {
		show(&x);
		fail_msg("a harmless difference fired a gate");
	}
	fixture_release(&x);
}

static void test_nothing_executed(void **state)
{
	struct fixture x;

	fixture_make(&x);
	nothing_executed(&x);
	gates_run(GATE_AFTER_MERGE, &x.facts, &x.verdicts);
	assert_int_equal(fixture_verdict(&x, "min-functions")->state, VERDICT_FAIL);
	assert_non_null(strstr(fixture_verdict(&x, "min-functions")->summary,
		"0 executed functions, at least 1 needed"));
	fixture_release(&x);
}

static void test_gate_find(void **state)
{
	assert_string_equal(gate_find("stale")->name, "stale");
	assert_null(gate_find("stal"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean_build_is_silent),
		cmocka_unit_test(test_each_fault_fires_its_owner_alone),
		cmocka_unit_test(test_every_gate_has_a_fault),
		cmocka_unit_test(test_harmless_differences),
		cmocka_unit_test(test_other_linker),
		cmocka_unit_test(test_nothing_executed),
		cmocka_unit_test(test_gate_find),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_exceptions),
		cmocka_unit_test(test_many_lines),
		cmocka_unit_test(test_skipped_with_given_profile),
		cmocka_unit_test(test_worse_outcomes),
		cmocka_unit_test(test_worse_skips),
		cmocka_unit_test(test_final_cases),
		cmocka_unit_test(test_part_names),
		cmocka_unit_test(test_docs_and_table_agree),
		cmocka_unit_test(test_kinds_of_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
