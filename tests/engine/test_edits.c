/* Edits: made by hand, taken back, obeyed by rebuilds, in random histories. */
#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "base/random.h"
#include "engine/config/edits.h"
#include "engine/store/store_internal.h"
#include "engine/view/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a build says ----------------------------------------------------------------------- */

static gf_status note_cluster(void *context, const gf_cluster_info *c, gf_error *err)
{
    gf_buffer *out = context;
    (void)err;
    gf_buffer_format(out, "cluster %u %.*s %" PRIu64 " %d%d", c->id, GF_SLICE_ARG(c->label),
                     c->size, c->hidden, c->locked);
    for (size_t i = 0; i < c->n_terms; i++)
        gf_buffer_format(out, " %.*s=%.9g", GF_SLICE_ARG(c->terms[i].surface),
                         (double)c->terms[i].weight);
    if (c->state)
        gf_buffer_format(out, " status=%.*s owner=%.*s", GF_SLICE_ARG(c->state->status),
                         GF_SLICE_ARG(c->state->owner));
    if (c->figures) gf_buffer_format(out, " margin=%.9g", c->figures->margin);
    if (c->title.len)
        gf_buffer_format(out, " title=%.*s of %.*s", GF_SLICE_ARG(c->title),
                         GF_SLICE_ARG(c->title_model));
    gf_buffer_format(out, " \"%.*s\"\n", GF_SLICE_ARG(c->sentence));
    return GF_OK;
}

static gf_status note_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)err;
    gf_buffer_format(context, "%.*s %u %.9g %u %.9g\n", GF_SLICE_ARG(id), m->cluster,
                     (double)m->score, m->runner_up, (double)m->second);
    return GF_OK;
}

static gf_status note_node(void *context, const gf_tree_node *n, gf_error *err)
{
    (void)err;
    gf_buffer_format(context, "node %u %u %u %.*s %.9g\n", n->node, n->parent, n->cluster,
                     GF_SLICE_ARG(n->label), n->height);
    return GF_OK;
}

/* All that the served build says of clusters, documents and the tree. */
static void say(fixture *f, gf_buffer *out)
{
    gf_view *v;
    gf_error err;
    gf_buffer_reset(out);
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_clusters(v, note_cluster, out, &err));
    assert_ok(gf_view_memberships(v, note_member, out, &err));
    assert_ok(gf_view_tree(v, 1000, note_node, out, &err));
    gf_view_close(v);
}

static void same(gf_buffer *a, gf_buffer *b)
{
    assert_string_equal(gf_buffer_cstr(a), gf_buffer_cstr(b));
}

/* The cluster that a document is in; 0: in none, or the build does not have it. */
static uint32_t place(fixture *f, const char *id)
{
    gf_view *v;
    gf_error err;
    gf_membership m = {.cluster = 0};
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &v, &err));
    if (gf_view_membership(v, gf_slice_str(id), &m, &err) != GF_OK) m.cluster = 0;
    gf_view_close(v);
    return m.cluster;
}

/* ---- edits ----------------------------------------------------------------------------------- */

static gf_status try_edit(fixture *f, const gf_edit_request *r, gf_error *err)
{
    return gf_edit_make(f->store, fixture_place("c"), fixture_default(), r, NULL, NULL, err);
}

static gf_status try_merge(fixture *f, uint32_t a, uint32_t b, gf_error *err)
{
    return try_edit(
        f, &GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = a, .others = &b, .n_others = 1), err);
}

static gf_status try_split(fixture *f, uint32_t cluster, uint32_t parts, gf_error *err)
{
    return try_edit(f, &GF_EDIT_REQUEST(.kind = GF_EDIT_SPLIT, .cluster = cluster, .parts = parts),
                    err);
}

static gf_status try_move(fixture *f, const char *id, uint32_t cluster, gf_error *err)
{
    return try_edit(
        f, &GF_EDIT_REQUEST(.kind = GF_EDIT_MOVE, .cluster = cluster, .document = gf_slice_str(id)),
        err);
}

static gf_status try_undo(fixture *f, uint64_t number, bool *waits, gf_error *err)
{
    return gf_edit_undo(f->store, fixture_place("c"), fixture_default(), number, waits, NULL, NULL,
                        err);
}

typedef struct edit_list {
    gf_edit at[64];
    uint32_t others[64][8];
    char document[64][16], text[64][32], lost[64][128];
    size_t n;
} edit_list;

static gf_status note_edit(void *context, const gf_edit *e, gf_error *err)
{
    edit_list *l = context;
    (void)err;
    assert_true(l->n < 64 && e->n_others <= 8);
    l->at[l->n] = *e;
    for (size_t i = 0; i < e->n_others; i++)
        l->others[l->n][i] = e->others[i];
    snprintf(l->document[l->n], sizeof l->document[0], "%.*s", GF_SLICE_ARG(e->document));
    snprintf(l->text[l->n], sizeof l->text[0], "%.*s", GF_SLICE_ARG(e->text));
    snprintf(l->lost[l->n], sizeof l->lost[0], "%.*s", GF_SLICE_ARG(e->lost));
    l->n++;
    return GF_OK;
}

static void list_edits(fixture *f, edit_list *l)
{
    gf_error err;
    l->n = 0;
    assert_ok(gf_edits_visit(f->store, fixture_place("c"), fixture_default(), note_edit, l, &err));
}

static void rebuild(fixture *f, gf_start start)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1, .start = start);
    assert_ok(fixture_try_rebuild(f, "c", &o, &result, &err));
}

/* ---- by hand --------------------------------------------------------------------------------- */

static void a_merge_is_at_once_and_lasts(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    edit_list l;
    fixture_open_subjects(&f);
    uint32_t a = place(&f, "000"), b = place(&f, "004"), c = place(&f, "008");
    assert_ok(try_merge(&f, a, b, &err));
    assert_int_equal(place(&f, "004"), a);
    assert_int_equal(place(&f, "011"), c);
    fixture_check_served(&f, "c", 12);
    fixture_is_sound(&f);
    for (int i = 0; i < 2; i++) {
        rebuild(&f, i ? GF_START_FRESH : GF_START_SERVED);
        for (int d = 0; d < 8; d++) {
            char id[8];
            snprintf(id, sizeof id, "%03d", d);
            assert_int_equal(place(&f, id), a);
        }
        list_edits(&f, &l);
        assert_int_equal(l.n, 1);
        assert_string_equal(l.lost[0], "");
        fixture_is_sound(&f);
    }
    assert_status(GF_ENOTFOUND, try_merge(&f, a, b, &err));
    assert_status(GF_EINVAL, try_merge(&f, a, a, &err));
    assert_status(GF_EINVAL, try_edit(&f,
                                      &GF_EDIT_REQUEST(.kind = GF_EDIT_SPLIT, .cluster = a,
                                                       .others = &c, .n_others = 1),
                                      &err));
    assert_status(GF_EINVAL,
                  try_edit(&f, &GF_EDIT_REQUEST(.kind = (gf_edit_kind)8, .cluster = a), &err));
    fixture_close(&f);
}

static void a_split_keeps_the_id_and_makes_new_ones(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer before = {0}, after = {0};
    fixture_open_subjects(&f);
    uint32_t a = place(&f, "000"), b = place(&f, "004");
    assert_ok(try_merge(&f, a, b, &err));
    say(&f, &before);
    assert_ok(try_split(&f, a, 2, &err));
    uint32_t first = place(&f, "000"), second = place(&f, "004");
    assert_true(first != second && (first == a || second == a));
    assert_int_equal(first + second - a, 4); /* ids 1 to 3 were given */
    for (int d = 0; d < 8; d++) {
        char id[8];
        snprintf(id, sizeof id, "%03d", d);
        assert_int_equal(place(&f, id), d < 4 ? first : second);
    }
    fixture_is_sound(&f);
    rebuild(&f, GF_START_FRESH);
    assert_int_equal(place(&f, "001"), first);
    assert_int_equal(place(&f, "005"), second);
    fixture_is_sound(&f);
    /* The facts of an earlier build go; the next rebuild obeys them no longer. */
    bool waits = false;
    assert_ok(try_undo(&f, 0, &waits, &err));
    assert_true(waits);
    rebuild(&f, GF_START_SERVED);
    assert_int_equal(place(&f, "001"), place(&f, "005"));
    assert_status(GF_EINVAL, try_split(&f, place(&f, "008"), 5, &err));
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
    say(&f, &before);
    assert_non_null(strstr(gf_buffer_cstr(&before), "title=title 5 of model"));
    assert_ok(try_merge(&f, 2, 5, &err));
    assert_ok(try_split(&f, 1, 3, &err));
    assert_ok(try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_HIDE, .cluster = 3), &err));
    gf_pair set = {GF_SLICE("status"), GF_SLICE("planned")};
    assert_ok(try_edit(
        &f, &GF_EDIT_REQUEST(.kind = GF_EDIT_STATE, .cluster = 4, .set = &set, .n_set = 1), &err));
    assert_ok(try_edit(
        &f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LABEL, .cluster = 4, .text = GF_SLICE("four")), &err));
    fixture_is_sound(&f);
    /* The first one is taken out from under the second, which is made again under its number. */
    assert_ok(try_undo(&f, 1, &waits, &err));
    assert_false(waits);
    fixture_is_sound(&f);
    for (int i = 0; i < 4; i++)
        assert_ok(try_undo(&f, 0, &waits, &err));
    say(&f, &after);
    same(&before, &after);
    assert_status(GF_ENOTFOUND, try_undo(&f, 0, &waits, &err));
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
    edit_list l;
    gf_buffer said = {0};
    fixture_open_subjects(&f);
    uint32_t a = place(&f, "000"), b = place(&f, "004");
    put_titles(&f);
    assert_ok(try_move(&f, "001", b, &err));
    say(&f, &said);
    for (int c = 1; c <= 3; c++) {
        char title[16];
        snprintf(title, sizeof title, "title %d", c);
        assert_non_null(strstr(gf_buffer_cstr(&said), title));
    }
    gf_buffer_release(&said);
    assert_int_equal(place(&f, "001"), b);
    assert_int_equal(place(&f, "000"), a);
    fixture_is_sound(&f);
    rebuild(&f, GF_START_FRESH);
    assert_int_equal(place(&f, "001"), b);
    fixture_is_sound(&f);
    assert_ok(
        try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_KEEP, .document = GF_SLICE("002")), &err));
    /* A document that is gone is told of, and the edit stays. */
    fixture_delete(&f, "c", "001");
    rebuild(&f, GF_START_SERVED);
    list_edits(&f, &l);
    assert_int_equal(l.n, 2);
    assert_non_null(strstr(l.lost[0], "the document is gone"));
    assert_string_equal(l.lost[1], "");
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
    uint32_t a = place(&f, "000"), b = place(&f, "004");
    assert_ok(try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .cluster = a), &err));
    assert_status(GF_EINVAL, try_merge(&f, b, a, &err));
    assert_non_null(strstr(err.message, "is locked"));
    rebuild(&f, GF_START_FRESH);
    assert_int_equal(place(&f, "001"), a);
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
    edit_list l;
    gf_view *v;
    size_t without = 0;
    fixture_open_subjects(&f);
    uint32_t a = place(&f, "000");
    assert_ok(try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .cluster = a), &err));
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
    rebuild(&f, GF_START_FRESH);
    list_edits(&f, &l);
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
    edit_list l;
    list_edits(f, &l);
    if (l.n || strcmp(phase, "naming clusters") != 0) return;
    assert_status(GF_EBUSY, try_split(f, place(f, "000"), 2, &err));
    assert_ok(try_merge(f, place(f, "000"), place(f, "004"), &err));
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
    assert_int_equal(place(&f, "000"), place(&f, "004"));
    fixture_is_sound(&f);
    bool waits = true;
    assert_ok(try_undo(&f, 0, &waits, &err));
    assert_false(waits);
    assert_true(place(&f, "000") != place(&f, "004"));
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
        assert_ok(try_edit(m->f, &m->edits[i], &err));
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
        edit_list l;
        gf_buffer before = {0}, after = {0};
        bool waits;
        fixture_open_subjects(&f);
        uint32_t a = place(&f, "000"), others[] = {place(&f, "004"), place(&f, "008")};
        gf_edit_request merge =
            GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = a, .others = others, .n_others = 2);
        gf_edit_request move = GF_EDIT_REQUEST(.kind = GF_EDIT_MOVE, .cluster = others[0],
                                               .document = GF_SLICE("001"));
        if (moves)
            fixture_put(&f, "c", "001", "flour, yeast and water make bread dough");
        else
            fixture_set(&f, "c", "default", "k", "2");
        rebuild_and_edit(&f, moves ? &move : &merge, 1);
        list_edits(&f, &l);
        assert_int_equal(l.n, 1);
        assert_int_equal(l.lost[0][0] != 0, !moves);
        if (moves) assert_int_equal(place(&f, "001"), others[0]);
        fixture_is_sound(&f);
        say(&f, &before);
        assert_ok(try_undo(&f, 0, &waits, &err));
        assert_true(waits); /* the fact goes; what was before is of the old build */
        say(&f, &after);
        same(&before, &after);
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
        edit_list l;
        bool waits = false;
        fixture_open_subjects(&f);
        uint32_t a = place(&f, "000"), b = place(&f, "004"), c = place(&f, "008");
        if (splits)
            assert_ok(try_split(&f, a, 2, &err));
        else
            assert_ok(try_merge(&f, c, b, &err));
        rebuild(&f, GF_START_SERVED);
        assert_ok(try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_HIDE, .cluster = c), &err));
        assert_ok(try_undo(&f, 1, &waits, &err));
        assert_true(waits);
        list_edits(&f, &l);
        assert_int_equal(l.n, 1);
        fixture_is_sound(&f);
        for (int again = 0; again < 2; again++) {
            rebuild(&f, GF_START_SERVED);
            for (int d = 0; d < 12; d++) {
                char id[8];
                snprintf(id, sizeof id, "%03d", d);
                assert_int_equal(place(&f, id), d < 4 ? a : d < 8 ? b : c);
            }
            fixture_is_sound(&f);
        }
        list_edits(&f, &l);
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
    edit_list l;
    bool waits = false;
    (void)where, (void)done, (void)total;
    list_edits(f, &l);
    if (l.n == 0 || strcmp(phase, "naming clusters") != 0) return;
    assert_ok(try_undo(f, 0, &waits, &err));
    assert_true(waits);
}

/* The rebuild began with the merge: its build has it, and the one after it does not. */
static void undo_while_a_rebuild_runs_is_done_by_the_next(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o =
        GF_REBUILD_OPTIONS(.force = true, .threads = 1, .progress = undo_meanwhile, .context = &f);
    fixture_open_subjects(&f);
    uint32_t a = place(&f, "000"), b = place(&f, "004");
    assert_ok(try_merge(&f, a, b, &err));
    assert_ok(fixture_try_rebuild(&f, "c", &o, &result, &err));
    assert_int_equal(place(&f, "004"), a);
    fixture_is_sound(&f);
    o = (gf_rebuild_options)GF_REBUILD_OPTIONS(.threads = 1);
    assert_ok(fixture_try_rebuild(&f, "c", &o, &result, &err)); /* it is due */
    assert_int_equal(place(&f, "000"), a);
    assert_int_equal(place(&f, "004"), b);
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
        edit_list l;
        fixture_open_subjects(&f);
        uint32_t a = place(&f, "000"), b = place(&f, "004"), c = place(&f, "008");
        if (merges)
            assert_ok(try_merge(&f, a, b, &err));
        else
            assert_ok(try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_HIDE, .cluster = b), &err));
        /* Of the cluster b one document is left, which is about the subject of c now. */
        for (int d = 4; d < 7; d++) {
            char id[8];
            snprintf(id, sizeof id, "%03d", d);
            fixture_delete(&f, "c", id);
        }
        fixture_put(&f, "c", "007", "the orbit of that comet and its star is long");
        fixture_set(&f, "c", "default", "k", "2");
        rebuild(&f, merges ? GF_START_FRESH : GF_START_SERVED);
        assert_int_equal(place(&f, "000"), a);
        assert_int_equal(place(&f, "008"), c);
        assert_int_equal(place(&f, "010"), c);
        assert_int_equal(place(&f, "007"), merges ? a : c);
        list_edits(&f, &l);
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
    edit_list l;
    bool waits;
    fixture_open_subjects(&f);
    uint32_t a = place(&f, "000"), b = place(&f, "004");
    const gf_edit_request edits[] = {
        GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = a, .others = &b, .n_others = 1),
        GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .cluster = a)};
    rebuild_and_edit(&f, edits, 2);
    assert_int_equal(place(&f, "004"), a);
    list_edits(&f, &l);
    assert_string_equal(l.lost[0], "");
    fixture_is_sound(&f);
    while (l.n--)
        assert_ok(try_undo(&f, 0, &waits, &err));
    /* Made again as the move before them is undone. */
    assert_ok(try_move(&f, "008", a, &err));
    for (size_t i = 0; i < 2; i++)
        assert_ok(try_edit(&f, &edits[i], &err));
    list_edits(&f, &l);
    assert_ok(try_undo(&f, l.at[0].number, &waits, &err));
    assert_int_equal(place(&f, "004"), a);
    assert_int_equal(place(&f, "008"), place(&f, "009"));
    list_edits(&f, &l);
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
    edit_list l;
    gf_buffer before = {0}, after = {0};
    bool waits;
    fixture_open_subjects(&f);
    uint32_t a = place(&f, "000"), b = place(&f, "004"), c = place(&f, "008");
    say(&f, &before);
    assert_ok(try_merge(&f, a, b, &err));
    assert_ok(try_split(&f, a, 6, &err));
    assert_ok(try_move(&f, "009", a, &err));
    list_edits(&f, &l);
    assert_ok(try_undo(&f, l.at[0].number, &waits, &err));
    assert_false(waits);
    list_edits(&f, &l);
    assert_int_equal(l.n, 2);
    assert_non_null(strstr(l.lost[0], "documents"));
    assert_string_equal(l.lost[1], "");
    assert_int_equal(place(&f, "009"), a);
    assert_int_equal(place(&f, "005"), b);
    fixture_is_sound(&f);
    /* It can be taken back, and changes nothing; the move is made again once more. */
    assert_ok(try_undo(&f, l.at[0].number, &waits, &err));
    assert_int_equal(place(&f, "009"), a);
    assert_int_equal(place(&f, "010"), c);
    assert_ok(try_undo(&f, 0, &waits, &err));
    say(&f, &after);
    same(&before, &after);
    fixture_is_sound(&f);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    fixture_close(&f);
}

static void try_set(fixture *f, uint32_t cluster, const char *name, const char *value)
{
    gf_error err;
    gf_pair set = {gf_slice_str(name), gf_slice_str(value)};
    assert_ok(try_edit(
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
    assert_ok(try_undo(&f, 1, &waits, &err)); /* done stays; before it there was none */
    say(&f, &said);
    assert_non_null(strstr(gf_buffer_cstr(&said), "status=done owner=ann"));
    assert_ok(try_undo(&f, 3, &waits, &err));
    say(&f, &said);
    assert_non_null(strstr(gf_buffer_cstr(&said), "status= owner=ann"));
    try_set(&f, 1, "status", "planned");
    assert_ok(try_undo(&f, 2, &waits, &err));
    say(&f, &said);
    assert_non_null(strstr(gf_buffer_cstr(&said), "status=planned owner= "));
    assert_ok(try_undo(&f, 0, &waits, &err));
    say(&f, &said);
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
        edit_list l;
        uint64_t mark, now;
        int64_t served;
        do
            list_edits(&f, &l);
        while (l.n && try_undo(&f, 0, &waits, &err) == GF_OK);
        assert_ok(try_merge(&f, place(&f, "000"), place(&f, "004"), &err));
        assert_ok(try_move(&f, "009", place(&f, "000"), &err));
        list_edits(&f, &l);
        say(&f, &before);
        assert_ok(gf_collection_mark(f.store, fixture_place("c"), fixture_default(), &mark, &served,
                                     &err));
        gf_memory_fail_at(n);
        done = try_undo(&f, l.at[0].number, &waits, &err) == GF_OK;
        gf_memory_fail_at(-1);
        say(&f, &after);
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
    uint32_t a = place(&f, "000"), b = place(&f, "004"), c = place(&f, "008");
    /* A document is kept where it was moved. */
    assert_ok(try_move(&f, "001", b, &err));
    assert_ok(
        try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_KEEP, .document = GF_SLICE("001")), &err));
    assert_status(GF_ECONFLICT, try_undo(&f, 1, &waits, &err));
    assert_non_null(strstr(err.message, "edit 2 keeps it there: undo 2 first"));
    assert_ok(try_undo(&f, 2, &waits, &err));
    assert_ok(try_undo(&f, 1, &waits, &err));
    assert_int_equal(place(&f, "001"), a);
    /* A document is kept in the cluster that a merge brought it to. */
    assert_ok(try_merge(&f, a, b, &err));
    gf_edit_request keep = GF_EDIT_REQUEST(.kind = GF_EDIT_KEEP, .document = GF_SLICE("004"));
    assert_ok(try_edit(&f, &keep, &err));
    edit_list l;
    list_edits(&f, &l);
    assert_status(GF_ECONFLICT, try_undo(&f, l.at[0].number, &waits, &err));
    assert_non_null(strstr(err.message, "document \"004\" would go back to cluster"));
    assert_ok(try_undo(&f, 0, &waits, &err));
    keep.document = GF_SLICE("000"); /* which was there before */
    assert_ok(try_edit(&f, &keep, &err));
    assert_ok(try_undo(&f, l.at[0].number, &waits, &err));
    assert_int_equal(place(&f, "000"), a);
    assert_int_equal(place(&f, "004"), b);
    assert_ok(try_undo(&f, 0, &waits, &err));
    /* Another cluster got the label meanwhile. */
    assert_ok(try_edit(
        &f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LABEL, .cluster = b, .text = GF_SLICE("Baking")),
        &err));
    assert_ok(try_merge(&f, a, b, &err));
    assert_ok(try_edit(
        &f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LABEL, .cluster = c, .text = GF_SLICE("baking")),
        &err));
    list_edits(&f, &l);
    assert_status(GF_ECONFLICT, try_undo(&f, l.at[1].number, &waits, &err));
    assert_non_null(strstr(err.message, "Baking"));
    assert_ok(try_undo(&f, 0, &waits, &err));
    assert_ok(try_undo(&f, 0, &waits, &err));
    assert_false(waits);
    assert_int_equal(place(&f, "004"), b);
    /* Where what was before is gone the next rebuild brings it back. */
    assert_ok(try_merge(&f, a, b, &err));
    list_edits(&f, &l);
    delete_before(&f, l.at[l.n - 1].number);
    assert_ok(try_undo(&f, 0, &waits, &err));
    assert_true(waits);
    assert_int_equal(place(&f, "004"), a);
    rebuild(&f, GF_START_FRESH);
    assert_true(place(&f, "004") != place(&f, "000"));
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void without_clusters_edits_are_told_as_lost(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    edit_list l;
    fixture_open_subjects(&f);
    uint32_t a = place(&f, "000"), b = place(&f, "004");
    assert_ok(try_merge(&f, a, b, &err));
    for (int round = 0; round < 2; round++) {
        for (int d = 0; d < 12 && round == 0; d++) {
            char id[8];
            snprintf(id, sizeof id, "%03d", d);
            fixture_put(&f, "c", id, "");
        }
        if (round) fixture_put_subjects(&f, "c");
        rebuild(&f, GF_START_SERVED);
        list_edits(&f, &l);
        assert_int_equal(l.n, 1);
        assert_string_equal(l.lost[0], round ? "" : "there are no clusters");
        fixture_is_sound(&f);
    }
    assert_int_equal(place(&f, "000"), place(&f, "004"));
    fixture_close(&f);
}

/* A document that was moved is where the id stays, also after the cluster that it went to has ended. */
static void a_split_follows_merges(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open_subjects(&f);
    uint32_t a = place(&f, "000"), b = place(&f, "004"), c = place(&f, "008");
    assert_ok(try_move(&f, "001", b, &err));
    assert_ok(try_merge(&f, c, b, &err));
    assert_ok(try_split(&f, c, 3, &err));
    assert_int_equal(place(&f, "001"), c);
    assert_int_equal(place(&f, "000"), a);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static gf_status try_label(fixture *f, uint32_t cluster, const char *label, gf_error *err)
{
    return try_edit(f,
                    &GF_EDIT_REQUEST(.kind = GF_EDIT_LABEL, .cluster = cluster,
                                     .text = gf_slice_str(label), .off = !label[0]),
                    err);
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
    edit_list l;
    char label[8];
    bool waits;
    uint32_t gone = 0, left = 0;
    fixture_open_subjects(&f);
    for (uint32_t c = 1; c <= 3; c++) {
        snprintf(label, sizeof label, "L%u", c);
        assert_ok(try_label(&f, c, label, &err));
    }
    fixture_set(&f, "c", "default", "k", "2");
    rebuild(&f, GF_START_FRESH);
    list_edits(&f, &l);
    for (uint32_t c = 1; c <= 3; c++)
        if (l.lost[c - 1][0])
            gone = c;
        else
            left = c;
    assert_true(gone && left);
    snprintf(label, sizeof label, "L%u", gone);
    assert_ok(try_label(&f, left, label, &err));
    fixture_set(&f, "c", "default", "k", "3");
    rebuild(&f, GF_START_FRESH);
    fixture_is_sound(&f);
    list_edits(&f, &l);
    assert_string_equal(l.lost[gone - 1], "");
    assert_label(&f, left, label);
    rebuild(&f, GF_START_SERVED);
    fixture_is_sound(&f);
    /* Without the last word the one before it holds again. */
    assert_ok(try_undo(&f, 0, &waits, &err));
    assert_label(&f, gone, label);
    rebuild(&f, GF_START_SERVED);
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
    edit_list l;
    bool waits;
    fixture_open_subjects(&f);
    uint32_t a = place(&f, "000"), b = place(&f, "004"), c = place(&f, "008");
    int64_t first = fixture_check_served(&f, "c", 12);
    assert_ok(gf_pin_build(f.store, fixture_place("c"), fixture_default(), first, true, &err));
    assert_ok(try_merge(&f, a, b, &err));
    assert_ok(try_label(&f, c, "Mine", &err));
    rebuild(&f, GF_START_SERVED);
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    list_edits(&f, &l);
    assert_ok(try_undo(&f, l.at[0].number, &waits, &err));
    assert_true(waits);
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_MADE);
    assert_true(place(&f, "000") != place(&f, "004"));
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    /* The build has the label in place of its own. */
    assert_ok(try_undo(&f, 0, &waits, &err));
    assert_true(waits);
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_MADE);
    gf_buffer said = {0};
    say(&f, &said);
    assert_null(strstr(gf_buffer_cstr(&said), "Mine"));
    gf_buffer_release(&said);
    assert_ok(try_label(&f, c, "Mine", &err));
    rebuild(&f, GF_START_SERVED);
    assert_ok(try_label(&f, c, "", &err));
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_MADE);
    /* A label of this build is put over its own, which is there at once. */
    assert_ok(try_label(&f, c, "Mine", &err));
    assert_ok(try_undo(&f, 0, &waits, &err));
    assert_false(waits);
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    /* A build of before an edit is served again. */
    a = place(&f, "000");
    assert_ok(try_merge(&f, a, place(&f, "004"), &err));
    assert_ok(gf_pin_publish(f.store, fixture_place("c"), fixture_default(), first, &err));
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_MADE);
    assert_int_equal(place(&f, "004"), place(&f, "000"));
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
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
    uint32_t a = place(&f, "000"), b = place(&f, "004"), c = place(&f, "008");
    assert_ok(try_split(&f, c, 2, &err));
    assert_ok(try_merge(&f, a, b, &err));
    rebuild(&f, GF_START_SERVED);
    assert_ok(try_undo(&f, 2, &waits, &err));
    assert_true(waits);
    assert_ok(gf_pin_publish(f.store, fixture_place("c"), fixture_default(), first, &err));
    say(&f, &before);
    assert_ok(try_undo(&f, 1, &waits, &err));
    assert_true(waits);
    say(&f, &after);
    same(&before, &after);
    fixture_is_sound(&f);
    rebuild(&f, GF_START_SERVED);
    assert_int_equal(place(&f, "000"), a);
    assert_int_equal(place(&f, "004"), b);
    assert_int_equal(place(&f, "008"), c);
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
    assert_ok(try_label(&f, 1, "Mine", &err));
    assert_ok(try_label(&f, 2, own, &err));
    assert_status(GF_ECONFLICT, try_undo(&f, 1, &waits, &err));
    assert_non_null(strstr(err.message, own));
    assert_status(GF_EEXISTS, try_label(&f, 1, "", &err));
    assert_ok(try_undo(&f, 2, &waits, &err));
    assert_ok(try_undo(&f, 1, &waits, &err));
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
    edit_list l;
    gf_batch *batch;
    gf_buffer key = {0};
    fixture_open_subjects(&f);
    uint32_t a = place(&f, "000"), b = place(&f, "004"), c = place(&f, "008");
    assert_ok(try_merge(&f, a, b, &err));
    gf_tables_collection_key(&key, GF_SLICE("test"), GF_SLICE("c"));
    assert_ok(gf_batch_create(f.store->db, &batch, &err));
    gf_batch_delete_cell(batch, f.store->tables.collections, gf_buffer_view(&key),
                         GF_COLLECTIONS_MAIN, GF_SLICE("pins"));
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_buffer_release(&key);
    rebuild(&f, GF_START_FRESH);
    assert_int_equal(place(&f, "004"), place(&f, "000"));
    assert_int_equal(rebuild_if_due(&f), GF_REBUILD_UNMODIFIED);
    assert_ok(try_move(&f, "009", place(&f, "000"), &err));
    list_edits(&f, &l);
    assert_int_equal(l.n, 2);
    assert_int_equal(l.at[0].kind, GF_EDIT_MERGE);
    assert_int_equal(l.at[1].number, 2);
    assert_true(place(&f, "008") == c);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- random histories ------------------------------------------------------------------------ */

enum { MOST_DOCUMENTS = 48, MOST_CLUSTERS = 64 };

/* What a read says of a cluster. */
typedef struct shown_cluster {
    char label[64];
    bool hidden, locked;
} shown_cluster;

typedef struct history {
    fixture f;
    gf_random random;
    uint32_t ids[MOST_CLUSTERS], highest; /* n_ids: of the served build; the highest ever seen */
    shown_cluster shown[MOST_CLUSTERS];   /* n_ids */
    size_t n_ids;
    uint32_t were[MOST_CLUSTERS]; /* n_were: of the served build before the last step */
    size_t n_were;
    bool there[MOST_DOCUMENTS];
    bool vectors; /* rows are given, and are not of the texts */
    bool waiting; /* an edit of an earlier build was taken back, and no rebuild came since */
    uint32_t coming[MOST_CLUSTERS]; /* n_coming: clusters that these were about */
    size_t n_coming;
    uint64_t made, split, undone, lost, returned, topics, published;
} history;

static gf_status note_id(void *context, const gf_cluster_info *c, gf_error *err)
{
    history *h = context;
    (void)err;
    assert_true(h->n_ids < MOST_CLUSTERS);
    shown_cluster *s = &h->shown[h->n_ids];
    snprintf(s->label, sizeof s->label, "%.*s", GF_SLICE_ARG(c->label));
    s->hidden = c->hidden;
    s->locked = c->locked;
    h->ids[h->n_ids++] = c->id;
    return GF_OK;
}

static bool is_one_of(uint32_t id, const uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id) return true;
    return false;
}

static bool is_there(const history *h, uint32_t id)
{
    return is_one_of(id, h->ids, h->n_ids);
}

/* An edit names the cluster; one that a merge ended only where `ended` says so. */
static bool is_named(const edit_list *l, uint32_t id, bool ended)
{
    for (size_t i = 0; i < l->n; i++) {
        bool others = ended || l->at[i].kind == GF_EDIT_SPLIT;
        if (l->at[i].cluster == id || (others && is_one_of(id, l->others[i], l->at[i].n_others)))
            return true;
    }
    return false;
}

static void read_clusters(history *h)
{
    gf_view *v;
    gf_error err;
    h->n_ids = 0;
    assert_ok(gf_view_open(h->f.store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_clusters(v, note_id, h, &err));
    gf_view_close(v);
}

/*
 * Ids of the served build. One that was not there before the step is above all that were ever given, or
 * comes back with the documents that an edit names it by: `standing`, or, where an edit was taken back,
 * those of before, or of an earlier build what the rebuild undoes.
 */
static void look_at_ids(history *h, const edit_list *standing, const edit_list *taken_back)
{
    uint32_t seen = h->highest;
    memcpy(h->were, h->ids, sizeof h->were);
    h->n_were = h->n_ids;
    read_clusters(h);
    for (size_t i = 0; i < h->n_ids; i++) {
        uint32_t id = h->ids[i];
        if (id > h->highest) h->highest = id;
        if (id > seen || is_one_of(id, h->were, h->n_were)) continue;
        if (!h->waiting && is_one_of(id, h->coming, h->n_coming)) continue;
        if (!is_named(standing, id, false) && !(taken_back && is_named(taken_back, id, true)))
            fail_msg("cluster %u was gone, and its id has been given again", id);
        h->returned++;
    }
}

static uint32_t any_id(history *h)
{
    return h->ids[gf_random_below(&h->random, h->n_ids)];
}

/* The cluster that an edit speaks of, after later merges. */
static uint32_t now_called(const edit_list *l, size_t from, uint32_t id)
{
    for (size_t i = from + 1; i < l->n; i++)
        for (size_t o = 0; o < l->at[i].n_others && l->at[i].kind == GF_EDIT_MERGE; o++)
            if (l->others[i][o] == id) id = l->at[i].cluster;
    return id;
}

static bool is_overruled(const edit_list *l, size_t at)
{
    for (size_t i = at + 1; i < l->n; i++)
        if (strcmp(l->document[i], l->document[at]) == 0) return true;
    return false;
}

/* Edits of labels and of topics say what a cluster is called; a topic that is deleted is told by its name. */
static bool is_last_of_its_kind(const edit_list *l, size_t at)
{
    const gf_edit *e = &l->at[at];
    bool names = e->kind == GF_EDIT_LABEL || e->kind == GF_EDIT_TOPIC;
    for (size_t i = at + 1; i < l->n; i++) {
        const gf_edit *later = &l->at[i];
        if (later->kind == GF_EDIT_TOPIC && later->off && strcmp(l->text[i], l->text[at]) == 0)
            return false;
        bool alike = names ? later->kind == GF_EDIT_LABEL || later->kind == GF_EDIT_TOPIC
                           : later->kind == e->kind;
        if (alike && later->cluster == e->cluster) return false;
    }
    return true;
}

/* An edit does not hold: all edits are told for whoever looks why. */
GF_PRINTF(3, 4) static void fail_edit(const edit_list *l, size_t at, const char *format, ...)
{
    char words[256];
    va_list given;
    va_start(given, format);
    vsnprintf(words, sizeof words, format, given);
    va_end(given);
    for (size_t i = 0; i < l->n; i++) {
        const gf_edit *e = &l->at[i];
        print_message("%" PRIu64 ": %s%s, cluster %u, document \"%s\", text \"%s\", others",
                      e->number, gf_edit_kind_name(e->kind), e->off ? " off" : "", e->cluster,
                      l->document[i], l->text[i]);
        for (size_t o = 0; o < e->n_others; o++)
            print_message(" %u", l->others[i][o]);
        print_message(", lost: %s\n", l->lost[i]);
    }
    fail_msg("edit %" PRIu64 ": %s", l->at[at].number, words);
}

/* What an edit says of a cluster that no merge has ended is what a read says of it. */
static void check_shown(const history *h, const edit_list *l, size_t at)
{
    const gf_edit *e = &l->at[at];
    size_t i = 0;
    while (i < h->n_ids && h->ids[i] != e->cluster)
        i++;
    if (i == h->n_ids || !is_last_of_its_kind(l, at)) return;
    const shown_cluster *s = &h->shown[i];
    bool named = (e->kind == GF_EDIT_LABEL || e->kind == GF_EDIT_TOPIC) && !e->off;
    if (named && strcmp(s->label, l->text[at]) != 0)
        fail_edit(l, at, "cluster %u is called %s, not %s", e->cluster, s->label, l->text[at]);
    if (e->kind == GF_EDIT_HIDE && s->hidden == e->off)
        fail_edit(l, at, "cluster %u is %s", e->cluster, e->off ? "hidden still" : "shown");
    if (e->kind == GF_EDIT_LOCK && s->locked == e->off)
        fail_edit(l, at, "cluster %u is %s", e->cluster, e->off ? "locked still" : "not locked");
}

/* Every edit holds, or says why not. taken_back: the edits before one was; NULL: none was. */
static void check_edits(history *h, const edit_list *taken_back)
{
    static edit_list l;
    list_edits(&h->f, &l);
    look_at_ids(h, &l, taken_back);
    if (h->waiting) return;
    h->n_coming = 0;
    for (size_t i = 0; i < l.n; i++) {
        const gf_edit *e = &l.at[i];
        if (l.lost[i][0]) {
            h->lost++;
            continue;
        }
        check_shown(h, &l, i);
        bool said_of_one = e->kind <= GF_EDIT_STATE || e->kind == GF_EDIT_TOPIC;
        if (e->kind == GF_EDIT_TOPIC && (e->off || !e->cluster)) continue;
        if (said_of_one && !is_last_of_its_kind(&l, i)) continue;
        uint32_t id = now_called(&l, i, e->cluster);
        if (!is_there(h, id)) fail_edit(&l, i, "cluster %u is not there", id);
        for (size_t o = 0; o < e->n_others; o++) {
            uint32_t other = l.others[i][o];
            if (e->kind == GF_EDIT_MERGE && is_there(h, other))
                fail_edit(&l, i, "cluster %u is still there", other);
            if (e->kind == GF_EDIT_SPLIT && !is_there(h, now_called(&l, i, other)))
                fail_edit(&l, i, "cluster %u is not there", other);
        }
        bool places = e->kind == GF_EDIT_MOVE || e->kind == GF_EDIT_KEEP;
        uint32_t found = places && !is_overruled(&l, i) ? place(&h->f, l.document[i]) : 0;
        if (found && found != id)
            fail_edit(&l, i, "document %s is in %u, not in %u", l.document[i], found, id);
    }
}

static void put_some(history *h)
{
    static const char *const words[4][6] = {
        {"engine", "wheel", "brake", "tyre", "road", "motor"},
        {"guitar", "chord", "string", "melody", "band", "song"},
        {"bread", "flour", "oven", "dough", "yeast", "crust"},
        {"planet", "orbit", "comet", "star", "moon", "galaxy"},
    };
    size_t n = 1 + gf_random_below(&h->random, 12);
    for (size_t i = 0; i < n; i++) {
        size_t d = gf_random_below(&h->random, MOST_DOCUMENTS);
        char id[16], text[128] = "";
        snprintf(id, sizeof id, "d%02zu", d);
        for (int w = 0; w < 7; w++) {
            size_t subject = gf_random_below(&h->random, 5);
            if (subject == 4) subject = gf_random_below(&h->random, 4);
            strcat(text, words[w < 4 ? d % 4 : subject][gf_random_below(&h->random, 6)]);
            strcat(text, " ");
        }
        fixture_put(&h->f, "c", id, text);
        h->there[d] = true;
    }
}

static void delete_some(history *h)
{
    size_t n = 1 + gf_random_below(&h->random, 6), left = 0;
    for (size_t d = 0; d < MOST_DOCUMENTS; d++)
        left += h->there[d];
    for (size_t d = gf_random_below(&h->random, MOST_DOCUMENTS);
         d < MOST_DOCUMENTS && n && left > 12; d++) {
        char id[16];
        if (!h->there[d]) continue;
        snprintf(id, sizeof id, "d%02zu", d);
        fixture_delete(&h->f, "c", id);
        h->there[d] = false;
        n--, left--;
    }
}

static void make_one(history *h)
{
    gf_error err;
    char id[16];
    gf_buffer before = {0}, after = {0};
    size_t kind = gf_random_below(&h->random, 10);
    uint32_t cluster = any_id(h), other = any_id(h);
    bool off = gf_random_below(&h->random, 3) == 0;
    char label[32];
    gf_status st;
    bool waits;
    edit_list l;
    list_edits(&h->f, &l);
    if (l.n > 50) return;
    say(&h->f, &before);
    snprintf(id, sizeof id, "d%02" PRIu64, gf_random_below(&h->random, MOST_DOCUMENTS));
    switch (kind) {
    case 0:
    case 1:
        st = try_merge(&h->f, cluster, other, &err);
        break;
    case 2:
        st = try_split(&h->f, cluster, 2 + (uint32_t)gf_random_below(&h->random, 2), &err);
        break;
    case 3:
    case 4:
        st = try_move(&h->f, id, cluster, &err);
        break;
    case 5:
        st = try_edit(&h->f, &GF_EDIT_REQUEST(.kind = GF_EDIT_KEEP, .document = gf_slice_str(id)),
                      &err);
        break;
    case 6:
        st = try_edit(&h->f, &GF_EDIT_REQUEST(.kind = GF_EDIT_HIDE, .cluster = cluster, .off = off),
                      &err);
        break;
    case 7:
        st = try_edit(&h->f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .cluster = cluster, .off = off),
                      &err);
        break;
    default:
        snprintf(label, sizeof label, "name %" PRIu64, gf_random_below(&h->random, 12));
        st = try_label(&h->f, cluster, off ? "" : label, &err);
        break;
    }
    /* Clusters of vectors have no terms to be locked by; what is as it is wanted is said to be so. */
    bool refused = st == GF_EINVAL || st == GF_ENOTFOUND || st == GF_EEXISTS ||
                   (st == GF_ECONFLICT && h->vectors);
    if (st != GF_OK && !refused) fail_msg("%s", err.message);
    h->made += st == GF_OK;
    h->split += st == GF_OK && kind == 2;
    if (st == GF_OK && gf_random_below(&h->random, 4) == 0) {
        look_at_ids(h, &l, NULL); /* also what is taken back has used its ids up */
        assert_ok(try_undo(&h->f, 0, &waits, &err));
        say(&h->f, &after);
        same(&before, &after);
        h->undone++;
        memcpy(h->ids, h->were, sizeof h->ids);
        h->n_ids = h->n_were;
    }
    gf_buffer_release(&before);
    gf_buffer_release(&after);
}

/* A topic of two of the subjects' words, or the end of one: either shows with the next rebuild. */
static void change_topics(history *h)
{
    static const char *const words[] = {"wheel brake", "chord melody", "flour dough", "orbit moon"};
    gf_error err;
    char name[16];
    uint64_t which = gf_random_below(&h->random, 4);
    snprintf(name, sizeof name, "topic %" PRIu64, which);
    gf_topic_request r =
        GF_TOPIC_REQUEST(.name = gf_slice_str(name), .words = gf_slice_str(words[which]));
    gf_status st =
        gf_topic_add(h->f.store, fixture_place("c"), fixture_default(), &r, NULL, NULL, &err);
    if (st == GF_EEXISTS)
        st = gf_topic_delete(h->f.store, fixture_place("c"), fixture_default(), gf_slice_str(name),
                             GF_SLICE(""), GF_SLICE(""), NULL, NULL, &err);
    if (st != GF_OK && st != GF_EINVAL) fail_msg("%s", err.message);
    h->topics += st == GF_OK;
}

typedef struct kept_builds {
    int64_t at[16];
    size_t n;
} kept_builds;

static gf_status note_kept(void *context, const gf_build_info *info, gf_error *err)
{
    kept_builds *kept = context;
    (void)err;
    if (!info->served && kept->n < 16) kept->at[kept->n++] = info->build;
    return GF_OK;
}

/* Another build is served, which edits of later ones are owed to until it is made anew. */
static void publish_one(history *h)
{
    gf_error err;
    kept_builds kept = {.n = 0};
    assert_ok(
        gf_builds_visit(h->f.store, fixture_place("c"), fixture_default(), note_kept, &kept, &err));
    if (!kept.n) return;
    assert_ok(gf_pin_publish(h->f.store, fixture_place("c"), fixture_default(),
                             kept.at[gf_random_below(&h->random, kept.n)], &err));
    h->waiting = true;
    h->published++;
    read_clusters(h);
}

/* l: set to the edits of before. */
static void undo_one(history *h, edit_list *l)
{
    gf_error err;
    bool waits = false;
    list_edits(&h->f, l);
    if (l->n == 0) return;
    size_t at = gf_random_below(&h->random, l->n);
    gf_status st = try_undo(&h->f, l->at[at].number, &waits, &err);
    if (st != GF_OK && st != GF_ECONFLICT) fail_msg("%s", err.message);
    h->undone += st == GF_OK;
    h->waiting = h->waiting || waits;
    for (size_t i = 0; i <= l->at[at].n_others && waits && h->n_coming < MOST_CLUSTERS; i++)
        h->coming[h->n_coming++] = i ? l->others[at][i - 1] : l->at[at].cluster;
}

/* Rows of some columns each, which have nothing to do with the texts; one in ten documents has none. */
static void rebuild_vectors(history *h, gf_start start)
{
    enum { COLUMNS = 5 };
    gf_error err;
    gf_rebuild_result result;
    gf_slice id[MOST_DOCUMENTS];
    char name[MOST_DOCUMENTS][16];
    float value[MOST_DOCUMENTS * COLUMNS];
    gf_matrix m = {.n_cols = COLUMNS, .id = id, .dense = value};
    for (size_t d = 0; d < MOST_DOCUMENTS; d++) {
        if (!h->there[d] || gf_random_below(&h->random, 10) == 0) continue;
        snprintf(name[d], sizeof name[d], "d%02zu", d);
        id[m.n_rows] = gf_slice_str(name[d]);
        for (size_t c = 0; c < COLUMNS; c++)
            value[m.n_rows * COLUMNS + c] =
                (float)(gf_random_unit(&h->random) - 0.3 + (d / 4 % COLUMNS == c ? 1.5 : 0));
        m.n_rows++;
    }
    gf_rebuild_options o =
        GF_REBUILD_OPTIONS(.force = true, .threads = 1, .start = start, .matrix = &m);
    assert_ok(fixture_try_rebuild(&h->f, "c", &o, &result, &err));
}

/* The rows that the served build keeps, as a rebuild without a matrix has them. */
static void rebuild_kept(history *h, gf_start start)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o =
        GF_REBUILD_OPTIONS(.force = true, .threads = 1, .start = start, .same_rows = true);
    assert_ok(fixture_try_rebuild(&h->f, "c", &o, &result, &err));
}

static void rebuild_some(history *h)
{
    char k[8];
    if (gf_random_below(&h->random, 3) == 0) {
        snprintf(k, sizeof k, "%" PRIu64, 2 + gf_random_below(&h->random, 5));
        fixture_set(&h->f, "c", "default", "k", k);
    }
    gf_start start = gf_random_below(&h->random, 3) ? GF_START_SERVED : GF_START_FRESH;
    if (!h->vectors)
        rebuild(&h->f, start);
    else if (h->n_ids == 0 || gf_random_below(&h->random, 2))
        rebuild_vectors(h, start);
    else
        rebuild_kept(h, start);
    h->waiting = false;
}

static void run_history(history *h, uint64_t seed, bool vectors)
{
    static edit_list before;
    h->random = gf_random_seed(seed, 1);
    memset(h->there, 0, sizeof h->there);
    h->highest = 0;
    h->n_ids = 0;
    h->vectors = vectors;
    h->waiting = false;
    h->n_coming = 0;
    fixture_open(&h->f);
    for (int i = 0; i < 4; i++)
        put_some(h);
    fixture_set(&h->f, "c", "default", "k", "4");
    rebuild_some(h);
    check_edits(h, NULL);
    for (int step = 0; step < 14; step++) {
        size_t what = gf_random_below(&h->random, 12);
        before.n = 0;
        if (what < 5)
            make_one(h);
        else if (what == 5)
            undo_one(h, &before);
        else if (what == 6)
            put_some(h);
        else if (what == 7)
            delete_some(h);
        else if (what == 8)
            publish_one(h);
        else if (what == 9 && !h->vectors)
            change_topics(h);
        else
            rebuild_some(h);
        check_edits(h, what == 5 ? &before : NULL);
    }
    fixture_is_sound(&h->f);
    fixture_close(&h->f);
}

static void run_histories(bool vectors)
{
    static history h;
    const char *given = getenv("GROUPERFISH_HISTORIES");
    int n = given && atoi(given) > 0 ? atoi(given) : 25;
    memset(&h, 0, sizeof h);
    uint64_t seed = gf_test_seed();
    for (int i = 0; i < n; i++) {
        print_message("history of seed %" PRIu64 "\n", seed + (uint64_t)i);
        run_history(&h, seed + (uint64_t)i, vectors);
    }
    print_message("%d histories%s: %" PRIu64 " edits, %" PRIu64 " taken back, %" PRIu64
                  " times one was told as lost, %" PRIu64 " times a cluster came back, %" PRIu64
                  " topics, %" PRIu64 " times an earlier build was served\n",
                  n, vectors ? " of given rows" : "", h.made, h.undone, h.lost, h.returned,
                  h.topics, h.published);
    assert_true(h.made > (uint64_t)n && (h.split || n < 25));
}

static void edits_hold_or_are_told_of(void **state)
{
    (void)state;
    run_histories(false);
}

static void edits_of_given_rows_hold_or_are_told_of(void **state)
{
    (void)state;
    run_histories(true);
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
    edit_list l = {.n = 0};
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
                                                  note_edit, &l, &err));
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
    assert_status(GF_ECORRUPT,
                  try_edit(&f, &GF_EDIT_REQUEST(.kind = GF_EDIT_HIDE, .cluster = id), &err));
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
    uint32_t a = place(&f, "000"), b = place(&f, "004");
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
    assert_status(GF_ECORRUPT, try_move(&f, "001", b, &err));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_merge_is_at_once_and_lasts),
        cmocka_unit_test(a_split_keeps_the_id_and_makes_new_ones),
        cmocka_unit_test(undo_restores_every_byte),
        cmocka_unit_test(a_document_stays_where_it_was_moved),
        cmocka_unit_test(a_locked_centre_does_not_move),
        cmocka_unit_test(documents_keep_their_next_where_nothing_joins_a_lock),
        cmocka_unit_test(an_edit_made_while_a_rebuild_runs_is_in_it),
        cmocka_unit_test(undo_after_a_rebuild_leaves_the_new_build_alone),
        cmocka_unit_test(undo_after_a_rebuild_is_done_by_the_next),
        cmocka_unit_test(undo_while_a_rebuild_runs_is_done_by_the_next),
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
        cmocka_unit_test(an_edit_below_one_that_was_forgotten_waits),
        cmocka_unit_test(an_own_label_that_is_taken_does_not_come_back),
        cmocka_unit_test(edits_outlast_the_pins),
        cmocka_unit_test(edits_hold_or_are_told_of),
        cmocka_unit_test(edits_of_given_rows_hold_or_are_told_of),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(a_size_that_is_too_large_is_damage),
        cmocka_unit_test(a_membership_of_no_cluster_is_damage),
    };
    return cmocka_run_group_tests_name("edits", tests, NULL, NULL);
}
