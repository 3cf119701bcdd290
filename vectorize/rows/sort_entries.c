#include "vectorize/rows/sort_entries_internal.h"

#include "base/order.h"

#include <string.h>

enum {
    SHORT = 24,    /* where insertion and buckets took equally long */
    MEDIUM = 1024, /* likewise buckets and radix */
    BUCKETS = 256  /* eight of each power of two */
};

static void insertion_sort(uint64_t *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t v = a[i];
        size_t j = i;
        for (; j > 0 && a[j - 1] > v; j--)
            a[j] = a[j - 1];
        a[j] = v;
    }
}

/* Rises with v: its highest bit, then the three bits below. */
static inline unsigned bucket_of(uint64_t v)
{
    uint32_t high = (uint32_t)(v >> 32) + 8;
    unsigned bit = 31u - (unsigned)__builtin_clz(high);
    return (bit - 3) * 8 + (high >> (bit - 3)) - 8;
}

/*
 * Columns rise as document frequencies fall, so that a row has about as many of them in 8..15 as in
 * 8,000..15,999: such buckets leave little for the insertion.
 */
static void bucket_sort(uint64_t *a, size_t n, uint64_t *scratch, uint32_t high)
{
    uint16_t start[BUCKETS] = {0};
    unsigned n_buckets = bucket_of((uint64_t)high << 32) + 1;
    for (size_t i = 0; i < n; i++)
        start[bucket_of(a[i])]++;
    for (unsigned b = 0, sum = 0; b < n_buckets; b++) {
        unsigned count = start[b];
        start[b] = (uint16_t)sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        scratch[start[bucket_of(a[i])]++] = a[i];
    insertion_sort(scratch, n);
    memcpy(a, scratch, n * sizeof *a);
}

void gf_sort_entries_by_high(uint64_t *a, size_t n, uint64_t *scratch, uint32_t high)
{
    if (n <= SHORT) {
        insertion_sort(a, n);
        return;
    }
    if (n <= MEDIUM && high < UINT32_MAX - 8) {
        bucket_sort(a, n, scratch, high);
        return;
    }
    gf_order_by_high(a, n, scratch, high);
}
