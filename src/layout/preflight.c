/* Is a linked file fit for llvm-bolt? */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "layout/internal.h"

#define SPLIT_NAMES 8

static void take_facts(struct elf_layout *l, struct layout_input *ret)
{
	ret->machine = take_ptr(l->machine);
	ret->build_id = take_ptr(l->build_id);
	ret->relocations = l->relocations;
	ret->symbols = l->symbols;
	ret->debug = l->debug;
	ret->bolted = l->bolted;
	ret->instrumented = l->instrumented;
	ret->is_static = l->is_static;
	ret->bytes = l->bytes;
	ret->text_bytes = l->text_bytes;
	ret->functions = l->functions;
	ret->split_functions = l->split.n;
	for (size_t i = 0; i < l->split.n && i < SPLIT_NAMES; i++)
		strv_add(&ret->split_names, l->split.v[i]);
}

static void __attribute__((format(printf, 2, 3))) add(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	buf_adds(b, "\n  ");
	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
}

static void find_obstacles(const struct layout_input *i, bool linked, struct buf *b)
{
	if (!linked)
		add(b, "it is neither a program nor a shared object: name the linked file");
	if (strcmp(i->machine, "x86_64") != 0 && strcmp(i->machine, "aarch64") != 0)
		add(b,
			"its machine is %s; llvm-bolt lays out x86_64 and aarch64: build without "
			"layout for this target",
			i->machine);
	if (i->instrumented)
		add(b, "llvm-bolt has instrumented it: take the file as the linker made it");
	else if (i->bolted)
		add(b, "llvm-bolt has laid it out already (section .note.bolt_info), and does it "
		       "once only: take the file as the linker made it, and let the project's own "
		       "build not call llvm-bolt");
	if (!i->symbols)
		add(b, "it has no symbol table (stripped): link it without -s (rustc: "
		       "strip=\"none\"), and strip after the layout");
	if (!i->relocations)
		add(b, "it has no relocations of its code, and without them llvm-bolt moves no "
		       "function and ends with exit code 0: link it with -Wl,--emit-relocs "
		       "(-Wl,-q)");
	if (i->text_bytes == 0)
		add(b, "it has no code");
}

/* In MiB, rounded up. */
static uint64_t mib(uint64_t bytes)
{
	return (bytes >> 20) + ((bytes & ((1u << 20) - 1)) != 0);
}

static int check_memory(const struct layout_tool *t, const struct layout_input *i, bool instrument,
	struct error *err)
{
	uint64_t need = bolt_memory_need(t, i, instrument);

	if (need <= i->memory_have)
		return 0;
	return error_set(err, ERR_ENVIRONMENT,
		"%s needs about %" PRIu64 " MiB of memory to %s %" PRIu64
		" KiB of code, and %s is %" PRIu64 " MiB; give it more, or %s",
		t->version, mib(need), instrument ? "instrument" : "lay out", i->text_bytes >> 10,
		i->memory_limit ? i->memory_limit : "its limit", mib(i->memory_have),
		instrument ? "lay out by samples of perf, which takes about half"
			   : "build without layout");
}

int layout_preflight(const struct layout_tool *t, const char *binary, struct layout_input *ret,
	struct error *err)
{
	auto_buf struct buf why = BUF_INIT;
	struct elf_layout l = {0};

	memset(ret, 0, sizeof(*ret));
	if (elf_layout_read(binary, &l, NULL, err) < 0)
		return -1;
	take_facts(&l, ret);
	ret->memory_have = memory_available(&ret->memory_limit);
	ret->memory_need = bolt_memory_need(t, ret, true);
	find_obstacles(ret, l.linked, &why);
	elf_layout_release(&l);
	if (why.n)
		return error_set(err, ERR_UNSUPPORTED, "'%s' cannot be laid out by %s:%s", binary,
			t->version, buf_str(&why));
	if (check_memory(t, ret, false, err) < 0)
		return error_context(err, "'%s'", binary);
	return 0;
}

int layout_can_instrument(
	const struct layout_tool *t, const struct layout_input *i, struct error *err)
{
	if (!t->runtime)
		return error_set(err, ERR_ENVIRONMENT,
			"%s ('%s') has no instrumentation runtime (libbolt_rt_instr.a) beside it; "
			"install it (Debian: 'libbolt-%d-dev'), or lay out by samples of perf",
			t->version, t->bolt, t->major);
	if (i->is_static)
		return error_set(err, ERR_UNSUPPORTED,
			"it is linked statically, and what llvm-bolt puts into such a program "
			"writes no profile at its end; link it dynamically, or lay out by samples "
			"of perf");
	return check_memory(t, i, true, err);
}

void layout_remarks(const struct layout_input *i, struct strv *ret)
{
	if (i->split_functions) {
		auto_free char *names = strv_join(&i->split_names, ", ");

		strv_addf(ret,
			"%" PRIu64 " of %" PRIu64 " functions were split by the compiler (%s%s): "
			"llvm-bolt leaves most of these "
			"as they are; compile with -fno-reorder-blocks-and-partition (gcc) or "
			"without "
			"-fsplit-machine-functions (clang) to have them laid out, too",
			i->split_functions, i->functions, names,
			i->split_functions > i->split_names.n ? ", …" : "");
	}
	if (!i->build_id)
		strv_add(ret,
			"it has no build id: a profile is tied to it by its content instead; link "
			"with -Wl,--build-id so that perf can tell it, too");
	if (i->memory_need > i->memory_have / 2)
		strv_addf(ret,
			"to instrument it llvm-bolt needs about %" PRIu64
			" MiB of memory, more than half of what there is",
			mib(i->memory_need));
}
