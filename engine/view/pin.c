/* Serving a kept build again, and pinning builds. */
#include "engine/config/pins.h"
#include "engine/view/view.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/config/settings.h"
#include "engine/store/builds.h"
#include "engine/store/hold.h"

#include <inttypes.h>

/* ---- the collection's row, while it is held --------------------------------------------------- */

typedef struct pinning {
    gf_store *store;
    gf_place where;
    gf_slice configuration;
    gf_buffer key; /* of the collection */
    gf_collection_row row;
    gf_pins pins;
    gf_batch *batch;
} pinning;

static gf_status begin(pinning *p, gf_error *err)
{
    gf_settings_map map = {0};
    gf_tables_collection_key(&p->key, p->where.name_space, p->where.collection);
    gf_status st = gf_buffer_check(&p->key, err);
    if (st == GF_OK) st = gf_batch_create(p->store->db, &p->batch, err);
    if (st == GF_OK) st = gf_collection_row_read(p->store, NULL, p->where, &p->row, err);
    if (st == GF_OK)
        st = gf_configuration_load(p->store, NULL, p->where, &p->row, p->configuration, &map, err);
    if (st == GF_OK) st = gf_pins_read(p->row.pins, p->configuration, &p->pins, err);
    gf_settings_map_release(&map);
    return st;
}

static void release(pinning *p)
{
    gf_batch_free(p->batch);
    gf_collection_row_release(&p->row);
    gf_pins_release(&p->pins);
    gf_buffer_release(&p->key);
}

static gf_status write_pins(pinning *p, gf_error *err)
{
    gf_buffer column = {0};
    gf_status st = gf_pins_write(p->row.pins, p->configuration, &p->pins, &column, err);
    if (st == GF_OK) {
        gf_batch_put(p->batch, p->store->tables.collections, gf_buffer_view(&p->key),
                     GF_COLLECTIONS_MAIN, GF_SLICE("pins"), gf_buffer_view(&column), 0);
        st = gf_batch_write(p->batch, GF_SYNC_ON, err);
    }
    gf_buffer_release(&column);
    return st;
}

static gf_status find_build(pinning *p, int64_t build, gf_error *err)
{
    gf_buffer key = {0};
    int64_t *builds = NULL;
    size_t n = 0;
    bool there = false;
    gf_tables_configuration_key(&key, p->where.name_space, p->where.collection, p->configuration);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_builds_list(p->store, NULL, gf_buffer_view(&key), &builds, &n, err);
    for (size_t i = 0; i < n; i++)
        there |= builds[i] == build;
    if (st == GF_OK && !there)
        st = gf_fail(err, GF_ENOTFOUND, "there is no build %" PRId64 " of \"%.*s\"", build,
                     GF_SLICE_ARG(p->where.collection));
    gf_free(builds);
    gf_buffer_release(&key);
    return st;
}

/* ---- builds ---------------------------------------------------------------------------------- */

static void put_number(pinning *p, const char *what, int64_t v, gf_buffer *column)
{
    gf_number_digits digits;
    gf_buffer_reset(column);
    gf_collection_row_column(column, p->configuration, what);
    gf_batch_put(p->batch, p->store->tables.collections, gf_buffer_view(&p->key),
                 GF_COLLECTIONS_MAIN, gf_buffer_view(column), gf_number_write(&digits, (uint64_t)v),
                 0);
}

static gf_status serve(pinning *p, int64_t build, gf_error *err)
{
    gf_buffer column = {0};
    gf_status st = begin(p, err);
    if (st == GF_OK) st = find_build(p, build, err);
    if (st == GF_OK) {
        put_number(p, "rebuilt", build, &column);
        put_number(p, "processed", gf_clock_ms(), &column);
        st = gf_buffer_check(&column, err);
    }
    if (st == GF_OK) st = gf_batch_write(p->batch, GF_SYNC_ON, err);
    gf_buffer_release(&column);
    return st;
}

gf_status gf_pin_publish(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                         gf_error *err)
{
    pinning p = {.store = store, .where = where, .configuration = configuration};
    gf_hold hold;
    gf_status st = gf_hold_collection(store, where, &hold, err);
    if (st == GF_OK) st = serve(&p, build, err);
    gf_hold_let_go(&hold);
    release(&p);
    return st;
}

static gf_status change_build(pinning *p, int64_t build, bool pinned, gf_error *err)
{
    size_t n = 0;
    gf_status st = begin(p, err);
    if (st == GF_OK && pinned) st = find_build(p, build, err);
    if (st != GF_OK || gf_pins_have_build(&p->pins, build) == pinned) return st;
    int64_t *builds = gf_arena_alloc(&p->pins.memory, (p->pins.n_builds + 1) * sizeof *builds);
    if (!builds) return gf_fail_memory(err, "pins");
    for (size_t i = 0; i < p->pins.n_builds; i++)
        if (p->pins.builds[i] != build) builds[n++] = p->pins.builds[i];
    if (pinned) builds[n++] = build;
    p->pins.builds = builds;
    p->pins.n_builds = n;
    return write_pins(p, err);
}

gf_status gf_pin_build(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                       bool pinned, gf_error *err)
{
    pinning p = {.store = store, .where = where, .configuration = configuration};
    gf_hold hold;
    gf_status st = gf_hold_collection(store, where, &hold, err);
    if (st == GF_OK) st = change_build(&p, build, pinned, err);
    gf_hold_let_go(&hold);
    release(&p);
    return st;
}
