#include "pipeline/strays.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"

#define GIT_LIMIT_NS 30000000000ULL
#define NAMED 5

static bool is_profile(const char *path)
{
	static const char *const extensions[] = {".profdata", ".profraw", ".gcda"};
	size_t n = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(extensions); i++) {
		size_t k = strlen(extensions[i]);

		if (n > k && strcmp(path + n - k, extensions[i]) == 0)
			return true;
	}
	return false;
}

static struct report_stray *note(struct report *p, const char *path)
{
	for (size_t i = 0; i < p->n_strays; i++)
		if (strcmp(p->strays[i].path, path) == 0)
			return &p->strays[i];
	array_reserve(p->strays, p->n_strays, p->cap_strays);
	p->strays[p->n_strays] = (struct report_stray){.path = xstrdup(path)};
	return &p->strays[p->n_strays++];
}

/* Paths are told from the folder of whet.yaml on. */
static void add_sources(struct run *r)
{
	const char *dir = strcmp(r->plan.build.dir, ".") == 0 ? "" : r->plan.build.dir;

	for (size_t i = 0; i < r->sources.n; i++) {
		auto_free char *path = NULL;

		if (!is_profile(r->sources.v[i].path))
			continue;
		path = *dir ? path_join(dir, r->sources.v[i].path) : xstrdup(r->sources.v[i].path);
		note(r->report, path)->source = !r->sources.v[i].built;
	}
}

static void add_tracked(struct run *r)
{
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;
	struct error ignored = ERROR_INIT;

	if (!r->commit)
		return;
	strv_split_words(
		&argv, "git -c core.quotepath=off ls-files -- *.profdata *.profraw *.gcda");
	o.argv = &argv;
	o.cwd = r->plan.root;
	if (proc_capture(&o, GIT_LIMIT_NS, &lines, &ignored) == 0)
		for (size_t i = 0; i < lines.n; i++)
			note(r->report, lines.v[i])->tracked = true;
	error_release(&ignored);
}

static const char *meaning(const struct report_stray *s)
{
	if (s->tracked && s->source)
		return "tracked by git, and part of the source digest";
	return s->tracked ? "tracked by git" : "part of the source digest";
}

void strays_warn(struct run *r)
{
	const struct report *p = r->report;
	auto_buf struct buf b = BUF_INIT;

	add_sources(r);
	add_tracked(r);
	for (size_t i = 0; i < p->n_strays && i < NAMED; i++)
		buf_addf(&b, "%s'%s' (%s)", i ? ", " : "", p->strays[i].path,
			meaning(&p->strays[i]));
	if (p->n_strays > NAMED)
		buf_addf(&b, " and %zu more", p->n_strays - NAMED);
	if (p->n_strays)
		events_warning(r->o->events,
			"profile file%s in the project: %s. Such a file becomes stale with every "
			"commit, and compilers say nothing of what it does not cover: take it out "
			"(git rm --cached) and ignore it, or name it in build.exclude (see "
			"docs/reuse.md)",
			p->n_strays == 1 ? "" : "s", buf_str(&b));
}
