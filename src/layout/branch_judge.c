/* Whether branch stacks tell enough of a program, and whether they are its. */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "layout/branch_text.h"

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

static int no_samples(
	const struct branch_counts *c, const struct branch_image *i, struct error *err)
{
	if (!c->samples)
		return error_set(err, ERR_GATE,
			"the recording holds no samples: was '%s' running under load while it was "
			"recorded?",
			i->name);
	if (c->other_builds)
		return error_set(err, ERR_GATE,
			"the recording is of another build of '%s': no mapped file has build-id "
			"%s; "
			"record the file that is laid out",
			i->name, i->build_id);
	return error_set(err, ERR_GATE,
		"none of %" PRIu64 " samples is of a process in which '%s' is mapped: record the "
		"processes that run this file",
		c->samples, i->name);
}

int branch_counts_judge(
	const struct branch_counts *c, const struct branch_image *i, struct error *err)
{
	uint64_t own = c->samples - c->foreign, stacks = own - c->without_stack;
	uint64_t touching = c->inside + c->entering + c->leaving;

	if (!own)
		return no_samples(c, i, err);
	if (percent(stacks, own) < BRANCH_MIN_STACKS_PERCENT)
		return error_set(err, ERR_GATE,
			"%" PRIu64 " of %" PRIu64
			" samples of '%s' (%.1f %%) hold branches, at least "
			"%d %% must: record with `perf record -j any,u`",
			stacks, own, i->name, percent(stacks, own), BRANCH_MIN_STACKS_PERCENT);
	if (percent(c->of_program, c->samples) < BRANCH_MIN_PROGRAM_PERCENT)
		return error_set(err, ERR_GATE,
			"%" PRIu64 " of %" PRIu64
			" samples (%.1f %%) hold a branch of '%s', at least "
			"%d %% must: the work is done elsewhere, in libraries or other processes",
			c->of_program, c->samples, percent(c->of_program, c->samples), i->name,
			BRANCH_MIN_PROGRAM_PERCENT);
	if (percent(c->contradicted, c->traces) > BRANCH_MAX_AGAINST_PERCENT)
		return error_set(err, ERR_GATE,
			"%" PRIu64 " of %" PRIu64
			" stretches between branches (%.1f %%) do not fit the "
			"functions of '%s', at most %d %% may: another build of it was recorded",
			c->contradicted, c->traces, percent(c->contradicted, c->traces), i->name,
			BRANCH_MAX_AGAINST_PERCENT);
	if (touching < BRANCH_MIN_BRANCHES)
		return error_set(err, ERR_GATE,
			"the samples hold %" PRIu64
			" branches of '%s', at least %d are needed: train "
			"for longer",
			touching, i->name, BRANCH_MIN_BRANCHES);
	return 0;
}

void branch_counts_describe(const struct branch_counts *c, struct buf *ret)
{
	buf_addf(ret,
		"%" PRIu64 " samples, %.1f %% of the program, with %" PRIu64
		" branches (%.1f %% within "
		"it, %.1f %% mispredicted), %zu different, in %zu functions",
		c->samples, percent(c->of_program, c->samples), c->branches,
		percent(c->inside, c->branches), percent(c->mispredicted, c->branches), c->distinct,
		c->functions);
	if (c->lost)
		buf_addf(ret, "; %" PRIu64 " samples were lost", c->lost);
}

/* "BUILD-ID PATH" a line. */
struct row {
	const char *id, *name;
	size_t id_n, name_n;
};

static bool read_row(const char *line, size_t n, struct row *ret)
{
	const char *space = memchr(line, ' ', n), *slash;

	if (!space || space == line)
		return false;
	*ret = (struct row){
		line, space + 1, (size_t)(space - line), n - (size_t)(space + 1 - line)};
	slash = memrchr(ret->name, '/', ret->name_n);
	if (slash) {
		ret->name_n -= (size_t)(slash + 1 - ret->name);
		ret->name = slash + 1;
	}
	return true;
}

int branch_buildid_find(
	const char *list, const struct branch_image *i, char **ret_name, struct error *err)
{
	struct row row, other = {0};
	size_t id_n = i->build_id ? strlen(i->build_id) : 0;

	for (const char *line = list, *end; i->build_id && *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		if (!read_row(line, (size_t)(end - line), &row))
			continue;
		if (row.id_n == id_n && memcmp(row.id, i->build_id, id_n) == 0) {
			*ret_name = xstrndup(row.name, row.name_n);
			return 0;
		}
		if (row.name_n == strlen(i->name) && memcmp(row.name, i->name, row.name_n) == 0)
			other = row;
	}
	if (other.id)
		return error_set(err, ERR_MISMATCH,
			"another build of '%s' was recorded: its build-id is %.*s, that of '%s' is "
			"%s",
			i->name, (int)other.id_n, other.id, i->path, i->build_id);
	*ret_name = NULL;
	return 0;
}
