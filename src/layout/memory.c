/* Memory: what llvm-bolt needs, and what there is. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "layout/internal.h"

#define MIB ((uint64_t)1 << 20)
/* Peaks measured (docs/layout.md) of llvm-bolt on programs with 2.5, 9.4 and 32.3 MB of code, in
 * bytes for each byte of code: to instrument, 240 to 280 (LLVM 19, 22) and 320 to 330 (16); to lay
 * out, 100 to 140 when most functions have a profile, and 250 by LLVM 16 when the compiler split
 * functions, for then it looks at all of them. */
#define FIXED (150 * MIB)

static uint64_t per_byte(const struct layout_tool *t, const struct layout_input *i, bool instrument)
{
	bool old = t->major < 18;

	if (instrument)
		return old ? 340 : 290;
	return old && i->split_functions ? 260 : 150;
}

uint64_t bolt_memory_need(
	const struct layout_tool *t, const struct layout_input *i, bool instrument)
{
	uint64_t n;

	if (__builtin_mul_overflow(i->text_bytes, per_byte(t, i, instrument), &n) ||
		__builtin_add_overflow(n, FIXED, &n))
		return UINT64_MAX;
	return n;
}

static void lower(uint64_t v, uint64_t *least, char **limit, const char *name)
{
	if (v >= *least)
		return;
	*least = v;
	free(*limit);
	*limit = xstrdup(name);
}

/* "MemAvailable:   123 kB" of /proc/meminfo, which has a swap line of its own. */
static uint64_t meminfo(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	unsigned long long kib;

	return at && sscanf(at + strlen(key), " %llu", &kib) == 1 ? (uint64_t)kib << 10 : 0;
}

static void look_at_machine(uint64_t *least, char **limit)
{
	auto_buf struct buf text = BUF_INIT;

	if (file_read("/proc/meminfo", 1 << 20, &text, NULL) == 0 &&
		strstr(buf_str(&text), "MemAvailable:"))
		lower(meminfo(buf_str(&text), "MemAvailable:") +
				meminfo(buf_str(&text), "SwapFree:"),
			least, limit, "the memory that is free on this machine");
}

/* A number in a file of one line; UINT64_MAX: "max", or no such file. */
static uint64_t read_limit(const char *folder, const char *name)
{
	auto_free char *path = path_join(folder, name);
	auto_buf struct buf text = BUF_INIT;
	unsigned long long v;

	if (file_read(path, 4096, &text, NULL) < 0 || sscanf(buf_str(&text), "%llu", &v) != 1)
		return UINT64_MAX;
	return v;
}

/* Page cache counts as use, and goes when memory is wanted. */
static uint64_t cache_of(const char *folder)
{
	auto_free char *path = path_join(folder, "memory.stat");
	auto_buf struct buf text = BUF_INIT;
	const char *at;
	unsigned long long v;

	if (file_read(path, 1 << 20, &text, NULL) < 0)
		return 0;
	at = strstr(buf_str(&text), "inactive_file ");
	return at && sscanf(at, "inactive_file %llu", &v) == 1 ? v : 0;
}

static void look_at_cgroup(const char *folder, uint64_t *least, char **limit)
{
	uint64_t max = read_limit(folder, "memory.max"), used;

	if (max == UINT64_MAX)
		return;
	used = read_limit(folder, "memory.current");
	if (used == UINT64_MAX)
		used = 0;
	used -= cache_of(folder) < used ? cache_of(folder) : used;
	lower(max > used ? max - used : 0, least, limit, "the memory limit of its cgroup");
}

/* Every group above has its own limit (cgroup v2: the line "0::/path" of /proc/self/cgroup). */
static void look_at_cgroups(uint64_t *least, char **limit)
{
	auto_buf struct buf text = BUF_INIT;
	const char *at;
	auto_free char *path = NULL;

	if (file_read("/proc/self/cgroup", 1 << 20, &text, NULL) < 0)
		return;
	at = strstr(buf_str(&text), "0::/");
	if (!at)
		return;
	path = xasprintf("/sys/fs/cgroup%.*s", (int)strcspn(at + 3, "\n"), at + 3);
	for (char *end = path + strlen(path); path_is_below(path, "/sys/fs/cgroup");) {
		look_at_cgroup(path, least, limit);
		end = strrchr(path, '/');
		if (!end || end == path)
			return;
		*end = 0;
	}
}

uint64_t memory_available(char **limit)
{
	uint64_t least = UINT64_MAX;
	struct rlimit r;

	*limit = NULL;
	look_at_machine(&least, limit);
	look_at_cgroups(&least, limit);
	if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY)
		lower(r.rlim_cur, &least, limit,
			"the limit on a process's address space (ulimit -v)");
	return least;
}
