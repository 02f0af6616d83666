/* whet-order LINKED MAP COUNTS SAID FOLDER RESULT: writes the file by which the linker that made
 * LINKED places functions in order, and to RESULT a line each: the list of the functions, and the
 * words for the link. Started by whet-shim. Exit code 3: this link can have no order; RESULT says
 * why. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "wrap/linkmap.h"
#include "wrap/order.h"

/* A name by content; caller frees. */
static char *put(
	const char *folder, const char *suffix, const struct buf *content, struct error *err)
{
	char hex[SHA256_HEX];
	struct sha256 h;
	auto_free char *path = NULL;

	sha256_begin(&h);
	sha256_add(&h, buf_str(content), content->n);
	sha256_end(&h, hex);
	path = xasprintf("%s/%s%s", folder, hex, suffix);
	if (file_write_atomic(path, buf_str(content), content->n, 0644, err) < 0)
		return NULL;
	return take_ptr(path);
}

static int write_result(const char *path, const struct strv *lines, struct error *err)
{
	auto_free char *text = strv_join(lines, "\n");

	return file_write_atomic(path, text, strlen(text), 0644, err);
}

static int read_linker(const char *path, struct map_inputs *ret, struct error *err)
{
	auto_buf struct buf text = BUF_INIT;

	if (file_read(path, 0, &text, err) < 0)
		return -1;
	return linkmap_parse(buf_str(&text), ret, err);
}

static int write_files(const char *linker, const char *said, const struct elf_calls *c,
	const struct order_weights *w, char **argv, struct error *err)
{
	auto_free uint32_t *order = xcalloc(c->n + 1, sizeof(*order));
	auto_strv struct strv lines = STRV_INIT;
	auto_buf struct buf names = BUF_INIT;
	auto_free char *file = NULL, *list = NULL;
	struct order_words o = {0};
	size_t n = order_functions(c, w, order);
	int r = -1;

	if (!c->n)
		return error_set(err, ERR_UNSUPPORTED,
			"the linked file has no symbols (is it linked with -s?); let the release "
			"strip it: release.strip");
	if (order_for_linker(linker, said, c, order, n, &o, err) < 0)
		return -1;
	for (size_t i = 0; i < o.listed.n; i++)
		buf_addf(&names, "%s\n", o.listed.v[i]);
	list = put(argv[5], ".functions", &names, err);
	file = list ? put(argv[5], o.suffix, &o.content, err) : NULL;
	if (file) {
		order_name_file(linker, file, &o);
		strv_add(&lines, list);
		if (o.listed.n) /* else it stays the link that it is */
			strv_add_all(&lines, &o.words);
		r = write_result(argv[6], &lines, err);
	}
	order_words_release(&o);
	return r;
}

static int make(char **argv, struct error *err)
{
	auto_buf struct buf said = BUF_INIT;
	struct map_inputs map = {0};
	struct order_weights w = {0};
	struct elf_calls c = {0};
	int r = -1;

	if (read_linker(argv[2], &map, err) == 0 && file_read(argv[4], 0, &said, err) == 0 &&
		order_weights_read(argv[3], &w, err) == 0 && elf_calls_read(argv[1], &c, err) == 0)
		r = write_files(map.linker, buf_str(&said), &c, &w, argv, err);
	map_inputs_release(&map);
	order_weights_release(&w);
	elf_calls_release(&c);
	return r;
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	auto_strv struct strv why = STRV_INIT;
	int ret = 3;

	if (argc != 7) {
		fprintf(stderr, "whet-order: expected LINKED MAP COUNTS SAID FOLDER RESULT\n");
		return 2;
	}
	if (make(argv, &err) == 0)
		return 0;
	strv_add(&why, err.msg);
	if (write_result(argv[6], &why, NULL) < 0)
		ret = 1;
	error_release(&err);
	return ret;
}
