#include "cluster/measure/separation.h"

#include <math.h>

/* A row like no other has similarities of 0, which single precision may make a little more. */
#define LEAST_SIMILARITY 1e-6

/* Nor is what rounding leaves of a row taken from itself a sum: its squared length may be 1e-7. */
#define LEAST_REST 1e-5

/* Similarity to the own centre without the document itself: S.x is length * own. */
static double leave_out(double length, double own)
{
    double dot = length * own, rest = length * length - 2 * dot + 1;
    return rest > LEAST_REST ? (dot - 1) / sqrt(rest) : 0;
}

double gf_separation(const gf_points *points, const gf_partition *p)
{
    double sum = 0, weights = 0;
    if (p->k < 2) return 0;
    for (uint32_t i = 0; i < p->n; i++) {
        double w = (double)gf_points_weight(points, i);
        double own = leave_out(p->centres.at[p->label[i]].length, (double)p->own[i]);
        double other = p->other[i] > 0 ? (double)p->other[i] : 0;
        double larger = own > other ? own : other;
        if (larger > LEAST_SIMILARITY) sum += w * (own - other) / larger;
        weights += w;
    }
    return weights > 0 ? sqrt(1 - 1 / (double)p->k) * sum / weights : 0;
}
