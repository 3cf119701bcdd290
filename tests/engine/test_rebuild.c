/* When a rebuild is made, and what comes of it; also of odd collections. */
#include "tests/engine/fixture.h"

#include <inttypes.h>

/* ---- when a rebuild is made ------------------------------------------------------------------ */

static void only_what_was_modified_is_rebuilt(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_int_equal(fixture_outcome(&f, "c", false, true), GF_REBUILD_DUE);
    assert_int_equal(fixture_read(&f, "c").served, 0);
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_MADE);
    int64_t first = fixture_check_served(&f, "c", 12);
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_UNMODIFIED);
    assert_int_equal(fixture_outcome(&f, "c", false, true), GF_REBUILD_UNMODIFIED);
    assert_int_equal(fixture_outcome(&f, "c", true, true), GF_REBUILD_DUE);
    assert_int_equal(fixture_check_served(&f, "c", 12), first);
    assert_int_equal(fixture_outcome(&f, "c", true, false), GF_REBUILD_MADE);
    assert_true(fixture_check_served(&f, "c", 12) > first);
    fixture_put_subjects(&f, "c");
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_UNMODIFIED);
    fixture_put(&f, "c", "000", "another text");
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_MADE);
    fixture_delete(&f, "c", "nothing");
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_UNMODIFIED);
    fixture_delete(&f, "c", "000");
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_MADE);
    fixture_check_served(&f, "c", 11);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void changed_settings_are_a_modification(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_MADE);
    fixture_set(&f, "c", "default", "k", "auto"); /* what it is anyway */
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_UNMODIFIED);
    fixture_set(&f, "c", "other", "k", "2"); /* another configuration's */
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_UNMODIFIED);
    fixture_set(&f, "c", "default", "k", "2");
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_MADE);
    fixture_set(&f, "c", "default", "k", "2");
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_UNMODIFIED);
    fixture_set(&f, "c", "default", "k", "");
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_MADE);
    fixture_close(&f);
}

static void what_is_not_there_cannot_be_rebuilt(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_rebuild_result result = {.outcome = GF_REBUILD_DUE}, before = result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    fixture_open(&f);
    assert_status(GF_ENOTFOUND, fixture_try_rebuild(&f, "c", &o, &result, &err));
    fixture_put_subjects(&f, "c");
    assert_status(GF_ENOTFOUND,
                  gf_rebuild(f.store, fixture_place("c"), GF_SLICE("fine"), &o, &result, &err));
    assert_string_equal(err.message, "there is no configuration \"fine\"");
    assert_memory_equal(&result, &before, sizeof before);
    fixture_close(&f);
}

/* A rebuild whose caller wants no error leaves its reason in the store all the same. */
static void a_failure_keeps_its_reason_without_an_error(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_rebuild_result result;
    gf_store_health health;
    const gf_slice ids[] = {GF_SLICE("nobody")};
    const float values[] = {1, 0};
    const gf_matrix m = {.id = ids, .n_rows = 1, .n_cols = 2, .dense = values};
    const gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1, .matrix = &m);
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_int_equal(gf_rebuild(f.store, fixture_place("c"), fixture_default(), &o, &result, NULL),
                     GF_EINVAL);
    assert_ok(gf_health_read(f.store, NULL, NULL, &health, &err));
    assert_int_equal(health.failed, 1);
    assert_string_equal(health.failed_why, "no row of the matrix is of a document of \"c\"");
    fixture_close(&f);
}

/* ---- a hand example -------------------------------------------------------------------------- */

static gf_status note_cluster_of(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)id, (void)err;
    uint32_t **next = context;
    *(*next)++ = m->cluster;
    return GF_OK;
}

static void subjects_come_apart(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_view *view;
    uint32_t cluster[12], *next = cluster;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "3");
    gf_build_info build = fixture_rebuild(&f, "c");
    assert_int_equal(build.k, 3);
    assert_int_equal(build.documents, 12);
    assert_int_equal(build.distinct, 12);
    assert_int_equal(build.without_terms, 0);
    assert_true(build.objective > 0.5 && build.objective <= 1);
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_memberships(view, note_cluster_of, &next, &err));
    gf_view_close(view);
    for (int i = 0; i < 12; i++)
        assert_int_equal(cluster[i], cluster[i / 4 * 4]);
    assert_true(cluster[0] != cluster[4] && cluster[4] != cluster[8] && cluster[0] != cluster[8]);
    fixture_close(&f);
}

/* ---- odd collections ------------------------------------------------------------------------- */

static void check_odd(const char *const *texts, size_t n, const char *k, gf_build_info expected)
{
    fixture f;
    gf_error err;
    fixture_open(&f);
    assert_ok(gf_collection_create(f.store, fixture_place("c"), &err));
    fixture_put_texts(&f, "c", texts, n);
    fixture_set(&f, "c", "default", "k", k);
    gf_build_info b = fixture_rebuild(&f, "c");
    fixture_check_served(&f, "c", n);
    assert_int_equal(b.documents, n);
    assert_int_equal(b.without_terms, expected.without_terms);
    assert_int_equal(b.distinct, expected.distinct);
    if (b.k < 1 - (n == expected.without_terms) || b.k > expected.k)
        fail_msg("%" PRIu32 " clusters, at most %" PRIu32 " expected", b.k, expected.k);
    assert_true(b.objective >= 0 && b.objective <= 1.000001);
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_UNMODIFIED);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void odd_collections_are_built(void **state)
{
    (void)state;
    static const char *const ks[] = {"auto", "1", "2", "1000"};
    static const char *const same[9] = {"same words", "same words", "same words",
                                        "same words", "same words", "same words",
                                        "same words", "same words", "same words"};
    static const char *const wordless[3] = {"", "!!! ??", "\xE2\x80\xA6"};
    static const char *const mixed[4] = {"", "some words", "!", "same things"};
    for (size_t i = 0; i < 4; i++) {
        check_odd(NULL, 0, ks[i], (gf_build_info){.k = 0});
        check_odd(same, 1, ks[i], (gf_build_info){.k = 1, .distinct = 1});
        check_odd(mixed + 1, 1, ks[i], (gf_build_info){.k = 1, .distinct = 1});
        check_odd(same, 2, ks[i], (gf_build_info){.k = 1, .distinct = 1});
        check_odd(same, 9, ks[i], (gf_build_info){.k = 1, .distinct = 1});
        check_odd(wordless, 3, ks[i], (gf_build_info){.k = 0, .without_terms = 3});
        check_odd(mixed, 4, ks[i], (gf_build_info){.k = 2, .without_terms = 2, .distinct = 2});
        check_odd((const char *const[]){"alpha beta", "gamma delta"}, 2, ks[i],
                  (gf_build_info){.k = 2, .distinct = 2});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_was_modified_is_rebuilt),
        cmocka_unit_test(changed_settings_are_a_modification),
        cmocka_unit_test(what_is_not_there_cannot_be_rebuilt),
        cmocka_unit_test(a_failure_keeps_its_reason_without_an_error),
        cmocka_unit_test(subjects_come_apart),
        cmocka_unit_test(odd_collections_are_built),
    };
    return cmocka_run_group_tests_name("rebuild", tests, NULL, NULL);
}
