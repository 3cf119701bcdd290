/* The source of a search: one state of the collection, the analysis of its texts, the index. */
#include "engine/search/internal.h"

#include "base/memory.h"

static gf_status use_build(gf_search_source *s, gf_error *err)
{
    gf_slice key = gf_buffer_view(&s->view->key);
    gf_status st =
        gf_model_analysis_load(s->store->tables.builds, s->snapshot, key, &s->build_analysis, err);
    if (st != GF_OK) return st;
    s->analysis = s->build_analysis.options.analysis;
    s->detect = s->build_analysis.detect;
    s->fallback = s->build_analysis.fallback;
    gf_error why = {GF_OK, ""};
    st = gf_search_index_open(&s->index, s->store, s->snapshot, key, &why);
    s->has_index = st == GF_OK;
    if (st != GF_OK && st != GF_ENOTFOUND) {
        if (err) *err = why;
        return st;
    }
    return GF_OK;
}

/* Without a build the texts are analysed as a build would. */
static gf_status use_settings(gf_search_source *s, gf_error *err)
{
    gf_resolved r;
    const gf_slice configuration = GF_SLICE("default");
    gf_status st = gf_configuration_load(s->store, s->snapshot, s->where, &s->state->row,
                                         configuration, &s->settings, err);
    if (st == GF_OK) st = gf_settings_resolve(&s->settings, configuration, &r, err);
    if (st != GF_OK) return st;
    s->analysis = r.vectorizer.analysis;
    s->detect = r.detect;
    return GF_OK;
}

gf_status gf_search_source_open(gf_search_source *s, gf_store *store, gf_place where,
                                const gf_cancel *cancel, gf_error *err)
{
    *s = (gf_search_source){.store = store, .cancel = cancel};
    gf_status st = gf_state_open(store, where, &s->state, err);
    if (st != GF_OK) return st;
    s->snapshot = s->state->snapshot;
    s->where = s->state->where;
    gf_error why = {GF_OK, ""};
    st = gf_view_open_in(s->state, GF_SLICE("default"), 0, &s->view, &why);
    if (st == GF_OK)
        st = use_build(s, err);
    else if (st == GF_ENOTFOUND)
        st = use_settings(s, err);
    else if (err)
        *err = why;
    if (st != GF_OK) gf_search_source_close(s);
    return st;
}

void gf_search_source_close(gf_search_source *s)
{
    gf_search_index_release(&s->index);
    gf_model_analysis_release(&s->build_analysis);
    gf_settings_map_release(&s->settings);
    gf_free(s->outdated);
    gf_view_close(s->view);
    gf_state_close(s->state);
    *s = (gf_search_source){0};
}

gf_status gf_search_language(const gf_search_source *s, gf_slice lang, gf_slice text,
                             const gf_language **language, gf_error *err)
{
    if (s->detect) return gf_languages_of_document(&s->fallback, lang, text, language, err);
    *language = s->analysis.language;
    return GF_OK;
}
