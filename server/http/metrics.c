/* Counting requests. */
#include "server/http/metrics.h"

#include "base/json/writer.h"
#include "base/memory.h"

#include <inttypes.h>

static const unsigned statuses[] = {200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 406, 408, 409,
                                    411, 413, 414, 415, 421, 429, 431, 500, 501, 503, 507, 0};
static const double bounds[GF_METRIC_BUCKETS - 1] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                                     0.01,   0.1,     1,      10,    60};

gf_status gf_metrics_init(gf_metrics *m, size_t n_routes, gf_error *err)
{
    m->n = n_routes + 1;
    m->routes = gf_calloc(m->n, sizeof *m->routes);
    return m->routes ? GF_OK : gf_fail_memory(err, "metrics");
}

void gf_metrics_release(gf_metrics *m)
{
    gf_free(m->routes);
    *m = (gf_metrics){NULL, 0};
}

/* Its place; what is not listed counts under the entry 0. */
static size_t place_of(unsigned status)
{
    size_t i = 0;
    while (statuses[i] && statuses[i] != status)
        i++;
    return i;
}

void gf_metrics_count(gf_metrics *m, size_t route, unsigned status, double seconds)
{
    gf_route_metrics *r = &m->routes[route < m->n ? route : m->n - 1];
    size_t b = 0;
    while (b < GF_METRIC_BUCKETS - 1 && seconds > bounds[b])
        b++;
    __atomic_add_fetch(&r->status[place_of(status)], 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&r->bucket[b], 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&r->microseconds, (uint64_t)(seconds * 1e6), __ATOMIC_RELAXED);
}

static uint64_t get(const uint64_t *v)
{
    return __atomic_load_n(v, __ATOMIC_RELAXED);
}

static void write_durations(const gf_route_metrics *r, const char *name, const char *method,
                            gf_buffer *out)
{
    uint64_t sum = 0;
    for (size_t b = 0; b < GF_METRIC_BUCKETS; b++) {
        sum += get(&r->bucket[b]);
        gf_buffer_format(out,
                         "grouperfish_http_request_seconds_bucket{route=\"%s\",method=\"%s\",le=\"",
                         name, method);
        if (b < GF_METRIC_BUCKETS - 1)
            gf_buffer_format(out, "%g", bounds[b]);
        else
            gf_buffer_str(out, "+Inf");
        gf_buffer_format(out, "\"} %" PRIu64 "\n", sum);
    }
    gf_buffer_format(out,
                     "grouperfish_http_request_seconds_sum{route=\"%s\",method=\"%s\"} %.6f\n"
                     "grouperfish_http_request_seconds_count{route=\"%s\",method=\"%s\"} %" PRIu64
                     "\n",
                     name, method, (double)get(&r->microseconds) / 1e6, name, method, sum);
}

void gf_metrics_write(const gf_metrics *m, gf_buffer *out,
                      void (*name_of)(const void *, size_t, const char **, const char **),
                      const void *context)
{
    const char *name, *method;
    gf_buffer_str(out, "# HELP grouperfish_http_requests_total Requests answered.\n"
                       "# TYPE grouperfish_http_requests_total counter\n");
    for (size_t i = 0; i < m->n; i++) {
        name_of(context, i, &name, &method);
        for (size_t s = 0; s < sizeof statuses / sizeof statuses[0]; s++)
            if (get(&m->routes[i].status[s]))
                gf_buffer_format(out,
                                 "grouperfish_http_requests_total{route=\"%s\",method=\"%s\","
                                 "status=\"%u\"} %" PRIu64 "\n",
                                 name, method, statuses[s], get(&m->routes[i].status[s]));
    }
    gf_buffer_str(out, "# HELP grouperfish_http_request_seconds Time from a request's first line "
                       "to the end of its answer.\n"
                       "# TYPE grouperfish_http_request_seconds histogram\n");
    for (size_t i = 0; i < m->n; i++) {
        uint64_t any = 0;
        for (size_t b = 0; b < GF_METRIC_BUCKETS; b++)
            any |= get(&m->routes[i].bucket[b]);
        if (!any) continue;
        name_of(context, i, &name, &method);
        write_durations(&m->routes[i], name, method, out);
    }
}

/* ---- all else -------------------------------------------------------------------------------- */

static void write_header(gf_buffer *out, const char *name, const char *type, const char *help)
{
    gf_buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void gf_metrics_write_gauge(gf_buffer *out, const char *name, const char *help, double value)
{
    write_header(out, name, "gauge", help);
    gf_buffer_format(out, "%s ", name);
    gf_json_append_double(out, value);
    gf_buffer_byte(out, '\n');
}

void gf_metrics_write_rebuilds(const gf_rebuild_counts *c, gf_buffer *out)
{
    uint64_t sum = 0;
    write_header(out, "grouperfish_rebuilds_total", "counter",
                 "Rebuilds that ended, by how; of several collections one that fails counts.");
    gf_buffer_format(out,
                     "grouperfish_rebuilds_total{result=\"done\"} %" PRIu64 "\n"
                     "grouperfish_rebuilds_total{result=\"failed\"} %" PRIu64 "\n"
                     "grouperfish_rebuilds_total{result=\"cancelled\"} %" PRIu64 "\n",
                     c->done, c->failed, c->cancelled);
    write_header(out, "grouperfish_rebuild_seconds", "histogram",
                 "Time that rebuilds took, without waiting.");
    for (size_t b = 0; b < GF_REBUILD_BUCKETS; b++) {
        sum += c->bucket[b];
        gf_buffer_str(out, "grouperfish_rebuild_seconds_bucket{le=\"");
        if (b < GF_REBUILD_BUCKETS - 1)
            gf_buffer_format(out, "%g", gf_rebuild_bounds[b]);
        else
            gf_buffer_str(out, "+Inf");
        gf_buffer_format(out, "\"} %" PRIu64 "\n", sum);
    }
    gf_buffer_format(out,
                     "grouperfish_rebuild_seconds_sum %.6f\n"
                     "grouperfish_rebuild_seconds_count %" PRIu64 "\n",
                     c->seconds, sum);
    if (c->done_ms)
        gf_metrics_write_gauge(out, "grouperfish_rebuild_last_done_seconds",
                               "When the last good rebuild of this run ended, in Unix time.",
                               (double)(c->done_ms / 1000));
}
