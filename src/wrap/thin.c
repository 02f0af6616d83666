#include "wrap/thin.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/reader.h"

#define MAGIC_SIZE 8
#define HEADER_SIZE 60

struct header {
	char name[17];
	uint64_t size;
};

static int read_header(struct reader *r, const char *path, struct header *ret, struct error *err)
{
	const uint8_t *p = rd_bytes(r, HEADER_SIZE);
	char size[11];
	char *end;

	if (!p || p[58] != '`' || p[59] != '\n')
		return error_set(err, ERR_CORRUPT, "archive '%s': no member header at offset %zu",
			path, r->off);
	memcpy(ret->name, p, 16);
	ret->name[16] = 0;
	for (size_t n = 16; n && ret->name[n - 1] == ' ';)
		ret->name[--n] = 0;
	memcpy(size, p + 48, 10);
	size[10] = 0;
	ret->size = strtoull(size, &end, 10);
	if (end == size)
		return error_set(
			err, ERR_CORRUPT, "archive '%s': member '%s' has no size", path, ret->name);
	return 0;
}

/* The entry of the name table that "/123" points to; entries end with "/\n". */
static char *long_name(const struct reader *table, const char *name)
{
	size_t off = strtoull(name + 1, NULL, 10);
	const char *p = (const char *)table->p + off;
	const char *end;

	if (!table->p || off >= table->n)
		return NULL;
	end = memchr(p, '\n', table->n - off);
	if (!end)
		end = (const char *)table->p + table->n;
	if (end > p && end[-1] == '/')
		end--;
	return xstrndup(p, (size_t)(end - p));
}

static char *short_name(const char *name)
{
	return xstrndup(name, strcspn(name, "/"));
}

int thin_walk(const struct file_map *f, const char *path, thin_fn *fn, void *ctx, struct error *err)
{
	auto_free char *folder = path_dirname(path);
	struct reader r = reader_of(f->p, f->n);
	struct reader names = {0};
	struct header h;

	rd_bytes(&r, MAGIC_SIZE);
	while (r.off < r.n) {
		auto_free char *name = NULL;
		auto_free char *joined = NULL;
		auto_free char *file = NULL;
		bool table;

		if (read_header(&r, path, &h, err) < 0)
			return -1;
		table = strcmp(h.name, "/") == 0 || strcmp(h.name, "//") == 0 ||
			strcmp(h.name, "/SYM64/") == 0;
		if (table) {
			const uint8_t *p = rd_bytes(&r, h.size + (h.size & 1));

			if (!p && h.size)
				return error_set(err, ERR_CORRUPT,
					"archive '%s' ends inside its tables", path);
			if (strcmp(h.name, "//") == 0)
				names = reader_of(p, h.size);
			continue;
		}
		name = h.name[0] == '/' && isdigit((unsigned char)h.name[1])
			       ? long_name(&names, h.name)
			       : short_name(h.name);
		if (!name)
			return error_set(
				err, ERR_CORRUPT, "archive '%s': no name for '%s'", path, h.name);
		joined = path_join(folder, name);
		file = path_clean(joined);
		if (fn(ctx, name, file, err) < 0)
			return -1;
	}
	return 0;
}
