/* The table of papers: opening, keys, reading. */
#include "apps/papers/table/table_internal.h"

#include "base/memory.h"
#include "engine/rows/names.h"
#include "storage/backend.h"

#include <inttypes.h>

enum { MOST_TABLE_NAME = 64 };

static gf_status check_table(gf_slice table, gf_error *err)
{
    bool good = table.len > 0 && table.len <= MOST_TABLE_NAME;
    for (size_t i = 0; good && i < table.len; i++) {
        char c = table.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    }
    if (good) return GF_OK;
    return gf_fail(
        err, GF_EINVAL,
        "a table's version and environment are lower-case letters, digits, - and _, such "
        "as " GF_PAPERS_TABLE);
}

/* A database whose tables others know has the namespace in its own, and rows without it. */
static bool is_named(const gf_papers *p)
{
    return gf_database_capabilities(p->db) & GF_BACKEND_NAMED;
}

/* A family that is added, or chosen, is of the table as it is kept. */
static gf_status make_table(gf_papers *p, const char *name, gf_error *err)
{
    gf_schema made = *gf_papers_schema();
    made.name = name;
    if (is_named(p)) {
        made.parts++;
        made.n_parts--;
    }
    return gf_table_open(p->db, &made, &p->table, err);
}

static gf_status find_table(gf_papers *p, const char *name, bool create, gf_error *err)
{
    bool has = false;
    gf_status st = gf_database_has_table(p->db, name, &has, err);
    if (st != GF_OK) return st;
    if (!has && !create) return GF_ENOTFOUND;
    if (!has) return make_table(p, name, err);
    return is_named(p) ? gf_papers_open_as_kept(p->db, name, false, &p->table, err)
                       : gf_table_find(p->db, name, &p->table, err);
}

/* The schema's name is that of the table. */
static gf_status open_table(gf_papers *p, gf_slice table, bool create, gf_error *err)
{
    gf_buffer_str(&p->name, GF_PAPERS_PREFIX);
    gf_buffer_slice(&p->name, table);
    gf_status st = gf_buffer_check(&p->name, err);
    if (st == GF_OK) st = find_table(p, gf_buffer_cstr(&p->name), create, err);
    if (st == GF_ENOTFOUND)
        return gf_fail(err, st, "there is no table of papers \"%.*s\" (--table)",
                       GF_SLICE_ARG(table));
    return st == GF_OK ? gf_papers_complete(p, err) : st;
}

static gf_status check_namespace(const gf_papers *p, gf_slice name_space, gf_error *err)
{
    if (!is_named(p) || gf_slice_equal(name_space, GF_SLICE("default"))) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "namespace: a store in HBase has that of its URL, hbase://HOST:PORT/NAMESPACE");
}

static gf_status open_papers(gf_store *store, gf_slice name_space, gf_slice table, bool create,
                             gf_papers **papers, gf_error *err)
{
    gf_status st = gf_name_check("namespace", name_space, err);
    if (st == GF_OK) st = check_table(table, err);
    if (st != GF_OK) return st;
    gf_papers *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a table of papers");
    p->db = gf_store_database(store);
    if (!is_named(p)) gf_key_string(&p->name_space, name_space);
    st = check_namespace(p, name_space, err);
    if (st == GF_OK) st = gf_buffer_check(&p->name_space, err);
    if (st == GF_OK) st = open_table(p, table, create, err);
    if (st != GF_OK) {
        gf_papers_close(p);
        return st;
    }
    *papers = p;
    return GF_OK;
}

gf_status gf_papers_open(gf_store *store, gf_slice name_space, gf_slice table, gf_papers **papers,
                         gf_error *err)
{
    return open_papers(store, name_space, table, true, papers, err);
}

gf_status gf_papers_find(gf_store *store, gf_slice name_space, gf_slice table, gf_papers **papers,
                         gf_error *err)
{
    return open_papers(store, name_space, table, false, papers, err);
}

void gf_papers_close(gf_papers *p)
{
    if (!p) return;
    gf_buffer_release(&p->name);
    gf_buffer_release(&p->name_space);
    gf_free(p);
}

gf_table *gf_papers_table(const gf_papers *p)
{
    return p->table;
}

void gf_papers_key(const gf_papers *p, const gf_sha1 *sha1, gf_buffer *key)
{
    gf_buffer_slice(key, gf_buffer_view(&p->name_space));
    gf_buffer_append(key, sha1->bytes, GF_SHA1_BYTES);
}

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status not_there(const gf_sha1 *sha1, gf_error *err)
{
    return gf_fail(err, GF_ENOTFOUND, "there is no paper %s", gf_sha1_base32(sha1).text);
}

gf_status gf_papers_get(gf_papers *p, const gf_snapshot *snapshot, const gf_sha1 *sha1,
                        uint32_t wanted, gf_row *row, gf_error *err)
{
    gf_buffer key = {0};
    gf_papers_key(p, sha1, &key);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_table_get(p->table, snapshot, gf_buffer_view(&key), wanted, row, err);
    gf_buffer_release(&key);
    return st == GF_ENOTFOUND ? not_there(sha1, err) : st;
}

gf_status gf_papers_get_cell_of(gf_papers *p, const gf_snapshot *snapshot, const gf_sha1 *sha1,
                                unsigned family, gf_slice column, gf_row *row, gf_error *err)
{
    gf_buffer key = {0};
    gf_papers_key(p, sha1, &key);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get_cell(p->table, snapshot, gf_buffer_view(&key), family, column, 1, row,
                               err);
    gf_buffer_release(&key);
    if (st == GF_ENOTFOUND)
        return gf_fail(err, st, "paper %s has no %s:%.*s", gf_sha1_base32(sha1).text,
                       gf_table_schema(p->table)->families[family].name, GF_SLICE_ARG(column));
    return st;
}

gf_status gf_papers_get_cell(gf_papers *p, const gf_snapshot *snapshot, const gf_sha1 *sha1,
                             unsigned role, const char *column, gf_row *row, gf_error *err)
{
    return gf_papers_get_cell_of(p, snapshot, sha1, p->family[role], gf_slice_str(column), row,
                                 err);
}

/* ---- numbers --------------------------------------------------------------------------------- */

bool gf_papers_is_number(unsigned role, gf_slice column)
{
    return (role == GF_PAPERS_FILE && gf_slice_equal(column, GF_SLICE("size"))) ||
           (role == GF_PAPERS_GROBID && gf_slice_equal(column, GF_SLICE("status_code")));
}

gf_status gf_papers_number(unsigned role, gf_slice column, gf_slice value, gf_buffer *text,
                           gf_error *err)
{
    if (value.len != 8)
        return gf_fail(err, GF_ECORRUPT, "table of papers: %.*s is not 8 bytes",
                       GF_SLICE_ARG(column));
    if (role == GF_PAPERS_FILE)
        gf_buffer_format(text, "%" PRIu64, gf_read_u64be(value.ptr));
    else
        gf_buffer_format(text, "%" PRId64, (int64_t)gf_read_u64be(value.ptr));
    return gf_buffer_check(text, err);
}

void gf_papers_put_number(gf_buffer *b, int64_t v)
{
    gf_buffer_u64be(b, (uint64_t)v);
}
