/* What the figures of a run say about what held it up. */
#include "base/clock.h"
#include "base/mem.h"
#include "load/load.h"

#define LEAST_NS (20 * NS_PER_MS) /* shorter runs say nothing */
#define DRIVER_FULL 0.95          /* of a processor */
#define SERVER_FREE 0.85
#define BOTH_IDLE 0.10
/* Linux delays an acknowledgement by 40 ms; the histogram knows values within 1/32. */
#define DELAY_FROM (39 * NS_PER_MS)
#define DELAY_TO (46 * NS_PER_MS)

char *load_remark(const struct load_result *r, uint64_t server_cpu_ns)
{
	double driver, server;

	if (r->wall_ns < LEAST_NS)
		return NULL;
	driver = (double)r->cpu_ns / (double)r->wall_ns;
	server = (double)server_cpu_ns / (double)r->wall_ns;
	if (driver >= DRIVER_FULL && server < SERVER_FREE)
		return xasprintf(
			"the load driver is the bottleneck: it used %.0f %% of its processor, the "
			"server %.0f %% of one",
			driver * 100, server * 100);
	if (driver + server < BOTH_IDLE && r->latency_p50_ns >= DELAY_FROM &&
		r->latency_p50_ns <= DELAY_TO)
		return xasprintf(
			"half of the answers take %.1f ms or more while both ends are idle (%.1f "
			"%% of a "
			"processor): a delayed-ACK stall. Somebody sends a message in two parts, "
			"and "
			"Nagle's algorithm holds the second back until the kernel acknowledges the "
			"first, 40 ms later: set TCP_NODELAY there, or send both at once",
			(double)r->latency_p50_ns / NS_PER_MS, (driver + server) * 100);
	return NULL;
}
