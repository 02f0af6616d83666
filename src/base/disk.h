/* Room on the disk. */
#pragma once

#include <stdbool.h>

/* "the disk that holds 'FOLDER' is full (N of M free)", or NULL when there is room for another
 * file. FOLDER is path, or the nearest folder above it that exists. Caller frees. */
char *disk_full_text(const char *path);
/* Whether a message, of whet or of a program, says that there was no room. */
bool disk_full_named(const char *text);
