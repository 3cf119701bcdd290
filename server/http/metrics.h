/**
 * Counts of requests by route and status, and of their seconds.
 */
#ifndef GF_SERVER_HTTP_METRICS_H
#define GF_SERVER_HTTP_METRICS_H

#include "grouperfish/buffer.h"
#include "server/service/service.h"

enum { GF_METRIC_STATUSES = 32, GF_METRIC_BUCKETS = 12 };

/** Counts of one route; all are changed atomically. */
typedef struct gf_route_metrics {
    uint64_t status[GF_METRIC_STATUSES]; /* by gf_metrics_status */
    uint64_t bucket[GF_METRIC_BUCKETS];  /* not cumulative; the last has no upper bound */
    uint64_t microseconds;               /* of all */
} gf_route_metrics;

typedef struct gf_metrics {
    gf_route_metrics *routes; /* n; the last counts what has no route */
    size_t n;
} gf_metrics;

gf_status gf_metrics_init(gf_metrics *m, size_t n_routes, gf_error *err);
void gf_metrics_release(gf_metrics *m);

/** A request of a route has ended; route n_routes is none. */
void gf_metrics_count(gf_metrics *m, size_t route, unsigned status, double seconds);

/** Prometheus' text of requests and durations; name_of tells a route's name and method. */
void gf_metrics_write(const gf_metrics *m, gf_buffer *out,
                      void (*name_of)(const void *context, size_t route, const char **name,
                                      const char **method),
                      const void *context);

/** Prometheus' text of the rebuilds. */
void gf_metrics_write_rebuilds(const gf_rebuild_counts *counts, gf_buffer *out);

/** And of one number; the unit is in the name. */
void gf_metrics_write_gauge(gf_buffer *out, const char *name, const char *help, double value);

#endif
