/* Holds of collections, and clearing away what was cut short. */
#include "engine/store/hold.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/scan.h"
#include "engine/store/builds.h"
#include "engine/store/delete.h"
#include "engine/store/lease.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- interrupted work ------------------------------------------------------------------------ */

static gf_status note_key(void *context, const gf_row *row, gf_error *err)
{
    gf_buffer_string(context, row->key);
    return gf_buffer_check(context, err);
}

/* The row keys of a progress family; each is a varint length and its bytes. */
static gf_status list_unfinished(gf_table *table, unsigned family, gf_buffer *keys, gf_error *err)
{
    gf_scan_options o = GF_SCAN_OPTIONS(.family = family, .keys_only = true);
    gf_buffer_reset(keys);
    return gf_scan_each(table, &o, note_key, keys, err);
}

typedef struct mark {
    bool there;
    bool dropped;               /* what it names was deleted, and is to be once more */
    uint64_t since;             /* when it was first seen, by the database's clock; 0: not yet */
    char owner[GF_OWNER_BYTES]; /* empty where none is named */
} mark;

static gf_status read_mark(gf_table *table, unsigned family, gf_slice key, mark *m, gf_error *err)
{
    gf_row row = {0};
    gf_status st = gf_table_get(table, NULL, key, 1u << family, &row, err);
    *m = (mark){.there = st == GF_OK};
    const gf_cell *owner = st == GF_OK ? gf_row_find(&row, family, "owner") : NULL;
    const gf_cell *state = st == GF_OK ? gf_row_find(&row, family, "state") : NULL;
    const gf_cell *since = st == GF_OK ? gf_row_find(&row, family, "since") : NULL;
    if (owner) snprintf(m->owner, sizeof m->owner, "%.*s", GF_SLICE_ARG(owner->value));
    if (since) gf_rows_cell_number(since, &m->since);
    m->dropped = state && gf_slice_equal(state->value, GF_SLICE("dropped"));
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* One search of the store for work that was cut short. */
typedef struct tidying {
    gf_store *s;
    gf_batch *batch;
    gf_buffer keys;  /* as list_unfinished has them */
    gf_buffer stuck; /* collections whose batch cannot be finished */
    uint64_t now;    /* where rows hold themselves, the database's time (ms); 0: not asked yet */
} tidying;

/* The database gives its time to a cell that is put without one, as in storage/journal.h. */
static gf_status learn_time(tidying *t, gf_error *err)
{
    gf_row row = {0};
    gf_slice key = gf_tables_batches_key();
    gf_table *collections = t->s->tables.collections;
    if (t->now || !t->keys.len || !gf_database_holds_in_rows(t->s->db)) return GF_OK;
    gf_batch_put(t->batch, collections, key, GF_COLLECTIONS_HOLD, GF_SLICE("clock"), GF_SLICE("-"),
                 0);
    gf_status st = gf_batch_write(t->batch, GF_SYNC_OFF, err);
    if (st == GF_OK)
        st = gf_table_get(collections, NULL, key, 1u << GF_COLLECTIONS_HOLD, &row, err);
    const gf_cell *cell = st == GF_OK ? gf_row_find(&row, GF_COLLECTIONS_HOLD, "clock") : NULL;
    if (cell) t->now = (uint64_t)cell->timestamp;
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* Views, which have no snapshots, and late writes have that long. */
static bool is_young(const tidying *t, const mark *m)
{
    return m->since && (double)t->now < (double)m->since + t->s->grace * 1e3;
}

/* So processes that live for moments know how long it has been there, too. */
static gf_status note_since(const tidying *t, gf_table *table, unsigned family, gf_slice key,
                            gf_error *err)
{
    gf_number_digits digits;
    gf_batch_put(t->batch, table, key, family, GF_SLICE("since"), gf_number_write(&digits, t->now),
                 0);
    return gf_batch_write(t->batch, GF_SYNC_ON, err);
}

/* In a shared store the mark gets this process for its owner: whoever had it can write no more. */
static gf_status take_mark(gf_store *s, gf_table *table, unsigned family, gf_slice key,
                           bool dropped, gf_batch *batch, gf_error *err)
{
    char owner[GF_OWNER_BYTES];
    if (!gf_store_is_shared(s)) return GF_OK;
    bool of_build = table == s->tables.builds;
    gf_store_name_owner(s, owner);
    gf_column columns[] = {{GF_SLICE("state"), dropped    ? GF_SLICE("dropped")
                                               : of_build ? GF_SLICE("dropping")
                                                          : GF_SLICE("deleting")},
                           {GF_SLICE("owner"), gf_slice_str(owner)}};
    gf_batch_replace(batch, table, key, family, columns, 2, 0);
    return gf_batch_write(batch, GF_SYNC_ON, err);
}

/* A mark as a walk over them finds it. */
typedef struct leaving {
    bool left;
    gf_deleter by; /* if so: this process, whose mark it is now */
    char owner[GF_OWNER_BYTES];
} leaving;

/* The collection is held. */
static gf_status judge_mark(const tidying *t, gf_table *table, unsigned family, gf_slice key,
                            leaving *l, gf_error *err)
{
    mark m = {0};
    gf_store *s = t->s;
    bool living = false, by_age = false, served = false;
    gf_status st = read_mark(table, family, key, &m, err);
    if (st == GF_OK && m.there)
        st = gf_lease_stands_behind(s, key, gf_slice_str(m.owner), &living, &by_age, err);
    if (st == GF_OK && by_age) {
        bool first = !m.since;
        if (first) m.since = t->now;
        living = is_young(t, &m);
        if (first && living) st = note_since(t, table, family, key, err);
    }
    if (st != GF_OK || !m.there || living) return st;
    if (table == s->tables.builds) st = gf_build_is_served(s, key, &served, err);
    if (st == GF_OK && served) {
        gf_batch_delete_row(t->batch, table, key, 1u << family);
        st = gf_batch_write(t->batch, GF_SYNC_ON, err);
    } else if (st == GF_OK) {
        st = take_mark(s, table, family, key, m.dropped, t->batch, err);
        l->left = st == GF_OK;
        l->by = (gf_deleter){gf_slice_str(l->owner), gf_hold_stamp(s->db), m.dropped, t->now};
    }
    return st;
}

static bool is_stuck(const tidying *t, gf_slice key)
{
    gf_slice rest = gf_buffer_view(&t->stuck), one;
    while (gf_slice_take_string(&rest, &one))
        if (gf_slice_equal(one, gf_lease_collection(key))) return true;
    return false;
}

/*
 * A mark that is still there while the collection is held, and has no living lease behind it, is of
 * nobody: then it is left. Of a build that is served it says nothing, since that was published: it
 * is taken off. Nothing is held for one that stays for its age.
 */
static gf_status look_at_mark(const tidying *t, gf_table *table, unsigned family, gf_slice key,
                              leaving *l, gf_error *err)
{
    gf_hold hold;
    mark m = {0};
    gf_store *s = t->s;
    gf_slice held = gf_lease_collection(key);
    gf_status st = GF_OK;
    l->left = false;
    if (is_stuck(t, key)) return GF_OK;
    if (gf_database_holds_in_rows(s->db)) st = read_mark(table, family, key, &m, err);
    if (st != GF_OK || is_young(t, &m)) return st;
    gf_store_name_owner(s, l->owner);
    st = gf_hold_take(s->tables.collections, &held, 1, &hold, err);
    if (st == GF_OK) st = judge_mark(t, table, family, key, l, err);
    gf_hold_let_go(&hold);
    return st;
}

/*
 * A batch that was cut short is finished by whoever holds its collection next. One that cannot be is in
 * the way of its collection alone: `stuck` gets those keys. NULL: the first failure ends it.
 */
static gf_status finish_batches(gf_store *s, gf_buffer *keys, gf_buffer *stuck, gf_error *err)
{
    gf_hold hold;
    gf_slice key;
    if (!gf_database_holds_in_rows(s->db)) return GF_OK;
    gf_status st = list_unfinished(s->tables.collections, GF_COLLECTIONS_JOURNAL, keys, err);
    for (gf_slice rest = gf_buffer_view(keys); st == GF_OK && gf_slice_take_string(&rest, &key);) {
        st = gf_hold_take(s->tables.collections, &key, 1, &hold, stuck ? NULL : err);
        gf_hold_let_go(&hold);
        if (st == GF_OK || !stuck) continue;
        gf_buffer_string(stuck, key);
        st = gf_buffer_check(stuck, err);
    }
    return st;
}

/* Cells of leases that ended; behind all marks, so that the work they stood for is gone. */
static gf_status tidy_leases(tidying *t, gf_error *err)
{
    gf_hold hold;
    gf_slice key;
    gf_table *collections = t->s->tables.collections;
    gf_status st = list_unfinished(collections, GF_COLLECTIONS_LEASES, &t->keys, err);
    for (gf_slice rest = gf_buffer_view(&t->keys);
         st == GF_OK && gf_slice_take_string(&rest, &key);) {
        if (is_stuck(t, key)) continue;
        st = gf_hold_take(collections, &key, 1, &hold, err);
        if (st == GF_OK) st = gf_lease_clear(t->s, key, t->batch, err);
        gf_hold_let_go(&hold);
    }
    return st;
}

static gf_status tidy_marks(tidying *t, gf_table *table, unsigned family, gf_error *err)
{
    gf_slice key;
    leaving l;
    bool of_builds = table == t->s->tables.builds;
    gf_status st = list_unfinished(table, family, &t->keys, err);
    if (st == GF_OK) st = learn_time(t, err);
    for (gf_slice rest = gf_buffer_view(&t->keys);
         st == GF_OK && gf_slice_take_string(&rest, &key);) {
        st = look_at_mark(t, table, family, key, &l, err);
        if (st == GF_OK && l.left)
            st = of_builds ? gf_delete_build(t->s, key, &l.by, t->batch, err)
                           : gf_delete_collection_rows(t->s, key, &l.by, err);
        if (st == GF_OK) st = gf_batch_write(t->batch, GF_SYNC_ON, err);
    }
    return st;
}

static gf_status tidy(tidying *t, gf_error *err)
{
    gf_store *s = t->s;
    gf_status st = finish_batches(s, &t->keys, &t->stuck, err);
    if (st == GF_OK) st = tidy_marks(t, s->tables.collections, GF_COLLECTIONS_PROGRESS, err);
    if (st == GF_OK) st = tidy_marks(t, s->tables.builds, GF_BUILDS_PROGRESS, err);
    if (st == GF_OK) st = tidy_leases(t, err);
    return st == GF_OK ? s->reclaim_tables(s, NULL, err) : st;
}

/* Others may have left something in a shared store, and it is looked for now and then. */
static bool is_due(gf_store *s)
{
    if (atomic_load(&s->tidied) != atomic_load(&s->left_untidy)) return true;
    return gf_store_is_shared(s) &&
           (uint64_t)(gf_clock_seconds() * 1e3) >= atomic_load(&s->look_again);
}

gf_status gf_store_tidy(gf_store *s, gf_error *err)
{
    tidying t = {.s = s};
    gf_status st = GF_OK;
    if (!is_due(s)) return GF_OK;
    pthread_mutex_lock(&s->tidy_lock);
    uint64_t times = atomic_load(&s->left_untidy);
    if (is_due(s)) {
        st = gf_batch_create(s->db, &t.batch, err);
        if (st == GF_OK) st = tidy(&t, err);
        if (st == GF_OK) {
            atomic_store(&s->look_again, (uint64_t)((gf_clock_seconds() + s->patience) * 1e3));
            atomic_store(&s->tidied, times);
        }
    }
    gf_batch_free(t.batch);
    gf_buffer_release(&t.keys);
    gf_buffer_release(&t.stuck);
    pthread_mutex_unlock(&s->tidy_lock);
    return st;
}

void gf_store_leave_untidy(gf_store *s)
{
    atomic_fetch_add(&s->left_untidy, 1);
}

/* ---- holds ----------------------------------------------------------------------------------- */

gf_status gf_hold_batches(gf_store *s, gf_hold *hold, gf_error *err)
{
    gf_slice key = gf_tables_batches_key();
    *hold = (gf_hold){0};
    if (!gf_database_holds_in_rows(s->db)) return GF_OK;
    return gf_hold_take(s->tables.collections, &key, 1, hold, err);
}

gf_status gf_store_finish_batches(gf_store *s, gf_error *err)
{
    return gf_hold_finish(s->db, gf_tables_batches_key(), err);
}

gf_status gf_store_finish_all_batches(gf_store *s, gf_error *err)
{
    gf_buffer keys = {0};
    gf_status st = finish_batches(s, &keys, NULL, err);
    gf_buffer_release(&keys);
    return st;
}

gf_status gf_hold_collection(gf_store *s, gf_place where, gf_hold *hold, gf_error *err)
{
    return gf_hold_collections(s, where.name_space, &where.collection, 1, hold, err);
}

static int by_name(const void *a, const void *b)
{
    return gf_slice_compare(*(const gf_slice *)a, *(const gf_slice *)b);
}

/* Keys of the rows, in the order of the names, which is that of the keys. */
static gf_status write_keys(gf_slice name_space, const gf_slice *names, size_t n, gf_buffer *bytes,
                            gf_slice *keys, gf_error *err)
{
    for (size_t i = 0; i < n; i++)
        gf_tables_collection_key(bytes, name_space, names[i]);
    gf_status st = gf_buffer_check(bytes, err);
    gf_slice rest = gf_buffer_view(bytes);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        keys[i] = gf_lease_collection(rest);
        rest = gf_slice_skip(rest, keys[i].len);
    }
    return st;
}

/* Documents, changes and numbers are written as one, and builds are made of one state. */
static gf_status check_able(const gf_store *s, gf_error *err)
{
    enum { NEEDED = GF_BACKEND_BATCH | GF_BACKEND_SNAPSHOT };
    unsigned capabilities = gf_database_capabilities(s->db);
    if ((capabilities & NEEDED) == NEEDED || gf_database_holds_in_rows(s->db)) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "this store keeps no collections: its database cannot write "
                   "several rows as one, or has no snapshots");
}

gf_status gf_hold_collections(gf_store *s, gf_slice name_space, gf_slice *names, size_t n,
                              gf_hold *hold, gf_error *err)
{
    gf_slice one, *keys = n > 1 ? gf_array(n, sizeof *keys) : &one;
    gf_buffer bytes = {0};
    size_t kept = 0;
    *hold = (gf_hold){0};
    if (!keys) return gf_fail_memory(err, "a hold");
    if (n > 1) qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !gf_slice_equal(names[kept - 1], names[i])) names[kept++] = names[i];
    gf_status st = check_able(s, err);
    if (st == GF_OK) st = gf_store_tidy(s, err);
    if (st == GF_OK) st = write_keys(name_space, names, kept, &bytes, keys, err);
    if (st == GF_OK) st = gf_hold_take(s->tables.collections, keys, kept, hold, err);
    if (keys != &one) gf_free(keys);
    gf_buffer_release(&bytes);
    return st;
}
