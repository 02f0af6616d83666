/* Checks that need the whole file: names that must exist or be unique, placeholders. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "config/expand.h"
#include "config/keys.h"
#include "config/values.h"

static void check_text(struct problems *ps, const struct node *n, const struct strv *names)
{
	auto_free char *fault = NULL;

	if (!n || n->kind != NODE_SCALAR)
		return;
	fault = placeholder_fault(n->text, names);
	if (fault)
		problem_add(ps, n, "%s", fault);
}

/* A text, the texts of a list, or the values of a mapping. */
static void check_texts(struct problems *ps, const struct node *n, const struct strv *names)
{
	if (!n || n->kind == NODE_SCALAR) {
		check_text(ps, n, names);
		return;
	}
	for (size_t i = 0; i < n->n; i++)
		if (n->kind == NODE_SEQUENCE || i % 2)
			check_text(ps, n->items[i], names);
}

static void check_build(struct problems *ps, const struct node *build, const struct plan_build *b)
{
	auto_strv struct strv names = STRV_INIT;

	strv_split_words(&names, "jobs source build cc cxx ar ranlib target commit version");
	check_texts(ps, node_get(build, "env"), &names);
	check_texts(ps, node_get(build, "args"), &names);
	check_text(ps, node_get(build, "configure"), &names);
	check_text(ps, node_get(build, "run"), &names);
	for (size_t i = 0; i < b->binary.n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(path_basename(b->binary.v[i]), path_basename(b->binary.v[k])))
				problem_add(ps, node_get(build, "binary"),
					"'binary' names two binaries called '%s'",
					path_basename(b->binary.v[i]));
}

static void binary_names(struct strv *names, const struct plan *p)
{
	strv_split_words(names, "binary work");
	for (size_t i = 0; i < p->build.binary.n; i++)
		strv_addf(names, "binary.%s", path_basename(p->build.binary.v[i]));
}

static void check_gates(struct problems *ps, const struct node *gates, const struct plan *p)
{
	auto_strv struct strv names = STRV_INIT;

	binary_names(&names, p);
	check_text(ps, node_get(gates, "unwind"), &names);
}

static void check_pgo(struct problems *ps, const struct node *pgo, const struct plan *p)
{
	if (p->pgo.context_sensitive && p->build.tool == TOOL_CARGO)
		problem_add(ps, node_get(pgo, "context-sensitive"),
			"'context-sensitive' is not possible with cargo: rustc has no option that "
			"puts counters in after inlining; clang has");
}

/* What a service brings: NAME.port, NAME.url, NAME.work, NAME.port.OTHER. */
static void add_service_names(struct strv *names, const struct plan_service *s)
{
	strv_addf(names, "%s.port", s->name);
	strv_addf(names, "%s.url", s->name);
	strv_addf(names, "%s.work", s->name);
	for (size_t i = 0; i < s->ports.n; i++)
		strv_addf(names, "%s.port.%s", s->name, s->ports.v[i]);
}

static void add_own_names(struct strv *names, const struct plan_service *s)
{
	strv_add(names, "port");
	strv_add(names, "url");
	for (size_t i = 0; i < s->ports.n; i++)
		strv_addf(names, "port.%s", s->ports.v[i]);
}

static void add_axis_names(struct strv *names, const struct plan_axis *a)
{
	strv_addf(names, "matrix.%s", a->name);
	for (size_t i = 0; a->n && i < a->values[0].words.n; i++) {
		const char *word = a->values[0].words.v[i];

		strv_addf(names, "matrix.%s.%.*s", a->name, (int)strcspn(word, "="), word);
	}
}

/* What does not depend on a service or a setting. */
static void fixed_names(struct strv *names, const struct plan *p)
{
	strv_split_words(names, "source cert:rsa key:rsa cert:ecdsa key:ecdsa ca");
	if (p->train.n_files)
		strv_add(names, "files");
}

/* What every program has that is started. */
static void program_names(struct strv *names, const struct plan *p)
{
	fixed_names(names, p);
	for (size_t i = 0; i < p->train.n_services; i++)
		for (size_t k = 0; k < p->train.services[i].n_axes; k++)
			add_axis_names(names, &p->train.services[i].axes[k]);
}

static void common_names(struct strv *names, const struct plan *p)
{
	binary_names(names, p);
	program_names(names, p);
}

static void check_command_line(struct problems *ps, const struct node *n)
{
	auto_strv struct strv words = STRV_INIT;
	struct error err = ERROR_INIT;

	if (!n || n->kind != NODE_SCALAR)
		return;
	if (plan_split(n->text, &words, &err) < 0)
		problem_add(ps, n, "%s", err.msg);
	error_release(&err);
}

/* The texts of a setting stand for something before any service is placed. */
static void check_axes(struct problems *ps, const struct node *n, const struct strv *names)
{
	for (size_t i = 0; n && n->kind == NODE_MAPPING && i + 1 < n->n; i += 2) {
		const struct node *values = n->items[i + 1];

		for (size_t k = 1; values->kind == NODE_MAPPING && k < values->n; k += 2)
			check_texts(ps, values->items[k], names);
	}
}

static void check_ready_port(
	struct problems *ps, const struct node *ready, const struct plan_service *s)
{
	const struct node *port = node_get(ready, "port");

	if (!port)
		return;
	if (s->ready != READY_HTTP && s->ready != READY_HTTPS && s->ready != READY_TCP)
		problem_add(ps, port, "'port' has an effect beside 'http' and 'tcp' only");
	else if (s->ready_port && !strv_has(&s->ports, s->ready_port))
		problem_add(ps, port, "service '%s' has no port '%s' in its 'ports'", s->name,
			s->ready_port);
}

static void check_service(struct problems *ps, const struct node *n, const char *root,
	struct plan_service *s, const struct strv *before)
{
	auto_strv struct strv names = STRV_INIT;
	const struct node *ready = node_get(n, "ready");

	strv_add_all(&names, before);
	add_own_names(&names, s);
	add_service_names(&names, s);
	check_text(ps, node_get(n, "run"), &names);
	check_command_line(ps, node_get(n, "run"));
	check_texts(ps, node_get(n, "env"), &names);
	check_text(ps, node_get(n, "cwd"), &names);
	check_text(ps, node_get(n, "setup"), &names);
	check_text(ps, node_get(ready, "command"), &names);
	check_text(ps, node_get(n, "when"), &names);
	check_ready_port(ps, ready, s);
	check_templates(ps, node_get(n, "template"), root, s, &names);
}

/* Their names are one space: {matrix.AXIS} and the `matrix` of phases name no service. */
static void check_matrix(struct problems *ps, const struct node *services, const struct plan *p)
{
	auto_strv struct strv seen = STRV_INIT;

	for (size_t i = 0; i < p->train.n_services; i++) {
		const struct plan_service *s = &p->train.services[i];

		for (size_t k = 0; k < s->n_axes; k++) {
			const struct plan_axis *a = &s->axes[k];

			if (strv_has(&seen, a->name))
				problem_at(ps, a->at.line, a->at.column,
					"another service has a setting '%s' already", a->name);
			strv_add(&seen, a->name);
		}
	}
	for (size_t i = 0; seen.n && i < p->train.n_services; i++)
		if (!strcmp(p->train.services[i].name, "matrix"))
			problem_at(ps, p->train.services[i].at.line, p->train.services[i].at.column,
				"beside settings no service may be called 'matrix': its "
				"placeholders would be theirs");
	if (plan_combinations(p) > PLAN_COMBINATIONS_MAX)
		problem_add(ps, services,
			"the settings of 'matrix' have more than %d combinations, and all phases "
			"would run for each",
			PLAN_COMBINATIONS_MAX);
}

static void check_services(
	struct problems *ps, const struct node *services, struct plan *p, struct strv *names)
{
	const struct plan_service *subject = NULL;
	auto_strv struct strv fixed = STRV_INIT;
	size_t before = ps->n;

	order_services(ps, services, &p->train);
	check_matrix(ps, services, p);
	common_names(names, p);
	fixed_names(&fixed, p);
	/* Without an order nothing can be said of who may name whom. */
	for (size_t i = 0; ps->n != before && i < p->train.n_services; i++)
		add_service_names(names, &p->train.services[i]);
	for (size_t i = 0; i < p->train.n_services; i++) {
		struct plan_service *s = &p->train.services[i];
		const struct node *n = node_get(services, s->name);

		check_service(ps, n, p->root, s, names);
		check_axes(ps, node_get(n, "matrix"), &fixed);
		add_service_names(names, s);
		if (s->subject && subject)
			problem_add(ps, node_get(n, "subject"),
				"service '%s' is already the subject; only one can be",
				subject->name);
		else if (s->subject)
			subject = s;
	}
	if (subject)
		add_own_names(names, subject);
}

static const struct plan_service *find_service(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->train.n_services; i++)
		if (!strcmp(p->train.services[i].name, name))
			return &p->train.services[i];
	return NULL;
}

static const char *nearest_service(const struct plan *p, const char *name)
{
	auto_strv struct strv names = STRV_INIT;
	const char *near;

	for (size_t i = 0; i < p->train.n_services; i++)
		strv_add(&names, p->train.services[i].name);
	near = nearest_word(name, (const char *const *)names.v, names.n);
	return near ? find_service(p, near)->name : NULL;
}

static void check_http_service(struct problems *ps, const struct node *http, const struct plan *p,
	const struct plan_http *h)
{
	const struct plan_service *s = h->service ? find_service(p, h->service) : plan_subject(p);
	const char *near;

	if (!s && h->service) {
		near = nearest_service(p, h->service);
		problem_add(ps, node_get(http, "service"), "there is no service '%s'%s%s%s",
			h->service, near ? "; did you mean '" : "", near ? near : "",
			near ? "'?" : "");
	} else if (!s) {
		problem_add(ps, http,
			"no service takes these requests: mark one in train.services with "
			"'subject: true', or name it here by 'service'");
	} else if (h->port && !strv_has(&s->ports, h->port)) {
		problem_add(ps, node_get(http, "port"),
			"service '%s' has no port '%s' in its 'ports'", s->name, h->port);
	}
}

static void check_expect(struct problems *ps, const struct node *n, const struct strv *names)
{
	check_text(ps, node_get(node_get(n, "expect"), "body-file"), names);
}

static void check_batch(struct problems *ps, const struct node *n, const struct strv *names)
{
	const struct node *expect = node_get(n, "expect");
	const struct node *files[] = {node_get(n, "files"), node_get(expect, "files")};

	check_text(ps, node_get(node_get(n, "stdin"), "file"), names);
	check_text(ps, node_get(node_get(expect, "stdout"), "file"), names);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		for (size_t k = 1; files[i] && files[i]->kind == NODE_MAPPING && k < files[i]->n;
			k += 2)
			check_text(ps, node_get(files[i]->items[k], "file"), names);
}

static const struct plan_axis *find_axis(const struct plan *p, const char *name, size_t n)
{
	for (size_t i = 0; i < p->train.n_services; i++)
		for (size_t k = 0; k < p->train.services[i].n_axes; k++) {
			const struct plan_axis *a = &p->train.services[i].axes[k];

			if (strlen(a->name) == n && !strncmp(a->name, name, n))
				return a;
		}
	return NULL;
}

static void check_settings(struct problems *ps, const struct node *n, const struct plan *p,
	const struct strv *settings)
{
	for (size_t i = 0; i < settings->n; i++) {
		size_t len = strcspn(settings->v[i], "="), k = 0;
		const struct plan_axis *a = find_axis(p, settings->v[i], len);
		const char *value = settings->v[i] + len + 1;

		if (!a) {
			problem_add(ps, n, "no service has a setting '%.*s' in its 'matrix'",
				(int)len, settings->v[i]);
			continue;
		}
		while (k < a->n && strcmp(a->values[k].name, value) != 0)
			k++;
		if (k == a->n)
			problem_add(ps, n, "the setting '%s' has no value '%s'", a->name, value);
	}
}

static void check_phase(struct problems *ps, const struct node *n, const struct plan *p,
	const struct plan_phase *ph, const struct strv *names)
{
	const struct node *http = node_get(n, "http"), *mix = node_get(n, "mix");

	check_text(ps, node_get(n, "run"), names);
	check_text(ps, node_get(n, "when"), names);
	check_settings(ps, node_get(n, "matrix"), p, &ph->settings);
	check_expect(ps, n, names);
	check_batch(ps, n, names);
	check_text(ps, node_get(node_get(http, "body"), "file"), names);
	for (size_t i = 0; mix && mix->kind == NODE_SEQUENCE && i < mix->n; i++) {
		check_text(ps, node_get(node_get(mix->items[i], "body"), "file"), names);
		check_expect(ps, mix->items[i], names);
	}
	if (http && http->kind == NODE_MAPPING)
		check_http_service(ps, http, p, &ph->http);
}

/* Definitions stand among names in bench.scenarios. */
static void check_held_out(struct problems *ps, const struct node *scenarios, const struct plan *p,
	const struct strv *names)
{
	size_t k = 0;

	for (size_t i = 0; i < p->bench.n_held_out; i++, k++) {
		const struct plan_phase *ph = &p->bench.held_out[i], *first;

		while (scenarios->items[k]->kind != NODE_MAPPING)
			k++;
		check_phase(ps, scenarios->items[k], p, ph, names);
		first = ph->name ? plan_find_phase(p, ph->name) : NULL;
		if (first)
			problem_add(ps, node_get(scenarios->items[k], "name"),
				"the phase in line %d has the name '%s', too: a scenario of its "
				"own "
				"needs a name of its own",
				first->at.line, ph->name);
	}
}

static void check_phases(struct problems *ps, const struct node *phases, const struct plan *p,
	const struct strv *names)
{
	for (size_t i = 0; i < p->train.n_phases; i++) {
		const struct plan_phase *ph = &p->train.phases[i];
		const struct plan_phase *first = ph->name ? plan_find_phase(p, ph->name) : ph;

		check_phase(ps, phases->items[i], p, ph, names);
		if (first != ph)
			problem_add(ps, node_get(phases->items[i], "name"),
				"the name '%s' is given twice; the phase in line %d has it",
				ph->name, first->at.line);
	}
}

/* Without one nothing would run the instrumented binary, which two builds later is too late to say.
 */
static void check_subject(struct problems *ps, const struct node *train, const struct plan *p)
{
	if (!train || ps->n || plan_subject(p))
		return;
	for (size_t i = 0; i < p->train.n_services; i++)
		if (p->train.services[i].run && strstr(p->train.services[i].run, "{binary"))
			return;
	for (size_t i = 0; i < p->train.n_phases; i++)
		if (p->train.phases[i].run && strstr(p->train.phases[i].run, "{binary"))
			return;
	problem_add(ps, train,
		"nothing in 'train' runs the binary: mark a service with 'subject: true', or use "
		"{binary} in a phase's 'run'");
}

/* What a phase can be called in a comparison. */
static void add_scenario_names(
	const struct plan *p, const struct plan_phase *phase, struct strv *names)
{
	if (!phase->name)
		return;
	strv_add(names, phase->name);
	for (size_t i = 0; i < plan_combinations(p); i++) {
		auto_free char *text = plan_combination_text(p, i);

		if (text && plan_phase_runs_in(p, phase, i))
			strv_addf(names, "%s [%s]", phase->name, text);
	}
}

/* By the same name, or by one without the setting that it is measured with and one with it. */
static void check_repeated(struct problems *ps, const struct node *at, const struct plan *p,
	const struct strv *names, size_t i)
{
	size_t setting = 0, other = 0;
	const struct plan_phase *phase = plan_find_scenario(p, names->v[i], &setting);

	for (size_t k = 0; k < i; k++)
		if (!strcmp(names->v[k], names->v[i]))
			problem_add(ps, at, "the scenario '%s' is given twice", names->v[i]);
		else if (phase && plan_find_scenario(p, names->v[k], &other) == phase &&
			 other == setting)
			problem_add(ps, at, "the scenario '%s' is the same as '%s'", names->v[i],
				names->v[k]);
}

/* names: to be checked, given at `list`. */
static void check_scenarios(struct problems *ps, const struct node *list, const struct plan *p,
	const struct strv *names)
{
	for (size_t i = 0; i < names->n; i++) {
		const struct node *at =
			list->kind == NODE_SEQUENCE && list->n == names->n ? list->items[i] : list;
		auto_strv struct strv known = STRV_INIT;
		const char *near;

		check_repeated(ps, at, p, names, i);
		if (plan_find_scenario(p, names->v[i], NULL))
			continue;
		for (size_t k = 0; k < p->train.n_phases; k++)
			add_scenario_names(p, &p->train.phases[k], &known);
		near = nearest_word(names->v[i], (const char *const *)known.v, known.n);
		problem_add(ps, at, "there is no phase '%s' in train.phases%s%s%s", names->v[i],
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
}

static void check_peer_name(struct problems *ps, const struct node *peers, size_t which)
{
	const struct node *at = peers->items[2 * which];

	if (!at->text[0] || !strcmp(at->text, "null"))
		problem_add(ps, at, "a peer cannot be called '%s'", at->text);
}

/* A peer starts in the place of the subject and knows of the services before it. */
static void check_peers(struct problems *ps, const struct node *peers, struct plan *p)
{
	const struct plan_service *subject = plan_subject(p);
	auto_strv struct strv names = STRV_INIT;

	if (!p->bench.n_peers)
		return;
	if (!subject) {
		problem_add(ps, peers,
			"a peer takes the place of the subject: mark a service with "
			"'subject: true'");
		return;
	}
	strv_add(&names, "work");
	program_names(&names, p);
	for (size_t i = 0; &p->train.services[i] != subject; i++)
		add_service_names(&names, &p->train.services[i]);
	for (size_t i = 0; i < p->bench.n_peers; i++) {
		const struct node *n = peers->items[2 * i + 1];

		check_peer_name(ps, peers, i);
		peer_complete(&p->bench.peers[i], subject, node_get(n, "ready") != NULL);
		check_service(ps, n, p->root, &p->bench.peers[i].service, &names);
	}
}

/* What must be narrow must be measured. */
static void check_resolve(struct problems *ps, const struct node *bench, const struct plan_bench *b)
{
	const struct node *list = node_get(bench, "resolve");

	for (size_t i = 0; i < b->resolve.n; i++)
		if (b->scenarios.n && !strv_has(&b->scenarios, b->resolve.v[i]))
			problem_add(ps, list, "'%s' is not among the 'scenarios' that are measured",
				b->resolve.v[i]);
	if (list && !(b->until_resolved > 0))
		problem_add(
			ps, list, "'resolve' has no effect here: it belongs to 'until-resolved'");
}

void check_plan(struct problems *ps, const struct node *root, struct plan *p)
{
	const struct node *train = node_get(root, "train");
	const struct node *bench = node_get(root, "bench");
	auto_strv struct strv names = STRV_INIT;

	check_build(ps, node_get(root, "build"), &p->build);
	check_gates(ps, node_get(root, "gates"), p);
	check_pgo(ps, node_get(root, "pgo"), p);
	check_services(ps, node_get(train, "services"), p, &names);
	check_peers(ps, node_get(bench, "peers"), p);
	check_variants(ps, root, p);
	find_certs(train, bench, p);
	check_phases(ps, node_get(train, "phases"), p, &names);
	check_held_out(ps, node_get(bench, "scenarios"), p, &names);
	check_scenarios(ps, node_get(bench, "scenarios"), p, &p->bench.scenarios);
	check_scenarios(ps, node_get(bench, "resolve"), p, &p->bench.resolve);
	check_resolve(ps, bench, &p->bench);
	check_subject(ps, train, p);
}
