/**
 * JSON Schemas of /openapi.json: of rows, from the members that operations say they have, of parameters,
 * and of what all routes share.
 */
#ifndef GF_SERVER_HTTP_SCHEMAS_H
#define GF_SERVER_HTTP_SCHEMAS_H

#include "server/http/request.h"

/** The schema of a parameter, of a query (text) or of a body (JSON). */
void gf_schemas_put_parameter(gf_json_writer *w, const gf_parameter *p, bool in_body);

/** The member "schema" of a body with the operation's parameters, but those of the path. */
void gf_schemas_put_body(gf_json_writer *w, const gf_route *route);

/** The member "schema" of what a route answers with; `now`: a rebuild that is no task. */
void gf_schemas_put_answer(gf_json_writer *w, const gf_route *route, bool now);

/** A reference to a schema: of a row of the route, or where it is NULL to `name`. */
void gf_schemas_put_reference(gf_json_writer *w, const gf_route *route, const char *name);

/** components.schemas: of the rows of all routes, and what they share. */
void gf_schemas_write(gf_json_writer *w, const gf_route *routes, size_t n);

#endif
