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

/*
 * A cluster that continues nothing takes the id of a candidate most of whose documents it has, where these are a
 * quarter or more of what it has from before; of several the one that it has most of. Overlaps come by cluster.
 */
static gf_status take_candidates(const gf_overlaps *o, uint32_t first,
                                 const gf_candidates *candidates, uint32_t *continues,
                                 gf_error *err)
{
    if (candidates->n == 0) return GF_OK;
    bool *used = gf_calloc(candidates->n, sizeof *used);
    if (!used) return gf_fail_memory(err, "cluster ids");
    for (uint32_t c = 0; c < o->k_b; c++)
        if (continues[c] != GF_UNMATCHED && continues[c] >= first)
            used[continues[c] - first] = true;
    for (size_t from = 0, to; from < o->n; from = to) {
        uint32_t c = o->at[from].b, most = 0, best = GF_UNMATCHED;
        for (to = from; to < o->n && o->at[to].b == c; to++) {
            const gf_overlap *both = &o->at[to];
            if (both->a < first || used[both->a - first] || both->shared <= most) continue;
            if (2 * (uint64_t)both->shared <= candidates->at[both->a - first].n) continue;
            if (4 * (uint64_t)both->shared < o->size_b[c]) continue;
            most = both->shared;
            best = both->a;
        }
        if (best == GF_UNMATCHED || continues[c] != GF_UNMATCHED) continue;
        continues[c] = best;
        used[best - first] = true;
    }
    gf_free(used);
    return GF_OK;
}

static uint32_t find_previous(const gf_build_previous *previous, uint32_t id)
{
    for (uint32_t i = 0; i < previous->k; i++)
        if (previous->ids[i] == id) return i;
    return GF_UNMATCHED;
}

/*
 * The cluster that each previous one counts as: itself; nothing where it is a topic's; and one that a merge has ended, in
 * a build of before the merge, what it went into, as its id must not be given again.
 */
static void count_as(const gf_build_plan *plan, const gf_build_previous *previous, uint32_t *as)
{
    for (uint32_t i = 0; i < previous->k; i++)
        as[i] =
            gf_edits_topic_of(&plan->edits, previous->ids[i]) < plan->edits.n ? GF_UNMATCHED : i;
    for (size_t at = 0; at < plan->edits.n; at++) {
        const gf_edit *e = &plan->edits.at[at].edit;
        if (e->kind != GF_EDIT_MERGE || e->lost.len) continue;
        uint32_t into =
            find_previous(previous, gf_edits_called_after(&plan->edits, at, e->cluster));
        for (size_t o = 0; o < e->n_others; o++) {
            uint32_t ended = find_previous(previous, e->others[o]);
            if (ended != GF_UNMATCHED) as[ended] = into == GF_UNMATCHED ? into : as[into];
        }
    }
}

/* continues: one per cluster, the index of the previous cluster that it continues, or behind those of a candidate. */
static gf_status match_clusters(const gf_build_plan *plan, uint32_t n,
                                const gf_build_previous *previous, const gf_build_clustered *c,
                                uint32_t *continues, gf_error *err)
{
    const gf_candidates *candidates = &previous->candidates;
    uint32_t k_before = previous->k + (uint32_t)candidates->n;
    gf_overlaps o = {0};
    uint32_t *now = gf_array(n, sizeof *now); /* the new cluster of each document */
    uint32_t *was =
        gf_array(n, sizeof *was); /* and the previous one: topics' clusters in neither */
    uint32_t *as = gf_array((size_t)previous->k + 1, sizeof *as);
    gf_status st = now && was && as ? GF_OK : gf_fail_memory(err, "cluster ids");
    if (st == GF_OK) count_as(plan, previous, as);
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        uint32_t before = previous->cluster[i];
        now[i] = GF_UNMATCHED;
        was[i] = before == GF_UNMATCHED ? GF_UNMATCHED : as[before];
    }
    /* Candidates are counted behind the previous clusters; what was put anew is in its candidate alone. */
    for (uint32_t i = 0; i < n && st == GF_OK && previous->candidate; i++)
        if (previous->candidate[i] != GF_UNMATCHED) was[i] = previous->k + previous->candidate[i];
    for (uint32_t p = 0; p < c->kmeans.n && st == GF_OK; p++)
        if (!gf_build_clustered_is_topic(c, c->kmeans.label[p]))
            now[c->row_of[p]] = c->kmeans.label[p];
    if (st == GF_OK) st = gf_match_overlaps_count(was, now, n, k_before, c->kmeans.k, &o, err);
    if (st == GF_OK) st = gf_match_clusters(&o, LEAST_JACCARD, continues, err);
    if (st == GF_OK) st = take_candidates(&o, previous->k, candidates, continues, err);
    gf_match_overlaps_release(&o);
    gf_free(now);
    gf_free(was);
    gf_free(as);
    return st;
}

/* The id that a topic has already; 0: none. */
static uint32_t id_of_topic(const gf_build_plan *plan, const gf_build_clustered *c,
                            uint32_t cluster)
{
    if (!gf_build_clustered_is_topic(c, cluster)) return 0;
    return plan->edits.at[c->topic[cluster]].edit.cluster;
}

gf_status gf_build_match(const gf_build_plan *plan, const gf_build_gathered *documents,
                         const gf_build_previous *previous, const gf_build_clustered *clustered,
                         gf_build_matched *out, gf_error *err)
{
    uint32_t k = clustered->kmeans.k;
    uint64_t next = plan->next_id;
    uint32_t *continues = gf_array(k, sizeof *continues);
    out->ids = gf_array(k, sizeof *out->ids);
    const gf_candidates *candidates = &previous->candidates;
    gf_status st = continues && out->ids ? GF_OK : gf_fail_memory(err, "cluster ids");
    for (uint32_t c = 0; st == GF_OK && c < k; c++)
        continues[c] = GF_UNMATCHED;
    if (st == GF_OK && previous->k && k)
        st = match_clusters(plan, documents->n, previous, clustered, continues, err);
    for (uint32_t c = 0; st == GF_OK && c < k; c++) {
        uint32_t own = id_of_topic(plan, clustered, c);
        bool is_new = continues[c] == GF_UNMATCHED && !own;
        assert(is_new || own || continues[c] < previous->k + candidates->n);
        if (is_new && next > UINT32_MAX)
            st = gf_fail(err, GF_ELIMIT, "this configuration has used up its cluster ids");
        out->ids[c] = own                          ? own
                      : is_new                     ? (uint32_t)next
                      : continues[c] < previous->k ? previous->ids[continues[c]]
                                                   : candidates->at[continues[c] - previous->k].id;
        next += is_new;
    }
    out->next_id = next;
    gf_free(continues);
    return st;
}
