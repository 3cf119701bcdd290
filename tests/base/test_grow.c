/* Arrays that grow: what was in them stays, capacities double, and nothing changes on failure. */
#include "base/grow.h"
#include "base/memory.h"
#include "tests/support/test.h"

static void items_stay_while_an_array_grows(void **state)
{
    uint32_t *items = NULL;
    size_t capacity = 0, moved = 0;
    (void)state;
    for (uint32_t n = 0; n < 1000; n++) {
        size_t before = capacity;
        assert_true(gf_grow(&items, &capacity, n + 1, sizeof *items));
        assert_true(capacity > n);
        moved += capacity != before;
        items[n] = n * 3;
    }
    for (uint32_t n = 0; n < 1000; n++)
        assert_int_equal(items[n], n * 3);
    assert_true(moved <= 7); /* 16, 32, ..., 1024 */
    gf_free(items);
}

static void many_items_get_room_at_once(void **state)
{
    char *bytes = NULL;
    size_t capacity = 0;
    (void)state;
    assert_true(gf_grow(&bytes, &capacity, 0, 1));
    assert_null(bytes);
    assert_true(gf_grow(&bytes, &capacity, 100000, 1));
    assert_true(capacity >= 100000 && capacity < 200000);
    bytes[99999] = 'x';
    gf_free(bytes);
}

static void a_failure_changes_nothing(void **state)
{
    uint64_t *items = NULL;
    size_t capacity = 0;
    (void)state;
    assert_true(gf_grow(&items, &capacity, 1, sizeof *items));
    items[0] = 42;
    uint64_t *before = items;
    size_t room = capacity;
    gf_memory_fail_at(0);
    assert_false(gf_grow(&items, &capacity, room + 1, sizeof *items));
    gf_memory_fail_at(-1);
    assert_false(gf_grow(&items, &capacity, SIZE_MAX / 2 + 2, sizeof *items));
    assert_false(gf_grow(&items, &capacity, SIZE_MAX / 4, sizeof *items));
    assert_ptr_equal(items, before);
    assert_int_equal(capacity, room);
    assert_int_equal(items[0], 42);
    gf_free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_stay_while_an_array_grows),
        cmocka_unit_test(many_items_get_room_at_once),
        cmocka_unit_test(a_failure_changes_nothing),
    };
    return cmocka_run_group_tests_name("grow", tests, NULL, NULL);
}
