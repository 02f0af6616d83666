/* What llvm-bolt says it did. Its lines are those of BOLT's RewriteInstance, BinaryPasses and
 * BinaryFunctionProfile; they are the same from LLVM 15 to 22 but for plural endings. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "layout/internal.h"

/* A count in a line: the number at the front of what follows "BOLT-INFO: " or "BOLT-WARNING: ". */
static const char *body_of(const char *line)
{
	static const char *const heads[] = {"BOLT-INFO: ", "BOLT-WARNING: "};

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		if (strncmp(line, heads[i], strlen(heads[i])) == 0)
			return line + strlen(heads[i]);
	return NULL;
}

static void read_profiled(const char *b, struct layout_result *r)
{
	uint64_t with, of;

	if (sscanf(b, "%" SCNu64 " out of %" SCNu64, &with, &of) != 2)
		return;
	if (strstr(b, "have non-empty execution profile")) {
		r->with_profile = with;
		r->functions = of;
	} else if (strstr(b, "samples in the binary") && strstr(b, "stale")) {
		r->stale_samples = with;
		r->samples = of;
	}
}

static void read_counts(const char *b, struct layout_result *r)
{
	static const char reorder[] = "basic block reordering modified layout of ";
	static const char separates[] = "splitting separates ";
	uint64_t n = 0, cold = 0;
	bool counted = sscanf(b, "%" SCNu64, &n) == 1;

	if (counted && strstr(b, "with profile could not be optimized"))
		r->not_understood = n;
	else if (counted && strstr(b, "of all profiled)") && strstr(b, "stale"))
		r->stale = n;
	else if (sscanf(b, "skipped %" SCNu64, &n) == 1 && strstr(b, "due to cold fragments"))
		r->skipped = n;
	else if (strncmp(b, reorder, strlen(reorder)) == 0)
		r->laid_out = strtoull(b + strlen(reorder), NULL, 10);
	else if (strncmp(b, separates, strlen(separates)) == 0 &&
		 sscanf(b + strlen(separates), "%" SCNu64 " hot bytes from %" SCNu64, &n, &cold) ==
			 2) {
		r->hot_bytes = n;
		r->cold_bytes = cold;
	} else if (sscanf(b, "ICF folded %" SCNu64, &n) == 1)
		r->folded = n;
}

/* "   123 : taken branches" of the first block, "   120 : taken branches (-2.4%)" of the second. */
static bool read_change(const char *line, char **what, uint64_t *n, bool *after)
{
	const char *p = line + strspn(line, " "), *open;
	char *end;

	if (p == line || !isdigit((unsigned char)*p))
		return false;
	*n = strtoull(p, &end, 10);
	if (strncmp(end, " : ", 3) != 0)
		return false;
	p = end + 3;
	open = strstr(p, " (");
	*after = open != NULL;
	*what = open ? xstrndup(p, (size_t)(open - p)) : xstrdup(p);
	return true;
}

static void add_change(struct layout_result *r, char *what, uint64_t n, bool after)
{
	for (size_t i = 0; after && i < r->n_changes; i++)
		if (strcmp(r->changes[i].what, what) == 0)
			r->changes[i].after = n;
	if (after) {
		free(what);
		return;
	}
	array_reserve(r->changes, r->n_changes, r->cap_changes);
	r->changes[r->n_changes++] = (struct layout_change){what, n, n};
}

/* Lines that say what all of these files have, or that whet gives reasons for itself. */
static bool is_common(const char *line)
{
	static const char *const texts[] = {"which lies outside .bss", "which lies outside .note",
		"debug info will be stripped"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strstr(line, texts[i]))
			return true;
	return false;
}

static bool is_warning(const char *line)
{
	return (strstr(line, "BOLT-WARNING") || strstr(line, "BOLT-ERROR")) && !is_common(line);
}

void bolt_log_read(const struct strv *lines, struct layout_result *ret, bool *relocations)
{
	bool dynamic = false;

	*relocations = false;
	for (size_t i = 0; i < lines->n; i++) {
		const char *line = lines->v[i], *body = body_of(line);
		bool after;
		char *what;
		uint64_t n;

		if (is_warning(line))
			strv_add(&ret->warnings, line);
		if (dynamic && read_change(line, &what, &n, &after)) {
			add_change(ret, what, n, after);
			continue;
		}
		if (!body)
			continue;
		if (strncmp(body, "enabling relocation mode", 24) == 0)
			*relocations = true;
		dynamic = strncmp(body, "program-wide dynostats after all", 32) == 0;
		read_profiled(body, ret);
		read_counts(body, ret);
	}
}
