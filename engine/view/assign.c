/*
 * The place of a text, or of a given row, in a view's build: the nearest of its centres, by the inverted index over
 * the centres that the build's own passes used, so that a document of the build gets the score that
 * it has there.
 *
 * The centres are read once for each view. After that a text costs its analysis and, for each of
 * its terms, a row of k floats or the postings of the centres that have the term.
 */
#include "engine/view/tree.h"
#include "engine/view/view.h"

#include "base/memory.h"
#include "cluster/passes/nearest_centres.h"

#include <inttypes.h>
#include <string.h>

struct gf_assigner {
    gf_nearest_centres locator; /* clusters in the order of the view's list: by id */
    gf_model_workers workers;   /* once several texts were asked for; until then there is one */
    gf_pool *pool;              /* likewise of rows that were made elsewhere */
    gf_vector *vector;          /* a worker of the pool each */
    float *full;                /* locator.beside rows of all columns, of a worker each */
    uint32_t *column;           /* of such a row: all */
    gf_centre background; /* a row that is more like it is in no cluster; n is 0: there is none */
};

/* ---- centres --------------------------------------------------------------------------------- */

static gf_status read_centres(gf_view *v, gf_centres *centres, gf_error *err)
{
    uint32_t n_cols = gf_rows_are_given(v->info.rows) ? v->info.terms : v->model.vocabulary.n_terms;
    gf_status st = gf_centres_init(centres, (uint32_t)v->n_clusters, n_cols, err);
    for (size_t j = 0; j < v->n_clusters && st == GF_OK; j++) {
        gf_centre *c = &centres->at[j];
        st = gf_view_read_centre(v, v->clusters[j].id, &c->term, &c->value, &c->n, err);
        if (st == GF_OK) c->capacity = c->n;
    }
    return st;
}

static void release_row_workers(gf_assigner *a)
{
    for (unsigned i = 0; a->vector && i < gf_pool_size(a->pool); i++)
        gf_vector_release(&a->vector[i]);
    gf_free(a->vector);
    gf_free(a->full);
    gf_free(a->column);
    gf_pool_free(a->pool);
    a->vector = NULL;
    a->full = NULL;
    a->column = NULL;
    a->pool = NULL;
}

void gf_assign_release_workers(gf_assigner *a)
{
    gf_model_workers_release(&a->workers);
    release_row_workers(a);
}

static size_t index_bytes(const gf_centre_index *x)
{
    return (size_t)x->n_terms * sizeof *x->term + (size_t)x->n_postings * sizeof *x->postings +
           (size_t)x->n_dense * (x->stride + x->ceiling_stride) * sizeof(float);
}

size_t gf_assign_bytes(const gf_assigner *a)
{
    const gf_nearest_centres *l = &a->locator;
    size_t n = index_bytes(l->branches.n ? &l->branches.top : &l->index);
    for (uint32_t i = 0; i < l->branches.n; i++)
        n += index_bytes(&l->branch[i].index) + l->branch[i].n_terms * sizeof *l->branch[i].term;
    return n + l->stride * sizeof(float) + (size_t)a->background.n * 2 * sizeof(float);
}

void gf_assign_free(gf_assigner *a)
{
    if (!a) return;
    gf_assign_release_workers(a);
    gf_nearest_centres_release(&a->locator);
    gf_free(a->background.term);
    gf_free(a->background.value);
    gf_free(a);
}

/*
 * Keys by which similar clusters lie beside each other: the order of the leaves of the build's tree.
 * *key stays NULL where there is none that fits; which costs time, and nothing else.
 */
static gf_status order_by_tree(gf_view *v, float **key, gf_error *err)
{
    gf_kept_tree kept;
    gf_status st = gf_view_load_tree(v, &kept, err);
    if (st == GF_ENOTFOUND || st == GF_ECORRUPT) return GF_OK;
    if (st != GF_OK) return st;
    float *made = gf_calloc(v->n_clusters, sizeof *made);
    if (!made) st = gf_fail_memory(err, "the index of cluster centres");
    for (uint32_t i = 0; made && i < kept.tree.k; i++)
        made[gf_view_find_cluster(v, kept.ids[kept.tree.order[i]]) - v->clusters] = -(float)i;
    gf_tree_kept_release(&kept);
    *key = made;
    return st;
}

static gf_status load_assigner(gf_view *v, gf_error *err)
{
    gf_centres centres = {0};
    float *key = NULL;
    if (v->assigner) return GF_OK;
    gf_assigner *a = gf_calloc(1, sizeof *a);
    if (!a) return gf_fail_memory(err, "the index of cluster centres");
    gf_status st = read_centres(v, &centres, err);
    gf_centre *b = &a->background;
    if (st == GF_OK) st = gf_view_read_background(v, &b->term, &b->value, &b->n, err);
    if (st == GF_OK && v->n_clusters >= GF_CEILINGS) st = order_by_tree(v, &key, err);
    if (st == GF_OK) st = gf_nearest_centres_init(&a->locator, &centres, key, err);
    gf_free(key);
    gf_centres_release(&centres);
    if (st == GF_OK)
        v->assigner = a;
    else
        gf_assign_free(a);
    return st;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Similarities of given rows may be below 0: a build keeps them from 0 to 1. */
static float within_1(double score)
{
    return score < 1 ? score > 0 ? (float)score : 0 : 1;
}

/* The most similar centre and the second, as a build's last pass takes them. */
static void describe_two(const gf_view *v, gf_nearest_two two, gf_membership *m)
{
    const gf_listed_cluster *own = &v->clusters[two.cluster];
    *m = (gf_membership){.cluster = own->id,
                         .label = own->label,
                         .score = within_1(two.similarity),
                         .provisional = true,
                         .state = gf_pins_state(&v->pins, own->id)};
    if (v->n_clusters < 2) return;
    m->runner_up = v->clusters[two.runner_up].id;
    m->runner_up_label = v->clusters[two.runner_up].label;
    m->second = within_1(two.of_second);
}

static void describe_row(const gf_view *v, unsigned worker, gf_row_view row, gf_membership *m)
{
    if (row.n && v->n_clusters) {
        gf_nearest_two two = gf_nearest_centres_find(&v->assigner->locator, worker, row);
        const gf_centre *background = &v->assigner->background;
        if (background->n == 0 ||
            gf_csr_row_dot(row, gf_centre_row(background)) <= (double)two.similarity) {
            describe_two(v, two, m);
            return;
        }
        gf_membership_cells cells = {.runner_up = v->clusters[two.cluster].id,
                                     .second = within_1(two.similarity)};
        gf_view_describe(v, &cells, m);
        m->provisional = true;
        return;
    }
    gf_view_describe(v, &(gf_membership_cells){0}, m);
    m->provisional = true;
}

/* The vectors of the build's terms. */
static gf_status load_words(gf_view *v, gf_error *err)
{
    if (v->info.rows != GF_ROWS_OF_WORDS || v->word_sum) return GF_OK;
    gf_status st = gf_term_vectors_load(v->store->tables.builds, v->snapshot,
                                        gf_buffer_view(&v->key), &v->words, err);
    if (st == GF_OK && (v->words.d != v->info.terms || v->words.n != v->model.vocabulary.n_terms))
        st = gf_fail(err, GF_ECORRUPT, "the word vectors of a build do not fit its terms");
    if (st == GF_OK) v->word_sum = gf_array(v->words.d, sizeof *v->word_sum);
    if (st == GF_OK && !v->word_sum) st = gf_fail_memory(err, "a row");
    if (st != GF_OK) gf_term_vectors_release(&v->words);
    return st;
}

gf_status gf_view_load_analysis(gf_view *v, gf_error *err)
{
    if (gf_rows_are_given(v->info.rows)) return GF_OK;
    gf_status st = gf_view_load_model(v, err);
    return st == GF_OK ? load_words(v, err) : st;
}

gf_status gf_view_row_of(gf_view *v, const gf_document *d, gf_row_view *row, gf_error *err)
{
    if (gf_rows_are_given(v->info.rows)) {
        gf_status st = gf_vector_read(&v->vector, d, v->info.terms, err);
        *row = gf_vector_row(&v->vector);
        return st;
    }
    gf_status st = gf_view_load_analysis(v, err);
    if (st == GF_OK) st = gf_model_row(&v->model, d->language, d->text, row, err);
    if (st != GF_OK || v->info.rows == GF_ROWS_OF_TEXTS) return st;
    v->vector.why = GF_WORDS_WITHOUT;
    st = gf_vector_make_dense(&v->vector, v->words.d, err);
    if (st == GF_OK && !(gf_term_vectors_row(&v->words, *row, v->word_sum, v->vector.val) > 0))
        v->vector.n = 0;
    *row = gf_vector_row(&v->vector);
    return st;
}

static gf_status load_parts(gf_view *v, gf_error *err)
{
    gf_status st = gf_view_load_clusters(v, err);
    if (st == GF_OK) st = gf_view_load_analysis(v, err);
    return st == GF_OK && v->n_clusters ? load_assigner(v, err) : st;
}

gf_status gf_view_assign(gf_view *v, gf_slice language, gf_slice text, gf_membership *m,
                         gf_error *err)
{
    gf_row_view row;
    if (gf_rows_are_given(v->info.rows))
        return gf_fail(err, GF_ECONFLICT,
                       "this build clusters vectors that were made elsewhere: a text has no place "
                       "in it, but a record with the field \"" GF_VECTOR_FIELD "\" has");
    gf_document d = {.language = language, .text = text};
    gf_status st = load_parts(v, err);
    if (st == GF_OK) st = gf_view_row_of(v, &d, &row, err);
    if (st == GF_OK) describe_row(v, 0, row, m);
    return st;
}

/* ---- given rows ------------------------------------------------------------------------------ */

/* A row that a document may be without. */
static void describe_vector(const gf_view *v, unsigned worker, const gf_vector *vector,
                            gf_membership *m)
{
    describe_row(v, worker, gf_vector_row(vector), m);
    if (vector->n == 0) m->label = gf_slice_str(vector->why);
}

gf_status gf_view_assign_document(gf_view *v, const gf_document *d, gf_membership *m, gf_error *err)
{
    gf_row_view row;
    gf_status st = load_parts(v, err);
    if (st == GF_OK) st = gf_view_row_of(v, d, &row, err);
    if (st != GF_OK) return st;
    if (v->info.rows == GF_ROWS_OF_TEXTS)
        describe_row(v, 0, row, m);
    else
        describe_vector(v, 0, &v->vector, m);
    return GF_OK;
}

/* Rows of a task. */
enum { TASK_ROWS = 256 };

typedef struct several_rows {
    const gf_view *view;
    const gf_matrix *rows;
    gf_membership *membership;
} several_rows;

/* The row of a matrix as one of unit length. */
static gf_status take_matrix_row(gf_vector *vector, const gf_matrix *rows, uint32_t i,
                                 gf_error *err)
{
    const float *dense = rows->dense + (rows->sparse ? 0 : (size_t)i * rows->n_cols);
    gf_row_view row =
        rows->sparse ? gf_csr_row(rows->sparse, i) : (gf_row_view){NULL, dense, rows->n_cols};
    gf_status st = gf_vector_take(vector, row, err);
    return st == GF_EINVAL ? gf_fail(err, st, "row %" PRIu32 " is not finite", i) : st;
}

/* Rows that have all columns, which wait to be looked up together. */
typedef struct full_rows {
    float *values; /* of beside rows */
    gf_row_view row[GF_NEAREST_ROWS];
    gf_membership *membership[GF_NEAREST_ROWS];
    uint32_t n;
} full_rows;

static void describe_full(const gf_view *v, unsigned worker, full_rows *full)
{
    gf_nearest_two two[GF_NEAREST_ROWS];
    if (full->n == 0) return;
    gf_nearest_centres_find_full(&v->assigner->locator, worker, full->row, full->n, two);
    for (uint32_t i = 0; i < full->n; i++)
        describe_two(v, two[i], full->membership[i]);
    full->n = 0;
}

static void add_full(const gf_view *v, unsigned worker, const gf_vector *vector, full_rows *full,
                     gf_membership *m)
{
    float *values = full->values + (size_t)full->n * vector->n;
    memcpy(values, vector->val, vector->n * sizeof *values);
    full->row[full->n] = (gf_row_view){v->assigner->column, values, vector->n};
    full->membership[full->n++] = m;
    if (full->n == v->assigner->locator.beside) describe_full(v, worker, full);
}

static gf_status assign_rows_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    const several_rows *s = context;
    const gf_assigner *a = s->view->assigner;
    gf_vector *vector = &a->vector[worker];
    uint32_t beside = a->locator.beside, n_cols = s->rows->n_cols;
    full_rows full = {.n = 0};
    if (beside) full.values = a->full + (size_t)worker * beside * n_cols;
    size_t from = index * TASK_ROWS, n = s->rows->n_rows;
    size_t to = n - from > TASK_ROWS ? from + TASK_ROWS : n;
    gf_status st = GF_OK;
    for (size_t i = from; i < to && st == GF_OK; i++) {
        st = take_matrix_row(vector, s->rows, (uint32_t)i, err);
        if (st != GF_OK) break;
        if (beside && vector->n == n_cols)
            add_full(s->view, worker, vector, &full, &s->membership[i]);
        else
            describe_row(s->view, worker, gf_vector_row(vector), &s->membership[i]);
    }
    if (st == GF_OK) describe_full(s->view, worker, &full);
    return st;
}

/* The pool, with a vector, room for scores and rows that wait, of each thread. */
static gf_status load_row_workers(gf_assigner *a, unsigned threads, gf_error *err)
{
    if (a->pool) return GF_OK;
    uint32_t n_cols = a->locator.beside ? a->locator.index.n_terms : 0;
    gf_status st = gf_pool_create(threads, &a->pool, err);
    if (st != GF_OK) return st;
    unsigned n = gf_pool_size(a->pool);
    a->vector = gf_calloc(n, sizeof *a->vector);
    a->full = gf_array((size_t)n * a->locator.beside * n_cols, sizeof *a->full);
    a->column = gf_array(n_cols, sizeof *a->column);
    if (!a->vector || !a->full || !a->column) st = gf_fail_memory(err, "threads");
    for (uint32_t c = 0; st == GF_OK && c < n_cols; c++)
        a->column[c] = c;
    if (st == GF_OK) st = gf_nearest_centres_make_room(&a->locator, n, err);
    if (st != GF_OK) release_row_workers(a);
    return st;
}

gf_status gf_view_assign_rows(gf_view *v, const gf_matrix *rows, unsigned threads,
                              const gf_cancel *cancel, gf_membership *memberships, gf_error *err)
{
    if (!gf_rows_are_given(v->info.rows))
        return gf_fail(err, GF_ECONFLICT,
                       "this build clusters texts: a row of numbers has no place in it");
    if (rows->n_cols != v->info.terms)
        return gf_fail(err, GF_EINVAL, "the rows have %u columns, those of the build have %u",
                       rows->n_cols, v->info.terms);
    gf_status st = rows->sparse ? gf_csr_check(rows->sparse, err) : GF_OK;
    if (st == GF_OK) st = load_parts(v, err);
    if (st == GF_OK && v->n_clusters == 0) {
        for (uint32_t i = 0; i < rows->n_rows && st == GF_OK; i++) {
            st = take_matrix_row(&v->vector, rows, i, err);
            if (st == GF_OK) describe_row(v, 0, gf_vector_row(&v->vector), &memberships[i]);
        }
        return st;
    }
    if (st == GF_OK) st = load_row_workers(v->assigner, threads, err);
    if (st != GF_OK) return st;
    several_rows s = {v, rows, memberships};
    return gf_pool_run(v->assigner->pool, ((size_t)rows->n_rows + TASK_ROWS - 1) / TASK_ROWS,
                       assign_rows_task, &s, cancel, err);
}

/* ---- several texts --------------------------------------------------------------------------- */

/* Texts of a task; and of a run, after which what threads remember is bounded. */
enum { TASK_TEXTS = 64, RUN_TEXTS = 1 << 16 };

typedef struct several_texts {
    const gf_view *view;
    const gf_document *document; /* n */
    gf_membership *membership;
    size_t n;
} several_texts;

/* The row of a text that is looked up once the next one's is there; meanwhile its centres are fetched. */
enum { MOST_WAITING = 256 };

typedef struct waiting_row {
    uint32_t col[MOST_WAITING], n;
    float val[MOST_WAITING];
    gf_membership *membership; /* NULL: none waits */
} waiting_row;

static void describe_waiting(const gf_view *v, unsigned worker, waiting_row *w)
{
    gf_row_view row = {w->col, w->val, w->n};
    if (w->membership) describe_row(v, worker, row, w->membership);
    w->membership = NULL;
}

static void let_wait(const gf_view *v, unsigned worker, gf_row_view row, waiting_row *w,
                     gf_membership *m)
{
    if (row.n == 0 || row.n > MOST_WAITING) {
        describe_row(v, worker, row, m);
        return;
    }
    gf_nearest_centres_prefetch(&v->assigner->locator, row);
    memcpy(w->col, row.col, row.n * sizeof *w->col);
    memcpy(w->val, row.val, row.n * sizeof *w->val);
    w->n = row.n;
    w->membership = m;
}

static gf_status assign_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    several_texts *s = context;
    size_t from = index * TASK_TEXTS, to = s->n - from > TASK_TEXTS ? from + TASK_TEXTS : s->n;
    gf_status st = GF_OK;
    waiting_row waiting;
    waiting.membership = NULL;
    for (size_t i = from; i < to && st == GF_OK; i++) {
        gf_row_view row;
        st = gf_model_workers_row(&s->view->assigner->workers, worker, s->document[i].language,
                                  s->document[i].text, &row, err);
        if (st != GF_OK) break;
        describe_waiting(s->view, worker, &waiting);
        let_wait(s->view, worker, row, &waiting, &s->membership[i]);
    }
    if (st == GF_OK) describe_waiting(s->view, worker, &waiting);
    return st;
}

static gf_status assign_vectors_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    several_texts *s = context;
    gf_vector *vector = &s->view->assigner->vector[worker];
    size_t from = index * TASK_TEXTS, to = s->n - from > TASK_TEXTS ? from + TASK_TEXTS : s->n;
    gf_status st = GF_OK;
    for (size_t i = from; i < to && st == GF_OK; i++) {
        st = gf_vector_read(vector, &s->document[i], s->view->info.terms, err);
        if (st == GF_OK) describe_vector(s->view, worker, vector, &s->membership[i]);
    }
    return st;
}

static gf_status load_workers(gf_view *v, unsigned threads, gf_error *err)
{
    gf_assigner *a = v->assigner;
    if (a->workers.n) return GF_OK;
    gf_status st = gf_model_workers_init(&a->workers, &v->model, threads, err);
    if (st == GF_OK) st = gf_nearest_centres_make_room(&a->locator, a->workers.n, err);
    if (st != GF_OK) gf_model_workers_release(&a->workers);
    return st;
}

gf_status gf_view_assign_all(gf_view *v, const gf_document *documents, size_t n, unsigned threads,
                             gf_membership *memberships, gf_error *err)
{
    gf_status st = load_parts(v, err);
    if (st == GF_OK && (v->n_clusters == 0 || v->info.rows == GF_ROWS_OF_WORDS)) {
        for (size_t i = 0; i < n && st == GF_OK; i++)
            st = gf_view_assign_document(v, &documents[i], &memberships[i], err);
        return st;
    }
    if (st == GF_OK && gf_rows_are_given(v->info.rows)) {
        several_texts s = {v, documents, memberships, n};
        st = load_row_workers(v->assigner, threads, err);
        if (st != GF_OK) return st;
        return gf_pool_run(v->assigner->pool, (n + TASK_TEXTS - 1) / TASK_TEXTS,
                           assign_vectors_task, &s, NULL, err);
    }
    if (st == GF_OK) st = load_workers(v, threads, err);
    for (size_t at = 0; at < n && st == GF_OK; at += RUN_TEXTS) {
        size_t some = n - at > RUN_TEXTS ? RUN_TEXTS : n - at;
        several_texts s = {v, documents + at, memberships + at, some};
        st = gf_pool_run(v->assigner->workers.pool, (some + TASK_TEXTS - 1) / TASK_TEXTS,
                         assign_task, &s, NULL, err);
        if (st == GF_OK) st = gf_model_workers_bound(&v->assigner->workers, err);
    }
    return st;
}
