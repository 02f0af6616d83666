#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "buildtool/internal.h"

int cargo_front_end(const struct plan_build *b, struct strv *ret, struct error *err)
{
	size_t words = 0;

	if (plan_split(b->cargo ? b->cargo : "cargo", ret, err) < 0)
		return error_context(err, "build.cargo");
	if (!ret->n)
		return error_set(err, ERR_CONFIG, "build.cargo names no program");
	/* "cargo" and "cargo +nightly" lack their subcommand; "cargo zigbuild" has its own. */
	for (size_t i = 0; i < ret->n; i++)
		words += ret->v[i][0] != '+';
	if (words == 1)
		strv_add(ret, "build");
	return 0;
}

/* The folder below the target's that cargo puts binaries of this profile in; NULL: the arguments
 * name no profile. */
static const char *profile_folder(const struct strv *args)
{
	const char *name = NULL;

	for (size_t i = 0; i < args->n; i++) {
		if (!strncmp(args->v[i], "--profile=", 10))
			name = args->v[i] + 10;
		else if (!strcmp(args->v[i], "--profile") && i + 1 < args->n)
			name = args->v[i + 1];
	}
	if (name && (!strcmp(name, "dev") || !strcmp(name, "test")))
		return "debug";
	if (name && !strcmp(name, "bench"))
		return "release";
	return name;
}

/* Front ends such as cargo-zigbuild take a glibc version behind the triple ("….2.28") and hand the
 * bare triple to cargo. No triple ends in such a number. */
char *buildtool_rust_target(const struct plan_build *b)
{
	size_t n = strlen(b->target), bare = n;

	for (size_t i = n; i > 0; i--) {
		char c = b->target[i - 1];

		if (c == '.')
			bare = i - 1;
		else if (c < '0' || c > '9')
			break;
	}
	if (b->tool != TOOL_CARGO || bare + 1 >= n)
		bare = n;
	return xstrndup(b->target, bare);
}

/* A target file's folder is its stem. */
static char *target_folder(const struct plan_build *b)
{
	auto_free char *target = buildtool_rust_target(b);
	const char *base = path_basename(target);
	size_t n = strlen(base);

	if (n > 5 && !strcmp(base + n - 5, ".json"))
		return xstrndup(base, n - 5);
	return xstrdup(base);
}

/* The file of a cdylib or dylib is lib, its crate's name, and .so. */
static bool is_library(const char *binary)
{
	size_t n = strlen(binary);

	return n > 6 && !strncmp(binary, "lib", 3) && !strcmp(binary + n - 3, ".so");
}

/* Libraries have no option with a name: all of the chosen packages are built. */
static void choose_targets(const struct plan_build *b, struct strv *argv)
{
	bool library = false;

	for (size_t i = 0; i < b->binary.n; i++) {
		if (is_library(b->binary.v[i])) {
			library = true;
		} else {
			strv_add(argv, "--bin");
			strv_add(argv, b->binary.v[i]);
		}
	}
	if (library)
		strv_add(argv, "--lib");
}

static int check_args(const struct strv *args, struct error *err)
{
	for (size_t i = 0; i < args->n; i++) {
		const char *a = args->v[i];

		if (!strcmp(a, "--target") || !strncmp(a, "--target=", 9))
			return error_set(err, ERR_CONFIG,
				"build.args may not hold '%s'; give the triple by build.target", a);
		if (!strncmp(a, "--target-dir", 12))
			return error_set(err, ERR_CONFIG,
				"build.args may not hold '%s': whet keeps its own target folders",
				a);
	}
	return 0;
}

/* A script of the project is named from the folder where it is started. */
static void locate_front_end(const struct step_context *x, struct strv *words)
{
	char *path = NULL;

	if (!strchr(words->v[0], '/'))
		return;
	path = path_join(x->place->source, words->v[0]);
	free(words->v[0]);
	words->v[0] = path;
}

int cargo_steps(struct step_context *x)
{
	auto_strv struct strv front_end = STRV_INIT, args = STRV_INIT;
	auto_free char *folder = NULL;
	const char *profile;
	struct build_step *s;

	if (cargo_front_end(x->b, &front_end, x->err) < 0 ||
		add_expanded(x, &x->b->args, &args) < 0 || check_args(&args, x->err) < 0)
		return -1;
	locate_front_end(x, &front_end);
	folder = target_folder(x->b);
	profile = profile_folder(&args);
	s = add_step(x, "build", x->place->source);
	strv_add_all(&s->argv, &front_end);
	if (!profile)
		strv_add(&s->argv, "--release");
	strv_add(&s->argv, "--target");
	strv_add(&s->argv, x->b->target);
	strv_add(&s->argv, "--target-dir");
	strv_add(&s->argv, x->place->build);
	strv_addf(&s->argv, "-j%d", x->place->jobs);
	/* Cargo.lock is the user's: a build may not change it. */
	if (!strv_has(&args, "--locked") && !strv_has(&args, "--frozen"))
		strv_add(&s->argv, "--locked");
	choose_targets(x->b, &s->argv);
	for (size_t i = 0; i < x->b->binary.n; i++)
		strv_addf(&x->steps->binaries, "%s/%s/%s/%s", x->place->build, folder,
			profile ? profile : "release", x->b->binary.v[i]);
	strv_add_all(&s->argv, &args);
	return 0;
}
