/* What goes into the command of a run phase, and what has to come out of it. */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "config/keys.h"
#include "config/values.h"

#define BYTES_MAX ((uint64_t)1 << 40)

/* A text that may be empty. */
static void read_any_text(
	struct problems *ps, const struct key *k, const struct node *n, char **ret)
{
	if (n->kind != NODE_SCALAR || node_is_null(n)) {
		value_text(ps, n, k->name, ret);
		return;
	}
	free(*ret);
	*ret = xstrdup(n->text);
}

static void read_content_text(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	read_any_text(ps, k, n, &((struct plan_content *)target)->text);
}

static void read_output_text(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	read_any_text(ps, k, n, &((struct plan_output *)target)->text);
}

static void read_sha256(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_output *o = target;
	auto_free char *text = NULL;

	if (!value_text(ps, n, k->name, &text))
		return;
	for (char *c = text; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (strlen(text) != SHA256_HEX - 1 || text[strspn(text, "0123456789abcdef")])
		problem_add(ps, n, "'sha256' must be 64 hexadecimal digits, not '%s'", text);
	free(o->sha256);
	o->sha256 = take_ptr(text);
}

static size_t count_given(const struct node *n, const char *const *keys, size_t n_keys)
{
	size_t given = 0;

	for (size_t i = 0; i < n_keys; i++)
		given += node_get(n, keys[i]) != NULL;
	return given;
}

static void read_content(
	struct problems *ps, const struct node *n, const char *what, struct plan_content *ret)
{
	static const char *const kinds[] = {"text", "file", "bytes"};
	size_t given;

	if (!keys_read(ps, &table_content, n, ret))
		return;
	given = count_given(n, kinds, ARRAY_SIZE(kinds));
	if (!given)
		problem_add(ps, n, "'%s' lacks what it holds: one of text, file, bytes", what);
	else if (given > 1)
		problem_add(ps, n, "'%s' holds one of text, file, bytes, not several", what);
}

void read_stdin(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_batch *b = &((struct plan_phase *)target)->batch;

	b->has_input = true;
	if (n->kind == NODE_SCALAR)
		read_any_text(ps, k, n, &b->input.text);
	else
		read_content(ps, n, k->name, &b->input);
}

/* The name of a file below {work}. */
static bool read_path(struct problems *ps, const struct node *name)
{
	if (name->text[0] && key_is_relative(name->text) &&
		name->text[strlen(name->text) - 1] != '/')
		return true;
	problem_add(ps, name,
		"'%s' must be a relative path without '..': it is looked for below {work}",
		name->text);
	return false;
}

static bool is_mapping_of_files(struct problems *ps, const struct key *k, const struct node *n)
{
	auto_free char *what = NULL;

	if (n->kind == NODE_MAPPING && n->n)
		return true;
	what = node_describe(n);
	problem_add(ps, n, "'%s' must be a mapping of paths to what they hold, not %s", k->name,
		n->kind == NODE_MAPPING ? "an empty one" : what);
	return false;
}

void read_files(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_batch *b = &((struct plan_phase *)target)->batch;

	if (!is_mapping_of_files(ps, k, n))
		return;
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		const struct node *name = n->items[i], *value = n->items[i + 1];
		struct plan_file *f;
		uint64_t bytes;

		if (!read_path(ps, name))
			continue;
		b->files = xreallocarray(b->files, b->n_files + 1, sizeof(*b->files));
		f = &b->files[b->n_files++];
		*f = (struct plan_file){.path = xstrdup(name->text), .content.bytes = -1};
		if (value->kind != NODE_SCALAR)
			read_content(ps, value, name->text, &f->content);
		else if (value_size(ps, value, name->text, BYTES_MAX, &bytes))
			f->content.bytes = (int64_t)bytes;
	}
}

static struct plan_output *add_output(struct plan_batch *b, const char *path)
{
	struct plan_output *o;

	b->outputs = xreallocarray(b->outputs, b->n_outputs + 1, sizeof(*b->outputs));
	o = &b->outputs[b->n_outputs++];
	*o = (struct plan_output){.path = xstrdup(path), .bytes = -1};
	return o;
}

/* text: what a scalar means; else a mapping is needed. */
static void read_output(
	struct problems *ps, const struct node *n, const char *what, struct plan_output *o)
{
	if (n->kind == NODE_SCALAR && !node_is_null(n)) {
		o->text = xstrdup(n->text);
		return;
	}
	if (!keys_read(ps, &table_output, n, o))
		return;
	if (!n->n)
		problem_add(ps, n, "'%s' lacks what it must be: text, file, bytes or sha256", what);
	if (o->text && o->file)
		problem_add(ps, n, "'%s' has both 'text' and 'file'; give one of them", what);
	if (o->text && o->bytes >= 0 && (uint64_t)o->bytes != strlen(o->text))
		problem_add(ps, node_get(n, "bytes"), "'bytes' is %lld but 'text' has %zu bytes",
			(long long)o->bytes, strlen(o->text));
}

static void read_stdout(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	read_output(ps, n, k->name, add_output(target, NULL));
}

static void read_output_files(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	if (!is_mapping_of_files(ps, k, n))
		return;
	for (size_t i = 0; i + 1 < n->n; i += 2)
		if (read_path(ps, n->items[i]))
			read_output(ps, n->items[i + 1], n->items[i]->text,
				add_output(target, n->items[i]->text));
}

void read_run_expect(struct problems *ps, const struct node *n, struct plan_batch *ret)
{
	if (n->kind == NODE_SCALAR) {
		problem_add(ps, n,
			"'expect' of a phase with 'run' must be a mapping of 'stdout' and 'files'; "
			"the exit code is given by 'exit'");
		return;
	}
	if (keys_read(ps, &table_run_expect, n, ret) && !n->n)
		problem_add(ps, n, "'expect' lacks what is checked: 'stdout' or 'files'");
}

static void content_release(struct plan_content *c)
{
	free(c->text);
	free(c->file);
}

void batch_release(struct plan_batch *b)
{
	content_release(&b->input);
	for (size_t i = 0; i < b->n_files; i++) {
		free(b->files[i].path);
		content_release(&b->files[i].content);
	}
	free(b->files);
	for (size_t i = 0; i < b->n_outputs; i++) {
		free(b->outputs[i].path);
		free(b->outputs[i].text);
		free(b->outputs[i].file);
		free(b->outputs[i].sha256);
	}
	free(b->outputs);
	*b = (struct plan_batch){0};
}

static const struct key run_expect[] = {
	{"stdout", KEY_PART, .read = read_stdout,
		.doc = "What it must have printed: a text, or a mapping."},
	{"files", KEY_PART, .read = read_output_files,
		.doc = "Files in `{work}` that it must have written: a mapping of paths to a text, "
		       "or to a mapping as in `stdout`."},
};
const struct key_table table_run_expect = {
	"train.phases[].expect of a run", run_expect, ARRAY_SIZE(run_expect)};

#define OUTPUT(field) offsetof(struct plan_output, field)
static const struct key output[] = {
	{"text", KEY_PART, .read = read_output_text, .doc = "The exact content."},
	{"file", KEY_TEXT, OUTPUT(file),
		.doc = "File with the exact content, relative to whet.yaml; may hold "
		       "placeholders."},
	{"bytes", KEY_SIZE, OUTPUT(bytes), 0, BYTES_MAX, .doc = "Its length."},
	{"sha256", KEY_PART, .read = read_sha256, .doc = "Its SHA-256, 64 hexadecimal digits."},
};
const struct key_table table_output = {"train.phases[].expect.stdout", output, ARRAY_SIZE(output)};

#define CONTENT(field) offsetof(struct plan_content, field)
static const struct key content[] = {
	{"text", KEY_PART, .read = read_content_text, .doc = "This text."},
	{"file", KEY_TEXT, CONTENT(file),
		.doc = "The content of this file, relative to whet.yaml; may hold placeholders."},
	{"bytes", KEY_SIZE, CONTENT(bytes), 0, BYTES_MAX, .doc = "That many generated bytes."},
};
const struct key_table table_content = {"train.phases[].stdin", content, ARRAY_SIZE(content)};
