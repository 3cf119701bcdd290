/* Tables over a backend: names become numbers, keys and columns are checked, batches collect. */
#include "grouperfish/table.h"

#include "base/memory.h"
#include "storage/schema.h"
#include "storage/table_internal.h"

#include <pthread.h>
#include <stdatomic.h>

struct gf_table {
    gf_table *next;
    gf_database *db;
    unsigned number;
    _Atomic(const gf_schema *)
        schema; /* as stored, kept by the backend; replaced by a longer one */
};

struct gf_database {
    gf_backend *backend;
    pthread_mutex_t lock; /* of the list of tables */
    gf_table *tables;
};

struct gf_snapshot {
    gf_database *db;
    const void *of_backend;
};

struct gf_scan {
    gf_database *db;
    const char *table;
    gf_backend_scan *of_backend;
    uint64_t left;
    gf_error ended; /* how, once it has; status GF_OK until then */
};

/* ---- databases, tables, snapshots ------------------------------------------------------------ */

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

gf_status gf_database_compact(gf_database *db, gf_error *err)
{
    return db->backend->operations->compact(db->backend, 0, err);
}

gf_status gf_database_purge(gf_database *db, unsigned milliseconds, gf_error *err)
{
    return db->backend->operations->compact(db->backend, milliseconds, err);
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

static gf_table *find_table(gf_database *db, unsigned number)
{
    for (gf_table *t = db->tables; t; t = t->next)
        if (t->number == number) return t;
    return NULL;
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

const gf_schema *gf_database_schema(gf_database *db, unsigned number)
{
    const gf_backend_operations *operations = db->backend->operations;
    return operations->schema_of ? operations->schema_of(db->backend, number) : NULL;
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

const gf_database *gf_table_database(const gf_table *table)
{
    return table->db;
}

gf_status gf_snapshot_create(gf_database *db, gf_snapshot **snapshot, gf_error *err)
{
    if (!(gf_database_capabilities(db) & GF_BACKEND_SNAPSHOT))
        return gf_fail(err, GF_EINVAL, "this database has no snapshots");
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

void gf_snapshot_free(gf_snapshot *s)
{
    if (!s) return;
    s->db->backend->operations->snapshot_free(s->db->backend, s->of_backend);
    gf_free(s);
}

/* ---- checks ---------------------------------------------------------------------------------- */

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

/* A column that the family does not know must not be known to another one. */
static gf_status check_owner(const gf_schema *s, unsigned family, gf_slice name, gf_error *err)
{
    for (unsigned f = 0; f < s->n_families; f++)
        if (f != family && gf_schema_column(&s->families[f], name, 0) >= 0)
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
    if (f->layout != GF_PACKED) return GF_OK;
    *number = gf_schema_column(f, name, *number + 1);
    return *number >= 0 ? GF_OK : check_owner(s, family, name, err);
}

uint32_t gf_table_families(const gf_table *t, uint32_t bits)
{
    unsigned n = gf_table_schema(t)->n_families;
    return n == GF_MAX_FAMILIES ? bits : bits & ((UINT32_C(1) << n) - 1);
}

/* ---- reading --------------------------------------------------------------------------------- */

static const void *backend_snapshot(const gf_snapshot *s)
{
    return s ? s->of_backend : NULL;
}

static gf_status get_cells(gf_table *t, const gf_snapshot *snapshot, gf_slice key,
                           const gf_selection *what, gf_row *row, gf_error *err)
{
    gf_backend *b = t->db->backend;
    gf_status st = gf_table_check_key(t, key, err);
    if (st == GF_OK) st = gf_row_begin(row, err);
    if (st == GF_OK) st = gf_row_set_key(row, key, err);
    if (st == GF_OK) {
        st = b->operations->get(b, backend_snapshot(snapshot), t->number, key, what, row, err);
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

/* ---- scans ----------------------------------------------------------------------------------- */

/* A bound must not reach beyond a row key, into what a backend may have behind it. */
static gf_status check_bound(const gf_schema *s, gf_slice bound, const char *what, gf_error *err)
{
    size_t length = gf_schema_row_length(s, bound);
    if (length == 0 || length == bound.len) return GF_OK;
    return gf_fail(err, GF_EINVAL, "table %s: the scan's %s is no row key nor the start of one",
                   s->name, what);
}

static gf_status check_scan(const gf_table *t, const gf_scan_options *o, gf_error *err)
{
    const gf_schema *s = gf_table_schema(t);
    gf_status st = gf_table_check_family(t, o->family, err);
    if (st == GF_OK) st = check_bound(s, o->prefix, "prefix", err);
    if (st == GF_OK) st = check_bound(s, o->start, "start", err);
    if (st == GF_OK) st = check_bound(s, o->end, "end", err);
    if (st != GF_OK || (!o->qualifier_prefix.len && !o->after_qualifier.ptr)) return st;
    if (s->families[o->family].layout == GF_WIDE && o->prefix.len &&
        gf_schema_row_length(s, o->prefix) == o->prefix.len)
        return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "table %s: a range of qualifiers needs a wide family and one whole row key",
                   s->name);
}

gf_status gf_scan_open(gf_table *t, const gf_scan_options *options, gf_scan **scan, gf_error *err)
{
    gf_status st = check_scan(t, options, err);
    if (st != GF_OK) return st;
    gf_scan *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a scan");
    s->db = t->db;
    s->table = gf_table_schema(t)->name;
    s->left = options->limit ? options->limit : UINT64_MAX;
    gf_backend *b = t->db->backend;
    st = b->operations->scan_open(b, backend_snapshot(options->snapshot), t->number, options,
                                  &s->of_backend, err);
    if (st != GF_OK) {
        gf_free(s);
        return st;
    }
    *scan = s;
    return GF_OK;
}

static gf_status next_entry(gf_scan *s, gf_row *row)
{
    gf_status st = gf_row_begin(row, &s->ended);
    if (st != GF_OK) return st;
    if (s->left == 0) return GF_ENOTFOUND;
    s->left--;
    st = s->db->backend->operations->scan_next(s->of_backend, row, &s->ended);
    if (st != GF_OK && st != GF_ENOTFOUND) gf_error_prefix(&s->ended, "table %s", s->table);
    return st;
}

gf_status gf_scan_next(gf_scan *s, gf_row *row, gf_error *err)
{
    if (s->ended.status == GF_OK) s->ended.status = next_entry(s, row);
    if (s->ended.status == GF_OK) return GF_OK;
    gf_row_clear(row);
    if (err) *err = s->ended;
    return s->ended.status;
}

void gf_scan_close(gf_scan *s)
{
    if (!s) return;
    s->db->backend->operations->scan_close(s->of_backend);
    gf_free(s);
}

gf_status gf_scan_cut(gf_table *t, const gf_scan_options *options, uint64_t bytes, gf_buffer *key,
                      gf_error *err)
{
    const gf_backend *b = t->db->backend;
    gf_status st = check_scan(t, options, err);
    if (st != GF_OK) return st;
    if (!b->operations->scan_cut) return GF_ENOTFOUND;
    st = b->operations->scan_cut(t->db->backend, backend_snapshot(options->snapshot), t->number,
                                 options, bytes, key, err);
    if (st != GF_OK && st != GF_ENOTFOUND)
        gf_error_prefix(err, "table %s", gf_table_schema(t)->name);
    return st;
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
