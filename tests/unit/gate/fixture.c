#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SOURCE "5ace000000000000000000000000000000000000000000000000000000000001"
#define PROFILE "9f0f11e000000000000000000000000000000000000000000000000000000002"
#define TRAINING "77a1000000000000000000000000000000000000000000000000000000000003"

void set_text(char **to, const char *text)
{
	free(*to);
	*to = xstrdup(text);
}

struct compile_record *fixture_record(struct build_facts *b, const char *id)
{
	for (size_t i = 0; i < b->log.n; i++) {
		if (strcmp(b->log.v[i].id, id) == 0)
			return &b->log.v[i];
	}
	return NULL;
}

struct object_fact *fixture_object(struct build_facts *b, const char *path)
{
	for (size_t i = 0; i < b->binaries[0].n_objects; i++) {
		if (strcmp(b->binaries[0].objects[i].path, path) == 0)
			return &b->binaries[0].objects[i];
	}
	return NULL;
}

static struct compile_record *add_record(
	struct build_facts *b, const char *id, enum call_kind kind, const char *words)
{
	struct compile_log *l = &b->log;
	struct compile_record r = {.id = xstrdup(id),
		.order = l->n + 1,
		.kind = kind,
		.class = CLASS_TARGET,
		.language = xstrdup(kind == CALL_RUSTC ? "rust" : "c")};

	strv_split_words(&r.argv, words);
	if (strcmp(b->variant, "optimised") == 0)
		strv_add(&r.added, kind == CALL_RUSTC ? "-Cprofile-use=/p/x.profdata"
						      : "-fprofile-use=/p/x.profdata");
	array_reserve(l->v, l->n, l->cap);
	l->v[l->n++] = r;
	return &l->v[l->n - 1];
}

struct compile_record *fixture_add_c(struct build_facts *b, const char *name)
{
	auto_free char *words = xasprintf("-O2 -c src/%s.c -o obj/%s.o", name, name);
	struct compile_record *r = add_record(b, name, CALL_COMPILE, words);

	r->output = xasprintf("/slot/obj/%s.o", name);
	strv_addf(&r->inputs, "src/%s.c", name);
	r->source = xasprintf("src/%s.c", name);
	return r;
}

static void add_crate(struct build_facts *b)
{
	struct compile_record *r = add_record(b, "crate", CALL_RUSTC,
		"--crate-name edge --edition=2021 src/lib.rs --crate-type lib -C opt-level=3 -C "
		"panic=unwind -C metadata=0123456789abcdef -C extra-filename=-0123456789abcdef "
		"--extern log=/slot/deps/liblog-00112233445566aa.rlib");

	r->crate_name = xstrdup("edge");
	r->crate_type = xstrdup("lib");
	r->metadata = xstrdup("0123456789abcdef");
	r->source = xstrdup("src/lib.rs");
	strv_add(&r->inputs, "src/lib.rs");
}

static void add_link(struct build_facts *b)
{
	struct compile_record *r = add_record(b, "link", CALL_LINK,
		"obj/main.o obj/work.o obj/tiny.o -o prog -lm /tmp/ccAbCd12/x.o");

	r->output = xstrdup("/slot/prog");
	r->links = xcalloc(1, sizeof(*r->links));
	r->links[0].path = xstrdup("/slot/obj/main.o");
	r->n_links = r->cap_links = 1;
}

/* A test program of a configure script that ran within the build: it reaches no released binary,
 * and what it is called with, and whether it can be judged, concerns nobody. */
static void add_conftest(struct build_facts *b)
{
	auto_free char *words = xasprintf("conftest.c -o conftest -l%s", b->variant);
	struct compile_record *r = add_record(b, "conftest", CALL_COMPILE_LINK, words);

	r->output = xstrdup("/slot/conftest");
	r->source = xstrdup("conftest.c");
	strv_add(&r->inputs, "conftest.c");
	r->map_error = xstrdup("no map was written");
	r->links = xcalloc(1, sizeof(*r->links));
	r->links[0].path = xstrdup("/tmp/conftest-1.o");
	r->n_links = r->cap_links = 1;
	fixture_add_diag(b, "conftest", DIAG_UNREADABLE, "");
}

/* The linker call that rustc makes: random folder, own objects, and in the instrumented build what
 * rustc derives from its flag and the hook that it was told of. */
static void add_rustc_link(struct build_facts *b)
{
	bool instrumented = strcmp(b->variant, "instrumented") == 0;
	struct compile_record *r = add_record(b, "rlink", CALL_LINK, "-m64");

	strv_addf(&r->argv, "/slot/deps/rustc%s/symbols.o", instrumented ? "aB3dEf" : "Xy12Zw");
	strv_addf(&r->argv, "/slot/deps/tool-0123456789abcdef.tool.%s-cgu.0.rcgu.o", b->variant);
	strv_split_words(&r->argv, "/r/lib/libstd-00112233445566aa.rlib -lc -o /slot/deps/tool");
	if (instrumented)
		strv_split_words(&r->argv,
			"/r/lib/libprofiler_builtins-00112233445566bb.rlib -u "
			"__llvm_profile_runtime /slot/hook/hook-0123456789abcdef.o -lc");
	else
		strv_add(&r->argv, "-Wl,--gc-sections");
	r->output = xstrdup("/slot/deps/tool");
	r->parent = xstrdup("crate");
	r->links = xcalloc(1, sizeof(*r->links));
	r->links[0].path = xstrdup("/r/lib/libstd-00112233445566aa.rlib");
	r->n_links = r->cap_links = 1;
	if (instrumented)
		strv_split_words(&fixture_record(b, "crate")->added,
			"-Clink-arg=/slot/hook/hook-0123456789abcdef.o -Clink-arg=-lc");
}

struct object_fact *fixture_add_object(struct build_facts *b, const char *path,
	enum object_class class, const char *record, const char *functions)
{
	struct binary_fact *bin = &b->binaries[0];
	const struct compile_record *r = record ? fixture_record(b, record) : NULL;
	struct object_fact o = {.path = xstrdup(path), .class = class, .record = xstrdup(record)};

	strv_split_words(&o.functions, functions);
	if (r) {
		o.unit = xasprintf("unit of %s", record);
		o.source = xstrdup(r->source);
	}
	o.code_hash =
		xasprintf("code of %s, %s", path, class == OBJECT_TARGET ? b->variant : "fixed");
	array_reserve(bin->objects, bin->n_objects, bin->cap_objects);
	bin->objects[bin->n_objects++] = o;
	return &bin->objects[bin->n_objects - 1];
}

static void make_build(struct build_facts *b, const char *variant)
{
	b->variant = xstrdup(variant);
	b->source_before = xstrdup(SOURCE);
	b->source_after = xstrdup(SOURCE);
	fixture_add_c(b, "main");
	fixture_add_c(b, "work");
	fixture_add_c(b, "tiny");
	add_crate(b);
	add_link(b);
	add_conftest(b);
	add_rustc_link(b);
	b->binaries = xcalloc(1, sizeof(*b->binaries));
	b->n_binaries = b->cap_binaries = 1;
	b->binaries[0].name = xstrdup("prog");
	b->binaries[0].path = xstrdup("/slot/prog");
	b->binaries[0].sha256 = xasprintf("file of %s", variant);
	b->binaries[0].link = xstrdup("link");
	fixture_add_object(b, "/slot/obj/main.o", OBJECT_TARGET, "main", "main helper");
	fixture_add_object(b, "/slot/obj/work.o", OBJECT_TARGET, "work", "work helper never");
	fixture_add_object(b, "/slot/obj/tiny.o", OBJECT_TARGET, "tiny", "tiny");
	fixture_add_object(b, "/slot/deps/tool", OBJECT_TARGET, "rlink", "");
	fixture_add_object(
		b, "/slot/deps/libedge.rlib", OBJECT_TARGET, "crate", "_RNvCs1_4edge3run");
	fixture_add_object(b, "/usr/lib/crt1.o", OBJECT_TOOLCHAIN, NULL, "_start");
	/* One basic block: nothing to lay out, so its code is the same in all builds. */
	set_text(&fixture_object(b, "/slot/obj/tiny.o")->code_hash, "tiny code");
}

void fixture_add_function(struct profile_facts *p, const char *key, uint64_t hash, uint64_t count)
{
	array_reserve(p->v, p->n, p->cap);
	p->v[p->n++] = (struct profile_function){
		.key = xstrdup(key), .hash = hash, .max_count = count, .count = (double)count};
	p->functions++;
	p->executed += count > 0;
	p->total_count += count;
}

static void make_profile(struct profile_facts *p)
{
	p->sha256 = xstrdup(PROFILE);
	fixture_add_function(p, "_RNvCs1_4edge3run", 0x111, 2000);
	fixture_add_function(p, "main", 0x222, 1);
	fixture_add_function(p, "never", 0x333, 0);
	fixture_add_function(p, "src/work.c;helper", 0x444, 50);
	fixture_add_function(p, "tiny", 0x0a4d0ad3efffffffULL, 7);
	fixture_add_function(p, "work", 0x555, 900);
}

static void add_phase(struct training_facts *t, const char *name, uint64_t n)
{
	array_reserve(t->phases, t->n_phases, t->cap_phases);
	t->phases[t->n_phases++] = (struct phase_result){
		.name = xstrdup(name), .status = PHASE_OK, .planned = n, .done = n};
}

struct process_evidence *fixture_add_process(struct training_facts *t, pid_t pid)
{
	struct process_evidence p = {.pid = pid,
		.parent = 100,
		.launch = xstrdup("edge"),
		.origin = PROCESS_FORKED,
		.file = xasprintf("profiles/edge/%d.profraw", (int)pid)};
	struct raw_file r = {.path = xstrdup(p.file),
		.launch = xstrdup("edge"),
		.pid = pid,
		.size = 4096,
		.functions = 6,
		.executed = 5};

	array_reserve(t->processes, t->n_processes, t->cap_processes);
	t->processes[t->n_processes++] = p;
	array_reserve(t->raws, t->n_raws, t->cap_raws);
	t->raws[t->n_raws++] = r;
	return &t->processes[t->n_processes - 1];
}

void fixture_add_diag(
	struct build_facts *b, const char *record, enum diag_kind kind, const char *function)
{
	struct compile_record *r = fixture_record(b, record);

	array_reserve(r->diags, r->n_diags, r->cap_diags);
	r->diags[r->n_diags++] = (struct profile_diag){.kind = kind,
		.function = xstrdup(function),
		.text = xasprintf("warning: %s: diagnostic", function)};
}

static void make_provenance(struct provenance *p)
{
	p->profile = xstrdup(PROFILE);
	p->source = xstrdup(SOURCE);
	p->training = xstrdup(TRAINING);
	p->target = xstrdup("x86_64-unknown-linux-gnu");
}

void fixture_add_gain(struct comparisons *c, const char *scenario, const char *variant,
	double ratio, double low, double high)
{
	array_reserve(c->v, c->n, c->cap);
	c->v[c->n++] = (struct comparison){
		.scenario = xstrdup(scenario),
		.variant = xstrdup(variant),
		.base = xstrdup("plain"),
		.base_ns = 20000,
		.ratio = ratio,
		.low = low,
		.high = high,
		.p = 0.002,
		.launches = 10,
		.slices = 120,
		.shown = high < 1 ? SHOWN_LESS : SHOWN_NONE,
	};
}

static void make_bench(struct comparisons *c)
{
	fixture_add_gain(c, "mix", "pgo", 0.90, 0.89, 0.91);
	fixture_add_gain(c, "post", "pgo", 0.95, 0.94, 0.96);
	fixture_add_gain(c, "mix", "null", 1.00, 0.99, 1.01);
	fixture_add_gain(c, "post", "null", 1.00, 0.99, 1.01);
}

static void make_last(struct past_build *b)
{
	b->id = 7;
	b->version = xstrdup("1.0");
	b->started = xstrdup("2026-11-29T16:51:21Z");
	b->training = xstrdup(TRAINING);
	b->machine = xstrdup("a processor, 2 of them");
	make_bench(&b->bench);
}

static void add_part(
	struct unwind_facts *f, const char *name, const char *part, uint64_t start, bool handles)
{
	array_reserve(f->functions, f->n_functions, f->cap_functions);
	f->functions[f->n_functions++] = (struct unwind_function){.name = xstrdup(name),
		.part = xstrdup(part),
		.start = start,
		.size = 64,
		.framed = true,
		.handles = handles};
	f->n_parts += *part != '\0';
	f->n_frames++;
}

static void make_final(struct fixture *x)
{
	struct unwind_facts *both[] = {&x->before, &x->unwind};

	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		add_part(both[i], "main", "", 0x1000, false);
		add_part(both[i], "tiny", "", 0x2000, false);
		add_part(both[i], "work", "", 0x3000, true);
		both[i]->n_pads = 3;
	}
	add_part(&x->unwind, "work", ".cold.0", 0x9000, true);
	x->strips = (struct strip_facts){
		.stripped = true, .n_segments = 13, .n_sections = 28, .bytes = 4096};
}

/* The link placed its three functions as it was told. */
static void make_order(struct build_facts *b)
{
	struct function_order *o = &fixture_record(b, "link")->functions;

	o->file = xstrdup("/slot/log/order.functions");
	o->listed = o->present = o->placed = 3;
	o->bytes = o->span = 96;
}

void fixture_make(struct fixture *x)
{
	static const char *const names[] = {"prog"};

	memset(x, 0, sizeof(*x));
	x->bounds =
		(struct plan_gates){.min_functions = -1, .max_missing = -1, .worse_margin = 0.02};
	make_build(&x->plain, "plain");
	make_build(&x->instrumented, "instrumented");
	make_build(&x->optimised, "optimised");
	x->optimised.profile_name = xstrdup(PROFILE);
	x->optimised.profile_before = xstrdup(PROFILE);
	x->optimised.profile_after = xstrdup(PROFILE);
	make_profile(&x->profile);
	make_provenance(&x->provenance);
	add_phase(&x->training, "mix", 1000);
	add_phase(&x->training, "post", 500);
	fixture_add_process(&x->training, 101);
	fixture_add_process(&x->training, 102);
	add_phase(&x->replay, "mix", 1000);
	add_phase(&x->replay, "post", 500);
	x->final.executable = true;
	make_bench(&x->bench);
	make_last(&x->last);
	make_final(x);
	make_order(&x->optimised);
	x->facts = (struct gate_facts){
		.bounds = &x->bounds,
		.plain = &x->plain,
		.instrumented = &x->instrumented,
		.optimised = &x->optimised,
		.training = &x->training,
		.replay = &x->replay,
		.profile = &x->profile,
		.source_digest = SOURCE,
		.training_digest = TRAINING,
		.target = "x86_64-unknown-linux-gnu",
		.final_binaries = &x->final,
		.final_names = names,
		.n_final = 1,
		.unwind = &x->unwind,
		.unwind_before = &x->before,
		.strips = &x->strips,
		.laid_out = true,
		.ordered = true,
		.proof = &x->proof,
		.bench = &x->bench,
		.machine = "a processor, 2 of them",
		.last_release = &x->last,
	};
}

void fixture_release(struct fixture *x)
{
	build_facts_release(&x->plain);
	build_facts_release(&x->instrumented);
	build_facts_release(&x->optimised);
	training_facts_release(&x->training);
	training_facts_release(&x->replay);
	profile_facts_release(&x->profile);
	provenance_release(&x->provenance);
	strv_release(&x->final.profile_marks);
	unwind_facts_release(&x->unwind);
	unwind_facts_release(&x->before);
	strip_facts_release(&x->strips);
	unwind_proof_release(&x->proof);
	comparisons_release(&x->bench);
	past_build_release(&x->last);
	verdicts_release(&x->verdicts);
}

void fixture_judge(struct fixture *x)
{
	static const enum gate_moment moments[] = {GATE_AFTER_TRAINING, GATE_AFTER_MERGE,
		GATE_AFTER_OPTIMISED, GATE_FINAL, GATE_AFTER_BENCH};
	struct gate_facts f = x->facts;

	for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
		/* What does not exist yet is not there to be looked at. */
		x->facts.optimised = moments[i] >= GATE_AFTER_OPTIMISED ? f.optimised : NULL;
		x->facts.profile = moments[i] >= GATE_AFTER_MERGE || (f.profile && f.profile->given)
					   ? f.profile
					   : NULL;
		x->facts.replay = moments[i] == GATE_FINAL ? f.replay : NULL;
		gates_run(moments[i], &x->facts, &x->verdicts);
	}
}

const struct verdict *fixture_verdict(const struct fixture *x, const char *gate)
{
	for (size_t i = x->verdicts.n; i > 0; i--) {
		if (strcmp(x->verdicts.v[i - 1].gate, gate) == 0)
			return &x->verdicts.v[i - 1];
	}
	return NULL;
}

/* ---- faults of an order of functions ---- */

static struct function_order *order_of(struct fixture *x)
{
	return &fixture_record(&x->optimised, "link")->functions;
}

void fixture_order_passed_over(struct fixture *x)
{
	order_of(x)->placed = 1;
}

void fixture_no_order(struct fixture *x)
{
	set_text(&order_of(x)->file, NULL);
	set_text(&order_of(x)->why, "mold has no option for an order of functions");
}

void fixture_functions_not_there(struct fixture *x)
{
	order_of(x)->present = order_of(x)->placed = 0;
}
