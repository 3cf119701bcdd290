#include "vectorize/sort_internal.h"

#include <string.h>

enum { SHORT = 48 /* where insertion and radix took equally long */ };

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

static void radix_pass(const uint64_t *from, uint64_t *to, size_t n, unsigned shift)
{
    size_t start[256] = {0};
    for (size_t i = 0; i < n; i++)
        start[from[i] >> shift & 0xFF]++;
    for (size_t b = 0, sum = 0; b < 256; b++) {
        size_t count = start[b];
        start[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[start[from[i] >> shift & 0xFF]++] = from[i];
}

void gf_sort_by_high(uint64_t *a, size_t n, uint64_t *scratch, uint32_t high)
{
    uint64_t *from = a, *to = scratch;
    if (n <= SHORT) {
        insertion_sort(a, n);
        return;
    }
    for (unsigned shift = 32; shift < 64 && (uint64_t)high << 32 >> shift; shift += 8) {
        radix_pass(from, to, n, shift);
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != a) memcpy(a, from, n * sizeof *a);
}
