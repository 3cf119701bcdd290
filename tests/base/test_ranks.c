#include "base/ranks.h"
#include "support/ranks.h"
#include "support/test.h"

static gf_status try_all(gf_ranks *ranks, void *context, gf_error *err)
{
    (void)context;
    return gf_test_ranks_try(ranks, err);
}

static void bytes_arrive(void **state)
{
    (void)state;
    gf_error err;
    assert_ok(gf_test_ranks_try(NULL, &err));
    for (unsigned n = 1; n <= 5; n++)
        assert_ok(gf_test_ranks_run(n, try_all, NULL, &err));
}

/* A rank gives 10 bytes to each other one, sends 5 to all if it is rank 0, and adds two numbers. */
static gf_status count_bytes(gf_ranks *ranks, void *context, gf_error *err)
{
    (void)context;
    gf_slice to[3] = {GF_SLICE("0123456789"), GF_SLICE("0123456789"), GF_SLICE("0123456789")};
    gf_buffer from[3] = {{0}}, told = {0};
    uint64_t v[2] = {1, 2};
    if (ranks->me == 0) gf_buffer_str(&told, "abcde");
    gf_status st = gf_ranks_deal(ranks, to, from, err);
    if (st == GF_OK) st = gf_ranks_send_all(ranks, 0, &told, err);
    if (st == GF_OK) st = gf_ranks_sum(ranks, v, 2, err);
    uint64_t sent = 20 + (ranks->me == 0 ? 10 : 0) + 32;
    if (st == GF_OK && ranks->sent != sent) st = gf_fail(err, GF_ECORRUPT, "other bytes");
    for (int i = 0; i < 3; i++)
        gf_buffer_release(&from[i]);
    gf_buffer_release(&told);
    return st;
}

static void bytes_are_counted(void **state)
{
    (void)state;
    gf_error err;
    assert_ok(gf_test_ranks_run(3, count_bytes, NULL, &err));
}

static gf_status fail_in_one(gf_ranks *ranks, void *context, gf_error *err)
{
    (void)context;
    uint64_t v = 1;
    if (ranks->me == 1) return gf_fail(err, GF_EIO, "rank 1 has no disk");
    return gf_ranks_sum(ranks, &v, 1, err);
}

static void one_that_fails_ends_all(void **state)
{
    (void)state;
    gf_error err;
    assert_status(GF_EIO, gf_test_ranks_run(4, fail_in_one, NULL, &err));
    assert_string_equal(err.message, "rank 1 has no disk");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_arrive),
                                       cmocka_unit_test(bytes_are_counted),
                                       cmocka_unit_test(one_that_fails_ends_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
