/* Walking the cells of a family: versions, time to live, cut values, both directions. */
#include "storage/leveldb_internal.h"

#include "base/clock.h"
#include "base/memory.h"

gf_status gf_cells_open(gf_cells *c, gf_leveldb *b, const void *snapshot, unsigned table,
                        unsigned family, uint32_t versions, gf_error *err)
{
    *c = (gf_cells){.b = b, .versions = versions, .now = gf_clock_ms()};
    c->schema = gf_leveldb_schema(b, table);
    c->family = &c->schema->families[family];
    c->options = gf_leveldb_read_options(snapshot, false);
    c->it = c->options ? leveldb_create_iterator(b->db, c->options) : NULL;
    if (!c->it) {
        gf_cells_close(c);
        return gf_fail_memory(err, "a scan");
    }
    return GF_OK;
}

void gf_cells_close(gf_cells *c)
{
    if (c->it) leveldb_iter_destroy(c->it);
    if (c->options) leveldb_readoptions_destroy(c->options);
    gf_buffer_release(&c->lower);
    gf_buffer_release(&c->upper);
    gf_buffer_release(&c->last);
    gf_buffer_release(&c->blocks);
    gf_buffer_release(&c->unpacked);
    gf_buffer_release(&c->place);
    *c = (gf_cells){0};
}

static void seek(gf_cells *c, gf_slice key)
{
    leveldb_iter_seek(c->it, key.ptr, key.len);
}

static bool in_range(const gf_cells *c)
{
    if (!leveldb_iter_valid(c->it)) return false;
    gf_slice key = gf_leveldb_iterator_key(c->it);
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

/* The iterator has left the range: the end, or an error that it ran into. */
static gf_status ended(gf_cells *c, gf_error *err)
{
    gf_status st = gf_leveldb_iterator_status(c->it, err);
    return st == GF_OK ? GF_ENOTFOUND : st;
}

/* Append the further blocks of the value whose head the iterator is at; it moves to the last. */
static gf_status gather(gf_cells *c, const gf_value_head *head, gf_slice head_key, gf_error *err)
{
    gf_buffer_reset(&c->blocks);
    gf_buffer_slice(&c->blocks, head->first);
    gf_buffer_reset(&c->place);
    gf_buffer_slice(&c->place, head_key);
    gf_status st = gf_buffer_check(&c->place, err);
    gf_slice wanted = gf_buffer_view(&c->place);
    for (uint32_t i = 1; i < gf_value_head_blocks(head) && st == GF_OK; i++) {
        leveldb_iter_next(c->it);
        gf_physical_key key = {0};
        if (!leveldb_iter_valid(c->it)) {
            st = ended(c, err);
            if (st == GF_ENOTFOUND) st = gf_fail(err, GF_ECORRUPT, "a cut value has no end");
        } else {
            st = gf_physical_parse(c->schema, gf_leveldb_iterator_key(c->it), &key, err);
        }
        if (st == GF_OK && (key.block != i || !gf_slice_equal(key.head, wanted)))
            st = gf_fail(err, GF_ECORRUPT, "block %u of a cut value is missing", i);
        if (st == GF_OK) gf_buffer_slice(&c->blocks, gf_leveldb_iterator_value(c->it));
    }
    if (st == GF_OK) st = gf_buffer_check(&c->blocks, err);
    if (st == GF_OK && c->blocks.len != head->length)
        st = gf_fail(err, GF_ECORRUPT, "a cut value has another length than its head says");
    return st;
}

static bool expired(const gf_cells *c, int64_t timestamp)
{
    uint64_t ttl = c->family->ttl_seconds;
    return ttl && timestamp < c->now && (uint64_t)(c->now - timestamp) / 1000 >= ttl;
}

/*
 * Read the value at the iterator, whose key was taken apart. The key's slices point into the
 * iterator, so where it has to move on they are copied to `place` and parsed there again.
 */
static gf_status read_value(gf_cells *c, gf_found_cell *cell, bool *live, gf_error *err)
{
    gf_value_head head;
    gf_status st = gf_value_read_head(gf_leveldb_iterator_value(c->it), &head, err);
    if (st != GF_OK) return st;
    cell->timestamp = head.timestamp;
    *live = !expired(c, head.timestamp);
    cell->value = (gf_slice){0};
    if (!*live || c->keys_only) return GF_OK;
    gf_slice stored = head.first;
    if (gf_value_head_blocks(&head) > 1) {
        st = gather(c, &head, cell->key.head, err);
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
    if (!gf_slice_equal(cell, gf_buffer_view(&c->last))) {
        gf_buffer_reset(&c->last);
        gf_buffer_slice(&c->last, cell);
        c->seen = 0;
    }
    *wanted = c->seen++ < c->versions;
    return gf_buffer_check(&c->last, err);
}

static gf_status next_forward(gf_cells *c, gf_found_cell *cell, gf_error *err)
{
    /* The iterator rests on the entry given last, whose bytes the caller may still have used. */
    if (c->started)
        leveldb_iter_next(c->it);
    else {
        gf_status st = start(c, err);
        if (st != GF_OK) return st;
    }
    for (;; leveldb_iter_next(c->it)) {
        if (!in_range(c)) return ended(c, err);
        bool wanted = false, live = false;
        gf_status st =
            gf_physical_parse(c->schema, gf_leveldb_iterator_key(c->it), &cell->key, err);
        if (st == GF_OK && cell->key.block) continue;
        if (st == GF_OK) st = wanted_version(c, cell->key.cell, &wanted, err);
        if (st == GF_OK && wanted) st = read_value(c, cell, &live, err);
        if (st != GF_OK || live) return st;
    }
}

/* Move to the entry before the cell whose start `last` holds. */
static void step_back(gf_cells *c)
{
    seek(c, gf_buffer_view(&c->last));
    if (leveldb_iter_valid(c->it))
        leveldb_iter_prev(c->it);
    else
        leveldb_iter_seek_to_last(c->it);
}

/*
 * Backwards the iterator meets a cell's blocks and oldest version first. So it goes to the cell's
 * first entry, reads from there as forwards, and later steps back from that first entry.
 */
static gf_status next_reverse(gf_cells *c, gf_found_cell *cell, gf_error *err)
{
    gf_status st = GF_OK;
    if (c->started)
        step_back(c);
    else
        st = start(c, err);
    for (; st == GF_OK; step_back(c)) {
        if (!in_range(c)) return ended(c, err);
        bool live = false;
        gf_slice key = gf_leveldb_iterator_key(c->it);
        st = gf_physical_parse(c->schema, key, &cell->key, err);
        if (st != GF_OK) break;
        bool at_first = !gf_family_has_versions(c->family) && cell->key.block == 0;
        gf_buffer_reset(&c->last);
        gf_buffer_slice(&c->last, cell->key.cell);
        st = gf_buffer_check(&c->last, err);
        if (st == GF_OK && !at_first) {
            seek(c, gf_buffer_view(&c->last));
            if (!leveldb_iter_valid(c->it)) return ended(c, err);
            st = gf_physical_parse(c->schema, gf_leveldb_iterator_key(c->it), &cell->key, err);
        }
        if (st == GF_OK && cell->key.block == 0) st = read_value(c, cell, &live, err);
        if (st != GF_OK || live) return st;
    }
    return st;
}

gf_status gf_cells_next(gf_cells *c, gf_found_cell *cell, gf_error *err)
{
    return c->reverse ? next_reverse(c, cell, err) : next_forward(c, cell, err);
}
