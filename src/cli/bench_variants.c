#include "cli/bench_variants.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "release/release.h"

void bench_variants_release(struct bench_variants *v)
{
	for (size_t i = 0; i < v->names.n; i++) {
		strv_release(&v->binaries[i]);
		free(v->archives[i]);
	}
	free(v->binaries);
	free(v->archives);
	free(v->v);
	free(v->label);
	strv_release(&v->names);
	memset(v, 0, sizeof(*v));
}

/* A name that no other variant has. Returns the variant's list of binaries. */
static struct strv *add(struct bench_variants *v, const char *name, const char *archive)
{
	size_t i = v->names.n;
	auto_free char *own = xstrdup(name);

	for (size_t k = i + 1; strv_has(&v->names, own) || strcmp(own, BENCH_NULL_ARM) == 0; k++) {
		free(own);
		own = xasprintf("%s (%zu)", name, k);
	}
	strv_take(&v->names, take_ptr(own));
	v->binaries = xreallocarray(v->binaries, i + 1, sizeof(*v->binaries));
	v->archives = xreallocarray(v->archives, i + 1, sizeof(*v->archives));
	v->binaries[i] = (struct strv)STRV_INIT;
	v->archives[i] = archive ? xstrdup(archive) : NULL;
	return &v->binaries[i];
}

/* A variant is a file, or a folder that holds the plan's binaries under their names. */
static int add_files(struct bench_variants *v, const char *name, const char *given,
	const struct plan *plan, struct error *err)
{
	const struct strv *wanted = &plan->build.binary;
	auto_free char *path = path_absolute(given);
	struct strv *list = add(v, name, NULL);
	bool folder = path_is_dir(path);

	if (!folder && wanted->n != 1)
		return error_set(err, ERR_USAGE,
			"the plan has %zu binaries: expected a folder that holds them, but '%s' is "
			"none",
			wanted->n, given);
	for (size_t i = 0; i < wanted->n; i++) {
		const char *binary = path_basename(wanted->v[i]);

		strv_take(list, folder ? path_join(path, binary) : xstrdup(path));
		if (path_is_dir(list->v[i]) || access(list->v[i], X_OK) < 0)
			return error_set(err, ERR_USAGE, "'%s' is no executable file", list->v[i]);
	}
	return 0;
}

/* ---- Releases -------------------------------------------------------------------------------- */

static bool is_release(const char *path)
{
	auto_free char *sums = path_join(path, "SHA256SUMS"),
		       *report = path_join(path, "report.json");

	return path_exists(sums) && path_exists(report);
}

/* Adds what one artefact of the list holds, unless it is the profile. 1: added, 0: not. */
static int add_artefact(struct bench_variants *v, const char *prefix, const char *folder,
	const json_t *one, struct error *err)
{
	const char *name = json_string_value(json_object_get(one, "name"));
	const char *of = json_string_value(json_object_get(one, "variant"));
	auto_free char *archive = NULL, *shown = NULL;

	if (!name || !of || strcmp(of, "profile") == 0 || strchr(name, '/'))
		return 0;
	archive = path_join(folder, name);
	shown = xasprintf("%s%s%s", prefix ? prefix : "", prefix ? " " : "", of);
	if (release_check(folder, name, err) < 0)
		return -1;
	add(v, shown, archive);
	return 1;
}

static int add_release(
	struct bench_variants *v, const char *prefix, const char *given, struct error *err)
{
	auto_free char *folder = path_absolute(given), *path = path_join(folder, "report.json");
	auto_json json_t *report = json_read_file(path, err);
	auto_free char *label = NULL;
	size_t n = 0, i;
	json_t *one;

	if (!report)
		return -1;
	json_array_foreach(json_object_get(report, "artefacts"), i, one)
	{
		int r = add_artefact(v, prefix, folder, one, err);

		if (r < 0)
			return -1;
		n += (size_t)r;
	}
	if (!n)
		return error_set(err, ERR_MISMATCH, "'%s' names no archive of a variant", path);
	label = json_opt_str(report, "label");
	if (label && !v->label)
		v->label = take_ptr(label);
	return 0;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Whether the last part of each path tells them apart. */
static bool are_unique(const struct strv *args)
{
	auto_strv struct strv bases = STRV_INIT;

	for (size_t i = 0; i < args->n; i++) {
		auto_free char *path = path_absolute(args->v[i]);

		if (strv_has(&bases, path_basename(path)) ||
			strcmp(path_basename(path), BENCH_NULL_ARM) == 0)
			return false;
		strv_add(&bases, path_basename(path));
	}
	return true;
}

static int add_peers(struct bench_variants *v, const struct strv *peers, const struct plan *plan,
	struct error *err)
{
	auto_strv struct strv known = STRV_INIT;
	auto_free char *list = NULL;

	for (size_t i = 0; i < plan->bench.n_peers; i++)
		strv_add(&known, plan->bench.peers[i].name);
	list = strv_join(&known, ", ");
	for (size_t i = 0; i < peers->n; i++) {
		if (!plan_find_peer(plan, peers->v[i]))
			return error_set(err, ERR_USAGE,
				"--peer: '%s' is not in bench.peers of the plan%s%s", peers->v[i],
				known.n ? ", which has " : "", list);
		add(v, peers->v[i], NULL);
	}
	return 0;
}

int bench_variants_find(const struct strv *args, const struct strv *peers, const struct plan *plan,
	struct bench_variants *ret, struct error *err)
{
	bool unique = are_unique(args);
	size_t builds;

	for (size_t i = 0; i < args->n; i++) {
		auto_free char *path = path_absolute(args->v[i]);
		const char *name = unique ? path_basename(path) : args->v[i];

		if ((is_release(path) ? add_release(ret, args->n > 1 ? name : NULL, path, err)
				      : add_files(ret, name, args->v[i], plan, err)) < 0)
			return -1;
	}
	builds = ret->names.n;
	if (add_peers(ret, peers, plan, err) < 0)
		return -1;
	ret->n = ret->names.n;
	ret->v = xcalloc(ret->n + 1, sizeof(*ret->v));
	for (size_t i = 0; i < builds; i++)
		ret->v[i] = (struct bench_variant){ret->names.v[i], &ret->binaries[i], NULL};
	for (size_t i = builds; i < ret->n; i++)
		ret->v[i] = (struct bench_variant){
			ret->names.v[i], NULL, plan_find_peer(plan, peers->v[i - builds])};
	return 0;
}

int bench_variants_unpack(
	struct bench_variants *v, const struct plan *plan, const char *folder, struct error *err)
{
	auto_strv struct strv names = STRV_INIT;

	for (size_t i = 0; i < plan->build.binary.n; i++)
		strv_add(&names, path_basename(plan->build.binary.v[i]));
	for (size_t i = 0; i < v->n; i++) {
		auto_free char *own = xasprintf("%s/released%zu", folder, i + 1);

		if (!v->archives[i])
			continue;
		if (dir_create(own, 0755, err) < 0 ||
			release_take_out(v->archives[i], &names, own, err) < 0)
			return -1;
		for (size_t k = 0; k < names.n; k++)
			strv_take(&v->binaries[i], path_join(own, names.v[k]));
	}
	return 0;
}
