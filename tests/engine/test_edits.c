/* Edits: made by hand, taken back, obeyed by rebuilds. */
#include "tests/engine/fixture_edits.h"

#include "base/memory.h"
#include "engine/config/edits.h"
#include "engine/store/store_internal.h"
#include "engine/view/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Give every cluster a title, as gf_titles_make does. */
static void put_titles(fixture *f)
{
    gf_view *v;
    gf_error err;
    gf_batch *batch;
    gf_buffer key = {0}, title = {0};
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_load_clusters(v, &err));
    assert_ok(gf_batch_create(f->store->db, &batch, &err));
    for (size_t i = 0; i < v->n_clusters; i++) {
        gf_buffer_reset(&key);
        gf_buffer_reset(&title);
        gf_tables_cluster_key(&key, gf_buffer_view(&v->key), v->clusters[i].own_label);
        gf_buffer_format(&title, "title %u", v->clusters[i].id);
        const gf_column columns[] = {{GF_SLICE("title"), gf_buffer_view(&title)},
                                     {GF_SLICE("title_model"), GF_SLICE("model")},
                                     {GF_SLICE("title_prompt"), GF_SLICE("prompt")}};
        for (size_t c = 0; c < 3; c++)
            gf_batch_put(batch, f->store->tables.clusters, gf_buffer_view(&key), GF_CLUSTERS_MAIN,
                         columns[c].name, columns[c].value, 0);
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_buffer_release(&key);
    gf_buffer_release(&title);
    gf_view_close(v);
}

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
    put_titles(&f);
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

static void a_document_stays_where_it_was_moved(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_edits l;
    gf_buffer said = {0};
    fixture_open_subjects(&f);
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "004");
    put_titles(&f);
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

static gf_rebuild_outcome rebuild_if_due(fixture *f)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    assert_ok(fixture_try_rebuild(f, "c", &o, &result, &err));
    return result.outcome;
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
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    fixture_list_edits(&f, &l);
    assert_ok(fixture_try_undo(&f, l.at[0].number, &waits, &err));
    assert_true(waits);
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_MADE);
    assert_true(fixture_place_of(&f, "000") != fixture_place_of(&f, "004"));
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    /* The build has the label in place of its own. */
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    assert_true(waits);
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_MADE);
    gf_buffer said = {0};
    fixture_say(&f, &said);
    assert_null(strstr(gf_buffer_cstr(&said), "Mine"));
    gf_buffer_release(&said);
    assert_ok(fixture_try_label(&f, c, "Mine", &err));
    fixture_rebuild_from(&f, GF_START_SERVED);
    assert_ok(fixture_try_label(&f, c, "", &err));
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_MADE);
    /* A label of this build is put over its own, which is there at once. */
    assert_ok(fixture_try_label(&f, c, "Mine", &err));
    assert_ok(fixture_try_undo(&f, 0, &waits, &err));
    assert_false(waits);
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    /* A build of before an edit is served again. */
    a = fixture_place_of(&f, "000");
    assert_ok(fixture_try_merge(&f, a, fixture_place_of(&f, "004"), &err));
    assert_ok(gf_pin_publish(f.store, fixture_place("c"), fixture_default(), first, &err));
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_MADE);
    assert_int_equal(fixture_place_of(&f, "004"), fixture_place_of(&f, "000"));
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
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
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_MADE);
    assert_int_equal(fixture_place_of(&f, "004"), a);
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    gf_edit_request lock = GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .cluster = a);
    rebuild_and_edit(&f, &lock, 1);
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_MADE);
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    lock.off = true;
    rebuild_and_edit(&f, &lock, 1);
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
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
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
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
        cmocka_unit_test(undo_restores_every_byte),
        cmocka_unit_test(a_document_stays_where_it_was_moved),
        cmocka_unit_test(a_document_that_was_put_anew_is_not_kept),
        cmocka_unit_test(a_locked_centre_does_not_move),
        cmocka_unit_test(documents_keep_their_next_where_nothing_joins_a_lock),
        cmocka_unit_test(an_edit_made_while_a_rebuild_runs_is_in_it),
        cmocka_unit_test(undo_after_a_rebuild_leaves_the_new_build_alone),
        cmocka_unit_test(undo_after_a_rebuild_is_done_by_the_next),
        cmocka_unit_test(undo_while_a_rebuild_runs_is_done_by_the_next),
        cmocka_unit_test(a_label_taken_back_while_a_rebuild_runs_goes_with_the_next),
        cmocka_unit_test(few_witnesses_stand_for_no_cluster_of_others),
        cmocka_unit_test(a_lock_that_came_later_is_no_matter),
        cmocka_unit_test(a_later_edit_that_cannot_be_made_again_is_told),
        cmocka_unit_test(undo_of_set_is_by_field),
        cmocka_unit_test(what_is_between_has_a_mark_of_its_own),
        cmocka_unit_test(undo_says_what_it_cannot_do),
        cmocka_unit_test(without_clusters_edits_are_told_as_lost),
        cmocka_unit_test(a_split_follows_merges),
        cmocka_unit_test(of_two_labels_that_are_alike_the_last_word_counts),
        cmocka_unit_test(what_waits_for_a_rebuild_makes_it_due),
        cmocka_unit_test(a_document_is_kept_in_its_part_when_the_split_is_made_again),
        cmocka_unit_test(a_merge_does_not_hold_where_its_cluster_was_locked_later),
        cmocka_unit_test(what_is_kept_while_a_rebuild_runs_is_obeyed_by_the_next),
        cmocka_unit_test(a_split_into_many_parts_takes_little_memory),
        cmocka_unit_test(an_edit_below_one_that_was_forgotten_waits),
        cmocka_unit_test(an_own_label_that_is_taken_does_not_come_back),
        cmocka_unit_test(edits_outlast_the_pins),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(a_size_that_is_too_large_is_damage),
        cmocka_unit_test(a_membership_of_no_cluster_is_damage),
    };
    return cmocka_run_group_tests_name("edits", tests, NULL, NULL);
}
