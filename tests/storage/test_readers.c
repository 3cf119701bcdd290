/* Waiting for readers: for those of the moment, and for no others. */
#include "support/test.h"

#include "base/condition.h"
#include "storage/leveldb/internal.h"

static bool pass(gf_leveldb_readers *r)
{
    struct timespec until = gf_condition_deadline(20);
    return gf_leveldb_readers_pass(r, &until);
}

static void readers_are_waited_for(void **state)
{
    (void)state;
    gf_leveldb_readers r;
    gf_leveldb_readers_init(&r);
    assert_true(pass(&r));
    unsigned first = gf_leveldb_readers_begin(&r);
    assert_false(pass(&r));
    unsigned second = gf_leveldb_readers_begin(&r); /* behind the first wait, before the next */
    assert_int_not_equal(first, second);
    assert_false(pass(&r));
    gf_leveldb_readers_end(&r, first);
    assert_false(pass(&r)); /* the second was there when it began */
    unsigned third = gf_leveldb_readers_begin(&r);
    gf_leveldb_readers_end(&r, second);
    assert_false(pass(&r));
    gf_leveldb_readers_end(&r, third);
    assert_true(pass(&r));
    gf_leveldb_readers_release(&r);
}

typedef struct reading {
    gf_leveldb_readers *readers;
    bool *stop;
} reading;

/* Readers without an end, one after another, two at a time: each wait still passes. */
static void *read_all_the_time(void *context)
{
    const reading *mine = context;
    unsigned side = gf_leveldb_readers_begin(mine->readers);
    while (!__atomic_load_n(mine->stop, __ATOMIC_RELAXED)) {
        unsigned next = gf_leveldb_readers_begin(mine->readers);
        gf_leveldb_readers_end(mine->readers, side);
        side = next;
    }
    gf_leveldb_readers_end(mine->readers, side);
    return NULL;
}

static void newcomers_are_not(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    gf_leveldb_readers r;
    bool stop = false;
    reading context = {&r, &stop};
    pthread_t threads[THREADS];
    gf_leveldb_readers_init(&r);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_all_the_time, &context), 0);
    for (int i = 0; i < 50; i++) {
        struct timespec until = gf_condition_deadline(60000);
        assert_true(gf_leveldb_readers_pass(&r, &until));
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(r.n[0] + r.n[1], 0);
    gf_leveldb_readers_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_are_waited_for),
        cmocka_unit_test(newcomers_are_not),
    };
    return cmocka_run_group_tests_name("readers", tests, NULL, NULL);
}
