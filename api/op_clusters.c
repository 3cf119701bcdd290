/* clusters and cluster. */
#include "api/call_internal.h"

#include "base/arena.h"
#include "base/memory.h"

#include <stdlib.h>

enum { TERMS_IN_LIST = 10 };

static void write_terms(gf_json_writer *w, const gf_cluster_info *info, uint64_t most)
{
    gf_json_key(w, "terms");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < info->n_terms && i < most; i++) {
        gf_json_begin(w, '{');
        gf_json_put_string(w, "term", info->terms[i].surface);
        gf_json_put_float(w, "weight", info->terms[i].weight);
        gf_json_end(w, '}');
    }
    gf_json_end(w, ']');
}

static void write_head(gf_json_writer *w, const gf_cluster_info *info)
{
    gf_json_put_uint(w, "cluster", info->id);
    gf_json_put_string(w, "label", info->label);
    gf_json_put_uint(w, "size", info->size);
}

/* ---- the list ---------------------------------------------------------------------------------
 */

typedef struct listed {
    uint32_t id;
    gf_slice label, row;
} listed;

typedef struct listing {
    gf_call *call;
    gf_row_writer row;
    uint64_t documents; /* of the build: what shares are of */
    bool sorted;        /* by something else than size, in which they come */
    gf_arena memory;
    listed *rows;
    size_t n, capacity;
} listing;

static gf_status keep(listing *l, const gf_cluster_info *info, gf_error *err)
{
    if (l->n == l->capacity) {
        size_t capacity = l->capacity ? l->capacity * 2 : 64;
        listed *rows = gf_realloc(l->rows, capacity, sizeof *rows);
        if (!rows) return gf_fail_memory(err, "clusters");
        l->rows = rows;
        l->capacity = capacity;
    }
    gf_status st = gf_buffer_check(&l->row.buffer, err);
    listed r = {info->id, gf_arena_copy(&l->memory, info->label),
                gf_arena_copy(&l->memory, gf_buffer_view(&l->row.buffer))};
    gf_buffer_reset(&l->row.buffer);
    l->row.json = gf_json_writer_to(&l->row.buffer);
    if (st == GF_OK && (!r.label.ptr || !r.row.ptr)) st = gf_fail_memory(err, "clusters");
    if (st == GF_OK) l->rows[l->n++] = r;
    return st;
}

static gf_status list_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    listing *l = context;
    gf_json_begin(&l->row.json, '{');
    write_head(&l->row.json, info);
    gf_json_put_double(&l->row.json, "share",
                       l->documents ? (double)info->size / (double)l->documents : 0);
    write_terms(&l->row.json, info, TERMS_IN_LIST);
    gf_json_end(&l->row.json, '}');
    return l->sorted ? keep(l, info, err) : gf_row_emit(&l->row, l->call, err);
}

static int by_label(const void *a, const void *b)
{
    return gf_slice_compare(((const listed *)a)->label, ((const listed *)b)->label);
}

static int by_id(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

gf_status gf_run_clusters(gf_call *call, gf_error *err)
{
    gf_view *view;
    gf_slice sort = gf_call_text_or(call, "sort", "size");
    bool label = gf_slice_equal(sort, GF_SLICE("label")), id = gf_slice_equal(sort, GF_SLICE("id"));
    if (!label && !id && !gf_slice_equal(sort, GF_SLICE("size")))
        return gf_fail(err, GF_EINVAL, "sort: \"%.*s\" is none of size, label, id",
                       GF_SLICE_ARG(sort));
    gf_status st = gf_call_view(call, &view, err);
    if (st != GF_OK) return st;
    listing l = {.call = call, .documents = gf_view_build(view)->documents, .sorted = label || id};
    gf_row_open(&l.row);
    st = gf_view_clusters(view, list_cluster, &l, err);
    if (st == GF_OK && l.n) qsort(l.rows, l.n, sizeof *l.rows, label ? by_label : by_id);
    for (size_t i = 0; i < l.n && st == GF_OK; i++)
        st = call->emit(call->context, l.rows[i].row, err);
    gf_row_release_writer(&l.row);
    gf_arena_release(&l.memory);
    gf_free(l.rows);
    gf_view_close(view);
    return st;
}

/* ---- one cluster ------------------------------------------------------------------------------
 */

typedef struct showing {
    gf_call *call;
    gf_view *view;
    gf_row_writer row;
    uint32_t id;
    gf_membership member;
} showing;

static gf_status write_document(void *context, const gf_document *d, gf_error *err)
{
    showing *s = context;
    (void)err;
    gf_json_put_document(&s->row.json, d, true);
    return GF_OK;
}

static gf_status write_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    showing *s = context;
    gf_json_begin(&s->row.json, '{');
    gf_json_put_float(&s->row.json, "score", m->score);
    if (m->runner_up) {
        gf_json_put_uint(&s->row.json, "runner_up", m->runner_up);
        gf_json_put_float(&s->row.json, "margin", m->score - m->second);
    }
    if (m->replaced) gf_json_put_bool(&s->row.json, "replaced", true);
    gf_status st = gf_view_document(s->view, id, write_document, s, err);
    gf_json_end(&s->row.json, '}');
    return st;
}

static gf_status write_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    showing *s = context;
    (void)err;
    s->id = info->id;
    write_head(&s->row.json, info);
    write_terms(&s->row.json, info, gf_call_number(s->call, "terms", 10));
    return GF_OK;
}

static gf_status emit_column(void *context, const char *family, gf_slice qualifier, gf_slice value,
                             gf_error *err)
{
    showing *s = context;
    gf_json_begin(&s->row.json, '{');
    gf_json_put_str(&s->row.json, "family", family);
    gf_json_put_string(&s->row.json, "column", qualifier);
    gf_json_put_string(&s->row.json, "value", value);
    gf_json_end(&s->row.json, '}');
    return gf_row_emit(&s->row, s->call, err);
}

/* "17", or "label:hockey". */
static gf_status parse_name(gf_slice text, uint32_t *id, gf_slice *label, gf_error *err)
{
    *id = 0;
    if (gf_slice_starts(text, GF_SLICE("label:"))) {
        *label = gf_slice_skip(text, 6);
        return GF_OK;
    }
    uint64_t v = 0;
    for (size_t i = 0; i < text.len && v <= UINT32_MAX; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') v = UINT64_MAX / 16;
        v = v * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    if (v == 0 || v > UINT32_MAX)
        return gf_fail(err, GF_EINVAL, "\"%.*s\" is neither a cluster's id nor label:TEXT",
                       GF_SLICE_ARG(text));
    *id = (uint32_t)v;
    return GF_OK;
}

static gf_status show(showing *s, uint32_t id, gf_slice label, gf_error *err)
{
    uint64_t docs = gf_call_number(s->call, "docs", 10);
    gf_json_begin(&s->row.json, '{');
    gf_status st = gf_view_cluster(s->view, id, label, write_cluster, s, err);
    gf_json_put_uint(&s->row.json, "build", (uint64_t)gf_view_build(s->view)->build);
    gf_json_key(&s->row.json, "documents");
    gf_json_begin(&s->row.json, '[');
    if (st == GF_OK && docs) st = gf_view_members(s->view, s->id, docs, write_member, s, err);
    gf_json_end(&s->row.json, ']');
    gf_json_end(&s->row.json, '}');
    return st == GF_OK ? gf_row_emit(&s->row, s->call, err) : st;
}

static gf_status only_id(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)err;
    *(uint32_t *)context = info->id;
    return GF_OK;
}

gf_status gf_run_cluster(gf_call *call, gf_error *err)
{
    showing s = {.call = call};
    uint32_t id;
    gf_slice label = {0};
    gf_status st = parse_name(gf_call_text(call, "cluster"), &id, &label, err);
    if (st == GF_OK) st = gf_call_view(call, &s.view, err);
    if (st != GF_OK) return st;
    gf_row_open(&s.row);
    if (gf_call_flag(call, "columns")) {
        st = gf_view_cluster(s.view, id, label, only_id, &id, err);
        if (st == GF_OK) st = gf_cluster_columns(s.view, id, emit_column, &s, err);
    } else {
        st = show(&s, id, label, err);
    }
    gf_row_release_writer(&s.row);
    gf_view_close(s.view);
    return st;
}
