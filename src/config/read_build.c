/* The tables of everything but the training. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "config/keys.h"
#include "config/values.h"

static void read_train(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	keys_read(ps, &table_train, n, &((struct plan *)target)->train);
}

static void read_gates(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	keys_read(ps, &table_gates, n, &((struct plan *)target)->gates);
}

static void read_undecided(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	static const char *const names[] = {"pass", "stop", NULL};
	size_t i;

	if (value_choice(ps, n, k->name, names, &i))
		((struct plan_gates *)target)->worse_undecided = i == 1;
}

static void read_worse(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_gates *g = target;

	if (n->kind == NODE_MAPPING)
		keys_read(ps, &table_worse, n, g);
	else if (n->kind == NODE_SCALAR && strcmp(n->text, "off") == 0)
		g->worse_margin = -1;
	else
		value_percent(ps, n, k->name, &g->worse_margin);
}

static void read_bench(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_bench *bench = &((struct plan *)target)->bench;

	if (n->kind == NODE_SCALAR)
		value_bool(ps, n, "bench", &bench->enabled);
	else
		keys_read(ps, &table_bench, n, bench);
}

static void read_release(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	keys_read(ps, &table_release, n, &((struct plan *)target)->release);
}

static void read_tool(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	static const char *const names[] = {
		[TOOL_CARGO] = "cargo",
		[TOOL_CMAKE] = "cmake",
		[TOOL_MESON] = "meson",
		[TOOL_MAKE] = "make",
		[TOOL_AUTOTOOLS] = "autotools",
		[TOOL_COMMAND] = "command",
	};
	struct plan_build *b = target;
	auto_free char *text = NULL;
	const char *near;

	if (!value_text(ps, n, "tool", &text))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], text))
			continue;
		b->tool = (enum build_tool)i;
		return;
	}
	near = nearest_word(text, names, ARRAY_SIZE(names));
	problem_add(ps, n,
		"'tool' must be one of cargo, cmake, meson, make, autotools, command, not "
		"'%s'%s%s%s",
		text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* A key that the chosen tool would pass over in silence. */
static void useless(struct problems *ps, const struct node *n, const char *key, const char *why)
{
	const struct node *value = node_get(n, key);

	if (value)
		problem_add(ps, value, "'%s' has no effect here: %s", key, why);
}

static void check_cargo_binary(struct problems *ps, const struct node *n, const char *binary)
{
	size_t k = strlen(binary);

	if (strchr(binary, '/'))
		problem_add(ps, n,
			"with 'tool: cargo' a binary is named as in Cargo.toml, without a folder, "
			"not '%s'",
			binary);
	else if (k > 2 &&
		 (!strcmp(binary + k - 2, ".a") || (k > 5 && !strcmp(binary + k - 5, ".rlib"))))
		problem_add(ps, n,
			"'%s' is no linked file: a profile is trained and used in the program or "
			"shared "
			"library that it is linked into; name that one",
			binary);
}

static void check_cargo_keys(struct problems *ps, const struct node *n, const struct plan_build *b)
{
	for (size_t i = 0; i < b->binary.n; i++)
		check_cargo_binary(ps, node_get(n, "binary"), b->binary.v[i]);
	useless(ps, n, "configure", "cargo has no configure step");
	useless(ps, n, "run",
		"with 'tool: cargo' cargo builds; another front end is named by 'cargo'");
}

static void check_tool_keys(struct problems *ps, const struct node *n, const struct plan_build *b)
{
	if (b->tool == TOOL_CARGO)
		check_cargo_keys(ps, n, b);
	else
		useless(ps, n, "cargo", "it is for 'tool: cargo'");
	if (b->tool == TOOL_CMAKE || b->tool == TOOL_MESON)
		useless(ps, n, "configure",
			"the tool configures by itself; its arguments are given by 'args'");
	if (b->tool == TOOL_MAKE && b->run)
		useless(ps, n, "args", "with 'run' the command is yours; write them into it");
	if (b->tool != TOOL_COMMAND)
		return;
	useless(ps, n, "args", "write them into 'run'");
	if (!node_get(n, "run"))
		problem_add(ps, n,
			"build lacks the key 'run': with 'tool: command' it is the command that "
			"builds");
}

static void read_own_lto(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	read_lto(ps, n, &((struct plan_build *)target)->lto);
}

static void read_own_cpu(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	read_cpu(ps, n, &((struct plan_build *)target)->cpu);
}

void read_build(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_build *b = &((struct plan *)target)->build;
	const struct node *binary = node_get(n, "binary");

	b->at = (struct place){.line = n->line, .column = n->column};
	b->timeout_ns = 3600 * NS_PER_S;
	if (!keys_read(ps, &table_build, n, b))
		return;
	if (binary && binary->kind == NODE_SEQUENCE && !binary->n)
		problem_add(ps, binary, "'binary' must name at least one binary");
	if (node_get(n, "tool"))
		check_tool_keys(ps, n, b);
}

#define PLAN(field) offsetof(struct plan, field)
static const struct key top[] = {
	{"project", KEY_NAME, PLAN(project), .required = true,
		.doc = "Name of the project, used in the names of artefacts."},
	{"version", KEY_NAME, PLAN(version),
		.doc = "Version used in the names of artefacts; default: `0.` and twelve digits of "
		       "the commit, `-dirty` behind it when tracked files differ (without git: of "
		       "the sources)."},
	{"build", KEY_PART, .read = read_build, .required = true,
		.doc = "How the program is built."},
	{"pgo", KEY_PART, .read = read_pgo, .doc = "How the profile is made and used."},
	{"train", KEY_PART, .read = read_train, .required = true,
		.doc = "How the program is trained."},
	{"gates", KEY_PART, .read = read_gates, .doc = "Bounds of the checks."},
	{"bench", KEY_PART, .read = read_bench,
		.doc = "How plain and optimised build are compared; `false`: not at all."},
	{"variants", KEY_PART, .read = read_variants,
		.doc = "A list of further optimised builds to compare: see `variants[]`."},
	{"release", KEY_PART, .read = read_release, .doc = "What goes into the archives."},
	{"layout", KEY_PART, .read = read_layout,
		.doc = "Whether the code of the plan's own build is laid out anew after the link "
		       "([post-link layout](layout.md)): `off` (default), `auto`, `lbr`, "
		       "`instrument`, or a mapping."},
};
const struct key_table table_top = {"whet.yaml", top, ARRAY_SIZE(top)};

#define BUILD(field) offsetof(struct plan_build, field)
static const struct key build[] = {
	{"tool", KEY_PART, .read = read_tool, .required = true,
		.doc = "One of `cargo`, `cmake`, `meson`, `make`, `autotools`, `command`."},
	{"target", KEY_NAME, BUILD(target),
		.doc = "Target triple; default: this machine's. Another machine's: "
		       "[Cross builds](cross.md)."},
	{"binary", KEY_PATHS, BUILD(binary), .required = true,
		.doc = "What is released: names of cargo binaries (`libNAME.so`: a cdylib), or "
		       "paths "
		       "relative to the build folder "
		       "(make, autotools, command: to the source). The first one is `{binary}`."},
	{"env", KEY_ENV, BUILD(env),
		.doc = "Environment of every build step; may hold placeholders."},
	{"cargo", KEY_TEXT, BUILD(cargo),
		.doc = "The cargo front end, such as `cargo zigbuild` or a script in `dir`; "
		       "default `cargo`."},
	{"args", KEY_LIST, BUILD(args),
		.doc = "More arguments for cargo build, cmake, meson setup, configure or make."},
	{"configure", KEY_TEXT, BUILD(configure),
		.doc = "Shell command that configures (make, autotools, command); autotools: "
		       "default "
		       "`./configure`."},
	{"run", KEY_TEXT, BUILD(run),
		.doc = "Shell command that builds, in place of the tool's own."},
	{"compiler", KEY_TEXT, BUILD(compiler),
		.doc = "The C compiler, such as `clang-22`; default: the newest clang found."},
	{"cxx", KEY_TEXT, BUILD(cxx), .doc = "The C++ compiler; default: the one of `compiler`."},
	{"sysroot", KEY_TEXT, BUILD(sysroot),
		.doc = "Folder of the target's headers and libraries, for another machine; "
		       "default: where the compiler looks."},
	{"profile-runtime", KEY_TEXT, BUILD(profile_runtime),
		.doc = "Path of clang's profile runtime for another machine "
		       "(`libclang_rt.profile-aarch64.a`); default: beside clang's own."},
	{"dir", KEY_PATH, BUILD(dir), .doc = "Source folder, relative to whet.yaml; default `.`."},
	{"exclude", KEY_LIST, BUILD(exclude),
		.doc = "Globs, relative to `dir`, of files that are no sources."},
	{"include", KEY_LIST, BUILD(include),
		.doc = "Globs, relative to `dir`, of objects, archives and executables that are "
		       "sources; without it they count as products of an earlier build and are "
		       "left out."},
	{"timeout", KEY_DURATION, BUILD(timeout_ns), NS_PER_S, 7 * 24 * 3600 * NS_PER_S,
		.doc = "How long a build step may print nothing and end no compiler call; then it "
		       "counts as hanging and is ended. Default 3600s."},
	{"flags", KEY_LATER, .doc = "More compiler flags."},
	{"lto", KEY_PART, .read = read_own_lto,
		.doc = "Link-time optimisation of plain, instrumented and optimised build alike: "
		       "`none`, `thin` or `full`; default: what the project's own flags say."},
	{"cpu", KEY_PART, .read = read_own_cpu,
		.doc = "Processor that the code is made for, in all builds alike, such as "
		       "`x86-64-v3`; default: what the project's own flags say."},
};
const struct key_table table_build = {"build", build, ARRAY_SIZE(build)};

#define GATES(field) offsetof(struct plan_gates, field)
static const struct key gates[] = {
	{"min-functions", KEY_I64, GATES(min_functions), 0, 1000000000,
		.doc = "Executed functions that the profile must hold, per binary."},
	{"max-missing", KEY_I64, GATES(max_missing), 0, 1000000000,
		.doc = "Functions without profile data that are allowed, per binary."},
	{"stale", KEY_PERCENT, GATES(stale),
		.doc = "How much of all counts of a reused profile (`--profile last`) may belong "
		       "to "
		       "functions that it does not fit any more; default 2%. Of a profile that was "
		       "trained in the same build none may."},
	{"unwind", KEY_TEXT, GATES(unwind),
		.doc = "A shell command that throws, panics or prints a backtrace, such as "
		       "`{binary} --self-test`: with the plain build it must end with exit code 0, "
		       "with the released one alike, and print the same to its standard output."},
	{"no-scenario-worse", KEY_PART, .read = read_worse,
		.doc = "How much less a scenario may gain than in the last release: a percentage "
		       "(default 2%), `off`, or a mapping."},
	{"glibc", KEY_LATER, .doc = "Highest glibc version needed."},
	{"cpu", KEY_LATER, .doc = "Processor level of the released binary."},
	{"tests", KEY_LATER, .doc = "The project's own tests."},
	{"reproducible", KEY_LATER, .doc = "A second build gives the same bytes."},
};
const struct key_table table_gates = {"gates", gates, ARRAY_SIZE(gates)};

static const struct key worse[] = {
	{"margin", KEY_PERCENT, GATES(worse_margin), .doc = "The percentage; default 2%."},
	{"undecided", KEY_PART, .read = read_undecided,
		.doc = "What a scenario does that is neither shown to be worse by more than the "
		       "margin nor shown not to be: `pass` (default) or `stop`."},
};
const struct key_table table_worse = {"gates.no-scenario-worse", worse, ARRAY_SIZE(worse)};

#define RELEASE(field) offsetof(struct plan_release, field)
static const struct key release[] = {
	{"strip", KEY_BOOL, RELEASE(strip), .doc = "Strip the released binaries; default true."},
	{"files", KEY_PATHS, RELEASE(files),
		.doc = "More files for the archives, relative to the source folder."},
	{"variant", KEY_TEXT, RELEASE(variant),
		.doc = "Name of the variant that is released beside the plain build, or `best`: "
		       "the one that the comparison proposes. Default `pgo`, the plan's own, laid "
		       "out "
		       "when `layout` asks for that and it is shown to be better."},
	{"archive", KEY_LATER, .text = "tar.gz", .doc = "Kind of archive; only `tar.gz`."},
	{"sign", KEY_LATER, .text = "none", .doc = "Signing; only `none`."},
};
const struct key_table table_release = {"release", release, ARRAY_SIZE(release)};

const struct key_table *const key_tables[] = {&table_top, &table_build, &table_pgo, &table_train,
	&table_service, &table_ready, &table_phase, &table_http, &table_request, &table_body,
	&table_websocket, &table_events, &table_expect, &table_run_expect, &table_output,
	&table_content, &table_gates, &table_worse, &table_bench, &table_peer, &table_release,
	&table_variant, &table_layout, NULL};
