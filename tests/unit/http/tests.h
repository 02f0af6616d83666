#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "http/http.h"

extern const struct CMUnitTest body_tests[];
extern const size_t n_body_tests;
extern const struct CMUnitTest tls_tests[];
extern const size_t n_tls_tests;
extern const struct CMUnitTest websocket_tests[];
extern const size_t n_websocket_tests;
