/*
 * How the store's collections are: which have changed since they were built, what is being built,
 * and which rebuilds failed (engine/config/failure.h).
 */
#include "base/clock.h"
#include "base/memory.h"
#include "engine/rows/collection_row.h"
#include "engine/rows/scan.h"
#include "engine/store/builds.h"
#include "engine/store/collections.h"
#include "engine/store/lease.h"
#include "grouperfish/upkeep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- looking --------------------------------------------------------------------------------- */

typedef struct looking {
    gf_store *store;
    const gf_snapshot *snapshot;
    gf_store_health *health;
    gf_visit_changed *visit;
    void *context;
} looking;

static void copy_text(char *to, size_t size, gf_slice s)
{
    size_t n = s.len < size ? s.len : size - 1;
    while (n < s.len && n && ((unsigned char)s.ptr[n] & 0xc0) == 0x80)
        n--;
    if (n) memcpy(to, s.ptr, n);
    to[n] = '\0';
}

static gf_status take_failure(gf_store_health *h, gf_place where, gf_slice name, gf_slice value,
                              gf_error *err)
{
    gf_buffer text = {0};
    gf_buffer_slice(&text, value);
    gf_status st = gf_buffer_check(&text, err);
    if (st != GF_OK) return st;
    char *why;
    int64_t at = strtoll(gf_buffer_cstr(&text), &why, 10);
    h->failed++;
    if (at >= h->failed_at) {
        h->failed_at = at;
        copy_text(h->failed_namespace, sizeof h->failed_namespace, where.name_space);
        copy_text(h->failed_collection, sizeof h->failed_collection, where.collection);
        copy_text(h->failed_configuration, sizeof h->failed_configuration, name);
        copy_text(h->failed_why, sizeof h->failed_why, gf_slice_str(*why == ' ' ? why + 1 : why));
    }
    gf_buffer_release(&text);
    return GF_OK;
}

static gf_status find_failures(looking *l, gf_place where, const gf_row *row, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < row->n_cells && st == GF_OK; i++) {
        gf_slice name;
        if (row->cells[i].family == GF_COLLECTIONS_MAIN &&
            gf_collection_row_configuration(row->cells[i].qualifier, "failed", &name))
            st = take_failure(l->health, where, name, row->cells[i].value, err);
    }
    return st;
}

/* Raise *changes to those of the collection since it was built. */
static gf_status count_changes(looking *l, gf_place where, const gf_configuration_state *state,
                               uint64_t seq, uint64_t *changes, gf_error *err)
{
    gf_buffer key = {0};
    gf_row row = {0};
    gf_build_info info = {0};
    gf_tables_build_key(&key, where.name_space, where.collection, state->name, state->rebuilt);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(l->store->tables.builds, l->snapshot, gf_buffer_view(&key),
                          1u << GF_BUILDS_MAIN, &row, err);
    if (st == GF_OK) st = gf_build_decode(l->store, &row, &info, err);
    uint64_t n = seq > info.seq ? seq - info.seq : seq < info.seq;
    if (st == GF_OK && n > *changes) *changes = n;
    if (st == GF_OK && state->rebuilt > l->health->built) l->health->built = state->rebuilt;
    gf_row_release(&row);
    gf_buffer_release(&key);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status look_at(looking *l, gf_place where, const gf_collection_row *row, gf_error *err)
{
    gf_configuration_state *states = NULL;
    size_t n = 0;
    uint64_t changes = 0;
    gf_status st = find_failures(l, where, &row->row, err);
    if (st == GF_OK) st = gf_collection_row_states(row, &states, &n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = count_changes(l, where, &states[i], row->seq, &changes, err);
    gf_free(states);
    if (st != GF_OK || changes == 0) return st;
    l->health->changed++;
    l->health->pending += changes;
    return l->visit ? l->visit(l->context, where, err) : GF_OK;
}

static gf_status visit_row(void *context, const gf_row *found, gf_error *err)
{
    looking *l = context;
    gf_collection_row row = {.row = *found}; /* borrowed */
    gf_buffer parts[2] = {{0}};
    gf_slice key = found->key;
    bool going = false;
    gf_status st = gf_collection_row_decode(&row, err);
    if (st == GF_OK) st = gf_collection_is_deleting(l->store, l->snapshot, found->key, &going, err);
    if (st == GF_OK && !going) {
        bool good = gf_key_take_string(&key, &parts[0]) && gf_key_take_string(&key, &parts[1]);
        gf_place where = {gf_buffer_view(&parts[0]), gf_buffer_view(&parts[1])};
        if (!good) st = gf_fail(err, GF_ECORRUPT, "table collections: a key is damaged");
        if (st == GF_OK) st = gf_buffer_check(&parts[0], err);
        if (st == GF_OK) st = gf_buffer_check(&parts[1], err);
        if (st == GF_OK) st = look_at(l, where, &row, err);
    }
    gf_buffer_release(&parts[0]);
    gf_buffer_release(&parts[1]);
    return st;
}

gf_status gf_health_read(gf_store *s, gf_visit_changed *visit, void *context,
                         gf_store_health *health, gf_error *err)
{
    gf_store_health read = {.format = GF_STORE_FORMAT, .running = gf_lease_count(s)};
    gf_snapshot *snapshot = NULL;
    gf_status st = gf_snapshot_create(s->db, &snapshot, err);
    looking l = {s, snapshot, &read, visit, context};
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = snapshot, .family = GF_COLLECTIONS_MAIN);
    if (st == GF_OK) st = gf_scan_each(s->tables.collections, &o, visit_row, &l, err);
    gf_snapshot_free(snapshot);
    if (st == GF_OK) *health = read;
    return st;
}
