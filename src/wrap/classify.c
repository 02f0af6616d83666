#include "wrap/classify.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

/* Options of gcc and clang whose value is the next argument. Those that also exist joined (-Ifoo)
 * are only meant in their bare form. */
static const char *const takes_next[] = {"-o", "-I", "-D", "-U", "-L", "-l", "-u", "-T", "-z", "-e",
	"-h", "-x", "-B", "-A", "-G", "-F", "-include", "-include-pch", "-imacros", "-isystem",
	"-idirafter", "-iquote", "-iprefix", "-iwithprefix", "-iwithprefixbefore", "-isysroot",
	"-imultilib", "-iframework", "-cxx-isystem", "-stdlib++-isystem", "-ivfsoverlay", "-MF",
	"-MT", "-MQ", "-MJ", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-mllvm",
	"-Xarch_host", "-Xarch_device", "-Xopenmp-target", "-Xanalyzer", "-arch", "-target",
	"--target", "--sysroot", "--param", "-aux-info", "-dumpbase", "-dumpbase-ext", "-dumpdir",
	"-specs", "--specs", "-wrapper", "-working-directory", "--serialize-diagnostics",
	"-serialize-diagnostics", "-framework", "-install_name", "-undefined", "-Tdata", "-Ttext",
	"-Tbss", "-soname", "-rpath", "-plugin", "-gcc-toolchain", "--output",
	"--include-directory", "--define-macro", "-fplugin", "--library-directory"};

static const char *const queries[] = {"--version", "-dumpversion", "-dumpmachine",
	"-dumpfullversion", "-dumpspecs", "--help", "-###", "-print-search-dirs"};

struct scan {
	struct cc_call *c;
	struct strv linker; /* what -Wl, and -Xlinker say, in order */
	const char *x;      /* language of -x; NULL: by suffix */
	bool compile_only, preprocess, assembly_only, partial, query, pch, cxx;
};

static bool in_list(const char *const *list, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], s) == 0)
			return true;
	return false;
}

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

bool cc_hides_warnings(const char *arg)
{
	return strcmp(arg, "-w") == 0;
}

void cc_call_release(struct cc_call *c)
{
	strv_release(&c->sources);
	strv_release(&c->assembly);
	strv_release(&c->objects);
	free(c->output);
	free(c->map);
	free(c->target);
	memset(c, 0, sizeof(*c));
}

/* The language of a file by its suffix, or NULL when the linker reads it. */
static const char *language_of(const char *path, bool cxx)
{
	static const struct {
		const char *suffix, *language;
	} table[] = {{"c", "c"}, {"i", "c"}, {"m", "objc"}, {"mi", "objc"}, {"cc", "c++"},
		{"cp", "c++"}, {"cxx", "c++"}, {"cpp", "c++"}, {"CPP", "c++"}, {"c++", "c++"},
		{"C", "c++"}, {"ii", "c++"}, {"mm", "objc++"}, {"cppm", "c++"}, {"s", "asm"},
		{"S", "asm"}, {"sx", "asm"}, {"h", "header"}, {"hh", "header"}, {"H", "header"},
		{"hp", "header"}, {"hxx", "header"}, {"hpp", "header"}, {"HPP", "header"},
		{"h++", "header"}, {"tcc", "header"}, {"bc", "ir"}, {"ll", "ir"}};
	const char *dot = strrchr(path_basename(path), '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(table); i++)
		if (strcmp(dot + 1, table[i].suffix) == 0)
			return strcmp(table[i].language, "c") == 0 && cxx ? "c++"
									  : table[i].language;
	return NULL;
}

static void set_language(struct cc_call *c, const char *language)
{
	if (!*c->language || strcmp(c->language, "asm") == 0)
		c->language = language;
}

static const char *language_of_x(const char *x)
{
	if (starts(x, "assembler"))
		return "asm";
	if (strcmp(x, "none") == 0)
		return NULL;
	if (strstr(x, "header"))
		return "header";
	if (starts(x, "objective-c++"))
		return "objc++";
	if (starts(x, "objective-c"))
		return "objc";
	return starts(x, "c++") ? "c++" : strcmp(x, "ir") == 0 ? "ir" : "c";
}

static void add_input(struct scan *s, const char *path)
{
	const char *language = s->x ? s->x : language_of(path, s->cxx);

	if (!language && strcmp(path, "-") == 0)
		language = "c"; /* -E reads standard input without -x */
	if (!language) {
		strv_add(&s->c->objects, path);
	} else if (strcmp(language, "asm") == 0) {
		strv_add(&s->c->assembly, path);
		set_language(s->c, "asm");
	} else {
		if (strcmp(language, "header") == 0) {
			s->pch = true;
			language = s->cxx ? "c++" : "c";
		}
		strv_add(&s->c->sources, path);
		set_language(s->c, language);
	}
}

static void add_linker_words(struct scan *s, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, ",");

		strv_take(&s->linker, xstrndup(list, n));
		list += n + (list[n] == ',');
	}
}

/* Options that decide the kind of the call. */
static void scan_mode(struct scan *s, const char *a)
{
	const struct {
		const char *name;
		bool *flag;
	} modes[] = {{"-c", &s->compile_only}, {"--compile", &s->compile_only},
		{"-S", &s->assembly_only}, {"--assemble", &s->assembly_only},
		{"-E", &s->preprocess}, {"--preprocess", &s->preprocess}, {"-M", &s->preprocess},
		{"-MM", &s->preprocess}, {"-fsyntax-only", &s->preprocess}, {"-r", &s->partial},
		{"--precompile", &s->pch}};

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		*modes[i].flag |= strcmp(a, modes[i].name) == 0;
	s->query |= in_list(queries, ARRAY_SIZE(queries), a) || starts(a, "-print-") ||
		    starts(a, "--print-");
	s->c->werror |= starts(a, "-Werror");
	if (starts(a, "-flto") || strcmp(a, "-emit-llvm") == 0)
		s->c->bitcode = true;
	else if (strcmp(a, "-fno-lto") == 0)
		s->c->bitcode = false;
	s->c->no_warnings |= cc_hides_warnings(a);
}

static void set_target(struct scan *s, const char *triple)
{
	free(s->c->target);
	s->c->target = xstrdup(triple);
}

static void scan_valued(struct scan *s, const char *name, const char *value)
{
	if (strcmp(name, "-target") == 0 || strcmp(name, "--target") == 0) {
		set_target(s, value);
	} else if (strcmp(name, "-o") == 0 || strcmp(name, "--output") == 0) {
		free(s->c->output);
		s->c->output = xstrdup(value);
	} else if (strcmp(name, "-x") == 0) {
		s->x = language_of_x(value);
	} else if (strcmp(name, "-Xlinker") == 0) {
		strv_add(&s->linker, value);
	} else if (strcmp(name, "-Xclang") == 0 && cc_hides_warnings(value)) {
		s->c->no_warnings = true;
	}
}

static void scan_args(struct scan *s, const struct strv *args)
{
	bool only_files = false;

	for (size_t i = 0; i < args->n; i++) {
		const char *a = args->v[i];

		if (only_files || a[0] != '-' || !a[1])
			add_input(s, a);
		else if (strcmp(a, "--") == 0)
			only_files = true;
		else if (in_list(takes_next, ARRAY_SIZE(takes_next), a)) {
			if (i + 1 < args->n)
				scan_valued(s, a, args->v[++i]);
		} else if (starts(a, "-Wl,"))
			add_linker_words(s, a + 4);
		else if (starts(a, "--target="))
			set_target(s, a + strlen("--target="));
		else if (strcmp(a, "-m32") == 0)
			set_target(s, "i386-linux");
		else if (starts(a, "-o"))
			scan_valued(s, "-o", a + 2);
		else if (starts(a, "--output="))
			scan_valued(s, "-o", a + strlen("--output="));
		else if (starts(a, "-x"))
			scan_valued(s, "-x", a + 2);
		else
			scan_mode(s, a);
	}
}

static void scan_linker(struct scan *s)
{
	for (size_t i = 0; i < s->linker.n; i++) {
		const char *a = s->linker.v[i];
		const char *map = NULL;

		if (strcmp(a, "-r") == 0 || strcmp(a, "--relocatable") == 0)
			s->partial = true;
		else if (strcmp(a, "-M") == 0 || strcmp(a, "--print-map") == 0)
			s->c->print_map = true;
		else if (starts(a, "-Map=") || starts(a, "--Map="))
			map = strchr(a, '=') + 1;
		else if ((strcmp(a, "-Map") == 0 || strcmp(a, "--Map") == 0) && i + 1 < s->linker.n)
			map = s->linker.v[++i];
		if (map) {
			free(s->c->map);
			s->c->map = xstrdup(map);
		}
	}
}

static enum call_kind kind_of_object(const struct cc_call *c)
{
	return c->sources.n ? CALL_COMPILE : c->assembly.n ? CALL_ASSEMBLE : CALL_QUERY;
}

static enum call_kind kind_of(const struct scan *s)
{
	const struct cc_call *c = s->c;
	bool any = c->sources.n || c->assembly.n;

	if (s->query || (!any && !c->objects.n))
		return CALL_QUERY;
	if (s->preprocess || (s->assembly_only && !c->sources.n))
		return CALL_PREPROCESS;
	if (s->pch && c->sources.n)
		return CALL_PCH;
	/* -S compiles: what a profile changes is in the assembler source already. */
	if (s->compile_only || s->assembly_only)
		return kind_of_object(c);
	if (s->partial)
		return CALL_PARTIAL_LINK;
	return any ? CALL_COMPILE_LINK : CALL_LINK;
}

void cc_classify(const struct strv *args, bool cxx, struct cc_call *ret)
{
	struct scan s = {.c = ret, .cxx = cxx};

	memset(ret, 0, sizeof(*ret));
	ret->language = "";
	scan_args(&s, args);
	scan_linker(&s);
	ret->kind = kind_of(&s);
	ret->to_assembler = s.assembly_only && ret->kind == CALL_COMPILE;
	if (!*ret->language && cxx && ret->kind != CALL_QUERY)
		ret->language = "c++";
	strv_release(&s.linker);
}

/* i386, i586 and i686 are one processor, amd64 is x86_64, arm64 is aarch64. */
static size_t processor(const char *triple, const char **name)
{
	size_t n = strcspn(triple, "-");

	*name = triple;
	if (n == 4 && triple[0] == 'i' && starts(triple + 2, "86"))
		*name = "x86";
	else if (n == 5 && starts(triple, "amd64"))
		*name = "x86_64";
	else if (n == 5 && starts(triple, "arm64"))
		*name = "aarch64";
	else if (starts(triple, "armv"))
		*name = "arm";
	else if (starts(triple, "riscv64"))
		*name = "riscv64";
	return *name == triple ? n : strlen(*name);
}

bool cc_other_machine(const char *given, const char *triple)
{
	const char *a, *b;
	size_t n = processor(given, &a), k = processor(triple, &b);

	if (n != k || strncmp(a, b, n) != 0)
		return true;
	return (strstr(given, "linux") != NULL) != (strstr(triple, "linux") != NULL);
}

/* x.c compiled without -o makes x.o in the working folder. */
static char *default_object(const char *source, const char *suffix)
{
	const char *base = path_basename(source);
	const char *dot = strrchr(base, '.');

	return xasprintf("%.*s%s", dot ? (int)(dot - base) : (int)strlen(base), base, suffix);
}

char *cc_output(const struct cc_call *c, const char *cwd)
{
	auto_free char *name = NULL;
	auto_free char *joined = NULL;
	size_t n = c->sources.n + c->assembly.n;
	const char *only = c->sources.n ? c->sources.v[0] : c->assembly.n ? c->assembly.v[0] : NULL;

	if (c->output)
		name = xstrdup(c->output);
	else if (c->kind == CALL_PCH && n == 1)
		name = xasprintf("%s.gch", only);
	else if (c->kind == CALL_COMPILE || c->kind == CALL_ASSEMBLE)
		name = n == 1 ? default_object(only, c->to_assembler ? ".s" : ".o") : NULL;
	else if (c->kind == CALL_LINK || c->kind == CALL_COMPILE_LINK ||
		 c->kind == CALL_PARTIAL_LINK)
		name = xstrdup("a.out");
	if (!name)
		return NULL;
	joined = path_join(cwd, name);
	return path_clean(joined);
}

void cc_objects(const struct cc_call *c, const char *cwd, struct strv *ret)
{
	char *one = cc_output(c, cwd);

	if (one) {
		strv_take(ret, one);
		return;
	}
	for (size_t i = 0; i < c->sources.n; i++) {
		auto_free char *name = default_object(c->sources.v[i], ".o");

		strv_take(ret, path_join(cwd, name));
	}
}
