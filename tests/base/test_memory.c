#include "support/test.h"

#include "base/memory.h"

#include <string.h>

static void gives_usable_memory(void **state)
{
    (void)state;
    unsigned char *p = gf_calloc(1000, 3);
    assert_non_null(p);
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(p[i], 0);
    memset(p, 7, 3000);
    unsigned char *grown = gf_realloc(p, 5000, 3);
    assert_non_null(grown);
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(grown[i], 7);
    gf_free(grown);
    gf_free(NULL);
}

static void gives_large_tables(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, (4 << 20) - 1, 4 << 20, (6 << 20) + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *p = gf_calloc_large(sizes[i], 3), any = 0;
        assert_non_null(p);
        for (size_t k = 0; k < sizes[i] * 3; k++)
            any |= p[k];
        assert_int_equal(any, 0);
        if (sizes[i]) memset(p, 7, sizes[i] * 3);
        gf_free(p);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *p = gf_array_large(sizes[i], 3);
        assert_non_null(p);
        memset(p, 7, sizes[i] * 3); /* all of it is there */
        gf_free(p);
    }
    gf_memory_fail_at(0);
    assert_null(gf_calloc_large(8 << 20, 1));
    assert_true(gf_memory_failed());
    gf_memory_fail_at(0);
    assert_null(gf_array_large(8 << 20, 1));
    assert_true(gf_memory_failed());
    gf_memory_fail_at(-1);
}

static void size_zero_can_be_freed(void **state)
{
    (void)state;
    void *all[] = {gf_malloc(0),   gf_calloc(0, 8),        gf_calloc(8, 0),
                   gf_array(0, 8), gf_realloc(NULL, 0, 8), gf_realloc(NULL, 8, 0)};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_non_null(all[i]);
        gf_free(all[i]);
    }
}

static void refuses_products_that_overflow(void **state)
{
    (void)state;
    assert_null(gf_array(SIZE_MAX / 8 + 1, 8));
    assert_null(gf_array(8, SIZE_MAX / 8 + 1));
    assert_null(gf_calloc(SIZE_MAX / 8 + 1, 8));
    assert_null(gf_calloc_large(SIZE_MAX / 8 + 1, 8));
    assert_null(gf_calloc_large(SIZE_MAX - 1, 1));
    assert_null(gf_array_large(SIZE_MAX / 8 + 1, 8));
    assert_null(gf_array_large(SIZE_MAX - 1, 1));
    char *p = gf_malloc(4);
    assert_non_null(p);
    memcpy(p, "abc", 4);
    assert_null(gf_realloc(p, SIZE_MAX / 8 + 1, 8));
    assert_string_equal(p, "abc");
    gf_free(p);
}

static void copies_strings_with_a_nul(void **state)
{
    (void)state;
    char *p = gf_copy_string("a\0bc", 4);
    assert_memory_equal(p, "a\0bc", 5);
    gf_free(p);
    p = gf_copy_string(NULL, 0);
    assert_string_equal(p, "");
    gf_free(p);
}

/* Of ten allocations the n-th alone fails. */
static void fails_the_asked_for_allocation_once(void **state)
{
    (void)state;
    for (int n = -1; n < 12; n++) {
        gf_memory_fail_at(n);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(gf_memory_failed(), n >= 0 && i > n);
            void *p = i % 2 ? gf_malloc(8) : gf_calloc(1, 8);
            assert_int_equal(p == NULL, i == n);
            gf_free(p);
        }
        assert_int_equal(gf_memory_failed(), n >= 0 && n < 10);
    }
    gf_memory_fail_at(-1);
    assert_false(gf_memory_failed());
}

static void a_failed_realloc_leaves_the_old(void **state)
{
    (void)state;
    char *p = gf_copy_string("kept", 4);
    gf_memory_fail_at(0);
    char *grown = gf_realloc(p, 100, 1);
    assert_true(gf_memory_failed());
    gf_memory_fail_at(-1);
    assert_null(grown);
    assert_string_equal(p, "kept");
    gf_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_usable_memory),
        cmocka_unit_test(gives_large_tables),
        cmocka_unit_test(size_zero_can_be_freed),
        cmocka_unit_test(refuses_products_that_overflow),
        cmocka_unit_test(copies_strings_with_a_nul),
        cmocka_unit_test(fails_the_asked_for_allocation_once),
        cmocka_unit_test(a_failed_realloc_leaves_the_old),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
