/**
 * Sorting a row's entries.
 */
#ifndef GF_VECTORIZE_ROWS_SORT_ENTRIES_INTERNAL_H
#define GF_VECTORIZE_ROWS_SORT_ENTRIES_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/**
 * Sort n numbers by their upper 32 bits (which differ), rising: short rows by insertion, longer
 * ones in buckets first, and the longest by radix, a byte at a time.
 *
 * @param scratch  n numbers
 * @param high     the upper half of every number is at most this
 */
void gf_sort_entries_by_high(uint64_t *a, size_t n, uint64_t *scratch, uint32_t high);

#endif
