/* The reading and recording of branch stacks, for scripts.
 *
 *   probe                                       what this machine answers
 *   traces BINARY TEXT OUT traces|pairs         counts on standard output
 *   profile BINARY TEXT OUT PERF2BOLT MAJOR     OUT.traces and OUT.log lie beside it
 *   record PERF EVENT DATA LOG SECONDS PID...
 *   read PERF DATA BINARY OUT LOG               as traces
 *
 * Exit codes are whet's. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "layout/branch_record.h"

#define MINUTE UINT64_C(60000000000)

static int probe(struct error *err)
{
	struct branch_machine m;
	struct branch_choice c;
	int result;

	branch_machine_probe(getenv("PATH"), &m);
	branch_choose(&m, &c);
	if (c.event)
		printf("%s: %s\n", c.event->perf, c.event->what);
	result = branch_choice_demand(&c, err);
	branch_choice_release(&c);
	branch_machine_release(&m);
	return result;
}

static void tell(const struct branch_counts *c)
{
	auto_buf struct buf text = BUF_INIT;

	branch_counts_describe(c, &text);
	printf("%s\n", text.p);
	printf("processes %" PRIu64 " samples %" PRIu64 " foreign %" PRIu64 " inside %" PRIu64
	       " entering %" PRIu64 " leaving %" PRIu64 " outside %" PRIu64 " kernel %" PRIu64
	       " traces %" PRIu64 " contradicted %" PRIu64 "\n",
		c->processes, c->samples, c->foreign, c->inside, c->entering, c->leaving,
		c->outside, c->kernel, c->traces, c->contradicted);
}

static int read_text(const char *text, const struct branch_image *i, struct branch_reader **ret,
	struct error *err)
{
	struct branch_reader_options o = {.image = i};
	auto_close int fd = open(text, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return file_error(err, "read", text);
	*ret = branch_reader_new(&o);
	return branch_reader_take(*ret, fd, err);
}

static int traces(char **a, struct branch_image *i, struct branch_reader **r, struct error *err)
{
	if (branch_image_read(a[0], i, err) < 0 || read_text(a[1], i, r, err) < 0)
		return -1;
	tell(branch_reader_counts(*r));
	return branch_reader_write(
		*r, strcmp(a[3], "pairs") == 0 ? BRANCH_PAIRS : BRANCH_TRACES, a[2], err);
}

static int profile(char **a, struct branch_image *i, struct branch_reader **r, struct error *err)
{
	auto_free char *between = xasprintf("%s.traces", a[2]), *log = xasprintf("%s.log", a[2]);
	struct branch_profile_options o = {.binary = a[0],
		.out = a[2],
		.perf2bolt = a[3],
		.major = (unsigned)strtoul(a[4], NULL, 10),
		.traces = between,
		.log = log,
		.timeout_ns = 10 * MINUTE};

	if (branch_image_read(a[0], i, err) < 0 || read_text(a[1], i, r, err) < 0)
		return -1;
	tell(branch_reader_counts(*r));
	if (branch_counts_judge(branch_reader_counts(*r), i, err) < 0)
		return -1;
	return branch_profile_write(*r, &o, err);
}

static int record(char **a, int n, struct error *err)
{
	struct branch_event e = {.perf = a[1]};
	pid_t pids[64];
	struct branch_record_options o = {
		.perf = a[0], .event = &e, .data = a[2], .log = a[3], .pids = pids};
	struct branch_recording *r;

	for (int k = 5; k < n && o.n_pids < ARRAY_SIZE(pids); k++)
		pids[o.n_pids++] = (pid_t)strtol(a[k], NULL, 10);
	r = branch_record_start(&o, err);
	if (!r)
		return -1;
	puts("begun");
	fflush(stdout);
	sleep((unsigned)strtoul(a[4], NULL, 10));
	return branch_record_stop(r, err);
}

static int read_data(char **a, struct branch_image *i, struct branch_reader **r, struct error *err)
{
	struct branch_read_options o = {
		.perf = a[0], .data = a[1], .image = i, .log = a[4], .timeout_ns = MINUTE};

	if (branch_image_read(a[2], i, err) < 0 || branch_record_read(&o, r, err) < 0)
		return -1;
	tell(branch_reader_counts(*r));
	return branch_reader_write(*r, BRANCH_TRACES, a[3], err);
}

static int run(int n, char **a, struct error *err)
{
	struct branch_image i = {0};
	struct branch_reader *r = NULL;
	int result = -1;

	if (n == 2 && strcmp(a[1], "probe") == 0)
		result = probe(err);
	else if (n == 6 && strcmp(a[1], "traces") == 0)
		result = traces(a + 2, &i, &r, err);
	else if (n == 7 && strcmp(a[1], "profile") == 0)
		result = profile(a + 2, &i, &r, err);
	else if (n >= 8 && strcmp(a[1], "record") == 0)
		result = record(a + 2, n - 2, err);
	else if (n == 7 && strcmp(a[1], "read") == 0)
		result = read_data(a + 2, &i, &r, err);
	else
		error_set(err, ERR_USAGE, "see the comment in the source");
	branch_reader_free(r);
	branch_image_release(&i);
	return result;
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	int code;

	if (run(argc, argv, &err) == 0)
		return 0;
	fprintf(stderr, "%s\n", err.msg);
	code = error_exit_code(err.code);
	error_release(&err);
	return code;
}
