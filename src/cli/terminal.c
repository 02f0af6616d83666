#include "cli/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

struct terminal {
	struct events events;
	bool live, color, quiet, verbose;
	bool line; /* a live line is on the screen */
	char *stage;
	uint64_t stage_start, last_drawn;
};

static unsigned columns(void)
{
	struct winsize w;

	return ioctl(2, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 80;
}

static void clear_line(struct terminal *t)
{
	if (t->line)
		fputs("\r\033[K", stderr);
	t->line = false;
}

static const char *paint(const struct terminal *t, const char *code)
{
	return t->color ? code : "";
}

/* "2:05 left", from the share done and the time used; empty while nothing can be said. */
static void add_remaining(const struct terminal *t, struct buf *b, uint64_t done, uint64_t total)
{
	uint64_t used = clock_mono_ns() - t->stage_start, left;

	if (!total || done * 50 < total || done >= total)
		return;
	left = (uint64_t)((double)used / (double)done * (double)(total - done)) / NS_PER_S;
	buf_addf(b, "  %" PRIu64 ":%02" PRIu64 " left", left / 60, left % 60);
}

/* "instrumented build, round 2" */
#define TITLE_COLUMNS 27

static void draw(struct terminal *t, const struct event *e)
{
	auto_buf struct buf b = BUF_INIT;
	uint64_t now = clock_mono_ns(), used = (now - t->stage_start) / NS_PER_S;

	if (!t->live || (t->line && now - t->last_drawn < 100 * NS_PER_MS))
		return;
	buf_addf(&b, "  %-*s %3" PRIu64 " s  ", TITLE_COLUMNS, t->stage ? t->stage : "", used);
	if (e && e->text)
		buf_adds(&b, e->text);
	if (e && e->total)
		buf_addf(&b, "  %" PRIu64 "/%" PRIu64, e->done, e->total);
	else if (e && e->done)
		buf_addf(&b, "  %" PRIu64, e->done);
	if (e)
		add_remaining(t, &b, e->done, e->total);
	clear_line(t);
	fprintf(stderr, "%.*s", (int)columns() - 1, buf_str(&b));
	fflush(stderr);
	t->line = true;
	t->last_drawn = now;
}

static void begin(struct terminal *t, const struct event *e)
{
	free(t->stage);
	t->stage = xstrdup(e->name);
	t->stage_start = clock_mono_ns();
	t->last_drawn = 0;
	if (!t->live && t->verbose)
		fprintf(stderr, "  %s ...\n", e->name);
	draw(t, NULL);
}

static void end(struct terminal *t, const struct event *e)
{
	bool stopped = e->text && strcmp(e->text, "stopped") == 0;

	clear_line(t);
	if (t->quiet)
		return;
	fprintf(stderr, "%s%s%s %-*s %6.1f s%s%s\n", paint(t, stopped ? "\033[31m" : "\033[32m"),
		stopped ? "✗" : "✓", paint(t, "\033[0m"), TITLE_COLUMNS, e->name,
		(double)e->done / 1e9, e->text ? "  " : "", e->text ? e->text : "");
}

static void say(struct terminal *t, const char *mark, const char *text)
{
	clear_line(t);
	if (!t->quiet)
		fprintf(stderr, "  %s%s\n", mark, text);
}

static void emit(void *ctx, const struct event *e)
{
	struct terminal *t = ctx;

	switch (e->kind) {
	case EVENT_NODE_BEGIN:
		begin(t, e);
		break;
	case EVENT_NODE_END:
		end(t, e);
		break;
	case EVENT_NODE_REUSED:
		if (t->verbose)
			say(t, "from the store: ", e->name);
		break;
	case EVENT_PROGRESS:
		draw(t, e);
		break;
	case EVENT_DETAIL:
		if (t->verbose)
			say(t, "", e->text);
		break;
	case EVENT_NOTE:
		say(t, "", e->text);
		break;
	case EVENT_WARNING:
		say(t, "warning: ", e->text);
		break;
	}
}

struct terminal *terminal_new(const struct cli *cli)
{
	struct terminal *t = xcalloc(1, sizeof(*t));
	const char *term = getenv("TERM");

	t->events = (struct events){emit, t};
	t->quiet = cli->quiet;
	t->verbose = cli->verbose;
	t->live = !cli->quiet && isatty(2) && term && strcmp(term, "dumb") != 0;
	t->color = cli_use_color(cli, stderr);
	return t;
}

const struct events *terminal_events(struct terminal *t)
{
	return &t->events;
}

void terminal_free(struct terminal *t)
{
	if (!t)
		return;
	clear_line(t);
	free(t->stage);
	free(t);
}
