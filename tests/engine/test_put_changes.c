/*
 * What counts as a change: the same again does not, nor does what is put and deleted at once; of
 * several documents of one id the last does, however far apart they come.
 */
#include "tests/engine/fixture.h"

#include "base/clock.h"

#include <stdlib.h>

/* ---- by hand --------------------------------------------------------------------------------- */

static void the_same_again_changes_nothing(void **state)
{
    (void)state;
    fixture f;
    gf_buffer before = {0}, after = {0};
    fixture_open(&f);
    fixture_put_posts(&f, "posts", 50);
    fixture_dump(&f, &before);
    fixture_put_posts(&f, "posts", 50);
    fixture_dump(&f, &after);
    assert_int_equal(after.len, before.len);
    assert_memory_equal(after.ptr, before.ptr, before.len);
    fixture_collection c = fixture_read(&f, "posts");
    assert_int_equal(c.size, 50);
    assert_int_equal(c.seq, 50);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    fixture_close(&f);
}

static void modified_is_the_time_of_the_change(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    assert_ok(gf_collection_create(f.store, fixture_place("c"), &err));
    assert_int_equal(fixture_read(&f, "c").modified, 0);
    assert_status(GF_EEXISTS, gf_collection_create(f.store, fixture_place("c"), &err));
    int64_t before = gf_clock_ms();
    fixture_put(&f, "c", "1", "text");
    fixture_collection c = fixture_read(&f, "c");
    assert_true(c.modified >= before && c.modified <= gf_clock_ms());
    while (gf_clock_ms() <= c.modified) {
    }
    fixture_put(&f, "c", "1", "text");
    fixture_delete(&f, "c", "2");
    assert_int_equal(fixture_read(&f, "c").modified, c.modified);
    fixture_delete(&f, "c", "1");
    assert_true(fixture_read(&f, "c").modified > c.modified);
    /* Put and deleted at once: a collection is made in which nothing was ever there. */
    gf_put *put;
    gf_document d = {.id = GF_SLICE("1"), .text = GF_SLICE("text")};
    assert_ok(gf_put_open(f.store, &GF_PUT_OPTIONS(.name_space = GF_SLICE("test")), &put, &err));
    assert_ok(gf_put_document(put, GF_SLICE("new"), &d, &err));
    assert_ok(gf_put_delete(put, GF_SLICE("new"), d.id, &err));
    assert_ok(gf_put_flush(put, &err));
    gf_put_close(put);
    c = fixture_read(&f, "new");
    assert_true(c.size == 0 && c.seq == 0 && c.modified == 0);
    fixture_close(&f);
}

/* ---- ids that come several times ------------------------------------------------------------- */

enum { MANY = 3000, OFTEN = 3 };

/* Documents 0, 1, 2, ... in each of OFTEN versions; not flushed. */
static gf_put *put_often(fixture *f, bool by_version)
{
    gf_error err;
    gf_put *put;
    assert_ok(gf_put_open(f->store, &GF_PUT_OPTIONS(.name_space = GF_SLICE("test")), &put, &err));
    for (int i = 0; i < MANY * OFTEN; i++) {
        char id[16], text[32];
        int number = by_version ? i % MANY : i / OFTEN;
        int version = by_version ? i / MANY : i % OFTEN;
        gf_document d = {.id = gf_slice_of(id, (size_t)snprintf(id, sizeof id, "%d", number))};
        d.text = gf_slice_of(text, (size_t)snprintf(text, sizeof text, "%d.%d", number, version));
        assert_ok(gf_put_document(put, GF_SLICE("c"), &d, &err));
    }
    return put;
}

static void expect_often(fixture *f, bool by_version, uint64_t created, uint64_t changed)
{
    gf_error err;
    gf_put *put = put_often(f, by_version);
    assert_ok(gf_put_flush(put, &err));
    gf_put_counts counts = gf_put_counted(put);
    assert_int_equal(counts.created, created);
    assert_int_equal(counts.changed, changed);
    assert_int_equal(counts.unchanged, MANY * OFTEN - created - changed);
    gf_put_close(put);
}

/*
 * Of several of one id the last counts, whether they come together or thousands apart: put again
 * they change nothing. What was cut short goes on where it is put again.
 */
static void the_last_of_an_id_counts(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    for (int by_version = 0; by_version < 2; by_version++) {
        expect_often(&f, by_version, MANY, MANY);
        fixture_collection before = fixture_read(&f, "c");
        expect_often(&f, by_version, 0, 0);
        expect_often(&f, !by_version, 0, 0);
        fixture_collection after = fixture_read(&f, "c");
        assert_int_equal(after.seq, before.seq);
        assert_int_equal(after.modified, before.modified);
        assert_ok(gf_collection_delete(f.store, fixture_place("c"), &err));
    }
    gf_put_close(put_often(&f, true));
    expect_often(&f, true, 0, MANY);
    expect_often(&f, true, 0, 0);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* Changes of more than are held back: they are written on the way. */
static void many_changes_are_written(void **state)
{
    (void)state;
    enum { LARGE = 4 << 20, N = 20 };
    fixture f;
    gf_error err;
    gf_put *put;
    char *text = malloc(LARGE);
    assert_non_null(text);
    fixture_open(&f);
    for (int round = 0; round < 2; round++) {
        memset(text, 'a' + round, LARGE);
        assert_ok(
            gf_put_open(f.store, &GF_PUT_OPTIONS(.name_space = GF_SLICE("test")), &put, &err));
        for (int i = 0; i < N; i++) {
            char id[16];
            gf_document d = {.id = gf_slice_of(id, (size_t)snprintf(id, sizeof id, "%d", i)),
                             .text = gf_slice_of(text, LARGE)};
            assert_ok(gf_put_document(put, GF_SLICE("c"), &d, &err));
        }
        gf_put_counts counts = gf_put_counted(put);
        if (round) assert_int_equal(counts.changed, 16);
        assert_ok(gf_put_flush(put, &err));
        counts = gf_put_counted(put);
        assert_int_equal(round ? counts.changed : counts.created, N);
        gf_put_close(put);
    }
    free(text);
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_again_changes_nothing),
        cmocka_unit_test(modified_is_the_time_of_the_change),
        cmocka_unit_test(the_last_of_an_id_counts),
        cmocka_unit_test(many_changes_are_written),
    };
    return cmocka_run_group_tests_name("put_changes", tests, NULL, NULL);
}
