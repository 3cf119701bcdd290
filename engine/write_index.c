#include "engine/write_index.h"

enum { CELL_BYTES = 16 << 10 };

static void write_ids(const gf_gathered *d, gf_buffer *out)
{
    gf_buffer_varint(out, d->n);
    for (uint32_t i = 0; i < d->n; i++)
        gf_buffer_string(out, gf_gathered_id(d, i));
}

static void write_term(gf_row_view documents, gf_buffer *out)
{
    uint32_t before = 0;
    gf_buffer_varint(out, documents.n);
    for (uint32_t p = 0; p < documents.n; p++) {
        gf_buffer_varint(out, documents.col[p] - before);
        before = documents.col[p];
    }
    for (uint32_t p = 0; p < documents.n; p++) {
        float w = documents.val[p] < 1 ? documents.val[p] : 1;
        gf_buffer_byte(out, (char)(unsigned char)(w * 255 + 0.5f));
    }
}

static gf_status write_terms(const gf_csr *by_term, gf_put_cell *put, void *context, gf_error *err)
{
    gf_buffer cell = {0}, qualifier = {0};
    gf_status st = GF_OK;
    for (uint32_t t = 0; t < by_term->n_rows && st == GF_OK;) {
        gf_buffer_reset(&cell);
        gf_buffer_reset(&qualifier);
        gf_buffer_str(&qualifier, "index");
        gf_buffer_u32be(&qualifier, t);
        while (t < by_term->n_rows && cell.len < CELL_BYTES)
            write_term(gf_csr_row(by_term, t++), &cell);
        st = gf_buffer_check(&qualifier, err);
        if (st == GF_OK) st = put(context, gf_buffer_view(&qualifier), &cell, err);
    }
    gf_buffer_release(&cell);
    gf_buffer_release(&qualifier);
    return st;
}

gf_status gf_write_index(const gf_gathered *d, gf_put_cell *put, void *context, gf_error *err)
{
    gf_buffer ids = {0};
    gf_csr by_term;
    write_ids(d, &ids);
    gf_status st = put(context, GF_SLICE("index"), &ids, err);
    gf_buffer_release(&ids);
    if (st == GF_OK) st = gf_csr_transpose(&d->vectors.x, &by_term, err);
    if (st != GF_OK) return st;
    st = write_terms(&by_term, put, context, err);
    gf_csr_release(&by_term);
    return st;
}
