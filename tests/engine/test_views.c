#include "tests/engine/fixture.h"

#include <stdlib.h>

static gf_view *open_at(fixture *f, int64_t build)
{
    gf_error err;
    gf_view *view;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), build, &view, &err));
    return view;
}

static void begin(fixture *f)
{
    fixture_open(f);
    fixture_put_subjects(f, "c");
    fixture_set(f, "c", "default", "k", "3");
    fixture_rebuild(f, "c");
}

/* ---- what a view lists ----------------------------------------------------------------------- */

typedef struct listing {
    gf_buffer text;
    uint32_t ids[8]; /* n */
    uint64_t sizes[8];
    size_t n;
} listing;

static gf_status list_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    listing *l = context;
    if (l->n == 8) return gf_fail(err, GF_ELIMIT, "more than eight clusters");
    if (info->n_terms == 0) return gf_fail(err, GF_EINVAL, "a cluster without terms");
    for (size_t i = 1; i < info->n_terms; i++)
        if (info->terms[i].weight > info->terms[i - 1].weight)
            return gf_fail(err, GF_EINVAL, "terms are not by weight");
    l->ids[l->n] = info->id;
    l->sizes[l->n++] = info->size;
    gf_buffer_reset(&l->text);
    gf_buffer_slice(&l->text, info->label);
    return gf_buffer_check(&l->text, err);
}

static gf_status list_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    gf_buffer *out = context;
    gf_buffer_slice(out, id);
    gf_buffer_str(out, m->replaced ? "* " : " ");
    return gf_buffer_check(out, err);
}

static listing clusters_of(gf_view *view)
{
    gf_error err;
    listing l = {.n = 0};
    assert_ok(gf_view_clusters(view, list_cluster, &l, &err));
    return l;
}

static uint32_t cluster_of(gf_view *view, const char *id)
{
    gf_error err;
    gf_membership m;
    assert_ok(gf_view_membership(view, gf_slice_str(id), &m, &err));
    return m.cluster;
}

static void members_are(gf_view *view, uint32_t cluster, uint64_t limit, const char *expected)
{
    gf_error err;
    gf_buffer text = {0};
    assert_ok(gf_view_members(view, cluster, limit, list_member, &text, &err));
    assert_slice(gf_buffer_view(&text), expected);
    gf_buffer_release(&text);
}

static void memberships_are(gf_view *view, const char *expected)
{
    gf_error err;
    uint64_t n;
    assert_null(fixture_fault_of(view, &n)); /* the lists of the clusters say the same */
    gf_buffer text = {0};
    assert_ok(gf_view_memberships(view, list_member, &text, &err));
    assert_slice(gf_buffer_view(&text), expected);
    gf_buffer_release(&text);
}

/* ---- clusters and members -------------------------------------------------------------------- */

static gf_status check_rank(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)id;
    float *last = context;
    if (m->score > *last) return gf_fail(err, GF_EINVAL, "not by falling score");
    if (m->second > m->score) return gf_fail(err, GF_EINVAL, "a nearer runner-up");
    if (!m->runner_up || !m->runner_up_label.len || m->runner_up == m->cluster)
        return gf_fail(err, GF_EINVAL, "no runner-up");
    *last = m->score;
    return GF_OK;
}

static void members_come_best_first(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_posts(&f, "c", 200);
    fixture_set(&f, "c", "default", "k", "6");
    fixture_rebuild(&f, "c");
    gf_view *view = open_at(&f, 0);
    listing l = clusters_of(view);
    uint64_t sum = 0;
    for (size_t i = 0; i < l.n; i++) {
        float last = 2;
        assert_ok(gf_view_members(view, l.ids[i], 0, check_rank, &last, &err));
        sum += l.sizes[i];
        if (i) assert_true(l.sizes[i] <= l.sizes[i - 1]);
    }
    assert_int_equal(sum, 200);
    gf_buffer_release(&l.text);
    gf_view_close(view);
    fixture_close(&f);
}

static void clusters_are_found_by_id_and_label(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    begin(&f);
    gf_view *view = open_at(&f, 0);
    listing all = clusters_of(view);
    assert_int_equal(all.n, 3);
    for (size_t i = 0; i < 3; i++) {
        listing by_id = {.n = 0}, by_label = {.n = 0};
        assert_int_equal(all.sizes[i], 4);
        assert_ok(gf_view_cluster(view, all.ids[i], (gf_slice){0}, list_cluster, &by_id, &err));
        assert_ok(
            gf_view_cluster(view, 0, gf_buffer_view(&by_id.text), list_cluster, &by_label, &err));
        assert_int_equal(by_id.ids[0], all.ids[i]);
        assert_int_equal(by_label.ids[0], all.ids[i]);
        gf_buffer_release(&by_id.text);
        gf_buffer_release(&by_label.text);
    }
    listing none = {.n = 0};
    assert_status(GF_ENOTFOUND,
                  gf_view_cluster(view, 999, (gf_slice){0}, list_cluster, &none, &err));
    assert_status(GF_ENOTFOUND,
                  gf_view_cluster(view, 0, GF_SLICE("avenue-q"), list_cluster, &none, &err));
    assert_status(GF_ENOTFOUND, gf_view_members(view, 999, 0, list_member, &none.text, &err));
    assert_int_equal(none.n, 0);
    gf_buffer_release(&all.text);
    gf_view_close(view);
    fixture_close(&f);
}

/* ---- what happens after the build ------------------------------------------------------------ */

static void deleted_documents_vanish(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_membership m;
    begin(&f);
    gf_view *before = open_at(&f, 0);
    fixture_delete(&f, "c", "001");
    fixture_delete(&f, "c", "002");
    fixture_delete(&f, "c", "004");
    gf_view *after = open_at(&f, 0);
    listing l = clusters_of(after);
    assert_int_equal(l.sizes[0], 4);
    assert_int_equal(l.sizes[1], 3);
    assert_int_equal(l.sizes[2], 2);
    assert_int_equal(l.ids[2], cluster_of(after, "000"));
    memberships_are(after, "000 003 005 006 007 008 009 010 011 ");
    assert_status(GF_ENOTFOUND, gf_view_membership(after, GF_SLICE("001"), &m, &err));
    assert_status(GF_ENOTFOUND, gf_view_document(after, GF_SLICE("001"), NULL, NULL, &err));
    gf_buffer_release(&l.text);
    /* The view that was open sees none of it. */
    memberships_are(before, "000 001 002 003 004 005 006 007 008 009 010 011 ");
    cluster_of(before, "001");
    gf_view_close(before);
    gf_view_close(after);
    fixture_close(&f);
}

/* ---- the weakest, and sizes above a score ---------------------------------------------------- */

typedef struct ranked {
    char ids[400][16]; /* n */
    float scores[400];
    size_t n;
} ranked;

static gf_status note_rank(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    ranked *r = context;
    if (r->n == 400 || id.len > 15) return gf_fail(err, GF_ELIMIT, "no room");
    snprintf(r->ids[r->n], 16, "%.*s", GF_SLICE_ARG(id));
    r->scores[r->n++] = m->score;
    return GF_OK;
}

static void the_weakest_are_the_last_members(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_posts(&f, "c", 120);
    fixture_set(&f, "c", "default", "k", "4");
    fixture_rebuild(&f, "c");
    gf_view *view = open_at(&f, 0);
    listing l = clusters_of(view);
    gf_view_close(view);
    for (int round = 0; round < 2; round++) { /* then without the very weakest */
        ranked best = {.n = 0}, worst = {.n = 0}, three = {.n = 0};
        view = open_at(&f, 0);
        assert_ok(gf_view_members(view, l.ids[0], 0, note_rank, &best, &err));
        assert_ok(gf_view_weakest(view, l.ids[0], 0, note_rank, &worst, &err));
        assert_ok(gf_view_weakest(view, l.ids[0], 3, note_rank, &three, &err));
        assert_status(GF_ENOTFOUND, gf_view_weakest(view, 99, 3, note_rank, &three, &err));
        assert_int_equal(worst.n, best.n);
        assert_int_equal(three.n, 3);
        for (size_t i = 0; i < worst.n; i++) {
            assert_string_equal(worst.ids[i], best.ids[best.n - 1 - i]);
            if (i) assert_true(worst.scores[i] >= worst.scores[i - 1]);
            if (i < 3) assert_string_equal(three.ids[i], worst.ids[i]);
        }
        gf_view_close(view);
        fixture_delete(&f, "c", worst.ids[0]);
    }
    gf_buffer_release(&l.text);
    fixture_close(&f);
}

typedef struct above {
    float min_score;
    uint64_t of[16]; /* by cluster id: members that count, by the walk over all */
    uint64_t last, n;
} above;

static gf_status count_above(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    above *a = context;
    (void)id, (void)err;
    a->of[m->cluster] += m->score >= a->min_score;
    return GF_OK;
}

static gf_status compare_above(void *context, const gf_cluster_info *info, gf_error *err)
{
    above *a = context;
    if (info->size != a->of[info->id]) return gf_fail(err, GF_EINVAL, "another size");
    if (info->size > a->last) return gf_fail(err, GF_EINVAL, "not by falling size");
    a->last = info->size;
    a->n++;
    return GF_OK;
}

static void sizes_count_what_reaches_a_score(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_posts(&f, "c", 200);
    fixture_set(&f, "c", "default", "k", "6");
    fixture_rebuild(&f, "c");
    gf_view *view = open_at(&f, 0);
    listing l = clusters_of(view);
    ranked members = {.n = 0};
    assert_ok(gf_view_members(view, l.ids[0], 0, note_rank, &members, &err));
    gf_view_close(view);
    fixture_delete(&f, "c", members.ids[2]);
    view = open_at(&f, 0);
    /* One bound is a member's own score: it counts. */
    float bounds[] = {0, 0.1F, members.scores[5], 0.5F, 1};
    for (size_t i = 0; i < 5; i++) {
        above a = {.min_score = bounds[i], .last = UINT64_MAX};
        assert_ok(gf_view_memberships(view, count_above, &a, &err));
        assert_ok(gf_view_clusters_above(view, bounds[i], compare_above, &a, &err));
        assert_int_equal(a.n, l.n);
        if (i == 2) assert_true(a.of[l.ids[0]] >= 5);
    }
    gf_view_close(view);
    gf_buffer_release(&l.text);
    fixture_close(&f);
}

static void members_are_limited_after_those_that_went(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    begin(&f);
    gf_view *view = open_at(&f, 0);
    gf_buffer text = {0};
    uint32_t cluster = cluster_of(view, "008");
    assert_ok(gf_view_members(view, cluster, 0, list_member, &text, &err));
    assert_int_equal(text.len, 16);
    gf_view_close(view);
    char best[4], expected[16];
    snprintf(best, sizeof best, "%.3s", text.ptr);
    snprintf(expected, sizeof expected, "%.8s", text.ptr + 4);
    fixture_delete(&f, "c", best);
    view = open_at(&f, 0);
    members_are(view, cluster, 2, expected);
    gf_view_close(view);
    gf_buffer_release(&text);
    fixture_close(&f);
}

static void later_documents_are_not_in_the_build(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_membership m;
    begin(&f);
    fixture_put(&f, "c", "005", "bread, put anew");
    fixture_delete(&f, "c", "006");
    fixture_put(&f, "c", "006", "dough, deleted and put again");
    fixture_put(&f, "c", "new", "a comet");
    gf_view *view = open_at(&f, 0);
    memberships_are(view, "000 001 002 003 004 005* 006* 007 008 009 010 011 ");
    assert_status(GF_ENOTFOUND, gf_view_membership(view, GF_SLICE("new"), &m, &err));
    assert_string_equal(err.message, "document \"new\" was put after the build");
    assert_status(GF_ENOTFOUND, gf_view_membership(view, GF_SLICE("never"), &m, &err));
    gf_view_close(view);
    fixture_rebuild(&f, "c");
    view = open_at(&f, 0);
    memberships_are(view, "000 001 002 003 004 005 006 007 008 009 010 011 new ");
    gf_view_close(view);
    fixture_close(&f);
}

/* An old build is read as it was, but for what has been deleted since. */
static void old_builds_are_read_by_their_time(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_view *none;
    begin(&f);
    int64_t first = fixture_read(&f, "c").served;
    fixture_put(&f, "c", "new", "a comet");
    fixture_delete(&f, "c", "000");
    int64_t second = fixture_rebuild(&f, "c").build;
    fixture_delete(&f, "c", "011");
    gf_view *view = open_at(&f, first);
    assert_false(gf_view_build(view)->served);
    assert_int_equal(gf_view_build(view)->build, first);
    memberships_are(view, "001 002 003 004 005 006 007 008 009 010 ");
    gf_view_close(view);
    view = open_at(&f, second);
    assert_true(gf_view_build(view)->served);
    memberships_are(view, "001 002 003 004 005 006 007 008 009 010 new ");
    gf_view_close(view);
    assert_status(GF_ENOTFOUND, gf_view_open(f.store, fixture_place("c"), fixture_default(),
                                             second + 1, &none, &err));
    assert_status(GF_ENOTFOUND,
                  gf_view_open(f.store, fixture_place("c"), GF_SLICE("other"), 0, &none, &err));
    assert_status(GF_ENOTFOUND,
                  gf_view_open(f.store, fixture_place("d"), fixture_default(), 0, &none, &err));
    assert_int_equal(gf_collection_create(f.store, fixture_place("d"), &err), GF_OK);
    assert_status(GF_ENOTFOUND,
                  gf_view_open(f.store, fixture_place("d"), fixture_default(), 0, &none, &err));
    fixture_close(&f);
}

/* A view outlives the builds and the collection that it reads. */
static void a_view_keeps_what_it_sees(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    uint64_t memberships;
    begin(&f);
    gf_view *view = open_at(&f, 0);
    for (int i = 0; i < 4; i++)
        fixture_rebuild(&f, "c");
    assert_ok(gf_collection_delete(f.store, fixture_place("c"), &err));
    assert_null(fixture_fault_of(view, &memberships));
    assert_int_equal(memberships, 12);
    gf_view_close(view);
    fixture_close(&f);
}

static void a_visitor_may_end_a_walk(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    begin(&f);
    gf_view *view = open_at(&f, 0);
    gf_buffer one; /* room for one id alone */
    gf_buffer_init(&one, 4);
    assert_status(GF_ELIMIT, gf_view_memberships(view, list_member, &one, &err));
    assert_slice(gf_buffer_view(&one), "000 ");
    memberships_are(view, "000 001 002 003 004 005 006 007 008 009 010 011 ");
    gf_buffer_release(&one);
    gf_view_close(view);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_best_first),
        cmocka_unit_test(clusters_are_found_by_id_and_label),
        cmocka_unit_test(deleted_documents_vanish),
        cmocka_unit_test(the_weakest_are_the_last_members),
        cmocka_unit_test(sizes_count_what_reaches_a_score),
        cmocka_unit_test(members_are_limited_after_those_that_went),
        cmocka_unit_test(later_documents_are_not_in_the_build),
        cmocka_unit_test(old_builds_are_read_by_their_time),
        cmocka_unit_test(a_view_keeps_what_it_sees),
        cmocka_unit_test(a_visitor_may_end_a_walk),
    };
    return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
