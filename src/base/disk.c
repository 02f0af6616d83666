#include "base/disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/file.h"
#include "base/mem.h"

/* Less than this is used up by the smallest thing that a build does. */
#define ROOM_BYTES ((uint64_t)64 << 10)

static char *nearest_folder(const char *path)
{
	auto_free char *p = path_absolute(path);

	while (!path_is_dir(p) && strcmp(p, "/") != 0) {
		char *above = path_dirname(p);

		free(p);
		p = above;
	}
	return take_ptr(p);
}

char *disk_full_text(const char *path)
{
	auto_free char *folder = nearest_folder(path);
	struct statvfs s;
	uint64_t free_bytes, all;

	if (statvfs(folder, &s) < 0)
		return NULL;
	free_bytes = (uint64_t)s.f_bavail * s.f_frsize;
	all = (uint64_t)s.f_blocks * s.f_frsize;
	/* Kernel file systems without a size are never full. */
	if (!all)
		return NULL;
	if (s.f_files && !s.f_favail)
		return xasprintf(
			"the disk that holds '%s' is full (no room for another file)", folder);
	if (free_bytes >= ROOM_BYTES)
		return NULL;
	return xasprintf("the disk that holds '%s' is full (%llu KiB free of %llu KiB)", folder,
		(unsigned long long)free_bytes >> 10, (unsigned long long)all >> 10);
}

bool disk_full_named(const char *text)
{
	return strstr(text, "No space left on device") || strstr(text, "Disk quota exceeded") ||
	       strstr(text, "disk full") || strstr(text, "Disk full");
}
