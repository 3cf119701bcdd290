/* export: every document of a build with its cluster, one row each, streamed. */
#include "api/clusters/internal.h"
#include "api/clusters/schema.h"

#include "base/grow.h"
#include "base/memory.h"
#include "grouperfish/matrix.h"

#include <math.h>
#include <stdlib.h>

typedef struct titled {
    uint32_t cluster;
    gf_slice title;
} titled;

typedef struct exporting {
    gf_row_writer row;
    gf_view *view;
    titled *titles; /* n_titles, by cluster */
    size_t n_titles, capacity;
    gf_arena memory; /* of titles */
    bool with_text, with_map;
    float min_score;
    gf_build_map map; /* in the order of the documents */
    uint32_t walked;  /* documents */
} exporting;

/* ---- titles ---------------------------------------------------------------------------------- */

static int by_cluster(const void *a, const void *b)
{
    const titled *x = a, *y = b;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

static gf_status note_title(void *context, const gf_cluster_info *info, gf_error *err)
{
    exporting *e = context;
    if (!info->title.len) return GF_OK;
    if (!gf_grow(&e->titles, &e->capacity, e->n_titles + 1, sizeof *e->titles))
        return gf_fail_memory(err, "titles");
    gf_slice title = gf_arena_copy(&e->memory, info->title);
    if (!title.ptr) return gf_fail_memory(err, "titles");
    e->titles[e->n_titles++] = (titled){info->id, title};
    return GF_OK;
}

static gf_status list_titles(exporting *e, gf_error *err)
{
    gf_status st = gf_view_clusters(e->view, note_title, e, err);
    if (st == GF_OK && e->n_titles) qsort(e->titles, e->n_titles, sizeof *e->titles, by_cluster);
    return st;
}

static void put_title(const exporting *e, gf_json_writer *w, uint32_t cluster)
{
    const titled wanted = {.cluster = cluster}, *found = NULL;
    if (e->n_titles) found = bsearch(&wanted, e->titles, e->n_titles, sizeof wanted, by_cluster);
    if (found) gf_json_put_string(w, "title", found->title);
}

/* ---- documents ------------------------------------------------------------------------------- */

static void put_coordinate(gf_json_writer *w, const char *name, float at)
{
    gf_json_key(w, name);
    /* A ten-thousandth of the map's half is less than is seen of it. */
    if (isnan(at))
        gf_json_null(w);
    else
        gf_json_double(w, round((double)at * 1e4) / 1e4);
}

static void put_place(gf_json_writer *w, float x, float y)
{
    put_coordinate(w, "x", x);
    put_coordinate(w, "y", y);
}

static gf_status emit_document(void *context, const gf_document *d, const gf_membership *m,
                               gf_error *err)
{
    exporting *e = context;
    const char *language;
    gf_status st = gf_cancel_check(e->row.call->cancel, err);
    uint32_t place = e->walked++;
    if (st != GF_OK || m->score < e->min_score) return st;
    st = gf_view_language(e->view, d, &language, err);
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&e->row);
    gf_row_put_id(&e->row, d->id);
    if (e->with_map) put_place(w, e->map.x[place], e->map.y[place]);
    gf_row_put_membership(w, m);
    put_title(e, w, m->cluster);
    if (language) gf_json_put_str(w, "language", language);
    if (e->with_text) gf_json_put_string(w, "text", d->text);
    gf_row_put_fields(w, d);
    return gf_row_writer_emit(&e->row, err);
}

static gf_status run_export(gf_call *call, gf_error *err)
{
    bool documents = gf_call_flag(call, "documents"), matrix = gf_call_flag(call, "matrix");
    bool geojson = gf_call_flag(call, "geojson");
    if (documents && matrix)
        return gf_fail(err, GF_EINVAL, "documents: either these, or the matrix");
    if (geojson && (documents || matrix))
        return gf_fail(err, GF_EINVAL, "geojson: neither of documents, nor of the matrix");
    if (gf_call_flag(call, "map") && (documents || matrix || geojson))
        return gf_fail(err, GF_EINVAL,
                       "map: x and y are of a build's rows; leave out documents, "
                       "matrix and geojson");
    if (gf_call_has(call, "threads") && !gf_call_flag(call, "map"))
        return gf_fail(err, GF_EINVAL, "threads is for map");
    if (geojson) return gf_export_geojson(call, err);
    if (documents) return gf_export_documents(call, err);
    if (matrix) return gf_export_matrix(call, err);
    exporting e = {.row = {.call = call},
                   .with_text = gf_call_flag(call, "with-text"),
                   .with_map = gf_call_flag(call, "map"),
                   .min_score = (float)gf_call_share(call, "min-score", 0)};
    gf_status st = gf_call_view(call, &e.view, err);
    if (st != GF_OK) return st;
    st = list_titles(&e, err);
    if (st == GF_OK && e.with_map)
        st = gf_view_read_map(e.view, (unsigned)gf_call_number(call, "threads", 0), call->cancel,
                              &e.map, err);
    if (st == GF_OK) st = gf_view_member_documents(e.view, emit_document, &e, err);
    gf_build_map_release(&e.map);
    gf_free(e.titles);
    gf_arena_release(&e.memory);
    gf_row_writer_release(&e.row);
    gf_view_close(e.view);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter export_rows_parameters[] = {
    P_COLLECTIONS,
    P_EVERY,
    P_CONFIG,
    P_BUILD,
    P_MIN_SCORE("only documents with at least that score (0)"),
    P_FLAG("with-text", "the documents' texts too"),
    P_FLAG("documents", "the documents as put reads them; needs no build"),
    P_FLAG("matrix", "rows, terms, centroids and labels as an .npz file"),
    P_FLAG("geojson", "the documents that have a place, as GeoJSON features"),
    P_FLAG("map", "x and y of each document: those that are alike lie near each other"),
    P_NUMBER("threads", 0, 1024, "with map: threads (one per processor)"),
    P_ID_TYPE};

const gf_operation gf_export_operation = {
    .name = "export",
    .method = "GET",
    .path = "/collections/{collection}/memberships",
    .meaning = "Give every document with its cluster",
    GF_PARAMETERS(export_rows_parameters),
    .members = gf_schema_export,
    .run = run_export,
    .reach = GF_REACH_ALL,
    .cacheable = true,
    .file_type = "application/zip",
    .file_flag = "matrix",
};
