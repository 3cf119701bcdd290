#include "support/test.h"

#include "base/clock.h"
#include "base/random.h"
#include "storage/packed.h"

#include <stdlib.h>
#include <string.h>

static const char *const known[] = {"id", "text", "size", NULL};
static const gf_family family = {"main", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, known, false};

static void set(gf_packed *p, const char *name, const char *value)
{
    gf_error err;
    assert_ok(gf_packed_set(p, gf_slice_str(name), gf_slice_str(value), &err));
}

static void writes_as_documented(void **state)
{
    (void)state;
    gf_arena arena = {0};
    gf_buffer out = {0};
    gf_packed p = {.family = &family, .arena = &arena};
    set(&p, "zeta", "Z");
    set(&p, "text", "some");
    set(&p, "alpha", "");
    set(&p, "id", "7");
    gf_packed_write(&p, &out);
    static const char want[] = "\1\1"
                               "7"
                               "\2\4"
                               "some"
                               "\0\5"
                               "alpha\0"
                               "\0\4"
                               "zeta\1"
                               "Z";
    assert_int_equal(out.len, sizeof want - 1);
    assert_memory_equal(out.ptr, want, out.len);
    gf_buffer_release(&out);
    gf_arena_release(&arena);
}

static void sets_and_removes(void **state)
{
    (void)state;
    gf_arena arena = {0};
    gf_packed p = {.family = &family, .arena = &arena};
    assert_false(gf_packed_remove(&p, GF_SLICE("id")));
    set(&p, "id", "1");
    set(&p, "b", "2");
    set(&p, "id", "3");
    assert_int_equal(p.n, 2);
    assert_slice(p.columns[0].value, "3");
    assert_false(gf_packed_remove(&p, GF_SLICE("size")));
    assert_true(gf_packed_remove(&p, GF_SLICE("id")));
    assert_int_equal(p.n, 1);
    assert_slice(p.columns[0].name, "b");
    gf_arena_release(&arena);
}

/* ---- against a plain list -------------------------------------------------------------------- */

enum { NAMES = 300 };

static int order_of(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    int number[2] = {4, 4};
    for (int i = 0; known[i]; i++) {
        if (strcmp(*x, known[i]) == 0) number[0] = i;
        if (strcmp(*y, known[i]) == 0) number[1] = i;
    }
    return number[0] != number[1] ? number[0] - number[1] : strcmp(*x, *y);
}

/* Random sets and removals; the bytes do not depend on their order, and read back as the list. */
static void equals_a_plain_list(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    char names[NAMES][8];
    const char *sorted[NAMES];
    for (int i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "%s", i < 3 ? known[i] : "");
        if (i >= 3) snprintf(names[i], sizeof names[i], "c%d", i);
        sorted[i] = names[i];
    }
    qsort(sorted, NAMES, sizeof *sorted, order_of);
    for (int round = 0; round < 200; round++) {
        gf_arena arena = {0};
        gf_buffer out = {0};
        gf_packed p = {.family = &family, .arena = &arena};
        const char *values[NAMES] = {NULL};
        static const char *const some[] = {"", "x", "a longer value"};
        for (uint64_t steps = gf_random_below(&r, round % 2 ? 100 : 1000); steps > 0; steps--) {
            uint64_t i = gf_random_below(&r, NAMES);
            if (gf_random_below(&r, round % 3 ? 3 : 100)) {
                values[i] = some[gf_random_below(&r, 3)];
                set(&p, sorted[i], values[i]);
            } else {
                assert_int_equal(gf_packed_remove(&p, gf_slice_str(sorted[i])), values[i] != NULL);
                values[i] = NULL;
            }
        }
        gf_packed_write(&p, &out);
        gf_packed_reader reader = {.family = &family, .rest = gf_buffer_view(&out)};
        gf_column c;
        for (int i = 0; i < NAMES; i++) {
            if (!values[i]) continue;
            assert_ok(gf_packed_next(&reader, &c, &err));
            assert_slice(c.name, sorted[i]);
            assert_slice(c.value, values[i]);
        }
        assert_status(GF_ENOTFOUND, gf_packed_next(&reader, &c, &err));
        gf_buffer_release(&out);
        gf_arena_release(&arena);
    }
}

/* Columns in any order cost no n * n moves: 500,000 in falling order would take minutes. */
static void many_in_falling_order(void **state)
{
    (void)state;
    enum { MANY = 500000 };
    gf_error err;
    gf_arena arena = {0};
    gf_buffer out = {0};
    gf_packed p = {.family = &family, .arena = &arena};
    static char names[MANY][8];
    double begun = gf_clock_seconds();
    for (int twice = 0; twice < 2; twice++)
        for (int i = MANY - 1; i >= 0; i--) {
            snprintf(names[i], sizeof names[i], "c%06d", i);
            assert_ok(gf_packed_set(&p, gf_slice_str(names[i]),
                                    twice ? GF_SLICE("new") : GF_SLICE("old"), &err));
        }
    gf_packed_write(&p, &out);
    assert_true(gf_clock_seconds() - begun < 20);
    gf_packed_reader reader = {.family = &family, .rest = gf_buffer_view(&out)};
    gf_column c;
    for (int i = 0; i < MANY; i++) {
        assert_ok(gf_packed_next(&reader, &c, &err));
        assert_slice(c.name, names[i]);
        assert_slice(c.value, "new");
    }
    assert_status(GF_ENOTFOUND, gf_packed_next(&reader, &c, &err));
    gf_buffer_release(&out);
    gf_arena_release(&arena);
}

/* A row that was written before a column became known still reads, and takes its new place. */
static void reads_what_an_older_schema_wrote(void **state)
{
    (void)state;
    gf_error err;
    gf_arena arena = {0};
    gf_buffer out = {0};
    static const char *const fewer[] = {"id", NULL};
    gf_family older = family;
    older.columns = fewer;
    gf_packed p = {.family = &older, .arena = &arena}, q = {.family = &family, .arena = &arena};
    set(&p, "size", "3");
    set(&p, "id", "1");
    set(&p, "other", "4");
    set(&p, "text", "2");
    gf_packed_write(&p, &out);
    gf_packed_reader reader = {.family = &family, .rest = gf_buffer_view(&out)};
    gf_column c;
    while (gf_packed_next(&reader, &c, &err) == GF_OK)
        assert_ok(gf_packed_set(&q, c.name, c.value, &err));
    static const char *const want[] = {"id", "text", "size", "other"};
    assert_int_equal(q.n, 4);
    for (int i = 0; i < 4; i++) {
        assert_slice(q.columns[i].name, want[i]);
        assert_int_equal(q.columns[i].value.ptr[0], '1' + i);
    }
    gf_buffer_release(&out);
    gf_arena_release(&arena);
}

static void refuses_hostile_bytes(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    static const gf_slice bad[] = {{"\1", 1},      {"\1\5abc", 5}, {"\4\1x", 3},
                                   {"\0\5abc", 5}, {"\0\1a", 3},   {"\xFF\xFF\xFF\xFF\xFF\xFF", 6},
                                   {"\x80", 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gf_column c;
        gf_packed_reader reader = {.family = &family, .rest = bad[i]};
        assert_status(GF_ECORRUPT, gf_packed_next(&reader, &c, &err));
    }
    for (int i = 0; i < 50000; i++) { /* never beyond the bytes, and always an end */
        char bytes[24];
        size_t n = (size_t)gf_random_below(&r, sizeof bytes);
        for (size_t k = 0; k < n; k++)
            bytes[k] = (char)gf_random_below(&r, gf_random_below(&r, 2) ? 6 : 256);
        gf_packed_reader reader = {.family = &family, .rest = gf_slice_of(bytes, n)};
        gf_column c;
        gf_status st = GF_OK;
        for (size_t steps = 0; st == GF_OK; steps++) {
            assert_in_range(steps, 0, n);
            st = gf_packed_next(&reader, &c, &err);
        }
        if (st != GF_ENOTFOUND) assert_int_equal(st, GF_ECORRUPT);
    }
}

static gf_status set_many(void *context, gf_error *err)
{
    (void)context;
    gf_arena arena = {0};
    gf_packed p = {.family = &family, .arena = &arena};
    static char names[100][8];
    gf_status st = GF_OK;
    for (int i = 99; i >= 0 && st == GF_OK; i--) {
        snprintf(names[i], sizeof names[i], "c%02d", i);
        size_t n = p.n;
        st = gf_packed_set(&p, gf_slice_str(names[i]), GF_SLICE("v"), err);
        assert_int_equal(p.n, st == GF_OK ? n + 1 : n);
    }
    gf_arena_release(&arena);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(set_many, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_as_documented),
        cmocka_unit_test(sets_and_removes),
        cmocka_unit_test(equals_a_plain_list),
        cmocka_unit_test(many_in_falling_order),
        cmocka_unit_test(reads_what_an_older_schema_wrote),
        cmocka_unit_test(refuses_hostile_bytes),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("packed", tests, NULL, NULL);
}
