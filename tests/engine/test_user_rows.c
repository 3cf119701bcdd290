/*
 * Walks over the rows of a user's table: random rows of both families; what a walk gives is
 * compared with what a get of each row gives.
 */
#include "tests/engine/fixture.h"

#include "base/random.h"
#include "engine/user_tables/user_tables_internal.h"

#include <stdlib.h>

#define S(text) gf_slice_str(text)

enum { ROWS = 40 };

static void name_of_row(char name[8], int i)
{
    snprintf(name, 8, "%c%02d", 'a' + i % 3, i);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Whether the row has an age, and how much. */
static bool age_of(const gf_row *row, int64_t *age)
{
    const gf_cell *c = gf_row_find(row, FIXTURE_INFO, "age");
    if (c) *age = (int64_t)gf_read_u64be(c->value.ptr);
    return c != NULL;
}

static void slow_answer(gf_user_table *t, const gf_rows_options *o, char names[ROWS][8],
                        const char *prefix, int64_t above, gf_buffer *out)
{
    gf_error err;
    uint64_t offset = o->offset, left = o->limit ? o->limit : UINT64_MAX;
    for (int n = 0; n < ROWS; n++) {
        const char *name = names[o->reverse ? ROWS - 1 - n : n];
        gf_row row = {0}, all = {0};
        gf_buffer key = {0};
        gf_slice part = S(name);
        int64_t age;
        if (strncmp(name, prefix, strlen(prefix)) != 0) continue;
        assert_ok(gf_user_table_key_write(t, &part, 1, &key, &err));
        gf_slice bytes = gf_buffer_view(&key);
        bool there =
            gf_table_get(t->rows, NULL, bytes, o->families ? o->families : 3u, &row, &err) == GF_OK;
        gf_table_get(t->rows, NULL, bytes, 3, &all, &err);
        bool met = !o->n_where || (age_of(&all, &age) && age > above);
        if (there && met && offset)
            offset--;
        else if (there && met && left) {
            left--;
            gf_buffer_format(out, "%s ", name);
            fixture_print_cells(t, &row, out);
        }
        gf_row_release(&row);
        gf_row_release(&all);
        gf_buffer_release(&key);
    }
}

static void walks(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    char names[ROWS][8], number[24], column[8];
    fixture_open(&f);
    gf_user_table *t = fixture_make_table(&f, "people", fixture_people);
    for (int i = 0; i < ROWS; i++) {
        name_of_row(names[i], i);
        snprintf(number, sizeof number, "%d", (int)gf_random_below(&r, 21) - 10);
        if (gf_random_below(&r, 3)) fixture_put_cell(t, names[i], FIXTURE_INFO, "age", number);
        if (gf_random_below(&r, 3)) fixture_put_cell(t, names[i], FIXTURE_INFO, "free", names[i]);
        for (uint64_t n = gf_random_below(&r, 5); n > 0; n--) {
            snprintf(column, sizeof column, "%d", (int)gf_random_below(&r, 100));
            fixture_put_cell(t, names[i], FIXTURE_LIST, column, number);
        }
    }
    qsort(names, ROWS, sizeof names[0], by_name);
    for (int i = 0; i < 300; i++) {
        static const char *const prefixes[] = {"", "a", "b", "c", "d", "b1"};
        const char *prefix = prefixes[gf_random_below(&r, 6)];
        int64_t above = (int64_t)gf_random_below(&r, 21) - 10;
        char demand[32];
        snprintf(demand, sizeof demand, "%s>%d", i % 2 ? "age" : "info:age", (int)above);
        gf_slice where = S(demand);
        gf_buffer key = {0}, slow = {0}, got = {0};
        gf_rows_options o =
            GF_ROWS_OPTIONS(.families = (uint32_t)gf_random_below(&r, 4), .where = &where,
                            .n_where = gf_random_below(&r, 2), .offset = gf_random_below(&r, 3),
                            .limit = gf_random_below(&r, 6), .reverse = gf_random_below(&r, 2));
        assert_ok(gf_user_table_key_start(t, 0, S(prefix), &key, &err));
        o.prefix = gf_buffer_view(&key);
        slow_answer(t, &o, names, prefix, above, &slow);
        fixture_print_rows(t, &o, &got);
        assert_slice(gf_buffer_view(&got), gf_buffer_cstr(&slow));
        gf_buffer_release(&key);
        gf_buffer_release(&slow);
        gf_buffer_release(&got);
    }
    gf_user_table_close(t);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
