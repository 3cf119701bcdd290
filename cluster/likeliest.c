#include "cluster/likeliest.h"

#include "base/memory.h"
#include "cluster/dense/lsa.h"
#include "cluster/mixture/likelihood.h"

/*
 * The dimensions of each start beside the default. Fine differences tell some collections' groups
 * apart and mislead in others, and the likelihood finds out.
 */
static const uint32_t more_starts[] = {200, 50};

/* Cluster from groups of documents as sums of term vectors. *made stays empty where there are none. */
static gf_status cluster_from_terms(gf_pool *pool, const gf_csr *x, uint32_t dimensions,
                                    gf_kmeans_options o, uint32_t *label, gf_kmeans *made,
                                    gf_error *err)
{
    o.restarts = 1;
    gf_status st =
        gf_lsa_clusters(pool, x, dimensions, GF_LSA_TERM_SUMS, &o, label, &o.start_k, err);
    o.start = label;
    return st == GF_OK && o.start_k ? gf_kmeans_run(pool, x, &o, made, err) : st;
}

/* Put other clusters in the place of *best if they are more probable. The others are released. */
static gf_status keep_likelier(gf_pool *pool, const gf_csr *x, const gf_kmeans_options *o,
                               gf_kmeans *other, gf_kmeans *best, double *likelihood, gf_error *err)
{
    double its = 0;
    gf_status st =
        gf_mixture_likelihood(pool, o->refinement, x, other->label, other->k, o->cancel, &its, err);
    if (st == GF_OK && its > *likelihood) {
        gf_kmeans worse = *best;
        *best = *other;
        best->choice = worse.choice;
        worse.choice = (gf_choice){0};
        *other = worse;
        *likelihood = its;
    }
    gf_kmeans_release(other);
    return st;
}

/* Cluster from the other starts into as many clusters, and keep the most probable. */
static gf_status try_more_starts(gf_pool *pool, const gf_csr *x, const gf_kmeans_options *options,
                                 gf_kmeans *best, gf_error *err)
{
    gf_kmeans_options o = *options;
    double likelihood = 0;
    uint32_t *label = gf_array(x->n_rows, sizeof *label);
    if (!label) return gf_fail_memory(err, "clusters");
    if (o.k == 0) o.k = best->choice.k;
    gf_status st = gf_mixture_likelihood(pool, o.refinement, x, best->label, best->k, o.cancel,
                                         &likelihood, err);
    for (size_t i = 0; i < sizeof more_starts / sizeof *more_starts && st == GF_OK; i++) {
        gf_kmeans other = {0};
        o.seed = options->seed + ((uint64_t)i << 32);
        st = cluster_from_terms(pool, x, more_starts[i], o, label, &other, err);
        if (st == GF_OK && other.n) st = keep_likelier(pool, x, &o, &other, best, &likelihood, err);
    }
    gf_free(label);
    return st;
}

gf_status gf_kmeans_run_likeliest(gf_pool *pool, const gf_csr *x, const gf_kmeans_options *options,
                                  gf_kmeans *out, gf_error *err)
{
    gf_kmeans best = {0};
    gf_status st = gf_kmeans_run(pool, x, options, &best, err);
    if (st == GF_OK && gf_refinement_pays(x->n_rows, gf_csr_nnz(x), best.k))
        st = try_more_starts(pool, x, options, &best, err);
    if (st == GF_OK)
        *out = best;
    else
        gf_kmeans_release(&best);
    return st;
}
