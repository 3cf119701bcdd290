#include "base/order.h"

#include "base/memory.h"
#include "grouperfish/buffer.h"

#include <stdlib.h>

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

void gf_order_by_high(uint64_t *a, size_t n, uint64_t *scratch, uint32_t high)
{
    uint64_t *from = a, *to = scratch;
    for (unsigned shift = 32; shift < 64 && (uint64_t)high << 32 >> shift; shift += 8) {
        radix_pass(from, to, n, shift);
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != a) memcpy(a, from, n * sizeof *a);
}

/* ---- strings --------------------------------------------------------------------------------- */

enum { FEW = 16 /* that insertion sorts */ };

/* Compare the strings whose numbers are the lower halves of two numbers. */
static int by_string(const void *a, const void *b, void *context)
{
    const gf_slice *strings = context;
    uint32_t x = (uint32_t) * (const uint64_t *)a, y = (uint32_t) * (const uint64_t *)b;
    int order = gf_slice_compare(strings[x], strings[y]);
    return order ? order : x < y ? -1 : x > y;
}

static void sort_run(uint64_t *a, size_t n, const gf_slice *strings)
{
    if (n > FEW) {
        qsort_r(a, n, sizeof *a, by_string, (void *)(uintptr_t)strings);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        uint64_t v = a[i];
        size_t j = i;
        for (; j > 0 && by_string(&a[j - 1], &v, (void *)(uintptr_t)strings) > 0; j--)
            a[j] = a[j - 1];
        a[j] = v;
    }
}

gf_status gf_order_slices(const gf_slice *strings, uint32_t n, uint32_t *order, gf_error *err)
{
    uint64_t *a = gf_array((size_t)n * 2, sizeof *a);
    if (!a) return gf_fail_memory(err, "an order");
    for (uint32_t i = 0; i < n; i++)
        a[i] = gf_leading_u64be(strings[i]) >> 32 << 32 | i;
    gf_order_by_high(a, n, a + n, UINT32_MAX);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && a[to] >> 32 == a[from] >> 32;)
            to++;
        if (to - from > 1) sort_run(a + from, to - from, strings);
    }
    for (uint32_t i = 0; i < n; i++)
        order[i] = (uint32_t)a[i];
    gf_free(a);
    return GF_OK;
}

gf_status gf_order_ranked(const gf_slice *strings, const uint32_t *rank, uint32_t highest,
                          uint32_t n, uint32_t *order, gf_error *err)
{
    gf_status st = gf_order_slices(strings, n, order, err);
    if (st != GF_OK) return st;
    uint64_t *a = gf_array((size_t)n * 2, sizeof *a);
    if (!a) return gf_fail_memory(err, "an order");
    for (uint32_t i = 0; i < n; i++)
        a[i] = (uint64_t)rank[order[i]] << 32 | order[i];
    gf_order_by_high(a, n, a + n, highest);
    for (uint32_t i = 0; i < n; i++)
        order[i] = (uint32_t)a[i];
    gf_free(a);
    return GF_OK;
}
