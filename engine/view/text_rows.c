#include "engine/view/text_rows.h"

#include "base/grow.h"
#include "base/memory.h"
#include "engine/text/reader.h"

enum { TASK_DOCUMENTS = 128 };

/* Rows that a task has worked out. */
typedef struct piece {
    uint32_t *col; /* n of capacity, as val */
    float *val;
    size_t n, col_capacity, val_capacity;
    uint32_t length[TASK_DOCUMENTS]; /* entries of each row */
} piece;

typedef struct reading {
    gf_text_rows *rows;
    const gf_model_workers *workers;
    const gf_text_group *batch;
    piece *pieces; /* n_pieces: one a task */
    size_t n_pieces;
} reading;

static gf_status analyse_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    reading *r = context;
    piece *p = &r->pieces[task];
    size_t from = task * TASK_DOCUMENTS, to = from + TASK_DOCUMENTS;
    gf_status st = GF_OK;
    p->n = 0;
    for (size_t i = from; i < to && i < r->batch->n && st == GF_OK; i++) {
        const gf_group_text *t = &r->batch->at[i];
        gf_row_view row;
        st = gf_model_workers_row(r->workers, worker, t->lang, t->text, &row, err);
        if (st != GF_OK) break;
        if (!gf_grow(&p->col, &p->col_capacity, p->n + row.n, sizeof *p->col) ||
            !gf_grow(&p->val, &p->val_capacity, p->n + row.n, sizeof *p->val))
            return gf_fail_memory(err, "rows");
        if (row.n) memcpy(p->col + p->n, row.col, row.n * sizeof *row.col);
        if (row.n) memcpy(p->val + p->n, row.val, row.n * sizeof *row.val);
        p->length[i - from] = row.n;
        p->n += row.n;
    }
    return st;
}

static gf_status reserve_pieces(reading *r, size_t n, gf_error *err)
{
    if (n <= r->n_pieces) return GF_OK;
    piece *grown = gf_realloc(r->pieces, n, sizeof *grown);
    if (!grown) return gf_fail_memory(err, "rows");
    memset(grown + r->n_pieces, 0, (n - r->n_pieces) * sizeof *grown);
    r->pieces = grown;
    r->n_pieces = n;
    return GF_OK;
}

static gf_status add_piece(gf_text_rows *rows, const piece *p, gf_error *err)
{
    gf_csr *x = &rows->x;
    uint64_t at = x->start[x->n_rows - 1];
    if (!gf_grow(&x->col, &rows->col_capacity, at + p->n, sizeof *x->col) ||
        !gf_grow(&x->val, &rows->val_capacity, at + p->n, sizeof *x->val))
        return gf_fail_memory(err, "rows");
    if (p->n) memcpy(x->col + at, p->col, p->n * sizeof *p->col);
    if (p->n) memcpy(x->val + at, p->val, p->n * sizeof *p->val);
    return GF_OK;
}

static gf_status reserve_rows(gf_text_rows *rows, size_t n, gf_error *err)
{
    bool first = !rows->x.start;
    if (n > UINT32_MAX - 1) return gf_fail(err, GF_ELIMIT, "there are too many documents");
    if (!gf_grow(&rows->x.start, &rows->start_capacity, n + 1, sizeof *rows->x.start) ||
        !gf_grow(&rows->id, &rows->id_capacity, n, sizeof *rows->id) ||
        !gf_grow(&rows->moment, &rows->moment_capacity, n, sizeof *rows->moment))
        return gf_fail_memory(err, "rows");
    if (first) rows->x.start[0] = 0;
    return GF_OK;
}

static gf_status add_batch(reading *r, gf_error *err)
{
    gf_text_rows *rows = r->rows;
    gf_csr *x = &rows->x;
    gf_status st = reserve_rows(rows, (size_t)x->n_rows + r->batch->n, err);
    for (size_t i = 0; i < r->batch->n && st == GF_OK; i++) {
        const piece *p = &r->pieces[i / TASK_DOCUMENTS];
        const gf_group_text *t = &r->batch->at[i];
        rows->id[x->n_rows] = gf_arena_copy(&rows->memory, t->id);
        rows->moment[x->n_rows] = t->moment;
        if (!rows->id[x->n_rows].ptr) return gf_fail_memory(err, "rows");
        x->n_rows++;
        if (i % TASK_DOCUMENTS == 0) st = add_piece(rows, p, err);
        x->start[x->n_rows] = x->start[x->n_rows - 1] + p->length[i % TASK_DOCUMENTS];
    }
    return st;
}

/* A batch is analysed while the next one is read. */
static gf_status read_batches(reading *r, gf_text_reader *reader, const gf_cancel *cancel,
                              gf_error *err)
{
    gf_pool_tasks tasks = {.n = 1};
    gf_status st = GF_OK;
    while (st == GF_OK && tasks.n) {
        st = gf_text_reader_take(reader, &r->batch, &tasks, err);
        gf_pool_tasks analysing = {0, analyse_task, r};
        if (st == GF_OK) analysing.n = (r->batch->n + TASK_DOCUMENTS - 1) / TASK_DOCUMENTS;
        if (st == GF_OK) st = reserve_pieces(r, analysing.n, err);
        if (st == GF_OK) st = gf_pool_run_both(r->workers->pool, &tasks, &analysing, cancel, err);
        if (st == GF_OK) st = add_batch(r, err);
        if (st == GF_OK) st = gf_model_workers_bound(r->workers, err);
    }
    return st == GF_OK ? reserve_rows(r->rows, r->rows->x.n_rows, err) : st;
}

gf_status gf_text_rows_read(gf_view *v, const gf_model_workers *workers, const gf_cancel *cancel,
                            gf_text_rows *rows, gf_error *err)
{
    reading r = {.rows = rows, .workers = workers};
    gf_settings_map map = {0};
    gf_resolved settings; /* the build's */
    gf_text_reader_options o = {.store = v->store,
                                .snapshot = v->snapshot,
                                .where = v->where,
                                .settings = &settings,
                                .threads = workers->n};
    gf_text_reader *reader = NULL;
    gf_status st = gf_settings_map_read_build(v->info.settings, &map, err);
    if (st == GF_OK) st = gf_settings_resolve(&map, v->configuration, &settings, err);
    if (st == GF_OK) st = gf_view_within(v, &o.within, err);
    if (st == GF_OK) st = gf_text_reader_open(&o, &reader, err);
    if (st == GF_OK) {
        st = read_batches(&r, reader, cancel, err);
        gf_text_reader_close(reader);
    }
    rows->x.n_cols = v->model.vocabulary.n_terms;
    gf_settings_map_release(&map);
    for (size_t i = 0; i < r.n_pieces; i++) {
        gf_free(r.pieces[i].col);
        gf_free(r.pieces[i].val);
    }
    gf_free(r.pieces);
    return st;
}

void gf_text_rows_release(gf_text_rows *rows)
{
    gf_csr_release(&rows->x);
    gf_free(rows->id);
    gf_free(rows->moment);
    gf_arena_release(&rows->memory);
    *rows = (gf_text_rows){.id = NULL};
}
