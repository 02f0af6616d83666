#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

__attribute__((format(printf, 1, 0))) static char *format(const char *fmt, va_list ap)
{
	char *s = NULL;

	if (vasprintf(&s, fmt, ap) < 0)
		mem_exhausted();
	return s;
}

int error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
	va_list ap;
	char *s;

	if (!err)
		return -1;
	/* Formatted before the old message goes: it may be one of the arguments. */
	va_start(ap, fmt);
	s = format(fmt, ap);
	va_end(ap);
	free(err->msg);
	err->msg = s;
	err->code = code;
	return -1;
}

int error_context(struct error *err, const char *fmt, ...)
{
	va_list ap;
	char *front, *s;

	if (!err)
		return -1;
	va_start(ap, fmt);
	front = format(fmt, ap);
	va_end(ap);
	s = xasprintf("%s: %s", front, err->msg ? err->msg : "");
	free(front);
	free(err->msg);
	err->msg = s;
	return -1;
}

int error_move(struct error *dst, struct error *src)
{
	if (dst) {
		free(dst->msg);
		*dst = *src;
	} else {
		free(src->msg);
	}
	*src = (struct error)ERROR_INIT;
	return -1;
}

void error_release(struct error *err)
{
	free(err->msg);
	*err = (struct error)ERROR_INIT;
}

bool error_is_no_answer(const struct error *err)
{
	return err->code == ERR_TIMEOUT || err->code == ERR_KILLED;
}

int error_exit_code(enum error_code code)
{
	switch (code) {
	case ERR_NONE:
		return 0;
	case ERR_GATE:
		return 1;
	case ERR_USAGE:
	case ERR_CONFIG:
	case ERR_CORRUPT:
	case ERR_UNSUPPORTED:
	case ERR_MISMATCH:
		return 2;
	case ERR_ENVIRONMENT:
	case ERR_IO:
		return 3;
	case ERR_CHILD:
	case ERR_TIMEOUT:
	case ERR_KILLED:
		return 4;
	case ERR_INTERRUPTED:
		return 130;
	case ERR_INTERNAL:
		break;
	}
	return 5;
}
