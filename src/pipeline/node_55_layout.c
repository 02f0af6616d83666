/* Layout: the optimised build, relinked with relocations, trained once more with counters of a
 * post-link optimiser, and laid out anew by them. docs/layout.md. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "pipeline/layout.h"
#include "pipeline/why.h"

#define LAYOUT_TIMEOUT_NS (1800 * NS_PER_S)

static struct plan_variant variant_of(const struct run *r)
{
	return r->track->variant ? *r->track->variant : plan_own_variant(&r->plan);
}

bool layout_wanted(const struct run *r)
{
	struct plan_variant own = variant_of(r);

	for (size_t i = 0; i < r->plan.n_variants; i++)
		if (r->plan.variants[i].layout.mode != PLAN_LAYOUT_OFF &&
			plan_same_but_layout(&r->plan.variants[i], &own))
			return true;
	return false;
}

int layout_take_relocs(struct build_out *out, const struct wrap_node *w, struct error *err)
{
	auto_free char *folder = path_join(out->folder, LAYOUT_RELOCS);
	auto_free char *none = path_join(out->folder, LAYOUT_NO_RELOCS);

	for (size_t i = 0; w->relocs && i < out->facts.n_binaries; i++) {
		const struct binary_fact *b = &out->facts.binaries[i];
		auto_free char *why = NULL, *text = NULL;
		auto_free char *from = wrap_relocs(&out->facts.log, w, b->link, &why);
		auto_free char *to = path_join(folder, b->name);

		if (!from) {
			text = xasprintf("'%s': %s", b->name, why);
			return file_write_atomic(none, text, strlen(text), 0644, err);
		}
		if (dir_create(folder, 0755, err) < 0 || file_copy(from, to, 0755, err) < 0)
			return -1;
	}
	return 0;
}

/* Why a build could not be linked with relocations; NULL: it was. Caller frees. */
static char *no_relocs(const struct build_out *base)
{
	auto_free char *path = path_join(base->folder, LAYOUT_NO_RELOCS);

	return path_exists(path) ? file_tail(path, 20) : NULL;
}

void layout_paths(const struct build_out *base, struct strv *ret)
{
	for (size_t i = 0; i < base->facts.n_binaries; i++)
		strv_addf(
			ret, "%s/" LAYOUT_RELOCS "/%s", base->folder, base->facts.binaries[i].name);
}

/* ---- before the first compile ---------------------------------------------------------------- */

/* What stands in the way of one mode; NULL: nothing. Caller frees. */
static int find_tool(struct run *r, const struct plan_layout *l, struct error *err)
{
	const struct compiler *main = run_main_compiler(r);
	struct layout_tool t = {0};

	if (r->cross)
		return error_set(err, ERR_UNSUPPORTED,
			"a program for another machine (%s) is not laid out: its counters cannot "
			"be "
			"taken here",
			r->plan.build.target);
	if (l->mode == PLAN_LAYOUT_LBR)
		return error_set(err, ERR_UNSUPPORTED,
			"samples of taken branches are not taken by this version; 'instrument' "
			"counts "
			"on every machine");
	if (layout_find(l->tool, main ? main->llvm : 0, getenv("PATH"), &t, err) < 0)
		return -1;
	if (!t.runtime) {
		int result = error_set(err, ERR_ENVIRONMENT,
			"%s has no runtime for its counters (libbolt_rt_instr.a)", t.version);

		layout_tool_release(&t);
		return result;
	}
	layout_tool_release(&r->layout_tool);
	r->layout_tool = t;
	return 0;
}

int layout_probe(struct run *r, struct error *err)
{
	for (size_t i = 0; i < r->plan.n_variants; i++) {
		const struct plan_variant *v = &r->plan.variants[i];
		struct error why = ERROR_INIT;

		if (v->layout.mode == PLAN_LAYOUT_OFF || find_tool(r, &v->layout, &why) == 0)
			continue;
		if (error_is_no_answer(&why))
			return error_move(err, &why);
		if (v->layout.mode != PLAN_LAYOUT_AUTO) {
			int code = why.code;
			auto_free char *text = xstrdup(why.msg);

			error_release(&why);
			return error_set(err, code, "%s:%d:%d: layout: %s: %s", r->plan.file,
				v->layout.at.line, v->layout.at.column,
				plan_layout_name(v->layout.mode), text);
		}
		if (!r->no_layout) {
			r->no_layout = xstrdup(why.msg);
			events_warning(r->o->events, "no layout: %s", why.msg);
		}
		error_release(&why);
	}
	return 0;
}

/* ---- one variant ----------------------------------------------------------------------------- */

/* What is in the way is a result under `auto`; asked for by name, it stops the build. */
static int cannot(const struct run *r, const char *why, struct error *err)
{
	bool may = r->track->variant->layout.mode == PLAN_LAYOUT_AUTO;

	return error_set(err, may ? ERR_GATE : ERR_UNSUPPORTED, "no layout of '%s': %s",
		run_variant_name(r->track), why);
}

static int look_first(struct run *r, const struct strv *inputs, struct error *err)
{
	for (size_t i = 0; i < inputs->n; i++) {
		struct layout_facts *f = &r->track->layouts[i];
		struct error why = ERROR_INIT;
		auto_strv struct strv remarks = STRV_INIT;
		int result;

		if (layout_preflight(&r->layout_tool, inputs->v[i], &f->input, &why) == 0 &&
			layout_can_instrument(&r->layout_tool, &f->input, &why) == 0) {
			layout_remarks(&f->input, &remarks);
			for (size_t k = 0; k < remarks.n; k++)
				events_detail(r->o->events, "%s: %s", path_basename(inputs->v[i]),
					remarks.v[k]);
			continue;
		}
		if (why.code != ERR_UNSUPPORTED && why.code != ERR_ENVIRONMENT)
			return error_move(err, &why);
		result = cannot(r, why.msg, err);
		error_release(&why);
		return result;
	}
	return 0;
}

static struct layout_optimise options_of(const struct run *r, const char *binary,
	const char *profile, const char *out, const char *log)
{
	return (struct layout_optimise){
		.binary = binary,
		.profile = profile,
		.out = out,
		.keep_debug = !r->plan.release.strip,
		.log = log,
		.timeout_ns = LAYOUT_TIMEOUT_NS,
	};
}

static void layout_node_key(const struct run *r, const struct strv *inputs, struct node_key *k)
{
	struct layout_optimise o = options_of(r, NULL, NULL, NULL, NULL);
	auto_strv struct strv options = STRV_INIT;
	auto_free char *words = NULL;

	layout_options(&r->layout_tool, &o, &options);
	words = strv_join(&options, " ");
	node_key_begin(k, "layout", run_variant_name(r->track));
	node_key_add(k, "whet", WHET_VERSION);
	node_key_add(k, "profile", r->track->layout_key);
	node_key_add(k, "tool", r->layout_tool.version);
	node_key_add(k, "options", words);
	for (size_t i = 0; i < inputs->n; i++) {
		char hex[SHA256_HEX] = "";

		sha256_file(inputs->v[i], hex, NULL);
		node_key_add_entry(k, "binaries", path_basename(inputs->v[i]), hex);
	}
	node_key_end(k);
}

static char *facts_path(const char *folder, const char *binary)
{
	return xasprintf("%s/%s.layout.json", folder, path_basename(binary));
}

static void list_out(struct run *r, const struct strv *inputs)
{
	struct build_out *out = &r->track->optimised;

	strv_add_all(&out->added, &r->track->base->added);
	strv_addf(&out->added, "relink: -Wl,--emit-relocs");
	for (size_t i = 0; i < inputs->n; i++) {
		auto_free char *words = strv_join(&r->track->layouts[i].result.options, " ");
		auto_free char *line = xasprintf("llvm-bolt: %s", words);

		strv_addf(&out->binaries, "%s/bin/%s", out->folder, path_basename(inputs->v[i]));
		if (!strv_has(&out->added, line))
			strv_add(&out->added, line);
	}
}

static bool reuse(struct run *r, const struct node_key *k, const struct strv *inputs)
{
	struct build_out *out = &r->track->optimised;
	auto_json json_t *record = store_node_record(&r->store, k->hex);
	auto_free char *folder = store_node_folder(&r->store, k->hex);

	for (size_t i = 0; record && i < inputs->n; i++) {
		auto_free char *path = facts_path(folder, inputs->v[i]);
		struct layout_facts f = {0};

		if (layout_facts_read(path, &f, NULL) < 0) {
			why_say_runs(r, k);
			return false;
		}
		layout_facts_release(&r->track->layouts[i]);
		r->track->layouts[i] = f;
	}
	if (!record) {
		why_say_runs(r, k);
		return false;
	}
	why_say_reused(r, record);
	out->folder = take_ptr(folder);
	r->reused = true;
	return true;
}

/* The same input twice must give the same bytes: else nobody could build the release again. */
static int lay_out(struct run *r, const char *input, const char *profile, struct layout_facts *f,
	struct error *err)
{
	const char *folder = r->track->optimised.folder;
	auto_free char *to = xasprintf("%s/bin/%s", folder, path_basename(input));
	auto_free char *log = xasprintf("%s/%s.bolt.log", folder, path_basename(input));
	auto_free char *facts = facts_path(folder, input);
	struct layout_optimise o = options_of(r, input, profile, to, log);

	o.made = &f->profile;
	if (layout_optimise(&r->layout_tool, &o, &f->result, err) < 0 ||
		layout_deterministic(&r->layout_tool, &o, err) < 0)
		return -1;
	return layout_facts_write(f, facts, err);
}

static int lay_out_all(struct run *r, const struct node_key *k, const struct strv *inputs,
	const struct strv *profiles, struct error *err)
{
	struct build_out *out = &r->track->optimised;
	auto_json json_t *record = json_object();
	uint64_t start = clock_mono_ns();
	auto_free char *bin = NULL;

	if (store_node_begin(&r->store, k->hex, &out->folder, err) < 0)
		return -1;
	bin = path_join(out->folder, "bin");
	if (dir_create(bin, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < inputs->n; i++)
		if (lay_out(r, inputs->v[i], profiles->v[i], &r->track->layouts[i], err) < 0)
			return -1;
	node_key_describe(k, record);
	json_object_set_new(record, "wall_ns", json_integer((json_int_t)(clock_mono_ns() - start)));
	return store_node_commit(&r->store, k->hex, record, err);
}

int node_layout(struct run *r, struct error *err)
{
	struct track *t = r->track;
	auto_strv struct strv inputs = STRV_INIT, profiles = STRV_INIT;
	auto_key struct node_key key = {0};
	auto_free char *none = NULL;

	if (r->no_layout)
		return cannot(r, r->no_layout, err);
	none = no_relocs(t->base);
	if (none)
		return cannot(r, none, err);
	layout_paths(t->base, &inputs);
	t->layouts = xcalloc(inputs.n + 1, sizeof(*t->layouts));
	t->n_layouts = inputs.n;
	if (look_first(r, &inputs, err) < 0 || layout_train(r, &inputs, &profiles, err) < 0)
		return -1;
	layout_node_key(r, &inputs, &key);
	t->optimised.key = xstrdup(key.hex);
	if (!reuse(r, &key, &inputs) && lay_out_all(r, &key, &inputs, &profiles, err) < 0)
		return -1;
	list_out(r, &inputs);
	strv_add_all(&t->final.unlaid, &t->base->binaries);
	return 0;
}
