/* Entries of a LevelDB batch: values cut into blocks, versions, deletions. */
#include "storage/leveldb_writing.h"

#include "base/memory.h"

/* ---- the batch --------------------------------------------------------------------------------
 */

static gf_slice block_key(gf_writing *w, gf_slice head, uint32_t block)
{
    gf_buffer_reset(&w->block_key);
    gf_buffer_slice(&w->block_key, head);
    gf_buffer_u32be(&w->block_key, block);
    return gf_buffer_view(&w->block_key);
}

static void delete_blocks(gf_writing *w, gf_slice head, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        gf_slice key = block_key(w, head, i);
        leveldb_writebatch_delete(w->batch, key.ptr, key.len);
    }
}

static gf_cut_put *find_cut(gf_writing *w, gf_slice head)
{
    for (size_t i = 0; i < w->n_cuts; i++)
        if (gf_slice_equal(w->cuts[i].head, head)) return &w->cuts[i];
    return NULL;
}

static gf_status remember_cut(gf_writing *w, gf_slice head, uint32_t blocks, gf_error *err)
{
    if (w->n_cuts == w->cuts_capacity) {
        size_t capacity = w->cuts_capacity ? w->cuts_capacity * 2 : 8;
        gf_cut_put *cuts = gf_realloc(w->cuts, capacity, sizeof *cuts);
        if (!cuts) return gf_fail_memory(err, "a batch");
        w->cuts = cuts;
        w->cuts_capacity = capacity;
    }
    gf_slice copy = gf_arena_copy(&w->arena, head);
    if (!copy.ptr) return gf_fail_memory(err, "a batch");
    w->cuts[w->n_cuts++] = (gf_cut_put){copy, blocks};
    return GF_OK;
}

/* Blocks that the entry under a head key has now, in the database or by this batch; 0: none there.
 */
static gf_status blocks_now(gf_writing *w, gf_slice head, uint32_t *blocks, gf_error *err)
{
    *blocks = 0;
    gf_value_head old;
    gf_status st = gf_leveldb_read(w->b, w->b->read, head, &w->entry, err);
    if (st == GF_OK) st = gf_value_read_head(gf_buffer_view(&w->entry), &old, err);
    if (st == GF_OK) *blocks = gf_value_head_blocks(&old);
    const gf_cut_put *cut = find_cut(w, head);
    if (cut && cut->blocks > *blocks) *blocks = cut->blocks;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_writing_delete_head(gf_writing *w, unsigned table, unsigned family, gf_slice head,
                                 gf_error *err)
{
    leveldb_writebatch_delete(w->batch, head.ptr, head.len);
    if (!gf_catalogue_is_cut(w->b, table, family)) return GF_OK;
    uint32_t blocks;
    gf_status st = blocks_now(w, head, &blocks, err);
    if (st == GF_OK) delete_blocks(w, head, 1, blocks);
    return st;
}

gf_status gf_writing_delete_prefix(gf_writing *w, unsigned table, unsigned family, gf_slice prefix,
                                   gf_error *err)
{
    gf_cells cells;
    gf_status st = gf_cells_open(&cells, w->b, NULL, table, family, UINT32_MAX, err);
    if (st != GF_OK) return st;
    leveldb_iter_seek(cells.it, prefix.ptr, prefix.len);
    for (; leveldb_iter_valid(cells.it); leveldb_iter_next(cells.it)) {
        gf_slice key = gf_leveldb_iterator_key(cells.it);
        if (!gf_slice_starts(key, prefix)) break;
        leveldb_writebatch_delete(w->batch, key.ptr, key.len);
    }
    st = gf_leveldb_iterator_status(cells.it, err);
    gf_cells_close(&cells);
    return st;
}

/* Of a cell with versions: delete those that `timestamp` pushes past the number that is kept. */
static gf_status drop_old_versions(gf_writing *w, unsigned table, unsigned family, gf_slice cell,
                                   int64_t timestamp, gf_error *err)
{
    const gf_schema *schema = gf_leveldb_schema(w->b, table);
    uint32_t kept = schema->families[family].versions;
    uint64_t last = UINT64_MAX - (uint64_t)timestamp;
    uint32_t seen = 1; /* the new one */
    leveldb_iterator_t *it = leveldb_create_iterator(w->b->db, w->b->read);
    if (!it) return gf_fail_memory(err, "a scan");
    gf_status st = GF_OK;
    leveldb_iter_seek(it, cell.ptr, cell.len);
    for (; leveldb_iter_valid(it); leveldb_iter_next(it)) {
        gf_slice key = gf_leveldb_iterator_key(it);
        gf_physical_key parsed;
        if (!gf_slice_starts(key, cell)) break;
        st = gf_physical_parse(schema, key, &parsed, err);
        if (st != GF_OK) break;
        if (parsed.version != last && parsed.version != UINT64_MAX - (uint64_t)timestamp) {
            seen++;
            last = parsed.version;
        }
        bool is_new = parsed.version == UINT64_MAX - (uint64_t)timestamp;
        if (seen > kept && !is_new) leveldb_writebatch_delete(w->batch, key.ptr, key.len);
    }
    if (st == GF_OK) st = gf_leveldb_iterator_status(it, err);
    leveldb_iter_destroy(it);
    return st;
}

static gf_status put_blocks(gf_writing *w, unsigned table, unsigned family, gf_slice head,
                            const gf_stored_value *v, gf_error *err)
{
    uint32_t blocks = gf_value_blocks(v), old = 0;
    gf_status st = GF_OK;
    if (gf_catalogue_is_cut(w->b, table, family)) st = blocks_now(w, head, &old, err);
    if (st == GF_OK && blocks > 1 && !gf_catalogue_is_cut(w->b, table, family))
        st = gf_catalogue_mark_cut(w->b, table, family, w->batch, err);
    if (st == GF_OK && blocks > 1) st = remember_cut(w, head, blocks, err);
    if (st != GF_OK) return st;
    gf_buffer_reset(&w->value);
    gf_value_write_head(v, &w->value);
    st = gf_buffer_check(&w->value, err);
    if (st != GF_OK) return st;
    leveldb_writebatch_put(w->batch, head.ptr, head.len, w->value.ptr, w->value.len);
    for (uint32_t i = 1; i < blocks; i++) {
        gf_slice key = block_key(w, head, i), bytes = gf_value_block(v, i);
        leveldb_writebatch_put(w->batch, key.ptr, key.len, bytes.ptr, bytes.len);
    }
    delete_blocks(w, head, blocks, old);
    return gf_buffer_check(&w->block_key, err);
}

gf_status gf_writing_put_value(gf_writing *w, unsigned table, unsigned family, gf_slice value,
                               int64_t timestamp, gf_error *err)
{
    const gf_family *f = &gf_leveldb_schema(w->b, table)->families[family];
    if (timestamp == 0 && (gf_family_has_versions(f) || f->ttl_seconds)) timestamp = w->now;
    gf_status st = gf_buffer_check(&w->key, err);
    if (st == GF_OK && gf_family_has_versions(f)) {
        st = drop_old_versions(w, table, family, gf_buffer_view(&w->key), timestamp, err);
        gf_physical_version(&w->key, timestamp);
        if (st == GF_OK) st = gf_buffer_check(&w->key, err);
    }
    gf_stored_value v;
    if (st == GF_OK) st = gf_value_prepare(value, f->compression, timestamp, &w->unpacked, &v, err);
    if (st == GF_OK) st = put_blocks(w, table, family, gf_buffer_view(&w->key), &v, err);
    return st;
}

void gf_writing_cell_key(gf_writing *w, unsigned table, unsigned family, gf_slice row,
                         gf_slice qualifier)
{
    gf_buffer_reset(&w->key);
    gf_physical_cell(&w->key, gf_leveldb_schema(w->b, table), table, family, row, qualifier);
}
