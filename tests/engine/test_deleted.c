/*
 * Documents deleted since a build, as views of many states of a collection see it: compared
 * with a list that is kept here of where each document was in the build, and whether it is there.
 */
#include "tests/engine/fixture.h"

#include "base/random.h"
#include "cluster/label/labels.h"
#include "engine/view/view.h"

#include <stdlib.h>

enum { POSTS = 80, VIEWS = 4, ROUNDS = 150 };

typedef struct model {
    fixture f;
    int64_t build;
    char ids[POSTS][16]; /* n */
    uint32_t cluster[POSTS];
    bool there[POSTS];
    size_t n, passing; /* passing: documents that were put and deleted after the build */
    gf_random random;
} model;

static gf_view *open_at(model *m, int64_t build)
{
    gf_error err;
    gf_view *view;
    assert_ok(gf_view_open(m->f.store, fixture_place("c"), fixture_default(), build, &view, &err));
    return view;
}

static gf_status note_member(void *context, gf_slice id, const gf_membership *membership,
                             gf_error *err)
{
    model *m = context;
    if (m->n == POSTS || id.len > 15) return gf_fail(err, GF_ELIMIT, "no room");
    snprintf(m->ids[m->n], sizeof m->ids[0], "%.*s", GF_SLICE_ARG(id));
    m->cluster[m->n] = membership->cluster;
    m->there[m->n++] = true;
    return GF_OK;
}

static void begin(model *m)
{
    gf_error err;
    *m = (model){.n = 0};
    fixture_open(&m->f);
    fixture_put_posts(&m->f, "c", POSTS);
    fixture_set(&m->f, "c", "default", "k", "5");
    m->build = fixture_rebuild(&m->f, "c").build;
    gf_view *view = open_at(m, 0);
    assert_ok(gf_view_memberships(view, note_member, m, &err));
    gf_view_close(view);
    assert_int_equal(m->n, POSTS);
}

static void change(model *m)
{
    size_t i = gf_random_below(&m->random, POSTS);
    uint64_t what = gf_random_below(&m->random, 4);
    char text[64];
    snprintf(text, sizeof text, "anew %u", (unsigned)gf_random_below(&m->random, 1000000));
    if (what == 0) {
        snprintf(text, sizeof text, "passing %zu", m->passing++ % 3);
        fixture_put(&m->f, "c", text, "it does not stay");
        fixture_delete(&m->f, "c", text);
    } else if (what == 1 && m->there[i]) {
        fixture_put(&m->f, "c", m->ids[i], text);
    } else if (m->there[i]) {
        fixture_delete(&m->f, "c", m->ids[i]);
        m->there[i] = false;
    } else {
        fixture_put(&m->f, "c", m->ids[i], text);
        m->there[i] = true;
    }
}

/* ---- what a view sees ------------------------------------------------------------------------ */

/* A view, and what was there when it was opened. */
typedef struct seen {
    gf_view *view;
    bool there[POSTS];
} seen;

static void look(model *m, seen *s, int64_t build)
{
    s->view = open_at(m, build);
    memcpy(s->there, m->there, sizeof s->there);
}

typedef struct check {
    const model *m;
    const seen *s;
    uint32_t cluster;
    uint64_t members, clusters, last;
    bool mixed; /* the label of the last one says so */
} check;

static uint64_t expected_size(const check *c, uint32_t cluster)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->m->n; i++)
        n += c->m->cluster[i] == cluster && c->s->there[i];
    return n;
}

static gf_status check_member(void *context, gf_slice id, const gf_membership *membership,
                              gf_error *err)
{
    check *c = context;
    size_t i = 0;
    while (i < c->m->n && !gf_slice_equal(id, gf_slice_str(c->m->ids[i])))
        i++;
    if (i == c->m->n || !c->s->there[i] || c->m->cluster[i] != membership->cluster ||
        c->cluster != membership->cluster)
        return gf_fail(err, GF_EINVAL, "a member that is not");
    c->members++;
    return GF_OK;
}

static gf_status check_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    check *c = context;
    if (info->size != expected_size(c, info->id)) return gf_fail(err, GF_EINVAL, "another size");
    bool mixed = gf_label_is_mixed(info->label); /* these come behind the others */
    if (c->mixed && !mixed)
        return gf_fail(err, GF_EINVAL, "a mixed cluster before one with a subject");
    if (c->mixed == mixed && info->size > c->last)
        return gf_fail(err, GF_EINVAL, "not by falling size");
    c->last = info->size;
    c->mixed = mixed;
    c->cluster = info->id;
    c->members = 0;
    c->clusters++;
    gf_status st = gf_view_members(c->s->view, info->id, 0, check_member, c, err);
    if (st == GF_OK && c->members != info->size)
        st = gf_fail(err, GF_EINVAL, "members are missing");
    return st;
}

static void check_view(const model *m, const seen *s)
{
    gf_error err;
    check c = {.m = m, .s = s, .last = UINT64_MAX};
    assert_ok(gf_view_clusters(s->view, check_cluster, &c, &err));
    assert_int_equal(c.clusters, 5);
}

/* Views of several states, of which the later ones may be read first. */
static void changes_are_seen_by_each_view_as_of_its_time(void **state)
{
    (void)state;
    model m;
    seen views[VIEWS] = {{.view = NULL}};
    begin(&m);
    m.random = gf_random_seed(gf_test_seed(), 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        seen *s = &views[gf_random_below(&m.random, VIEWS)];
        change(&m);
        if (round == ROUNDS / 2) fixture_rebuild(&m.f, "c"); /* the build before it is kept */
        if (gf_random_below(&m.random, 3) == 0) continue;
        if (s->view) check_view(&m, s);
        gf_view_close(s->view);
        look(&m, s, m.build);
        if (gf_random_below(&m.random, 2)) check_view(&m, s);
    }
    for (size_t i = 0; i < VIEWS; i++) {
        if (views[i].view) check_view(&m, &views[i]);
        gf_view_close(views[i].view);
    }
    fixture_is_sound(&m.f);
    fixture_close(&m.f);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static void views_of_one_state_look_at_no_change(void **state)
{
    (void)state;
    model m;
    seen first, second, third;
    begin(&m);
    fixture_delete(&m.f, "c", m.ids[7]);
    m.there[7] = false;
    look(&m, &first, 0);
    check_view(&m, &first);
    for (int i = 0; i < 20; i++) /* which delete nothing */
        fixture_put(&m.f, "c", m.ids[10 + i], "put anew");
    look(&m, &second, 0);
    check_view(&m, &second);
    look(&m, &third, 0);
    check_view(&m, &third);
    assert_non_null(first.view->deleted);
    assert_ptr_equal(second.view->deleted, first.view->deleted);
    assert_ptr_equal(third.view->deleted, first.view->deleted);
    assert_true(second.view->seq >= first.view->seq + 20);
    gf_deleted_set *kept;
    assert_int_equal(gf_cluster_cache_deleted(third.view->list, third.view->seq, &kept),
                     third.view->seq);
    assert_ptr_equal(kept, first.view->deleted);
    gf_deleted_set_drop(kept);
    /* One that comes back is made anew, for those from then on. */
    fixture_put(&m.f, "c", m.ids[7], "it is back");
    gf_view_close(third.view);
    check_view(&m, &first);
    m.there[7] = true;
    look(&m, &third, 0);
    check_view(&m, &third);
    assert_true(third.view->deleted != first.view->deleted);
    check_view(&m, &second);
    gf_view_close(first.view);
    gf_view_close(second.view);
    gf_view_close(third.view);
    fixture_close(&m.f);
}

/* Beyond the room for it nothing is kept, of the list that was read longest ago first. */
static void room_is_bounded(void **state)
{
    (void)state;
    gf_error err;
    model m;
    seen s;
    begin(&m);
    gf_cluster_cache *cache = m.f.store->cluster_cache;
    for (size_t i = 0; i < 40; i++) {
        fixture_delete(&m.f, "c", m.ids[i]);
        m.there[i] = false;
    }
    look(&m, &s, 0);
    check_view(&m, &s);
    gf_view_close(s.view);
    size_t one = cache->deleted_bytes;
    assert_true(one > 40 * 40 && one < 40 * 400);
    cache->most_deleted_bytes = one + one / 2;
    fixture_put_subjects(&m.f, "d");
    fixture_rebuild(&m.f, "d");
    for (int i = 0; i < 12; i++) {
        char id[8];
        snprintf(id, sizeof id, "%03d", i);
        fixture_delete(&m.f, "d", id);
    }
    for (int round = 0; round < 4; round++) {
        gf_view *other;
        uint64_t memberships;
        cache->most_deleted_bytes = round < 2 ? one + one / 8 : one - 1;
        assert_ok(gf_view_open(m.f.store, fixture_place("d"), fixture_default(), 0, &other, &err));
        assert_null(fixture_fault_of(other, &memberships));
        assert_int_equal(memberships, 0);
        assert_true(cache->deleted_bytes > 0 && cache->deleted_bytes < one);
        look(&m, &s, 0);
        check_view(&m, &s);
        assert_int_equal(cache->deleted_bytes, round < 2 ? one : 0);
        gf_view_close(s.view);
        gf_view_close(other);
    }
    fixture_close(&m.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_seen_by_each_view_as_of_its_time),
        cmocka_unit_test(views_of_one_state_look_at_no_change),
        cmocka_unit_test(room_is_bounded),
    };
    return cmocka_run_group_tests_name("deleted", tests, NULL, NULL);
}
