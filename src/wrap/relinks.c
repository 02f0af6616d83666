/* What became of the relinks that the shim was asked for. */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/shim.h"
#include "wrap/wrap.h"

static const struct compile_record *record_of(const struct compile_log *log, const char *id)
{
	for (size_t i = 0; id && i < log->n; i++)
		if (strcmp(log->v[i].id, id) == 0)
			return &log->v[i];
	return NULL;
}

/* The line of a linker's output that says what is wrong: the first with "error", or the last. */
static char *complaint(const char *path)
{
	auto_free char *text = file_tail(path, 100);
	const char *line = text, *last = "";

	for (; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n')) {
		auto_free char *one = xstrndup(line, strcspn(line, "\n"));

		if (strstr(one, "error"))
			return take_ptr(one);
		last = *one ? line : last;
	}
	return xstrndup(last, strcspn(last, "\n"));
}

static bool has_name(const struct wrap_node *n, const struct compile_record *link)
{
	for (size_t i = 0; i < n->released->n; i++)
		if (shim_may_become(path_basename(link->output), n->released->v[i]))
			return true;
	return false;
}

/* Why there is none of these: they are made of the link r into a folder, with the linker's words in
 * its file `output`. */
static char *why_none(const struct wrap_node *n, const struct compile_record *r, const char *folder,
	const char *linker)
{
	auto_free char *output = path_join(folder, RELINK_OUTPUT), *words = NULL;

	if (!r || !r->output)
		return xstrdup("its link was not recorded");
	if (!has_name(n, r))
		return xasprintf("its link makes '%s', whose name does not begin like its own",
			path_basename(r->output));
	if (path_exists(output))
		return xasprintf(
			"%s cannot repeat the link: %s", linker, words = complaint(output));
	return xstrdup("its link was done by an earlier build; `whet clean` has it done again");
}

char *wrap_relink(const struct compile_log *log, const struct wrap_node *n, const char *link,
	uint32_t i, char **why)
{
	const struct compile_record *r = record_of(log, link);
	auto_free char *folder = xasprintf("%s/" RELINKS, n->log, link ? link : "");
	auto_free char *path = xasprintf("%s/%" PRIu32, folder, i);

	if (path_exists(path))
		return take_ptr(path);
	*why = why_none(n, r, folder, "lld");
	return NULL;
}

char *wrap_relocs(
	const struct compile_log *log, const struct wrap_node *n, const char *link, char **why)
{
	auto_free char *folder = xasprintf("%s/" RELOCS, n->log, link ? link : "");
	auto_free char *path = path_join(folder, RELOCS_FILE);

	if (path_exists(path))
		return take_ptr(path);
	*why = why_none(n, record_of(log, link), folder, "the linker");
	return NULL;
}
