#include "service/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "facts/quote.h"
#include "service/content.h"
#include "service/pty.h"

/* An input as it was written: a run that leaves it alone need not have it written again. */
struct written {
	struct stat st;
	bool done;
};

struct batch {
	struct batch_options o;
	const struct plan_batch *plan;
	const char *work;
	char *in_path;  /* NULL: no input */
	char *out_path; /* NULL: the standard output is not kept apart */
	struct written *files, input;
	struct pty *pty;
	struct strv env; /* of a command on a terminal */
	int in, out;     /* open while the command runs */
};

/* What is compared with must be there; when the command has run is too late to say it is not. */
static int check_expected(const struct batch_options *o, struct error *err)
{
	const struct plan_batch *p = &o->phase->batch;

	for (size_t i = 0; i < p->n_outputs; i++) {
		auto_free char *path = NULL;

		if (!p->outputs[i].file)
			continue;
		path = content_path(p->outputs[i].file, o->root, o->vars, err);
		if (!path)
			return -1;
		if (access(path, R_OK) < 0)
			return file_error(err, "read what is expected,", path);
	}
	return 0;
}

int batch_open(const struct batch_options *o, struct batch **ret, struct error *err)
{
	const struct plan_batch *p = &o->phase->batch;
	const char *work = env_get(o->vars, "work");
	struct batch *b;
	bool keep = p->pty;

	if (!work)
		return error_set(err, ERR_INTERNAL, "a phase without {work}");
	for (size_t i = 0; i < p->n_outputs; i++)
		keep = keep || !p->outputs[i].path;
	if (check_expected(o, err) < 0)
		return -1;
	b = xcalloc(1, sizeof(*b));
	*b = (struct batch){.o = *o, .plan = p, .work = work, .in = -1, .out = -1};
	b->files = xcalloc(p->n_files + 1, sizeof(*b->files));
	if (p->has_input)
		b->in_path = xasprintf("%s.stdin", o->prefix);
	if (keep)
		b->out_path = xasprintf("%s.stdout", o->prefix);
	b->o.prefix = NULL; /* borrowed for this call only */
	*ret = b;
	return 0;
}

static bool is_untouched(const struct written *w, const char *path)
{
	struct stat st;

	return w->done && lstat(path, &st) == 0 && st.st_ino == w->st.st_ino &&
	       st.st_dev == w->st.st_dev && st.st_size == w->st.st_size &&
	       memcmp(&st.st_mtim, &w->st.st_mtim, sizeof(st.st_mtim)) == 0 &&
	       memcmp(&st.st_ctim, &w->st.st_ctim, sizeof(st.st_ctim)) == 0;
}

static int put(struct batch *b, const struct plan_content *c, const char *name, const char *path,
	struct written *w, struct error *err)
{
	uint64_t seed = b->o.seed ^ md5_name(name, strlen(name));

	if (is_untouched(w, path))
		return 0;
	if (content_write(c, b->o.root, b->o.vars, seed, path, err) < 0)
		return error_context(err, "%s", name);
	w->done = lstat(path, &w->st) == 0;
	return 0;
}

static bool is_input(const struct plan_batch *p, const char *path)
{
	for (size_t i = 0; i < p->n_files; i++)
		if (!strcmp(p->files[i].path, path))
			return true;
	return false;
}

/* A program may have put a link there: nothing outside of {work} is written or removed. */
static char *place_in_work(const struct batch *b, const char *name, struct error *err)
{
	auto_free char *path = path_join(b->work, name), *folder = path_dirname(path);
	auto_free char *real = path_resolve(folder), *work = path_resolve(b->work);

	if (path_is_below(real, work))
		return take_ptr(path);
	error_set(err, ERR_CHILD, "'%s' leads out of {work}, to '%s': a program put a link there",
		name, real);
	return NULL;
}

static int put_files(struct batch *b, struct error *err)
{
	const struct plan_batch *p = b->plan;

	for (size_t i = 0; i < p->n_outputs; i++) {
		auto_free char *path = NULL;

		if (!p->outputs[i].path || is_input(p, p->outputs[i].path))
			continue;
		path = place_in_work(b, p->outputs[i].path, err);
		if (!path || tree_remove(path, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < p->n_files; i++) {
		auto_free char *path = place_in_work(b, p->files[i].path, err);

		if (!path ||
			put(b, &p->files[i].content, p->files[i].path, path, &b->files[i], err) < 0)
			return -1;
	}
	return b->in_path ? put(b, &p->input, "stdin", b->in_path, &b->input, err) : 0;
}

/* The same kind of terminal wherever whet was started from. */
static int take_terminal(struct batch *b, struct proc_options *p, struct error *err)
{
	if (pty_open(&b->pty, err) < 0)
		return -1;
	p->in_fd = p->out_fd = p->err_fd = pty_slave(b->pty);
	strv_release(&b->env);
	if (p->env)
		strv_add_all(&b->env, p->env);
	else
		env_copy_current(&b->env);
	env_set(&b->env, "TERM", "xterm");
	p->env = &b->env;
	return 0;
}

int batch_begin(struct batch *b, struct proc_options *p, struct error *err)
{
	if (put_files(b, err) < 0)
		return -1;
	if (b->in_path) {
		b->in = open(b->in_path, O_RDONLY | O_CLOEXEC);
		if (b->in < 0)
			return file_error(err, "read", b->in_path);
	}
	if (b->out_path) {
		b->out = open(
			b->out_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
		if (b->out < 0)
			return file_error(err, "write", b->out_path);
	}
	if (b->plan->pty)
		return take_terminal(b, p, err);
	if (b->in >= 0)
		p->in_fd = b->in;
	if (b->out >= 0)
		p->out_fd = b->out;
	return 0;
}

bool batch_on_terminal(const struct batch *b)
{
	return b->pty != NULL;
}

int batch_started(struct batch *b, struct error *err)
{
	return b->pty ? pty_begin(b->pty, b->in, b->out, err) : 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void batch_ended(struct batch *b)
{
	if (b->pty)
		pty_finish(b->pty);
	pty_free(b->pty);
	b->pty = NULL;
	close_fd(&b->in);
	close_fd(&b->out);
}

/* The line of the byte at which two contents differ, from 1. */
static size_t line_of(const char *p, size_t at)
{
	size_t line = 1;

	for (size_t i = 0; i < at; i++)
		line += p[i] == '\n';
	return line;
}

#define SHOWN 40

static char *difference(
	const char *what, const char *want, size_t want_n, const char *got, size_t got_n)
{
	size_t n = want_n < got_n ? want_n : got_n, at = 0;
	auto_buf struct buf w = BUF_INIT, g = BUF_INIT;

	while (at < n && want[at] == got[at])
		at++;
	if (at == want_n && at == got_n)
		return NULL;
	if (at == got_n)
		return xasprintf("%s ends after %zu of %zu bytes", what, got_n, want_n);
	text_quote(&g, got + at, got_n - at, SHOWN);
	if (at == want_n)
		return xasprintf("%s is %zu bytes long, expected %zu: behind the end stands %s",
			what, got_n, want_n, buf_str(&g));
	text_quote(&w, want + at, want_n - at, SHOWN);
	return xasprintf("%s differs first at byte %zu (line %zu): expected %s, got %s", what,
		at + 1, line_of(want, at), buf_str(&w), buf_str(&g));
}

static char *digest_fault(
	const char *what, const char *want, const char *got, const struct file_map *m)
{
	auto_buf struct buf b = BUF_INIT;

	text_quote(&b, (const char *)m->p, m->n, SHOWN);
	return xasprintf("%s has the sha256 %s, expected %s; it is %zu bytes long and begins "
			 "with %s",
		what, got, want, m->n, buf_str(&b));
}

static char *compare(const struct batch *b, const struct plan_output *o, const char *what,
	const struct file_map *got, struct error *err)
{
	char hex[SHA256_HEX];

	if (o->text)
		return difference(what, o->text, strlen(o->text), (const char *)got->p, got->n);
	if (o->file) {
		auto_free char *path = content_path(o->file, b->o.root, b->o.vars, err);
		struct file_map want;
		char *r;

		if (!path || file_map(path, &want, err) < 0)
			return NULL;
		r = difference(what, (const char *)want.p, want.n, (const char *)got->p, got->n);
		file_unmap(&want);
		if (r)
			return r;
	}
	if (o->bytes >= 0 && (uint64_t)o->bytes != got->n)
		return xasprintf(
			"%s is %zu bytes long, expected %lld", what, got->n, (long long)o->bytes);
	if (!o->sha256)
		return NULL;
	sha256_of(got->n ? (const void *)got->p : "", got->n, hex);
	return strcmp(hex, o->sha256) ? digest_fault(what, o->sha256, hex, got) : NULL;
}

static char *output_fault(const struct batch *b, const struct plan_output *o, struct error *err)
{
	auto_free char *path = o->path ? path_join(b->work, o->path) : xstrdup(b->out_path);
	auto_free char *what = o->path ? xasprintf("'%s'", o->path) : xstrdup("its output");
	struct file_map got;
	struct stat st;
	char *r;

	if (lstat(path, &st) < 0)
		return xasprintf("it did not write %s", what);
	if (!S_ISREG(st.st_mode))
		return xasprintf("%s is not a regular file", what);
	if (file_map(path, &got, err) < 0)
		return NULL;
	r = compare(b, o, what, &got, err);
	file_unmap(&got);
	return r;
}

int batch_fault(const struct batch *b, const struct proc_exit *end, char **ret, struct error *err)
{
	const struct plan_batch *p = b->plan;
	struct error own = ERROR_INIT;

	*ret = NULL;
	if (end->signal || end->code != (int)p->exit_code) {
		auto_free char *how = proc_exit_text(end);

		*ret = xasprintf("'%s' ended with %s, expected exit code %u", b->o.phase->run, how,
			p->exit_code);
		return 0;
	}
	for (size_t i = 0; i < p->n_outputs && !*ret; i++) {
		auto_free char *fault = output_fault(b, &p->outputs[i], &own);

		if (own.code)
			return error_move(err, &own);
		if (fault)
			*ret = xasprintf("'%s': %s", b->o.phase->run, fault);
	}
	return 0;
}

char *batch_output_tail(const struct batch *b, size_t lines)
{
	return b->out_path ? file_tail(b->out_path, lines) : NULL;
}

void batch_close(struct batch *b)
{
	if (!b)
		return;
	batch_ended(b);
	free(b->in_path);
	free(b->out_path);
	free(b->files);
	strv_release(&b->env);
	free(b);
}
