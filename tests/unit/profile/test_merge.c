/* Merging many files: any order, any number of threads, in bounded memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "fixture.h"
#include "profile/llvm/raw.h"
#include "profile/model.h"

#define FILES 40

/* Files in a folder of their own. */
struct set {
	char folder[32];
	char *path[FILES];
	struct profile_input in[FILES];
};

static void put(struct set *s, int i, const void *data, size_t n)
{
	struct error err = ERROR_INIT;

	s->path[i] = xasprintf("%s/%02d", s->folder, i);
	if (file_write_atomic(s->path[i], data, n, 0600, &err) < 0)
		fail_msg("%s", err.msg);
	s->in[i] = (struct profile_input){s->path[i], 1 + (uint64_t)i % 3, false};
}

/* Raw profiles of eight binaries and text, all of which share functions. */
static struct set *set_new(void)
{
	static const char *const third[] = {NULL, "three", "four;x"};
	struct set *s = xcalloc(1, sizeof(*s));

	snprintf(s->folder, sizeof(s->folder), "/tmp/test_merge-XXXXXX");
	assert_non_null(mkdtemp(s->folder));
	for (int i = 0; i < FILES; i++) {
		auto_buf struct buf b = BUF_INIT;

		fixture_raw(&(struct fixture){.version = i % 4 ? 10 : 8,
				    .big = i % 5 == 3,
				    .load = (uint64_t)i * 0x1000,
				    .times = 1 + (uint64_t)i * i,
				    .second = third[i % 3],
				    .continuous = i == 7},
			&b);
		if (i % 10 == 9) {
			buf_clear(&b);
			buf_addf(&b,
				":ir\nmain\n17\n4\n%d\n0\n18446744073709551000\n1\n2\n0\n1\n2\n"
				"a/b.c;helper:%d\nnew:7\n1\n1\n1\n8:%d\n\nmain\n18\n1\n%d\n",
				i, i, i, i);
		}
		put(s, i, b.p, b.n);
	}
	return s;
}

static void set_free(struct set *s)
{
	struct error err = ERROR_INIT;

	assert_int_equal(tree_remove(s->folder, &err), 0);
	for (int i = 0; i < FILES; i++)
		free(s->path[i]);
	free(s);
}

/* The merged profile as bytes; NULL when it fails. */
static char *merged(const struct profile_input *in, size_t n, unsigned jobs, size_t *ret_n)
{
	auto_free struct profile_input *own = xreallocarray(NULL, n, sizeof(*own));
	struct error err = ERROR_INIT;
	struct buf b = BUF_INIT;
	struct profile *p;

	memcpy(own, in, n * sizeof(*own));
	p = profile_merge(own, n, jobs, &err);
	if (!p)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(own[i].values_missing, !strcmp(path_basename(own[i].path), "07"));
	assert_int_equal(profile_encode_indexed(p, 13, &b, &err), 0);
	profile_free(p);
	*ret_n = b.n;
	return buf_detach(&b);
}

static void expect_same(const struct profile_input *in, unsigned jobs, const char *want, size_t n)
{
	size_t got_n;
	auto_free char *got = merged(in, FILES, jobs, &got_n);

	assert_int_equal(got_n, n);
	assert_memory_equal(got, want, n);
}

static void test_threads(void **state)
{
	struct set *s = set_new();
	size_t n;
	auto_free char *want = merged(s->in, FILES, 1, &n);

	for (unsigned jobs = 2; jobs <= FILES + 1; jobs++)
		expect_same(s->in, jobs, want, n);
	set_free(s);
}

static void test_order(void **state)
{
	struct set *s = set_new();
	size_t n;
	auto_free char *want = merged(s->in, FILES, 1, &n);
	uint32_t seed = 1;

	for (int round = 0; round < 20; round++) {
		for (uint32_t i = FILES - 1; i > 0; i--) {
			struct profile_input x = s->in[i];
			uint32_t k = (seed = seed * 1103515245 + 12345) / 65536 % (i + 1);

			s->in[i] = s->in[k];
			s->in[k] = x;
		}
		expect_same(s->in, 1 + (unsigned)round % 4, want, n);
	}
	set_free(s);
}

/* The sum of what counters alone can hold: 40 times nearly everything. */
static void test_saturation(void **state)
{
	static const char text[] = ":ir\nf\n1\n2\n18446744073709551000\n3\n";
	static const uint64_t want[] = {18446744073709551613ULL, 3 * 79};
	struct set *s = set_new();

	for (int i = 0; i < FILES; i++) {
		free(s->path[i]);
		put(s, i, text, strlen(text));
	}
	for (unsigned jobs = 1; jobs < 9; jobs++) {
		struct profile *p = profile_merge(s->in, FILES, jobs, NULL);

		assert_non_null(p);
		assert_int_equal(p->n_records, 1);
		assert_memory_equal(p->records[0]->counts, want, sizeof(want));
		profile_free(p);
	}
	set_free(s);
}

/* The first input that does not fit is named, whichever thread came across what. */
static void test_error(void **state)
{
	static const char other[] = ":ir\nmain\n17\n3\n1\n2\n3\n";
	struct set *s = set_new();

	free(s->path[11]);
	put(s, 11, other, strlen(other));
	free(s->path[30]);
	put(s, 30, "", 0);
	for (unsigned jobs = 1; jobs < 9; jobs++) {
		struct error err = ERROR_INIT;

		assert_null(profile_merge(s->in, FILES, jobs, &err));
		assert_non_null(strstr(err.msg, "/11': function 'main' (hash 0x0000000000000011) "
						"has 3 counters here, but 4 in the profiles merged "
						"so far"));
		error_release(&err);
	}
	set_free(s);
}

static size_t layouts_of(const struct profile *p)
{
	size_t n = 0;

	for (const struct layout *l = p->layouts; l; l = l->next)
		n++;
	return n;
}

static void add(struct profile *p, struct fixture *f, uint64_t i)
{
	auto_buf struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;

	f->load = i * 0x1000;
	f->times = i + 1;
	fixture_raw(f, &b);
	if (profile_add_bytes(p, b.p, b.n, 1, NULL, &err) < 0)
		fail_msg("%s", err.msg);
}

/* Every process of a position-independent program has other addresses: after the first few inputs
 * memory stays as it is. */
static void test_bounded_memory(void **state)
{
	static const uint32_t versions[] = {5, 7, 8, 9, 10};

	for (size_t v = 0; v < ARRAY_SIZE(versions) * 4; v++) {
		struct fixture f = {.version = versions[v / 4], .narrow = v & 1, .big = v & 2};
		struct profile *p = profile_new();
		size_t before;

		for (uint64_t i = 0; i < 4; i++)
			add(p, &f, i);
		before = mallinfo2().uordblks;
		for (uint64_t i = 4; i < 400; i++)
			add(p, &f, i);
		assert_int_equal(mallinfo2().uordblks, before);
		assert_int_equal(layouts_of(p), 1);
		assert_int_equal(p->records[0]->counts[0], 400 * 401 / 2);
		profile_free(p);
	}
}

static void test_sparse(void **state)
{
	static const char text[] = ":ir\nf\n1\n2\n0\n0\n\nf\n2\n1\n3\n\ng\n1\n1\n0\n\n"
				   "h\n1\n1\n0\n$1\n0x4\n\ni\n1\n1\n0\n$1\n0\n";
	struct profile *p = profile_new();
	auto_free char *got = NULL;
	struct error err = ERROR_INIT;

	assert_int_equal(profile_add_bytes(p, text, strlen(text), 1, NULL, &err), 0);
	profile_drop_unexecuted(p);
	got = fixture_dump(p);
	assert_string_equal(got, "f 1: 0 0\nf 2: 3\nh 1: 0\n");
	assert_int_equal(p->n_records, 3);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_saturation),
		cmocka_unit_test(test_error),
		cmocka_unit_test(test_bounded_memory),
		cmocka_unit_test(test_sparse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
