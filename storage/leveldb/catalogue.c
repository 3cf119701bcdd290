/*
 * The catalogue: which tables the database has, under which numbers, with which schemas.
 *
 *     00 00 'F'                                 ->  format of keys and values (varint): 1; 2 where
 *                                                   families may be runs
 *     00 00 'T' name                            ->  number (u16 BE) | schema (schema.c)
 *     00 00 'C' number (u16 BE) | family (u8)   ->  empty: the family has held a cut value
 *
 * Marks of cut values have keys of their own, so that writers that put the first ones of a table at
 * the same time, or while it gets another family, do not undo each other's.
 */
#include "storage/leveldb/catalogue.h"

#include "storage/leveldb/keys.h"
#include "storage/schema.h"

#include <assert.h>

enum { FORMAT_WITHOUT_RUNS = 1, FORMAT = 2 };

#define FORMAT_KEY   gf_slice_of("\0\0F", 3)
#define TABLE_PREFIX gf_slice_of("\0\0T", 3)
#define CUT_PREFIX   gf_slice_of("\0\0C", 3)

/* ---- marks of cut values --------------------------------------------------------------------- */

bool gf_leveldb_catalogue_is_cut(const gf_leveldb *b, unsigned table, unsigned family)
{
    return atomic_load_explicit(&b->tables[table].cut, memory_order_acquire) >> family & 1;
}

void gf_leveldb_catalogue_set_cut(gf_leveldb *b, unsigned table, unsigned family)
{
    atomic_fetch_or_explicit(&b->tables[table].cut, UINT32_C(1) << family, memory_order_release);
}

gf_status gf_leveldb_catalogue_put_cut(unsigned table, unsigned family, gf_leveldb_batch *batch,
                                       gf_error *err)
{
    gf_buffer key = {0};
    gf_buffer_slice(&key, CUT_PREFIX);
    gf_leveldb_keys_family(&key, table, family);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) gf_leveldb_batch_put(batch, gf_buffer_view(&key), GF_SLICE(""));
    gf_buffer_release(&key);
    return st;
}

static gf_status load_cut(gf_leveldb *b, gf_slice key, gf_error *err)
{
    const unsigned char *p = (const unsigned char *)key.ptr + CUT_PREFIX.len;
    unsigned table = 0, family = 0;
    if (key.len == CUT_PREFIX.len + GF_LEVELDB_FAMILY_PREFIX) {
        table = (unsigned)p[0] << 8 | p[1];
        family = p[2];
    }
    if (table == 0 || table >= GF_MAX_TABLES || family >= GF_MAX_FAMILIES)
        return gf_fail(err, GF_ECORRUPT, "the catalogue is damaged: a mark of no family");
    gf_leveldb_catalogue_set_cut(b, table, family);
    return GF_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* A schema for the backend's life. */
static gf_status keep_schema(gf_leveldb *b, gf_slice bytes, const gf_schema **kept, gf_error *err)
{
    gf_schema *schema = gf_arena_alloc(&b->catalogue_memory, sizeof *schema);
    if (!schema) return gf_fail_memory(err, "the catalogue");
    gf_status st = gf_schema_read(bytes, &b->catalogue_memory, schema, err);
    if (st == GF_OK) *kept = schema;
    return st;
}

static void publish_schema(gf_leveldb *b, unsigned number, const gf_schema *schema)
{
    assert(number > 0 && number < GF_MAX_TABLES);
    atomic_store_explicit(&b->tables[number].schema, schema, memory_order_release);
    if (number >= b->n_tables) b->n_tables = number + 1;
}

static gf_status load_table(gf_leveldb *b, gf_slice key, gf_slice value, gf_error *err)
{
    gf_slice name = gf_slice_skip(key, TABLE_PREFIX.len), rest = value, bytes;
    const gf_schema *schema = NULL;
    unsigned number = 0;
    gf_error why = {GF_OK, "its number is not one"};
    if (gf_slice_take_bytes(&rest, 2, &bytes))
        number = (unsigned)(unsigned char)bytes.ptr[0] << 8 | (unsigned char)bytes.ptr[1];
    bool good = number > 0 && number < GF_MAX_TABLES && !gf_leveldb_schema(b, number);
    if (good) {
        gf_status st = keep_schema(b, rest, &schema, &why);
        if (st == GF_ENOMEM) return gf_fail_memory(err, "the catalogue");
        good = st == GF_OK && gf_schema_check(schema, &why) == GF_OK &&
               gf_slice_equal(gf_slice_str(schema->name), name);
    }
    if (!good)
        return gf_fail(err, GF_ECORRUPT, "the catalogue's entry of table %.*s is damaged: %s",
                       GF_SLICE_ARG(name), why.message);
    publish_schema(b, number, schema);
    return GF_OK;
}

static gf_status load_entries(gf_leveldb *b, gf_leveldb_iterator *it, gf_error *err)
{
    gf_status st = GF_OK;
    gf_leveldb_iterator_seek(it, gf_slice_of("\0\0", 2));
    for (; st == GF_OK && gf_leveldb_iterator_valid(it); gf_leveldb_iterator_next(it)) {
        gf_slice key = gf_leveldb_iterator_key(it);
        if (gf_slice_starts(key, TABLE_PREFIX))
            st = load_table(b, key, gf_leveldb_iterator_value(it), err);
        else if (gf_slice_starts(key, CUT_PREFIX))
            st = load_cut(b, key, err);
        else if (!gf_slice_starts(key, gf_slice_of("\0\0", 2)))
            break;
    }
    return st == GF_OK ? gf_leveldb_iterator_status(it, err) : st;
}

/* ---- the format ------------------------------------------------------------------------------ */

gf_status gf_leveldb_catalogue_create(gf_leveldb *b, gf_error *err)
{
    gf_leveldb_batch *batch = gf_leveldb_batch_create();
    gf_leveldb_batch_put(batch, FORMAT_KEY, gf_slice_of((const char[]){FORMAT_WITHOUT_RUNS}, 1));
    gf_status st = gf_leveldb_commit(b, batch, GF_SYNC_ON, err);
    gf_leveldb_batch_free(batch);
    return st;
}

static gf_status check_format(gf_leveldb *b, gf_error *err)
{
    gf_buffer value = {0};
    uint64_t format = 0;
    gf_status st = gf_leveldb_database_get(b->db, NULL, FORMAT_KEY, &value, err);
    gf_slice rest = gf_buffer_view(&value);
    if (st == GF_ENOTFOUND)
        st = gf_fail(err, GF_ECORRUPT, "the database has no format: it is damaged, or not ours");
    else if (st == GF_OK && (!gf_slice_take_varint(&rest, &format) || rest.len || format == 0))
        st = gf_fail(err, GF_ECORRUPT, "the database's format is damaged");
    else if (st == GF_OK && format > FORMAT)
        st = gf_fail(err, GF_EINVAL,
                     "the database has format %llu; this program knows up to %d: use a newer one",
                     (unsigned long long)format, FORMAT);
    gf_buffer_release(&value);
    return st;
}

gf_status gf_leveldb_catalogue_load(gf_leveldb *b, gf_error *err)
{
    b->n_tables = 1;
    gf_status st = check_format(b, err);
    if (st != GF_OK) return st;
    gf_leveldb_iterator *it = gf_leveldb_iterator_create(b->db, NULL, false);
    st = load_entries(b, it, err);
    gf_leveldb_iterator_free(it);
    return st;
}

/* ---- opening a table ------------------------------------------------------------------------- */

static unsigned find_table(const gf_leveldb *b, const char *name)
{
    for (unsigned i = 1; i < b->n_tables; i++) {
        const gf_schema *schema = gf_leveldb_schema(b, i);
        if (schema && strcmp(schema->name, name) == 0) return i;
    }
    return 0;
}

static bool has_run(const gf_schema *schema)
{
    for (unsigned f = 0; f < schema->n_families; f++)
        if (schema->families[f].run) return true;
    return false;
}

/*
 * Write the schema under that number, then let readers and writers have it. The first run of a
 * database of format 1 makes it one of format 2, which a program that knows no runs refuses.
 */
static gf_status store_schema(gf_leveldb *b, const gf_schema *schema, unsigned number,
                              gf_error *err)
{
    gf_buffer key = {0}, value = {0};
    const gf_schema *kept;
    gf_buffer_slice(&key, TABLE_PREFIX);
    gf_buffer_str(&key, schema->name);
    gf_buffer_append(&value, (char[]){(char)(number >> 8), (char)number}, 2);
    gf_schema_write(schema, &value);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_buffer_check(&value, err);
    if (st == GF_OK) st = keep_schema(b, gf_slice_skip(gf_buffer_view(&value), 2), &kept, err);
    if (st == GF_OK) {
        gf_leveldb_batch *batch = gf_leveldb_batch_create();
        gf_leveldb_batch_put(batch, gf_buffer_view(&key), gf_buffer_view(&value));
        if (has_run(schema))
            gf_leveldb_batch_put(batch, FORMAT_KEY, gf_slice_of((const char[]){FORMAT}, 1));
        st = gf_leveldb_commit(b, batch, GF_SYNC_ON, err);
        gf_leveldb_batch_free(batch);
    }
    if (st == GF_OK) publish_schema(b, number, kept);
    gf_buffer_release(&key);
    gf_buffer_release(&value);
    return st;
}

gf_status gf_leveldb_catalogue_set_family(gf_leveldb *b, unsigned table, unsigned family,
                                          const gf_family *fresh, gf_error *err)
{
    gf_family families[GF_MAX_FAMILIES];
    pthread_mutex_lock(&b->catalogue_lock);
    gf_schema schema = *gf_leveldb_schema(b, table); /* it may have grown meanwhile */
    memcpy(families, schema.families, schema.n_families * sizeof *families);
    families[family].versions = fresh->versions;
    families[family].ttl_seconds = fresh->ttl_seconds;
    schema.families = families;
    gf_status st = store_schema(b, &schema, table, err);
    pthread_mutex_unlock(&b->catalogue_lock);
    return st;
}

/* Looks for an entry under that number, which the catalogue does not name. */
static gf_status is_used(gf_leveldb *b, unsigned number, bool *used, gf_error *err)
{
    const char prefix[] = {(char)(number >> 8), (char)number};
    gf_leveldb_iterator *it = gf_leveldb_iterator_create(b->db, NULL, false);
    gf_leveldb_iterator_seek(it, gf_slice_of(prefix, sizeof prefix));
    *used = gf_leveldb_iterator_valid(it) &&
            gf_slice_starts(gf_leveldb_iterator_key(it), gf_slice_of(prefix, sizeof prefix));
    gf_status st = gf_leveldb_iterator_status(it, err);
    gf_leveldb_iterator_free(it);
    return st;
}

/* True where no table has the number, nor had it since the database was opened. */
static bool is_free(const gf_leveldb *b, unsigned number)
{
    return number > 0 && number < GF_MAX_TABLES && !gf_leveldb_schema(b, number) &&
           !b->tables[number].dropped;
}

/*
 * A number for a new table: the one that is wanted, else the first that is free. Where damage took
 * a table's name its rows are still there, and must not be another's.
 */
static gf_status choose_number(gf_leveldb *b, unsigned wanted, unsigned *number, gf_error *err)
{
    gf_status st = GF_OK;
    bool used = true;
    *number = wanted;
    if (is_free(b, wanted)) return GF_OK;
    for (unsigned i = 1; i < GF_MAX_TABLES && st == GF_OK && used; i++) {
        if (!is_free(b, i)) continue;
        *number = i;
        st = is_used(b, i, &used, err);
    }
    if (st != GF_OK || !used) return st;
    return gf_fail(err, GF_ELIMIT, "a database has at most %d tables", GF_MAX_TABLES - 1);
}

gf_status gf_leveldb_catalogue_remove(gf_leveldb *b, unsigned table, gf_error *err)
{
    gf_buffer key = {0};
    gf_leveldb_batch *batch = gf_leveldb_batch_create();
    pthread_mutex_lock(&b->catalogue_lock);
    const gf_schema *schema = gf_leveldb_schema(b, table);
    gf_buffer_slice(&key, TABLE_PREFIX);
    gf_buffer_str(&key, schema->name);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) gf_leveldb_batch_delete(batch, gf_buffer_view(&key));
    for (unsigned f = 0; f < GF_MAX_FAMILIES && st == GF_OK; f++) {
        gf_buffer_reset(&key);
        gf_buffer_slice(&key, CUT_PREFIX);
        gf_leveldb_keys_family(&key, table, f);
        st = gf_buffer_check(&key, err);
        if (st == GF_OK) gf_leveldb_batch_delete(batch, gf_buffer_view(&key));
    }
    if (st == GF_OK) st = gf_leveldb_commit(b, batch, GF_SYNC_ON, err);
    if (st == GF_OK) {
        b->tables[table].dropped = true;
        atomic_store_explicit(&b->tables[table].cut, 0, memory_order_release);
        atomic_store_explicit(&b->tables[table].schema, NULL, memory_order_release);
    }
    pthread_mutex_unlock(&b->catalogue_lock);
    gf_leveldb_batch_free(batch);
    gf_buffer_release(&key);
    return st;
}

static gf_status open_locked(gf_leveldb *b, const gf_schema *schema, unsigned *number,
                             gf_error *err)
{
    gf_joined_schema joined;
    unsigned n = find_table(b, schema->name);
    gf_status st = GF_OK;
    if (n) {
        st = gf_schema_join(gf_leveldb_schema(b, n), schema, &joined, err);
        if (st == GF_OK && joined.is_more) st = store_schema(b, &joined.schema, n, err);
    } else {
        st = choose_number(b, *number, &n, err);
        if (st == GF_OK) st = store_schema(b, schema, n, err);
    }
    if (st == GF_OK) *number = n;
    return st;
}

gf_status gf_leveldb_catalogue_open_table(gf_backend *backend, const gf_schema *schema,
                                          unsigned *number, const gf_schema **stored, gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    pthread_mutex_lock(&b->catalogue_lock);
    gf_status st = open_locked(b, schema, number, err);
    if (st == GF_OK) *stored = gf_leveldb_schema(b, *number);
    pthread_mutex_unlock(&b->catalogue_lock);
    return st;
}

const gf_schema *gf_leveldb_catalogue_schema_of(gf_backend *backend, unsigned number)
{
    return number < GF_MAX_TABLES ? gf_leveldb_schema((gf_leveldb *)backend, number) : NULL;
}
