#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "fixture.h"

static void section_has(
	const char *section, size_t n, const char *gate, const char *label, const char *text)
{
	auto_free char *line = xasprintf("**%s:** %s", label, text);

	if (!memmem(section, n, line, strlen(line)))
		fail_msg("docs/gates.md, section '%s', lacks: %s", gate, line);
}

/* One section "## name" per gate, in the order of the table, with the words of the table. */
void test_docs_and_table_agree(void **state)
{
	auto_buf struct buf b = BUF_INIT;
	const char *at, *next;
	size_t sections = 0;

	assert_int_equal(file_read(GATES_MD, 0, &b, NULL), 0);
	for (at = strstr(buf_str(&b), "\n## "); at; at = next) {
		const char *name = at + 4;
		size_t name_n = strcspn(name, "\n");
		size_t n;

		next = strstr(name, "\n## ");
		n = next ? (size_t)(next - name) : strlen(name);
		if (sections >= n_gates)
			fail_msg("docs/gates.md describes '%.*s', which is no gate", (int)name_n,
				name);
		if (strlen(gates[sections].name) != name_n ||
			memcmp(name, gates[sections].name, name_n) != 0)
			fail_msg("docs/gates.md has '%.*s' where the table has '%s'", (int)name_n,
				name, gates[sections].name);
		section_has(name, n, gates[sections].name, "Checks", gates[sections].meaning);
		section_has(
			name, n, gates[sections].name, "Default", gates[sections].default_bound);
		section_has(name, n, gates[sections].name, "Evidence", "");
		section_has(name, n, gates[sections].name, "Remedy", gates[sections].remedy);
		sections++;
	}
	assert_int_equal(sections, n_gates);
}
