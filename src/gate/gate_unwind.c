#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "facts/quote.h"
#include "gate/rules.h"

#define QUOTED 200

/* One released file against the one that it is held against. */
struct pair {
	const char *name; /* of the file */
	const struct unwind_facts *before, *after;
	bool same_code; /* only the layout differs */
	struct evidence *e;
	size_t faults, checked; /* checked: functions with a counterpart that had FDEs */
};

/* Whether the file before has the same fault in the same function: then it is the compiler's or the
 * linker's, and no change. */
static bool was_there(const struct unwind_facts *before, const struct unwind_fault *x)
{
	for (size_t i = 0; i < before->n_faults; i++)
		if (before->faults[i].kind == x->kind &&
			strcmp(before->faults[i].function, x->function) == 0)
			return true;
	return false;
}

static void own_faults(struct pair *p)
{
	for (size_t i = 0; i < p->after->n_faults; i++) {
		const struct unwind_fault *x = &p->after->faults[i];

		if (was_there(p->before, x))
			continue;
		p->faults++;
		evidence_add(p->e, "%s: %s", p->name, x->text);
	}
}

/* Of all functions of a name; static ones of several sources can share it. */
struct named {
	bool framed;  /* all of them */
	bool handles; /* one of them */
};

static struct named judge(const struct unwind_function *v, size_t n)
{
	struct named r = {.framed = true};

	for (size_t i = 0; i < n; i++) {
		r.framed &= v[i].framed;
		r.handles |= v[i].handles;
	}
	return r;
}

static void compare_named(struct pair *p, const struct unwind_function *v, size_t n)
{
	size_t m;
	const struct unwind_function *old = unwind_find(p->before, v->name, &m);
	struct named before = judge(old, m), after = judge(v, n);

	if (!old || !before.framed)
		return;
	p->checked += n;
	for (size_t i = 0; i < n && !after.framed; i++) {
		if (v[i].framed)
			continue;
		p->faults++;
		evidence_add(p->e, "%s: no FDE is for %s%s at 0x%llx; there was one", p->name,
			v[i].name, v[i].part, (unsigned long long)v[i].start);
	}
	if (!p->same_code || !after.framed || !before.handles || after.handles)
		return;
	p->faults++;
	evidence_add(p->e, "%s: %s has lost its exception data", p->name, v->name);
}

static void compare_functions(struct pair *p)
{
	size_t n;

	for (size_t i = 0; i < p->after->n_functions; i += n) {
		const struct unwind_function *v =
			unwind_find(p->after, p->after->functions[i].name, &n);

		compare_named(p, v, n);
	}
}

/* A file that had unwind information and has none. */
static bool lost_all(struct pair *p)
{
	if (!p->before->n_frames || p->after->n_frames)
		return false;
	p->faults++;
	evidence_add(p->e, "%s: no FDE at all; there were %zu", p->name, p->before->n_frames);
	return true;
}

static void prove(const struct unwind_proof *p, struct evidence *e, size_t *faults)
{
	auto_buf struct buf was = BUF_INIT, is = BUF_INIT;

	if (!p->plain.passed) {
		++*faults;
		evidence_add(e, "'%s' fails with the plain build: %s", p->command, p->plain.end);
		return;
	}
	if (strcmp(p->plain.end, p->final.end) != 0) {
		++*faults;
		evidence_add(e, "'%s': %s, with the plain build %s", p->command, p->final.end,
			p->plain.end);
	}
	if (strcmp(p->plain.sha256, p->final.sha256) == 0)
		return;
	++*faults;
	text_quote(&was, p->plain.output, strlen(p->plain.output), QUOTED);
	text_quote(&is, p->final.output, strlen(p->final.output), QUOTED);
	evidence_add(e, "'%s' prints %s, with the plain build %s", p->command, buf_str(&is),
		buf_str(&was));
}

struct sum {
	size_t faults, checked, parts, pads, judged;
	const char *unknown;
};

static void add_file(const struct gate_facts *f, size_t i, struct evidence *e, struct sum *s)
{
	struct pair p = {.name = f->final_names[i],
		.before = &f->unwind_before[i],
		.after = &f->unwind[i],
		.same_code = f->laid_out,
		.e = e};

	if (p.before->unknown || p.after->unknown) {
		s->unknown = p.after->unknown ? p.after->unknown : p.before->unknown;
		return;
	}
	if (!lost_all(&p)) {
		own_faults(&p);
		compare_functions(&p);
	}
	s->judged++;
	s->faults += p.faults;
	s->checked += p.checked;
	s->parts += p.after->n_parts;
	s->pads += p.after->n_pads;
}

void gate_unwind(const struct gate_facts *f, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	const struct unwind_proof *proof = f->proof && f->proof->command ? f->proof : NULL;
	const char *against = f->laid_out ? "the file before its layout" : "the plain build";
	struct sum s = {0};

	for (size_t i = 0; i < f->n_final && f->unwind; i++)
		add_file(f, i, &e, &s);
	if (proof)
		prove(proof, &e, &s.faults);
	if (s.faults)
		verdict_fail(vs, "unwind", &e,
			"leave out the step that loses it: 'layout: off', or the project's own "
			"step after the link; keep .eh_frame, .eh_frame_hdr and "
			".gcc_except_table",
			"%zu faults in what unwinding needs, held against %s, 0 allowed", s.faults,
			against);
	else if (!s.judged && !proof)
		verdict_skip(vs, "unwind", "nothing to judge: %s",
			s.unknown ? s.unknown : "no file was read");
	else
		verdict_pass(vs, "unwind", NULL,
			"0 faults in what unwinding needs, held against %s, 0 allowed (%zu "
			"functions and parts, %zu of them cold parts, %zu landing pads%s)",
			against, s.checked, s.parts, s.pads,
			proof ? "; the command ended alike" : "");
}
