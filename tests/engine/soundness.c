#include "tests/engine/soundness.h"

#include "engine/rows/collection_row.h"
#include "engine/rows/scan.h"
#include "engine/store/lease.h"

#include <stdio.h>

typedef struct checking {
    gf_store *s;
    bool tidied;
    gf_slice collection; /* key */
    gf_slice build;      /* key */
    uint64_t size, seq, build_seq, n;
    gf_row found;
} checking;

static char fault[256];

static gf_status fails(const char *what, gf_slice key)
{
    size_t n = (size_t)snprintf(fault, sizeof fault, "%s: ", what);
    for (size_t i = 0; i < key.len && n + 4 < sizeof fault; i++) {
        unsigned char c = (unsigned char)key.ptr[i];
        n +=
            (size_t)snprintf(fault + n, sizeof fault - n, c > ' ' && c < 0x7F ? "%c" : "%%%02x", c);
    }
    return GF_ECORRUPT;
}

static gf_status walk(checking *c, gf_table *t, unsigned family, gf_slice prefix,
                      gf_status (*each)(void *, const gf_row *, gf_error *))
{
    gf_scan_options o = GF_SCAN_OPTIONS(.family = family, .prefix = prefix);
    gf_error err = {GF_OK, ""};
    gf_status st = gf_scan_each(t, &o, each, c, &err);
    if (st != GF_OK && !fault[0]) snprintf(fault, sizeof fault, "a scan: %s", err.message);
    return st;
}

static bool is_there(checking *c, gf_table *t, unsigned family, gf_slice key)
{
    return gf_table_get(t, NULL, key, 1u << family, &c->found, NULL) == GF_OK;
}

static uint64_t number(const gf_row *row, unsigned family, const char *name)
{
    uint64_t v = UINT64_MAX;
    gf_rows_cell_number(gf_row_find(row, family, name), &v);
    return v;
}

static gf_status count(void *context, const gf_row *row, gf_error *err)
{
    (void)row, (void)err;
    ((checking *)context)->n++;
    return GF_OK;
}

/* A batch of the collection was cut short: whoever holds it next finishes it first. */
static bool has_journal(checking *c, gf_slice collection)
{
    return gf_database_holds_in_rows(c->s->db) &&
           is_there(c, c->s->tables.collections, GF_COLLECTIONS_JOURNAL, collection);
}

/* ---- a build --------------------------------------------------------------------------------- */

static uint64_t count_below(checking *c, gf_table *t, unsigned family, gf_slice prefix)
{
    c->n = 0;
    return walk(c, t, family, prefix, count) == GF_OK ? c->n : UINT64_MAX;
}

/* Its members by id and by rank are as many as its size says. */
static gf_status check_cluster(void *context, const gf_row *row, gf_error *err)
{
    checking *c = context;
    gf_table *t = c->s->tables.clusters;
    uint64_t size = number(row, GF_CLUSTERS_MAIN, "size");
    (void)err;
    if (size == 0 || count_below(c, t, GF_CLUSTERS_DOCUMENTS, row->key) != size ||
        count_below(c, t, GF_CLUSTERS_RANKED, row->key) != size)
        return fails("a cluster has not the members of its size", row->key);
    return GF_OK;
}

static gf_status check_whole(checking *c, const gf_row *row)
{
    const gf_tables *t = &c->s->tables;
    uint64_t k = number(row, GF_BUILDS_MAIN, "k");
    if (count_below(c, t->clusters, GF_CLUSTERS_MAIN, row->key) != k)
        return fails("a build has not its clusters", row->key);
    if (count_below(c, t->memberships, GF_MEMBERSHIPS_MAIN, row->key) !=
        number(row, GF_BUILDS_MAIN, "documents"))
        return fails("a build has not its memberships", row->key);
    if (count_below(c, t->builds, GF_BUILDS_MODEL, row->key) < 2)
        return fails("a build has no model", row->key);
    return walk(c, t->clusters, GF_CLUSTERS_MAIN, row->key, check_cluster);
}

static gf_status check_change(void *context, const gf_row *row, gf_error *err)
{
    checking *c = context;
    gf_buffer key = {0};
    gf_slice id = gf_slice_skip(row->key, c->collection.len);
    gf_buffer name = {0};
    uint64_t seq = number(row, GF_DOCUMENTS_MAIN, "seq");
    gf_status st = GF_OK;
    (void)err;
    gf_key_take_string(&id, &name);
    gf_buffer_slice(&key, c->collection);
    gf_key_u64(&key, seq);
    if (seq > c->build_seq) {
        bool there = is_there(c, c->s->tables.changes, GF_CHANGES_MAIN, gf_buffer_view(&key));
        const gf_cell *cell = there ? gf_row_find(&c->found, GF_CHANGES_MAIN, "id") : NULL;
        if (!cell || !gf_slice_equal(cell->value, gf_buffer_view(&name)))
            st = fails("a document has no change", row->key);
    }
    gf_buffer_release(&key);
    gf_buffer_release(&name);
    return st;
}

static gf_status check_build(void *context, const gf_row *row, gf_error *err)
{
    checking *c = context;
    (void)err;
    if (is_there(c, c->s->tables.builds, GF_BUILDS_PROGRESS, row->key)) return GF_OK;
    gf_status st = check_whole(c, row);
    c->build_seq = number(row, GF_BUILDS_MAIN, "seq");
    if (st != GF_OK) return st;
    return walk(c, c->s->tables.documents, GF_DOCUMENTS_MAIN, c->collection, check_change);
}

/* ---- a collection ---------------------------------------------------------------------------- */

static gf_status check_document(void *context, const gf_row *row, gf_error *err)
{
    checking *c = context;
    (void)err;
    c->n++;
    if (number(row, GF_DOCUMENTS_MAIN, "seq") > c->seq)
        return fails("a document's seq is above its collection's", row->key);
    return GF_OK;
}

static gf_status check_pointers(checking *c, const gf_row *row)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < row->n_cells && st == GF_OK; i++) {
        gf_slice name;
        gf_buffer key = {0};
        uint64_t build = 0;
        if (row->cells[i].family != GF_COLLECTIONS_MAIN ||
            !gf_collection_row_configuration(row->cells[i].qualifier, "rebuilt", &name))
            continue;
        gf_rows_cell_number(&row->cells[i], &build);
        gf_buffer_slice(&key, row->key);
        gf_key_string(&key, name);
        gf_key_u64(&key, build);
        if (!is_there(c, c->s->tables.builds, GF_BUILDS_MAIN, gf_buffer_view(&key)))
            st = fails("a pointer leads nowhere", gf_buffer_view(&key));
        else if (!has_journal(c, row->key) &&
                 is_there(c, c->s->tables.builds, GF_BUILDS_PROGRESS, gf_buffer_view(&key)))
            st = fails("a build that is served has a mark", gf_buffer_view(&key));
        gf_buffer_release(&key);
    }
    return st;
}

static gf_status check_collection(void *context, const gf_row *row, gf_error *err)
{
    checking *c = context;
    (void)err;
    if (is_there(c, c->s->tables.collections, GF_COLLECTIONS_PROGRESS, row->key)) return GF_OK;
    c->collection = row->key;
    c->size = number(row, GF_COLLECTIONS_MAIN, "size");
    c->seq = number(row, GF_COLLECTIONS_MAIN, "seq");
    c->n = 0;
    if (has_journal(c, row->key)) return check_pointers(c, row);
    gf_status st = walk(c, c->s->tables.documents, GF_DOCUMENTS_MAIN, row->key, check_document);
    if (st == GF_OK && c->n != c->size) st = fails("a size is wrong", row->key);
    if (st == GF_OK) st = check_pointers(c, row);
    if (st == GF_OK) st = walk(c, c->s->tables.builds, GF_BUILDS_MAIN, row->key, check_build);
    return st;
}

/* ---- whatever is there ----------------------------------------------------------------------- */

static gf_status check_owned(void *context, const gf_row *row, gf_error *err)
{
    checking *c = context;
    gf_slice collection = gf_lease_collection(row->key);
    (void)err;
    if (is_there(c, c->s->tables.collections, GF_COLLECTIONS_MAIN, collection) ||
        has_journal(c, collection))
        return GF_OK;
    return fails("a row is of no collection", row->key);
}

/* Of a build that has its row, or a mark. */
static gf_status check_of_build(void *context, const gf_row *row, gf_error *err)
{
    checking *c = context;
    size_t length = gf_lease_collection(row->key).len;
    length += gf_key_string_length(gf_slice_skip(row->key, length)) + 8;
    gf_slice key = gf_slice_of(row->key.ptr, length);
    if (is_there(c, c->s->tables.collections, GF_COLLECTIONS_PROGRESS,
                 gf_lease_collection(row->key)))
        return check_owned(context, row, err); /* a deletion is under way */
    /* Such marks outlive their collection, until nobody can be writing any more. */
    if (gf_database_holds_in_rows(c->s->db) &&
        is_there(c, c->s->tables.builds, GF_BUILDS_PROGRESS, key))
        return GF_OK;
    if (!is_there(c, c->s->tables.builds, GF_BUILDS_MAIN, key) &&
        !is_there(c, c->s->tables.builds, GF_BUILDS_PROGRESS, key))
        return fails("a row is of no build", row->key);
    return check_owned(context, row, err);
}

static gf_status check_none(void *context, const gf_row *row, gf_error *err)
{
    (void)context, (void)err;
    return fails("a mark or a lease is left", row->key);
}

const char *soundness_fault(gf_store *s, bool tidied)
{
    const gf_tables *t = &s->tables;
    checking c = {.s = s, .tidied = tidied};
    const struct {
        gf_table *table;
        unsigned family;
        gf_status (*each)(void *, const gf_row *, gf_error *);
        bool if_tidied;
    } walks[] = {{t->collections, GF_COLLECTIONS_MAIN, check_collection, false},
                 {t->documents, GF_DOCUMENTS_MAIN, check_owned, false},
                 {t->changes, GF_CHANGES_MAIN, check_owned, false},
                 {t->clusters, GF_CLUSTERS_MAIN, check_of_build, false},
                 {t->clusters, GF_CLUSTERS_DOCUMENTS, check_of_build, false},
                 {t->clusters, GF_CLUSTERS_RANKED, check_of_build, false},
                 {t->memberships, GF_MEMBERSHIPS_MAIN, check_of_build, false},
                 {t->builds, GF_BUILDS_MAIN, check_of_build, false},
                 {t->builds, GF_BUILDS_MODEL, check_of_build, false},
                 {t->builds, GF_BUILDS_PROGRESS, check_none, true},
                 {t->collections, GF_COLLECTIONS_PROGRESS, check_none, true},
                 {t->collections, GF_COLLECTIONS_LEASES, check_none, true}};
    fault[0] = '\0';
    gf_status st = GF_OK;
    for (size_t i = 0; i < sizeof walks / sizeof walks[0] && st == GF_OK; i++)
        if (tidied || !walks[i].if_tidied)
            st = walk(&c, walks[i].table, walks[i].family, (gf_slice){0}, walks[i].each);
    if (st == GF_OK && tidied && gf_database_holds_in_rows(s->db))
        st = walk(&c, t->collections, GF_COLLECTIONS_JOURNAL, (gf_slice){0}, check_none);
    gf_row_release(&c.found);
    return st == GF_OK ? NULL : fault;
}
