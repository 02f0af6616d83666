/* Names of functions as their source has them: by c++filt of binutils, which knows the manglings of
 * C++ and both of Rust. Without it names stay as they are. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "train/coverage.h"

#define TIMEOUT (10 * NS_PER_S)

/* _Z: C++, and Rust's first scheme; _R: Rust's second. */
static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') && !strchr(name, '\n');
}

/* One line for each name; what it gives is NULL when there is no answer for each of them. */
static void ask(struct buf *names, size_t n, struct strv *ret)
{
	auto_close int fd = memfd_create("names", MFD_CLOEXEC);
	auto_strv struct strv argv = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;
	struct error ignored = ERROR_INIT;

	strv_add(&argv, "c++filt");
	strv_add(&argv, "--no-verbose"); /* without the hashes of crates */
	o.argv = &argv;
	o.in_fd = fd;
	if (fd < 0 || file_write_all(fd, names->p, names->n) < 0 || lseek(fd, 0, SEEK_SET) < 0 ||
		proc_capture(&o, TIMEOUT, ret, &ignored) < 0 || ret->n != n)
		strv_release(ret);
	error_release(&ignored);
}

typedef void visit_fn(struct coverage_function *f, void *ctx);

static void visit_list(struct coverage_functions *f, visit_fn *visit, void *ctx)
{
	for (size_t i = 0; i < f->n; i++)
		if (is_mangled(f->v[i].name))
			visit(&f->v[i], ctx);
}

static void visit_all(struct coverage_facts *c, visit_fn *visit, void *ctx)
{
	for (size_t i = 0; i < c->n_phases; i++) {
		visit_list(&c->phases[i].first, visit, ctx);
		visit_list(&c->phases[i].mostly, visit, ctx);
	}
	for (size_t i = 0; i < c->n_settings; i++)
		visit_list(&c->settings[i].only, visit, ctx);
	visit_list(&c->unreached, visit, ctx);
}

struct question {
	struct buf names;
	size_t n;
};

static void add_name(struct coverage_function *f, void *ctx)
{
	struct question *q = ctx;

	buf_addf(&q->names, "%s\n", f->name);
	q->n++;
}

static void take_name(struct coverage_function *f, void *ctx)
{
	char ***next = ctx;
	const char *source = *(*next)++;

	if (*source && strcmp(source, f->name) != 0)
		f->source_name = xstrdup(source);
}

void coverage_demangle(struct coverage_facts *c)
{
	struct question q = {.names = BUF_INIT};
	auto_strv struct strv lines = STRV_INIT;

	visit_all(c, add_name, &q);
	if (q.n)
		ask(&q.names, q.n, &lines);
	if (lines.n) {
		char **next = lines.v;

		visit_all(c, take_name, &next);
	}
	buf_release(&q.names);
}
