/**
 * The nearest rows of each row by cosine, nearly: for a map, which shows a share of them anyway.
 *
 * Rows are points 0..n-1, in an order where those of a cluster stand together. An inverted index holds
 * for each term its points, rising; so the points of one's own cluster are a stretch of each list.
 *
 *     terms of a row, the rarest first
 *     a list of at most WINDOW points     all of it
 *     a longer one                        the WINDOW points around one's own place: its cluster's
 *
 * until some thousand postings are read. What the row shares with each point met is added up, and the
 * largest sums are its neighbours. Of equal sums a number drawn of both points decides, so that many
 * copies of a text come to a knot, not to a chain.
 */
#ifndef GF_CLUSTER_MAP_NEIGHBOURS_H
#define GF_CLUSTER_MAP_NEIGHBOURS_H

#include "base/pool.h"
#include "grouperfish/csr.h"

#define GF_MAP_NONE UINT32_MAX

/**
 * @param row   n: the row of x that is the point; rows are of unit length
 * @param near  n * most: points, the nearest first; behind them GF_MAP_NONE
 * @param most  1 to 64
 * @return GF_OK; GF_ENOMEM; GF_ECANCELLED. The same for any number of threads
 * Cost: some thousand postings for a point at most; memory 8 bytes an entry, 8 a term, 8 a point for
 *       each thread.
 */
gf_status gf_map_find_neighbours(gf_pool *pool, const gf_csr *x, const uint32_t *row, uint32_t n,
                                 uint32_t most, const gf_cancel *cancel, uint32_t *near,
                                 gf_error *err);

#endif
