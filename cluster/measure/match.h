/**
 * Two clusterings of the same documents: which cluster of the one is which of the other.
 *
 *     overlaps      (a, b, shared) for each pair of clusters that share documents
 *     Jaccard       shared / (size a + size b - shared), over the documents in both clusterings
 *     matching      pairs of Jaccard >= least, no cluster in two of them, of the largest sum
 *
 * A cluster has few neighbours of Jaccard >= 0.3 (at most three), so the graph is sparse, and the
 * matching is found by augmenting paths over its edges alone.
 */
#ifndef GF_CLUSTER_MEASURE_MATCH_H
#define GF_CLUSTER_MEASURE_MATCH_H

#include "grouperfish/status.h"

#include <stdint.h>

#define GF_UNMATCHED UINT32_MAX

typedef struct gf_overlap {
    uint32_t a, b;
    uint32_t shared; /* documents */
} gf_overlap;

typedef struct gf_overlaps {
    uint32_t k_a, k_b;
    uint32_t *size_a, *size_b; /* k_a, k_b: of the documents in both */
    gf_overlap *at;            /* n, by b, then a */
    size_t n;
} gf_overlaps;

/**
 * @param a, b  n labels, 0..k_a-1 and 0..k_b-1; GF_UNMATCHED in either: not in both, passed over
 * Cost: O(n + overlaps * log overlaps of a cluster); memory 4 bytes x n and 12 an overlap.
 */
gf_status gf_match_overlaps_count(const uint32_t *a, const uint32_t *b, uint32_t n, uint32_t k_a,
                                  uint32_t k_b, gf_overlaps *out, gf_error *err);
void gf_match_overlaps_release(gf_overlaps *o);

double gf_match_jaccard(const gf_overlaps *o, const gf_overlap *pair);

/**
 * @param least  Jaccard of an edge, 0..1
 * @param match  k_b: the cluster of a that each of b is, or GF_UNMATCHED
 * @return GF_OK; GF_ENOMEM, and match is not touched
 * Cost: O(k_b * edges of a connected part) at worst.
 * Source: Kuhn, Naval Res. Logist. Q. 2 (1955) 83-97, one cluster of b after the other, over the
 *         edges that there are.
 */
gf_status gf_match_clusters(const gf_overlaps *o, double least, uint32_t *match, gf_error *err);

#endif
