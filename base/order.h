/**
 * Putting numbers and strings in order, many at a time, without a comparison for each pair.
 */
#ifndef GF_BASE_ORDER_H
#define GF_BASE_ORDER_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdint.h>

/**
 * Sort n numbers by their upper 32 bits, rising, a byte at a time; equal ones stay as they stand.
 *
 * @param scratch  n numbers
 * @param high     the upper half of every number is at most this
 */
void gf_order_by_high(uint64_t *a, size_t n, uint64_t *scratch, uint32_t high);

/**
 * Order n strings by their bytes (gf_slice_compare); equal ones stay as they stand.
 *
 * @param order  out: n, the numbers of the strings in that order
 * @return GF_OK; GF_ENOMEM
 * Cost: O(n) for the first four bytes; comparisons among those that agree there.
 */
gf_status gf_order_slices(const gf_slice *strings, uint32_t n, uint32_t *order, gf_error *err);

/**
 * The same by rank, rising, and then by bytes.
 *
 * @param rank     n
 * @param highest  no rank is above it
 */
gf_status gf_order_ranked(const gf_slice *strings, const uint32_t *rank, uint32_t highest,
                          uint32_t n, uint32_t *order, gf_error *err);

#endif
