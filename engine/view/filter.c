/* The documents that a view's build is about: its settings' filter and bounds select them. */
#include "engine/config/settings.h"
#include "engine/view/view.h"

static gf_status load_filter(gf_view *v, gf_error *err)
{
    gf_settings_map map;
    gf_resolved r;
    gf_status st = gf_settings_map_read_build(v->info.settings, &map, err);
    if (st != GF_OK) return st;
    st = gf_settings_resolve(&map, v->configuration, &r, err);
    gf_filter_init(&v->filter);
    if (st == GF_OK && r.filter.len) st = gf_filter_add_list(&v->filter, r.filter, err);
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

gf_status gf_view_selects(gf_view *v, const gf_row *document, bool *about, gf_error *err)
{
    gf_status st = v->filter_loaded ? GF_OK : load_filter(v, err);
    *about = true;
    if (st != GF_OK || gf_filter_is_empty(&v->filter)) return st;
    return gf_filter_test(&v->filter, document, about, err);
}
