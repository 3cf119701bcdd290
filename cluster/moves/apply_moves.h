/**
 * Applies moves of single rows that were proposed against frozen sums, each where it still gains
 * against the sums as they are by then, on all threads.
 *
 * A move touches two clusters: that which the row leaves and that which it joins. Clusters are
 * dealt to 32 bins, and a task has the moves between two bins, which nobody else touches
 * meanwhile. As in a tournament where each team meets each other once, 31 rounds of 16 pairs of bins
 * cover all moves; those within a bin come first:
 *
 *     round 0      (0 0) (1 1) (2 2) ...                      32 tasks
 *     round r      (i j) with i + j = r modulo 31; that with 2 i = r meets bin 31       16 tasks
 *
 * So moves are applied in the order of the rounds, then of the rows, whatever the number of threads.
 * The changes of the sums lie in a hash table for each bin, small enough for a processor's cache
 * where one table for all was not.
 *
 * The gain is worked out from the squared lengths, in double precision,
 *
 *     |S_b + w x| - |S_b| + |S_a - w x| - |S_a|,   |S + w x|^2 = |S|^2 + 2 w <S, x> + w^2
 *
 * with <S, x> what the proposal found, and the product with the changes since.
 */
#ifndef GF_CLUSTER_MOVES_APPLY_MOVES_H
#define GF_CLUSTER_MOVES_APPLY_MOVES_H

#include "cluster/passes/lloyd.h"

#define GF_NO_MOVE UINT32_MAX

typedef struct gf_moves gf_moves;

/** Memory: 9 x k; 12 x proposals and up to 48 x entries of the rows that move, while applied. */
gf_status gf_moves_create(gf_pool *pool, const gf_points *points, uint32_t k, gf_moves **moves,
                          gf_error *err);
void gf_moves_free(gf_moves *m);

/**
 * @param p        labels change; `other` of a row that moved becomes at least what own was
 * @param target   n: the cluster proposed for each row, not its own, or GF_NO_MOVE
 * @param score    n: similarity to that cluster's centre
 * @param changed  k: flags of clusters that lost or gained rows are set
 * @param n_moves  moves that were applied
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED
 * Cost: O(n) and O(entries of the proposed rows), on all threads.
 */
gf_status gf_moves_apply(gf_moves *m, gf_partition *p, const uint32_t *target, const float *score,
                         bool *changed, const gf_cancel *cancel, uint64_t *n_moves, gf_error *err);

/** The round, of 0 to 31, in which moves between clusters a and b are applied. */
unsigned gf_moves_round(uint32_t a, uint32_t b);

#endif
