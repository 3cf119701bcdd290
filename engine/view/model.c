/* The model of a view's build, and the analysis of texts by it. */
#include "engine/view/view.h"

gf_status gf_view_load_model(gf_view *v, gf_error *err)
{
    if (v->model_loaded) return GF_OK;
    gf_status st = gf_model_load(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                                 &v->model, err);
    v->model_loaded = st == GF_OK;
    return st;
}

gf_status gf_view_language(gf_view *v, const gf_document *d, const char **name, gf_error *err)
{
    const gf_language *language;
    gf_status st = GF_OK;
    if (!v->analysis_loaded)
        st = gf_model_analysis_load(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                                    &v->analysis, err);
    v->analysis_loaded = st == GF_OK;
    if (st == GF_OK)
        st = gf_model_analysis_language(&v->analysis, d->language, d->text, &language, err);
    if (st == GF_OK) *name = language ? language->name : NULL;
    return st;
}
