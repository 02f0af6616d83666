/* What a later build learns of the earlier ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "store/history.h"

struct fixture {
	char folder[32];
	char *tree;
	struct store store;
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	memcpy(f->folder, "/tmp/whet-history-XXXXXX", sizeof("/tmp/whet-history-XXXXXX"));
	assert_non_null(mkdtemp(f->folder));
	f->tree = path_join(f->folder, "tree");
	assert_int_equal(dir_create(f->tree, 0755, NULL), 0);
	f->store = (struct store){.root = path_join(f->folder, "state"), .lock_fd = -1};
	assert_int_equal(dir_create(f->store.root, 0755, NULL), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(tree_remove(f->folder, NULL), 0);
	free(f->store.root);
	free(f->tree);
	free(f);
	return 0;
}

static void put(const struct fixture *f, const char *name, const char *text)
{
	auto_free char *path = path_join(f->tree, name);

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

static struct source_tree scan(const struct fixture *f)
{
	struct source_tree t;

	assert_int_equal(source_scan(f->tree, &(struct source_rules){0}, NULL, &t, NULL), 0);
	return t;
}

static void expect_change(const struct fixture *f, const char *digest, size_t n, const char *first)
{
	struct source_tree now = scan(f);
	struct history_change c;

	assert_true(history_changed_sources(&f->store, digest, &now, &c));
	assert_int_equal(c.n, n);
	if (first)
		assert_string_equal(c.first, first);
	else
		assert_null(c.first);
	free(c.first);
	source_tree_release(&now);
}

static void test_sources(void **state)
{
	struct fixture *f = *state;
	struct source_tree then, now;
	struct history_change c;

	put(f, "a", "1");
	put(f, "b c", "2");
	put(f, "d", "3");
	then = scan(f);
	assert_int_equal(history_keep_sources(&f->store, &then, NULL), 0);
	expect_change(f, then.digest, 0, NULL);
	put(f, "b c", "other");
	expect_change(f, then.digest, 1, "b c");
	put(f, "new", "4");
	expect_change(f, then.digest, 2, "b c");
	put(f, "a0", "5");
	expect_change(f, then.digest, 3, "a0");
	{
		auto_free char *gone = path_join(f->tree, "a");

		assert_int_equal(unlink(gone), 0);
	}
	expect_change(f, then.digest, 4, "a");

	now = scan(f);
	assert_false(history_changed_sources(&f->store, now.digest, &now, &c));
	source_tree_release(&now);
	source_tree_release(&then);
}

static void test_damaged_list(void **state)
{
	static const char *const bad[] = {"x", "short\0", "\0"};
	struct fixture *f = *state;
	struct source_tree t;
	struct history_change c;
	auto_free char *path = NULL;

	put(f, "a", "1");
	t = scan(f);
	assert_int_equal(history_keep_sources(&f->store, &t, NULL), 0);
	path = xasprintf("%s/sources/%s", f->store.root, t.digest);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(
			file_write_atomic(path, bad[i], strlen(bad[i]) + (i > 0), 0644, NULL), 0);
		assert_false(history_changed_sources(&f->store, t.digest, &t, &c));
	}
	source_tree_release(&t);
}

static void commit(const struct fixture *f, const char *key, const char *kind, const char *mark)
{
	auto_json json_t *record =
		json_pack("{s:s, s:s, s:s}", "kind", kind, "variant", "plain", "mark", mark);
	auto_free char *folder = NULL, *output = NULL;

	assert_int_equal(store_node_begin(&f->store, key, &folder, NULL), 0);
	output = path_join(folder, "output");
	assert_int_equal(file_write_atomic(output, mark, strlen(mark), 0644, NULL), 0);
	assert_int_equal(store_node_commit(&f->store, key, record, NULL), 0);
}

static void test_nodes(void **state)
{
	struct fixture *f = *state;
	auto_json json_t *newest = NULL;
	auto_free char *output = NULL, *record = NULL;

	assert_null(history_newest(&f->store, "build", "plain"));
	assert_int_equal(history_node_state(&f->store, "k1"), NODE_ABSENT);
	commit(f, "k1", "build", "first");
	commit(f, "k0", "build", "second");
	commit(f, "k2", "train", "third");
	newest = history_newest(&f->store, "build", "plain");
	assert_non_null(newest);
	assert_string_equal(json_string_value(json_object_get(newest, "mark")), "second");
	assert_null(history_newest(&f->store, "build", "optimised"));
	assert_int_equal(history_node_state(&f->store, "k1"), NODE_COMPLETE);

	output = xasprintf("%s/nodes/k1/output", f->store.root);
	assert_int_equal(file_write_atomic(output, "?", 1, 0644, NULL), 0);
	assert_int_equal(history_node_state(&f->store, "k1"), NODE_DAMAGED);
	record = xasprintf("%s/nodes/k1/node.json", f->store.root);
	assert_int_equal(unlink(record), 0);
	assert_int_equal(history_node_state(&f->store, "k1"), NODE_UNFINISHED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sources, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged_list, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nodes, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
