/* Runs a target of an HTTP reader over files and tells what came of each. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "http_script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int main(int argc, char **argv)
{
	tell_all();
	for (int i = 1; i < argc; i++) {
		const char *name = strrchr(argv[i], '/');
		struct buf b = BUF_INIT;
		struct error err = ERROR_INIT;

		if (file_read(argv[i], 0, &b, &err) < 0) {
			fprintf(stderr, "%s\n", err.msg);
			return 1;
		}
		printf("%s:\n", name ? name + 1 : argv[i]);
		fflush(stdout);
		LLVMFuzzerTestOneInput((const uint8_t *)buf_str(&b), b.n);
		buf_release(&b);
	}
	return 0;
}
