/**
 * The strongest terms of a centre: those of the largest values.
 */
#ifndef GF_CLUSTER_LARGE_STRONGEST_H
#define GF_CLUSTER_LARGE_STRONGEST_H

#include "cluster/passes/centres.h"

/**
 * The positions of the largest of n values (at least 0), of equal ones the first.
 *
 * @param at  room for `most`: their positions, rising
 * @return how many: the smaller of n and most
 * Cost: O(n log most) at worst; about O(n) where n is far larger.
 */
uint32_t gf_strongest_find(const float *value, uint32_t n, uint32_t most, uint32_t *at);

/**
 * Leave a centre its strongest terms, at unit length again; its length becomes that of their part
 * of the sum. Nothing is done where it has no more. GF_ENOMEM.
 */
gf_status gf_strongest_keep(gf_centre *c, uint32_t most, gf_error *err);

#endif
