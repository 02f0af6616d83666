/* A request and its answer: what it holds. */
#include "origin/server.h"

#define KEPT_STAYS ((size_t)64 << 10) /* memory up to this serves the next request */

void exchange_clear(struct origin *o, struct exchange *x)
{
	if (x->echo)
		o->echo_bytes -= x->kept.n;
	x->echo = false;
	if (x->kept.cap > KEPT_STAYS)
		buf_release(&x->kept);
	else
		buf_clear(&x->kept);
	if (x->extra.n)
		buf_clear(&x->extra);
}

void exchange_release(struct origin *o, struct exchange *x)
{
	timer_clear(&o->timers, x);
	exchange_clear(o, x);
	buf_release(&x->kept);
	buf_release(&x->extra);
}

int exchange_keep(struct origin *o, struct exchange *x, const void *p, size_t n, uint64_t got)
{
	if (got > ORIGIN_BODY_MAX)
		return 413;
	if (!x->echo || n == 0)
		return 0;
	if (o->echo_bytes + n > ORIGIN_ECHO_MAX)
		return 503;
	buf_add(&x->kept, p, n);
	o->echo_bytes += n;
	return 0;
}
