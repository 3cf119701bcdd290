/**
 * Operations as routes: rows as an answer, ETags, upgrades.
 */
#ifndef GF_SERVER_HTTP_ROWS_H
#define GF_SERVER_HTTP_ROWS_H

#include "server/http/request.h"

/* ---- parameters.c ---------------------------------------------------------------------------- */

/** Whether a body of the operation is a JSON object of its parameters: it reads no records. */
bool gf_parameters_in_body(const gf_operation *operation);

/**
 * Take the parameters that the body has, where it has such, before the operation is checked.
 * @return GF_OK; else the answer is there: 400, 413, 415, 503
 */
gf_status gf_parameters_take(gf_request *r);

/* ---- rows.c ---------------------------------------------------------------------------------- */

/** Runs the route's operation and answers with its rows. */
void gf_rows_run(gf_request *r);

/** Run an operation with the request's namespace, input and cancel, with an emit of one's own. */
gf_status gf_rows_call(gf_request *r, const gf_operation *operation, gf_call *call, gf_error *err);

enum { GF_ROWS_MOST_ADDED = 2 };

/**
 * Arguments that the operation has, and that the server adds where they are not given: its limit of a
 * document, and as who does it the name of the request's token.
 * @param[out] added  *n; values are the request's memory
 * @return GF_EINVAL where the call's own limit is larger
 */
gf_status gf_rows_add(gf_request *r, const gf_operation *operation, const gf_call *call,
                      gf_argument added[GF_ROWS_MOST_ADDED], size_t *n, gf_error *err);

/* ---- upgrade.c ------------------------------------------------------------------------------- */

/** Take the operation that the path names, where there is such a one. */
void gf_upgrade_find(gf_request *r);

/** The answer that begins a conversation. */
struct MHD_Response *gf_upgrade_response(gf_request *r);

/* ---- etag.c ---------------------------------------------------------------------------------- */

/**
 * Give the answer its ETag, where what it says hangs on one collection; true where the request has
 * it already: the answer is then 304, and done.
 */
bool gf_etag_settles(gf_request *r);

#endif
