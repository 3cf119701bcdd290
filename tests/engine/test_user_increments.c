/* Increments of cells of users' tables: by several threads at once, and to the ends of a type. */
#include "tests/engine/fixture.h"

#include <pthread.h>

static const gf_slice space = {"test", 4};
#define S(text) gf_slice_str(text)

typedef struct adder {
    gf_store *store;
    const char *column;
    int times;
} adder;

static void *add(void *context)
{
    adder *a = context;
    gf_error err = {GF_OK, ""};
    gf_user_table *t;
    gf_buffer key = {0}, sum = {0};
    gf_slice part = S("u1");
    bool good = gf_user_table_open(a->store, space, S("people"), &t, &err) == GF_OK &&
                gf_user_table_key_write(t, &part, 1, &key, &err) == GF_OK;
    for (int i = 0; i < a->times && good; i++)
        good = gf_user_table_increment(t, gf_buffer_view(&key), FIXTURE_INFO, S(a->column), 1, &sum,
                                       &err) == GF_OK;
    gf_user_table_close(t);
    gf_buffer_release(&key);
    gf_buffer_release(&sum);
    return good ? a : NULL;
}

static void increments(void **state)
{
    (void)state;
    enum { THREADS = 4, TIMES = 25 };
    fixture f;
    gf_error err;
    pthread_t threads[THREADS];
    fixture_open(&f);
    gf_user_table *t = fixture_make_table(&f, "people", fixture_people);
    gf_buffer key = {0}, sum = {0};
    gf_slice part = S("u1");
    assert_ok(gf_user_table_key_write(t, &part, 1, &key, &err));
    gf_slice row = gf_buffer_view(&key);
    adder a = {f.store, "age", TIMES};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add, &a), 0);
    for (int i = 0; i < THREADS; i++) {
        void *good;
        pthread_join(threads[i], &good);
        assert_non_null(good);
    }
    assert_ok(gf_user_table_increment(t, row, FIXTURE_INFO, S("age"), -200, &sum, &err));
    assert_slice(gf_buffer_view(&sum), "-100");

    static const struct {
        const char *column, *first;
        int64_t delta;
        gf_status status;
        const char *sum;
    } all[] = {{"age", "9223372036854775807", 1, GF_ELIMIT, NULL},
               {"age", "-9223372036854775808", -1, GF_ELIMIT, NULL},
               {"age", "-9223372036854775808", INT64_MAX, GF_OK, "-1"},
               {"visits", "18446744073709551614", 1, GF_OK, "18446744073709551615"},
               {"visits", "18446744073709551615", 1, GF_ELIMIT, NULL},
               {"visits", "5", -5, GF_OK, "0"},
               {"visits", "5", -6, GF_ELIMIT, NULL},
               {"visits", "9223372036854775808", INT64_MIN, GF_OK, "0"},
               {"name", "41", 1, GF_OK, "42"},
               {"name", "x", 1, GF_EINVAL, NULL}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        fixture_put_cell(t, "u1", FIXTURE_INFO, all[i].column, all[i].first);
        gf_buffer_reset(&sum);
        assert_status(all[i].status, gf_user_table_increment(t, row, FIXTURE_INFO, S(all[i].column),
                                                             all[i].delta, &sum, &err));
        if (all[i].sum) assert_slice(gf_buffer_view(&sum), all[i].sum);
    }
    gf_buffer_release(&key);
    gf_buffer_release(&sum);
    gf_user_table_close(t);
    fixture_close(&f);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(increments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
