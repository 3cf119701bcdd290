/* The model of a view's build, and the analysis of texts by it. */
#include "engine/view/view.h"

#include <inttypes.h>

gf_status gf_view_load_model(gf_view *v, gf_error *err)
{
    if (v->model_loaded) return GF_OK;
    gf_status st = gf_model_load(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                                 &v->model, err);
    uint32_t n = v->model.vocabulary.n_terms;
    if (st == GF_OK && v->info.rows == GF_ROWS_OF_TEXTS && n != v->info.terms) {
        /* Centres are read as far as the build has terms: none may be beyond the vocabulary. */
        gf_model_release(&v->model);
        return gf_fail(err, GF_ECORRUPT,
                       "a build has %" PRIu64 " terms, and its vocabulary %" PRIu32,
                       (uint64_t)v->info.terms, n);
    }
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

gf_status gf_view_terms(gf_view *v, gf_slice prefix, uint64_t limit, gf_visit_term *visit,
                        void *context, gf_error *err)
{
    gf_status st = gf_view_load_model(v, err);
    const gf_vocabulary *vocabulary = &v->model.vocabulary;
    for (uint32_t i = 0; st == GF_OK && limit && i < vocabulary->n_terms; i++) {
        gf_term_info term = {.term = gf_vocabulary_term(vocabulary, i),
                             .surface = gf_vocabulary_surface(vocabulary, i),
                             .documents = vocabulary->df[i]};
        if (!gf_slice_starts(term.term, prefix)) continue;
        st = visit(context, &term, err);
        limit--;
    }
    return st;
}
