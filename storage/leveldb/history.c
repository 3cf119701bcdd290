/*
 * Families that keep several versions: what a cell (of a packed family: a row) has been is read
 * into memory, changed there, cut to the number that is kept, and what differs is written.
 *
 *     versions   newest first; each the columns of a packed row as they were at its time, or of a
 *                wide cell one column without a name
 *     put at t   version t gets the column; where there is none, it starts as a copy of the newest
 *                version before t
 *     delete     the column goes from every version; where the newest has none left, all are gone
 *
 * A version without columns is none: one that is past its time to live, or to be deleted.
 */
#include "storage/leveldb/cells.h"
#include "storage/leveldb/writing.h"

#include <assert.h>

typedef struct version {
    int64_t timestamp;
    gf_packed columns;
    bool stored, changed;
} version;

typedef struct history {
    gf_leveldb_writing *w;
    const gf_leveldb_run *run;
    version *versions; /* n of capacity, in w->run_arena */
    size_t n, capacity;
    int64_t untimed; /* the time of the last put that gave none; 0 before the first */
} history;

enum { FIRST_VERSIONS = 4 };

/* ---- the list -------------------------------------------------------------------------------- */

/* A new version at index `at`, without columns. */
static gf_status insert_version(history *h, size_t at, int64_t timestamp, gf_error *err)
{
    if (h->n == h->capacity) {
        size_t capacity = h->capacity ? h->capacity * 2 : FIRST_VERSIONS;
        version *versions = gf_arena_alloc(&h->w->run_arena, capacity * sizeof *versions);
        if (!versions) return gf_fail_memory(err, "versions");
        if (h->n) memcpy(versions, h->versions, h->n * sizeof *versions);
        h->versions = versions;
        h->capacity = capacity;
    }
    assert(at == 0 || h->versions[at - 1].timestamp >= timestamp); /* newest first */
    assert(at == h->n || h->versions[at].timestamp <= timestamp);
    memmove(h->versions + at + 1, h->versions + at, (h->n++ - at) * sizeof *h->versions);
    h->versions[at] = (version){.timestamp = timestamp};
    h->versions[at].columns = (gf_packed){.family = h->run->schema, .arena = &h->w->run_arena};
    return GF_OK;
}

static gf_status copy_columns(const gf_packed *from, gf_packed *to, gf_error *err)
{
    gf_status st = GF_OK;
    gf_packed_clear(to);
    for (size_t i = 0; i < from->n && st == GF_OK; i++)
        st = gf_packed_set(to, from->columns[i].name, from->columns[i].value, err);
    return st;
}

/* The first version from index `at` on that is one; h->n where there is none. */
static size_t next_live(const history *h, size_t at)
{
    while (at < h->n && h->versions[at].columns.n == 0)
        at++;
    return at;
}

/* The version of that time, made from the one before it where there is none. */
static gf_status version_at(history *h, int64_t timestamp, version **v, gf_error *err)
{
    size_t i = 0;
    gf_status st = GF_OK;
    while (i < h->n && h->versions[i].timestamp > timestamp)
        i++;
    if (i == h->n || h->versions[i].timestamp != timestamp)
        st = insert_version(h, i, timestamp, err);
    size_t before = next_live(h, i);
    if (st == GF_OK && before != i && before < h->n)
        st = copy_columns(&h->versions[before].columns, &h->versions[i].columns, err);
    if (st != GF_OK) return st;
    *v = &h->versions[i];
    (*v)->changed = true;
    return GF_OK;
}

/* Now, or behind the newest version, unless that is of a put of this batch without a time, too. */
static int64_t time_of(history *h, const gf_change *c)
{
    size_t newest = next_live(h, 0);
    if (c->timestamp) return c->timestamp;
    int64_t last = newest < h->n ? h->versions[newest].timestamp : INT64_MIN;
    if (h->untimed && last == h->untimed) return last;
    h->untimed = h->w->now;
    if (last >= h->untimed) h->untimed = last + (last < INT64_MAX);
    return h->untimed;
}

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status load_columns(history *h, gf_slice value, gf_packed *columns, gf_error *err)
{
    gf_slice kept = gf_arena_copy(&h->w->run_arena, value);
    if (!kept.ptr) return gf_fail_memory(err, "versions");
    if (h->run->schema->layout == GF_LAYOUT_WIDE)
        return gf_packed_set(columns, GF_SLICE(""), kept, err);
    gf_packed_reader reader = {.family = h->run->schema, .rest = kept};
    for (;;) {
        gf_column c;
        gf_status st = gf_packed_next(&reader, &c, err);
        if (st == GF_OK) st = gf_packed_set(columns, c.name, c.value, err);
        if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
    }
}

/* A version past its time to live counts as absent, and is in the list only to be deleted. */
static gf_status load_versions(history *h, gf_leveldb_cells *cells, gf_error *err)
{
    for (;;) {
        gf_leveldb_cell cell;
        gf_status st = gf_leveldb_cells_next(cells, &cell, err);
        if (st == GF_OK) st = insert_version(h, h->n, cell.timestamp, err);
        if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
        version *v = &h->versions[h->n - 1];
        v->stored = true;
        if (!cell.expired) st = load_columns(h, cell.value, &v->columns, err);
        if (st != GF_OK) return st;
    }
}

static gf_status load_history(history *h, gf_error *err)
{
    gf_leveldb_cells cells;
    const gf_leveldb_run *run = h->run;
    gf_leveldb *b = h->w->b;
    gf_status st = gf_leveldb_entries_key(h->w, run, err);
    if (st != GF_OK || run->emptied) return st;
    gf_leveldb_cells_open(&cells, b, NULL, true, run->table, run->family, UINT32_MAX);
    cells.with_expired = true;
    gf_leveldb_cells_within(&cells, gf_buffer_view(&h->w->key));
    st = load_versions(h, &cells, err);
    gf_leveldb_cells_close(&cells);
    return st;
}

/* ---- changing -------------------------------------------------------------------------------- */

static void delete_all(history *h)
{
    for (size_t i = 0; i < h->n; i++)
        gf_packed_clear(&h->versions[i].columns);
}

static void delete_column(history *h, gf_slice name)
{
    size_t newest = next_live(h, 0);
    for (size_t i = 0; i < h->n; i++)
        if (gf_packed_remove(&h->versions[i].columns, name)) h->versions[i].changed = true;
    if (newest < h->n && h->versions[newest].columns.n == 0) delete_all(h);
}

static gf_status replace_columns(history *h, const gf_change *c, gf_error *err)
{
    version *v;
    if (c->n_columns == 0) {
        delete_all(h);
        return GF_OK;
    }
    gf_status st = version_at(h, time_of(h, c), &v, err);
    if (st == GF_OK) gf_packed_clear(&v->columns);
    for (size_t i = 0; i < c->n_columns && st == GF_OK; i++)
        st = gf_packed_set(&v->columns, c->columns[i].name, c->columns[i].value, err);
    return st;
}

/*
 * Keep the newest versions that are not past their time. Done at every step, so that a batch has
 * the same result as single writes.
 */
static void prune_versions(history *h)
{
    const gf_family *family = h->run->schema;
    uint32_t kept = 0;
    for (size_t i = next_live(h, 0); i < h->n; i = next_live(h, i + 1)) {
        version *v = &h->versions[i];
        bool lives = !gf_leveldb_cells_are_expired(family, v->timestamp, h->w->now);
        if (!lives || ++kept > family->versions) gf_packed_clear(&v->columns);
    }
}

static gf_status apply_change(history *h, const gf_change *c, gf_error *err)
{
    bool wide = h->run->schema->layout == GF_LAYOUT_WIDE;
    gf_slice name = wide ? GF_SLICE("") : c->qualifier;
    version *v;
    if (c->kind == GF_CHANGE_REPLACE) return replace_columns(h, c, err);
    if (c->kind == GF_CHANGE_DELETE_CELL) {
        delete_column(h, name);
        return GF_OK;
    }
    gf_status st = version_at(h, time_of(h, c), &v, err);
    return st == GF_OK ? gf_packed_set(&v->columns, name, c->value, err) : st;
}

/* ---- writing --------------------------------------------------------------------------------- */

static gf_status write_version(history *h, version *v, gf_error *err)
{
    gf_leveldb_writing *w = h->w;
    gf_slice value = v->columns.n ? v->columns.columns[0].value : (gf_slice){0};
    if (h->run->schema->layout == GF_LAYOUT_PACKED) {
        gf_buffer_reset(&w->packed);
        gf_packed_write(&v->columns, &w->packed);
        gf_status st = gf_buffer_check(&w->packed, err);
        if (st != GF_OK) return st;
        value = gf_buffer_view(&w->packed);
    }
    return gf_leveldb_entries_put(w, h->run, value, v->timestamp, err);
}

static gf_status write_versions(history *h, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < h->n && st == GF_OK; i++) {
        version *v = &h->versions[i];
        bool stays = v->columns.n > 0;
        if (stays ? !v->changed : !v->stored) continue;
        st = gf_leveldb_entries_version_key(h->w, h->run, v->timestamp, err);
        if (st != GF_OK) break;
        st = stays ? write_version(h, v, err) : gf_leveldb_entries_delete(h->w, h->run, err);
    }
    return st;
}

gf_status gf_leveldb_history_apply(gf_leveldb_writing *w, const gf_leveldb_run *run, gf_error *err)
{
    history h = {.w = w, .run = run};
    gf_arena_reset(&w->run_arena);
    gf_status st = load_history(&h, err);
    for (const gf_leveldb_ordered *c = run->first; c < run->end && st == GF_OK; c++) {
        st = apply_change(&h, c->change, err);
        prune_versions(&h);
    }
    return st == GF_OK ? write_versions(&h, err) : st;
}
