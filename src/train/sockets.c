/* The service's ends of its connections, for a phase that ran out of time: whether it has read what
 * was sent to it, and whether its answer lies in the kernel. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "train/internal.h"

#define LINES_MAX 20

static const char *state_name(unsigned int state)
{
	static const char *const names[] = {"?", "established", "syn-sent", "syn-received",
		"fin-wait-1", "fin-wait-2", "time-wait", "closed", "close-wait", "last-ack",
		"listen", "closing"};

	return state < ARRAY_SIZE(names) ? names[state] : names[0];
}

/* One line of /proc/net/tcp; false when it is of another port. */
static bool describe(const char *line, uint16_t port, bool listening, struct buf *ret)
{
	unsigned int local, remote, state, tx, rx;

	if (sscanf(line, " %*d: %*x:%x %*x:%x %x %x:%x", &local, &remote, &state, &tx, &rx) != 5)
		return false;
	if (local != port || (state == 10) != listening)
		return false;
	if (listening)
		buf_addf(ret, "service's port %u: listening, %u connections not accepted yet\n",
			local, rx);
	else
		buf_addf(ret,
			"service's end of port %u to %u: %s, %u bytes unread, %u bytes unsent\n",
			local, remote, state_name(state), rx, tx);
	return true;
}

char *sockets_text(uint16_t port)
{
	auto_buf struct buf table = BUF_INIT, kept = BUF_INIT, line = BUF_INIT;
	size_t n = 0;
	char *save = NULL;

	if (file_read("/proc/net/tcp", (size_t)16 << 20, &table, NULL) < 0 || !table.n)
		return xstrdup("");
	for (char *l = strtok_r(table.p, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		buf_clear(&line);
		if (describe(l, port, true, &line))
			buf_adds(&kept, buf_str(&line));
		else if (describe(l, port, false, &line) && n++ < LINES_MAX)
			buf_adds(&kept, buf_str(&line));
	}
	if (n > LINES_MAX)
		buf_addf(&kept, "and %zu more of its connections\n", n - LINES_MAX);
	if (kept.n)
		kept.p[--kept.n] = '\0';
	return xstrdup(buf_str(&kept));
}
