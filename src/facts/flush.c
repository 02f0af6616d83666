/* Why a process left no profile, in words. */
#include <signal.h>

#include "facts/training.h"

struct cause_text {
	const char *cause, *remedy;
};

static const struct cause_text cause_texts[] = {
	[CAUSE_UNKNOWN] = {"it ended by _exit, by a signal nobody saw, or could not write to its "
			   "profile folder",
		"let it end by exit() or its stop signal, and its user write to the folder"},
	[CAUSE_SIGNAL] = {"it has no handler for this signal that ends by exit()",
		"give it one, or choose by 'stop:' a signal that it handles"},
	[CAUSE_EXIT] = {"it ended by itself without exit handlers: _exit, quick_exit, abort",
		"let it end by exit() or a return from main; or choose by 'stop:' a signal that it "
		"does not handle: of a process that a signal would end whet takes a snapshot "
		"first"},
	[CAUSE_SANDBOX] = {"a system call filter (seccomp) forbids it to write",
		"switch its sandbox off for the training"},
	[CAUSE_ROOT] =
		{"its root folder is another one (chroot, a mount namespace), in which there "
		 "is no profile folder",
			"let it run without chroot in the training"},
	[CAUSE_USER] = {"its user cannot write to the profile folder",
		"let all users pass through the folders above it (TMPDIR, WHET_STATE), and leave "
		"its mode as it is; or let the program keep its user in the training"},
	[CAUSE_DISK] = {"the disk was full", "make room, then train again"},
	[CAUSE_FOLDER] = {"its profile could not be written", "let it write to its profile folder"},
};

static struct cause_text cause_of(const struct process_evidence *p)
{
	if (p->origin == PROCESS_SILENT && p->cause == CAUSE_UNKNOWN && !p->signal)
		return (struct cause_text){"the fork hook is not in the binary that it runs, or it "
					   "could not write to its profile folder",
			"see that the link goes through the wrapper, and that its user can write "
			"there"};
	if (p->cause != CAUSE_SIGNAL && !(p->signal && p->cause == CAUSE_UNKNOWN))
		return cause_texts[p->cause];
	switch (p->signal) {
	case SIGKILL:
		return (struct cause_text){
			"no program can handle SIGKILL: it came from its parent, "
			"from somebody else, or from the kernel for want of "
			"memory",
			"let it be ended by a signal that it handles, and see that there is memory "
			"enough"};
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGABRT:
	case SIGTRAP:
		return (struct cause_text){"it crashed", "correct what its log tells of"};
	case SIGXFSZ:
		return (struct cause_text){
			"a limit on the size of its files", "raise it (ulimit -f)"};
	default:
		return cause_texts[CAUSE_SIGNAL];
	}
}

const char *flush_cause_text(const struct process_evidence *p)
{
	return cause_of(p).cause;
}

const char *flush_cause_remedy(const struct process_evidence *p)
{
	return cause_of(p).remedy;
}
