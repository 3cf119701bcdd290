/**
 * The curve of a choice of k: where to end it, and which number to take.
 *
 * Each step is a number of clusters with its separation; this, weighed a little against many
 * clusters, is the worth of the number:
 *
 *     worth(k) = separation * k^-0.02
 *
 *     worth      __ 98 %                   The curve is walked from k = 1 on to its peak. Where it
 *          __.-''  ''-.__       _.-._      has fallen into a valley, below 95 % of the peak, a
 *       .-'              '-.__.-'          later rise is the new peak only if it is higher by more
 *      /    |--------|   valley            than the valley is deep.
 *
 * A peak at k = 2 or 3 gives way to whatever reaches 95 % of it behind the valley, as little that
 * is smaller can be compared.
 *
 * The curve of texts is flat around its peak: chosen is the middle, by the logarithm of k, of the
 * numbers around the peak that reach 98 % of it. A step of plain structure has such a plateau for
 * itself.
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

/** The number of clusters: k of one of the steps, of which there is at least one. */
uint32_t gf_k_curve_choose(const gf_k_curve *c);

#endif
