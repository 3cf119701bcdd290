/* Databases over a backend, and snapshots of them. */
#include "base/memory.h"
#include "storage/table_internal.h"

gf_status gf_database_create(gf_backend *backend, gf_database **db, gf_error *err)
{
    gf_database *d = gf_calloc(1, sizeof *d);
    if (!d) return gf_fail_memory(err, "a database");
    d->backend = backend;
    pthread_mutex_init(&d->lock, NULL);
    *db = d;
    return GF_OK;
}

void gf_database_close(gf_database *db)
{
    if (!db) return;
    while (db->tables) {
        gf_table *next = db->tables->next;
        gf_free(db->tables);
        db->tables = next;
    }
    db->backend->operations->close(db->backend);
    pthread_mutex_destroy(&db->lock);
    gf_free(db);
}

unsigned gf_database_capabilities(const gf_database *db)
{
    return db->backend->operations->capabilities;
}

void gf_database_flush(gf_database *db)
{
    const gf_backend_operations *o = db->backend->operations;
    if (o->flush) o->flush(db->backend);
}

void gf_database_begin_upkeep(gf_database *db)
{
    const gf_backend_operations *o = db->backend->operations;
    if (o->begin_upkeep) o->begin_upkeep(db->backend);
}

gf_status gf_database_compact(gf_database *db, gf_error *err)
{
    return db->backend->operations->compact(db->backend, 0, NULL, err);
}

gf_status gf_database_purge(gf_database *db, unsigned milliseconds, const gf_cancel *cancel,
                            gf_error *err)
{
    return db->backend->operations->compact(db->backend, milliseconds, cancel, err);
}

bool gf_database_has_failed(gf_database *db)
{
    const gf_backend_operations *o = db->backend->operations;
    return o->has_failed && o->has_failed(db->backend);
}

gf_backend *gf_database_backend(gf_database *db)
{
    return db->backend;
}

const gf_schema *gf_database_schema(gf_database *db, unsigned number)
{
    const gf_backend_operations *operations = db->backend->operations;
    return operations->schema_of ? operations->schema_of(db->backend, number) : NULL;
}

bool gf_database_keeps(gf_database *db, const char *name)
{
    const gf_backend_operations *operations = db->backend->operations;
    return !operations->keeps || operations->keeps(db->backend, name);
}

gf_status gf_database_visit_tables(gf_database *db, gf_visit_name *visit, void *context,
                                   gf_error *err)
{
    const gf_backend_operations *operations = db->backend->operations;
    gf_status st = GF_OK;
    if (operations->visit_tables) return operations->visit_tables(db->backend, visit, context, err);
    for (unsigned n = 1; n < GF_MAX_TABLES && st == GF_OK; n++) {
        const gf_schema *schema = gf_database_schema(db, n);
        if (schema) st = visit(context, gf_slice_str(schema->name), err);
    }
    return st;
}

gf_status gf_database_visit_families(gf_database *db, const char *name, gf_visit_name *visit,
                                     void *context, gf_error *err)
{
    const gf_backend_operations *operations = db->backend->operations;
    gf_status st = GF_OK;
    if (operations->visit_families)
        return operations->visit_families(db->backend, name, visit, context, err);
    for (unsigned n = 1; n < GF_MAX_TABLES; n++) {
        const gf_schema *schema = gf_database_schema(db, n);
        if (!schema || strcmp(schema->name, name) != 0) continue;
        for (unsigned f = 0; f < schema->n_families && st == GF_OK; f++)
            st = visit(context, gf_slice_str(schema->families[f].name), err);
        return st;
    }
    return gf_fail(err, GF_ENOTFOUND, "the database has no table %s", name);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static gf_status create_snapshot(gf_database *db, gf_snapshot **snapshot, gf_error *err)
{
    gf_snapshot *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a snapshot");
    s->db = db;
    gf_status st = db->backend->operations->snapshot_create(db->backend, &s->of_backend, err);
    if (st != GF_OK) {
        gf_free(s);
        return st;
    }
    *snapshot = s;
    return GF_OK;
}

gf_status gf_snapshot_create(gf_database *db, gf_snapshot **snapshot, gf_error *err)
{
    bool able = gf_database_capabilities(db) & GF_BACKEND_SNAPSHOT;
    if (able || gf_database_holds_in_rows(db)) return gf_snapshot_create_if_any(db, snapshot, err);
    return gf_fail(err, GF_EINVAL,
                   "this needs a fixed state to read from, which this store's database does not "
                   "keep");
}

gf_status gf_snapshot_create_if_any(gf_database *db, gf_snapshot **snapshot, gf_error *err)
{
    *snapshot = NULL;
    if (!(gf_database_capabilities(db) & GF_BACKEND_SNAPSHOT)) return GF_OK;
    return create_snapshot(db, snapshot, err);
}

void gf_snapshot_free(gf_snapshot *s)
{
    if (!s) return;
    s->db->backend->operations->snapshot_free(s->db->backend, s->of_backend);
    gf_free(s);
}
