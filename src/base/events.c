#include "base/events.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/buf.h"

void events_emit(const struct events *ev, const struct event *e)
{
	if (ev && ev->emit)
		ev->emit(ev->ctx, e);
}

void events_progress(
	const struct events *ev, const char *name, const char *text, uint64_t done, uint64_t total)
{
	struct event e = {EVENT_PROGRESS, name, text, done, total};

	events_emit(ev, &e);
}

__attribute__((format(printf, 3, 0))) static void emit_text(
	const struct events *ev, enum event_kind kind, const char *fmt, va_list ap)
{
	auto_buf struct buf b = BUF_INIT;
	struct event e = {.kind = kind};

	buf_vaddf(&b, fmt, ap);
	e.text = buf_str(&b);
	events_emit(ev, &e);
}

void events_detail(const struct events *ev, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit_text(ev, EVENT_DETAIL, fmt, ap);
	va_end(ap);
}

void events_note(const struct events *ev, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit_text(ev, EVENT_NOTE, fmt, ap);
	va_end(ap);
}

void events_warning(const struct events *ev, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit_text(ev, EVENT_WARNING, fmt, ap);
	va_end(ap);
}
