#include "service/service.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "service/internal.h"

#define SETUP_TIMEOUT_NS (300 * NS_PER_S)
#define READY_TIMEOUT_DEFAULT_NS (30 * NS_PER_S)
#define STOP_TIMEOUT_DEFAULT_NS (30 * NS_PER_S)
/* The program is gone, processes that it started are not: they get this long to end by themselves
 * before the stop signal goes to them, too. */
#define LEFTOVER_NS NS_PER_S

bool service_alive(const struct service *s)
{
	return tree_alive(s->tree);
}

pid_t service_pid(const struct service *s)
{
	return tree_pid(s->tree);
}

size_t service_tree(const struct service *s, pid_t **ret)
{
	return tree_members(s->tree, ret);
}

int service_cpu_ns(struct service *s, uint64_t *ret, struct error *err)
{
	return tree_cpu_ns(s->tree, ret, err);
}

char *service_end_text(const struct service *s)
{
	struct proc_exit end;

	if (!tree_main_ended(s->tree, &end))
		return xstrdup("it runs");
	return proc_exit_text(&end);
}

char *service_log_tail(const struct service *s, size_t lines)
{
	return file_tail(s->log, lines);
}

/* ---- Start ---------------------------------------------------------------------------------- */

static int open_log(const char *path, int flags, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0644);

	if (fd < 0)
		error_set(err, ERR_IO, "cannot write log '%s': %s", path, strerror(errno));
	return fd;
}

int service_command(const char *command, const struct service_options *o, const struct strv *env,
	const char *cwd, uint64_t timeout_ns, char **how, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT, own = STRV_INIT;
	auto_close int log = open_log(o->log, 0, err);
	struct proc_options p = PROC_OPTIONS_INIT;
	struct proc_exit end;

	if (log < 0)
		return -1;
	strv_add(&argv, "/bin/sh");
	strv_add(&argv, "-c");
	strv_add(&argv, command);
	strv_add_all(&own, env);
	env_set(&own, "WHET_PROFILE_DIR", NULL);
	/* Without the name the runtime would leave its default file in the working folder. */
	if (env_get(&own, "LLVM_PROFILE_FILE"))
		env_set(&own, "LLVM_PROFILE_FILE", "/dev/null");
	p.argv = &argv;
	p.env = &own;
	p.cwd = cwd;
	p.out_fd = p.err_fd = log;
	p.cpu = o->cpu;
	if (proc_run(&p, timeout_ns, &end, err) < 0)
		return -1;
	if (end.code == 0)
		return 0;
	*how = proc_exit_text(&end);
	return 1;
}

static int run_setup(const struct service_options *o, const struct strv *env, struct error *err)
{
	auto_free char *command = NULL, *how = NULL, *tail = NULL;
	int r;

	if (!o->plan->setup)
		return 0;
	if (plan_expand(o->plan->setup, o->vars, &command, err) < 0)
		return error_context(err, "service '%s', setup", o->plan->name);
	r = service_command(command, o, env, o->work, SETUP_TIMEOUT_NS, &how, err);
	if (r < 0)
		return error_context(err, "service '%s', setup", o->plan->name);
	if (r == 0)
		return 0;
	tail = file_tail(o->log, 20);
	return error_set(err, ERR_CHILD, "service '%s': setup ended with %s%s%s", o->plan->name,
		how, *tail ? "; its last output:\n" : "; it printed nothing", tail);
}

static void builtin_line(const struct service_options *o, struct strv *ret)
{
	const char *tls = env_get(o->vars, "port.tls"), *dead = env_get(o->vars, "port.dead");
	const char *ca = env_get(o->vars, "ca");

	strv_add(ret, o->self);
	strv_add(ret, o->plan->builtin);
	strv_add(ret, "--port");
	strv_addf(ret, "%u", o->port);
	if (tls)
		strv_addf(ret, "--tls-port=%s", tls);
	if (dead)
		strv_addf(ret, "--dead-port=%s", dead);
	if (ca) { /* its certificate is one that the training's authority has signed */
		strv_add(ret, "--certs");
		strv_take(ret, path_dirname(ca));
	}
}

/* The words of the command line; each is expanded after splitting, so that a path with a space
 * stays one word. */
static int command_line(const struct service_options *o, struct strv *ret, struct error *err)
{
	auto_strv struct strv words = STRV_INIT;

	if (o->plan->builtin) {
		builtin_line(o, ret);
		return 0;
	}
	if (plan_split(o->plan->run, &words, err) < 0)
		return error_context(err, "service '%s', run", o->plan->name);
	for (size_t i = 0; i < words.n; i++) {
		char *word;

		if (plan_expand(words.v[i], o->vars, &word, err) < 0)
			return error_context(err, "service '%s', run", o->plan->name);
		strv_take(ret, word);
	}
	return 0;
}

static int environment(const struct service_options *o, struct strv *ret, struct error *err)
{
	static unsigned int count;
	auto_free char *id = NULL;

	if (o->env)
		strv_add_all(ret, o->env);
	for (size_t i = 0; i < o->plan->env.n; i++) {
		auto_free char *text = NULL, *name = NULL;
		const char *equal;

		if (plan_expand(o->plan->env.v[i], o->vars, &text, err) < 0)
			return error_context(err, "service '%s', env", o->plan->name);
		equal = strchr(text, '=');
		if (!equal)
			return error_set(err, ERR_CONFIG,
				"service '%s', env: '%s' is not NAME=VALUE", o->plan->name, text);
		name = xstrndup(text, (size_t)(equal - text));
		env_set(ret, name, equal + 1);
	}
	id = xasprintf("%d.%u.%s", (int)getpid(), ++count, o->plan->name);
	env_set(ret, "WHET_SERVICE", id); /* finds it again after whet was killed */
	return 0;
}

static int start_tree(const struct plan_service *plan, const struct proc_options *p,
	struct tree **ret, struct error *err)
{
	struct tree_user user = {0};
	int r;

	if (!service_changes_user(plan))
		return tree_start(p, ret, err);
	if (service_user(plan, &user, err) < 0)
		return -1;
	r = tree_start_as(p, &user, ret, err);
	free(user.name);
	return r;
}

static int launch(const struct service_options *o, const struct strv *argv, const struct strv *env,
	const char *cwd, struct service **ret, struct error *err)
{
	auto_close int log = open_log(o->log, 0, err);
	struct proc_options p = PROC_OPTIONS_INIT;
	struct tree *tree;
	struct service *s;
	off_t from;

	if (log < 0)
		return -1;
	from = lseek(log, 0, SEEK_END);
	p.argv = argv;
	p.env = env;
	p.cwd = cwd;
	p.out_fd = p.err_fd = log;
	p.cpu = o->cpu;
	if (start_tree(o->plan, &p, &tree, err) < 0)
		return error_context(err, "service '%s'", o->plan->name);
	s = xcalloc(1, sizeof(*s));
	s->name = xstrdup(o->plan->name);
	s->log = xstrdup(o->log);
	if (o->plan->pid_file)
		s->pid_file = path_join(o->work, o->plan->pid_file);
	s->tree = tree;
	s->stop_signal = o->plan->stop_signal ? o->plan->stop_signal : SIGTERM;
	s->stop_timeout_ns =
		o->plan->stop_timeout_ns ? o->plan->stop_timeout_ns : STOP_TIMEOUT_DEFAULT_NS;
	s->ready_timeout_ns =
		o->plan->ready_timeout_ns ? o->plan->ready_timeout_ns : READY_TIMEOUT_DEFAULT_NS;
	s->started = clock_mono_ns();
	s->log_from = from < 0 ? 0 : from;
	s->last_words = o->last_words;
	*ret = s;
	return 0;
}

static int prepare(const struct service_options *o, char **cwd, struct error *err)
{
	auto_close int log = -1;

	if (dir_create(o->work, 0755, err) < 0)
		return -1;
	log = open_log(o->log, O_TRUNC, err);
	if (log < 0)
		return -1;
	if (service_documents(o, err) < 0)
		return -1;
	if (!o->plan->cwd) {
		*cwd = xstrdup(o->work);
		return 0;
	}
	if (plan_expand(o->plan->cwd, o->vars, cwd, err) < 0)
		return error_context(err, "service '%s', cwd", o->plan->name);
	return 0;
}

/* Whoever listens there already would answer in the service's place. */
static int port_is_free(const struct service_options *o, struct error *err)
{
	auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(o->port)};

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return 0;
	return error_set(err, ERR_ENVIRONMENT, "service '%s': port %u is in use by another program",
		o->plan->name, o->port);
}

int service_start(const struct service_options *o, struct service **ret, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT, env = STRV_INIT;
	auto_free char *cwd = NULL;
	struct service *s = NULL;

	if (environment(o, &env, err) < 0 || command_line(o, &argv, err) < 0 ||
		port_is_free(o, err) < 0 || prepare(o, &cwd, err) < 0 ||
		run_setup(o, &env, err) < 0 || service_give(o->plan, o->work, err) < 0 ||
		launch(o, &argv, &env, cwd, &s, err) < 0)
		return -1;
	if (service_await_ready(s, o, &env, cwd, err) < 0) {
		service_free(s);
		return -1;
	}
	*ret = s;
	return 0;
}

/* ---- Stop ----------------------------------------------------------------------------------- */

static void tell(const struct service *s, const pid_t *pids, size_t n)
{
	if (n && s->last_words.call)
		s->last_words.call(s->last_words.ctx, pids, n);
}

/* The process that the pid file names, when it is one of the service's; else 0. */
static pid_t named_process(const struct service *s)
{
	auto_buf struct buf text = BUF_INIT;
	auto_free pid_t *pids = NULL;
	size_t n;
	int pid;

	if (!s->pid_file || file_read(s->pid_file, 4096, &text, NULL) < 0 ||
		sscanf(buf_str(&text), "%d", &pid) != 1)
		return 0;
	n = tree_members(s->tree, &pids);
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return pid;
	return 0;
}

static void send_stop(const struct service *s)
{
	auto_free pid_t *pids = NULL;
	pid_t named = named_process(s);
	uint64_t start = named ? proc_start_time(named) : 0;
	size_t n = named ? 1 : tree_targets(s->tree, &pids), fatal = 0;

	if (named) {
		pids = xcalloc(1, sizeof(*pids));
		pids[0] = named;
	}
	for (size_t i = 0; i < n; i++)
		if (signal_is_fatal(pids[i], s->stop_signal))
			pids[fatal++] = pids[i];
	tell(s, pids, fatal);
	if (named)
		(void)proc_signal(named, start, s->stop_signal);
	else
		tree_signal(s->tree, s->stop_signal);
}

/* Waits for the tree to end by itself after the stop signal. */
static bool ends_by_itself(struct service *s)
{
	uint64_t end = clock_mono_ns() + s->stop_timeout_ns, now;
	bool main_alive = !tree_main_ended(s->tree, NULL);

	send_stop(s);
	if (main_alive) {
		if (tree_wait_main(s->tree, s->stop_timeout_ns) != 0)
			return false;
		now = clock_mono_ns();
		if (tree_wait_gone(s->tree, now + LEFTOVER_NS < end ? LEFTOVER_NS : 0) == 0)
			return true;
		send_stop(s);
	}
	now = clock_mono_ns();
	return tree_wait_gone(s->tree, now < end ? end - now : 0) == 0;
}

int service_stop(struct service *s, struct service_end *ret, struct error *err)
{
	struct service_end end = {.died_early = !service_alive(s)};
	struct proc_exit how = {0};

	if (!tree_gone(s->tree) && !ends_by_itself(s)) {
		auto_free pid_t *pids = NULL;
		size_t n = tree_members(s->tree, &pids);

		end.killed = true;
		tell(s, pids, n);
		if (tree_kill(s->tree, err) < 0)
			return error_context(err, "service '%s'", s->name);
	}
	(void)tree_main_ended(s->tree, &how);
	end.code = how.code;
	end.signal = how.signal;
	*ret = end;
	return 0;
}

void service_free(struct service *s)
{
	if (!s)
		return;
	tree_free(s->tree);
	service_watch_release(s);
	free(s->name);
	free(s->log);
	free(s->pid_file);
	free(s);
}
