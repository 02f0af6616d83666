#include "facts/function_order.h"

#include <stdlib.h>
#include <string.h>

#include "facts/fact_io.h"

void function_order_release(struct function_order *o)
{
	free(o->file);
	free(o->why);
	strv_release(&o->missing);
	strv_release(&o->astray);
	memset(o, 0, sizeof(*o));
}

json_t *function_order_json(const struct function_order *o)
{
	json_t *j = json_object();

	json_set_text(j, "file", o->file);
	json_set_text(j, "why", o->why);
	fact_set_u64(j, "listed", o->listed);
	fact_set_u64(j, "present", o->present);
	fact_set_u64(j, "placed", o->placed);
	fact_set_u64(j, "bytes", o->bytes);
	fact_set_u64(j, "span", o->span);
	fact_set_strv(j, "missing", &o->missing);
	fact_set_strv(j, "astray", &o->astray);
	return j;
}

void function_order_from_json(const json_t *o, struct function_order *ret)
{
	fact_take_str(o, "file", &ret->file);
	fact_take_str(o, "why", &ret->why);
	ret->listed = fact_u64(o, "listed");
	ret->present = fact_u64(o, "present");
	ret->placed = fact_u64(o, "placed");
	ret->bytes = fact_u64(o, "bytes");
	ret->span = fact_u64(o, "span");
	json_opt_strv(o, "missing", &ret->missing);
	json_opt_strv(o, "astray", &ret->astray);
}

double function_order_share(const struct function_order *o)
{
	return o->present ? (double)o->placed / (double)o->present : 0;
}
