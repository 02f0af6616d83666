/* Answers that are wrong on demand: /wrong/KIND/N/PATH. */
#include "origin/server.h"

/* Counted by kind over the life of the origin, so that of any N requests in a row exactly one is
 * answered wrongly, whatever connections they come by. */
enum fault fault_of(struct origin *o, const struct route *r)
{
	if (r->fault == FAULT_NONE || ++o->fault_count[r->fault] % r->every != 0)
		return FAULT_NONE;
	return r->fault;
}

static void no_answer(struct answer *a, enum answer_after after)
{
	a->nothing = true;
	a->after = (uint8_t)after;
}

static void half_answer(struct answer *a, enum answer_after after)
{
	a->end -= (a->end - a->off + 1) / 2;
	a->after = (uint8_t)after;
}

static void missing_fields(struct exchange *x)
{
	x->reply.type = NULL;
	x->reply.etag = false;
	buf_clear(&x->extra);
}

void answer_spoil(struct exchange *x)
{
	struct answer *a = &x->answer;

	switch ((enum fault)x->fault) {
	case FAULT_STATUS:
		x->reply.status = x->reply.status == 500 ? 502 : 500;
		break;
	case FAULT_SHORT:
		if (a->off < a->end) {
			a->end--;
			x->reply.length--;
		}
		break;
	case FAULT_CUT:
		if (a->off < a->end)
			a->end--;
		a->after = AFTER_CUT;
		break;
	case FAULT_BYTE:
		a->flip = true;
		a->flip_at = a->off + (a->end - a->off) / 2;
		break;
	case FAULT_HEADER:
		missing_fields(x);
		break;
	case FAULT_HALF:
		half_answer(a, AFTER_CLOSE);
		break;
	case FAULT_STALL:
		half_answer(a, AFTER_STALL);
		break;
	case FAULT_GOAWAY:
		half_answer(a, AFTER_GOAWAY);
		break;
	case FAULT_ALERT:
		half_answer(a, AFTER_ALERT);
		break;
	case FAULT_RESET:
		no_answer(a, AFTER_RESET);
		break;
	case FAULT_CLOSE:
		no_answer(a, AFTER_GONE);
		break;
	default:
		break;
	}
}
