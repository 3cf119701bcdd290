/**
 * The OpenAPI description of all routes, made from their table and that of the operations.
 */
#ifndef GF_SERVER_HTTP_OPENAPI_H
#define GF_SERVER_HTTP_OPENAPI_H

#include "grouperfish/buffer.h"

struct gf_route;

void gf_openapi_write(const struct gf_route *routes, size_t n, gf_buffer *out);

#endif
