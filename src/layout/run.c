/* Runs llvm-bolt, and tells what became of it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "layout/internal.h"

#define LOG_MAX (64u << 20)
#define TAIL_LINES 6

static void remove_folder(char **folder)
{
	if (*folder)
		tree_remove(*folder, NULL);
	free(*folder);
}

/* A folder beside the output, so that the file can be moved there whole. */
static int make_folder(const struct bolt_call *c, char **ret, struct error *err)
{
	char *folder = xasprintf("%s.bolt-XXXXXX", c->out);
	auto_free char *binary = path_absolute(c->binary);
	auto_free char *input = NULL;

	if (!mkdtemp(folder)) {
		error_set(err, ERR_IO, "cannot create '%s': %s", folder, strerror(errno));
		free(folder);
		return -1;
	}
	*ret = folder;
	input = path_join(folder, BOLT_INPUT);
	if (symlink(binary, input) < 0)
		return file_error(err, "create", input);
	if (c->profile) {
		auto_free char *profile = path_absolute(c->profile);
		auto_free char *link = path_join(folder, BOLT_PROFILE);

		if (symlink(profile, link) < 0)
			return file_error(err, "create", link);
	}
	return 0;
}

static void split_lines(const char *text, struct strv *ret)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		strv_take(ret, xstrndup(text, n));
		text += n + (text[n] == '\n');
	}
}

static int start(const struct bolt_call *c, const char *folder, int fd, struct proc_exit *ret,
	struct error *err)
{
	auto_strv struct strv argv = STRV_INIT, env = STRV_INIT;
	auto_free char *tools = path_dirname(c->tool->bolt);
	struct proc_options o = PROC_OPTIONS_INIT;

	env_copy_current(&env);
	{
		auto_free char *path = xasprintf("%s:%s", tools,
			env_get(&env, "PATH") ? env_get(&env, "PATH") : "/usr/bin:/bin");

		env_set(&env, "PATH", path);
	}
	strv_add(&argv, path_basename(c->tool->bolt));
	strv_add(&argv, BOLT_INPUT);
	strv_add(&argv, "-o");
	strv_add(&argv, BOLT_OUTPUT);
	if (c->profile)
		strv_add(&argv, "-data=" BOLT_PROFILE);
	strv_add_all(&argv, c->options);
	o.argv = &argv;
	o.env = &env;
	o.cwd = folder;
	o.out_fd = o.err_fd = fd;
	o.new_group = true;
	return proc_run(&o, c->timeout_ns, ret, err);
}

/* What it said last, each line indented; crash dumps bring nothing but addresses. */
static char *last_words(const struct strv *lines)
{
	auto_buf struct buf b = BUF_INIT;
	size_t n = lines->n, first;

	for (size_t i = 0; i < lines->n; i++)
		if (strstr(lines->v[i], "Stack dump")) {
			n = i;
			break;
		}
	first = n > TAIL_LINES ? n - TAIL_LINES : 0;
	for (size_t i = first; i < n; i++)
		buf_addf(&b, "\n  %s", lines->v[i]);
	if (n == first)
		buf_adds(&b, "\n  (it said nothing)");
	return buf_detach(&b);
}

static bool said(const struct strv *lines, const char *text)
{
	for (size_t i = 0; i < lines->n; i++)
		if (strstr(lines->v[i], text))
			return true;
	return false;
}

/* Out of memory shows as an exception, a message, or, where not even that could be made, as a crash
 * under a limit. */
static bool lacked_memory(const struct proc_exit *e, const struct strv *lines, char **limit)
{
	struct rlimit as;
	bool limited = getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY;

	free(*limit);
	*limit = limited ? xasprintf("the limit on its address space (ulimit -v) is %llu KiB",
				   (unsigned long long)(as.rlim_cur >> 10))
			 : xasprintf(
				   "it had taken %llu MiB", (unsigned long long)(e->max_rss >> 20));
	if (said(lines, "std::bad_alloc") || said(lines, "out of memory") ||
		said(lines, "Cannot allocate memory") || said(lines, "Allocation failed") ||
		said(lines, "cannot allocate memory"))
		return true;
	if (limited && e->signal)
		return true;
	return e->signal == SIGKILL;
}

static int failed(const struct bolt_call *c, const struct proc_exit *e, const struct strv *lines,
	struct error *err)
{
	auto_free char *end = proc_exit_text(e);
	auto_free char *words = last_words(lines);
	auto_free char *limit = NULL;

	if (lacked_memory(e, lines, &limit))
		return error_set(err, e->signal == SIGKILL ? ERR_KILLED : ERR_ENVIRONMENT,
			"%s could not %s '%s': %s%s; %s. Give it more memory, or fewer jobs beside "
			"it; it said last:%s",
			c->tool->version, c->what, c->binary, end,
			e->signal == SIGKILL
				? ": the kernel for want of memory, or somebody, killed it"
				: ": not enough memory",
			limit, words);
	if (e->signal)
		return error_set(err, ERR_CHILD,
			"%s crashed when it was to %s '%s': %s. That is a defect of it: try the "
			"llvm-bolt of another LLVM, or build without layout; it said last:%s",
			c->tool->version, c->what, c->binary, end, words);
	return error_set(err, ERR_CHILD, "%s could not %s '%s': %s; it said last:%s",
		c->tool->version, c->what, c->binary, end, words);
}

static int read_log(const char *path, struct strv *lines, struct error *err)
{
	auto_buf struct buf text = BUF_INIT;

	if (file_read(path, LOG_MAX, &text, err) < 0)
		return -1;
	split_lines(buf_str(&text), lines);
	return 0;
}

/* It is no file of ours until it is whole and as executable as before. */
static int take_output(
	const struct bolt_call *c, const char *folder, const struct strv *lines, struct error *err)
{
	auto_free char *made = path_join(folder, BOLT_OUTPUT);
	auto_free char *words = NULL;
	struct stat st, before;

	if (stat(made, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
		words = last_words(lines);
		return error_set(err, ERR_CHILD,
			"%s ended with exit code 0 and left no file when it was to %s '%s'; it "
			"said last:%s",
			c->tool->version, c->what, c->binary, words);
	}
	if (stat(c->binary, &before) < 0)
		return file_error(err, "read", c->binary);
	if (chmod(made, before.st_mode & 0777) < 0)
		return file_error(err, "change the mode of", made);
	return file_rename(made, c->out, err);
}

int bolt_run(
	const struct bolt_call *c, struct proc_exit *ret, struct strv *lines, struct error *err)
{
	__attribute__((cleanup(remove_folder))) char *folder = NULL;
	auto_free char *log = NULL;
	auto_close int fd = -1;
	int r;

	if (make_folder(c, &folder, err) < 0)
		return -1;
	log = c->log ? path_absolute(c->log) : path_join(folder, "log");
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return file_error(err, "create", log);
	r = start(c, folder, fd, ret, err);
	if (r < 0)
		return error_context(err, "cannot %s '%s'", c->what, c->binary);
	if (read_log(log, lines, err) < 0)
		return -1;
	if (ret->signal || ret->code)
		return failed(c, ret, lines, err);
	return take_output(c, folder, lines, err);
}
