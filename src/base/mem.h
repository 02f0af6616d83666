/* Memory: small allocations that cannot sensibly fail abort the process (exit code 5 by the
 * handler in cli); code that sizes an allocation by its input uses malloc and checks. Cleanup
 * attributes free on leaving scope; take_ptr() moves ownership out. */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* Called when a small allocation fails: says so on standard error and aborts. */
_Noreturn void mem_exhausted(void);

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s); /* NULL gives NULL */
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static inline void mem_free_ptr(void *p)
{
	free(*(void **)p);
}

static inline void mem_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define auto_free __attribute__((cleanup(mem_free_ptr)))
#define auto_close __attribute__((cleanup(mem_close_fd)))

#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) *take_p_ = &(p);                                                     \
		__typeof__(p) take_v_ = *take_p_;                                                  \
		*take_p_ = NULL;                                                                   \
		take_v_;                                                                           \
	})

/* Makes room for one more element in a plain array {T *v; size_t n, cap}. */
#define array_reserve(v, n, cap)                                                                   \
	do {                                                                                       \
		if ((n) >= (cap)) {                                                                \
			(cap) = (cap) ? (cap) * 2 : 8;                                             \
			(v) = xreallocarray((v), (cap), sizeof(*(v)));                             \
		}                                                                                  \
	} while (0)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
