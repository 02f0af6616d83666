#include "layout/branch_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "layout/branch_internal.h"

struct branch_reader {
	const struct branch_image *image;
	const char *name;
	struct branch_counts counts;
	struct branch_processes processes;
	struct branch_table table;
	struct buf rest; /* the beginning of a line that has not come whole */
	bool ended;
};

struct branch_reader *branch_reader_new(const struct branch_reader_options *o)
{
	struct branch_reader *r = xcalloc(1, sizeof(*r));

	r->image = o->image;
	r->name = o->recorded_as ? o->recorded_as : o->image->name;
	r->processes.max = o->max_processes ? o->max_processes : BRANCH_PROCESSES_MAX;
	r->table.max = o->max_distinct ? o->max_distinct : BRANCH_DISTINCT_MAX;
	r->rest.max = BRANCH_LINE_MAX + 1;
	return r;
}

void branch_reader_free(struct branch_reader *r)
{
	if (!r)
		return;
	branch_processes_release(&r->processes);
	branch_table_release(&r->table);
	buf_release(&r->rest);
	free(r);
}

const struct branch_counts *branch_reader_counts(const struct branch_reader *r)
{
	return &r->counts;
}

static bool same_text(const char *p, size_t n, const char *text)
{
	return strlen(text) == n && memcmp(p, text, n) == 0;
}

/* By its build-id where the event tells one, or else by the last component of its path. */
static bool is_program(struct branch_reader *r, const struct branch_text_event *e)
{
	static const char deleted[] = " (deleted)";
	const char *file = e->file, *slash;
	size_t n = e->file_n, k = sizeof(deleted) - 1;
	bool named;

	if (n > k && memcmp(file + n - k, deleted, k) == 0)
		n -= k;
	slash = memrchr(file, '/', n);
	if (slash) {
		n -= (size_t)(slash + 1 - file);
		file = slash + 1;
	}
	named = same_text(file, n, r->name);
	if (!e->build_id || !r->image->build_id)
		return named;
	if (same_text(e->build_id, e->build_id_n, r->image->build_id))
		return true;
	r->counts.other_builds += named;
	return false;
}

static int take_event(struct branch_reader *r, struct branch_line *l, struct error *err)
{
	struct branch_text_event e;

	if (branch_event_read(l, &e, err) < 0)
		return -1;
	switch (e.kind) {
	case BRANCH_EVENT_MAP:
		if (is_program(r, &e))
			return branch_process_map(
				&r->processes, e.pid, &e.map, &r->counts.processes, err);
		branch_process_unmap(&r->processes, e.pid, &e.map);
		return 0;
	case BRANCH_EVENT_FORK:
		return branch_process_fork(
			&r->processes, e.parent, e.pid, &r->counts.processes, err);
	case BRANCH_EVENT_EXEC:
		branch_process_drop(&r->processes, e.pid);
		return 0;
	case BRANCH_EVENT_LOST:
		r->counts.lost += e.lost;
		return 0;
	case BRANCH_EVENT_OTHER:
		break;
	}
	return 0;
}

/* What is known of a stack while its entries are read, the newest first. */
struct stack {
	const struct branch_process *process; /* NULL: not the program's */
	uint64_t next; /* where the branch after this one begins; BRANCH_NO_END: this is the last */
	uint64_t entries;
	bool of_program;
};

static void count_ends(struct branch_counts *c, bool from, bool to)
{
	if (from && to)
		c->inside++;
	else if (to)
		c->entering++;
	else if (from)
		c->leaving++;
	else
		c->outside++;
}

static int take_entry(
	struct branch_reader *r, struct stack *s, const struct branch_entry *e, struct error *err)
{
	struct branch_trace t = {.end = s->next, .count = 1, .mispredicted = e->mispredicted};

	s->entries++;
	if (!s->process)
		return 0;
	r->counts.branches++;
	/* An interrupt: the program went on where it was. */
	if ((e->from | e->to) & BRANCH_RETURN) {
		r->counts.kernel++;
		return 0;
	}
	if (e->not_taken) {
		r->counts.not_taken++;
		return 0;
	}
	t.branch = branch_process_address(s->process, r->image, e->from);
	t.start = branch_process_address(s->process, r->image, e->to);
	s->next = t.branch;
	r->counts.mispredicted += e->mispredicted;
	count_ends(&r->counts, t.branch, t.start);
	if (!t.branch && !t.start)
		return 0;
	s->of_program = true;
	if (!t.start)
		t.end = BRANCH_NO_END;
	if (e->is_return)
		t.branch |= BRANCH_RETURN;
	return branch_table_add(&r->table, &t, err);
}

/* "-F pid,ip,brstack": the address is of no use here, as the stack does not end at it. */
static void pass_address(struct branch_line *l)
{
	struct branch_line at = *l;
	uint64_t ip;

	if (branch_line_hex(&at, &ip) && (at.p == at.end || *at.p == ' ' || *at.p == '\t'))
		*l = at;
	branch_line_spaces(l);
}

static int take_sample(
	struct branch_reader *r, struct branch_line *l, int64_t pid, struct error *err)
{
	struct stack s = {branch_process_find(&r->processes, pid), .next = BRANCH_NO_END};
	struct branch_entry e;

	pass_address(l);
	while (l->p < l->end) {
		if (branch_entry_read(l, &e, err) < 0 || take_entry(r, &s, &e, err) < 0)
			return -1;
		branch_line_spaces(l);
	}
	r->counts.samples++;
	if (!s.process)
		r->counts.foreign++;
	else if (!s.entries)
		r->counts.without_stack++;
	r->counts.of_program += s.of_program;
	return 0;
}

/* "PID" or "PID/TID", followed by an event or a sample. */
static int take_line(struct branch_reader *r, const char *p, size_t n, struct error *err)
{
	struct branch_line l = {p, p + n, ++r->counts.lines}, whole = l;
	int64_t pid, tid;

	branch_line_spaces(&l);
	if (l.p == l.end || *l.p == '#') /* "perf script --header" */
		return 0;
	if (!branch_line_number(&l, &pid) ||
		(branch_line_word(&l, "/") && !branch_line_number(&l, &tid)) ||
		(l.p < l.end && *l.p != ' ' && *l.p != '\t'))
		return branch_line_error(&whole, err,
			"neither an event nor a sample of `perf script -F pid,brstack`");
	branch_line_spaces(&l);
	if (l.end - l.p > 12 && memcmp(l.p, "PERF_RECORD_", 12) == 0)
		return take_event(r, &l, err);
	return take_sample(r, &l, pid, err);
}

static int too_long(const struct branch_reader *r, struct error *err)
{
	return error_set(err, ERR_CORRUPT, "line %" PRIu64 ": longer than %zu bytes",
		r->counts.lines + 1, BRANCH_LINE_MAX);
}

/* The end of a line whose beginning came earlier. */
static int take_rest(struct branch_reader *r, const char *p, size_t n, struct error *err)
{
	int result;

	if (r->rest.n + n > BRANCH_LINE_MAX)
		return too_long(r, err);
	if (!r->rest.n)
		return take_line(r, p, n, err);
	buf_add(&r->rest, p, n);
	result = take_line(r, r->rest.p, r->rest.n, err);
	buf_clear(&r->rest);
	return result;
}

int branch_reader_add(struct branch_reader *r, const char *text, size_t n, struct error *err)
{
	const char *end = text + n;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		if (!newline) {
			if (r->rest.n + (size_t)(end - text) > BRANCH_LINE_MAX)
				return too_long(r, err);
			buf_add(&r->rest, text, (size_t)(end - text));
			return 0;
		}
		if (take_rest(r, text, (size_t)(newline - text), err) < 0)
			return -1;
		text = newline + 1;
	}
	return 0;
}

/* Which functions the traces touch, and how many of them the functions contradict. */
static void look_over(struct branch_reader *r)
{
	auto_free bool *seen = xcalloc(r->image->n_functions + 1, sizeof(bool));

	for (size_t k = 0; k < r->table.slots; k++) {
		const struct branch_trace *t = &r->table.v[k];
		size_t branch = branch_image_function(r->image, t->branch & ~BRANCH_RETURN);
		size_t start = branch_image_function(r->image, t->start), end;

		if (branch != SIZE_MAX)
			seen[branch] = true;
		if (start != SIZE_MAX)
			seen[start] = true;
		if (!t->start || !t->end || t->end == BRANCH_NO_END)
			continue;
		end = branch_image_function(r->image, t->end);
		r->counts.traces += t->count;
		if (t->end < t->start || (start != end && start != SIZE_MAX && end != SIZE_MAX))
			r->counts.contradicted += t->count;
	}
	for (size_t k = 0; k < r->image->n_functions; k++)
		r->counts.functions += seen[k];
}

int branch_reader_end(struct branch_reader *r, struct error *err)
{
	if (r->rest.n)
		return error_set(err, ERR_CORRUPT,
			"line %" PRIu64 ": the text ends within this line: it was cut off",
			r->counts.lines + 1);
	if (r->ended)
		return 0;
	branch_table_sort(&r->table);
	r->counts.distinct = r->table.n;
	look_over(r);
	r->ended = true;
	return 0;
}

#define PIECE ((size_t)1 << 20)

int branch_reader_take(struct branch_reader *r, int fd, struct error *err)
{
	auto_free char *piece = xmalloc(PIECE);

	for (;;) {
		ssize_t n = read(fd, piece, PIECE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(
				err, ERR_IO, "cannot read branch stacks: %s", strerror(errno));
		if (!n)
			return branch_reader_end(r, err);
		if (branch_reader_add(r, piece, (size_t)n, err) < 0)
			return -1;
	}
}

enum branch_format branch_format_for(unsigned llvm_major)
{
	return llvm_major >= 22 ? BRANCH_TRACES : BRANCH_PAIRS;
}

int branch_reader_write(
	struct branch_reader *r, enum branch_format format, const char *path, struct error *err)
{
	if (!r->ended)
		return error_set(err, ERR_INTERNAL, "branch stacks are written before their end");
	return branch_table_write(&r->table, r->image, format, path, err);
}
