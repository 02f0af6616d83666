/* Links what is to be laid out anew once more, with the relocations kept in the file
 * (--emit-relocs): a tool that moves code needs them. The link that ships stays what it is. As with
 * other relinks (shim_relink.c), it happens right after the link itself. docs/layout.md. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/shim.h"

/* Options that take the symbol table away, without which no function could be moved. */
static bool strips(const char *option, size_t n)
{
	static const char *const options[] = {
		"-s", "--strip-all", "-strip-all", "-x", "--discard-all"};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (strlen(options[i]) == n && strncmp(options[i], option, n) == 0)
			return true;
	return false;
}

/* A word of a driver without them; NULL when nothing of it is left. Caller frees. */
static char *without_strip(const char *word)
{
	auto_buf struct buf kept = BUF_INIT;

	if (strcmp(word, "-s") == 0)
		return NULL;
	if (strncmp(word, "-Wl,", 4) != 0)
		return xstrdup(word);
	for (const char *p = word + 4;; p++) {
		size_t n = strcspn(p, ",");

		if (!strips(p, n))
			buf_addf(&kept, ",%.*s", (int)n, p);
		p += n;
		if (!*p)
			break;
	}
	return kept.n ? xasprintf("-Wl%s", buf_str(&kept)) : NULL;
}

/* In the place of -Xlinker WORD. */
static bool is_pair(const struct strv *argv, size_t i, bool bare)
{
	return !bare && i + 1 < argv->n && strcmp(argv->v[i], "-Xlinker") == 0 &&
	       strips(argv->v[i + 1], strlen(argv->v[i + 1]));
}

/* A rule for make belongs to the link that was done. */
static bool writes_rule(const struct strv *argv)
{
	for (size_t i = 0; i < argv->n; i++)
		if (strstr(argv->v[i], "--dependency-file"))
			return true;
	return false;
}

static void add_own(const struct shim_call *c, struct strv *argv, bool bare, const char *to)
{
	const char *in_front = bare ? "" : "-Wl,";

	strv_add(argv, "-o");
	strv_add(argv, to);
	strv_addf(argv, "%s" RELOCS_OPTION, in_front);
	strv_addf(argv, "%s-Map=/dev/null", in_front);
	if (writes_rule(&c->argv))
		strv_addf(argv, "%s--dependency-file=/dev/null", in_front);
}

static void add_word(struct strv *argv, const char *word, bool bare)
{
	auto_free char *kept = bare ? NULL : without_strip(word);

	if (bare && !strips(word, strlen(word)))
		strv_add(argv, word);
	else if (kept)
		strv_add(argv, kept);
}

static void relocs_argv(const struct shim_call *c, const char *to, struct strv *ret)
{
	const char *program = c->argv.v[c->compiler];
	bool bare = is_linker_name(path_basename(program)), done = false;

	strv_add(ret, program);
	for (size_t i = c->compiler + 1; i < c->argv.n; i++) {
		const char *a = c->argv.v[i];
		size_t words = c->record.kind == CALL_COMPILE_LINK ? shim_dependency_words(a) : 0;

		if (is_pair(&c->argv, i, bare))
			words = 2;
		if (!done && strcmp(a, "--") == 0) {
			add_own(c, ret, bare, to);
			done = true;
		}
		if (words)
			i += words - 1;
		else
			add_word(ret, a, bare);
	}
	if (!done)
		add_own(c, ret, bare, to);
}

int shim_relocs(const struct shim_call *c, struct error *err)
{
	auto_free char *name = xasprintf(RELOCS, c->record.id);
	auto_free char *folder = path_join(c->node->log, name);
	auto_free char *output = path_join(folder, RELINK_OUTPUT);
	auto_free char *to = path_join(folder, RELOCS_FILE);
	auto_strv struct strv env = STRV_INIT, argv = STRV_INIT;

	if (!c->node->relocs || !shim_is_released(c))
		return 0;
	if (dir_create(folder, 0755, err) < 0)
		return -1;
	shim_aside_environment(c, &env);
	relocs_argv(c, to, &argv);
	/* Of one that failed the words of the linker are kept. */
	if (shim_run_aside(&argv, &env, output) != 0)
		(void)unlink(to);
	return 0;
}
