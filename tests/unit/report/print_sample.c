/* print-sample release|labelled|hostile html|markdown: for the tests in a browser. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sample.h"

int main(int argc, char **argv)
{
	static const char *const kinds[] = {"release", "labelled", "hostile"};
	auto_buf struct buf out = BUF_INIT;
	struct report r = {0};
	size_t kind = 0;

	while (argc == 3 && kind < ARRAY_SIZE(kinds) && strcmp(argv[1], kinds[kind]) != 0)
		kind++;
	if (argc != 3 || kind == ARRAY_SIZE(kinds)) {
		fprintf(stderr, "usage: print-sample release|labelled|hostile html|markdown\n");
		return 2;
	}
	sample_report(&r, (enum sample_kind)kind);
	if (strcmp(argv[2], "html") == 0)
		report_html(&r, &out);
	else
		report_markdown(&r, &out);
	report_release(&r);
	return fwrite(buf_str(&out), 1, out.n, stdout) == out.n && fflush(stdout) == 0 ? 0 : 1;
}
