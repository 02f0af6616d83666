#include "bench/callgrind.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

#define EVENTS_MAX 64
#define POSITIONS_MAX 2 /* "instr line" */
/* Names are numbered in the whole process as they turn up, so that a short file of a process that
 * did little may hold a large number. */
#define NUMBER_MAX 4000000

/* Names that are written in full once, as "(7) name", and as "(7)" from then on. */
struct names {
	char **v;
	size_t n;
};

enum kind { OBJECTS, FILES, FUNCTIONS, KINDS };

struct reading {
	const char *path;
	const char *p, *end; /* what is not read yet */
	size_t line;
	struct error *err;
	struct names names[KINDS];
	size_t n_events, n_positions;
	size_t instructions, i1; /* their places among the events; n_events: not there */
	bool has_totals;
	uint64_t totals[EVENTS_MAX], sums[EVENTS_MAX];
	char *object, *file; /* present ones; NULL: none yet */
	struct callgrind_function *function;
	bool skip; /* the next line is the cost of a call, not of the function itself */
	struct callgrind *into;
};

static int corrupt(struct reading *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int corrupt(struct reading *r, const char *fmt, ...)
{
	auto_buf struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	return error_set(r->err, ERR_CORRUPT, "%s:%zu: no output of callgrind: %s", r->path,
		r->line, buf_str(&text));
}

/* ---- Words and numbers ----------------------------------------------------------------------- */

static const char *skip_spaces(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* A decimal number, or a hexadecimal one with 0x. False: there is none, or it is too large. */
static bool number(const char **p, uint64_t *ret)
{
	const char *s = *p;
	bool hex = s[0] == '0' && s[1] == 'x';
	uint64_t v = 0;

	for (s += hex ? 2 : 0, *p = s;; s++) {
		unsigned int base = hex ? 16 : 10, digit;

		if (*s >= '0' && *s <= '9')
			digit = (unsigned int)(*s - '0');
		else if (hex && *s >= 'a' && *s <= 'f')
			digit = (unsigned int)(*s - 'a') + 10;
		else
			break;
		if (v > (UINT64_MAX - digit) / base)
			return false;
		v = v * base + digit;
	}
	if (s == *p)
		return false;
	*p = s;
	*ret = v;
	return true;
}

/* Numbers to the end of the line. Those that are left out are 0. */
static int costs(struct reading *r, const char *p, uint64_t *ret)
{
	size_t n = 0;

	memset(ret, 0, EVENTS_MAX * sizeof(*ret));
	for (p = skip_spaces(p); *p; p = skip_spaces(p)) {
		if (n == r->n_events)
			return corrupt(r, "more costs than events (%zu)", r->n_events);
		if (!number(&p, &ret[n++]) || (*p && *p != ' ' && *p != '\t'))
			return corrupt(r, "a cost must be a number below 2^64");
	}
	return 0;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static int keep_name(struct reading *r, struct names *names, uint64_t id, const char *text)
{
	if (id > NUMBER_MAX)
		return corrupt(r, "the number %llu of a name is larger than %d",
			(unsigned long long)id, NUMBER_MAX);
	if (id >= names->n) {
		size_t n = id + 64 + names->n;

		names->v = xreallocarray(names->v, n, sizeof(*names->v));
		memset(names->v + names->n, 0, (n - names->n) * sizeof(*names->v));
		names->n = n;
	}
	free(names->v[id]);
	names->v[id] = xstrdup(text);
	return 0;
}

/* The name that stands behind the '=' of a line. *ret is borrowed until the next line. */
static int name(struct reading *r, enum kind kind, const char *p, const char **ret)
{
	struct names *names = &r->names[kind];
	uint64_t id;

	p = skip_spaces(p);
	if (*p != '(' || p[1] < '0' || p[1] > '9') {
		*ret = p;
		return 0;
	}
	p++;
	if (!number(&p, &id) || *p != ')')
		return corrupt(r, "a name's number must stand in brackets");
	p = skip_spaces(p + 1);
	if (*p && keep_name(r, names, id, p) < 0)
		return -1;
	if (id >= names->n || !names->v[id])
		return corrupt(r, "the name (%llu) was never given", (unsigned long long)id);
	*ret = names->v[id];
	return 0;
}

static int set_name(struct reading *r, enum kind kind, const char *p, char **to)
{
	const char *text;

	if (name(r, kind, p, &text) < 0)
		return -1;
	free(*to);
	*to = xstrdup(text);
	return 0;
}

static bool is_assembly(const char *file)
{
	static const char *const ends[] = {".s", ".S", ".asm", ".nasm"};
	const char *dot = strrchr(file, '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(ends); i++)
		if (strcmp(dot, ends[i]) == 0)
			return true;
	return false;
}

static int begin_function(struct reading *r, const char *p)
{
	struct callgrind *c = r->into;
	const char *text;

	if (name(r, FUNCTIONS, p, &text) < 0)
		return -1;
	array_reserve(c->v, c->n, c->cap);
	r->function = &c->v[c->n++];
	*r->function = (struct callgrind_function){
		.object = xstrdup(r->object ? r->object : ""),
		.name = xstrdup(text),
		.known = r->file && *r->file && strcmp(r->file, "???") != 0,
		.assembly = r->file && is_assembly(r->file),
	};
	return 0;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* "positions: instr line" */
static int positions(struct reading *r, const char *p)
{
	r->n_positions = 0;
	for (p = skip_spaces(p); *p; p = skip_spaces(p)) {
		p += strcspn(p, " \t");
		if (++r->n_positions > POSITIONS_MAX)
			return corrupt(r, "more than %d positions", POSITIONS_MAX);
	}
	return r->n_positions ? 0 : corrupt(r, "no positions");
}

/* "events: Ir Dr Dw I1mr …" */
static int events(struct reading *r, const char *p)
{
	size_t n = 0;

	r->instructions = r->i1 = EVENTS_MAX;
	for (p = skip_spaces(p); *p; p = skip_spaces(p)) {
		size_t length = strcspn(p, " \t");

		if (n == EVENTS_MAX)
			return corrupt(r, "more than %d events", EVENTS_MAX);
		if (length == 2 && strncmp(p, "Ir", 2) == 0)
			r->instructions = n;
		if (length == 4 && strncmp(p, "I1mr", 4) == 0)
			r->i1 = n;
		p += length;
		n++;
	}
	r->n_events = n;
	if (r->instructions == EVENTS_MAX || r->i1 == EVENTS_MAX)
		return corrupt(r, "it lacks the events Ir and I1mr (--cache-sim=yes)");
	return 0;
}

static int version(struct reading *r, const char *p)
{
	p = skip_spaces(p);
	return strcmp(p, "1") == 0 ? 0 : corrupt(r, "version 1 expected, found '%.20s'", p);
}

static int totals(struct reading *r, const char *p)
{
	r->has_totals = true;
	return costs(r, p, r->totals);
}

/* "key: value". Those that say nothing of costs are passed over. */
static int header(struct reading *r, const char *p)
{
	static const struct {
		const char *key;
		int (*read)(struct reading *r, const char *p);
	} keys[] = {{"version:", version}, {"positions:", positions}, {"events:", events},
		{"totals:", totals}};
	const char *colon = strchr(p, ':');

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strncmp(p, keys[i].key, strlen(keys[i].key)) == 0)
			return keys[i].read(r, p + strlen(keys[i].key));
	return colon ? 0 : corrupt(r, "'%.40s' is no line of that format", p);
}

/* "fn=(7) main". 1: it is no such line. */
static int assignment(struct reading *r, const char *p)
{
	const char *ignored;

	if (strncmp(p, "fn=", 3) == 0)
		return begin_function(r, p + 3);
	if (strncmp(p, "ob=", 3) == 0)
		return set_name(r, OBJECTS, p + 3, &r->object);
	if (strncmp(p, "fl=", 3) == 0)
		return set_name(r, FILES, p + 3, &r->file);
	/* Code that was inlined from another file belongs to the function all the same. */
	if (strncmp(p, "fi=", 3) == 0 || strncmp(p, "fe=", 3) == 0)
		return name(r, FILES, p + 3, &ignored);
	if (strncmp(p, "cob=", 4) == 0)
		return name(r, OBJECTS, p + 4, &ignored);
	if (strncmp(p, "cfi=", 4) == 0 || strncmp(p, "cfl=", 4) == 0)
		return name(r, FILES, p + 4, &ignored);
	if (strncmp(p, "cfn=", 4) == 0)
		return name(r, FUNCTIONS, p + 4, &ignored);
	if (strncmp(p, "calls=", 6) == 0 || strncmp(p, "jump=", 5) == 0 ||
		strncmp(p, "jcnd=", 5) == 0) {
		r->skip = true;
		return 0;
	}
	return 1;
}

static int add(struct reading *r, uint64_t *to, uint64_t v)
{
	if (*to > UINT64_MAX - v)
		return corrupt(r, "its costs add up to more than 2^64");
	*to += v;
	return 0;
}

/* "+3", "-1", "*" or a number: where the cost arose. */
static int pass_position(struct reading *r, const char **p)
{
	bool same = **p == '*';
	uint64_t ignored;

	if (**p == '+' || **p == '-' || same)
		++*p;
	if ((!same && !number(p, &ignored)) || (**p && **p != ' ' && **p != '\t'))
		return corrupt(r, "a position must be a number");
	*p = skip_spaces(*p);
	return 0;
}

static int cost_line(struct reading *r, const char *p)
{
	uint64_t v[EVENTS_MAX];

	if (!r->n_events)
		return corrupt(r, "a cost stands before the line with the events");
	for (size_t i = 0; i < r->n_positions; i++)
		if (pass_position(r, &p) < 0)
			return -1;
	if (costs(r, p, v) < 0)
		return -1;
	if (r->skip) {
		r->skip = false;
		return 0;
	}
	if (!r->function)
		return corrupt(r, "a cost stands before the first function");
	for (size_t i = 0; i < r->n_events; i++)
		if (add(r, &r->sums[i], v[i]) < 0)
			return -1;
	/* Parts of the file's sums, which fit. */
	r->function->instructions += v[r->instructions];
	r->function->i1_misses += v[r->i1];
	return 0;
}

static bool is_position(char c)
{
	return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '*';
}

static int one_line(struct reading *r, const char *p)
{
	int done;

	if (!*p || *p == '#')
		return 0;
	if (is_position(*p))
		return cost_line(r, p);
	done = assignment(r, p);
	return done <= 0 ? done : header(r, p);
}

/* The present file's numbers of names mean nothing in the next one. */
static void reading_release(struct reading *r)
{
	for (size_t k = 0; k < KINDS; k++) {
		for (size_t i = 0; i < r->names[k].n; i++)
			free(r->names[k].v[i]);
		free(r->names[k].v);
	}
	free(r->object);
	free(r->file);
}

static int all_lines(struct reading *r)
{
	auto_buf struct buf text = BUF_INIT;

	while (r->p < r->end) {
		size_t left = (size_t)(r->end - r->p);
		const char *newline = memchr(r->p, '\n', left);
		size_t n = newline ? (size_t)(newline - r->p) : left;

		r->line++;
		if (memchr(r->p, '\0', n))
			return corrupt(r, "it holds a NUL");
		text.n = 0;
		buf_add(&text, r->p, n);
		if (one_line(r, buf_str(&text)) < 0)
			return -1;
		r->p += n + (newline != NULL);
	}
	if (!r->n_events || !r->has_totals)
		return corrupt(r, "it ends without '%s'", r->n_events ? "totals:" : "events:");
	for (size_t i = 0; i < r->n_events; i++)
		if (r->sums[i] != r->totals[i])
			return corrupt(r,
				"event %zu: the functions' costs add up to %llu, its totals are "
				"%llu",
				i + 1, (unsigned long long)r->sums[i],
				(unsigned long long)r->totals[i]);
	return 0;
}

static int take(struct callgrind *sum, struct callgrind *part, const struct reading *r)
{
	uint64_t instructions = r->sums[r->instructions], i1 = r->sums[r->i1];

	if (instructions > UINT64_MAX - sum->instructions || i1 > UINT64_MAX - sum->i1_misses)
		return error_set(r->err, ERR_CORRUPT,
			"%s: with the other files its costs add up to more than 2^64", r->path);
	for (size_t i = 0; i < part->n; i++) {
		array_reserve(sum->v, sum->n, sum->cap);
		sum->v[sum->n++] = part->v[i];
	}
	part->n = 0;
	sum->instructions += instructions;
	sum->i1_misses += i1;
	return 0;
}

int callgrind_add(struct callgrind *sum, const char *path, struct error *err)
{
	struct callgrind part = {0};
	struct reading r = {.path = path, .err = err, .n_positions = 1, .into = &part};
	struct file_map m;
	int result;

	if (file_map(path, &m, err) < 0)
		return -1;
	r.p = (const char *)m.p;
	r.end = r.p + m.n;
	result = all_lines(&r);
	if (result == 0)
		result = take(sum, &part, &r);
	reading_release(&r);
	callgrind_release(&part);
	file_unmap(&m);
	return result;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
	const struct callgrind_function *x = a, *y = b;
	int r = strcmp(x->object, y->object);

	return r ? r : strcmp(x->name, y->name);
}

static int by_cost(const void *a, const void *b)
{
	const struct callgrind_function *x = a, *y = b;

	if (x->instructions != y->instructions)
		return x->instructions < y->instructions ? 1 : -1;
	return by_name(a, b);
}

static void function_release(struct callgrind_function *f)
{
	free(f->object);
	free(f->name);
}

void callgrind_sort(struct callgrind *sum)
{
	size_t n = 0;

	if (!sum->n)
		return;
	qsort(sum->v, sum->n, sizeof(*sum->v), by_name);
	for (size_t i = 1; i < sum->n; i++) {
		struct callgrind_function *to = &sum->v[n], *from = &sum->v[i];

		if (by_name(to, from) != 0) {
			sum->v[++n] = *from;
			continue;
		}
		to->instructions += from->instructions;
		to->i1_misses += from->i1_misses;
		to->known |= from->known;
		to->assembly |= from->assembly;
		function_release(from);
	}
	sum->n = n + 1;
	qsort(sum->v, sum->n, sizeof(*sum->v), by_cost);
}

void callgrind_release(struct callgrind *sum)
{
	for (size_t i = 0; i < sum->n; i++)
		function_release(&sum->v[i]);
	free(sum->v);
	memset(sum, 0, sizeof(*sum));
}
