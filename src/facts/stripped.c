#include "facts/stripped.h"

#include <string.h>

void strip_facts_release(struct strip_facts *f)
{
	strv_release(&f->faults);
	memset(f, 0, sizeof(*f));
}
