#include "config/values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

static void wrong(struct problems *ps, const struct node *n, const char *name, const char *expected)
{
	auto_free char *what = node_describe(n);

	problem_add(ps, n, "'%s' must be %s, not %s", name, expected, what);
}

bool value_text(struct problems *ps, const struct node *n, const char *name, char **ret)
{
	if (n->kind != NODE_SCALAR || node_is_null(n) || !n->text[0]) {
		if (n->kind == NODE_SCALAR && !n->plain)
			problem_add(ps, n, "'%s' must be a text, not an empty one", name);
		else
			wrong(ps, n, name, "a text");
		return false;
	}
	free(*ret);
	*ret = xstrdup(n->text);
	return true;
}

bool value_bool(struct problems *ps, const struct node *n, const char *name, bool *ret)
{
	bool yes = n->kind == NODE_SCALAR && n->plain && !strcmp(n->text, "true");
	bool no = n->kind == NODE_SCALAR && n->plain && !strcmp(n->text, "false");

	if (!yes && !no) {
		wrong(ps, n, name, "true or false");
		return false;
	}
	*ret = yes;
	return true;
}

/* Reads the digits at the front of text; *end is what follows. false: none, or too many. */
static bool leading_number(const char *text, uint64_t *ret, const char **end)
{
	uint64_t v = 0;
	const char *p = text;

	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	*ret = v;
	*end = p;
	return p != text;
}

static bool all_digits(const char *s)
{
	return s[0] && s[strspn(s, "0123456789")] == 0;
}

bool value_number(struct problems *ps, const struct node *n, const char *name, uint64_t min,
	uint64_t max, uint64_t *ret)
{
	bool digits = n->kind == NODE_SCALAR && n->plain && all_digits(n->text);
	const char *end;
	uint64_t v;

	if (!digits && !(n->kind == NODE_SCALAR && n->plain && n->text[0] == '-' &&
			       all_digits(n->text + 1))) {
		wrong(ps, n, name, "a whole number");
		return false;
	}
	if (!digits || !leading_number(n->text, &v, &end) || v < min || v > max) {
		problem_add(ps, n, "'%s' must lie between %llu and %llu, not %s", name,
			(unsigned long long)min, (unsigned long long)max, n->text);
		return false;
	}
	*ret = v;
	return true;
}

bool value_weight(struct problems *ps, const struct node *n, const char *name, double *ret)
{
	char *end = NULL;
	double v = 0;

	if (n->kind == NODE_SCALAR && n->plain && strspn(n->text, "0123456789.") == strlen(n->text))
		v = strtod(n->text, &end);
	if (!end || end == n->text || *end) {
		wrong(ps, n, name, "a number above 0, such as 3 or 0.5");
		return false;
	}
	if (!(v > 0) || v > 1e6) {
		problem_add(ps, n, "'%s' must lie above 0 and at most at 1000000, not %s", name,
			n->text);
		return false;
	}
	*ret = v;
	return true;
}

bool value_percent(struct problems *ps, const struct node *n, const char *name, double *ret)
{
	char *end = NULL;
	double v = 0;

	if (n->kind == NODE_SCALAR && isdigit((unsigned char)n->text[0]) &&
		strspn(n->text, "0123456789.%") == strlen(n->text))
		v = strtod(n->text, &end);
	if (!end || strcmp(end, "%") != 0) {
		wrong(ps, n, name, "a percentage such as 0.5%");
		return false;
	}
	if (v < 0.01 || v > 50) {
		problem_add(ps, n, "'%s' must lie between 0.01%% and 50%%, not %s", name, n->text);
		return false;
	}
	*ret = v / 100;
	return true;
}

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit time_units[] = {
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000},
	{"m", 60ULL * 1000000000},
	{"min", 60ULL * 1000000000},
	{"h", 3600ULL * 1000000000},
};

static const struct unit size_units[] = {
	{"", 1},
	{"B", 1},
	{"kB", 1000},
	{"KB", 1000},
	{"MB", 1000000},
	{"GB", 1000000000},
	{"KiB", 1024},
	{"MiB", 1024 * 1024},
	{"GiB", 1024 * 1024 * 1024},
};

static const struct unit *find_unit(const struct unit *units, size_t n, const char *name)
{
	while (*name == ' ')
		name++;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

static void duration_text(uint64_t ns, struct buf *out)
{
	static const struct unit *const down[] = {
		&time_units[5], &time_units[3], &time_units[2], &time_units[1], &time_units[0]};

	for (size_t i = 0; i < ARRAY_SIZE(down); i++) {
		if (ns < down[i]->factor || ns % down[i]->factor)
			continue;
		buf_addf(out, "%llu%s", (unsigned long long)(ns / down[i]->factor), down[i]->name);
		return;
	}
	buf_addf(out, "%lluns", (unsigned long long)ns);
}

bool value_duration(struct problems *ps, const struct node *n, const char *name, uint64_t min,
	uint64_t max, uint64_t *ret)
{
	const struct unit *u;
	const char *end;
	uint64_t v;

	if (n->kind != NODE_SCALAR || !isdigit((unsigned char)n->text[0])) {
		wrong(ps, n, name, "a duration such as 300s or 50ms");
		return false;
	}
	if (all_digits(n->text)) {
		problem_add(ps, n,
			"'%s' needs a unit: write %ss for seconds or %sms for milliseconds", name,
			n->text, n->text);
		return false;
	}
	if (!leading_number(n->text, &v, &end))
		v = UINT64_MAX, end = n->text + strspn(n->text, "0123456789");
	u = find_unit(time_units, ARRAY_SIZE(time_units), end);
	if (!u) {
		problem_add(ps, n, "'%s' is no duration: a whole number and one of us, ms, s, m, h",
			n->text);
		return false;
	}
	if (__builtin_mul_overflow(v, u->factor, &v) || v < min || v > max) {
		auto_buf struct buf range = BUF_INIT;

		duration_text(min, &range);
		buf_adds(&range, " and ");
		duration_text(max, &range);
		problem_add(
			ps, n, "'%s' must lie between %s, not %s", name, buf_str(&range), n->text);
		return false;
	}
	*ret = v;
	return true;
}

bool value_size(
	struct problems *ps, const struct node *n, const char *name, uint64_t max, uint64_t *ret)
{
	const struct unit *u;
	const char *end;
	uint64_t v;

	if (n->kind != NODE_SCALAR || !isdigit((unsigned char)n->text[0])) {
		wrong(ps, n, name, "a number of bytes such as 4096 or 4KiB");
		return false;
	}
	if (!leading_number(n->text, &v, &end))
		v = UINT64_MAX, end = n->text + strspn(n->text, "0123456789");
	u = find_unit(size_units, ARRAY_SIZE(size_units), end);
	if (!u) {
		problem_add(ps, n,
			"'%s' is no size: a whole number, alone or with B, kB, MB, GB, KiB, MiB, "
			"GiB",
			n->text);
		return false;
	}
	if (__builtin_mul_overflow(v, u->factor, &v) || v > max) {
		problem_add(ps, n, "'%s' must be at most %llu bytes, not %s", name,
			(unsigned long long)max, n->text);
		return false;
	}
	*ret = v;
	return true;
}

#define WORD_MAX 40

static char fold(char c)
{
	return c == '_' ? '-' : (char)tolower((unsigned char)c);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

bool value_choice(struct problems *ps, const struct node *n, const char *name,
	const char *const *words, size_t *ret)
{
	auto_buf struct buf all = BUF_INIT;

	for (size_t i = 0; words[i]; i++) {
		if (n->kind == NODE_SCALAR && !node_is_null(n) && !strcmp(n->text, words[i])) {
			*ret = i;
			return true;
		}
		buf_addf(&all, "%s%s", !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
	}
	wrong(ps, n, name, buf_str(&all));
	return false;
}

unsigned edit_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	unsigned d[WORD_MAX + 1][WORD_MAX + 1];

	if (na > WORD_MAX || nb > WORD_MAX)
		return WORD_MAX;
	for (size_t i = 0; i <= na; i++)
		d[i][0] = (unsigned)i;
	for (size_t k = 0; k <= nb; k++)
		d[0][k] = (unsigned)k;
	for (size_t i = 1; i <= na; i++) {
		for (size_t k = 1; k <= nb; k++) {
			unsigned other = fold(a[i - 1]) != fold(b[k - 1]);

			d[i][k] = min3(d[i - 1][k] + 1, d[i][k - 1] + 1, d[i - 1][k - 1] + other);
			if (i > 1 && k > 1 && fold(a[i - 1]) == fold(b[k - 2]) &&
				fold(a[i - 2]) == fold(b[k - 1]) && d[i - 2][k - 2] + 1 < d[i][k])
				d[i][k] = d[i - 2][k - 2] + 1;
		}
	}
	return d[na][nb];
}

const char *nearest_word(const char *word, const char *const *words, size_t n)
{
	size_t len = strlen(word);
	unsigned best = len <= 3 ? 2 : len <= 6 ? 3 : 4; /* below this it is near */
	const char *ret = NULL;

	for (size_t i = 0; i < n; i++) {
		unsigned d = edit_distance(word, words[i]);

		if (d >= best)
			continue;
		best = d;
		ret = words[i];
	}
	return ret;
}
