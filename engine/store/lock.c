/* The write lock, activities, and clearing away what was cut short. */
#include "engine/store/lock.h"

#include "engine/rows/scan.h"
#include "engine/store/builds.h"
#include "engine/store/delete.h"

/* ---- activities ------------------------------------------------------------------------------ */

void gf_store_begin_activity(gf_store *s, gf_activity *a)
{
    a->next = s->active;
    s->active = a;
}

void gf_store_end_activity(gf_store *s, gf_activity *a)
{
    for (gf_activity **p = &s->active; *p; p = &(*p)->next)
        if (*p == a) {
            *p = a->next;
            return;
        }
}

bool gf_store_is_active(const gf_store *s, gf_slice key_start)
{
    for (const gf_activity *a = s->active; a; a = a->next)
        if (gf_slice_starts(a->key, key_start)) return true;
    return false;
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

/* A build that is served was published, whatever its progress says; another is dropped. */
static gf_status tidy_build(gf_store *s, gf_slice build_key, gf_batch *batch, gf_error *err)
{
    bool served;
    gf_status st = gf_build_is_served(s, build_key, &served, err);
    if (st != GF_OK || !served) return st == GF_OK ? gf_delete_build(s, build_key, batch, err) : st;
    gf_batch_delete_row(batch, s->tables.builds, build_key, 1u << GF_BUILDS_PROGRESS);
    return GF_OK;
}

static gf_status tidy(gf_store *s, gf_batch *batch, gf_buffer *keys, gf_error *err)
{
    gf_slice key;
    gf_status st = list_unfinished(s->tables.collections, GF_COLLECTIONS_PROGRESS, keys, err);
    for (gf_slice rest = gf_buffer_view(keys); st == GF_OK && gf_slice_take_string(&rest, &key);)
        if (!gf_store_is_active(s, key)) st = gf_delete_collection_rows(s, key, err);
    if (st == GF_OK) st = list_unfinished(s->tables.builds, GF_BUILDS_PROGRESS, keys, err);
    for (gf_slice rest = gf_buffer_view(keys); st == GF_OK && gf_slice_take_string(&rest, &key);)
        if (!gf_store_is_active(s, key)) st = tidy_build(s, key, batch, err);
    if (st == GF_OK) st = s->reclaim_tables(s, NULL, err);
    return st == GF_OK ? gf_batch_write(batch, GF_SYNC_ON, err) : st;
}

gf_status gf_store_lock(gf_store *s, gf_error *err)
{
    pthread_mutex_lock(&s->write_lock);
    if (s->tidy) return GF_OK;
    gf_batch *batch;
    gf_buffer keys = {0};
    gf_status st = gf_batch_create(s->db, &batch, err);
    if (st != GF_OK) return st;
    st = tidy(s, batch, &keys, err);
    s->tidy = st == GF_OK;
    gf_buffer_release(&keys);
    gf_batch_free(batch);
    return st;
}

void gf_store_unlock(gf_store *s)
{
    pthread_mutex_unlock(&s->write_lock);
}

void gf_store_leave_untidy(gf_store *s)
{
    pthread_mutex_lock(&s->write_lock);
    s->tidy = false;
    pthread_mutex_unlock(&s->write_lock);
}
