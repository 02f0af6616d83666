/* The file that is laid out, and whether it is one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "layout/internal.h"

/* The share of all counts (one in …) that may belong to functions whose code is another one. With
 * the file that the profile was made with, it is next to none. */
#define STALE_ONE_IN 20

static int check_profile(const struct layout_optimise *o, struct error *err)
{
	struct layout_file f = {0};
	auto_free char *identity = NULL;
	int r = 0;

	if (o->made && o->made->binary) {
		if (layout_identity(o->binary, &identity, err) < 0)
			return -1;
		if (strcmp(identity, o->made->binary) != 0)
			return error_set(err, ERR_MISMATCH,
				"the profile '%s' was made with another file than '%s' (%.16s… and "
				"%.16s…): train again with this one",
				o->profile, o->binary, o->made->binary, identity);
	}
	if (layout_profile_check(o->profile, o->binary, &f, err) < 0)
		return -1;
	if (f.state != LAYOUT_VALID)
		r = error_set(err, f.state == LAYOUT_FOREIGN ? ERR_MISMATCH : ERR_CORRUPT,
			"%s; train again with this one", f.problem);
	free(f.path);
	free(f.problem);
	return r;
}

/* Of the files before and after. */
static int read_files(const struct layout_optimise *o, struct layout_result *r, struct error *err)
{
	struct elf_layout before = {0}, after = {0};
	int rc = 0;

	if (elf_layout_read(o->binary, &before, NULL, err) < 0)
		return -1;
	if (elf_layout_read(o->out, &after, NULL, err) < 0) {
		elf_layout_release(&before);
		return -1;
	}
	r->bytes_before = before.bytes;
	r->bytes_after = after.bytes;
	r->split = after.split.n > before.split.n ? after.split.n - before.split.n : 0;
	if (!after.bolted)
		rc = error_set(err, ERR_CHILD,
			"%s ended with exit code 0 and left a file without its note "
			"(.note.bolt_info): it did nothing",
			r->tool);
	elf_layout_release(&before);
	elf_layout_release(&after);
	return rc;
}

/* Exit code 0 with nothing done. */
static int check_result(const struct layout_optimise *o, const struct layout_result *r,
	bool relocations, struct error *err)
{
	uint64_t useless = r->stale + r->not_understood;

	if (!relocations)
		return error_set(err, ERR_CHILD,
			"%s ended with exit code 0, but did not use the relocations of '%s': no "
			"function was moved; link it with -Wl,--emit-relocs",
			r->tool, o->binary);
	if (r->with_profile == 0)
		return error_set(err, ERR_MISMATCH,
			"%s ended with exit code 0 and found a profile for none of the %" PRIu64
			" functions of '%s': train again with this file",
			r->tool, r->functions, o->binary);
	if (r->stale_samples * STALE_ONE_IN > r->samples)
		return error_set(err, ERR_MISMATCH,
			"%" PRIu64 " of %" PRIu64 " counts are of functions that have other code "
			"in '%s' than where the profile was made (stale): train again with this "
			"file",
			r->stale_samples, r->samples, o->binary);
	if (useless >= r->with_profile)
		return error_set(err, ERR_CHILD,
			"%s ended with exit code 0 and laid out nothing: of %" PRIu64
			" functions with a profile %" PRIu64 " do not fit it and %" PRIu64
			" could not be followed",
			r->tool, r->with_profile, r->stale, r->not_understood);
	if (r->laid_out == 0 && r->split == 0 && r->with_profile - useless < 2)
		return error_set(err, ERR_CHILD,
			"%s ended with exit code 0 and changed no function of '%s': its profile is "
			"of one function alone; train with more work",
			r->tool, o->binary);
	return 0;
}

static int run(const struct layout_tool *t, const struct layout_optimise *o,
	struct layout_result *r, struct error *err)
{
	auto_strv struct strv lines = STRV_INIT;
	struct proc_exit e;
	struct bolt_call c = {.tool = t,
		.options = &r->options,
		.binary = o->binary,
		.profile = o->profile,
		.out = o->out,
		.log = o->log,
		.timeout_ns = o->timeout_ns,
		.what = "lay out"};
	uint64_t begin = clock_mono_ns();
	bool relocations;

	if (bolt_run(&c, &e, &lines, err) < 0)
		return -1;
	r->wall_ns = clock_mono_ns() - begin;
	r->peak_memory = e.max_rss;
	bolt_log_read(&lines, r, &relocations);
	if (read_files(o, r, err) < 0 || check_result(o, r, relocations, err) < 0) {
		(void)unlink(o->out);
		return -1;
	}
	return 0;
}

int layout_optimise(const struct layout_tool *t, const struct layout_optimise *o,
	struct layout_result *ret, struct error *err)
{
	struct layout_result r = {.tool = xstrdup(t->version)};
	struct layout_input input;
	int rc;

	rc = layout_preflight(t, o->binary, &input, err);
	layout_input_release(&input);
	layout_options(t, o, &r.options);
	if (rc < 0 || check_profile(o, err) < 0 || run(t, o, &r, err) < 0) {
		layout_result_release(&r);
		return -1;
	}
	*ret = r;
	return 0;
}

static int compare_files(const char *a, const char *b, struct error *err)
{
	struct file_map x = {0}, y = {0};
	size_t n = 0;
	bool same;

	if (file_map(a, &x, err) < 0)
		return -1;
	if (file_map(b, &y, err) < 0) {
		file_unmap(&x);
		return -1;
	}
	while (n < x.n && n < y.n && x.p[n] == y.p[n])
		n++;
	same = n == x.n && n == y.n;
	file_unmap(&x);
	file_unmap(&y);
	if (same)
		return 0;
	return error_set(err, ERR_MISMATCH,
		"laid out twice with the same profile, '%s' is not the same file: the first "
		"difference is at byte %zu",
		a, n);
}

int layout_deterministic(
	const struct layout_tool *t, const struct layout_optimise *o, struct error *err)
{
	auto_free char *again = xasprintf("%s.again", o->out);
	struct layout_optimise second = *o;
	struct layout_result r = {0};
	int rc;

	second.out = again;
	second.log = NULL;
	if (layout_optimise(t, &second, &r, err) < 0)
		return -1;
	layout_result_release(&r);
	rc = compare_files(o->out, again, err);
	(void)unlink(again);
	return rc;
}
