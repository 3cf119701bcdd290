#include "engine/build/previous.h"

#include "base/memory.h"
#include "cluster/measure/match.h"
#include "engine/rows/scan.h"

#include <assert.h>
#include <stdlib.h>

void gf_build_previous_release(gf_build_previous *p)
{
    gf_free(p->cluster);
    gf_free(p->ids);
    *p = (gf_build_previous){0};
}

typedef struct membership_walk {
    gf_table *memberships;
    const gf_build_gathered *documents;
    uint32_t *cluster; /* documents->n: cluster ids */
    uint32_t at;       /* document */
    gf_buffer id;
} membership_walk;

/* Memberships and documents are both sorted by id: one walk over both. */
static gf_status note_cluster(void *context, const gf_row *row, gf_error *err)
{
    membership_walk *w = context;
    const gf_build_gathered *d = w->documents;
    gf_membership_cells m;
    gf_buffer_reset(&w->id);
    gf_status st = gf_tables_key_last_string(w->memberships, row->key, &w->id, err);
    if (st == GF_OK) st = gf_tables_membership_read(row, GF_MEMBERSHIPS_MAIN, &m, err);
    if (st != GF_OK) return st;
    gf_slice id = gf_buffer_view(&w->id);
    while (w->at < d->n && gf_slice_compare(gf_build_gathered_id(d, w->at), id) < 0)
        w->at++;
    if (w->at < d->n && m.cluster && gf_slice_equal(gf_build_gathered_id(d, w->at), id))
        w->cluster[w->at] = m.cluster;
    return GF_OK;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* List the cluster ids, and put each document's index in that list in place of its id. */
static gf_status list_ids(uint32_t n, gf_build_previous *p, gf_error *err)
{
    uint32_t *ids = gf_array(n, sizeof *ids), found = 0, k = 0;
    if (!ids) return gf_fail_memory(err, "the served clusters");
    for (uint32_t i = 0; i < n; i++)
        if (p->cluster[i] != GF_UNMATCHED) ids[found++] = p->cluster[i];
    qsort(ids, found, sizeof *ids, by_number);
    for (uint32_t i = 0; i < found; i++)
        if (i == 0 || ids[i] != ids[i - 1]) ids[k++] = ids[i];
    for (uint32_t i = 0; i < n; i++) {
        if (p->cluster[i] == GF_UNMATCHED) continue;
        const uint32_t *at = bsearch(&p->cluster[i], ids, k, sizeof *ids, by_number);
        assert(at);
        p->cluster[i] = (uint32_t)(at - ids);
    }
    p->ids = ids;
    p->k = k;
    return GF_OK;
}

gf_status gf_build_read_previous(const gf_build_plan *plan, const gf_build_gathered *documents,
                                 gf_build_previous *out, gf_error *err)
{
    uint32_t n = documents->n;
    if (plan->served.build == 0 || n == 0) return GF_OK;
    out->cluster = gf_array(n, sizeof *out->cluster);
    if (!out->cluster) return gf_fail_memory(err, "the served clusters");
    for (uint32_t i = 0; i < n; i++)
        out->cluster[i] = GF_UNMATCHED;
    gf_buffer key = {0};
    gf_tables_build_key(&key, plan->where.name_space, plan->where.collection, plan->configuration,
                        plan->served.build);
    gf_status st = gf_buffer_check(&key, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = plan->snapshot, .family = GF_MEMBERSHIPS_MAIN,
                                        .prefix = gf_buffer_view(&key));
    gf_table *memberships = plan->store->tables.memberships;
    membership_walk w = {memberships, documents, out->cluster, 0, {0}};
    if (st == GF_OK) st = gf_scan_each(memberships, &o, note_cluster, &w, err);
    gf_buffer_release(&key);
    gf_buffer_release(&w.id);
    return st == GF_OK ? list_ids(n, out, err) : st;
}
