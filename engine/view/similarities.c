/*
 * Similarities of texts to all centres: the centres are turned once, so that each term of a text adds
 * to those clusters that have it.
 */
#include "engine/view/view.h"

#include "base/memory.h"
#include "grouperfish/matrix.h"

static void add_row(const gf_csr *by_term, gf_row_view row, double *sum)
{
    for (uint32_t e = 0; e < row.n; e++) {
        uint32_t term = row.col ? row.col[e] : e;
        if (term >= by_term->n_rows) continue;
        gf_row_view clusters = gf_csr_row(by_term, term);
        for (uint32_t c = 0; c < clusters.n; c++)
            sum[clusters.col[c]] += (double)row.val[e] * (double)clusters.val[c];
    }
}

/* Texts of a task. */
enum { TASK_TEXTS = 64 };

typedef struct texts_asked {
    gf_view *view;
    const gf_csr *by_term;
    const gf_document *document; /* n */
    size_t n;
    float *similarity;         /* n * k */
    double *sum;               /* k of each worker */
    gf_model_workers *workers; /* NULL: the view's own analysis, in one thread */
} texts_asked;

static gf_status row_of(const texts_asked *a, unsigned worker, const gf_document *d,
                        gf_row_view *row, gf_error *err)
{
    if (!a->workers) return gf_view_row_of(a->view, d, row, err);
    return gf_model_workers_row(a->workers, worker, d->language, d->text, row, err);
}

static gf_status texts_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    const texts_asked *a = context;
    uint32_t k = a->by_term->n_cols;
    double *sum = a->sum + (size_t)worker * k;
    size_t from = index * TASK_TEXTS, to = a->n - from > TASK_TEXTS ? from + TASK_TEXTS : a->n;
    for (size_t i = from; i < to; i++) {
        gf_row_view row;
        gf_status st = row_of(a, worker, &a->document[i], &row, err);
        if (st != GF_OK) return st;
        for (uint32_t c = 0; c < k; c++)
            sum[c] = 0;
        add_row(a->by_term, row, sum);
        for (uint32_t c = 0; c < k; c++)
            a->similarity[i * k + c] = sum[c] < 0 ? 0 : sum[c] > 1 ? 1 : (float)sum[c];
    }
    return GF_OK;
}

/* Texts by several threads; given rows, and those of word vectors, by this one. */
static gf_status ask_texts(texts_asked *a, unsigned threads, const gf_cancel *cancel, gf_error *err)
{
    gf_model_workers workers = {0};
    size_t tasks = (a->n + TASK_TEXTS - 1) / TASK_TEXTS;
    bool several = threads != 1 && tasks > 1 && a->view->info.rows == GF_ROWS_OF_TEXTS;
    gf_status st = several ? gf_view_load_analysis(a->view, err) : GF_OK;
    if (st == GF_OK && several) {
        st = gf_model_workers_init(&workers, &a->view->model, threads, err);
        a->workers = &workers;
    }
    if (st == GF_OK) {
        a->sum =
            gf_array((size_t)(several ? workers.n : 1) * a->by_term->n_cols + 1, sizeof *a->sum);
        st = a->sum ? gf_pool_run(workers.pool, tasks, texts_task, a, cancel, err)
                    : gf_fail_memory(err, "similarities");
    }
    gf_free(a->sum);
    gf_model_workers_release(&workers);
    return st;
}

gf_status gf_view_similarities(gf_view *v, const gf_document *documents, size_t n, unsigned threads,
                               const gf_cancel *cancel, float *similarity, gf_error *err)
{
    gf_build_matrix m = {0};
    gf_csr by_term = {0};
    gf_status st = gf_view_read_centres(v, &m, err);
    if (st == GF_OK) st = gf_csr_transpose(&m.centroids, &by_term, err);
    if (st == GF_OK) {
        texts_asked a = {v, &by_term, documents, n, similarity, NULL, NULL};
        st = ask_texts(&a, threads, cancel, err);
    }
    gf_csr_release(&by_term);
    gf_build_matrix_release(&m);
    return st;
}
