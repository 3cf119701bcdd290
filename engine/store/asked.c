#include "engine/store/asked.h"

#include "engine/rows/scan.h"

#define PREFIX "task:"

static gf_status task_key(gf_slice name_space, gf_slice id, gf_buffer *key, gf_error *err)
{
    gf_buffer name = {0};
    gf_buffer_str(&name, PREFIX);
    gf_buffer_slice(&name, id);
    gf_status st = gf_buffer_check(&name, err);
    if (st == GF_OK) gf_tables_collection_key(key, name_space, gf_buffer_view(&name));
    gf_buffer_release(&name);
    return st == GF_OK ? gf_buffer_check(key, err) : st;
}

gf_status gf_asked_write(gf_store *s, gf_slice name_space, gf_slice id, const gf_slice *was,
                         gf_slice owner, gf_slice task, gf_error *err)
{
    gf_batch *batch = NULL;
    gf_buffer key = {0};
    gf_status st = task_key(name_space, id, &key, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK) {
        gf_table *t = s->tables.tables;
        gf_slice row = gf_buffer_view(&key);
        gf_batch_put(batch, t, row, GF_TABLES_PROGRESS, GF_SLICE("owner"), owner, 0);
        gf_batch_put(batch, t, row, GF_TABLES_PROGRESS, GF_SLICE("task"), task, 0);
        st = gf_batch_write_if(batch, t, row, GF_TABLES_PROGRESS, GF_SLICE("owner"), was,
                               GF_SYNC_ON, err);
    }
    gf_batch_free(batch);
    gf_buffer_release(&key);
    return st;
}

static gf_status change(gf_store *s, gf_slice name_space, gf_slice id, bool cancels, gf_error *err)
{
    gf_batch *batch = NULL;
    gf_buffer key = {0};
    gf_status st = task_key(name_space, id, &key, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK && cancels)
        gf_batch_put(batch, s->tables.tables, gf_buffer_view(&key), GF_TABLES_PROGRESS,
                     GF_SLICE("cancel"), GF_SLICE("1"), 0);
    else if (st == GF_OK)
        gf_batch_delete_row(batch, s->tables.tables, gf_buffer_view(&key),
                            1u << GF_TABLES_PROGRESS);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    return st;
}

gf_status gf_asked_cancel(gf_store *s, gf_slice name_space, gf_slice id, gf_error *err)
{
    return change(s, name_space, id, true, err);
}

gf_status gf_asked_delete(gf_store *s, gf_slice name_space, gf_slice id, gf_error *err)
{
    return change(s, name_space, id, false, err);
}

typedef struct visiting {
    gf_visit_asked *visit;
    void *context;
    gf_buffer name_space, name;
    bool found;
} visiting;

static gf_status visit_row(void *context, const gf_row *row, gf_error *err)
{
    visiting *v = context;
    gf_slice key = row->key;
    const gf_cell *owner = gf_row_find(row, GF_TABLES_PROGRESS, "owner");
    const gf_cell *task = gf_row_find(row, GF_TABLES_PROGRESS, "task");
    gf_buffer_reset(&v->name_space);
    gf_buffer_reset(&v->name);
    if (!owner || !task) return GF_OK; /* a drop, a copy */
    gf_key_take_string(&key, &v->name_space);
    gf_key_take_string(&key, &v->name);
    gf_status st = gf_buffer_check(&v->name_space, err);
    if (st == GF_OK) st = gf_buffer_check(&v->name, err);
    if (st != GF_OK || !gf_slice_starts(gf_buffer_view(&v->name), GF_SLICE(PREFIX))) return st;
    v->found = true;
    gf_asked_task a = {.name_space = gf_buffer_view(&v->name_space),
                       .id = gf_slice_skip(gf_buffer_view(&v->name), sizeof PREFIX - 1),
                       .owner = owner->value,
                       .task = task->value,
                       .cancel = gf_row_find(row, GF_TABLES_PROGRESS, "cancel") != NULL};
    return v->visit(v->context, &a, err);
}

static void release_visiting(visiting *v)
{
    gf_buffer_release(&v->name_space);
    gf_buffer_release(&v->name);
}

gf_status gf_asked_visit(gf_store *s, gf_visit_asked *visit, void *context, gf_error *err)
{
    visiting v = {.visit = visit, .context = context};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_TABLES_PROGRESS);
    gf_status st = gf_scan_each(s->tables.tables, &o, visit_row, &v, err);
    release_visiting(&v);
    return st;
}

gf_status gf_asked_read(gf_store *s, gf_slice name_space, gf_slice id, gf_visit_asked *visit,
                        void *context, gf_error *err)
{
    visiting v = {.visit = visit, .context = context};
    gf_buffer key = {0};
    gf_row row = {0};
    gf_status st = task_key(name_space, id, &key, err);
    if (st == GF_OK)
        st = gf_table_get(s->tables.tables, NULL, gf_buffer_view(&key), 1u << GF_TABLES_PROGRESS,
                          &row, err);
    if (st == GF_OK) st = visit_row(&v, &row, err);
    if (st == GF_OK && !v.found) st = GF_ENOTFOUND;
    gf_row_release(&row);
    gf_buffer_release(&key);
    release_visiting(&v);
    return st;
}
