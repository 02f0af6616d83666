/* whet-evidence RECORD MAP RESULT: reads a compile record and the linker map of its link, hashes
 * the objects that were loaded and writes the complete record. Started by whet-shim after a link.
 */
#include <stdio.h>
#include <string.h>

#include <sys/resource.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "elf/elf_facts.h"
#include "wrap/evidence.h"
#include "wrap/order.h"
#include "wrap/shim.h"

/* A map that cannot be read is written down, so that the gates see it; only a record that cannot be
 * written is a failure. */
static void collect(struct compile_record *r, const char *map_path, const char *kept)
{
	auto_buf struct buf text = BUF_INIT;
	struct map_inputs map = {0};
	struct error err = ERROR_INIT;

	if (file_read(map_path, 0, &text, &err) < 0 ||
		linkmap_parse(buf_str(&text), &map, &err) < 0 ||
		evidence_collect(r, &map, kept, &err) < 0)
		r->map_error = xstrdup(err.msg);
	r->linker = xstrdup(map.linker);
	r->text = map.text;
	map_inputs_release(&map);
	error_release(&err);
}

/* What a later step may not change any more (strip does not): the file that ships is compared. */
static void note_code(struct compile_record *r)
{
	char hex[SHA256_HEX];

	if (r->kind != CALL_PARTIAL_LINK && r->output && elf_text_hash(r->output, hex, NULL) == 0)
		r->text_hash = xstrdup(hex);
}

/* What cannot be read is placed nowhere. */
static void note_order(struct compile_record *r)
{
	struct error err = ERROR_INIT;

	if (!r->functions.file || r->functions.why || !r->output)
		return;
	if (order_check(r->output, &r->functions, &err) < 0)
		r->functions.why = xstrdup(err.msg);
	error_release(&err);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct compile_record r = {0};
	int ret = 0;

	if (argc != 4) {
		fprintf(stderr, "whet-evidence: expected RECORD MAP RESULT\n");
		return 2;
	}
	if (compile_record_read(argv[1], &r, &err) == 0) {
		auto_free char *folder = path_dirname(argv[3]);
		auto_free char *kept = xasprintf("%s/" KEPT_OBJECTS, folder, r.id);

		collect(&r, argv[2], kept);
		note_code(&r);
		note_order(&r);
	}
	r.own_cpu_ns += clock_usage_ns(RUSAGE_SELF);
	if (err.code || compile_record_write(&r, argv[3], &err) < 0) {
		fprintf(stderr, "whet: %s\n", err.msg ? err.msg : "failed");
		ret = error_exit_code(err.code);
	}
	compile_record_release(&r);
	error_release(&err);
	return ret;
}
