/* Before the link of what may be released, when its functions are to be placed in an order: the
 * same link is done aside, with --emit-relocs, since the names, sizes and calls of the functions
 * are known for sure only in what is linked (link-time optimisation gives new names). Of that and
 * the counts of the profile whet-order makes the order, and the link gets it. order.h has the
 * rest. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "wrap/shim.h"

static bool is_wanted(const struct shim_call *c)
{
	const struct compile_record *r = &c->record;

	if (!c->node->order || !c->evidence || r->class != CLASS_TARGET || !r->output ||
		(r->kind != CALL_LINK && r->kind != CALL_COMPILE_LINK))
		return false;
	for (size_t i = 0; i < c->node->released.n; i++)
		if (shim_may_become(path_basename(r->output), c->node->released.v[i]))
			return true;
	return false;
}

static void add_own(struct strv *argv, const char *to)
{
	strv_add(argv, "-o");
	strv_add(argv, to);
	strv_add(argv, "-Wl,--emit-relocs");
	strv_add(argv, "-Wl,--verbose"); /* GNU ld says its script */
}

static void probe_argv(const struct shim_call *c, const char *to, struct strv *ret)
{
	bool done = false;

	strv_add(ret, c->argv.v[c->compiler]);
	for (size_t i = c->compiler + 1; i < c->argv.n; i++) {
		const char *a = c->argv.v[i];
		size_t words = c->record.kind == CALL_COMPILE_LINK ? shim_dependency_words(a) : 0;

		if (!done && strcmp(a, "--") == 0) {
			add_own(ret, to);
			done = true;
		}
		if (words)
			i += words - 1;
		else
			strv_add(ret, a);
	}
	if (!done)
		add_own(ret, to);
}

static char *first_line_with(const char *path, const char *word)
{
	auto_free char *text = file_tail(path, 100);
	const char *at = strstr(text, word);

	while (at && at > text && at[-1] != '\n')
		at--;
	return at ? xstrndup(at, strcspn(at, "\n")) : xstrdup("it gave no reason");
}

/* Links aside. NULL: done; else why it cannot. */
static char *probe(const struct shim_call *c, const char *to, const char *said)
{
	auto_strv struct strv argv = STRV_INIT, env = STRV_INIT;
	auto_free char *line = NULL;

	probe_argv(c, to, &argv);
	shim_aside_environment(c, &env);
	if (shim_run_aside(&argv, &env, said) == 0)
		return NULL;
	line = first_line_with(said, "error");
	return xasprintf("the link could not be done with --emit-relocs: %s", line);
}

/* Of the result: the first line is the list of functions, or the reason; the rest are words. */
static int take_result(struct shim_call *c, const char *path, int status, struct error *err)
{
	struct function_order *o = &c->record.functions;
	auto_buf struct buf text = BUF_INIT;
	size_t n = 0;

	if (status != 0 && status != 3)
		return error_set(
			err, ERR_CHILD, "'%s' failed with %d", c->node->order_program, status);
	if (file_read(path, 0, &text, err) < 0)
		return -1;
	if (status == 3) {
		o->why = xstrdup(buf_str(&text));
		return 0;
	}
	for (const char *p = buf_str(&text); *p; n++) {
		auto_free char *line = xstrndup(p, strcspn(p, "\n"));

		p += strlen(line);
		p += *p == '\n';
		if (n)
			strv_add(&c->record.added, line);
		else
			o->file = xstrdup(line);
	}
	return 0;
}

/* The words stand behind all others, as the rest of what whet adds does. */
static void put_words(struct shim_call *c, size_t from)
{
	struct strv argv = STRV_INIT;
	size_t i = 0;

	for (; i < c->argv.n && strcmp(c->argv.v[i], "--") != 0; i++)
		strv_add(&argv, c->argv.v[i]);
	for (; from < c->record.added.n; from++)
		strv_add(&argv, c->record.added.v[from]);
	for (; i < c->argv.n; i++)
		strv_add(&argv, c->argv.v[i]);
	strv_release(&c->argv);
	c->argv = argv;
}

static int make_order(struct shim_call *c, const char *linked, const char *said, const char *result,
	struct error *err)
{
	auto_strv struct strv argv = STRV_INIT;
	size_t from = c->record.added.n;

	strv_add(&argv, c->node->order_program);
	strv_add(&argv, linked);
	strv_add(&argv, c->map);
	strv_add(&argv, c->node->order);
	strv_add(&argv, said);
	strv_add(&argv, c->node->log);
	strv_add(&argv, result);
	if (take_result(c, result, shim_run_aside(&argv, &c->env, "/dev/null"), err) < 0)
		return -1;
	put_words(c, from);
	return 0;
}

int shim_order(struct shim_call *c, struct error *err)
{
	auto_free char *linked = xasprintf("%s/.%s.probe", c->node->log, c->record.id);
	auto_free char *said = xasprintf("%s.said", linked);
	auto_free char *result = xasprintf("%s.result", linked);
	int r = 0;

	if (!is_wanted(c))
		return 0;
	if (c->prints_map) {
		c->record.functions.why =
			xstrdup("zig's linker is asked for no order of functions");
		return 0;
	}
	c->record.functions.why = probe(c, linked, said);
	if (!c->record.functions.why)
		r = make_order(c, linked, said, result, err);
	(void)unlink(linked);
	(void)unlink(said);
	(void)unlink(result);
	return r;
}
