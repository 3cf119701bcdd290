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

/* k=auto goes on with the number of clusters until the collection is another one by size. */
static void auto_keeps_k_while_the_collection_is_alike(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_posts(&f, "c", 100);
    uint32_t k = fixture_rebuild(&f, "c").k;
    fixture_put_posts(&f, "c", 110);
    assert_int_equal(fixture_rebuild(&f, "c").k, k);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    uint32_t chosen_again = fixture_rebuild(&f, "c").k;
    fixture other;
    fixture_open(&other);
    fixture_put_posts(&other, "c", FIXTURE_POSTS);
    assert_int_equal(fixture_rebuild(&other, "c").k, chosen_again);
    fixture_close(&other);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_documents_leave_the_others_where_they_were),
        cmocka_unit_test(the_same_documents_keep_all_ids),
        cmocka_unit_test(a_fresh_start_is_matched_too),
        cmocka_unit_test(other_documents_get_other_ids),
        cmocka_unit_test(auto_keeps_k_while_the_collection_is_alike),
    };
    return cmocka_run_group_tests_name("ids", tests, NULL, NULL);
}
