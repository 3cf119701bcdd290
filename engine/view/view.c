/* Views opened and closed. */
#include "engine/view/shelf.h"

#include "base/memory.h"
#include "engine/config/settings.h"
#include "engine/store/builds.h"

#include <inttypes.h>

/* The pins of the configuration, which must be there, and which build is served. */
static gf_status read_configuration(gf_view *v, int64_t *served, gf_error *err)
{
    const gf_collection_row *row = &v->state->row;
    gf_settings_map map = {0};
    gf_status st =
        gf_configuration_load(v->store, v->snapshot, v->where, row, v->configuration, &map, err);
    gf_settings_map_release(&map);
    if (st != GF_OK) return st;
    *served = gf_collection_row_served(row, v->configuration);
    return gf_pins_read(row->pins, v->configuration, &v->pins, err);
}

static gf_status copy_info(gf_view *v, const gf_build_info *info, gf_error *err)
{
    v->info = *info;
    v->info.settings = gf_arena_copy(&v->memory, info->settings);
    v->info.versions = gf_arena_copy(&v->memory, info->versions);
    bool ok = v->info.settings.ptr && v->info.versions.ptr;
    return ok ? GF_OK : gf_fail_memory(err, "a view");
}

/* A build that is not finished, or that is being deleted, is not there. */
static gf_status read_build(gf_view *v, int64_t build, int64_t served, gf_error *err)
{
    gf_build_info info;
    gf_tables_build_key(&v->key, v->where.name_space, v->where.collection, v->configuration, build);
    gf_status st = gf_buffer_check(&v->key, err);
    if (st == GF_OK)
        st = gf_table_get(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                          1u << GF_BUILDS_MAIN | 1u << GF_BUILDS_PROGRESS, &v->row, err);
    bool unfinished =
        st == GF_OK && build != served && gf_row_find(&v->row, GF_BUILDS_PROGRESS, "state");
    if (st == GF_OK && !unfinished) st = gf_build_decode(v->store, &v->row, &info, err);
    if (st == GF_ENOTFOUND && build == served)
        return gf_fail(err, GF_ECORRUPT, "the served build %" PRId64 " is missing", build);
    if (st == GF_ENOTFOUND || unfinished)
        return gf_fail(err, GF_ENOTFOUND, "there is no build %" PRId64 " of \"%.*s\"", build,
                       GF_SLICE_ARG(v->where.collection));
    if (st != GF_OK) return st;
    info.served = build == served;
    return copy_info(v, &info, err);
}

gf_status gf_view_open_in(const gf_state *state, gf_slice configuration, int64_t build,
                          gf_view **view, gf_error *err)
{
    int64_t served = 0;
    gf_view *v = gf_calloc(1, sizeof *v);
    if (!v) return gf_fail_memory(err, "a view");
    v->state = state;
    v->store = state->store;
    v->snapshot = state->snapshot;
    v->where = state->where;
    v->seq = state->row.seq;
    v->configuration = gf_arena_copy(&v->memory, configuration);
    gf_status st = v->configuration.ptr ? GF_OK : gf_fail_memory(err, "a view");
    if (st == GF_OK) st = read_configuration(v, &served, err);
    if (st == GF_OK && build == 0 && served == 0)
        st = gf_fail(err, GF_ENOTFOUND,
                     "collection \"%.*s\" has not been rebuilt by \"%.*s\" yet; rebuild it first",
                     GF_SLICE_ARG(v->where.collection), GF_SLICE_ARG(configuration));
    if (st == GF_OK) st = read_build(v, build ? build : served, served, err);
    if (st == GF_OK)
        *view = v;
    else
        gf_view_close(v);
    return st;
}

gf_status gf_view_open(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                       gf_view **view, gf_error *err)
{
    gf_state *state;
    gf_status st = gf_state_open(store, where, &state, err);
    if (st != GF_OK) return st;
    st = gf_view_open_in(state, configuration, build, view, err);
    if (st == GF_OK)
        (*view)->own_state = state;
    else
        gf_state_close(state);
    return st;
}

gf_status gf_view_open_warm(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                            gf_view **view, gf_error *err)
{
    gf_view *v;
    gf_status st = gf_view_open(store, where, configuration, build, &v, err);
    if (st == GF_OK) *view = gf_shelf_warm(v);
    return st;
}

/* Release all but the parts and the key. */
static void release_rest(gf_view *v)
{
    gf_model_analysis_release(&v->analysis);
    if (v->filter_loaded) gf_filter_release(&v->filter);
    gf_id_set_release(&v->within);
    gf_free(v->clusters);
    gf_free(v->by_size);
    gf_cluster_cache_drop(v->list);
    gf_deleted_set_drop(v->deleted);
    gf_pins_release(&v->pins);
    gf_new_clusters_release(&v->new_clusters);
    gf_row_release(&v->row);
    gf_row_release(&v->document_row);
    gf_buffer_release(&v->text);
    gf_arena_release(&v->memory);
    gf_state_close(v->own_state);
}

void gf_view_close(gf_view *v)
{
    if (!v) return;
    release_rest(v);
    if (gf_shelf_keep(v)) return;
    gf_shelf_release_parts(v);
    gf_buffer_release(&v->key);
    gf_free(v);
}

uint64_t gf_view_cluster_size(const gf_view *v, uint32_t cluster)
{
    const gf_listed_cluster *c = gf_view_find_cluster(v, cluster);
    const gf_new_candidate *new = c ? NULL : gf_view_find_new(v, cluster);
    return c ? c->size : new ? new->size : 0;
}

bool gf_view_hides(const gf_view *v, uint32_t cluster)
{
    return gf_pins_hide(&v->pins, cluster);
}

const gf_build_info *gf_view_build(const gf_view *v)
{
    return &v->info;
}

const gf_state *gf_view_state(const gf_view *v)
{
    return v->state;
}
