#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "wrap/classify.h"

/* Options of rustc whose value is the next argument when it is not joined by '='. */
static const char *const takes_next[] = {"--cfg", "--check-cfg", "-L", "-l", "--crate-type",
	"--crate-name", "--edition", "--emit", "--print", "-o", "--out-dir", "--explain",
	"--target", "-A", "--allow", "-W", "--warn", "--force-warn", "-D", "--deny", "-F",
	"--forbid", "--cap-lints", "-C", "--codegen", "--extern", "--sysroot", "--error-format",
	"--color", "--remap-path-prefix", "--json", "-Z", "--env-set", "--diagnostic-width"};

static bool in_list(const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(takes_next); i++)
		if (strlen(takes_next[i]) == n && strncmp(takes_next[i], s, n) == 0)
			return true;
	return false;
}

void rustc_call_release(struct rustc_call *c)
{
	char *texts[] = {c->crate_name, c->crate_type, c->metadata, c->extra, c->target, c->source,
		c->out_dir, c->output, c->linker};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	memset(c, 0, sizeof(*c));
}

static void set(char **to, const char *value)
{
	free(*to);
	*to = xstrdup(value);
}

static void codegen(struct rustc_call *c, const char *value)
{
	static const char *const keys[] = {"metadata=", "extra-filename=", "linker="};
	char **to[] = {&c->metadata, &c->extra, &c->linker};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strncmp(value, keys[i], strlen(keys[i])) == 0)
			set(to[i], value + strlen(keys[i]));
}

/* --emit is a list of kind or kind=path; only "link", "obj" and "asm" make machine code. */
static void emit(struct rustc_call *c, const char *value, bool *link)
{
	for (const char *p = value; *p;) {
		size_t n = strcspn(p, ",");
		size_t k = strcspn(p, ",=");

		if (k == 4 && strncmp(p, "link", k) == 0)
			*link = c->code = true;
		else if ((k == 3 && (strncmp(p, "obj", k) == 0 || strncmp(p, "asm", k) == 0)) ||
			 (k == 7 && strncmp(p, "llvm-bc", k) == 0) ||
			 (k == 7 && strncmp(p, "llvm-ir", k) == 0))
			c->code = true;
		p += n + (p[n] == ',');
	}
}

static void crate_type(struct rustc_call *c, const char *value)
{
	char *joined = c->crate_type ? xasprintf("%s,%s", c->crate_type, value) : xstrdup(value);

	free(c->crate_type);
	c->crate_type = joined;
}

static bool option(struct rustc_call *c, const char *name, size_t n, const char *value)
{
	static const struct {
		const char *name;
		size_t offset;
	} texts[] = {{"--crate-name", offsetof(struct rustc_call, crate_name)},
		{"--target", offsetof(struct rustc_call, target)},
		{"--out-dir", offsetof(struct rustc_call, out_dir)},
		{"-o", offsetof(struct rustc_call, output)}};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strlen(texts[i].name) == n && strncmp(name, texts[i].name, n) == 0) {
			set((char **)((char *)c + texts[i].offset), value);
			return true;
		}
	return false;
}

struct rust_scan {
	struct rustc_call *c;
	bool query, test, emit_seen, link;
};

static bool is(const char *name, size_t n, const char *what)
{
	return strlen(what) == n && strncmp(name, what, n) == 0;
}

static void take(struct rust_scan *s, const char *name, size_t n, const char *value)
{
	struct rustc_call *c = s->c;

	if (option(c, name, n, value))
		return;
	if (is(name, n, "-C") || is(name, n, "--codegen")) {
		codegen(c, value);
	} else if (is(name, n, "--crate-type")) {
		crate_type(c, value);
	} else if (is(name, n, "--emit")) {
		s->emit_seen = true;
		emit(c, value, &s->link);
	} else if (is(name, n, "--error-format")) {
		c->json = strcmp(value, "json") == 0;
	} else if (is(name, n, "--print") || is(name, n, "--explain")) {
		s->query = true;
	}
}

/* An option without a value. */
static void take_bare(struct rust_scan *s, const char *a)
{
	static const char *const queries[] = {"-vV", "-V", "-Vv", "--version", "-h", "--help"};

	s->test |= strcmp(a, "--test") == 0;
	for (size_t i = 0; i < ARRAY_SIZE(queries); i++)
		s->query |= strcmp(a, queries[i]) == 0;
}

/* An option; returns how many arguments it takes. */
static size_t take_option(struct rust_scan *s, const char *a, const char *next)
{
	const char *equals = a[1] == '-' ? strchr(a, '=') : NULL;

	if (equals && in_list(a, (size_t)(equals - a)))
		take(s, a, (size_t)(equals - a), equals + 1);
	else if (in_list(a, strlen(a))) {
		if (next)
			take(s, a, strlen(a), next);
		return 2;
	} else if (a[1] != '-' && a[2] && in_list(a, 2))
		take(s, a, 2, a + 2 + (a[2] == '='));
	else
		take_bare(s, a);
	return 1;
}

static void scan(struct rust_scan *s, const struct strv *args)
{
	for (size_t i = 0; i < args->n;) {
		const char *a = args->v[i];

		if (a[0] == '-' && a[1]) {
			i += take_option(s, a, i + 1 < args->n ? args->v[i + 1] : NULL);
			continue;
		}
		if (!s->c->source)
			s->c->source = xstrdup(a);
		i++;
	}
}

static bool has_type(const char *types, const char *type)
{
	size_t n = strlen(type);

	for (const char *p = types; p && *p;) {
		size_t k = strcspn(p, ",");

		if (k == n && strncmp(p, type, n) == 0)
			return true;
		p += k + (p[k] == ',');
	}
	return false;
}

void rustc_classify(const struct strv *args, struct rustc_call *ret)
{
	struct rust_scan s = {.c = ret};

	memset(ret, 0, sizeof(*ret));
	scan(&s, args);
	ret->kind =
		s.query || !ret->source || (ret->crate_name && strcmp(ret->crate_name, "___") == 0)
			? CALL_QUERY
			: CALL_RUSTC;
	if (s.test)
		set(&ret->crate_type, "bin");
	if (!ret->crate_type)
		ret->crate_type = xstrdup("bin");
	if (!s.emit_seen)
		ret->code = s.link = true;
	ret->links = s.link &&
		     (has_type(ret->crate_type, "bin") || has_type(ret->crate_type, "cdylib") ||
			     has_type(ret->crate_type, "dylib") ||
			     has_type(ret->crate_type, "proc-macro"));
	ret->std = ret->source && strstr(ret->source, "/lib/rustlib/src/rust/");
}

static char *default_crate_name(const struct rustc_call *c)
{
	const char *base = path_basename(c->source ? c->source : "rust_out");
	char *name = xstrndup(base, strcspn(base, "."));

	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

char *rustc_output(const struct rustc_call *c, const char *cwd)
{
	static const struct {
		const char *type, *prefix, *suffix;
	} forms[] = {{"rlib", "lib", ".rlib"}, {"lib", "lib", ".rlib"}, {"bin", "", ""},
		{"proc-macro", "lib", ".so"}, {"cdylib", "lib", ".so"}, {"dylib", "lib", ".so"},
		{"staticlib", "lib", ".a"}};
	auto_free char *crate = c->crate_name ? xstrdup(c->crate_name) : default_crate_name(c);
	auto_free char *file = NULL;
	auto_free char *in_dir = NULL;
	auto_free char *joined = NULL;

	for (size_t i = 0; !file && !c->output && i < ARRAY_SIZE(forms); i++)
		if (has_type(c->crate_type, forms[i].type))
			file = xasprintf("%s%s%s%s", forms[i].prefix, crate,
				c->extra ? c->extra : "", forms[i].suffix);
	if (!file && !c->output)
		return NULL;
	in_dir = c->output ? xstrdup(c->output) : path_join(c->out_dir ? c->out_dir : ".", file);
	joined = path_join(cwd, in_dir);
	return path_clean(joined);
}
