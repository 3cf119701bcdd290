/* The order in which collected documents are written: that of their rows. */
#include "tests/support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "engine/put/put_internal.h"

enum { MOST = 200 };

/* An id that often begins as others do, is another's beginning, holds zeros, or is there twice. */
static gf_slice random_id(gf_random *r, char id[32], size_t common)
{
    static const char letters[] = {'a', 'b', 0, '\xFF'};
    size_t n = common + gf_random_below(r, 12);
    for (size_t i = 0; i < n; i++)
        id[i] = i < common ? 'p' : letters[gf_random_below(r, sizeof letters)];
    if (n == 0) id[n++] = 'x';
    return gf_slice_of(id, n);
}

static int order_of(const gf_put_row *x, const gf_put_row *y)
{
    int order = gf_slice_compare(x->collection, y->collection);
    return order ? order : gf_slice_compare(x->id, y->id);
}

static void assert_sorted(const gf_put_row *w, size_t n)
{
    bool seen[MOST] = {false};
    for (size_t i = 0; i < n; i++) {
        int order = i ? order_of(&w[i - 1], &w[i]) : -1;
        assert_true(order < 0 || (order == 0 && w[i - 1].order < w[i].order));
        assert_false(seen[w[i].order]);
        seen[w[i].order] = true;
    }
}

static void any_ids_come_in_the_order_of_their_rows(void **state)
{
    (void)state;
    static char ids[MOST][32];
    static const gf_slice collections[] = {{"news", 4}, {"new", 3}, {"posts", 5}};
    gf_put_row w[MOST];
    uint64_t seed = gf_test_seed();
    gf_error err;
    for (uint64_t round = 0; round < 2000; round++) {
        gf_random r = gf_random_seed(seed, round);
        size_t n = gf_random_below(&r, MOST + 1), common = gf_random_below(&r, 12);
        size_t n_collections = 1 + gf_random_below(&r, 2) * gf_random_below(&r, 3);
        for (size_t i = 0; i < n; i++)
            w[i] = (gf_put_row){.collection = collections[gf_random_below(&r, n_collections)],
                                .id = random_id(&r, ids[i], common),
                                .order = (uint32_t)i};
        assert_ok(gf_put_sort(w, n, &err));
        assert_sorted(w, n);
    }
}

static gf_status sort_two(void *context, gf_error *err)
{
    (void)context;
    gf_put_row w[] = {{.collection = GF_SLICE("c"), .id = GF_SLICE("b"), .order = 0},
                      {.collection = GF_SLICE("c"), .id = GF_SLICE("a"), .order = 1}};
    gf_status st = gf_put_sort(w, 2, err);
    assert_int_equal(w[0].order, st == GF_OK ? 1 : 0);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(sort_two, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_ids_come_in_the_order_of_their_rows),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("put_sort", tests, NULL, NULL);
}
