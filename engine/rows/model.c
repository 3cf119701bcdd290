#include "engine/rows/model.h"

#include "base/memory.h"
#include "storage/tables.h"

void gf_model_centre_qualifier(gf_buffer *out, uint32_t id)
{
    gf_buffer_str(out, "centre");
    gf_buffer_u32be(out, id);
}

void gf_model_analysis_write(bool detect, const gf_fallback *fallback,
                             const gf_vectorizer_options *options, gf_buffer *out)
{
    if (detect)
        gf_languages_fallback_write(fallback, out);
    else
        gf_buffer_str(out, "fixed");
    gf_buffer_byte(out, '\n');
    gf_vectorizer_options_write(options, out);
}

/* ---- sparse vectors -------------------------------------------------------------------------- */

void gf_model_vector_write(gf_row_view row, gf_buffer *out)
{
    uint32_t before = 0;
    gf_buffer_varint(out, row.n);
    for (uint32_t p = 0; p < row.n; p++) {
        gf_buffer_varint(out, row.col[p] - before);
        before = row.col[p];
    }
    for (uint32_t p = 0; p < row.n; p++) {
        uint32_t bits;
        memcpy(&bits, &row.val[p], sizeof bits);
        char bytes[4] = {(char)bits, (char)(bits >> 8), (char)(bits >> 16), (char)(bits >> 24)};
        gf_buffer_append(out, bytes, sizeof bytes);
    }
}

static float take_float(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    uint32_t bits =
        (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

gf_status gf_model_vector_read(gf_slice bytes, uint32_t n_cols, uint32_t **col, float **val,
                               uint32_t *n, gf_error *err)
{
    uint32_t m, step, at = 0;
    uint32_t *cols = NULL;
    float *vals = NULL;
    if (!gf_slice_take_varint32(&bytes, &m) || m > bytes.len / 5) goto damaged;
    cols = gf_array(m, sizeof *cols);
    vals = gf_array(m, sizeof *vals);
    if (!cols || !vals) {
        gf_free(cols);
        gf_free(vals);
        return gf_fail_memory(err, "a vector");
    }
    for (uint32_t p = 0; p < m; p++) {
        if (!gf_slice_take_varint32(&bytes, &step) || (p && step == 0) || step >= n_cols - at)
            goto damaged;
        cols[p] = at += step;
    }
    if (bytes.len != (size_t)m * 4) goto damaged;
    for (uint32_t p = 0; p < m; p++)
        vals[p] = take_float(bytes.ptr + (size_t)p * 4);
    *col = cols;
    *val = vals;
    *n = m;
    return GF_OK;
damaged:
    gf_free(cols);
    gf_free(vals);
    return gf_fail(err, GF_ECORRUPT, "a stored vector is damaged");
}

/* ---- loading --------------------------------------------------------------------------------- */

static gf_status take_analysis(gf_model_analysis *a, gf_slice text, gf_error *err)
{
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    if (!end) return gf_fail(err, GF_ECORRUPT, "the analysis of a build is damaged");
    gf_slice first = gf_slice_of(text.ptr, (size_t)(end - text.ptr));
    a->detect = !gf_slice_equal(first, GF_SLICE("fixed"));
    gf_status st = a->detect ? gf_languages_fallback_read(first, &a->fallback, err) : GF_OK;
    gf_slice rest = gf_slice_skip(text, first.len + 1);
    return st == GF_OK ? gf_vectorizer_options_read(rest, &a->options, err) : st;
}

gf_status gf_model_analysis_load(gf_table *builds, const gf_snapshot *snapshot, gf_slice key,
                                 gf_model_analysis *a, gf_error *err)
{
    *a = (gf_model_analysis){0};
    gf_status st = gf_table_get_cell(builds, snapshot, key, GF_BUILDS_MODEL, GF_SLICE("analysis"),
                                     1, &a->row, err);
    if (st == GF_OK) st = take_analysis(a, a->row.cells[0].value, err);
    if (st == GF_ENOTFOUND) st = gf_fail(err, GF_ECORRUPT, "a build has lost its model");
    if (st != GF_OK) gf_model_analysis_release(a);
    return st;
}

void gf_model_analysis_release(gf_model_analysis *a)
{
    gf_row_release(&a->row);
    *a = (gf_model_analysis){0};
}

gf_status gf_model_analysis_language(const gf_model_analysis *a, gf_slice lang, gf_slice text,
                                     const gf_language **language, gf_error *err)
{
    if (a->detect) return gf_languages_of_document(&a->fallback, lang, text, language, err);
    *language = a->options.analysis.language;
    return GF_OK;
}

static gf_status load(gf_table *builds, const gf_snapshot *snapshot, gf_slice key, gf_model *m,
                      gf_error *err)
{
    gf_row row = {0};
    gf_status st = gf_model_analysis_load(builds, snapshot, key, &m->analysis, err);
    if (st == GF_OK)
        st = gf_table_get_cell(builds, snapshot, key, GF_BUILDS_MODEL, GF_SLICE("vocabulary"), 1,
                               &row, err);
    if (st == GF_OK) st = gf_vocabulary_read(row.cells[0].value, &m->vocabulary, err);
    gf_row_release(&row);
    if (st == GF_OK)
        st = gf_transformer_create(&m->analysis.options, &m->vocabulary, &m->transformer, err);
    if (st == GF_ENOTFOUND) st = gf_fail(err, GF_ECORRUPT, "a build has lost its model");
    return st;
}

gf_status gf_model_load(gf_table *builds, const gf_snapshot *snapshot, gf_slice key,
                        gf_model *model, gf_error *err)
{
    /* In place: the transformer keeps the vocabulary's address. */
    *model = (gf_model){0};
    gf_status st = load(builds, snapshot, key, model, err);
    if (st != GF_OK) gf_model_release(model);
    return st;
}

void gf_model_release(gf_model *m)
{
    gf_transformer_free(m->transformer);
    gf_vocabulary_release(&m->vocabulary);
    gf_model_analysis_release(&m->analysis);
    *m = (gf_model){0};
}

static gf_status work_out(const gf_model *m, gf_transformer *t, gf_slice lang, gf_slice text,
                          gf_row_view *row, gf_error *err)
{
    const gf_language *language;
    gf_status st = gf_model_analysis_language(&m->analysis, lang, text, &language, err);
    return st == GF_OK ? gf_transformer_row(t, text, language, row, NULL, err) : st;
}

gf_status gf_model_row(gf_model *m, gf_slice lang, gf_slice text, gf_row_view *row, gf_error *err)
{
    return work_out(m, m->transformer, lang, text, row, err);
}

/* ---- several threads ------------------------------------------------------------------------- */

gf_status gf_model_workers_init(gf_model_workers *workers, const gf_model *model, unsigned n,
                                gf_error *err)
{
    gf_model_workers w = {.model = model};
    gf_status st = gf_pool_create(n, &w.pool, err);
    if (st == GF_OK) {
        w.n = gf_pool_size(w.pool);
        w.transformer = gf_calloc(w.n, sizeof(gf_transformer *));
        if (!w.transformer) st = gf_fail_memory(err, "threads");
    }
    if (st == GF_OK)
        st = gf_transformer_create_group(&model->analysis.options, &model->vocabulary, w.n,
                                         w.transformer, err);
    if (st == GF_OK)
        *workers = w;
    else
        gf_model_workers_release(&w);
    return st;
}

void gf_model_workers_release(gf_model_workers *w)
{
    for (unsigned i = 0; w->transformer && i < w->n; i++)
        gf_transformer_free(w->transformer[i]);
    gf_free(w->transformer);
    gf_pool_free(w->pool);
    *w = (gf_model_workers){0};
}

gf_status gf_model_workers_bound(const gf_model_workers *w, gf_error *err)
{
    return gf_transformer_bound_group(w->transformer, w->n, err);
}

gf_status gf_model_workers_row(const gf_model_workers *w, unsigned worker, gf_slice lang,
                               gf_slice text, gf_row_view *row, gf_error *err)
{
    return work_out(w->model, w->transformer[worker], lang, text, row, err);
}
