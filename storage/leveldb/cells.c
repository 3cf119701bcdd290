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
    gf_buffer_release(&c->edge);
    gf_run_reader_release(&c->block);
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

static bool is_block(gf_slice entry)
{
    return entry.len && (entry.ptr[0] & GF_VALUE_IS_BLOCK);
}

/*
 * The entry, whose key is not below `upper`, may have cells that are: it is a block of the family, and
 * its granule begins below.
 */
static bool reaches_into(const gf_leveldb_cells *c, gf_slice key)
{
    gf_leveldb_key parsed;
    if (!c->family->run || c->as_stored || !c->upper.len ||
        !gf_slice_starts(key, gf_slice_of(c->upper.ptr, GF_LEVELDB_FAMILY_PREFIX)) ||
        !is_block(gf_leveldb_iterator_value(c->it)) ||
        gf_leveldb_keys_parse(c->schema, key, &parsed, NULL) != GF_OK)
        return false;
    unsigned family = (unsigned)(c->family - c->schema->families);
    key.len = GF_LEVELDB_FAMILY_PREFIX + gf_run_block_granule(c->schema, family, parsed.row);
    return gf_slice_compare(key, gf_buffer_view(&c->upper)) < 0;
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
    if (!c->upper.len || !gf_leveldb_iterator_valid(c->it))
        gf_leveldb_iterator_last(c->it);
    else if (!reaches_into(c, gf_leveldb_iterator_key(c->it)))
        gf_leveldb_iterator_prev(c->it);
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
    if (!in_range(c, bytes) && (c->reverse || !reaches_into(c, bytes))) return GF_ENOTFOUND;
    return gf_leveldb_keys_parse(c->schema, bytes, key, err);
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

/* ---- blocks of runs -------------------------------------------------------------------------- */

static gf_status copy_key(gf_buffer *to, gf_slice key, gf_error *err)
{
    gf_buffer_reset(to);
    gf_buffer_slice(to, key);
    return gf_buffer_check(to, err);
}

/* The edge that the walk has reached lies between an entry and the one before; then it is there. */
static gf_status pass_edge(gf_leveldb_cells *c, gf_slice near, gf_slice far, gf_error *err)
{
    int order = gf_slice_compare(near, gf_buffer_view(&c->edge));
    if (c->edge.len && (c->reverse ? order >= 0 : order <= 0))
        return gf_fail(err, GF_ECORRUPT, "entries of a run overlap");
    return copy_key(&c->edge, far, err);
}

/* Stand at the last cell of the open block that is below `upper`. */
static gf_status stand_below(gf_leveldb_cells *c, gf_error *err)
{
    gf_slice upper = gf_buffer_view(&c->upper);
    gf_status st = gf_run_reader_last(&c->block, err);
    if (st != GF_OK || !upper.len || gf_slice_compare(gf_run_reader_key(&c->block), upper) < 0)
        return st;
    st = gf_run_reader_seek(&c->block, upper, err);
    return st == GF_OK ? gf_run_reader_previous(&c->block, err) : st;
}

/*
 * Stand at the block's first cell of the walk, which the reader was opened for and has the last at
 * `head`; GF_ENOTFOUND where it has none.
 */
static gf_status stand_in_block(gf_leveldb_cells *c, gf_slice head, gf_error *err)
{
    if (!c->reverse && !c->edge.len) { /* the walk begins in it */
        gf_status st = copy_key(&c->edge, head, err);
        return st == GF_OK ? gf_run_reader_seek(&c->block, gf_buffer_view(&c->lower), err) : st;
    }
    gf_status st = gf_run_reader_first(&c->block, err);
    if (st != GF_OK) return st;
    gf_slice first = gf_run_reader_key(&c->block);
    st = c->reverse ? pass_edge(c, head, first, err) : pass_edge(c, first, head, err);
    return st == GF_OK && c->reverse ? stand_below(c, err) : st;
}

/* The cell at which the reader stands; GF_ENOTFOUND at the range's end. */
static gf_status take_from_block(gf_leveldb_cells *c, gf_leveldb_cell *cell, bool *live,
                                 gf_error *err)
{
    gf_slice key = gf_run_reader_key(&c->block);
    if (!in_range(c, key)) return GF_ENOTFOUND;
    gf_status st = gf_leveldb_keys_parse(c->schema, key, &cell->key, err);
    if (st == GF_OK && cell->key.block)
        st = gf_fail(err, GF_ECORRUPT, "a block of a run has a key that is none");
    if (st != GF_OK) return st;
    cell->timestamp = 0;
    cell->expired = false;
    cell->value = (gf_slice){0};
    *live = true;
    return c->keys_only ? GF_OK : gf_run_reader_value(&c->block, &cell->value, err);
}

/* Open the block whose bytes these are, and give its first cell of the walk, if there is one. */
static gf_status open_block(gf_leveldb_cells *c, gf_slice bytes, gf_leveldb_cell *cell, bool *live,
                            gf_error *err)
{
    gf_slice head = cell->key.head;
    gf_status st = gf_run_reader_open(&c->block, head, GF_LEVELDB_FAMILY_PREFIX, bytes, err);
    if (st == GF_OK) st = stand_in_block(c, head, err);
    c->in_block = st == GF_OK;
    if (st == GF_ENOTFOUND) return GF_OK; /* the walk ends before it, or has its end in it */
    return st == GF_OK ? take_from_block(c, cell, live, err) : st;
}

/* The next cell of the open block; GF_OK and not *live: it has no more. */
static gf_status go_on_in_block(gf_leveldb_cells *c, gf_leveldb_cell *cell, bool *live,
                                gf_error *err)
{
    gf_status st =
        c->reverse ? gf_run_reader_previous(&c->block, err) : gf_run_reader_next(&c->block, err);
    c->in_block = st == GF_OK;
    if (st == GF_ENOTFOUND) return GF_OK;
    return st == GF_OK ? take_from_block(c, cell, live, err) : st;
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
    bool block = head.flags & GF_VALUE_IS_BLOCK;
    if (block && !c->family->run)
        return gf_fail(err, GF_ECORRUPT, "a block of a run where there is none");
    bool opens = block && !c->as_stored;
    *live = !opens && (!cell->expired || c->with_expired);
    if (!opens && (cell->expired || c->keys_only)) return GF_OK;
    gf_slice stored = head.first;
    if (gf_value_head_blocks(&head) > 1) {
        st = gather_blocks(c, &head, &cell->key, err);
        if (st == GF_OK)
            st = gf_leveldb_keys_parse(c->schema, gf_buffer_view(&c->place), &cell->key, err);
        stored = gf_buffer_view(&c->blocks);
    }
    if (st == GF_OK) st = gf_value_unpack(head.flags, stored, &c->unpacked, &cell->value, err);
    if (st == GF_OK && opens) return open_block(c, cell->value, cell, live, err);
    if (st == GF_OK && c->family->run && !c->as_stored)
        st = pass_edge(c, cell->key.head, cell->key.head, err);
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
        if (c->in_block) {
            st = go_on_in_block(c, cell, &live, err);
            continue;
        }
        if (move && c->reverse)
            step_back(c);
        else if (move)
            gf_leveldb_iterator_next(c->it);
        move = true;
        st = c->reverse ? look_back(c, cell, &live, err) : look_forward(c, cell, &live, err);
    }
    return st;
}
