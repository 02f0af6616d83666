#include "config/keys.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/values.h"

const char *key_type_name(const struct key *k)
{
	static const char *const names[] = {
		[KEY_TEXT] = "text",
		[KEY_NAME] = "name",
		[KEY_PATH] = "path",
		[KEY_LIST] = "text or list",
		[KEY_PATHS] = "path or list",
		[KEY_ENV] = "mapping",
		[KEY_BOOL] = "true or false",
		[KEY_U32] = "number",
		[KEY_U64] = "number",
		[KEY_I64] = "number",
		[KEY_WEIGHT] = "number",
		[KEY_PERCENT] = "percentage",
		[KEY_DURATION] = "duration",
		[KEY_SIZE] = "size",
		[KEY_PART] = "see below",
		[KEY_REFUSED] = "refused",
		[KEY_LATER] = "later version",
	};

	return names[k->type];
}

char *keys_list(const struct key_table *t)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < t->n; i++)
		if (t->keys[i].type != KEY_REFUSED && t->keys[i].type != KEY_LATER)
			buf_addf(&b, "%s%s", b.n ? ", " : "", t->keys[i].name);
	return buf_detach(&b);
}

static const struct key *find_key(const struct key_table *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->keys[i].name, name))
			return &t->keys[i];
	return NULL;
}

static void unknown_key(struct problems *ps, const struct key_table *t, const struct node *key)
{
	auto_free char *known = keys_list(t);
	const char **names = xcalloc(t->n, sizeof(*names));
	const char *near;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->keys[i].type != KEY_REFUSED && t->keys[i].type != KEY_LATER)
			names[n++] = t->keys[i].name;
	near = nearest_word(key->text, names, n);
	if (near)
		problem_add(ps, key, "unknown key '%s' in %s; did you mean '%s'? Known keys: %s",
			key->text, t->name, near, known);
	else
		problem_add(ps, key, "unknown key '%s' in %s; known keys: %s", key->text, t->name,
			known);
	free(names);
}

static bool is_name(const char *s)
{
	if (!isalnum((unsigned char)s[0]) || strlen(s) > 100)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._-+~", *s))
			return false;
	return true;
}

bool key_is_relative(const char *s)
{
	if (s[0] == '/')
		return false;
	for (const char *p = s; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (!strncmp(p, "..", 2) && (!p[2] || p[2] == '/'))
			return false;
	}
	return true;
}

static void read_text(struct problems *ps, const struct key *k, const struct node *n, char **ret)
{
	auto_free char *text = NULL;

	if (!value_text(ps, n, k->name, &text))
		return;
	if (k->type == KEY_NAME && !is_name(text)) {
		problem_add(ps, n,
			"'%s' must be a name of letters, digits, '.', '_', '-', '+', '~' that "
			"begins with a "
			"letter or digit, not '%s'",
			k->name, text);
		return;
	}
	if (k->type == KEY_PATH && !key_is_relative(text)) {
		problem_add(ps, n, "'%s' must be a relative path without '..', not '%s'", k->name,
			text);
		return;
	}
	free(*ret);
	*ret = take_ptr(text);
}

static void read_list(
	struct problems *ps, const struct key *k, const struct node *n, struct strv *ret)
{
	struct key one = *k;
	size_t items = n->kind == NODE_SEQUENCE ? n->n : 1;

	one.type = k->type == KEY_PATHS ? KEY_PATH : KEY_TEXT;
	if (n->kind == NODE_MAPPING) {
		problem_add(
			ps, n, "'%s' must be a text or a list of texts, not a mapping", k->name);
		return;
	}
	for (size_t i = 0; i < items; i++) {
		char *text = NULL;

		read_text(ps, &one, n->kind == NODE_SEQUENCE ? n->items[i] : n, &text);
		if (text)
			strv_take(ret, text);
	}
}

static bool is_env_name(const char *s)
{
	if (!isalpha((unsigned char)s[0]) && s[0] != '_')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

static void read_env(
	struct problems *ps, const struct key *k, const struct node *n, struct strv *ret)
{
	if (n->kind != NODE_MAPPING) {
		auto_free char *what = node_describe(n);

		problem_add(
			ps, n, "'%s' must be a mapping of names to values, not %s", k->name, what);
		return;
	}
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		const struct node *name = n->items[i], *value = n->items[i + 1];

		if (!is_env_name(name->text))
			problem_add(
				ps, name, "'%s' is no name of an environment variable", name->text);
		else if (value->kind != NODE_SCALAR || node_is_null(value))
			problem_add(ps, value,
				"the value of '%s' must be a text (\"\" for an empty one)",
				name->text);
		else
			env_set(ret, name->text, value->text);
	}
}

static void refuse(
	struct problems *ps, const struct key *k, const struct node *key, const struct node *value)
{
	if (k->type == KEY_REFUSED) {
		problem_add(ps, key, "'%s' is refused: %s", k->name, k->text);
		return;
	}
	if (k->text && value->kind == NODE_SCALAR && !strcmp(value->text, k->text))
		return;
	if (k->text)
		problem_add(ps, value,
			"'%s' other than '%s' is not supported in this version; leave the key out",
			k->name, k->text);
	else
		problem_add(
			ps, key, "'%s' is not supported in this version; leave it out", k->name);
}

static void read_integer(
	struct problems *ps, const struct key *k, const struct node *n, void *field)
{
	uint64_t v;

	if (k->type == KEY_DURATION   ? !value_duration(ps, n, k->name, k->min, k->max, &v)
		: k->type == KEY_SIZE ? !value_size(ps, n, k->name, k->max, &v)
				      : !value_number(ps, n, k->name, k->min, k->max, &v))
		return;
	if (k->type == KEY_U32)
		*(uint32_t *)field = (uint32_t)v;
	else if (k->type == KEY_I64 || k->type == KEY_SIZE)
		*(int64_t *)field = (int64_t)v;
	else
		*(uint64_t *)field = v;
}

static void read_value(struct problems *ps, const struct key *k, const struct node *key,
	const struct node *n, void *target)
{
	void *field = (char *)target + k->at;

	switch (k->type) {
	case KEY_TEXT:
	case KEY_NAME:
	case KEY_PATH:
		read_text(ps, k, n, field);
		break;
	case KEY_LIST:
	case KEY_PATHS:
		read_list(ps, k, n, field);
		break;
	case KEY_ENV:
		read_env(ps, k, n, field);
		break;
	case KEY_BOOL:
		value_bool(ps, n, k->name, field);
		break;
	case KEY_WEIGHT:
		value_weight(ps, n, k->name, field);
		break;
	case KEY_PERCENT:
		value_percent(ps, n, k->name, field);
		break;
	case KEY_PART:
		if (k->read)
			k->read(ps, k, n, target);
		break;
	case KEY_REFUSED:
	case KEY_LATER:
		refuse(ps, k, key, n);
		break;
	default:
		read_integer(ps, k, n, field);
	}
}

bool keys_read(struct problems *ps, const struct key_table *t, const struct node *n, void *target)
{
	if (n->kind != NODE_MAPPING) {
		auto_free char *what = node_describe(n), *known = keys_list(t);

		problem_add(
			ps, n, "%s must be a mapping, not %s; its keys: %s", t->name, what, known);
		return false;
	}
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		const struct key *k = find_key(t, n->items[i]->text);

		if (k)
			read_value(ps, k, n->items[i], n->items[i + 1], target);
		else
			unknown_key(ps, t, n->items[i]);
	}
	for (size_t i = 0; i < t->n; i++)
		if (t->keys[i].required && !node_get(n, t->keys[i].name))
			problem_add(ps, n, "%s lacks the key '%s': %s", t->name, t->keys[i].name,
				t->keys[i].doc);
	return true;
}
