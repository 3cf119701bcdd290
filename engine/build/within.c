#include "engine/build/within.h"

#include "base/memory.h"
#include "engine/build/group_ids.h"
#include "engine/build/tree.h"
#include "engine/rows/scan.h"
#include "storage/tables.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct within_walk {
    gf_table *memberships;
    gf_slice key;       /* of the build */
    uint32_t *clusters; /* n, rising */
    size_t n;
    gf_buffer memory;
    gf_id_set *out;
} within_walk;

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The clusters of the group: none where the build has no such group. */
static gf_status take_group(const gf_kept_tree *kept, uint32_t group, within_walk *w, gf_error *err)
{
    const gf_tree *t = &kept->tree;
    uint32_t node = t->k;
    while (node < t->n_nodes && kept->groups[node - t->k] != group)
        node++;
    if (node == t->n_nodes) return GF_OK;
    w->clusters = gf_array(t->count[node], sizeof *w->clusters);
    if (!w->clusters) return gf_fail_memory(err, "clusters");
    for (w->n = 0; w->n < t->count[node]; w->n++)
        w->clusters[w->n] = kept->ids[t->order[t->first[node] + w->n]];
    qsort(w->clusters, w->n, sizeof *w->clusters, by_number);
    return GF_OK;
}

static gf_status read_group(gf_table *builds, const gf_snapshot *snapshot, uint32_t group,
                            within_walk *w, gf_error *err)
{
    gf_row tree = {.cells = NULL}, groups = {.cells = NULL};
    gf_kept_tree kept = {.ids = NULL};
    gf_status st = gf_table_get_cell(builds, snapshot, w->key, GF_BUILDS_MODEL, GF_SLICE("tree"), 1,
                                     &tree, err);
    if (st == GF_OK)
        st = gf_table_get_cell(builds, snapshot, w->key, GF_BUILDS_MODEL, GF_SLICE("groups"), 1,
                               &groups, err);
    if (st == GF_OK) st = gf_tree_read(tree.cells[0].value, &kept, err);
    if (st == GF_OK)
        st = gf_group_ids_read(groups.cells[0].value, kept.groups, gf_tree_inner(&kept.tree), err);
    if (st == GF_OK) st = take_group(&kept, group, w, err);
    gf_tree_kept_release(&kept);
    gf_row_release(&tree);
    gf_row_release(&groups);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status add_member(void *context, const gf_row *row, gf_error *err)
{
    within_walk *w = context;
    gf_membership_cells m;
    gf_slice id;
    gf_status st = gf_tables_membership_read(row, GF_MEMBERSHIPS_MAIN, &m, err);
    if (st != GF_OK || !bsearch(&m.cluster, w->clusters, w->n, sizeof *w->clusters, by_number))
        return st;
    st = gf_tables_key_rest_string(w->memberships, row->key, w->key.len, &w->memory, &id, err);
    return st == GF_OK ? gf_id_set_append(w->out, id, err) : st;
}

static gf_status fail_gone(gf_slice of, const gf_within *within, int64_t build, gf_error *err)
{
    const char *kind = within->group ? "group g" : "cluster ";
    uint32_t id = within->group ? within->group : within->cluster;
    if (!build)
        return gf_fail(err, GF_ECONFLICT,
                       "configuration \"%.*s\" is within %s%" PRIu32 " of \"%.*s\", which is not "
                       "built: rebuild that first",
                       GF_SLICE_ARG(of), kind, id, GF_SLICE_ARG(within->configuration));
    return gf_fail(err, GF_ECONFLICT,
                   "configuration \"%.*s\" is within %s%" PRIu32 " of \"%.*s\", which has it no "
                   "more: set within to another of its clusters, or delete the configuration",
                   GF_SLICE_ARG(of), kind, id, GF_SLICE_ARG(within->configuration));
}

gf_status gf_build_within_read(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                               const gf_collection_row *row, gf_slice of, const gf_within *within,
                               gf_id_set *out, gf_error *err)
{
    gf_buffer key = {0};
    gf_id_set set = {.n = 0};
    within_walk w = {.memberships = store->tables.memberships, .out = &set};
    int64_t build = gf_collection_row_served(row, within->configuration);
    if (!build) return fail_gone(of, within, build, err);
    gf_tables_build_key(&key, where.name_space, where.collection, within->configuration, build);
    gf_status st = gf_buffer_check(&key, err);
    w.key = gf_buffer_view(&key);
    if (st == GF_OK && within->group) {
        st = read_group(store->tables.builds, snapshot, within->group, &w, err);
    } else if (st == GF_OK) {
        w.clusters = gf_array(1, sizeof *w.clusters);
        if (w.clusters) w.clusters[w.n++] = within->cluster;
        st = w.clusters ? GF_OK : gf_fail_memory(err, "clusters");
    }
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = snapshot, .family = GF_MEMBERSHIPS_MAIN, .prefix = w.key);
    if (st == GF_OK && w.n) st = gf_scan_each(w.memberships, &o, add_member, &w, err);
    if (st == GF_OK && set.n == 0) st = fail_gone(of, within, build, err);
    if (st == GF_OK)
        *out = set;
    else
        gf_id_set_release(&set);
    gf_buffer_release(&key);
    gf_buffer_release(&w.memory);
    gf_free(w.clusters);
    return st;
}
