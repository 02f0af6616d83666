#include "train/coverage.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "elf/elf_facts.h"
#include "snapshot/snapshot.h"
#include "train/counts.h"

#define SUFFIX ".profraw"

/* A process whose counters were read while it lived. */
struct reading {
	char *launch;
	pid_t pid;
	uint64_t start;        /* with the pid its name for good */
	char *snapshot;        /* the last one; NULL: no more, it has ended */
	struct timespec taken; /* right before it, by the clock of files */
	unsigned int mark;     /* the last one at which it was read, or its profile was found */
};

/* A profile that was looked at. */
struct looked {
	char *path;
	struct timespec written;
	off_t size;
};

struct coverage {
	const struct train_options *o;
	char *folder;
	struct coverage_table *table;
	struct reading *v;
	size_t n, cap;
	struct looked *files;
	size_t n_files, cap_files, sorted; /* the first of them, by path */
	struct strv notes;
	char *problem, *unsupported;
	uint64_t stopped_ns;
	unsigned int mark;
	/* What is read at this mark, and the earlier state of the same processes. */
	struct profile *after, *before;
	bool has_before;
	struct strv replaced; /* snapshots that are needed no more */
};

struct coverage *coverage_new(const struct train_options *o, const char *folder, struct error *err)
{
	struct coverage *c;

	if (dir_create(folder, 0700, err) < 0 ||
		(o->phase_profiles && dir_create(o->phase_profiles, 0755, err) < 0))
		return NULL;
	c = xcalloc(1, sizeof(*c));
	c->o = o;
	c->folder = xstrdup(folder);
	c->table = coverage_table_new(o->sources);
	return c;
}

void coverage_free(struct coverage *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].launch);
		free(c->v[i].snapshot);
	}
	for (size_t i = 0; i < c->n_files; i++)
		free(c->files[i].path);
	tree_remove(c->folder, NULL);
	coverage_table_free(c->table);
	strv_release(&c->notes);
	free(c->v);
	free(c->files);
	free(c->folder);
	free(c->problem);
	free(c->unsupported);
	free(c);
}

/* The first one counts: from then on nothing is known. */
static void give_up(struct coverage *c, char *why)
{
	if (c->problem) {
		free(why);
		return;
	}
	c->problem = why;
	events_warning(c->o->events,
		"what each phase executes is not known: the counters could not be read between "
		"phases: %s",
		why);
}

static int add_file(struct coverage *c, struct profile *to, const char *path)
{
	struct error err = ERROR_INIT;

	if (profile_add_file(to, path, 1, NULL, &err) == 0)
		return 0;
	strv_addf(&c->notes, "'%s' is left out: %s", path_basename(path), err.msg);
	error_release(&err);
	return -1;
}

static void add_before(struct coverage *c, struct reading *r)
{
	if (!r->snapshot || add_file(c, c->before, r->snapshot) < 0)
		return;
	c->has_before = true;
}

/* ---- Live processes -------------------------------------------------------------------------- */

static struct reading *reading_of(struct coverage *c, const char *launch, pid_t pid)
{
	for (size_t i = c->n; i-- > 0;)
		if (c->v[i].pid == pid && !strcmp(c->v[i].launch, launch))
			return &c->v[i];
	return NULL;
}

static struct reading *reading_at(struct coverage *c, const char *launch, pid_t pid, uint64_t start)
{
	struct reading *r = reading_of(c, launch, pid);

	if (r && r->start == start)
		return r;
	array_reserve(c->v, c->n, c->cap);
	c->v[c->n] = (struct reading){.launch = xstrdup(launch), .pid = pid, .start = start};
	return &c->v[c->n++];
}

static bool has_ended(pid_t pid, uint64_t start)
{
	struct proc_stat st;

	return !proc_stat(pid, &st) || st.start != start || st.state == 'Z' || st.state == 'X';
}

/* A process without counters is a program of another kind (a shell around the subject). */
static void note_failure(struct coverage *c, pid_t pid, uint64_t start, struct error *err)
{
	if (err->code == ERR_UNSUPPORTED && train_emulates(c->o->emulator, pid, c->o->binaries)) {
		if (!has_ended(pid, start))
			give_up(c, xstrdup(err->msg));
	} else if (err->code == ERR_UNSUPPORTED) {
		free(c->unsupported);
		c->unsupported = xstrdup(err->msg);
	} else if (!has_ended(pid, start)) {
		give_up(c, xstrdup(err->msg));
	}
	error_release(err);
}

static void read_live(struct coverage *c, const char *launch, pid_t pid)
{
	uint64_t start = proc_start_time(pid);
	auto_free char *path = xasprintf("%s/%u-%d" SUFFIX, c->folder, c->mark, (int)pid);
	struct snapshot made = {0};
	struct error err = ERROR_INIT;
	struct timespec now;
	struct reading *r;

	if (!start)
		return;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (snapshot_write_rested(pid, path, &made, &err) < 0) {
		note_failure(c, pid, start, &err);
		return;
	}
	if (made.stopped_ns > c->stopped_ns)
		c->stopped_ns = made.stopped_ns;
	snapshot_release(&made);
	if (add_file(c, c->after, path) < 0)
		return;
	r = reading_at(c, launch, pid, start);
	add_before(c, r);
	if (r->snapshot)
		strv_take(&c->replaced, r->snapshot);
	r->snapshot = take_ptr(path);
	r->mark = c->mark;
	r->taken = now;
}

static void read_services(struct coverage *c, struct session *s)
{
	for (size_t i = 0; i < s->n_services; i++) {
		const struct running *r = &s->services[i];
		auto_free pid_t *pids = NULL;
		size_t n = r->launch ? service_tree(r->s, &pids) : 0;

		for (size_t k = 0; k < n && !c->problem; k++)
			read_live(c, r->launch, pids[k]);
	}
}

/* ---- Profiles of those that have ended --------------------------------------------------------
 */

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static int by_path(const void *a, const void *b)
{
	const struct looked *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* Whether it was looked at before, as it stands there now; it is from now on. In one mark each is
 * asked for once. */
static bool is_known(struct coverage *c, const char *path, const struct stat *st)
{
	struct looked want = {.path = (char *)(uintptr_t)path}, *f = NULL;

	if (c->sorted)
		f = bsearch(&want, c->files, c->sorted, sizeof(want), by_path);
	if (f && f->size == st->st_size && !is_later(&st->st_mtim, &f->written))
		return true;
	if (!f) {
		array_reserve(c->files, c->n_files, c->cap_files);
		f = &c->files[c->n_files++];
		f->path = xstrdup(path);
	}
	f->written = st->st_mtim;
	f->size = st->st_size;
	return false;
}

/* The file of a process: of one that lives its memory has more, and what one wrote before it was
 * read from outside was in its memory then. */
static void read_file(struct coverage *c, const char *launch, const char *name, const char *path)
{
	struct reading *r = reading_of(c, launch, (pid_t)strtol(name, NULL, 10));
	struct stat st;

	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return;
	/* Not looked at: it may be what the process wrote at its end, right after it was read. */
	if (r && r->snapshot && r->mark == c->mark)
		return;
	if (is_known(c, path, &st) || (r && r->snapshot && is_later(&r->taken, &st.st_mtim)))
		return;
	if (add_file(c, c->after, path) < 0 || !r || !r->snapshot)
		return;
	add_before(c, r);
	strv_take(&c->replaced, take_ptr(r->snapshot));
	r->mark = c->mark;
}

static void read_launch(struct coverage *c, const struct session *s, const char *launch)
{
	auto_free char *folder = path_join(s->profiles, launch);
	auto_strv struct strv names = STRV_INIT;
	DIR *d = opendir(folder);
	struct dirent *e;

	if (!d)
		strv_addf(&c->notes, "the profiles of launch '%s' cannot be listed: %s", launch,
			strerror(errno));
	while (d && (e = readdir(d))) {
		size_t n = strlen(e->d_name);

		if (n > strlen(SUFFIX) && !strcmp(e->d_name + n - strlen(SUFFIX), SUFFIX))
			strv_add(&names, e->d_name);
	}
	if (d)
		closedir(d);
	strv_sort(&names);
	for (size_t i = 0; i < names.n; i++) {
		auto_free char *path = path_join(folder, names.v[i]);

		read_file(c, launch, names.v[i], path);
	}
}

/* Those that are gone without a word. Of one that was killed at the stop of its service the
 * snapshot comes after the last stop. */
static void note_lost(struct coverage *c, const struct session *s, const char *part)
{
	for (size_t i = 0; i < c->n; i++) {
		struct reading *r = &c->v[i];

		if (!r->snapshot || r->mark == c->mark || snapshots_wait(s, r->launch, r->pid))
			continue;
		strv_addf(&c->notes,
			"process %d (launch '%s') ended %s without a profile: what it counted "
			"then is missing",
			(int)r->pid, r->launch, part);
		strv_take(&c->replaced, take_ptr(r->snapshot));
	}
}

/* ---- Marks ------------------------------------------------------------------------------------
 */

/* A phase's counters as text: that keeps the names of all targets of calls. */
static char *profile_name(unsigned int mark)
{
	return xasprintf("%u.proftext", mark);
}

static int keep(struct coverage *c, const struct buf *text, struct error *err)
{
	auto_free char *name = profile_name(c->mark);
	auto_free char *path = path_join(c->o->phase_profiles, name);

	return file_write_atomic(path, text->p, text->n, 0644, err);
}

/* What was counted since the last mark; NULL when it cannot be told. */
static struct profile *difference(struct coverage *c, bool phase)
{
	auto_buf struct buf text = BUF_INIT;
	struct profile *p = profile_new();
	auto_free char *scratch = path_join(c->folder, "text");
	struct error err = ERROR_INIT;

	if (counts_between(c->has_before ? c->before : NULL, c->after, scratch, &text, &err) == 0 &&
		profile_add_bytes(p, text.p, text.n, 1, NULL, &err) == 0 &&
		(!phase || !c->o->phase_profiles || keep(c, &text, &err) == 0))
		return p;
	give_up(c, xstrdup(err.msg));
	error_release(&err);
	profile_free(p);
	return NULL;
}

static void read_all(struct coverage *c, struct session *s, const char *part)
{
	read_services(c, s);
	for (size_t i = 0; i < s->launches.n && !c->problem; i++)
		read_launch(c, s, s->launches.v[i]);
	note_lost(c, s, part);
	if (c->n_files > c->sorted)
		qsort(c->files, c->n_files, sizeof(*c->files), by_path);
	c->sorted = c->n_files;
}

static char *part_text(enum coverage_part part, const char *phase)
{
	return part == COVERAGE_PHASE   ? xasprintf("in phase '%s'", phase)
	       : part == COVERAGE_START ? xstrdup("before the first phase")
					: xstrdup("after the last phase");
}

void coverage_mark(struct coverage *c, struct session *s, enum coverage_part part,
	const char *setting, const char *phase)
{
	auto_free char *text = part_text(part, phase);
	struct profile *counted;

	if (!c || c->problem || !s->profiles)
		return;
	c->mark++;
	c->after = profile_new();
	c->before = profile_new();
	c->has_before = false;
	read_all(c, s, text);
	counted = c->problem ? NULL : difference(c, part == COVERAGE_PHASE);
	if (counted) {
		coverage_table_know(c->table, c->after);
		coverage_table_add(c->table, part, setting, phase, counted);
	}
	profile_free(c->after);
	profile_free(c->before);
	for (size_t i = 0; i < c->replaced.n; i++)
		(void)unlink(c->replaced.v[i]);
	strv_release(&c->replaced);
}

/* ---- End --------------------------------------------------------------------------------------
 */

static bool counts_by_gcc(const char *path)
{
	struct elf_facts f = {0};
	bool gcc = false;

	if (elf_facts_read(path, &f, NULL) < 0)
		return false;
	for (size_t i = 0; i < f.profile_marks.n; i++)
		gcc = gcc || strstr(f.profile_marks.v[i], "gcov");
	gcc = gcc && !f.names_sha256;
	elf_facts_release(&f);
	return gcc;
}

static char *why_nothing(const struct coverage *c, const struct strv *binaries)
{
	for (size_t i = 0; i < binaries->n; i++) {
		auto_free char *path =
			c->o->emulator ? train_emulated(binaries->v[i]) : xstrdup(binaries->v[i]);

		if (counts_by_gcc(path))
			return xasprintf(
				"'%s' counts by GCC (.gcda), whose counters cannot be found "
				"from outside; build it with clang or rustc to see what each "
				"phase executes",
				path_basename(binaries->v[i]));
	}
	return xasprintf("no process had counters, and none left a profile%s%s; build the program "
			 "with -fprofile-generate (clang) or -Cprofile-generate (rustc)",
		c->unsupported ? ": " : "", c->unsupported ? c->unsupported : "");
}

void coverage_end(struct coverage *c, struct coverage_facts *ret)
{
	*ret = (struct coverage_facts){.stopped_ns = c->stopped_ns};
	if (!c->problem && coverage_table_empty(c->table))
		c->problem = why_nothing(c, c->o->binaries);
	ret->problem = xstrdup(c->problem);
	if (!c->problem && c->o->n_gcov)
		strv_add(&c->notes,
			"what gcc compiled is left out: its counters cannot be read while the "
			"program runs");
	ret->notes = c->notes.n ? strv_join(&c->notes, "\n") : NULL;
	if (c->problem)
		return;
	coverage_table_judge(c->table, ret);
	coverage_demangle(ret);
	weigh_parts(&c->o->plan->train, ret);
	/* Every mark so far made a part: the first that did not was the last. */
	for (size_t i = 0; i < ret->n_phases && c->o->phase_profiles; i++)
		if (ret->phases[i].part == COVERAGE_PHASE)
			ret->phases[i].profile = profile_name((unsigned int)i + 1);
}
