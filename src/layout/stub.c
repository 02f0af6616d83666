#include "layout/layout.h"

#define LATER(err) error_set(err, ERR_UNSUPPORTED, "%s: not there yet", __func__)
void layout_tool_release(struct layout_tool *t)
{
}
int layout_find(const char *name, int llvm, const char *path_list, struct layout_tool *ret,
	struct error *err)
{
	return LATER(err);
}
int layout_preflight(const struct layout_tool *t, const char *binary, struct layout_input *ret,
	struct error *err)
{
	return LATER(err);
}
void layout_remarks(const struct layout_input *i, struct strv *ret)
{
}
int layout_instrument(
	const struct layout_tool *t, const struct layout_instrument *o, struct error *err)
{
	return LATER(err);
}
int layout_aim(const char *instrumented, const char *out, const char *prefix, struct error *err)
{
	return LATER(err);
}
void layout_files_release(struct layout_files *f)
{
}
const char *layout_state_name(enum layout_state s)
{
	return "";
}
int layout_collect(
	const char *prefix, const char *binary, struct layout_files *ret, struct error *err)
{
	return LATER(err);
}
int layout_profile_check(
	const char *path, const char *binary, struct layout_file *ret, struct error *err)
{
	return LATER(err);
}
int layout_merge(const struct strv *files, const char *binary, const char *out,
	struct layout_profile *ret, struct error *err)
{
	return LATER(err);
}
int layout_optimise(const struct layout_tool *t, const struct layout_optimise *o,
	struct layout_result *ret, struct error *err)
{
	return LATER(err);
}
void layout_options(const struct layout_tool *t, const struct layout_optimise *o, struct strv *ret)
{
}
int layout_deterministic(
	const struct layout_tool *t, const struct layout_optimise *o, struct error *err)
{
	return LATER(err);
}
int layout_strip_program(const struct layout_tool *t, const char **ret, struct error *err)
{
	return LATER(err);
}
bool layout_is_bolted(const char *path)
{
	return false;
}
