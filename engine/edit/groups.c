#include "engine/edit/groups.h"

#include "base/json/writer.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/copy_list.h"
#include "engine/rows/hours.h"
#include "storage/run_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status keep_cell(gf_arena *memory, const gf_cell *cell, gf_slice *out, gf_error *err)
{
    *out = (gf_slice){0};
    if (!cell) return GF_OK;
    *out = gf_arena_copy(memory, cell->value);
    return out->ptr ? GF_OK : gf_fail_memory(err, "clusters");
}

typedef void write_qualifier(gf_buffer *out, uint32_t id);

static gf_status read_model(gf_view *v, write_qualifier *qualifier, uint32_t id, gf_arena *memory,
                            gf_slice *out, gf_error *err)
{
    gf_buffer_reset(&v->text);
    qualifier(&v->text, id);
    gf_status st = gf_buffer_check(&v->text, err);
    *out = (gf_slice){0};
    if (st == GF_OK)
        st = gf_table_get_cell(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                               GF_BUILDS_MODEL, gf_buffer_view(&v->text), 1, &v->row, err);
    if (st == GF_ENOTFOUND) return GF_OK;
    return st == GF_OK ? keep_cell(memory, &v->row.cells[0], out, err) : st;
}

gf_status gf_groups_read_cluster(gf_view *v, const gf_listed_cluster *c, gf_arena *memory,
                                 gf_group *out, gf_error *err)
{
    gf_buffer key = {0};
    gf_group g = {.id = c->id, .label = gf_arena_copy(memory, c->own_label)};
    gf_tables_cluster_key(&key, gf_buffer_view(&v->key), c->own_label);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK && !g.label.ptr) st = gf_fail_memory(err, "clusters");
    if (st == GF_OK)
        st = gf_table_get(v->store->tables.clusters, v->snapshot, gf_buffer_view(&key),
                          1u << GF_CLUSTERS_MAIN, &v->row, err);
    static const char *const names[] = {"terms", "figures",     "sentence",    "sentence_of",
                                        "title", "title_model", "title_prompt"};
    gf_slice *const columns[] = {&g.terms, &g.figures,     &g.sentence,    &g.sentence_of,
                                 &g.title, &g.title_model, &g.title_prompt};
    for (size_t i = 0; i < sizeof names / sizeof names[0] && st == GF_OK; i++)
        st = keep_cell(memory, gf_row_find(&v->row, GF_CLUSTERS_MAIN, names[i]), columns[i], err);
    if (st == GF_OK) st = read_model(v, gf_model_centre_qualifier, c->id, memory, &g.centre, err);
    if (st == GF_OK) st = read_model(v, gf_hours_qualifier, c->id, memory, &g.times, err);
    if (st == GF_OK) st = read_model(v, gf_copy_list_qualifier, c->id, memory, &g.copies, err);
    gf_buffer_release(&key);
    if (st == GF_OK) *out = g;
    return st;
}

static gf_status read_whole(gf_view *v, gf_slice qualifier, gf_arena *memory, gf_slice *out,
                            gf_error *err)
{
    gf_status st = gf_table_get_cell(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                                     GF_BUILDS_MODEL, qualifier, 1, &v->row, err);
    *out = (gf_slice){0};
    if (st == GF_ENOTFOUND) return GF_OK;
    return st == GF_OK ? keep_cell(memory, &v->row.cells[0], out, err) : st;
}

gf_status gf_groups_read_tree(gf_view *v, gf_arena *memory, gf_grouping *out, gf_error *err)
{
    gf_status st = read_whole(v, GF_SLICE("tree"), memory, &out->tree, err);
    return st == GF_OK ? read_whole(v, GF_SLICE("groups"), memory, &out->group_ids, err) : st;
}

static int by_rank(const void *a, const void *b)
{
    const gf_group_member *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return gf_slice_compare(x->id, y->id);
}

static int by_member_id(const void *a, const void *b)
{
    return gf_slice_compare(((const gf_group_member *)a)->id, ((const gf_group_member *)b)->id);
}

void gf_groups_rank(gf_group_member *members, size_t n)
{
    if (n) qsort(members, n, sizeof *members, by_rank);
}

/* ---- rows of clusters ------------------------------------------------------------------------ */

/* Delete the entries of a family of a cluster's row: of a run its blocks. */
static gf_status delete_list(gf_view *v, gf_slice key, unsigned family, gf_batch *batch,
                             gf_error *err)
{
    gf_table *clusters = v->store->tables.clusters;
    gf_scan *scan;
    bool more = true;
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = family, .prefix = key,
                                        .keys_only = true, .as_stored = true);
    gf_status st = gf_scan_open(clusters, &o, &scan, err);
    if (st != GF_OK) return st;
    while (st == GF_OK && (st = gf_scan_step(scan, &v->row, &more, err)) == GF_OK && more)
        gf_batch_delete_cell(batch, clusters, key, family, v->row.cells[0].qualifier);
    gf_scan_close(scan);
    return st;
}

static gf_status delete_cluster(gf_view *v, const gf_listed_cluster *c, bool row, gf_batch *batch,
                                gf_error *err)
{
    gf_buffer key = {0};
    gf_tables_cluster_key(&key, gf_buffer_view(&v->key), c->own_label);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK && row)
        gf_batch_delete_row(batch, v->store->tables.clusters, gf_buffer_view(&key),
                            1u << GF_CLUSTERS_MAIN);
    if (st == GF_OK) st = delete_list(v, gf_buffer_view(&key), GF_CLUSTERS_DOCUMENTS, batch, err);
    if (st == GF_OK) st = delete_list(v, gf_buffer_view(&key), GF_CLUSTERS_RANKED, batch, err);
    gf_buffer_release(&key);
    return st;
}

static gf_status put_ranked(gf_view *v, gf_slice key, const gf_group *g, gf_batch *batch,
                            gf_error *err)
{
    gf_run_writer out = {.batch = NULL};
    gf_buffer rank = {0};
    gf_status st = GF_OK;
    gf_run_writer_begin(&out, batch, v->store->tables.clusters, GF_CLUSTERS_RANKED,
                        &gf_tables_ranked_column, 1);
    for (size_t i = 0; i < g->n && st == GF_OK; i++) {
        gf_buffer_reset(&rank);
        gf_tables_rank_write(&rank, g->members[i].score, g->members[i].id);
        st = gf_buffer_check(&rank, err);
        if (st == GF_OK)
            st = gf_run_writer_add(&out, key, gf_buffer_view(&rank), &(gf_run_value){.there = true},
                                   err);
    }
    if (st == GF_OK) st = gf_run_writer_end(&out, err);
    gf_run_writer_release(&out);
    gf_buffer_release(&rank);
    return st;
}

static gf_status put_listed(gf_view *v, gf_slice key, const gf_group *g, gf_batch *batch,
                            gf_error *err)
{
    gf_run_writer out = {.batch = NULL};
    gf_status st = GF_OK;
    gf_group_member *by_id = gf_array(g->n, sizeof *by_id);
    if (!by_id) return gf_fail_memory(err, "clusters");
    memcpy(by_id, g->members, g->n * sizeof *by_id);
    qsort(by_id, g->n, sizeof *by_id, by_member_id);
    gf_run_writer_begin(&out, batch, v->store->tables.clusters, GF_CLUSTERS_DOCUMENTS,
                        &gf_tables_listed_column, 1);
    for (size_t i = 0; i < g->n && st == GF_OK; i++) {
        gf_run_value value = gf_tables_listed_value(by_id[i].score);
        st = gf_run_writer_add(&out, key, by_id[i].id, &value, err);
    }
    if (st == GF_OK) st = gf_run_writer_end(&out, err);
    gf_run_writer_release(&out);
    gf_free(by_id);
    return st;
}

static void add_column(gf_column *columns, size_t *n, const char *name, gf_slice value)
{
    if (value.ptr) columns[(*n)++] = (gf_column){gf_slice_str(name), value};
}

static gf_status put_cluster(gf_view *v, const gf_group *g, gf_batch *batch, gf_error *err)
{
    gf_buffer key = {0};
    gf_number_digits id, size;
    gf_column columns[9];
    size_t n = 0;
    add_column(columns, &n, "id", gf_number_write(&id, g->id));
    add_column(columns, &n, "size", gf_number_write(&size, g->n));
    add_column(columns, &n, "terms", g->terms);
    add_column(columns, &n, "figures", g->figures);
    add_column(columns, &n, "sentence", g->sentence);
    add_column(columns, &n, "sentence_of", g->sentence_of);
    add_column(columns, &n, "title", g->title);
    add_column(columns, &n, "title_model", g->title_model);
    add_column(columns, &n, "title_prompt", g->title_prompt);
    gf_tables_cluster_key(&key, gf_buffer_view(&v->key), g->label);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) {
        gf_batch_replace(batch, v->store->tables.clusters, gf_buffer_view(&key), GF_CLUSTERS_MAIN,
                         columns, n, 0);
        st = put_listed(v, gf_buffer_view(&key), g, batch, err);
    }
    if (st == GF_OK) st = put_ranked(v, gf_buffer_view(&key), g, batch, err);
    gf_buffer_release(&key);
    return st;
}

/* ---- the model ------------------------------------------------------------------------------- */

static gf_status put_model(gf_view *v, write_qualifier *qualifier, uint32_t id, gf_slice value,
                           gf_batch *batch, gf_error *err)
{
    gf_buffer_reset(&v->text);
    qualifier(&v->text, id);
    gf_status st = gf_buffer_check(&v->text, err);
    if (st != GF_OK) return st;
    if (value.ptr)
        gf_batch_put(batch, v->store->tables.builds, gf_buffer_view(&v->key), GF_BUILDS_MODEL,
                     gf_buffer_view(&v->text), value, 0);
    else
        gf_batch_delete_cell(batch, v->store->tables.builds, gf_buffer_view(&v->key),
                             GF_BUILDS_MODEL, gf_buffer_view(&v->text));
    return GF_OK;
}

static gf_status put_models(gf_view *v, uint32_t id, const gf_group *g, gf_batch *batch,
                            gf_error *err)
{
    gf_slice none = {0};
    gf_status st = put_model(v, gf_model_centre_qualifier, id, g ? g->centre : none, batch, err);
    if (st == GF_OK) st = put_model(v, gf_hours_qualifier, id, g ? g->times : none, batch, err);
    if (st == GF_OK)
        st = put_model(v, gf_copy_list_qualifier, id, g ? g->copies : none, batch, err);
    return st;
}

static void put_whole(gf_batch *batch, gf_table *builds, gf_slice key, gf_slice qualifier,
                      gf_slice value)
{
    if (value.ptr)
        gf_batch_put(batch, builds, key, GF_BUILDS_MODEL, qualifier, value, 0);
    else
        gf_batch_delete_cell(batch, builds, key, GF_BUILDS_MODEL, qualifier);
}

static gf_status put_build(gf_view *v, const gf_grouping *after, uint64_t next_id, gf_batch *batch,
                           gf_error *err)
{
    gf_number_digits digits;
    gf_buffer objective = {0};
    gf_table *builds = v->store->tables.builds;
    gf_slice key = gf_buffer_view(&v->key);
    gf_json_append_double(&objective, after->objective);
    gf_status st = gf_buffer_check(&objective, err);
    if (st == GF_OK) {
        gf_batch_put(batch, builds, key, GF_BUILDS_MAIN, GF_SLICE("k"),
                     gf_number_write(&digits, after->k), 0);
        gf_batch_put(batch, builds, key, GF_BUILDS_MAIN, GF_SLICE("objective"),
                     gf_buffer_view(&objective), 0);
        gf_batch_put(batch, builds, key, GF_BUILDS_MAIN, GF_SLICE("edits"),
                     gf_number_write(&digits, v->info.edits + 1), 0);
        if (next_id)
            gf_batch_put(batch, builds, key, GF_BUILDS_MAIN, GF_SLICE("next_id"),
                         gf_number_write(&digits, next_id), 0);
        put_whole(batch, builds, key, GF_SLICE("tree"), after->tree);
        put_whole(batch, builds, key, GF_SLICE("groups"), after->group_ids);
    }
    gf_buffer_release(&objective);
    return st;
}

/* ---- memberships ----------------------------------------------------------------------------- */

/*
 * Blocks of a run are written once: one that has a membership that changes is written anew, under the
 * same key, since keys stay as they are. Of a build of earlier versions each cell is a block of its own.
 */
typedef struct block_patch {
    gf_view *view;
    const gf_group_place *places; /* n, by id; `at` is the next */
    size_t n, at;
    gf_batch *batch;
    gf_run_block block;
    gf_buffer key, id;
    gf_row row;
} block_patch;

static gf_status add_membership(block_patch *p, gf_error *err)
{
    gf_membership_cells m;
    gf_run_value values[GF_MEMBERSHIP_COLUMNS];
    gf_slice id;
    gf_table *memberships = p->view->store->tables.memberships;
    gf_status st =
        gf_tables_key_rest_string(memberships, p->row.key, p->view->key.len, &p->id, &id, err);
    if (st == GF_OK) st = gf_tables_membership_read(&p->row, GF_MEMBERSHIPS_MAIN, &m, err);
    if (st != GF_OK) return st;
    if (p->at < p->n && gf_slice_equal(p->places[p->at].id, id)) {
        const gf_group_place *now = &p->places[p->at++];
        m.cluster = now->cluster;
        m.score = now->score;
        m.runner_up = now->runner_up;
        m.second = now->second;
    }
    gf_tables_membership_values(&m, values);
    return gf_run_block_add(&p->block, p->row.key, (gf_slice){0}, values, err);
}

/* Write the block of the entries behind `before` up to `last` anew. */
static gf_status patch_block(block_patch *p, gf_slice before, gf_slice last, gf_error *err)
{
    gf_table *memberships = p->view->store->tables.memberships;
    gf_scan *scan;
    bool more = true, done = false;
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = p->view->snapshot, .family = GF_MEMBERSHIPS_MAIN,
                        .prefix = gf_buffer_view(&p->view->key), .start = before);
    gf_status st = gf_run_block_begin(&p->block, memberships, GF_MEMBERSHIPS_MAIN,
                                      gf_tables_membership_columns, GF_MEMBERSHIP_COLUMNS, err);
    if (st == GF_OK) st = gf_scan_open(memberships, &o, &scan, err);
    if (st != GF_OK) return st;
    while (st == GF_OK && !done && (st = gf_scan_step(scan, &p->row, &more, err)) == GF_OK &&
           more) {
        if (before.len && gf_slice_equal(p->row.key, before)) continue;
        done = gf_slice_equal(p->row.key, last);
        st = add_membership(p, err);
    }
    gf_scan_close(scan);
    if (st == GF_OK && !done) st = gf_fail(err, GF_ECORRUPT, "a block of memberships is damaged");
    if (st == GF_OK) st = gf_run_block_finish(&p->block, err);
    if (st == GF_OK) gf_batch_put_block(p->batch, &p->block);
    return st;
}

static gf_status next_place_key(block_patch *p, gf_error *err)
{
    gf_buffer_reset(&p->key);
    gf_tables_membership_key(&p->key, gf_buffer_view(&p->view->key), p->places[p->at].id);
    return gf_buffer_check(&p->key, err);
}

static gf_status patch_memberships(gf_view *v, const gf_group_place *places, size_t n,
                                   gf_batch *batch, gf_error *err)
{
    block_patch p = {.view = v, .places = places, .n = n, .batch = batch};
    gf_scan *scan;
    gf_row stored = {0};
    gf_buffer before = {0}, last = {0};
    bool more = true;
    if (n == 0) return GF_OK;
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_MEMBERSHIPS_MAIN,
                        .prefix = gf_buffer_view(&v->key), .keys_only = true, .as_stored = true);
    gf_status st = gf_scan_open(v->store->tables.memberships, &o, &scan, err);
    if (st != GF_OK) return st;
    st = next_place_key(&p, err);
    while (st == GF_OK && p.at < n && (st = gf_scan_step(scan, &stored, &more, err)) == GF_OK &&
           more) {
        gf_buffer_reset(&last);
        gf_buffer_slice(&last, stored.key);
        st = gf_buffer_check(&last, err);
        if (st != GF_OK) break;
        if (gf_slice_compare(gf_buffer_view(&last), gf_buffer_view(&p.key)) >= 0) {
            st = patch_block(&p, gf_buffer_view(&before), gf_buffer_view(&last), err);
            if (st == GF_OK && p.at < n) st = next_place_key(&p, err);
        }
        gf_buffer_reset(&before);
        gf_buffer_slice(&before, gf_buffer_view(&last));
        if (st == GF_OK) st = gf_buffer_check(&before, err);
    }
    gf_scan_close(scan);
    if (st == GF_OK && p.at < n) st = gf_fail(err, GF_ECORRUPT, "a document has no membership");
    gf_run_block_release(&p.block);
    gf_row_release(&p.row);
    gf_row_release(&stored);
    gf_buffer_release(&p.key);
    gf_buffer_release(&p.id);
    gf_buffer_release(&before);
    gf_buffer_release(&last);
    return st;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static const gf_group *find_group(const gf_grouping *g, uint32_t id)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->at[i].id == id) return &g->at[i];
    return NULL;
}

static bool has_label(const gf_grouping *g, gf_slice label)
{
    for (size_t i = 0; i < g->n; i++)
        if (gf_slice_equal(g->at[i].label, label)) return true;
    return false;
}

/* A label is the key of a cluster's row: no two may have the same, else one row would be put over the other. */
static gf_status check_labels(const gf_grouping *g, gf_error *err)
{
    for (size_t i = 0; i < g->n; i++)
        for (size_t j = 0; j < i; j++)
            if (gf_slice_equal(g->at[i].label, g->at[j].label))
                return gf_fail(err, GF_ECORRUPT,
                               "clusters %" PRIu32 " and %" PRIu32 " would both be called \"%.*s\"",
                               g->at[j].id, g->at[i].id, GF_SLICE_ARG(g->at[i].label));
    return GF_OK;
}

gf_status gf_groups_put(gf_view *v, const uint32_t *ids, size_t n, const gf_grouping *after,
                        uint64_t next_id, gf_batch *batch, gf_error *err)
{
    gf_status st = check_labels(after, err);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        const gf_listed_cluster *c = gf_view_find_cluster(v, ids[i]);
        if (!c) continue;
        st = delete_cluster(v, c, !has_label(after, c->own_label), batch, err);
        if (st == GF_OK && !find_group(after, ids[i])) st = put_models(v, ids[i], NULL, batch, err);
    }
    for (size_t i = 0; i < after->n && st == GF_OK; i++) {
        st = put_cluster(v, &after->at[i], batch, err);
        if (st == GF_OK) st = put_models(v, after->at[i].id, &after->at[i], batch, err);
    }
    if (st == GF_OK) st = patch_memberships(v, after->places, after->n_places, batch, err);
    return st == GF_OK ? put_build(v, after, next_id, batch, err) : st;
}

/* ---- as bytes -------------------------------------------------------------------------------- */

enum { FORMAT = 1, WITH_GROUP_IDS = 2 };

static void write_float(gf_buffer *out, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    gf_buffer_u32be(out, bits);
}

static void write_maybe(gf_buffer *out, gf_slice s)
{
    gf_buffer_varint(out, s.ptr ? s.len + 1 : 0);
    if (s.ptr) gf_buffer_slice(out, s);
}

static void write_group(const gf_group *g, gf_buffer *out)
{
    const gf_slice maybe[] = {g->terms, g->figures,     g->sentence,     g->sentence_of,
                              g->title, g->title_model, g->title_prompt, g->centre,
                              g->times, g->copies};
    gf_buffer_varint(out, g->id);
    gf_buffer_string(out, g->label);
    for (size_t i = 0; i < sizeof maybe / sizeof maybe[0]; i++)
        write_maybe(out, maybe[i]);
    gf_buffer_varint(out, g->n);
    for (size_t i = 0; i < g->n; i++) {
        gf_buffer_string(out, g->members[i].id);
        write_float(out, g->members[i].score);
    }
}

void gf_groups_write(const gf_grouping *g, gf_buffer *out)
{
    uint64_t bits;
    memcpy(&bits, &g->objective, sizeof bits);
    gf_buffer_byte(out, g->group_ids.ptr ? WITH_GROUP_IDS : FORMAT);
    gf_buffer_varint(out, g->k);
    gf_buffer_u64be(out, bits);
    write_maybe(out, g->tree);
    gf_buffer_varint(out, g->n);
    for (size_t i = 0; i < g->n; i++)
        write_group(&g->at[i], out);
    gf_buffer_varint(out, g->n_places);
    for (size_t i = 0; i < g->n_places; i++) {
        const gf_group_place *p = &g->places[i];
        gf_buffer_string(out, p->id);
        gf_buffer_varint(out, p->cluster);
        write_float(out, p->score);
        gf_buffer_varint(out, p->runner_up);
        write_float(out, p->second);
    }
    if (g->group_ids.ptr) write_maybe(out, g->group_ids);
}

static bool take_float(gf_slice *bytes, float *v)
{
    uint32_t bits;
    if (!gf_slice_take_u32be(bytes, &bits)) return false;
    memcpy(v, &bits, sizeof bits);
    return true;
}

static bool take_maybe(gf_slice *bytes, gf_slice *out)
{
    uint64_t n;
    *out = (gf_slice){0};
    if (!gf_slice_take_varint(bytes, &n) || n > bytes->len + 1) return false;
    return n == 0 || gf_slice_take_bytes(bytes, (size_t)n - 1, out);
}

/* A count of entries of two bytes or more each, and room for them. */
static bool take_list(gf_slice *bytes, gf_arena *memory, size_t size, void *list, size_t *n,
                      bool *memory_short)
{
    uint64_t count;
    if (!gf_slice_take_varint(bytes, &count) || count > bytes->len) return false;
    void *at = gf_arena_alloc(memory, ((size_t)count + 1) * size);
    *memory_short = *memory_short || !at;
    memcpy(list, &at, sizeof at);
    *n = (size_t)count;
    return at != NULL;
}

static bool take_group(gf_slice *bytes, gf_arena *memory, gf_group *g, bool *memory_short)
{
    gf_slice *const maybe[] = {&g->terms, &g->figures,     &g->sentence,     &g->sentence_of,
                               &g->title, &g->title_model, &g->title_prompt, &g->centre,
                               &g->times, &g->copies};
    if (!gf_slice_take_varint32(bytes, &g->id) || !gf_slice_take_string(bytes, &g->label))
        return false;
    for (size_t i = 0; i < sizeof maybe / sizeof maybe[0]; i++)
        if (!take_maybe(bytes, maybe[i])) return false;
    if (!take_list(bytes, memory, sizeof *g->members, &g->members, &g->n, memory_short))
        return false;
    for (size_t i = 0; i < g->n; i++)
        if (!gf_slice_take_string(bytes, &g->members[i].id) ||
            !take_float(bytes, &g->members[i].score))
            return false;
    return true;
}

static bool take_groups(gf_slice bytes, gf_arena *memory, gf_grouping *g, bool *memory_short)
{
    uint64_t bits;
    bool ids = bytes.len && bytes.ptr[0] == WITH_GROUP_IDS;
    if (bytes.len == 0 || (bytes.ptr[0] != FORMAT && !ids)) return false;
    bytes = gf_slice_skip(bytes, 1);
    if (!gf_slice_take_varint32(&bytes, &g->k) || !gf_slice_take_u64be(&bytes, &bits) ||
        !take_maybe(&bytes, &g->tree) ||
        !take_list(&bytes, memory, sizeof *g->at, &g->at, &g->n, memory_short))
        return false;
    memcpy(&g->objective, &bits, sizeof bits);
    for (size_t i = 0; i < g->n; i++) {
        g->at[i] = (gf_group){.id = 0};
        if (!take_group(&bytes, memory, &g->at[i], memory_short)) return false;
    }
    if (!take_list(&bytes, memory, sizeof *g->places, &g->places, &g->n_places, memory_short))
        return false;
    for (size_t i = 0; i < g->n_places; i++) {
        gf_group_place *p = &g->places[i];
        if (!gf_slice_take_string(&bytes, &p->id) || !gf_slice_take_varint32(&bytes, &p->cluster) ||
            !take_float(&bytes, &p->score) || !gf_slice_take_varint32(&bytes, &p->runner_up) ||
            !take_float(&bytes, &p->second))
            return false;
    }
    if (ids && !take_maybe(&bytes, &g->group_ids)) return false;
    return bytes.len == 0;
}

gf_status gf_groups_read(gf_slice bytes, gf_arena *memory, gf_grouping *out, gf_error *err)
{
    gf_grouping g = {.n = 0};
    bool memory_short = false;
    if (take_groups(bytes, memory, &g, &memory_short)) {
        *out = g;
        return GF_OK;
    }
    return memory_short ? gf_fail_memory(err, "an edit")
                        : gf_fail(err, GF_ECORRUPT, "what an edit keeps of before is damaged");
}
