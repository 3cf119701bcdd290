/* report: one page about a build: a file where the caller takes one, else a member of the row. */
#include "api/report/report.h"
#include "api/report/schema.h"

#include "api/groups_internal.h"
#include "api/parameters.h"

#include "base/grow.h"
#include "base/memory.h"

enum {
    PERIODS = 24 /* of a unit that is named */,
    DOCUMENTS = 3,
    TERMS = 10
};                             /* unless told otherwise */
enum { MOST_PAGE = 64 << 20 }; /* bytes: the page is held in memory */

/* ---- what the page is made of ---------------------------------------------------------------- */

static gf_status add_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    gf_report_clusters *list = context;
    if (info->hidden) return GF_OK;
    if (!gf_grow(&list->at, &list->capacity, list->n + 1, sizeof *list->at))
        return gf_fail_memory(err, "a report");
    gf_slice label = gf_arena_copy(&list->memory, info->label);
    if (!label.ptr) return gf_fail_memory(err, "a report");
    list->at[list->n++] = (gf_report_cluster){.id = info->id, .label = label, .size = info->size};
    return GF_OK;
}

gf_status gf_report_list(gf_view *view, gf_report_clusters *list, gf_error *err)
{
    return gf_view_clusters(view, add_cluster, list, err);
}

void gf_report_clusters_release(gf_report_clusters *list)
{
    gf_arena_release(&list->memory);
    gf_free(list->at);
    *list = (gf_report_clusters){0};
}

/* The build before, in the same state; there may be none. */
static gf_status open_before(gf_report *r, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_status st = gf_view_open_before(r->view, &r->before, &why);
    if (st == GF_OK || st == GF_ENOTFOUND) return GF_OK;
    if (err) *err = why;
    return st;
}

/* ---- the row --------------------------------------------------------------------------------- */

static gf_status emit(gf_report *r, gf_error *err)
{
    gf_row_writer row = {.call = r->call};
    const gf_build_info *b = gf_view_build(r->view);
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_string(w, "collection", gf_call_place(r->call).collection);
    gf_json_put_string(w, "configuration", gf_call_configuration(r->call));
    gf_json_put_uint(w, "build", (uint64_t)b->build);
    gf_row_put_time(w, "time", b->build);
    gf_json_put_uint(w, "documents", b->documents);
    gf_json_put_uint(w, "k", b->k);
    if (!r->call->sink.write) gf_json_put_string(w, "html", gf_buffer_view(&r->html));
    return gf_row_writer_emit_only(&row, err);
}

static gf_status write_with_trends(void *context, const gf_trends *trends, gf_error *err)
{
    gf_report *r = context;
    r->trends = trends;
    gf_status st = gf_report_write(r, err);
    if (st == GF_OK) st = gf_buffer_check(&r->html, err);
    if (r->html.state == GF_ELIMIT)
        return gf_fail(err, GF_EINVAL,
                       "the page would have more than %d MiB; ask for fewer documents (docs)",
                       MOST_PAGE >> 20);
    if (st == GF_OK && r->call->sink.write)
        st = gf_call_write(r->call, gf_buffer_view(&r->html), err);
    return st == GF_OK ? emit(r, err) : st;
}

static gf_status run_report(gf_call *call, gf_error *err)
{
    gf_report r = {.call = call,
                   .docs = gf_call_number(call, "docs", DOCUMENTS),
                   .terms = gf_call_number(call, "terms", TERMS)};
    gf_period unit = gf_clusters_unit(call);
    uint64_t most = unit == GF_PERIOD_AUTO ? GF_TREND_PERIODS : PERIODS;
    size_t periods = (size_t)gf_call_number(call, "periods", most);
    gf_buffer_init(&r.html, MOST_PAGE);
    gf_status st = gf_call_view(call, &r.view, err);
    if (st != GF_OK) return st;
    st = open_before(&r, err);
    if (st == GF_OK) st = gf_report_list(r.view, &r.clusters, err);
    if (st == GF_OK) st = gf_view_documents_left(r.view, &r.documents, err);
    if (st == GF_OK)
        st = gf_view_trends(r.view, unit, periods, call->cancel, write_with_trends, &r, err);
    gf_report_clusters_release(&r.clusters);
    gf_buffer_release(&r.html);
    gf_view_close(r.before);
    gf_view_close(r.view);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter report_parameters[] = {
    P_COLLECTION,
    P_CONFIG,
    P_BUILD,
    P_CHOICE("by", "auto|hour|day|week|month|quarter|year", "unit of the trends (auto)"),
    P_NUMBER("periods", 1, 1000, "the latest so many (24; with auto 48)"),
    P_NUMBER("docs", 0, 1000, "documents of each cluster, best first (3)"),
    P_NUMBER("terms", 0, 20, "terms of each cluster, heaviest first (10)")};

static const gf_operation report_operation = {
    .name = "report",
    .method = "GET",
    .path = "/collections/{collection}/report",
    .meaning = "Make a page about a build",
    GF_PARAMETERS(report_parameters),
    .members = gf_schema_report,
    .run = run_report,
    .file_type = "text/html; charset=utf-8",
    .single = true,
    .cacheable = true,
};

static const gf_operation *const operations[] = {&report_operation};
const gf_operation_group gf_report_operations = GF_OPERATION_GROUP(operations);
