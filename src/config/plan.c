#include "config/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/keys.h"
#include "config/target.h"

#define RESOLVE_LIMIT_NS (30 * 60 * NS_PER_S)

static void set_defaults(struct plan *p)
{
	p->train.seed = 1;
	p->gates = (struct plan_gates){
		.min_functions = -1, .max_missing = -1, .stale = 0.02, .worse_margin = 0.02};
	p->bench.enabled = true;
	p->bench.launches = 10;
	p->bench.slices = 12;
	p->bench.slice_ns = 50 * NS_PER_MS;
	p->bench.seed = 1;
	p->release.strip = true;
}

static void set_text(char **field, const char *otherwise)
{
	if (!*field)
		*field = xstrdup(otherwise);
}

/* A path of the file counts from its folder. */
static void from_root(const struct plan *p, char **path)
{
	char *given = *path;

	if (!given)
		return;
	*path = path_join(p->root, given);
	free(given);
}

static void expect_200(struct plan_phase *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v[i].http.n_mix; k++)
			if (!v[i].http.mix[k].expect.status)
				v[i].http.mix[k].expect.status = 200;
}

/* Defaults that depend on what the file says. */
static void fill_defaults(struct plan *p)
{
	set_text(&p->build.target, target_host());
	set_text(&p->build.cargo, "cargo");
	set_text(&p->build.dir, ".");
	p->release.or_layout = !p->release.variant && p->layout.mode != PLAN_LAYOUT_OFF;
	set_text(&p->release.variant, PLAN_OWN);
	from_root(p, &p->build.sysroot);
	from_root(p, &p->build.profile_runtime);
	if (p->build.tool == TOOL_AUTOTOOLS)
		set_text(&p->build.configure, "./configure");
	for (size_t i = 0; i < p->train.n_services; i++)
		set_text(&p->train.services[i].cwd, "{work}");
	for (size_t i = 0; i < p->bench.n_peers; i++)
		set_text(&p->bench.peers[i].service.cwd, "{work}");
	expect_200(p->train.phases, p->train.n_phases);
	expect_200(p->bench.held_out, p->bench.n_held_out);
	if (p->bench.until_resolved > 0 && !p->bench.time_limit_ns)
		p->bench.time_limit_ns = RESOLVE_LIMIT_NS;
	if (p->bench.enabled && !p->bench.scenarios.n)
		for (size_t i = 0; i < p->train.n_phases; i++)
			strv_add(&p->bench.scenarios, p->train.phases[i].name);
}

static int find_root(const char *path, char **ret, struct error *err)
{
	auto_free char *folder = path_dirname(path);
	char *real = realpath(folder, NULL);

	if (!real)
		return error_set(err, ERR_CONFIG, "cannot find the folder of '%s': %s", path,
			strerror(errno));
	*ret = real;
	return 0;
}

static void read_tree(const struct yaml *y, struct plan *p, struct problems *ps)
{
	size_t before = ps->n;

	set_defaults(p);
	keys_read(ps, &table_top, y->root, p);
	/* With a key given twice, tree and plan may differ in shape. */
	if (y->root->kind == NODE_MAPPING && !before)
		check_plan(ps, y->root, p);
	if (ps->n)
		return;
	fill_defaults(p);
	digest_node(y->root, NULL, p->digest);
	digest_node(node_get(y->root, "train"), NULL, p->training_digest);
	digest_templates(&p->train, p->training_digest);
	/* How long whet waits for a build says nothing about what it gives. */
	digest_node(node_get(y->root, "build"), "timeout", p->build_digest);
}

int plan_read(const char *path, struct plan *ret, struct error *err)
{
	auto_buf struct buf text = BUF_INIT;
	auto_yaml struct yaml y = {0};
	struct problems ps = {.file = path};
	struct plan p = {0};
	int rc;

	if (!path_exists(path))
		return error_set(err, ERR_CONFIG,
			"there is no '%s': it says how the project is built, trained and released; "
			"write "
			"one (docs/whet-yaml.md has two short examples), or name another file with "
			"--file",
			path);
	if (file_read(path, YAML_FILE_MAX, &text, err) < 0) {
		if (err)
			err->code = ERR_CONFIG;
		return -1;
	}
	if (find_root(path, &p.root, err) < 0)
		return -1;
	p.file = xstrdup(path);
	yaml_read(buf_str(&text), text.n, &y, &ps);
	if (y.root)
		read_tree(&y, &p, &ps);
	rc = problems_error(&ps, err);
	problems_release(&ps);
	if (rc < 0) {
		plan_release(&p);
		return -1;
	}
	*ret = p;
	return 0;
}

static void build_release(struct plan_build *b)
{
	free(b->target);
	strv_release(&b->binary);
	strv_release(&b->env);
	free(b->cargo);
	strv_release(&b->args);
	free(b->configure);
	free(b->run);
	free(b->compiler);
	free(b->cxx);
	free(b->cpu);
	free(b->sysroot);
	free(b->profile_runtime);
	free(b->dir);
	strv_release(&b->exclude);
	strv_release(&b->include);
}

void service_release(struct plan_service *s)
{
	free(s->name);
	free(s->run);
	free(s->builtin);
	free(s->ready_arg);
	strv_release(&s->env);
	free(s->cwd);
	free(s->setup);
	strv_release(&s->ports);
	strv_release(&s->after);
	free(s->when);
	free(s->user);
	free(s->pid_file);
	free(s->ready_port);
	documents_release(s->files, s->n_files);
	templates_release(s->templates, s->n_templates);
	axes_release(s);
}

void phase_release(struct plan_phase *ph)
{
	free(ph->name);
	free(ph->when);
	free(ph->run);
	batch_release(&ph->batch);
	strv_release(&ph->settings);
	free(ph->http.service);
	free(ph->http.port);
	for (size_t i = 0; i < ph->http.n_mix; i++)
		request_release(&ph->http.mix[i]);
	free(ph->http.mix);
}

void plan_release(struct plan *p)
{
	free(p->file);
	free(p->root);
	free(p->project);
	free(p->version);
	free(p->pgo.instrument_linker);
	free(p->gates.unwind);
	free(p->layout.tool);
	build_release(&p->build);
	variants_release(p->variants, p->n_variants);
	for (size_t i = 0; i < p->train.n_services; i++)
		service_release(&p->train.services[i]);
	free(p->train.services);
	free(p->train.emulator);
	documents_release(p->train.files, p->train.n_files);
	for (size_t i = 0; i < p->train.n_phases; i++)
		phase_release(&p->train.phases[i]);
	free(p->train.phases);
	for (size_t i = 0; i < p->bench.n_held_out; i++)
		phase_release(&p->bench.held_out[i]);
	free(p->bench.held_out);
	for (size_t i = 0; i < p->bench.n_peers; i++) {
		free(p->bench.peers[i].name);
		service_release(&p->bench.peers[i].service);
	}
	free(p->bench.peers);
	strv_release(&p->bench.scenarios);
	strv_release(&p->bench.resolve);
	strv_release(&p->release.files);
	free(p->release.variant);
	*p = (struct plan){0};
}

const struct plan_phase *plan_find_phase(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->train.n_phases; i++)
		if (p->train.phases[i].name && !strcmp(p->train.phases[i].name, name))
			return &p->train.phases[i];
	return NULL;
}

static const struct plan_phase *find_measured(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->bench.n_held_out; i++)
		if (p->bench.held_out[i].name && !strcmp(p->bench.held_out[i].name, name))
			return &p->bench.held_out[i];
	return plan_find_phase(p, name);
}

/* The first combination in which the phase runs and whose text is this, NULL: any; or the number of
 * them all. */
static size_t find_combination(
	const struct plan *p, const struct plan_phase *phase, const char *setting)
{
	size_t n = plan_combinations(p), i = 0;

	for (; i < n; i++) {
		auto_free char *text = plan_combination_text(p, i);

		if (plan_phase_runs_in(p, phase, i) &&
			(!setting || (text && !strcmp(text, setting))))
			break;
	}
	return i;
}

const struct plan_phase *plan_find_scenario(
	const struct plan *p, const char *name, size_t *combination)
{
	const struct plan_phase *phase = find_measured(p, name);
	const char *bracket = strrchr(name, '[');
	size_t n = strlen(name), i;
	auto_free char *own = NULL, *setting = NULL;

	if (!phase && bracket && bracket - name > 1 && bracket[-1] == ' ' && name[n - 1] == ']') {
		own = xstrndup(name, (size_t)(bracket - 1 - name));
		setting = xstrndup(bracket + 1, (size_t)(name + n - 1 - (bracket + 1)));
		phase = find_measured(p, own);
	}
	if (!phase)
		return NULL;
	i = find_combination(p, phase, setting);
	if (combination)
		*combination = i;
	return i < plan_combinations(p) ? phase : NULL;
}

const struct plan_peer *plan_find_peer(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->bench.n_peers; i++)
		if (!strcmp(p->bench.peers[i].name, name))
			return &p->bench.peers[i];
	return NULL;
}

const struct plan_variant *plan_find_variant(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->n_variants; i++)
		if (p->variants[i].name && !strcmp(p->variants[i].name, name))
			return &p->variants[i];
	return NULL;
}

bool plan_has_layout(const struct plan *p)
{
	for (size_t i = 0; i < p->n_variants; i++)
		if (p->variants[i].layout.mode != PLAN_LAYOUT_OFF)
			return true;
	return false;
}

bool plan_has_second_round(const struct plan *p)
{
	bool has = p->pgo.context_sensitive;

	for (size_t i = 0; i < p->n_variants; i++)
		has |= p->variants[i].profile && p->variants[i].pgo.context_sensitive;
	return has;
}

struct place plan_second_round_at(const struct plan *p)
{
	for (size_t i = 0; i < p->n_variants && !p->pgo.context_sensitive; i++)
		if (p->variants[i].profile && p->variants[i].pgo.context_sensitive)
			return p->variants[i].at;
	return p->pgo.at;
}

int plan_set_bench(struct plan *p, const char *key, const char *value, struct error *err)
{
	struct node name = {.kind = NODE_SCALAR, .plain = true, .text = (char *)key};
	struct node text = {.kind = NODE_SCALAR, .plain = true, .text = (char *)value};
	struct node *items[] = {&name, &text};
	struct node part = {.kind = NODE_MAPPING, .items = items, .n = ARRAY_SIZE(items)};
	struct problems ps = {0};
	int r = 0;

	keys_read(&ps, &table_bench, &part, &p->bench);
	if (ps.n)
		r = error_set(err, ERR_USAGE, "%s", ps.v[0].text);
	else if (p->bench.until_resolved > 0 && !p->bench.time_limit_ns)
		p->bench.time_limit_ns = RESOLVE_LIMIT_NS;
	problems_release(&ps);
	return r;
}

const struct plan_service *plan_subject(const struct plan *p)
{
	for (size_t i = 0; i < p->train.n_services; i++)
		if (p->train.services[i].subject)
			return &p->train.services[i];
	return NULL;
}
