/* The plan of a rebuild: its names and settings, its beginning and its end. */
#include "engine/build/plan.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/options.h"
#include "engine/rows/scan.h"
#include "engine/store/builds.h"
#include "engine/store/collections.h"
#include "engine/store/delete.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

gf_status gf_build_plan_check_options(const gf_rebuild_options *o, gf_error *err)
{
    gf_status st =
        gf_options_check(o->version, GF_REBUILD_OPTIONS_VERSION, "gf_rebuild_options", err);
    return st == GF_OK ? gf_settings_check_pairs(o->set, o->n_set, err) : st;
}

gf_status gf_build_plan_init(gf_build_plan *plan, gf_store *store, gf_place where,
                             gf_slice configuration, const gf_rebuild_options *options,
                             gf_error *err)
{
    gf_build_plan p = {.store = store, .options = options, .every = 1, .matrix = options->matrix};
    p.where.name_space = gf_arena_copy(&p.names, where.name_space);
    p.where.collection = gf_arena_copy(&p.names, where.collection);
    p.configuration = gf_arena_copy(&p.names, configuration);
    if (!p.where.name_space.ptr || !p.where.collection.ptr || !p.configuration.ptr) {
        gf_arena_release(&p.names);
        return gf_fail_memory(err, "a rebuild");
    }
    *plan = p;
    return GF_OK;
}

void gf_build_plan_release(gf_build_plan *p)
{
    assert(!p->lease); /* it has ended */
    gf_settings_map_release(&p->map);
    gf_buffer_release(&p->settings_json);
    gf_buffer_release(&p->key);
    gf_id_set_release(&p->within);
    gf_pins_release(&p->pins);
    gf_edits_release(&p->edits);
    gf_arena_release(&p->names);
    gf_given_rows_free(p->given);
    *p = (gf_build_plan){0};
}

void gf_build_plan_progress(const gf_build_plan *p, const char *phase, uint64_t done,
                            uint64_t total)
{
    if (p->options->progress)
        p->options->progress(p->options->context, p->where, phase, done, total);
}

bool gf_build_plan_indexes_rows(const gf_build_plan *p)
{
    return p->settings.store_index && (!p->spills || p->memory.index);
}

bool gf_build_plan_indexes_words(const gf_build_plan *p)
{
    /* Search reads the index of "default" alone. */
    return p->settings.store_index && (!p->spills || p->memory.search) &&
           gf_slice_equal(p->configuration, GF_SLICE("default"));
}

/* ---- has anything changed? ------------------------------------------------------------------- */

static gf_status resolve_settings(gf_build_plan *p, gf_error *err)
{
    gf_status st = gf_settings_resolve(&p->map, p->configuration, &p->settings, err);
    /* Refinement is of terms; other rows are named by the plain idf, which serves means of word
       vectors better, too (docs/algorithms.md). */
    if (p->options->matrix || p->settings.word_vectors.len) p->settings.refine = false;
    gf_weights *weights = &p->settings.vectorizer.weights;
    if (p->settings.refine) weights->idf = gf_weight_sharpen_idf(weights->idf);
    return st;
}

/* Settings of the configuration, and over them those of this build alone. */
static gf_status read_settings(gf_build_plan *p, const gf_collection_row *row, gf_error *err)
{
    gf_settings_map_release(&p->map);
    gf_buffer_reset(&p->settings_json);
    gf_status st =
        gf_configuration_load(p->store, NULL, p->where, row, p->configuration, &p->map, err);
    if (st == GF_OK)
        st = gf_configuration_override(p->store, p->where, p->configuration, p->options->set,
                                       p->options->n_set, &p->map, err);
    if (st == GF_OK) st = gf_settings_map_fix_times(&p->map, gf_clock_ms(), err);
    if (st == GF_OK) st = resolve_settings(p, err);
    gf_settings_map_write_effective(&p->map, &p->settings_json);
    return st == GF_OK ? gf_buffer_check(&p->settings_json, err) : st;
}

/*
 * The served build's settings, and what they say of a rebuild that goes on from it. Were its clusters
 * refined? Builds before `settled_for` was kept were not. A number that k=auto chose below a max_k that holds
 * no more is no choice to keep.
 */
static gf_status take_served_settings(gf_build_plan *p, gf_slice settings, gf_error *err)
{
    gf_settings_map map = {0};
    size_t refine, max_k, k;
    gf_status st = gf_settings_map_read_build(settings, &map, err);
    if (st == GF_OK) st = gf_setting_find(GF_SLICE("refine"), &refine, err);
    if (st == GF_OK) st = gf_setting_find(GF_SLICE("max_k"), &max_k, err);
    if (st == GF_OK) st = gf_setting_find(GF_SLICE("k"), &k, err);
    if (st == GF_OK) {
        p->same_k =
            gf_slice_equal(gf_settings_map_value(&map, k), gf_settings_map_value(&p->map, k));
        gf_slice most = gf_settings_map_value(&map, max_k);
        p->served_refined = p->served_settled &&
                            gf_slice_equal(gf_settings_map_value(&map, refine), GF_SLICE("on"));
        if (!gf_slice_equal(most, GF_SLICE("auto")) &&
            !gf_slice_equal(most, gf_settings_map_value(&p->map, max_k)))
            p->served_distinct = 0;
    }
    gf_settings_map_release(&map);
    return st;
}

static gf_status read_within(gf_build_plan *p, const gf_collection_row *row, gf_error *err)
{
    gf_id_set_release(&p->within);
    p->within_is[0] = 0;
    if (!p->settings.within.configuration.len) return GF_OK;
    gf_status st = gf_build_within_read(p->store, NULL, p->where, row, p->configuration,
                                        &p->settings.within, &p->within, err);
    if (st == GF_OK)
        snprintf(p->within_is, sizeof p->within_is, "%zu %016" PRIx64, p->within.n,
                 gf_id_set_hash(&p->within));
    return st;
}

/* Were topics added or deleted since the build? */
static gf_status compare_topics(const gf_build_plan *p, const gf_row *row, bool *differ,
                                gf_error *err)
{
    gf_buffer now = {0};
    const gf_cell *cell = gf_row_find(row, GF_BUILDS_MAIN, "topics");
    gf_status st = gf_edits_list_topics(&p->edits, &now, err);
    *differ = !gf_slice_equal(gf_buffer_view(&now), cell ? cell->value : (gf_slice){"", 0});
    gf_buffer_release(&now);
    return st;
}

/*
 * Whether edits wait for a rebuild: one was taken back of which the build has the effect, or one was made neither
 * before the build began nor in it. Of those that were made meanwhile, what changes groups is made again in it,
 * unless the process ended before that; what keeps documents and centres where they are only a rebuild obeys.
 */
static bool owes_edits(const gf_build_plan *p, const gf_row *row)
{
    uint64_t obeyed = 0;
    gf_rows_cell_number(gf_row_find(row, GF_BUILDS_MAIN, "edited"), &obeyed);
    bool owes = p->pins.owed > obeyed;
    for (size_t i = 0; i < p->edits.n && !owes; i++) {
        const gf_edit *e = &p->edits.at[i].edit;
        bool obeys = gf_edit_changes_groups(e) || e->kind == GF_EDIT_KEEP ||
                     (e->kind == GF_EDIT_LOCK && !e->off);
        owes = obeys && e->number > obeyed && e->build != p->served.build && !e->lost.len;
    }
    return owes;
}

/* Read the row of the served build, whose timestamp is p->served.build. */
static gf_status read_served(gf_build_plan *p, bool *modified, gf_error *err)
{
    gf_row row = {0};
    gf_build_info info;
    gf_buffer key = {0};
    int64_t build = p->served.build;
    gf_tables_build_key(&key, p->where.name_space, p->where.collection, p->configuration, build);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(p->store->tables.builds, NULL, gf_buffer_view(&key), 1u << GF_BUILDS_MAIN,
                          &row, err);
    if (st == GF_ENOTFOUND)
        st = gf_fail(err, GF_ECORRUPT, "the served build %" PRId64 " is missing", build);
    if (st == GF_OK) st = gf_build_decode(p->store, &row, &info, err);
    if (st == GF_OK) {
        gf_rows_cell_number(gf_row_find(&row, GF_BUILDS_MAIN, "chosen_for"), &p->served_distinct);
        gf_rows_cell_number(gf_row_find(&row, GF_BUILDS_MAIN, "settled_for"), &p->served_settled);
        st = take_served_settings(p, info.settings, err);
        const gf_cell *within = gf_row_find(&row, GF_BUILDS_MAIN, "within");
        *modified =
            info.seq != p->seq ||
            !gf_slice_equal(info.settings, gf_buffer_view(&p->settings_json)) ||
            !gf_slice_equal(within ? within->value : (gf_slice){0}, gf_slice_str(p->within_is));
        if (st == GF_OK && !*modified) st = compare_topics(p, &row, modified, err);
        if (st == GF_OK && !*modified) *modified = owes_edits(p, &row);
        if (st == GF_OK && p->as_served) {
            gf_settings_map_release(&p->map);
            st = gf_settings_map_read_build(info.settings, &p->map, err);
            if (st == GF_OK) st = resolve_settings(p, err);
        }
        p->served = info;
        p->served.served = true;
        p->served.settings = p->served.versions = (gf_slice){0};
    }
    gf_row_release(&row);
    gf_buffer_release(&key);
    return st;
}

gf_status gf_build_plan_read(gf_build_plan *p, bool *modified, gf_error *err)
{
    gf_collection_row row = {0};
    gf_status st = gf_collection_row_read(p->store, NULL, p->where, &row, err);
    if (st == GF_OK) st = read_settings(p, &row, err);
    if (st == GF_OK) st = read_within(p, &row, err);
    gf_pins_release(&p->pins);
    gf_edits_release(&p->edits);
    if (st == GF_OK) st = gf_pins_read(row.pins, p->configuration, &p->pins, err);
    if (st == GF_OK) st = gf_edits_read(p->store, NULL, p->where, p->configuration, &p->edits, err);
    if (st == GF_OK) {
        p->pins.edited = gf_edits_last_number(&p->edits, p->pins.edited);
        p->seq = row.seq;
        p->size = row.size;
        p->served = (gf_build_info){.build = gf_collection_row_served(&row, p->configuration)};
        p->served_distinct = p->served_settled = 0;
        p->served_refined = p->same_k = false;
        *modified = true;
        if (p->served.build) st = read_served(p, modified, err);
        if (st == GF_OK) st = gf_given_rows_due(p, *modified, &p->again, err);
        p->again_dense = p->served.rows == GF_ROWS_DENSE;
        if (st == GF_OK && p->again) { /* as with a matrix */
            st = gf_settings_resolve(&p->map, p->configuration, &p->settings, err);
            p->settings.refine = false;
        }
    }
    gf_collection_row_release(&row);
    return st;
}

gf_rebuild_outcome gf_build_plan_outcome(const gf_build_plan *p, bool modified)
{
    const gf_rebuild_options *o = p->options;
    bool is_of_matrix = p->served.build && gf_rows_are_given(p->served.rows);
    if (is_of_matrix && !o->matrix && !o->force && !p->again) return GF_REBUILD_KEPT;
    if (!modified && !o->matrix && !o->force) return GF_REBUILD_UNMODIFIED;
    return o->dry_run ? GF_REBUILD_DUE : GF_REBUILD_MADE;
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* The last of a configuration's builds, also one that is being dropped; 0 where there is none. */
static gf_status find_last_build(gf_table *table, gf_slice configuration_key, gf_row *row,
                                 int64_t *build, gf_error *err)
{
    gf_scan *scan;
    bool more;
    uint64_t number = 0;
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_BUILDS_MAIN, .prefix = configuration_key,
                                        .reverse = true, .limit = 1);
    gf_status st = gf_scan_open(table, &o, &scan, err);
    if (st != GF_OK) return st;
    st = gf_scan_step(scan, row, &more, err);
    if (st == GF_OK && more) st = gf_tables_key_last_number(table, row->key, &number, err);
    gf_scan_close(scan);
    *build = (int64_t)number;
    return st;
}

/*
 * The timestamp is now, or a millisecond more than the last build's. No other build of the
 * configuration is under way: none is active in this process, and what other processes left
 * unfinished was cleared away before the collection was held.
 */
static gf_status choose_timestamp(gf_build_plan *p, gf_slice configuration_key, gf_error *err)
{
    gf_row row = {0};
    int64_t last = 0;
    uint64_t next_id = 1, next_group = 1;
    gf_status st = find_last_build(p->store->tables.builds, configuration_key, &row, &last, err);
    const gf_cell *cell = st == GF_OK ? gf_row_find(&row, GF_BUILDS_MAIN, "next_id") : NULL;
    if (cell && (!gf_rows_cell_number(cell, &next_id) || next_id > UINT32_MAX))
        st = gf_fail(err, GF_ECORRUPT, "table builds: a row is damaged");
    cell = st == GF_OK ? gf_row_find(&row, GF_BUILDS_MAIN, "next_group") : NULL;
    if (cell && (!gf_rows_cell_number(cell, &next_group) || next_group > UINT32_MAX))
        st = gf_fail(err, GF_ECORRUPT, "table builds: a row is damaged");
    gf_row_release(&row);
    if (st != GF_OK) return st;
    if (p->served.build > last) last = p->served.build;
    p->next_id = (uint32_t)next_id;
    p->next_group = next_group ? (uint32_t)next_group : 1;
    p->build = gf_clock_ms();
    if (p->build <= last) p->build = last + 1;
    assert(p->build > p->served.build && p->next_id > 0);
    return GF_OK;
}

/*
 * Begin one build, whose collection is held; its progress row goes into the batch.
 *
 * The plan is read a second time here. gf_rebuild and gf_rebuild_all have read it to see whether
 * there is anything to do, but they hold nothing: documents, settings and the served build may have
 * changed since. While it is held the plan agrees with the snapshot.
 */
static gf_status begin_build(gf_build_plan *p, gf_batch *batch, gf_error *err)
{
    bool modified;
    gf_buffer key = {0};
    gf_lease_owner owner = {false, ""};
    gf_tables_configuration_key(&key, p->where.name_space, p->where.collection, p->configuration);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_lease_find(p->store, gf_buffer_view(&key), &owner, err);
    if (st == GF_OK && owner.living)
        st = gf_fail(err, GF_EBUSY, "configuration \"%.*s\" of \"%.*s\" is being rebuilt%s",
                     GF_SLICE_ARG(p->configuration), GF_SLICE_ARG(p->where.collection), owner.by);
    if (st == GF_OK) st = gf_build_plan_read(p, &modified, err);
    if (st == GF_OK) st = choose_timestamp(p, gf_buffer_view(&key), err);
    gf_buffer_release(&key);
    if (st != GF_OK) return st;
    gf_buffer_reset(&p->key);
    gf_tables_build_key(&p->key, p->where.name_space, p->where.collection, p->configuration,
                        p->build);
    st = gf_buffer_check(&p->key, err);
    if (st == GF_OK)
        st = gf_lease_take(p->store, gf_buffer_view(&p->key), p->seq, batch, &p->lease, err);
    if (st != GF_OK) return st;
    gf_column columns[] = {{GF_SLICE("state"), GF_SLICE("building")},
                           {GF_SLICE("owner"), gf_lease_name(p->lease)}};
    gf_batch_replace(batch, p->store->tables.builds, gf_buffer_view(&p->key), GF_BUILDS_PROGRESS,
                     columns, 2, 0);
    return GF_OK;
}

gf_status gf_build_plans_hold(const gf_build_plan *const *plans, size_t n, gf_hold *hold,
                              gf_error *err)
{
    gf_slice *names = gf_array(n, sizeof *names);
    *hold = (gf_hold){0};
    if (!names) return gf_fail_memory(err, "a rebuild");
    for (size_t i = 0; i < n; i++)
        names[i] = plans[i]->where.collection;
    gf_status st =
        gf_hold_collections(plans[0]->store, plans[0]->where.name_space, names, n, hold, err);
    gf_free(names);
    return st;
}

gf_status gf_build_plans_begin(gf_build_plan *const *plans, size_t n, gf_snapshot **snapshot,
                               gf_error *err)
{
    gf_store *s = plans[0]->store;
    gf_batch *batch = NULL;
    gf_hold hold;
    *snapshot = NULL;
    gf_status st = gf_build_plans_hold((const gf_build_plan *const *)plans, n, &hold, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = begin_build(plans[i], batch, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    if (st == GF_OK) st = gf_snapshot_create(s->db, snapshot, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        plans[i]->snapshot = *snapshot;
    gf_batch_free(batch);
    gf_hold_let_go(&hold);
    return st;
}

gf_status gf_build_plan_document(const gf_build_plan *p, gf_slice key, gf_row *row, gf_error *err)
{
    uint64_t seq = 0;
    gf_status st = gf_table_get(p->store->tables.documents, p->snapshot, key,
                                1u << GF_DOCUMENTS_MAIN, row, err);
    if (st != GF_OK || p->snapshot) return st;
    gf_rows_cell_number(gf_row_find(row, GF_DOCUMENTS_MAIN, "seq"), &seq);
    return seq <= p->seq ? GF_OK : GF_ENOTFOUND;
}

/* ---- the end --------------------------------------------------------------------------------- */

static gf_status drop_unpublished(gf_build_plan *const *plans, const bool *published, size_t n)
{
    gf_store *s = plans[0]->store;
    gf_batch *batch;
    bool any = false;
    gf_status st = gf_batch_create(s->db, &batch, NULL);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        const gf_build_plan *p = plans[i];
        if (!p->lease || published[i]) continue;
        any = true;
        gf_deleter by = {.owner = gf_lease_name(p->lease), .stamp = gf_lease_stamp(p->lease)};
        st = gf_delete_build(s, gf_buffer_view(&p->key), &by, batch, NULL);
    }
    if (st == GF_OK && any) st = gf_batch_write(batch, GF_SYNC_OFF, NULL);
    gf_batch_free(batch);
    return st;
}

void gf_build_plans_end(gf_build_plan *const *plans, const bool *published, size_t n)
{
    if (n == 0) return;
    gf_store *s = plans[0]->store;
    /* Nobody else writes below the keys, so nothing is held for this. */
    if (drop_unpublished(plans, published, n) != GF_OK) gf_store_leave_untidy(s);
    for (size_t i = 0; i < n; i++) {
        gf_lease_end(plans[i]->lease);
        plans[i]->lease = NULL;
    }
}
