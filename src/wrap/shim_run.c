#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "wrap/diag.h"
#include "wrap/retag.h"
#include "wrap/shim.h"

/* More of one line is forwarded in pieces; a diagnostic is never that long. */
#define LINE_MAX_BYTES ((size_t)16 << 20)

static volatile sig_atomic_t child_pid;

static void forward(int sig)
{
	if (child_pid > 0)
		kill((pid_t)child_pid, sig);
}

static void forward_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
	struct sigaction sa = {.sa_handler = forward, .sa_flags = SA_RESTART};
	struct sigaction old;

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
}

/* Forwards what the filter leaves over. Standard error may be gone; the compiler must not care. */
static void emit(const struct buf *out)
{
	if (out->n)
		(void)file_write_all(STDERR_FILENO, out->p, out->n);
}

static size_t filter_lines(struct diag_filter *f, struct buf *in, struct buf *out)
{
	size_t done = 0;
	char *end;

	while (done < in->n && (end = memchr(in->p + done, '\n', in->n - done))) {
		size_t n = (size_t)(end - (in->p + done)) + 1;

		diag_filter_line(f, in->p + done, n, out);
		done += n;
	}
	if (done == 0 && in->n >= LINE_MAX_BYTES) {
		diag_filter_line(f, in->p, in->n, out);
		done = in->n;
	}
	return done;
}

/* Waits for output or the compiler's end; false when nothing can come any more. The pipe's end
 * alone does not tell: a server that the compiler started in the background (a cache's, say) holds
 * it open for as long as it lives. */
static bool more_output(int fd, int pidfd)
{
	struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};

	while (poll(p, 2, -1) < 0 && errno == EINTR)
		;
	if (p[0].revents)
		return true;
	/* What was written before the end is there by now. */
	p[1].fd = -1;
	return poll(p, 1, 0) > 0;
}

static void pump(struct shim_call *c, int fd, int pidfd)
{
	bool rust = c->record.kind == CALL_RUSTC;
	struct diag_filter f = {.record = &c->record,
		.profile = c->profile,
		.rust = rust,
		.gcc = c->gcc,
		.hide_warnings = c->hide_warnings};
	auto_buf struct buf in = BUF_INIT;
	ssize_t n;

	for (;;) {
		auto_buf struct buf out = BUF_INIT;
		char *room = buf_reserve(&in, 65536);
		size_t done;

		if (!room)
			break;
		n = more_output(fd, pidfd) ? read(fd, room, 65536) : 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		in.n += (size_t)n;
		done = filter_lines(&f, &in, &out);
		memmove(in.p, in.p + done, in.n - done);
		in.n -= done;
		emit(&out);
	}
	{
		auto_buf struct buf out = BUF_INIT;

		if (in.n)
			diag_filter_line(&f, in.p, in.n, &out);
		diag_filter_end(&f, &out);
		emit(&out);
	}
}

static int spawn(struct shim_call *c, int err_fd, pid_t *pid, struct error *err)
{
	posix_spawn_file_actions_t actions;
	int e;

	posix_spawn_file_actions_init(&actions);
	if (err_fd >= 0)
		posix_spawn_file_actions_adddup2(&actions, err_fd, STDERR_FILENO);
	if (c->prints_map)
		posix_spawn_file_actions_addopen(
			&actions, STDOUT_FILENO, c->map, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	e = strchr(c->argv.v[0], '/')
		    ? posix_spawn(pid, c->argv.v[0], &actions, NULL, c->argv.v, c->env.v)
		    : posix_spawnp(pid, c->argv.v[0], &actions, NULL, c->argv.v, c->env.v);
	posix_spawn_file_actions_destroy(&actions);
	if (e)
		return error_set(
			err, ERR_ENVIRONMENT, "cannot start '%s': %s", c->argv.v[0], strerror(e));
	return 0;
}

int shim_run_aside(const struct strv *argv, const struct strv *env, const char *output)
{
	posix_spawn_file_actions_t actions;
	int status = 0, e;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(
		&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	e = posix_spawn(&pid, argv->v[0], &actions, NULL, argv->v, env->v);
	posix_spawn_file_actions_destroy(&actions);
	if (e)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static char *headers_path(const struct shim_call *c)
{
	return xasprintf("%s/.%s.headers", c->node->log, c->record.id);
}

/* clang writes the names of all headers that it reads to a file, gcc a rule for make; the build
 * tool sees nothing of it. Part of the log, so that a later build knows what lies outside of its
 * sources. gcc takes a space for the end of the file's name, and nothing when the call asks for
 * such a rule itself: that one is read then. */
static void ask_for_rule(struct shim_call *c)
{
	auto_free char *rule = xasprintf("%s/.%s.rule it", c->node->log, c->record.id);

	if (!strchr(c->node->log, ' '))
		env_set(&c->env, "SUNPRO_DEPENDENCIES", rule);
}

static void ask_for_headers(struct shim_call *c)
{
	auto_free char *path = headers_path(c);

	if (c->record.kind == CALL_QUERY || c->record.kind == CALL_LINK ||
		c->record.kind == CALL_PARTIAL_LINK || c->record.kind == CALL_RUSTC)
		return;
	env_set(&c->env, "CC_PRINT_HEADERS", "1");
	env_set(&c->env, "CC_PRINT_HEADERS_FILE", path);
	/* A cache would take it for one of its own options. */
	if (!c->compiler)
		ask_for_rule(c);
}

size_t shim_dependency_words(const char *word)
{
	static const char *const with_value[] = {"-MF", "-MT", "-MQ", "-MJ"};
	static const char *const alone[] = {"-MD", "-MMD", "-MP", "-MG", "-MV"};

	for (size_t i = 0; i < ARRAY_SIZE(with_value); i++)
		if (strncmp(word, with_value[i], 3) == 0)
			return word[3] ? 1 : 2;
	for (size_t i = 0; i < ARRAY_SIZE(alone); i++)
		if (strcmp(word, alone[i]) == 0)
			return 1;
	return strncmp(word, "-Wp,-M", 6) == 0;
}

/* The call as one that preprocesses to nothing and writes no file of dependencies. */
static void preprocessing_argv(const struct shim_call *c, struct strv *ret)
{
	static const char *const own[] = {"-E", "-o", "/dev/null"};
	size_t i = c->compiler;

	strv_add(ret, c->argv.v[i++]);
	for (size_t k = 0; k < ARRAY_SIZE(own); k++)
		strv_add(ret, own[k]);
	for (; i < c->argv.n && strcmp(c->argv.v[i], "--") != 0; i++) {
		const char *a = c->argv.v[i];
		size_t words = strncmp(a, "-o", 2) == 0 ? 1 + !a[2] : shim_dependency_words(a);

		if (words)
			i += words - 1;
		else
			strv_add(ret, a);
	}
	for (; i < c->argv.n; i++)
		strv_add(ret, c->argv.v[i]);
}

/* A cache that remembers what a source included answers without clang, and nothing names the
 * headers: then the preprocessor alone is run for them. That there is a list says nothing: with the
 * first call that it gets, such a cache asks clang who it is, and the list is of that question. */
static void list_headers_again(struct shim_call *c)
{
	const struct launcher *l = c->record.launcher ? launcher_named(c->record.launcher) : NULL;
	auto_free char *path = headers_path(c);
	auto_strv struct strv argv = STRV_INIT;

	if (!c->compiler || c->record.kind == CALL_RUSTC || c->record.status != 0 ||
		!env_get(&c->env, "CC_PRINT_HEADERS") ||
		(l && l->preprocesses && access(path, F_OK) == 0))
		return;
	preprocessing_argv(c, &argv);
	ask_for_rule(c);
	(void)shim_run_aside(&argv, &c->env, "/dev/null");
}

static int run_once(struct shim_call *c, int *ret, struct error *err)
{
	int fds[2] = {-1, -1};
	struct rusage ru;
	int status, r;
	pid_t pid;

	if (c->capture && pipe2(fds, O_CLOEXEC) < 0)
		return error_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
	ask_for_headers(c);
	forward_signals();
	r = spawn(c, fds[1], &pid, err);
	if (fds[1] >= 0)
		close(fds[1]);
	if (r < 0) {
		if (fds[0] >= 0)
			close(fds[0]);
		return -1;
	}
	child_pid = pid;
	if (fds[0] >= 0) {
		auto_close int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

		pump(c, fds[0], pidfd);
		close(fds[0]);
	}
	do
		r = wait4(pid, &status, 0, &ru);
	while (r < 0 && errno == EINTR);
	child_pid = 0;
	if (r < 0)
		return error_set(
			err, ERR_IO, "cannot wait for '%s': %s", c->argv.v[0], strerror(errno));
	c->record.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	c->record.cpu_ns += clock_rusage_ns(&ru);
	list_headers_again(c);
	*ret = status;
	return 0;
}

/* A link leaves a mark for the rustc call that made it. */
static char *mark_path(const struct shim_call *c, const char *rustc)
{
	return xasprintf("%s/.%s.linked", c->node->log, rustc);
}

static void leave_mark(const struct shim_call *c)
{
	auto_free char *path = mark_path(c, c->record.parent);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd >= 0)
		close(fd);
}

int shim_run(struct shim_call *c, int *ret, struct error *err)
{
	auto_free char *mark = mark_path(c, c->record.id);
	bool linked;

	if (shim_order(c, err) < 0)
		return -1;
	if (run_once(c, ret, err) < 0)
		return -1;
	linked = c->record.kind == CALL_RUSTC && unlink(mark) == 0;
	if (!c->links || linked || c->record.status != 0 || !c->compiler)
		return 0;
	/* A cache answered a call that links, and nobody knows of what: linked again without it. */
	shim_leave_launcher(c);
	if (run_once(c, ret, err) < 0)
		return -1;
	(void)unlink(mark);
	return 0;
}

/* Reading maps and hashing objects needs libraries that would slow each start of the shim down: a
 * program of its own does it, for the few calls that link. */
static int run_evidence(
	struct shim_call *c, const char *partial, const char *final, struct error *err)
{
	char *argv[] = {c->node->evidence, (char *)partial, c->map, (char *) final, NULL};
	int status;
	pid_t pid;
	int e = posix_spawn(&pid, argv[0], NULL, NULL, argv, c->env.v);

	if (e)
		return error_set(
			err, ERR_ENVIRONMENT, "cannot start '%s': %s", argv[0], strerror(e));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(err, ERR_IO, "cannot wait for '%s'", argv[0]);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_set(err, ERR_CHILD,
			"the objects of '%s' could not be recorded (see the message above)",
			c->record.output ? c->record.output : "?");
	return 0;
}

/* An object that `as` makes of it has no record: this shows later what was compiled. */
static int keep_assembly(const struct shim_call *c, struct error *err)
{
	auto_free char *name = xasprintf(KEPT_ASSEMBLY, c->record.id);
	auto_free char *to = path_join(c->node->log, name);
	struct stat st;

	if (!c->assembly || c->record.status != 0 || !c->record.output ||
		stat(c->record.output, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return file_copy(c->record.output, to, 0644, err);
}

static int write_record(struct shim_call *c, struct error *err)
{
	auto_free char *final = xasprintf("%s/%s.json", c->node->log, c->record.id);
	auto_free char *partial = xasprintf("%s/.%s.partial", c->node->log, c->record.id);
	int r;

	c->record.own_cpu_ns = clock_usage_ns(RUSAGE_SELF);
	if (c->record.parent && c->record.kind == CALL_LINK)
		leave_mark(c);
	if (!c->evidence || c->record.status != 0) {
		if (c->own_map)
			unlink(c->map);
		return compile_record_write(&c->record, final, err);
	}
	if (compile_record_write(&c->record, partial, err) < 0)
		return -1;
	r = run_evidence(c, partial, final, err);
	unlink(partial);
	if (c->own_map)
		unlink(c->map);
	return r;
}

static int retag(const struct shim_call *c, struct error *err)
{
	for (size_t i = 0; i < c->objects.n && c->record.status == 0; i++)
		if (retag_file(c->objects.v[i], c->retag, false, err) < 0)
			return -1;
	return 0;
}

int shim_record(struct shim_call *c, struct error *err)
{
	int r = retag(c, err) < 0 || keep_assembly(c, err) < 0 ? -1 : write_record(c, err);

	if (r == 0)
		r = shim_relink(c, err);
	if (r == 0)
		r = shim_relocs(c, err);
	if (c->kept)
		(void)tree_remove(c->kept, NULL);
	return r;
}
