#include "pipeline/space.h"

#include <string.h>

#include "base/disk.h"
#include "base/file.h"
#include "base/mem.h"

/* Where a build writes. Text of the first that is full, or NULL. */
static char *full_disk(const struct run *r)
{
	auto_free char *dist = r->plan.root ? run_dist(r) : NULL;
	const char *const places[] = {r->store.root, r->scratch, dist, "/tmp"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *text = places[i] ? disk_full_text(places[i]) : NULL;

		if (text)
			return text;
	}
	return NULL;
}

void space_explain(const struct run *r, struct error *err)
{
	auto_free char *full = full_disk(r);
	bool named = err->msg && disk_full_named(err->msg);
	enum error_code code = err->code;

	/* A message that names it is enough: what failed has removed its file since. But a disk
	 * that is full now may be chance where whet found a fault of the plan. */
	if (!err->msg || (!named && (!full || code == ERR_CONFIG || code == ERR_USAGE)))
		return;
	if (code != ERR_GATE)
		code = ERR_ENVIRONMENT;
	{
		auto_free char *old = take_ptr(err->msg);

		error_set(err, code,
			"%s\n%s%swhat to do: make room%s, then build again: what is "
			"finished is kept, nothing has to be cleaned by hand",
			old, full ? full : "", full ? "\n" : "", full ? " there" : " on the disk");
	}
}
