#include "train/emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "elf/elf_facts.h"

#define FOLDER "emulated" /* beside the scripts */
#define VERSION_TIMEOUT (60 * NS_PER_S)
#define COMMAND_MAX ((size_t)1 << 20)

void train_emulator_release(struct train_emulator *e)
{
	strv_release(&e->words);
	free(e->name);
	*e = (struct train_emulator){0};
}

bool train_is_emulated(const struct plan *p, const struct target *t)
{
	return p->train.emulator || t->foreign;
}

static bool is_qemu(const char *program)
{
	return strncmp(path_basename(program), "qemu-", 5) == 0;
}

/* "qemu-aarch64 version 7.2.22 (Debian …)" as "qemu-aarch64 7.2.22"; of others the first line. */
static char *short_name(const char *program, const char *line)
{
	static const char word[] = " version ";
	const char *at = strstr(line, word);
	size_t n;

	if (!at)
		return *line ? xasprintf("%s (%s)", path_basename(program), line)
			     : xstrdup(path_basename(program));
	at += strlen(word);
	n = strcspn(at, " (");
	return xasprintf("%s %.*s", path_basename(program), (int)n, at);
}

/* One that does not tell its version may emulate all the same. */
static void ask_name(struct train_emulator *e)
{
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;
	struct error ignored = ERROR_INIT;

	strv_add(&argv, e->words.v[0]);
	strv_add(&argv, "--version");
	o.argv = &argv;
	(void)proc_capture(&o, VERSION_TIMEOUT, &lines, &ignored);
	error_release(&ignored);
	e->name = short_name(e->words.v[0], lines.n ? lines.v[0] : "");
}

static void default_words(const struct plan *p, const struct target *t, struct strv *ret)
{
	auto_free char *root =
		p->build.sysroot ? xstrdup(p->build.sysroot) : xasprintf("/usr/%s", t->gnu);
	auto_free char *libraries = path_join(root, "lib");

	strv_addf(ret, "qemu-%s", t->processor->qemu);
	/* A program that is linked statically needs none. */
	if (path_is_dir(libraries)) {
		strv_add(ret, "-L");
		strv_add(ret, root);
	}
}

int train_emulator_find(const struct plan *p, const struct target *t, const char *path_list,
	struct train_emulator *ret, struct buf *missing, struct error *err)
{
	auto_strv struct strv words = STRV_INIT;
	char *path;

	if (p->train.emulator) {
		if (plan_split(p->train.emulator, &words, err) < 0)
			return error_context(err, "train.emulator");
		if (!words.n)
			return error_set(err, ERR_CONFIG, "train.emulator names no program");
	} else {
		default_words(p, t, &words);
	}
	path = path_find_program(words.v[0], path_list, NULL);
	if (!path) {
		buf_addf(missing, "%semulator: '%s' is not in PATH; %s", missing->n ? "\n" : "",
			words.v[0],
			is_qemu(words.v[0]) ? "install the Debian package 'qemu-user'"
					    : "train.emulator names it");
		return 0;
	}
	free(words.v[0]);
	words.v[0] = path_absolute(path);
	free(path);
	strv_add_all(&ret->words, &words);
	ask_name(ret);
	return 0;
}

int train_emulator_need(const struct plan *p, struct train_emulator *ret, struct error *err)
{
	auto_buf struct buf missing = BUF_INIT;
	struct target t = {0};
	int r = 0;

	target_read(p->build.target, &t);
	if (train_is_emulated(p, &t))
		r = train_emulator_find(p, &t, getenv("PATH"), ret, &missing, err);
	target_release(&t);
	return r == 0 && missing.n ? error_set(err, ERR_ENVIRONMENT, "%s", buf_str(&missing)) : r;
}

/* A shared library is loaded by what it finds there, and is no program. */
static int is_program(const char *path, bool *ret, struct error *err)
{
	struct elf_facts f = {0};

	if (elf_facts_read(path, &f, err) < 0)
		return -1;
	*ret = !f.soname && !strstr(path_basename(path), ".so");
	elf_facts_release(&f);
	return 0;
}

/* exec: the process that is started is the one that counts and is signalled. */
static int write_script(
	const struct train_emulator *e, const char *real, const char *to, struct error *err)
{
	auto_strv struct strv words = STRV_INIT, one = STRV_INIT;
	auto_free char *front = NULL, *program = NULL, *text = NULL;

	strv_add_all(&words, &e->words);
	front = strv_shell_quote(&words);
	strv_add(&one, real);
	program = strv_shell_quote(&one);
	text = xasprintf("#!/bin/sh\nexec %s%s %s \"$@\"\n", front,
		is_qemu(e->words.v[0]) ? " -0 \"$0\"" : "", program);
	return file_write_atomic(to, text, strlen(text), 0755, err);
}

static int place(const struct train_emulator *e, const char *file, const char *folder,
	const char *inner, struct error *err)
{
	auto_free char *real = path_join(inner, path_basename(file));
	auto_free char *to = path_join(folder, path_basename(file));
	bool program;

	if (is_program(file, &program, err) < 0 || file_copy(file, real, 0755, err) < 0)
		return -1;
	return program ? write_script(e, real, to, err) : file_copy(file, to, 0755, err);
}

int train_emulator_place(const struct train_emulator *e, const struct strv *files,
	const char *folder, struct strv *ret, struct error *err)
{
	auto_free char *outer = path_absolute(folder);
	auto_free char *inner = path_join(outer, FOLDER);

	if (dir_create(inner, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < files->n; i++) {
		if (place(e, files->v[i], outer, inner, err) < 0)
			return -1;
		strv_take(ret, path_join(outer, path_basename(files->v[i])));
	}
	return 0;
}

char *train_emulated(const char *path)
{
	auto_free char *folder = path_dirname(path);

	return xasprintf("%s/" FOLDER "/%s", folder, path_basename(path));
}

static bool is_word_of(const struct buf *command, const char *word)
{
	for (size_t at = 0; at < command->n; at += strlen(command->p + at) + 1)
		if (strcmp(command->p + at, word) == 0)
			return true;
	return false;
}

/* The emulator's own command line: what the emulated program makes of its arguments (a title) does
 * not show there. */
bool train_emulates(const struct train_emulator *e, pid_t pid, const struct strv *binaries)
{
	auto_buf struct buf command = BUF_INIT;
	auto_free char *exe = xasprintf("/proc/%d/exe", (int)pid);
	auto_free char *line = xasprintf("/proc/%d/cmdline", (int)pid);
	struct stat its, emulator;

	if (!e || stat(exe, &its) < 0 || stat(e->words.v[0], &emulator) < 0 ||
		its.st_ino != emulator.st_ino || its.st_dev != emulator.st_dev ||
		file_read(line, COMMAND_MAX, &command, NULL) < 0)
		return false;
	buf_addc(&command, '\0');
	for (size_t i = 0; i < binaries->n; i++) {
		auto_free char *real = train_emulated(binaries->v[i]);

		if (is_word_of(&command, real))
			return true;
	}
	return false;
}
