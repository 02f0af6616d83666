#include "ledger/ledger.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "ledger/internal.h"

static const char *const shown_names[] = {"none", "less", "more"};
static const char *const end_names[] = {[TRIAL_COUNTED] = "counted",
	[TRIAL_RESOLVED] = "resolved",
	[TRIAL_TIME] = "time",
	[TRIAL_MOST] = "most"};

/* ---- writing ---- */

static int add_build(const struct db *d, const struct past_build *b, struct error *err)
{
	const struct comparisons *c = &b->bench;

	return db_run(d, err,
		"INSERT INTO builds (finished_ns, started, project, version, target, whet,"
		" revision, dirty, machine, source, training, profile, driver_busy, warnings,"
		" drift, drift_alarm, ended_by, until_resolved, time_limit_ns, bench_ns)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, 2), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"ittttttittttrtrttrii", (int64_t)b->finished_ns, b->started, b->project, b->version,
		b->target, b->whet, b->revision, (int64_t)b->dirty, b->machine, b->source,
		b->training, b->profile, c->n ? c->driver_busy : NAN, c->n ? c->warnings : NULL,
		c->n ? c->drift : NAN, c->n ? c->drift_alarm : NULL, end_names[c->end],
		c->until_resolved, (int64_t)c->time_limit_ns, (int64_t)c->wall_ns);
}

static int add_lists(const struct db *d, const struct past_build *b, int64_t id, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->n_tools; i++)
		r = db_run(d, err, "INSERT INTO tools VALUES (?, ?, ?, ?)", "iitt", id, (int64_t)i,
			b->tools[i].name, b->tools[i].version);
	for (size_t i = 0; r == 0 && i < b->n_artefacts; i++)
		r = db_run(d, err, "INSERT INTO artefacts VALUES (?, ?, ?, ?, ?, ?)", "iittit", id,
			(int64_t)i, b->artefacts[i].name, b->artefacts[i].variant,
			(int64_t)b->artefacts[i].bytes, b->artefacts[i].sha256);
	for (size_t i = 0; r == 0 && i < b->n_stages; i++)
		r = db_run(d, err, "INSERT INTO stages VALUES (?, ?, ?, ?, ?, ?)", "iitiii", id,
			(int64_t)i, b->stages[i].name, (int64_t)b->stages[i].wall_ns,
			(int64_t)b->stages[i].cpu_ns, (int64_t)b->stages[i].reused);
	return r;
}

static int add_launches(
	const struct db *d, int64_t id, size_t place, const struct comparison *c, struct error *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && c->by_launch && i < c->launches; i++)
		r = db_run(d, err, "INSERT INTO launches VALUES (?, ?, ?, ?, ?)", "iiiri", id,
			(int64_t)place, (int64_t)i, c->by_launch[i], (int64_t)c->outlier[i]);
	return r;
}

static int add_gain(const struct db *d, int64_t id, size_t place, const struct comparison *c,
	bool null_arm, double share, struct error *err)
{
	bool known = c->by_launch;

	if (db_run(d, err,
		    "INSERT INTO gains VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
		    " iif(?, ?, NULL), iif(?, ?, NULL), iif(?, ?, NULL), ?)",
		    "iittttrrrrriitiriiiiiiii", id, (int64_t)place, c->scenario, c->variant,
		    c->base, c->per_run ? "run" : "request", c->base_ns, c->ratio, c->low, c->high,
		    c->p, (int64_t)c->launches, (int64_t)c->slices, shown_names[c->shown],
		    (int64_t)null_arm, share, (int64_t)c->held_out, (int64_t)known,
		    (int64_t)c->better_launches, (int64_t)known, (int64_t)c->better_slices,
		    (int64_t)known, (int64_t)c->outlier_slices, (int64_t)c->more_launches) < 0)
		return -1;
	return add_launches(d, id, place, c, err);
}

static int add_gains(const struct db *d, const struct comparisons *c, int64_t id, struct error *err)
{
	size_t scenarios = comparisons_scenarios(c);
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->n; i++)
		r = add_gain(d, id, i, &c->v[i], comparisons_is_null(c, i),
			c->n_shares ? c->shares[i % scenarios] : NAN, err);
	for (size_t i = 0; r == 0 && i < c->n_weighted; i++)
		r = add_gain(d, id, c->n + i, &c->weighted[i],
			comparisons_is_null(c, i * scenarios), NAN, err);
	return r;
}

int ledger_add(
	const struct ledger *l, const struct past_build *b, int64_t *ret_id, struct error *err)
{
	auto_db struct db d = {0};
	bool empty;
	int64_t id;

	if (db_open(l, DB_WRITE, &d, &empty, err) < 0 || add_build(&d, b, err) < 0)
		return -1;
	id = sqlite3_last_insert_rowid(d.p);
	if (add_lists(&d, b, id, err) < 0 || add_gains(&d, &b->bench, id, err) < 0 ||
		db_commit(&d, err) < 0)
		return -1;
	*ret_id = id;
	return 0;
}

/* ---- reading ---- */

static char *text(sqlite3_stmt *s, int column)
{
	return xstrdup((const char *)sqlite3_column_text(s, column));
}

static double real(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_NULL ? NAN
							     : sqlite3_column_double(s, column);
}

static int index_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; name && i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return (int)i;
	return -1;
}

static int build_row(const struct db *d, sqlite3_stmt *s, struct past_build *ret, struct error *err)
{
	int end = index_of(
		(const char *)sqlite3_column_text(s, 17), end_names, ARRAY_SIZE(end_names));
	int64_t dirty = sqlite3_column_int64(s, 8);

	if (end < 0)
		return db_damaged(d, err, "build %lld ended in a way that is not known",
			(long long)sqlite3_column_int64(s, 0));
	*ret = (struct past_build){
		.id = sqlite3_column_int64(s, 0),
		.finished_ns = (uint64_t)sqlite3_column_int64(s, 1),
		.started = text(s, 2),
		.project = text(s, 3),
		.version = text(s, 4),
		.target = text(s, 5),
		.whet = text(s, 6),
		.revision = text(s, 7),
		.dirty = dirty == 0   ? PAST_CLEAN
			 : dirty == 1 ? PAST_DIRTY
				      : PAST_DIRTY_UNKNOWN,
		.machine = text(s, 9),
		.source = text(s, 10),
		.training = text(s, 11),
		.profile = text(s, 12),
	};
	ret->bench = (struct comparisons){
		.driver_busy = real(s, 13),
		.warnings = text(s, 14),
		.drift = real(s, 15),
		.drift_alarm = text(s, 16),
		.end = (enum trial_end)end,
		.until_resolved = sqlite3_column_double(s, 18),
		.time_limit_ns = (uint64_t)sqlite3_column_int64(s, 19),
		.wall_ns = (uint64_t)sqlite3_column_int64(s, 20),
	};
	return 0;
}

static int read_builds(const struct db *d, struct past_builds *ret, struct error *err)
{
	auto_stmt sqlite3_stmt *s = NULL;
	int r = db_prepare(d,
		"SELECT id, finished_ns, started, project, version, target, whet, revision,"
		" ifnull(dirty, 2), machine, source, training, profile, driver_busy, warnings,"
		" drift, drift_alarm, ended_by, until_resolved, time_limit_ns, bench_ns"
		" FROM builds ORDER BY id",
		&s, err);

	while (r == 0 && (r = db_step(d, s, err)) > 0) {
		array_reserve(ret->v, ret->n, ret->cap);
		r = build_row(d, s, &ret->v[ret->n], err);
		ret->n += r == 0;
	}
	return r;
}

/* Rows of a list, in the order of their builds; each goes to its build by fn. */
typedef int row_fn(const struct db *d, sqlite3_stmt *s, struct past_build *b, struct error *err);

static int read_rows(const struct db *d, const char *table, row_fn *fn, struct past_builds *to,
	struct error *err)
{
	auto_free char *sql = xasprintf("SELECT * FROM %s ORDER BY build, place", table);
	auto_stmt sqlite3_stmt *s = NULL;
	size_t at = 0;
	int r = db_prepare(d, sql, &s, err);

	while (r == 0 && (r = db_step(d, s, err)) > 0) {
		int64_t build = sqlite3_column_int64(s, 0);

		while (at < to->n && to->v[at].id < build)
			at++;
		if (at == to->n || to->v[at].id != build)
			return db_damaged(d, err, "%s of build %lld, which is not there", table,
				(long long)build);
		r = fn(d, s, &to->v[at], err);
	}
	return r;
}

static int tool_row(const struct db *d, sqlite3_stmt *s, struct past_build *b, struct error *err)
{
	array_reserve(b->tools, b->n_tools, b->cap_tools);
	b->tools[b->n_tools++] = (struct past_tool){text(s, 2), text(s, 3)};
	return 0;
}

static int artefact_row(
	const struct db *d, sqlite3_stmt *s, struct past_build *b, struct error *err)
{
	array_reserve(b->artefacts, b->n_artefacts, b->cap_artefacts);
	b->artefacts[b->n_artefacts++] = (struct past_artefact){
		.name = text(s, 2),
		.variant = text(s, 3),
		.bytes = (uint64_t)sqlite3_column_int64(s, 4),
		.sha256 = text(s, 5),
	};
	return 0;
}

static int stage_row(const struct db *d, sqlite3_stmt *s, struct past_build *b, struct error *err)
{
	array_reserve(b->stages, b->n_stages, b->cap_stages);
	b->stages[b->n_stages++] = (struct past_stage){
		.name = text(s, 2),
		.wall_ns = (uint64_t)sqlite3_column_int64(s, 3),
		.cpu_ns = (uint64_t)sqlite3_column_int64(s, 4),
		.reused = sqlite3_column_int64(s, 5) != 0,
	};
	return 0;
}

/* Whoever prints these figures takes their logarithms. */
static bool is_gain(const struct comparison *c, const char *unit)
{
	return unit && (strcmp(unit, "run") == 0 || strcmp(unit, "request") == 0) && c->ratio > 0 &&
	       isfinite(c->ratio) && isfinite(c->low) == isfinite(c->high) && !(c->low <= 0) &&
	       !(c->low > c->high);
}

static void put_gain(struct comparisons *to, const struct comparison *c, double share)
{
	if (!c->scenario) {
		array_reserve(to->weighted, to->n_weighted, to->cap_weighted);
		to->weighted[to->n_weighted++] = *c;
		return;
	}
	array_reserve(to->v, to->n, to->cap);
	to->v[to->n++] = *c;
	/* Those of the first variant hold for all. */
	if (isfinite(share) && strcmp(c->variant, to->v[0].variant) == 0) {
		to->shares = xreallocarray(to->shares, to->n_shares + 1, sizeof(*to->shares));
		to->shares[to->n_shares++] = share;
	}
}

static int gain_row(const struct db *d, sqlite3_stmt *s, struct past_build *b, struct error *err)
{
	const char *unit = (const char *)sqlite3_column_text(s, 5);
	int shown = index_of(
		(const char *)sqlite3_column_text(s, 13), shown_names, ARRAY_SIZE(shown_names));
	struct comparison c = {
		.base_ns = real(s, 6),
		.ratio = real(s, 7),
		.low = real(s, 8),
		.high = real(s, 9),
		.p = real(s, 10),
		.launches = (uint32_t)sqlite3_column_int64(s, 11),
		.slices = (uint32_t)sqlite3_column_int64(s, 12),
		.held_out = sqlite3_column_int64(s, 16) != 0,
		.better_launches = (uint32_t)sqlite3_column_int64(s, 17),
		.better_slices = (uint32_t)sqlite3_column_int64(s, 18),
		.outlier_slices = (uint32_t)sqlite3_column_int64(s, 19),
		.more_launches = (uint32_t)sqlite3_column_int64(s, 20),
	};

	if (!is_gain(&c, unit) || shown < 0)
		return db_damaged(
			d, err, "build %lld holds figures that cannot be", (long long)b->id);
	c.per_run = strcmp(unit, "run") == 0;
	c.shown = shown;
	c.scenario = text(s, 2);
	c.variant = text(s, 3);
	c.base = text(s, 4);
	put_gain(&b->bench, &c, real(s, 15));
	return 0;
}

/* The launches of one row of gains, put together. */
struct launches {
	int64_t build, place;
	uint32_t n;
	struct comparison *c; /* NULL: none begun */
};

static bool is_complete(const struct launches *l)
{
	return !l->c || l->n == l->c->launches;
}

/* The row of gains at a place, or NULL. */
static struct comparison *gain_at(struct past_builds *b, int64_t build, int64_t place)
{
	struct past_build *at = (struct past_build *)past_find(b, build);
	size_t n = at ? at->bench.n : 0;

	if (!at || place < 0)
		return NULL;
	if ((size_t)place < n)
		return &at->bench.v[place];
	return (size_t)place - n < at->bench.n_weighted ? &at->bench.weighted[(size_t)place - n]
							: NULL;
}

static bool take_launch(struct launches *l, sqlite3_stmt *s, struct past_builds *to)
{
	int64_t build = sqlite3_column_int64(s, 0), place = sqlite3_column_int64(s, 1);

	if (!l->c || build != l->build || place != l->place) {
		if (!is_complete(l))
			return false;
		*l = (struct launches){build, place, 0, gain_at(to, build, place)};
	}
	if (!l->c || sqlite3_column_int64(s, 2) != l->n || l->n >= l->c->launches)
		return false;
	l->c->by_launch = xreallocarray(l->c->by_launch, l->n + 1, sizeof(*l->c->by_launch));
	l->c->outlier = xreallocarray(l->c->outlier, l->n + 1, sizeof(*l->c->outlier));
	l->c->by_launch[l->n] = sqlite3_column_double(s, 3);
	l->c->outlier[l->n++] = sqlite3_column_int64(s, 4) != 0;
	return true;
}

/* All launches of a row, or none. */
static int read_launches(const struct db *d, struct past_builds *to, struct error *err)
{
	auto_stmt sqlite3_stmt *s = NULL;
	struct launches l = {0};
	int r = db_prepare(d, "SELECT * FROM launches ORDER BY build, place, launch", &s, err);

	while (r == 0 && (r = db_step(d, s, err)) > 0)
		r = take_launch(&l, s, to) ? 0
					   : db_damaged(d, err,
						     "the launches of build %lld do not "
						     "fit its figures",
						     (long long)sqlite3_column_int64(s, 0));
	if (r == 0 && !is_complete(&l))
		return db_damaged(d, err, "launches of build %lld are missing", (long long)l.build);
	return r;
}

/* The rows come by variant, and each variant has the same scenarios: readers count on it. */
static bool is_grid(const struct comparisons *c)
{
	size_t scenarios = comparisons_scenarios(c);

	if (!c->n)
		return !c->n_weighted;
	if (c->n % scenarios || (c->n_weighted && c->n_weighted != c->n / scenarios) ||
		(c->n_shares && c->n_shares != scenarios))
		return false;
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i].scenario, c->v[i % scenarios].scenario) != 0 ||
			strcmp(c->v[i].variant, c->v[i - i % scenarios].variant) != 0)
			return false;
	return true;
}

static int read_all(const struct db *d, struct past_builds *ret, struct error *err)
{
	if (read_builds(d, ret, err) < 0 || read_rows(d, "tools", tool_row, ret, err) < 0 ||
		read_rows(d, "artefacts", artefact_row, ret, err) < 0 ||
		read_rows(d, "stages", stage_row, ret, err) < 0 ||
		read_rows(d, "gains", gain_row, ret, err) < 0 || read_launches(d, ret, err) < 0)
		return -1;
	for (size_t i = 0; i < ret->n; i++)
		if (!is_grid(&ret->v[i].bench))
			return db_damaged(d, err,
				"the scenarios of build %lld differ between its variants",
				(long long)ret->v[i].id);
	return 0;
}

int ledger_read(const struct ledger *l, struct past_builds *ret, struct error *err)
{
	auto_past_builds struct past_builds got = {0};
	auto_db struct db d = {0};
	bool empty;

	if (!path_exists(l->path)) {
		*ret = got;
		return 0;
	}
	if (db_open(l, DB_READ, &d, &empty, err) < 0 || (!empty && read_all(&d, &got, err) < 0))
		return -1;
	*ret = got;
	got = (struct past_builds){0};
	return 0;
}
