/* Two builds compared: by hand, and by counting every document for every pair of clusters. */
#include "tests/engine/fixture.h"

#include "base/random.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a build has ------------------------------------------------------------------------ */

enum { MOST = 200, MOST_CHANGES = 64 };

typedef struct places {
    char id[MOST][16];
    uint32_t cluster[MOST];
    size_t n;
} places;

static gf_status note(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)err;
    places *p = context;
    assert_true(p->n < MOST);
    snprintf(p->id[p->n], sizeof p->id[p->n], "%.*s", GF_SLICE_ARG(id));
    p->cluster[p->n++] = m->cluster;
    return GF_OK;
}

static void read_places(gf_view *view, places *p)
{
    gf_error err;
    p->n = 0;
    assert_ok(gf_view_memberships(view, note, p, &err));
}

static bool find(const places *p, const char *id, uint32_t *cluster)
{
    for (size_t i = 0; i < p->n; i++) {
        if (strcmp(p->id[i], id) != 0) continue;
        *cluster = p->cluster[i];
        return true;
    }
    return false;
}

static gf_view *open_build(fixture *f, int64_t build)
{
    gf_error err;
    gf_view *view;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), build, &view, &err));
    return view;
}

/* A build from new seeds; where its documents are, as it was made. */
static int64_t rebuild(fixture *f, places *p)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1, .start = GF_START_FRESH);
    assert_ok(gf_rebuild(f->store, fixture_place("c"), fixture_default(), &o, &result, &err));
    gf_view *view = open_build(f, result.build.build);
    read_places(view, p);
    gf_view_close(view);
    return result.build.build;
}

/* ---- what a comparison tells ----------------------------------------------------------------- */

typedef struct told {
    gf_cluster_change at[MOST_CHANGES]; /* labels are the views' */
    size_t n;
    places moved; /* to */
    uint32_t moved_from[MOST];
} told;

static gf_status keep(void *context, const gf_cluster_change *change, gf_error *err)
{
    (void)err;
    told *t = context;
    assert_true(t->n < MOST_CHANGES);
    t->at[t->n++] = *change;
    return GF_OK;
}

static gf_status keep_moved(void *context, const gf_moved *m, gf_error *err)
{
    told *t = context;
    gf_membership to = {.cluster = m->to};
    assert_true(m->from_label.len > 0 && m->to_label.len > 0);
    assert_true((m->from == 0) == gf_slice_equal(m->from_label, GF_SLICE("without terms")));
    t->moved_from[t->moved.n] = m->from;
    return note(&t->moved, m->id, &to, err);
}

static void compare(gf_view *earlier, gf_view *later, told *t)
{
    gf_error err;
    t->n = t->moved.n = 0;
    assert_ok(gf_diff(earlier, later, NULL, keep, t, &err));
    assert_ok(gf_diff_documents(earlier, later, NULL, keep_moved, t, &err));
}

static const gf_cluster_change *of_document(const told *t, const places *p, const char *id)
{
    uint32_t cluster = 0;
    assert_true(find(p, id, &cluster));
    for (size_t i = 0; i < t->n; i++)
        if (t->at[i].cluster == cluster) return &t->at[i];
    fail_msg("no row for the cluster of %s", id);
    return NULL;
}

/* ---- by hand --------------------------------------------------------------------------------- */

static void put_group(fixture *f, char group, int from, int to, const char *text)
{
    for (int i = from; i < to; i++) {
        char id[16];
        snprintf(id, sizeof id, "%c%d", group, i);
        fixture_put(f, "c", id, text);
    }
}

/*
 *     r0-r7  red        r0-r4 fox, r5-r7 dog       split, 5 and 3
 *     s0-s3  sun        sky                        merged with m0-m2
 *     m0-m2  moon       sky
 *     x0-x3  stone      deleted                    gone
 *     w0-w1  without terms   w0 river, w1 without
 *                       n0-n3 river                new
 */
static void put_first(fixture *f)
{
    put_group(f, 'r', 0, 8, "red berry");
    put_group(f, 's', 0, 4, "sun shine");
    put_group(f, 'm', 0, 3, "moon light");
    put_group(f, 'x', 0, 4, "stone wall");
    put_group(f, 'w', 0, 2, "...");
}

static void put_second(fixture *f)
{
    put_group(f, 'r', 0, 5, "fox tail");
    put_group(f, 'r', 5, 8, "dog house");
    put_group(f, 's', 0, 4, "sky high");
    put_group(f, 'm', 0, 3, "sky high");
    put_group(f, 'n', 0, 4, "river bank");
    put_group(f, 'w', 0, 1, "river bank");
    for (char id[] = "x0"; id[1] < '4'; id[1]++)
        fixture_delete(f, "c", id);
}

static void check_row(const gf_cluster_change *c, gf_fate fate, const uint64_t numbers[7])
{
    const uint64_t found[7] = {c->size_before, c->size,  c->stayed, c->came,
                               c->left,        c->added, c->removed};
    assert_int_equal(c->fate, fate);
    for (int i = 0; i < 7; i++)
        if (found[i] != numbers[i])
            fail_msg("number %d of cluster %u is %d, not %d", i, c->cluster, (int)found[i],
                     (int)numbers[i]);
}

static void split_merge_birth_and_death(void **state)
{
    (void)state;
    fixture f;
    places a, b;
    told t;
    fixture_open(&f);
    put_first(&f);
    fixture_set(&f, "c", "default", "k", "4");
    int64_t first = rebuild(&f, &a);
    put_second(&f);
    rebuild(&f, &b);
    gf_view *earlier = open_build(&f, first), *later = open_build(&f, 0);
    compare(earlier, later, &t);

    const gf_cluster_change *red = of_document(&t, &a, "r0"), *fox = of_document(&t, &b, "r0"),
                            *dog = of_document(&t, &b, "r5"), *sun = of_document(&t, &a, "s0"),
                            *moon = of_document(&t, &a, "m0"), *sky = of_document(&t, &b, "s0"),
                            *river = of_document(&t, &b, "n0"), *stone = of_document(&t, &a, "x0");
    assert_int_equal(t.n, 6);
    /* The larger parts go on under the ids that were. */
    assert_ptr_equal(red, fox);
    assert_ptr_equal(sun, sky);
    check_row(red, GF_FATE_CONTINUED, (uint64_t[]){8, 5, 5, 0, 3, 0, 0});
    check_row(dog, GF_FATE_NEW, (uint64_t[]){0, 3, 0, 3, 0, 0, 0});
    check_row(sun, GF_FATE_CONTINUED, (uint64_t[]){4, 7, 4, 3, 0, 0, 0});
    check_row(moon, GF_FATE_GONE, (uint64_t[]){3, 0, 0, 0, 3, 0, 0});
    check_row(stone, GF_FATE_GONE, (uint64_t[]){4, 0, 0, 0, 0, 0, 4});
    check_row(river, GF_FATE_NEW, (uint64_t[]){0, 5, 0, 1, 0, 4, 0});
    assert_ptr_equal(&t.at[0], stone);
    assert_ptr_equal(&t.at[1], moon);
    assert_ptr_equal(&t.at[2], river);
    assert_ptr_equal(&t.at[3], dog);

    assert_int_equal(red->n_split, 2);
    assert_int_equal(red->split[0].cluster, fox->cluster);
    assert_int_equal(red->split[0].documents, 5);
    assert_int_equal(red->split[1].cluster, dog->cluster);
    assert_int_equal(red->split[1].documents, 3);
    assert_true(gf_slice_equal(red->split[1].label, dog->label));
    assert_int_equal(sky->n_merged, 2);
    assert_int_equal(sky->merged[0].cluster, sun->cluster);
    assert_int_equal(sky->merged[0].documents, 4);
    assert_int_equal(sky->merged[1].cluster, moon->cluster);
    assert_true(gf_slice_equal(sky->merged[1].label, moon->label));
    assert_int_equal(red->n_merged + sky->n_split + dog->n_merged + moon->n_split, 0);
    assert_non_null(memmem(red->label_before.ptr, red->label_before.len, "red", 3));
    assert_non_null(memmem(red->label.ptr, red->label.len, "fox", 3));
    assert_int_equal(river->label_before.len, 0);
    assert_true(gf_slice_equal(stone->label, stone->label_before));

    uint32_t to;
    assert_int_equal(t.moved.n, 7); /* r5 r6 r7, m0 m1 m2, w0 */
    assert_true(find(&t.moved, "w0", &to) && to == river->cluster);
    assert_int_equal(t.moved_from[t.moved.n - 1], 0);
    assert_false(find(&t.moved, "w1", &to));
    assert_false(find(&t.moved, "n0", &to));
    gf_view_close(earlier);
    gf_view_close(later);
    fixture_close(&f);
}

static void against_itself(void **state)
{
    (void)state;
    fixture f;
    places a;
    told t;
    fixture_open(&f);
    fixture_put_posts(&f, "c", 60);
    int64_t build = rebuild(&f, &a);
    gf_view *one = open_build(&f, build), *two = open_build(&f, build);
    compare(one, two, &t);
    assert_int_equal(t.n, gf_view_build(one)->k);
    assert_int_equal(t.moved.n, 0);
    for (size_t i = 0; i < t.n; i++) {
        assert_int_equal(t.at[i].fate, GF_FATE_CONTINUED);
        assert_int_equal(t.at[i].stayed, t.at[i].size);
        assert_int_equal(t.at[i].stayed, t.at[i].size_before);
        assert_int_equal(t.at[i].n_split + t.at[i].n_merged, 0);
        assert_true(gf_slice_equal(t.at[i].label, t.at[i].label_before));
    }
    gf_view_close(one);
    gf_view_close(two);
    fixture_close(&f);
}

static void what_cannot_be_compared(void **state)
{
    (void)state;
    fixture f;
    places a;
    told t = {.n = 0};
    gf_error err;
    gf_view *other;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_put_subjects(&f, "d");
    rebuild(&f, &a);
    fixture_rebuild(&f, "d");
    gf_view *view = open_build(&f, 0);
    assert_ok(gf_view_open(f.store, fixture_place("d"), fixture_default(), 0, &other, &err));
    assert_status(GF_EINVAL, gf_diff(view, other, NULL, keep, &t, &err));
    assert_status(GF_EINVAL, gf_diff_documents(view, other, NULL, keep_moved, &t, &err));
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_diff(view, view, &cancel, keep, &t, &err));
    assert_int_equal(t.n, 0);
    gf_view_close(other);
    gf_view_close(view);
    fixture_close(&f);
}

/* ---- by counting ----------------------------------------------------------------------------- */

static void put_random(fixture *f, gf_random *r, int documents)
{
    static const char *const words[] = {"ant", "bee", "cat", "dog", "elk", "fox", "gnu"};
    for (int i = 0; i < documents; i++) {
        char id[16], text[64];
        uint64_t a = gf_random_below(r, 8), b = gf_random_below(r, 7);
        snprintf(id, sizeof id, "%d", (int)gf_random_below(r, 60));
        snprintf(text, sizeof text, "%s %s", a < 7 ? words[a] : "-", a < 7 ? words[b] : "-");
        fixture_put(f, "c", id, text);
    }
}

/* Documents in both that were in x and are in y; x or y of 0: anywhere. */
static uint64_t count_both(const places *a, const places *b, uint32_t x, uint32_t y)
{
    uint64_t n = 0;
    for (size_t i = 0; i < a->n; i++) {
        uint32_t now;
        if (find(b, a->id[i], &now)) n += (!x || a->cluster[i] == x) && (!y || now == y);
    }
    return n;
}

static uint64_t count_in(const places *p, uint32_t cluster)
{
    uint64_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += p->cluster[i] == cluster;
    return n;
}

/* Clusters of b with a quarter of the documents that x had, in no order; those of a, if back. */
static size_t count_parts(const told *t, const places *a, const places *b, uint32_t x, bool back)
{
    size_t n = 0;
    uint64_t all = back ? count_both(a, b, 0, x) : count_both(a, b, x, 0);
    for (size_t i = 0; i < t->n; i++) {
        uint32_t y = t->at[i].cluster;
        uint64_t part = back ? count_both(a, b, y, x) : count_both(a, b, x, y);
        n += part > 0 && 4 * part >= all;
    }
    return n < 2 ? 0 : n;
}

static void check_parts(const gf_cluster_change *c, const places *a, const places *b)
{
    for (size_t i = 0; i < c->n_split; i++) {
        assert_int_equal(c->split[i].documents, count_both(a, b, c->cluster, c->split[i].cluster));
        assert_true(i == 0 || c->split[i].documents <= c->split[i - 1].documents);
    }
    for (size_t i = 0; i < c->n_merged; i++) {
        assert_int_equal(c->merged[i].documents,
                         count_both(a, b, c->merged[i].cluster, c->cluster));
        assert_true(i == 0 || c->merged[i].documents <= c->merged[i - 1].documents);
    }
}

static void check_change(const told *t, const gf_cluster_change *c, const places *a,
                         const places *b)
{
    uint32_t id = c->cluster;
    uint64_t size_before = count_in(a, id), size = count_in(b, id);
    uint64_t stayed = count_both(a, b, id, id);
    uint64_t had = count_both(a, b, id, 0), has = count_both(a, b, 0, id);
    check_row(c, c->fate,
              (uint64_t[]){size_before, size, stayed, has - stayed, had - stayed, size - has,
                           size_before - had});
    assert_int_equal(c->n_split, count_parts(t, a, b, id, false));
    assert_int_equal(c->n_merged, count_parts(t, a, b, id, true));
    check_parts(c, a, b);
}

static void check_moved(const told *t, const places *a, const places *b)
{
    size_t expected = 0;
    for (size_t i = 0; i < a->n; i++) {
        uint32_t now, told_to;
        if (!find(b, a->id[i], &now) || now == a->cluster[i]) continue;
        expected++;
        if (!find(&t->moved, a->id[i], &told_to)) fail_msg("%s moved", a->id[i]);
        assert_int_equal(told_to, now);
    }
    assert_int_equal(t->moved.n, expected);
    for (size_t i = 0; i < t->moved.n; i++) {
        uint32_t before = 0;
        assert_true(find(a, t->moved.id[i], &before));
        assert_int_equal(t->moved_from[i], before);
        assert_true(i == 0 || strcmp(t->moved.id[i - 1], t->moved.id[i]) < 0);
    }
}

static void check_order(const told *t)
{
    for (size_t i = 1; i < t->n; i++) {
        const gf_cluster_change *x = &t->at[i - 1], *y = &t->at[i];
        assert_true(x->fate <= y->fate);
        if (x->fate == GF_FATE_CONTINUED)
            assert_true(x->came + x->left >= y->came + y->left);
        else if (x->fate == y->fate)
            assert_true(x->size_before + x->size >= y->size_before + y->size);
    }
}

static void random_builds(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    size_t splits = 0, merges = 0;
    for (int round = 0; round < 12; round++) {
        fixture f;
        places a, b;
        told t;
        fixture_open(&f);
        put_random(&f, &r, 50);
        fixture_set(&f, "c", "default", "k", round % 2 ? "5" : "3");
        int64_t first = rebuild(&f, &a);
        for (size_t i = 0; i < a.n; i += 1 + gf_random_below(&r, 12))
            fixture_delete(&f, "c", a.id[i]);
        put_random(&f, &r, 15);
        fixture_set(&f, "c", "default", "k", round % 3 ? "4" : "6");
        int64_t second = rebuild(&f, &b);
        /* Deleted behind both: of the later build it is not told any more. */
        fixture_delete(&f, "c", b.id[gf_random_below(&r, b.n)]);
        gf_view *earlier = open_build(&f, first), *later = open_build(&f, second);
        read_places(later, &b);
        compare(earlier, later, &t);
        assert_true(t.n >= gf_view_build(later)->k);
        for (size_t i = 0; i < t.n; i++) {
            check_change(&t, &t.at[i], &a, &b);
            splits += t.at[i].n_split > 0;
            merges += t.at[i].n_merged > 0;
        }
        check_moved(&t, &a, &b);
        check_order(&t);
        gf_view_close(earlier);
        gf_view_close(later);
        fixture_close(&f);
    }
    assert_true(splits > 0 && merges > 0);
}

/* ---- without memory -------------------------------------------------------------------------- */

typedef struct sweep {
    fixture f;
    int64_t first;
    told t;
} sweep;

static gf_status compare_again(void *context, gf_error *err)
{
    sweep *s = context;
    gf_view *earlier = NULL, *later = NULL;
    s->t.n = s->t.moved.n = 0;
    gf_status st =
        gf_view_open(s->f.store, fixture_place("c"), fixture_default(), s->first, &earlier, err);
    if (st == GF_OK)
        st = gf_view_open(s->f.store, fixture_place("c"), fixture_default(), 0, &later, err);
    if (st == GF_OK) st = gf_diff(earlier, later, NULL, keep, &s->t, err);
    if (st == GF_OK) st = gf_diff_documents(earlier, later, NULL, keep_moved, &s->t, err);
    gf_view_close(earlier);
    gf_view_close(later);
    return st;
}

static void without_memory(void **state)
{
    (void)state;
    places p;
    sweep s;
    fixture_open(&s.f);
    put_first(&s.f);
    fixture_set(&s.f, "c", "default", "k", "4");
    s.first = rebuild(&s.f, &p);
    put_second(&s.f);
    rebuild(&s.f, &p);
    gf_test_sweep(compare_again, NULL, &s);
    assert_int_equal(s.t.n, 6);
    assert_int_equal(s.t.moved.n, 7);
    fixture_close(&s.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_merge_birth_and_death),
        cmocka_unit_test(against_itself),
        cmocka_unit_test(what_cannot_be_compared),
        cmocka_unit_test(random_builds),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
