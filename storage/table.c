/* Tables over a backend: names become numbers, keys and columns are checked. */
#include "grouperfish/table.h"

#include "base/memory.h"
#include "storage/schema.h"
#include "storage/table_internal.h"

static gf_table *find_table(gf_database *db, unsigned number)
{
    for (gf_table *t = db->tables; t; t = t->next)
        if (t->number == number) return t;
    return NULL;
}

gf_table *gf_database_table(gf_database *db, unsigned number)
{
    pthread_mutex_lock(&db->lock);
    gf_table *t = find_table(db, number);
    pthread_mutex_unlock(&db->lock);
    return t;
}

gf_status gf_table_open(gf_database *db, const gf_schema *schema, gf_table **table, gf_error *err)
{
    return gf_table_open_numbered(db, schema, 0, table, err);
}

gf_status gf_table_open_numbered(gf_database *db, const gf_schema *schema, unsigned wanted,
                                 gf_table **table, gf_error *err)
{
    gf_status st = gf_schema_check(schema, err);
    if (st != GF_OK) return st;
    gf_table *fresh = gf_calloc(1, sizeof *fresh);
    if (!fresh) return gf_fail_memory(err, "a table");
    pthread_mutex_lock(&db->lock);
    unsigned number = wanted;
    const gf_schema *stored;
    st = db->backend->operations->open_table(db->backend, schema, &number, &stored, err);
    if (st == GF_OK) {
        gf_table *known = find_table(db, number);
        if (!known) {
            known = fresh;
            fresh = NULL;
            *known = (gf_table){.next = db->tables, .db = db, .number = number};
            db->tables = known;
        }
        atomic_store_explicit(&known->schema, stored, memory_order_release);
        *table = known;
    }
    pthread_mutex_unlock(&db->lock);
    gf_free(fresh);
    return st;
}

gf_status gf_table_find(gf_database *db, const char *name, gf_table **table, gf_error *err)
{
    for (unsigned n = 1; n < GF_MAX_TABLES; n++) {
        const gf_schema *schema = gf_database_schema(db, n);
        if (schema && strcmp(schema->name, name) == 0)
            return gf_table_open_numbered(db, schema, n, table, err);
    }
    return gf_fail(err, GF_ENOTFOUND, "the database has no table %s", name);
}

gf_status gf_database_has_table(gf_database *db, const char *name, bool *has, gf_error *err)
{
    const gf_backend_operations *operations = db->backend->operations;
    *has = false;
    if (operations->has_table) return operations->has_table(db->backend, name, has, err);
    for (unsigned n = 1; n < GF_MAX_TABLES && !*has; n++) {
        const gf_schema *schema = gf_database_schema(db, n);
        *has = schema && strcmp(schema->name, name) == 0;
    }
    return GF_OK;
}

static void forget_table(gf_database *db, gf_table *table)
{
    for (gf_table **at = &db->tables; *at; at = &(*at)->next)
        if (*at == table) {
            *at = table->next;
            break;
        }
    gf_free(table);
}

gf_status gf_table_drop(gf_table *table, const gf_cancel *cancel, gf_error *err)
{
    gf_database *db = table->db;
    const gf_backend_operations *operations = db->backend->operations;
    if (!operations->drop_table) return gf_fail(err, GF_EINVAL, "this database cannot drop tables");
    gf_status st = operations->drop_table(db->backend, table->number, cancel, err);
    if (st != GF_OK) return st;
    pthread_mutex_lock(&db->lock);
    forget_table(db, table);
    pthread_mutex_unlock(&db->lock);
    return GF_OK;
}

gf_status gf_table_alter_family(gf_table *table, unsigned family, uint32_t versions,
                                uint64_t ttl_seconds, const gf_cancel *cancel, gf_error *err)
{
    const gf_backend_operations *operations = table->db->backend->operations;
    const gf_schema *stored;
    gf_status st = gf_table_check_family(table, family, err);
    if (st != GF_OK) return st;
    if (!operations->alter_family)
        return gf_fail(err, GF_EINVAL, "this database cannot alter families");
    const gf_schema *schema = gf_table_schema(table);
    if (schema->families[family].run)
        return gf_fail(err, GF_EINVAL,
                       "table %s: family %s is a run, which has no versions and no time to live",
                       schema->name, schema->families[family].name);
    st = operations->alter_family(table->db->backend, table->number, family, versions, ttl_seconds,
                                  cancel, &stored, err);
    if (st == GF_OK) atomic_store_explicit(&table->schema, stored, memory_order_release);
    return st;
}

gf_status gf_table_family(const gf_table *table, const char *name, unsigned *family, gf_error *err)
{
    const gf_schema *s = gf_table_schema(table);
    for (unsigned f = 0; f < s->n_families; f++) {
        if (strcmp(s->families[f].name, name) != 0) continue;
        *family = f;
        return GF_OK;
    }
    return gf_fail(err, GF_EINVAL, "table %s has no family %s", s->name, name);
}

const gf_schema *gf_table_schema(const gf_table *table)
{
    return atomic_load_explicit(&table->schema, memory_order_acquire);
}

/* ---- checks ---------------------------------------------------------------------------------- */

gf_status gf_table_reclaim(gf_table *t, gf_slice prefix, gf_error *err)
{
    const gf_backend_operations *o = t->db->backend->operations;
    return o->reclaim ? o->reclaim(t->db->backend, t->number, prefix, err) : GF_OK;
}

unsigned gf_table_number(const gf_table *t)
{
    return t->number;
}

gf_status gf_table_check_key(const gf_table *t, gf_slice key, gf_error *err)
{
    const gf_schema *s = gf_table_schema(t);
    if (key.len > GF_MAX_KEY)
        return gf_fail(err, GF_ELIMIT, "table %s: a row key of more than %d bytes", s->name,
                       GF_MAX_KEY);
    if (key.len && gf_schema_row_length(s, key) == key.len) return GF_OK;
    return gf_fail(err, GF_EINVAL, "not a row key of table %s", s->name);
}

gf_status gf_table_check_family(const gf_table *t, unsigned family, gf_error *err)
{
    const gf_schema *s = gf_table_schema(t);
    if (family < s->n_families) return GF_OK;
    return gf_fail(err, GF_EINVAL, "table %s has no family number %u", s->name, family);
}

/* A column that the family does not know must not be known to another one of another stem. */
static gf_status check_owner(const gf_schema *s, unsigned family, gf_slice name, gf_error *err)
{
    for (unsigned f = 0; f < s->n_families; f++)
        if (!gf_schema_same_stem(&s->families[f], &s->families[family]) &&
            gf_schema_column(&s->families[f], name, 0) >= 0)
            return gf_fail(err, GF_EINVAL, "table %s: column %.*s belongs to family %s, not %s",
                           s->name, GF_SLICE_ARG(name), s->families[f].name,
                           s->families[family].name);
    return GF_OK;
}

gf_status gf_table_check_column(const gf_table *t, unsigned family, gf_slice name, int *number,
                                gf_error *err)
{
    const gf_schema *s = gf_table_schema(t);
    gf_status st = gf_table_check_family(t, family, err);
    if (st != GF_OK) return st;
    if (name.len > GF_MAX_KEY)
        return gf_fail(err, GF_ELIMIT, "table %s: a qualifier of more than %d bytes", s->name,
                       GF_MAX_KEY);
    const gf_family *f = &s->families[family];
    if (f->layout != GF_LAYOUT_PACKED) return GF_OK;
    *number = gf_schema_column(f, name, *number + 1);
    return *number >= 0 ? GF_OK : check_owner(s, family, name, err);
}

uint32_t gf_table_families(const gf_table *t, uint32_t bits)
{
    unsigned n = gf_table_schema(t)->n_families;
    return n == GF_MAX_FAMILIES ? bits : bits & ((UINT32_C(1) << n) - 1);
}

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status get_cells(gf_table *t, const gf_snapshot *snapshot, gf_slice key,
                           const gf_selection *what, gf_row *row, gf_error *err)
{
    gf_backend *b = t->db->backend;
    gf_status st = gf_table_check_key(t, key, err);
    if (st == GF_OK) st = gf_row_begin(row, err);
    if (st == GF_OK) st = gf_row_set_key(row, key, err);
    if (st == GF_OK) {
        st =
            b->operations->get(b, gf_snapshot_of_backend(snapshot), t->number, key, what, row, err);
        if (st != GF_OK) gf_error_prefix(err, "table %s", gf_table_schema(t)->name);
    }
    if (st == GF_OK && row->n_cells == 0)
        st = gf_fail(err, GF_ENOTFOUND, "table %s has no such cell", gf_table_schema(t)->name);
    if (st != GF_OK) gf_row_clear(row);
    return st;
}

gf_status gf_table_get(gf_table *t, const gf_snapshot *snapshot, gf_slice key, uint32_t families,
                       gf_row *row, gf_error *err)
{
    gf_selection what = {.families = gf_table_families(t, families), .versions = 1};
    return get_cells(t, snapshot, key, &what, row, err);
}

gf_status gf_table_get_cell(gf_table *t, const gf_snapshot *snapshot, gf_slice key, unsigned family,
                            gf_slice qualifier, uint32_t versions, gf_row *row, gf_error *err)
{
    int number = -1;
    gf_status st = gf_table_check_column(t, family, qualifier, &number, err);
    if (st != GF_OK) {
        gf_row_clear(row);
        return st;
    }
    gf_selection what = {.families = UINT32_C(1) << family,
                         .one_cell = true,
                         .qualifier = qualifier,
                         .versions = versions ? versions : 1};
    return get_cells(t, snapshot, key, &what, row, err);
}

gf_status gf_table_increment(gf_table *t, gf_slice key, unsigned family, gf_slice qualifier,
                             int64_t delta, gf_sync sync, int64_t *result, gf_error *err)
{
    int number = -1;
    gf_status st = gf_table_check_key(t, key, err);
    if (st == GF_OK) st = gf_table_check_column(t, family, qualifier, &number, err);
    if (st != GF_OK) return st;
    gf_change put = {.kind = GF_CHANGE_PUT,
                     .table = t->number,
                     .family = family,
                     .key = key,
                     .qualifier = qualifier};
    gf_backend *b = t->db->backend;
    return b->operations->increment(b, &put, delta, sync, result, err);
}
