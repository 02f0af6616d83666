/* What is put into a service's folder before it starts: generated files and rendered templates, and
 * the certificates and files of the whole training. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "http/certs.h"
#include "service/internal.h"

#define BLOCK 65536
/* Of all generated files: a fixed time gives a fixed ETag and Last-Modified. */
#define FILE_TIME 1700000000

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Files of one seed differ by their names. */
static uint64_t seed_of(uint64_t seed, const char *path)
{
	char hex[SHA256_HEX];
	auto_free char *text = xasprintf("%llu %s", (unsigned long long)seed, path);

	sha256_of(text, strlen(text), hex);
	hex[16] = '\0';
	return strtoull(hex, NULL, 16);
}

static bool is_text(const char *path)
{
	static const char *const endings[] = {".html", ".htm", ".css", ".js", ".mjs", ".json",
		".txt", ".md", ".xml", ".svg", ".csv", ".php", ".conf", ".toml", ".yaml"};
	const char *dot = strrchr(path_basename(path), '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(endings); i++)
		if (!strcmp(dot, endings[i]))
			return true;
	return false;
}

/* Words in lines: what a text compresses to is about that of a real one. */
static void fill_text(uint64_t *state, char *to, size_t n)
{
	static const char words[16][12] = {"answer ", "body ", "cache ", "document ", "every ",
		"file ", "for ", "header ", "in ", "line ", "of ", "page ", "request ", "server ",
		"the ", "which "};
	size_t at = 0, column = 0;

	while (at < n) {
		uint64_t r = next_random(state);

		for (int i = 0; i < 16 && at < n; i++, r >>= 4) {
			const char *word = words[r & 15];
			size_t len = strlen(word);

			if (column + len > 76) {
				to[at++] = '\n';
				column = 0;
			}
			len = len < n - at ? len : n - at;
			memcpy(to + at, word, len);
			at += len;
			column += len;
		}
	}
}

static void fill_bytes(uint64_t *state, char *to, size_t n)
{
	for (size_t at = 0; at < n; at += 8) {
		uint64_t r = next_random(state);

		memcpy(to + at, &r, n - at < 8 ? n - at : 8);
	}
}

static int write_generated(int fd, const struct plan_document *d, uint64_t seed)
{
	auto_free char *block = xmalloc(BLOCK);
	uint64_t state = seed_of(seed, d->path), left = d->bytes;
	bool text = is_text(d->path);

	while (left) {
		size_t n = left < BLOCK ? (size_t)left : BLOCK;

		if (text)
			fill_text(&state, block, n);
		else
			fill_bytes(&state, block, n);
		if (file_write_all(fd, block, n) < 0)
			return -1;
		left -= n;
	}
	return 0;
}

/* A server may run as any user: the folders below the service's own are open to all for reading,
 * whatever umask whet was started with. */
static int make_parents(const char *folder, const char *path, struct error *err)
{
	auto_free char *full = path_join(folder, path), *parent = path_dirname(full);

	if (dir_create(parent, 0755, err) < 0)
		return -1;
	while (strlen(parent) >= strlen(folder) && chmod(parent, 0755) == 0) {
		char *up = path_dirname(parent);

		free(parent);
		parent = up;
	}
	return 0;
}

static int create(const char *path, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd >= 0 && fchmod(fd, 0644) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return file_error(err, "write", path);
}

static int make_document(
	const struct plan_document *d, const char *folder, uint64_t seed, struct error *err)
{
	static const struct timespec times[2] = {{.tv_sec = FILE_TIME}, {.tv_sec = FILE_TIME}};
	auto_free char *path = path_join(folder, d->path);
	auto_close int fd = -1;

	if (make_parents(folder, d->path, err) < 0)
		return -1;
	fd = create(path, err);
	if (fd < 0)
		return -1;
	if ((d->text ? file_write_all(fd, d->text, strlen(d->text))
		     : write_generated(fd, d, seed)) < 0 ||
		futimens(fd, times) < 0)
		return file_error(err, "write", path);
	return 0;
}

static int make_documents(const struct plan_document *v, size_t n, const char *folder,
	uint64_t seed, struct error *err)
{
	for (size_t i = 0; i < n; i++)
		if (make_document(&v[i], folder, seed, err) < 0)
			return -1;
	return 0;
}

static int render(const struct plan_template *t, const struct strv *vars, const char *folder,
	struct error *err)
{
	auto_free char *path = path_join(folder, t->to), *text = NULL;
	auto_close int fd = -1;

	if (plan_expand(t->text, vars, &text, err) < 0 || make_parents(folder, t->to, err) < 0)
		return -1;
	fd = create(path, err);
	if (fd < 0)
		return -1;
	return file_write_all(fd, text, strlen(text)) < 0 ? file_error(err, "write", path) : 0;
}

int service_documents(const struct service_options *o, struct error *err)
{
	const struct plan_service *p = o->plan;

	if (make_documents(p->files, p->n_files, o->work, o->seed, err) < 0)
		return error_context(err, "service '%s', files", p->name);
	for (size_t i = 0; i < p->n_templates; i++)
		if (render(&p->templates[i], o->vars, o->work, err) < 0)
			return error_context(
				err, "service '%s', template '%s'", p->name, p->templates[i].to);
	return 0;
}

static const char *const kinds[] = {"rsa", "ecdsa"};
static const unsigned int kind_bits[] = {PLAN_CERT_RSA, PLAN_CERT_ECDSA};

void service_content_names(const struct plan_train *t, const char *folder, struct strv *vars)
{
	auto_free char *root = path_absolute(folder);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		auto_free char *cert_name = xasprintf("cert:%s", kinds[i]);
		auto_free char *key_name = xasprintf("key:%s", kinds[i]);
		auto_free char *cert = xasprintf("%s/certs/%s.crt", root, kinds[i]);
		auto_free char *key = xasprintf("%s/certs/%s.key", root, kinds[i]);

		if (!(t->certs & kind_bits[i]))
			continue;
		env_set(vars, cert_name, cert);
		env_set(vars, key_name, key);
	}
	if (t->certs) {
		auto_free char *ca = path_join(root, "certs/ca.crt");

		env_set(vars, "ca", ca);
	}
	if (t->n_files) {
		auto_free char *files = path_join(root, "files");

		env_set(vars, "files", files);
	}
}

/* A server that is another user from its first instruction must be able to read its key. */
static int give_keys(const struct plan_train *t, const char *certs, struct error *err)
{
	for (size_t i = 0; i < t->n_services; i++) {
		struct tree_user user = {0};
		int r = 0;

		if (!service_changes_user(&t->services[i]))
			continue;
		if (service_user(&t->services[i], &user, err) < 0)
			return -1;
		for (size_t k = 0; r == 0 && k < ARRAY_SIZE(kinds); k++)
			if (t->certs & kind_bits[k])
				r = certs_give(certs, kinds[k], user.uid, user.gid, err);
		free(user.name);
		if (r < 0)
			return -1;
	}
	return 0;
}

int service_content(const struct plan_train *t, const char *folder, struct error *err)
{
	auto_free char *files = path_join(folder, "files"), *certs = path_join(folder, "certs");

	if (make_documents(t->files, t->n_files, files, t->seed, err) < 0)
		return error_context(err, "train, files");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if ((t->certs & kind_bits[i]) && certs_write(certs, kinds[i], err) < 0)
			return -1;
	return give_keys(t, certs, err);
}
