/* wrap-driver: one wrapped build step, for the end-to-end tests of src/wrap.
 *
 * wrap-driver MODE [OPTION VALUE]... -- COMMAND...   MODE: plain | instrumented | optimised
 *   shim FILE  work FOLDER  slot FOLDER  target-dir FOLDER  target TRIPLE  cc NAME  rustc NAME
 *   profile FILE  profile-rust FILE  configure yes  facts BINARY  hook-only FILE
 *
 * With "facts" the objects of the binary are printed after the command, one a line:
 * class|record kind|path|member|unit|number of functions|code hash or "-". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "wrap/wrap.h"

#define COMPILERS_MAX 8

static const char *const modes[] = {"plain", "instrumented", "optimised"};

struct driver {
	struct wrap_node n;
	struct compiler compilers[COMPILERS_MAX];
	const char *profiles[COMPILERS_MAX], *profile, *profile_rust;
	const char *work, *facts, *hook_only;
	bool configure;
};

static void die(const struct error *err)
{
	fprintf(stderr, "wrap-driver: %s\n", err->msg ? err->msg : "failed");
	exit(error_exit_code(err->code));
}

static void probe(struct driver *d, const char *name)
{
	struct error err = ERROR_INIT;

	if (d->n.n_compilers == COMPILERS_MAX)
		exit(2);
	if (toolchain_probe(name, getenv("PATH"), &d->compilers[d->n.n_compilers], &err) < 0)
		die(&err);
	d->n.n_compilers++;
}

static void option(struct driver *d, const char *name, const char *value)
{
	struct wrap_node *n = &d->n;
	struct {
		const char *name;
		const char **to;
	} texts[] = {{"shim", &n->shim}, {"work", &d->work}, {"slot", &n->slot},
		{"target-dir", &n->target_dir}, {"target", &n->target}, {"profile", &d->profile},
		{"profile-rust", &d->profile_rust}, {"facts", &d->facts},
		{"instrument-linker", &n->instrument_linker}, {"hook-only", &d->hook_only}};

	if (strcmp(name, "cc") == 0 || strcmp(name, "rustc") == 0) {
		probe(d, value);
		return;
	}
	if (strcmp(name, "configure") == 0) {
		d->configure = true;
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(name, texts[i].name) == 0) {
			*texts[i].to = value;
			return;
		}
	fprintf(stderr, "wrap-driver: unknown option '%s'\n", name);
	exit(2);
}

static void print_facts(const struct driver *d)
{
	struct error err = ERROR_INIT;
	struct compile_log log = {0};
	struct binary_fact b;

	if (compile_log_read(d->n.log, &log, &err) < 0 ||
		wrap_binary_facts(&log, &d->n, d->facts, &b, &err) < 0)
		die(&err);
	for (size_t i = 0; i < b.n_objects; i++) {
		const struct object_fact *o = &b.objects[i];
		const char *kind = "-";

		for (size_t k = 0; o->record && k < log.n; k++)
			if (strcmp(log.v[k].id, o->record) == 0)
				kind = call_kind_name(log.v[k].kind);
		printf("%s|%s|%s|%s|%s|%zu|%s\n", object_class_name(o->class), kind, o->path,
			o->member ? o->member : "", o->unit ? o->unit : "", o->functions.n,
			o->code_hash ? o->code_hash : "-");
	}
	binary_fact_release(&b);
	compile_log_release(&log);
}

static int run(struct driver *d, char **command)
{
	auto_strv struct strv argv = STRV_INIT, env = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;
	struct error err = ERROR_INIT;
	struct proc_exit e;

	while (*command)
		strv_add(&argv, *command++);
	env_copy_current(&env);
	wrap_environment(&d->n, d->configure, &env);
	o.argv = &argv;
	o.env = &env;
	o.out_fd = STDOUT_FILENO;
	o.err_fd = STDERR_FILENO;
	if (argv.n) {
		pid_t pid;

		if (proc_start(&o, &pid, &err) < 0 || proc_wait(pid, 600 * NS_PER_S, &e, &err) < 0)
			die(&err);
		if (e.code != 0)
			return e.code < 0 ? 128 + e.signal : e.code;
	}
	if (d->facts)
		print_facts(d);
	return 0;
}

static void parse(struct driver *d, int argc, char **argv, int *command)
{
	int i = 1;

	for (size_t m = 0; argc > 1 && m < ARRAY_SIZE(modes); m++)
		if (strcmp(argv[1], modes[m]) == 0) {
			d->n.build.mode = (enum toolchain_mode)m;
			i = 2;
		}
	if (i != 2)
		exit(2);
	for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2)
		option(d, argv[i], argv[i + 1]);
	*command = i < argc ? i + 1 : argc;
	for (size_t k = 0; k < d->n.n_compilers; k++)
		d->profiles[k] =
			d->compilers[k].family == FAMILY_RUSTC ? d->profile_rust : d->profile;
	d->n.profiles = d->profiles;
}

static int build(struct driver *d, char **command)
{
	auto_free char *folder = path_join(d->work, "shims");
	auto_free char *log = xasprintf("%s/log-%s", d->work, modes[d->n.build.mode]);
	auto_free char *node = xasprintf("%s/node-%s.json", d->work, modes[d->n.build.mode]);
	auto_free char *quarantine = path_join(d->work, "quarantine");
	auto_free char *hook = path_join(d->work, "hook.o");
	struct error err = ERROR_INIT;
	char token[65];

	d->n.folder = folder;
	d->n.log = log;
	d->n.node_file = node;
	d->n.quarantine = quarantine;
	if (dir_create(d->work, 0755, &err) < 0)
		die(&err);
	if (d->n.build.mode == MODE_INSTRUMENTED) {
		d->n.hook = hook;
		if (wrap_build_hook(&d->compilers[0], toolchain_profile_kind(&d->compilers[0]),
			    hook, &err) < 0)
			die(&err);
	}
	wrap_token(&d->n, token);
	if (wrap_prepare(&d->n, &err) < 0)
		die(&err);
	return run(d, command);
}

int main(int argc, char **argv)
{
	struct driver d = {.n.compilers = d.compilers};
	struct error err = ERROR_INIT;
	int command, r = 2;

	parse(&d, argc, argv, &command);
	if (d.hook_only) {
		if (!d.n.n_compilers ||
			wrap_build_hook(&d.compilers[0], toolchain_profile_kind(&d.compilers[0]),
				d.hook_only, &err) < 0)
			die(&err);
		r = 0;
	} else if (d.work && d.n.shim && d.n.slot) {
		r = build(&d, argv + command);
	}
	for (size_t i = 0; i < d.n.n_compilers; i++)
		compiler_release(&d.compilers[i]);
	return r;
}
