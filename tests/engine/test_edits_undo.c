/* Edits that are taken back. */
#include "tests/engine/fixture_edits.h"

#include "engine/config/edits.h"
#include "engine/store/store_internal.h"

#include <stdio.h>
#include <string.h>

static void undo_restores_every_byte(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    bool waits;
    gf_buffer before = {0}, after = {0};
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_set(&f, "c", "default", "k", "8");
    fixture_rebuild(&f, "c");
    fixture_put_titles(&f);
    fixture_say(&f, &before);
    assert_non_null(strstr(gf_buffer_cstr(&before), "title=title 5 of model"));
    assert_ok(fixture_try_merge(&f, 2, 5, &err));
    assert_ok(fixture_try_split(&f, 1, 3, &err));
    assert_ok(fixture_try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_HIDE, .cluster = 3), &err));
    gf_pair set = {GF_SLICE("status"), GF_SLICE("planned")};
    assert_ok(fixture_try_edit(
        &f, &GF_EDIT_REQUEST(.kind = GF_EDIT_STATE, .cluster = 4, .set = &set, .n_set = 1), &err));
    assert_ok(fixture_try_edit(
        &f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LABEL, .cluster = 4, .text = GF_SLICE("four")), &err));
    fixture_is_sound(&f);
    /* The first one is taken out from under the second, which is made again under its number. */
    assert_ok(fixture_try_undo(&f, 1, &waits, &err));
    assert_false(waits);
    fixture_is_sound(&f);
    for (int i = 0; i < 4; i++)
        assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    fixture_say(&f, &after);
    fixture_same(&before, &after);
    assert_status(GF_ENOTFOUND, fixture_try_undo(&f, 0, &waits, &err));
    fixture_is_sound(&f);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    fixture_close(&f);
}

/* What a merge or a split did is undone by the next rebuild, with the ids of before, also beside other edits. */
static void undo_after_a_rebuild_is_done_by_the_next(void **state)
{
    (void)state;
    for (int splits = 0; splits < 2; splits++) {
        fixture f;
        gf_error err;
        fixture_edits l;
        bool waits = false;
        fixture_open_subjects(&f);
        uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004"),
                 c = fixture_place_of(&f, "008");
        if (splits)
            assert_ok(fixture_try_split(&f, a, 2, &err));
        else
            assert_ok(fixture_try_merge(&f, c, b, &err));
        fixture_rebuild_from(&f, GF_START_SERVED);
        assert_ok(fixture_try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_HIDE, .cluster = c), &err));
        assert_ok(fixture_try_undo(&f, 1, &waits, &err));
        assert_true(waits);
        fixture_list_edits(&f, &l);
        assert_int_equal(l.n, 1);
        fixture_is_sound(&f);
        for (int again = 0; again < 2; again++) {
            fixture_rebuild_from(&f, GF_START_SERVED);
            for (int d = 0; d < 12; d++) {
                char id[8];
                snprintf(id, sizeof id, "%03d", d);
                assert_int_equal(fixture_place_of(&f, id), d < 4 ? a : d < 8 ? b : c);
            }
            fixture_is_sound(&f);
        }
        fixture_list_edits(&f, &l);
        assert_int_equal(l.n, 1);
        assert_string_equal(l.lost[0], "");
        fixture_close(&f);
    }
}

/* Six parts need the documents of both clusters: without the merge the split is told as lost. */
static void a_later_edit_that_cannot_be_made_again_is_told(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_edits l;
    gf_buffer before = {0}, after = {0};
    bool waits;
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004"),
             c = fixture_place_of(&f, "008");
    fixture_say(&f, &before);
    assert_ok(fixture_try_merge(&f, a, b, &err));
    assert_ok(fixture_try_split(&f, a, 6, &err));
    assert_ok(fixture_try_move(&f, "009", a, &err));
    fixture_list_edits(&f, &l);
    assert_ok(fixture_try_undo(&f, l.at[0].number, &waits, &err));
    assert_false(waits);
    fixture_list_edits(&f, &l);
    assert_int_equal(l.n, 2);
    assert_non_null(strstr(l.lost[0], "documents"));
    assert_string_equal(l.lost[1], "");
    assert_int_equal(fixture_place_of(&f, "009"), a);
    assert_int_equal(fixture_place_of(&f, "005"), b);
    fixture_is_sound(&f);
    /* It can be taken back, and changes nothing; the move is made again once more. */
    assert_ok(fixture_try_undo(&f, l.at[0].number, &waits, &err));
    assert_int_equal(fixture_place_of(&f, "009"), a);
    assert_int_equal(fixture_place_of(&f, "010"), c);
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    fixture_say(&f, &after);
    fixture_same(&before, &after);
    fixture_is_sound(&f);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    fixture_close(&f);
}

static void try_set(fixture *f, uint32_t cluster, const char *name, const char *value)
{
    gf_error err;
    gf_pair set = {gf_slice_str(name), gf_slice_str(value)};
    assert_ok(fixture_try_edit(
        f, &GF_EDIT_REQUEST(.kind = GF_EDIT_STATE, .cluster = cluster, .set = &set, .n_set = 1),
        &err));
}

static void undo_of_set_is_by_field(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    bool waits;
    gf_buffer said = {0};
    fixture_open_subjects(&f);
    try_set(&f, 1, "status", "planned");
    try_set(&f, 1, "owner", "ann");
    try_set(&f, 1, "status", "done");
    assert_ok(fixture_try_undo(&f, 1, &waits, &err)); /* done stays; before it there was none */
    fixture_say(&f, &said);
    assert_non_null(strstr(gf_buffer_cstr(&said), "status=done owner=ann"));
    assert_ok(fixture_try_undo(&f, 3, &waits, &err));
    fixture_say(&f, &said);
    assert_non_null(strstr(gf_buffer_cstr(&said), "status= owner=ann"));
    try_set(&f, 1, "status", "planned");
    assert_ok(fixture_try_undo(&f, 2, &waits, &err));
    fixture_say(&f, &said);
    assert_non_null(strstr(gf_buffer_cstr(&said), "status=planned owner= "));
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    fixture_say(&f, &said);
    assert_null(strstr(gf_buffer_cstr(&said), "status="));
    gf_buffer_release(&said);
    fixture_close(&f);
}

static void delete_before(fixture *f, uint64_t number)
{
    gf_error err;
    gf_batch *batch;
    assert_ok(gf_batch_create(f->store->db, &batch, &err));
    assert_ok(gf_edits_delete_before(f->store, fixture_place("c"), fixture_default(), number, batch,
                                     &err));
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
}

static void undo_says_what_it_cannot_do(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    bool waits;
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004"),
             c = fixture_place_of(&f, "008");
    /* A document is kept where it was moved. */
    assert_ok(fixture_try_move(&f, "001", b, &err));
    assert_ok(fixture_try_edit(
        &f, &GF_EDIT_REQUEST(.kind = GF_EDIT_KEEP, .document = GF_SLICE("001")), &err));
    assert_status(GF_ECONFLICT, fixture_try_undo(&f, 1, &waits, &err));
    assert_non_null(strstr(err.message, "edit 2 keeps it there: undo 2 first"));
    assert_ok(fixture_try_undo(&f, 2, &waits, &err));
    assert_ok(fixture_try_undo(&f, 1, &waits, &err));
    assert_int_equal(fixture_place_of(&f, "001"), a);
    /* A document is kept in the cluster that a merge brought it to. */
    assert_ok(fixture_try_merge(&f, a, b, &err));
    gf_edit_request keep = GF_EDIT_REQUEST(.kind = GF_EDIT_KEEP, .document = GF_SLICE("004"));
    assert_ok(fixture_try_edit(&f, &keep, &err));
    fixture_edits l;
    fixture_list_edits(&f, &l);
    assert_status(GF_ECONFLICT, fixture_try_undo(&f, l.at[0].number, &waits, &err));
    assert_non_null(strstr(err.message, "document \"004\" would go back to cluster"));
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    keep.document = GF_SLICE("000"); /* which was there before */
    assert_ok(fixture_try_edit(&f, &keep, &err));
    assert_ok(fixture_try_undo(&f, l.at[0].number, &waits, &err));
    assert_int_equal(fixture_place_of(&f, "000"), a);
    assert_int_equal(fixture_place_of(&f, "004"), b);
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    /* Another cluster got the label meanwhile. */
    assert_ok(fixture_try_edit(
        &f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LABEL, .cluster = b, .text = GF_SLICE("Baking")),
        &err));
    assert_ok(fixture_try_merge(&f, a, b, &err));
    assert_ok(fixture_try_edit(
        &f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LABEL, .cluster = c, .text = GF_SLICE("baking")),
        &err));
    fixture_list_edits(&f, &l);
    assert_status(GF_ECONFLICT, fixture_try_undo(&f, l.at[1].number, &waits, &err));
    assert_non_null(strstr(err.message, "Baking"));
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    assert_false(waits);
    assert_int_equal(fixture_place_of(&f, "004"), b);
    /* Where what was before is gone the next rebuild brings it back. */
    assert_ok(fixture_try_merge(&f, a, b, &err));
    fixture_list_edits(&f, &l);
    delete_before(&f, l.at[l.n - 1].number);
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    assert_true(waits);
    assert_int_equal(fixture_place_of(&f, "004"), a);
    fixture_rebuild_from(&f, GF_START_FRESH);
    assert_true(fixture_place_of(&f, "004") != fixture_place_of(&f, "000"));
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* The parts are others when a split is made again, behind a move that is taken back. */
static void a_document_is_kept_in_its_part_when_the_split_is_made_again(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    bool waits;
    fixture_open_subjects(&f);
    fixture_put(&f, "c", "012", "a car engine");
    fixture_put(&f, "c", "013", "brakes of a car");
    fixture_rebuild_from(&f, GF_START_SERVED);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004"),
             c = fixture_place_of(&f, "008");
    assert_ok(fixture_try_merge(&f, a, b, &err));
    static const char *const moved[] = {"000", "012", "013"};
    for (int i = 0; i < 3; i++)
        assert_ok(fixture_try_move(&f, moved[i], c, &err));
    assert_ok(fixture_try_split(&f, a, 2, &err));
    uint32_t part = fixture_place_of(&f, "001");
    assert_true(part != a); /* the larger part keeps the id */
    assert_ok(fixture_try_edit(
        &f, &GF_EDIT_REQUEST(.kind = GF_EDIT_KEEP, .document = GF_SLICE("001")), &err));
    for (uint64_t number = 2; number <= 4; number++)
        assert_ok(fixture_try_undo(&f, number, &waits, &err));
    assert_int_equal(fixture_place_of(&f, "002"), a);
    assert_int_equal(fixture_place_of(&f, "001"), part);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/*
 * A build of before is served, which has a merge whose fact was taken back elsewhere: what was before an earlier
 * split cannot be put back beside it, and waits for the rebuild.
 */
static void an_edit_below_one_that_was_forgotten_waits(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    bool waits;
    gf_buffer before = {0}, after = {0};
    fixture_open_subjects(&f);
    int64_t first = fixture_read(&f, "c").served;
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004"),
             c = fixture_place_of(&f, "008");
    assert_ok(fixture_try_split(&f, c, 2, &err));
    assert_ok(fixture_try_merge(&f, a, b, &err));
    fixture_rebuild_from(&f, GF_START_SERVED);
    assert_ok(fixture_try_undo(&f, 2, &waits, &err));
    assert_true(waits);
    assert_ok(gf_pin_publish(f.store, fixture_place("c"), fixture_default(), first, &err));
    fixture_say(&f, &before);
    assert_ok(fixture_try_undo(&f, 1, &waits, &err));
    assert_true(waits);
    fixture_say(&f, &after);
    fixture_same(&before, &after);
    fixture_is_sound(&f);
    fixture_rebuild_from(&f, GF_START_SERVED);
    assert_int_equal(fixture_place_of(&f, "000"), a);
    assert_int_equal(fixture_place_of(&f, "004"), b);
    assert_int_equal(fixture_place_of(&f, "008"), c);
    fixture_is_sound(&f);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undo_restores_every_byte),
        cmocka_unit_test(undo_after_a_rebuild_is_done_by_the_next),
        cmocka_unit_test(a_later_edit_that_cannot_be_made_again_is_told),
        cmocka_unit_test(undo_of_set_is_by_field),
        cmocka_unit_test(undo_says_what_it_cannot_do),
        cmocka_unit_test(a_document_is_kept_in_its_part_when_the_split_is_made_again),
        cmocka_unit_test(an_edit_below_one_that_was_forgotten_waits),
    };
    return cmocka_run_group_tests_name("edits_undo", tests, NULL, NULL);
}
