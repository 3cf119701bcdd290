/**
 * Whose requests are answered: address to listen at, names, origins, tokens.
 */
#ifndef GF_SERVER_HTTP_GUARD_H
#define GF_SERVER_HTTP_GUARD_H

#include "server/http/request.h"

/**
 * Open a socket at the address that the options name, and note its own in *http.
 * @return GF_EINVAL (no address, or one that needs tokens and there are none), GF_EIO (taken)
 */
gf_status gf_http_listen(gf_http *http, int *listening, gf_error *err);

/** Checks before the route is known, and after it; 0, or the HTTP status, with the reason in err.
 */
unsigned gf_guard_early(gf_request *r, const char *method, gf_error *err);
unsigned gf_guard_route(gf_request *r, gf_error *err);

#endif
