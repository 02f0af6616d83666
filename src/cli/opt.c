#include "cli/opt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/scratch.h"

struct parsing {
	struct cli *cli;
	const struct opt *own, *common;
	int argc, at;
	char **argv;
	bool help;
	char *color;
};

const char *cli_plan(const struct cli *cli, const char *given, struct error *err)
{
	if (given)
		return given;
	if (cli->no_plan) {
		error_set(err, ERR_CONFIG, "%s", cli->no_plan);
		return NULL;
	}
	return cli->plan ? cli->plan : "whet.yaml";
}

static const struct opt *find(const struct opt *opts, const char *name, size_t n, char letter)
{
	for (; opts && opts->name; opts++) {
		if (letter ? opts->letter == letter
			   : strlen(opts->name) == n && strncmp(opts->name, name, n) == 0)
			return opts;
	}
	return NULL;
}

static int store_value(const struct opt *o, const char *value, struct error *err)
{
	char *end;
	long long n;

	switch (o->type) {
	case OPT_FLAG:
		*(bool *)o->to = true;
		return 0;
	case OPT_STRING:
		free(*(char **)o->to);
		*(char **)o->to = xstrdup(value);
		return 0;
	case OPT_LIST:
		strv_add(o->to, value);
		return 0;
	case OPT_NUMBER:
		errno = 0;
		n = strtoll(value, &end, 10);
		if (errno || *end || end == value)
			return error_set(
				err, ERR_USAGE, "--%s takes a number, not '%s'", o->name, value);
		*(int64_t *)o->to = n;
		return 0;
	}
	return 0;
}

static int unknown_option(const struct parsing *p, const char *name, size_t n, struct error *err)
{
	auto_free char *word = xstrndup(name, n);
	const char *names[64];
	const char *close;
	size_t k = 0;

	for (const struct opt *o = p->own; o && o->name && k < 50; o++)
		names[k++] = o->name;
	for (const struct opt *o = p->common; o->name && k < 63; o++)
		names[k++] = o->name;
	names[k] = NULL;
	close = cli_suggest(word, names);
	if (close)
		return error_set(
			err, ERR_USAGE, "unknown option '--%s'; did you mean '--%s'?", word, close);
	return error_set(err, ERR_USAGE, "unknown option '--%s'; --help lists the options", word);
}

static int parse_long(struct parsing *p, const char *arg, struct error *err)
{
	size_t n = strcspn(arg, "=");
	const struct opt *o = find(p->own, arg, n, 0);
	const char *value = arg[n] == '=' ? arg + n + 1 : NULL;

	if (!o)
		o = find(p->common, arg, n, 0);
	if (!o)
		return unknown_option(p, arg, n, err);
	if (o->type == OPT_FLAG && value)
		return error_set(err, ERR_USAGE, "--%s takes no value", o->name);
	if (o->type != OPT_FLAG && !value) {
		if (p->at + 1 >= p->argc)
			return error_set(
				err, ERR_USAGE, "--%s needs a value (%s)", o->name, o->value);
		value = p->argv[++p->at];
	}
	return store_value(o, value, err);
}

static int parse_short(struct parsing *p, const char *arg, struct error *err)
{
	for (; *arg; arg++) {
		const struct opt *o = find(p->own, NULL, 0, *arg);

		if (!o)
			o = find(p->common, NULL, 0, *arg);
		if (!o)
			return error_set(err, ERR_USAGE,
				"unknown option '-%c'; --help lists the options", *arg);
		if (o->type == OPT_FLAG) {
			store_value(o, NULL, err);
			continue;
		}
		if (arg[1])
			return store_value(o, arg + 1, err);
		if (p->at + 1 >= p->argc)
			return error_set(err, ERR_USAGE, "-%c needs a value (%s)", *arg, o->value);
		return store_value(o, p->argv[++p->at], err);
	}
	return 0;
}

static int set_color(struct cli *cli, const char *word, struct error *err)
{
	if (!word)
		return 0;
	if (strcmp(word, "auto") == 0)
		cli->color = COLOR_AUTO;
	else if (strcmp(word, "always") == 0)
		cli->color = COLOR_ALWAYS;
	else if (strcmp(word, "never") == 0)
		cli->color = COLOR_NEVER;
	else
		return error_set(
			err, ERR_USAGE, "--color takes auto, always or never, not '%s'", word);
	return 0;
}

static int parse_all(struct parsing *p, struct strv *args, struct error *err)
{
	bool only_args = false;

	for (p->at = 0; p->at < p->argc; p->at++) {
		const char *a = p->argv[p->at];
		int r = 0;

		if (only_args || a[0] != '-' || !a[1])
			strv_add(args, a);
		else if (strcmp(a, "--") == 0)
			only_args = true;
		else if (a[1] == '-')
			r = parse_long(p, a + 2, err);
		else
			r = parse_short(p, a + 1, err);
		if (r < 0)
			return -1;
	}
	return 0;
}

int opt_parse(struct cli *cli, const struct verb *v, const struct opt *opts, int argc, char **argv,
	struct strv *args, struct error *err)
{
	struct parsing p = {.cli = cli, .own = opts, .argc = argc, .argv = argv};
	const struct opt common[] = {
		{"quiet", 'q', OPT_FLAG, NULL, "say only what went wrong", &cli->quiet},
		{"verbose", 'v', OPT_FLAG, NULL, "say more", &cli->verbose},
		{"json", 0, OPT_FLAG, NULL, "print the result as JSON", &cli->json},
		{"color", 0, OPT_STRING, "WHEN", "auto, always or never", &p.color},
		{"help", 'h', OPT_FLAG, NULL, "print this help", &p.help},
		{0},
	};
	int r;

	p.common = common;
	r = parse_all(&p, args, err);
	if (r == 0)
		r = set_color(cli, p.color, err);
	free(p.color);
	if (r == 0 && p.help) {
		opt_help(v, opts, stdout);
		return 1;
	}
	return r;
}

static void help_line(FILE *to, const struct opt *o)
{
	auto_free char *left = NULL;

	left = o->letter ? xasprintf("-%c, --%s%s%s", o->letter, o->name, o->value ? " " : "",
				   o->value ? o->value : "")
			 : xasprintf("    --%s%s%s", o->name, o->value ? " " : "",
				   o->value ? o->value : "");
	fprintf(to, "  %-26s %s\n", left, o->help);
}

void opt_help(const struct verb *v, const struct opt *opts, FILE *to)
{
	static const struct opt common[] = {
		{"quiet", 'q', OPT_FLAG, NULL, "say only what went wrong", NULL},
		{"verbose", 'v', OPT_FLAG, NULL, "say more", NULL},
		{"json", 0, OPT_FLAG, NULL, "print the result as JSON", NULL},
		{"color", 0, OPT_STRING, "WHEN", "auto, always or never", NULL},
		{"help", 'h', OPT_FLAG, NULL, "print this help", NULL},
		{0},
	};

	fprintf(to, "usage: whet %s [OPTIONS]%s%s\n\n%s\n", v->name, *v->args ? " " : "", v->args,
		v->summary);
	if (v->text && *v->text)
		fprintf(to, "\n%s\n", v->text);
	fprintf(to, "\noptions:\n");
	for (const struct opt *o = opts; o && o->name; o++)
		help_line(to, o);
	for (const struct opt *o = common; o->name; o++)
		help_line(to, o);
}

int cli_fail(struct error *err)
{
	int code = error_exit_code(err->code);
	const char *p = err->msg ? err->msg : "unknown error";

	fputs("whet: ", stderr);
	for (; *p; p++) {
		fputc(*p, stderr);
		if (*p == '\n')
			fputs("      ", stderr);
	}
	fputc('\n', stderr);
	error_release(err);
	return code;
}

int cli_in_folder(
	const char *verb, int (*work)(void *ctx, const char *folder, struct error *err), void *ctx)
{
	auto_free char *word = xasprintf("whet-%s", verb), *folder = NULL;
	struct error err = ERROR_INIT;
	int r = scratch_name(word, &folder, &err);

	if (r == 0)
		r = scratch_create(folder, &err);
	if (r == 0)
		r = work(ctx, folder, &err);
	scratch_remove();
	fflush(stdout);
	return r < 0 ? cli_fail(&err) : 0;
}

int cli_finish(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	fprintf(stderr, "whet: cannot write to standard output: %s\n", strerror(errno));
	return code ? code : 3;
}

bool cli_use_color(const struct cli *cli, FILE *to)
{
	const char *no = getenv("NO_COLOR");

	if (cli->color != COLOR_AUTO)
		return cli->color == COLOR_ALWAYS;
	return isatty(fileno(to)) && !(no && *no);
}

/* Edit distance, for words of at most 63 letters. */
static size_t distance(const char *a, const char *b)
{
	size_t row[64], n = strlen(b);

	if (n > 63 || strlen(a) > 63)
		return 64;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t change = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = row[j] + 1 < row[j - 1] + 1 ? row[j] + 1 : row[j - 1] + 1;
			if (change < row[j])
				row[j] = change;
		}
	}
	return row[n];
}

const char *cli_suggest(const char *word, const char *const *names)
{
	const char *best = NULL;
	size_t limit = strlen(word) / 3 + 1;

	for (; *names; names++) {
		size_t d = distance(word, *names);

		if (d <= limit) {
			best = *names;
			limit = d ? d - 1 : 0;
			if (!d)
				break;
		}
	}
	return best;
}
