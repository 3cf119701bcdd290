/**
 * The curve of a choice of k: where to end it, and which number to take.
 *
 * Each step is a number of clusters with its separation; this, weighed a little against many
 * clusters, is the worth of the number:
 *
 *     worth(k) = separation * k^-0.02
 *
 *     worth      __ 99 %                   The curve is walked from k = 1 on to its peak. Where it
 *          __.-''  ''-.__       _.-._      has fallen into a valley, below 95 % of the peak, a
 *       .-'              '-.__.-'          later rise is the new peak only if it is higher by more
 *      /    |--------|   valley            than the valley is deep.
 *
 * A peak at k = 2 or 3 is little proof, as little that is smaller can be compared. It gives way to
 * whatever reaches 95 % of it behind the valley. Of many rows, any of which a few frequent words cut
 * so, it gives way to the highest step from 5 on, if that holds 80 % of it.
 *
 * The curve of texts is flat around its peak: of the numbers around it that reach 99 % of it
 * (from 5 on where 2 or 3 gave way) the one is chosen that lies two thirds of the way up, by the
 * logarithm of k. A step of plain structure has such a plateau for itself.
 */
#ifndef GF_CLUSTER_MEASURE_K_CURVE_H
#define GF_CLUSTER_MEASURE_K_CURVE_H

#include "grouperfish/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct gf_choice_step {
    uint32_t k;
    double separation; /* -1..1 */
} gf_choice_step;

/** All zeros is an empty curve. */
typedef struct gf_k_curve {
    bool many; /* rows: two or three clusters of them must be more than a cut by frequent words */
    gf_choice_step *steps; /* n, by rising k */
    double *worth;         /* n */
    uint32_t n, capacity;
    uint32_t peak;  /* step */
    uint32_t risen; /* step: of the highest worth since the last valley began */
    double valley;  /* least worth behind the peak, once that is in a valley */
    bool in_valley;
} gf_k_curve;

/** Add a step; k is above that of the last. GF_ENOMEM: the curve is as it was. */
gf_status gf_k_curve_add(gf_k_curve *c, uint32_t k, double separation, gf_error *err);
void gf_k_curve_release(gf_k_curve *c);

/** True if a further step may change the choice; the curve has at least one step. */
bool gf_k_curve_goes_on(const gf_k_curve *c);

/** The number of clusters, and why. All numbers are those of steps. */
typedef struct gf_k_reason {
    uint32_t k;        /* chosen, from..to */
    uint32_t best;     /* of the highest worth around it */
    uint32_t from, to; /* the plateau: as good as the best */
    uint32_t few;      /* 2 or 3: was worth most, and gave way; 0: none did */
    double worth;      /* of the best */
} gf_k_reason;

/** The choice from a curve of at least one step. */
gf_k_reason gf_k_curve_choose(const gf_k_curve *c);

/** The worth of k clusters of that separation. */
double gf_k_curve_worth(uint32_t k, double separation);

/**
 * True if k, which need not be a step, is worth at least 98 % of the best of a choice: no reason to
 * change from it. Between two steps worth changes evenly with ln k; behind the last it is unknown.
 * Fewer than five are not kept where few clusters gave way.
 *
 * @param steps  n, the curve of the choice
 */
bool gf_k_curve_keeps(const gf_choice_step *steps, uint32_t n, const gf_k_reason *choice,
                      uint32_t k);

#endif
