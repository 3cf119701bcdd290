/**
 * Exchange: of a finished partition clusters that lose little by it are joined two by two, and as
 * many that gain much by it are cut in two; a polish follows. What did not raise the objective is
 * taken back.
 *
 * If a group is cut in two while two others share a cluster, no move of a single row helps:
 * all of them lose. An exchange is the whole way in one step.
 *
 *     joining a and b loses   |S_a| + |S_b| - |S_a + S_b|
 *     cutting c gains         |S_c'| + |S_c''| - |S_c|       by a split of its own (split.h)
 *
 * Sources: Ball & Hall 1965 (ISODATA: split and join); Fritzke, arXiv 2006.15666 (breathing
 * k-means: the least useful centres go where they are needed, several at a time, ever fewer).
 */
#ifndef GF_CLUSTER_MOVES_EXCHANGE_H
#define GF_CLUSTER_MOVES_EXCHANGE_H

#include "cluster/passes/lloyd.h"

typedef struct gf_exchange_limits {
    unsigned rounds;        /* of exchanging */
    double tolerance;       /* of the polish */
    unsigned polish_rounds; /* each time */
} gf_exchange_limits;

/**
 * Rounds, until one exchange at a time does not help any more, or there were so many.
 *
 * @param s     of the passes and the polish before
 * @param p     as gf_polish leaves it; on return likewise
 * @param seed  of the splits
 * @param made  out: rounds that raised the objective
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED
 * Cost of a round: eight readings of the rows, k / 2 times the entries of the centres, and a polish
 * in which few centres moved. Memory: a second partition; 16 to 20 bytes a term and thread.
 */
gf_status gf_exchange(gf_passes *s, gf_partition *p, const gf_exchange_limits *limits,
                      uint64_t seed, unsigned *made, gf_error *err);

#endif
