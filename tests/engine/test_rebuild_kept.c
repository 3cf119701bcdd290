/* The times of builds, how many of them are kept, and what a deletion leaves. */
#include "tests/engine/fixture.h"

#include "base/clock.h"
#include "engine/rows/scan.h"
#include "engine/store/store_internal.h"

#include <inttypes.h>

static void hundred_rebuilds_are_told_apart(void **state)
{
    (void)state;
    fixture f;
    int64_t last = 0;
    fixture_open(&f);
    fixture_put(&f, "c", "first", "the first document");
    for (int i = 0; i < 100; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        fixture_put(&f, "c", id, i % 2 ? "some words" : "other things");
        gf_build_info b = fixture_rebuild(&f, "c");
        assert_true(b.build > last);
        assert_int_equal(b.documents, 2 + i);
        assert_int_equal(b.seq, 2 + i);
        last = b.build;
        assert_int_equal(fixture_read(&f, "c").served, last);
    }
    fixture_check_served(&f, "c", 101);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* As after a clock that went an hour ahead and was set right: a build of then is there. */
static void copy_build_to(fixture *f, int64_t from, int64_t to)
{
    gf_error err;
    gf_batch *batch;
    gf_row row = {0};
    gf_buffer key = {0};
    gf_table *builds = f->store->tables.builds;
    gf_tables_build_key(&key, GF_SLICE("test"), GF_SLICE("c"), fixture_default(), from);
    assert_ok(gf_table_get(builds, NULL, gf_buffer_view(&key), 1U << GF_BUILDS_MAIN, &row, &err));
    gf_buffer_reset(&key);
    gf_tables_build_key(&key, GF_SLICE("test"), GF_SLICE("c"), fixture_default(), to);
    assert_ok(gf_batch_create(f->store->db, &batch, &err));
    for (size_t i = 0; i < row.n_cells; i++)
        gf_batch_put(batch, builds, gf_buffer_view(&key), GF_BUILDS_MAIN, row.cells[i].qualifier,
                     row.cells[i].value, 0);
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_row_release(&row);
    gf_buffer_release(&key);
}

static void times_rise_though_the_clock_goes_back(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    int64_t first = fixture_rebuild(&f, "c").build, ahead = gf_clock_ms() + 3600000;
    copy_build_to(&f, first, ahead);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(fixture_rebuild(&f, "c").build, ahead + i);
    assert_int_equal(fixture_check_served(&f, "c", 12), ahead + 3);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void check_kept(fixture *f, size_t keep, int64_t *made, size_t n)
{
    int64_t builds[64];
    assert_int_equal(fixture_builds(f, "c", "default", builds), keep < n ? keep : n);
    for (size_t i = 0; i < n; i++) {
        bool kept = i + keep >= n;
        if (kept) assert_int_equal(builds[n - 1 - i], made[i]);
        uint64_t entries = fixture_count_build(f, "c", "default", made[i]);
        if (kept != (entries > 0)) fail_msg("%" PRIu64 " entries of build %zu", entries, i);
    }
}

static void so_many_builds_are_kept(void **state)
{
    (void)state;
    static const size_t keeps[] = {2, 1, 5, 3};
    fixture f;
    gf_error err;
    int64_t made[64];
    size_t n = 0;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    for (size_t i = 0; i < 4; i++) {
        char text[8];
        snprintf(text, sizeof text, "%zu", keeps[i]);
        fixture_set(&f, "c", "default", "keep", text);
        size_t there = i ? keeps[i - 1] : 0;
        for (size_t j = 0; j < 7; j++) {
            made[n++] = fixture_rebuild(&f, "c").build;
            there = there + 1 < keeps[i] ? there + 1 : keeps[i];
            check_kept(&f, there, made, n);
        }
    }
    for (size_t i = n - 3; i < n; i++) { /* each can be read */
        gf_view *view;
        uint64_t memberships;
        assert_ok(
            gf_view_open(f.store, fixture_place("c"), fixture_default(), made[i], &view, &err));
        assert_null(fixture_fault_of(view, &memberships));
        assert_int_equal(gf_view_build(view)->served, i + 1 == n);
        gf_view_close(view);
    }
    gf_view *none;
    assert_status(GF_ENOTFOUND, gf_view_open(f.store, fixture_place("c"), fixture_default(),
                                             made[0], &none, &err));
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void a_deleted_configuration_leaves_nothing(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer before = {0};
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1);
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "3"); /* so that the settings column stays */
    fixture_rebuild(&f, "c");
    fixture_dump(&f, &before);
    fixture_set(&f, "c", "default!", "k", "2");
    for (int i = 0; i < 2; i++)
        assert_ok(gf_rebuild(f.store, fixture_place("c"), GF_SLICE("default!"), &o, &result, &err));
    assert_ok(gf_configuration_delete(f.store, fixture_place("c"), GF_SLICE("default!"), &err));
    fixture_same_dump(&f, &before, "deleted");
    assert_status(GF_ENOTFOUND,
                  gf_configuration_delete(f.store, fixture_place("c"), GF_SLICE("default!"), &err));
    assert_ok(gf_configuration_delete(f.store, fixture_place("c"), fixture_default(), &err));
    assert_int_equal(fixture_read(&f, "c").served, 0);
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_MADE);
    fixture_is_sound(&f);
    gf_buffer_release(&before);
    fixture_close(&f);
}

static void a_deleted_collection_leaves_nothing(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer before = {0};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_put_subjects(&f, "c1");
    fixture_rebuild(&f, "c1");
    fixture_rebuild(&f, "c");
    fixture_delete(&f, "c", "000");
    assert_ok(gf_collection_delete(f.store, fixture_place("c1"), &err));
    assert_status(GF_ENOTFOUND, gf_collection_delete(f.store, fixture_place("c1"), &err));
    fixture_dump(&f, &before);
    fixture_put_subjects(&f, "c1");
    fixture_rebuild(&f, "c1");
    fixture_delete(&f, "c1", "003");
    assert_ok(gf_collection_delete(f.store, fixture_place("c1"), &err));
    fixture_same_dump(&f, &before, "deleted");
    fixture_check_served(&f, "c", 11);
    fixture_is_sound(&f);
    gf_buffer_release(&before);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hundred_rebuilds_are_told_apart),
        cmocka_unit_test(times_rise_though_the_clock_goes_back),
        cmocka_unit_test(so_many_builds_are_kept),
        cmocka_unit_test(a_deleted_configuration_leaves_nothing),
        cmocka_unit_test(a_deleted_collection_leaves_nothing),
    };
    return cmocka_run_group_tests_name("rebuild_kept", tests, NULL, NULL);
}
