#include "facts/unwinding.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "facts/fact_io.h"

#define FORMAT "whet-unwind-1"

void unwind_facts_release(struct unwind_facts *f)
{
	for (size_t i = 0; i < f->n_functions; i++) {
		free(f->functions[i].name);
		free(f->functions[i].part);
	}
	for (size_t i = 0; i < f->n_faults; i++) {
		free(f->faults[i].function);
		free(f->faults[i].text);
	}
	free(f->functions);
	free(f->faults);
	free(f->unknown);
	memset(f, 0, sizeof(*f));
}

void unwind_fault_add(
	struct unwind_facts *f, enum unwind_kind kind, const char *function, char *text)
{
	array_reserve(f->faults, f->n_faults, f->cap_faults);
	f->faults[f->n_faults++] =
		(struct unwind_fault){.kind = kind, .function = xstrdup(function), .text = text};
}

static int by_name(const void *a, const void *b)
{
	const struct unwind_function *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	if (c == 0)
		c = strcmp(x->part, y->part);
	return c ? c : (x->start > y->start) - (x->start < y->start);
}

void unwind_facts_seal(struct unwind_facts *f)
{
	if (f->n_functions)
		qsort(f->functions, f->n_functions, sizeof(*f->functions), by_name);
}

/* The first whose name is not below. */
static size_t first_of(const struct unwind_facts *f, const char *name)
{
	size_t low = 0, high = f->n_functions;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(f->functions[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct unwind_function *unwind_find(const struct unwind_facts *f, const char *name, size_t *n)
{
	size_t at = first_of(f, name), end = at;

	while (end < f->n_functions && strcmp(f->functions[end].name, name) == 0)
		end++;
	*n = end - at;
	return *n ? &f->functions[at] : NULL;
}

/* Length of name without one part's suffix at its end; n when it has none. */
static size_t without_suffix(const char *name, size_t n)
{
	static const char *const words[] = {".cold", ".warm"};
	size_t end = n;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	/* The number belongs to the suffix, and a dot stands before it. */
	if (end < n && (!end || name[--end] != '.'))
		return n;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t k = strlen(words[i]);

		if (end > k && memcmp(name + end - k, words[i], k) == 0)
			return end - k;
	}
	return n;
}

size_t unwind_name_length(const char *name)
{
	size_t n = strlen(name), before;

	do {
		before = n;
		n = without_suffix(name, n);
	} while (n != before);
	return n;
}

static void release_run(struct unwind_run *r)
{
	free(r->output);
	free(r->end);
}

void unwind_proof_release(struct unwind_proof *p)
{
	free(p->command);
	release_run(&p->plain);
	release_run(&p->final);
	memset(p, 0, sizeof(*p));
}

static json_t *run_json(const struct unwind_run *r)
{
	json_t *o = json_object();

	json_set_text(o, "output", r->output);
	json_set_text(o, "sha256", r->sha256);
	json_set_text(o, "end", r->end);
	json_object_set_new(o, "passed", json_boolean(r->passed));
	return o;
}

static void run_from(const json_t *o, struct unwind_run *r)
{
	auto_free char *sha256 = json_opt_str(o, "sha256");

	r->output = json_opt_str(o, "output");
	r->end = json_opt_str(o, "end");
	r->passed = json_is_true(json_object_get(o, "passed"));
	if (sha256 && strlen(sha256) < sizeof(r->sha256))
		memcpy(r->sha256, sha256, strlen(sha256) + 1);
}

int unwind_proof_write(const struct unwind_proof *p, const char *path, struct error *err)
{
	auto_json json_t *o = json_object();

	json_set_text(o, "format", FORMAT);
	json_set_text(o, "command", p->command);
	json_object_set_new(o, "plain", run_json(&p->plain));
	json_object_set_new(o, "final", run_json(&p->final));
	return fact_write(o, path, err);
}

int unwind_proof_read(const char *path, struct unwind_proof *ret, struct error *err)
{
	auto_json json_t *o = fact_read(path, FORMAT, err);
	struct unwind_proof p = {0};

	if (!o)
		return -1;
	p.command = json_opt_str(o, "command");
	run_from(json_object_get(o, "plain"), &p.plain);
	run_from(json_object_get(o, "final"), &p.final);
	if (!p.command || !p.plain.end || !p.final.end || !p.plain.output || !p.final.output) {
		unwind_proof_release(&p);
		return error_set(err, ERR_CORRUPT, "'%s' is no result of a proof", path);
	}
	*ret = p;
	return 0;
}
