/*
 * What a rebuild takes over from the served build: where each document was, the clusters to begin
 * with, and which new cluster is which old one.
 *
 *     memberships of the served build   a:1  b:1  c:4  e:4        in the order of ids
 *     documents of the snapshot         a    b    d    e          likewise
 *     before                            1    1    -    4          by place in before_ids
 */
#include "engine/build/internal.h"

#include "base/memory.h"
#include "cluster/measure/match.h"

#include <stdlib.h>

/* Documents that a cluster must share with an old one to be it, of those in either. */
#define LEAST_JACCARD 0.3

/* k=auto is chosen again where there are more than so many times the documents, or fewer. */
enum { MOST_GROWTH = 2 };

/* ---- where the documents were ---------------------------------------------------------------- */

typedef struct looking {
    gf_job *job;
    uint32_t at; /* document */
    gf_buffer id;
} looking;

/* The walk over memberships and the list of documents go side by side. */
static gf_status look_at(void *context, const gf_row *row, gf_error *err)
{
    looking *l = context;
    gf_job *j = l->job;
    gf_membership_cells m;
    gf_buffer_reset(&l->id);
    gf_status st = gf_key_last_string(j->store->tables.memberships, row->key, &l->id, err);
    if (st == GF_OK) st = gf_membership_read(row, GF_MEMBERSHIPS_MAIN, &m, err);
    if (st != GF_OK) return st;
    gf_slice id = gf_buffer_view(&l->id);
    while (l->at < j->documents.n && gf_slice_compare(gf_gathered_id(&j->documents, l->at), id) < 0)
        l->at++;
    if (l->at < j->documents.n && m.cluster &&
        gf_slice_equal(gf_gathered_id(&j->documents, l->at), id))
        j->before[l->at] = m.cluster;
    return GF_OK;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Cluster ids become their places in the list of those that there are. */
static gf_status number_clusters(gf_job *j, gf_error *err)
{
    uint32_t *ids = gf_array(j->documents.n, sizeof *ids), n = 0, k = 0;
    if (!ids) return gf_fail_memory(err, "the served clusters");
    for (uint32_t i = 0; i < j->documents.n; i++)
        if (j->before[i] != GF_UNMATCHED) ids[n++] = j->before[i];
    qsort(ids, n, sizeof *ids, by_number);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || ids[i] != ids[i - 1]) ids[k++] = ids[i];
    for (uint32_t i = 0; i < j->documents.n; i++) {
        if (j->before[i] == GF_UNMATCHED) continue;
        const uint32_t *place = bsearch(&j->before[i], ids, k, sizeof *ids, by_number);
        j->before[i] = (uint32_t)(place - ids);
    }
    j->before_ids = ids;
    j->k_before = k;
    return GF_OK;
}

gf_status gf_job_read_served(gf_job *j, gf_error *err)
{
    gf_buffer key = {0};
    looking l = {.job = j};
    j->k_before = 0;
    if (j->served_before == 0 || j->documents.n == 0) return GF_OK;
    j->before = gf_array(j->documents.n, sizeof *j->before);
    if (!j->before) return gf_fail_memory(err, "the served clusters");
    for (uint32_t i = 0; i < j->documents.n; i++)
        j->before[i] = GF_UNMATCHED;
    gf_build_key(&key, j->where.name_space, j->where.collection, j->configuration,
                 j->served_before);
    gf_status st = gf_buffer_check(&key, err);
    gf_scan_options o = {
        .snapshot = j->snapshot, .family = GF_MEMBERSHIPS_MAIN, .prefix = gf_buffer_view(&key)};
    if (st == GF_OK) st = gf_scan_each(j->store->tables.memberships, &o, look_at, &l, err);
    gf_buffer_release(&key);
    gf_buffer_release(&l.id);
    return st == GF_OK ? number_clusters(j, err) : st;
}

/* ---- the start ------------------------------------------------------------------------------- */

static bool starts_served(const gf_job *j)
{
    if (j->k_before == 0) return false;
    return j->options->start == GF_START_CONFIGURED ? j->settings.start_served
                                                    : j->options->start == GF_START_SERVED;
}

gf_status gf_job_choose_start(gf_job *j, uint32_t **start, uint32_t *k, gf_error *err)
{
    uint32_t distinct = j->documents.vectors.x.n_rows - j->documents.vectors.n_empty;
    uint64_t before = j->chosen_for;
    *start = NULL;
    *k = j->settings.k;
    j->chosen_for = *k ? 0 : distinct;
    if (!starts_served(j)) return GF_OK;
    if (*k == 0) {
        bool alike = distinct <= before * MOST_GROWTH && before <= (uint64_t)distinct * MOST_GROWTH;
        if (!alike) return GF_OK;
        uint32_t most = j->settings.max_k;
        *k = most && most < j->k_before ? most : j->k_before;
        j->chosen_for = before;
    }
    uint32_t *labels = gf_array(distinct, sizeof *labels);
    if (!labels) return gf_fail_memory(err, "the served clusters");
    for (uint32_t p = 0; p < distinct; p++)
        labels[p] = j->before[j->row_of[p]];
    *start = labels;
    return GF_OK;
}

/* ---- which cluster is which ------------------------------------------------------------------ */

static gf_status match(gf_job *j, uint32_t *now, uint32_t *old, gf_error *err)
{
    gf_overlaps o = {0};
    for (uint32_t i = 0; i < j->documents.n; i++)
        now[i] = GF_UNMATCHED;
    for (uint32_t p = 0; p < j->clusters.n; p++)
        now[j->row_of[p]] = j->clusters.label[p];
    gf_status st =
        gf_overlaps_count(j->before, now, j->documents.n, j->k_before, j->clusters.k, &o, err);
    if (st == GF_OK) st = gf_match_clusters(&o, LEAST_JACCARD, old, err);
    gf_overlaps_release(&o);
    return st;
}

gf_status gf_job_number_clusters(gf_job *j, gf_error *err)
{
    uint32_t k = j->clusters.k;
    uint64_t next = j->next_id;
    uint32_t *now = gf_array(j->documents.n, sizeof *now), *old = gf_array(k, sizeof *old);
    j->ids = gf_array(k, sizeof *j->ids);
    gf_status st = now && old && j->ids ? GF_OK : gf_fail_memory(err, "cluster ids");
    for (uint32_t c = 0; st == GF_OK && c < k; c++)
        old[c] = GF_UNMATCHED;
    if (st == GF_OK && j->k_before && k) st = match(j, now, old, err);
    for (uint32_t c = 0; st == GF_OK && c < k; c++) {
        bool goes_on = old[c] != GF_UNMATCHED;
        if (!goes_on && next > UINT32_MAX)
            st = gf_fail(err, GF_ELIMIT, "this configuration has used up its cluster ids");
        j->ids[c] = goes_on ? j->before_ids[old[c]] : (uint32_t)next;
        next += !goes_on;
    }
    j->next_id_after = next;
    gf_free(now);
    gf_free(old);
    return st;
}
