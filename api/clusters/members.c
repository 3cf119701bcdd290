/*
 * members: documents of a cluster, or of a group of them, in pages, best first. One row is one page:
 *
 *     {"build":..., "cluster":..., "label":..., "size":..., "documents":[...], "next":"<cursor>"}
 *
 * A cursor names the build and the last document of a page: "<build>-<bits of the score>-<id>". So
 * pages belong together whatever is published meanwhile, and nothing is given twice or left out.
 */
#include "api/clusters/internal.h"
#include "api/clusters/schema.h"

#include "base/number.h"

#include <inttypes.h>

enum { PAGE = 100, LONGEST_PAGE = 1000, MOST_BYTES = 4 << 20 };

typedef struct paging {
    gf_row_writer row;
    gf_view *view;
    uint32_t cluster;
    uint64_t limit, n;
    bool more;                    /* the cluster has documents behind this page */
    float score;                  /* of the last document that was given */
    gf_buffer id;                 /* likewise */
    const gf_member_place *after; /* of a group: the place that the page begins behind */
} paging;

/* ---- cursors --------------------------------------------------------------------------------- */

typedef struct cursor {
    int64_t build; /* 0: the first page */
    float score;
    gf_slice id;
} cursor;

static gf_slice take_part(gf_slice *rest)
{
    const char *end = memchr(rest->ptr, '-', rest->len);
    size_t n = end ? (size_t)(end - rest->ptr) : rest->len;
    gf_slice part = gf_slice_of(rest->ptr, n);
    *rest = gf_slice_skip(*rest, end ? n + 1 : n);
    return part;
}

static gf_status read_cursor(gf_slice text, cursor *c, gf_error *err)
{
    uint64_t build, bits;
    gf_slice rest = text;
    bool good = gf_number_read(take_part(&rest), &build) && build > 0 && build <= INT64_MAX &&
                gf_number_read(take_part(&rest), &bits) && bits <= UINT32_MAX && rest.len;
    if (!good) return gf_fail(err, GF_EINVAL, "cursor: this is none that an answer gave");
    uint32_t word = (uint32_t)bits;
    *c = (cursor){.build = (int64_t)build, .id = rest};
    memcpy(&c->score, &word, sizeof word);
    return GF_OK;
}

static gf_status put_cursor(paging *p, gf_error *err)
{
    gf_buffer text = {0};
    uint32_t bits;
    memcpy(&bits, &p->score, sizeof bits);
    gf_buffer_format(&text, "%" PRId64 "-%" PRIu32 "-", gf_view_build(p->view)->build, bits);
    gf_buffer_slice(&text, gf_buffer_view(&p->id));
    gf_json_put_string(&p->row.json, "next", gf_buffer_view(&text));
    gf_status st = gf_buffer_check(&text, err);
    gf_buffer_release(&text);
    return st;
}

/* ---- a page ---------------------------------------------------------------------------------- */

static gf_status put_text(void *context, const gf_document *d, gf_error *err)
{
    (void)err;
    gf_json_put_string(context, "text", d->text);
    return GF_OK;
}

/* The view is asked for one document more than the page holds, which tells whether there are more. */
static gf_status put_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    paging *p = context;
    gf_json_writer *w = &p->row.json;
    p->more = p->n == p->limit || p->row.buffer.len > MOST_BYTES;
    if (p->more) return gf_fail(err, GF_ECANCELLED, "the page is full");
    p->n++;
    p->score = m->score;
    gf_buffer_reset(&p->id);
    gf_buffer_slice(&p->id, id);
    gf_json_begin(w, '{');
    gf_row_put_id(&p->row, id);
    gf_json_put_float(w, "score", m->score);
    if (m->runner_up) {
        gf_json_put_uint(w, "runner_up", m->runner_up);
        gf_json_put_string(w, "runner_up_label", m->runner_up_label);
        gf_json_put_float(w, "margin", m->score - m->second);
    }
    if (m->replaced) gf_json_put_bool(w, "replaced", true);
    if (m->copies) gf_json_put_uint(w, "copies", m->copies);
    gf_status st = gf_view_document(p->view, id, put_text, w, err);
    gf_json_end(w, '}');
    return st == GF_OK ? gf_buffer_check(&p->id, err) : st;
}

static gf_status put_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    paging *p = context;
    gf_json_writer *w = gf_row_writer_begin(&p->row);
    (void)err;
    gf_json_put_uint(w, "build", (uint64_t)gf_view_build(p->view)->build);
    gf_row_put_cluster(w, info);
    gf_row_put_marks(w, info);
    p->cluster = info->id;
    return GF_OK;
}

static gf_status emit_page(paging *p, uint32_t id, gf_slice label, const cursor *from,
                           gf_error *err)
{
    gf_json_writer *w = &p->row.json;
    uint64_t most = p->limit + 1;
    gf_status st = gf_view_cluster(p->view, id, label, put_cluster, p, err);
    if (st != GF_OK) return st;
    gf_json_key(w, "documents");
    gf_json_begin(w, '[');
    bool different = gf_call_flag(p->row.call, "different");
    st = from->build ? (different ? gf_view_different_after : gf_view_members_after)(
                           p->view, p->cluster, from->score, from->id, most, put_member, p, err)
                     : (different ? gf_view_different : gf_view_members)(p->view, p->cluster, most,
                                                                         put_member, p, err);
    if (st != GF_OK && !(st == GF_ECANCELLED && p->more)) return st;
    gf_json_end(w, ']');
    st = p->more ? put_cursor(p, err) : GF_OK;
    return st == GF_OK ? gf_row_writer_emit(&p->row, err) : st;
}

static gf_status put_group(void *context, const gf_group_info *info, gf_error *err)
{
    paging *p = context;
    gf_json_writer *w = &p->row.json;
    gf_group_put(w, "group", info->id);
    gf_json_put_string(w, "label", info->label);
    gf_json_put_uint(w, "size", info->size);
    gf_json_key(w, "documents");
    gf_json_begin(w, '[');
    gf_status st = gf_view_members_of(p->view, info->clusters, info->n_clusters, p->after,
                                      p->limit + 1, put_member, p, err);
    gf_json_end(w, ']');
    return p->more ? GF_OK : st;
}

static gf_status emit_page_of_group(paging *p, uint32_t group, const cursor *from, gf_error *err)
{
    gf_member_place after = {from->score, from->id};
    if (gf_call_flag(p->row.call, "different"))
        return gf_fail(err, GF_EINVAL, "different is for a cluster, not for a group of them");
    p->after = from->build ? &after : NULL;
    gf_json_put_uint(gf_row_writer_begin(&p->row), "build",
                     (uint64_t)gf_view_build(p->view)->build);
    gf_status st = gf_view_group(p->view, group, put_group, p, err);
    p->after = NULL;
    if (st == GF_OK && p->more) st = put_cursor(p, err);
    return st == GF_OK ? gf_row_writer_emit(&p->row, err) : st;
}

static gf_status run_members(gf_call *call, gf_error *err)
{
    paging p = {.row = {.call = call}, .limit = gf_call_number(call, "limit", PAGE)};
    cursor from = {.build = 0};
    uint32_t id = 0, group = 0;
    gf_slice label = {0}, text = gf_call_text(call, "cursor");
    gf_slice name = gf_call_text(call, "cluster");
    gf_store *store;
    gf_status st = GF_OK;
    if (!gf_cluster_name_is_group(name, &group)) st = gf_cluster_read_name(name, &id, &label, err);
    if (st == GF_OK && text.len) st = read_cursor(text, &from, err);
    if (st == GF_OK) st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    int64_t build = from.build ? from.build : (int64_t)gf_call_number(call, "build", 0);
    st = gf_view_open(store, gf_call_place(call), gf_call_configuration(call), build, &p.view, err);
    if (st != GF_OK) return st;
    st = group ? emit_page_of_group(&p, group, &from, err) : emit_page(&p, id, label, &from, err);
    gf_row_writer_release(&p.row);
    gf_buffer_release(&p.id);
    gf_view_close(p.view);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter members_parameters[] = {
    P_COLLECTION,
    P_REQUIRED("cluster", "ID|label:TEXT|gID", "the cluster, by id or label, or a group of them"),
    P_CONFIG,
    P_BUILD,
    P_NUMBER("limit", 1, LONGEST_PAGE, "documents of a page, 1000 at most (100)"),
    P_FLAG("different", "without documents that are like one before them"),
    P_TEXT("cursor", "CURSOR", "begin behind the page that gave this as `next`"),
    P_ID_TYPE};

const gf_operation gf_members_operation = {
    .name = "members",
    .method = "GET",
    .path = "/collections/{collection}/clusters/{cluster}/documents",
    .meaning = "Page through a cluster's documents, best first",
    GF_PARAMETERS(members_parameters),
    .members = gf_schema_members,
    .run = run_members,
    .single = true,
    .cacheable = true,
};
