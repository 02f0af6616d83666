/* whet origin: the built-in upstream server in the foreground. */
#include <signal.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/opt.h"
#include "origin/origin.h"

struct announcement {
	const char *host;
	bool quiet;
};

static void announce(void *ctx, uint16_t port)
{
	const struct announcement *a = ctx;

	if (a->quiet)
		return;
	printf("listening on %s:%u\n", a->host, port);
	fflush(stdout);
}

/* For good: a second signal must not kill the process while it ends in order. */
static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int run(struct cli *cli, int argc, char **argv)
{
	auto_free char *host = xstrdup("127.0.0.1");
	int64_t port = 0;
	struct opt opts[] = {
		{"host", 0, OPT_STRING, "ADDRESS", "loopback address to listen on (127.0.0.1)",
			&host},
		{"port", 'p', OPT_NUMBER, "N", "port to listen on (default: chosen, and printed)",
			&port},
		{NULL},
	};
	struct error err = ERROR_INIT;
	auto_strv struct strv args = STRV_INIT;
	struct announcement a;
	struct origin_options o = {.ready_fd = -1, .ready = announce, .ready_ctx = &a};
	int r = opt_parse(cli, &verb_origin, opts, argc, argv, &args, &err);

	if (r > 0)
		return 0;
	if (r == 0 && args.n)
		r = error_set(&err, ERR_USAGE, "origin takes no argument, got '%s'", args.v[0]);
	if (r == 0 && (port < 0 || port > 65535))
		r = error_set(
			&err, ERR_USAGE, "--port is %lld; expected 0 to 65535", (long long)port);
	a = (struct announcement){host, cli->quiet};
	o.host = host;
	o.port = (uint16_t)port;
	if (r == 0)
		block_signals();
	if (r < 0 || origin_serve(&o, &err) < 0)
		return cli_fail(&err);
	return 0;
}

const struct verb verb_origin = {
	.name = "origin",
	.args = "",
	.summary = "run the built-in upstream server",
	.text = "Serves HTTP/1.1 on loopback until SIGTERM or SIGINT. The path says what the "
		"answer "
		"is: /bytes/N, /chunked/N, /echo, /status/N, /delay/MS/PATH, /reset, /close, "
		"/half/N, /slow/N, /health.",
	.run = run,
};
