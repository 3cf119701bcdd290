/*
 * Writing a build: its clusters, its memberships, its model, and the row that says that all is there.
 *
 *     parts (tasks of the pool)   fill 0 | fill 2 | fill 3 | ...
 *                                 fill 1   | fill 4   | ...
 *     the queue's thread                write 0 | write 1 | write 2 | ...
 *     this thread, then           cells of rows and indexes, in batches of the same queue
 *     the caller                  the build's row, synced
 *
 * Members and memberships are encoded and compressed in blocks by the tasks; what is left to one
 * thread is to append them. Keys rise from part to part within a section: that is cheapest to insert, and makes tables that do
 * not overlap, so that there is little to compact. A small build, or one that is made beside others
 * (without a pool), is filled into the caller's batch.
 */
#include "engine/build/write_internal.h"

#include "base/clock.h"
#include "base/json/writer.h"
#include "base/number.h"
#include "engine/build/search_cells.h"
#include "engine/build/similar_index.h"
#include "engine/store/builds.h"
#include "storage/write_queue.h"

/* A batch of more is handed over to be written. */
enum { WRITE_BYTES = 4 << 20, WRITE_CHANGES = 100000 };

/* So many documents are no work for several threads. */
enum { FEW_DOCUMENTS = 2000 };

/* Batches that are filled or wait: two for each thread, and the one that is written. */
enum { PLACES_PER_THREAD = 2 };

/* Parts of one kind, and what is told of them. */
typedef struct section {
    gf_build_fill *fill;
    uint32_t parts;
} section;

enum { OF_CLUSTERS = 3, OF_REST = 9 };

typedef struct sink {
    const gf_build_writing *w;
    gf_batch *own;         /* the caller's */
    gf_write_queue *queue; /* NULL: all goes into the caller's batch */
    uint64_t number;       /* of the queue's next batch */
    gf_batch *batch;       /* of cells that this thread puts; NULL: none is begun */
    gf_buffer memory;      /* of a compressed cell */
} sink;

/* In a shared store nothing is written of a build that another process has taken over. */
static void guard_batch(const gf_build_plan *plan, gf_batch *batch)
{
    gf_lease_guard(plan->lease, plan->store->tables.builds, GF_BUILDS_PROGRESS, batch);
}

/* ---- parts ----------------------------------------------------------------------------------- */

typedef struct part_tasks {
    sink *to;
    const char *phase;
    const section *sections; /* n_sections */
    size_t n_sections, n_parts;
} part_tasks;

static uint32_t count_parts(uint32_t n, uint32_t size)
{
    return n / size + (n % size != 0);
}

static gf_status fill_part(const part_tasks *t, size_t i, gf_batch *batch, gf_error *err)
{
    const section *s = t->sections;
    for (; i >= s->parts; s++)
        i -= s->parts;
    return s->fill(t->to->w, (uint32_t)i, batch, err);
}

/* A batch of the queue, which is of the build alone. */
static gf_status take_batch(const sink *to, uint64_t number, gf_batch **batch, gf_error *err)
{
    gf_status st = gf_write_queue_take(to->queue, number, batch, err);
    if (st == GF_OK) guard_batch(to->w->plan, *batch);
    return st;
}

/* A task. Worker 0 is the caller's own thread, whose progress function it is. */
static gf_status write_part(void *context, size_t i, unsigned worker, gf_error *err)
{
    const part_tasks *t = context;
    gf_write_queue *queue = t->to->queue;
    uint64_t number = t->to->number + i;
    gf_batch *batch;
    gf_error why = {GF_OK, ""};
    if (worker == 0) gf_build_plan_progress(t->to->w->plan, t->phase, i, t->n_parts);
    gf_status st = take_batch(t->to, number, &batch, &why);
    if (st == GF_OK) st = fill_part(t, i, batch, &why);
    if (st == GF_OK) {
        gf_write_queue_give(queue, number);
        return GF_OK;
    }
    gf_write_queue_stop(queue, number, &why);
    if (err) *err = why;
    return st;
}

static gf_status write_own(sink *to, size_t bytes, size_t changes, gf_error *err)
{
    gf_status st = gf_cancel_check(to->w->plan->options->cancel, err);
    if (st != GF_OK || (gf_batch_bytes(to->own) < bytes && gf_batch_changes(to->own) < changes))
        return st;
    return gf_batch_write(to->own, GF_SYNC_ON, err);
}

static gf_status write_sections(sink *to, gf_pool *pool, const char *phase, const section *sections,
                                size_t n, gf_error *err)
{
    part_tasks t = {to, phase, sections, n, 0};
    gf_status st = GF_OK;
    for (size_t s = 0; s < n; s++)
        t.n_parts += sections[s].parts;
    if (to->queue) {
        st = gf_pool_run(pool, t.n_parts, write_part, &t, to->w->plan->options->cancel, err);
        to->number += t.n_parts;
        return st;
    }
    gf_build_plan_progress(to->w->plan, phase, 0, t.n_parts);
    for (size_t i = 0; i < t.n_parts && st == GF_OK; i++) {
        st = fill_part(&t, i, to->own, err);
        if (st == GF_OK) st = write_own(to, WRITE_BYTES, WRITE_CHANGES, err);
    }
    return st;
}

static gf_status write_parts(sink *to, gf_pool *pool, gf_error *err)
{
    const gf_kmeans *c = &to->w->clustered->kmeans;
    uint32_t n = to->w->documents->n;
    uint32_t rows = count_parts(c->k, GF_PART_CLUSTERS);
    uint32_t members = count_parts(c->n, GF_PART_MEMBERS);
    uint32_t places = count_parts(n, gf_build_membership_part(to->w->plan));
    const section clusters[OF_CLUSTERS] = {{gf_build_fill_clusters, rows},
                                           {gf_build_fill_documents, members},
                                           {gf_build_fill_ranked, members}};
    const section rest[OF_REST] = {
        {gf_build_fill_memberships, places}, {gf_build_fill_vocabulary, 1},
        {gf_build_fill_analysis, 1},         {gf_build_fill_centres, rows},
        {gf_build_fill_copies, rows},        {gf_build_fill_group_ids, 1},
        {gf_build_fill_hours, rows + 1},     {gf_build_fill_tree, 1},
        {gf_build_fill_candidates, 1}};
    gf_status st = GF_OK;
    if (c->k) st = write_sections(to, pool, "writing clusters", clusters, OF_CLUSTERS, err);
    if (st == GF_OK) st = write_sections(to, pool, "writing memberships", rest, OF_REST, err);
    return st;
}

/* ---- cells that this thread puts ------------------------------------------------------------- */

static void give_batch(sink *to)
{
    if (to->batch) gf_write_queue_give(to->queue, to->number++);
    to->batch = NULL;
}

/* A cell is in the batch, which is given on where it is full. */
static gf_status end_cell(sink *to, gf_error *err)
{
    if (!to->queue) return write_own(to, WRITE_BYTES, WRITE_CHANGES, err);
    if (gf_batch_bytes(to->batch) >= WRITE_BYTES / 4) give_batch(to);
    return gf_cancel_check(to->w->plan->options->cancel, err);
}

/* Put a cell of rows or of an index (gf_index_put_cell, gf_put_kept_rows). */
static gf_status put_cell(void *context, gf_slice qualifier, gf_buffer *value, gf_error *err)
{
    sink *to = context;
    gf_status st = GF_OK;
    if (!to->queue) to->batch = to->own;
    if (!to->batch) st = take_batch(to, to->number, &to->batch, err);
    if (st == GF_OK) st = gf_build_put_model(to->w, to->batch, qualifier, value, &to->memory, err);
    return st == GF_OK ? end_cell(to, err) : st;
}

/* ---- indexes --------------------------------------------------------------------------------- */

typedef struct index_parts {
    sink *to;
    gf_pool *pool;
    gf_index_fill_cells *fill;
    void *of;
} index_parts;

/* Cells of a part, compressed by the thread that makes them. */
typedef struct index_batch {
    const gf_build_writing *w;
    gf_batch *batch;
    gf_buffer memory;
} index_batch;

static gf_status put_index_cell(void *context, gf_slice qualifier, gf_buffer *value, gf_error *err)
{
    index_batch *b = context;
    return gf_build_put_model(b->w, b->batch, qualifier, value, &b->memory, err);
}

static gf_status write_index_part(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    const index_parts *p = context;
    gf_write_queue *queue = p->to->queue;
    uint64_t number = p->to->number + i;
    index_batch b = {.w = p->to->w};
    gf_error why = {GF_OK, ""};
    gf_status st = take_batch(p->to, number, &b.batch, &why);
    if (st == GF_OK) st = p->fill(p->of, (uint32_t)i, put_index_cell, &b, &why);
    gf_buffer_release(&b.memory);
    if (st == GF_OK) {
        gf_write_queue_give(queue, number);
        return GF_OK;
    }
    gf_write_queue_stop(queue, number, &why);
    if (err) *err = why;
    return st;
}

/* As of gf_index_cells. */
static gf_status put_index_parts(void *context, gf_index_fill_cells *fill, void *of, uint32_t n,
                                 gf_error *err)
{
    const index_parts *given = context;
    index_parts p = {given->to, given->pool, fill, of};
    gf_status st = GF_OK;
    if (p.to->queue) {
        give_batch(p.to);
        st = gf_pool_run(p.pool, n, write_index_part, &p, p.to->w->plan->options->cancel, err);
        p.to->number += n;
        return st;
    }
    for (uint32_t i = 0; i < n && st == GF_OK; i++)
        st = fill(of, i, put_cell, p.to, err);
    return st;
}

/* A cell that ranks have made, as it is to be stored. */
static gf_status put_made_cell(void *context, gf_slice qualifier, const gf_compressed *value,
                               gf_error *err)
{
    sink *to = context;
    const gf_tables *tables = to->w->tables;
    gf_status st = GF_OK;
    if (!to->queue) to->batch = to->own;
    if (!to->batch) st = take_batch(to, to->number, &to->batch, err);
    if (st != GF_OK) return st;
    if (value->smaller || to->w->documents->cells.of.compressed)
        gf_batch_put_compressed(to->batch, tables->builds, to->w->key, GF_BUILDS_MODEL, qualifier,
                                value);
    else
        gf_batch_put(to->batch, tables->builds, to->w->key, GF_BUILDS_MODEL, qualifier,
                     value->bytes, 0);
    return end_cell(to, err);
}

/* The index of all words comes first: where both are of the same documents, it has their ids. */
static gf_status write_indexes(sink *to, gf_pool *pool, gf_build *b, gf_error *err)
{
    const gf_build_plan *plan = to->w->plan;
    index_parts parts = {.to = to, .pool = pool};
    const gf_index_cells cells = {put_index_parts, &parts};
    bool has_ids = false;
    gf_status st = gf_ranks_cells_each(&b->documents.cells, put_made_cell, to, err);
    if (st == GF_OK && gf_build_plan_indexes_words(plan))
        st = gf_build_write_search_cells(plan, pool, &b->documents, &cells, &has_ids, err);
    if (st == GF_OK && gf_build_plan_indexes_rows(plan))
        st = gf_build_write_similar_index(&b->documents, pool, plan->options->cancel, !has_ids,
                                          &cells, err);
    return st;
}

static gf_status write_cells(sink *to, gf_pool *pool, gf_build *b, gf_error *err)
{
    const gf_build_plan *plan = to->w->plan;
    gf_status st = gf_build_write_rows(plan, &b->documents, &b->clustered, put_cell, to, err);
    if (st == GF_OK && b->clustered.words.n)
        st = gf_term_vectors_write(&b->clustered.words, put_cell, to, err);
    if (st == GF_OK) st = write_indexes(to, pool, b, err);
    if (to->queue) give_batch(to);
    return st;
}

/* ---- the build ------------------------------------------------------------------------------- */

static void add_number(gf_column *columns, size_t *n, const char *name, gf_number_digits *digits,
                       uint64_t v)
{
    columns[*n] = (gf_column){gf_slice_str(name), gf_number_write(&digits[*n], v)};
    ++*n;
}

/* The row of the build, which comes last: it says that all others are there. */
static gf_status write_build_row(const gf_build_writing *w, const gf_build_info *info,
                                 const gf_build_matched *matched, gf_batch *batch, gf_error *err)
{
    enum { ALL = 19 };
    gf_column columns[ALL];
    gf_number_digits digits[ALL];
    gf_buffer objective = {0}, seconds = {0}, topics = {0};
    size_t n = 0;
    gf_json_append_double(&objective, info->objective);
    gf_json_append_double(&seconds, info->seconds);
    gf_status st = gf_buffer_check(&objective, err);
    if (st == GF_OK) st = gf_buffer_check(&seconds, err);
    if (st == GF_OK) st = gf_edits_list_topics(&w->plan->edits, &topics, err);
    if (st != GF_OK) goto done;
    add_number(columns, &n, "documents", digits, info->documents);
    add_number(columns, &n, "without_terms", digits, info->without_terms);
    add_number(columns, &n, "distinct", digits, info->distinct);
    add_number(columns, &n, "terms", digits, info->terms);
    add_number(columns, &n, "k", digits, info->k);
    add_number(columns, &n, "next_id", digits, matched->next_id);
    add_number(columns, &n, "seq", digits, info->seq);
    add_number(columns, &n, "chosen_for", digits, w->clustered->chosen_for);
    add_number(columns, &n, "settled_for", digits, w->clustered->settled_for);
    add_number(columns, &n, "next_group", digits, matched->next_group);
    columns[n++] = (gf_column){GF_SLICE("objective"), gf_buffer_view(&objective)};
    columns[n++] = (gf_column){GF_SLICE("seconds"), gf_buffer_view(&seconds)};
    columns[n++] = (gf_column){GF_SLICE("settings"), info->settings};
    columns[n++] = (gf_column){GF_SLICE("versions"), info->versions};
    if (info->rows != GF_ROWS_OF_TEXTS)
        columns[n++] =
            (gf_column){GF_SLICE("matrix"), gf_slice_str(gf_build_rows_name(info->rows))};
    if (w->plan->within_is[0])
        columns[n++] = (gf_column){GF_SLICE("within"), gf_slice_str(w->plan->within_is)};
    if (info->unplaced) add_number(columns, &n, "unplaced", digits, info->unplaced);
    if (w->plan->pins.edited) add_number(columns, &n, "edited", digits, w->plan->pins.edited);
    if (topics.len) columns[n++] = (gf_column){GF_SLICE("topics"), gf_buffer_view(&topics)};
    gf_batch_replace(batch, w->tables->builds, w->key, GF_BUILDS_MAIN, columns, n, 0);
done:
    gf_buffer_release(&topics);
    gf_buffer_release(&objective);
    gf_buffer_release(&seconds);
    return st;
}

gf_status gf_build_write(const gf_build_plan *plan, gf_pool *pool, gf_build *b, gf_batch *batch,
                         gf_error *err)
{
    gf_build_writing w = {.plan = plan,
                          .documents = &b->documents,
                          .clustered = &b->clustered,
                          .ids = b->matched.ids,
                          .groups = b->matched.groups,
                          .named = &b->named,
                          .figures = &b->figures,
                          .best = &b->best,
                          .previous = &b->previous,
                          .tables = &plan->store->tables,
                          .key = gf_buffer_view(&plan->key)};
    sink to = {.w = &w, .own = batch};
    unsigned places = PLACES_PER_THREAD * gf_pool_size(pool) + 1;
    gf_error later;
    guard_batch(plan, batch);
    gf_status st =
        gf_lease_is_mine(plan->lease)
            ? gf_build_order_members(&w, err)
            : gf_fail(err, GF_ECONFLICT, "the rebuild was silent for longer than its lease");
    if (st == GF_OK && pool && b->documents.n > FEW_DOCUMENTS)
        st = gf_write_queue_open(plan->store->db, places, &to.queue, err);
    if (st == GF_OK) st = write_parts(&to, pool, err);
    if (st == GF_OK) st = write_cells(&to, pool, b, err);
    gf_status written = gf_write_queue_close(to.queue, st == GF_OK ? err : &later);
    if (st == GF_OK) st = written;
    b->info.seconds = gf_clock_seconds() - b->begun;
    if (st == GF_OK) st = write_build_row(&w, &b->info, &b->matched, batch, err);
    gf_build_writing_release(&w);
    gf_buffer_release(&to.memory);
    return st;
}
