/* Shared by the files of this folder. */
#pragma once

#include "bench/bench.h"
#include "bench/counting.h"
#include "load/mix.h"
#include "service/batch.h"
#include "service/service.h"
#include "stats/stats.h"

#define LOG_LINES 20 /* of a service, in an error */

/* The processors: the subjects share one, everything else has another. */
struct cores {
	int subject, driver;
	bool alone;    /* there is only one, and both share it */
	bool siblings; /* two threads of one core: there was no better pair */
};
int cores_choose(struct cores *ret, struct error *err);
int cores_pin_self(int cpu, struct error *err);

/* One service of one launch. */
struct running {
	struct service *service;
	const struct plan_service *plan;
};

/* One variant in one launch: its copy of the binaries and its own services. */
struct arm {
	const char *name;             /* of the variant */
	const struct strv *binaries;  /* the originals; NULL: of a peer */
	const struct plan_peer *peer; /* NULL: a build of the project */
	struct strv copies;           /* the running ones */
	char *folder;                 /* LAUNCH/LETTER; as long as every other arm's */
	struct strv vars, env;
	struct running *services;
	size_t n_services;
	struct service *subject; /* one of services, or NULL */
};

struct scenario {
	const char *given; /* its name in the plan */
	const struct plan_phase *phase;
	size_t combination; /* of the settings, with which it is measured: the first it runs with */
	bool dropped;       /* its condition does not hold */
	bool batch;         /* the command itself is measured, not the subject */
	uint64_t requests;  /* per slice; 0: not calibrated yet */
	uint32_t slices;
	uint32_t warm_rounds; /* slices of warm-up, for requests; 0: not known yet */
};

/* What was counted in the slices of one arm, scenario and launch, of one mode. */
struct tally {
	uint32_t launch, scenario, arm;
	enum counter_mode mode;
	uint64_t requests;
	struct counting_sum sum;
};

/* User and kernel time of all slices of one arm, scenario and launch. */
struct parted {
	uint32_t scenario, arm;
	uint32_t runs; /* of a batch program: so many processes at least; 0: of a service */
	struct cpu_split cpu;
};

/* What stands beside the samples: nothing of it enters the comparison. */
struct beside {
	struct counting_source source;
	struct counters result; /* state and note, until beside_conclude() */
	struct tally *v;
	size_t n, cap;
	struct parted *parts;
	size_t n_parts, cap_parts;
};

/* What asks one arm during one scenario. */
struct asker {
	struct arm *arm;
	struct load *load; /* of an http phase */
	struct mix mix;
	char *command; /* of a run phase */
	struct batch *batch;
	const struct strv *prefix; /* in front of the command of a run phase; NULL: nothing */
	struct load_result sum; /* of the slices of an http phase: times, and the last latencies */
	uint64_t server_cpu_ns;
	struct cpu_split split; /* of the measured slices */
	struct beside *beside;  /* counts the next slice; NULL: it is not counted */
	enum counter_mode mode;
	struct counting_sum counted; /* by the last slice that was */
};

struct bench {
	const struct bench_options *o;
	const char **names; /* of the variants, the null arm last */
	struct arm *arms;
	size_t n_arms;
	struct scenario *scenarios;
	size_t n_scenarios;
	struct running *shared; /* services before the subject, alive for one launch */
	size_t n_shared;
	struct strv shared_vars;
	size_t combination; /* of the settings, that the services have now */
	bool *left_out;     /* by the index in the plan: its `when:` said no */
	struct cores cores;
	struct rng rng;
	uint32_t launches, launch; /* launches: as far as is known now */
	uint32_t least;            /* launches, before the widths are looked at */
	enum trial_end end;
	uint64_t wall_ns;
	uint64_t begun, done, total; /* scenarios measured, of all launches */
	uint64_t canary_next;        /* not before this time since `begun` */
	struct strv warnings;
	struct samples samples;
	struct beside beside;
	bool simulating; /* the services that are started run under callgrind */
};

/* A warning, told at once and kept for the result; the same text only once. */
void bench_warn(struct bench *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- bench_launch.c ---- */

/* Starts everything of a launch: shared services, then the arms in random order. */
int launch_start(struct bench *b, struct error *err);
/* Remembers all processes of all services: launch_stop() tells which of them were killed. */
void launch_watch(struct bench *b);
/* Stops it and removes its folder. A service that had died, or lost a process by a signal, is an
 * error. */
int launch_stop(struct bench *b, struct error *err);
/* The same after an error: nothing is reported, logs stay. */
void launch_abandon(struct bench *b);

/* ---- canary.c ---- */

/* Runs it when its turn has come. To be called between slices. */
int canary_run(struct bench *b, struct error *err);

/* ---- bench_slice.c ---- */

/* Everything but the arm is filled in. On failure asker_close() is due all the same. */
int asker_open(
	const struct bench *b, const struct scenario *sc, struct asker *a, struct error *err);
void asker_close(struct asker *a);
/* One slice: fills requests, CPU and wall time. requests: how many, 1 for a run. */
int asker_slice(const struct bench *b, const struct scenario *sc, struct asker *a,
	uint64_t requests, struct sample *one, struct error *err);

/* Warms up, calibrates on the first launch, and measures all slices of one scenario. */
int scenario_measure(struct bench *b, uint32_t scenario, struct error *err);
/* CPU that the services use while nobody asks them. */
int idle_check(struct bench *b, struct error *err);

/* ---- beside.c ---- */

/* Finds out what can be counted; nothing when counters are off. */
void beside_begin(struct bench *b);
/* Around all slices of a scenario that are compared. */
void beside_rounds_begin(const struct bench *b, const struct scenario *sc, struct asker *v);
void beside_rounds_end(struct bench *b, uint32_t scenario, struct asker *v);
/* Around a slice: opens the counters when this one is counted, else NULL; reads and closes them.
 * Where that fails, the counters' note says why. */
struct counting *beside_open(struct asker *a, bool batch);
void beside_close(struct asker *a, struct counting *c);
/* Whether and in which mode the compared slices of this round are counted: those of a batch program
 * are, which rarely leaves its processor. */
void beside_choose(struct bench *b, const struct scenario *sc, uint32_t round, struct asker *a);
/* Keeps what this slice counted, if it did. */
void beside_keep(struct bench *b, uint32_t scenario, uint32_t arm, const struct asker *a,
	const struct sample *one);
/* Slices of their own for the counters of a service: saving and loading them whenever the processor
 * changes its task must not be part of what is compared. */
int beside_rounds(struct bench *b, uint32_t scenario, struct asker *v, struct error *err);
/* A scenario is left out: those that are kept have new numbers. */
void beside_moved(struct bench *b, const uint32_t *moved);
/* Figures of all that was counted; names as the scenarios' in the comparison. */
void beside_conclude(const struct bench *b, const char *const *scenarios, struct counters *ret);
void beside_release(struct beside *e);

/* ---- simulate.c ---- */

/* That what `counters: callgrind` needs is installed, before anything is measured. */
int simulate_check(const struct bench *b, struct error *err);
/* The subject as it is started under callgrind: a copy of plan with another command, *text, which
 * is the caller's. folder: the arm's. */
int simulate_service(const struct plan_service *plan, const char *folder, struct plan_service *ret,
	char **text, struct error *err);
/* The pass after the comparison. On failure nothing is added to ret. */
int simulate_run(
	struct bench *b, const struct comparisons *c, struct counters *ret, struct error *err);
