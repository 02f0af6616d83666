/* The evidence that a launch left: which processes ran the instrumented image, by the fork hook's
 * list, and what each of them wrote. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "profile/profile.h"
#include "train/internal.h"

#define LIST_MAX ((size_t)64 << 20)

/* A program may have both kinds of counters; then its process leaves a file of one and a folder of
 * the other. */
enum half { HALF_LLVM, HALF_GCC, HALVES };

struct entry {
	struct process_evidence e;
	struct {
		bool due; /* its image has such counters, as far as what it left tells */
		bool snapshot;
		enum raw_state state;
		char *file;
	} half[HALVES];
	bool replaced;  /* the pid went to another image later: the file is the later one's */
	bool done;      /* gcc's runtime has written all */
	bool by_exec;   /* known from its exec alone: a vfork child, no image of its own */
	char image[32]; /* of a shared object that counts for itself: PID.IMAGE.profraw; else "" */
};

struct collecting {
	const char *folder, *launch;
	const struct strv *names;
	const struct train_options *o; /* with n_gcov; NULL: LLVM's programs */
	struct training_facts *facts;
	struct entry *v;
	size_t n, cap, started;
};

static struct entry *entry_of(struct collecting *c, pid_t pid, const char *image)
{
	for (size_t i = c->n; i-- > 0;)
		if (c->v[i].e.pid == pid && !c->v[i].replaced && !strcmp(c->v[i].image, image))
			return &c->v[i];
	return NULL;
}

static struct entry *entry_new(
	struct collecting *c, pid_t pid, pid_t parent, enum process_origin origin)
{
	array_reserve(c->v, c->n, c->cap);
	c->v[c->n] = (struct entry){.e = {.pid = pid,
					    .parent = parent,
					    .launch = xstrdup(c->launch),
					    .origin = origin,
					    .state = RAW_MISSING},
		.half = {[HALF_LLVM].state = RAW_MISSING, [HALF_GCC].state = RAW_MISSING}};
	return &c->v[c->n++];
}

/* An image starts in pid: after an announced exec it is the same process; otherwise the pid was
 * given again, or the image was replaced unannounced, and what the earlier one counted is lost. */
static void note_image(struct collecting *c, pid_t pid, pid_t parent, enum process_origin origin,
	const char *image)
{
	struct entry *old = entry_of(c, pid, image);

	if (old && old->e.exec && origin != PROCESS_FORKED) {
		old->e.exec = false;
		old->by_exec = false;
		old->e.origin = origin;
		old->e.parent = parent;
		return;
	}
	if (old)
		old->replaced = true;
	old = entry_new(c, pid, parent, origin);
	snprintf(old->image, sizeof(old->image), "%s", image);
}

/* An exec ends the program and every shared object in it alike. */
static void note_exec(struct collecting *c, pid_t pid, bool done)
{
	bool any = false;

	for (size_t i = 0; i < c->n; i++) {
		struct entry *old = &c->v[i];

		if (old->e.pid != pid || old->replaced)
			continue;
		any = true;
		if (done || !old->by_exec)
			old->e.exec = done;
	}
	if (!any && done) {
		struct entry *child = entry_new(c, pid, 0, PROCESS_FORKED);

		child->by_exec = child->e.exec = true;
	}
}

static void note_done(struct collecting *c, pid_t pid, const char *image)
{
	struct entry *e = entry_of(c, pid, image);

	if (e)
		e->done = true;
}

static bool read_line(struct collecting *c, const char *line)
{
	char word[16] = "", image[sizeof(c->v->image)] = "";
	int pid = 0, parent = 0, n = sscanf(line, "%15s %d %d %31s", word, &pid, &parent, image);

	if (n < 2 || pid <= 0)
		return false;
	if (!strcmp(word, "start") && n == 3) {
		c->started++;
		note_image(c, pid, parent, PROCESS_STARTED, "");
	} else if (!strcmp(word, "load") && n == 4) {
		c->started++;
		note_image(c, pid, parent, PROCESS_LOADED, image);
	} else if (!strcmp(word, "fork") && n == 3) {
		note_image(c, pid, parent, PROCESS_FORKED, "");
	} else if (!strcmp(word, "done") && n >= 3) {
		note_done(c, pid, image);
	} else if (!strcmp(word, "exec") && n == 2) {
		note_exec(c, pid, true);
	} else if (!strcmp(word, "noexec") && n == 2) {
		note_exec(c, pid, false);
	} else {
		return false;
	}
	return true;
}

static void add_failure(struct training_facts *facts, char *text)
{
	char *old = facts->failure;

	facts->failure = old ? xasprintf("%s\n%s", old, text) : xstrdup(text);
	free(old);
	free(text);
}

static int read_list(struct collecting *c, struct error *err)
{
	auto_free char *path = path_join(c->folder, LAUNCH_PROCESSES);
	auto_buf struct buf text = BUF_INIT;
	char *save = NULL;
	size_t line = 0;

	if (!path_exists(path))
		return 0;
	if (file_read(path, LIST_MAX, &text, err) < 0)
		return -1;
	if (!text.n)
		return 0;
	for (char *l = strtok_r(text.p, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		line++;
		if (!read_line(c, l))
			add_failure(c->facts,
				xasprintf(
					"launch '%s': line %zu of its list of processes, '%.40s', "
					"says nothing known",
					c->launch, line, l));
	}
	return 0;
}

/* PID of "PID.profraw" or "PID.IMAGE.profraw", else 0. image: room for the longest one. */
static pid_t pid_of_name(const char *name, const char *suffix, char *image)
{
	const char *end = strrchr(name, '.');
	long pid = 0;
	size_t i = 0, n;

	*image = 0;
	for (; name[i] >= '0' && name[i] <= '9' && i < 9; i++)
		pid = pid * 10 + (name[i] - '0');
	if (!i || !end || name[0] == '0' || name[i] != '.' || strcmp(end, suffix) != 0)
		return 0;
	if (end == name + i)
		return (pid_t)pid;
	n = (size_t)(end - (name + i)) - 1;
	if (!n || n >= sizeof(((struct entry *)NULL)->image))
		return 0;
	memcpy(image, name + i + 1, n);
	image[n] = 0;
	return (pid_t)pid;
}

/* Whether one of the profiles in a file has these names; n: of the digest. */
static bool has_names(const struct profile_images *images, const char *digest, size_t n)
{
	for (size_t i = 0; i < images->n; i++)
		if (strlen(images->v[i].names_sha256) == n &&
			memcmp(images->v[i].names_sha256, digest, n) == 0)
			return true;
	return false;
}

/* How many runtimes an image has, by its digests, and how many of them wrote to the file. */
static size_t count_runtimes(const struct profile_images *images, const char *names, size_t *wrote)
{
	size_t all = 0;

	*wrote = 0;
	for (const char *p = names; *p;) {
		size_t n = strcspn(p, "+");

		all++;
		*wrote += has_names(images, p, n);
		p += n + (p[n] == '+');
	}
	return all;
}

static void judge_names(
	const struct profile_images *images, const struct strv *names, struct raw_file *r)
{
	bool ours = !names || !names->n;

	for (size_t i = 0; names && i < names->n; i++) {
		size_t wrote, all = count_runtimes(images, names->v[i], &wrote);

		ours = ours || wrote;
		if (!wrote || wrote == all)
			continue;
		r->state = RAW_INVALID;
		free(r->problem);
		r->problem = xasprintf("holds %zu of the %zu profiles of a program with as many "
				       "profile runtimes: the process ended before all had written",
			wrote, all);
	}
	if (ours)
		return;
	r->state = RAW_FOREIGN;
	r->problem = xasprintf("written by another program: its function names (sha256 "
			       "%.12s) are those of no instrumented binary",
		images->n ? images->v[0].names_sha256 : "none");
}

/* Whether an image that wrote LLVM's counters has gcc's, too. */
static bool owes_gcov(const struct collecting *c, const struct profile_images *images)
{
	for (size_t i = 0; c->o && c->o->gcov_of && i < c->o->n_gcov; i++) {
		size_t wrote = 0;

		if (c->o->gcov_of[i])
			(void)count_runtimes(images, c->o->gcov_of[i], &wrote);
		if (wrote)
			return true;
	}
	return false;
}

/* Returns whether gcc's counters are due, too. */
static bool judge_content(const struct collecting *c, const char *path, struct raw_file *r)
{
	struct profile_images images = {0};
	struct error err = ERROR_INIT;
	bool owes;

	if (profile_check_raw(path, &images, &err) < 0) {
		r->state = RAW_INVALID;
		r->problem = xstrdup(err.msg);
		error_release(&err);
		return false;
	}
	for (size_t i = 0; i < images.n; i++) {
		r->functions += images.v[i].records;
		r->executed += images.v[i].executed;
	}
	r->state = RAW_VALID;
	judge_names(&images, c->names, r);
	owes = owes_gcov(c, &images);
	profile_images_release(&images);
	return owes;
}

/* The folder of gcc's runtime. Returns whether LLVM's counters are due, too. */
static bool judge_folder(
	const struct collecting *c, const char *path, bool done, struct raw_file *r)
{
	size_t whole = collect_gcov(c->o, path, done, r);

	return whole < c->o->n_gcov && c->o->gcov_of && c->o->gcov_of[whole];
}

/* A snapshot is of all images of a process: it stands for those that left nothing usable. owes: its
 * image has the other kind of counters, too. */
static void note_file(struct collecting *c, pid_t pid, const char *image, enum half half, bool owes,
	const struct raw_file *r)
{
	bool snapshot = !strcmp(image, SNAPSHOT_IMAGE);

	for (size_t i = 0; i < c->n; i++) {
		struct entry *e = &c->v[i];

		if (e->e.pid != pid || e->replaced ||
			(snapshot ? e->half[half].state == RAW_VALID
				  : strcmp(e->image, image) != 0))
			continue;
		e->half[half].due = true;
		e->half[half].state = r->state;
		e->half[half].snapshot = snapshot;
		free(e->half[half].file);
		e->half[half].file = xstrdup(r->path);
		e->half[!half].due = e->half[!half].due || owes;
	}
}

/* The process is as good as the worse of its halves. */
static void settle(struct entry *e)
{
	bool both = e->half[HALF_LLVM].due && e->half[HALF_GCC].due;
	enum half worse = e->half[HALF_LLVM].due && (e->half[HALF_LLVM].state != RAW_VALID ||
							    !e->half[HALF_GCC].due ||
							    e->half[HALF_GCC].state == RAW_VALID)
				  ? HALF_LLVM
				  : HALF_GCC;

	if (!e->half[worse].due)
		return;
	e->e.state = e->half[worse].state;
	e->e.snapshot = e->half[HALF_LLVM].snapshot;
	e->e.file = take_ptr(e->half[worse].file);
	if (both && e->e.state != RAW_VALID)
		e->e.lacks = xstrdup(worse == HALF_GCC ? "gcc" : "llvm");
	free(e->half[!worse].file);
}

static bool has_entry(const struct collecting *c, pid_t pid, const char *image)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].e.pid == pid && !c->v[i].replaced &&
			(!strcmp(image, SNAPSHOT_IMAGE) || !strcmp(c->v[i].image, image)))
			return true;
	return false;
}

static bool is_done(const struct collecting *c, pid_t pid, const char *image)
{
	const struct entry *e = pid ? entry_of((struct collecting *)c, pid, image) : NULL;

	return e && e->done;
}

/* Whether shared objects count in this process, but not its program: one that is not of the build
 * and loaded them. */
static bool only_objects_count(const struct collecting *c, pid_t pid)
{
	bool any = false;

	for (size_t i = 0; i < c->n; i++) {
		if (c->v[i].e.pid != pid)
			continue;
		if (!c->v[i].image[0])
			return false;
		any = true;
	}
	return any;
}

/* Of a file that is no folder of gcc's runtime. Returns whether one is due, too. */
static bool judge_llvm(
	const struct collecting *c, const char *path, const struct stat *st, struct raw_file *r)
{
	if (!st->st_size) {
		r->state = RAW_EMPTY;
		return false;
	}
	r->size = (uint64_t)st->st_size;
	return judge_content(c, path, r);
}

/* In a program by gcc alone LLVM's file is nobody's. */
static bool may_be_ours(const struct collecting *c, enum half half)
{
	return half == HALF_GCC || !c->o || (c->names && c->names->n);
}

static void judge_file(struct collecting *c, const char *name)
{
	auto_free char *path = path_join(c->folder, name);
	struct raw_file r = {
		.path = xasprintf("%s/%s", c->launch, name), .launch = xstrdup(c->launch)};
	char image[sizeof(c->v->image)];
	enum half half = c->o && path_is_dir(path) ? HALF_GCC : HALF_LLVM;
	pid_t pid = pid_of_name(name, half == HALF_GCC ? GCOV_SUFFIX : ".profraw", image);
	bool owes = false;
	struct stat st;

	if (half == HALF_GCC) {
		owes = judge_folder(c, path, is_done(c, pid, image), &r);
	} else if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
		r.state = RAW_INVALID;
		r.problem = xstrdup(path_is_dir(path)
					    ? "files of gcc's runtime, by flags of the project's "
					      "own (--coverage, gcc's -fprofile-generate): take "
					      "them out"
					    : "not a regular file");
	} else if (!st.st_size && pid && !image[0] && only_objects_count(c, pid)) {
		/* The runtime makes it when the object is loaded, before the hook names another: it
		 * is nobody's profile. */
		(void)unlink(path);
		raw_file_release(&r);
		return;
	} else {
		owes = judge_llvm(c, path, &st, &r);
	}
	if (pid && may_be_ours(c, half) && has_entry(c, pid, image)) {
		r.pid = pid;
		note_file(c, pid, image, half, owes, &r);
	}
	array_reserve(c->facts->raws, c->facts->n_raws, c->facts->cap_raws);
	c->facts->raws[c->facts->n_raws++] = r;
}

static int list_files(const char *folder, struct strv *ret, struct error *err)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	if (!d)
		return error_set(
			err, ERR_IO, "cannot read folder '%s': %s", folder, strerror(errno));
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
			strcmp(e->d_name, LAUNCH_PROCESSES) != 0)
			strv_add(ret, e->d_name);
	closedir(d);
	strv_sort(ret);
	return 0;
}

static int by_launch_and_pid(const void *a, const void *b)
{
	const struct process_evidence *x = a, *y = b;
	int r = strcmp(x->launch, y->launch);

	if (r)
		return r;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->state != y->state ? (int)x->state - (int)y->state
				    : (int)x->origin - (int)y->origin;
}

static int by_path(const void *a, const void *b)
{
	const struct raw_file *x = a, *y = b;
	int r = strcmp(x->launch, y->launch);

	return r ? r : strcmp(x->path, y->path);
}

void collect_sort(struct training_facts *facts)
{
	if (facts->n_processes)
		qsort(facts->processes, facts->n_processes, sizeof(*facts->processes),
			by_launch_and_pid);
	if (facts->n_raws)
		qsort(facts->raws, facts->n_raws, sizeof(*facts->raws), by_path);
}

static void hand_over(struct collecting *c)
{
	struct training_facts *f = c->facts;

	for (size_t i = 0; i < c->n; i++) {
		settle(&c->v[i]);
		array_reserve(f->processes, f->n_processes, f->cap_processes);
		f->processes[f->n_processes++] = c->v[i].e;
	}
	free(c->v);
}

int train_collect(const char *profiles, const char *launch, const struct strv *names_sha256,
	struct training_facts *facts, struct error *err)
{
	const struct train_options o = {.names_sha256 = names_sha256};

	return collect_launch(&o, profiles, launch, facts, err);
}

int collect_launch(const struct train_options *o, const char *profiles, const char *launch,
	struct training_facts *facts, struct error *err)
{
	auto_free char *folder = path_join(profiles, launch);
	auto_strv struct strv files = STRV_INIT;
	struct collecting c = {.folder = folder,
		.launch = launch,
		.names = o->names_sha256,
		.o = o->n_gcov ? o : NULL,
		.facts = facts};

	if (list_files(folder, &files, err) < 0)
		return -1;
	if (read_list(&c, err) < 0)
		return -1;
	for (size_t i = 0; i < files.n; i++)
		judge_file(&c, files.v[i]);
	if (!c.started)
		add_failure(facts,
			xasprintf(
				"launch '%s': no process of it announced itself: the fork hook is "
				"not in the binary, the command does not run it, or it could not "
				"write to its profile folder",
				launch));
	hand_over(&c);
	collect_sort(facts);
	return 0;
}
