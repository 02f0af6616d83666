/* Services that run as another user. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "service/internal.h"

bool service_changes_user(const struct plan_service *p)
{
	return p->user && geteuid() == 0;
}

char *service_user_note(const struct plan_service *p)
{
	if (!p->user || geteuid() == 0)
		return NULL;
	return xasprintf("service '%s' runs as the present user, not as '%s': only root can start "
			 "it so",
		p->name, p->user);
}

int service_user(const struct plan_service *p, struct tree_user *ret, struct error *err)
{
	char *end = NULL;
	unsigned long number = strtoul(p->user, &end, 10);
	bool is_number = p->user[0] >= '0' && p->user[0] <= '9' && !*end;
	struct passwd *pw = is_number ? getpwuid((uid_t)number) : getpwnam(p->user);

	if (!pw && !is_number)
		return error_set(err, ERR_ENVIRONMENT,
			"service '%s': there is no user '%s' on this machine", p->name, p->user);
	*ret = (struct tree_user){.uid = (uid_t)number, .gid = (gid_t)number};
	if (pw)
		*ret = (struct tree_user){
			.uid = pw->pw_uid, .gid = pw->pw_gid, .name = xstrdup(pw->pw_name)};
	return 0;
}

static int give_one(const char *path, const struct tree_user *user, struct error *err)
{
	return lchown(path, user->uid, user->gid) < 0 ? file_error(err, "give away", path) : 0;
}

static int give_entry(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	auto_free char *full = path_join(root, path);

	return give_one(full, ctx, err);
}

int service_give(const struct plan_service *p, const char *folder, struct error *err)
{
	struct tree_user user = {0};
	int r;

	if (!service_changes_user(p))
		return 0;
	if (service_user(p, &user, err) < 0)
		return -1;
	r = tree_walk(folder, give_entry, &user, err);
	if (r == 0)
		r = give_one(folder, &user, err);
	free(user.name);
	return r;
}
