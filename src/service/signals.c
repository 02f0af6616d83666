#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "service/internal.h"

/* A set of signals in /proc/PID/status: signal N is bit N - 1 (proc_pid_status(5)). */
static bool has_signal(const char *status, const char *field, int sig)
{
	const char *at = strstr(status, field);
	uint64_t set = 0;

	return at && sscanf(at + strlen(field), "%" SCNx64, &set) == 1 && (set >> (sig - 1) & 1);
}

/* Those whose default is not to end the process (signal(7)). */
static bool is_harmless(int sig)
{
	static const int harmless[] = {
		SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH};

	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		if (harmless[i] == sig)
			return true;
	return false;
}

bool signal_is_fatal(pid_t pid, int sig)
{
	auto_buf struct buf text = BUF_INIT;
	char path[64];

	if (sig < 1 || sig > 64 || is_harmless(sig))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (file_read(path, 65536, &text, NULL) < 0)
		return false;
	return !has_signal(buf_str(&text), "\nSigBlk:", sig) &&
	       !has_signal(buf_str(&text), "\nSigIgn:", sig) &&
	       !has_signal(buf_str(&text), "\nSigCgt:", sig);
}
