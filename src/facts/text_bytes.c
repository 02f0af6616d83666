#include "facts/text_bytes.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "facts/fact_io.h"

static const char *const names[TEXT_CLASSES] = {
	[TEXT_HOT] = "hot",
	[TEXT_UNLIKELY] = "unlikely",
	[TEXT_SPLIT] = "split",
	[TEXT_STARTUP] = "startup",
	[TEXT_OTHER] = "other",
	[TEXT_PADDING] = "padding",
};

const char *text_class_name(enum text_class c)
{
	return c < TEXT_CLASSES ? names[c] : "?";
}

uint64_t text_bytes_sum(const struct text_bytes *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < TEXT_CLASSES; i++)
		sum += t->v[i];
	return sum;
}

enum text_class text_class_of(const char *name, size_t n)
{
	static const struct {
		const char *word;
		enum text_class class;
	} words[] = {{".text.hot", TEXT_HOT}, {".text.unlikely", TEXT_UNLIKELY},
		{".text.split", TEXT_SPLIT}, {".text.startup", TEXT_STARTUP},
		{".text.exit", TEXT_STARTUP}};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t k = strlen(words[i].word);

		if (n >= k && memcmp(name, words[i].word, k) == 0 && (n == k || name[k] == '.'))
			return words[i].class;
	}
	return TEXT_OTHER;
}

json_t *text_bytes_json(const struct text_bytes *t)
{
	json_t *o;

	if (!text_bytes_sum(t))
		return json_null();
	o = json_object();
	for (size_t i = 0; i < TEXT_CLASSES; i++)
		json_object_set_new(o, names[i], json_u64(t->v[i]));
	return o;
}

void text_bytes_from_json(const json_t *o, struct text_bytes *ret)
{
	*ret = (struct text_bytes){0};
	for (size_t i = 0; json_is_object(o) && i < TEXT_CLASSES; i++)
		ret->v[i] = fact_u64(o, names[i]);
}
