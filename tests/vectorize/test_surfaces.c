#include "support/test.h"

#include "base/random.h"
#include "base/strings.h"
#include "vectorize/rows/surfaces_internal.h"

#include <stdlib.h>

/* The slot of s, which is added where it is new, with its count raised. */
static gf_surface *count(gf_surfaces *t, gf_slice s, size_t readable, uint32_t tag)
{
    gf_error err;
    gf_surface_key key;
    gf_surface_make_key(&key, s, readable, tag);
    gf_surfaces_prefetch(t, &key);
    gf_surface *slot = gf_surfaces_find(t, &key, s);
    if (!slot) assert_ok(gf_surfaces_add(t, &key, s, &slot, &err));
    slot->count++;
    return slot;
}

static gf_surface *find(const gf_surfaces *t, gf_slice s, uint32_t tag)
{
    gf_surface_key key;
    gf_surface_make_key(&key, s, s.len, tag);
    return gf_surfaces_find(t, &key, s);
}

static void tells_strings_apart(void **state)
{
    (void)state;
    gf_surfaces t = {0};
    const char *words[] = {"a",
                           "aa",
                           "aaa",
                           "b",
                           "aaaaaaaa",
                           "aaaaaaaaa",
                           "aaaaaaaab",
                           "fifteen bytes..",
                           "sixteen bytes...",
                           "seventeen bytes..",
                           "seventeen bytes,,"};
    const size_t n = sizeof words / sizeof *words;
    for (uint32_t tag = 0; tag < 3; tag++)
        for (size_t i = 0; i < n; i++)
            for (size_t times = 0; times <= i; times++)
                count(&t, gf_slice_str(words[i]), strlen(words[i]), tag);
    assert_int_equal(t.n, 3 * n);
    for (uint32_t tag = 0; tag < 3; tag++)
        for (size_t i = 0; i < n; i++) {
            char small[GF_SURFACE_INLINE];
            gf_slice s = gf_slice_str(words[i]);
            gf_surface *slot = find(&t, s, tag);
            assert_non_null(slot);
            assert_int_equal(slot->count, i + 1);
            assert_slice(gf_surface_string(slot, small), words[i]);
        }
    assert_null(find(&t, GF_SLICE("a"), 3));
    gf_surfaces_release(&t);
    assert_null(find(&t, GF_SLICE("a"), 0));
}

/* Equal bytes under many tags: their hashes meet in the table, the tags tell them apart. */
static void tells_tags_apart(void **state)
{
    (void)state;
    gf_surfaces t = {0};
    const gf_slice words[] = {{"a", 1}, {"seventeen bytes..", 17}};
    for (uint32_t tag = 0; tag < 5000; tag++)
        for (size_t i = 0; i < 2; i++)
            count(&t, words[i], words[i].len, tag)->term = tag;
    assert_int_equal(t.n, 10000);
    for (uint32_t tag = 0; tag < 5000; tag++)
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(find(&t, words[i], tag)->term, tag);
    gf_surfaces_release(&t);
}

/* A key does not depend on what stands behind the string, nor on whether it may be read. */
static void reads_only_the_string(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 20; n++) {
        char *exact = malloc(n), room[64];
        memset(exact, 'x', n);
        memset(room, '?', sizeof room);
        memcpy(room, exact, n);
        gf_surface_key a, b;
        gf_surface_make_key(&a, gf_slice_of(exact, n), n, 7);
        gf_surface_make_key(&b, gf_slice_of(room, n), sizeof room, 7);
        assert_true(a.low == b.low && a.high == b.high && a.hash == b.hash);
        free(exact);
    }
}

/* Against a table that is written otherwise. */
static void equals_a_plain_table(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_surfaces t = {0};
    gf_strings plain = {0};
    static uint32_t counts[100000];
    uint32_t id;
    char small[GF_SURFACE_INLINE], word[24];
    for (int i = 0; i < 100000; i++) {
        size_t n = 1 + gf_random_below(&r, 22);
        for (size_t k = 0; k < n; k++)
            word[k] = (char)('a' + gf_random_below(&r, k < 3 ? 20 : 2) * (k < 3 || k > 14));
        gf_slice s = gf_slice_of(word, n);
        assert_ok(gf_strings_add(&plain, s, &id, NULL, &err));
        counts[id]++;
        count(&t, s, n, 1);
    }
    assert_int_equal(t.n, plain.n);
    size_t seen = 0;
    for (size_t i = 0; i < t.capacity; i++) {
        if (!t.slots[i].used) continue;
        id = gf_strings_find(&plain, gf_surface_string(&t.slots[i], small));
        assert_int_not_equal(id, GF_STRING_NONE);
        assert_int_equal(t.slots[i].count, counts[id]);
        seen++;
    }
    assert_int_equal(seen, t.n);
    gf_surfaces_release(&t);
    gf_strings_release(&plain);
}

static gf_status add_many(void *context, gf_error *err)
{
    (void)context;
    gf_surfaces t = {0};
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < 400 && st == GF_OK; i++) {
        char word[32];
        int n = snprintf(word, sizeof word, i % 2 ? "word %u" : "a rather long word %u", i);
        gf_slice s = gf_slice_of(word, (size_t)n);
        gf_surface *slot;
        gf_surface_key key;
        gf_surface_make_key(&key, s, s.len, 0);
        st = gf_surfaces_add(&t, &key, s, &slot, err);
    }
    gf_surfaces_release(&t);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(add_many, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_strings_apart),        cmocka_unit_test(tells_tags_apart),
        cmocka_unit_test(reads_only_the_string),      cmocka_unit_test(equals_a_plain_table),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("surfaces", tests, NULL, NULL);
}
