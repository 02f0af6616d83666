/* Which bytes may stand where (RFC 9110 section 5). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* token: letters, digits and !#$%&'*+-.^_`|~ */
extern const uint8_t http_token_table[256];

static inline bool http_is_token(char c)
{
	return http_token_table[(uint8_t)c];
}

/* In a field's value: visible ASCII, space, tab, and bytes above 0x7f. */
static inline bool http_is_value(char c)
{
	uint8_t u = (uint8_t)c;

	return (u >= 0x20 && u != 0x7f) || u == '\t';
}

/* Whether all n bytes are allowed in a value. */
bool http_all_value(const char *p, size_t n);
