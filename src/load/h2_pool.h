/* The memory of HTTP/2 sessions. nghttp2 makes and frees about a dozen small blocks for each
 * request; the general allocator took a twentieth of the driver's processor time for them. */
#pragma once

#include <nghttp2/nghttp2.h>

struct h2_pool;

/* Aborts when memory is exhausted. */
struct h2_pool *h2_pool_new(void);
/* All sessions that used it are gone before. NULL is allowed. */
void h2_pool_free(struct h2_pool *p);
/* For nghttp2_session_client_new3(); points into p, for one thread at a time. */
nghttp2_mem *h2_pool_mem(struct h2_pool *p);
