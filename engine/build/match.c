#include "engine/build/match.h"

#include "base/memory.h"
#include "cluster/measure/match.h"

#include <assert.h>

/* Least share of documents in both clusters, of those in either, for them to be the same. */
#define LEAST_JACCARD 0.3

void gf_build_matched_release(gf_build_matched *m)
{
    gf_free(m->ids);
    gf_free(m->groups);
    *m = (gf_build_matched){0};
}

/* continues: one per cluster, the index of the previous cluster that it continues. */
static gf_status match_clusters(uint32_t n, const gf_build_previous *previous,
                                const gf_build_clustered *c, uint32_t *continues, gf_error *err)
{
    gf_overlaps o = {0};
    uint32_t *now = gf_array(n, sizeof *now); /* the new cluster of each document */
    if (!now) return gf_fail_memory(err, "cluster ids");
    for (uint32_t i = 0; i < n; i++)
        now[i] = GF_UNMATCHED;
    for (uint32_t p = 0; p < c->kmeans.n; p++)
        now[c->row_of[p]] = c->kmeans.label[p];
    gf_status st =
        gf_match_overlaps_count(previous->cluster, now, n, previous->k, c->kmeans.k, &o, err);
    if (st == GF_OK) st = gf_match_clusters(&o, LEAST_JACCARD, continues, err);
    gf_match_overlaps_release(&o);
    gf_free(now);
    return st;
}

gf_status gf_build_match(const gf_build_plan *plan, const gf_build_gathered *documents,
                         const gf_build_previous *previous, const gf_build_clustered *clustered,
                         gf_build_matched *out, gf_error *err)
{
    uint32_t k = clustered->kmeans.k;
    uint64_t next = plan->next_id;
    uint32_t *continues = gf_array(k, sizeof *continues);
    out->ids = gf_array(k, sizeof *out->ids);
    gf_status st = continues && out->ids ? GF_OK : gf_fail_memory(err, "cluster ids");
    for (uint32_t c = 0; st == GF_OK && c < k; c++)
        continues[c] = GF_UNMATCHED;
    if (st == GF_OK && previous->k && k)
        st = match_clusters(documents->n, previous, clustered, continues, err);
    for (uint32_t c = 0; st == GF_OK && c < k; c++) {
        bool is_new = continues[c] == GF_UNMATCHED;
        assert(is_new || continues[c] < previous->k);
        if (is_new && next > UINT32_MAX)
            st = gf_fail(err, GF_ELIMIT, "this configuration has used up its cluster ids");
        out->ids[c] = is_new ? (uint32_t)next : previous->ids[continues[c]];
        next += is_new;
    }
    out->next_id = next;
    gf_free(continues);
    return st;
}
