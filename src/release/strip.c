#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "elf/elf_strip.h"
#include "release/release.h"

#define STRIP_TIMEOUT_NS (120 * NS_PER_S)

static bool is_elf(const char *path, uint64_t *size)
{
	struct file_map m;
	bool elf;

	if (file_map(path, &m, NULL) < 0)
		return false;
	elf = m.n > 64 && memcmp(m.p, "\177ELF", 4) == 0;
	*size = m.n;
	file_unmap(&m);
	return elf;
}

/* LLVM majors that are looked for, newest first. */
#define LLVM_NEWEST 40
#define LLVM_OLDEST 14

static void add_program(struct strv *ret, const char *name)
{
	char *found = path_find_program(name, getenv("PATH"), NULL);

	if (found)
		strv_take(ret, found);
}

/* What BOLT has written needs a recent llvm-strip: that of LLVM 14 moves a segment to a place in
 * the file from which it cannot be loaded, as GNU strip does. */
static void add_newest(struct strv *ret)
{
	for (int v = LLVM_NEWEST; v >= LLVM_OLDEST; v--) {
		auto_free char *name = xasprintf("llvm-strip-%d", v);

		add_program(ret, name);
	}
}

/* In this order. llvm-strip refuses programs that are linked statically with glibc (its section
 * .rela.plt has no symbol table): then the next one is asked. */
static int find_strips(const char *own, bool by_bolt, struct strv *ret, struct error *err)
{
	static const char *const names[] = {"llvm-strip", "strip", "llvm-strip-22", "llvm-strip-19",
		"llvm-strip-16", "llvm-strip-14"};

	if (by_bolt)
		add_newest(ret);
	if (own)
		strv_add(ret, own);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		add_program(ret, names[i]);
	if (ret->n)
		return 0;
	return error_set(err, ERR_ENVIRONMENT,
		"no strip program: neither 'llvm-strip' nor 'strip' is in PATH; install binutils "
		"or llvm, or set 'strip: false' in release");
}

static int run_strip(const char *program, const char *file, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	struct proc_options p = PROC_OPTIONS_INIT;

	strv_add(&argv, program);
	strv_add(&argv, "--strip-all");
	strv_add(&argv, file);
	p.argv = &argv;
	return proc_capture(&p, STRIP_TIMEOUT_NS, &lines, err);
}

/* A stripped file is an ELF file, holds something, and is no larger than before: strip programs
 * exit with 0 also where they did nothing. */
static int check_stripped(
	const char *program, const char *from, const char *to, uint64_t before, struct error *err)
{
	uint64_t after;

	if (!is_elf(to, &after))
		return error_set(err, ERR_CHILD, "'%s' left no ELF file of '%s'", program, from);
	if (after > before)
		return error_set(err, ERR_CHILD,
			"'%s' made '%s' larger: %llu bytes before, %llu after", program, from,
			(unsigned long long)before, (unsigned long long)after);
	return 0;
}

/* 1: stripped; 0: this program cannot, and why says why. -1: another one may not be asked either:
 * it lied, or it gave no answer, and what another makes would be another file. */
static int try_strip(
	const char *program, const char *from, const char *to, struct error *why, struct error *err)
{
	struct error own = ERROR_INIT;
	uint64_t before;

	if (!is_elf(from, &before))
		return error_set(err, ERR_CORRUPT, "cannot strip '%s': it is no ELF file", from);
	if (file_copy(from, to, 0755, err) < 0)
		return -1;
	if (run_strip(program, to, &own) == 0)
		return check_stripped(program, from, to, before, err) < 0 ? -1 : 1;
	if (error_is_no_answer(&own))
		return error_move(err, &own);
	if (why->code)
		error_release(&own);
	else
		error_move(why, &own);
	return 0;
}

/* Whether what is loaded is as before. */
static bool is_safe(const char *from, const char *to)
{
	struct strip_facts f = {0};
	bool safe = elf_strip_compare(from, to, &f, NULL) == 0 && f.faults.n == 0;

	strip_facts_release(&f);
	return safe;
}

/* The first result that loads as the file did; where there is none, the first one at all: the gate
 * strip-safe says what is wrong with it. 1: there is a result in `temporary`. */
static int strip_with(const struct strv *programs, const char *from, const char *temporary,
	struct error *first, struct error *err)
{
	auto_free char *unsafe = xasprintf("%s-unsafe", temporary);
	bool has_unsafe = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < programs->n; i++) {
		r = try_strip(programs->v[i], from, temporary, first, err);
		if (r <= 0 || is_safe(from, temporary))
			continue;
		r = 0;
		if (!has_unsafe && file_rename(temporary, unsafe, err) < 0)
			return -1;
		has_unsafe = true;
	}
	if (r == 0 && has_unsafe)
		return file_rename(unsafe, temporary, err) < 0 ? -1 : 1;
	if (has_unsafe)
		(void)unlink(unsafe);
	return r;
}

int release_strip(const char *from, const char *to, const char *own, struct error *err)
{
	auto_free char *temporary = xasprintf("%s.strip", to);
	auto_strv struct strv programs = STRV_INIT;
	struct error first = ERROR_INIT;
	int r;

	if (find_strips(own, elf_by_bolt(from), &programs, err) < 0)
		return -1;
	r = strip_with(&programs, from, temporary, &first, err);
	if (r == 0)
		error_move(err, &first);
	error_release(&first);
	r = r > 0 ? file_rename(temporary, to, err) : -1;
	if (r < 0)
		(void)unlink(temporary);
	return r;
}
