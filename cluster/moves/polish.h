/**
 * First-variation polish: single rows move where that raises the objective, the sum of the lengths
 * of the cluster sums, which plain k-means cannot see.
 *
 * Moving row x of weight w from cluster a to b gains
 *
 *     |S_b + w x| - |S_b| + |S_a - w x| - |S_a|,   |S + w x|^2 = |S|^2 + 2 w S.x + w^2
 *
 * Each round proposes in parallel the best move of every row against frozen sums, then applies the
 * proposals (cluster/moves/apply_moves.h), each with its gain worked out again from the sums as they
 * are by then. So the objective rises with every applied move, and the result does not depend on
 * the number of threads.
 *
 * Source: Dhillon, Guan & Kogan, ICDM 2002 ("first variation"); also Zhao & Karypis's refinement.
 */
#ifndef GF_CLUSTER_MOVES_POLISH_H
#define GF_CLUSTER_MOVES_POLISH_H

#include "cluster/passes/lloyd.h"

/**
 * Rounds until fewer than tolerance * rows move, or the objective rises by less than a quarter of
 * the tolerance, or max_rounds.
 *
 * @param p  labels, own and centres after an update; on return likewise
 * Cost of a round: at worst O(entries * k), less where few centres moved in the round before.
 * Memory: 12 bytes a row, 12 a proposal, and 16 to 48 for each entry of the rows that move in a round.
 */
gf_status gf_polish(gf_passes *s, gf_partition *p, double tolerance, unsigned max_rounds,
                    unsigned *rounds, gf_error *err);

#endif
