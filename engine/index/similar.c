/* The cells of a segment of the index of the matrix. */
#include "engine/index/similar.h"

/* The postings of all chunks, one behind the other. */
static void write_postings(const gf_index_segment *w, const gf_term_walk *walk, gf_buffer *out)
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

gf_status gf_index_fill_columns(void *of, uint32_t part, gf_index_put_cell *put, void *context,
                                gf_error *err)
{
    const gf_index_segment *w = of;
    gf_term_walk walk;
    gf_buffer qualifier = {0}, cell = {0}, postings = {0};
    gf_status st = gf_term_walk_begin(&walk, w->pieces, w->n_chunks, part * GF_INDEX_PART,
                                      (part + 1) * GF_INDEX_PART, err);
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
