/* Edits: made by hand, obeyed by rebuilds. */
#include "tests/engine/fixture_edits.h"

#include "base/memory.h"
#include "engine/store/store_internal.h"
#include "engine/view/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* ---- by hand --------------------------------------------------------------------------------- */

static void a_merge_is_at_once_and_lasts(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_edits l;
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004"),
             c = fixture_place_of(&f, "008");
    assert_ok(fixture_try_merge(&f, a, b, &err));
    assert_int_equal(fixture_place_of(&f, "004"), a);
    assert_int_equal(fixture_place_of(&f, "011"), c);
    fixture_check_served(&f, "c", 12);
    fixture_is_sound(&f);
    for (int i = 0; i < 2; i++) {
        fixture_rebuild_from(&f, i ? GF_START_FRESH : GF_START_SERVED);
        for (int d = 0; d < 8; d++) {
            char id[8];
            snprintf(id, sizeof id, "%03d", d);
            assert_int_equal(fixture_place_of(&f, id), a);
        }
        fixture_list_edits(&f, &l);
        assert_int_equal(l.n, 1);
        assert_string_equal(l.lost[0], "");
        fixture_is_sound(&f);
    }
    assert_status(GF_ENOTFOUND, fixture_try_merge(&f, a, b, &err));
    assert_status(GF_EINVAL, fixture_try_merge(&f, a, a, &err));
    assert_status(GF_EINVAL, fixture_try_edit(&f,
                                              &GF_EDIT_REQUEST(.kind = GF_EDIT_SPLIT, .cluster = a,
                                                               .others = &c, .n_others = 1),
                                              &err));
    assert_status(
        GF_EINVAL,
        fixture_try_edit(&f, &GF_EDIT_REQUEST(.kind = (gf_edit_kind)8, .cluster = a), &err));
    fixture_close(&f);
}

/* Clusters of vectors that have a column for each subject. */
static void rebuild_subjects_by_vectors(fixture *f)
{
    gf_error err;
    gf_rebuild_result result;
    char name[12][8];
    gf_slice id[12];
    float value[36] = {0};
    for (int d = 0; d < 12; d++) {
        snprintf(name[d], sizeof name[d], "%03d", d);
        id[d] = gf_slice_str(name[d]);
        value[3 * d + d / 4] = 1;
    }
    gf_matrix m = {.n_rows = 12, .n_cols = 3, .id = id, .dense = value};
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1, .matrix = &m);
    assert_ok(fixture_try_rebuild(f, "c", &o, &result, &err));
}

static gf_status check_has_terms(void *context, const gf_cluster_info *c, gf_error *err)
{
    (void)context, (void)err;
    assert_true(c->n_terms && c->label.len && !gf_slice_starts(c->label, GF_SLICE("cluster ")));
    return GF_OK;
}

static void a_merge_of_clusters_whose_documents_are_deleted_keeps_a_name(void **state)
{
    (void)state;
    for (int vectors = 0; vectors < 2; vectors++) {
        fixture f;
        gf_error err;
        gf_view *v;
        bool waits;
        fixture_edits l;
        gf_buffer before = {0}, after = {0};
        fixture_open_subjects(&f);
        if (vectors) rebuild_subjects_by_vectors(&f);
        uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004");
        for (int d = 0; d < 8; d++) {
            char id[8];
            snprintf(id, sizeof id, "%03d", d);
            fixture_delete(&f, "c", id);
        }
        fixture_say(&f, &before);
        assert_ok(fixture_try_merge(&f, a, b, &err));
        assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &v, &err));
        assert_ok(gf_view_clusters(v, check_has_terms, NULL, &err));
        gf_view_close(v);
        fixture_is_sound(&f);
        assert_ok(fixture_try_undo(&f, 0, &waits, &err));
        fixture_say(&f, &after);
        fixture_same(&before, &after);
        assert_ok(fixture_try_merge(&f, a, b, &err));
        if (!vectors) {
            char lost[64];
            fixture_rebuild_from(&f, GF_START_SERVED);
            fixture_list_edits(&f, &l);
            snprintf(lost, sizeof lost, "no document of cluster %u is left", a);
            assert_string_equal(l.lost[0], lost);
        }
        gf_buffer_release(&before);
        gf_buffer_release(&after);
        fixture_close(&f);
    }
}

static void a_split_keeps_the_id_and_makes_new_ones(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer before = {0}, after = {0};
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004");
    assert_ok(fixture_try_merge(&f, a, b, &err));
    fixture_say(&f, &before);
    assert_ok(fixture_try_split(&f, a, 2, &err));
    uint32_t first = fixture_place_of(&f, "000"), second = fixture_place_of(&f, "004");
    assert_true(first != second && (first == a || second == a));
    assert_int_equal(first + second - a, 4); /* ids 1 to 3 were given */
    for (int d = 0; d < 8; d++) {
        char id[8];
        snprintf(id, sizeof id, "%03d", d);
        assert_int_equal(fixture_place_of(&f, id), d < 4 ? first : second);
    }
    fixture_is_sound(&f);
    fixture_rebuild_from(&f, GF_START_FRESH);
    assert_int_equal(fixture_place_of(&f, "001"), first);
    assert_int_equal(fixture_place_of(&f, "005"), second);
    fixture_is_sound(&f);
    /* The facts of an earlier build go; the next rebuild obeys them no longer. */
    bool waits = false;
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    assert_true(waits);
    fixture_rebuild_from(&f, GF_START_SERVED);
    assert_int_equal(fixture_place_of(&f, "001"), fixture_place_of(&f, "005"));
    assert_status(GF_EINVAL, fixture_try_split(&f, fixture_place_of(&f, "008"), 5, &err));
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    fixture_close(&f);
}

static void a_document_stays_where_it_was_moved(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_edits l;
    gf_buffer said = {0};
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004");
    fixture_put_titles(&f);
    assert_ok(fixture_try_move(&f, "001", b, &err));
    fixture_say(&f, &said);
    for (int c = 1; c <= 3; c++) {
        char title[16];
        snprintf(title, sizeof title, "title %d", c);
        assert_non_null(strstr(gf_buffer_cstr(&said), title));
    }
    gf_buffer_release(&said);
    assert_int_equal(fixture_place_of(&f, "001"), b);
    assert_int_equal(fixture_place_of(&f, "000"), a);
    fixture_is_sound(&f);
    fixture_rebuild_from(&f, GF_START_FRESH);
    assert_int_equal(fixture_place_of(&f, "001"), b);
    fixture_is_sound(&f);
    assert_ok(fixture_try_edit(
        &f, &GF_EDIT_REQUEST(.kind = GF_EDIT_KEEP, .document = GF_SLICE("002")), &err));
    /* A document that is gone is told of, and the edit stays. */
    fixture_delete(&f, "c", "001");
    fixture_rebuild_from(&f, GF_START_SERVED);
    fixture_list_edits(&f, &l);
    assert_int_equal(l.n, 2);
    assert_non_null(strstr(l.lost[0], "the document is gone"));
    assert_string_equal(l.lost[1], "");
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* What was put anew is seen where it would be now: it is kept nowhere, and moved by the next rebuild. */
static void a_document_that_was_put_anew_is_not_kept(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    const gf_edit_request keep = GF_EDIT_REQUEST(.kind = GF_EDIT_KEEP, .document = GF_SLICE("001"));
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004");
    fixture_put(&f, "c", "001", "flour, yeast and water make bread dough");
    assert_status(GF_ECONFLICT, fixture_try_edit(&f, &keep, &err));
    assert_non_null(strstr(err.message, "document \"001\" was put anew since the build"));
    assert_ok(fixture_try_move(&f, "001", a, &err));
    fixture_rebuild_from(&f, GF_START_SERVED);
    assert_int_equal(fixture_place_of(&f, "001"), a);
    assert_int_equal(fixture_place_of(&f, "004"), b);
    assert_ok(fixture_try_edit(&f, &keep, &err));
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void a_locked_centre_does_not_move(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer before = {0}, after = {0};
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004");
    assert_ok(fixture_try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .cluster = a), &err));
    assert_status(GF_EINVAL, fixture_try_merge(&f, b, a, &err));
    assert_non_null(strstr(err.message, "is locked"));
    fixture_rebuild_from(&f, GF_START_FRESH);
    assert_int_equal(fixture_place_of(&f, "001"), a);
    fixture_is_sound(&f);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    fixture_close(&f);
}

static gf_status note_next(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    size_t *without = context;
    (void)err;
    if (m->cluster && !m->runner_up) ++*without;
    if (m->cluster) assert_true(m->cluster != m->runner_up);
    (void)id;
    return GF_OK;
}

/* Terms of the locked centre are still there, and no document is near it. */
static void documents_keep_their_next_where_nothing_joins_a_lock(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_edits l;
    gf_view *v;
    size_t without = 0;
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000");
    assert_ok(fixture_try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .cluster = a), &err));
    for (int d = 0; d < 4; d++) {
        char id[8];
        snprintf(id, sizeof id, "%03d", d);
        fixture_delete(&f, "c", id);
    }
    for (int d = 12; d < 20; d++) {
        char id[8];
        snprintf(id, sizeof id, "%03d", d);
        fixture_put(&f, "c", id,
                    d % 2 ? "flour, yeast and water make bread dough, oven, sour, knead, and a car"
                          : "planets orbit a distant star, the comet passed it, long, and a car");
    }
    fixture_set(&f, "c", "default", "k", "2");
    fixture_rebuild_from(&f, GF_START_FRESH);
    fixture_list_edits(&f, &l);
    assert_non_null(strstr(l.lost[0], "no document is nearest"));
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_memberships(v, note_next, &without, &err));
    gf_view_close(v);
    assert_int_equal(without, 0);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* Witnesses of an edit that came among others are no reason to give its id to these, nor to join them. */
static void few_witnesses_stand_for_no_cluster_of_others(void **state)
{
    (void)state;
    for (int merges = 0; merges < 2; merges++) {
        fixture f;
        gf_error err;
        fixture_edits l;
        fixture_open_subjects(&f);
        uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004"),
                 c = fixture_place_of(&f, "008");
        if (merges)
            assert_ok(fixture_try_merge(&f, a, b, &err));
        else
            assert_ok(
                fixture_try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_HIDE, .cluster = b), &err));
        /* Of the cluster b one document is left, which is about the subject of c now. */
        for (int d = 4; d < 7; d++) {
            char id[8];
            snprintf(id, sizeof id, "%03d", d);
            fixture_delete(&f, "c", id);
        }
        fixture_put(&f, "c", "007", "the orbit of that comet and its star is long");
        fixture_set(&f, "c", "default", "k", "2");
        fixture_rebuild_from(&f, merges ? GF_START_FRESH : GF_START_SERVED);
        assert_int_equal(fixture_place_of(&f, "000"), a);
        assert_int_equal(fixture_place_of(&f, "008"), c);
        assert_int_equal(fixture_place_of(&f, "010"), c);
        assert_int_equal(fixture_place_of(&f, "007"), merges ? a : c);
        fixture_list_edits(&f, &l);
        if (!merges) assert_non_null(strstr(l.lost[0], "its documents are in others"));
        fixture_is_sound(&f);
        fixture_close(&f);
    }
}

static gf_rebuild_outcome would_rebuild(fixture *f)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1, .dry_run = true);
    assert_ok(fixture_try_rebuild(f, "c", &o, &result, &err));
    return result.outcome;
}

/*
 * An undo goes by steps: one that ends in the middle, for want of memory, shows by the mark, and a rebuild is due
 * that obeys the edits which were not made again.
 */
static void what_is_between_has_a_mark_of_its_own(void **state)
{
    (void)state;
    enum { STEP = 23 };
    fixture f;
    gf_error err;
    bool waits;
    size_t between = 0, done = 0;
    gf_buffer before = {0}, after = {0};
    fixture_open_subjects(&f);
    for (int64_t n = 0; !done; n += STEP) {
        fixture_edits l;
        uint64_t mark, now;
        int64_t served;
        do
            fixture_list_edits(&f, &l);
        while (l.n && fixture_try_undo(&f, 0, &waits, &err) == GF_OK);
        assert_ok(
            fixture_try_merge(&f, fixture_place_of(&f, "000"), fixture_place_of(&f, "004"), &err));
        assert_ok(fixture_try_move(&f, "009", fixture_place_of(&f, "000"), &err));
        fixture_list_edits(&f, &l);
        fixture_say(&f, &before);
        assert_ok(gf_collection_mark(f.store, fixture_place("c"), fixture_default(), &mark, &served,
                                     &err));
        gf_memory_fail_at(n);
        done = fixture_try_undo(&f, l.at[0].number, &waits, &err) == GF_OK;
        gf_memory_fail_at(-1);
        fixture_say(&f, &after);
        assert_ok(gf_collection_mark(f.store, fixture_place("c"), fixture_default(), &now, &served,
                                     &err));
        bool other = strcmp(gf_buffer_cstr(&before), gf_buffer_cstr(&after)) != 0;
        if (other && now == mark)
            fail_msg("allocation %" PRId64 ": another state, the mark of before", n);
        between += other && !done;
        assert_int_equal(would_rebuild(&f), between ? GF_REBUILD_DUE : GF_REBUILD_UNMODIFIED);
    }
    assert_true(between > 0);
    fixture_is_sound(&f);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    fixture_close(&f);
}

static void without_clusters_edits_are_told_as_lost(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_edits l;
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004");
    assert_ok(fixture_try_merge(&f, a, b, &err));
    for (int round = 0; round < 2; round++) {
        for (int d = 0; d < 12 && round == 0; d++) {
            char id[8];
            snprintf(id, sizeof id, "%03d", d);
            fixture_put(&f, "c", id, "");
        }
        if (round) fixture_put_subjects(&f, "c");
        fixture_rebuild_from(&f, GF_START_SERVED);
        fixture_list_edits(&f, &l);
        assert_int_equal(l.n, 1);
        assert_string_equal(l.lost[0], round ? "" : "there are no clusters");
        fixture_is_sound(&f);
    }
    assert_int_equal(fixture_place_of(&f, "000"), fixture_place_of(&f, "004"));
    fixture_close(&f);
}

/* A document that was moved is where the id stays, also after the cluster that it went to has ended. */
static void a_split_follows_merges(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004"),
             c = fixture_place_of(&f, "008");
    assert_ok(fixture_try_move(&f, "001", b, &err));
    assert_ok(fixture_try_merge(&f, c, b, &err));
    assert_ok(fixture_try_split(&f, c, 3, &err));
    assert_int_equal(fixture_place_of(&f, "001"), c);
    assert_int_equal(fixture_place_of(&f, "000"), a);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void assert_label(fixture *f, uint32_t cluster, const char *expected)
{
    gf_view *v;
    gf_error err;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_load_clusters(v, &err));
    const gf_listed_cluster *c = gf_view_find_cluster(v, cluster);
    assert_non_null(c);
    assert_slice(c->label, expected);
    gf_view_close(v);
}

/* A cluster is gone, another is called as it was, and it comes back: the last word counts. */
static void of_two_labels_that_are_alike_the_last_word_counts(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_edits l;
    char label[8], lost[64];
    bool waits;
    uint32_t gone = 0, left = 0;
    fixture_open_subjects(&f);
    for (uint32_t c = 1; c <= 3; c++) {
        snprintf(label, sizeof label, "L%u", c);
        assert_ok(fixture_try_label(&f, c, label, &err));
    }
    fixture_set(&f, "c", "default", "k", "2");
    fixture_rebuild_from(&f, GF_START_FRESH);
    fixture_list_edits(&f, &l);
    for (uint32_t c = 1; c <= 3; c++)
        if (l.lost[c - 1][0])
            gone = c;
        else
            left = c;
    assert_true(gone && left);
    snprintf(label, sizeof label, "L%u", gone);
    assert_ok(fixture_try_label(&f, left, label, &err));
    fixture_set(&f, "c", "default", "k", "3");
    fixture_rebuild_from(&f, GF_START_FRESH);
    fixture_is_sound(&f);
    fixture_list_edits(&f, &l);
    snprintf(lost, sizeof lost, "cluster %u was called so later", left);
    assert_string_equal(l.lost[gone - 1], lost);
    assert_label(&f, left, label);
    fixture_rebuild_from(&f, GF_START_SERVED);
    fixture_is_sound(&f);
    /* Without the last word the one before it holds again. */
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    assert_label(&f, gone, label);
    fixture_list_edits(&f, &l);
    assert_string_equal(l.lost[gone - 1], "");
    fixture_rebuild_from(&f, GF_START_SERVED);
    assert_label(&f, gone, label);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* What is said to take effect with the next rebuild does so, though no document has come since. */
static void what_waits_for_a_rebuild_makes_it_due(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_edits l;
    bool waits;
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004"),
             c = fixture_place_of(&f, "008");
    int64_t first = fixture_check_served(&f, "c", 12);
    assert_ok(gf_pin_build(f.store, fixture_place("c"), fixture_default(), first, true, &err));
    assert_ok(fixture_try_merge(&f, a, b, &err));
    assert_ok(fixture_try_label(&f, c, "Mine", &err));
    fixture_rebuild_from(&f, GF_START_SERVED);
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    fixture_list_edits(&f, &l);
    assert_ok(fixture_try_undo(&f, l.at[0].number, &waits, &err));
    assert_true(waits);
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_MADE);
    assert_true(fixture_place_of(&f, "000") != fixture_place_of(&f, "004"));
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    /* The build has the label in place of its own. */
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    assert_true(waits);
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_MADE);
    gf_buffer said = {0};
    fixture_say(&f, &said);
    assert_null(strstr(gf_buffer_cstr(&said), "Mine"));
    gf_buffer_release(&said);
    assert_ok(fixture_try_label(&f, c, "Mine", &err));
    fixture_rebuild_from(&f, GF_START_SERVED);
    assert_ok(fixture_try_label(&f, c, "", &err));
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_MADE);
    /* A label of this build is put over its own, which is there at once. */
    assert_ok(fixture_try_label(&f, c, "Mine", &err));
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    assert_false(waits);
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    /* A build of before an edit is served again. */
    a = fixture_place_of(&f, "000");
    assert_ok(fixture_try_merge(&f, a, fixture_place_of(&f, "004"), &err));
    assert_ok(gf_pin_publish(f.store, fixture_place("c"), fixture_default(), first, &err));
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_MADE);
    assert_int_equal(fixture_place_of(&f, "004"), fixture_place_of(&f, "000"));
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    fixture_close(&f);
}

/* An earlier build is served again, and a cluster that was merged since is locked there. */
static void a_merge_does_not_hold_where_its_cluster_was_locked_later(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_edits l;
    char lost[64];
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004");
    gf_view *v;
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &v, &err));
    int64_t first = gf_view_build(v)->build;
    gf_view_close(v);
    fixture_rebuild_from(&f, GF_START_SERVED);
    assert_ok(fixture_try_merge(&f, a, b, &err));
    assert_ok(gf_pin_publish(f.store, fixture_place("c"), fixture_default(), first, &err));
    assert_ok(fixture_try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .cluster = b), &err));
    fixture_rebuild_from(&f, GF_START_FRESH);
    assert_int_equal(fixture_place_of(&f, "004"), b);
    fixture_list_edits(&f, &l);
    snprintf(lost, sizeof lost, "cluster %u is there again, by a later edit", b);
    assert_string_equal(l.lost[0], lost);
    assert_string_equal(l.lost[1], "");
    fixture_is_sound(&f);
    fixture_close(&f);
}

static long peak_kilobytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Fifty parts of rows with a million columns, of which each has two: a number of each would take 400 MB. */
static void a_split_into_many_parts_takes_little_memory(void **state)
{
    (void)state;
    enum { ROWS = 80, FIRST = 60, COLUMNS = 1000000, PARTS = 50, MOST_KB = 250000 };
    const char *texts[ROWS];
    char name[ROWS][8];
    gf_slice id[ROWS];
    fixture f;
    gf_error err;
    gf_csr x;
    gf_rebuild_result result;
    assert_ok(gf_csr_init(&x, ROWS, COLUMNS, 2 * ROWS, &err));
    for (uint32_t i = 0; i < ROWS; i++) {
        texts[i] = "a text";
        id[i] = gf_slice_of(name[i], (size_t)snprintf(name[i], sizeof name[i], "%03u", i));
        x.col[2 * i] = i < FIRST ? 0 : 1;
        x.col[2 * i + 1] = (i + 1) * (COLUMNS / (ROWS + 1));
        x.val[2 * i] = x.val[2 * i + 1] = 1;
        x.start[i + 1] = 2 * (i + 1);
    }
    gf_matrix m = {ROWS, COLUMNS, id, &x, NULL};
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1, .matrix = &m);
    fixture_open(&f);
    fixture_put_texts(&f, "c", texts, ROWS);
    fixture_set(&f, "c", "default", "k", "2");
    assert_ok(fixture_try_rebuild(&f, "c", &o, &result, &err));
    assert_ok(fixture_try_split(&f, fixture_place_of(&f, "000"), PARTS, &err));
    long before = peak_kilobytes();
    o.start = GF_START_FRESH;
    assert_ok(fixture_try_rebuild(&f, "c", &o, &result, &err));
    assert_int_equal(result.build.k, PARTS + 1);
    assert_true(peak_kilobytes() - before < MOST_KB);
    fixture_close(&f);
    gf_csr_release(&x);
}

/* A cluster's own label may be what another is called by now. */
static void an_own_label_that_is_taken_does_not_come_back(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_view *v;
    bool waits;
    char own[64];
    fixture_open_subjects(&f);
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_load_clusters(v, &err));
    snprintf(own, sizeof own, "%.*s", GF_SLICE_ARG(gf_view_find_cluster(v, 1)->label));
    gf_view_close(v);
    assert_ok(fixture_try_label(&f, 1, "Mine", &err));
    assert_ok(fixture_try_label(&f, 2, own, &err));
    assert_status(GF_ECONFLICT, fixture_try_undo(&f, 1, &waits, &err));
    assert_non_null(strstr(err.message, own));
    assert_status(GF_EEXISTS, fixture_try_label(&f, 1, "", &err));
    assert_ok(fixture_try_undo(&f, 2, &waits, &err));
    assert_ok(fixture_try_undo(&f, 1, &waits, &err));
    assert_false(waits);
    assert_label(&f, 1, own);
    fixture_close(&f);
}

/* As after a repair of the collection's row: the facts are there, and keep their numbers. */
static void edits_outlast_the_pins(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_edits l;
    gf_batch *batch;
    gf_buffer key = {0};
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004"),
             c = fixture_place_of(&f, "008");
    assert_ok(fixture_try_merge(&f, a, b, &err));
    gf_tables_collection_key(&key, GF_SLICE("test"), GF_SLICE("c"));
    assert_ok(gf_batch_create(f.store->db, &batch, &err));
    gf_batch_delete_cell(batch, f.store->tables.collections, gf_buffer_view(&key),
                         GF_COLLECTIONS_MAIN, GF_SLICE("pins"));
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_buffer_release(&key);
    fixture_rebuild_from(&f, GF_START_FRESH);
    assert_int_equal(fixture_place_of(&f, "004"), fixture_place_of(&f, "000"));
    assert_int_equal(fixture_rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    assert_ok(fixture_try_move(&f, "009", fixture_place_of(&f, "000"), &err));
    fixture_list_edits(&f, &l);
    assert_int_equal(l.n, 2);
    assert_int_equal(l.at[0].kind, GF_EDIT_MERGE);
    assert_int_equal(l.at[1].number, 2);
    assert_true(fixture_place_of(&f, "008") == c);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void damage_is_told(void **state)
{
    (void)state;
    static const char *const bad[] = {"{",
                                      "7",
                                      "{}",
                                      "{\"kind\":\"x\"}",
                                      "{\"kind\":\"hide\",\"cluster\":0,\"when\":1,\"build\":1}",
                                      "{\"kind\":\"hide\",\"cluster\":1}"};
    fixture f;
    gf_error err;
    fixture_edits l = {.n = 0};
    fixture_open_subjects(&f);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        gf_batch *batch;
        gf_buffer key = {0}, qualifier = {0};
        gf_tables_collection_key(&key, GF_SLICE("test"), GF_SLICE("c"));
        gf_key_string(&qualifier, fixture_default());
        gf_buffer_u64be(&qualifier, 1);
        assert_ok(gf_batch_create(f.store->db, &batch, &err));
        gf_batch_put(batch, f.store->tables.collections, gf_buffer_view(&key), GF_COLLECTIONS_EDITS,
                     gf_buffer_view(&qualifier), gf_slice_str(bad[i]), 0);
        assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
        gf_batch_free(batch);
        assert_status(GF_ECORRUPT, gf_edits_visit(f.store, fixture_place("c"), fixture_default(),
                                                  fixture_note_edit, &l, &err));
        gf_buffer_release(&key);
        gf_buffer_release(&qualifier);
    }
    char first[512];
    gf_verified verified;
    assert_true(fixture_verify(&f, first, &verified) > 0);
    assert_non_null(strstr(first, "edit"));
    fixture_close(&f);
}

static void a_size_that_is_too_large_is_damage(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_view *v;
    gf_batch *batch;
    gf_buffer key = {0};
    uint32_t id;
    fixture_open_subjects(&f);
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_load_clusters(v, &err));
    gf_tables_cluster_key(&key, gf_buffer_view(&v->key), v->clusters[0].own_label);
    assert_ok(gf_batch_create(f.store->db, &batch, &err));
    gf_batch_put(batch, f.store->tables.clusters, gf_buffer_view(&key), GF_CLUSTERS_MAIN,
                 GF_SLICE("size"), GF_SLICE("9223372036854775807"), 0);
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    id = v->clusters[0].id;
    gf_batch_free(batch);
    gf_view_close(v);
    fixture_close(&f);
    fixture_reopen(&f); /* clusters that were listed are remembered */
    assert_status(
        GF_ECORRUPT,
        fixture_try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_HIDE, .cluster = id), &err));
    gf_buffer_release(&key);
    fixture_close(&f);
}

static void a_membership_of_no_cluster_is_damage(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_view *v;
    gf_batch *batch;
    gf_buffer key = {0};
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004");
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_load_clusters(v, &err));
    gf_tables_cluster_key(&key, gf_buffer_view(&v->key), gf_view_find_cluster(v, a)->own_label);
    assert_ok(gf_batch_create(f.store->db, &batch, &err));
    gf_batch_put(batch, f.store->tables.clusters, gf_buffer_view(&key), GF_CLUSTERS_MAIN,
                 GF_SLICE("id"), GF_SLICE("99"), 0);
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_view_close(v);
    gf_buffer_release(&key);
    fixture_close(&f);
    fixture_reopen(&f); /* clusters that were listed are remembered */
    assert_status(GF_ECORRUPT, fixture_try_move(&f, "001", b, &err));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_merge_is_at_once_and_lasts),
        cmocka_unit_test(a_merge_of_clusters_whose_documents_are_deleted_keeps_a_name),
        cmocka_unit_test(a_split_keeps_the_id_and_makes_new_ones),
        cmocka_unit_test(a_document_stays_where_it_was_moved),
        cmocka_unit_test(a_document_that_was_put_anew_is_not_kept),
        cmocka_unit_test(a_locked_centre_does_not_move),
        cmocka_unit_test(documents_keep_their_next_where_nothing_joins_a_lock),
        cmocka_unit_test(few_witnesses_stand_for_no_cluster_of_others),
        cmocka_unit_test(what_is_between_has_a_mark_of_its_own),
        cmocka_unit_test(without_clusters_edits_are_told_as_lost),
        cmocka_unit_test(a_split_follows_merges),
        cmocka_unit_test(of_two_labels_that_are_alike_the_last_word_counts),
        cmocka_unit_test(what_waits_for_a_rebuild_makes_it_due),
        cmocka_unit_test(a_merge_does_not_hold_where_its_cluster_was_locked_later),
        cmocka_unit_test(a_split_into_many_parts_takes_little_memory),
        cmocka_unit_test(an_own_label_that_is_taken_does_not_come_back),
        cmocka_unit_test(edits_outlast_the_pins),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(a_size_that_is_too_large_is_damage),
        cmocka_unit_test(a_membership_of_no_cluster_is_damage),
    };
    return cmocka_run_group_tests_name("edits", tests, NULL, NULL);
}
