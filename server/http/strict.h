/**
 * The form of a request, before anything in it counts: strict.c.
 */
#ifndef GF_SERVER_HTTP_STRICT_H
#define GF_SERVER_HTTP_STRICT_H

#include "server/http/request.h"

/** The value of MHD_OPTION_STRICT_FOR_CLIENT, where gf_strict_check looks at each request. */
int gf_strict_level(void);

/**
 * Check a request whose headers have come; `method` and `version` are MHD's own.
 * @return 0, or 400 or 501 with the reason in err: nobody knows then where the request ends
 */
unsigned gf_strict_check(gf_request *r, const char *method, const char *version, gf_error *err);

#endif
