#include "wrap/diag_gcc.h"

#include <string.h>

#include "base/mem.h"

static const struct {
	const char *text;
	enum diag_kind kind;
} texts[] = {
	{"profile count data file not found", DIAG_MISSING},
	{"not found in profile data", DIAG_MISSING},
	{"does not match its profile data", DIAG_MISMATCH},
	{"is not a gcov data file", DIAG_UNREADABLE},
	{"expected version", DIAG_UNREADABLE},
	{".gcda' is corrupted", DIAG_UNREADABLE},
	{".gcda' has overflowed", DIAG_UNREADABLE},
	{"profile data for function", DIAG_UNREADABLE}, /* 12 is corrupted */
	{"runs is supported. Perhaps corrupted profile", DIAG_UNREADABLE},
	{"profile data may be out of date", DIAG_OTHER},
	{"corrupted profile info: ", DIAG_OTHER},
	{"corrupted value profile: ", DIAG_OTHER},
	{"correcting inconsistent value profile", DIAG_OTHER},
	{"[-Wcoverage-mismatch]", DIAG_OTHER},
	{"[-Wmissing-profile]", DIAG_OTHER},
};

/* What stands behind "function '", up to the next quote. */
static char *function_of(const char *line)
{
	static const char before[] = "function '";
	const char *at = strstr(line, before);
	const char *name = at ? at + strlen(before) : NULL;
	const char *end = name ? strchr(name, '\'') : NULL;

	return end ? xstrndup(name, (size_t)(end - name)) : xstrdup("");
}

bool diag_parse_gcc(const char *line, struct profile_diag *ret)
{
	if (!strstr(line, "warning: ") && !strstr(line, "error: "))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (!strstr(line, texts[i].text))
			continue;
		*ret = (struct profile_diag){.kind = texts[i].kind,
			.function = function_of(line),
			.text = xstrdup(line)};
		return true;
	}
	return false;
}
