/* Names of functions that stay when a program is built again. */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "profile/compare.h"
#include "profile/model.h"

/* The length of a number of rustc's names (letters and digits, then '_') of at most max letters, or
 * 0. */
static size_t number_length(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && isalnum((unsigned char)s[n]))
		n++;
	return s[n] == '_' ? n + 1 : 0;
}

/* `_R...`: a crate is written Cs<number>_<name>. `B<number>_` refers to an earlier place of the
 * name by its distance from the start, which the lengths of those numbers move. */
static void add_v0(struct buf *b, const char *s)
{
	while (*s) {
		size_t n = 0;

		buf_addc(b, *s);
		if (s[0] == 'C' && s[1] == 's' && (n = number_length(s + 2, 12)) > 0)
			n++;
		else if (s[0] == 'B')
			n = number_length(s + 1, 4);
		s += 1 + n;
	}
}

/* `_ZN...17h<16 hexadecimal digits>E` */
static bool add_legacy(struct buf *b, const char *s)
{
	size_t n = strlen(s);
	const char *h = s + n - 20;

	if (n < 24 || s[n - 1] != 'E' || strncmp(h, "17h", 3) != 0 ||
		strspn(h + 3, "0123456789abcdef") != 16)
		return false;
	buf_add(b, s, (size_t)(h - s));
	buf_addc(b, 'E');
	return true;
}

char *profile_stable_name(const char *key)
{
	struct buf b = BUF_INIT;
	const char *end = key_path_end(key);

	if (end && key[0] != '<' && key_path_is_unit(key, end)) {
		key = end + 1;
	} else if (end) {
		buf_add(&b, key, (size_t)(end - key));
		buf_addc(&b, ':');
		key = end + 1;
	}
	if (strncmp(key, "_R", 2) == 0)
		add_v0(&b, key);
	else if (strncmp(key, "_ZN", 3) != 0 || !add_legacy(&b, key))
		buf_adds(&b, key);
	return buf_detach(&b);
}
