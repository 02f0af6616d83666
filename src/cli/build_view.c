#include "cli/build_view.h"

#include <stdio.h>

#include "pipeline/pipeline.h"
#include "report/compile_commands.h"
#include "report/link_graph.h"

bool build_view_prints(const struct build_view *v)
{
	return v->log || v->links;
}

bool build_view_needs_logs(const struct build_view *v)
{
	return build_view_prints(v) || v->commands;
}

static void print_json(const struct build_view *v, const struct compile_logs *l)
{
	auto_json json_t *o = v->log ? compile_logs_json(l) : json_object();

	if (v->links)
		json_object_set_new(o, "links", link_graph_json(l));
	json_dumpf(o, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
}

static void print_text(const struct build_view *v, const struct compile_logs *l)
{
	auto_buf struct buf text = BUF_INIT;

	if (v->log)
		compile_logs_text(l, &text);
	if (v->links) {
		buf_adds(&text, text.n ? "\n" : "");
		link_graph_text(l, &text);
	}
	fputs(buf_str(&text), stdout);
}

static int write_commands(const struct build_view *v, const struct compile_logs *l)
{
	struct error err = ERROR_INIT;
	auto_json json_t *list = compile_commands_json(l, &err);

	if (!list || pipeline_note_written(v->state, v->commands, &err) < 0 ||
		json_write_file(list, v->commands, &err) < 0)
		return cli_fail(&err);
	return 0;
}

int build_view_show(const struct build_view *v, const struct cli *cli, const struct compile_logs *l)
{
	if (build_view_prints(v) && cli->json)
		print_json(v, l);
	else if (build_view_prints(v))
		print_text(v, l);
	fflush(stdout);
	return v->commands ? write_commands(v, l) : 0;
}
