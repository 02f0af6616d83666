/* whet origin: the built-in upstream server in the foreground. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/opt.h"
#include "origin/origin.h"

struct announcement {
	const char *host;
	bool quiet;
};

static void announce(void *ctx, const struct origin_ports *p)
{
	const struct announcement *a = ctx;

	if (a->quiet)
		return;
	printf("listening on %s:%d\n", a->host, p->http);
	if (p->tls != ORIGIN_NO_PORT)
		printf("listening on %s:%d with TLS\n", a->host, p->tls);
	if (p->dead != ORIGIN_NO_PORT)
		printf("refusing on %s:%d\n", a->host, p->dead);
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

static int check_port(const char *option, int64_t port, int64_t min, struct error *err)
{
	if (port >= min && port <= 65535)
		return 0;
	return error_set(
		err, ERR_USAGE, "%s is %lld; expected 0 to 65535", option, (long long)port);
}

struct choice {
	char *host, *certs, *key;
	int64_t port, tls, dead;
	bool no_resume;
};

static int check(const struct choice *c, const struct strv *args, struct error *err)
{
	if (args->n)
		return error_set(err, ERR_USAGE, "origin takes no argument, got '%s'", args->v[0]);
	if (check_port("--port", c->port, 0, err) < 0 ||
		check_port("--tls-port", c->tls, ORIGIN_NO_PORT, err) < 0 ||
		check_port("--dead-port", c->dead, ORIGIN_NO_PORT, err) < 0)
		return -1;
	if (strcmp(c->key, "ecdsa") != 0 && strcmp(c->key, "rsa") != 0)
		return error_set(err, ERR_USAGE, "--key is '%s'; expected ecdsa or rsa", c->key);
	return 0;
}

static void release(struct choice *c)
{
	free(c->host);
	free(c->certs);
	free(c->key);
}

static char *help_text(void)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, "Serves HTTP/1.1 and HTTP/2 on loopback until SIGTERM or SIGINT. The path "
		     "says what the answer is:\n\n");
	for (size_t i = 0; origin_paths[i][0]; i++)
		buf_addf(&b, "  %-24s %s\n", origin_paths[i][0], origin_paths[i][1]);
	buf_adds(&b, "\nThe pattern is lines of 16 bytes, each its own offset in hexadecimal.");
	return buf_detach(&b);
}

static int run(struct cli *cli, int argc, char **argv)
{
	__attribute__((cleanup(release))) struct choice c = {.host = xstrdup("127.0.0.1"),
		.key = xstrdup("ecdsa"),
		.tls = ORIGIN_NO_PORT,
		.dead = ORIGIN_NO_PORT};
	struct opt opts[] = {
		{"host", 0, OPT_STRING, "ADDRESS", "loopback address to listen on (127.0.0.1)",
			&c.host},
		{"port", 'p', OPT_NUMBER, "N", "port to listen on (default: chosen, and printed)",
			&c.port},
		{"tls-port", 0, OPT_NUMBER, "N", "listen there with TLS, too (0: chosen)", &c.tls},
		{"dead-port", 0, OPT_NUMBER, "N", "keep that port such that it refuses (0: chosen)",
			&c.dead},
		{"certs", 0, OPT_STRING, "FOLDER",
			"where the certificates are, or are put (default: in memory)", &c.certs},
		{"key", 0, OPT_STRING, "KIND", "ecdsa (default) or rsa", &c.key},
		{"no-resume", 0, OPT_FLAG, NULL, "every TLS handshake is a full one", &c.no_resume},
		{NULL},
	};
	struct error err = ERROR_INIT;
	auto_free char *text = help_text();
	auto_strv struct strv args = STRV_INIT;
	struct verb verb = verb_origin;
	struct announcement a;
	struct origin_options o = {.ready_fd = -1, .ready = announce, .ready_ctx = &a};
	int r;

	verb.text = text;
	r = opt_parse(cli, &verb, opts, argc, argv, &args, &err);
	if (r > 0)
		return 0;
	if (r == 0)
		r = check(&c, &args, &err);
	a = (struct announcement){c.host, cli->quiet};
	o.host = c.host;
	o.ports = (struct origin_ports){(int)c.port, (int)c.tls, (int)c.dead};
	o.certs = c.certs;
	o.key = c.key;
	o.no_resume = c.no_resume;
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
	.run = run,
};
