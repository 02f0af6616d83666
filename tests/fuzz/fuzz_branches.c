/* Any bytes as the text of `perf script` with branch stacks: traces of the program, or an error
 * that names the line; the same whether the text comes whole or in two pieces.
 *
 * byte 0: where it is cut, in 256ths; rest: the text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "layout/branch_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct branch_function functions[] = {{0x1000, 0x1100}, {0x1200, 0x1300}};
static struct branch_segment segments[] = {{0x1000, 0x400, 0x1000}, {0x3000, 0x1000, 0x5000}};
static char name[] = "program", build_id[] = "00ff";
static const struct branch_image image = {.path = name,
	.name = name,
	.build_id = build_id,
	.segments = segments,
	.n_segments = 2,
	.functions = functions,
	.n_functions = 2};

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz_branches: %s\n", what);
	abort();
}

static void sane(const struct branch_counts *c)
{
	must(c->branches == c->inside + c->entering + c->leaving + c->outside + c->kernel +
				    c->not_taken,
		"a branch is counted twice, or not");
	must(c->foreign + c->without_stack <= c->samples && c->of_program <= c->samples,
		"more samples than there are");
	must(c->samples <= c->lines && c->contradicted <= c->traces && c->traces <= c->branches &&
			c->mispredicted <= c->branches && c->functions <= 2,
		"more than there is");
}

/* Reads in two pieces; 0 when it was read. */
static int read_text(
	const char *text, size_t n, size_t cut, struct branch_counts *counts, struct error *err)
{
	struct branch_reader_options o = {
		.image = &image, .max_distinct = 2048, .max_processes = 256};
	struct branch_reader *r = branch_reader_new(&o);
	int result = branch_reader_add(r, text, cut, err);

	if (!result)
		result = branch_reader_add(r, text + cut, n - cut, err);
	if (!result)
		result = branch_reader_end(r, err);
	must((result < 0) == (err->msg != NULL), "a failure without a reason, or the reverse");
	*counts = *branch_reader_counts(r);
	if (!result)
		sane(counts);
	branch_reader_free(r);
	return result;
}

static void check_judgement(const struct branch_counts *c)
{
	struct error err = ERROR_INIT;
	int result = branch_counts_judge(c, &image, &err);

	must((result < 0) == (err.msg != NULL), "a judgement without a reason, or the reverse");
	error_release(&err);
}

static void check_list(const char *text)
{
	struct error err = ERROR_INIT;
	char *found = NULL;
	int result = branch_buildid_find(text, &image, &found, &err);

	must((result < 0) == (err.msg != NULL), "a refusal without a reason, or the reverse");
	free(found);
	error_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct error whole = ERROR_INIT, cut = ERROR_INIT;
	struct branch_counts a, b;
	auto_free char *text = n ? xstrndup((const char *)data + 1, n - 1) : NULL;
	size_t at, rest = n ? n - 1 : 0;
	int result;

	if (!n)
		return 0;
	at = rest * data[0] / 256;
	result = read_text((const char *)data + 1, rest, 0, &a, &whole);
	must(read_text((const char *)data + 1, rest, at, &b, &cut) == result,
		"read whole, but not in pieces");
	if (result < 0)
		must(strcmp(whole.msg, cut.msg) == 0, "another reason in pieces");
	else
		must(memcmp(&a, &b, sizeof(a)) == 0, "other counts in pieces");
	check_judgement(&a);
	check_list(text);
	error_release(&whole);
	error_release(&cut);
	return 0;
}
