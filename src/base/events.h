/* How lower levels tell what is going on without printing: the command line supplies the
 * functions. All text is copied by the receiver. A NULL events pointer, or a NULL function, is
 * silence. */
#pragma once

#include <stdint.h>

enum event_kind {
	EVENT_NODE_BEGIN,  /* name: node, text: what it does */
	EVENT_NODE_END,    /* name: node, text: result, e.g. "131 objects"; done: nanoseconds */
	EVENT_NODE_REUSED, /* name: node: taken from the store */
	EVENT_PROGRESS,    /* name: node, text: what is running now, done of total (0: unknown) */
	EVENT_DETAIL,      /* text: for who asked for more */
	EVENT_NOTE,        /* text: something worth knowing */
	EVENT_WARNING,     /* text: something worth acting on */
};

struct event {
	enum event_kind kind;
	const char *name, *text;
	uint64_t done, total;
};

struct events {
	void (*emit)(void *ctx, const struct event *e);
	void *ctx;
};

void events_emit(const struct events *ev, const struct event *e);
void events_progress(
	const struct events *ev, const char *name, const char *text, uint64_t done, uint64_t total);
void events_detail(const struct events *ev, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void events_note(const struct events *ev, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void events_warning(const struct events *ev, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
