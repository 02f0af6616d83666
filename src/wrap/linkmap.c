#include "wrap/linkmap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void map_inputs_release(struct map_inputs *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].path);
		free(m->v[i].member);
	}
	free(m->v);
	free(m->slots);
	memset(m, 0, sizeof(*m));
}

static uint64_t hash_bytes(uint64_t h, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * 0x100000001b3ULL;
	return h;
}

static bool same(const char *s, const char *p, size_t n)
{
	if (!s || !p)
		return !s && !p;
	return strlen(s) == n && memcmp(s, p, n) == 0;
}

static uint64_t key_of(const char *path, size_t n, const char *member, size_t n_member)
{
	uint64_t h = hash_bytes(0xcbf29ce484222325ULL, path, n);

	return hash_bytes(hash_bytes(h, "|", 1), member ? member : "", member ? n_member : 0);
}

static void put(struct map_inputs *m, size_t index)
{
	const struct map_input *e = &m->v[index];
	size_t i = key_of(e->path, strlen(e->path), e->member, e->member ? strlen(e->member) : 0) &
		   (m->n_slots - 1);

	while (m->slots[i])
		i = (i + 1) & (m->n_slots - 1);
	m->slots[i] = index + 1;
}

/* At most half of the slots are used. */
static void grow(struct map_inputs *m)
{
	if (m->n_slots > 2 * m->n)
		return;
	free(m->slots);
	m->n_slots = m->n_slots ? m->n_slots * 2 : 256;
	m->slots = xcalloc(m->n_slots, sizeof(*m->slots));
	for (size_t i = 0; i < m->n; i++)
		put(m, i);
}

void map_inputs_add(
	struct map_inputs *m, const char *path, size_t n, const char *member, size_t n_member)
{
	size_t i;

	grow(m);
	for (i = key_of(path, n, member, n_member) & (m->n_slots - 1); m->slots[i];
		i = (i + 1) & (m->n_slots - 1)) {
		const struct map_input *e = &m->v[m->slots[i] - 1];

		if (same(e->path, path, n) && same(e->member, member, n_member))
			return;
	}
	array_reserve(m->v, m->n, m->cap);
	m->v[m->n] = (struct map_input){
		.path = xstrndup(path, n), .member = member ? xstrndup(member, n_member) : NULL};
	m->slots[i] = ++m->n;
}

ssize_t map_inputs_find(const struct map_inputs *m, const char *path, const char *member)
{
	size_t n = strlen(path), k = member ? strlen(member) : 0;

	for (size_t i = m->n_slots ? key_of(path, n, member, k) & (m->n_slots - 1) : 0;
		m->n_slots && m->slots[i]; i = (i + 1) & (m->n_slots - 1)) {
		const struct map_input *e = &m->v[m->slots[i] - 1];

		if (same(e->path, path, n) && same(e->member, member, k))
			return (ssize_t)(m->slots[i] - 1);
	}
	return -1;
}

/* "lib.a(member.o)" or "object.o". */
static void add_name(struct map_inputs *m, const char *p, size_t n)
{
	const char *open = NULL;

	while (n && (p[n - 1] == ' ' || p[n - 1] == '\r'))
		n--;
	if (!n || p[0] == '<')
		return; /* <internal>, <synthetic>: of the linker itself */
	if (same("linker stubs", p, n))
		return; /* so is what GNU ld makes of far calls on aarch64, arm, powerpc */
	if (p[n - 1] == ')')
		open = memrchr(p, '(', n);
	if (open && open > p && open + 2 < p + n)
		map_inputs_add(m, p, (size_t)(open - p), open + 1, (size_t)(p + n - open - 2));
	else
		map_inputs_add(m, p, n, NULL, 0);
}

static const char *skip_number(const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	while (p < end && *p != ' ')
		p++;
	return p;
}

/* ---- sizes of code --------------------------------------------------------------------------- */

/* Where the line stands: what belongs to .text follows the line of the output section. */
struct place {
	bool in_text;
	uint64_t size;    /* of the output sections .text and .text.* so far */
	const char *name; /* of a section whose numbers stand on the next line (GNU ld, gold) */
	size_t n_name;
	bool output; /* that one is an output section */
};

/* Others that hold code (.init, .plt) are the same with and without a profile. */
static void output_section(struct place *at, const char *name, size_t n, uint64_t size)
{
	static const char text[] = ".text";

	at->in_text = n >= 5 && memcmp(name, text, 5) == 0 && (n == 5 || name[5] == '.');
	if (at->in_text)
		at->size += size;
}

static void input_section(
	struct map_inputs *m, const struct place *at, const char *name, size_t n, uint64_t size)
{
	if (at->in_text)
		m->text.v[text_class_of(name, n)] += size;
}

/* What no input section accounts for lies between them. */
static void finish_text(struct map_inputs *m, const struct place *at)
{
	uint64_t sum = text_bytes_sum(&m->text);

	if (sum > at->size)
		m->text = (struct text_bytes){0};
	else
		m->text.v[TEXT_PADDING] = at->size - sum;
}

/* ---- lld and mold ---------------------------------------------------------------------------- */

/* A few numbers, one space, then the columns Out, In and Symbol, each eight further in. An input
 * section reads "path:(section)". The last number but one is the size: hexadecimal of lld, decimal
 * of mold. */
static void columns_line(
	struct map_inputs *m, struct place *at, const char *p, const char *end, int numbers)
{
	const char *colon;
	size_t indent = 0;
	uint64_t size = 0;

	for (int i = 0; i < numbers; i++) {
		if (i == numbers - 2)
			size = strtoull(p, NULL, numbers == 4 ? 16 : 10);
		p = skip_number(p, end);
	}
	while (p < end && *p == ' ') {
		p++;
		indent++;
	}
	if (indent == 1)
		output_section(at, p, (size_t)(end - p), size);
	if (indent != 9 || p >= end || end[-1] != ')')
		return;
	colon = memmem(p, (size_t)(end - p), ":(", 2);
	if (!colon)
		return;
	add_name(m, p, (size_t)(colon - p));
	input_section(m, at, colon + 2, (size_t)(end - 1 - (colon + 2)), size);
}

/* ---- GNU ld and gold ------------------------------------------------------------------------- */

static const char *const gnu_included[] = {
	"Archive member included to satisfy", "Archive member included because of"};

static bool begins(const char *p, const char *end, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(end - p) >= n && memcmp(p, with, n) == 0;
}

/* A header stands at the beginning of a line and ends the list of archive members. */
static bool is_gnu_header(const char *p, const char *end)
{
	static const char *const headers[] = {"Discarded input sections", "Memory Configuration",
		"Linker script and memory map", "As-needed library", "Merging program properties",
		"Allocating common symbols", "Memory map", "Cross Reference Table"};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		if (begins(p, end, headers[i]))
			return true;
	return false;
}

/* "libx.a(m.o)" alone, or followed by blanks and the reason. Of a thin archive the name is that of
 * the member's own file. */
static void gnu_member(struct map_inputs *m, const char *p, const char *end)
{
	const char *blanks = memmem(p, (size_t)(end - p), "  ", 2);

	if (p < end && *p != ' ')
		add_name(m, p, (size_t)((blanks ? blanks : end) - p));
}

/* The name in front of the numbers, or that of the line before when it filled its line. Names of
 * output sections stand at the beginning of a line, those of input sections one further in. */
static void gnu_size(struct map_inputs *m, struct place *at, const char *p, const char *numbers,
	const char *size, bool input)
{
	bool here = p < numbers && (*p != ' ' || p[1] != ' ');
	const char *name = here ? p + (*p == ' ') : at->name;
	size_t n = here ? strcspn(name, " \n") : at->n_name;
	bool output = here ? *p != ' ' : at->output;
	uint64_t bytes = strtoull(size, NULL, 16);

	if (name && output)
		output_section(at, name, n, bytes);
	else if (name && input && *name != '*')
		input_section(m, at, name, n, bytes);
}

/* " .text  0xADDRESS  0xSIZE name", the section's name possibly on the line before. */
static void gnu_section(struct map_inputs *m, struct place *at, const char *p, const char *end)
{
	const char *hex = memmem(p, (size_t)(end - p), " 0x", 3);
	const char *size, *name = p;
	bool input;

	if (!hex) { /* alone on its line, or a word of the linker's script */
		at->output = *p != ' ';
		at->name = p + (*p == ' ');
		at->n_name = strcspn(at->name, " \n");
		return;
	}
	size = skip_number(hex, end);
	while (size < end && *size == ' ')
		size++;
	if (begins(size, end, "0x")) {
		p = skip_number(size, end);
		while (p < end && *p == ' ')
			p++;
		/* Behind the size of " *fill*" may stand the bytes: instructions that do nothing.
		 */
		input = *name == ' ' && name[1] != '*' && p < end && *p != '(' && *p != '=';
		gnu_size(m, at, name, hex, size, input);
		if (input)
			add_name(m, p, (size_t)(end - p));
	}
	at->name = NULL;
}

struct gnu_state {
	bool members, map;
	bool gold; /* its headers say the same in other words */
	struct place at;
};

static void gnu_line(struct map_inputs *m, struct gnu_state *s, const char *p, const char *end)
{
	if (p == end)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(gnu_included); i++)
		if (begins(p, end, gnu_included[i])) {
			s->members = true;
			s->gold |= i == 1;
			return;
		}
	if (is_gnu_header(p, end)) {
		s->members = false;
		s->gold |= begins(p, end, "Memory map");
		s->map = begins(p, end, "Linker script and memory map") ||
			 begins(p, end, "Memory map");
		return;
	}
	if (s->members)
		gnu_member(m, p, end);
	else if (s->map && begins(p, end, "LOAD "))
		add_name(m, p + 5, (size_t)(end - p) - 5);
	else if (s->map)
		gnu_section(m, &s->at, p, end);
}

/* The number of columns in front of Out; 0 when the first line is no header of lld or mold. */
static int header_numbers(const char *text)
{
	size_t n = strcspn(text, "\n");
	auto_free char *line = xstrndup(text, n);

	if (!strstr(line, "VMA") || !strstr(line, " Out ") || !strstr(line, "Symbol"))
		return 0;
	return strstr(line, "LMA") ? 4 : 3;
}

int linkmap_parse(const char *text, struct map_inputs *ret, struct error *err)
{
	int numbers = header_numbers(text);
	struct gnu_state s = {0};
	bool known = numbers > 0;

	for (const char *p = text; *p;) {
		const char *end = p + strcspn(p, "\n");

		if (numbers)
			columns_line(ret, &s.at, p, end, numbers);
		else
			gnu_line(ret, &s, p, end);
		known |= s.map;
		p = end + (*end == '\n');
	}
	if (!known)
		return error_set(err, ERR_CORRUPT, "not a linker map of GNU ld, gold, lld or mold");
	finish_text(ret, &s.at);
	ret->linker = numbers == 4 ? "lld" : numbers ? "mold" : s.gold ? "gold" : "GNU ld";
	return 0;
}
