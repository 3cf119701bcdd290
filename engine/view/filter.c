/* The documents that a view's build is about: its settings' filter and bounds select them. */
#include "engine/build/within.h"
#include "engine/config/settings.h"
#include "engine/store/collections.h"
#include "engine/view/view.h"

/* A cluster that is gone since means none of the documents that came. */
static gf_status load_within(gf_view *v, const gf_within *within, gf_error *err)
{
    gf_collection_row row = {0};
    gf_error gone;
    gf_status st = gf_collection_row_read(v->store, v->snapshot, v->where, &row, err);
    if (st == GF_OK) {
        st = gf_build_within_read(v->store, v->snapshot, v->where, &row, v->configuration, within,
                                  &v->within, &gone);
        if (st == GF_ECONFLICT)
            st = GF_OK;
        else if (st != GF_OK && err)
            *err = gone;
    }
    gf_collection_row_release(&row);
    v->filter.within = &v->within;
    v->filter.documents = v->store->tables.documents;
    return st;
}

static gf_status load_filter(gf_view *v, gf_error *err)
{
    gf_settings_map map;
    gf_resolved r;
    gf_status st = gf_settings_map_read_build(v->info.settings, &map, err);
    if (st != GF_OK) return st;
    st = gf_settings_resolve(&map, v->configuration, &r, err);
    gf_filter_init(&v->filter);
    if (st == GF_OK && r.filter.len) st = gf_filter_add_list(&v->filter, r.filter, err);
    if (st == GF_OK && r.within.configuration.len) st = load_within(v, &r.within, err);
    if (st == GF_OK) {
        v->filter.since = r.since;
        v->filter.until = r.until;
    } else {
        gf_filter_release(&v->filter);
    }
    gf_settings_map_release(&map);
    v->filter_loaded = st == GF_OK;
    return st;
}

gf_status gf_view_within(gf_view *v, const gf_id_set **within, gf_error *err)
{
    gf_status st = v->filter_loaded ? GF_OK : load_filter(v, err);
    if (st == GF_OK) *within = v->filter.within;
    return st;
}

gf_status gf_view_selects(gf_view *v, const gf_row *document, bool *about, gf_error *err)
{
    gf_status st = v->filter_loaded ? GF_OK : load_filter(v, err);
    *about = true;
    if (st != GF_OK || gf_filter_is_empty(&v->filter)) return st;
    return gf_filter_test(&v->filter, document, about, err);
}
