#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "release/release.h"

/* sha256sum(1) would escape these, and then the line no longer starts with the digest. */
static bool is_plain(const char *name)
{
	return *name && !strpbrk(name, "\n\r\\");
}

int release_checksums(const char *folder, const struct strv *names, struct error *err)
{
	auto_free char *path = path_join(folder, "SHA256SUMS");
	auto_strv struct strv sorted = STRV_INIT;
	auto_buf struct buf text = BUF_INIT;

	strv_add_all(&sorted, names);
	strv_sort(&sorted);
	for (size_t i = 0; i < sorted.n; i++) {
		auto_free char *file = path_join(folder, sorted.v[i]);
		char hex[SHA256_HEX];

		if (!is_plain(sorted.v[i]) || *sorted.v[i] == '/')
			return error_set(err, ERR_CONFIG,
				"'%s' cannot be listed in SHA256SUMS: expected a relative name "
				"without "
				"line ends and backslashes",
				sorted.v[i]);
		if (sha256_file(file, hex, err) < 0)
			return -1;
		buf_addf(&text, "%s  %s\n", hex, sorted.v[i]);
	}
	return file_write_atomic(path, buf_str(&text), text.n, 0644, err);
}

int release_check(const char *folder, const char *name, struct error *err)
{
	auto_free char *sums = path_join(folder, "SHA256SUMS"), *path = path_join(folder, name);
	auto_buf struct buf text = BUF_INIT;
	char hex[SHA256_HEX];
	char *save = NULL;

	if (file_read(sums, 1 << 20, &text, err) < 0 || sha256_file(path, hex, err) < 0)
		return -1;
	(void)buf_str(&text);
	for (char *l = strtok_r(text.p, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		if (strlen(l) < SHA256_HEX + 1 || strcmp(l + SHA256_HEX + 1, name) != 0)
			continue;
		if (strncmp(l, hex, SHA256_HEX - 1) == 0)
			return 0;
		return error_set(err, ERR_MISMATCH,
			"'%s' is not what '%s' says: its SHA-256 is %s, expected %.64s; it was "
			"damaged or changed after the release",
			path, sums, hex, l);
	}
	return error_set(err, ERR_MISMATCH, "'%s' does not list '%s'", sums, name);
}
