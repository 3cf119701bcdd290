#include "engine/build/previous.h"

#include "base/grow.h"
#include "base/memory.h"
#include "cluster/measure/match.h"
#include "engine/rows/scan.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { PART_BYTES = 1 << 20 /* of memberships on disk, which one task reads */ };

void gf_build_previous_release(gf_build_previous *p)
{
    gf_free(p->cluster);
    gf_free(p->ids);
    gf_free(p->candidate);
    gf_candidates_release(&p->candidates);
    gf_arena_release(&p->memory);
    *p = (gf_build_previous){0};
}

/* ---- clusters -------------------------------------------------------------------------------- */

typedef struct cluster_entry {
    uint32_t id;
    gf_slice label; /* in the previous build's memory */
    gf_build_title title;
} cluster_entry;

typedef struct cluster_list {
    gf_table *clusters;
    gf_arena *memory; /* of labels */
    cluster_entry *at;
    size_t n, capacity;
    gf_buffer label;
} cluster_list;

static bool copy_cell(gf_arena *memory, const gf_row *row, const char *column, gf_slice *to)
{
    const gf_cell *cell = gf_row_find(row, GF_CLUSTERS_MAIN, column);
    if (cell) *to = gf_arena_copy(memory, cell->value);
    return !cell || to->ptr;
}

static gf_status note_cluster(void *context, const gf_row *row, gf_error *err)
{
    cluster_list *l = context;
    uint64_t number;
    if (!gf_rows_cell_number(gf_row_find(row, GF_CLUSTERS_MAIN, "id"), &number) ||
        number > UINT32_MAX)
        return gf_fail(err, GF_ECORRUPT, "table clusters: a row is damaged");
    if (!gf_grow(&l->at, &l->capacity, l->n + 1, sizeof *l->at))
        return gf_fail_memory(err, "the served clusters");
    gf_buffer_reset(&l->label);
    gf_status st = gf_tables_key_last_string(l->clusters, row->key, &l->label, err);
    if (st != GF_OK) return st;
    gf_slice label = gf_arena_copy(l->memory, gf_buffer_view(&l->label));
    if (!label.ptr) return gf_fail_memory(err, "the served clusters");
    cluster_entry *e = &l->at[l->n];
    *e = (cluster_entry){.id = (uint32_t)number, .label = label};
    if (!copy_cell(l->memory, row, "title", &e->title.title) ||
        !copy_cell(l->memory, row, "title_model", &e->title.model) ||
        !copy_cell(l->memory, row, "title_prompt", &e->title.prompt))
        return gf_fail_memory(err, "the served clusters");
    l->n++;
    return GF_OK;
}

static int by_id(const void *a, const void *b)
{
    const cluster_entry *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static gf_status read_clusters(const gf_build_plan *plan, gf_slice key, cluster_list *l,
                               gf_error *err)
{
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = plan->snapshot, .family = GF_CLUSTERS_MAIN, .prefix = key);
    gf_status st = gf_scan_each(l->clusters, &o, note_cluster, l, err);
    if (st == GF_OK && l->n > UINT32_MAX)
        st = gf_fail(err, GF_ECORRUPT, "table clusters: too many rows");
    if (st == GF_OK && l->n) qsort(l->at, l->n, sizeof *l->at, by_id);
    return st;
}

/* ---- memberships ----------------------------------------------------------------------------- */

/*
 * Parts of the memberships' range, one behind the other, each read by a task. The documents of one
 * part are no other's, so that each task fills places of its own.
 */
typedef struct membership_walk {
    const gf_build_plan *plan;
    const gf_build_gathered *documents;
    const cluster_list *clusters;
    uint32_t *cluster; /* documents->n: index in clusters, or GF_UNMATCHED */
    atomic_bool *used; /* clusters->n: it still has documents */
    gf_slice key;      /* of the build */
    gf_buffer *cuts;   /* n_cuts: keys at which parts begin but the first */
    size_t n_cuts, capacity;
} membership_walk;

static gf_scan_options part_options(const membership_walk *w, size_t part)
{
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = w->plan->snapshot,
                                        .family = GF_MEMBERSHIPS_MAIN, .prefix = w->key);
    if (part > 0) o.start = gf_buffer_view(&w->cuts[part - 1]);
    if (part < w->n_cuts) o.end = gf_buffer_view(&w->cuts[part]);
    return o;
}

static gf_status cut_range(membership_walk *w, gf_error *err)
{
    gf_table *memberships = w->plan->store->tables.memberships;
    gf_status st = GF_OK;
    while (st == GF_OK) {
        gf_buffer key = {0};
        gf_scan_options rest = part_options(w, w->n_cuts);
        if (!gf_grow(&w->cuts, &w->capacity, w->n_cuts + 1, sizeof *w->cuts))
            return gf_fail_memory(err, "the served clusters");
        st = gf_scan_cut(memberships, &rest, PART_BYTES, &key, err);
        if (st == GF_OK)
            w->cuts[w->n_cuts++] = key;
        else
            gf_buffer_release(&key);
    }
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* Note the cluster of a document; one that is not in the list is none. */
static void note_membership(const membership_walk *w, uint32_t document, uint32_t cluster)
{
    const cluster_list *l = w->clusters;
    cluster_entry wanted = {.id = cluster};
    const cluster_entry *at = l->n ? bsearch(&wanted, l->at, l->n, sizeof *l->at, by_id) : NULL;
    if (!at) return;
    size_t index = (size_t)(at - l->at);
    w->cluster[document] = (uint32_t)index;
    if (!atomic_load_explicit(&w->used[index], memory_order_relaxed))
        atomic_store_explicit(&w->used[index], true, memory_order_relaxed);
}

/* A task: memberships and documents are both sorted by id, so it is one walk over both. */
static gf_status read_part(void *context, size_t part, unsigned worker, gf_error *err)
{
    (void)worker;
    const membership_walk *w = context;
    const gf_build_gathered *d = w->documents;
    gf_table *memberships = w->plan->store->tables.memberships;
    gf_scan_options o = part_options(w, part);
    gf_scan *scan;
    gf_row row = {0};
    gf_buffer memory = {0};
    bool more = true, placed = false;
    uint32_t at = 0;
    gf_status st = gf_scan_open(memberships, &o, &scan, err);
    if (st != GF_OK) return st;
    while (st == GF_OK && (st = gf_scan_step(scan, &row, &more, err)) == GF_OK && more) {
        gf_membership_cells m;
        gf_slice id;
        st = gf_tables_key_rest_string(memberships, row.key, w->key.len, &memory, &id, err);
        if (st == GF_OK) st = gf_tables_membership_read(&row, GF_MEMBERSHIPS_MAIN, &m, err);
        if (st != GF_OK) break;
        if (!placed) at = gf_build_gathered_from(d, id);
        placed = true;
        int order = -1;
        while (at < d->n && (order = gf_slice_compare(gf_build_gathered_id(d, at), id)) < 0)
            at++;
        if (at == d->n) break;
        if (order == 0 && m.cluster) note_membership(w, at, m.cluster);
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    gf_buffer_release(&memory);
    return st;
}

static gf_status read_memberships(membership_walk *w, gf_pool *pool, gf_error *err)
{
    gf_status st = gf_pool_size(pool) > 1 ? cut_range(w, err) : GF_OK;
    if (st == GF_OK)
        st = gf_pool_run(pool, w->n_cuts + 1, read_part, w, w->plan->options->cancel, err);
    for (size_t i = 0; i < w->n_cuts; i++)
        gf_buffer_release(&w->cuts[i]);
    gf_free(w->cuts);
    return st;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Leave out the clusters all of whose documents are gone. */
static gf_status list_used(const membership_walk *w, gf_build_previous *out, gf_error *err)
{
    const cluster_list *l = w->clusters;
    uint32_t *index = gf_array(l->n, sizeof *index);
    out->ids = gf_array(l->n, sizeof *out->ids);
    out->labels = gf_arena_alloc(&out->memory, (l->n + 1) * sizeof *out->labels);
    out->titles = gf_arena_alloc(&out->memory, (l->n + 1) * sizeof *out->titles);
    if (!index || !out->ids || !out->labels || !out->titles) {
        gf_free(index);
        return gf_fail_memory(err, "the served clusters");
    }
    for (size_t i = 0; i < l->n; i++) {
        if (!atomic_load_explicit(&w->used[i], memory_order_relaxed)) continue;
        index[i] = out->k;
        out->ids[out->k] = l->at[i].id;
        out->titles[out->k] = l->at[i].title;
        out->labels[out->k++] = l->at[i].label;
    }
    for (uint32_t d = 0; d < w->documents->n && out->k < l->n; d++)
        if (out->cluster[d] != GF_UNMATCHED) out->cluster[d] = index[out->cluster[d]];
    gf_free(index);
    return GF_OK;
}

/* The place of an id among them; p->k where it is none of them. */
static uint32_t find_id(const gf_build_previous *p, uint32_t id)
{
    uint32_t from = 0, to = p->labels ? p->k : 0;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (p->ids[middle] == id) return middle;
        if (p->ids[middle] < id)
            from = middle + 1;
        else
            to = middle;
    }
    return p->k;
}

gf_slice gf_build_previous_label(const gf_build_previous *p, uint32_t id)
{
    uint32_t at = find_id(p, id);
    return at < p->k ? p->labels[at] : (gf_slice){0};
}

const gf_build_title *gf_build_previous_title(const gf_build_previous *p, uint32_t id)
{
    uint32_t at = find_id(p, id);
    return at < p->k && p->titles[at].title.len ? &p->titles[at] : NULL;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static gf_status read_candidates(const gf_build_plan *plan, const gf_build_gathered *d,
                                 gf_build_previous *out, gf_error *err)
{
    gf_candidates *l = &out->candidates;
    gf_status st = gf_candidates_read(plan->store, plan->snapshot, plan->where, plan->configuration,
                                      plan->served.build, l, err);
    if (st != GF_OK || l->n == 0) return st;
    out->candidate = gf_array(d->n, sizeof *out->candidate);
    if (!out->candidate) return gf_fail_memory(err, "candidates");
    for (uint32_t i = 0; i < d->n; i++)
        out->candidate[i] = GF_UNMATCHED;
    for (size_t c = 0; c < l->n; c++)
        for (size_t i = 0; i < l->at[c].n; i++) {
            gf_slice id = l->at[c].documents[i].id;
            uint32_t at = gf_build_gathered_from(d, id);
            if (at < d->n && gf_slice_equal(gf_build_gathered_id(d, at), id))
                out->candidate[at] = (uint32_t)c;
        }
    return GF_OK;
}

gf_status gf_build_read_previous(const gf_build_plan *plan, gf_pool *pool,
                                 const gf_build_gathered *documents, gf_build_previous *out,
                                 gf_error *err)
{
    uint32_t n = documents->n;
    gf_buffer key = {0};
    cluster_list clusters = {.clusters = plan->store->tables.clusters, .memory = &out->memory};
    membership_walk w = {.plan = plan, .documents = documents, .clusters = &clusters};
    if (plan->served.build == 0 || n == 0) return GF_OK;
    gf_tables_build_key(&key, plan->where.name_space, plan->where.collection, plan->configuration,
                        plan->served.build);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = read_clusters(plan, gf_buffer_view(&key), &clusters, err);
    w.key = gf_buffer_view(&key);
    w.cluster = out->cluster = gf_array(n, sizeof *out->cluster);
    w.used = gf_calloc(clusters.n + 1, sizeof *w.used);
    if (st == GF_OK && (!w.cluster || !w.used)) st = gf_fail_memory(err, "the served clusters");
    for (uint32_t i = 0; i < n && st == GF_OK; i++)
        out->cluster[i] = GF_UNMATCHED;
    if (st == GF_OK) st = read_memberships(&w, pool, err);
    if (st == GF_OK) st = list_used(&w, out, err);
    if (st == GF_OK) st = read_candidates(plan, documents, out, err);
    gf_buffer_release(&key);
    gf_buffer_release(&clusters.label);
    gf_free(clusters.at);
    gf_free(w.used);
    return st;
}
