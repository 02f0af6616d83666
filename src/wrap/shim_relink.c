/* Links what is to be released several times more, each time with other random padding between the
 * sections (lld's --randomize-section-padding). It happens right after the link itself: only there
 * are its environment, its working folder and the objects that the call or its parent removes
 * (rustc's, for one). The order of functions stays. docs/measuring.md. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/classify.h"
#include "wrap/shim.h"

/* Names of files that differ in what a build tool makes of them: cargo's "a_b-0123abcd" of "a-b",
 * "libx.so.1.2" of "libx.so", "tool.full" of "tool". The stem decides. */
bool shim_may_become(const char *output, const char *binary)
{
	size_t n = strcspn(binary, ".");

	if (!n)
		n = strlen(binary);
	for (size_t i = 0; i < n; i++) {
		char a = output[i] == '-' ? '_' : output[i], b = binary[i] == '-' ? '_' : binary[i];

		if (!a || a != b)
			return false;
	}
	return true;
}

bool shim_is_released(const struct shim_call *c)
{
	const struct compile_record *r = &c->record;

	if (!c->evidence || r->status != 0 || !r->output || r->kind == CALL_PARTIAL_LINK)
		return false;
	for (size_t i = 0; i < c->node->released.n; i++)
		if (shim_may_become(path_basename(r->output), c->node->released.v[i]))
			return true;
	return false;
}

/* An option of the linker, as a driver takes it. */
static void add_option(struct strv *argv, bool bare, const char *option)
{
	if (bare)
		strv_add(argv, option);
	else
		strv_addf(argv, "-Wl,%s", option);
}

/* What stands last wins. The map and the rule for make belong to the link that was done. */
static void add_own(
	const struct shim_call *c, struct strv *argv, bool bare, uint32_t seed, const char *to)
{
	auto_free char *padding = xasprintf("--randomize-section-padding=%" PRIu32, seed);
	const char *driver = c->argv.v[c->compiler];

	if (!bare)
		strv_add(argv, "-fuse-ld=lld");
	/* clang's own option, which goes before -fuse-ld and -B */
	if (!bare && compiler_family_of(driver) == FAMILY_CLANG)
		strv_addf(argv, "--ld-path=%s", c->node->relinker);
	strv_add(argv, "-o");
	strv_add(argv, to);
	add_option(argv, bare, padding);
	add_option(argv, bare, "-Map=/dev/null");
	add_option(argv, bare, "--dependency-file=/dev/null");
}

static void relink_argv(const struct shim_call *c, uint32_t seed, const char *to, struct strv *ret)
{
	const char *program = c->argv.v[c->compiler];
	bool bare = is_linker_name(path_basename(program)), done = false;

	strv_add(ret, bare ? c->node->relinker : program);
	if (!bare)
		strv_addf(ret, "-B%s/" RELINK_FOLDER, c->node->folder);
	for (size_t i = c->compiler + 1; i < c->argv.n; i++) {
		const char *a = c->argv.v[i];
		size_t words = c->record.kind == CALL_COMPILE_LINK ? shim_dependency_words(a) : 0;

		if (!done && strcmp(a, "--") == 0) {
			add_own(c, ret, bare, seed, to);
			done = true;
		}
		if (words)
			i += words - 1;
		else
			strv_add(ret, a);
	}
	if (!done)
		add_own(c, ret, bare, seed, to);
}

/* That of the call, without what whet wants to know of it. */
void shim_aside_environment(const struct shim_call *c, struct strv *ret)
{
	strv_add_all(ret, &c->env);
	if (c->kept)
		shim_keep_restore(ret);
	env_set(ret, "CC_PRINT_HEADERS", NULL);
	env_set(ret, "CC_PRINT_HEADERS_FILE", NULL);
	env_set(ret, "SUNPRO_DEPENDENCIES", NULL);
}

int shim_relink(const struct shim_call *c, struct error *err)
{
	auto_free char *name = xasprintf(RELINKS, c->record.id);
	auto_free char *folder = path_join(c->node->log, name);
	auto_free char *output = path_join(folder, RELINK_OUTPUT);
	auto_strv struct strv env = STRV_INIT;

	if (!c->node->relinks || !shim_is_released(c))
		return 0;
	if (dir_create(folder, 0755, err) < 0)
		return -1;
	shim_aside_environment(c, &env);
	for (uint32_t i = 1; i <= c->node->relinks; i++) {
		auto_free char *to = xasprintf("%s/%" PRIu32, folder, i);
		auto_strv struct strv argv = STRV_INIT;

		relink_argv(c, i, to, &argv);
		if (shim_run_aside(&argv, &env, output) != 0) {
			/* The others would fail alike; its words are kept. */
			(void)unlink(to);
			return 0;
		}
	}
	return 0;
}
