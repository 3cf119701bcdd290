#include "support/test.h"

#include "base/arena.h"
#include "base/memory.h"
#include "base/random.h"

static void small_requests_share_a_block(void **state)
{
    (void)state;
    gf_arena a = {0};
    char *first = gf_arena_alloc(&a, 3), *second = gf_arena_alloc(&a, 9);
    char *third = gf_arena_alloc(&a, 1);
    assert_ptr_equal(second, first + 8);
    assert_ptr_equal(third, second + 16);
    assert_int_equal(a.used, 32);
    size_t total = a.total;
    for (int i = 0; i < 10; i++)
        gf_arena_alloc(&a, 8);
    assert_int_equal(a.total, total);
    gf_arena_release(&a);
    assert_null(a.blocks);
    assert_int_equal(a.total, 0);
    gf_arena_release(&a);
}

static void reset_keeps_the_newest_block(void **state)
{
    (void)state;
    gf_arena a;
    gf_arena_init(&a);
    gf_arena_reset(&a);
    for (int i = 0; i < 10000; i++)
        assert_non_null(gf_arena_alloc(&a, 100));
    size_t grown = a.total;
    gf_arena_reset(&a);
    assert_true(a.total > 0 && a.total < grown);
    size_t kept = a.total;
    void *first = gf_arena_alloc(&a, kept);
    assert_non_null(first);
    assert_int_equal(a.total, kept);
    gf_arena_reset(&a);
    assert_ptr_equal(gf_arena_alloc(&a, 8), first);
    gf_arena_release(&a);
}

static void copies_end_in_nul(void **state)
{
    (void)state;
    gf_arena a = {0};
    memset(gf_arena_alloc(&a, 512), 0xFF, 512);
    gf_arena_reset(&a);
    gf_slice copy = gf_arena_copy(&a, GF_SLICE("a\0b"));
    assert_int_equal(copy.len, 3);
    assert_memory_equal(copy.ptr, "a\0b", 4);
    copy = gf_arena_copy(&a, (gf_slice){NULL, 0});
    assert_int_equal(copy.len, 0);
    assert_string_equal(copy.ptr, "");
    gf_arena_release(&a);
}

static void refuses_what_no_memory_holds(void **state)
{
    (void)state;
    gf_arena a = {0};
    gf_slice before = gf_arena_copy(&a, GF_SLICE("before"));
    size_t total = a.total, used = a.used;
    for (size_t less = 0; less < 64; less++)
        assert_null(gf_arena_alloc(&a, SIZE_MAX - less));
    assert_int_equal(a.total, total);
    assert_int_equal(a.used, used);
    assert_slice(before, "before");
    assert_non_null(gf_arena_alloc(&a, 1 << 20));
    assert_slice(before, "before");
    gf_arena_release(&a);
}

enum { MOST_PIECES = 2000 };

/* Each piece is filled with its own byte; where two overlap, one of them shows it in the end. */
static void pieces_never_overlap(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_arena a = {0};
    static unsigned char *piece[MOST_PIECES];
    static size_t size[MOST_PIECES];
    for (int round = 0; round < 20; round++) {
        size_t n = gf_random_below(&r, MOST_PIECES), asked = 0;
        for (size_t i = 0; i < n; i++) {
            unsigned bits = (unsigned)gf_random_below(&r, gf_random_below(&r, 50) ? 9 : 22);
            size[i] = gf_random_below(&r, (uint64_t)1 << bits);
            piece[i] = gf_arena_alloc(&a, size[i]);
            assert_non_null(piece[i]);
            assert_int_equal((uintptr_t)piece[i] % 8, 0);
            memset(piece[i], (int)(i % 251), size[i]);
            asked += size[i];
        }
        assert_true(a.total >= asked);
        for (size_t i = 0; i < n; i++)
            for (size_t at = 0; at < size[i]; at += 1 + at / 64)
                assert_int_equal(piece[i][at], i % 251);
        if (gf_random_below(&r, 2))
            gf_arena_reset(&a);
        else
            gf_arena_release(&a);
    }
    gf_arena_release(&a);
}

static gf_status fill(void *context, gf_error *err)
{
    (void)context;
    gf_arena a = {0};
    gf_status st = GF_OK;
    for (int i = 0; i < 300 && st == GF_OK; i++) {
        size_t used = a.used, total = a.total;
        gf_slice copy = gf_arena_copy(&a, GF_SLICE("a string of some forty bytes, as terms are"));
        if (copy.ptr) continue;
        st = gf_fail_memory(err, "a copy");
        assert_int_equal(copy.len, 0);
        assert_int_equal(a.used, used);
        assert_int_equal(a.total, total);
        assert_non_null(gf_arena_alloc(&a, 64));
    }
    gf_arena_release(&a);
    return st;
}

static void a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    gf_test_sweep(fill, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_requests_share_a_block),
        cmocka_unit_test(reset_keeps_the_newest_block),
        cmocka_unit_test(copies_end_in_nul),
        cmocka_unit_test(refuses_what_no_memory_holds),
        cmocka_unit_test(pieces_never_overlap),
        cmocka_unit_test(a_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
