#include "pipeline/tool_files.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"

#define ASK_TIMEOUT (20 * NS_PER_S)

/* Whether the dynamic linker runs before the program: only then can it be asked, without running
 * the program itself. */
static bool has_interpreter(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (fd < 0 || pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) ||
		memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
		h.e_phentsize != sizeof(p))
		return false;
	for (unsigned i = 0; i < h.e_phnum; i++)
		if (pread(fd, &p, sizeof(p), (off_t)(h.e_phoff + i * sizeof(p))) ==
				(ssize_t)sizeof(p) &&
			p.p_type == PT_INTERP)
			return true;
	return false;
}

/* Output lines of a program; none when it fails. One that gave no answer has not said that there is
 * nothing: that is noted. */
static void lines_of(const struct proc_options *o, struct strv *ret, struct error *unanswered)
{
	struct error why = ERROR_INIT;

	if (proc_capture(o, ASK_TIMEOUT, ret, &why) < 0 && error_is_no_answer(&why) &&
		!unanswered->code)
		error_move(unanswered, &why);
	error_release(&why);
}

static void add_once(struct strv *ret, const char *path)
{
	if (*path == '/' && !strv_has(ret, path))
		strv_add(ret, path);
}

/* "libLLVM.so.22 => /usr/lib/llvm-22/lib/libLLVM.so.22 (0x…)", one library a line. */
static void add_libraries(const char *program, struct strv *ret, struct error *unanswered)
{
	auto_strv struct strv argv = STRV_INIT, env = STRV_INIT, lines = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;

	if (!has_interpreter(program))
		return;
	env_copy_current(&env);
	env_set(&env, "LD_TRACE_LOADED_OBJECTS", "1");
	strv_add(&argv, program);
	o.argv = &argv;
	o.env = &env;
	lines_of(&o, &lines, unanswered);
	for (size_t i = 0; i < lines.n; i++) {
		char *path = strchr(lines.v[i], '/');

		if (path) {
			path[strcspn(path, " ")] = '\0';
			add_once(ret, path);
		}
	}
}

/* "/usr/bin/ld", or the bare name when the compiler has no such program of its own. */
static void add_program(
	const char *compiler, const char *name, struct strv *ret, struct error *unanswered)
{
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	auto_free char *found = NULL;
	struct proc_options o = PROC_OPTIONS_INIT;

	strv_add(&argv, compiler);
	strv_addf(&argv, "-print-prog-name=%s", name);
	o.argv = &argv;
	lines_of(&o, &lines, unanswered);
	if (lines.n == 1)
		found = path_find_program(lines.v[0], getenv("PATH"), NULL);
	if (!found || strv_has(ret, found))
		return;
	strv_add(ret, found);
	add_libraries(found, ret, unanswered);
}

static bool is_cc(const char *tool)
{
	const char *name = path_basename(tool);

	return strstr(name, "clang") || strstr(name, "gcc") || strstr(name, "g++") ||
	       strcmp(name, "cc") == 0 || strcmp(name, "c++") == 0;
}

void tool_files(const char *tool, struct strv *ret, struct error *unanswered)
{
	static const char *const clang[] = {"ld", "ld.lld", "as"};
	static const char *const gcc[] = {"ld", "as", "cc1", "cc1plus", "collect2"};
	bool is_clang = strstr(path_basename(tool), "clang") != NULL;
	const char *const *names = is_clang ? clang : gcc;
	size_t n = is_clang ? ARRAY_SIZE(clang) : ARRAY_SIZE(gcc);

	add_libraries(tool, ret, unanswered);
	for (size_t i = 0; is_cc(tool) && i < n; i++)
		add_program(tool, names[i], ret, unanswered);
}

/* ---- pkg-config ---- */

static void add_folders(const char *list, struct strv *ret)
{
	for (const char *p = list; p && *p;) {
		size_t n = strcspn(p, ":");

		if (n)
			strv_take(ret, xstrndup(p, n));
		p += n + (p[n] == ':');
	}
}

static const char *setting(const struct strv *env, const char *name)
{
	const char *v = env_get(env, name);

	return v ? v : getenv(name);
}

static void search_folders(const struct strv *env, struct strv *ret, struct error *unanswered)
{
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;
	const char *instead = setting(env, "PKG_CONFIG_LIBDIR");

	add_folders(setting(env, "PKG_CONFIG_PATH"), ret);
	strv_split_words(&argv, "pkg-config --variable=pc_path pkg-config");
	o.argv = &argv;
	if (instead) {
		add_folders(instead, ret);
		return;
	}
	lines_of(&o, &lines, unanswered);
	if (lines.n)
		add_folders(lines.v[0], ret);
}

/* Up to the first that is there, which is the one that was read. */
static void add_package(const char *name, const struct strv *folders, struct strv *ret)
{
	for (size_t i = 0; i < folders->n; i++) {
		auto_free char *path = xasprintf("%s/%s.pc", folders->v[i], name);

		add_once(ret, path);
		if (path_exists(path))
			break;
	}
}

void tool_packages(
	const char *log, const struct strv *env, struct strv *ret, struct error *unanswered)
{
	auto_strv struct strv folders = STRV_INIT, names = STRV_INIT;
	auto_buf struct buf text = BUF_INIT;
	char *save = NULL;

	if (file_read(log, 0, &text, NULL) < 0 || !text.n)
		return;
	search_folders(env, &folders, unanswered);
	for (char *l = strtok_r(text.p, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		l[strcspn(l, " ")] = '\0'; /* "libfoo [1.2]" or "libfoo NOT-FOUND" */
		if (*l && !strchr(l, '/') && !strv_has(&names, l))
			strv_add(&names, l);
	}
	for (size_t i = 0; i < names.n; i++)
		add_package(names.v[i], &folders, ret);
}
