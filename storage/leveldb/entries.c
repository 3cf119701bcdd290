/* Entries of a LevelDB batch: values, cut into blocks where they are long, and deletions. */
#include "storage/leveldb/catalogue.h"
#include "storage/leveldb/keys.h"
#include "storage/leveldb/writing.h"

/* ---- keys ------------------------------------------------------------------------------------ */

gf_status gf_leveldb_entries_key(gf_leveldb_writing *w, const gf_leveldb_run *run, gf_error *err)
{
    gf_buffer_reset(&w->key);
    gf_leveldb_keys_family(&w->key, run->table, run->family);
    gf_buffer_slice(&w->key, run->row);
    if (run->schema->layout == GF_LAYOUT_WIDE) gf_key_string(&w->key, run->qualifier);
    return gf_buffer_check(&w->key, err);
}

gf_status gf_leveldb_entries_version_key(gf_leveldb_writing *w, const gf_leveldb_run *run,
                                         int64_t timestamp, gf_error *err)
{
    gf_status st = gf_leveldb_entries_key(w, run, err);
    gf_leveldb_keys_version(&w->key, timestamp);
    return st == GF_OK ? gf_buffer_check(&w->key, err) : st;
}

static void delete_entry(gf_leveldb_writing *w, gf_slice key)
{
    gf_leveldb_batch_delete(w->batch, key);
}

static gf_status block_key(gf_leveldb_writing *w, uint32_t block, gf_error *err)
{
    gf_buffer_reset(&w->block_key);
    gf_buffer_slice(&w->block_key, gf_buffer_view(&w->key));
    gf_buffer_u32be(&w->block_key, block);
    return gf_buffer_check(&w->block_key, err);
}

/* ---- blocks of cut values -------------------------------------------------------------------- */

/* Blocks that the value under w->key has in the database; 0 where there is none, or none is cut. */
static gf_status count_blocks(gf_leveldb_writing *w, const gf_leveldb_run *run, uint32_t *blocks,
                              gf_error *err)
{
    gf_value_head head;
    *blocks = 0;
    if (!gf_leveldb_catalogue_is_cut(w->b, run->table, run->family)) return GF_OK;
    gf_status st = gf_leveldb_database_get(w->b->db, NULL, gf_buffer_view(&w->key), &w->entry, err);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st == GF_OK) st = gf_value_read_head(gf_buffer_view(&w->entry), &head, err);
    if (st == GF_OK) *blocks = gf_value_head_blocks(&head);
    return st;
}

static gf_status delete_blocks(gf_leveldb_writing *w, uint32_t from, uint32_t to, gf_error *err)
{
    for (uint32_t i = from; i < to; i++) {
        gf_status st = block_key(w, i, err);
        if (st != GF_OK) return st;
        delete_entry(w, gf_buffer_view(&w->block_key));
    }
    return GF_OK;
}

static gf_status put_blocks(gf_leveldb_writing *w, const gf_stored_value *v, uint32_t blocks,
                            gf_error *err)
{
    for (uint32_t i = 1; i < blocks; i++) {
        gf_status st = block_key(w, i, err);
        if (st != GF_OK) return st;
        gf_leveldb_batch_put(w->batch, gf_buffer_view(&w->block_key), gf_value_block(v, i));
    }
    return GF_OK;
}

/* The batch says that the family has cut values, where the catalogue does not say so yet. */
static gf_status mark_cut(gf_leveldb_writing *w, const gf_leveldb_run *run, gf_error *err)
{
    if (gf_leveldb_catalogue_is_cut(w->b, run->table, run->family)) return GF_OK;
    for (const gf_leveldb_cut_mark *m = w->marks; m; m = m->next)
        if (m->table == run->table && m->family == run->family) return GF_OK;
    gf_leveldb_cut_mark *mark = gf_arena_alloc(&w->arena, sizeof *mark);
    if (!mark) return gf_fail_memory(err, "a batch");
    *mark = (gf_leveldb_cut_mark){run->table, run->family, w->marks};
    w->marks = mark;
    return gf_leveldb_catalogue_put_cut(run->table, run->family, w->batch, err);
}

/* ---- heads ----------------------------------------------------------------------------------- */

gf_status gf_leveldb_entries_put_stored(gf_leveldb_writing *w, const gf_leveldb_run *run,
                                        const gf_stored_value *v, gf_error *err)
{
    uint32_t old, blocks = gf_value_blocks(v);
    gf_status st = count_blocks(w, run, &old, err);
    if (st != GF_OK) return st;
    gf_buffer_reset(&w->value);
    gf_value_write_head(v, &w->value);
    st = gf_buffer_check(&w->value, err);
    if (st == GF_OK && blocks > 1) st = mark_cut(w, run, err);
    if (st != GF_OK) return st;
    gf_leveldb_batch_put(w->batch, gf_buffer_view(&w->key), gf_buffer_view(&w->value));
    st = put_blocks(w, v, blocks, err);
    return st == GF_OK ? delete_blocks(w, blocks, old, err) : st;
}

gf_status gf_leveldb_entries_put(gf_leveldb_writing *w, const gf_leveldb_run *run, gf_slice value,
                                 int64_t timestamp, gf_error *err)
{
    gf_stored_value v;
    if (value.len > GF_MAX_VALUE)
        return gf_fail(err, GF_ELIMIT, "a row of more than %d bytes", GF_MAX_VALUE);
    gf_status st =
        gf_value_prepare(value, run->schema->compression, timestamp, &w->compressed, &v, err);
    return st == GF_OK ? gf_leveldb_entries_put_stored(w, run, &v, err) : st;
}

gf_status gf_leveldb_entries_delete(gf_leveldb_writing *w, const gf_leveldb_run *run, gf_error *err)
{
    uint32_t blocks;
    delete_entry(w, gf_buffer_view(&w->key));
    gf_status st = count_blocks(w, run, &blocks, err);
    return st == GF_OK ? delete_blocks(w, 1, blocks, err) : st;
}

gf_status gf_leveldb_entries_delete_prefix(gf_leveldb_writing *w, gf_error *err)
{
    gf_slice prefix = gf_buffer_view(&w->key);
    gf_leveldb_iterator *it = gf_leveldb_iterator_create(w->b->db, NULL, false);
    gf_leveldb_iterator_seek(it, prefix);
    for (; gf_leveldb_iterator_valid(it); gf_leveldb_iterator_next(it)) {
        gf_slice key = gf_leveldb_iterator_key(it);
        if (!gf_slice_starts(key, prefix)) break;
        delete_entry(w, key);
    }
    gf_status st = gf_leveldb_iterator_status(it, err);
    gf_leveldb_iterator_free(it);
    return st;
}
