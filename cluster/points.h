/**
 * What is clustered: rows of unit length, each standing for one or several equal documents.
 */
#ifndef GF_CLUSTER_POINTS_H
#define GF_CLUSTER_POINTS_H

#include "base/csr.h"

#include <stdbool.h>

typedef struct gf_points {
    const gf_csr *x;     /* [n x terms], rows of unit L2 length */
    const float *weight; /* n: how many documents the row stands for; NULL: one each */
} gf_points;

static inline uint32_t gf_points_n(const gf_points *p)
{
    return p->x->n_rows;
}

static inline float gf_points_weight(const gf_points *p, uint32_t i)
{
    return p->weight ? p->weight[i] : 1.0f;
}

#endif
