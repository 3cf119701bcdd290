/* The builds of a configuration. */
#include "engine/view/view.h"

#include "base/memory.h"
#include "engine/config/pins.h"
#include "engine/config/settings.h"
#include "engine/store/builds.h"
#include "engine/view/state.h"

#include <inttypes.h>

/* The key is the configuration's; it is the same again afterwards. */
static gf_status visit_build(const gf_state *r, gf_buffer *key, int64_t build, int64_t served,
                             const gf_pins *pins, gf_visit_build *visit, void *context,
                             gf_error *err)
{
    gf_row row = {0};
    gf_build_info info;
    size_t configuration = key->len;
    gf_key_u64(key, (uint64_t)build);
    gf_status st = gf_buffer_check(key, err);
    if (st == GF_OK)
        st = gf_table_get(r->store->tables.builds, r->snapshot, gf_buffer_view(key),
                          1u << GF_BUILDS_MAIN, &row, err);
    if (st == GF_OK) st = gf_build_decode(r->store, &row, &info, err);
    if (st == GF_OK) {
        info.served = build == served;
        info.pinned = gf_pins_have_build(pins, build);
        st = visit(context, &info, err);
    }
    key->len = configuration;
    gf_row_release(&row);
    return st;
}

static gf_status visit_builds(const gf_state *r, gf_slice configuration, gf_visit_build *visit,
                              void *context, gf_error *err)
{
    gf_settings_map map = {0};
    gf_pins pins = {0};
    gf_buffer key = {0};
    int64_t *builds = NULL;
    size_t n = 0;
    gf_status st =
        gf_configuration_load(r->store, r->snapshot, r->where, &r->row, configuration, &map, err);
    if (st == GF_OK) st = gf_pins_read(r->row.pins, configuration, &pins, err);
    gf_tables_configuration_key(&key, r->where.name_space, r->where.collection, configuration);
    if (st == GF_OK) st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_builds_list(r->store, r->snapshot, gf_buffer_view(&key), &builds, &n, err);
    int64_t served = gf_collection_row_served(&r->row, configuration);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = visit_build(r, &key, builds[i], served, &pins, visit, context, err);
    gf_free(builds);
    gf_buffer_release(&key);
    gf_pins_release(&pins);
    gf_settings_map_release(&map);
    return st;
}

gf_status gf_builds_visit(gf_store *store, gf_place where, gf_slice configuration,
                          gf_visit_build *visit, void *context, gf_error *err)
{
    gf_state *r;
    gf_status st = gf_state_open(store, where, &r, err);
    if (st != GF_OK) return st;
    st = visit_builds(r, configuration, visit, context, err);
    gf_state_close(r);
    return st;
}

gf_status gf_view_open_before(const gf_view *later, gf_view **earlier, gf_error *err)
{
    const gf_state *state = later->state;
    gf_buffer key = {0};
    int64_t *builds = NULL, found = 0;
    size_t n = 0;
    gf_tables_configuration_key(&key, later->where.name_space, later->where.collection,
                                later->configuration);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_builds_list(state->store, state->snapshot, gf_buffer_view(&key), &builds, &n, err);
    for (size_t i = 0; i < n; i++)
        if (builds[i] < later->info.build && builds[i] > found) found = builds[i];
    gf_free(builds);
    gf_buffer_release(&key);
    if (st != GF_OK) return st;
    if (found) return gf_view_open_in(state, later->configuration, found, earlier, err);
    return gf_fail(err, GF_ENOTFOUND,
                   "there is nothing to compare: no build of \"%.*s\" is kept that is older than "
                   "%" PRId64,
                   GF_SLICE_ARG(later->where.collection), later->info.build);
}
