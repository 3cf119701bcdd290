#include "engine/build/similar_index.h"

#include "base/memory.h"
#include "engine/build/inverted.h"

enum { PART_TERMS = 1 << 12, WINDOW_ROWS = 4096 };

typedef struct writing {
    const gf_build_gathered *d;
    gf_index_shape shape;
    gf_index_ids ids;
    bool own_ids;

    /* The segment at hand. */
    uint32_t segment, first, m, n_chunks; /* its documents: m from first on */
    gf_piece *pieces;                     /* n_chunks */
    gf_inverting *inverting;              /* by thread */
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
            float weight = row.val[e] < 1 ? row.val[e] : 1;
            unsigned char byte = (unsigned char)(weight * 255 + 0.5f);
            st = gf_inverting_add(v, row.col[e], document + i, byte + 1u, err);
        }
    }
    return st;
}

static gf_status invert_chunk(void *context, size_t i, unsigned worker, gf_error *err)
{
    writing *w = context;
    const gf_vectors *vectors = &w->d->vectors;
    gf_inverting *v = &w->inverting[worker];
    uint32_t from = (uint32_t)i * w->shape.chunk, n = w->m - from, terms = vectors->x.n_cols;
    gf_status st = GF_OK;
    if (n > w->shape.chunk) n = w->shape.chunk;
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
    return st == GF_OK ? gf_inverting_end(v, terms ? terms - 1 : 0, &w->pieces[i], err) : st;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* The postings of all chunks, one behind the other. */
static void write_postings(const writing *w, const gf_term_walk *walk, gf_buffer *out)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < walk->n; i++) {
        if (!gf_term_walk_has(walk, i)) continue;
        gf_slice postings = gf_piece_postings(&w->pieces[i], walk->at[i]);
        const unsigned char *p = (const unsigned char *)postings.ptr, *end = p + postings.len;
        uint32_t document = 0, value = 0, base = i * w->shape.chunk;
        for (bool first = true; p < end; first = false) {
            p = gf_index_posting(p, end, UINT32_MAX, first, &document, &value);
            if (!p) return; /* never: it is ours */
            gf_index_put_posting(out, base + document - before, value);
            before = base + document;
        }
    }
}

static gf_status fill_terms(void *of, uint32_t part, gf_build_put_cell *put, void *context,
                            gf_error *err)
{
    const writing *w = of;
    gf_term_walk walk;
    gf_buffer qualifier = {0}, cell = {0}, postings = {0};
    gf_status st = gf_term_walk_begin(&walk, w->pieces, w->n_chunks, part * PART_TERMS,
                                      (part + 1) * PART_TERMS, err);
    bool more = st == GF_OK && gf_term_walk_next(&walk);
    while (st == GF_OK && more) {
        uint32_t before = walk.term;
        gf_buffer_reset(&cell);
        gf_buffer_reset(&qualifier);
        gf_index_qualifier(&qualifier, GF_INDEX_MATRIX, w->segment, 't');
        gf_buffer_u32be(&qualifier, walk.term);
        while (more && cell.len < GF_INDEX_CELL && cell.state == GF_OK && st == GF_OK) {
            gf_buffer_reset(&postings);
            write_postings(w, &walk, &postings);
            gf_buffer_varint(&cell, walk.term - before);
            gf_buffer_varint(&cell, walk.documents);
            gf_buffer_string(&cell, gf_buffer_view(&postings));
            before = walk.term;
            st = gf_buffer_check(&postings, err);
            more = gf_term_walk_next(&walk);
        }
        if (st == GF_OK) st = gf_buffer_check(&qualifier, err);
        if (st == GF_OK) st = put(context, gf_buffer_view(&qualifier), &cell, err);
    }
    gf_term_walk_release(&walk);
    gf_buffer_release(&qualifier);
    gf_buffer_release(&cell);
    gf_buffer_release(&postings);
    return st;
}

static gf_status write_segment(writing *w, gf_pool *pool, const gf_cancel *cancel,
                               const gf_build_cells *to, gf_error *err)
{
    const gf_vectors *v = &w->d->vectors;
    uint32_t terms = v->entries ? gf_build_gathered_row_file(w->d).n_cols : v->x.n_cols;
    w->first = w->segment * w->shape.segment;
    w->m = w->d->n - w->first < w->shape.segment ? w->d->n - w->first : w->shape.segment;
    w->n_chunks = gf_index_count(w->m, w->shape.chunk);
    w->pieces = gf_calloc(w->n_chunks, sizeof *w->pieces);
    gf_status st = w->pieces ? GF_OK : gf_fail_memory(err, "an index");
    if (st == GF_OK) st = gf_pool_run(pool, w->n_chunks, invert_chunk, w, cancel, err);
    if (st == GF_OK && w->own_ids)
        st = gf_build_write_ids(to, GF_INDEX_MATRIX, &w->ids, w->shape.segment, w->segment, err);
    if (st == GF_OK)
        st = to->parts(to->context, fill_terms, w, gf_index_count(terms, PART_TERMS), err);
    for (uint32_t i = 0; w->pieces && i < w->n_chunks; i++)
        gf_piece_release(&w->pieces[i]);
    gf_free(w->pieces);
    w->pieces = NULL;
    return st;
}

static gf_status fill_head(void *of, uint32_t part, gf_build_put_cell *put, void *context,
                           gf_error *err)
{
    (void)part;
    const writing *w = of;
    gf_buffer head = {0};
    gf_buffer_byte(&head, GF_INDEX_FORMAT);
    gf_buffer_varint(&head, w->d->n);
    gf_buffer_varint(&head, w->shape.segment);
    gf_buffer_varint(&head, w->own_ids);
    if (w->own_ids) gf_build_first_ids(&w->ids, w->shape.segment, &head);
    gf_status st = put(context, GF_SLICE(GF_INDEX_MATRIX "h"), &head, err);
    gf_buffer_release(&head);
    return st;
}

gf_status gf_build_write_similar_index(const gf_build_gathered *d, gf_pool *pool,
                                       const gf_cancel *cancel, bool own_ids,
                                       const gf_build_cells *to, gf_error *err)
{
    writing w = {.d = d,
                 .shape = gf_index_shape_now(),
                 .ids = {d->n, d->id_start, d->ids.ptr},
                 .own_ids = own_ids};
    uint32_t segments = gf_index_count(d->n, w.shape.segment);
    w.inverting = gf_calloc(gf_pool_size(pool), sizeof *w.inverting);
    gf_status st = w.inverting ? GF_OK : gf_fail_memory(err, "an index");
    for (; st == GF_OK && w.segment < segments; w.segment++)
        st = write_segment(&w, pool, cancel, to, err);
    if (st == GF_OK) st = to->parts(to->context, fill_head, &w, 1, err);
    for (unsigned i = 0; w.inverting && i < gf_pool_size(pool); i++)
        gf_inverting_release(&w.inverting[i]);
    gf_free(w.inverting);
    return st;
}
