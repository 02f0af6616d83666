/* The canary: fixed work on the subject's processor between rounds. What it costs says whether the
 * processor kept its speed; it sees neither caches nor the kernel, so nothing is corrected by it.
 */
#include <time.h>

#include "base/clock.h"
#include "bench/internal.h"

#define STEPS 250000 /* about 1 ms at 3 GHz */
#define REST 99      /* times its own cost between two: at most a hundredth of the time */
#define TABLE 2048   /* 16 KiB: inside the first cache */

static uint64_t work(const uint64_t *table, uint64_t x, unsigned int steps)
{
	for (unsigned int i = 0; i < steps; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		x += table[x % TABLE];
	}
	return x;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

int canary_run(struct bench *b, struct error *err)
{
	struct canary one = {.launch = b->launch, .at_ns = clock_mono_ns() - b->begun};
	static uint64_t table[TABLE];
	static volatile uint64_t sink; /* so that the work is done */
	uint64_t begun = own_cpu_ns(), before;

	if (one.at_ns < b->canary_next)
		return 0;
	if (!b->cores.alone && cores_pin_self(b->cores.subject, err) < 0)
		return -1;
	for (uint64_t i = 0; i < TABLE; i++)
		table[i] = i * 0x9e3779b97f4a7c15;
	sink = work(table, 1, STEPS / 20); /* the way here is not measured */
	before = own_cpu_ns();
	sink = work(table, sink | 1, STEPS);
	one.cpu_ns = own_cpu_ns() - before;
	if (!b->cores.alone && cores_pin_self(b->cores.driver, err) < 0)
		return -1;
	b->canary_next = clock_mono_ns() - b->begun + REST * (own_cpu_ns() - begun);
	samples_add_canary(&b->samples, &one);
	return 0;
}
