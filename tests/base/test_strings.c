#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/strings.h"

#include <xxhash.h>

static void ids_are_dense_in_order_of_arrival(void **state)
{
    (void)state;
    gf_error err;
    gf_strings set = {0};
    uint32_t id;
    bool added;
    assert_int_equal(gf_strings_find(&set, GF_SLICE("to")), GF_STRING_NONE);
    const char *words[] = {"to", "be", "or", "not", "to", "be"};
    const uint32_t ids[] = {0, 1, 2, 3, 0, 1};
    for (size_t i = 0; i < 6; i++) {
        assert_ok(gf_strings_add(&set, gf_slice_str(words[i]), &id, &added, &err));
        assert_int_equal(id, ids[i]);
        assert_int_equal(added, i < 4);
    }
    assert_int_equal(set.n, 4);
    assert_slice(gf_strings_at(&set, 3), "not");
    assert_int_equal(gf_strings_find(&set, GF_SLICE("or")), 2);
    assert_int_equal(gf_strings_find(&set, GF_SLICE("o")), GF_STRING_NONE);
    gf_strings_release(&set);
    assert_int_equal(gf_strings_find(&set, GF_SLICE("or")), GF_STRING_NONE);
}

static void bytes_alone_tell_strings_apart(void **state)
{
    (void)state;
    gf_error err;
    gf_strings set;
    gf_strings_init(&set);
    gf_slice all[] = {GF_SLICE(""),  GF_SLICE("\0"),   GF_SLICE("\0\0"),
                      GF_SLICE("a"), GF_SLICE("a\0"),  GF_SLICE("a\0b"),
                      GF_SLICE("A"), GF_SLICE("\xFF"), GF_SLICE("\xFF\xFE")};
    uint32_t id;
    for (uint32_t i = 0; i < 9; i++) {
        assert_ok(gf_strings_add(&set, all[i], &id, NULL, &err));
        assert_int_equal(id, i);
    }
    assert_ok(gf_strings_add(&set, (gf_slice){NULL, 0}, &id, NULL, &err));
    assert_int_equal(id, 0);
    assert_int_equal(gf_strings_find(&set, (gf_slice){NULL, 0}), 0);
    for (uint32_t i = 0; i < 9; i++) {
        assert_true(gf_slice_equal(gf_strings_at(&set, i), all[i]));
        assert_int_equal(gf_strings_at(&set, i).ptr[all[i].len], '\0');
    }
    gf_strings_release(&set);
}

/* Made so that one factor of the hash's only product is 0 in each: 64 equal bits, other bytes. */
static void strings_of_one_hash_are_told_apart(void **state)
{
    (void)state;
    gf_error err;
    gf_strings set = {0};
    gf_slice a = GF_SLICE("\xB9\x39\x42\xEA\x7B\x73\x82\x67\xD5\x9F\x3D\x80\x5C\xF9\x75\xAE");
    gf_slice b = GF_SLICE("\xB8\x1A\x07\x8D\xF2\xD8\x4F\x88\x3A\x52\x96\x09\x3B\xBC\x56\xAF");
    assert_true(XXH3_64bits(a.ptr, a.len) == XXH3_64bits(b.ptr, b.len));
    uint32_t id;
    assert_ok(gf_strings_add(&set, a, &id, NULL, &err));
    assert_int_equal(gf_strings_find(&set, b), GF_STRING_NONE);
    assert_ok(gf_strings_add(&set, b, &id, NULL, &err));
    assert_int_equal(id, 1);
    assert_int_equal(gf_strings_find(&set, a), 0);
    assert_int_equal(gf_strings_find(&set, b), 1);
    gf_strings_release(&set);
}

static void addresses_hold_while_the_set_grows(void **state)
{
    (void)state;
    gf_error err;
    gf_strings set = {0};
    uint32_t id;
    char word[16];
    assert_ok(gf_strings_add(&set, GF_SLICE("first"), &id, NULL, &err));
    const char *first = gf_strings_at(&set, 0).ptr;
    for (int i = 0; i < 200000; i++) {
        int n = snprintf(word, sizeof word, "%d", i);
        assert_ok(gf_strings_add(&set, gf_slice_of(word, (size_t)n), &id, NULL, &err));
        assert_int_equal(id, i + 1);
    }
    assert_ptr_equal(gf_strings_at(&set, 0).ptr, first);
    assert_string_equal(first, "first");
    assert_true(3 * (size_t)set.n <= 2 * set.capacity);
    gf_strings_release(&set);
}

enum { LONGEST = 4, MOST = 2000 };

typedef struct string_list {
    char bytes[MOST][LONGEST];
    size_t length[MOST];
    uint32_t n;
} string_list;

static uint32_t list_find(const string_list *list, gf_slice s)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (gf_slice_equal(gf_slice_of(list->bytes[i], list->length[i]), s)) return i;
    return GF_STRING_NONE;
}

/* Short strings over few letters: most are drawn again and again. */
static void agrees_with_a_list(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    static string_list list;
    gf_strings set = {0};
    gf_error err;
    list.n = 0;
    for (int i = 0; i < 20000; i++) {
        char bytes[LONGEST];
        size_t n = gf_random_below(&r, LONGEST + 1);
        for (size_t at = 0; at < n; at++)
            bytes[at] = (char)("\0abcd\xFE"[gf_random_below(&r, 6)]);
        gf_slice s = gf_slice_of(bytes, n);
        uint32_t expected = list_find(&list, s), id;
        bool added;
        assert_int_equal(gf_strings_find(&set, s), expected);
        if (gf_random_below(&r, 2)) continue;
        assert_ok(gf_strings_add(&set, s, &id, &added, &err));
        assert_int_equal(added, expected == GF_STRING_NONE);
        if (added) {
            memcpy(list.bytes[list.n], bytes, n);
            list.length[list.n] = n;
            expected = list.n++;
        }
        assert_int_equal(id, expected);
        assert_int_equal(set.n, list.n);
    }
    for (uint32_t i = 0; i < list.n; i++)
        assert_int_equal(list_find(&list, gf_strings_at(&set, i)), i);
    gf_strings_release(&set);
}

/* After a failure the set answers as before, and takes the string once there is memory again. */
static gf_status add_many(void *context, gf_error *err)
{
    (void)context;
    gf_strings set = {0};
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < 500 && st == GF_OK; i++) {
        char word[16];
        gf_slice s = gf_slice_of(word, (size_t)snprintf(word, sizeof word, "word-%u", i));
        uint32_t id = 77;
        bool added = false;
        st = gf_strings_add(&set, s, &id, &added, err);
        if (st == GF_OK) continue;
        assert_int_equal(id, 77);
        assert_false(added);
        assert_int_equal(set.n, i);
        assert_int_equal(gf_strings_find(&set, s), GF_STRING_NONE);
        assert_int_equal(gf_strings_add(&set, s, &id, &added, NULL), GF_OK);
        assert_int_equal(id, i);
    }
    for (uint32_t id = 0; id < set.n; id++)
        assert_int_equal(gf_strings_find(&set, gf_strings_at(&set, id)), id);
    gf_strings_release(&set);
    return st;
}

static void a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    gf_test_sweep(add_many, NULL, NULL);
}

/* The id that would be GF_STRING_NONE is never given: the count is set by hand, not reached. */
static void refuses_more_strings_than_ids(void **state)
{
    (void)state;
    gf_error err;
    gf_strings set = {0};
    uint32_t id;
    assert_ok(gf_strings_add(&set, GF_SLICE("one"), &id, NULL, &err));
    set.n = UINT32_MAX;
    assert_status(GF_ELIMIT, gf_strings_add(&set, GF_SLICE("another"), &id, NULL, &err));
    assert_string_equal(err.message, "more than 2^32 - 1 strings");
    assert_ok(gf_strings_add(&set, GF_SLICE("one"), &id, NULL, &err));
    assert_int_equal(id, 0);
    gf_strings_release(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_dense_in_order_of_arrival),
        cmocka_unit_test(bytes_alone_tell_strings_apart),
        cmocka_unit_test(strings_of_one_hash_are_told_apart),
        cmocka_unit_test(addresses_hold_while_the_set_grows),
        cmocka_unit_test(agrees_with_a_list),
        cmocka_unit_test(a_failed_allocation_changes_nothing),
        cmocka_unit_test(refuses_more_strings_than_ids),
    };
    return cmocka_run_group_tests_name("strings", tests, NULL, NULL);
}
