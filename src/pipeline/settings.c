/* What the plan and its variants ask of all calls: said to be impossible before the first compile.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pipeline/run.h"

static bool wants(const struct run *r, enum plan_lto lto)
{
	bool wanted = r->plan.build.lto == lto;

	for (size_t i = 0; i < r->plan.n_variants; i++)
		wanted |= r->plan.variants[i].lto == lto;
	return wanted;
}

static int refuse_thin(const struct run *r, struct error *err)
{
	struct place at = r->plan.build.at;

	for (size_t i = r->plan.n_variants; r->plan.build.lto != PLAN_LTO_THIN && i-- > 0;)
		if (r->plan.variants[i].lto == PLAN_LTO_THIN)
			at = r->plan.variants[i].at;
	return error_set(err, ERR_CONFIG,
		"%s:%d:%d: 'lto: thin' is asked for, and %s has one kind of link-time optimisation "
		"only: "
		"the whole program, in as many jobs as there are processors\nwrite 'lto: full'",
		r->plan.file, at.line, at.column, r->cc->version);
}

/* cargo's program is linked as its rustc says. */
static int find_linker(struct run *r, struct error *err)
{
	if (r->rustc || !r->cc || (!wants(r, PLAN_LTO_THIN) && !wants(r, PLAN_LTO_FULL)))
		return 0;
	if (r->cc->family == FAMILY_GCC)
		return wants(r, PLAN_LTO_THIN) ? refuse_thin(r, err) : 0;
	return toolchain_lto_linker(r->cc, getenv("PATH"), &r->lto_linker, err);
}

static int check_cpu(const struct run *r, const char *cpu, struct error *err)
{
	const struct toolchain_build b = {.cpu = cpu, .target = r->plan.build.target};
	const struct compiler *const used[] = {r->rustc, r->cc};

	for (size_t i = 0; i < ARRAY_SIZE(used); i++)
		if (used[i] && toolchain_check_cpu(used[i], &b, getenv("PATH"), err) < 0)
			return -1;
	return 0;
}

int run_probe_settings(struct run *r, struct error *err)
{
	if (check_cpu(r, r->plan.build.cpu, err) < 0)
		return -1;
	for (size_t i = 0; i < r->plan.n_variants; i++)
		if (check_cpu(r, r->plan.variants[i].cpu, err) < 0)
			return -1;
	return find_linker(r, err);
}
