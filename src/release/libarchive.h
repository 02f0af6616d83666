/* libarchive, loaded when the first archive is written or read. It brings a dozen further libraries
 * along, and loading those would take longer than all the rest of starting whet. */
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "base/error.h"

#define LIBARCHIVE_FUNCTIONS(F)                                                                    \
	F(archive_entry_clear)                                                                     \
	F(archive_entry_filetype)                                                                  \
	F(archive_entry_free)                                                                      \
	F(archive_entry_new)                                                                       \
	F(archive_entry_pathname)                                                                  \
	F(archive_entry_set_filetype)                                                              \
	F(archive_entry_set_gid)                                                                   \
	F(archive_entry_set_gname)                                                                 \
	F(archive_entry_set_mtime)                                                                 \
	F(archive_entry_set_pathname)                                                              \
	F(archive_entry_set_perm)                                                                  \
	F(archive_entry_set_size)                                                                  \
	F(archive_entry_set_uid)                                                                   \
	F(archive_entry_set_uname)                                                                 \
	F(archive_error_string)                                                                    \
	F(archive_read_data)                                                                       \
	F(archive_read_free)                                                                       \
	F(archive_read_new)                                                                        \
	F(archive_read_next_header)                                                                \
	F(archive_read_open_filename)                                                              \
	F(archive_read_support_filter_gzip)                                                        \
	F(archive_read_support_format_tar)                                                         \
	F(archive_write_add_filter_gzip)                                                           \
	F(archive_write_close)                                                                     \
	F(archive_write_data)                                                                      \
	F(archive_write_free)                                                                      \
	F(archive_write_header)                                                                    \
	F(archive_write_new)                                                                       \
	F(archive_write_open_fd)                                                                   \
	F(archive_write_set_filter_option)                                                         \
	F(archive_write_set_format_ustar)

struct libarchive {
#define LIBARCHIVE_MEMBER(name) __typeof__(name) *name;
	LIBARCHIVE_FUNCTIONS(LIBARCHIVE_MEMBER)
#undef LIBARCHIVE_MEMBER
};

/* ERR_ENVIRONMENT when the library is not there. It stays loaded. */
const struct libarchive *libarchive(struct error *err);
