/* How each linker is told. All of them place sections, so each function needs one of its own
 * (-ffunction-sections). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wrap/order.h"

/* The order among the listed functions that GNU ld's own script has, at the begin of .text. */
#define TEXT_STATEMENT "\n  .text "
#define INTERNAL_SCRIPT "internal linker script"
#define SCRIPT_RULE "=================================================="

void order_words_release(struct order_words *o)
{
	strv_release(&o->words);
	strv_release(&o->listed);
	buf_release(&o->content);
}

struct writing {
	const struct elf_calls *c;
	struct order_words *to;
};

/* Names of sections are patterns, and words of a script. */
static bool is_plain(const char *name)
{
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("_.$", *name))
			return false;
	return true;
}

static bool has_cold_part(const struct elf_calls *c, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < c->n; i++)
		if (strncmp(c->v[i].name, name, n) == 0 &&
			strncmp(c->v[i].name + n, ".cold", 5) == 0)
			return true;
	return false;
}

/* The sections in which compilers put a function of this name, as a list with `between`. That for
 * unlikely code holds the function itself, or, when it was split, its cold part. */
static void add_sections(struct writing *w, const char *name, const char *between)
{
	static const char *const prefixes[] = {".text.hot.", ".text.", ".text.startup."};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		buf_addf(&w->to->content, "%s%s%s", i ? between : "", prefixes[i], name);
	if (!has_cold_part(w->c, name))
		buf_addf(&w->to->content, "%s.text.unlikely.%s", between, name);
}

/* lld: names of symbols. */
static int write_symbol(struct writing *w, const char *name)
{
	buf_addf(&w->to->content, "%s\n", name);
	return 0;
}

static int write_gold(struct writing *w, const char *name)
{
	add_sections(w, name, "\n");
	buf_addc(&w->to->content, '\n');
	return 0;
}

static int write_statement(struct writing *w, const char *name)
{
	buf_adds(&w->to->content, "    *(");
	add_sections(w, name, ") *(");
	buf_adds(&w->to->content, ")\n");
	return 0;
}

static void list(struct writing *w, const uint32_t *order, size_t n, bool sections,
	int (*write)(struct writing *, const char *))
{
	for (size_t i = 0; i < n; i++) {
		const char *name = w->c->v[order[i]].name;

		if (sections && !is_plain(name))
			continue;
		(void)write(w, name);
		strv_add(&w->to->listed, name);
	}
}

static int for_lld(
	struct writing *w, const char *said, const uint32_t *order, size_t n, struct error *err)
{
	list(w, order, n, false, write_symbol);
	return 0;
}

static int for_gold(
	struct writing *w, const char *said, const uint32_t *order, size_t n, struct error *err)
{
	list(w, order, n, true, write_gold);
	return 0;
}

/* GNU ld before 2.43 has no option for it. The script that it would use by itself, which it says
 * when asked, gets the functions at the begin of .text. */
static int for_gnu(
	struct writing *w, const char *said, const uint32_t *order, size_t n, struct error *err)
{
	const char *script = strstr(said, SCRIPT_RULE), *end, *text, *brace;

	if (!strstr(said, INTERNAL_SCRIPT) || !script)
		return error_set(err, ERR_UNSUPPORTED,
			"GNU ld links by a script of the project's own, in which whet places no "
			"functions; link by lld (-fuse-ld=lld)");
	script = strchrnul(script, '\n');
	end = strstr(script, "\n" SCRIPT_RULE);
	text = strstr(script, TEXT_STATEMENT);
	brace = text ? strstr(text, "{\n") : NULL;
	if (!end || !brace || brace > end)
		return error_set(err, ERR_UNSUPPORTED,
			"GNU ld's own script has no .text that whet knows; link by lld "
			"(-fuse-ld=lld)");
	buf_add(&w->to->content, script + 1, (size_t)(brace + 2 - (script + 1)));
	list(w, order, n, true, write_statement);
	buf_add(&w->to->content, brace + 2, (size_t)(end + 1 - (brace + 2)));
	return 0;
}

static const struct linker {
	const char *name, *suffix;
	const char *option; /* for the linker, with its file at the end */
	const char *more;   /* NULL: no further word */
	int (*write)(struct writing *w, const char *said, const uint32_t *order, size_t n,
		struct error *err);
} linkers[] = {
	{"lld", ".symbols", "--symbol-ordering-file=", "--no-warn-symbol-ordering", for_lld},
	{"gold", ".sections", "--section-ordering-file=", NULL, for_gold},
	{"GNU ld", ".ld", "--script=", NULL, for_gnu},
};

static const struct linker *find(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(linkers); i++)
		if (strcmp(linkers[i].name, name) == 0)
			return &linkers[i];
	return NULL;
}

int order_for_linker(const char *linker, const char *said, const struct elf_calls *c,
	const uint32_t *order, size_t n, struct order_words *ret, struct error *err)
{
	const struct linker *l = find(linker);
	struct order_words o = {0};
	struct writing w = {c, &o};

	if (!l)
		return error_set(err, ERR_UNSUPPORTED,
			"%s has no option for an order of functions; link by lld (-fuse-ld=lld), "
			"gold "
			"or GNU ld",
			linker ? linker : "the linker, which its map does not name,");
	o.suffix = l->suffix;
	if (l->write(&w, said, order, n, err) < 0) {
		order_words_release(&o);
		return -1;
	}
	*ret = o;
	return 0;
}

/* -Wl splits at commas. */
static void add_word(struct strv *words, const char *option, const char *value)
{
	bool whole = strchr(value, ',') != NULL;

	if (whole)
		strv_add(words, "-Xlinker");
	strv_addf(words, "%s%s%s", whole ? "" : "-Wl,", option, value);
}

void order_name_file(const char *linker, const char *path, struct order_words *o)
{
	const struct linker *l = find(linker);

	add_word(&o->words, l->option, path);
	if (l->more)
		add_word(&o->words, l->more, "");
}
