#include "store/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/index.h"

struct scan {
	const char *root;
	const struct source_rules *rules;
	struct source_tree *tree;
	struct buf path; /* of the folder being read, relative, with a slash at its end */
};

static bool marked_as_build_folder(int fd)
{
	static const char *const marks[] = {"CACHEDIR.TAG", "CMakeCache.txt", "meson-private"};
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (fstatat(fd, marks[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	return false;
}

static bool matches(const struct strv *globs, const char *path)
{
	for (size_t i = 0; globs && i < globs->n; i++)
		if (fnmatch(globs->v[i], path, FNM_PERIOD) == 0)
			return true;
	return false;
}

static bool left_out(const struct scan *s, const char *path, const char *name)
{
	static const char *const control[] = {".git", ".hg", ".svn", ".bzr"};
	const struct strv *skip = s->rules->skip;

	for (size_t i = 0; i < ARRAY_SIZE(control); i++)
		if (strcmp(name, control[i]) == 0)
			return true;
	if (matches(s->rules->exclude, path))
		return true;
	for (size_t i = 0; skip && i < skip->n; i++) {
		size_t n = strlen(s->root);

		if (strncmp(skip->v[i], s->root, n) == 0 && skip->v[i][n] == '/' &&
			strcmp(skip->v[i] + n + 1, path) == 0)
			return true;
	}
	return false;
}

static int64_t ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static void add_file(struct scan *s, const struct stat *st)
{
	struct source_tree *t = s->tree;

	array_reserve(t->v, t->n, t->cap);
	t->v[t->n++] = (struct source_file){
		.path = xstrndup(s->path.p, s->path.n),
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = ns(&st->st_mtim),
		.ctime_ns = ns(&st->st_ctim),
		.mode = st->st_mode,
	};
}

static int scan_folder(struct scan *s, int fd, struct error *err);

static int scan_entry(struct scan *s, int dirfd, const char *name, struct error *err)
{
	size_t before = s->path.n;
	struct stat st;
	int r = 0;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0
				       : error_set(err, ERR_IO, "cannot stat '%s/%s%s': %s",
						 s->root, buf_str(&s->path), name, strerror(errno));
	buf_adds(&s->path, name);
	if (left_out(s, s->path.p, name)) {
		r = 0;
	} else if (S_ISDIR(st.st_mode)) {
		int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0)
			r = error_set(err, ERR_IO, "cannot read folder '%s/%s': %s", s->root,
				s->path.p, strerror(errno));
		else if (marked_as_build_folder(fd))
			close(fd);
		else {
			buf_addc(&s->path, '/');
			r = scan_folder(s, fd, err);
		}
	} else if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) {
		add_file(s, &st);
	}
	s->path.n = before;
	if (s->path.p)
		s->path.p[before] = '\0';
	return r;
}

static int scan_folder(struct scan *s, int fd, struct error *err)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;
	int r = 0;

	if (!d) {
		close(fd);
		return error_set(err, ERR_IO, "cannot read folder '%s/%s': %s", s->root,
			buf_str(&s->path), strerror(errno));
	}
	while (r == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = scan_entry(s, dirfd(d), e->d_name, err);
	closedir(d);
	return r;
}

/* Objects, archives and executables that a build in the tree left behind. */
static bool looks_built(const uint8_t *p, size_t n)
{
	return (n >= 20 && memcmp(p, "\177ELF", 4) == 0) ||
	       (n >= 8 && memcmp(p, "!<arch>\n", 8) == 0) ||
	       (n >= 8 && memcmp(p, "!<thin>\n", 8) == 0);
}

static int hash_file(struct source_file *f, const char *root, struct error *err)
{
	auto_free char *full = path_join(root, f->path);
	struct file_map m = {0};

	if (S_ISLNK(f->mode)) {
		char target[4096];
		ssize_t n = readlink(full, target, sizeof(target));

		if (n < 0)
			return error_set(
				err, ERR_IO, "cannot read link '%s': %s", full, strerror(errno));
		SHA256((unsigned char *)target, (size_t)n, f->sha256);
		return 0;
	}
	if (file_map(full, &m, err) < 0)
		return -1;
	f->built = looks_built(m.p, m.n);
	SHA256(m.p, m.n, f->sha256);
	file_unmap(&m);
	return 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct source_file *)a)->path, ((const struct source_file *)b)->path);
}

static void digest(struct source_tree *t)
{
	auto_buf struct buf b = BUF_INIT;

	for (size_t i = 0; i < t->n; i++) {
		const struct source_file *f = &t->v[i];

		if (f->built) {
			t->n_built++;
			continue;
		}
		buf_addc(&b, S_ISLNK(f->mode) ? 'l' : f->mode & 0100 ? 'x' : 'f');
		buf_add(&b, f->path, strlen(f->path) + 1);
		buf_add(&b, f->sha256, sizeof(f->sha256));
	}
	sha256_of(b.p ? b.p : "", b.n, t->digest);
}

/* The index has what files look like; the rules may change between scans. */
static void include(struct source_tree *t, const struct strv *globs)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].built && matches(globs, t->v[i].path))
			t->v[i].built = false;
}

int source_scan(const char *root, const struct source_rules *rules, const char *index_path,
	struct source_tree *ret, struct error *err)
{
	struct source_tree t = SOURCE_TREE_INIT;
	struct scan s = {.root = root, .rules = rules, .tree = &t};
	struct index *old = NULL;
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (fd < 0)
		return error_set(err, ERR_IO, "cannot read folder '%s': %s", root, strerror(errno));
	r = scan_folder(&s, fd, err);
	buf_release(&s.path);
	if (r == 0) {
		if (t.n)
			qsort(t.v, t.n, sizeof(*t.v), compare);
		old = index_path ? index_open(index_path) : NULL;
		for (size_t i = 0; r == 0 && i < t.n; i++) {
			if (index_lookup(old, &t.v[i]))
				continue;
			t.n_hashed++;
			r = hash_file(&t.v[i], root, err);
		}
	}
	if (r == 0) {
		/* It only saves work: without it the next scan reads more. */
		if (index_path && (t.n_hashed || index_count(old) != t.n))
			(void)index_write(index_path, &t, NULL);
		include(&t, rules->include);
		digest(&t);
	}
	index_close(old);
	if (r < 0) {
		source_tree_release(&t);
		return -1;
	}
	*ret = t;
	return 0;
}

void source_tree_release(struct source_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].path);
	free(t->v);
	*t = (struct source_tree)SOURCE_TREE_INIT;
}

const char *source_first_touched(const struct source_tree *a, const struct source_tree *b)
{
	for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
		const struct source_file *x = &a->v[i], *y = &b->v[j];
		int c = strcmp(x->path, y->path);

		if (c == 0 && !x->built &&
			(x->ctime_ns != y->ctime_ns || x->mtime_ns != y->mtime_ns ||
				x->ino != y->ino))
			return y->path;
		i += c <= 0;
		j += c >= 0;
	}
	return NULL;
}

const char *source_first_difference(const struct source_tree *a, const struct source_tree *b)
{
	size_t i = 0, j = 0;

	while (i < a->n || j < b->n) {
		int c;

		if (i < a->n && a->v[i].built) {
			i++;
			continue;
		}
		if (j < b->n && b->v[j].built) {
			j++;
			continue;
		}
		c = i == a->n ? 1 : j == b->n ? -1 : strcmp(a->v[i].path, b->v[j].path);
		if (c)
			return c < 0 ? a->v[i].path : b->v[j].path;
		if (memcmp(a->v[i].sha256, b->v[j].sha256, 32) != 0 ||
			((a->v[i].mode ^ b->v[j].mode) & 0100))
			return a->v[i].path;
		i++;
		j++;
	}
	return NULL;
}
