/* The words of link-time optimisation. Part of the shim, too: needs no other part of this folder.
 */
#include <string.h>

#include "toolchain/toolchain.h"

void toolchain_lto_flags(
	const struct compiler *c, const struct toolchain_build *b, struct strv *ret)
{
	bool thin = b->lto == PLAN_LTO_THIN;

	if (b->lto == PLAN_LTO_DEFAULT)
		return;
	if ((c->family == FAMILY_CLANG || c->family == FAMILY_GCC) && b->lto == PLAN_LTO_NONE)
		strv_add(ret, "-fno-lto");
	else if (c->family == FAMILY_GCC)
		strv_add(ret, "-flto=auto");
	else if (c->family == FAMILY_CLANG)
		strv_add(ret, thin ? "-flto=thin" : "-flto=full");
	/* Without any word rustc optimises a crate's own units together, and no other's. */
	else if (c->family == FAMILY_RUSTC && b->lto != PLAN_LTO_NONE)
		strv_add(ret, thin ? "-Clto=thin" : "-Clto=fat");
}

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static bool stands_against(const char *value, enum plan_lto lto)
{
	if (lto == PLAN_LTO_NONE)
		return strcmp(value, "lto") == 0 || starts(value, "lto=") ||
		       starts(value, "linker-plugin-lto");
	return starts(value, "embed-bitcode=");
}

size_t toolchain_rustc_lto_words(const struct strv *argv, size_t i, enum plan_lto lto)
{
	const char *word = argv->v[i];

	if (lto == PLAN_LTO_DEFAULT)
		return 0;
	if (strcmp(word, "-C") == 0 || strcmp(word, "--codegen") == 0)
		return i + 1 < argv->n && stands_against(argv->v[i + 1], lto) ? 2 : 0;
	if (starts(word, "--codegen="))
		return stands_against(word + strlen("--codegen="), lto);
	return starts(word, "-C") && stands_against(word + 2, lto);
}
