/*
 * The table of tables after damage.
 *
 * A counter that was lost would begin again: a new table would get a name that rows lie under. So it
 * is raised above every name that the table of tables or the database's catalogue knows.
 */
#include "engine/user_tables/user_tables_internal.h"

#include "base/number.h"
#include "engine/rows/scan.h"
#include "storage/backend.h"

#define PREFIX "user:"

typedef struct mending {
    gf_store *store;
    gf_batch *batch;
    bool drops;
    gf_strings *there, *gone;
    uint64_t highest;
    gf_buffer names[2];
} mending;

static gf_status note_id(mending *m, gf_slice id, gf_strings *to, gf_error *err)
{
    uint64_t number;
    uint32_t at;
    if (!gf_slice_starts(id, GF_SLICE(PREFIX))) return GF_OK;
    if (gf_number_read(gf_slice_skip(id, sizeof PREFIX - 1), &number) && number > m->highest)
        m->highest = number;
    return gf_strings_add(to, id, &at, NULL, err);
}

static gf_status split_key(mending *m, gf_slice key, gf_error *err)
{
    gf_status st = GF_OK;
    for (int i = 0; i < 2 && st == GF_OK; i++) {
        gf_buffer_reset(&m->names[i]);
        gf_key_take_string(&key, &m->names[i]);
        st = gf_buffer_check(&m->names[i], err);
    }
    return st;
}

static gf_status visit_table(void *context, const gf_row *row, gf_error *err)
{
    mending *m = context;
    gf_user_table *t = NULL;
    const gf_cell *id = gf_row_find(row, GF_TABLES_MAIN, "id");
    gf_status st = split_key(m, row->key, err);
    if (st == GF_OK && m->drops) {
        gf_error why = {GF_OK, ""};
        st = gf_user_table_open(m->store, gf_buffer_view(&m->names[0]),
                                gf_buffer_view(&m->names[1]), &t, &why);
        gf_user_table_close(t);
        if (st == GF_ECORRUPT || st == GF_EINVAL) {
            gf_batch_delete_row(m->batch, m->store->tables.tables, row->key, 1u << GF_TABLES_MAIN);
            return id ? note_id(m, id->value, m->gone, err) : GF_OK;
        }
        if (st != GF_OK && err) *err = why;
    }
    return st == GF_OK && id ? note_id(m, id->value, m->there, err) : st;
}

/* A drop that was cut short: the id is part of the key. */
static gf_status visit_mark(void *context, const gf_row *row, gf_error *err)
{
    mending *m = context;
    gf_status st = split_key(m, row->key, err);
    return st == GF_OK ? note_id(m, gf_buffer_view(&m->names[1]), m->there, err) : st;
}

static gf_status raise_counter(mending *m, gf_error *err)
{
    gf_buffer key = {0};
    gf_row row = {0};
    uint64_t next = 0;
    gf_number_digits digits;
    gf_tables_collection_key(&key, (gf_slice){0}, (gf_slice){0});
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(m->store->tables.tables, NULL, gf_buffer_view(&key),
                          1u << GF_TABLES_COUNTER, &row, err);
    if (st == GF_OK) gf_rows_cell_number(gf_row_find(&row, GF_TABLES_COUNTER, "next"), &next);
    if (st == GF_ENOTFOUND) st = GF_OK;
    if (st == GF_OK && next < m->highest)
        gf_batch_put(m->batch, m->store->tables.tables, gf_buffer_view(&key), GF_TABLES_COUNTER,
                     GF_SLICE("next"), gf_number_write(&digits, m->highest), 0);
    gf_row_release(&row);
    gf_buffer_release(&key);
    return st;
}

static void raise_to_catalogue(mending *m)
{
    for (unsigned n = 1; n < GF_MAX_TABLES; n++) {
        const gf_schema *schema = gf_database_schema(m->store->db, n);
        uint64_t number;
        gf_slice name = gf_slice_str(schema ? schema->name : "");
        if (gf_slice_starts(name, GF_SLICE(PREFIX)) &&
            gf_number_read(gf_slice_skip(name, sizeof PREFIX - 1), &number) && number > m->highest)
            m->highest = number;
    }
}

gf_status gf_user_tables_mend(gf_store *store, bool drops, gf_strings *there, gf_strings *gone,
                              gf_error *err)
{
    mending m = {.store = store, .drops = drops, .there = there, .gone = gone};
    gf_table *tables = store->tables.tables;
    gf_status st = gf_batch_create(store->db, &m.batch, err);
    if (st != GF_OK) return st;
    st = gf_scan_each(tables, &GF_SCAN_OPTIONS(.family = GF_TABLES_MAIN), visit_table, &m, err);
    if (st == GF_OK)
        st = gf_scan_each(tables, &GF_SCAN_OPTIONS(.family = GF_TABLES_PROGRESS), visit_mark, &m,
                          err);
    raise_to_catalogue(&m);
    if (st == GF_OK) st = raise_counter(&m, err);
    if (st == GF_OK) st = gf_batch_write(m.batch, GF_SYNC_ON, err);
    gf_batch_free(m.batch);
    gf_buffer_release(&m.names[0]);
    gf_buffer_release(&m.names[1]);
    return st;
}
