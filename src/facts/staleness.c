#include "facts/staleness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define COMMIT_DIGITS 12

static const char *const names[LOST_KINDS] = {"stale", "moved", "renamed", "gone"};

const char *lost_how_name(enum lost_how h)
{
	return names[h];
}

void staleness_release(struct staleness *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].key);
		free(s->v[i].name);
		free(s->v[i].now);
	}
	free(s->v);
	free(s->created);
	free(s->commit);
	memset(s, 0, sizeof(*s));
}

char *staleness_percent(double share)
{
	double percent = share * 100;

	if (percent <= 0)
		return xstrdup("0 %");
	if (percent < 0.01)
		return xstrdup("below 0.01 %");
	return percent < 1 ? xasprintf("%.2g %%", percent) : xasprintf("%.3g %%", percent);
}

static void add_kinds(const struct staleness *s, struct buf *out)
{
	const char *between = " (";

	for (int k = 0; k < LOST_KINDS; k++) {
		if (!s->lost[k])
			continue;
		buf_addf(out, "%s%" PRIu64 " %s", between, s->lost[k], names[k]);
		between = ", ";
	}
	if (s->all_lost)
		buf_addc(out, ')');
}

char *staleness_text(const struct staleness *s)
{
	auto_free char *share = staleness_percent(s->all_share);
	auto_free char *budget = staleness_percent(s->budget);
	auto_free char *unknown = staleness_percent(s->unknown_share);
	struct buf b = BUF_INIT;

	buf_addf(&b, "%" PRIu64 " of %" PRIu64 " trained functions are lost", s->all_lost,
		s->trained);
	add_kinds(s, &b);
	buf_addf(&b, ", %s of all counts; budget %s", share, budget);
	if (s->unknown)
		buf_addf(&b,
			"; of %" PRIu64
			" more, %s of all counts, it is not known: compilers before "
			"LLVM 19 do not tell what they look up",
			s->unknown, unknown);
	return buf_detach(&b);
}

char *staleness_from(const struct staleness *s)
{
	return s->commit ? xasprintf("profile of %s, commit %.*s", s->created ? s->created : "?",
				   COMMIT_DIGITS, s->commit)
			 : xasprintf("profile of %s", s->created ? s->created : "?");
}

double staleness_at_stake(const struct staleness *s)
{
	return s->all_share + s->unknown_share;
}

bool staleness_near(const struct staleness *s)
{
	double share = staleness_at_stake(s);

	return s->judged && share > 0 && share <= s->budget && share >= s->budget / 2;
}

static json_t *function_json(const struct lost_function *f)
{
	json_t *o = json_object();

	json_set_text(o, "key", f->key);
	json_set_text(o, "name", f->name);
	json_set_text(o, "how", names[f->how]);
	json_object_set_new(o, "now", f->now ? json_string(f->now) : json_null());
	json_object_set_new(o, "share", json_real(f->share));
	return o;
}

json_t *staleness_json(const struct staleness *s)
{
	json_t *o = json_object(), *kinds = json_object(), *list = json_array();

	for (int k = 0; k < LOST_KINDS; k++) {
		json_t *one = json_object();

		json_object_set_new(one, "functions", json_u64(s->lost[k]));
		json_object_set_new(one, "share", json_real(s->share[k]));
		json_object_set_new(kinds, names[k], one);
	}
	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(list, function_json(&s->v[i]));
	json_object_set_new(o, "trained", json_u64(s->trained));
	json_object_set_new(o, "lost", json_u64(s->all_lost));
	json_object_set_new(o, "share", json_real(s->all_share));
	json_object_set_new(o, "budget", json_real(s->budget));
	json_object_set_new(o, "near", json_boolean(staleness_near(s)));
	json_object_set_new(o, "kinds", kinds);
	json_object_set_new(o, "unknown", json_u64(s->unknown));
	json_object_set_new(o, "unknown_share", json_real(s->unknown_share));
	json_object_set_new(o, "untrained", json_u64(s->untrained));
	json_object_set_new(o, "hottest", list);
	return o;
}
