/**
 * Constants that the moves over terms (this folder) and those over products (cluster/small) share:
 * both take the same steps, so that a collection does not change its ways as it grows.
 */
#ifndef GF_CLUSTER_MOVES_CONSTANTS_H
#define GF_CLUSTER_MOVES_CONSTANTS_H

/** A move must gain this much for each document: more than rounding could make. */
#define GF_MOVE_LEAST_GAIN 1e-5

/** Polish ends where a round raises the objective by less than this share of the tolerance. */
#define GF_POLISH_LEAST_RISE 0.25

/** A seed is drawn by weight * (alpha - similarity to the nearest seed). */
#define GF_SEED_ALPHA 1.5

/** A row that is as similar to a seed as this does not become another. */
#define GF_SEED_TOO_NEAR 0.99999

/** A sweep over a cluster being split is the last where a smaller share of its rows moved. */
#define GF_SPLIT_TOLERANCE 0.002

/** Tolerance of the passes and the polish between steps of growth. */
#define GF_GROW_TOLERANCE 0.001

/** Share of the grown objective: drawn seeds that soon reach it are polished further. */
#define GF_GROW_PROMISING 0.97

enum {
    GF_SPLIT_SWEEPS = 6,
    GF_GROW_ROUNDS = 2,        /* of polish, after each step */
    GF_GROW_DRAWN_PASSES = 2,  /* of drawn seeds */
    GF_GROW_DRAWN_ROUNDS = 1,  /* of polish of them */
    GF_GROW_MORE_ROUNDS = 3,   /* where that is promising */
    GF_SEED_GREEDY_BELOW = 100 /* rows for each seed: below, a seed is the best of several */
};

#endif
