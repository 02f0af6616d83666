/* Release: archives, the profile with its provenance, report and checksums, in the dist folder. */
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "pipeline/run.h"
#include "release/release.h"

struct releasing {
	struct run *r;
	char *folder; /* where it is put together, beside dist */
	struct strv names;
};

static void note_artefact(struct run *r, const char *folder, const char *name, const char *variant)
{
	struct report *p = r->report;
	auto_free char *path = path_join(folder, name);
	char hex[SHA256_HEX] = "";
	struct stat st = {0};

	sha256_file(path, hex, NULL);
	stat(path, &st);
	p->artefacts = xreallocarray(p->artefacts, p->n_artefacts + 1, sizeof(*p->artefacts));
	p->artefacts[p->n_artefacts].name = xstrdup(name);
	p->artefacts[p->n_artefacts].variant = xstrdup(variant);
	p->artefacts[p->n_artefacts].sha256 = xstrdup(hex);
	p->artefacts[p->n_artefacts].bytes = (uint64_t)st.st_size;
	p->n_artefacts++;
}

static char *base_name(const struct run *r)
{
	return xasprintf("%s-%s-%s", r->plan.project, r->version, r->plan.build.target);
}

static int archive(
	struct releasing *x, const struct build_out *b, const char *suffix, struct error *err)
{
	struct run *r = x->r;
	auto_free char *base = base_name(r);
	auto_free char *top = xasprintf("%s%s", base, suffix);
	auto_free char *name = xasprintf("%s.tar.gz", top);
	auto_free char *path = path_join(x->folder, name);
	size_t n = b->shipped.n + r->plan.release.files.n;
	auto_free struct release_file *files = xcalloc(n, sizeof(*files));
	auto_strv struct strv paths = STRV_INIT;

	for (size_t i = 0; i < b->shipped.n; i++)
		files[i] = (struct release_file){
			b->shipped.v[i], path_basename(b->shipped.v[i]), true};
	for (size_t i = 0; i < r->plan.release.files.n; i++) {
		strv_take(&paths, path_join(r->source_root, r->plan.release.files.v[i]));
		files[b->shipped.n + i] = (struct release_file){
			paths.v[i], r->plan.release.files.v[i], access(paths.v[i], X_OK) == 0};
	}
	if (release_archive(path, top, files, n, r->epoch, err) < 0)
		return -1;
	strv_add(&x->names, name);
	note_artefact(r, x->folder, name, b == &r->plain ? "plain" : "pgo");
	return 0;
}

static int put_profile(struct releasing *x, struct error *err)
{
	struct run *r = x->r;
	auto_free char *base = base_name(r);
	auto_free char *name = xasprintf("%s-pgo.profdata", base);
	auto_free char *beside = xasprintf("%s.json", name);
	auto_free char *path = path_join(x->folder, name);
	auto_free char *beside_path = path_join(x->folder, beside);

	if (file_copy(r->published, path, 0644, err) < 0 ||
		provenance_write(&r->report->provenance, beside_path, err) < 0)
		return -1;
	strv_add(&x->names, name);
	strv_add(&x->names, beside);
	note_artefact(r, x->folder, name, "profile");
	note_artefact(r, x->folder, beside, "profile");
	return 0;
}

static int put_report(struct releasing *x, struct error *err)
{
	auto_free char *path = path_join(x->folder, "report.json");
	auto_json json_t *j = report_json(x->r->report);

	strv_add(&x->names, "report.json");
	return json_write_file(j, path, err);
}

/* Everything is whole before the first file of an earlier release is touched. */
static int publish(struct releasing *x, const char *dist, struct error *err)
{
	auto_free char *old = xasprintf("%s.old", x->folder);

	if (tree_remove(old, err) < 0)
		return -1;
	if (path_exists(dist) && file_rename(dist, old, err) < 0)
		return -1;
	if (file_rename(x->folder, dist, err) < 0)
		return -1;
	return tree_remove(old, err);
}

/* A folder that whet did not make is not replaced. */
static int check_dist(const char *dist, struct error *err)
{
	auto_free char *mark = path_join(dist, "SHA256SUMS");
	auto_free char *mark2 = path_join(dist, "report.json");

	if (!path_exists(dist) || (path_exists(mark) && path_exists(mark2)) || rmdir(dist) == 0)
		return 0;
	return error_set(err, ERR_CONFIG,
		"'%s' exists and holds no earlier release: it is left alone; choose another folder "
		"with --dist",
		dist);
}

static int fill(struct releasing *x, struct error *err)
{
	struct run *r = x->r;

	if (tree_remove(x->folder, err) < 0 || dir_create(x->folder, 0755, err) < 0 ||
		archive(x, &r->plain, "", err) < 0 || archive(x, &r->optimised, "-pgo", err) < 0 ||
		put_profile(x, err) < 0 || put_report(x, err) < 0)
		return -1;
	return release_checksums(x->folder, &x->names, err);
}

int node_release(struct run *r, struct error *err)
{
	auto_free char *dist = run_dist(r);
	auto_free char *parent = path_dirname(dist);
	struct releasing x = {.r = r, .names = STRV_INIT};
	int result;

	x.folder = xasprintf("%s/.%s.whet-new", parent, path_basename(dist));
	result = check_dist(dist, err);
	if (result == 0)
		result = dir_create(parent, 0755, err);
	if (result == 0)
		result = fill(&x, err);
	if (result == 0)
		result = publish(&x, dist, err);
	if (result < 0)
		tree_remove(x.folder, NULL);
	strv_release(&x.names);
	free(x.folder);
	return result;
}
