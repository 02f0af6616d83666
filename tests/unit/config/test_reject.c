/* Invalid files: the exact messages stand in reject/NAME.expect. */
#include "tests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/keys.h"
#include "config/plan.h"

struct seen {
	size_t n, wrong;
};

static void check_one(struct seen *s, const char *name)
{
	auto_free char *expect_name = xasprintf("%.*sexpect", (int)strlen(name) - 4, name);
	auto_buf struct buf expect = BUF_INIT;
	struct error err = ERROR_INIT;
	struct plan p = {.project = (char *)"untouched"};

	s->n++;
	assert_int_equal(file_read(expect_name, 0, &expect, NULL), 0);
	while (expect.n && expect.p[expect.n - 1] == '\n')
		expect.p[--expect.n] = 0;
	if (!plan_read(name, &p, &err)) {
		print_error("%s: accepted\n", name);
		plan_release(&p);
		s->wrong++;
		return;
	}
	assert_string_equal(p.project, "untouched");
	assert_int_equal(err.code, ERR_CONFIG);
	if (strcmp(err.msg, buf_str(&expect))) {
		print_error("%s: expected\n%s\ngot\n%s\n", name, buf_str(&expect), err.msg);
		s->wrong++;
	}
	error_release(&err);
}

static int on_file(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	size_t n = strlen(path);

	if (n > 5 && !strcmp(path + n - 5, ".yaml"))
		check_one(ctx, path);
	return 0;
}

void test_rejects(void **state)
{
	auto_free char *folder = xasprintf("%s/reject", config_folder);
	struct seen s = {0};

	assert_int_equal(chdir(folder), 0);
	assert_int_equal(tree_walk(".", on_file, &s, NULL), 0);
	assert_true(s.n >= 68);
	assert_int_equal(s.wrong, 0);
}

static int read_buf(const struct buf *b, struct error *err)
{
	char path[] = "/tmp/whet-config-XXXXXX";
	int fd = mkstemp(path), rc;
	struct plan p;

	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, buf_str(b), b->n), 0);
	close(fd);
	rc = plan_read(path, &p, err);
	unlink(path);
	if (!rc)
		plan_release(&p);
	return rc;
}

void test_file_size_limit(void **state)
{
	struct error err = ERROR_INIT;
	auto_buf struct buf b = BUF_INIT;

	while (b.n <= 1 << 20)
		buf_adds(&b, "# a comment that makes the file larger than anyone would write it\n");
	assert_int_equal(read_buf(&b, &err), -1);
	assert_int_equal(err.code, ERR_CONFIG);
	buf_clear(&b);
	buf_adds(&b, "project: [");
	for (int i = 0; i < 100001; i++)
		buf_adds(&b, "a, ");
	buf_adds(&b, "b]\n");
	assert_int_equal(read_buf(&b, &err), -1);
	assert_non_null(strstr(err.msg, "more than 100000"));
	error_release(&err);
}

void test_error_limit(void **state)
{
	struct error err = ERROR_INIT;
	auto_buf struct buf b = BUF_INIT;
	size_t lines = 1;

	for (int i = 0; i < 200; i++)
		buf_addf(&b, "zzzzzzzz%d: 1\n", i);
	assert_int_equal(read_buf(&b, &err), -1);
	for (const char *p = err.msg; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, 51); /* 50 and the line that tells how many more */
	assert_non_null(strstr(err.msg, "and 153 more in "));
	error_release(&err);
}

/* The rows of docs/whet-yaml.md below a table's heading are exactly the keys of the table. */
static void check_table(const struct key_table *t, const char *docs)
{
	auto_free char *heading = xasprintf("\n### `%s`\n", t->name);
	const char *at = strstr(docs, heading);
	auto_free char *section = NULL;
	const char *end;
	size_t rows = 0;

	if (!at)
		fail_msg("docs/whet-yaml.md lacks the heading%s", heading);
	at += strlen(heading);
	end = strstr(at, "\n#");
	section = end ? xstrndup(at, (size_t)(end - at) + 1) : xstrdup(at);
	for (const char *p = section; (p = strstr(p, "\n| `")); p++)
		rows++;
	for (size_t i = 0; i < t->n; i++) {
		const struct key *k = &t->keys[i];
		auto_free char *row = xasprintf("\n| `%s` | %s%s | %s |\n", k->name,
			key_type_name(k), k->required ? ", required" : "", k->doc);

		if (!strstr(section, row))
			fail_msg("docs/whet-yaml.md lacks below '%s' the row%s", t->name, row);
	}
	assert_int_equal(rows, t->n);
}

void test_documentation_has_every_key(void **state)
{
	auto_free char *path = path_join(docs_folder, "whet-yaml.md");
	auto_buf struct buf docs = BUF_INIT;

	assert_int_equal(file_read(path, 0, &docs, NULL), 0);
	for (size_t i = 0; key_tables[i]; i++)
		check_table(key_tables[i], buf_str(&docs));
}
