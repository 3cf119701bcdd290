/* Every allocation of an edit, of its undoing and of a rebuild that obeys it may fail. */
#include "tests/engine/fixture_edits.h"

#include "base/memory.h"

#include <stdio.h>

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
        st = fixture_try_edit(f,
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
        st = fixture_try_edit(f, &GF_EDIT_REQUEST(.kind = GF_EDIT_SPLIT, .cluster = 1, .parts = 2),
                              err);
    return st;
}

static gf_status move_and_lock(void *context, gf_error *err)
{
    fixture *f = context;
    gf_status st = undo_all(f, err);
    if (st == GF_OK)
        st = fixture_try_edit(
            f, &GF_EDIT_REQUEST(.kind = GF_EDIT_MOVE, .cluster = 3, .document = GF_SLICE("000")),
            err);
    if (st == GF_OK)
        st = fixture_try_edit(f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .cluster = 3), err);
    return st;
}

static gf_status name_and_flag(void *context, gf_error *err)
{
    fixture *f = context;
    gf_pair set = {GF_SLICE("status"), GF_SLICE("planned")};
    const gf_edit_request edits[] = {
        GF_EDIT_REQUEST(.kind = GF_EDIT_LABEL, .cluster = 1, .text = GF_SLICE("one")),
        GF_EDIT_REQUEST(.kind = GF_EDIT_STATE, .cluster = 1, .set = &set, .n_set = 1),
        GF_EDIT_REQUEST(.kind = GF_EDIT_HIDE, .cluster = 2),
        GF_EDIT_REQUEST(.kind = GF_EDIT_KEEP, .document = GF_SLICE("000"))};
    gf_status st = undo_all(f, err);
    for (size_t i = 0; i < sizeof edits / sizeof *edits && st == GF_OK; i++)
        st = fixture_try_edit(f, &edits[i], err);
    return st;
}

static gf_status note_number(void *context, const gf_edit *e, gf_error *err)
{
    (void)err;
    *(uint64_t *)context = e->number;
    return GF_OK;
}

/* A merge is taken out from under a move, which is made again. */
static gf_status undo_in_the_middle(void *context, gf_error *err)
{
    fixture *f = context;
    uint64_t number;
    gf_edit_request merge = GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = 1,
                                            .others = (const uint32_t[]){2}, .n_others = 1);
    gf_edit_request move =
        GF_EDIT_REQUEST(.kind = GF_EDIT_MOVE, .cluster = 3, .document = GF_SLICE("000"));
    gf_status st = undo_all(f, err);
    if (st == GF_OK)
        st = gf_edit_make(f->store, fixture_place("c"), fixture_default(), &merge, note_number,
                          &number, err);
    if (st == GF_OK) st = fixture_try_edit(f, &move, err);
    return st == GF_OK ? gf_edit_undo(f->store, fixture_place("c"), fixture_default(), number, NULL,
                                      NULL, NULL, err)
                       : st;
}

static gf_status rebuild_kept(void *context, gf_error *err)
{
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1, .same_rows = true);
    gf_status st = fixture_try_rebuild(context, "c", &o, &result, err);
    bool published = st == GF_OK && gf_memory_failed() && result.outcome == GF_REBUILD_MADE;
    return published ? gf_fail_memory(err, "old builds") : st;
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
    fixture_open_subjects(&f);
    if (edited) {
        assert_ok(move_and_lock(&f, &err));
        assert_ok(
            fixture_try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_SPLIT, .cluster = 1), &err));
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

static void failed_allocations_of_names_and_flags_are_told(void **state)
{
    (void)state;
    sweep(name_and_flag, false);
}

static void failed_allocations_of_an_undo_in_the_middle_are_told(void **state)
{
    (void)state;
    sweep(undo_in_the_middle, false);
}

/* Twelve rows of three columns, four near each. */
static void failed_allocations_of_edits_of_given_rows_are_told(void **state)
{
    (void)state;
    static gf_sweep_call *const calls[] = {merge, split, rebuild_kept};
    enum { ROWS = 12, COLUMNS = 3 };
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        fixture f;
        gf_error err;
        gf_rebuild_result result;
        char name[ROWS][8];
        gf_slice id[ROWS];
        float value[ROWS * COLUMNS];
        gf_matrix m = {.n_rows = ROWS, .n_cols = COLUMNS, .id = id, .dense = value};
        for (size_t i = 0; i < ROWS; i++) {
            snprintf(name[i], sizeof name[i], "%03zu", i);
            id[i] = gf_slice_str(name[i]);
            for (size_t j = 0; j < COLUMNS; j++)
                value[i * COLUMNS + j] =
                    (i / 4 == j ? 1.0F : 0.1F) + 0.01F * (float)((i * 7 + j) % 5);
        }
        fixture_open(&f);
        fixture_put_subjects(&f, "c");
        fixture_set(&f, "c", "default", "k", "3");
        gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1, .matrix = &m);
        assert_ok(fixture_try_rebuild(&f, "c", &o, &result, &err));
        if (calls[c] == rebuild_kept) {
            assert_ok(fixture_try_edit(
                &f,
                &GF_EDIT_REQUEST(.kind = GF_EDIT_MOVE, .cluster = 3, .document = GF_SLICE("000")),
                &err));
            assert_ok(
                fixture_try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_SPLIT, .cluster = 1), &err));
        }
        gf_test_sweep(calls[c], NULL, &f);
        fixture_is_sound(&f);
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_allocations_of_a_merge_are_told),
        cmocka_unit_test(failed_allocations_of_a_split_are_told),
        cmocka_unit_test(failed_allocations_of_a_move_are_told),
        cmocka_unit_test(failed_allocations_of_a_rebuild_are_told),
        cmocka_unit_test(failed_allocations_of_names_and_flags_are_told),
        cmocka_unit_test(failed_allocations_of_an_undo_in_the_middle_are_told),
        cmocka_unit_test(failed_allocations_of_edits_of_given_rows_are_told),
    };
    return cmocka_run_group_tests_name("edits_sweep", tests, NULL, NULL);
}
