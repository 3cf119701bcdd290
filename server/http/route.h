/**
 * Routes: the table of methods and paths, and finding one.
 */
#ifndef GF_SERVER_HTTP_ROUTE_H
#define GF_SERVER_HTTP_ROUTE_H

#include "server/http/request.h"

/** The table of all routes: the operations', and our own. */
gf_status gf_routes_make(gf_http *http, gf_error *err);

void gf_routes_free(gf_http *http);

/** Set the handler of an operation's route: rebuilds are tasks, local operations are refused. */
void gf_tasks_adjust_route(gf_route *route);

/**
 * Find the route of method and target, and take the target's parts as arguments.
 * @return 0, or the HTTP status of what is wrong, with the reason in err
 */
unsigned gf_route_find(gf_request *r, const char *method, gf_error *err);

#define GF_REFUSED_OVER_HTTP                                                                       \
    "this names files or a host that the server would reach: only the command does it"

/** Whether a rebuild by these arguments is answered at once; else it is a task. */
bool gf_tasks_is_answered_now(const gf_argument *arguments, size_t n);

/** Append s so that it can stand as one part of a path, or as a value of a query. */
void gf_route_percent_encode(gf_buffer *out, gf_slice s);

/** Routes that are no operations; each file has a table. */
extern const gf_route gf_routes_of_old[], gf_routes_of_tasks[], gf_routes_of_health[],
    gf_routes_of_pages[], gf_routes_of_upgrade[];
extern const size_t gf_n_routes_of_old, gf_n_routes_of_tasks, gf_n_routes_of_health,
    gf_n_routes_of_pages, gf_n_routes_of_upgrade;

#endif
