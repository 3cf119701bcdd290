/* Searches worked out by hand, and searches that are refused. */
#include "tests/engine/fixture.h"

#include "storage/tables.h"

#define assert_finds(f, query, expected)                                                           \
    do {                                                                                           \
        fixture_search(f, query, NULL);                                                            \
        assert_string_equal(fixture_found_ids(), expected);                                        \
    } while (0)

/* ---- by hand --------------------------------------------------------------------------------- */

static void a_score_by_hand(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_texts(&f, "c", (const char *const[]){"red apple", "red red plum tree", "pear"}, 3);
    /* 3 documents, 7 words; red is in 2: idf ln(1 + 1.5 / 2.5) = 0.470004. 000: 2 words, once:
       2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / (7 / 3))) = 1.06207; 001: 4 words, twice: 4.4 / (2 +
       1.2 * (0.25 + 0.75 * 4 / (7 / 3))) = 1.14371 */
    assert_finds(&f, "red", "001 000");
    assert_near(fixture_found.score[1], 0.470003629 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 6.0 / 7)),
                1e-6);
    assert_near(fixture_found.score[0], 0.470003629 * 4.4 / (2 + 1.2 * (0.25 + 0.75 * 12.0 / 7)),
                1e-6);
    fixture_close(&f);
}

static void check_subjects(fixture *f)
{
    assert_finds(f, "orbit", "008 010");
    assert_finds(f, "orbiting", "008 010");
    assert_finds(f, "\"comet and star\"", "011");
    assert_finds(f, "\"star and comet\"", "");
    assert_finds(f, "\"Comet, AND star!\"", "011");
    assert_finds(f, "comet -planets", "010");
    assert_finds(f, "comet -\"comet and\"", "010 009");
    assert_finds(f, "telescop*", "011");
    assert_finds(f, "telescopes*", "011");
    assert_finds(f, "zebra", "");
    assert_finds(f, "zebra telescopes", "011");
    assert_finds(f, "\"zebra telescopes\"", "");
    assert_finds(f, "its", "009");
    fixture_search(f, "\"orbit of that\"", NULL);
    assert_string_equal(fixture_found.found[0], "orbit of that");
    fixture_search(f, "xyz comet star", NULL);
    assert_int_equal(fixture_found.n, 4);
}

static void the_same_with_and_without_an_index(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    check_subjects(&f);
    assert_int_equal(fixture_found.cluster[0], 0);
    fixture_rebuild(&f, "c");
    check_subjects(&f);
    assert_int_not_equal(fixture_found.cluster[0], 0);
    assert_false(fixture_found.provisional[0]);
    fixture_set(&f, "c", "default", "store_index", "off");
    fixture_rebuild(&f, "c");
    check_subjects(&f);
    fixture_close(&f);
}

/* An index of an earlier or a later format, or none as in older builds, is passed over. */
static void a_build_without_an_index_is_searched_by_its_texts(void **state)
{
    (void)state;
    gf_error err;
    static const char *const values[] = {NULL, "\x01what", "\x03what"};
    for (size_t i = 0; i < 3; i++) {
        fixture f;
        fixture_open(&f);
        fixture_put_subjects(&f, "c");
        gf_build_info info = fixture_rebuild(&f, "c");
        gf_database *db = gf_store_database(f.store);
        gf_tables tables;
        gf_batch *batch;
        gf_buffer key = {0};
        gf_place where = fixture_place("c");
        assert_ok(gf_tables_open(db, &tables, &err));
        gf_tables_build_key(&key, where.name_space, where.collection, fixture_default(),
                            info.build);
        assert_ok(gf_batch_create(db, &batch, &err));
        if (values[i])
            gf_batch_put(batch, tables.builds, gf_buffer_view(&key), GF_BUILDS_MODEL,
                         GF_SLICE("search:h"), gf_slice_str(values[i]), 0);
        else
            gf_batch_delete_cell(batch, tables.builds, gf_buffer_view(&key), GF_BUILDS_MODEL,
                                 GF_SLICE("search:h"));
        assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
        gf_batch_free(batch);
        gf_buffer_release(&key);
        check_subjects(&f);
        fixture_close(&f);
    }
}

static void what_is_put_is_found_at_once(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "new", "A zebra looks at the comet");
    fixture_put(&f, "c", "008", "a zebra in the oven");
    fixture_delete(&f, "c", "010");
    assert_finds(&f, "zebra", "008 new");
    assert_true(fixture_found.provisional[0]);
    assert_finds(&f, "orbit", "");
    assert_finds(&f, "\"zebra in\" comet", "008");
    fixture_put(&f, "c", "010", "back in orbit");
    assert_finds(&f, "orbit", "010");
    fixture_delete(&f, "c", "new");
    assert_finds(&f, "zebra", "008");
    fixture_rebuild(&f, "c");
    assert_finds(&f, "zebra orbit", "010 008");
    assert_false(fixture_found.provisional[0]);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- filters --------------------------------------------------------------------------------- */

static void filters_leave_out(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    fixture_open(&f);
    fixture_put_field(&f, "kind", "a", "red apple", "\"2026-01-01\"", "\"x\"");
    fixture_put_field(&f, "kind", "b", "red plum", "\"2026-02-01\"", "\"y\"");
    fixture_put_field(&f, "kind", "c", "red pear", "\"2026-03-01\"", "\"x\"");
    for (int built = 0; built < 2; built++) {
        gf_slice where = GF_SLICE("kind=x");
        fixture_search(&f, "red", &GF_SEARCH_OPTIONS(.where = &where, .n_where = 1));
        assert_string_equal(fixture_found_ids(), "a c");
        fixture_search(&f, "red", &GF_SEARCH_OPTIONS(.since = GF_SLICE("2026-02-01")));
        assert_string_equal(fixture_found_ids(), "b c");
        fixture_search(&f, "red", &GF_SEARCH_OPTIONS(.until = GF_SLICE("2026-02-01")));
        assert_string_equal(fixture_found_ids(), "a");
        fixture_search(&f, "red", &GF_SEARCH_OPTIONS(.limit = 2));
        assert_string_equal(fixture_found_ids(), "a b");
        fixture_rebuild(&f, "c");
    }
    assert_status(GF_EINVAL,
                  fixture_try_search(&f, "red", &GF_SEARCH_OPTIONS(.since = GF_SLICE("?")), &err));
    assert_string_equal(err.message, "since: \"?\" is not a time");
    gf_slice bad = GF_SLICE("nothing");
    assert_status(GF_EINVAL, fixture_try_search(
                                 &f, "red", &GF_SEARCH_OPTIONS(.where = &bad, .n_where = 1), &err));
    fixture_close(&f);
}

static void clusters_are_told_and_chosen(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    gf_search_options one = GF_SEARCH_OPTIONS(.cluster = 1);
    assert_status(GF_ENOTFOUND, fixture_try_search(&f, "the", &one, &err));
    fixture_set(&f, "c", "default", "k", "3");
    fixture_rebuild(&f, "c");
    fixture_search(&f, "the with", NULL);
    size_t n = fixture_found.n, of_one = 0;
    uint32_t cluster = fixture_found.cluster[0];
    for (size_t i = 0; i < n; i++)
        of_one += fixture_found.cluster[i] == cluster;
    assert_true(of_one > 0 && of_one < n);
    fixture_search(&f, "the with", &GF_SEARCH_OPTIONS(.cluster = cluster));
    assert_int_equal(fixture_found.n, of_one);
    for (size_t i = 0; i < fixture_found.n; i++)
        assert_int_equal(fixture_found.cluster[i], cluster);
    assert_status(GF_ENOTFOUND,
                  fixture_try_search(&f, "the", &GF_SEARCH_OPTIONS(.cluster = 99), &err));
    gf_search_options other = GF_SEARCH_OPTIONS(.configuration = GF_SLICE("nope"));
    assert_status(GF_ENOTFOUND, fixture_try_search(&f, "the", &other, &err));
    fixture_close(&f);
}

/* A build of a part of the collection: all of it is searched, and what is left out has no place. */
static void what_a_build_leaves_out_is_found(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_field(&f, "kind", "a", "red apple", "1", "\"x\"");
    fixture_put_field(&f, "kind", "b", "red plum", "2", "\"y\"");
    fixture_set(&f, "c", "default", "filter", "kind=x");
    fixture_rebuild(&f, "c");
    assert_finds(&f, "red", "a b");
    assert_int_not_equal(fixture_found.cluster[0], 0);
    assert_int_equal(fixture_found.cluster[1], 0);
    fixture_close(&f);
}

/* ---- languages ------------------------------------------------------------------------------- */

static void put_language(fixture *f, const char *id, const char *text, const char *language)
{
    gf_error err;
    gf_document d = {
        .id = gf_slice_str(id), .text = gf_slice_str(text), .language = gf_slice_str(language)};
    assert_ok(fixture_try_put(f->store, "c", &d, &err));
}

/* Each document is looked for in its own language: "katzen" is katz in German alone. */
static void a_query_is_in_the_language_of_each_document(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    put_language(&f, "de", "Die Katze sitzt", "de");
    put_language(&f, "en", "A katze, they say", "en");
    put_language(&f, "fr", "Deux chats", "fr");
    for (int built = 0; built < 2; built++) {
        assert_finds(&f, "katzen", "de");
        assert_finds(&f, "katze", "de en");
        assert_finds(&f, "chat", "fr");
        assert_finds(&f, "\"die katze\"", "de");
        assert_finds(&f, "kat*", "de en");
        fixture_rebuild(&f, "c");
    }
    fixture_close(&f);
}

static void texts_without_spaces(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    put_language(&f, "1", "\xE6\x88\x91\xE5\x96\x9C\xE6\xAC\xA2\xE5\x8C\x97\xE4\xBA\xAC", "zh");
    put_language(&f, "2", "\xE5\x8C\x97\xE4\xBA\xAC\xE5\xBE\x88\xE5\xA4\xA7", "zh");
    put_language(&f, "3", "\xE4\xB8\x8A\xE6\xB5\xB7\xE5\xBE\x88\xE5\xA4\xA7", "zh");
    for (int built = 0; built < 2; built++) {
        assert_finds(&f, "\xE5\x8C\x97\xE4\xBA\xAC", "2 1");
        fixture_rebuild(&f, "c");
    }
    fixture_close(&f);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void bad_queries_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *query, *message;
    } cases[] = {{"the \"engine", "query, character 5: this quote is not closed"},
                 {"the !!!", "query, character 5: there is no word here"},
                 {"the \"?\"", "query, character 5: there is no word here"},
                 {"oil foo-bar*", "query, character 5: a star goes behind one single word"}};
    gf_error err;
    fixture f;
    fixture_open(&f);
    gf_search_options all = GF_SEARCH_OPTIONS(.limit = 0);
    assert_status(GF_ENOTFOUND, fixture_try_search(&f, "a", &all, &err));
    assert_string_equal(err.message, "there is no collection \"c\"");
    fixture_put_subjects(&f, "c");
    for (int built = 0; built < 2; built++) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            assert_status(GF_EINVAL, fixture_try_search(&f, cases[i].query, &all, &err));
            assert_string_equal(err.message, cases[i].message);
        }
        fixture_rebuild(&f, "c");
    }
    fixture_close(&f);
}

static void an_empty_collection_has_nothing(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    fixture_open(&f);
    assert_ok(gf_collection_create(f.store, fixture_place("c"), &err));
    assert_finds(&f, "a", "");
    fixture_rebuild(&f, "c");
    assert_finds(&f, "a b* \"c d\"", "");
    fixture_put(&f, "c", "x", "");
    fixture_put(&f, "c", "y", "a");
    assert_finds(&f, "a", "y");
    fixture_rebuild(&f, "c");
    assert_finds(&f, "a", "y");
    fixture_close(&f);
}

static gf_status search_swept(void *context, gf_error *err)
{
    gf_slice where = GF_SLICE("lang!=de");
    gf_search_options o = GF_SEARCH_OPTIONS(.where = &where, .n_where = 1);
    return fixture_try_search(context, "comet \"an old\" telescop* -flour", &o, err);
}

static void allocation_failures_are_told(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    gf_test_sweep(search_swept, NULL, &f);
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "new", "an old comet");
    gf_test_sweep(search_swept, NULL, &f);
    assert_string_equal(fixture_found_ids(), "new 003");
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_score_by_hand),
        cmocka_unit_test(the_same_with_and_without_an_index),
        cmocka_unit_test(a_build_without_an_index_is_searched_by_its_texts),
        cmocka_unit_test(what_is_put_is_found_at_once),
        cmocka_unit_test(filters_leave_out),
        cmocka_unit_test(clusters_are_told_and_chosen),
        cmocka_unit_test(what_a_build_leaves_out_is_found),
        cmocka_unit_test(a_query_is_in_the_language_of_each_document),
        cmocka_unit_test(texts_without_spaces),
        cmocka_unit_test(bad_queries_are_refused),
        cmocka_unit_test(an_empty_collection_has_nothing),
        cmocka_unit_test(allocation_failures_are_told),
    };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
