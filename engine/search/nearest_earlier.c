/*
 * For each of some documents, the one before it that it is nearest to: of those that a put has stored, what was
 * there already.
 *
 *     few     each is looked up in the build's index (gf_similar), which costs milliseconds
 *     many    all texts are read and analysed once; each row is posted under its rarest terms, until what is left
 *             of it is shorter than `least`. Two rows that are so near share a term that both are posted under
 *             (cluster/near/duplicates.c says why); those that share one are weighed exactly
 *
 * What comes out is the same: the cosine is exact both times, and of several equal ones the first by id counts.
 */
#include "engine/search/internal.h"

#include "base/lower_bound.h"
#include "base/memory.h"
#include "base/options.h"
#include "engine/view/text_rows.h"

#include <math.h>
#include <stdlib.h>

/* Documents that are looked up one by one; of a task; entries of a row whose rarest are picked, not sorted. */
enum { FEW = 8, TASK = 64, SHORT = 64 };

#define NONE UINT32_MAX

/* The error that sums of doubles may have, and more. */
#define SLACK 1e-9

typedef struct nearest {
    uint32_t row; /* NONE: nothing is so near */
    double cosine;
} nearest;

typedef struct worker {
    uint32_t *seen; /* rows: the last document that it was weighed with, from 1 on */
    uint32_t *term; /* terms of the row at hand, the rarest first; room for the longest row */
} worker;

typedef struct looking {
    const gf_nearest_earlier_options *options;
    double least;
    gf_view *view;
    gf_strings ids; /* the documents, each once, in their order */
    /* of many */
    gf_model_workers workers;
    gf_text_rows rows;
    uint32_t *row_of; /* ids.n: the row of each, or NONE */
    uint32_t *number; /* rows: place among the ids; NONE: it was there before */
    uint32_t *df;     /* terms: rows that have each */
    double *length;   /* rows */
    bool *posted;     /* terms: of which the rows are listed */
    uint64_t *start;  /* terms + 1 */
    uint32_t *list;   /* start[terms]: rows, rising */
    worker *worker;   /* of the pool */
    nearest *found;   /* ids.n */
} looking;

/* ---- few ------------------------------------------------------------------------------------- */

typedef struct best_hit {
    const looking *l;
    uint32_t number; /* of the document that is looked up */
    gf_buffer id;
    double cosine; /* 0: none yet */
} best_hit;

/* Hits come by falling score, then by id. */
static gf_status take_hit(void *context, const gf_hit *hit, gf_error *err)
{
    best_hit *b = context;
    if (b->cosine > 0 || hit->score < b->l->least) return GF_OK;
    uint32_t other = gf_strings_find(&b->l->ids, hit->document->id);
    if (other != GF_STRING_NONE && other > b->number) return GF_OK;
    b->cosine = hit->score;
    gf_buffer_slice(&b->id, hit->document->id);
    return gf_buffer_check(&b->id, err);
}

/* Whether the build is about the document, as it is now. */
static gf_status is_about(looking *l, gf_slice id, bool *about, gf_error *err)
{
    *about = false;
    gf_error why = {GF_OK, ""};
    gf_status st = gf_state_row(l->view->state, id, &l->view->document_row, &why);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st == GF_OK) return gf_view_selects(l->view, &l->view->document_row, about, err);
    if (err) *err = why;
    return st;
}

static gf_status look_up(looking *l, uint32_t number, gf_visit_nearest_earlier *visit,
                         void *context, gf_error *err)
{
    gf_slice id = gf_strings_at(&l->ids, number);
    best_hit b = {.l = l, .number = number};
    gf_similar_options o =
        GF_SIMILAR_OPTIONS(.id = id, .limit = l->ids.n, .cancel = l->options->cancel,
                           .configuration = l->view->configuration);
    bool about;
    gf_status st = is_about(l, id, &about, err);
    if (st == GF_OK && about)
        st = gf_similar(l->view->store, l->view->where, &o, take_hit, &b, err);
    if (st == GF_OK && b.cosine > 0)
        st = visit(context, number, gf_buffer_view(&b.id), b.cosine, err);
    gf_buffer_release(&b.id);
    return st;
}

/* ---- many: rows and lists -------------------------------------------------------------------- */

static uint32_t find_row(const gf_text_rows *rows, gf_slice id)
{
    uint32_t from = 0, to = rows->x.n_rows;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (gf_slice_compare(rows->id[middle], id) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from < rows->x.n_rows && gf_slice_equal(rows->id[from], id) ? from : NONE;
}

static gf_status reserve(looking *l, gf_error *err)
{
    size_t rows = l->rows.x.n_rows, terms = l->rows.x.n_cols, n = l->ids.n;
    uint32_t longest = 0;
    l->row_of = gf_array(n, sizeof *l->row_of);
    l->found = gf_array(n, sizeof *l->found);
    l->number = gf_array(rows, sizeof *l->number);
    l->length = gf_array(rows, sizeof *l->length);
    l->df = gf_calloc(terms + 1, sizeof *l->df);
    l->posted = gf_calloc(terms + 1, sizeof *l->posted);
    l->start = gf_calloc(terms + 2, sizeof *l->start);
    l->worker = gf_calloc(l->workers.n, sizeof *l->worker);
    bool ok = l->row_of && l->found && l->number && l->length && l->df && l->posted && l->start &&
              l->worker;
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t entries = gf_csr_row(&l->rows.x, r).n;
        if (entries > longest) longest = entries;
    }
    for (unsigned w = 0; ok && w < l->workers.n; w++) {
        l->worker[w].seen = gf_calloc(rows + 1, sizeof *l->worker[w].seen);
        l->worker[w].term = gf_array((size_t)longest + 1, sizeof *l->worker[w].term);
        ok = l->worker[w].seen && l->worker[w].term;
    }
    return ok ? GF_OK : gf_fail_memory(err, "near-duplicates");
}

static void measure_rows(looking *l)
{
    for (uint32_t r = 0; r < l->rows.x.n_rows; r++) {
        gf_row_view row = gf_csr_row(&l->rows.x, r);
        double sum = 0;
        for (uint32_t p = 0; p < row.n; p++) {
            sum += (double)row.val[p] * row.val[p];
            l->df[row.col[p]]++;
        }
        l->length[r] = sqrt(sum);
        l->number[r] = NONE;
    }
    for (uint32_t i = 0; i < l->ids.n; i++) {
        l->row_of[i] = find_row(&l->rows, gf_strings_at(&l->ids, i));
        if (l->row_of[i] != NONE) l->number[l->row_of[i]] = i;
    }
}

static int by_rarity(const void *a, const void *b, void *context)
{
    const uint32_t *df = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (df[x] != df[y]) return df[x] < df[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static float value_of(gf_row_view row, uint32_t term)
{
    uint32_t from = gf_lower_bound(row.col, row.n, term);
    return row.val[from];
}

/* Put the rarest of the terms from the at-th on there. */
static void take_rarest(const looking *l, uint32_t *term, uint32_t at, uint32_t n)
{
    for (uint32_t i = at + 1; i < n; i++)
        if (by_rarity(&term[i], &term[at], l->df) < 0) {
            uint32_t swap = term[i];
            term[i] = term[at];
            term[at] = swap;
        }
}

/* The rarest terms of a row, into w->term, until what is left is shorter than `least` of it: how many. */
static uint32_t choose_terms(const looking *l, uint32_t r, worker *w)
{
    gf_row_view row = gf_csr_row(&l->rows.x, r);
    double all = l->length[r] * l->length[r], left = all;
    uint32_t n = 0;
    if (row.n) memcpy(w->term, row.col, row.n * sizeof *w->term);
    if (row.n > SHORT) qsort_r(w->term, row.n, sizeof *w->term, by_rarity, l->df);
    while (n < row.n && left >= all * (l->least * l->least - SLACK)) {
        if (row.n <= SHORT) take_rarest(l, w->term, n, row.n);
        double v = value_of(row, w->term[n++]);
        left -= v * v;
    }
    return n;
}

/* List the rows that are posted under a term that one of the documents is posted under, too. */
static gf_status list_rows(looking *l, gf_error *err)
{
    const gf_csr *x = &l->rows.x;
    worker *w = &l->worker[0];
    for (uint32_t i = 0; i < l->ids.n; i++) {
        uint32_t n = l->row_of[i] == NONE ? 0 : choose_terms(l, l->row_of[i], w);
        for (uint32_t t = 0; t < n; t++)
            l->posted[w->term[t]] = true;
    }
    for (uint32_t r = 0; r < x->n_rows; r++) {
        uint32_t n = choose_terms(l, r, w);
        for (uint32_t t = 0; t < n; t++)
            l->start[w->term[t] + 1] += l->posted[w->term[t]];
    }
    for (uint32_t t = 0; t < x->n_cols; t++)
        l->start[t + 1] += l->start[t];
    l->list = gf_array(l->start[x->n_cols], sizeof *l->list);
    uint64_t *at = gf_array((size_t)x->n_cols + 1, sizeof *at);
    if (!l->list || !at) {
        gf_free(at);
        return gf_fail_memory(err, "near-duplicates");
    }
    memcpy(at, l->start, ((size_t)x->n_cols + 1) * sizeof *at);
    for (uint32_t r = 0; r < x->n_rows; r++) {
        uint32_t n = choose_terms(l, r, w);
        for (uint32_t t = 0; t < n; t++)
            if (l->posted[w->term[t]]) l->list[at[w->term[t]]++] = r;
    }
    gf_free(at);
    return GF_OK;
}

/* ---- many: the nearest ----------------------------------------------------------------------- */

static bool is_before(const looking *l, uint32_t r, uint32_t number)
{
    return l->number[r] == NONE || l->number[r] < number;
}

static void weigh(const looking *l, uint32_t own, uint32_t other, nearest *best)
{
    const gf_csr *x = &l->rows.x;
    double dot = gf_csr_row_dot(gf_csr_row(x, own), gf_csr_row(x, other));
    double cosine = dot / (l->length[own] * l->length[other]);
    if (cosine > 1) cosine = 1;
    if (!(cosine >= l->least) || cosine < best->cosine) return;
    if (cosine == best->cosine && other > best->row) return; /* rows come by id */
    *best = (nearest){other, cosine};
}

static gf_status find_task(void *context, size_t index, unsigned worker_number, gf_error *err)
{
    looking *l = context;
    worker *w = &l->worker[worker_number];
    (void)err;
    for (size_t i = index * TASK; i < (index + 1) * TASK && i < l->ids.n; i++) {
        uint32_t own = l->row_of[i];
        l->found[i] = (nearest){NONE, 0};
        if (own == NONE) continue;
        uint32_t n = choose_terms(l, own, w);
        for (uint32_t t = 0; t < n; t++)
            for (uint64_t p = l->start[w->term[t]]; p < l->start[w->term[t] + 1]; p++) {
                uint32_t other = l->list[p];
                if (w->seen[other] == i + 1) continue;
                w->seen[other] = (uint32_t)i + 1;
                if (other != own && is_before(l, other, (uint32_t)i))
                    weigh(l, own, other, &l->found[i]);
            }
    }
    return GF_OK;
}

static gf_status look_at_many(looking *l, gf_visit_nearest_earlier *visit, void *context,
                              gf_error *err)
{
    const gf_cancel *cancel = l->options->cancel;
    gf_status st = gf_view_load_model(l->view, err);
    if (st == GF_OK)
        st = gf_model_workers_init(&l->workers, &l->view->model, l->options->threads, err);
    if (st == GF_OK) st = gf_text_rows_read(l->view, &l->workers, cancel, &l->rows, err);
    if (st == GF_OK) st = reserve(l, err);
    if (st != GF_OK) return st;
    measure_rows(l);
    st = list_rows(l, err);
    if (st == GF_OK)
        st = gf_pool_run(l->workers.pool, ((size_t)l->ids.n + TASK - 1) / TASK, find_task, l,
                         cancel, err);
    for (uint32_t i = 0; i < l->ids.n && st == GF_OK; i++)
        if (l->found[i].row != NONE)
            st = visit(context, i, l->rows.id[l->found[i].row], l->found[i].cosine, err);
    return st;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static gf_status list_ids(looking *l, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < l->options->n && st == GF_OK; i++) {
        uint32_t number;
        st = gf_strings_add(&l->ids, l->options->ids[i], &number, NULL, err);
    }
    return st;
}

static void release(looking *l)
{
    for (unsigned w = 0; l->worker && w < l->workers.n; w++) {
        gf_free(l->worker[w].seen);
        gf_free(l->worker[w].term);
    }
    gf_free(l->worker);
    gf_model_workers_release(&l->workers);
    gf_text_rows_release(&l->rows);
    gf_strings_release(&l->ids);
    gf_free(l->row_of);
    gf_free(l->number);
    gf_free(l->df);
    gf_free(l->length);
    gf_free(l->posted);
    gf_free(l->start);
    gf_free(l->list);
    gf_free(l->found);
    gf_view_close(l->view);
}

gf_status gf_nearest_earlier(gf_store *store, gf_place where,
                             const gf_nearest_earlier_options *options,
                             gf_visit_nearest_earlier *visit, void *context, gf_error *err)
{
    gf_status known = gf_options_check(options->version, GF_NEAREST_EARLIER_OPTIONS_VERSION,
                                       "gf_nearest_earlier_options", err);
    if (known != GF_OK) return known;
    gf_slice configuration =
        options->configuration.len ? options->configuration : GF_SLICE("default");
    looking l = {.options = options,
                 .least = options->least != 0 ? options->least : GF_NEAR_DUPLICATES_LEAST};
    if (!(l.least > 0 && l.least <= 1))
        return gf_fail(err, GF_EINVAL, "a least cosine is above 0 and at most 1");
    gf_status st = gf_view_open(store, where, configuration, 0, &l.view, err);
    if (st == GF_OK && gf_rows_are_given(l.view->info.rows))
        st = gf_fail(err, GF_ECONFLICT,
                     "this build clusters vectors that were made elsewhere, and near-duplicates "
                     "are found by their words: name a configuration of texts");
    if (st == GF_OK) st = list_ids(&l, err);
    bool few = l.ids.n <= FEW && st == GF_OK && l.view->info.rows == GF_ROWS_OF_TEXTS;
    if (st == GF_OK && !few) st = look_at_many(&l, visit, context, err);
    for (uint32_t i = 0; st == GF_OK && few && i < l.ids.n; i++)
        st = look_up(&l, i, visit, context, err);
    release(&l);
    return st;
}
