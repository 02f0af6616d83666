/* Options and verbs. One table per verb drives parsing, --help, the man page and completions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/strv.h"

enum opt_type {
	OPT_FLAG,   /* bool * */
	OPT_STRING, /* char ** (owned, xstrdup) */
	OPT_LIST,   /* struct strv *, may be given several times */
	OPT_NUMBER, /* int64_t * */
};

struct opt {
	const char *name; /* long name without dashes; NULL ends the table */
	char letter;      /* short form; 0: none */
	enum opt_type type;
	const char *value; /* name of the value for --help; NULL for flags */
	const char *help;
	void *to;
};

/* What every verb gets. */
struct cli {
	const char *self; /* absolute path of this program */
	char *plan;       /* the one without --file; NULL: whet.yaml in the working folder */
	char *no_plan;    /* why there is none, and what to do; NULL: see plan */
	bool quiet, verbose, json;
	enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
};

struct verb {
	const char *name;
	const char *args;    /* synopsis of the arguments: "FILE...", "" */
	const char *summary; /* one line */
	const char *text;    /* a paragraph for --help; may be "" */
	/* Gets the arguments after the verb. Returns the exit code; on error fills err and returns
	 * its code by cli_fail() or error_exit_code(). */
	int (*run)(struct cli *cli, int argc, char **argv);
};

extern const struct verb verb_build, verb_train, verb_bench, verb_explain, verb_profile,
	verb_origin, verb_clean, verb_history;

/* Parses options (own ones plus the common -q -v --json --color --help) anywhere before "--".
 * Arguments that are no options are added to args. Returns 0 go on, 1 --help was printed (exit 0),
 * -1 error. Unknown options get a suggestion. */
int opt_parse(struct cli *cli, const struct verb *v, const struct opt *opts, int argc, char **argv,
	struct strv *args, struct error *err);
void opt_help(const struct verb *v, const struct opt *opts, FILE *to);

/* The plan of a verb: the one of --file when that was given, else the one without. NULL: there is
 * none, err says what to do. */
const char *cli_plan(const struct cli *cli, const char *given, struct error *err);

/* Prints "whet: <message>" (each further line indented) to standard error and returns the exit
 * code that belongs to the error. Releases err. */
int cli_fail(struct error *err);
/* Runs a verb's work in a new folder below /tmp, removed afterwards. Others may pass through it but
 * not look. Returns the exit code; an error is printed. */
int cli_in_folder(
	const char *verb, int (*work)(void *ctx, const char *folder, struct error *err), void *ctx);
/* At the end of a verb: code, or 3 when standard output could not be written (said on standard
 * error). */
int cli_finish(int code);
bool cli_use_color(const struct cli *cli, FILE *to);
/* The closest of names (NULL-terminated) when it is close enough to be meant; else NULL. */
const char *cli_suggest(const char *word, const char *const *names);
