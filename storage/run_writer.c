#include "storage/run_writer.h"

void gf_run_writer_begin(gf_run_writer *w, gf_batch *batch, gf_table *table, unsigned family,
                         const gf_run_column *columns, size_t n)
{
    w->batch = batch;
    w->table = table;
    w->family = family;
    w->columns = columns;
    w->n_columns = n;
    w->open = false;
}

gf_status gf_run_writer_end(gf_run_writer *w, gf_error *err)
{
    if (!w->open || w->block.n == 0) return GF_OK;
    gf_status st = gf_run_block_finish(&w->block, err);
    if (st == GF_OK) gf_batch_put_block(w->batch, &w->block);
    w->open = false;
    return st;
}

gf_status gf_run_writer_add(gf_run_writer *w, gf_slice key, gf_slice qualifier,
                            const gf_run_value *values, gf_error *err)
{
    gf_status st = GF_OK;
    bool ends = w->open && w->block.n &&
                (gf_run_block_is_full(&w->block) || !gf_run_block_takes(&w->block, key));
    if (ends) st = gf_run_writer_end(w, err);
    if (st == GF_OK && !w->open) {
        st = gf_run_block_begin(&w->block, w->table, w->family, w->columns, w->n_columns, err);
        w->open = st == GF_OK;
    }
    return st == GF_OK ? gf_run_block_add(&w->block, key, qualifier, values, err) : st;
}

void gf_run_writer_release(gf_run_writer *w)
{
    gf_run_block_release(&w->block);
    *w = (gf_run_writer){.batch = NULL};
}
