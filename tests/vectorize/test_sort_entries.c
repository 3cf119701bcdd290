#include "support/test.h"

#include "base/random.h"
#include "vectorize/rows/sort_entries_internal.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* n numbers with different upper halves of at most `high`. */
static void check(gf_random *r, size_t n, uint32_t high)
{
    uint64_t *a = malloc((n + 1) * sizeof *a), *want = malloc((n + 1) * sizeof *a);
    uint64_t *scratch = malloc((n + 1) * sizeof *a), step = ((uint64_t)high + 1) / (n ? n : 1);
    for (size_t i = 0; i < n; i++)
        a[i] = (i * step + gf_random_below(r, step)) << 32 | (uint32_t)gf_random_u64(r);
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)gf_random_below(r, i);
        uint64_t other = a[k];
        a[k] = a[i - 1];
        a[i - 1] = other;
    }
    memcpy(want, a, n * sizeof *a);
    qsort(want, n, sizeof *want, by_value);
    gf_sort_entries_by_high(a, n, scratch, high);
    if (n) assert_memory_equal(a, want, n * sizeof *a);
    free(a), free(want), free(scratch);
}

static void sorts_as_the_library_does(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    const uint32_t highs[] = {120, 3000, 65535, 65536, 16777215, 16777216, UINT32_MAX};
    for (size_t n = 0; n < 120; n++)
        for (size_t h = 0; h < sizeof highs / sizeof *highs; h++)
            check(&r, n, highs[h]);
    for (size_t n = 1000; n < 1050; n += 3)
        for (size_t h = 1; h < sizeof highs / sizeof *highs; h++)
            check(&r, n, highs[h]);
    check(&r, 3000, 3000);
    check(&r, 1000, UINT32_MAX - 8);
    check(&r, 1000, UINT32_MAX - 9);
    check(&r, 100000, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sorts_as_the_library_does)};
    return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
