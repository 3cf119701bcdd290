/* Serving a kept build again, pinning builds, and pinning labels of clusters. */
#include "engine/config/pins.h"
#include "engine/view/view.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/utf8.h"
#include "engine/config/settings.h"
#include "engine/store/builds.h"
#include "engine/store/lock.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_LABEL = 200 }; /* bytes */

/* ---- the collection's row, under the write lock ---------------------------------------------- */

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
    gf_status st = gf_store_lock(store, err);
    if (st == GF_OK) st = serve(&p, build, err);
    gf_store_unlock(store);
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
    gf_status st = gf_store_lock(store, err);
    if (st == GF_OK) st = change_build(&p, build, pinned, err);
    gf_store_unlock(store);
    release(&p);
    return st;
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* The cluster must be there, and no sibling may have the label, in whatever case. */
static gf_status check_siblings(pinning *p, uint32_t cluster, gf_slice label, gf_error *err)
{
    gf_view *v;
    gf_status st = gf_view_open(p->store, p->where, p->configuration, 0, &v, err);
    if (st != GF_OK) return st;
    st = gf_view_list_clusters(v, err);
    if (st == GF_OK && !gf_view_find_cluster(v, cluster))
        st = gf_fail(err, GF_ENOTFOUND, "there is no cluster %" PRIu32, cluster);
    for (size_t i = 0; st == GF_OK && i < v->n_clusters; i++)
        if (v->clusters[i].id != cluster && gf_utf8_same_letters(v->clusters[i].label, label))
            st = gf_fail(err, GF_EEXISTS, "cluster %" PRIu32 " is called \"%.*s\" already",
                         v->clusters[i].id, GF_SLICE_ARG(v->clusters[i].label));
    gf_view_close(v);
    return st;
}

static gf_status change_label(pinning *p, uint32_t cluster, gf_slice label, gf_error *err)
{
    size_t n = 0;
    gf_status st = begin(p, err);
    if (st == GF_OK && label.len) st = check_siblings(p, cluster, label, err);
    if (st != GF_OK) return st;
    if (!label.len && !gf_pins_label(&p->pins, cluster))
        return gf_fail(err, GF_ENOTFOUND, "the label of cluster %" PRIu32 " is not pinned",
                       cluster);
    gf_pinned_label *labels =
        gf_arena_alloc(&p->pins.memory, (p->pins.n_labels + 1) * sizeof *labels);
    if (!labels) return gf_fail_memory(err, "pins");
    for (size_t i = 0; i < p->pins.n_labels; i++)
        if (p->pins.labels[i].cluster != cluster) labels[n++] = p->pins.labels[i];
    if (label.len) labels[n++] = (gf_pinned_label){cluster, label};
    p->pins.labels = labels;
    p->pins.n_labels = n;
    return write_pins(p, err);
}

static gf_status check_label(gf_slice label, gf_error *err)
{
    if (label.len > MOST_LABEL)
        return gf_fail(err, GF_EINVAL, "a label has at most %d bytes", MOST_LABEL);
    if (gf_utf8_valid_length(label) != label.len)
        return gf_fail(err, GF_EINVAL, "the label is not valid UTF-8");
    if (gf_utf8_same_letters(label, GF_SLICE("without terms")))
        return gf_fail(err, GF_EINVAL,
                       "\"without terms\" is what documents in no cluster are called");
    for (size_t i = 0; i < label.len; i++)
        if ((unsigned char)label.ptr[i] < 0x20)
            return gf_fail(err, GF_EINVAL, "a label has no control characters");
    return GF_OK;
}

gf_status gf_pin_label(gf_store *store, gf_place where, gf_slice configuration, uint32_t cluster,
                       gf_slice label, gf_error *err)
{
    pinning p = {.store = store, .where = where, .configuration = configuration};
    gf_status st = check_label(label, err);
    if (st != GF_OK) return st;
    st = gf_store_lock(store, err);
    if (st == GF_OK) st = change_label(&p, cluster, label, err);
    gf_store_unlock(store);
    release(&p);
    return st;
}
