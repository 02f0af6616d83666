#include "facts/sought.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "facts/fact_io.h"

/* "Funcname=NAME, Hash=DECIMAL in building SOURCE" */
#define NAME_MARK "Funcname="
#define HASH_MARK ", Hash="
#define SOURCE_MARK " in building "

void sought_release(struct sought *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].name);
		free(s->v[i].source);
	}
	free(s->v);
	memset(s, 0, sizeof(*s));
}

static void add(struct sought *s, char *name, char *source, uint64_t hash)
{
	array_reserve(s->v, s->n, s->cap);
	s->v[s->n++] = (struct sought_function){name, source, hash};
}

/* A name with an assembler label is marked by a byte that keys do not have. */
static const char *without_mark(const char *name)
{
	return *name == '\001' ? name + 1 : name;
}

static bool parse_whole(struct sought *s, const char *line)
{
	const char *name = line + strlen(NAME_MARK), *hash, *source;
	uint64_t value;
	char *end;

	if (strncmp(line, NAME_MARK, strlen(NAME_MARK)) != 0)
		return false;
	hash = strstr(name, HASH_MARK);
	source = hash ? strstr(hash, SOURCE_MARK) : NULL;
	if (!source || strstr(name, NAME_MARK) || strstr(hash + 1, HASH_MARK) ||
		strstr(source + 1, SOURCE_MARK))
		return false;
	value = strtoull(hash + strlen(HASH_MARK), &end, 10);
	if (end != source || !value)
		return false;
	name = without_mark(name);
	add(s, xstrndup(name, (size_t)(hash - name)), xstrdup(source + strlen(SOURCE_MARK)), value);
	return true;
}

/* A compiler's threads write piece by piece, each piece whole: a name is still to be found between
 * two marks. */
static void parse_pieces(struct sought *s, const char *line)
{
	static const char *const marks[] = {NAME_MARK, HASH_MARK, SOURCE_MARK};

	s->garbled++;
	while (*line) {
		const char *next = NULL;
		size_t skip = 0, n;

		for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
			const char *at = strstr(line, marks[i]);

			if (at && (!next || at < next)) {
				next = at;
				skip = strlen(marks[i]);
			}
		}
		n = next ? (size_t)(next - line) : strlen(line);
		if (n)
			add(s, xstrndup(line, n), NULL, 0);
		line += n + skip;
	}
}

/* Part of a line, or what a line end of another thread left alone. */
static bool has_piece(const char *line)
{
	return strstr(line, HASH_MARK) || strstr(line, SOURCE_MARK) ||
	       (*line && !strpbrk(line, " \t"));
}

bool sought_parse(struct sought *s, const char *line, bool threads)
{
	if (parse_whole(s, line))
		return true;
	if (!threads || *line == '{')
		return false;
	if (!strstr(line, NAME_MARK) && !(s->n && has_piece(line)))
		return false;
	parse_pieces(s, line);
	return true;
}

json_t *sought_json(const struct sought *s)
{
	json_t *o = json_object(), *a = json_array();

	for (size_t i = 0; i < s->n; i++) {
		/* As text: JSON numbers of the library end at 2^63. */
		auto_free char *hex = xasprintf("%016" PRIx64, s->v[i].hash);

		json_t *one = json_array();

		json_array_append_new(one, json_text(hex));
		json_array_append_new(one, json_text(s->v[i].name));
		json_array_append_new(one, json_text(s->v[i].source));
		json_array_append_new(a, one);
	}
	json_object_set_new(o, "functions", a);
	fact_set_u64(o, "garbled", s->garbled);
	return o;
}

void sought_from_json(const json_t *o, struct sought *ret)
{
	const json_t *a = json_object_get(o, "functions");

	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *one = json_array_get(a, i);
		const char *hex = json_string_value(json_array_get(one, 0));
		const char *name = json_string_value(json_array_get(one, 1));
		const char *source = json_string_value(json_array_get(one, 2));

		if (hex && name)
			add(ret, xstrdup(name), source ? xstrdup(source) : NULL,
				strtoull(hex, NULL, 16));
	}
	ret->garbled = o ? fact_u64(o, "garbled") : 0;
}
