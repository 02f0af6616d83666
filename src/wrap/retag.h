/* Objects of an LLVM whose data records are laid out in another way than those of the program's
 * profile runtime. In one section the two destroy each other: the runtime takes a record for one of
 * its own layout, and the program dies. So such objects get sections and a runtime of their own,
 * by other names of the same length: "__llvm_prf_data" becomes "__wr08_prf_data", 08 being the
 * version of raw profiles that this layout belongs to. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define RETAG_FORMAT "__wr%02u_" /* in the place of "__llvm_" */

/* Renames in the bytes of a relocatable object (64-bit, little-endian; ERR_UNSUPPORTED otherwise).
 * An object, other than the runtime itself, gets an undefined symbol, so that the linker takes the
 * runtime out of its archive. It may hold no counters at all; then nothing changes. */
int retag_bytes(uint8_t *data, size_t n, int raw_version, bool runtime, struct error *err);
/* The same in a file, which is replaced as a whole: a cache may have it by another name. */
int retag_file(const char *path, int raw_version, bool runtime, struct error *err);
