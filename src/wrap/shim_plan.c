#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "wrap/classify.h"
#include "wrap/response.h"
#include "wrap/shim.h"

void shim_call_release(struct shim_call *c)
{
	compile_record_release(&c->record);
	strv_release(&c->argv);
	strv_release(&c->env);
	strv_release(&c->objects);
	free(c->map);
	free(c->kept);
}

static int begin(struct shim_call *c, struct error *err)
{
	struct compile_record *r = &c->record;
	char cwd[PATH_MAX];

	if (!getcwd(cwd, sizeof(cwd)))
		return error_set(err, ERR_IO, "cannot tell the working folder");
	r->cwd = xstrdup(cwd);
	r->order = clock_mono_ns();
	r->id = xasprintf("%016llx-%d", (unsigned long long)r->order, (int)getpid());
	r->language = xstrdup("");
	env_copy_current(&c->env);
	launchers_restore(&c->env);
	return 0;
}

static bool observing(void)
{
	const char *v = getenv(ENV_OBSERVE);

	return v && *v && strcmp(v, "0") != 0;
}

/* Rule 4: under cargo only what lies below the target's own folder is target code; otherwise what
 * lies below the slot. */
static bool is_target_output(const struct shim_node *n, const char *output)
{
	auto_free char *folder = NULL;

	if (!n->target_dir || !n->target)
		return path_is_below(output, n->slot);
	folder = xasprintf("%s/%s", n->target_dir, n->target);
	return path_is_below(output, folder);
}

/* The triple that a call compiles for; NULL: it does not say, so it is the compiler's own. */
static const char *machine_of(const struct node_tool *t, const struct cc_call *a)
{
	return a->target ? a->target : t->machine;
}

/* A build step may compile what a device or a virtual machine runs (wasm, BPF); and in a build for
 * another machine, what this one runs. */
static bool is_for_other_machine(
	const struct shim_node *n, const struct node_tool *t, const struct cc_call *a)
{
	const char *machine = machine_of(t, a);

	/* What it links decides that. */
	if (n->cross && t->bare_linker)
		return false;
	if (n->cross)
		return !machine || cc_other_machine(machine, n->cross);
	return n->target && a->target && cc_other_machine(a->target, n->target);
}

static bool makes_code(enum call_kind k)
{
	return k == CALL_COMPILE || k == CALL_PCH || k == CALL_COMPILE_LINK;
}

static bool makes_image(enum call_kind k)
{
	return k == CALL_LINK || k == CALL_COMPILE_LINK;
}

/* Sets the class together with the reason: who decides says why, and nobody guesses afterwards. */
__attribute__((format(printf, 3, 4))) static void classify(
	struct compile_record *r, enum call_class class, const char *fmt, ...)
{
	auto_buf struct buf why = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&why, fmt, ap);
	va_end(ap);
	r->class = class;
	free(r->why);
	r->why = buf_detach(&why);
}

/* machine: NULL when the call names none. */
static void classify_other(struct compile_record *r, const char *machine)
{
	if (machine)
		classify(r, CLASS_HOST, "for another machine: '%s'", machine);
	else
		classify(r, CLASS_HOST, "for the build machine: it names no target");
}

static void classify_link_of_rustc(struct compile_record *r)
{
	const char *parent = getenv(ENV_PARENT_CLASS);

	if (parent && strcmp(parent, "target") == 0)
		classify(r, CLASS_TARGET, "link of a target crate");
	else
		classify(r, CLASS_HOST, "link of a crate for the build machine");
}

static void classify_target_code(
	struct shim_call *c, const struct node_tool *t, const struct cc_call *a, const char *home)
{
	struct compile_record *r = &c->record;
	const struct node_compiler *own = t->compiler < 0 ? NULL : &c->node->compilers[t->compiler];

	if (r->kind == CALL_ASSEMBLE)
		classify(r, CLASS_NONE, "assembly: nothing to count in it");
	else if (r->kind == CALL_PARTIAL_LINK)
		classify(r, CLASS_TARGET, "partial link below the %s", home);
	else if (!own || !own->takes_part)
		classify(r, CLASS_FOREIGN, "%s: not the compiler of this node", t->name);
	else if (own->retag && makes_code(r->kind) && (a->to_assembler || a->bitcode))
		classify(r, CLASS_FOREIGN,
			"%s: its counters cannot lie beside those of this program's LLVM, unless "
			"it makes an object of machine code",
			t->name);
	else
		classify(r, CLASS_TARGET, "output below the %s", home);
}

static void classify_cc(struct shim_call *c, const struct node_tool *t, const struct cc_call *a)
{
	struct compile_record *r = &c->record;
	const char *place = r->output ? r->output : r->cwd;
	const char *home = c->node->target_dir && c->node->target ? "target folder" : "slot";

	if (r->kind == CALL_QUERY)
		classify(r, CLASS_NONE, "a question to the compiler");
	else if (r->kind == CALL_PREPROCESS)
		classify(r, CLASS_NONE, "makes no code");
	else if (observing())
		classify(r, CLASS_OBSERVE, "configure step: observed");
	else if (t->bare_linker && !r->parent && r->kind == CALL_LINK)
		/* Nothing can be added to it: no link of a released program. */
		classify(r, CLASS_NONE, "link by the linker itself, without its compiler");
	else if (r->parent && (r->kind == CALL_LINK || r->kind == CALL_PARTIAL_LINK))
		classify_link_of_rustc(r);
	else if (!is_target_output(c->node, place))
		classify(r, CLASS_HOST, "output outside the %s", home);
	else if (is_for_other_machine(c->node, t, a))
		classify_other(r, machine_of(t, a));
	else
		classify_target_code(c, t, a, home);
}

static void add_flag(struct compile_record *r, const char *flag)
{
	strv_add(&r->added, flag);
}

/* A flag that both lists hold (-fprofile-generate) is given once; pairs (-mllvm X) stay pairs
 * because lists are only joined when one call does both. */
static void add_flags(struct compile_record *r, const struct strv *flags)
{
	for (size_t i = 0; i < flags->n; i++) {
		bool pair = strcmp(flags->v[i], "-mllvm") == 0 && i + 1 < flags->n;

		if (strv_has(&r->added, flags->v[pair ? i + 1 : i])) {
			i += pair;
			continue;
		}
		add_flag(r, flags->v[i]);
		if (pair)
			add_flag(r, flags->v[++i]);
	}
}

static void note_retag(
	struct shim_call *c, const struct node_compiler *own, const struct cc_call *a)
{
	auto_free char *why = NULL;

	if (c->node->mode != MODE_INSTRUMENTED || !own->retag || !makes_code(c->record.kind))
		return;
	c->retag = own->retag;
	why = c->record.why;
	c->record.why =
		xasprintf("%s; its counters have a runtime of raw version %d", why, own->retag);
	if (c->record.kind == CALL_COMPILE)
		cc_objects(a, c->record.cwd, &c->objects);
}

/* Link-time optimisation has profile diagnostics of its own. */
static bool reads_profile(const struct strv *flags)
{
	for (size_t i = 0; i < flags->n; i++)
		if (strncmp(flags->v[i], "-fprofile-use=", 14) == 0)
			return true;
	return false;
}

/* Without its -w the call must neither print nor fail on what -w hid. These stand in front of the
 * compile flags, which turn the profile diagnostics on again. */
static void quiet_clang(struct shim_call *c, const struct cc_call *a)
{
	if (!c->capture || !a->no_warnings)
		return;
	add_flag(&c->record, "-Wno-everything");
	if (a->werror)
		add_flag(&c->record, "-Wno-error");
}

/* Many of gcc's warnings come of its optimisers: with counters in the code, or hot code laid out,
 * other ones. Its messages are read, and it writes them in the user's language. */
static void quiet_gcc(struct shim_call *c, const struct cc_call *a)
{
	c->gcc = true;
	if (a->werror && makes_code(c->record.kind) && c->node->mode != MODE_PLAIN)
		add_flag(&c->record, "-Wno-error");
	if (c->capture)
		env_set(&c->env, "LC_ALL", "C");
}

static void add_cc_flags(struct shim_call *c, const struct node_tool *t, const struct cc_call *a,
	const struct strv *words)
{
	struct compile_record *r = &c->record;
	const struct node_compiler *flags;

	if (r->class != CLASS_TARGET || r->parent || t->compiler < 0)
		return;
	flags = &c->node->compilers[t->compiler];
	c->profile = flags->profile;
	c->capture = (c->node->mode == MODE_OPTIMISED || c->profile) &&
		     (makes_code(r->kind) || (makes_image(r->kind) && reads_profile(&flags->link)));
	note_retag(c, flags, a);
	if (t->family == FAMILY_GCC)
		quiet_gcc(c, a);
	else
		quiet_clang(c, a);
	if (makes_code(r->kind))
		add_flags(r, &flags->compile);
	if (makes_image(r->kind))
		add_flags(r, &flags->link);
	shim_add_lto(c, flags, a, words);
	if (c->capture && a->werror && !c->gcc)
		add_flag(r, "-Wno-error=backend-plugin");
}

/* ld puts the output's name in the place of a '%' in that of its map. */
static char *map_path(const char *log, const char *id)
{
	const char *tmp = getenv("TMPDIR");

	return xasprintf("%s/%s.map", strchr(log, '%') && tmp && *tmp ? tmp : log, id);
}

/* Rule 9: the linker's map tells which objects the link reached. The user's own map serves when
 * there is one. */
static void add_map(struct shim_call *c, const struct node_tool *t, const struct cc_call *a)
{
	struct compile_record *r = &c->record;
	bool image = makes_image(r->kind) || r->kind == CALL_PARTIAL_LINK;
	bool whole;

	if (!image || (r->class != CLASS_TARGET && r->class != CLASS_FOREIGN))
		return;
	if (a->print_map && !a->map) {
		r->map_error = xstrdup("the call sends its linker map to standard output");
		return;
	}
	c->evidence = true;
	if (a->map) {
		c->map = path_join(r->cwd, a->map);
		return;
	}
	c->own_map = true;
	c->map = map_path(c->node->log, r->id);
	if (shim_is_zig(t)) {
		/* It knows no option that names a file. */
		c->prints_map = true;
		strv_add(&r->added, "-Wl,--print-map");
		return;
	}
	/* -Wl splits its words at commas; a linker by itself takes its words as they are */
	whole = t->bare_linker || strchr(c->map, ',');
	if (whole && !t->bare_linker)
		strv_add(&r->added, "-Xlinker");
	strv_take(&r->added, xasprintf("%s-Map=%s", whole ? "" : "-Wl,", c->map));
}

/* The arguments as given, without what would hide profile diagnostics, and with what the node adds.
 * Additions go in front of a "--", behind which everything is a file. */
static void build_argv(struct shim_call *c, const struct strv *given, enum compiler_family family)
{
	static const char cap[] = "--cap-lints=warn"; /* stands where "allow" stood */
	const struct compiler quiet = {.family = family};
	struct compile_record *r = &c->record;
	auto_strv struct strv kept = STRV_INIT;
	bool added = false;

	if (c->capture)
		toolchain_unsilence(&quiet, given, &kept, &r->removed);
	else
		strv_add_all(&kept, given);
	c->hide_warnings = r->removed.n > 0;
	shim_drop_lto(c, &kept);
	for (size_t i = 0; i < kept.n; i++) {
		if (!added && strcmp(kept.v[i], "--") == 0) {
			strv_add_all(&c->argv, &r->added);
			added = true;
		}
		strv_add(&c->argv, kept.v[i]);
	}
	if (!added)
		strv_add_all(&c->argv, &r->added);
	if (r->removed.n && strv_has(&kept, cap) && !strv_has(given, cap))
		add_flag(r, cap);
}

/* A -w that stands inside a response file can only be dropped by giving the words themselves. */
static bool hidden_in_file(const struct strv *given, const struct strv *words)
{
	size_t outside = 0, inside = 0;

	for (size_t i = 0; i < given->n; i++)
		outside += cc_hides_warnings(given->v[i]);
	for (size_t i = 0; i < words->n; i++)
		inside += cc_hides_warnings(words->v[i]);
	return inside > outside;
}

int shim_plan_cc(
	struct shim_call *c, const struct node_tool *t, int argc, char **argv, struct error *err)
{
	struct compile_record *r = &c->record;
	auto_strv struct strv words = STRV_INIT;
	auto_free char *path = NULL;
	struct cc_call a;

	if (begin(c, err) < 0)
		return -1;
	for (int i = 1; i < argc; i++)
		strv_add(&r->argv, argv[i]);
	response_expand(&r->argv, r->cwd, false, &words);
	if (t->bare_linker)
		ld_classify(&words, &a);
	else
		cc_classify(&words, t->cxx, &a);
	r->kind = a.kind;
	r->parent = xstrdup(getenv(ENV_PARENT));
	r->tool = xstrdup(t->path);
	free(r->language);
	r->language = xstrdup(a.language);
	strv_add_all(&r->inputs, &a.sources);
	strv_add_all(&r->inputs, &a.assembly);
	strv_add_all(&r->inputs, &a.objects);
	r->output = cc_output(&a, r->cwd);
	if (a.sources.n == 1)
		r->source = xstrdup(a.sources.v[0]);
	classify_cc(c, t, &a);
	add_cc_flags(c, t, &a, &words);
	add_map(c, t, &a);
	strv_add(&c->argv, t->path);
	build_argv(
		c, c->capture && hidden_in_file(&r->argv, &words) ? &words : &r->argv, t->family);
	/* Rule 3: what stands behind the shim (a ccache masquerade) must not find it again. */
	path = path_list_without(getenv("PATH") ? getenv("PATH") : "", c->node->folder);
	env_set(&c->env, "PATH", path);
	shim_launch(c, t);
	c->assembly = a.to_assembler && r->class == CLASS_TARGET;
	cc_call_release(&a);
	if (r->kind == CALL_COMPILE_LINK && c->evidence && r->class == CLASS_TARGET)
		return shim_keep_objects(c, err);
	return 0;
}

static void classify_rustc(struct shim_call *c, const struct rustc_call *a)
{
	struct compile_record *r = &c->record;

	if (a->kind == CALL_QUERY)
		classify(r, CLASS_NONE, "a question to the compiler");
	else if (observing())
		classify(r, CLASS_OBSERVE, "configure step: observed");
	else if (!a->target)
		classify(r, CLASS_HOST, "no --target");
	else if (!c->node->target || strcmp(a->target, c->node->target) != 0)
		classify(r, CLASS_HOST, "--target differs");
	else if (a->crate_type && strcmp(a->crate_type, "proc-macro") == 0)
		classify(r, CLASS_HOST, "proc macro: runs inside the compiler");
	else if (a->std)
		classify(r, CLASS_NONE, "crate of the standard library");
	else if (!a->code)
		classify(r, CLASS_NONE, "makes no code");
	else
		classify(r, CLASS_TARGET, "--target is that of the node");
}

static int add_rustc_flags(struct shim_call *c, const struct rustc_call *a, struct error *err)
{
	const struct node_compiler *flags = shim_node_compiler(c->node, FAMILY_RUSTC);
	struct compile_record *r = &c->record;
	const char *linker = a->linker;

	if (r->class != CLASS_TARGET || !flags)
		return 0;
	c->profile = flags->profile;
	add_flags(r, &flags->compile);
	if (a->links)
		add_flags(r, &flags->link);
	if (shim_add_rustc_lto(c, flags, a, err) < 0)
		return -1;
	/* "cc", rustc's own choice, links for this machine. */
	if (a->links && !linker && c->node->rust_linker) {
		linker = c->node->rust_linker;
		strv_take(&r->added, xasprintf("-Clinker=%s", linker));
	}
	if (a->links && c->node->mode == MODE_INSTRUMENTED && c->node->instrument_linker) {
		linker = c->node->instrument_linker;
		strv_take(&r->added, xasprintf("-Clinker=%s", linker));
	}
	c->capture = c->node->mode == MODE_OPTIMISED;
	c->links = a->links;
	return a->links ? shim_watch_linker(c, linker, err) : 0;
}

static void fill_rustc_record(struct compile_record *r, const struct rustc_call *a)
{
	r->kind = a->kind;
	free(r->language);
	r->language = xstrdup("rust");
	r->crate_name = xstrdup(a->crate_name);
	r->crate_type = xstrdup(a->crate_type);
	r->metadata = xstrdup(a->metadata);
	r->target_triple = xstrdup(a->target);
	r->source = xstrdup(a->source);
	if (a->source)
		strv_add(&r->inputs, a->source);
	r->output = a->kind == CALL_RUSTC ? rustc_output(a, r->cwd) : NULL;
}

/* cargo puts a workspace wrapper between this wrapper and rustc: then a second program follows. */
static int first_argument(int argc, char **argv)
{
	size_t n;

	if (argc < 3 || argv[2][0] == '-' || argv[2][0] == '@')
		return 2;
	n = strlen(argv[2]);
	if (n > 3 && strcmp(argv[2] + n - 3, ".rs") == 0)
		return 2;
	return access(argv[2], X_OK) == 0 || compiler_family_of(argv[2]) == FAMILY_RUSTC ? 3 : 2;
}

int shim_plan_rustc(struct shim_call *c, int argc, char **argv, struct error *err)
{
	struct compile_record *r = &c->record;
	auto_strv struct strv words = STRV_INIT;
	const char *inner = getenv(ENV_RUSTC_WRAPPER);
	struct rustc_call a;
	bool failed;
	int first;

	if (argc < 2)
		return error_set(err, ERR_USAGE, "%s: expected the path of rustc", SHIM_RUSTC);
	if (begin(c, err) < 0)
		return -1;
	first = first_argument(argc, argv);
	for (int i = first; i < argc; i++)
		strv_add(&r->argv, argv[i]);
	response_expand(&r->argv, r->cwd, true, &words);
	rustc_classify(&words, &a);
	r->tool = xstrdup(argv[first - 1]);
	fill_rustc_record(r, &a);
	classify_rustc(c, &a);
	failed = add_rustc_flags(c, &a, err) < 0;
	for (int i = 1; i < first; i++)
		strv_add(&c->argv, argv[i]);
	build_argv(c, &r->argv, FAMILY_RUSTC);
	if (inner && *inner)
		shim_launch_rustc(c, inner);
	if (a.kind == CALL_RUSTC) {
		env_set(&c->env, ENV_PARENT, r->id);
		env_set(&c->env, ENV_PARENT_CLASS, call_class_name(r->class));
	}
	rustc_call_release(&a);
	return failed ? -1 : 0;
}
