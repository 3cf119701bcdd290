/* Routes for those who operate the server: health, readiness, metrics, the OpenAPI document. */
#include "server/http/answer.h"
#include "server/http/route.h"

#include "base/clock.h"
#include "server/http/openapi.h"

#include <stdio.h>
#include <unistd.h>

static void healthy(gf_request *r)
{
    gf_answer(r, 200, "text/plain; charset=utf-8", GF_SLICE("ok\n"));
}

static gf_status ignore(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)context, (void)info, (void)err;
    return GF_OK;
}

/* Ready is a store that can be read and written, and a server that is not closing. */
static void ready(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    gf_place anywhere = {GF_SLICE("default"), GF_SLICE("default")};
    gf_service *service = r->http->options.service;
    gf_store *store;
    gf_status st = gf_service_check(service, &err);
    if (st == GF_OK) st = gf_service_take(service, &store, &err);
    if (st != GF_OK) {
        gf_answer_problem(r, 503, err.message);
        return;
    }
    st = gf_collection_read(store, anywhere, ignore, NULL, &err);
    gf_service_give(service);
    if (st != GF_OK && st != GF_ENOTFOUND)
        gf_answer_problem(r, 503, "the store cannot be read");
    else
        gf_answer(r, 200, "text/plain; charset=utf-8", GF_SLICE("ready\n"));
}

static gf_status read_store(gf_request *r, gf_store_status *status, gf_store_health *health,
                            gf_error *err)
{
    gf_store *store;
    gf_status st = gf_service_take(r->http->options.service, &store, err);
    if (st != GF_OK) return st;
    st = gf_store_read_status(store, status, err);
    if (st == GF_OK) st = gf_health_read(store, NULL, NULL, health, err);
    gf_service_give(r->http->options.service);
    return st;
}

static void name_of(const void *context, size_t route, const char **name, const char **method)
{
    const gf_http *http = context;
    *name = route < http->n_routes ? http->routes[route].name : "none";
    *method = route < http->n_routes ? http->routes[route].method : "none";
}

/* Pages of memory that the process has; 0 where the kernel does not tell. */
static uint64_t resident_pages(void)
{
    unsigned long whole, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 0;
    if (fscanf(file, "%lu %lu", &whole, &resident) != 2) resident = 0;
    fclose(file);
    return resident;
}

static void put_store(gf_buffer *out, const gf_store_status *status, const gf_store_health *health)
{
    const struct {
        const char *name, *help;
        uint64_t value;
    } gauges[] = {
        {"bytes", "Size of the store's files.", status->bytes},
        {"documents", "Documents.", status->documents},
        {"collections", "Collections.", status->collections},
        {"builds", "Finished builds that are kept.", status->builds},
        {"changed_collections", "Collections that have changed since they were built.",
         health->changed},
        {"pending_documents", "Documents put or deleted since their collection was built.",
         health->pending},
        {"failed_configurations", "Configurations whose last rebuild failed.", health->failed},
        {"last_build_seconds",
         "When the latest of the served builds was made, in Unix time; 0: none.",
         (uint64_t)(health->built / 1000)}};
    char name[64];
    for (size_t i = 0; i < sizeof gauges / sizeof gauges[0]; i++) {
        snprintf(name, sizeof name, "grouperfish_store_%s", gauges[i].name);
        gf_metrics_write_gauge(out, name, gauges[i].help, (double)gauges[i].value);
    }
}

static void put_process(gf_buffer *out, const gf_request *r)
{
    size_t queued, running;
    gf_tasks_count(r->http->options.tasks, &queued, &running);
    gf_metrics_write_gauge(out, "grouperfish_tasks_running", "Rebuilds under way.",
                           (double)running);
    gf_metrics_write_gauge(out, "grouperfish_tasks_queued", "Rebuilds that wait.", (double)queued);
    gf_metrics_write_gauge(out, "grouperfish_calls_running", "Operations under way.",
                           (double)gf_service_running(r->http->options.service));
    gf_metrics_write_gauge(out, "grouperfish_started_seconds",
                           "When the server began, in Unix time.",
                           (double)(r->http->started_ms / 1000));
    gf_buffer_format(out,
                     "# HELP grouperfish_build_info The program's version; always 1.\n"
                     "# TYPE grouperfish_build_info gauge\n"
                     "grouperfish_build_info{version=\"%s\"} 1\n",
                     gf_version());
    uint64_t pages = resident_pages();
    if (pages)
        gf_metrics_write_gauge(out, "process_resident_memory_bytes",
                               "Memory of the process that is in RAM.",
                               (double)pages * (double)sysconf(_SC_PAGESIZE));
}

static void metrics(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    gf_store_status status;
    gf_store_health health;
    gf_status st = read_store(r, &status, &health, &err);
    if (st != GF_OK) {
        gf_answer_failure(r, &err);
        return;
    }
    gf_rebuild_counts rebuilds = gf_service_count_rebuilds(r->http->options.service);
    gf_answer(r, 200, "text/plain; version=0.0.4; charset=utf-8", (gf_slice){0});
    gf_metrics_write(&r->http->metrics, &r->answer, name_of, r->http);
    gf_metrics_write_rebuilds(&rebuilds, &r->answer);
    put_store(&r->answer, &status, &health);
    put_process(&r->answer, r);
}

static void stats(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    gf_store_status status;
    gf_store_health health;
    size_t queued, running;
    gf_status st = read_store(r, &status, &health, &err);
    if (st != GF_OK) {
        gf_answer_failure(r, &err);
        return;
    }
    gf_tasks_count(r->http->options.tasks, &queued, &running);
    gf_answer(r, 200, "application/json", (gf_slice){0});
    gf_json_writer w = gf_json_writer_to(&r->answer);
    gf_json_begin(&w, '{');
    gf_json_put_str(&w, "version", gf_version());
    gf_json_put_uint(&w, "seconds", (uint64_t)(gf_clock_ms() - r->http->started_ms) / 1000);
    gf_json_put_uint(&w, "collections", status.collections);
    gf_json_put_uint(&w, "documents", status.documents);
    gf_json_put_uint(&w, "builds", status.builds);
    gf_json_put_uint(&w, "bytes", status.bytes);
    gf_store_put_health(&w, &health);
    gf_json_put_uint(&w, "tasks_running", running);
    gf_json_put_uint(&w, "tasks_queued", queued);
    gf_json_put_uint(&w, "calls_running", gf_service_running(r->http->options.service));
    gf_json_end(&w, '}');
    gf_buffer_byte(&r->answer, '\n');
}

static void describe(gf_request *r)
{
    gf_answer(r, 200, "application/json", (gf_slice){0});
    gf_openapi_write(r->http->routes, r->http->n_routes, &r->answer);
}

#define OWN(route_name, route_path, handler, who, words)                                           \
    {                                                                                              \
        .name = (route_name), .method = "GET", .path = (route_path), .run = (handler),             \
        .scope = (who), .meaning = (words)                                                         \
    }

static const gf_row_member stats_members[] = {
    M("version", TEXT, "of the program"),
    M("seconds", INTEGER, "since the server began"),
    M("collections", INTEGER, "of all namespaces"),
    M("documents", INTEGER, "likewise"),
    M("builds", INTEGER, "finished ones"),
    M("bytes", INTEGER, "of the store's files"),
    M("format", INTEGER, "of the store"),
    M("running", INTEGER, "builds that are made at this moment"),
    M("failed", INTEGER, "configurations whose last rebuild failed"),
    M("changed", INTEGER, "collections with other documents than one of their builds had"),
    M_MAYBE("last_failure", MAP, "of the failed ones the latest, as status has it"),
    M_MAYBE("changed_collections", ITEMS, "which those are, as status has them"),
    M("tasks_running", INTEGER, "rebuilds that run"),
    M("tasks_queued", INTEGER, "rebuilds that wait"),
    M("calls_running", INTEGER, "operations that run"),
    GF_ROW_MEMBERS_END};

const gf_route gf_routes_of_health[] = {
    {.name = "healthz",
     .method = "GET",
     .path = "/healthz",
     .run = healthy,
     .scope = GF_SCOPE_OPEN,
     .quick = true,
     .meaning = "Whether the server answers"},
    OWN("readyz", "/readyz", ready, GF_SCOPE_OPEN, "Whether the store can be read"),
    OWN("metrics", "/metrics", metrics, GF_SCOPE_STORE, "What was counted, for Prometheus"),
    {.name = "stats",
     .method = "GET",
     .path = "/v1/stats",
     .run = stats,
     .scope = GF_SCOPE_STORE,
     .meaning = "What the store and the server hold",
     .row = "stats",
     .members = stats_members,
     .single = true},
    OWN("openapi", "/openapi.json", describe, GF_SCOPE_OPEN, "This description (OpenAPI 3.1)")};
const size_t gf_n_routes_of_health = sizeof gf_routes_of_health / sizeof gf_routes_of_health[0];
