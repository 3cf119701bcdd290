/* Holds of collections, activities, and clearing away what was cut short. */
#include "engine/store/hold.h"

#include "base/memory.h"
#include "engine/rows/scan.h"
#include "engine/store/builds.h"
#include "engine/store/delete.h"

#include <stdlib.h>

/* ---- activities ------------------------------------------------------------------------------ */

void gf_store_begin_activity(gf_store *s, gf_activity *a)
{
    pthread_mutex_lock(&s->active_lock);
    a->next = s->active;
    s->active = a;
    pthread_mutex_unlock(&s->active_lock);
}

void gf_store_end_activity(gf_store *s, gf_activity *a)
{
    pthread_mutex_lock(&s->active_lock);
    gf_activity **at = &s->active;
    while (*at && *at != a)
        at = &(*at)->next;
    if (*at) *at = a->next;
    pthread_mutex_unlock(&s->active_lock);
}

bool gf_store_is_active(gf_store *s, gf_slice key_start)
{
    pthread_mutex_lock(&s->active_lock);
    const gf_activity *a = s->active;
    while (a && !gf_slice_starts(a->key, key_start))
        a = a->next;
    pthread_mutex_unlock(&s->active_lock);
    return a != NULL;
}

void gf_store_lower_to_active(gf_store *s, gf_slice key_start, uint64_t *seq)
{
    pthread_mutex_lock(&s->active_lock);
    for (const gf_activity *a = s->active; a; a = a->next)
        if (gf_slice_starts(a->key, key_start) && a->seq < *seq) *seq = a->seq;
    pthread_mutex_unlock(&s->active_lock);
}

uint64_t gf_store_count_active(gf_store *s)
{
    uint64_t n = 0;
    pthread_mutex_lock(&s->active_lock);
    for (const gf_activity *a = s->active; a; a = a->next)
        n += a->seq != 0; /* deletions have none */
    pthread_mutex_unlock(&s->active_lock);
    return n;
}

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

/* Is the mark still there? */
static gf_status is_marked(gf_table *table, unsigned family, gf_slice key, bool *marked,
                           gf_error *err)
{
    gf_row row = {0};
    gf_status st = gf_table_get(table, NULL, key, 1u << family, &row, err);
    gf_row_release(&row);
    *marked = st == GF_OK;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* The key of the collection's row that a key begins with. */
static gf_slice collection_of(gf_slice key)
{
    size_t name_space = gf_key_string_length(key);
    size_t collection = gf_key_string_length(gf_slice_skip(key, name_space));
    return gf_slice_of(key.ptr, name_space + collection);
}

/*
 * A mark that is still there while the collection is held, and is of no activity, is of nobody: then
 * *left. Of a build that is served it says nothing, since that was published: it is taken off.
 */
static gf_status look_at_mark(gf_store *s, gf_table *table, unsigned family, gf_slice key,
                              gf_batch *batch, bool *left, gf_error *err)
{
    gf_hold hold;
    gf_slice held = collection_of(key);
    bool marked = false, served = false;
    *left = false;
    gf_status st = gf_hold_take(s->tables.collections, &held, 1, &hold, err);
    if (st == GF_OK) st = is_marked(table, family, key, &marked, err);
    bool nobodys = st == GF_OK && marked && !gf_store_is_active(s, key);
    if (nobodys && table == s->tables.builds) st = gf_build_is_served(s, key, &served, err);
    if (st == GF_OK && served) {
        gf_batch_delete_row(batch, table, key, 1u << family);
        st = gf_batch_write(batch, GF_SYNC_ON, err);
    }
    gf_hold_let_go(&hold);
    *left = st == GF_OK && nobodys && !served;
    return st;
}

static gf_status tidy(gf_store *s, gf_batch *batch, gf_buffer *keys, gf_error *err)
{
    gf_slice key;
    gf_table *collections = s->tables.collections, *builds = s->tables.builds;
    bool left;
    gf_status st = list_unfinished(collections, GF_COLLECTIONS_PROGRESS, keys, err);
    for (gf_slice rest = gf_buffer_view(keys); st == GF_OK && gf_slice_take_string(&rest, &key);) {
        st = look_at_mark(s, collections, GF_COLLECTIONS_PROGRESS, key, batch, &left, err);
        if (st == GF_OK && left) st = gf_delete_collection_rows(s, key, err);
    }
    if (st == GF_OK) st = list_unfinished(builds, GF_BUILDS_PROGRESS, keys, err);
    for (gf_slice rest = gf_buffer_view(keys); st == GF_OK && gf_slice_take_string(&rest, &key);) {
        st = look_at_mark(s, builds, GF_BUILDS_PROGRESS, key, batch, &left, err);
        if (st == GF_OK && left) st = gf_delete_build(s, key, batch, err);
        if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    }
    return st == GF_OK ? s->reclaim_tables(s, NULL, err) : st;
}

gf_status gf_store_tidy(gf_store *s, gf_error *err)
{
    gf_batch *batch = NULL;
    gf_buffer keys = {0};
    gf_status st = GF_OK;
    if (atomic_load(&s->tidied) == atomic_load(&s->left_untidy)) return GF_OK;
    pthread_mutex_lock(&s->tidy_lock);
    uint64_t times = atomic_load(&s->left_untidy);
    if (atomic_load(&s->tidied) != times) {
        st = gf_batch_create(s->db, &batch, err);
        if (st == GF_OK) st = tidy(s, batch, &keys, err);
        if (st == GF_OK) atomic_store(&s->tidied, times);
    }
    gf_batch_free(batch);
    gf_buffer_release(&keys);
    pthread_mutex_unlock(&s->tidy_lock);
    return st;
}

void gf_store_leave_untidy(gf_store *s)
{
    atomic_fetch_add(&s->left_untidy, 1);
}

/* ---- holds ----------------------------------------------------------------------------------- */

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
        keys[i] = collection_of(rest);
        rest = gf_slice_skip(rest, keys[i].len);
    }
    return st;
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
    gf_status st = gf_store_tidy(s, err);
    if (st == GF_OK) st = write_keys(name_space, names, kept, &bytes, keys, err);
    if (st == GF_OK) st = gf_hold_take(s->tables.collections, keys, kept, hold, err);
    if (keys != &one) gf_free(keys);
    gf_buffer_release(&bytes);
    return st;
}
