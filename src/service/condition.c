/* Conditions: `when:` of services and phases. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/proc.h"
#include "service/service.h"

#define CONDITION_TIMEOUT_NS (300 * NS_PER_S)

int service_condition(const char *command, const struct strv *vars, const struct strv *env,
	const char *cwd, uint64_t timeout_ns, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT;
	auto_free char *text = NULL, *how = NULL;
	struct proc_options o = PROC_OPTIONS_INIT;
	struct proc_exit end;

	if (plan_expand(command, vars, &text, err) < 0)
		return -1;
	strv_add(&argv, "/bin/sh");
	strv_add(&argv, "-c");
	strv_add(&argv, text);
	o.argv = &argv;
	o.env = env;
	o.cwd = cwd;
	if (proc_run(&o, timeout_ns, &end, err) < 0)
		return -1;
	if (!end.signal && end.code <= 128)
		return end.code == 0;
	how = proc_exit_text(&end);
	return error_set(
		err, ERR_CHILD, "'%s' ended with %s, which says neither yes nor no", command, how);
}

int service_wanted(const struct plan_service *plan, const struct strv *vars, const struct strv *env,
	const char *cwd, struct error *err)
{
	int r = plan->when
			? service_condition(plan->when, vars, env, cwd, CONDITION_TIMEOUT_NS, err)
			: 1;

	return r < 0 ? error_context(err, "service '%s', when", plan->name) : r;
}
