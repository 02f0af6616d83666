#include "wrap/assembled.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/proc.h"
#include "elf/elf_facts.h"
#include "wrap/node.h"
#include "wrap/shim.h"

#define AS_TIMEOUT (300 * NS_PER_S)
/* Hand-written sources are small. */
#define SOURCE_MAX ((size_t)8 << 20)

void assembler_sources_release(struct assembler_sources *s)
{
	strv_release(&s->paths);
	memset(s, 0, sizeof(*s));
}

static bool is_assembler_name(const char *path)
{
	static const char *const suffixes[] = {".s", ".S", ".sx", ".asm", ".nasm", ".ASM"};
	const char *dot = strrchr(path_basename(path), '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(suffixes); i++)
		if (strcmp(dot, suffixes[i]) == 0)
			return true;
	return false;
}

static int add_source(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	struct strv *paths = ctx;

	(void)err;
	if (S_ISREG(st->st_mode) && is_assembler_name(path))
		strv_take(paths, path_join(root, path));
	return 0;
}

/* As a word of its own: "mix" is not in "remix:". */
static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = strstr(text, word); p; p = strstr(p + 1, word)) {
		unsigned char before = p > text ? (unsigned char)p[-1] : ' ';
		unsigned char after = (unsigned char)p[n];

		if (!isalnum(before) && !strchr("_.$", before) && !isalnum(after) &&
			(!after || !strchr("_.$", after)))
			return true;
	}
	return false;
}

/* Whether the file defines all of them and no compiler wrote it. */
static bool defines_all(const char *path, const struct strv *labels)
{
	auto_buf struct buf text = BUF_INIT;

	if (file_read(path, SOURCE_MAX, &text, NULL) < 0)
		return false;
	if (strstr(buf_str(&text), ".ident"))
		return false;
	for (size_t i = 0; i < labels->n; i++)
		if (!has_word(buf_str(&text), labels->v[i]))
			return false;
	return labels->n > 0;
}

/* nasm and yasm name themselves, or their source. A compiler names a source of its language. */
static bool says_so(const struct link_input *in)
{
	if (in->maker)
		return strncmp(in->maker, "The Netwide Assembler", 21) == 0 &&
		       !strchr(in->maker, ';');
	for (size_t i = 0; i < in->files.n; i++)
		if (!is_assembler_name(in->files.v[i]))
			return false;
	return in->files.n > 0;
}

/* In the source's folder, where it finds what it includes. */
static bool assemble(const struct wrap_node *n, const char *from, const char *to)
{
	auto_free char *folder = path_dirname(from);
	const char *list = getenv("PATH");
	auto_free char *path = path_list_without(list ? list : "/usr/bin:/bin", n->folder);
	auto_free char *as = n->cross ? xasprintf("%s-as", n->cross) : xstrdup("as");
	auto_strv struct strv argv = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;
	struct error ignored = ERROR_INIT;
	struct proc_exit end = {.code = 1};

	strv_take(&argv, path_find_program(as, path, NULL));
	if (!argv.v[0])
		return false;
	strv_add(&argv, "-o");
	strv_add(&argv, to);
	strv_add(&argv, from);
	o.argv = &argv;
	o.cwd = folder;
	(void)proc_run(&o, AS_TIMEOUT, &end, &ignored);
	error_release(&ignored);
	return end.code == 0;
}

static bool has_code(const char *object, const char *code_hash)
{
	auto_free char *code = elf_code_of_file(object);

	return code && strcmp(code, code_hash) == 0;
}

/* Whether assembling the source gives other code. One that cannot be assembled alone tells nothing.
 */
static bool is_other_code(
	const struct wrap_node *n, const char *source, const struct link_input *in)
{
	auto_free char *object = xasprintf("%s/.assembled.%d.o", n->log, (int)getpid());
	bool other =
		in->code_hash && assemble(n, source, object) && !has_code(object, in->code_hash);

	(void)unlink(object);
	return other;
}

bool assembled_by_hand(struct assembler_sources *s, const struct wrap_node *n,
	const struct link_input *in, char **source)
{
	if (!in->sha256 || (in->maker && !says_so(in)))
		return false;
	if (says_so(in))
		return true;
	if (in->files.n)
		return false;
	if (!s->gathered)
		(void)tree_walk(n->slot, add_source, &s->paths, NULL);
	s->gathered = true;
	for (size_t i = 0; i < s->paths.n; i++) {
		if (!defines_all(s->paths.v[i], &in->labels) || is_other_code(n, s->paths.v[i], in))
			continue;
		*source = xstrdup(s->paths.v[i]);
		return true;
	}
	return false;
}

/* ---- clang -S, then as --------------------------------------------------------------------- */

static bool gives(const struct wrap_node *n, const struct compile_record *r, const char *code_hash)
{
	auto_free char *name = xasprintf(KEPT_ASSEMBLY, r->id);
	auto_free char *kept = path_join(n->log, name);
	auto_free char *object = xasprintf("%s.o", kept);
	bool same;

	if (!path_exists(kept))
		return false;
	same = assemble(n, kept, object) && has_code(object, code_hash);
	(void)unlink(object);
	return same;
}

/* The object names the source that the compiler read. */
static bool may_be_of(const struct compile_record *r, const struct link_input *in)
{
	if (r->kind != CALL_COMPILE || r->status != 0 || !r->output ||
		!is_assembler_name(r->output))
		return false;
	for (size_t i = 0; r->source && i < in->files.n; i++)
		if (strcmp(path_basename(in->files.v[i]), path_basename(r->source)) == 0)
			return true;
	return in->files.n == 0;
}

const struct compile_record *assembled_from_call(
	const struct compile_log *log, const struct wrap_node *n, const struct link_input *in)
{
	for (size_t i = log->n; in->code_hash && i-- > 0;)
		if (may_be_of(&log->v[i], in) && gives(n, &log->v[i], in->code_hash))
			return &log->v[i];
	return NULL;
}
