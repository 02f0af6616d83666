/* The instrumented file, and copies of it that write elsewhere. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "layout/internal.h"

/* The prefix is a text in the file. With leading slashes, which change no path, all prefixes are
 * equally long, and one can be put in the place of another. */
#define FIELD 1000

/* The oldest that is known to give each process counters of its own when its files are to be told
 * apart by pid: those of LLVM 15 and 16 share them all the same, and each file holds what all of
 * them counted. */
#define OWN_COUNTERS 19

static int check_dump(const struct layout_tool *t, enum layout_dump dump, struct error *err)
{
	if (dump != LAYOUT_DUMP_PROCESS || t->major >= OWN_COUNTERS)
		return 0;
	return error_set(err, ERR_ENVIRONMENT,
		"%s cannot count each process for itself: files of processes that one forked from "
		"the other would all hold the same counts; install a later one (Debian: "
		"'bolt-%d')",
		t->version, OWN_COUNTERS);
}

static int check_prefix(const char *prefix, struct error *err)
{
	if (*prefix != '/' || strlen(prefix) > LAYOUT_PREFIX_MAX)
		return error_set(err, ERR_UNSUPPORTED,
			"the path of the profile '%.60s…' is not absolute or longer than %d bytes: "
			"choose a shorter folder (TMPDIR, WHET_STATE)",
			prefix, LAYOUT_PREFIX_MAX);
	if (strpbrk(prefix, "\n\"\\"))
		return error_set(err, ERR_UNSUPPORTED,
			"the path of the profile '%s' has a quote, backslash or line end in it",
			prefix);
	return 0;
}

static char *padded(const char *prefix)
{
	size_t n = strlen(prefix);
	char *field = xmalloc(FIELD + 1);

	memset(field, '/', FIELD - n);
	memcpy(field + FIELD - n, prefix, n + 1);
	return field;
}

static void add_options(const struct layout_instrument *o, struct strv *ret)
{
	auto_free char *field = padded(o->prefix);

	strv_addf(ret, "-instrumentation-file=%s", field);
	if (o->dump == LAYOUT_DUMP_PROCESS)
		strv_add(ret, "-instrumentation-file-append-pid");
	if (o->dump == LAYOUT_DUMP_WATCHED) {
		strv_add(ret, "-instrumentation-sleep-time=1");
		/* Else each writing would start from nothing, and the last file hold the last
		 * second alone. */
		strv_add(ret, "-instrumentation-no-counters-clear");
	}
	/* Last: the file holds its command line, too, where nothing but the path that the runtime
	 * reads may end with a NUL (find_field()). */
	strv_add(ret, "-instrument");
}

/* Exit code 0 is no proof that there is a counter in it. */
static int check_instrumented(const struct layout_tool *t, const struct layout_instrument *o,
	struct strv *lines, struct error *err)
{
	struct elf_layout l = {0};
	bool good;

	if (elf_layout_read(o->out, &l, NULL, err) < 0)
		return error_context(err, "%s left", t->version);
	good = l.instrumented;
	elf_layout_release(&l);
	for (size_t i = 0; i < lines->n; i++)
		if (strstr(lines->v[i], "Total number of counters: 0") &&
			!strstr(lines->v[i], "counters: 0x"))
			good = false;
	if (good)
		return 0;
	return error_set(err, ERR_CHILD,
		"%s ended with exit code 0 and put no counter into '%s'; its log says why",
		t->version, o->binary);
}

int layout_instrument(
	const struct layout_tool *t, const struct layout_instrument *o, struct error *err)
{
	auto_strv struct strv options = STRV_INIT, lines = STRV_INIT;
	struct layout_input input;
	struct proc_exit e;
	struct bolt_call c = {.tool = t,
		.options = &options,
		.binary = o->binary,
		.out = o->out,
		.log = o->log,
		.timeout_ns = o->timeout_ns,
		.what = "instrument"};
	int r;

	if (check_prefix(o->prefix, err) < 0 || check_dump(t, o->dump, err) < 0)
		return -1;
	r = layout_preflight(t, o->binary, &input, err);
	if (r == 0 && layout_can_instrument(t, &input, err) < 0)
		r = error_context(err, "'%s'", o->binary);
	layout_input_release(&input);
	if (r < 0)
		return -1;
	add_options(o, &options);
	if (bolt_run(&c, &e, &lines, err) < 0)
		return -1;
	if (check_instrumented(t, o, &lines, err) < 0) {
		unlink(o->out);
		return -1;
	}
	return 0;
}

/* The field: so long, at least a part of it slashes, and a NUL behind it. The record of the command
 * line holds it, too, with something else behind it. */
static char *find_field(char *p, size_t n)
{
	const size_t pad = FIELD - LAYOUT_PREFIX_MAX;

	for (char *at = p, *end = p + n; end - at > FIELD;) {
		at = memchr(at, '/', (size_t)(end - at));
		if (!at || end - at <= FIELD)
			return NULL;
		if (strspn(at, "/") >= pad && memchr(at, 0, FIELD) == NULL && at[FIELD] == 0)
			return at;
		at += strspn(at, "/");
	}
	return NULL;
}

int layout_aim(const char *instrumented, const char *out, const char *prefix, struct error *err)
{
	auto_buf struct buf text = BUF_INIT;
	auto_free char *field = NULL;
	struct stat st;
	char *at;

	if (check_prefix(prefix, err) < 0)
		return -1;
	field = padded(prefix);
	if (stat(instrumented, &st) < 0)
		return file_error(err, "read", instrumented);
	if (file_read(instrumented, 0, &text, err) < 0)
		return -1;
	at = find_field(text.p, text.n);
	if (!at || find_field(at + FIELD, text.n - (size_t)(at + FIELD - text.p)))
		return error_set(err, ERR_CORRUPT,
			"'%s' is no file that was instrumented for layout: the path of its profile "
			"is not in it, or twice",
			instrumented);
	memcpy(at, field, FIELD);
	return file_write_atomic(out, text.p, text.n, st.st_mode & 0777, err);
}
