/* Release: archives, the profile with its provenance, report and checksums, in the dist folder. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "pipeline/layout.h"
#include "pipeline/trained.h"
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

/* As it stands in the names of files. */
static const char *file_name(const struct track *t)
{
	return t->variant ? t->variant->file_name : PLAN_OWN;
}

/* t: whose optimised build it is; NULL: the plain one. */
static int archive(struct releasing *x, const struct track *t, struct error *err)
{
	struct run *r = x->r;
	const struct build_out *b = t ? &t->optimised : &r->plain;
	auto_free char *base = base_name(r);
	auto_free char *top = xasprintf("%s%s%s", base, t ? "-" : "", t ? file_name(t) : "");
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
	note_artefact(r, x->folder, name, t ? run_variant_name(t) : PLAN_PLAIN);
	return 0;
}

/* from: as published in the store; describes: its provenance. */
static int put_one_profile(struct releasing *x, const char *from,
	const struct provenance *describes, struct error *err)
{
	struct run *r = x->r;
	auto_free char *base = base_name(r);
	/* Not trained for this revision: the name says so, and the provenance what it was. */
	auto_free char *name =
		xasprintf("%s-%s%s%s", base, file_name(r->chosen), r->last_profile ? "-reused" : "",
			trained_is_archive(from) ? GCC_PROFILE_ENDING : ".profdata");
	auto_free char *beside = xasprintf("%s.json", name);
	auto_free char *path = path_join(x->folder, name);
	auto_free char *beside_path = path_join(x->folder, beside);

	if (file_copy(from, path, 0644, err) < 0 ||
		provenance_write(describes, beside_path, err) < 0)
		return -1;
	strv_add(&x->names, name);
	strv_add(&x->names, beside);
	note_artefact(r, x->folder, name, "profile");
	note_artefact(r, x->folder, beside, "profile");
	return 0;
}

/* Each provenance names its own file, and the other one as that beside it. */
static int put_profile(struct releasing *x, struct error *err)
{
	const struct run *r = x->r;
	const struct report *p = r->report;
	struct provenance other = p->provenance;

	if (put_one_profile(x, r->chosen->published, &p->provenance, err) < 0)
		return -1;
	if (!r->chosen->published_beside)
		return 0;
	other.profile = p->profile.beside_sha256;
	other.beside = p->profile.sha256;
	return put_one_profile(x, r->chosen->published_beside, &other, err);
}

/* What the layout was made of, for whoever builds the release again: one profile per binary. */
static int put_layout_profile(
	struct releasing *x, const char *node, const char *binary, bool alone, struct error *err)
{
	struct run *r = x->r;
	auto_free char *base = base_name(r);
	auto_free char *name = xasprintf("%s-%s%s%s" LAYOUT_SUFFIX, base, file_name(r->chosen),
		alone ? "" : "-", alone ? "" : binary);
	auto_free char *beside = xasprintf("%s.json", name);
	auto_free char *from = xasprintf("%s/%s" LAYOUT_SUFFIX, node, binary);
	auto_free char *from_beside = xasprintf("%s/%s" LAYOUT_PROVENANCE, node, binary);
	auto_free char *path = path_join(x->folder, name);
	auto_free char *beside_path = path_join(x->folder, beside);

	if (file_copy(from, path, 0644, err) < 0 ||
		file_copy(from_beside, beside_path, 0644, err) < 0)
		return -1;
	strv_add(&x->names, name);
	strv_add(&x->names, beside);
	note_artefact(r, x->folder, name, "profile");
	note_artefact(r, x->folder, beside, "profile");
	return 0;
}

static int put_layout(struct releasing *x, struct error *err)
{
	const struct track *t = x->r->chosen;
	auto_free char *node = NULL;

	if (!t || !t->base)
		return 0;
	node = store_node_folder(&x->r->store, t->layout_key);
	for (size_t i = 0; i < t->base->facts.n_binaries; i++)
		if (put_layout_profile(x, node, t->base->facts.binaries[i].name,
			    t->base->facts.n_binaries == 1, err) < 0)
			return -1;
	return 0;
}

static int put_form(
	struct releasing *x, const char *name, const struct buf *text, struct error *err)
{
	auto_free char *path = path_join(x->folder, name);

	strv_add(&x->names, name);
	return file_write_atomic(path, buf_str(text), text->n, 0644, err);
}

static int put_report(struct releasing *x, struct error *err)
{
	auto_free char *path = path_join(x->folder, "report.json");
	auto_json json_t *j = report_json(x->r->report);
	auto_buf struct buf page = BUF_INIT, markdown = BUF_INIT;

	strv_add(&x->names, "report.json");
	report_html(x->r->report, &page);
	report_markdown(x->r->report, &markdown);
	if (json_write_file(j, path, err) < 0 || put_form(x, "report.html", &page, err) < 0)
		return -1;
	return put_form(x, "report.md", &markdown, err);
}

/* Everything is whole before the first file of an earlier release is touched, and then the folders
 * change places at once. */
static int publish(struct releasing *x, const char *dist, struct error *err)
{
	(void)rmdir(dist); /* an empty one needs no exchange */
	if (!path_exists(dist))
		return file_rename(x->folder, dist, err);
	if (renameat2(AT_FDCWD, x->folder, AT_FDCWD, dist, RENAME_EXCHANGE) < 0)
		return error_set(err, ERR_IO, "cannot exchange '%s' and '%s': %s", x->folder, dist,
			strerror(errno));
	return tree_remove(x->folder, err);
}

/* ---- what may be replaced ---- */

struct earlier {
	struct strv names; /* what whet put there */
	char *foreign;
};

static int note_foreign(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	struct earlier *e = ctx;

	if (!e->foreign && (!S_ISREG(st->st_mode) || !strv_has(&e->names, path)))
		e->foreign = xstrdup(path);
	return 1;
}

/* The names in SHA256SUMS; itself among them, when it is there. */
static void read_names(const char *dist, struct strv *ret)
{
	auto_free char *path = path_join(dist, "SHA256SUMS");
	auto_buf struct buf b = BUF_INIT;
	char *save = NULL;

	if (!path_exists(path) || file_read(path, 1 << 20, &b, NULL) < 0 || !b.n)
		return;
	strv_add(ret, "SHA256SUMS");
	for (char *l = strtok_r(b.p, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (strlen(l) > SHA256_HEX + 1)
			strv_add(ret, l + SHA256_HEX + 1);
}

/* The folder will be made in the nearest parent that is there. */
static int check_parent(const char *dist, struct error *err)
{
	auto_free char *parent = path_dirname(dist);

	while (!path_exists(parent)) {
		char *above = path_dirname(parent);

		free(parent);
		parent = above;
	}
	if (access(parent, W_OK | X_OK) < 0)
		return error_set(err, ERR_ENVIRONMENT,
			"'%s' cannot be made: no writing in '%s' (%s); choose another folder with "
			"--dist",
			dist, parent, strerror(errno));
	return 0;
}

int node_release_check(const struct run *r, struct error *err)
{
	auto_free char *named = run_dist(r);
	/* A link to a folder elsewhere stays one: what counts is there. */
	auto_free char *real = realpath(named, NULL);
	const char *dist = real ? real : named;
	struct earlier e = {0};
	int result = 0;

	if (r->o->until && strcmp(r->o->until, "release") != 0)
		return 0;
	if (!path_exists(dist))
		return check_parent(dist, err);
	read_names(dist, &e.names);
	if (!path_is_dir(dist) || tree_walk(dist, note_foreign, &e, NULL) < 0)
		result = error_set(err, ERR_CONFIG,
			"'%s' is no folder that can be read: it is left alone; choose another with "
			"--dist",
			dist);
	else if (!e.foreign)
		result = check_parent(dist, err);
	else
		result = error_set(err, ERR_CONFIG,
			"'%s' holds '%s', which no earlier release put there: the folder is left "
			"alone; move the file away or choose another folder with --dist",
			dist, e.foreign);
	strv_release(&e.names);
	free(e.foreign);
	return result;
}

static int fill(struct releasing *x, struct error *err)
{
	const struct track *t = x->r->chosen;
	bool profile = t && (!t->variant || t->variant->profile);

	if (tree_remove(x->folder, err) < 0 || dir_create(x->folder, 0755, err) < 0 ||
		archive(x, NULL, err) < 0 || (t && archive(x, t, err) < 0) ||
		(profile && put_profile(x, err) < 0) || put_layout(x, err) < 0 ||
		put_report(x, err) < 0)
		return -1;
	return release_checksums(x->folder, &x->names, err);
}

int node_release(struct run *r, struct error *err)
{
	auto_free char *named = run_dist(r);
	/* A link to a folder elsewhere stays one. */
	auto_free char *real = realpath(named, NULL);
	const char *dist = real ? real : named;
	auto_free char *parent = path_dirname(dist);
	struct releasing x = {.r = r, .names = STRV_INIT};
	int result;

	x.folder = xasprintf("%s/.%s.whet-new", parent, path_basename(dist));
	result = node_release_check(r, err);
	if (result == 0)
		result = dir_create(parent, 0755, err);
	if (result == 0)
		result = fill(&x, err);
	if (result == 0)
		result = publish(&x, dist, err);
	if (result < 0)
		tree_remove(x.folder, NULL);
	else
		r->report->dist = xstrdup(named);
	strv_release(&x.names);
	free(x.folder);
	return result;
}
