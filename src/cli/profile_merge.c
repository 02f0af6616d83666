#include "cli/profile_merge.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/profile_gcc.h"
#include "cli/profile_inputs.h"
#include "profile/profile.h"

struct merging {
	struct strv files, weighted, lists;
	char *out, *consumer;
	int64_t version, jobs;
	bool text, sparse;
};

static void merging_release(struct merging *m)
{
	free(m->out);
	free(m->consumer);
	strv_release(&m->files);
	strv_release(&m->weighted);
	strv_release(&m->lists);
}

struct inputs {
	struct strv paths;
	struct profile_input *v;
	size_t n, cap;
};

static void inputs_release(struct inputs *in)
{
	strv_release(&in->paths);
	free(in->v);
}

static int add_input(struct inputs *in, const char *path, uint64_t weight, struct error *err)
{
	if (profile_expand(path, &in->paths, err) < 0)
		return -1;
	while (in->n < in->paths.n) {
		array_reserve(in->v, in->n, in->cap);
		in->v[in->n++] = (struct profile_input){.weight = weight};
	}
	return 0;
}

static int collect(const struct merging *m, struct inputs *in, struct error *err)
{
	for (size_t i = 0; i < m->files.n; i++)
		if (add_input(in, m->files.v[i], 1, err) < 0)
			return -1;
	for (size_t i = 0; i < m->weighted.n; i++) {
		const char *path;
		uint64_t weight;

		if (profile_weighted(m->weighted.v[i], &weight, &path, err) < 0 ||
			add_input(in, path, weight, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < in->n; i++)
		in->v[i].path = in->paths.v[i];
	return 0;
}

/* Each thread learns the layout of every binary anew, which takes as long as adding some tens of
 * profiles. */
#define INPUTS_PER_THREAD 64

static unsigned threads_for(const struct merging *m, size_t inputs)
{
	cpu_set_t set;
	size_t processors = 1;

	if (m->jobs)
		return (unsigned)m->jobs;
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		processors = (size_t)CPU_COUNT(&set);
	if (processors > inputs / INPUTS_PER_THREAD)
		processors = inputs / INPUTS_PER_THREAD;
	return processors ? (unsigned)processors : 1;
}

static int check_options(const struct merging *m, struct error *err)
{
	if (m->consumer && m->version)
		return error_set(err, ERR_USAGE, "--for and --index-version exclude each other");
	if (m->text && m->version)
		return error_set(err, ERR_USAGE, "--text and --index-version exclude each other");
	if (m->version && (m->version < 6 || m->version > 13))
		return error_set(err, ERR_USAGE, "--index-version must be 6 to 13");
	if (m->jobs < 0 || m->jobs > 1024)
		return error_set(err, ERR_USAGE, "--jobs must be 1 to 1024");
	return 0;
}

/* The LLVM whose compiler is to read the result, and the index version to write. */
static int choose(const struct merging *m, int *llvm, uint32_t *version, struct error *err)
{
	*llvm = m->consumer ? profile_llvm_of(m->consumer) : PROFILE_LLVM_NEWEST;
	if (*llvm < 0)
		return error_set(err, ERR_USAGE,
			"--for '%s': expected clang-N or llvm-N with N from %d, or rustc-1.N with "
			"N from 47, for example clang-14",
			m->consumer, PROFILE_LLVM_OLDEST);
	*version = m->version ? (uint32_t)m->version : profile_version_for_llvm(*llvm);
	return 0;
}

static int write_merged(
	struct profile *p, const struct merging *m, int llvm, uint32_t version, struct error *err)
{
	const char *out = m->out ? m->out : m->text ? "default.proftext" : "default.profdata";
	struct profile_summary s;

	profile_summary(p, &s);
	if (s.short_hashes && version < 13)
		fprintf(stderr,
			"whet: the front-end hashes come from an index of version 13, which keeps "
			"60 bits of them: a compiler older than LLVM 22 takes large functions for "
			"changed; merge from raw profiles of that compiler\n");
	if (m->sparse)
		profile_drop_unexecuted(p);
	if (profile_rekey_for_llvm(p, llvm, err) < 0)
		return -1;
	return m->text ? profile_write_text(p, llvm, out, err)
		       : profile_write_indexed(p, version, out, err);
}

static int merge(const struct merging *m, struct inputs *in, struct error *err)
{
	struct profile *p;
	uint32_t version = 0;
	int llvm, rc;

	if (choose(m, &llvm, &version, err) < 0 || collect(m, in, err) < 0)
		return -1;
	p = profile_merge(in->v, in->n, threads_for(m, in->n), err);
	if (!p)
		return -1;
	for (size_t i = 0; i < in->n; i++)
		profile_warn(in->v[i].path, in->v[i].values_missing, in->v[i].mixed);
	rc = write_merged(p, m, llvm, version, err);
	profile_free(p);
	return rc;
}

static int merge_gcc(const struct merging *m, struct error *err)
{
	if (m->consumer || m->version || m->text)
		return error_set(err, ERR_USAGE,
			"%s is for LLVM profiles: a .gcda is read by the gcc that wrote it",
			m->consumer  ? "--for"
			: m->version ? "--index-version"
				     : "--text");
	if (m->sparse)
		return error_set(err, ERR_USAGE,
			"--sparse is for LLVM profiles: gcc keeps functions by their number");
	return gcc_profile_merge(&m->files, &m->weighted, m->out, err);
}

static int merge_any(struct merging *m, struct error *err)
{
	struct inputs in = {0};
	bool gcc;
	int rc;

	if (check_options(m, err) < 0)
		return -1;
	for (size_t i = 0; i < m->lists.n; i++)
		if (profile_read_list(m->lists.v[i], &m->files, &m->weighted, err) < 0)
			return -1;
	if (!m->files.n && !m->weighted.n)
		return error_set(err, ERR_USAGE,
			"nothing to merge: name profiles, or folders that hold .profraw files");
	if (profile_inputs_are_gcc(&m->files, &m->weighted, &gcc, err) < 0)
		return -1;
	if (gcc)
		return merge_gcc(m, err);
	rc = merge(m, &in, err);
	inputs_release(&in);
	return rc;
}

/* What merge and convert write. */
/* clang-format off */
#define TARGET_OPTIONS(m) \
	{"output", 'o', OPT_STRING, "OUT", "where to write (default.profdata, .proftext)", \
		&(m).out}, \
	{"index-version", 0, OPT_NUMBER, "N", "index version, 6 to 13 (13)", &(m).version}, \
	{"for", 0, OPT_STRING, "COMPILER", \
		"version and keys for clang-N, llvm-N or rustc-1.N", &(m).consumer}, \
	{"text", 0, OPT_FLAG, NULL, "write LLVM's text form", &(m).text}
/* clang-format on */

static int run_merge(struct cli *cli, int argc, char **argv)
{
	struct merging m = {0};
	struct error err = ERROR_INIT;
	const struct opt opts[] = {
		TARGET_OPTIONS(m),
		{"input-files", 'f', OPT_LIST, "LIST",
			"merge the files that LIST names, one a line", &m.lists},
		{"weighted", 'w', OPT_LIST, "W,FILE", "add FILE W times", &m.weighted},
		{"jobs", 'j', OPT_NUMBER, "N", "threads (as many as are of use)", &m.jobs},
		{"sparse", 0, OPT_FLAG, NULL, "leave out functions that never ran", &m.sparse},
		{0},
	};
	int rc = opt_parse(cli, &verb_profile_merge, opts, argc, argv, &m.files, &err);

	if (rc == 0)
		rc = merge_any(&m, &err);
	merging_release(&m);
	return rc < 0 ? cli_fail(&err) : 0;
}

/* A merge of one profile into a form that must be named. */
static int convert(struct merging *m, struct error *err)
{
	if (m->files.n != 1)
		return error_set(err, ERR_USAGE,
			"convert takes one profile, %zu were named; merge adds several up",
			m->files.n);
	if (path_is_dir(m->files.v[0]))
		return error_set(err, ERR_USAGE,
			"'%s' is a folder; merge adds up the profiles in it", m->files.v[0]);
	if (!m->consumer && !m->version && !m->text)
		return error_set(err, ERR_USAGE,
			"convert to what? --for COMPILER, --index-version N or --text says it");
	return merge_any(m, err);
}

static int run_convert(struct cli *cli, int argc, char **argv)
{
	struct merging m = {0};
	struct error err = ERROR_INIT;
	const struct opt opts[] = {TARGET_OPTIONS(m), {0}};
	int rc = opt_parse(cli, &verb_profile_convert, opts, argc, argv, &m.files, &err);

	if (rc == 0)
		rc = convert(&m, &err);
	merging_release(&m);
	return rc < 0 ? cli_fail(&err) : 0;
}

const struct verb verb_profile_merge = {"profile merge", "FILE...",
	"merge profiles into one that a compiler reads",
	"Takes raw, indexed and text profiles; a folder stands for all .profraw files below it, in "
	"the order\nof their paths. An input that is empty, cut off or of another build stops the "
	"merge.\n\n"
	"A line of LIST is FILE or W,FILE; blank ones and those that begin with # mean nothing. "
	"The "
	"result\ndoes not depend on the order of the inputs, nor on the number of threads.\n\n"
	"GCC's .gcda files of one object are added up into one file, folders of them file by "
	"file\ninto a new folder OUT; those are read by the gcc that wrote them.",
	run_merge};

const struct verb verb_profile_convert = {"profile convert", "FILE",
	"write a profile in another form or for another compiler",
	"Takes a raw, indexed or text profile and does what merge does with one input; the form "
	"must "
	"be named.\nGCC's .gcda files have no other form: the gcc that wrote them reads them.",
	run_convert};
