/*
 * Tables of users: making, opening, altering, dropping.
 *
 * The table of tables has a row for each, (namespace, name), with its schema and the name that the
 * database knows it by: "user:" and a number of a counter that only rises. So a name that is used
 * again is another table, while the rows of the first may still be on their way out (where the
 * database's names are others' too, it is "table:" and the name, and a drop is done at once):
 *
 *     drop     one batch: the row is deleted, ("", "user:7") gets the mark `dropped`, its schema
 *     reclaim  the rows go in chunks, then the table, then the mark
 *
 * A schema is written here before the database's own is: whoever opens the table adds what that
 * lacks, so a crash in between leaves nothing to be mended. The number that the database's
 * catalogue gave it is kept here, too: where damage took the catalogue's entry, opening the table
 * makes it again.
 */
#include "engine/user_tables/alter.h"
#include "engine/user_tables/user_tables_internal.h"

#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/names.h"
#include "engine/rows/scan.h"
#include "engine/store/hold.h"
#include "storage/backend.h"

static unsigned int all_of(unsigned family)
{
    return 1u << family;
}

/* ---- opening --------------------------------------------------------------------------------- */

static gf_status find_row(gf_store *s, gf_slice key, gf_slice name, gf_row *row, gf_error *err)
{
    gf_status st = gf_table_get(s->tables.tables, NULL, key, all_of(GF_TABLES_MAIN), row, err);
    if (st != GF_ENOTFOUND) return st;
    return gf_fail(err, st, "there is no table \"%.*s\"", GF_SLICE_ARG(name));
}

static gf_status damaged(gf_slice name, gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "table \"%.*s\": its schema is damaged", GF_SLICE_ARG(name));
}

/* The number in a row of the table of tables; 0: unknown. */
static unsigned number_of(const gf_row *row, unsigned family)
{
    uint64_t number = 0;
    const char *column = family == GF_TABLES_MAIN ? "number" : "dropped_number";
    gf_rows_cell_number(gf_row_find(row, family, column), &number);
    return number <= UINT16_MAX ? (unsigned)number : 0;
}

/* The database's table of that name; s is the schema, which keeps its name from then on. */
static gf_status open_rows(gf_store *store, gf_user_schema *s, const char *id, unsigned number,
                           gf_table **rows, gf_error *err)
{
    s->schema.name = id;
    return gf_table_open_numbered(store->db, &s->schema, number, rows, err);
}

/* The families keep what the database says: true where the table's row says otherwise. */
static bool take_kept(gf_user_table *t)
{
    const gf_schema *stored = gf_table_schema(t->rows);
    bool differs = false;
    for (unsigned f = 0; f < t->schema.schema.n_families && f < stored->n_families; f++) {
        gf_family *family = &t->schema.families[f];
        const gf_family *kept = &stored->families[f];
        differs |= family->ttl_seconds != kept->ttl_seconds || family->versions != kept->versions;
        family->ttl_seconds = kept->ttl_seconds;
        family->versions = kept->versions;
    }
    return differs;
}

/* A table's row as it has to be for a write: not there, or with that schema, or anything. */
typedef struct row_before {
    bool counts;
    const gf_slice *schema; /* NULL: there is no row */
} row_before;

static const row_before any_row = {false, NULL};

static gf_status write_row(gf_store *s, gf_slice key, row_before before, gf_slice id, gf_slice json,
                           unsigned number, gf_error *err);

/* After a change that was cut short the row is set right, unless the store is only read. */
static gf_status settle(gf_user_table *t, gf_slice id, unsigned number, gf_error *err)
{
    gf_buffer json = {0};
    if (!take_kept(t)) return GF_OK;
    gf_user_table_schema_write(&t->schema, &json);
    gf_status st = gf_buffer_check(&json, err);
    if (st == GF_OK) {
        t->json = gf_arena_copy(&t->memory, gf_buffer_view(&json));
        if (!t->json.ptr) st = gf_fail_memory(err, "a table");
    }
    if (st == GF_OK) write_row(t->store, t->key, any_row, id, t->json, number, NULL);
    gf_buffer_release(&json);
    return st;
}

/* Fill the table from its row. */
static gf_status load(gf_user_table *t, const gf_row *row, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    const gf_cell *id = gf_row_find(row, GF_TABLES_MAIN, "id");
    const gf_cell *json = gf_row_find(row, GF_TABLES_MAIN, "schema");
    if (!id || !json) return damaged(t->name, err);
    gf_slice name = gf_arena_copy(&t->memory, id->value);
    t->json = gf_arena_copy(&t->memory, json->value);
    if (!name.ptr || !t->json.ptr) return gf_fail_memory(err, "a table");
    gf_status st = gf_user_table_schema_read(t->json, false, &t->memory, &t->schema, &why);
    if (st == GF_OK) {
        unsigned number = number_of(row, GF_TABLES_MAIN);
        st = open_rows(t->store, &t->schema, name.ptr, number, &t->rows, err);
        return st == GF_OK ? settle(t, name, number, err) : st;
    }
    return st == GF_ENOMEM ? gf_fail_memory(err, "a table") : damaged(t->name, err);
}

static void release_table(gf_user_table *t)
{
    gf_arena_release(&t->memory);
    gf_free(t);
}

/* With the lock held. */
static gf_status open_table(gf_store *s, gf_slice key, gf_slice name, gf_user_table **table,
                            gf_error *err)
{
    gf_row row = {0};
    gf_user_table *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "a table");
    t->store = s;
    t->key = gf_arena_copy(&t->memory, key);
    t->name = gf_arena_copy(&t->memory, name);
    gf_status st = t->key.ptr && t->name.ptr ? GF_OK : gf_fail_memory(err, "a table");
    if (st == GF_OK) st = find_row(s, key, name, &row, err);
    if (st == GF_OK) st = load(t, &row, err);
    gf_row_release(&row);
    if (st != GF_OK) {
        release_table(t);
        return st;
    }
    t->next = s->user_tables;
    s->user_tables = t;
    *table = t;
    return GF_OK;
}

static gf_status table_key(gf_slice name_space, gf_slice name, gf_buffer *key, gf_error *err)
{
    gf_status st = gf_name_check("namespace", name_space, err);
    if (st == GF_OK) st = gf_name_check("table", name, err);
    if (st != GF_OK) return st;
    gf_tables_collection_key(key, name_space, name);
    return gf_buffer_check(key, err);
}

gf_status gf_user_table_open(gf_store *s, gf_slice name_space, gf_slice name, gf_user_table **table,
                             gf_error *err)
{
    gf_buffer key = {0};
    gf_status st = table_key(name_space, name, &key, err);
    if (st == GF_OK) {
        pthread_mutex_lock(&s->user_lock);
        st = open_table(s, gf_buffer_view(&key), name, table, err);
        pthread_mutex_unlock(&s->user_lock);
    }
    gf_buffer_release(&key);
    return st;
}

gf_status gf_user_table_claim(gf_user_table *t, gf_error *err)
{
    gf_status st = GF_OK;
    pthread_mutex_lock(&t->store->user_lock);
    for (gf_user_table *other = t->store->user_tables; other; other = other->next)
        if (other->claimed && gf_slice_equal(other->key, t->key)) st = GF_EBUSY;
    if (st == GF_OK) t->claimed = true;
    pthread_mutex_unlock(&t->store->user_lock);
    return st == GF_OK ? st
                       : gf_fail(err, st, "table \"%.*s\" is being used", GF_SLICE_ARG(t->name));
}

void gf_user_table_close(gf_user_table *t)
{
    if (!t) return;
    pthread_mutex_lock(&t->store->user_lock);
    for (gf_user_table **p = &t->store->user_tables; *p; p = &(*p)->next)
        if (*p == t) {
            *p = t->next;
            break;
        }
    pthread_mutex_unlock(&t->store->user_lock);
    release_table(t);
}

/* ---- making and altering --------------------------------------------------------------------- */

/* GF_ECONFLICT where another process has changed the row. number 0: unknown yet. */
static gf_status write_row(gf_store *s, gf_slice key, row_before before, gf_slice id, gf_slice json,
                           unsigned number, gf_error *err)
{
    gf_table *tables = s->tables.tables;
    gf_batch *batch;
    gf_number_digits digits;
    gf_column columns[] = {{GF_SLICE("id"), id},
                           {GF_SLICE("schema"), json},
                           {GF_SLICE("number"), gf_number_write(&digits, number)}};
    gf_status st = gf_batch_create(s->db, &batch, err);
    if (st != GF_OK) return st;
    gf_batch_replace(batch, tables, key, GF_TABLES_MAIN, columns, number ? 3 : 2, 0);
    st = before.counts ? gf_batch_write_if(batch, tables, key, GF_TABLES_MAIN, GF_SLICE("schema"),
                                           before.schema, GF_SYNC_ON, err)
                       : gf_batch_write(batch, GF_SYNC_ON, err);
    gf_batch_free(batch);
    return st;
}

static gf_status forget_row(gf_store *s, gf_slice key, uint32_t families, gf_error *err)
{
    gf_batch *batch;
    gf_status st = gf_batch_create(s->db, &batch, err);
    if (st != GF_OK) return st;
    gf_batch_delete_row(batch, s->tables.tables, key, families);
    st = gf_batch_write(batch, GF_SYNC_ON, err);
    gf_batch_free(batch);
    return st;
}

static bool has_named_tables(const gf_store *s)
{
    return gf_database_capabilities(s->db) & GF_BACKEND_NAMED;
}

/* A name that the database never had: "user:12"; or that by which others know the table. */
static gf_status next_id(gf_store *s, gf_slice name, gf_buffer *id, gf_error *err)
{
    int64_t number = 0;
    gf_buffer key = {0};
    if (has_named_tables(s)) {
        gf_buffer_format(id, GF_BACKEND_USERS_TABLE "%.*s", GF_SLICE_ARG(name));
        gf_buffer_cstr(id);
        return gf_buffer_check(id, err);
    }
    gf_tables_collection_key(&key, (gf_slice){0}, (gf_slice){0});
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_increment(s->tables.tables, gf_buffer_view(&key), GF_TABLES_COUNTER,
                                GF_SLICE("next"), 1, GF_SYNC_ON, &number, err);
    gf_buffer_release(&key);
    if (st != GF_OK) return st;
    gf_buffer_format(id, "user:%lld", (long long)number);
    gf_buffer_cstr(id);
    return gf_buffer_check(id, err);
}

static gf_status fail_exists(gf_slice name, gf_error *err)
{
    return gf_fail(err, GF_EEXISTS, "there is a table \"%.*s\" already", GF_SLICE_ARG(name));
}

/* With the lock held; `schema` is good. */
static gf_status create(gf_store *s, gf_slice key, gf_slice name, gf_user_schema *schema,
                        gf_error *err)
{
    gf_row row = {0};
    gf_buffer id = {0}, json = {0};
    gf_table *rows;
    gf_error there;
    gf_status st = find_row(s, key, name, &row, &there);
    gf_row_release(&row);
    if (st == GF_OK) return fail_exists(name, err);
    if (st != GF_ENOTFOUND) {
        if (err) *err = there;
        return st;
    }
    gf_user_table_schema_write(schema, &json);
    st = gf_buffer_check(&json, err);
    if (st == GF_OK) st = next_id(s, name, &id, err);
    const row_before none = {true, NULL};
    if (st == GF_OK)
        st = write_row(s, key, none, gf_buffer_view(&id), gf_buffer_view(&json), 0, err);
    if (st == GF_ECONFLICT) st = fail_exists(name, err); /* another process was first */
    if (st == GF_OK) {
        st = open_rows(s, schema, gf_buffer_cstr(&id), 0, &rows, err);
        if (st == GF_OK)
            st = write_row(s, key, any_row, gf_buffer_view(&id), gf_buffer_view(&json),
                           gf_table_number(rows), err);
        if (st != GF_OK) forget_row(s, key, all_of(GF_TABLES_MAIN), NULL);
    }
    gf_buffer_release(&id);
    gf_buffer_release(&json);
    return st;
}

/* With the lock held; `tries`: nothing is written. */
static gf_status alter(gf_store *s, gf_slice key, gf_slice name, const gf_user_schema *more,
                       bool tries, gf_arena *memory, gf_error *err)
{
    gf_user_schema schema;
    gf_row row = {0};
    gf_buffer json = {0};
    gf_table *rows;
    gf_slice id = {0};
    gf_status st = find_row(s, key, name, &row, err);
    const gf_cell *named = st == GF_OK ? gf_row_find(&row, GF_TABLES_MAIN, "id") : NULL;
    const gf_cell *stored = st == GF_OK ? gf_row_find(&row, GF_TABLES_MAIN, "schema") : NULL;
    if (st == GF_OK && (!named || !stored)) st = damaged(name, err);
    if (st == GF_OK) st = gf_user_table_schema_read(stored->value, false, memory, &schema, err);
    if (st == GF_OK) st = gf_user_table_schema_add(&schema, more, memory, err);
    if (st == GF_OK) {
        gf_user_table_schema_write(&schema, &json);
        id = gf_arena_copy(memory, named->value);
        st = id.ptr ? gf_buffer_check(&json, err) : gf_fail_memory(err, "a table");
    }
    unsigned number = st == GF_OK ? number_of(&row, GF_TABLES_MAIN) : 0;
    if (st == GF_OK && !tries) {
        const row_before same = {true, &stored->value};
        st = write_row(s, key, same, id, gf_buffer_view(&json), number, err);
        if (st == GF_ECONFLICT)
            gf_fail(err, st,
                    "another process has changed table \"%.*s\" meanwhile: look at it, and alter "
                    "it again",
                    GF_SLICE_ARG(name));
    }
    if (st == GF_OK && !tries) st = open_rows(s, &schema, id.ptr, number, &rows, err);
    gf_row_release(&row);
    gf_buffer_release(&json);
    return st;
}

/* A table by its schema, or additions to that of one that is there; or whether they can be made. */
typedef enum change { MAKES, ADDS, TRIES_TO_ADD } change;

static gf_status make_or_alter(gf_store *s, gf_slice name_space, gf_slice name, gf_slice json,
                               change what, gf_error *err)
{
    bool adds = what != MAKES;
    gf_arena memory = {0};
    gf_user_schema read;
    gf_buffer key = {0};
    gf_status st = table_key(name_space, name, &key, err);
    if (st == GF_OK) st = gf_user_table_schema_read(json, adds, &memory, &read, err);
    if (st == GF_OK && !adds && has_named_tables(s) &&
        !gf_slice_equal(name_space, GF_SLICE("default")))
        st =
            gf_fail(err, GF_EINVAL,
                    "namespace: a store in HBase has that of its URL, hbase://HOST:PORT/NAMESPACE");
    if (st == GF_OK && !adds) st = gf_user_tables_reclaim(s, NULL, err);
    /* A batch that was cut short was not for this table, but for one of that name which was dropped. */
    if (st == GF_OK && !adds) st = gf_store_finish_batches(s, err);
    if (st == GF_OK) {
        gf_slice of_row = gf_buffer_view(&key);
        pthread_mutex_lock(&s->user_lock);
        st = adds ? alter(s, of_row, name, &read, what == TRIES_TO_ADD, &memory, err)
                  : create(s, of_row, name, &read, err);
        pthread_mutex_unlock(&s->user_lock);
    }
    gf_buffer_release(&key);
    gf_arena_release(&memory);
    return st;
}

gf_status gf_user_table_create(gf_store *s, gf_slice name_space, gf_slice name, gf_slice schema,
                               gf_error *err)
{
    return make_or_alter(s, name_space, name, schema, MAKES, err);
}

gf_status gf_user_table_alter(gf_store *s, gf_slice name_space, gf_slice name, gf_slice additions,
                              gf_error *err)
{
    return make_or_alter(s, name_space, name, additions, ADDS, err);
}

gf_status gf_user_table_check_additions(gf_store *s, gf_slice name_space, gf_slice name,
                                        gf_slice additions, gf_error *err)
{
    return make_or_alter(s, name_space, name, additions, TRIES_TO_ADD, err);
}

/* ---- dropping -------------------------------------------------------------------------------- */

static bool is_open(const gf_store *s, gf_slice key)
{
    for (const gf_user_table *t = s->user_tables; t; t = t->next)
        if (gf_slice_equal(t->key, key)) return true;
    return false;
}

/* Delete the name, and set the mark. */
static gf_status mark(gf_store *s, gf_slice key, gf_slice id, gf_slice json, unsigned number,
                      gf_error *err)
{
    gf_batch *batch = NULL;
    gf_buffer marked = {0};
    gf_number_digits digits;
    gf_column columns[] = {{GF_SLICE("dropped"), json},
                           {GF_SLICE("dropped_number"), gf_number_write(&digits, number)}};
    gf_tables_collection_key(&marked, (gf_slice){0}, id);
    gf_status st = gf_buffer_check(&marked, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK) {
        gf_batch_delete_row(batch, s->tables.tables, key, all_of(GF_TABLES_MAIN));
        gf_batch_replace(batch, s->tables.tables, gf_buffer_view(&marked), GF_TABLES_PROGRESS,
                         columns, 2, 0);
        st = gf_batch_write(batch, GF_SYNC_ON, err);
    }
    gf_batch_free(batch);
    gf_buffer_release(&marked);
    return st;
}

/* First the table, then its row: whoever finds a row without a table drops it again. */
static gf_status drop_named(gf_store *s, gf_slice key, gf_slice name, const gf_cancel *cancel,
                            gf_error *err)
{
    gf_user_table *t = NULL;
    gf_status st = open_table(s, key, name, &t, err);
    if (st != GF_OK) return st;
    gf_table *rows = t->rows;
    s->user_tables = t->next;
    release_table(t);
    st = gf_table_drop(rows, cancel, err);
    return st == GF_OK ? forget_row(s, key, all_of(GF_TABLES_MAIN), err) : st;
}

static gf_status begin_drop(gf_store *s, gf_slice key, gf_slice name, const gf_cancel *cancel,
                            gf_error *err)
{
    gf_row row = {0};
    gf_status st = find_row(s, key, name, &row, err);
    if (st == GF_OK && is_open(s, key))
        st = gf_fail(err, GF_EBUSY, "table \"%.*s\" is being used", GF_SLICE_ARG(name));
    if (st == GF_OK && has_named_tables(s)) {
        st = drop_named(s, key, name, cancel, err);
    } else if (st == GF_OK) {
        const gf_cell *id = gf_row_find(&row, GF_TABLES_MAIN, "id");
        const gf_cell *json = gf_row_find(&row, GF_TABLES_MAIN, "schema");
        st = id && json ? mark(s, key, id->value, json->value, number_of(&row, GF_TABLES_MAIN), err)
                        : damaged(name, err);
    }
    gf_row_release(&row);
    return st;
}

/* Whether a batch of users' tables was ever written where those go by a row that is held. */
static gf_status has_batches(gf_store *s, bool *has, gf_error *err)
{
    gf_row row = {0};
    *has = false;
    if (!gf_database_holds_in_rows(s->db)) return GF_OK;
    gf_status st = gf_table_get(s->tables.collections, NULL, gf_tables_batches_key(),
                                all_of(GF_COLLECTIONS_HOLD), &row, err);
    *has = st == GF_OK;
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_user_table_drop(gf_store *s, gf_slice name_space, gf_slice name,
                             const gf_cancel *cancel, gf_error *err)
{
    gf_buffer key = {0};
    gf_hold hold = {0};
    bool waits = false;
    gf_status st = table_key(name_space, name, &key, err);
    if (st == GF_OK) st = has_batches(s, &waits, err);
    if (st == GF_OK && waits) st = gf_hold_batches(s, &hold, err); /* none is of a dropped table */
    if (st == GF_OK) {
        pthread_mutex_lock(&s->user_lock);
        st = begin_drop(s, gf_buffer_view(&key), name, cancel, err);
        pthread_mutex_unlock(&s->user_lock);
    }
    gf_hold_let_go(&hold);
    gf_buffer_release(&key);
    if (st != GF_OK) return st;
    st = gf_user_tables_reclaim(s, cancel, err);
    if (st != GF_OK) gf_store_leave_untidy(s);
    return st;
}

typedef struct reclaiming {
    gf_store *store;
    const gf_cancel *cancel;
    gf_buffer id, json;
    gf_arena memory;
} reclaiming;

static gf_status reclaim_one(reclaiming *r, gf_slice key, gf_slice json, unsigned number,
                             gf_error *err)
{
    gf_user_schema schema;
    gf_table *rows = NULL;
    gf_arena_reset(&r->memory);
    gf_buffer_reset(&r->id);
    gf_status st = gf_tables_key_last_string(r->store->tables.tables, key, &r->id, err);
    gf_buffer_cstr(&r->id);
    if (st == GF_OK) st = gf_buffer_check(&r->id, err);
    if (st == GF_OK) st = gf_user_table_schema_read(json, false, &r->memory, &schema, err);
    if (st == GF_OK) st = open_rows(r->store, &schema, gf_buffer_cstr(&r->id), number, &rows, err);
    if (st == GF_OK) st = gf_table_drop(rows, r->cancel, err);
    return st == GF_OK ? forget_row(r->store, key, all_of(GF_TABLES_PROGRESS), err) : st;
}

static gf_status reclaim_marked(void *context, const gf_row *row, gf_error *err)
{
    const gf_cell *json = gf_row_find(row, GF_TABLES_PROGRESS, "dropped");
    unsigned number = number_of(row, GF_TABLES_PROGRESS);
    return json ? reclaim_one(context, row->key, json->value, number, err) : GF_OK;
}

gf_status gf_user_tables_reclaim(gf_store *s, const gf_cancel *cancel, gf_error *err)
{
    reclaiming r = {.store = s, .cancel = cancel};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_TABLES_PROGRESS);
    pthread_mutex_lock(&s->drop_lock);
    gf_status st = gf_scan_each(s->tables.tables, &o, reclaim_marked, &r, err);
    pthread_mutex_unlock(&s->drop_lock);
    gf_buffer_release(&r.id);
    gf_arena_release(&r.memory);
    return st;
}

/* ---- walking --------------------------------------------------------------------------------- */

typedef struct visiting {
    gf_store *store;
    gf_visit_user_table *visit;
    void *context;
    gf_buffer name;
} visiting;

static gf_status visit_row(void *context, const gf_row *row, gf_error *err)
{
    visiting *v = context;
    const gf_cell *json = gf_row_find(row, GF_TABLES_MAIN, "schema");
    gf_buffer_reset(&v->name);
    gf_status st = gf_tables_key_last_string(v->store->tables.tables, row->key, &v->name, err);
    if (st != GF_OK) return st;
    if (!json) return damaged(gf_buffer_view(&v->name), err);
    return v->visit(v->context, gf_buffer_view(&v->name), json->value, err);
}

gf_status gf_user_tables_visit(gf_store *s, gf_slice name_space, gf_slice prefix,
                               gf_visit_user_table *visit, void *context, gf_error *err)
{
    gf_buffer key = {0};
    visiting v = {.store = s, .visit = visit, .context = context};
    gf_status st = gf_name_check("namespace", name_space, err);
    gf_key_string(&key, name_space);
    gf_key_string_start(&key, prefix);
    if (st == GF_OK) st = gf_buffer_check(&key, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_TABLES_MAIN, .prefix = gf_buffer_view(&key));
    if (st == GF_OK) st = gf_scan_each(s->tables.tables, &o, visit_row, &v, err);
    gf_buffer_release(&key);
    gf_buffer_release(&v.name);
    return st;
}

typedef struct visiting_all {
    gf_visit_each_user_table *visit;
    void *context;
    gf_buffer name_space, name;
} visiting_all;

static gf_status visit_names(void *context, const gf_row *row, gf_error *err)
{
    visiting_all *v = context;
    gf_slice key = row->key;
    gf_buffer_reset(&v->name_space);
    gf_buffer_reset(&v->name);
    if (!gf_key_take_string(&key, &v->name_space) || !gf_key_take_string(&key, &v->name))
        return gf_fail(err, GF_ECORRUPT, "a key of the table of tables is damaged");
    gf_status st = gf_buffer_check(&v->name_space, err);
    if (st == GF_OK) st = gf_buffer_check(&v->name, err);
    return st == GF_OK
               ? v->visit(v->context, gf_buffer_view(&v->name_space), gf_buffer_view(&v->name), err)
               : st;
}

gf_status gf_user_tables_visit_all(gf_store *s, gf_visit_each_user_table *visit, void *context,
                                   gf_error *err)
{
    visiting_all v = {.visit = visit, .context = context};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_TABLES_MAIN, .keys_only = true);
    gf_status st = gf_scan_each(s->tables.tables, &o, visit_names, &v, err);
    gf_buffer_release(&v.name_space);
    gf_buffer_release(&v.name);
    return st;
}

typedef struct each_table {
    gf_store *store;
    gf_each_user_table *each;
    void *context;
    gf_buffer names[2];
} each_table;

static gf_status open_each(void *context, const gf_row *row, gf_error *err)
{
    each_table *e = context;
    gf_slice key = row->key;
    gf_user_table *t = NULL;
    gf_error why = {GF_OK, ""};
    gf_status st = GF_OK;
    for (int i = 0; i < 2 && st == GF_OK; i++) {
        gf_buffer_reset(&e->names[i]);
        gf_key_take_string(&key, &e->names[i]);
        st = gf_buffer_check(&e->names[i], err);
    }
    if (st != GF_OK) return st;
    st = gf_user_table_open(e->store, gf_buffer_view(&e->names[0]), gf_buffer_view(&e->names[1]),
                            &t, &why);
    if (st == GF_OK || st == GF_ECORRUPT || st == GF_EINVAL) {
        st = e->each(e->context, gf_buffer_cstr(&e->names[1]), t, &why, err);
    } else if (err) {
        *err = why;
    }
    gf_user_table_close(t);
    return st;
}

gf_status gf_user_tables_each(gf_store *s, gf_each_user_table *each, void *context, gf_error *err)
{
    each_table e = {.store = s, .each = each, .context = context};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_TABLES_MAIN, .keys_only = true);
    gf_status st = gf_scan_each(s->tables.tables, &o, open_each, &e, err);
    gf_buffer_release(&e.names[0]);
    gf_buffer_release(&e.names[1]);
    return st;
}

/* ---- by what the database calls them --------------------------------------------------------- */

typedef struct finding {
    gf_slice id;
    gf_buffer key; /* of its row; empty: it is not there */
} finding;

static gf_status note_if_called(void *context, const gf_row *row, gf_error *err)
{
    finding *f = context;
    const gf_cell *id = gf_row_find(row, GF_TABLES_MAIN, "id");
    if (!id || !gf_slice_equal(id->value, f->id)) return GF_OK;
    gf_buffer_reset(&f->key);
    gf_buffer_slice(&f->key, row->key);
    return gf_buffer_check(&f->key, err);
}

static gf_status open_of_row(gf_store *s, gf_slice key, gf_table **rows, gf_error *err)
{
    gf_buffer names[2] = {{0}, {0}};
    gf_user_table *t = NULL;
    gf_error why = {GF_OK, ""};
    for (int i = 0; i < 2; i++)
        gf_key_take_string(&key, &names[i]);
    gf_status st = gf_buffer_check(&names[0], &why);
    if (st == GF_OK) st = gf_buffer_check(&names[1], &why);
    if (st == GF_OK)
        st = gf_user_table_open(s, gf_buffer_view(&names[0]), gf_buffer_view(&names[1]), &t, &why);
    if (st == GF_OK) *rows = t->rows;
    gf_user_table_close(t);
    gf_buffer_release(&names[0]);
    gf_buffer_release(&names[1]);
    if (st == GF_OK || st == GF_ENOTFOUND || st == GF_EINVAL) return GF_OK; /* none, or no such */
    if (err) *err = why;
    return st;
}

gf_status gf_user_tables_find(void *store, const char *id, gf_table **rows, gf_error *err)
{
    gf_store *s = store;
    finding f = {.id = gf_slice_str(id)};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_TABLES_MAIN);
    *rows = NULL;
    gf_status st = gf_scan_each(s->tables.tables, &o, note_if_called, &f, err);
    if (st == GF_OK && f.key.len) st = open_of_row(s, gf_buffer_view(&f.key), rows, err);
    gf_buffer_release(&f.key);
    return st;
}

/* ---- what a table is ------------------------------------------------------------------------- */

gf_table *gf_user_table_rows(const gf_user_table *t)
{
    return t->rows;
}

const gf_schema *gf_user_table_schema(const gf_user_table *t)
{
    return &t->schema.schema;
}

gf_slice gf_user_table_name(const gf_user_table *t)
{
    return t->name;
}

gf_slice gf_user_table_json(const gf_user_table *t)
{
    return t->json;
}
