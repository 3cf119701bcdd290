/* Cluster ids: what goes on keeps its id, and no id is used again. */
#include "tests/engine/fixture.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The cluster of each document of a build; ids are those of the posts, by number. */
typedef struct places {
    char id[400][32];
    uint32_t cluster[400];
    size_t n;
} places;

static gf_status note(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)err;
    places *p = context;
    snprintf(p->id[p->n], sizeof p->id[p->n], "%.*s", GF_SLICE_ARG(id));
    p->cluster[p->n++] = m->cluster;
    return GF_OK;
}

static places read_places(fixture *f, const char *collection)
{
    gf_error err;
    gf_view *view;
    places p = {.n = 0};
    assert_ok(gf_view_open(f->store, fixture_place(collection), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_memberships(view, note, &p, &err));
    gf_view_close(view);
    return p;
}

static uint32_t place_of(const places *p, const char *id)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->id[i], id) == 0) return p->cluster[i];
    return 0;
}

/* How many of the documents of a are in b under the same cluster id. */
static size_t kept(const places *a, const places *b)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        n += a->cluster[i] && place_of(b, a->id[i]) == a->cluster[i];
    return n;
}

static uint32_t largest(const places *p)
{
    uint32_t most = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->cluster[i] > most) most = p->cluster[i];
    return most;
}

static void rebuild(fixture *f, const char *collection, gf_start start)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 2, .start = start);
    assert_ok(
        gf_rebuild(f->store, fixture_place(collection), fixture_default(), &o, &result, &err));
}

static void new_documents_leave_the_others_where_they_were(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_posts(&f, "c", 285);
    fixture_set(&f, "c", "default", "k", "8");
    rebuild(&f, "c", GF_START_CONFIGURED);
    places before = read_places(&f, "c");
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    rebuild(&f, "c", GF_START_CONFIGURED);
    places after = read_places(&f, "c");
    assert_int_equal(after.n, FIXTURE_POSTS);
    assert_true(kept(&before, &after) >= 285 * 95 / 100);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void the_same_documents_keep_all_ids(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_posts(&f, "c", 200);
    rebuild(&f, "c", GF_START_CONFIGURED);
    places before = read_places(&f, "c");
    for (int i = 0; i < 4; i++)
        rebuild(&f, "c", GF_START_CONFIGURED);
    places after = read_places(&f, "c");
    assert_true(kept(&before, &after) >= 198);
    assert_true(largest(&after) <= largest(&before) + 1);
    fixture_close(&f);
}

/* From new seeds the clusters may be others; those that are the same keep their ids all the same.
 */
static void a_fresh_start_is_matched_too(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "3");
    rebuild(&f, "c", GF_START_FRESH);
    places before = read_places(&f, "c");
    fixture_set(&f, "c", "default", "seed", "77");
    rebuild(&f, "c", GF_START_FRESH);
    places after = read_places(&f, "c");
    assert_int_equal(kept(&before, &after), 12);
    fixture_close(&f);
}

/* Nothing in common: no id goes on, and none of the old ones comes again. */
static void other_documents_get_other_ids(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    rebuild(&f, "c", GF_START_CONFIGURED);
    places before = read_places(&f, "c");
    for (size_t i = 0; i < before.n; i++)
        fixture_delete(&f, "c", before.id[i]);
    fixture_put_posts(&f, "c", 60);
    rebuild(&f, "c", GF_START_CONFIGURED);
    places after = read_places(&f, "c");
    assert_int_equal(after.n, 60);
    for (size_t i = 0; i < after.n; i++)
        assert_true(after.cluster[i] == 0 || after.cluster[i] > largest(&before));

    /* Through a build without any document, too. */
    uint32_t most = largest(&after);
    for (size_t i = 0; i < after.n; i++)
        fixture_delete(&f, "c", after.id[i]);
    rebuild(&f, "c", GF_START_CONFIGURED);
    fixture_put_subjects(&f, "c");
    rebuild(&f, "c", GF_START_CONFIGURED);
    after = read_places(&f, "c");
    assert_int_equal(after.n, 12);
    for (size_t i = 0; i < after.n; i++)
        assert_true(after.cluster[i] > most);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* What the documents as they are say of k: of a choice from them alone, and of a number. */
typedef struct worths {
    uint32_t k[64], n, chosen;
    double worth[64], best; /* best: of the plateau */
} worths;

static gf_status note_worth(void *context, const gf_k_step *step, gf_error *err)
{
    (void)err;
    worths *w = context;
    w->k[w->n] = step->k;
    w->worth[w->n++] = step->worth;
    if (step->plateau && step->worth > w->best) w->best = step->worth;
    if (step->chosen) w->chosen = step->k;
    return GF_OK;
}

static bool is_nearly_as_good(const worths *w, uint32_t k)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (w->k[i] == k) return w->worth[i] >= 0.98 * w->best;
    return false; /* of these few posts every number that is chosen is a step */
}

/*
 * k=auto goes on with the number of clusters until the collection is another one by size, and then
 * too while the number is within 2 % of the best.
 */
static void auto_keeps_k_while_it_is_nearly_as_good(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {20, 30, 40, 50, 65, 85, 95, 110, 140, 200, 230, FIXTURE_POSTS};
    fixture f;
    gf_error err;
    unsigned n_kept = 0, n_changed = 0;
    uint32_t k = 0, chosen_for = 1;
    fixture_open(&f);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        worths w = {.best = 0};
        fixture_put_posts(&f, "c", sizes[i]);
        assert_ok(gf_explain_k(f.store, fixture_place("c"), fixture_default(),
                               &GF_REBUILD_OPTIONS(.threads = 1), note_worth, &w, &err));
        uint32_t now = fixture_rebuild(&f, "c").k;
        if (sizes[i] <= 2 * chosen_for) {
            assert_int_equal(now, k);
            continue;
        }
        bool keeps = k && is_nearly_as_good(&w, k);
        assert_int_equal(now, keeps ? k : w.chosen);
        n_kept += keeps && k != w.chosen;
        n_changed += k && !keeps;
        k = now;
        chosen_for = sizes[i];
    }
    assert_true(n_kept > 0 && n_changed > 0);
    fixture_close(&f);
}

/* Without anything new nobody moves, however often it is rebuilt; a few more move next to none. */
static void rebuilds_between_leave_documents_where_they_are(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options again = GF_REBUILD_OPTIONS(.force = true, .threads = 1);
    fixture_open(&f);
    fixture_put_posts(&f, "c", 280);
    fixture_set(&f, "c", "default", "k", "12");
    fixture_rebuild(&f, "c");
    places before = read_places(&f, "c");
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(
            gf_rebuild(f.store, fixture_place("c"), fixture_default(), &again, &result, &err));
        places after = read_places(&f, "c");
        assert_int_equal(kept(&before, &after), 280);
    }
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_rebuild(&f, "c");
    places more = read_places(&f, "c");
    assert_true(kept(&before, &more) >= 274);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_documents_leave_the_others_where_they_were),
        cmocka_unit_test(the_same_documents_keep_all_ids),
        cmocka_unit_test(a_fresh_start_is_matched_too),
        cmocka_unit_test(other_documents_get_other_ids),
        cmocka_unit_test(auto_keeps_k_while_it_is_nearly_as_good),
        cmocka_unit_test(rebuilds_between_leave_documents_where_they_are),
    };
    return cmocka_run_group_tests_name("ids", tests, NULL, NULL);
}
