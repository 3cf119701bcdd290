#include "tests/engine/fixture_runs.h"

#include "engine/rows/scan.h"
#include "storage/run.h"
#include "tests/support/test.h"

/* A family whose entries are laid out anew: those that are there go, then they are put again. */
typedef struct layout {
    gf_table *table;
    unsigned family;
    bool wide, in_blocks;
    gf_batch *batch;
    gf_run_block block;
    bool open;
} layout;

typedef void each_run(layout *l, void *context);

static void for_each_run(gf_store *store, each_run *each, layout l, void *context)
{
    gf_table *const tables[] = {store->tables.clusters, store->tables.memberships};
    for (size_t i = 0; i < 2; i++) {
        const gf_schema *schema = gf_table_schema(tables[i]);
        l.table = tables[i];
        for (l.family = 0; l.family < schema->n_families; l.family++) {
            l.wide = schema->families[l.family].layout == GF_LAYOUT_WIDE;
            if (schema->families[l.family].run) each(&l, context);
        }
    }
}

static gf_status delete_stored(void *context, const gf_row *row, gf_error *err)
{
    (void)err;
    layout *l = context;
    if (l->wide)
        gf_batch_delete_cell(l->batch, l->table, row->key, l->family, row->cells[0].qualifier);
    else
        gf_batch_delete_row(l->batch, l->table, row->key, UINT32_C(1) << l->family);
    return GF_OK;
}

static void put_block(layout *l)
{
    gf_error err;
    if (l->open) {
        assert_ok(gf_run_block_finish(&l->block, &err));
        gf_batch_put_block(l->batch, &l->block);
    }
    l->open = false;
}

static gf_status add_to_block(layout *l, const gf_row *row, const gf_column *columns)
{
    gf_error err;
    gf_run_block *b = &l->block;
    if (l->open && (gf_run_block_is_full(b) || !gf_run_block_takes(b, row->key))) put_block(l);
    if (!l->open) assert_ok(gf_run_block_begin(b, l->table, l->family, NULL, 0, &err));
    l->open = true;
    if (l->wide)
        assert_ok(gf_run_block_add_cell(b, row->key, columns->name, columns->value, &err));
    else
        assert_ok(gf_run_block_add_row(b, row->key, columns, row->n_cells, &err));
    return GF_OK;
}

static gf_status put_entry(void *context, const gf_row *row, gf_error *err)
{
    (void)err;
    layout *l = context;
    gf_column columns[8];
    assert_true(row->n_cells <= sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < row->n_cells; i++)
        columns[i] = (gf_column){row->cells[i].qualifier, row->cells[i].value};
    if (l->in_blocks) return add_to_block(l, row, columns);
    if (l->wide)
        gf_batch_put(l->batch, l->table, row->key, l->family, columns->name, columns->value, 0);
    else
        gf_batch_replace(l->batch, l->table, row->key, l->family, columns, row->n_cells, 0);
    return GF_OK;
}

/* The scan sees what is there before the deletions, which are written in one batch with the rest. */
static void lay_out(layout *l, void *context)
{
    gf_store *store = context;
    gf_error err;
    gf_snapshot *before;
    assert_ok(gf_batch_create(store->db, &l->batch, &err));
    assert_ok(gf_snapshot_create(store->db, &before, &err));
    assert_ok(gf_scan_each(
        l->table, &GF_SCAN_OPTIONS(.family = l->family, .keys_only = true, .as_stored = true),
        delete_stored, l, &err));
    assert_ok(gf_batch_write(l->batch, GF_SYNC_OFF, &err));
    assert_ok(gf_scan_each(l->table, &GF_SCAN_OPTIONS(.snapshot = before, .family = l->family),
                           put_entry, l, &err));
    put_block(l);
    assert_ok(gf_batch_write(l->batch, GF_SYNC_ON, &err));
    gf_snapshot_free(before);
    gf_batch_free(l->batch);
    gf_run_block_release(&l->block);
}

void fixture_runs_singly(gf_store *store)
{
    for_each_run(store, lay_out, (layout){.in_blocks = false}, store);
}

void fixture_runs_in_blocks(gf_store *store)
{
    for_each_run(store, lay_out, (layout){.in_blocks = true}, store);
}

static gf_status count_entry(void *context, const gf_row *row, gf_error *err)
{
    (void)row, (void)err;
    ++*(uint64_t *)context;
    return GF_OK;
}

static void count_run(layout *l, void *context)
{
    gf_error err;
    uint64_t *counts = context;
    gf_scan_options o = GF_SCAN_OPTIONS(.family = l->family, .keys_only = true);
    assert_ok(gf_scan_each(l->table, &o, count_entry, &counts[1], &err));
    o.as_stored = true;
    assert_ok(gf_scan_each(l->table, &o, count_entry, &counts[0], &err));
}

void fixture_runs_count(gf_store *store, uint64_t *stored, uint64_t *entries)
{
    uint64_t counts[2] = {0, 0};
    for_each_run(store, count_run, (layout){.in_blocks = false}, counts);
    *stored = counts[0];
    *entries = counts[1];
}
