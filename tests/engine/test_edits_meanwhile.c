/* Edits that are made or taken back while a rebuild runs. */
#include "tests/engine/fixture_edits.h"

#include <string.h>

static void merge_meanwhile(void *context, gf_place where, const char *phase, uint64_t done,
                            uint64_t total)
{
    fixture *f = context;
    gf_error err;
    (void)where, (void)done, (void)total;
    fixture_edits l;
    fixture_list_edits(f, &l);
    if (l.n || strcmp(phase, "naming clusters") != 0) return;
    assert_status(GF_EBUSY, fixture_try_split(f, fixture_place_of(f, "000"), 2, &err));
    assert_ok(fixture_try_merge(f, fixture_place_of(f, "000"), fixture_place_of(f, "004"), &err));
}

static void an_edit_made_while_a_rebuild_runs_is_in_it(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o =
        GF_REBUILD_OPTIONS(.force = true, .threads = 1, .progress = merge_meanwhile, .context = &f);
    fixture_open_subjects(&f);
    assert_ok(fixture_try_rebuild(&f, "c", &o, &result, &err));
    assert_int_equal(fixture_place_of(&f, "000"), fixture_place_of(&f, "004"));
    fixture_is_sound(&f);
    bool waits = true;
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    assert_false(waits);
    assert_true(fixture_place_of(&f, "000") != fixture_place_of(&f, "004"));
    fixture_is_sound(&f);
    fixture_close(&f);
}

typedef struct meanwhile {
    fixture *f;
    const gf_edit_request *edits; /* n, made once in the middle of a rebuild */
    size_t n;
} meanwhile;

static void edit_meanwhile(void *context, gf_place where, const char *phase, uint64_t done,
                           uint64_t total)
{
    meanwhile *m = context;
    gf_error err;
    (void)where, (void)done, (void)total;
    if (strcmp(phase, "naming clusters") != 0) return;
    for (size_t i = 0; i < m->n; i++)
        assert_ok(fixture_try_edit(m->f, &m->edits[i], &err));
    m->n = 0;
}

static void rebuild_and_edit(fixture *f, const gf_edit_request *edits, size_t n)
{
    gf_error err;
    gf_rebuild_result result;
    meanwhile m = {f, edits, n};
    gf_rebuild_options o =
        GF_REBUILD_OPTIONS(.force = true, .threads = 1, .context = &m, .progress = edit_meanwhile);
    assert_ok(fixture_try_rebuild(f, "c", &o, &result, &err));
    assert_int_equal(m.n, 0);
}

/* The new build cannot have the merge, as one of the clusters is gone there; it needs no move. */
static void undo_after_a_rebuild_leaves_the_new_build_alone(void **state)
{
    (void)state;
    for (int moves = 0; moves < 2; moves++) {
        fixture f;
        gf_error err;
        fixture_edits l;
        gf_buffer before = {0}, after = {0};
        bool waits;
        fixture_open_subjects(&f);
        uint32_t a = fixture_place_of(&f, "000"),
                 others[] = {fixture_place_of(&f, "004"), fixture_place_of(&f, "008")};
        gf_edit_request merge =
            GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = a, .others = others, .n_others = 2);
        gf_edit_request move = GF_EDIT_REQUEST(.kind = GF_EDIT_MOVE, .cluster = others[0],
                                               .document = GF_SLICE("001"));
        if (moves)
            fixture_put(&f, "c", "001", "flour, yeast and water make bread dough");
        else
            fixture_set(&f, "c", "default", "k", "2");
        rebuild_and_edit(&f, moves ? &move : &merge, 1);
        fixture_list_edits(&f, &l);
        assert_int_equal(l.n, 1);
        assert_int_equal(l.lost[0][0] != 0, !moves);
        if (moves) assert_int_equal(fixture_place_of(&f, "001"), others[0]);
        fixture_is_sound(&f);
        fixture_say(&f, &before);
        assert_ok(fixture_try_undo(&f, 0, &waits, &err));
        assert_true(waits); /* the fact goes; what was before is of the old build */
        fixture_say(&f, &after);
        fixture_same(&before, &after);
        fixture_is_sound(&f);
        gf_buffer_release(&before);
        gf_buffer_release(&after);
        fixture_close(&f);
    }
}

static void undo_meanwhile(void *context, gf_place where, const char *phase, uint64_t done,
                           uint64_t total)
{
    fixture *f = context;
    gf_error err;
    fixture_edits l;
    bool waits = false;
    (void)where, (void)done, (void)total;
    fixture_list_edits(f, &l);
    if (l.n == 0 || strcmp(phase, "naming clusters") != 0) return;
    assert_ok(fixture_try_undo(f, 0, &waits, &err));
    assert_true(waits);
}

/* The rebuild began with the edit: its build has it, and the one after it does not. */
static void undo_while_a_rebuild_runs_is_done_by_the_next(void **state)
{
    (void)state;
    for (int moves = 0; moves < 2; moves++) {
        fixture f;
        gf_error err;
        gf_rebuild_result result;
        gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1,
                                                  .progress = undo_meanwhile, .context = &f);
        fixture_open_subjects(&f);
        uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004");
        assert_ok(moves ? fixture_try_move(&f, "004", a, &err) : fixture_try_merge(&f, a, b, &err));
        assert_ok(fixture_try_rebuild(&f, "c", &o, &result, &err));
        assert_int_equal(fixture_place_of(&f, "004"), a);
        assert_int_equal(fixture_place_of(&f, "005"), moves ? b : a);
        fixture_is_sound(&f);
        o = (gf_rebuild_options)GF_REBUILD_OPTIONS(.threads = 1);
        assert_ok(fixture_try_rebuild(&f, "c", &o, &result, &err)); /* it is due */
        assert_int_equal(fixture_place_of(&f, "000"), a);
        assert_int_equal(fixture_place_of(&f, "004"), b);
        assert_int_equal(fixture_place_of(&f, "005"), b);
        fixture_is_sound(&f);
        fixture_close(&f);
    }
}

/* The same of a label, which the build has in place of the cluster's own. */
static void a_label_taken_back_while_a_rebuild_runs_goes_with_the_next(void **state)
{
    (void)state;
    for (int undone = 0; undone < 2; undone++) {
        fixture f;
        gf_error err;
        gf_rebuild_result result;
        gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1,
                                                  .progress = undo_meanwhile, .context = &f);
        gf_buffer own = {0}, said = {0};
        fixture_open_subjects(&f);
        fixture_say(&f, &own);
        assert_ok(fixture_try_label(&f, 1, "Mine", &err));
        const gf_edit_request off =
            GF_EDIT_REQUEST(.kind = GF_EDIT_LABEL, .cluster = 1, .off = true);
        if (undone)
            assert_ok(fixture_try_rebuild(&f, "c", &o, &result, &err));
        else
            rebuild_and_edit(&f, &off, 1);
        fixture_say(&f, &said);
        assert_non_null(strstr(gf_buffer_cstr(&said), "Mine"));
        o = (gf_rebuild_options)GF_REBUILD_OPTIONS(.threads = 1);
        assert_ok(fixture_try_rebuild(&f, "c", &o, &result, &err));
        assert_int_equal(result.outcome, GF_REBUILD_MADE);
        fixture_say(&f, &said);
        fixture_same(&own, &said);
        fixture_is_sound(&f);
        gf_buffer_release(&own);
        gf_buffer_release(&said);
        fixture_close(&f);
    }
}

static void a_lock_that_came_later_is_no_matter(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_edits l;
    bool waits;
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004");
    const gf_edit_request edits[] = {
        GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = a, .others = &b, .n_others = 1),
        GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .cluster = a)};
    rebuild_and_edit(&f, edits, 2);
    assert_int_equal(fixture_place_of(&f, "004"), a);
    fixture_list_edits(&f, &l);
    assert_string_equal(l.lost[0], "");
    fixture_is_sound(&f);
    while (l.n--)
        assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    /* Made again as the move before them is undone. */
    assert_ok(fixture_try_move(&f, "008", a, &err));
    for (size_t i = 0; i < 2; i++)
        assert_ok(fixture_try_edit(&f, &edits[i], &err));
    fixture_list_edits(&f, &l);
    assert_ok(fixture_try_undo(&f, l.at[0].number, &waits, &err));
    assert_int_equal(fixture_place_of(&f, "004"), a);
    assert_int_equal(fixture_place_of(&f, "008"), fixture_place_of(&f, "009"));
    fixture_list_edits(&f, &l);
    assert_int_equal(l.n, 2);
    assert_string_equal(l.lost[0], "");
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* The rebuild began without them, and nothing can be made again in its build: the next one obeys them. */
static void what_is_kept_while_a_rebuild_runs_is_obeyed_by_the_next(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    bool waits;
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004");
    assert_ok(fixture_try_move(&f, "004", a, &err));
    fixture_rebuild_from(&f, GF_START_SERVED);
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    const gf_edit_request keep = GF_EDIT_REQUEST(.kind = GF_EDIT_KEEP, .document = GF_SLICE("004"));
    rebuild_and_edit(&f, &keep, 1);
    assert_int_equal(fixture_place_of(&f, "004"), b);
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_MADE);
    assert_int_equal(fixture_place_of(&f, "004"), a);
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    gf_edit_request lock = GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .cluster = a);
    rebuild_and_edit(&f, &lock, 1);
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_MADE);
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    lock.off = true;
    rebuild_and_edit(&f, &lock, 1);
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edit_made_while_a_rebuild_runs_is_in_it),
        cmocka_unit_test(undo_after_a_rebuild_leaves_the_new_build_alone),
        cmocka_unit_test(undo_while_a_rebuild_runs_is_done_by_the_next),
        cmocka_unit_test(a_label_taken_back_while_a_rebuild_runs_goes_with_the_next),
        cmocka_unit_test(a_lock_that_came_later_is_no_matter),
        cmocka_unit_test(what_is_kept_while_a_rebuild_runs_is_obeyed_by_the_next),
    };
    return cmocka_run_group_tests_name("edits_meanwhile", tests, NULL, NULL);
}
