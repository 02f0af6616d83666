/* Traces to a profile of llvm-bolt, by perf2bolt. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/strv.h"
#include "layout/branch_record.h"

static int run_perf2bolt(const struct branch_profile_options *o, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT;
	auto_close int log = open(o->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	auto_free char *how = NULL, *tail = NULL;
	struct proc_options p = PROC_OPTIONS_INIT;
	struct proc_exit end;

	if (log < 0)
		return file_error(err, "write", o->log);
	strv_add(&argv, o->perf2bolt);
	strv_add(&argv, "--pa");
	strv_add(&argv, "-p");
	strv_add(&argv, o->traces);
	strv_add(&argv, "-o");
	strv_add(&argv, o->out);
	strv_add(&argv, o->binary);
	p.argv = &argv;
	p.out_fd = p.err_fd = log;
	if (proc_run(&p, o->timeout_ns, &end, err) < 0)
		return error_context(err, "perf2bolt of '%s'", o->binary);
	if (!end.code)
		return 0;
	how = proc_exit_text(&end);
	tail = file_tail(o->log, 5);
	return error_set(err, ERR_CHILD, "perf2bolt of '%s' failed: %s%s%s", o->binary, how,
		*tail ? ":\n" : "", tail);
}

/* "PERF2BOLT: traces mismatching disassembled function contents: 12 (0.3%)" */
static int check_mismatches(const struct branch_profile_options *o, struct error *err)
{
	static const char words[] = "traces mismatching disassembled function contents: ";
	auto_buf struct buf text = BUF_INIT;
	const char *at, *bracket;
	double percent;

	if (file_read(o->log, 0, &text, err) < 0)
		return -1;
	at = strstr(buf_str(&text), words);
	if (!at)
		return error_set(err, ERR_UNSUPPORTED,
			"perf2bolt does not say how many traces fit the program: see '%s'", o->log);
	bracket = at + strcspn(at, "(\n");
	percent = *bracket == '(' ? strtod(bracket + 1, NULL) : 0;
	if (percent > BRANCH_MAX_AGAINST_PERCENT)
		return error_set(err, ERR_GATE,
			"%.1f %% of the stretches between branches do not fit the instructions of "
			"'%s', at most %d %% may: another build of it was recorded",
			percent, o->binary, BRANCH_MAX_AGAINST_PERCENT);
	return 0;
}

int branch_profile_write(
	struct branch_reader *r, const struct branch_profile_options *o, struct error *err)
{
	struct stat st;

	unlink(o->out);
	if (branch_reader_write(r, branch_format_for(o->major), o->traces, err) < 0 ||
		run_perf2bolt(o, err) < 0 || check_mismatches(o, err) < 0)
		return -1;
	if (stat(o->out, &st) < 0 || !st.st_size)
		return error_set(err, ERR_CHILD,
			"perf2bolt of '%s' ended without an error, but wrote no profile: see '%s'",
			o->binary, o->log);
	return 0;
}
