/* Link-time optimisation by whet. All calls of a build get it or none: an object that lacks it is
 * no fault, but it is another program than the one that was asked for. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/shim.h"

/* -B names folders for all of the compiler's helpers; only one that holds a linker names that. */
static bool holds_linker(const struct shim_call *c, const char *folder)
{
	auto_free char *path = path_join(c->record.cwd, folder);
	auto_free char *ld = path_join(path, "ld");

	return *folder && access(ld, X_OK) == 0;
}

static bool names_linker(const struct shim_call *c, const struct strv *words)
{
	for (size_t i = 0; i < words->n; i++) {
		const char *w = words->v[i];

		if (strncmp(w, "-fuse-ld=", 9) == 0 || strncmp(w, "--ld-path=", 10) == 0)
			return true;
		if (strcmp(w, "-B") == 0 && i + 1 < words->n && holds_linker(c, words->v[i + 1]))
			return true;
		if (strncmp(w, "-B", 2) == 0 && holds_linker(c, w + 2))
			return true;
	}
	return false;
}

static void add_words(struct compile_record *r, const struct strv *words)
{
	for (size_t i = 0; i < words->n; i++)
		if (!strv_has(&r->added, words->v[i]))
			strv_add(&r->added, words->v[i]);
}

void shim_add_lto(struct shim_call *c, const struct node_compiler *own, const struct cc_call *a,
	const struct strv *words)
{
	struct compile_record *r = &c->record;
	bool image = r->kind == CALL_LINK || r->kind == CALL_COMPILE_LINK ||
		     r->kind == CALL_PARTIAL_LINK;
	bool code = r->kind == CALL_COMPILE || r->kind == CALL_PCH;

	/* What -S makes then is no assembler source, and an assembler cannot read it. */
	if (!image && (!code || a->to_assembler))
		return;
	add_words(r, &own->lto_words);
	if (image && own->lto_linker && !names_linker(c, words))
		strv_add(&r->added, own->lto_linker);
}

/* rustc refuses to optimise where one of the crate's types is none of these. */
static bool can_be_optimised(const char *types)
{
	static const char *const possible[] = {"bin", "cdylib", "staticlib"};

	for (const char *p = types; p && *p;) {
		size_t n = strcspn(p, ",");
		bool found = false;

		for (size_t i = 0; i < ARRAY_SIZE(possible); i++)
			found |= strlen(possible[i]) == n && strncmp(p, possible[i], n) == 0;
		if (!found)
			return false;
		p += n + (p[n] == ',');
	}
	return types && *types;
}

static bool is_left_to_linker(const struct strv *argv)
{
	for (size_t i = 0; i < argv->n; i++)
		if (strcmp(argv->v[i], "-Clinker-plugin-lto") == 0 ||
			(i && strcmp(argv->v[i - 1], "-C") == 0 &&
				strcmp(argv->v[i], "linker-plugin-lto") == 0))
			return true;
	return false;
}

int shim_add_rustc_lto(struct shim_call *c, const struct node_compiler *own,
	const struct rustc_call *a, struct error *err)
{
	struct compile_record *r = &c->record;

	c->lto = own->lto;
	if (!own->lto_words.n || !can_be_optimised(a->crate_type))
		return 0;
	if (is_left_to_linker(&r->argv))
		return error_set(err, ERR_CONFIG,
			"crate '%s': the project's own flags leave link-time optimisation to the "
			"linker (-Clinker-plugin-lto), and whet's 'lto' cannot stand beside that: "
			"take one of them out",
			a->crate_name ? a->crate_name : "?");
	add_words(r, &own->lto_words);
	return 0;
}

void shim_drop_lto(struct shim_call *c, struct strv *words)
{
	struct strv kept = STRV_INIT;

	if (c->lto == PLAN_LTO_DEFAULT)
		return;
	for (size_t i = 0; i < words->n;) {
		size_t n = toolchain_rustc_lto_words(words, i, c->lto);

		if (!n)
			strv_add(&kept, words->v[i++]);
		for (size_t k = 0; k < n; k++)
			strv_add(&c->record.removed, words->v[i++]);
	}
	strv_release(words);
	*words = kept;
}
