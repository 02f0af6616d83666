#include "cli/build_view.h"

#include <stdio.h>

bool build_view_asked(const struct build_view *v)
{
	return v->log;
}

void build_view_show(
	const struct build_view *v, const struct cli *cli, const struct compile_logs *l)
{
	if (!v->log)
		return;
	if (cli->json) {
		auto_json json_t *j = compile_logs_json(l);

		json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
	} else {
		auto_buf struct buf text = BUF_INIT;

		compile_logs_text(l, &text);
		fputs(buf_str(&text), stdout);
	}
}
