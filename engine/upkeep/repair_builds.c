/*
 * Repairing builds, and the pointers to them.
 *
 *     build    one that does not agree with itself is dropped, with what belongs to none
 *     pointer  of a configuration: to the build that it leads to, where that is whole, else to the
 *              newest that is; where there is none it goes
 *     members  documents that are lost, and that builds have, count as deleted
 *
 * A build can only be looked at where its configuration is known, which a pointer makes it: so that
 * is set before, to the newest of the builds.
 */
#include "engine/upkeep/repair_internal.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/strings.h"
#include "engine/rows/collection_row.h"
#include "engine/rows/scan.h"
#include "engine/store/collections.h"
#include "engine/store/delete.h"
#include "engine/upkeep/verify.h"

#include <stdlib.h>

/* ---- the keys of builds ---------------------------------------------------------------------- */

/* All builds of which any row is there, and those that are whole. */
typedef struct build_keys {
    gf_repairing *r;
    gf_strings there, whole;
    gf_slice last; /* of the walk; borrowed from there */
} build_keys;

static gf_status note_build(void *context, const gf_row *row, gf_error *err)
{
    build_keys *k = context;
    size_t n = 0;
    uint32_t id;
    for (int part = 0; part < 3; part++)
        n += gf_key_string_length(gf_slice_skip(row->key, n));
    gf_slice key = gf_slice_of(row->key.ptr, n + 8);
    if (gf_slice_equal(key, k->last)) return GF_OK;
    gf_status st = gf_strings_add(&k->there, key, &id, NULL, err);
    if (st == GF_OK) k->last = gf_strings_at(&k->there, id);
    return st;
}

static gf_status list_builds(build_keys *k, gf_error *err)
{
    const gf_tables *t = &k->r->store->tables;
    gf_table *const all[] = {t->builds, t->clusters, t->memberships};
    gf_status st = GF_OK;
    for (size_t i = 0; i < 3; i++)
        for (unsigned f = 0; f < gf_table_schema(all[i])->n_families && st == GF_OK; f++) {
            gf_scan_options o = GF_SCAN_OPTIONS(.family = f, .keys_only = true, .as_stored = true);
            st = gf_scan_each(all[i], &o, note_build, k, err);
        }
    return st;
}

static int by_key(const void *a, const void *b)
{
    return gf_slice_compare(*(const gf_slice *)a, *(const gf_slice *)b);
}

/* ---- a configuration ------------------------------------------------------------------------- */

/* The builds of a configuration follow each other, by their times. */
typedef struct configuration {
    gf_repairing *r;
    build_keys *keys;
    gf_buffer parts[3]; /* namespace, collection, name */
    gf_buffer key;      /* of the collection */
    gf_place where;
    gf_slice name;
    uint64_t newest; /* whole one; 0: none */
} configuration;

static void release_configuration(configuration *c)
{
    for (int i = 0; i < 3; i++)
        gf_buffer_release(&c->parts[i]);
    gf_buffer_release(&c->key);
}

/* Take a build's key apart. */
static gf_status enter_build(configuration *c, gf_slice key, uint64_t *build, gf_error *err)
{
    for (int i = 0; i < 3; i++) {
        gf_buffer_reset(&c->parts[i]);
        gf_key_take_string(&key, &c->parts[i]);
        gf_status st = gf_buffer_check(&c->parts[i], err);
        if (st != GF_OK) return st;
    }
    if (!gf_key_take_u64(&key, build) || key.len)
        return gf_fail(err, GF_ECORRUPT, "table builds: a key is damaged");
    c->where = (gf_place){gf_buffer_view(&c->parts[0]), gf_buffer_view(&c->parts[1])};
    c->name = gf_buffer_view(&c->parts[2]);
    gf_buffer_reset(&c->key);
    gf_tables_collection_key(&c->key, c->where.name_space, c->where.collection);
    return gf_buffer_check(&c->key, err);
}

/* 0: to none. */
static gf_status set_pointer(configuration *c, uint64_t build, gf_error *err)
{
    static const char *const what[] = {"rebuilt", "processed"};
    gf_buffer column = {0};
    gf_status st = GF_OK;
    for (size_t i = 0; i < 2 && st == GF_OK; i++) {
        gf_buffer_reset(&column);
        gf_collection_row_column(&column, c->name, what[i]);
        st = gf_buffer_check(&column, err);
        if (st != GF_OK) break;
        if (build)
            gf_repair_put_number(c->r, gf_buffer_view(&c->key), gf_buffer_view(&column), build);
        else
            gf_batch_delete_cell(c->r->batch, c->r->store->tables.collections,
                                 gf_buffer_view(&c->key), GF_COLLECTIONS_MAIN,
                                 gf_buffer_view(&column));
    }
    gf_buffer_release(&column);
    return st == GF_OK ? gf_repair_flush(c->r, 0, err) : st;
}

static gf_status read_pointer(configuration *c, uint64_t *build, bool *collection, gf_error *err)
{
    gf_collection_row row = {0};
    gf_status st = gf_collection_row_read(c->r->store, NULL, c->where, &row, err);
    *collection = st == GF_OK;
    *build = st == GF_OK ? (uint64_t)gf_collection_row_served(&row, c->name) : 0;
    gf_collection_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status drop_build(configuration *c, gf_slice key, uint64_t build, gf_error *err)
{
    c->r->found.builds++;
    gf_status st =
        gf_repair_tell_of(c->r, c->where, c->name, build, "it is not whole, and is dropped", err);
    if (st == GF_OK) st = gf_delete_build(c->r->store, key, &(gf_deleter){0}, c->r->batch, err);
    return st == GF_OK ? gf_repair_flush(c->r, 0, err) : st;
}

/* ---- members whose documents are lost -------------------------------------------------------- */

typedef struct member_walk {
    gf_repairing *r;
    gf_place where;
    uint64_t seq, lost; /* of the collection */
    gf_buffer id, key;
} member_walk;

static gf_status check_member(void *context, const gf_row *row, gf_error *err)
{
    member_walk *w = context;
    bool there;
    gf_buffer_reset(&w->id);
    gf_buffer_reset(&w->key);
    gf_status st =
        gf_tables_key_last_string(w->r->store->tables.memberships, row->key, &w->id, err);
    gf_tables_document_key(&w->key, w->where.name_space, w->where.collection,
                           gf_buffer_view(&w->id));
    if (st == GF_OK) st = gf_buffer_check(&w->key, err);
    if (st == GF_OK)
        st = gf_scan_finds(w->r->store->tables.documents, NULL, GF_DOCUMENTS_MAIN,
                           gf_buffer_view(&w->key), &there, err);
    if (st != GF_OK || there) return st;
    gf_buffer_reset(&w->key);
    gf_tables_change_key(&w->key, w->where.name_space, w->where.collection, w->seq + ++w->lost);
    st = gf_buffer_check(&w->key, err);
    gf_column columns[] = {{GF_SLICE("id"), gf_buffer_view(&w->id)},
                           {GF_SLICE("operation"), GF_SLICE("delete")}};
    if (st == GF_OK)
        gf_batch_replace(w->r->batch, w->r->store->tables.changes, gf_buffer_view(&w->key),
                         GF_CHANGES_MAIN, columns, 2, 0);
    return st == GF_OK ? gf_repair_flush(w->r, GF_REPAIR_CHANGES, err) : st;
}

static gf_status check_members(gf_repairing *r, gf_place where, gf_slice build_key, gf_error *err)
{
    gf_collection_row row = {0};
    gf_buffer key = {0};
    member_walk w = {.r = r, .where = where};
    gf_scan_options o =
        GF_SCAN_OPTIONS(.family = GF_MEMBERSHIPS_MAIN, .prefix = build_key, .keys_only = true);
    gf_status st = gf_collection_row_read(r->store, NULL, where, &row, err);
    w.seq = row.seq;
    if (st == GF_OK) st = gf_scan_each(r->store->tables.memberships, &o, check_member, &w, err);
    gf_tables_collection_key(&key, where.name_space, where.collection);
    if (st == GF_OK) st = gf_buffer_check(&key, err);
    if (st == GF_OK && w.lost)
        gf_repair_put_number(r, gf_buffer_view(&key), GF_SLICE("seq"), w.seq + w.lost);
    if (st == GF_OK) st = gf_repair_flush(r, 0, err);
    gf_collection_row_release(&row);
    gf_buffer_release(&key);
    gf_buffer_release(&w.id);
    gf_buffer_release(&w.key);
    return st;
}

/* ---- each configuration ---------------------------------------------------------------------- */

static gf_status right_build(configuration *c, gf_slice key, bool collection, gf_error *err)
{
    uint64_t build;
    uint32_t id;
    bool whole = false;
    gf_status st = enter_build(c, key, &build, err);
    if (st == GF_OK && collection)
        st = gf_verify_build(c->r->store, c->where, c->name, (int64_t)build, c->r->cancel, &whole,
                             err);
    if (st != GF_OK) return st;
    if (!whole) return drop_build(c, key, build, err);
    c->newest = build;
    st = gf_strings_add(&c->keys->whole, key, &id, NULL, err);
    return st == GF_OK ? check_members(c->r, c->where, key, err) : st;
}

static gf_status move_pointer(configuration *c, uint64_t from, uint64_t to, gf_error *err)
{
    c->r->found.pointers++;
    gf_status st = gf_repair_tell_of(
        c->r, c->where, c->name, from,
        to ? "nothing leads to a whole build; now the newest that is whole is served"
           : "this build is served, but is missing; now none is served",
        err);
    return st == GF_OK ? set_pointer(c, to, err) : st;
}

/* keys[0] to keys[n-1], by time. */
static gf_status right_configuration(configuration *c, const gf_slice *keys, size_t n,
                                     gf_error *err)
{
    uint64_t newest, served = 0;
    bool collection = false, found = false;
    gf_status st = enter_build(c, keys[n - 1], &newest, err);
    if (st == GF_OK) st = read_pointer(c, &served, &collection, err);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        uint64_t build;
        st = enter_build(c, keys[i], &build, err);
        found = found || build == served;
    }
    if (st == GF_OK && collection && !found) st = set_pointer(c, newest, err);
    c->newest = 0;
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = right_build(c, keys[i], collection, err);
    if (st != GF_OK || !collection) return st;
    bool whole = false;
    for (size_t i = 0; i < n && served && !whole; i++) {
        uint64_t build = gf_read_u64be(keys[i].ptr + keys[i].len - 8);
        whole = build == served && gf_strings_find(&c->keys->whole, keys[i]) != GF_STRING_NONE;
    }
    if (whole) return GF_OK;
    /* Nothing was served, and nothing is: nobody has lost a pointer. */
    if (served == 0 && c->newest == 0) return set_pointer(c, 0, err);
    return move_pointer(c, served, c->newest, err);
}

static gf_status right_configurations(build_keys *k, gf_error *err)
{
    configuration c = {.r = k->r, .keys = k};
    size_t n = k->there.n;
    gf_slice *keys = gf_array(n + 1, sizeof *keys);
    if (!keys) return gf_fail_memory(err, "builds");
    for (uint32_t i = 0; i < n; i++)
        keys[i] = gf_strings_at(&k->there, i);
    if (n) qsort(keys, n, sizeof *keys, by_key);
    gf_status st = GF_OK;
    for (size_t i = 0, end; i < n && st == GF_OK; i = end) {
        gf_slice start = gf_slice_of(keys[i].ptr, keys[i].len - 8);
        for (end = i + 1;
             end < n && keys[end].len == keys[i].len && gf_slice_starts(keys[end], start);)
            end++;
        st = right_configuration(&c, keys + i, end - i, err);
    }
    gf_free(keys);
    release_configuration(&c);
    return st;
}

/* ---- each pointer ---------------------------------------------------------------------------- */

/* Pointers to no build of which any row is left. */
static gf_status check_pointers(void *context, const gf_row *row, gf_error *err)
{
    build_keys *k = context;
    configuration c = {.r = k->r, .keys = k};
    gf_buffer key = {0};
    gf_slice rest = row->key;
    gf_status st = GF_OK;
    gf_buffer_slice(&c.key, row->key);
    for (int i = 0; i < 2 && st == GF_OK; i++) {
        gf_key_take_string(&rest, &c.parts[i]);
        st = gf_buffer_check(&c.parts[i], err);
    }
    c.where = (gf_place){gf_buffer_view(&c.parts[0]), gf_buffer_view(&c.parts[1])};
    for (size_t i = 0; i < row->n_cells && st == GF_OK; i++) {
        uint64_t build = 0;
        if (!gf_collection_row_configuration(row->cells[i].qualifier, "rebuilt", &c.name)) continue;
        gf_buffer_reset(&key);
        bool number = gf_rows_cell_number(&row->cells[i], &build);
        gf_tables_build_key(&key, c.where.name_space, c.where.collection, c.name, (int64_t)build);
        st = gf_buffer_check(&key, err);
        if (st == GF_OK &&
            (!number || gf_strings_find(&k->whole, gf_buffer_view(&key)) == GF_STRING_NONE))
            st = move_pointer(&c, build, 0, err);
    }
    gf_buffer_release(&key);
    release_configuration(&c);
    return st;
}

gf_status gf_repair_builds(gf_repairing *r, gf_error *err)
{
    build_keys k = {.r = r};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_COLLECTIONS_MAIN);
    gf_status st = list_builds(&k, err);
    if (st == GF_OK) st = right_configurations(&k, err);
    if (st == GF_OK) st = gf_scan_each(r->store->tables.collections, &o, check_pointers, &k, err);
    gf_strings_release(&k.there);
    gf_strings_release(&k.whole);
    return st;
}
