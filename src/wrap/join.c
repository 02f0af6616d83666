/* From the compile log to the objects of a released binary: which call made what the final link
 * loaded. */
#include "wrap/wrap.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "elf/elf_facts.h"
#include "wrap/assembled.h"
#include "wrap/units.h"
#include "wrap/zig.h"

#define PARTIAL_DEPTH 16 /* partial links inside partial links */

struct output {
	char *path;
	const struct compile_record *record;
	char *sha256; /* made when needed; NULL when the file is gone */
	char *code;   /* hash of its code; NULL: not an object, or without code */
	bool hashed, gone;
};

struct join {
	const struct compile_log *log;
	const struct wrap_node *n;
	struct binary_fact *binary;
	struct strv folders;
	struct output *outputs; /* sorted by path; of several records the last one */
	size_t n_outputs, cap_outputs;
	struct output **by_hash; /* those that exist, sorted; made when needed */
	struct strv via;         /* the partial links around the objects that are added */
	size_t n_by_hash;
	struct assembler_sources assembler;
	const char
		*made_as; /* the path at which its call made the object in hand; NULL: as it is */
	bool hashed;
};

static int by_path(const void *a, const void *b)
{
	const struct output *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int by_path_and_order(const void *a, const void *b)
{
	const struct output *x = a, *y = b;
	int r = strcmp(x->path, y->path);

	if (r)
		return r;
	return x->record->order < y->record->order ? -1 : x->record->order > y->record->order;
}

static bool makes_objects(const struct compile_record *r)
{
	if (r->status != 0 || r->kind == CALL_QUERY || r->kind == CALL_PREPROCESS ||
		r->kind == CALL_PCH)
		return false;
	return r->output || r->kind == CALL_COMPILE || r->kind == CALL_ASSEMBLE;
}

static void add_output(struct join *j, const struct compile_record *r, char *path)
{
	array_reserve(j->outputs, j->n_outputs, j->cap_outputs);
	j->outputs[j->n_outputs++] = (struct output){.path = path, .record = r};
}

/* One call with several sources and no -o makes an object of each in its working folder. */
static void add_outputs(struct join *j, const struct compile_record *r)
{
	if (r->output)
		add_output(j, r, xstrdup(r->output));
	for (size_t i = 0; !r->output && i < r->inputs.n; i++) {
		auto_free char *name = unit_object_name(r->inputs.v[i]);

		add_output(j, r, path_join(r->cwd, name));
	}
}

static void collect_outputs(struct join *j)
{
	size_t n, k = 0;

	for (size_t i = 0; i < j->log->n; i++)
		if (makes_objects(&j->log->v[i]))
			add_outputs(j, &j->log->v[i]);
	n = j->n_outputs;
	if (n)
		qsort(j->outputs, n, sizeof(*j->outputs), by_path_and_order);
	for (size_t i = 0; i < n; i++) {
		if (i + 1 == n || strcmp(j->outputs[i].path, j->outputs[i + 1].path) != 0)
			j->outputs[k++] = j->outputs[i];
		else
			free(j->outputs[i].path);
	}
	j->n_outputs = k;
}

static struct output *output_of(const struct join *j, const char *path)
{
	struct output key = {.path = (char *)path};

	return j->n_outputs ? bsearch(&key, j->outputs, j->n_outputs, sizeof(key), by_path) : NULL;
}

/* ---- by content ---------------------------------------------------------------------------- */

static int by_sha(const void *a, const void *b)
{
	const struct output *x = *(struct output *const *)a, *y = *(struct output *const *)b;

	return strcmp(x->sha256, y->sha256);
}

/* Two calls may make the same bytes (libtool's, with and without -fPIC): which one an archive
 * member is taken for must not depend on the order in which they ran. */
static int by_sha_and_path(const void *a, const void *b)
{
	const struct output *x = *(struct output *const *)a, *y = *(struct output *const *)b;
	int c = by_sha(a, b);

	return c ? c : strcmp(x->path, y->path);
}

/* Objects only: hashing every linked program as well would cost more than it tells. */
static bool is_object_kind(enum call_kind k)
{
	return k == CALL_COMPILE || k == CALL_ASSEMBLE || k == CALL_PARTIAL_LINK;
}

static void hash_outputs(struct join *j)
{
	j->hashed = true;
	j->by_hash = xcalloc(j->n_outputs + 1, sizeof(struct output *));
	for (size_t i = 0; i < j->n_outputs; i++) {
		struct output *o = &j->outputs[i];
		char hex[SHA256_HEX];

		if (!is_object_kind(o->record->kind))
			continue;
		o->gone = sha256_file(o->path, hex, NULL) < 0;
		if (o->gone)
			continue;
		o->sha256 = xstrdup(hex);
		o->code = elf_code_of_file(o->path);
		j->by_hash[j->n_by_hash++] = o;
	}
	if (j->n_by_hash)
		qsort(j->by_hash, j->n_by_hash, sizeof(struct output *), by_sha_and_path);
}

static const struct compile_record *record_by_hash(struct join *j, const char *sha256)
{
	struct output key = {.sha256 = (char *)sha256}, *k = &key, **found;

	if (!sha256)
		return NULL;
	if (!j->hashed)
		hash_outputs(j);
	found = j->n_by_hash ? bsearch(&k, j->by_hash, j->n_by_hash, sizeof(k), by_sha) : NULL;
	while (found && found > j->by_hash && by_sha(&found[-1], &k) == 0)
		found--;
	j->made_as = found ? (*found)->path : NULL;
	return found ? (*found)->record : NULL;
}

/* objcopy and strip change a file, not its code. The code decides what a profile does to it. */
static const struct compile_record *record_by_code(struct join *j, const char *code)
{
	if (!j->hashed)
		hash_outputs(j);
	for (size_t i = 0; code && i < j->n_by_hash; i++)
		if (j->by_hash[i]->code && strcmp(j->by_hash[i]->code, code) == 0) {
			j->made_as = j->by_hash[i]->path;
			return j->by_hash[i]->record;
		}
	return NULL;
}

/* An archive member whose object the build removed after archiving: accepted when exactly one
 * recorded call made an object of that name and that object is gone. */
static const struct compile_record *record_of_removed(struct join *j, const char *member)
{
	const struct compile_record *r = NULL;
	const char *name = path_basename(member);

	if (!j->hashed)
		hash_outputs(j);
	for (size_t i = 0; i < j->n_outputs; i++) {
		if (!j->outputs[i].gone || strcmp(path_basename(j->outputs[i].path), name) != 0)
			continue;
		if (r)
			return NULL;
		r = j->outputs[i].record;
	}
	return r;
}

static const struct compile_record *record_with_id(const struct compile_log *log, const char *id)
{
	for (size_t i = 0; id && i < log->n; i++)
		if (strcmp(log->v[i].id, id) == 0)
			return &log->v[i];
	return NULL;
}

/* ---- classes ------------------------------------------------------------------------------- */

/* The folder of the toolchain that holds it, or NULL. The folders are real paths too; a linker may
 * come by a link (/lib for /usr/lib). */
static const char *folder_with(const struct join *j, const char *path)
{
	char real[PATH_MAX];
	bool resolved = realpath(path, real) != NULL;

	for (size_t i = 0; i < j->folders.n; i++)
		if (path_is_below(path, j->folders.v[i]) ||
			(resolved && path_is_below(real, j->folders.v[i])))
			return j->folders.v[i];
	return NULL;
}

/* With link-time optimisation rustc hands the linker copies of libraries, without what it compiled
 * anew, in a temporary folder "rustcXXXXXX". The file's name holds the crate's hash: one of that
 * name among the target's own libraries is what was copied. */
static const char *folder_with_original(
	const struct join *j, const struct compile_record *link, const struct link_input *in)
{
	const struct compile_record *rustc = record_with_id(j->log, link->parent);
	auto_free char *folder = path_dirname(in->path);

	if (!rustc || !rustc->target_triple || !in->member ||
		strncmp(path_basename(folder), "rustc", 5) != 0)
		return NULL;
	for (size_t i = 0; i < j->folders.n; i++) {
		auto_free char *original = xasprintf("%s/lib/rustlib/%s/lib/%s", j->folders.v[i],
			rustc->target_triple, path_basename(in->path));

		if (path_exists(original))
			return j->folders.v[i];
	}
	return NULL;
}

static const char *toolchain_folder(
	const struct join *j, const struct compile_record *link, const struct link_input *in)
{
	const char *folder = folder_with(j, in->path);

	if (!folder)
		folder = folder_with_original(j, link, in);
	return !folder && j->n->zig && zig_made(in->path) ? "zig's cache" : folder;
}

static const char *why_whets(
	const struct join *j, const struct compile_record *link, const struct link_input *in)
{
	static const char runtime[] = "the compiler's profile runtime";

	if (j->n->hook && strcmp(in->path, j->n->hook) == 0)
		return "whet's fork hook";
	for (size_t i = 0; i < j->n->n_compilers; i++)
		if (j->n->compilers[i].runtime && strcmp(in->path, j->n->compilers[i].runtime) == 0)
			return runtime;
	if (j->n->gcov && strcmp(in->path, j->n->gcov) == 0)
		return "gcc's profile runtime";
	for (size_t i = 0; i < j->n->n_runtimes; i++)
		if (strcmp(in->path, j->n->runtimes[i].archive) == 0)
			return runtime;
	if ((strstr(in->path, "libclang_rt.profile") || strstr(in->path, "libprofiler_builtins")) &&
		toolchain_folder(j, link, in))
		return runtime;
	return NULL;
}

static enum object_class class_of(const struct compile_record *r)
{
	switch (r->class) {
	case CLASS_TARGET:
		return OBJECT_TARGET;
	case CLASS_FOREIGN:
		return OBJECT_FOREIGN;
	case CLASS_NONE:
		if (r->kind == CALL_ASSEMBLE)
			return OBJECT_ASSEMBLY;
		return r->kind == CALL_RUSTC ? OBJECT_TOOLCHAIN : OBJECT_UNKNOWN; /* build-std */
	default:
		return OBJECT_UNKNOWN; /* made for the build machine or by a configure step */
	}
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && strcmp(s + n - k, end) == 0;
}

/* A compiler that compiles and links in one call hands its linker a temporary object. */
static bool is_temporary_of(const struct compile_record *link, const struct link_input *in)
{
	return link->kind == CALL_COMPILE_LINK && !in->member &&
	       (in->temporary || (!in->sha256 && ends_with(in->path, ".o") &&
					 !path_is_below(in->path, link->cwd)));
}

/* Whether it is one of the objects that rustc made for the link that it called: its code, or the
 * list of symbols in its temporary folder. */
static bool is_rustc_object(const struct compile_record *rustc, const struct link_input *in)
{
	const char *base = path_basename(in->path);

	return rustc && !in->member &&
	       (ends_with(base, ".rcgu.o") || strcmp(base, "symbols.o") == 0 ||
		       ends_with(base, ".rustc.o") || strstr(in->path, "/rustc") != NULL);
}

/* What was assembled from the output of a call with -S is compiled by that call. */
static const struct compile_record *compiled_from(
	const struct join *j, const struct compile_record *r, const struct link_input *in)
{
	const char *source = r->kind == CALL_ASSEMBLE ? unit_source(r, in) : NULL;
	auto_free char *joined = source ? path_join(r->cwd, source) : NULL;
	auto_free char *path = joined ? path_clean(joined) : NULL;
	const struct output *o = path ? output_of(j, path) : NULL;

	return o && o->record->kind == CALL_COMPILE ? o->record : r;
}

/* *how: by what it was found. */
static const struct compile_record *record_of(struct join *j, const struct compile_record *link,
	const struct link_input *in, const char **how)
{
	const struct compile_record *rustc = record_with_id(j->log, link->parent);
	const struct compile_record *r;
	const struct output *o = output_of(j, in->path);

	*how = in->member ? "a member of the call's output" : "the call's output";
	if (in->member && o && o->record->kind == CALL_RUSTC && ends_with(in->member, ".rcgu.o"))
		return o->record;
	if (!in->member && o)
		return compiled_from(j, o->record, in);
	*how = "same bytes as the call's output";
	r = record_by_hash(j, in->sha256);
	if (!r && is_rustc_object(rustc, in)) {
		*how = "rustc's own object";
		r = rustc;
	}
	if (!r && is_temporary_of(link, in)) {
		*how = "temporary object of the call that also links";
		r = link;
	}
	if (!r && in->member) {
		*how = "named like the only output that was removed";
		r = record_of_removed(j, in->member);
	}
	return r ? compiled_from(j, r, in) : NULL;
}

/* The reason for a class that follows from a record: the call's, and how the two belong together.
 */
static char *why_of(const struct compile_record *r, enum object_class class, const char *how)
{
	return xasprintf("%s%s%s; %s", class == OBJECT_UNKNOWN ? call_class_name(r->class) : "",
		class == OBJECT_UNKNOWN ? " call: " : "", r->why ? r->why : "reason not recorded",
		how);
}

/* why: becomes the object's. */
static void add_object(struct join *j, const struct link_input *in, enum object_class class,
	const struct compile_record *r, char *why)
{
	struct binary_fact *b = j->binary;
	struct link_input made = *in; /* only looked at */
	struct object_fact *o;

	array_reserve(b->objects, b->n_objects, b->cap_objects);
	o = &b->objects[b->n_objects++];
	memset(o, 0, sizeof(*o));
	o->path = xstrdup(in->path);
	o->member = xstrdup(in->member);
	o->class = class;
	o->why = why;
	strv_add_all(&o->via, &j->via);
	o->code_hash = xstrdup(in->code_hash);
	strv_add_all(&o->functions, &in->functions);
	if (!r)
		return;
	if (j->made_as)
		made = (struct link_input){.path = (char *)j->made_as};
	o->record = xstrdup(r->id);
	o->unit = unit_name(r, &made, j->n->slot);
	o->source = xstrdup(unit_source(r, &made));
}

static void add_links(struct join *j, const struct compile_record *link, int depth);

/* The objects of a partial link stand for it. */
static void add_partial(struct join *j, const struct link_input *in,
	const struct compile_record *partial, int depth)
{
	size_t n = j->via.n;

	if (in->member)
		strv_addf(&j->via, "%s(%s)", in->path, in->member);
	else
		strv_add(&j->via, in->path);
	add_links(j, partial, depth + 1);
	free(j->via.v[n]);
	j->via.v[n] = NULL;
	j->via.n = n;
}

/* A partial link is no proof of what is in it: its objects are, or that it holds no code. */
static void add_closed_partial(
	struct join *j, const struct link_input *in, const struct compile_record *partial)
{
	if (in->data)
		add_object(j, in, OBJECT_DATA, NULL, xstrdup("a partial link without code"));
	else
		add_object(j, in, OBJECT_UNKNOWN, NULL,
			xasprintf("the objects of this partial link are not known: %s",
				partial->map_error ? partial->map_error : "its map names none"));
}

/* how: by what the call was found. */
static void add_recorded(struct join *j, const struct link_input *in,
	const struct compile_record *r, const char *how, int depth)
{
	if (r->kind != CALL_PARTIAL_LINK)
		add_object(j, in, class_of(r), r, why_of(r, class_of(r), how));
	else if (r->n_links && depth < PARTIAL_DEPTH)
		add_partial(j, in, r, depth);
	else
		add_closed_partial(j, in, r);
}

/* Made by a program that is called past whet: as, objcopy, a linker by its path. */
static void add_by_content(struct join *j, const struct link_input *in, int depth)
{
	const char *how = "same code as the call's output";
	const struct compile_record *r = record_by_code(j, in->code_hash);
	auto_free char *source = NULL;

	if (!r) {
		how = "assembled from the call's output";
		r = assembled_from_call(j->log, j->n, in);
	}
	if (r)
		add_recorded(j, in, r, how, depth);
	else if (in->data)
		add_object(j, in, OBJECT_DATA, NULL, xstrdup("no recorded call made it; no code"));
	else if (assembled_by_hand(&j->assembler, j->n, in, &source))
		add_object(j, in, OBJECT_ASSEMBLY, NULL,
			source ? xasprintf("assembled from '%s'", source)
			       : xstrdup("names an assembler as what made it"));
	else
		add_object(j, in, OBJECT_UNKNOWN, NULL, xstrdup("no recorded call made it"));
	if (source)
		j->binary->objects[j->binary->n_objects - 1].source = take_ptr(source);
}

static void add_links(struct join *j, const struct compile_record *link, int depth)
{
	for (size_t i = 0; i < link->n_links; i++) {
		const struct link_input *in = &link->links[i];
		const char *folder, *how, *whets = why_whets(j, link, in);
		const struct compile_record *r;

		j->made_as = NULL;
		if (whets) {
			add_object(j, in, OBJECT_WHET, NULL, xstrdup(whets));
			continue;
		}
		r = record_of(j, link, in, &how);
		folder = r ? NULL : toolchain_folder(j, link, in);
		if (r)
			add_recorded(j, in, r, how, depth);
		else if (folder)
			add_object(j, in, OBJECT_TOOLCHAIN, NULL, xasprintf("in '%s'", folder));
		else
			add_by_content(j, in, depth);
	}
}

/* ---- the final link ------------------------------------------------------------------------ */

static bool is_link(const struct compile_record *r)
{
	return (r->kind == CALL_LINK || r->kind == CALL_COMPILE_LINK) && r->status == 0 &&
	       r->output && (r->class == CLASS_TARGET || r->class == CLASS_FOREIGN);
}

static bool same_inode(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool same_content(const char *path, const char *sha256)
{
	char hex[SHA256_HEX];

	return sha256_file(path, hex, NULL) == 0 && strcmp(hex, sha256) == 0;
}

/* "strip -o sift sift.full" gives another name and other bytes, and the same code. */
static const struct compile_record *link_of_code(const struct compile_log *log, const char *binary)
{
	char hex[SHA256_HEX];

	if (elf_text_hash(binary, hex, NULL) < 0)
		return NULL;
	for (size_t i = log->n; i-- > 0;)
		if (is_link(&log->v[i]) && log->v[i].text_hash &&
			strcmp(log->v[i].text_hash, hex) == 0)
			return &log->v[i];
	return NULL;
}

/* The last link that made this file: by path, as a hard link (cargo), by content (a copy), and at
 * last by its name when only one link made such a file (installed and stripped), or by its code. */
static const struct compile_record *final_link(
	const struct compile_log *log, const char *binary, const char *sha256)
{
	const char *base = path_basename(binary);
	const struct compile_record *named = NULL;
	size_t n_named = 0;

	for (size_t i = log->n; i-- > 0;)
		if (is_link(&log->v[i]) && (strcmp(log->v[i].output, binary) == 0 ||
						   same_inode(log->v[i].output, binary)))
			return &log->v[i];
	for (size_t i = log->n; i-- > 0;)
		if (is_link(&log->v[i]) && same_content(log->v[i].output, sha256))
			return &log->v[i];
	for (size_t i = log->n; i-- > 0;)
		if (is_link(&log->v[i]) && strcmp(path_basename(log->v[i].output), base) == 0) {
			named = &log->v[i];
			n_named++;
		}
	return n_named == 1 ? named : link_of_code(log, binary);
}

/* The name of a file and its way through the build prove nothing: a later step may have put another
 * file in its place. Its code is still what the link made. */
static int check_code(const struct compile_record *link, const char *binary, struct error *err)
{
	char hex[SHA256_HEX] = "";
	struct error why = ERROR_INIT;

	if (link->text_hash && elf_text_hash(binary, hex, &why) == 0 &&
		strcmp(hex, link->text_hash) == 0)
		return 0;
	error_set(err, ERR_GATE,
		"'%s' is not what the link of '%s' made: %s\nan older or packed file was put in "
		"its "
		"place after the link; let build.binary name the file that the link makes",
		binary, link->output,
		!link->text_hash ? "the linked file had no code that could be read"
		: why.code       ? why.msg
				 : "its code (section .text) differs");
	error_release(&why);
	return -1;
}

static int find_link(const struct compile_log *log, const char *binary, const char *sha256,
	const struct compile_record **ret, struct error *err)
{
	const struct compile_record *link = final_link(log, binary, sha256);

	if (!link)
		return error_set(err, ERR_GATE,
			"no recorded link made '%s': the build called its compiler past whet (by "
			"an absolute path?) or ld itself, or the file was there before; let the "
			"build link by the compiler that it finds in PATH",
			binary);
	if (link->map_error)
		return error_set(err, ERR_GATE, "the objects of '%s' are not known: %s", binary,
			link->map_error);
	if (!link->n_links)
		return error_set(err, ERR_GATE, "the link of '%s' recorded no objects", binary);
	*ret = link;
	return check_code(link, binary, err);
}

static int find_folders(struct join *j, struct error *err)
{
	for (size_t i = 0; i < j->n->n_compilers; i++)
		if (toolchain_folders(&j->n->compilers[i], &j->folders, err) < 0)
			return -1;
	return 0;
}

int wrap_binary_facts(const struct compile_log *log, const struct wrap_node *n, const char *binary,
	struct binary_fact *ret, struct error *err)
{
	auto_free char *absolute = path_absolute(binary);
	struct binary_fact b = {0};
	struct join j = {.log = log, .n = n, .binary = &b};
	const struct compile_record *link = NULL;
	char hex[SHA256_HEX];
	int r = -1;

	if (sha256_file(absolute, hex, err) < 0 || find_link(log, absolute, hex, &link, err) < 0)
		return -1;
	b.name = xstrdup(path_basename(absolute));
	b.path = xstrdup(absolute);
	b.sha256 = xstrdup(hex);
	b.link = xstrdup(link->id);
	if (find_folders(&j, err) == 0) {
		collect_outputs(&j);
		add_links(&j, link, 0);
		r = 0;
	}
	for (size_t i = 0; i < j.n_outputs; i++) {
		free(j.outputs[i].path);
		free(j.outputs[i].sha256);
		free(j.outputs[i].code);
	}
	free(j.outputs);
	free(j.by_hash);
	strv_release(&j.folders);
	strv_release(&j.via);
	assembler_sources_release(&j.assembler);
	if (r < 0)
		binary_fact_release(&b);
	else
		*ret = b;
	return r;
}
