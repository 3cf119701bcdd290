/*
 * Clustering documents as sums of the vectors of their words: a table of such vectors, made
 * elsewhere (formats/matrix/word_vectors.h), and the weights that the terms have in the rows of the texts.
 */
#include "engine/build/cluster.h"

#include "base/memory.h"
#include "cluster/dense/dense.h"
#include "formats/matrix/word_vectors.h"

#include <inttypes.h>

enum { ROWS_A_TASK = 512 };

/* The vectors of the vocabulary's terms, as documents write them most often. */
static gf_status read_vectors(const gf_build_plan *plan, const gf_vocabulary *vocabulary,
                              gf_term_vectors *v, gf_error *err)
{
    gf_word_vectors table = {0};
    gf_buffer path = {0};
    gf_slice *words = gf_array(vocabulary->n_terms, sizeof *words);
    gf_status st = words ? GF_OK : gf_fail_memory(err, "words");
    for (uint32_t t = 0; t < vocabulary->n_terms && st == GF_OK; t++)
        words[t] = gf_vocabulary_surface(vocabulary, t);
    gf_buffer_slice(&path, plan->settings.word_vectors);
    if (st == GF_OK) st = gf_buffer_check(&path, err);
    gf_build_plan_progress(plan, "reading word vectors", 0, 0);
    if (st == GF_OK)
        st = gf_word_vectors_read(gf_buffer_cstr(&path), words, vocabulary->n_terms,
                                  plan->options->cancel, &table, err);
    if (st == GF_OK) st = gf_term_vectors_take(v, table.n, table.d, table.row, table.known, err);
    if (st == GF_OK) v->hash = table.hash;
    gf_word_vectors_release(&table);
    gf_buffer_release(&path);
    gf_free(words);
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct summing {
    const gf_csr *x;
    const gf_term_vectors *vectors;
    float *rows;     /* x->n_rows * d */
    double *sums;    /* per worker: d */
    uint32_t *known; /* x->n_rows: 1 where the row has a direction */
} summing;

static gf_status sum_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)err;
    summing *s = context;
    uint32_t d = s->vectors->d, from = (uint32_t)index * ROWS_A_TASK;
    for (uint32_t i = from; i < s->x->n_rows && i < from + ROWS_A_TASK; i++)
        s->known[i] =
            gf_term_vectors_row(s->vectors, gf_csr_row(s->x, i), s->sums + (size_t)worker * d,
                                s->rows + (size_t)i * d) > 0;
    return GF_OK;
}

/* Rows that have a direction move to the front; out->row_of says whose they are. */
static uint32_t drop_unknown(const summing *s, uint32_t *row_of)
{
    uint32_t n = 0;
    size_t d = s->vectors->d;
    for (uint32_t i = 0; i < s->x->n_rows; i++) {
        if (!s->known[i]) continue;
        if (n < i) memcpy(s->rows + n * d, s->rows + i * d, d * sizeof *s->rows);
        row_of[n++] = i;
    }
    return n;
}

static gf_status sum_rows(gf_pool *pool, const gf_csr *x, const gf_cancel *cancel,
                          gf_build_clustered *out, uint32_t *n, gf_error *err)
{
    summing s = {.x = x, .vectors = &out->words};
    size_t d = out->words.d, tasks = (x->n_rows + (size_t)ROWS_A_TASK - 1) / ROWS_A_TASK;
    s.rows = out->dense = gf_array(x->n_rows, d * sizeof *s.rows);
    s.sums = gf_array(gf_pool_size(pool), d * sizeof *s.sums);
    s.known = gf_array(x->n_rows, sizeof *s.known);
    out->row_of = gf_array(x->n_rows, sizeof *out->row_of);
    bool ok = s.rows && s.sums && s.known && out->row_of;
    gf_status st =
        ok ? gf_pool_run(pool, tasks, sum_task, &s, cancel, err) : gf_fail_memory(err, "rows");
    if (st == GF_OK) *n = drop_unknown(&s, out->row_of);
    gf_free(s.sums);
    gf_free(s.known);
    return st;
}

gf_status gf_build_cluster_words(const gf_build_plan *plan, gf_pool *pool,
                                 const gf_build_gathered *documents,
                                 const gf_build_previous *previous, gf_kmeans_options *o,
                                 gf_build_clustered *out, gf_error *err)
{
    const gf_vectors *v = &documents->vectors;
    const gf_cancel *cancel = plan->options->cancel;
    uint32_t n = 0, *start = NULL;
    gf_status st = read_vectors(plan, &v->vocabulary, &out->words, err);
    if (st == GF_OK) st = sum_rows(pool, &v->x, cancel, out, &n, err);
    /* A purge leaves no words of what was deleted: then nothing is clustered. */
    if (st == GF_OK && n == 0 && plan->options->same_rows) return GF_OK;
    if (st == GF_OK && n == 0)
        st = gf_fail(err, GF_EINVAL,
                     "the word vectors of %.*s have none of the %" PRIu32 " terms of \"%.*s\"",
                     GF_SLICE_ARG(plan->settings.word_vectors), v->x.n_cols,
                     GF_SLICE_ARG(plan->where.collection));
    bool goes_on = plan->served.rows == GF_ROWS_OF_WORDS || plan->options->start == GF_START_SERVED;
    if (st == GF_OK && goes_on)
        st = gf_build_start_from_previous(plan, pool, NULL, previous, n, out, o, &start, err);
    else
        out->chosen_for = o->k ? 0 : n, out->settled_for = n;
    o->start = start;
    if (st == GF_OK)
        st =
            gf_dense_kmeans(pool, out->dense, n, out->words.d, GF_DENSE_FAST, o, &out->kmeans, err);
    if (st == GF_OK) st = gf_build_finish_dense(pool, &v->x, cancel, out, err);
    o->start = NULL;
    gf_free(start);
    return st;
}
