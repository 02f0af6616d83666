/* The same compilation in two builds: found by what it makes, compared word by word. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/scratch.h"
#include "gate/rules.h"

static bool same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static const char *source_of(const struct compile_record *r)
{
	return r->source ? r->source : r->inputs.n ? r->inputs.v[0] : NULL;
}

static bool is_object_link(const struct compile_record *r)
{
	return r->kind == CALL_LINK || r->kind == CALL_PARTIAL_LINK;
}

static int crate_likeness(const struct compile_record *a, const struct compile_record *b)
{
	bool source = same(a->source, b->source) && same(a->crate_type, b->crate_type);
	bool metadata = same(a->metadata, b->metadata);

	if (source && same(a->crate_name, b->crate_name))
		return metadata ? 3 : 2;
	if (a->metadata && metadata)
		return 2;
	return source;
}

/* How well two records pair: 3 the same compilation, 2 and 1 the same one under another identity,
 * 0 not. */
static int likeness(const struct compile_record *a, const struct compile_record *b)
{
	bool source = !is_object_link(a) && source_of(a) && same(source_of(a), source_of(b));

	if (a->kind != b->kind || a->class != b->class)
		return 0;
	if (a->kind == CALL_RUSTC)
		return crate_likeness(a, b);
	if (same(a->output, b->output))
		return is_object_link(a) || source ? 3 : 2;
	return source;
}

static const struct compile_record *counterpart(
	const struct compile_record *r, const struct compile_log *log)
{
	const struct compile_record *best = NULL;
	int best_likeness = 0;

	/* Of equals the last: a repeated compilation replaces the earlier object. */
	for (size_t i = 0; i < log->n; i++) {
		int l = likeness(r, &log->v[i]);

		if (l && l >= best_likeness) {
			best = &log->v[i];
			best_likeness = l;
		}
	}
	return best;
}

static size_t hex_run(const char *s)
{
	size_t n = 0;

	while (isxdigit((unsigned char)s[n]) && !isupper((unsigned char)s[n]))
		n++;
	return n;
}

/* The length of a path up to and with the component behind /whet-tmp/, the TMPDIR of builds; 0: not
 * one. */
static size_t temporary_prefix(const char *path)
{
	static const char mark[] = "/" SCRATCH_TMP "/";
	const char *at = *path == '/' ? strstr(path, mark) : NULL;

	if (!at || strcspn(path, ",=: ") < (size_t)(at - path))
		return 0;
	at += sizeof(mark) - 1;
	return (size_t)(at - path) + strcspn(at, "/");
}

/* The length of "/rustcXXXXXX/", the temporary folder in which rustc links; 0: it is none. */
static size_t rustc_folder(const char *s)
{
	size_t n = strlen("/rustc");

	if (strncmp(s, "/rustc", n) != 0)
		return 0;
	while (isalnum((unsigned char)s[n]))
		n++;
	return n == strlen("/rustcXXXXXX") && s[n] == '/' ? n + 1 : 0;
}

/* Replaces what differs between two equal calls: random temporary names, and cargo's hash of a
 * crate's identity, which same-identity judges. */
static char *normal_word(const char *word)
{
	struct buf b = BUF_INIT;

	while (*word) {
		size_t n = temporary_prefix(word);

		if (n) {
			buf_adds(&b, "/tmp/*");
			word += n;
		} else if (strncmp(word, "/tmp/", 5) == 0) {
			buf_adds(&b, "/tmp/*");
			word += 5;
			word += strcspn(word, "/");
		} else if (rustc_folder(word)) {
			buf_adds(&b, "/rustc*/");
			word += rustc_folder(word);
		} else if (*word == '-' && hex_run(word + 1) == 16) {
			buf_adds(&b, "-*");
			word += 17;
		} else {
			buf_addc(&b, *word++);
		}
	}
	return buf_detach(&b);
}

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* Words that say who a crate is, or how messages look, and not how code is made. */
static bool is_identity_word(const struct compile_record *r, const char *word)
{
	if (r->kind == CALL_RUSTC)
		return starts(word, "-C metadata=") || starts(word, "-C extra-filename=") ||
		       starts(word, "--crate-name ") || starts(word, "--diagnostic-width") ||
		       starts(word, "--color") || starts(word, "--json") ||
		       (r->source && strcmp(word, r->source) == 0);
	return !is_object_link(r) && strv_has(&r->inputs, word);
}

static bool takes_next(const struct compile_record *r, const char *word)
{
	static const char *const rustc[] = {"-C", "-Z", "--crate-name", "--cfg", "--extern", "-L",
		"-l", "--emit", "--check-cfg", "--crate-type", "--out-dir", "--cap-lints",
		"--target", "--codegen", "--diagnostic-width", "--color", "--json"};
	static const char *const cc[] = {"-o", "-I", "-D", "-U", "-include", "-isystem", "-x",
		"-Xlinker", "-Xclang", "-mllvm", "-MF", "-MT", "-MQ", "-L", "-l", "-u", "-target"};
	bool is_rustc = r->kind == CALL_RUSTC;
	const char *const *list = is_rustc ? rustc : cc;
	size_t n = is_rustc ? ARRAY_SIZE(rustc) : ARRAY_SIZE(cc);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i], word) == 0)
			return true;
	}
	return false;
}

/* Options with their values as one word each: "-C opt-level=3". */
static void comparable_words(const struct compile_record *r, struct strv *ret)
{
	for (size_t i = 0; i < r->argv.n; i++) {
		const char *word = r->argv.v[i];
		auto_free char *joined = NULL;

		if (takes_next(r, word) && i + 1 < r->argv.n)
			joined = xasprintf("%s %s", word, r->argv.v[++i]);
		else if (r->kind == CALL_RUSTC && starts(word, "-C") && word[2])
			joined = xasprintf("-C %s", word + 2);
		else
			joined = xstrdup(word);
		if (!is_identity_word(r, joined))
			strv_take(ret, normal_word(joined));
	}
}

static bool ends(const char *s, const char *with)
{
	size_t n = strlen(s), k = strlen(with);

	return n >= k && strcmp(s + n - k, with) == 0;
}

/* What an instrumenting rustc derives from its flag in the linker call that it makes: it links its
 * profiler runtime, holds on to it, and no longer drops sections. A closed list. */
static bool is_derived(const char *word)
{
	static const char *const words[] = {"-u __llvm_profile_runtime",
		"-Wl,-u,__llvm_profile_runtime", "-Wl,--gc-sections",
		/* to a linker without a driver before it */
		"--gc-sections"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return strstr(word, "/libprofiler_builtins-") && ends(word, ".rlib");
}

/* What the rustc call that made this link was told to hand on to its linker, as normal words. */
static void handed_on(
	const struct compile_record *link, const struct compile_log *log, struct strv *ret)
{
	static const char option[] = "-Clink-arg=";

	for (size_t i = 0; i < log->n; i++) {
		const struct strv *added = &log->v[i].added;

		if (strcmp(log->v[i].id, link->parent) != 0)
			continue;
		for (size_t k = 0; k < added->n; k++)
			if (starts(added->v[k], option))
				strv_take(ret, normal_word(added->v[k] + strlen(option)));
	}
}

/* Takes each of these words out once. They come last in a link, behind rustc's own of the same
 * text (-lc). */
static void drop_last(struct strv *words, const struct strv *gone)
{
	for (size_t i = 0; i < gone->n; i++)
		for (size_t k = words->n; k-- > 0;)
			if (strcmp(words->v[k], gone->v[i]) == 0) {
				free(words->v[k]);
				memmove(&words->v[k], &words->v[k + 1],
					(words->n - k) * sizeof(words->v[0]));
				words->n--;
				break;
			}
}

/* The word by which whet told the rustc that made this link how to optimise it, or "". */
static const char *lto_word(const struct compile_record *link, const struct compile_log *log)
{
	for (size_t i = 0; i < log->n; i++)
		for (size_t k = 0; strcmp(log->v[i].id, link->parent) == 0 && k < log->v[i].added.n;
			k++)
			if (starts(log->v[i].added.v[k], "-Clto="))
				return log->v[i].added.v[k];
	return "";
}

/* The words of a link that rustc called, without its own temporary objects (evidence judges what
 * they hold) and, beside an instrumented build, without what rustc derives from the added flags.
 * rlibs: none of them, and not the object that holds on to their symbols, since rustc gives those
 * whose code it has optimised itself to the linker without that code, or not at all; the linker's
 * map has what was linked. */
static void drop_derived(bool beside_instrumented, bool rlibs, struct strv *words)
{
	auto_strv struct strv kept = STRV_INIT;

	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->v[i];

		if (!ends(word, ".rcgu.o") && !(beside_instrumented && is_derived(word)) &&
			!(rlibs && (ends(word, ".rlib") || ends(word, "/rustc*/symbols.o"))))
			strv_add(&kept, word);
	}
	strv_release(words);
	strv_add_all(words, &kept);
}

/* The words of a that b lacks, each as often as it is missing. */
static char *words_missing_from(const struct strv *a, const struct strv *b)
{
	auto_strv struct strv only = STRV_INIT;
	auto_strv struct strv x = STRV_INIT, y = STRV_INIT;
	size_t i = 0, j = 0;

	strv_add_all(&x, a);
	strv_add_all(&y, b);
	strv_sort(&x);
	strv_sort(&y);
	while (i < x.n) {
		int c = j < y.n ? strcmp(x.v[i], y.v[j]) : -1;

		if (c < 0)
			strv_add(&only, x.v[i]);
		i += c <= 0;
		j += c >= 0;
	}
	if (only.n > 6) {
		strv_addf(&only, "… and %zu more", only.n - 6);
		for (size_t k = 6; k + 1 < only.n; k++)
			free(only.v[k]);
		only.v[6] = only.v[only.n - 1];
		only.n = 7;
		only.v[7] = NULL;
	}
	return strv_join(&only, " ");
}

/* A compilation of the optimised build and its counterpart in another one. */
struct two_builds {
	const struct build_facts *optimised, *other;
	bool instrumented; /* the other one is */
};

/* Whether the instrumented link went to another linker because the plan says so: its words are then
 * meant for another program. whet's own links to itself stand for the project's linker. */
static bool has_other_linker(
	const struct compile_record *a, const struct compile_record *b, const struct two_builds *of)
{
	static const char option[] = "-Clinker=";

	if (!b->parent || same(a->tool, b->tool) || !of->instrumented)
		return false;
	for (size_t i = 0; i < of->other->log.n; i++) {
		const struct compile_record *rustc = &of->other->log.v[i];

		if (strcmp(rustc->id, b->parent) != 0)
			continue;
		for (size_t k = 0; k < rustc->added.n; k++)
			if (starts(rustc->added.v[k], option) &&
				!strstr(rustc->added.v[k], "/shim/linker/"))
				return true;
	}
	return false;
}

static bool compare_flags(const struct compile_record *a, const struct compile_record *b,
	const struct two_builds *of, struct pairs *p)
{
	const char *other = of->other->variant;
	auto_strv struct strv x = STRV_INIT, y = STRV_INIT, told = STRV_INIT;
	auto_free char *label = record_label(a);
	bool rlibs;
	size_t at;

	if (has_other_linker(a, b, of))
		return false;
	comparable_words(a, &x);
	comparable_words(b, &y);
	if (a->parent && b->parent) {
		handed_on(b, &of->other->log, &told);
		drop_last(&y, &told);
		rlibs = strcmp(lto_word(a, &of->optimised->log), lto_word(b, &of->other->log)) != 0;
		drop_derived(of->instrumented, rlibs, &x);
		drop_derived(of->instrumented, rlibs, &y);
	}
	at = strv_first_difference(&x, &y);
	if (at == (size_t)-1)
		return false;
	p->flags_differ++;
	auto_free char *mine = words_missing_from(&x, &y);
	auto_free char *theirs = words_missing_from(&y, &x);

	if (!*mine && !*theirs)
		evidence_add(&p->flags, "%s: the same words in another order, from '%s' on", label,
			at < x.n ? x.v[at] : "");
	else
		evidence_add(&p->flags, "%s: optimised has '%s', %s has '%s'", label, mine, other,
			theirs);
	return true;
}

static void compare_identity(const struct compile_record *a, const struct compile_record *b,
	const char *other, struct pairs *p)
{
	const struct {
		const char *what, *mine, *theirs;
	} facts[] = {
		{"crate name", a->crate_name, b->crate_name},
		{"-C metadata", a->metadata, b->metadata},
		{"crate type", a->crate_type, b->crate_type},
		{"source", is_object_link(a) ? NULL : source_of(a),
			is_object_link(b) ? NULL : source_of(b)},
		{"output", a->kind == CALL_RUSTC ? NULL : a->output,
			b->kind == CALL_RUSTC ? NULL : b->output},
	};
	auto_free char *label = record_label(a);
	bool differs = false;

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		auto_free char *mine = normal_word(facts[i].mine ? facts[i].mine : "");
		auto_free char *theirs = normal_word(facts[i].theirs ? facts[i].theirs : "");

		if (strcmp(mine, theirs) == 0)
			continue;
		differs = true;
		evidence_add(&p->identity,
			"%s: %s is '%s' in the optimised build and '%s' in the %s one", label,
			facts[i].what, facts[i].mine ? facts[i].mine : "",
			facts[i].theirs ? facts[i].theirs : "", other);
	}
	p->identity_differs += differs;
}

static void compare_one(
	const struct compile_record *r, const struct two_builds *of, struct pairs *p)
{
	const struct build_facts *other = of->other;
	const struct compile_record *c = counterpart(r, &other->log);
	auto_free char *label = record_label(r);

	p->compared++;
	if (!c) {
		p->identity_differs++;
		evidence_add(&p->identity, "%s has no counterpart in the %s build", label,
			other->variant);
		return;
	}
	if (!compare_flags(r, c, of, p))
		compare_identity(r, c, other->variant, p);
}

void pairs_compare(const struct gate_facts *f, struct pairs *ret)
{
	const struct build_facts *others[] = {f->plain, f->first, f->instrumented};
	auto_records struct records reached = {0};
	struct pairs p = {0};

	records_reached(f->optimised, NULL, &reached);
	for (size_t i = 0; i < reached.n; i++) {
		const struct compile_record *r = reached.v[i];

		for (size_t k = 0; k < ARRAY_SIZE(others); k++) {
			const struct two_builds of = {
				f->optimised, others[k], others[k] != f->plain};

			if (others[k])
				compare_one(r, &of, &p);
		}
	}
	*ret = p;
}

void pairs_release(struct pairs *p)
{
	evidence_release(&p->flags);
	evidence_release(&p->identity);
	memset(p, 0, sizeof(*p));
}
