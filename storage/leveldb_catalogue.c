/*
 * The catalogue: which tables the database has, under which numbers, with which schemas.
 *
 *     00 00 'T' name  ->  number (u16 BE) | cut bits (u32 BE) | schema
 *     00 00 'F'       ->  format (varint) of keys and values in this database
 */
#include "storage/leveldb_internal.h"

#include "storage/schema.h"

enum { FORMAT = 1 };

static void table_key(gf_buffer *key, gf_slice name)
{
    gf_buffer_append(key, "\0\0T", 3);
    gf_buffer_slice(key, name);
}

static void write_entry(const gf_catalogued *t, unsigned number, gf_buffer *out)
{
    gf_buffer_append(out, (char[]){(char)(number >> 8), (char)number}, 2);
    gf_buffer_u32be(out, t->cut);
    gf_schema_write(t->schema, out);
}

const gf_schema *gf_leveldb_schema(gf_leveldb *b, unsigned table)
{
    pthread_mutex_lock(&b->catalogue_lock);
    const gf_schema *schema = b->tables[table].schema;
    pthread_mutex_unlock(&b->catalogue_lock);
    return schema;
}

bool gf_catalogue_is_cut(gf_leveldb *b, unsigned table, unsigned family)
{
    pthread_mutex_lock(&b->catalogue_lock);
    bool cut = b->tables[table].cut >> family & 1;
    pthread_mutex_unlock(&b->catalogue_lock);
    return cut;
}

static gf_status keep_schema(gf_leveldb *b, const gf_schema *from, const gf_schema **kept,
                             gf_error *err)
{
    gf_schema *copy = gf_arena_alloc(&b->catalogue_memory, sizeof *copy);
    if (!copy) return gf_fail_memory(err, "the catalogue");
    gf_status st = gf_schema_copy(from, &b->catalogue_memory, copy, err);
    if (st == GF_OK) *kept = copy;
    return st;
}

static gf_status load_table(gf_leveldb *b, gf_slice key, gf_slice value, gf_error *err)
{
    gf_slice rest = value, number_bytes;
    gf_catalogued t = {0};
    gf_schema *schema = gf_arena_alloc(&b->catalogue_memory, sizeof *schema);
    if (!schema) return gf_fail_memory(err, "the catalogue");
    unsigned number = 0;
    if (gf_take_bytes(&rest, 2, &number_bytes) && gf_take_u32be(&rest, &t.cut))
        number =
            (unsigned)(unsigned char)number_bytes.ptr[0] << 8 | (unsigned char)number_bytes.ptr[1];
    if (number == 0 || number >= GF_MAX_TABLES || b->tables[number].schema)
        return gf_fail(err, GF_ECORRUPT, "the catalogue entry of table %.*s is damaged",
                       GF_SLICE_ARG(gf_slice_skip(key, 3)));
    gf_status st = gf_schema_read(rest, &b->catalogue_memory, schema, err);
    if (st == GF_OK) st = gf_schema_check(schema, err);
    if (st != GF_OK) return st == GF_EINVAL ? GF_ECORRUPT : st;
    t.schema = schema;
    b->tables[number] = t;
    if (number >= b->n_tables) b->n_tables = number + 1;
    return GF_OK;
}

static gf_status load_tables(gf_leveldb *b, leveldb_iterator_t *it, gf_error *err)
{
    gf_status st = GF_OK;
    leveldb_iter_seek(it, "\0\0T", 3);
    for (; st == GF_OK && leveldb_iter_valid(it); leveldb_iter_next(it)) {
        gf_slice key = gf_leveldb_iterator_key(it);
        if (!gf_slice_starts(key, gf_slice_of("\0\0T", 3))) break;
        st = load_table(b, key, gf_leveldb_iterator_value(it), err);
    }
    return st == GF_OK ? gf_leveldb_iterator_status(it, err) : st;
}

/* A new database gets its format; an old one must have one that we know. */
static gf_status check_format(gf_leveldb *b, gf_error *err)
{
    gf_slice key = gf_slice_of("\0\0F", 3);
    gf_buffer value = {0};
    gf_status st = gf_leveldb_read(b, b->read, key, &value, err);
    if (st == GF_ENOTFOUND) {
        leveldb_writeoptions_t *options = leveldb_writeoptions_create();
        char *message = NULL;
        leveldb_writeoptions_set_sync(options, 1);
        leveldb_put(b->db, options, key.ptr, key.len, (const char[]){FORMAT}, 1, &message);
        leveldb_writeoptions_destroy(options);
        st = gf_leveldb_failure(message, err);
    } else if (st == GF_OK) {
        gf_slice rest = gf_buffer_view(&value);
        uint64_t format = 0;
        if (!gf_take_varint(&rest, &format) || rest.len || format == 0)
            st = gf_fail(err, GF_ECORRUPT, "the database's format is damaged");
        else if (format > FORMAT)
            st = gf_fail(
                err, GF_EINVAL,
                "the database has format %llu; this program knows up to %d: use a newer one",
                (unsigned long long)format, FORMAT);
    }
    gf_buffer_release(&value);
    return st;
}

gf_status gf_catalogue_load(gf_leveldb *b, gf_error *err)
{
    b->n_tables = 1;
    gf_status st = check_format(b, err);
    if (st != GF_OK) return st;
    leveldb_iterator_t *it = leveldb_create_iterator(b->db, b->read);
    if (!it) return gf_fail_memory(err, "the catalogue");
    st = load_tables(b, it, err);
    leveldb_iter_destroy(it);
    return st;
}

static gf_status store_entry(gf_leveldb *b, const gf_catalogued *t, unsigned number, gf_error *err)
{
    gf_buffer key = {0}, value = {0};
    table_key(&key, gf_slice_str(t->schema->name));
    write_entry(t, number, &value);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_buffer_check(&value, err);
    if (st == GF_OK) {
        leveldb_writeoptions_t *options = leveldb_writeoptions_create();
        char *message = NULL;
        leveldb_writeoptions_set_sync(options, 1);
        leveldb_put(b->db, options, key.ptr, key.len, value.ptr, value.len, &message);
        leveldb_writeoptions_destroy(options);
        st = gf_leveldb_failure(message, err);
    }
    gf_buffer_release(&key);
    gf_buffer_release(&value);
    return st;
}

static unsigned find(const gf_leveldb *b, const char *name)
{
    for (unsigned i = 1; i < b->n_tables; i++)
        if (b->tables[i].schema && strcmp(b->tables[i].schema->name, name) == 0) return i;
    return 0;
}

static bool same(const gf_schema *a, const gf_schema *b)
{
    return gf_schema_extends(a, b, NULL) == GF_OK && gf_schema_extends(b, a, NULL) == GF_OK;
}

static gf_status open_locked(gf_leveldb *b, const gf_schema *schema, unsigned *number,
                             gf_error *err)
{
    unsigned n = find(b, schema->name);
    gf_catalogued t = {0};
    gf_status st = GF_OK;
    if (n) {
        t = b->tables[n];
        if (same(t.schema, schema)) {
            *number = n;
            return GF_OK;
        }
        st = gf_schema_extends(t.schema, schema, err);
    } else if (b->n_tables == GF_MAX_TABLES) {
        st = gf_fail(err, GF_ELIMIT, "a database has at most %d tables", GF_MAX_TABLES - 1);
    }
    if (st == GF_OK) st = keep_schema(b, schema, &t.schema, err);
    if (n == 0) n = b->n_tables;
    if (st == GF_OK) st = store_entry(b, &t, n, err);
    if (st != GF_OK) return st;
    b->tables[n] = t;
    if (n == b->n_tables) b->n_tables++;
    *number = n;
    return GF_OK;
}

gf_status gf_catalogue_open_table(gf_backend *backend, const gf_schema *schema, unsigned *number,
                                  const gf_schema **stored, gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    pthread_mutex_lock(&b->catalogue_lock);
    gf_status st = open_locked(b, schema, number, err);
    if (st == GF_OK) *stored = b->tables[*number].schema;
    pthread_mutex_unlock(&b->catalogue_lock);
    return st;
}

gf_status gf_catalogue_mark_cut(gf_leveldb *b, unsigned table, unsigned family,
                                leveldb_writebatch_t *batch, gf_error *err)
{
    gf_buffer key = {0}, value = {0};
    pthread_mutex_lock(&b->catalogue_lock);
    gf_catalogued t = b->tables[table];
    t.cut |= UINT32_C(1) << family;
    table_key(&key, gf_slice_str(t.schema->name));
    write_entry(&t, table, &value);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_buffer_check(&value, err);
    if (st == GF_OK) {
        leveldb_writebatch_put(batch, key.ptr, key.len, value.ptr, value.len);
        b->tables[table].cut = t.cut;
    }
    pthread_mutex_unlock(&b->catalogue_lock);
    gf_buffer_release(&key);
    gf_buffer_release(&value);
    return st;
}
