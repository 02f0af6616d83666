/* The lines of `perf script`: events and entries of branch stacks. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "layout/branch_internal.h"

int branch_line_error(const struct branch_line *l, struct error *err, const char *what)
{
	size_t n = (size_t)(l->end - l->p);
	bool cut = n > 40;
	char found[48];

	n = cut ? 40 : n;
	for (size_t k = 0; k < n; k++)
		found[k] = l->p[k] >= ' ' && l->p[k] < 0x7f ? l->p[k] : '?';
	found[n] = 0;
	return error_set(err, ERR_CORRUPT, "line %" PRIu64 ": %s, found '%s%s'", l->number, what,
		found, cut ? "…" : "");
}

void branch_line_spaces(struct branch_line *l)
{
	while (l->p < l->end && (*l->p == ' ' || *l->p == '\t'))
		l->p++;
}

bool branch_line_word(struct branch_line *l, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(l->end - l->p) < n || memcmp(l->p, word, n) != 0)
		return false;
	l->p += n;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

bool branch_line_hex(struct branch_line *l, uint64_t *ret)
{
	const char *p = l->p, *first;
	uint64_t v = 0;

	if (l->end - p > 2 && p[0] == '0' && p[1] == 'x')
		p += 2;
	for (first = p; p < l->end && hex_digit(*p) >= 0; p++)
		v = v << 4 | (uint64_t)hex_digit(*p);
	if (p == first || p - first > 16)
		return false;
	l->p = p;
	*ret = v;
	return true;
}

bool branch_line_number(struct branch_line *l, int64_t *ret)
{
	const char *p = l->p, *first;
	bool minus = p < l->end && *p == '-';
	int64_t v = 0;

	p += minus;
	for (first = p; p < l->end && *p >= '0' && *p <= '9' && p - first < 18; p++)
		v = v * 10 + (*p - '0');
	if (p == first || (p < l->end && *p >= '0' && *p <= '9'))
		return false;
	l->p = p;
	*ret = minus ? -v : v;
	return true;
}

/* The flags of an entry: 'P', 'M' or '-' (not told), and since Linux 6.14 'N' for a branch that was
 * not taken. */
static bool read_flags(struct branch_line *l, struct branch_entry *ret)
{
	if (l->p == l->end || !strchr("PM-", *l->p) || !*l->p)
		return false;
	ret->mispredicted = *l->p++ == 'M';
	ret->not_taken = branch_line_word(l, "N");
	return branch_line_word(l, "/");
}

static bool ends_field(const struct branch_line *l)
{
	return l->p == l->end || *l->p == '/' || *l->p == ' ' || *l->p == '\t';
}

/* What follows the flags: two fields on transactions, cycles; kind and speculation since
 * Linux 5.18; newer versions may add some. */
static bool read_rest(struct branch_line *l, struct branch_entry *ret)
{
	size_t fields = 0;

	do {
		const char *field = l->p;

		while (!ends_field(l))
			l->p++;
		if (l->p == field)
			return false;
		if (++fields == 4)
			ret->is_return = l->p - field == 3 && memcmp(field, "RET", 3) == 0;
	} while (branch_line_word(l, "/"));
	return fields >= 3;
}

int branch_entry_read(struct branch_line *l, struct branch_entry *ret, struct error *err)
{
	struct branch_line at = *l;
	struct branch_entry e = {0};

	if (!branch_line_word(&at, "0x") || !branch_line_hex(&at, &e.from) ||
		!branch_line_word(&at, "/0x") || !branch_line_hex(&at, &e.to) ||
		!branch_line_word(&at, "/") || !read_flags(&at, &e) || !read_rest(&at, &e))
		return branch_line_error(l, err,
			"expected an entry of a branch stack (0xFROM/0xTO/P|M|-/-/-/CYCLES/…)");
	*l = at;
	*ret = e;
	return 0;
}

/* "PID/TID: [0xSTART(0xSIZE) @ OFFSET" */
static bool read_range(struct branch_line *l, struct branch_text_event *ret)
{
	uint64_t size;
	int64_t tid;

	if (!branch_line_number(l, &ret->pid) || !branch_line_word(l, "/") ||
		!branch_line_number(l, &tid) || !branch_line_word(l, ": [") ||
		!branch_line_hex(l, &ret->map.start) || !branch_line_word(l, "(") ||
		!branch_line_hex(l, &size) || !branch_line_word(l, ") @ ") ||
		!branch_line_hex(l, &ret->map.offset) || size > UINT64_MAX - ret->map.start)
		return false;
	ret->map.end = ret->map.start + size;
	return true;
}

/* "PID/TID: [0xSTART(0xSIZE) @ OFFSET DEVICE INODE GENERATION]: r-xp FILE", with "<BUILD-ID>" for
 * the three before the bracket when the kernel wrote that, and without them and with "x" for "r-xp"
 * in the older PERF_RECORD_MMAP. */
static bool read_map(struct branch_line *l, struct branch_text_event *ret)
{
	const char *bracket, *right;

	if (!read_range(l, ret))
		return false;
	bracket = memmem(l->p, (size_t)(l->end - l->p), "]: ", 3);
	if (!bracket)
		return false;
	if (branch_line_word(l, " <") && bracket > l->p && bracket[-1] == '>') {
		ret->build_id = l->p;
		ret->build_id_n = (size_t)(bracket - 1 - l->p);
	}
	right = bracket + 3;
	ret->file = memchr(right, ' ', (size_t)(l->end - right));
	if (!ret->file)
		return false;
	if (memchr(right, 'x', (size_t)(ret->file - right)))
		ret->kind = BRANCH_EVENT_MAP;
	ret->file++;
	ret->file_n = (size_t)(l->end - ret->file);
	return true;
}

/* "(PID:TID):(PARENT:TID)"; a thread has its process's pid. */
static bool read_fork(struct branch_line *l, struct branch_text_event *ret)
{
	int64_t tid, parent_tid;

	if (!branch_line_word(l, "(") || !branch_line_number(l, &ret->pid) ||
		!branch_line_word(l, ":") || !branch_line_number(l, &tid) ||
		!branch_line_word(l, "):(") || !branch_line_number(l, &ret->parent) ||
		!branch_line_word(l, ":") || !branch_line_number(l, &parent_tid) ||
		!branch_line_word(l, ")"))
		return false;
	if (ret->pid != ret->parent)
		ret->kind = BRANCH_EVENT_FORK;
	return true;
}

/* "NAME:PID/TID"; the name is what the process likes. */
static bool read_exec(struct branch_line *l, struct branch_text_event *ret)
{
	const char *colon = memrchr(l->p, ':', (size_t)(l->end - l->p));

	ret->kind = BRANCH_EVENT_EXEC;
	if (colon)
		l->p = colon + 1;
	return colon && branch_line_number(l, &ret->pid) && branch_line_word(l, "/");
}

static bool read_lost(struct branch_line *l, struct branch_text_event *ret)
{
	int64_t n;

	ret->kind = BRANCH_EVENT_LOST;
	if (!branch_line_number(l, &n) || n < 0)
		return false;
	ret->lost = (uint64_t)n;
	return true;
}

int branch_event_read(struct branch_line *l, struct branch_text_event *ret, struct error *err)
{
	static const struct {
		const char *word;
		bool (*read)(struct branch_line *, struct branch_text_event *);
	} kinds[] = {
		{"PERF_RECORD_MMAP2 ", read_map},
		{"PERF_RECORD_MMAP ", read_map},
		{"PERF_RECORD_FORK", read_fork},
		{"PERF_RECORD_COMM exec: ", read_exec},
		{"PERF_RECORD_LOST lost ", read_lost},
		{"PERF_RECORD_LOST_SAMPLES lost ", read_lost},
	};
	struct branch_line whole = *l;
	struct branch_text_event e = {0};

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		if (branch_line_word(l, kinds[k].word)) {
			if (!kinds[k].read(l, &e))
				return branch_line_error(
					&whole, err, "an event that is not as perf writes it");
			break;
		}
	*ret = e;
	return 0;
}
