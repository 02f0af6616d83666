/* Whether a linker did what it was told. An exit code does not say: lld passes over names that it
 * does not know, gold over sections, and a linker behind a script of the project's own may see
 * nothing of the option. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/order.h"

#define EXAMPLES 10

struct place {
	const char *name;
	uint64_t at, size;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct place *)a)->name, ((const struct place *)b)->name);
}

/* The functions of the binary by name; of several of one name (local ones) none is told from the
 * others, so none is judged. */
static size_t index_names(const struct elf_calls *c, struct place *v)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < c->n; i++)
		v[n++] = (struct place){c->v[i].name, c->v[i].at, c->v[i].size};
	if (n)
		qsort(v, n, sizeof(*v), by_name);
	for (size_t i = 0; i < n; i++) {
		bool twin = (i && strcmp(v[i - 1].name, v[i].name) == 0) ||
			    (i + 1 < n && strcmp(v[i].name, v[i + 1].name) == 0);

		if (!twin)
			v[kept++] = v[i];
	}
	return kept;
}

/* The listed ones that are there, in the order of the list. */
static size_t look_up(
	const struct elf_calls *c, char *list, struct function_order *o, struct place *ret)
{
	auto_free struct place *names = xcalloc(c->n + 1, sizeof(*names));
	size_t n = index_names(c, names), found = 0;
	char *save = NULL;

	for (char *line = strtok_r(list, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const struct place key = {.name = line};
		const struct place *p = n ? bsearch(&key, names, n, sizeof(key), by_name) : NULL;

		o->listed++;
		if (p)
			ret[found++] = *p;
		else if (o->missing.n < EXAMPLES)
			strv_add(&o->missing, line);
	}
	return found;
}

/* The longest run of functions whose addresses rise, others in between left out: marks them. */
static size_t rising(const struct place *v, size_t n, bool *in)
{
	auto_free size_t *before = xcalloc(n + 1, sizeof(*before));
	auto_free size_t *ends =
		xcalloc(n + 1, sizeof(*ends)); /* ends[k]: of the best run of k + 1 */
	size_t most = 0;

	for (size_t i = 0; i < n; i++) {
		size_t low = 0, high = most;

		while (low < high) {
			size_t mid = low + (high - low) / 2;

			if (v[ends[mid]].at < v[i].at)
				low = mid + 1;
			else
				high = mid;
		}
		before[i] = low ? ends[low - 1] : n;
		ends[low] = i;
		if (low == most)
			most++;
	}
	for (size_t i = most ? ends[most - 1] : n; i < n; i = before[i])
		in[i] = true;
	return most;
}

static void judge(const struct place *v, size_t n, struct function_order *o)
{
	auto_free bool *in = xcalloc(n + 1, sizeof(*in));
	uint64_t first = 0, end = 0;

	o->present = n;
	o->placed = rising(v, n, in);
	for (size_t i = 0; i < n; i++) {
		o->bytes += v[i].size;
		if (!in[i] && o->astray.n < EXAMPLES)
			strv_add(&o->astray, v[i].name);
		if (!in[i])
			continue;
		first = end ? first : v[i].at;
		end = v[i].at + v[i].size;
	}
	o->span = end - first;
}

int order_check(const char *binary, struct function_order *o, struct error *err)
{
	auto_buf struct buf text = BUF_INIT;
	auto_free struct place *found = NULL;
	struct elf_calls c = {0};

	if (file_read(o->file, 0, &text, err) < 0 || elf_calls_read(binary, &c, err) < 0)
		return -1;
	found = xcalloc(c.n + 1, sizeof(*found));
	if (text.n)
		judge(found, look_up(&c, text.p, o, found), o);
	elf_calls_release(&c);
	return 0;
}
