#include "wrap/units.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"

/* Absolute, and relative to the slot when it lies below: "./x.c" given in two folders are two. */
static char *relative(const char *path, const char *cwd, const char *slot)
{
	auto_free char *joined = path_join(cwd, path);
	auto_free char *clean = path_clean(joined);
	size_t n = strlen(slot);

	if (path_is_below(clean, slot) && clean[n] == '/')
		return xstrdup(clean + n + 1);
	return take_ptr(clean);
}

/* "name-EXTRA.name.HASH-cgu.0[.TEMP].rcgu.o": the code unit is what the crates of two builds have
 * in common; a random part of newer compilers in front of ".rcgu.o" is dropped. Incremental builds
 * name units by a hash without dots: "name-EXTRA.HASH[.TEMP].rcgu.o". */
static char *codegen_unit(const char *file)
{
	const char *base = path_basename(file);
	const char *dot = strchr(base, '.');
	const char *end = strstr(base, ".rcgu.o");
	const char *cgu = strstr(base, "-cgu.");

	if (!end || !dot || dot >= end)
		return xstrdup(base);
	if (cgu) {
		const char *tail = cgu + strlen("-cgu.");

		tail += strspn(tail, "0123456789");
		return xstrndup(dot + 1, (size_t)(tail - dot - 1));
	}
	return xstrndup(dot + 1, strcspn(dot + 1, "."));
}

char *unit_object_name(const char *source)
{
	const char *base = path_basename(source);
	const char *dot = strrchr(base, '.');

	return xasprintf("%.*s.o", dot ? (int)(dot - base) : (int)strlen(base), base);
}

/* Whether an object's name is that of the source: "a.o", or "a-1f3c.o" of a temporary file. */
static bool is_object_of(const char *object, const char *source)
{
	auto_free char *name = unit_object_name(source);
	size_t stem = strlen(name) - 2;

	return strcmp(object, name) == 0 ||
	       (strncmp(object, name, stem) == 0 && object[stem] == '-');
}

const char *unit_source(const struct compile_record *r, const struct link_input *in)
{
	const char *object = path_basename(in->member ? in->member : in->path);

	if (r->source)
		return r->source;
	for (size_t i = 0; r->inputs.n > 1 && i < r->inputs.n; i++)
		if (is_object_of(object, r->inputs.v[i]))
			return r->inputs.v[i];
	return r->inputs.n ? r->inputs.v[0] : NULL;
}

char *unit_name(const struct compile_record *r, const struct link_input *in, const char *slot)
{
	const char *given = unit_source(r, in);
	auto_free char *source = NULL;
	auto_free char *object = NULL;
	auto_free char *output = NULL;

	if (r->kind == CALL_RUSTC) {
		auto_free char *cgu = codegen_unit(in->member ? in->member : in->path);

		return xasprintf("crate %s %s %s", r->crate_name ? r->crate_name : "",
			r->metadata ? r->metadata : "", cgu);
	}
	source = relative(given ? given : "", r->cwd, slot);
	object = r->output || !given ? xstrdup(r->output) : unit_object_name(given);
	output = relative(object ? object : "", r->cwd, slot);
	return xasprintf("%s > %s", source, output);
}
