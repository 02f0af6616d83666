/* Which request comes next, when, and what becomes of one that has to be sent again. */
#include "load/driver.h"

#include "base/clock.h"

static void queue_add(struct load *l, struct exchange *x)
{
	if (x->queued)
		return;
	x->queued = true;
	x->next = NULL;
	*l->queue_end = x;
	l->queue_end = &x->next;
}

static struct exchange *queue_take(struct load *l)
{
	struct exchange *x = l->queue;

	l->queue = x->next;
	if (!l->queue)
		l->queue_end = &l->queue;
	x->queued = false;
	return x;
}

static uint64_t due_ns(const struct load *l)
{
	uint64_t i = l->slice_requests - l->order.total_left;

	return l->begun + (uint64_t)((unsigned __int128)i * NS_PER_S / l->plan.rate);
}

uint64_t exchange_next_ns(const struct load *l)
{
	return l->queue && l->order.total_left ? due_ns(l) : UINT64_MAX;
}

static void start(struct load *l, struct exchange *x, size_t class)
{
	x->class = (uint32_t)class;
	x->seq = l->slice_requests - l->order.total_left;
	x->retried = false;
	x->refused = 0;
	l->under_way++;
	conn_request(l, x);
}

/* Answers that others learn from come first, one by one. false: all are there. */
static bool teach(struct load *l, struct exchange *x)
{
	size_t class = learn_next(l);

	if (class == l->plan.n_mix)
		return false;
	l->classes[class].asked = true;
	x->started_ns = l->now;
	order_take(&l->order, class);
	start(l, x, class);
	return true;
}

/* Gives the exchange its next request, if there is one and its time has come. */
static void next(struct load *l, struct exchange *x)
{
	if (l->order.total_left == 0 || l->problem || l->failed)
		return;
	x->started_ns = l->now;
	if (l->plan.rate) {
		uint64_t due = due_ns(l);

		if (due > l->now) {
			queue_add(l, x);
			return;
		}
		x->started_ns = due;
	}
	start(l, x, order_next(&l->order));
}

static void begin_others(struct load *l)
{
	/* A stream of each connection, then the second one of each. */
	for (uint32_t s = 0; s < l->streams; s++) {
		for (uint32_t i = 0; i < l->plan.connections && l->order.total_left; i++) {
			struct exchange *x = &l->conns[i].x[s];

			if (x->state == EXCHANGE_IDLE && !x->queued)
				next(l, x);
		}
	}
	for (uint32_t i = 0; i < l->plan.connections && !l->failed; i++)
		conn_flush(l, &l->conns[i]);
}

void exchange_begin_all(struct load *l)
{
	l->queue = NULL;
	l->queue_end = &l->queue;
	for (uint32_t i = 0; i < l->plan.connections * l->streams; i++)
		l->exchanges[i].queued = false;
	for (size_t i = 0; i < l->plan.n_mix; i++)
		l->classes[i].asked = false;
	l->teaching = l->order.total_left && teach(l, l->conns[0].x);
	if (l->teaching)
		conn_flush(l, l->conns);
	else
		begin_others(l);
}

void exchange_done(struct load *l, struct exchange *x)
{
	struct conn *c = x->c;

	if (!answer_end_ok(l, x))
		return;
	l->now = clock_mono_ns();
	histogram_add(&l->latency, l->now - x->started_ns);
	l->by_class[x->class]++;
	l->answered++;
	l->under_way--;
	c->served++;
	c->active--;
	x->state = EXCHANGE_IDLE;
	if (!l->teaching) {
		next(l, x);
	} else if (l->order.total_left && !l->problem && !teach(l, x)) {
		l->teaching = false;
		begin_others(l);
	}
}

bool exchange_again(struct load *l, struct exchange *x, bool unprocessed)
{
	if (unprocessed && ++x->refused > LOAD_REFUSED_MAX)
		return false;
	/* Sent once more when the server cannot have begun with it as far as HTTP can tell: a kept
	 * connection, no byte of an answer, an idempotent method. */
	if (!unprocessed &&
		(x->retried || x->answer_n || !x->c->served || !l->classes[x->class].idempotent))
		return false;
	x->retried |= !unprocessed;
	l->retries++;
	x->c->active--;
	answer_drop(l, x);
	conn_request(l, x);
	return true;
}

void exchange_begin_due(struct load *l)
{
	while (exchange_next_ns(l) <= l->now && !l->problem && !l->failed) {
		struct exchange *x = queue_take(l);

		next(l, x);
		conn_flush(l, x->c);
	}
}
