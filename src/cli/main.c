/* whet: sets up, finds the verb, lets it run, and checks that standard output was written. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cargo_whet.h"
#include "cli/opt.h"

static const struct verb *const verbs[] = {
	&verb_build,
	&verb_train,
	&verb_bench,
	&verb_explain,
	&verb_history,
	&verb_profile,
	&verb_clean,
	&verb_origin,
	NULL,
};

static void usage(FILE *to, bool cargo)
{
	fprintf(to,
		"usage: %swhet VERB [OPTIONS] [ARGUMENTS]\n\n"
		"Profile-guided release builds that can be trusted.\n\nverbs:\n",
		cargo ? "cargo " : "");
	for (size_t i = 0; verbs[i]; i++)
		fprintf(to, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
	fputs("\n`whet VERB --help` explains a verb. Exit codes: 0 done, 1 a gate stopped it, 2 "
	      "usage "
	      "or\nconfiguration, 3 the environment lacks something, 4 a program that whet ran "
	      "failed,\n5 internal error, 130 interrupted.\n",
		to);
}

/* Descriptors 0 to 2 must exist, or files opened later would take their place. What stands in for a
 * closed standard output cannot be written: a result that nobody gets is an error (cli_finish). */
static void ensure_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

static int unknown_verb(const char *word)
{
	const char *names[ARRAY_SIZE(verbs)];
	const char *close;
	struct error err = ERROR_INIT;
	size_t n = 0;

	for (; verbs[n]; n++)
		names[n] = verbs[n]->name;
	names[n] = NULL;
	close = cli_suggest(word, names);
	if (close)
		error_set(&err, ERR_USAGE, "unknown verb '%s'; did you mean '%s'?", word, close);
	else
		error_set(
			&err, ERR_USAGE, "unknown verb '%s'; `whet --help` lists the verbs", word);
	return cli_fail(&err);
}

/* A verb's exit code. */
static int run_verb(const struct verb *v, struct cli *cli, bool cargo, int argc, char **argv)
{
	int code;

	if (cargo) {
		cargo_whet_find_plan(cli);
		cargo_whet_environment();
	}
	code = v->run(cli, argc, argv);
	free(cli->plan);
	free(cli->no_plan);
	return cli_finish(code);
}

int main(int argc, char **argv)
{
	auto_free char *self = realpath("/proc/self/exe", NULL);
	struct cli cli = {.self = self ? self : argv[0]};
	bool cargo = cargo_whet_called(argv[0]);

	ensure_streams();
	signal(SIGPIPE, SIG_IGN);
	if (cargo && argc > 1 && strcmp(argv[1], "whet") == 0) {
		argc--;
		argv++;
	}
	if (argc < 2) {
		usage(stderr, cargo);
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		strcmp(argv[1], "help") == 0) {
		usage(stdout, cargo);
		return cli_finish(0);
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("whet %s\n", WHET_VERSION);
		return cli_finish(0);
	}
	for (size_t i = 0; verbs[i]; i++)
		if (strcmp(argv[1], verbs[i]->name) == 0)
			return run_verb(verbs[i], &cli, cargo, argc - 2, argv + 2);
	return unknown_verb(argv[1]);
}
