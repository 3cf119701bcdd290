/*
 * While one half of a put is written the other is collected: what is there, and counted, where the
 * put is not flushed, where others put as well, and where the writer fails.
 */
#include "tests/engine/fixture.h"

enum { AT_ONCE = 4000 }; /* documents that are written together */

static void put_numbers(gf_put *put, const char *collection, int from, int to, const char *text)
{
    gf_error err;
    for (int i = from; i < to; i++) {
        char id[16];
        gf_document d = {.id = gf_slice_of(id, (size_t)snprintf(id, sizeof id, "%d", i)),
                         .text = gf_slice_str(text)};
        assert_ok(gf_put_document(put, gf_slice_str(collection), &d, &err));
    }
}

static gf_put *open_put(fixture *f, uint32_t max_collections)
{
    gf_error err;
    gf_put *put;
    gf_put_options o =
        GF_PUT_OPTIONS(.name_space = GF_SLICE("test"), .max_collections = max_collections);
    assert_ok(gf_put_open(f->store, &o, &put, &err));
    return put;
}

/* What is collected is written by the thousands, and forgotten where it was not flushed. */
static void only_what_is_counted_is_there(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    gf_put *put = open_put(&f, 0);
    put_numbers(put, "c", 0, 2 * AT_ONCE + 500, "x");
    gf_put_counts counts = gf_put_counted(put);
    assert_int_equal(counts.created, AT_ONCE); /* the second half may be under way */
    assert_int_equal(counts.collections, 1);
    gf_put_close(put);
    assert_int_equal(fixture_read(&f, "c").size, 2 * AT_ONCE);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* While one half is written the other is collected: counts are those of documents one by one. */
static void what_was_put_before_is_known(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    gf_put *put = open_put(&f, 0), *other = open_put(&f, 0);
    put_numbers(put, "c", 0, AT_ONCE + 10, "x");
    put_numbers(put, "c", 0, AT_ONCE, "x"); /* the same again, after they were written or not */
    put_numbers(put, "c", 5, 15, "y");
    assert_ok(gf_put_flush(put, &err));
    gf_put_counts counts = gf_put_counted(put);
    assert_int_equal(counts.created, AT_ONCE + 10);
    assert_int_equal(counts.unchanged, AT_ONCE);
    assert_int_equal(counts.changed, 10);
    put_numbers(other, "c", 90000, 90020, "z"); /* of which the first put knows nothing */
    assert_ok(gf_put_delete(other, GF_SLICE("c"), GF_SLICE("7"), &err));
    assert_ok(gf_put_flush(other, &err));
    put_numbers(put, "c", 89990, 90010, "z");
    put_numbers(put, "c", 7, 8, "y");
    assert_ok(gf_put_flush(put, &err));
    counts = gf_put_counted(put);
    assert_int_equal(counts.created, AT_ONCE + 10 + 10 + 1);
    assert_int_equal(counts.unchanged, AT_ONCE + 10);
    assert_int_equal(fixture_read(&f, "c").size, AT_ONCE + 40);
    gf_put_close(put);
    gf_put_close(other);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* A failure of what was handed over is told at the next chance, and ends the put. */
static void a_failure_of_the_writer_is_told(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    gf_put *put = open_put(&f, 1);
    put_numbers(put, "one", 0, AT_ONCE, "x");
    put_numbers(put, "one", 0, AT_ONCE - 1, "y");
    put_numbers(put, "two", 0, 1, "x"); /* fills the second half, which cannot be written */
    assert_status(GF_ELIMIT, gf_put_flush(put, &err));
    assert_non_null(strstr(err.message, "more than 1 collections"));
    assert_false(gf_put_is_good(put));
    assert_int_equal(gf_put_counted(put).created, AT_ONCE);
    assert_int_equal(gf_put_counted(put).changed, 0);
    gf_put_close(put);
    assert_int_equal(fixture_read(&f, "one").size, AT_ONCE);
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_counted_is_there),
        cmocka_unit_test(what_was_put_before_is_known),
        cmocka_unit_test(a_failure_of_the_writer_is_told),
    };
    return cmocka_run_group_tests_name("put_writer", tests, NULL, NULL);
}
