/* The rows of a copy: table by table, from one state where the source has such. */
#include "engine/copy/copy_internal.h"

#include "base/clock.h"
#include "base/murmur.h"
#include "base/number.h"
#include "engine/rows/scan.h"
#include "engine/store/hold.h"
#include "storage/backend.h"
#include "storage/table_copy.h"

typedef struct copying {
    gf_copy_plan plan;
    gf_copy_work *work;
    const gf_copy_table *table; /* at hand */
    uint64_t stamp;
    uint64_t applications; /* the latest time of a cell of theirs; 0: there is none */
    gf_status beaten;      /* how the last renewal of the mark ended */
    gf_error why;
} copying;

static void beat(copying *c)
{
    if (c->beaten == GF_OK) c->beaten = gf_copy_mark_renew(&c->work->mark, &c->why);
}

static void tell(void *context, uint64_t entries)
{
    copying *c = context;
    const gf_copy_options *o = c->work->options;
    if (o->progress) o->progress(o->context, c->table->name, entries, c->table->of);
    beat(c);
}

static void prepare(void *context, gf_batch *batch)
{
    copying *c = context;
    if (c->table->own) gf_batch_stamp(batch, c->stamp);
    gf_copy_mark_guard(&c->work->mark, batch);
    beat(c);
}

static gf_status copy_table(copying *c, const gf_copy_table *t, gf_error *err)
{
    gf_copy_plan *p = &c->plan;
    unsigned both = gf_database_capabilities(p->from->db) | gf_database_capabilities(p->to);
    gf_table_copying rows = {.from = t->from,
                             .to = t->to,
                             .from_start = t->from_start,
                             .to_start = t->to_start,
                             .snapshot = p->snapshot,
                             .families = t->families,
                             .timeless = t->own,
                             .cell_times = !t->own && both & GF_BACKEND_NAMED,
                             .untimed = t->of_application ? (int64_t)c->stamp : 0,
                             .cancel = c->work->options->cancel,
                             .told = tell,
                             .prepare = prepare,
                             .context = c};
    c->table = t;
    gf_status st = gf_table_copy(&rows, err);
    c->work->copied->entries += rows.entries;
    c->work->copied->bytes += rows.bytes;
    if (t->of_application && (uint64_t)rows.newest > c->applications)
        c->applications = (uint64_t)rows.newest;
    if (st == GF_OK && c->beaten != GF_OK) {
        if (err) *err = c->why;
        st = c->beaten;
    }
    return st;
}

/* ---- collections ----------------------------------------------------------------------------- */

typedef struct summing {
    uint64_t rows, documents;
    uint32_t hash;
} summing;

static gf_status sum_row(void *context, const gf_row *row, gf_error *err)
{
    summing *s = context;
    uint64_t size = 0;
    (void)err;
    s->rows++;
    s->hash = gf_murmur3(row->key, s->hash);
    for (size_t i = 0; i < row->n_cells; i++)
        s->hash = gf_murmur3(row->cells[i].value, gf_murmur3(row->cells[i].qualifier, s->hash));
    gf_rows_cell_number(gf_row_find(row, GF_COLLECTIONS_MAIN, "size"), &size);
    s->documents += size;
    return GF_OK;
}

static gf_status sum_collections(const gf_copy_plan *p, summing *sum, gf_error *err)
{
    *sum = (summing){0};
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = p->snapshot, .family = GF_COLLECTIONS_MAIN);
    return gf_scan_each(p->from->tables.collections, &o, sum_row, sum, err);
}

/* Whether a batch is being written, or was cut short: its end takes away the journal and changes its collection at once. */
static gf_status has_journal(const gf_copy_plan *p, bool *has, gf_error *err)
{
    *has = false;
    if (!gf_database_holds_in_rows(p->from->db)) return GF_OK;
    return gf_scan_finds(p->from->tables.collections, NULL, GF_COLLECTIONS_JOURNAL, (gf_slice){0},
                         has, err);
}

/* Without one state of all tables, documents and sizes agree only where nobody changed them. */
static gf_status check_unchanged(const copying *c, const summing *before, gf_error *err)
{
    summing now;
    bool is_written;
    if (c->plan.snapshot) return GF_OK;
    gf_status st = has_journal(&c->plan, &is_written, err);
    if (st == GF_OK) st = sum_collections(&c->plan, &now, err);
    if (st != GF_OK || (!is_written && now.rows == before->rows && now.hash == before->hash))
        return st;
    return gf_fail(err, GF_EBUSY,
                   "collections were changed while they were copied, and this store has no one "
                   "state of all; stop what puts and rebuilds, and copy again");
}

typedef struct freeing {
    const copying *c;
    gf_batch *batch;
    gf_slice owner;
} freeing;

static gf_status free_row(void *context, const gf_row *row, gf_error *err)
{
    const freeing *f = context;
    gf_batch_put(f->batch, f->c->plan.tables.collections, row->key, GF_COLLECTIONS_HOLD,
                 GF_SLICE("owner"), f->owner, 0);
    if (gf_batch_changes(f->batch) < 1000) return GF_OK;
    return gf_batch_write(f->batch, GF_SYNC_ON, err);
}

/* Applications write under the hold of their namespace, which is that of a collection without a name. */
static gf_status free_name_space(const copying *c, gf_batch *batch, gf_error *err)
{
    gf_buffer key = {0};
    gf_number_digits digits;
    uint64_t stamp = c->applications > c->stamp ? c->applications : c->stamp;
    if (!c->applications) return GF_OK;
    gf_tables_collection_key(&key, GF_SLICE(GF_COPY_NAME_SPACE), (gf_slice){0});
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        gf_batch_put(batch, c->plan.tables.collections, gf_buffer_view(&key), GF_COLLECTIONS_HOLD,
                     GF_SLICE("owner"), gf_number_write(&digits, stamp), 0);
    gf_buffer_release(&key);
    return st;
}

/* Later holds get later stamps than what was copied, where rows hold themselves. */
static gf_status free_rows(copying *c, gf_error *err)
{
    gf_number_digits digits;
    freeing f = {.c = c, .owner = gf_number_write(&digits, c->stamp)};
    if (!c->stamp) return GF_OK;
    gf_status st = gf_batch_create(c->plan.to, &f.batch, err);
    if (st != GF_OK) return st;
    gf_batch_stamp(
        f.batch,
        c->stamp); /* who takes the row writes as of a later one, whatever its clock says */
    gf_copy_mark_guard(&c->work->mark, f.batch);
    for (unsigned family = 0; family < GF_COLLECTIONS_LEASES && st == GF_OK; family++) {
        gf_scan_options o = GF_SCAN_OPTIONS(.family = family, .keys_only = true);
        st = gf_scan_each(c->plan.tables.collections, &o, free_row, &f, err);
    }
    if (st == GF_OK) st = free_name_space(c, f.batch, err);
    if (st == GF_OK) st = gf_batch_write(f.batch, GF_SYNC_ON, err);
    gf_batch_free(f.batch);
    return st;
}

/* ---- one store into another ------------------------------------------------------------------ */

static gf_status copy_rows(copying *c, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < c->plan.n && st == GF_OK; i++)
        st = copy_table(c, &c->plan.list[i], err);
    return st;
}

static gf_status count_builds(const gf_copy_plan *p, uint64_t *n, gf_error *err)
{
    *n = 0;
    return gf_scan_count(p->from->tables.builds, p->snapshot, GF_BUILDS_MAIN, (gf_slice){0}, n,
                         err);
}

static gf_status copy_all(copying *c, gf_error *err)
{
    gf_copy_plan *p = &c->plan;
    summing sum;
    gf_status st = sum_collections(p, &sum, err);
    if (st == GF_OK) st = count_builds(p, &c->work->copied->builds, err);
    if (st == GF_OK) st = gf_copy_plan_check(p, err);
    if (st == GF_OK) st = gf_copy_mark_put(&c->work->mark, p->to, p->tables.tables, err);
    if (st == GF_OK) st = gf_copy_plan_make(p, err);
    if (st == GF_OK) st = copy_rows(c, err);
    if (st == GF_OK) st = check_unchanged(c, &sum, err);
    if (st == GF_OK) st = free_rows(c, err);
    c->work->copied->collections = sum.rows;
    c->work->copied->documents = sum.documents;
    c->work->copied->tables = p->users;
    return st == GF_OK ? gf_copy_mark_remove(&c->work->mark, err) : st;
}

gf_status gf_store_copy_into(gf_copy_work *w, gf_database *to, gf_error *err)
{
    gf_snapshot *snapshot = NULL;
    copying c = {.plan = {.from = w->from, .to = to, .mark = &w->mark}, .work = w};
    *w->copied = (gf_copied){0};
    gf_status st = gf_tables_open(to, &c.plan.tables, err);
    if (st == GF_OK && gf_database_holds_in_rows(to)) c.stamp = (uint64_t)gf_clock_ms();
    if (st == GF_OK) st = gf_store_finish_all_batches(w->from, err);
    if (st == GF_OK) st = gf_snapshot_create_if_any(w->from->db, &snapshot, err);
    c.plan.snapshot = snapshot;
    if (st == GF_OK) st = copy_all(&c, err);
    if (st == GF_ECONFLICT)
        st = gf_fail(err, GF_EBUSY, "another process is copying to the same place");
    gf_copy_plan_release(&c.plan);
    gf_snapshot_free(snapshot);
    return st;
}
