#include "facts/training.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "facts/fact_io.h"

#define TRAINING_FORMAT "whet training facts 1"

static const char *const status_names[] = {
	[PHASE_OK] = "ok",
	[PHASE_FAILED] = "failed",
	[PHASE_TIMEOUT] = "timeout",
	[PHASE_NOT_RUN] = "not run",
	[PHASE_SKIPPED] = "skipped",
};

static const char *const raw_names[] = {
	[RAW_VALID] = "valid",
	[RAW_MISSING] = "missing",
	[RAW_EMPTY] = "empty",
	[RAW_INVALID] = "invalid",
	[RAW_FOREIGN] = "foreign",
};

static const char *const origin_names[] = {
	[PROCESS_STARTED] = "started",
	[PROCESS_FORKED] = "forked",
	[PROCESS_LOADED] = "loaded",
	[PROCESS_UNHOOKED] = "unhooked",
	[PROCESS_SILENT] = "silent",
};

static const char *const cause_names[] = {
	[CAUSE_UNKNOWN] = "unknown",
	[CAUSE_SIGNAL] = "signal",
	[CAUSE_EXIT] = "exit",
	[CAUSE_SANDBOX] = "sandbox",
	[CAUSE_ROOT] = "root",
	[CAUSE_USER] = "user",
	[CAUSE_DISK] = "disk",
	[CAUSE_FOLDER] = "folder",
};

const char *phase_status_name(enum phase_status s)
{
	return s < ARRAY_SIZE(status_names) ? status_names[s] : "?";
}

const char *raw_state_name(enum raw_state s)
{
	return s < ARRAY_SIZE(raw_names) ? raw_names[s] : "?";
}

void phase_result_release(struct phase_result *p)
{
	free(p->name);
	free(p->phase);
	free(p->setting);
	free(p->problem);
	free(p->log);
	memset(p, 0, sizeof(*p));
}

void process_evidence_release(struct process_evidence *p)
{
	free(p->launch);
	free(p->file);
	free(p->lacks);
	free(p->command);
	free(p->detail);
	memset(p, 0, sizeof(*p));
}

void raw_file_release(struct raw_file *r)
{
	free(r->path);
	free(r->launch);
	free(r->problem);
	memset(r, 0, sizeof(*r));
}

void training_facts_release(struct training_facts *t)
{
	free(t->digest);
	free(t->emulator);
	free(t->disk);
	free(t->failure);
	for (size_t i = 0; i < t->n_phases; i++)
		phase_result_release(&t->phases[i]);
	for (size_t i = 0; i < t->n_processes; i++)
		process_evidence_release(&t->processes[i]);
	for (size_t i = 0; i < t->n_raws; i++)
		raw_file_release(&t->raws[i]);
	free(t->phases);
	free(t->processes);
	free(t->raws);
	memset(t, 0, sizeof(*t));
}

json_t *phase_result_json(const struct phase_result *p)
{
	json_t *o = json_object();

	json_set_text(o, "name", p->name);
	json_set_text(o, "phase", p->phase);
	json_set_text(o, "setting", p->setting);
	json_object_set_new(o, "status", json_string(phase_status_name(p->status)));
	json_object_set_new(o, "planned", json_integer((json_int_t)p->planned));
	json_object_set_new(o, "done", json_integer((json_int_t)p->done));
	json_object_set_new(o, "wall_ns", json_integer((json_int_t)p->wall_ns));
	json_object_set_new(o, "driver_cpu_ns", json_integer((json_int_t)p->driver_cpu_ns));
	json_object_set_new(o, "subject_cpu_ns", json_integer((json_int_t)p->subject_cpu_ns));
	json_set_text(o, "problem", p->problem);
	json_set_text(o, "log", p->log);
	return o;
}

static json_t *process_json(const struct process_evidence *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "pid", json_integer(p->pid));
	json_object_set_new(o, "parent", json_integer(p->parent));
	json_set_text(o, "launch", p->launch);
	json_object_set_new(o, "origin", json_string(origin_names[p->origin]));
	json_object_set_new(o, "exec", json_boolean(p->exec));
	json_object_set_new(o, "signal", json_integer(p->signal));
	if (p->snapshot)
		json_object_set_new(o, "snapshot", json_true());
	json_object_set_new(o, "state", json_string(raw_state_name(p->state)));
	json_set_text(o, "file", p->file);
	if (p->lacks)
		json_set_text(o, "lacks", p->lacks);
	json_set_text(o, "command", p->command);
	if (p->cause)
		json_set_text(o, "cause", cause_names[p->cause]);
	json_set_text(o, "detail", p->detail);
	return o;
}

static json_t *raw_json(const struct raw_file *r)
{
	json_t *o = json_object();

	json_set_text(o, "path", r->path);
	json_set_text(o, "launch", r->launch);
	json_object_set_new(o, "pid", json_integer(r->pid));
	fact_set_u64(o, "size", r->size);
	json_object_set_new(o, "state", json_string(raw_state_name(r->state)));
	json_set_text(o, "problem", r->problem);
	fact_set_u64(o, "functions", r->functions);
	fact_set_u64(o, "executed", r->executed);
	return o;
}

int training_facts_write(const struct training_facts *t, const char *path, struct error *err)
{
	auto_json json_t *o = json_object();
	json_t *phases = json_array(), *processes = json_array(), *raws = json_array();

	json_object_set_new(o, "format", json_string(TRAINING_FORMAT));
	json_set_text(o, "digest", t->digest);
	json_set_text(o, "emulator", t->emulator);
	json_set_text(o, "disk", t->disk);
	json_set_text(o, "failure", t->failure);
	for (size_t i = 0; i < t->n_phases; i++)
		json_array_append_new(phases, phase_result_json(&t->phases[i]));
	for (size_t i = 0; i < t->n_processes; i++)
		json_array_append_new(processes, process_json(&t->processes[i]));
	for (size_t i = 0; i < t->n_raws; i++)
		json_array_append_new(raws, raw_json(&t->raws[i]));
	json_object_set_new(o, "phases", phases);
	json_object_set_new(o, "processes", processes);
	json_object_set_new(o, "raws", raws);
	return fact_write(o, path, err);
}

static int phases_from_json(const json_t *a, struct training_facts *t, struct error *err)
{
	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *o = json_array_get(a, i);
		struct phase_result p = {0};
		int status;

		if (fact_enum(o, "status", status_names, ARRAY_SIZE(status_names), &status, err) <
				0 ||
			json_get_str(o, "name", &p.name, err) < 0)
			return error_context(err, "phase %zu", i);
		p.status = (enum phase_status)status;
		fact_take_str(o, "phase", &p.phase);
		fact_take_str(o, "setting", &p.setting);
		p.planned = fact_u64(o, "planned");
		p.done = fact_u64(o, "done");
		p.wall_ns = fact_u64(o, "wall_ns");
		p.driver_cpu_ns = fact_u64(o, "driver_cpu_ns");
		p.subject_cpu_ns = fact_u64(o, "subject_cpu_ns");
		fact_take_str(o, "problem", &p.problem);
		fact_take_str(o, "log", &p.log);
		array_reserve(t->phases, t->n_phases, t->cap_phases);
		t->phases[t->n_phases++] = p;
	}
	return 0;
}

static int processes_from_json(const json_t *a, struct training_facts *t, struct error *err)
{
	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *o = json_array_get(a, i);
		struct process_evidence p = {0};
		int origin, state, cause = CAUSE_UNKNOWN;

		if (fact_enum(o, "origin", origin_names, ARRAY_SIZE(origin_names), &origin, err) <
				0 ||
			fact_enum(o, "state", raw_names, ARRAY_SIZE(raw_names), &state, err) < 0 ||
			(json_object_get(o, "cause") &&
				fact_enum(o, "cause", cause_names, ARRAY_SIZE(cause_names), &cause,
					err) < 0) ||
			json_get_str(o, "launch", &p.launch, err) < 0)
			return error_context(err, "process %zu", i);
		p.origin = (enum process_origin)origin;
		p.state = (enum raw_state)state;
		p.pid = (pid_t)json_opt_int(o, "pid", 0);
		p.parent = (pid_t)json_opt_int(o, "parent", 0);
		p.exec = json_opt_bool(o, "exec", false);
		p.signal = (int)json_opt_int(o, "signal", 0);
		p.snapshot = json_opt_bool(o, "snapshot", false);
		p.cause = (enum flush_cause)cause;
		fact_take_str(o, "file", &p.file);
		fact_take_str(o, "lacks", &p.lacks);
		fact_take_str(o, "command", &p.command);
		fact_take_str(o, "detail", &p.detail);
		array_reserve(t->processes, t->n_processes, t->cap_processes);
		t->processes[t->n_processes++] = p;
	}
	return 0;
}

static int raws_from_json(const json_t *a, struct training_facts *t, struct error *err)
{
	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *o = json_array_get(a, i);
		struct raw_file r = {0};
		int state;

		if (fact_enum(o, "state", raw_names, ARRAY_SIZE(raw_names), &state, err) < 0 ||
			json_get_str(o, "path", &r.path, err) < 0)
			return error_context(err, "raw profile %zu", i);
		r.state = (enum raw_state)state;
		fact_take_str(o, "launch", &r.launch);
		r.pid = (pid_t)json_opt_int(o, "pid", 0);
		r.size = fact_u64(o, "size");
		fact_take_str(o, "problem", &r.problem);
		r.functions = fact_u64(o, "functions");
		r.executed = fact_u64(o, "executed");
		array_reserve(t->raws, t->n_raws, t->cap_raws);
		t->raws[t->n_raws++] = r;
	}
	return 0;
}

int training_facts_read(const char *path, struct training_facts *ret, struct error *err)
{
	auto_json json_t *o = fact_read(path, TRAINING_FORMAT, err);
	struct training_facts t = {0};

	if (!o)
		return -1;
	if (phases_from_json(json_object_get(o, "phases"), &t, err) < 0 ||
		processes_from_json(json_object_get(o, "processes"), &t, err) < 0 ||
		raws_from_json(json_object_get(o, "raws"), &t, err) < 0) {
		training_facts_release(&t);
		return error_context(err, "training facts '%s'", path);
	}
	fact_take_str(o, "digest", &t.digest);
	fact_take_str(o, "emulator", &t.emulator);
	fact_take_str(o, "disk", &t.disk);
	fact_take_str(o, "failure", &t.failure);
	*ret = t;
	return 0;
}
