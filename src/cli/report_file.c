#include "cli/report_file.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

static const char *ending(const char *path)
{
	static const char *const known[] = {".html", ".md", ".json"};
	const char *dot = strrchr(path_basename(path), '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(known); i++)
		if (strcmp(dot, known[i]) == 0)
			return known[i];
	return NULL;
}

int report_file_check(const char *path, struct error *err)
{
	if (!path || ending(path))
		return 0;
	return error_set(err, ERR_USAGE,
		"--report takes a file whose name ends in .html, .md or .json, not '%s'", path);
}

int report_file_write(const struct report *r, const char *path, struct error *err)
{
	auto_buf struct buf text = BUF_INIT;
	auto_json json_t *j = NULL;

	if (strcmp(ending(path), ".json") == 0) {
		j = report_json(r);
		return json_write_file(j, path, err);
	}
	if (strcmp(ending(path), ".html") == 0)
		report_html(r, &text);
	else
		report_markdown(r, &text);
	return file_write_atomic(path, buf_str(&text), text.n, 0644, err);
}

int report_file_copy(const char *dist, const char *path, struct error *err)
{
	auto_free char *name = xasprintf("report%s", ending(path));
	auto_free char *from = path_join(dist, name);

	return file_copy(from, path, 0644, err);
}
