/* What is put into a service's folder before it starts: files and templates. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "config/expand.h"
#include "config/keys.h"
#include "config/values.h"

#define FILE_BYTES_MAX ((uint64_t)1 << 30)
#define TEMPLATE_MAX ((size_t)1 << 20)

void documents_release(struct plan_document *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].path);
		free(v[i].text);
	}
	free(v);
}

void templates_release(struct plan_template *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].to);
		free(v[i].text);
	}
	free(v);
}

/* A file's name below the folder: relative, without "..", and no folder's. */
static bool file_name(struct problems *ps, const struct node *n)
{
	size_t len = strlen(n->text);

	if (len && len < 1000 && key_is_relative(n->text) && n->text[len - 1] != '/' &&
		strcmp(path_basename(n->text), ".") != 0)
		return true;
	problem_add(
		ps, n, "a file must be named by a relative path without '..', not '%s'", n->text);
	return false;
}

static const struct node *mapping_of(
	struct problems *ps, const char *key, const struct node *n, const char *what)
{
	auto_free char *found = node_describe(n);

	if (n->kind == NODE_MAPPING && n->n)
		return n;
	problem_add(ps, n, "'%s' must be a mapping of %s, not %s", key, what, found);
	return NULL;
}

static void read_document(
	struct problems *ps, const struct node *name, const struct node *n, struct plan_document *f)
{
	const struct node *text = node_get(n, "text");

	*f = (struct plan_document){.path = xstrdup(name->text)};
	if (n->kind != NODE_MAPPING) {
		value_size(ps, n, name->text, FILE_BYTES_MAX, &f->bytes);
		return;
	}
	if (!text || n->n != 2 || text->kind != NODE_SCALAR)
		problem_add(
			ps, n, "'%s' must be a size such as 5KiB, or {text: '...'}", name->text);
	else
		f->text = xstrdup(text->text);
}

static void read_documents(
	struct problems *ps, const struct node *n, struct plan_document **v, size_t *count)
{
	if (!mapping_of(ps, "files", n, "file names to sizes"))
		return;
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		if (!file_name(ps, n->items[i]))
			continue;
		*v = xreallocarray(*v, *count + 1, sizeof(**v));
		read_document(ps, n->items[i], n->items[i + 1], &(*v)[(*count)++]);
	}
}

void read_service_files(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_service *s = target;

	read_documents(ps, n, &s->files, &s->n_files);
}

void read_train_files(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_train *t = target;

	read_documents(ps, n, &t->files, &t->n_files);
}

/* The text itself is read when the whole file is checked: only then its folder is known. */
void read_templates(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_service *s = target;

	if (!mapping_of(ps, "template", n, "file names to the templates that they are made of"))
		return;
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		const struct node *from = n->items[i + 1];
		auto_free char *text = NULL;

		if (!file_name(ps, n->items[i]) || !value_text(ps, from, n->items[i]->text, &text))
			continue;
		s->templates =
			xreallocarray(s->templates, s->n_templates + 1, sizeof(*s->templates));
		s->templates[s->n_templates++] =
			(struct plan_template){.to = xstrdup(n->items[i]->text)};
	}
}

static struct plan_template *find_template(struct plan_service *s, const char *to)
{
	for (size_t i = 0; i < s->n_templates; i++)
		if (!strcmp(s->templates[i].to, to))
			return &s->templates[i];
	return NULL;
}

/* Line by line, to say where. */
static void check_template(struct problems *ps, const struct node *at, const char *name,
	const char *text, const struct strv *names)
{
	auto_free char *copy = xstrdup(text);
	int line = 0;

	for (char *p = copy, *end; p; p = end) {
		auto_free char *fault = NULL;

		line++;
		end = strchr(p, '\n');
		if (end)
			*end++ = '\0';
		fault = placeholder_fault(p, names);
		if (fault)
			problem_add(ps, at, "template '%s', line %d: %s", name, line, fault);
	}
}

void check_templates(struct problems *ps, const struct node *n, const char *root,
	struct plan_service *s, const struct strv *names)
{
	for (size_t i = 0; n && n->kind == NODE_MAPPING && i + 1 < n->n; i += 2) {
		struct plan_template *t = find_template(s, n->items[i]->text);
		const struct node *from = n->items[i + 1];
		auto_buf struct buf text = BUF_INIT;
		auto_free char *path = t ? path_join(root, from->text) : NULL;
		struct error err = ERROR_INIT;

		if (!t || t->text)
			continue;
		if (!path_exists(path))
			problem_add(ps, from,
				"there is no template '%s' (its path is relative to whet.yaml)",
				from->text);
		else if (file_read(path, TEMPLATE_MAX, &text, &err) < 0)
			problem_add(ps, from, "%s", err.msg);
		else if (text.n && memchr(text.p, '\0', text.n))
			problem_add(ps, from, "template '%s' holds a NUL byte and is no text",
				from->text);
		else
			check_template(ps, from, from->text, buf_str(&text), names);
		error_release(&err);
		t->text = xstrdup(buf_str(&text));
	}
}

/* ---- Certificates -------------------------------------------------------------------------------
 */

static unsigned int certs_in_text(const char *text)
{
	unsigned int r = 0;

	if (strstr(text, "{cert:rsa}") || strstr(text, "{key:rsa}"))
		r |= PLAN_CERT_RSA;
	if (strstr(text, "{cert:ecdsa}") || strstr(text, "{key:ecdsa}"))
		r |= PLAN_CERT_ECDSA;
	/* There is none without a certificate that it signed. */
	if (strstr(text, "{ca}"))
		r |= PLAN_CERT_ECDSA;
	return r;
}

static unsigned int certs_in_node(const struct node *n)
{
	unsigned int r = 0;

	if (n->kind == NODE_SCALAR)
		return certs_in_text(n->text);
	for (size_t i = 0; i < n->n; i++)
		r |= certs_in_node(n->items[i]);
	return r;
}

static unsigned certs_in_templates(const struct plan_service *s)
{
	unsigned certs = 0;

	for (size_t k = 0; k < s->n_templates; k++)
		certs |= certs_in_text(s->templates[k].text);
	return certs;
}

void find_certs(const struct node *train, const struct node *bench, struct plan *p)
{
	p->train.certs = train ? certs_in_node(train) : 0;
	p->train.certs |= bench ? certs_in_node(bench) : 0;
	for (size_t i = 0; i < p->train.n_services; i++)
		p->train.certs |= certs_in_templates(&p->train.services[i]);
	for (size_t i = 0; i < p->bench.n_peers; i++)
		p->train.certs |= certs_in_templates(&p->bench.peers[i].service);
}

void digest_templates(const struct plan_train *t, char hex[65])
{
	struct sha256 h;
	bool any = false;

	sha256_begin(&h);
	sha256_adds(&h, hex);
	for (size_t i = 0; i < t->n_services; i++) {
		for (size_t k = 0; k < t->services[i].n_templates; k++) {
			any = true;
			sha256_adds(&h, t->services[i].name);
			sha256_adds(&h, t->services[i].templates[k].to);
			sha256_adds(&h, t->services[i].templates[k].text);
		}
	}
	if (any)
		sha256_end(&h, hex);
	else
		sha256_end(&h, (char[65]){0});
}
