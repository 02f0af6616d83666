/* The fork hook of an instrumented program, compiled by the program's own compiler without
 * instrumentation. LLVM's runtime loses or double-counts work around fork(): the child starts with
 * the parent's counters and with its file name. Here the child begins at zero with a file of its
 * own, and every process leaves a line in WHET_PROFILE_DIR/processes, so that a missing profile is
 * noticed. A shared object with a copy of the runtime counts for itself, and its hook gives it a
 * file of its own. Without WHET_PROFILE_DIR it does nothing. It must work in static programs and
 * after vfork(), so it uses system calls, the stack and static storage only.
 *
 * With WHET_GCOV it is the hook of gcc's runtime, which writes a .gcda for each object below the
 * folder that GCOV_PREFIX names, looked up when it writes. There too the child begins at zero,
 * every process has a folder of its own, and a line tells that all was written. With WHET_BOTH it
 * is that of both. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

#ifdef WHET_BOTH
#define WHET_GCOV
/* Beside LLVM's runtime gcc's goes by this name; null when no object has counters of gcc. */
extern void __whet_gcov_reset(void) __attribute__((weak));
#elif defined(WHET_GCOV)
HIDDEN void __gcov_reset(void);
#endif

#if !defined(WHET_GCOV) || defined(WHET_BOTH)
#define WHET_LLVM
HIDDEN void __llvm_profile_reset_counters(void);
HIDDEN void __llvm_profile_set_filename(const char *name);

/* Objects of an LLVM with another layout of data records have a runtime of their own (retag.h), for
 * each version of raw profiles. Of those that are not there the names are null. */
#define RUNTIME(tag)                                                                               \
	extern void tag##profile_reset_counters(void) __attribute__((weak));                       \
	extern void tag##profile_set_filename(const char *name) __attribute__((weak));
RUNTIME(__wr08_)
RUNTIME(__wr09_)
RUNTIME(__wr10_)
#endif

/* The linker's name for the beginning of the image that this copy of the hook is in. */
extern const char __ehdr_start[] __attribute__((weak, visibility("hidden")));

extern char **environ;

/* What whet looks for in a linked file. */
__attribute__((used, visibility("hidden"))) volatile int whet_profile_hook = 1;

#define PATH_SPACE 4096
#define FD_WANTED 900 /* out of the way of programs that count their descriptors */
#define ARGS_MAX 4096 /* of execl() */

static char hook_dir[PATH_SPACE];
static char hook_list[PATH_SPACE + 16];
#ifdef WHET_LLVM
static char hook_file[PATH_SPACE + 96];
#endif
#ifdef WHET_GCOV
#define PREFIX "GCOV_PREFIX="
static char hook_prefix[PATH_SPACE + 128] = PREFIX; /* a variable of the environment */
#define hook_folder (hook_prefix + sizeof(PREFIX) - 1)
#endif
static char hook_image[32]; /* of a shared object: what tells it from others; else "" */
static int hook_fd = -1;
static dev_t hook_dev;
static ino_t hook_ino;

static size_t put_number(char *to, unsigned long v)
{
	char digits[24];
	size_t n = 0, i;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	for (i = 0; i < n; i++)
		to[i] = digits[n - 1 - i];
	return n;
}

static void open_list(void)
{
	struct stat st;
	int low = open(hook_list, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	int high;

	if (low < 0)
		return;
	(void)fchmod(low, 0666); /* whatever the umask: workers may run as another user */
	high = fcntl(low, F_DUPFD_CLOEXEC, FD_WANTED);
	if (high >= 0)
		close(low);
	hook_fd = high >= 0 ? high : low;
	if (fstat(hook_fd, &st) == 0) {
		hook_dev = st.st_dev;
		hook_ino = st.st_ino;
	}
}

/* A daemon may have closed the descriptor, and its number may be something else's by now. */
static int list_is_open(void)
{
	struct stat st;

	return hook_fd >= 0 && fstat(hook_fd, &st) == 0 && st.st_dev == hook_dev &&
	       st.st_ino == hook_ino;
}

static void event(const char *what, int with_parent)
{
	char line[120];
	size_t n = strlen(what);
	int saved = errno;

	if (!hook_dir[0])
		return;
	if (!list_is_open())
		open_list();
	memcpy(line, what, n);
	line[n++] = ' ';
	n += put_number(line + n, (unsigned long)syscall(SYS_getpid));
	if (with_parent) {
		line[n++] = ' ';
		n += put_number(line + n, (unsigned long)getppid());
		if (hook_image[0]) {
			line[n++] = ' ';
			memcpy(line + n, hook_image, strlen(hook_image));
			n += strlen(hook_image);
		}
	}
	line[n++] = '\n';
	if (list_is_open() && write(hook_fd, line, n) < 0)
		hook_fd = -1;
	errno = saved;
}

/* DIR/PID.profraw, of a shared object DIR/PID.IMAGE.profraw. */
static void name_one(char *to, const char *suffix)
{
	size_t n = strlen(hook_dir), k = strlen(hook_image);

	memcpy(to, hook_dir, n);
	to[n++] = '/';
	n += put_number(to + n, (unsigned long)syscall(SYS_getpid));
	if (k) {
		to[n++] = '.';
		memcpy(to + n, hook_image, k);
		n += k;
	}
	memcpy(to + n, suffix, strlen(suffix) + 1);
}

/* That of gcc's runtime changes where it stands: after a fork nothing may be locked. */
static void name_files(void)
{
#ifdef WHET_LLVM
	name_one(hook_file, ".profraw");
#endif
#ifdef WHET_GCOV
	name_one(hook_folder, ".gcov");
#endif
}

static int is_taken(void)
{
#ifdef WHET_LLVM
	if (access(hook_file, F_OK) == 0)
		return 1;
#endif
#ifdef WHET_GCOV
	if (access(hook_folder, F_OK) == 0)
		return 1;
#endif
	return 0;
}

#ifdef WHET_GCOV
/* A program may have cleared its environment (to show a title in ps, say). */
static void point_gcov(void)
{
	putenv(hook_prefix);
	unsetenv("GCOV_PREFIX_STRIP");
}
#endif

/* All of LLVM's write to one file, one profile behind the other. */
static void set_filename(void)
{
#ifdef WHET_LLVM
	__llvm_profile_set_filename(hook_file);
	if (__wr08_profile_set_filename)
		__wr08_profile_set_filename(hook_file);
	if (__wr09_profile_set_filename)
		__wr09_profile_set_filename(hook_file);
	if (__wr10_profile_set_filename)
		__wr10_profile_set_filename(hook_file);
#endif
}

static void reset_counters(void)
{
#ifdef WHET_BOTH
	if (__whet_gcov_reset)
		__whet_gcov_reset();
#elif defined(WHET_GCOV)
	__gcov_reset();
#endif
#ifdef WHET_LLVM
	__llvm_profile_reset_counters();
	if (__wr08_profile_reset_counters)
		__wr08_profile_reset_counters();
	if (__wr09_profile_reset_counters)
		__wr09_profile_reset_counters();
	if (__wr10_profile_reset_counters)
		__wr10_profile_reset_counters();
#endif
}

static void after_fork_in_child(void)
{
	reset_counters();
	name_files();
	set_filename();
	event(hook_image[0] ? "load" : "fork", 1);
}

static int is_program(void)
{
	const ElfW(Ehdr) *image = (const void *)__ehdr_start;
	unsigned long headers = getauxval(AT_PHDR);

	return !image || !headers || (unsigned long)__ehdr_start + image->e_phoff == headers;
}

/* Each image writes at the end, and the last one would replace the others' profiles. One that was
 * unloaded may have left its file already, and its address to this one. */
static void name_image(void)
{
	size_t n = put_number(hook_image, (unsigned long)__ehdr_start);

	hook_image[n] = 0;
	for (name_files(); is_taken() && n + 1 < sizeof(hook_image); name_files())
		hook_image[n++] = 'x';
	set_filename();
}

__attribute__((constructor, used)) static void hook_start(void)
{
	const char *dir = getenv("WHET_PROFILE_DIR");
	size_t n = dir ? strlen(dir) : 0;

	if (!whet_profile_hook || !n || n >= PATH_SPACE || hook_dir[0])
		return;
	memcpy(hook_dir, dir, n + 1);
	memcpy(hook_list, dir, n);
	memcpy(hook_list + n, "/processes", sizeof("/processes"));
	if (!is_program())
		name_image();
#ifdef WHET_GCOV
	name_files();
	point_gcov();
#endif
	event(hook_image[0] ? "load" : "start", 1);
	pthread_atfork(NULL, NULL, after_fork_in_child);
}

#ifdef WHET_GCOV
/* gcc's runtime writes in a destructor of priority 100: right after this one, and before the next.
 */
__attribute__((destructor(101), used)) static void hook_before_write(void)
{
	if (hook_dir[0])
		point_gcov();
}

__attribute__((destructor(99), used)) static void hook_after_write(void)
{
	event("done", 1);
}
#endif

/* ---- exec: a process that becomes another program leaves no profile of this one ------------- */

static int real_execve(const char *path, char *const argv[], char *const env[])
{
	int r;

	event("exec", 0);
	r = (int)syscall(SYS_execve, path, argv, env);
	event("noexec", 0);
	return r;
}

int execve(const char *path, char *const argv[], char *const env[])
{
	return real_execve(path, argv, env);
}

int execv(const char *path, char *const argv[])
{
	return real_execve(path, argv, environ);
}

int execveat(int dir, const char *path, char *const argv[], char *const env[], int flags)
{
	int r;

	event("exec", 0);
	r = (int)syscall(SYS_execveat, dir, path, argv, env, flags);
	event("noexec", 0);
	return r;
}

int fexecve(int fd, char *const argv[], char *const env[])
{
	return execveat(fd, "", argv, env, AT_EMPTY_PATH);
}

/* A file without a known format is a shell script, as POSIX has it. */
static void exec_script(const char *path, char *const argv[], char *const env[])
{
	char *args[ARGS_MAX];
	size_t n = 0;

	while (argv[n] && n < ARGS_MAX - 3)
		n++;
	if (argv[n]) {
		errno = E2BIG;
		return;
	}
	args[0] = (char *)"/bin/sh";
	args[1] = (char *)path;
	if (n > 1)
		memcpy(args + 2, argv + 1, (n - 1) * sizeof(*argv));
	args[n > 1 ? n + 1 : 2] = NULL;
	syscall(SYS_execve, args[0], args, env);
}

static void exec_one(const char *path, char *const argv[], char *const env[])
{
	syscall(SYS_execve, path, argv, env);
	if (errno == ENOEXEC)
		exec_script(path, argv, env);
}

static int search_path(const char *file, char *const argv[], char *const env[])
{
	const char *list = getenv("PATH");
	size_t n = strlen(file);
	int denied = 0;

	if (!list)
		list = "/bin:/usr/bin";
	for (;;) {
		char path[PATH_SPACE];
		const char *end = strchrnul(list, ':');
		size_t dir = (size_t)(end - list);

		if (dir + n + 2 <= sizeof(path)) {
			memcpy(path, list, dir);
			path[dir] = '/';
			memcpy(path + dir + (dir > 0), file, n + 1);
			exec_one(path, argv, env);
			if (errno == EACCES)
				denied = 1;
			else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE &&
				 errno != ENODEV && errno != ETIMEDOUT)
				return -1;
		}
		if (!*end)
			break;
		list = end + 1;
	}
	errno = denied ? EACCES : ENOENT;
	return -1;
}

int execvpe(const char *file, char *const argv[], char *const env[])
{
	int r = -1;

	event("exec", 0);
	if (!*file)
		errno = ENOENT;
	else if (strchr(file, '/'))
		exec_one(file, argv, env);
	else
		r = search_path(file, argv, env);
	event("noexec", 0);
	return r;
}

int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* Collects the arguments of the execl family; 0 when there are too many. */
static int collect(char **args, const char *first, va_list *ap)
{
	size_t n = 0;

	args[n] = (char *)first;
	while (args[n]) {
		if (++n == ARGS_MAX) {
			errno = E2BIG;
			return 0;
		}
		args[n] = va_arg(*ap, char *);
	}
	return 1;
}

static int exec_list(
	int (*run)(const char *, char *const[]), const char *path, const char *first, va_list *ap)
{
	char *args[ARGS_MAX];

	return collect(args, first, ap) ? run(path, args) : -1;
}

/* The environment stands behind the arguments. */
static int exec_list_env(const char *path, const char *first, va_list *ap)
{
	char *args[ARGS_MAX];

	return collect(args, first, ap) ? execve(path, args, va_arg(*ap, char *const *)) : -1;
}

int execl(const char *path, const char *arg, ...)
{
	va_list ap;
	int r;

	va_start(ap, arg);
	r = exec_list(execv, path, arg, &ap);
	va_end(ap);
	return r;
}

int execlp(const char *file, const char *arg, ...)
{
	va_list ap;
	int r;

	va_start(ap, arg);
	r = exec_list(execvp, file, arg, &ap);
	va_end(ap);
	return r;
}

int execle(const char *path, const char *arg, ...)
{
	va_list ap;
	int r;

	va_start(ap, arg);
	r = exec_list_env(path, arg, &ap);
	va_end(ap);
	return r;
}

#ifdef WHET_GCOV
/* ---- gcc calls these in the place of fork and exec. Its runtime's own would write the profile
 * before the exec: of a vfork() child that is the parent's, which would then never write again. */

pid_t __gcov_fork(void)
{
	return fork();
}

int __gcov_execve(const char *path, char *const argv[], char *const env[])
{
	return execve(path, argv, env);
}

int __gcov_execv(const char *path, char *const argv[])
{
	return execv(path, argv);
}

int __gcov_execvp(const char *file, char *const argv[])
{
	return execvp(file, argv);
}

int __gcov_execl(const char *path, const char *arg, ...)
{
	va_list ap;
	int r;

	va_start(ap, arg);
	r = exec_list(execv, path, arg, &ap);
	va_end(ap);
	return r;
}

int __gcov_execlp(const char *file, const char *arg, ...)
{
	va_list ap;
	int r;

	va_start(ap, arg);
	r = exec_list(execvp, file, arg, &ap);
	va_end(ap);
	return r;
}

int __gcov_execle(const char *path, const char *arg, ...)
{
	va_list ap;
	int r;

	va_start(ap, arg);
	r = exec_list_env(path, arg, &ap);
	va_end(ap);
	return r;
}
#endif
