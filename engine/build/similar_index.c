#include "engine/build/similar_index.h"

#include "base/memory.h"
#include "engine/index/similar.h"

enum { WINDOW_ROWS = 4096 };

typedef struct writing {
    const gf_build_gathered *d;
    gf_index_ids ids;
    bool own_ids;
    gf_index_segment at;     /* that at hand */
    uint32_t first;          /* document of it */
    gf_inverting *inverting; /* by thread */
} writing;

/* ---- documents by term ----------------------------------------------------------------------- */

/* Rows of a matrix, the first of which is this document of the chunk. */
static gf_status add_rows(gf_inverting *v, const gf_csr *x, uint32_t first, uint32_t n,
                          uint32_t document, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        gf_row_view row = gf_csr_row(x, first + i);
        for (uint32_t e = 0; e < row.n && st == GF_OK; e++) {
            st = gf_inverting_add(v, row.col[e], document + i, gf_index_weight(row.val[e]), err);
        }
    }
    return st;
}

static gf_status invert_chunk(void *context, size_t i, unsigned worker, gf_error *err)
{
    writing *w = context;
    const gf_vectors *vectors = &w->d->vectors;
    gf_inverting *v = &w->inverting[worker];
    uint32_t from = (uint32_t)i * w->at.shape.chunk, n = w->at.m - from, terms = vectors->x.n_cols;
    gf_status st = GF_OK;
    if (n > w->at.shape.chunk) n = w->at.shape.chunk;
    if (vectors->entries) {
        gf_row_file rows = gf_build_gathered_row_file(w->d);
        terms = rows.n_cols;
        for (uint32_t at = 0, m; at < n && st == GF_OK; at += m) {
            gf_csr x = {0};
            m = n - at < WINDOW_ROWS ? n - at : WINDOW_ROWS;
            st = gf_row_file_read(&rows, w->first + from + at, m, &x, err);
            if (st == GF_OK) st = add_rows(v, &x, 0, m, at, err);
            gf_csr_release(&x);
        }
    } else {
        st = add_rows(v, &vectors->x, w->first + from, n, 0, err);
    }
    return st == GF_OK ? gf_inverting_end(v, terms ? terms - 1 : 0, &w->at.pieces[i], err) : st;
}

/* ---- segments -------------------------------------------------------------------------------- */

static gf_status write_segment(writing *w, gf_pool *pool, const gf_cancel *cancel,
                               const gf_index_cells *to, gf_error *err)
{
    const gf_vectors *v = &w->d->vectors;
    uint32_t terms = v->entries ? gf_build_gathered_row_file(w->d).n_cols : v->x.n_cols;
    /* Ranks have made all else. */
    if (w->d->cells.of.index_of_rows)
        return w->own_ids ? gf_index_write_ids(to, GF_INDEX_MATRIX, &w->ids, w->at.shape.segment,
                                               w->at.segment, err)
                          : GF_OK;
    w->first = w->at.segment * w->at.shape.segment;
    gf_status st = gf_index_segment_begin(&w->at, w->d->n, false, err);
    if (st == GF_OK) st = gf_pool_run(pool, w->at.n_chunks, invert_chunk, w, cancel, err);
    if (st == GF_OK && w->own_ids)
        st = gf_index_write_ids(to, GF_INDEX_MATRIX, &w->ids, w->at.shape.segment, w->at.segment,
                                err);
    if (st == GF_OK)
        st = to->parts(to->context, gf_index_fill_columns, &w->at,
                       gf_index_count(terms, GF_INDEX_PART), err);
    gf_index_segment_end(&w->at);
    return st;
}

static gf_status fill_head(void *of, uint32_t part, gf_index_put_cell *put, void *context,
                           gf_error *err)
{
    (void)part;
    const writing *w = of;
    gf_buffer head = {0};
    gf_buffer_byte(&head, GF_INDEX_FORMAT);
    gf_buffer_varint(&head, w->d->n);
    gf_buffer_varint(&head, w->at.shape.segment);
    gf_buffer_varint(&head, w->own_ids);
    if (w->own_ids) gf_index_first_ids(&w->ids, w->at.shape.segment, &head);
    gf_status st = put(context, GF_SLICE(GF_INDEX_MATRIX "h"), &head, err);
    gf_buffer_release(&head);
    return st;
}

gf_status gf_build_write_similar_index(const gf_build_gathered *d, gf_pool *pool,
                                       const gf_cancel *cancel, bool own_ids,
                                       const gf_index_cells *to, gf_error *err)
{
    writing w = {.d = d,
                 .at.shape = gf_index_shape_now(),
                 .ids = {d->n, d->id_start, d->ids.ptr},
                 .own_ids = own_ids};
    uint32_t segments = gf_index_count(d->n, w.at.shape.segment);
    w.inverting = gf_calloc(gf_pool_size(pool), sizeof *w.inverting);
    gf_status st = w.inverting ? GF_OK : gf_fail_memory(err, "an index");
    for (; st == GF_OK && w.at.segment < segments; w.at.segment++)
        st = write_segment(&w, pool, cancel, to, err);
    if (st == GF_OK) st = to->parts(to->context, fill_head, &w, 1, err);
    for (unsigned i = 0; w.inverting && i < gf_pool_size(pool); i++)
        gf_inverting_release(&w.inverting[i]);
    gf_free(w.inverting);
    return st;
}
