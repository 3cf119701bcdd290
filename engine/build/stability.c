/*
 * Stability: the steps of a rebuild up to its clusters are taken again, over a snapshot, with other
 * seeds and over halves of the documents; what comes of each run is compared with the served build.
 */
#include "base/lower_bound.h"
#include "base/memory.h"
#include "base/options.h"
#include "cluster/measure/match.h"
#include "cluster/measure/quality.h"
#include "engine/build/cluster.h"
#include "grouperfish/quality.h"

#include <math.h>

enum { MOST_DOCUMENTS = 50000, RUNS = GF_STABILITY_SEEDS + GF_STABILITY_HALVES };

/* Means over the runs of one kind. */
typedef struct agreement {
    double nmi, ari; /* sums until the end */
    unsigned runs;
    double *jaccard; /* k: sums of each cluster's best */
    unsigned *met;   /* k: runs that had documents of it */
} agreement;

typedef struct repeating {
    gf_build_plan *plan;
    const gf_rebuild_options *told; /* of the caller: runs are its progress */
    gf_pool *pool;
    uint32_t *ids; /* k: of the served build's clusters, rising */
    uint32_t k;
    agreement seeds, halves;
    uint64_t documents;
    unsigned done; /* runs */
} repeating;

/* ---- comparing ------------------------------------------------------------------------------- */

static uint32_t place_of(const repeating *r, uint32_t id)
{
    uint32_t low = gf_lower_bound(r->ids, r->k, id);
    return low < r->k && r->ids[low] == id ? low : r->k;
}

static gf_status add_jaccards(const repeating *r, agreement *to, const gf_build_previous *served,
                              const gf_overlaps *o, gf_error *err)
{
    double *best = gf_calloc(served->k, sizeof *best);
    if (!best) return gf_fail_memory(err, "a comparison");
    for (size_t i = 0; i < o->n; i++) {
        double jaccard = gf_match_jaccard(o, &o->at[i]);
        if (jaccard > best[o->at[i].a]) best[o->at[i].a] = jaccard;
    }
    for (uint32_t c = 0; c < served->k; c++) {
        uint32_t place = place_of(r, served->ids[c]);
        if (place == r->k || o->size_a[c] == 0) continue;
        to->jaccard[place] += best[c];
        to->met[place]++;
    }
    gf_free(best);
    return GF_OK;
}

/* served, again: a label for each of n documents, or GF_UNMATCHED; both are packed here. */
static gf_status add_agreement(agreement *to, uint32_t *served, uint32_t *again, uint32_t n,
                               gf_error *err)
{
    gf_quality q;
    uint32_t shared = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (served[i] == GF_UNMATCHED || again[i] == GF_UNMATCHED) continue;
        served[shared] = served[i];
        again[shared++] = again[i];
    }
    gf_status st = gf_quality_compare(again, served, shared, &q, err);
    if (st != GF_OK) return st;
    to->nmi += q.nmi;
    to->ari += q.ari;
    to->runs++;
    gf_quality_release(&q);
    return GF_OK;
}

/* served->cluster is used up. */
static gf_status compare_run(repeating *r, agreement *to, const gf_build_gathered *documents,
                             const gf_build_previous *served, const gf_build_clustered *c,
                             gf_error *err)
{
    gf_overlaps o = {0};
    uint32_t *again = gf_array(documents->n, sizeof *again);
    if (!again) return gf_fail_memory(err, "a comparison");
    for (uint32_t i = 0; i < documents->n; i++)
        again[i] = GF_UNMATCHED;
    for (uint32_t p = 0; p < c->kmeans.n; p++)
        again[c->row_of[p]] = c->kmeans.label[p];
    gf_status st = gf_match_overlaps_count(served->cluster, again, documents->n, served->k,
                                           c->kmeans.k, &o, err);
    if (st == GF_OK) st = add_jaccards(r, to, served, &o, err);
    if (st == GF_OK) st = add_agreement(to, served->cluster, again, documents->n, err);
    gf_match_overlaps_release(&o);
    gf_free(again);
    return st;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void tell_runs(const repeating *r)
{
    const gf_rebuild_options *o = r->told;
    if (o->progress) o->progress(o->context, r->plan->where, "clustering again", r->done, RUNS);
}

static gf_status run_again(repeating *r, agreement *to, const gf_build_gathered *documents,
                           gf_error *err)
{
    gf_build_previous served = {0}, none = {0};
    gf_build_clustered clustered = {0};
    gf_status st = gf_build_read_previous(r->plan, r->pool, documents, &served, err);
    if (st == GF_OK && served.k)
        st = gf_build_cluster(r->plan, r->pool, documents, &none, &clustered, err);
    if (st == GF_OK && served.k) st = compare_run(r, to, documents, &served, &clustered, err);
    gf_build_clustered_release(&clustered);
    gf_build_previous_release(&served);
    r->done++;
    tell_runs(r);
    return st;
}

/* The clusters that the sample has documents of, in whose order all sums are kept. */
static gf_status list_clusters(repeating *r, const gf_build_gathered *documents, gf_error *err)
{
    gf_build_previous served = {0};
    gf_status st = gf_build_read_previous(r->plan, r->pool, documents, &served, err);
    r->k = served.k;
    r->ids = served.ids;
    served.ids = NULL;
    gf_build_previous_release(&served);
    if (st != GF_OK) return st;
    agreement *const all[] = {&r->seeds, &r->halves};
    for (size_t i = 0; i < 2; i++) {
        all[i]->jaccard = gf_calloc(r->k, sizeof *all[i]->jaccard);
        all[i]->met = gf_calloc(r->k, sizeof *all[i]->met);
        if (!all[i]->jaccard || !all[i]->met) return gf_fail_memory(err, "a comparison");
    }
    return GF_OK;
}

static gf_status repeat_seeds(repeating *r, gf_error *err)
{
    gf_build_gathered documents = {0};
    uint64_t seed = r->plan->settings.seed;
    gf_status st = gf_build_gather(r->plan, r->pool, &documents, err);
    r->documents = documents.n;
    if (st == GF_OK) st = list_clusters(r, &documents, err);
    for (unsigned i = 1; i <= GF_STABILITY_SEEDS && st == GF_OK; i++) {
        r->plan->settings.seed = seed + i;
        st = run_again(r, &r->seeds, &documents, err);
    }
    r->plan->settings.seed = seed;
    gf_build_gathered_release(&documents);
    return st;
}

static gf_status repeat_halves(repeating *r, gf_error *err)
{
    gf_build_plan *p = r->plan;
    uint32_t every = p->every;
    gf_status st = GF_OK;
    p->every = GF_STABILITY_HALVES * every;
    for (unsigned i = 0; i < GF_STABILITY_HALVES && st == GF_OK; i++) {
        gf_build_gathered documents = {0};
        p->offset = i * every;
        st = gf_build_gather(p, r->pool, &documents, err);
        if (st == GF_OK) st = run_again(r, &r->halves, &documents, err);
        gf_build_gathered_release(&documents);
    }
    return st;
}

static double mean_of(double sum, unsigned n)
{
    return n ? sum / n : NAN;
}

static gf_status report_runs(const repeating *r, gf_visit_stability *visit, void *context,
                             gf_error *err)
{
    const agreement *s = &r->seeds, *h = &r->halves;
    gf_cluster_stability *clusters = gf_array(r->k, sizeof *clusters);
    if (!clusters) return gf_fail_memory(err, "a comparison");
    for (uint32_t c = 0; c < r->k; c++)
        clusters[c] = (gf_cluster_stability){r->ids[c], mean_of(s->jaccard[c], s->met[c]),
                                             mean_of(h->jaccard[c], h->met[c])};
    gf_stability out = {.build = r->plan->served.build,
                        .documents = r->documents,
                        .seeds_nmi = mean_of(s->nmi, s->runs),
                        .seeds_ari = mean_of(s->ari, s->runs),
                        .halves_nmi = mean_of(h->nmi, h->runs),
                        .halves_ari = mean_of(h->ari, h->runs),
                        .clusters = clusters,
                        .n_clusters = r->k};
    gf_status st = visit(context, &out, err);
    gf_free(clusters);
    return st;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Set the plan to what the served build was: so many clusters, of texts, from seeds. */
static gf_status plan_runs(gf_build_plan *p, gf_error *err)
{
    bool modified;
    p->as_served = true;
    gf_status st = gf_build_plan_read(p, &modified, err);
    if (st != GF_OK) return st;
    if (p->served.build == 0)
        return gf_fail(err, GF_ENOTFOUND, "\"%.*s\" has no build yet",
                       GF_SLICE_ARG(p->where.collection));
    if (p->served.rows != GF_ROWS_OF_TEXTS)
        return gf_fail(err, GF_ECONFLICT,
                       "the served build clusters vectors that were made elsewhere: there are no "
                       "rows to cluster again");
    p->settings.k = p->served.k;
    p->every = (uint32_t)((p->size + MOST_DOCUMENTS - 1) / MOST_DOCUMENTS);
    if (p->every == 0) p->every = 1;
    return GF_OK;
}

gf_status gf_stability_measure(gf_store *s, gf_place where, gf_slice configuration,
                               const gf_rebuild_options *options, gf_visit_stability *visit,
                               void *context, gf_error *err)
{
    gf_status known =
        gf_options_check(options->version, GF_REBUILD_OPTIONS_VERSION, "gf_rebuild_options", err);
    if (known != GF_OK) return known;
    gf_build_plan plan;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.start = GF_START_FRESH, .threads = options->threads,
                                              .cancel = options->cancel);
    repeating r = {.plan = &plan, .told = options};
    gf_snapshot *snapshot = NULL;
    gf_status st = gf_build_plan_init(&plan, s, where, configuration, &o, err);
    if (st != GF_OK) return st;
    st = gf_snapshot_create(s->db, &snapshot, err);
    plan.snapshot = snapshot;
    if (st == GF_OK) st = plan_runs(&plan, err);
    if (st == GF_OK) st = gf_pool_create(o.threads, &r.pool, err);
    if (st == GF_OK) tell_runs(&r);
    if (st == GF_OK && plan.served.k) st = repeat_seeds(&r, err);
    if (st == GF_OK && plan.served.k) st = repeat_halves(&r, err);
    if (st == GF_OK) st = report_runs(&r, visit, context, err);
    gf_free(r.ids);
    gf_free(r.seeds.jaccard);
    gf_free(r.seeds.met);
    gf_free(r.halves.jaccard);
    gf_free(r.halves.met);
    gf_pool_free(r.pool);
    gf_snapshot_free(snapshot);
    gf_build_plan_release(&plan);
    return st;
}
