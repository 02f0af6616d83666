/* Writes every branch that a program takes as `perf script -F pid,brstack --show-mmap-events
 * --show-task-events` prints a recording of branch stacks, so that what reads it can be tested with
 * the true behaviour of true programs where the processor records none. By one of two ways:
 *
 *   branch-trace [OPTION...] OUT PROGRAM ARGUMENT...   (x86-64)
 *     runs it and its children, and steps over each instruction by ptrace(2): several processes,
 * where the kernel maps them; some 50,000 instructions a second. valgrind --tool=lackey
 * --trace-mem=yes --log-fd=9 PROGRAM… 9>&1 >… | branch-trace -l [OPTION...] OUT PROGRAM one
 * process, a million instructions a second.
 *
 *   -w WINDOW  branches in a sample (default 32)
 *   -g GAP     branches left out between two samples (default 0)
 *   -t         with the kind of each branch, as `-j any,u,save_type`; not with -l
 *
 * Exits with the program's code; what it ran is told on standard error. */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define WINDOW_MAX 512
#define CODES 65536 /* a power of two */
#define EVENTS                                                                                     \
	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |     \
		PTRACE_O_EXITKILL)

enum kind { PLAIN, COND, JUMP, JUMP_IND, CALL, CALL_IND, RETURN };
static const char *const kind_names[] = {"-", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET"};

struct branch {
	uint64_t from, to;
	enum kind kind;
};

struct task {
	pid_t tid, pid;
	uint64_t last; /* where the instruction that runs begins; 0: not known */
	enum kind kind;
	unsigned length;
	struct branch window[WINDOW_MAX];
	unsigned n, gap;
	struct task *next;
};

struct mapping {
	pid_t pid;
	uint64_t start, end;
};

static FILE *out;
static unsigned window = 32, gap;
static bool kinds;
static struct task *tasks;
static struct mapping *mappings;
static size_t n_mappings;
static uint64_t steps, branches, samples;
/* What is known of instructions, by process and place. */
static struct code {
	pid_t pid;
	uint64_t at;
	enum kind kind;
	unsigned length;
} codes[CODES];

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "branch-trace: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* Intel SDM, volume 2: opcodes of branches. */
static const struct opcode {
	uint8_t mask, value;
	uint8_t next_mask, next_value; /* the byte behind, as it is masked */
	enum kind kind;
	unsigned length; /* with the displacement */
} opcodes[] = {
	{0xf0, 0x70, 0, 0, COND, 2},
	{0xfc, 0xe0, 0, 0, COND, 2},
	{0xff, 0x0f, 0xf0, 0x80, COND, 6},
	{0xff, 0xeb, 0, 0, JUMP, 2},
	{0xff, 0xe9, 0, 0, JUMP, 5},
	{0xff, 0xe8, 0, 0, CALL, 5},
	{0xfe, 0xc2, 0, 0, RETURN, 1},
	{0xff, 0xff, 0x38, 0x10, CALL_IND, 2},
	{0xff, 0xff, 0x38, 0x20, JUMP_IND, 2},
};

/* Behind legacy and REX prefixes. The length matters for conditional ones alone: they are taken
 * when the next instruction is not the one behind. */
static enum kind decode(const uint8_t *p, size_t n, unsigned *length)
{
	size_t k = 0;

	while (k < n && p[k] && strchr("\x2e\x36\x3e\x26\x64\x65\x66\x67\xf0\xf2\xf3", p[k]))
		k++;
	if (k < n && (p[k] & 0xf0) == 0x40)
		k++;
	for (size_t o = 0; k + 1 < n && o < sizeof(opcodes) / sizeof(*opcodes); o++) {
		const struct opcode *op = &opcodes[o];

		if ((p[k] & op->mask) != op->value || (p[k + 1] & op->next_mask) != op->next_value)
			continue;
		*length = (unsigned)k + op->length;
		return op->kind;
	}
	return PLAIN;
}

static const struct code *code_at(pid_t pid, uint64_t at)
{
	struct code *c = &codes[(at ^ at >> 16 ^ (uint64_t)pid * 40503) & (CODES - 1)];
	uint8_t bytes[15];
	struct iovec local = {bytes, sizeof(bytes)},
		     remote = {(void *)(uintptr_t)at, sizeof(bytes)};
	ssize_t n;

	if (c->pid == pid && c->at == at)
		return c;
	n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	if (n < 0) { /* the page behind is not mapped */
		remote.iov_len = 4096 - (at & 4095);
		remote.iov_len = remote.iov_len < sizeof(bytes) ? remote.iov_len : sizeof(bytes);
		n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	}
	*c = (struct code){.pid = pid, .at = at};
	c->kind = decode(bytes, n < 0 ? 0 : (size_t)n, &c->length);
	return c;
}

static bool is_known(pid_t pid, uint64_t at)
{
	for (size_t k = 0; k < n_mappings; k++)
		if (mappings[k].pid == pid && at >= mappings[k].start && at < mappings[k].end)
			return true;
	return false;
}

static void add_mapping(struct mapping m)
{
	mappings = realloc(mappings, (n_mappings + 1) * sizeof(*mappings));
	if (!mappings)
		fail("memory");
	mappings[n_mappings++] = m;
}

static void drop_mappings(pid_t pid)
{
	size_t n = 0;

	for (size_t k = 0; k < n_mappings; k++)
		if (mappings[k].pid != pid)
			mappings[n++] = mappings[k];
	n_mappings = n;
	for (size_t k = 0; k < CODES; k++)
		if (codes[k].pid == pid)
			codes[k].pid = 0;
}

/* One event for each executable mapping that there was none for. */
static void tell_mappings(pid_t pid)
{
	char path[64], line[4600], file[4200];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long start, end, offset, inode;
		unsigned major, minor;
		char perms[8];

		file[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %4199[^\n]", &start, &end, perms,
			    &offset, &major, &minor, &inode, file) < 7 ||
			perms[2] != 'x' || is_known(pid, start))
			continue;
		add_mapping((struct mapping){pid, start, end});
		fprintf(out,
			"%5d PERF_RECORD_MMAP2 %d/%d: [%#lx(%#lx) @ %#lx %02x:%02x %lu 0]: %.4s "
			"%s\n",
			pid, pid, pid, start, end - start, offset, major, minor, inode, perms,
			file[0] ? file : "//anon");
	}
	if (f)
		fclose(f);
}

static void write_sample(struct task *t)
{
	fprintf(out, "%5d ", t->pid);
	for (unsigned k = t->n; k-- > 0;)
		fprintf(out, " %#lx/%#lx/P/-/-/0/%s/-", t->window[k].from, t->window[k].to,
			kinds ? kind_names[t->window[k].kind] : "-");
	fputs(" \n", out);
	samples++;
	t->n = 0;
	t->gap = gap;
}

static void take_branch(struct task *t, uint64_t to)
{
	branches++;
	if (t->gap) {
		t->gap--;
		return;
	}
	if (t->tid != 1 && (!is_known(t->pid, t->last) || !is_known(t->pid, to)))
		tell_mappings(t->pid);
	t->window[t->n++] = (struct branch){t->last, to, t->kind};
	if (t->n == window)
		write_sample(t);
}

/* The task stands before the instruction at ip. */
static void look(struct task *t)
{
	uint64_t ip = (uint64_t)ptrace(PTRACE_PEEKUSER, t->tid, offsetof(struct user, regs.rip), 0);
	const struct code *c = code_at(t->pid, ip);

	steps++;
	if (t->last && t->kind != PLAIN && (t->kind != COND || ip != t->last + t->length))
		take_branch(t, ip);
	t->last = ip;
	t->kind = c->kind;
	t->length = c->length;
}

static pid_t process_of(pid_t tid)
{
	char path[64], line[256];
	FILE *f;
	int pid = tid;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	if (f)
		fclose(f);
	return pid;
}

static struct task *task_of(pid_t tid)
{
	struct task *t = tasks;

	while (t && t->tid != tid)
		t = t->next;
	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		fail("memory");
	t->tid = tid;
	t->pid = process_of(tid);
	t->next = tasks;
	tasks = t;
	return t;
}

static void forget(pid_t tid)
{
	for (struct task **at = &tasks; *at; at = &(*at)->next)
		if ((*at)->tid == tid) {
			struct task *t = *at;

			if (t->n)
				write_sample(t);
			*at = t->next;
			free(t);
			return;
		}
}

static void began_child(const struct task *parent)
{
	unsigned long tid = 0;
	pid_t pid;

	ptrace(PTRACE_GETEVENTMSG, parent->tid, 0, &tid);
	pid = process_of((pid_t)tid);
	if (pid == parent->pid)
		return;
	fprintf(out, "%5d PERF_RECORD_FORK(%d:%d):(%d:%d)\n", pid, pid, pid, parent->pid,
		parent->pid);
	for (size_t k = 0, n = n_mappings; k < n; k++)
		if (mappings[k].pid == parent->pid)
			add_mapping((struct mapping){pid, mappings[k].start, mappings[k].end});
}

static void began_program(struct task *t)
{
	char path[64], name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", t->pid);
	f = fopen(path, "re");
	if (f && fgets(name, sizeof(name), f))
		name[strcspn(name, "\n")] = 0;
	if (f)
		fclose(f);
	if (t->n)
		write_sample(t);
	drop_mappings(t->pid);
	fprintf(out, "%5d PERF_RECORD_COMM exec: %s:%d/%d\n", t->pid, name, t->pid, t->tid);
	tell_mappings(t->pid);
	t->last = 0;
}

/* Returns the signal to hand on. */
static int stopped(struct task *t, int status)
{
	int sig = WSTOPSIG(status);

	switch (status >> 16) {
	case PTRACE_EVENT_EXEC:
		began_program(t);
		return 0;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		began_child(t);
		return 0;
	case PTRACE_EVENT_STOP:
		t->last = 0;
		return 0;
	default:
		break;
	}
	if (sig == SIGTRAP) {
		look(t);
		return 0;
	}
	t->last = 0; /* a handler may run next */
	return sig;
}

static pid_t start(char **argv)
{
	int go[2];
	pid_t pid;
	char c;

	if (pipe(go) < 0 || (pid = fork()) < 0)
		fail("fork");
	if (!pid) {
		close(go[1]);
		if (read(go[0], &c, 1) == 1)
			execvp(argv[0], argv);
		fprintf(stderr, "branch-trace: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	close(go[0]);
	if (ptrace(PTRACE_SEIZE, pid, 0, EVENTS) < 0 || write(go[1], "", 1) != 1)
		fail("ptrace");
	close(go[1]);
	return pid;
}

static int follow(pid_t first)
{
	int status, code = 0;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		struct task *t;
		int sig;

		if (!WIFSTOPPED(status)) {
			if (tid == first)
				code = WIFEXITED(status) ? WEXITSTATUS(status)
							 : 128 + WTERMSIG(status);
			forget(tid);
			continue;
		}
		t = task_of(tid);
		sig = stopped(t, status);
		ptrace(PTRACE_SINGLESTEP, tid, 0, (void *)(uintptr_t)sig);
	}
	return code;
}

/* Where valgrind puts a position-independent program (m_ume/elf.c). */
#define LACKEY_BASE 0x108000

/* The program's code, as an event; *base is added to addresses as linked. */
static void tell_program(const char *path, pid_t pid, uint64_t *base, uint64_t *entry)
{
	char whole[4200];
	Elf64_Ehdr head;
	Elf64_Phdr h;
	FILE *f = fopen(path, "re");

	if (!f || fread(&head, sizeof(head), 1, f) != 1 || !realpath(path, whole))
		fail(path);
	*base = head.e_type == ET_DYN ? LACKEY_BASE : 0;
	*entry = *base + head.e_entry;
	fprintf(out, "%5d PERF_RECORD_COMM exec: program:%d/%d\n", pid, pid, pid);
	for (unsigned k = 0; k < head.e_phnum; k++) {
		uint64_t page;

		if (fseek(f, (long)(head.e_phoff + k * sizeof(h)), SEEK_SET) < 0 ||
			fread(&h, sizeof(h), 1, f) != 1)
			fail(path);
		if (h.p_type != PT_LOAD || !(h.p_flags & PF_X))
			continue;
		page = h.p_offset & 4095;
		fprintf(out,
			"%5d PERF_RECORD_MMAP2 %d/%d: [%#lx(%#lx) @ %#lx 08:01 1 0]: r-xp %s\n",
			pid, pid, pid, *base + h.p_vaddr - page,
			(h.p_filesz + page + 4095) & ~4095UL, h.p_offset - page, whole);
		add_mapping((struct mapping){
			pid, *base + h.p_vaddr - page, *base + h.p_vaddr + h.p_filesz});
	}
	fclose(f);
}

/* Lines "I  ADDRESS,SIZE", one for each instruction; the others are of loads and stores. One that
 * is there again at once is repeated by its prefix. */
static int follow_lackey(const char *path)
{
	struct task *t = task_of(1);
	uint64_t base, entry, at, behind = 0;
	char line[256];
	unsigned size;
	bool entered = false;

	t->pid = 4711;
	tell_program(path, t->pid, &base, &entry);
	while (fgets(line, sizeof(line), stdin)) {
		if (line[0] != 'I' || sscanf(line + 1, " %lx,%u", &at, &size) != 2)
			continue;
		steps++;
		if (!entered && is_known(t->pid, at)) {
			entered = true;
			if (at != entry) {
				errno = EINVAL;
				fail("the program does not lie where it is looked for");
			}
		}
		if (t->last && at != behind && at != t->last)
			take_branch(t, at);
		t->last = at;
		behind = at + size;
	}
	if (t->n)
		write_sample(t);
	return entered ? 0 : 1;
}

int main(int argc, char **argv)
{
	int option, code;
	bool lackey = false;

	while ((option = getopt(argc, argv, "+lw:g:t")) != -1) {
		if (option == 'w')
			window = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'g')
			gap = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 't')
			kinds = true;
		else if (option == 'l')
			lackey = true;
		else
			return 125;
	}
	if (argc - optind < 2 || !window || window > WINDOW_MAX) {
		fprintf(stderr, "usage: branch-trace [-l] [-w WINDOW] [-g GAP] [-t] OUT PROGRAM "
				"ARGUMENT...\n");
		return 125;
	}
	out = fopen(argv[optind], "we");
	if (!out)
		fail(argv[optind]);
	code = lackey ? follow_lackey(argv[optind + 1]) : follow(start(argv + optind + 1));
	if (fclose(out) != 0)
		fail("write");
	fprintf(stderr, "branch-trace: %lu instructions, %lu branches, %lu samples\n", steps,
		branches, samples);
	return code;
}
