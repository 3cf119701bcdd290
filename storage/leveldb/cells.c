/* Walking the cells of a family: versions, time to live, cut values, both directions. */
#include "storage/leveldb/cells.h"

#include "base/clock.h"
#include "storage/leveldb/value.h"

#include <assert.h>

void gf_leveldb_cells_open(gf_leveldb_cells *c, gf_leveldb *b, const gf_leveldb_snapshot *snapshot,
                           bool cached, unsigned table, unsigned family, uint32_t versions)
{
    *c = (gf_leveldb_cells){.versions = versions, .now = gf_clock_ms()};
    c->readers = &b->readers;
    c->side = gf_leveldb_readers_begin(c->readers);
    c->it = gf_leveldb_iterator_create(b->db, snapshot, cached);
    c->schema = gf_leveldb_schema(b, table); /* behind the iterator: see gf_leveldb_table */
    c->family = &c->schema->families[family];
}

void gf_leveldb_cells_close(gf_leveldb_cells *c)
{
    if (c->it) {
        gf_leveldb_iterator_free(c->it);
        gf_leveldb_readers_end(c->readers, c->side);
    }
    gf_buffer_release(&c->lower);
    gf_buffer_release(&c->upper);
    gf_buffer_release(&c->last);
    gf_buffer_release(&c->blocks);
    gf_buffer_release(&c->unpacked);
    gf_buffer_release(&c->place);
    *c = (gf_leveldb_cells){0};
}

void gf_leveldb_cells_within(gf_leveldb_cells *c, gf_slice prefix)
{
    gf_buffer_slice(&c->lower, prefix);
    gf_key_after_prefix(prefix, &c->upper);
}

static bool in_range(const gf_leveldb_cells *c, gf_slice key)
{
    if (c->reverse) return gf_slice_compare(key, gf_buffer_view(&c->lower)) >= 0;
    return c->upper.len == 0 || gf_slice_compare(key, gf_buffer_view(&c->upper)) < 0;
}

static gf_status seek_start(gf_leveldb_cells *c, gf_error *err)
{
    c->started = true;
    gf_status st = gf_buffer_check(&c->lower, err);
    if (st == GF_OK) st = gf_buffer_check(&c->upper, err);
    if (st != GF_OK) return st;
    if (!c->reverse) {
        gf_leveldb_iterator_seek(c->it, gf_buffer_view(&c->lower));
        return GF_OK;
    }
    if (c->upper.len) gf_leveldb_iterator_seek(c->it, gf_buffer_view(&c->upper));
    if (c->upper.len && gf_leveldb_iterator_valid(c->it))
        gf_leveldb_iterator_prev(c->it);
    else
        gf_leveldb_iterator_last(c->it);
    return GF_OK;
}

/*
 * Take the key at the iterator's place apart; GF_ENOTFOUND at the range's end. The iterator is
 * asked for an error at every step, since it steps over what it cannot read without a sign.
 */
static gf_status parse_entry(const gf_leveldb_cells *c, gf_leveldb_key *key, gf_error *err)
{
    gf_status st = gf_leveldb_iterator_status(c->it, err);
    if (st != GF_OK) return st;
    if (!gf_leveldb_iterator_valid(c->it)) return GF_ENOTFOUND;
    gf_slice bytes = gf_leveldb_iterator_key(c->it);
    return in_range(c, bytes) ? gf_leveldb_keys_parse(c->schema, bytes, key, err) : GF_ENOTFOUND;
}

/* Append block i of the value whose head key is in `place`; the iterator is behind block i - 1. */
static gf_status add_block(gf_leveldb_cells *c, uint32_t i, gf_error *err)
{
    gf_leveldb_key key = {0};
    gf_status st = gf_leveldb_iterator_status(c->it, err);
    if (st == GF_OK && gf_leveldb_iterator_valid(c->it))
        st = gf_leveldb_keys_parse(c->schema, gf_leveldb_iterator_key(c->it), &key, err);
    if (st != GF_OK) return st;
    if (key.block != i || !gf_slice_equal(key.head, gf_buffer_view(&c->place)))
        return gf_fail(err, GF_ECORRUPT, "block %u of a cut value is missing", i);
    gf_buffer_slice(&c->blocks, gf_leveldb_iterator_value(c->it));
    return gf_buffer_check(&c->blocks, err);
}

static gf_status remember_cell(gf_leveldb_cells *c, gf_slice cell, gf_error *err)
{
    gf_buffer_reset(&c->last);
    gf_buffer_slice(&c->last, cell);
    return gf_buffer_check(&c->last, err);
}

/* Put together the value whose head the iterator is at; it moves to the last block. */
static gf_status gather_blocks(gf_leveldb_cells *c, const gf_value_head *head,
                               const gf_leveldb_key *key, gf_error *err)
{
    gf_buffer_reset(&c->blocks);
    gf_buffer_slice(&c->blocks, head->first);
    gf_buffer_reset(&c->place);
    gf_buffer_slice(&c->place, key->head);
    gf_status st = gf_buffer_check(&c->place, err);
    if (st == GF_OK) st = remember_cell(c, key->cell, err);
    c->moved = true;
    for (uint32_t i = 1; i < gf_value_head_blocks(head) && st == GF_OK; i++) {
        gf_leveldb_iterator_next(c->it);
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
static gf_status read_value(gf_leveldb_cells *c, gf_leveldb_cell *cell, bool *live, gf_error *err)
{
    gf_value_head head;
    gf_status st = gf_value_read_head(gf_leveldb_iterator_value(c->it), &head, err);
    if (st != GF_OK) return st;
    cell->timestamp = head.timestamp;
    cell->expired = gf_leveldb_cells_are_expired(c->family, head.timestamp, c->now);
    cell->value = (gf_slice){0};
    *live = !cell->expired || c->with_expired;
    if (cell->expired || c->keys_only) return GF_OK;
    gf_slice stored = head.first;
    if (gf_value_head_blocks(&head) > 1) {
        st = gather_blocks(c, &head, &cell->key, err);
        if (st == GF_OK)
            st = gf_leveldb_keys_parse(c->schema, gf_buffer_view(&c->place), &cell->key, err);
        stored = gf_buffer_view(&c->blocks);
    }
    if (st == GF_OK) st = gf_value_unpack(head.flags, stored, &c->unpacked, &cell->value, err);
    return st;
}

/* *wanted: the cell differs from the last, or is a version of it that is still wanted. */
static gf_status wanted_version(gf_leveldb_cells *c, gf_slice cell, bool *wanted, gf_error *err)
{
    *wanted = true;
    if (!gf_leveldb_keys_have_versions(c->family)) return GF_OK;
    if (c->seen == 0 || !gf_slice_equal(cell, gf_buffer_view(&c->last))) {
        gf_status st = remember_cell(c, cell, err);
        if (st != GF_OK) return st;
        c->seen = 0;
    }
    *wanted = c->seen++ < c->versions;
    return GF_OK;
}

static gf_status look_forward(gf_leveldb_cells *c, gf_leveldb_cell *cell, bool *live, gf_error *err)
{
    bool wanted = false;
    gf_status st = parse_entry(c, &cell->key, err);
    if (st != GF_OK || cell->key.block) return st;
    st = wanted_version(c, cell->key.cell, &wanted, err);
    return st == GF_OK && wanted ? read_value(c, cell, live, err) : st;
}

/* Move to the entry before the cell that was looked at last. */
static void step_back(gf_leveldb_cells *c)
{
    if (c->moved) gf_leveldb_iterator_seek(c->it, gf_buffer_view(&c->last));
    c->moved = false;
    if (gf_leveldb_iterator_valid(c->it))
        gf_leveldb_iterator_prev(c->it);
    else
        gf_leveldb_iterator_last(c->it);
}

/*
 * Backwards the iterator meets a cell's blocks and oldest version first. So where there are any it
 * goes to the cell's first entry, reads from there as forwards, and later steps back from there.
 */
static gf_status look_back(gf_leveldb_cells *c, gf_leveldb_cell *cell, bool *live, gf_error *err)
{
    gf_status st = parse_entry(c, &cell->key, err);
    if (st == GF_OK && (cell->key.block || gf_leveldb_keys_have_versions(c->family))) {
        st = remember_cell(c, cell->key.cell, err);
        if (st != GF_OK) return st;
        c->moved = true;
        gf_leveldb_iterator_seek(c->it, gf_buffer_view(&c->last));
        st = parse_entry(c, &cell->key, err);
    }
    return st == GF_OK && cell->key.block == 0 ? read_value(c, cell, live, err) : st;
}

gf_status gf_leveldb_cells_next(gf_leveldb_cells *c, gf_leveldb_cell *cell, gf_error *err)
{
    assert(c->it && c->versions > 0);
    bool live = false, move = c->started; /* the cell given last had to stay in place until now */
    gf_status st = c->started ? GF_OK : seek_start(c, err);
    while (st == GF_OK && !live) {
        if (move && c->reverse)
            step_back(c);
        else if (move)
            gf_leveldb_iterator_next(c->it);
        move = true;
        st = c->reverse ? look_back(c, cell, &live, err) : look_forward(c, cell, &live, err);
    }
    return st;
}
