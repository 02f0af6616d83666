#include "release/libarchive.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

#define SONAME "libarchive.so.13" /* that of libarchive 3, whose headers are compiled in */
_Static_assert(ARCHIVE_VERSION_NUMBER / 1000000 == 3, "another libarchive has another soname");

static const struct {
	const char *name;
	size_t at;
} functions[] = {
#define LIBARCHIVE_ROW(name) {#name, offsetof(struct libarchive, name)},
	LIBARCHIVE_FUNCTIONS(LIBARCHIVE_ROW)
#undef LIBARCHIVE_ROW
};

const struct libarchive *libarchive(struct error *err)
{
	static struct libarchive loaded;
	static void *library;

	if (library)
		return &loaded;
	library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; library && i < ARRAY_SIZE(functions); i++) {
		void *f = dlsym(library, functions[i].name);

		if (!f) {
			dlclose(library);
			library = NULL;
		}
		memcpy((char *)&loaded + functions[i].at, &f, sizeof(f));
	}
	if (library)
		return &loaded;
	error_set(err, ERR_ENVIRONMENT,
		"cannot load '" SONAME "', which writes and reads archives: %s; install libarchive",
		dlerror());
	return NULL;
}
