/* Walking the cells of a family: versions, time to live, cut values, both directions. */
#include "storage/leveldb/internal.h"

#include "base/clock.h"

gf_status gf_cells_open(gf_cells *c, gf_leveldb *b, const leveldb_readoptions_t *options,
                        unsigned table, unsigned family, uint32_t versions, gf_error *err)
{
    *c = (gf_cells){.versions = versions, .now = gf_clock_ms()};
    c->readers = &b->readers;
    c->side = gf_leveldb_reader_begin(c->readers);
    c->it = leveldb_create_iterator(b->db, options);
    if (!c->it) {
        gf_leveldb_reader_end(c->readers, c->side);
        return gf_fail_memory(err, "a scan");
    }
    c->schema = gf_leveldb_schema(b, table); /* behind the iterator: see gf_catalogued */
    c->family = &c->schema->families[family];
    return GF_OK;
}

void gf_cells_close(gf_cells *c)
{
    if (c->it) {
        leveldb_iter_destroy(c->it);
        gf_leveldb_reader_end(c->readers, c->side);
    }
    gf_buffer_release(&c->lower);
    gf_buffer_release(&c->upper);
    gf_buffer_release(&c->last);
    gf_buffer_release(&c->blocks);
    gf_buffer_release(&c->unpacked);
    gf_buffer_release(&c->place);
    *c = (gf_cells){0};
}

void gf_cells_within(gf_cells *c, gf_slice prefix)
{
    gf_buffer_slice(&c->lower, prefix);
    gf_key_after_prefix(prefix, &c->upper);
}

static void seek(gf_cells *c, gf_slice key)
{
    leveldb_iter_seek(c->it, key.ptr, key.len);
}

static bool in_range(const gf_cells *c, gf_slice key)
{
    if (c->reverse) return gf_slice_compare(key, gf_buffer_view(&c->lower)) >= 0;
    return c->upper.len == 0 || gf_slice_compare(key, gf_buffer_view(&c->upper)) < 0;
}

static gf_status start(gf_cells *c, gf_error *err)
{
    c->started = true;
    gf_status st = gf_buffer_check(&c->lower, err);
    if (st == GF_OK) st = gf_buffer_check(&c->upper, err);
    if (st != GF_OK) return st;
    if (!c->reverse) {
        seek(c, gf_buffer_view(&c->lower));
        return GF_OK;
    }
    if (c->upper.len) seek(c, gf_buffer_view(&c->upper));
    if (c->upper.len && leveldb_iter_valid(c->it))
        leveldb_iter_prev(c->it);
    else
        leveldb_iter_seek_to_last(c->it);
    return GF_OK;
}

/*
 * Take the key at the iterator's place apart; GF_ENOTFOUND at the range's end. The iterator is
 * asked for an error at every step, since it steps over what it cannot read: only that tells.
 */
static gf_status arrive(const gf_cells *c, gf_physical_key *key, gf_error *err)
{
    gf_status st = gf_leveldb_iterator_status(c->it, err);
    if (st != GF_OK) return st;
    if (!leveldb_iter_valid(c->it)) return GF_ENOTFOUND;
    gf_slice bytes = gf_leveldb_iterator_key(c->it);
    return in_range(c, bytes) ? gf_physical_parse(c->schema, bytes, key, err) : GF_ENOTFOUND;
}

/* Append block i of the value whose head key is in `place`; the iterator is behind block i - 1. */
static gf_status add_block(gf_cells *c, uint32_t i, gf_error *err)
{
    gf_physical_key key = {0};
    gf_status st = gf_leveldb_iterator_status(c->it, err);
    if (st == GF_OK && leveldb_iter_valid(c->it))
        st = gf_physical_parse(c->schema, gf_leveldb_iterator_key(c->it), &key, err);
    if (st != GF_OK) return st;
    if (key.block != i || !gf_slice_equal(key.head, gf_buffer_view(&c->place)))
        return gf_fail(err, GF_ECORRUPT, "block %u of a cut value is missing", i);
    gf_buffer_slice(&c->blocks, gf_leveldb_iterator_value(c->it));
    return gf_buffer_check(&c->blocks, err);
}

static gf_status remember_cell(gf_cells *c, gf_slice cell, gf_error *err)
{
    gf_buffer_reset(&c->last);
    gf_buffer_slice(&c->last, cell);
    return gf_buffer_check(&c->last, err);
}

/* Put together the value whose head the iterator is at; it moves to the last block. */
static gf_status gather(gf_cells *c, const gf_value_head *head, const gf_physical_key *key,
                        gf_error *err)
{
    gf_buffer_reset(&c->blocks);
    gf_buffer_slice(&c->blocks, head->first);
    gf_buffer_reset(&c->place);
    gf_buffer_slice(&c->place, key->head);
    gf_status st = gf_buffer_check(&c->place, err);
    if (st == GF_OK) st = remember_cell(c, key->cell, err);
    c->moved = true;
    for (uint32_t i = 1; i < gf_value_head_blocks(head) && st == GF_OK; i++) {
        leveldb_iter_next(c->it);
        st = add_block(c, i, err);
    }
    if (st == GF_OK && c->blocks.len != head->length)
        st = gf_fail(err, GF_ECORRUPT, "a cut value has another length than its head says");
    return st;
}

/*
 * Read the value at the iterator, whose key was taken apart. The key's slices point into the
 * iterator, so where that moves on, the key is taken apart again from `place`.
 */
static gf_status read_value(gf_cells *c, gf_found_cell *cell, bool *live, gf_error *err)
{
    gf_value_head head;
    gf_status st = gf_value_read_head(gf_leveldb_iterator_value(c->it), &head, err);
    if (st != GF_OK) return st;
    cell->timestamp = head.timestamp;
    cell->expired = gf_cell_is_expired(c->family, head.timestamp, c->now);
    cell->value = (gf_slice){0};
    *live = !cell->expired || c->with_expired;
    if (cell->expired || c->keys_only) return GF_OK;
    gf_slice stored = head.first;
    if (gf_value_head_blocks(&head) > 1) {
        st = gather(c, &head, &cell->key, err);
        if (st == GF_OK)
            st = gf_physical_parse(c->schema, gf_buffer_view(&c->place), &cell->key, err);
        stored = gf_buffer_view(&c->blocks);
    }
    if (st == GF_OK) st = gf_value_unpack(head.flags, stored, &c->unpacked, &cell->value, err);
    return st;
}

/* Whether the cell is another one than the last, or a version of it that is still wanted. */
static gf_status wanted_version(gf_cells *c, gf_slice cell, bool *wanted, gf_error *err)
{
    *wanted = true;
    if (!gf_family_has_versions(c->family)) return GF_OK;
    if (c->seen == 0 || !gf_slice_equal(cell, gf_buffer_view(&c->last))) {
        gf_status st = remember_cell(c, cell, err);
        if (st != GF_OK) return st;
        c->seen = 0;
    }
    *wanted = c->seen++ < c->versions;
    return GF_OK;
}

static gf_status look_forward(gf_cells *c, gf_found_cell *cell, bool *live, gf_error *err)
{
    bool wanted = false;
    gf_status st = arrive(c, &cell->key, err);
    if (st != GF_OK || cell->key.block) return st;
    st = wanted_version(c, cell->key.cell, &wanted, err);
    return st == GF_OK && wanted ? read_value(c, cell, live, err) : st;
}

/* Move to the entry before the cell that was looked at last. */
static void step_back(gf_cells *c)
{
    if (c->moved) seek(c, gf_buffer_view(&c->last));
    c->moved = false;
    if (leveldb_iter_valid(c->it))
        leveldb_iter_prev(c->it);
    else
        leveldb_iter_seek_to_last(c->it);
}

/*
 * Backwards the iterator meets a cell's blocks and oldest version first. So where there are any it
 * goes to the cell's first entry, reads from there as forwards, and later steps back from there.
 */
static gf_status look_back(gf_cells *c, gf_found_cell *cell, bool *live, gf_error *err)
{
    gf_status st = arrive(c, &cell->key, err);
    if (st == GF_OK && (cell->key.block || gf_family_has_versions(c->family))) {
        st = remember_cell(c, cell->key.cell, err);
        if (st != GF_OK) return st;
        c->moved = true;
        seek(c, gf_buffer_view(&c->last));
        st = arrive(c, &cell->key, err);
    }
    return st == GF_OK && cell->key.block == 0 ? read_value(c, cell, live, err) : st;
}

gf_status gf_cells_next(gf_cells *c, gf_found_cell *cell, gf_error *err)
{
    bool live = false, move = c->started; /* the cell given last had to stay in place until now */
    gf_status st = c->started ? GF_OK : start(c, err);
    while (st == GF_OK && !live) {
        if (move && c->reverse)
            step_back(c);
        else if (move)
            leveldb_iter_next(c->it);
        move = true;
        st = c->reverse ? look_back(c, cell, &live, err) : look_forward(c, cell, &live, err);
    }
    return st;
}
