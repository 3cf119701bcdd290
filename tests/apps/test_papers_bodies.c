/* The parts of texts that are read, and papers as documents of a collection. */
#include "tests/apps/papers.h"

static void test_papers__check_6(void **state)
{
    (void)state;
    transport t;
    gf_buffer archive = {0};
    int small = 0, references = 0;
    if (!gf_test_has_data()) skip();
    transport_open(&t);
    papers_samples(&archive);
    transport_input(&t, "papers-tei.tar.gz", gf_buffer_view(&archive));
    assert_run(&t, "papers import-tei");
    assert_true(transport_number(&t, 0, "refused") == 32);
    assert_int_equal(t.outcome, GF_OUTCOME_SOME_REFUSED);
    assert_string_equal(t.notices[0].reason, "no_digest");
    transport_input(&t, "papers-tei.tar.gz", gf_buffer_view(&archive));
    assert_run(&t, "papers import-tei", "hash", "true");
    papers_check_counts(&t, 32, 0, 0);
    assert_run(&t, "papers counts");
    assert_int_equal(t.n_rows, 1);
    assert_run(&t, "papers list");
    assert_int_equal(t.n_rows, 32);
    char keys[32][40];
    int titled = 0;
    for (uint64_t i = 0; i < 32; i++) {
        snprintf(keys[i], sizeof keys[i], "%.*s", GF_SLICE_ARG(transport_text(&t, i, "sha1")));
        titled += transport_has(&t, i, "title");
    }
    assert_int_equal(titled, 29 - 2 + 1);
    for (int i = 0; i < 32; i++) {
        assert_run(&t, "papers show", "sha1", keys[i]);
        gf_json_value grobid = transport_member(&t, 0, "grobid0"), metadata, body, title, list, v;
        assert_true(gf_json_member(grobid, "metadata", &metadata));
        assert_false(gf_json_member(metadata, "body", &body));
        assert_false(gf_json_member(metadata, "annex", &body));
        assert_true(gf_json_member(metadata, "title", &title));
        assert_true(gf_json_member(metadata, "citations", &list));
        size_t n = 0;
        for (gf_json_iterator it = gf_json_items(list); gf_json_next(&it, NULL, &v);)
            n++;
        if (gf_slice_equal(gf_json_get_string(title), GF_SLICE("Dummy Example File"))) {
            gf_json_value authors, name = {0};
            small++;
            assert_int_equal(n, 2);
            assert_true(gf_json_member(metadata, "authors", &authors));
            gf_json_iterator it = gf_json_items(authors);
            assert_true(gf_json_next(&it, NULL, &v) && gf_json_member(v, "name", &name));
            assert_slice(gf_json_get_string(name), "Brewster Kahle");
            assert_true(gf_json_next(&it, NULL, &v) && gf_json_member(v, "name", &name));
            assert_slice(gf_json_get_string(name), "J Doe");
            assert_false(gf_json_next(&it, NULL, &v));
        }
        references += gf_json_get_string(title).len == 0 && n > 0;
    }
    assert_int_equal(small, 1);
    assert_int_equal(references, 2 + 2); /* two papers have no title, but references */
    gf_buffer_release(&archive);
    transport_close(&t);
}

static void test_papers__check_9(void **state)
{
    (void)state;
    transport t;
    gf_buffer archive = {0};
    gf_sha1 sha1;
    gf_error err;
    if (!gf_test_has_data()) skip();
    transport_open(&t);
    papers_samples(&archive);
    transport_input(&t, "papers-tei.tar.gz", gf_buffer_view(&archive));
    assert_run(&t, "papers import-tei", "hash", "true");
    papers_import_cdx(&t, PAPERS_LINE(PAPERS_HELLO)); /* without a text, and so no document */
    papers_import_tei(&t, PAPERS_OTHER, GF_SLICE(PAPERS_TEI("Title of this one")));
    assert_run(&t, "put", "collection", "papers", "from", "papers");
    assert_true(transport_number(&t, 0, "new") == 33);
    assert_run(&t, "put", "collection", "papers", "from", "papers");
    assert_true(transport_number(&t, 0, "unchanged") == 33);
    assert_run(&t, "doc", "collection", "papers", "id", PAPERS_OTHER);
    assert_slice(transport_text(&t, 0, "text"), "Title of this one\n\nText of Title of this one");
    assert_run(&t, "put", "collection", "titles", "from", "papers", "text", "title");
    assert_run(&t, "doc", "collection", "titles", "id", PAPERS_OTHER);
    assert_slice(transport_text(&t, 0, "text"), "Title of this one");
    assert_run(&t, "rebuild", "collection", "papers", "threads", "1");
    assert_slice(transport_text(&t, 0, "outcome"), "rebuilt");
    assert_true(transport_number(&t, 0, "documents") == 33);
    assert_run(&t, "export", "collection", "papers");
    assert_int_equal(t.n_rows, 33);
    for (uint64_t i = 0; i < t.n_rows; i++)
        assert_true(gf_sha1_parse(transport_text(&t, i, "id"), &sha1));
    assert_ok(gf_sha1_of(GF_SLICE("x"), &sha1, &err));
    gf_buffer_release(&archive);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_papers__check_6),
                                       cmocka_unit_test(test_papers__check_9)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
