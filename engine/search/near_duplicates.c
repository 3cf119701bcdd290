/*
 * Groups of near-duplicates among the documents of a collection:
 *
 *     1. all texts are read and analysed again, by all threads: the build's index has weights of a byte, and
 *        nothing of documents put since, while to analyse a short text costs about as much as to
 *        take its row out of postings
 *     2. the rows, in the order of time, are grouped (cluster/near/duplicates.h)
 *     3. documents of the groups that are shown are read once more
 *
 * All is of one snapshot.
 */
#include "engine/search/internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/options.h"
#include "cluster/near/duplicates.h"
#include "engine/text/reader.h"

#include <stdlib.h>

enum { TASK_DOCUMENTS = 128 };

/* Rows that a task has worked out. */
typedef struct piece {
    uint32_t *col; /* n of capacity, as val */
    float *val;
    size_t n, col_capacity, val_capacity;
    uint32_t length[TASK_DOCUMENTS]; /* entries of each row */
} piece;

typedef struct grouping {
    const gf_near_duplicates_options *options;
    gf_view *view;
    gf_settings_map map;
    gf_resolved settings; /* the build's */
    gf_model_workers workers;
    const gf_text_group *batch;
    piece *pieces; /* n_pieces: one a task */
    size_t n_pieces;
    gf_csr x; /* n_rows of row_capacity */
    size_t start_capacity, col_capacity, val_capacity;
    gf_arena memory;
    gf_slice *id;    /* x.n_rows */
    int64_t *moment; /* x.n_rows: INT64_MAX where it has no time */
    size_t id_capacity, moment_capacity;
    uint32_t *order; /* x.n_rows: by time, then by id */
    uint32_t *rank;  /* x.n_rows: the place in it */
    gf_duplicates found;
    gf_strings changed; /* ids put or deleted after the build, where they are asked for */
} grouping;

/* ---- rows ------------------------------------------------------------------------------------ */

static gf_status analyse_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    grouping *g = context;
    piece *p = &g->pieces[task];
    size_t from = task * TASK_DOCUMENTS, to = from + TASK_DOCUMENTS;
    gf_status st = GF_OK;
    p->n = 0;
    for (size_t i = from; i < to && i < g->batch->n && st == GF_OK; i++) {
        const gf_group_text *t = &g->batch->at[i];
        gf_row_view row;
        st = gf_model_workers_row(&g->workers, worker, t->lang, t->text, &row, err);
        if (st != GF_OK) break;
        if (!gf_grow(&p->col, &p->col_capacity, p->n + row.n, sizeof *p->col) ||
            !gf_grow(&p->val, &p->val_capacity, p->n + row.n, sizeof *p->val))
            return gf_fail_memory(err, "near-duplicates");
        if (row.n) memcpy(p->col + p->n, row.col, row.n * sizeof *row.col);
        if (row.n) memcpy(p->val + p->n, row.val, row.n * sizeof *row.val);
        p->length[i - from] = row.n;
        p->n += row.n;
    }
    return st;
}

static gf_status reserve_pieces(grouping *g, size_t n, gf_error *err)
{
    if (n <= g->n_pieces) return GF_OK;
    piece *grown = gf_realloc(g->pieces, n, sizeof *grown);
    if (!grown) return gf_fail_memory(err, "near-duplicates");
    memset(grown + g->n_pieces, 0, (n - g->n_pieces) * sizeof *grown);
    g->pieces = grown;
    g->n_pieces = n;
    return GF_OK;
}

static gf_status add_piece(grouping *g, const piece *p, gf_error *err)
{
    gf_csr *x = &g->x;
    uint64_t at = x->start[x->n_rows - 1];
    if (!gf_grow(&x->col, &g->col_capacity, at + p->n, sizeof *x->col) ||
        !gf_grow(&x->val, &g->val_capacity, at + p->n, sizeof *x->val))
        return gf_fail_memory(err, "near-duplicates");
    if (p->n) memcpy(x->col + at, p->col, p->n * sizeof *p->col);
    if (p->n) memcpy(x->val + at, p->val, p->n * sizeof *p->val);
    return GF_OK;
}

static gf_status reserve_rows(grouping *g, size_t n, gf_error *err)
{
    bool first = !g->x.start;
    if (n > UINT32_MAX - 1) return gf_fail(err, GF_ELIMIT, "there are too many documents");
    if (!gf_grow(&g->x.start, &g->start_capacity, n + 1, sizeof *g->x.start) ||
        !gf_grow(&g->id, &g->id_capacity, n, sizeof *g->id) ||
        !gf_grow(&g->moment, &g->moment_capacity, n, sizeof *g->moment))
        return gf_fail_memory(err, "near-duplicates");
    if (first) g->x.start[0] = 0;
    return GF_OK;
}

static gf_status add_batch(grouping *g, gf_error *err)
{
    gf_csr *x = &g->x;
    gf_status st = reserve_rows(g, (size_t)x->n_rows + g->batch->n, err);
    for (size_t i = 0; i < g->batch->n && st == GF_OK; i++) {
        const piece *p = &g->pieces[i / TASK_DOCUMENTS];
        const gf_group_text *t = &g->batch->at[i];
        g->id[x->n_rows] = gf_arena_copy(&g->memory, t->id);
        g->moment[x->n_rows] = t->moment;
        if (!g->id[x->n_rows].ptr) return gf_fail_memory(err, "near-duplicates");
        x->n_rows++;
        if (i % TASK_DOCUMENTS == 0) st = add_piece(g, p, err);
        x->start[x->n_rows] = x->start[x->n_rows - 1] + p->length[i % TASK_DOCUMENTS];
    }
    return st;
}

/* A batch is analysed while the next one is read. */
static gf_status read_rows(grouping *g, gf_error *err)
{
    gf_view *v = g->view;
    const gf_cancel *cancel = g->options->cancel;
    gf_text_reader_options o = {.store = v->store,
                                .snapshot = v->snapshot,
                                .where = v->where,
                                .settings = &g->settings,
                                .threads = g->workers.n};
    gf_text_reader *reader;
    gf_pool_tasks reading = {.n = 1};
    gf_status st = gf_view_within(v, &o.within, err);
    if (st == GF_OK) st = gf_text_reader_open(&o, &reader, err);
    if (st != GF_OK) return st;
    while (st == GF_OK && reading.n) {
        st = gf_text_reader_take(reader, &g->batch, &reading, err);
        gf_pool_tasks analysing = {0, analyse_task, g};
        if (st == GF_OK) analysing.n = (g->batch->n + TASK_DOCUMENTS - 1) / TASK_DOCUMENTS;
        if (st == GF_OK) st = reserve_pieces(g, analysing.n, err);
        if (st == GF_OK) st = gf_pool_run_both(g->workers.pool, &reading, &analysing, cancel, err);
        if (st == GF_OK) st = add_batch(g, err);
        if (st == GF_OK) st = gf_model_workers_bound(&g->workers, err);
    }
    gf_text_reader_close(reader);
    g->x.n_cols = v->model.vocabulary.n_terms;
    return st == GF_OK ? reserve_rows(g, g->x.n_rows, err) : st;
}

static int by_time(const void *a, const void *b, void *context)
{
    const grouping *g = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (g->moment[x] != g->moment[y]) return g->moment[x] < g->moment[y] ? -1 : 1;
    return x < y ? -1 : x > y; /* rows come by id */
}

static gf_status order_rows(grouping *g, gf_error *err)
{
    uint32_t n = g->x.n_rows;
    g->order = gf_array(n, sizeof *g->order);
    g->rank = gf_array(n, sizeof *g->rank);
    if (!g->order || !g->rank) return gf_fail_memory(err, "near-duplicates");
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        g->order[i] = i;
        if (i && g->moment[i] < g->moment[i - 1]) sorted = false;
    }
    if (!sorted) qsort_r(g->order, n, sizeof *g->order, by_time, g);
    for (uint32_t i = 0; i < n; i++)
        g->rank[g->order[i]] = i;
    return GF_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

typedef struct group {
    uint32_t row; /* the representative */
    uint32_t first, size;
    bool fresh; /* one of them was put after the build */
} group;

static int by_size(const void *a, const void *b, void *context)
{
    const grouping *g = context;
    const group *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return g->rank[x->row] < g->rank[y->row] ? -1 : g->rank[x->row] > g->rank[y->row];
}

/* The representative is before a member that equals it. */
static int by_score(const void *a, const void *b, void *context)
{
    const grouping *g = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double p = g->found.cosine[x], q = g->found.cosine[y];
    if (p != q) return p > q ? -1 : 1;
    return g->rank[x] < g->rank[y] ? -1 : g->rank[x] > g->rank[y];
}

static gf_status visit_document(grouping *g, uint32_t row, gf_near_duplicate *hit, gf_row *cells,
                                gf_visit_near_duplicate *visit, void *context, gf_error *err)
{
    gf_document document;
    gf_field *fields = NULL;
    gf_membership m;
    bool placed;
    gf_status st = gf_cancel_check(g->options->cancel, err);
    if (st == GF_OK)
        st =
            gf_search_read_placed(g->view, g->id[row], cells, &document, &fields, &m, &placed, err);
    if (st != GF_OK) return st;
    hit->document = &document;
    hit->score = g->found.cosine[row];
    hit->membership = placed ? &m : NULL;
    hit->representative = g->found.of[row] == row;
    st = visit(context, hit, err);
    gf_free(fields);
    return st;
}

static gf_status visit_groups(grouping *g, const group *groups, uint32_t n, uint32_t *members,
                              gf_visit_near_duplicate *visit, void *context, gf_error *err)
{
    const gf_near_duplicates_options *o = g->options;
    gf_near_duplicate hit = {.groups = g->found.groups, .copies = g->found.copies};
    gf_row cells = {0};
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < n && st == GF_OK && (!o->limit || hit.group < o->limit); i++) {
        if (o->fresh && !groups[i].fresh) continue;
        uint32_t shown = groups[i].size;
        hit.group++;
        hit.size = shown;
        qsort_r(members + groups[i].first, shown, sizeof *members, by_score, g);
        if (o->members && o->members < shown) shown = (uint32_t)o->members;
        for (uint32_t m = 0; m < shown && st == GF_OK; m++)
            st = visit_document(g, members[groups[i].first + m], &hit, &cells, visit, context, err);
    }
    gf_row_release(&cells);
    return st;
}

/* Members by group, groups by size. */
static gf_status list_groups(grouping *g, gf_visit_near_duplicate *visit, void *context,
                             gf_error *err)
{
    const gf_duplicates *d = &g->found;
    uint32_t n = d->groups, at = 0, first = 0;
    uint32_t *place = gf_array(d->n, sizeof *place); /* of a representative's group, from 1 on */
    group *groups = gf_calloc(n, sizeof *groups);
    uint32_t *members = gf_array((size_t)n + d->copies, sizeof *members);
    gf_status st =
        place && groups && members ? GF_OK : gf_fail_memory(err, "groups of near-duplicates");
    if (st == GF_OK) memset(place, 0, d->n * sizeof *place);
    for (uint32_t i = 0; i < d->n && st == GF_OK; i++) {
        if (d->of[i] == i) continue;
        if (!place[d->of[i]]) {
            groups[at] = (group){.row = d->of[i], .size = 1};
            place[d->of[i]] = ++at;
        }
        groups[place[d->of[i]] - 1].size++;
    }
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        groups[i].first = first;
        first += groups[i].size;
        groups[i].size = 0;
    }
    for (uint32_t i = 0; i < d->n && st == GF_OK; i++) {
        if (!place[d->of[i]]) continue;
        group *own = &groups[place[d->of[i]] - 1];
        members[own->first + own->size++] = i;
        own->fresh |= gf_strings_find(&g->changed, g->id[i]) != GF_STRING_NONE;
    }
    if (st == GF_OK) {
        if (n) qsort_r(groups, n, sizeof *groups, by_size, g);
        st = visit_groups(g, groups, n, members, visit, context, err);
    }
    gf_free(place);
    gf_free(groups);
    gf_free(members);
    return st;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static gf_status load(grouping *g, gf_error *err)
{
    gf_view *v = g->view;
    if (gf_rows_are_given(v->info.rows))
        return gf_fail(err, GF_ECONFLICT,
                       "this build clusters vectors that were made elsewhere, and near-duplicates "
                       "are found by their words: name a configuration of texts");
    gf_status st = gf_view_load_model(v, err);
    if (st == GF_OK) st = gf_settings_map_read_build(v->info.settings, &g->map, err);
    if (st == GF_OK) st = gf_settings_resolve(&g->map, v->configuration, &g->settings, err);
    if (st == GF_OK) st = gf_model_workers_init(&g->workers, &v->model, g->options->threads, err);
    if (st == GF_OK && g->options->fresh) st = gf_view_changed_ids(v, &g->changed, err);
    return st;
}

/* The analyser is not needed beside the groups. */
static void release_reading(grouping *g)
{
    for (size_t i = 0; i < g->n_pieces; i++) {
        gf_free(g->pieces[i].col);
        gf_free(g->pieces[i].val);
    }
    gf_free(g->pieces);
    g->pieces = NULL;
    g->n_pieces = 0;
}

static void release(grouping *g)
{
    release_reading(g);
    gf_model_workers_release(&g->workers);
    gf_settings_map_release(&g->map);
    gf_csr_release(&g->x);
    gf_free(g->id);
    gf_free(g->moment);
    gf_free(g->order);
    gf_free(g->rank);
    gf_duplicates_release(&g->found);
    gf_strings_release(&g->changed);
    gf_arena_release(&g->memory);
    gf_view_close(g->view);
}

gf_status gf_near_duplicates(gf_store *store, gf_place where,
                             const gf_near_duplicates_options *options,
                             gf_visit_near_duplicate *visit, void *context, gf_error *err)
{
    gf_status known = gf_options_check(options->version, GF_NEAR_DUPLICATES_OPTIONS_VERSION,
                                       "gf_near_duplicates_options", err);
    if (known != GF_OK) return known;
    grouping g = {.options = options};
    gf_slice configuration =
        options->configuration.len ? options->configuration : GF_SLICE("default");
    double least = options->least != 0 ? options->least : GF_NEAR_DUPLICATES_LEAST;
    gf_status st = gf_view_open(store, where, configuration, 0, &g.view, err);
    if (st == GF_OK) st = load(&g, err);
    if (st == GF_OK) st = read_rows(&g, err);
    release_reading(&g);
    if (st == GF_OK) st = order_rows(&g, err);
    if (st == GF_OK)
        st = gf_duplicates_find(g.workers.pool, &g.x, g.order, least, options->cancel, &g.found,
                                err);
    gf_csr_release(&g.x);
    if (st == GF_OK) st = list_groups(&g, visit, context, err);
    release(&g);
    return st;
}
