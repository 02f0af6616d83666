/* The profile that is given instead of training. That of a program with both kinds of counters is
 * two files, published beside each other under one name: either one is named, and the other found.
 */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "pipeline/run.h"
#include "pipeline/trained.h"

static const struct {
	const char *own, *other;
} endings[] = {
	{".profdata", GCC_PROFILE_ENDING},
	{GCC_PROFILE_ENDING, ".profdata"},
};

static char *beside(const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t k = strlen(endings[i].own);
		auto_free char *other = NULL;

		if (n <= k || strcmp(path + n - k, endings[i].own) != 0)
			continue;
		other = xasprintf("%.*s%s", (int)(n - k), path, endings[i].other);
		return path_exists(other) ? take_ptr(other) : NULL;
	}
	return NULL;
}

int given_find(struct run *r, struct error *err)
{
	r->last_profile = r->o->profile && strcmp(r->o->profile, PROFILE_LAST) == 0;
	if (r->last_profile && trained_find(r, &r->given, err) < 0)
		return -1;
	if (!r->last_profile)
		r->given = xstrdup(r->o->profile);
	if (r->given)
		r->given_beside = beside(r->given);
	return 0;
}

const char *given_of(const struct run *r, enum profile_kind kind)
{
	const char *const files[] = {r->given, r->given_beside};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (files[i] && trained_is_archive(files[i]) == (kind == PROFILE_GCC))
			return files[i];
	return NULL;
}
