/* Clocks, in nanoseconds. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#define NS_PER_S 1000000000ULL
#define NS_PER_MS 1000000ULL

/* Without the time during which the whole run was stopped (Ctrl-Z), so that no time limit runs out
 * meanwhile. */
uint64_t clock_mono_ns(void);
/* Before any fork: makes that time common to this process and its later forks. */
void clock_share_pause(void);
void clock_add_pause(uint64_t ns);
uint64_t clock_real_ns(void);
#define CLOCK_TEXT 32
/* Seconds since 1970 as RFC 3339 in UTC: "2026-11-29T16:51:21Z". */
void clock_utc_text(uint64_t seconds, char text[CLOCK_TEXT]);
uint64_t clock_thread_cpu_ns(void); /* of the calling thread */
uint64_t clock_usage_ns(int who);   /* CPU time by getrusage(): RUSAGE_SELF or RUSAGE_CHILDREN */
struct rusage;
uint64_t clock_rusage_ns(const struct rusage *ru); /* its user and system time together */
/* CPU time (user and system) that a live process has used so far, all threads; -1 with errno when
 * the process is gone. Does not include its children. */
int clock_process_cpu_ns(pid_t pid, uint64_t *ret);
