/* Every allocation of an edit, of its undoing and of a rebuild that obeys it may fail. */
#include "tests/engine/fixture.h"

#include "base/memory.h"

static gf_status try_edit(fixture *f, const gf_edit_request *r, gf_error *err)
{
    return gf_edit_make(f->store, fixture_place("c"), fixture_default(), r, NULL, NULL, err);
}

static gf_status undo_all(fixture *f, gf_error *err)
{
    gf_status st = GF_OK;
    while (st == GF_OK)
        st =
            gf_edit_undo(f->store, fixture_place("c"), fixture_default(), 0, NULL, NULL, NULL, err);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status merge(void *context, gf_error *err)
{
    fixture *f = context;
    gf_status st = undo_all(f, err);
    if (st == GF_OK)
        st = try_edit(f,
                      &GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = 1,
                                       .others = (const uint32_t[]){2}, .n_others = 1),
                      err);
    return st;
}

static gf_status split(void *context, gf_error *err)
{
    fixture *f = context;
    gf_status st = undo_all(f, err);
    if (st == GF_OK)
        st = try_edit(f, &GF_EDIT_REQUEST(.kind = GF_EDIT_SPLIT, .cluster = 1, .parts = 2), err);
    return st;
}

static gf_status move_and_lock(void *context, gf_error *err)
{
    fixture *f = context;
    gf_status st = undo_all(f, err);
    if (st == GF_OK)
        st = try_edit(
            f, &GF_EDIT_REQUEST(.kind = GF_EDIT_MOVE, .cluster = 3, .document = GF_SLICE("000")),
            err);
    if (st == GF_OK) st = try_edit(f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .cluster = 3), err);
    return st;
}

static gf_status rebuild_edited(void *context, gf_error *err)
{
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1, .start = GF_START_FRESH);
    gf_status st = fixture_try_rebuild(context, "c", &o, &result, err);
    /* Rows of old builds that are left once the new one is published go with the next write. */
    bool published = st == GF_OK && gf_memory_failed() && result.outcome == GF_REBUILD_MADE;
    return published ? gf_fail_memory(err, "old builds") : st;
}

static void sweep(gf_sweep_call *call, bool edited)
{
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "3");
    fixture_rebuild(&f, "c");
    if (edited) {
        assert_ok(move_and_lock(&f, &err));
        assert_ok(try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_SPLIT, .cluster = 1), &err));
    }
    gf_test_sweep(call, NULL, &f);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void failed_allocations_of_a_merge_are_told(void **state)
{
    (void)state;
    sweep(merge, false);
}

static void failed_allocations_of_a_split_are_told(void **state)
{
    (void)state;
    sweep(split, false);
}

static void failed_allocations_of_a_move_are_told(void **state)
{
    (void)state;
    sweep(move_and_lock, false);
}

static void failed_allocations_of_a_rebuild_are_told(void **state)
{
    (void)state;
    sweep(rebuild_edited, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_allocations_of_a_merge_are_told),
        cmocka_unit_test(failed_allocations_of_a_split_are_told),
        cmocka_unit_test(failed_allocations_of_a_move_are_told),
        cmocka_unit_test(failed_allocations_of_a_rebuild_are_told),
    };
    return cmocka_run_group_tests_name("edits_sweep", tests, NULL, NULL);
}
