#include "engine/search/internal.h"

#include "base/memory.h"

static gf_status use_build(gf_search_source *s, gf_error *err)
{
    gf_slice key = gf_buffer_view(&s->view->key);
    s->snapshot = s->view->snapshot;
    gf_status st =
        gf_analysis_load(s->store->tables.builds, s->snapshot, key, &s->build_analysis, err);
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
    if (!s->has_index) return GF_OK;
    s->gone = gf_calloc(s->index.n, 1);
    return s->gone ? GF_OK : gf_fail_memory(err, "a search");
}

/* Nothing was built yet: the texts are read as a build would read them. */
static gf_status use_settings(gf_search_source *s, gf_error *err)
{
    gf_collection_row row = {0};
    gf_resolved r;
    gf_status st = gf_snapshot_create(s->store->db, &s->own, err);
    s->snapshot = s->own;
    if (st == GF_OK) st = gf_collection_row_read(s->store, s->own, s->where, &row, err);
    if (st == GF_OK)
        st = gf_configuration_load(s->store, s->own, s->where, &row, GF_SLICE("default"),
                                   &s->settings, err);
    if (st == GF_OK) st = gf_settings_resolve(&s->settings, GF_SLICE("default"), &r, err);
    if (st == GF_OK) {
        s->analysis = r.vectorizer.analysis;
        s->detect = r.detect;
    }
    /* The settings' values may lie in the row. */
    gf_slice more = s->analysis.more_stop_words;
    if (st == GF_OK && more.len) {
        s->analysis.more_stop_words = gf_arena_copy(&s->settings.memory, more);
        if (!s->analysis.more_stop_words.ptr) st = gf_fail_memory(err, "a search");
    }
    gf_collection_row_release(&row);
    return st;
}

gf_status gf_search_source_open(gf_search_source *s, gf_store *store, gf_place where,
                                const gf_cancel *cancel, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    *s = (gf_search_source){.store = store, .where = where, .cancel = cancel};
    gf_status st = gf_view_open(store, where, GF_SLICE("default"), 0, &s->view, &why);
    if (st == GF_OK) {
        st = use_build(s, err);
    } else if (st == GF_ENOTFOUND) {
        st = use_settings(s, err);
    } else if (err) {
        *err = why;
    }
    if (st != GF_OK) gf_search_source_close(s);
    return st;
}

void gf_search_source_close(gf_search_source *s)
{
    gf_search_index_release(&s->index);
    gf_analysis_release(&s->build_analysis);
    gf_settings_map_release(&s->settings);
    gf_free(s->gone);
    gf_view_close(s->view);
    gf_snapshot_free(s->own);
    *s = (gf_search_source){0};
}

gf_status gf_search_language(const gf_search_source *s, gf_slice lang, gf_slice text,
                             const gf_language **language, gf_error *err)
{
    if (s->detect) return gf_document_language(&s->fallback, lang, text, language, err);
    *language = s->analysis.language;
    return GF_OK;
}

gf_status gf_search_read(const gf_search_source *s, gf_slice id, gf_row *row, gf_error *err)
{
    gf_buffer key = {0};
    gf_document_key(&key, s->where.name_space, s->where.collection, id);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(s->store->tables.documents, s->snapshot, gf_buffer_view(&key),
                          1u << GF_DOCUMENTS_MAIN, row, err);
    gf_buffer_release(&key);
    return st;
}
