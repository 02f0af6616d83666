#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gate/rules.h"

/* The structural hash of every function of one basic block. */
#define SINGLE_BLOCK_HASH 0x0a4d0ad3efffffffULL

/* Local functions are keyed path;name, before LLVM 18 path:name. */
static const char *split_key(const char *key, size_t *path_n)
{
	const char *at = strchr(key, ';');

	if (!at)
		at = strrchr(key, ':');
	*path_n = at ? (size_t)(at - key) : 0;
	return at ? at + 1 : key;
}

const char *executed_name(const char *key)
{
	size_t ignored;

	return split_key(key, &ignored);
}

/* rustc names the codegen unit, not the source; its mangled names are unique anyway. */
static bool is_codegen_unit(const char *path, size_t n)
{
	return memmem(path, n, "-cgu.", 5) != NULL;
}

static int by_name(const void *a, const void *b)
{
	const struct executed_function *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void executed_of(const struct profile_facts *p, struct executed *ret)
{
	struct executed e = {0};
	size_t cap = 0;

	for (size_t i = 0; p && i < p->n; i++) {
		struct executed_function x = {.key = p->v[i].key, .of = &p->v[i]};

		if (!p->v[i].max_count || p->v[i].second)
			continue;
		x.name = split_key(x.key, &x.path_n);
		x.codegen_unit = is_codegen_unit(x.key, x.path_n);
		x.context = p->v[i].hash & PROFILE_CONTEXT_SENSITIVE;
		x.count = p->v[i].max_count;
		x.gcc = p->gcc_functions && p->v[i].gcc;
		x.single_block = p->v[i].single_block ||
				 (p->v[i].hash & ~PROFILE_CONTEXT_SENSITIVE) == SINGLE_BLOCK_HASH;
		array_reserve(e.v, e.n, cap);
		e.v[e.n++] = x;
	}
	if (e.n)
		qsort(e.v, e.n, sizeof(*e.v), by_name);
	*ret = e;
}

void executed_release(struct executed *e)
{
	free(e->v);
	memset(e, 0, sizeof(*e));
}

/* ---- left out ---- */

static int by_name_and_hash(const void *a, const void *b)
{
	const struct left_out_function *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->hash > y->hash) - (x->hash < y->hash);
}

static void left_out_add(struct left_out *l, const char *name, uint64_t hash)
{
	array_reserve(l->v, l->n, l->cap);
	l->v[l->n++] = (struct left_out_function){name, hash};
}

/* A key goes as a whole, when none of its records has a count. */
void left_out_of(const struct profile_facts *p, struct left_out *ret)
{
	struct left_out l = {.two = p && p->context_sensitive};

	for (size_t i = 0, end; p && p->left_out && i < p->n; i = end) {
		const char *key = p->v[i].key, *name = executed_name(key);
		bool executed = false;

		/* gcc's are never left out: an option tells it what to make of them. */
		for (end = i; end < p->n && strcmp(p->v[end].key, key) == 0; end++)
			executed = executed || (p->v[end].max_count && !p->v[end].gcc);
		for (size_t k = i; !executed && k < end; k++) {
			if (p->v[k].gcc)
				continue;
			left_out_add(&l, key, p->v[k].hash);
			if (name != key)
				left_out_add(&l, name, p->v[k].hash);
		}
	}
	if (l.n)
		qsort(l.v, l.n, sizeof(*l.v), by_name_and_hash);
	*ret = l;
}

void left_out_release(struct left_out *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}

bool left_out_has(const struct left_out *l, const char *name, uint64_t hash)
{
	struct left_out_function wanted = {name, hash};

	return hash && l->n && bsearch(&wanted, l->v, l->n, sizeof(*l->v), by_name_and_hash);
}

static bool is_tail(const char *whole, size_t whole_n, const char *tail, size_t tail_n)
{
	return whole_n >= tail_n && memcmp(whole + whole_n - tail_n, tail, tail_n) == 0 &&
	       (whole_n == tail_n || whole[whole_n - tail_n - 1] == '/');
}

/* Keys may be source-relative while the compiler was given an absolute path, or the reverse. */
static bool same_path(const char *a, size_t a_n, const char *b)
{
	size_t b_n = strlen(b);

	while (a_n > 2 && strncmp(a, "./", 2) == 0) {
		a += 2;
		a_n -= 2;
	}
	while (strncmp(b, "./", 2) == 0) {
		b += 2;
		b_n -= 2;
	}
	return is_tail(a, a_n, b, b_n) || is_tail(b, b_n, a, a_n);
}

bool executed_belongs(const struct executed_function *x, const char *source)
{
	return !x->path_n || !source || x->codegen_unit || same_path(x->key, x->path_n, source);
}

static size_t first_at_least(const struct executed *e, const char *name, size_t n)
{
	size_t low = 0, high = e->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = strncmp(e->v[mid].name, name, n);

		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct executed_function *executed_find(
	const struct executed *e, const char *symbol, const char *source)
{
	/* A local function that became visible for another unit carries a suffix. */
	const char *suffix = strstr(symbol, ".llvm.");
	size_t n = suffix ? (size_t)(suffix - symbol) : strlen(symbol);

	for (size_t i = first_at_least(e, symbol, n); i < e->n; i++) {
		const struct executed_function *x = &e->v[i];

		/* In byte order the name itself comes before longer ones that begin with it. */
		if (strncmp(x->name, symbol, n) != 0 || x->name[n] != '\0')
			return NULL;
		if (executed_belongs(x, source))
			return x;
	}
	return NULL;
}
