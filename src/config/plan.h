/* whet.yaml, read, checked and with all defaults filled in (docs/whet-yaml.md). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"

/* Where a thing stands in the file; for messages of later stages. */
struct place {
	int line, column; /* from 1; 0: default, not in the file */
};

enum build_tool {
	TOOL_CARGO,
	TOOL_CMAKE,
	TOOL_MESON,
	TOOL_MAKE,      /* optional configure:, then make */
	TOOL_AUTOTOOLS, /* ./configure, then make */
	TOOL_COMMAND,   /* optional configure:, then run: */
};

/* Link-time optimisation. */
enum plan_lto {
	PLAN_LTO_DEFAULT, /* nothing is added: what the project itself says */
	PLAN_LTO_NONE,
	PLAN_LTO_THIN,
	PLAN_LTO_FULL
};

struct plan_build {
	enum build_tool tool;
	char *target;       /* triple; default: the host's */
	struct strv binary; /* what is released: cargo bin names, or paths relative to the source or
			     * build folder; the first is "{binary}" */
	struct strv env;    /* NAME=VALUE; may hold {commit}, {version} */
	char *cargo;        /* cargo front end, default "cargo"; words */
	struct strv args;   /* extra arguments for cargo build, cmake, meson setup or make */
	char *configure;    /* shell command; NULL: none (autotools: "./configure") */
	char *run;          /* shell command of the build step; NULL: the tool's own */
	char *compiler;     /* e.g. "clang-22"; NULL: looked for */
	char *cxx;          /* the C++ one; NULL: derived from compiler */
	enum plan_lto lto;
	char *cpu;     /* processor that the code is made for; NULL: nothing is added */
	char *sysroot; /* of another machine's headers and libraries; NULL: the compiler's */
	char *profile_runtime; /* clang's profile runtime for another machine; NULL: beside clang */
	char *dir;             /* source folder relative to whet.yaml; default "." */
	struct strv exclude;   /* globs, relative to dir, that are no sources */
	struct strv include;   /* globs, relative to dir, of built files that are sources */
	uint64_t timeout_ns;   /* longest silence of a step, default an hour */
	struct place at;
};

/* How functions are compiled that the training did not reach. */
enum plan_untrained {
	UNTRAINED_COLD,   /* for size, out of the way */
	UNTRAINED_NEUTRAL /* as without a profile */
};

/* In which order the linker places functions. */
enum plan_order {
	ORDER_NONE, /* as it does by itself */
	ORDER_HOT   /* those with counts first, callers beside what they call */
};

struct plan_pgo {
	char *instrument_linker; /* compiler driver of the instrumented link; NULL: the same */
	bool context_sensitive;  /* a second training counts after inlining */
	enum plan_untrained untrained;
	enum plan_order order;
	struct place at; /* of pgo: itself; a variant has its own place */
};

/* Whether code is laid out anew after the link, and where its counts come from. */
enum plan_layout_mode {
	PLAN_LAYOUT_OFF,
	PLAN_LAYOUT_AUTO, /* by branch samples or counters, whichever this machine can; else not */
	PLAN_LAYOUT_LBR,  /* samples of taken branches, by the processor */
	PLAN_LAYOUT_INSTRUMENT /* counters that the tool puts in */
};

/* layout: */
struct plan_layout {
	enum plan_layout_mode mode;
	char *tool; /* "bolt", "bolt-22"; NULL: the one that is found */
	struct place at;
};

/* Names that variants have without being in the list. */
#define PLAN_PLAIN "plain"
#define PLAN_OWN "pgo"               /* what build: and pgo: say */
#define PLAN_OWN_LAYOUT "pgo+layout" /* the same, laid out: with layout: of the whole plan */
/* In the place of a name: the one that is proposed. */
#define PLAN_BEST "best"
/* They are all alive together in the comparison. */
#define PLAN_VARIANTS_MAX 16

/* One more optimised build, compared with the plan's own. What it does not say itself is that of
 * build: and pgo:. */
struct plan_variant {
	char *name;
	char *file_name; /* of its archive: the name with '-' in the place of what is no part of one
			  */
	enum plan_lto lto;
	char *cpu;    /* NULL: nothing is added */
	bool profile; /* false: it is compiled without one, as the plain build is */
	struct plan_pgo pgo;
	struct plan_layout layout; /* of this variant alone: the plan's own is PLAN_OWN_LAYOUT's */
	struct place at;
};

enum ready_kind { READY_NONE, READY_HTTP, READY_HTTPS, READY_TCP, READY_LOG, READY_COMMAND };

/* One value that a setting can have, with what it stands for. */
struct plan_value {
	char *name;
	struct strv words; /* KEY=TEXT: {matrix.AXIS.KEY}; may hold placeholders */
	struct place at;
};

/* A setting of a service, all values of which are trained. */
struct plan_axis {
	char *name;
	struct plan_value *values;
	size_t n;
	struct place at;
};

/* A file that is made for a training: the same bytes for the same seed, or a text. */
struct plan_document {
	char *path;     /* relative */
	uint64_t bytes; /* generated, when text is NULL */
	char *text;
};

/* A file of the project, its placeholders replaced. */
struct plan_template {
	char *to;   /* below {work} */
	char *text; /* as it was when the plan was read */
};

/* Which generated certificates the training uses. */
enum { PLAN_CERT_RSA = 1, PLAN_CERT_ECDSA = 2 };

struct plan_service {
	char *name;
	char *run;     /* command line, split by shell rules without a shell; NULL when builtin */
	char *builtin; /* "origin" or NULL */
	bool subject;  /* the service being trained and measured */
	enum ready_kind ready;
	char *ready_arg; /* path, log text or command */
	uint64_t ready_timeout_ns;
	int stop_signal;          /* default SIGTERM */
	uint64_t stop_timeout_ns; /* default 30 s */
	struct strv env;
	char *cwd;         /* default {work} */
	char *setup;       /* shell command run in {work} before the start; NULL: none */
	struct strv ports; /* further named ports beside "port": {port.NAME} */
	struct strv after; /* services that must be ready before */
	char *when;        /* shell command; it is left out, with its phases, when that fails */
	char *user;        /* name or number; NULL: whet's own */
	char *pid_file;    /* holds the pid that gets the stop signal; relative to {work} */
	char *ready_port;  /* named port that readiness asks; NULL: {port} */
	struct plan_document *files; /* below {work} */
	size_t n_files;
	struct plan_template *templates;
	size_t n_templates;
	struct plan_axis *axes;
	size_t n_axes;
	struct place at;
};

struct plan_header {
	char *name, *value;
};

#define EXPECT_ANY_MAX 8

/* What an answer must be. */
struct plan_expect {
	int status;              /* 0: 200 */
	int any[EXPECT_ANY_MAX]; /* or one of these, when there are any */
	size_t n_any;
	int64_t bytes;               /* body length; -1: not checked */
	char *body;                  /* exact body text; NULL: not checked */
	char *body_file;             /* file with the exact body, placeholders allowed; NULL */
	char *sha256;                /* of the body, 64 hexadecimal digits; NULL: not checked */
	struct plan_header *headers; /* each must be present with this value (value NULL: any) */
	size_t n_headers;
};

/* A header whose value an earlier answer of the phase says. */
struct plan_learned {
	char *name;
	char *path;  /* of the request that teaches it */
	size_t from; /* its place in the mix */
	struct place at;
};

struct plan_request {
	char *method; /* "GET", … */
	char *path;
	uint32_t weight; /* default 1 */
	struct plan_header *headers;
	size_t n_headers;
	uint64_t body_bytes; /* POST of this many generated bytes, when body_text and body_file are
				NULL */
	char *body_text, *body_file;
	uint64_t body_chunk; /* sent in chunks of this size; 0: with its length */
	struct plan_learned *learned;
	size_t n_learned;
	uint64_t messages; /* of a WebSocket, each of which must come back; 0: it is none */
	int64_t message_size, frame; /* frame: bytes of each; 0: a message is one */
	bool binary;
	uint64_t events;        /* that the answer streams; 0: it is no stream of events */
	bool events_end;        /* it ends with them; else the driver goes */
	struct place stream_at; /* of the key that says one of these */
	struct plan_expect expect;
	struct place at;
};

enum http_protocol { PROTOCOL_H1, PROTOCOL_H1_TLS, PROTOCOL_H2, PROTOCOL_H2_TLS };

struct plan_http {
	enum http_protocol protocol;
	uint32_t connections; /* default 32 */
	uint32_t streams;     /* of an HTTP/2 connection; default 1 */
	bool resume;          /* TLS sessions; default true */
	uint64_t rate;        /* requests per second; 0: as fast as they are answered */
	uint64_t requests;    /* of the whole phase */
	uint64_t reuse;       /* requests per connection; 0: keep */
	char *service;        /* name; NULL: the subject */
	char *port;           /* named port of that service; NULL: its {port} */
	struct plan_request *mix;
	size_t n_mix;
};

/* What whet writes into a file or to a program: one of them. */
struct plan_content {
	char *text, *file; /* file: placeholders allowed, relative to whet.yaml */
	int64_t bytes;     /* that many generated bytes; -1: not given */
};

struct plan_file {
	char *path; /* relative to {work} */
	struct plan_content content;
};

/* What an output must be; all that is given must hold. */
struct plan_output {
	char *path;        /* relative to {work}; NULL: the standard output */
	char *text, *file; /* the exact content; file as in plan_content */
	char *sha256;      /* 64 digits, lower case */
	int64_t bytes;     /* -1: not checked */
};

/* What goes into the command of a run phase and what has to come out of it. */
struct plan_batch {
	bool has_input;
	struct plan_content input; /* its standard input, or what is typed */
	struct plan_file *files;   /* written before each run */
	size_t n_files;
	uint32_t exit_code;
	bool pty; /* it runs on a terminal */
	struct plan_output *outputs;
	size_t n_outputs;
};

enum phase_kind { PHASE_HTTP, PHASE_RUN };

struct plan_phase {
	char *name;
	enum phase_kind kind;
	bool held_out;           /* a scenario of the comparison that is not trained */
	double weight;           /* share in the summary figure; default 1, held out 0: none */
	char *when;              /* shell command; the phase is skipped when it fails; NULL */
	char *run;               /* PHASE_RUN: shell command with placeholders */
	uint32_t repeat;         /* PHASE_RUN: how many times; default 1 */
	struct plan_batch batch; /* PHASE_RUN */
	uint64_t timeout_ns;     /* default 300 s */
	struct strv settings; /* AXIS=VALUE: it runs with these alone; axes not named: with all */
	struct plan_http http;
	struct place at;
};

struct plan_train {
	struct plan_service *services; /* started in this order, stopped in reverse */
	size_t n_services;
	struct plan_document *files; /* in the folder {files} */
	size_t n_files;
	unsigned int certs; /* PLAN_CERT_* */
	struct plan_phase *phases;
	size_t n_phases;
	uint64_t seed;        /* of the request order and of generated files; default 1 */
	char *emulator;       /* command line in front of {binary}; NULL: by the target */
	bool private_network; /* services and driver have a network namespace of their own */
};

struct plan_gates {
	int64_t min_functions; /* -1: unset */
	int64_t max_missing;   /* -1: unset */
	double stale;         /* of a reused profile's counts that may be lost: 0.02, the default */
	double worse_margin;  /* of no-scenario-worse: 0.02 is 2 %, the default; below 0: off */
	char *unwind;         /* command that must end alike with plain and final build; NULL */
	bool worse_undecided; /* a scenario that is not shown to be within the margin stops, too */
};

/* Another server, to which the scenarios are put beside the variants. */
struct plan_peer {
	char *name; /* of the variant */
	/* In the place of the subject, whose name, ports and files it has; without a binary. */
	struct plan_service service;
};

/* What is counted beside CPU time. */
enum bench_counters {
	BENCH_COUNTERS_AUTO,      /* by the processor, where it can */
	BENCH_COUNTERS_CALLGRIND, /* and once more in a simulation, which is slow */
	BENCH_COUNTERS_OFF
};
/* Of two relinks the spread is no more than a guess; and all are alive together. */
#define PLAN_RELINKS_MIN 3
#define PLAN_RELINKS_MAX 12

struct plan_bench {
	bool enabled;
	struct strv scenarios;       /* names of phases and of held_out; default: all phases */
	struct plan_phase *held_out; /* scenarios of their own */
	size_t n_held_out;
	struct plan_peer *peers;
	size_t n_peers;
	double until_resolved;  /* half-width that every interval shall have, 0.005; 0: not asked */
	struct strv resolve;    /* scenarios for which that holds; default: all */
	uint64_t time_limit_ns; /* after which no launch begins; 0: none */
	uint32_t launches;      /* default 10; with until_resolved: at least */
	uint32_t slices;        /* measured slices per launch, scenario and variant; default 12 */
	uint64_t slice_ns;      /* default 50 ms */
	enum bench_counters counters;
	uint32_t relinks; /* of each build, with other layouts; 0: none */
	uint64_t seed;
};

struct plan_release {
	bool strip;        /* default true */
	struct strv files; /* more files for the archive, relative to the source */
	char *variant;     /* name of the one that is released, or PLAN_BEST; default PLAN_OWN */
	/* No name was given: PLAN_OWN_LAYOUT takes the place of PLAN_OWN when it is shown to be
	 * better. */
	bool or_layout;
};

struct plan {
	char *file;              /* whet.yaml as given */
	char *root;              /* its folder, absolute, symlinks resolved */
	char *project, *version; /* version: NULL when the file gives none */
	struct plan_build build;
	struct plan_pgo pgo;
	struct plan_layout layout;     /* of the plan's own: it adds the variant PLAN_OWN_LAYOUT */
	struct plan_variant *variants; /* that one is the last */
	size_t n_variants;
	struct plan_train train;
	struct plan_gates gates;
	struct plan_bench bench;
	struct plan_release release;
	char digest[65];          /* of the file's normalised content */
	char training_digest[65]; /* of its train: part alone */
	char build_digest[65];    /* of its build: part alone */
};

/* Reads and checks a file. Errors are ERR_CONFIG and start with "file:line:column: ". All errors
 * that can be found in one reading are given together, one per line. */
int plan_read(const char *path, struct plan *ret, struct error *err);
void plan_release(struct plan *p);

/* Replaces {name} by the value of NAME in vars (entries "name=value"); "{{" gives "{". A name in
 * braces that is not known is ERR_CONFIG naming the known ones. Braces around what is no name
 * (letters, digits, '.', '_', '-') and the shell's "${name}" are left alone. Values are not
 * expanded again and not quoted: a command line is split first. Caller frees *ret. */
int plan_expand(const char *text, const struct strv *vars, char **ret, struct error *err);
/* Splits a command line into words by POSIX shell quoting rules, without any expansion. The words
 * are added to ret. */
int plan_split(const char *text, struct strv *ret, struct error *err);

/* The header of an answer that says the value of this header of a request; NULL: none does. */
const char *plan_learned_source(const char *name);
const struct plan_phase *plan_find_phase(const struct plan *p, const char *name);
/* The same among the scenarios that are held out, too. A name may end in the setting to measure it
 * with, as tables show it: "site mix [log=on]". combination: that one, else the first in which the
 * phase runs; NULL: not asked. */
const struct plan_phase *plan_find_scenario(
	const struct plan *p, const char *name, size_t *combination);
const struct plan_peer *plan_find_peer(const struct plan *p, const char *name);
/* Of the list; NULL: there is none of this name. */
const struct plan_variant *plan_find_variant(const struct plan *p, const char *name);
/* Whether the plan's own build or a variant has a second round. */
bool plan_has_second_round(const struct plan *p);
/* Where it asks for one. */
struct place plan_second_round_at(const struct plan *p);
/* "none", "thin", "full"; NULL for the default. */
const char *plan_lto_name(enum plan_lto lto);
const char *plan_layout_name(enum plan_layout_mode m); /* "off", "auto", "lbr", "instrument" */
/* Whether two variants differ in nothing but that one is laid out and the other is not. */
bool plan_same_but_layout(const struct plan_variant *a, const struct plan_variant *b);
/* What build: and pgo: say, as a variant. Its texts are the plan's. */
struct plan_variant plan_own_variant(const struct plan *p);
/* Whether the plan's own build or a variant is laid out. */
bool plan_has_layout(const struct plan *p);
/* Sets a key of `bench` to a value as whet.yaml would give it. ERR_USAGE. */
int plan_set_bench(struct plan *p, const char *key, const char *value, struct error *err);
const struct plan_service *plan_subject(const struct plan *p); /* NULL when there is none */

/* ---- matrix.c: settings
 * --------------------------------------------------------------------------
 *
 * A combination has one value of each axis of each service. They are numbered from 0; the last axis
 * varies fastest. Without a matrix there is one, with no setting. */

#define PLAN_COMBINATIONS_MAX 64

size_t plan_combinations(const struct plan *p);
/* "http1=default, log=on"; NULL without a matrix. Caller frees. */
char *plan_combination_text(const struct plan *p, size_t i);
/* Sets matrix.AXIS and matrix.AXIS.KEY in vars, whose placeholders may stand in the values. */
int plan_combination_vars(const struct plan *p, size_t i, struct strv *vars, struct error *err);
bool plan_phase_runs_in(const struct plan *p, const struct plan_phase *phase, size_t i);
/* The first service (its index in train.services) that has another setting in combination b than in
 * a; n_services when none has. */
size_t plan_first_changed(const struct plan *p, size_t a, size_t b);
/* Whether the phase asks this service or names it in its texts. */
bool plan_phase_uses(const struct plan_phase *phase, const struct plan_service *s);
