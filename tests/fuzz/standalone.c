/* Runs a fuzz target over files, for compilers without libFuzzer. */
#include <stdint.h>
#include <stdio.h>

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct buf b = BUF_INIT;
		struct error err = ERROR_INIT;

		if (file_read(argv[i], 0, &b, &err) < 0) {
			fprintf(stderr, "%s\n", err.msg);
			return 1;
		}
		LLVMFuzzerTestOneInput((const uint8_t *)buf_str(&b), b.n);
		buf_release(&b);
	}
	printf("%d inputs\n", argc - 1);
	return 0;
}
