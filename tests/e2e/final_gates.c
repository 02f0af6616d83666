/* The gates of the shipped file on any files: final-gates BEFORE LAID-OUT [STRIPPED]. Prints their
 * verdicts; exit code 1 when one fails. With "plain:" in front of BEFORE it is another build, and
 * not the same code before its layout. */
#include <stdio.h>
#include <string.h>

#include "elf/elf_strip.h"
#include "elf/elf_unwind.h"
#include "gate/gate.h"

static int ask(const char *name, const struct gate_facts *f)
{
	struct verdicts vs = {0};
	bool failed;

	gate_find(name)->fn(f, &vs);
	failed = verdicts_failed(&vs);
	for (size_t i = 0; i < vs.n; i++)
		printf("%s: %s: %s\n%s%s", vs.v[i].gate, verdict_state_name(vs.v[i].state),
			vs.v[i].summary, vs.v[i].evidence, *vs.v[i].evidence ? "\n" : "");
	verdicts_release(&vs);
	return failed;
}

int main(int argc, char **argv)
{
	static const char plain[] = "plain:";
	struct unwind_facts before = {0}, after = {0};
	struct strip_facts strip = {0};
	struct error err = ERROR_INIT;
	const char *name = argc > 2 ? argv[2] : NULL, *first = argc > 1 ? argv[1] : NULL;
	struct gate_facts f = {.unwind_before = &before,
		.unwind = &after,
		.strips = &strip,
		.final_names = &name,
		.n_final = 1};
	int failed;

	if (argc < 3) {
		fprintf(stderr, "usage: final-gates [plain:]BEFORE LAID-OUT [STRIPPED]\n");
		return 2;
	}
	f.laid_out = strncmp(first, plain, strlen(plain)) != 0;
	if (!f.laid_out)
		first += strlen(plain);
	if (elf_unwind_read(first, &before, &err) < 0 || elf_unwind_read(name, &after, &err) < 0 ||
		(argc > 3 && elf_strip_compare(name, argv[3], &strip, &err) < 0)) {
		fprintf(stderr, "%s\n", err.msg);
		error_release(&err);
		return 3;
	}
	failed = ask("unwind", &f) | ask("strip-safe", &f);
	unwind_facts_release(&before);
	unwind_facts_release(&after);
	strip_facts_release(&strip);
	return failed;
}
