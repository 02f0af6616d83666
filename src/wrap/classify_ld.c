/* Linkers that a build calls without a compiler driver between: `ld -r -o core.o a.o b.o`. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/classify.h"

/* Options of ld(1) and ld.lld(1) whose value is the next argument. Long ones may also stand with
 * one dash; only the part behind the dashes is listed. */
static const char *const takes_next[] = {"o", "output", "L", "library-path", "l", "library", "m",
	"T", "script", "dT", "default-script", "z", "e", "entry", "h", "soname", "rpath",
	"rpath-link", "dynamic-linker", "I", "y", "trace-symbol", "u", "undefined", "A",
	"architecture", "b", "format", "F", "filter", "f", "auxiliary", "G", "gpsize", "R",
	"just-symbols", "version-script", "dynamic-list", "defsym", "Y", "P", "a", "init", "fini",
	"Tbss", "Tdata", "Ttext", "Ttext-segment", "Trodata-segment", "section-start", "c",
	"mri-script", "oformat", "plugin", "plugin-opt", "wrap", "sort-section", "assert",
	"retain-symbols-file", "Map", "out-implib"};

static const char *const queries[] = {"v", "V", "version", "help", "print-output-format"};

static bool in_list(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

static void set(char **text, const char *value)
{
	free(*text);
	*text = xstrdup(value);
}

struct scan {
	struct cc_call *c;
	bool partial, query;
};

static void scan_valued(struct scan *s, const char *name, const char *value)
{
	if (strcmp(name, "o") == 0 || strcmp(name, "output") == 0)
		set(&s->c->output, value);
	else if (strcmp(name, "Map") == 0)
		set(&s->c->map, value);
}

static void scan_flag(struct scan *s, const char *name)
{
	static const char *const partial[] = {"r", "i", "relocatable", "Ur"};

	s->partial |= in_list(partial, ARRAY_SIZE(partial), name);
	s->query |= in_list(queries, ARRAY_SIZE(queries), name);
	s->c->print_map |= strcmp(name, "M") == 0 || strcmp(name, "print-map") == 0;
	if (strncmp(name, "Map=", 4) == 0)
		set(&s->c->map, name + 4);
	else if (strncmp(name, "output=", 7) == 0)
		set(&s->c->output, name + 7);
	else if (name[0] == 'o' && strncmp(name, "oformat", 7) != 0 && name[1])
		set(&s->c->output, name + 1);
}

static const char *bare_name(const char *option)
{
	return option + (option[1] == '-' ? 2 : 1);
}

void ld_classify(const struct strv *args, struct cc_call *ret)
{
	struct scan s = {.c = ret};

	memset(ret, 0, sizeof(*ret));
	ret->language = "";
	for (size_t i = 0; i < args->n; i++) {
		const char *a = args->v[i];

		if (a[0] != '-' || !a[1])
			strv_add(&ret->objects, a);
		else if (!in_list(takes_next, ARRAY_SIZE(takes_next), bare_name(a)))
			scan_flag(&s, bare_name(a));
		else if (i + 1 < args->n)
			scan_valued(&s, bare_name(a), args->v[++i]);
	}
	ret->kind = !ret->objects.n ? CALL_QUERY : s.partial ? CALL_PARTIAL_LINK : CALL_LINK;
	if (s.query && !ret->output)
		ret->kind = CALL_QUERY;
}

bool is_linker_name(const char *path)
{
	/* Not "ld.so", which loads programs. */
	static const char *const names[] = {"ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold", "lld"};
	static const char *const ends[] = {"-ld", "-ld.bfd", "-ld.gold", "lld"};
	const char *base = path_basename(path);
	size_t n = strlen(base);

	while (n && strchr("0123456789.-", base[n - 1]))
		n--;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n && memcmp(base, names[i], n) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t k = strlen(ends[i]);

		if (n > k && memcmp(base + n - k, ends[i], k) == 0)
			return true;
	}
	return false;
}
