/* members: pages of a cluster's documents. */
#include "support/test.h"
#include "tests/api/library.h"
#include "tests/api/transport.h"

#include <stdio.h>

static void put_all(transport *t, unsigned n)
{
    gf_buffer lines = {0};
    for (unsigned i = 0; i < n; i++)
        gf_buffer_format(&lines, "{\"id\":\"doc-%u\",\"text\":\"apple %s %s\"}\n", i,
                         i % 3 ? "pear" : "plum", i % 7 ? "red" : "green");
    transport_input(t, "a.jsonl", gf_buffer_view(&lines));
    assert_run(t, "put", "collection", "c");
    gf_buffer_release(&lines);
    assert_run(t, "config set", "collection", "c", "set", "k=1");
    assert_run(t, "rebuild", "collection", "c", "threads", "1");
}

/* All pages, one behind the other; a rebuild between them changes nothing. */
static void pages_are_the_cluster(void **state)
{
    (void)state;
    static const char *const limits[] = {"1", "7", "20", "40", "41", "1000"};
    transport t;
    transport_open(&t);
    put_all(&t, 40);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        gf_buffer expected = {0}, found = {0};
        char cursor[200] = "";
        bool more = true;
        assert_run(&t, "cluster", "collection", "c", "cluster", "1", "weakest", "100");
        for (size_t k = 40; k-- > 0;)
            gf_buffer_string(&expected,
                             gf_json_get_string(transport_item(&t, 0, "documents", k, "id")));
        for (size_t n = 0; more; n++) {
            if (n == 0)
                assert_run(&t, "members", "collection", "c", "cluster", "1", "limit", limits[i]);
            else
                assert_run(&t, "members", "collection", "c", "cluster", "1", "limit", limits[i],
                           "cursor", cursor);
            assert_int_equal(t.n_rows, 1);
            assert_int_equal(transport_number(&t, 0, "size"), 40);
            size_t here = transport_length(&t, 0, "documents");
            for (size_t k = 0; k < here; k++)
                gf_buffer_string(&found,
                                 gf_json_get_string(transport_item(&t, 0, "documents", k, "id")));
            more = transport_has(&t, 0, "next");
            if (more) {
                gf_slice next = transport_text(&t, 0, "next");
                snprintf(cursor, sizeof cursor, "%.*s", (int)next.len, next.ptr);
            }
            if (n == 1) assert_run(&t, "rebuild", "collection", "c", "force", "", "threads", "1");
        }
        assert_true(gf_slice_equal(gf_buffer_view(&expected), gf_buffer_view(&found)));
        gf_buffer_release(&expected);
        gf_buffer_release(&found);
    }
    transport_close(&t);
}

/* Of four kinds of texts; with the copies they are all there is, on any page. */
static void pages_of_different_documents(void **state)
{
    (void)state;
    static const char *const limits[] = {"1", "3", "4", "100"};
    transport t;
    transport_open(&t);
    put_all(&t, 40);
    assert_run(&t, "cluster", "collection", "c", "cluster", "1", "docs", "100");
    size_t different = transport_length(&t, 0, "documents");
    assert_int_equal(different, 4);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        char cursor[200] = "";
        size_t n = 0;
        double members = 0;
        for (bool more = true; more;) {
            if (n == 0)
                assert_run(&t, "members", "collection", "c", "cluster", "1", "limit", limits[i],
                           "different", "true");
            else
                assert_run(&t, "members", "collection", "c", "cluster", "1", "limit", limits[i],
                           "different", "true", "cursor", cursor);
            size_t here = transport_length(&t, 0, "documents");
            assert_true(here > 0);
            for (size_t k = 0; k < here; k++)
                members += 1 + gf_json_number(transport_item(&t, 0, "documents", k, "copies"));
            n += here;
            more = transport_has(&t, 0, "next");
            if (!more) break;
            gf_slice next = transport_text(&t, 0, "next");
            snprintf(cursor, sizeof cursor, "%.*s", (int)next.len, next.ptr);
        }
        assert_int_equal(n, different);
        assert_near(members, 40, 0);
    }
    transport_close(&t);
}

static void by_label(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    put_all(&t, 12);
    assert_run(&t, "clusters", "collection", "c");
    char label[80];
    gf_slice text = transport_text(&t, 0, "label");
    snprintf(label, sizeof label, "label:%.*s", (int)text.len, text.ptr);
    assert_run(&t, "members", "collection", "c", "cluster", label);
    assert_string_equal(transport_members(&t, 0), "build cluster label size documents");
    assert_int_equal(transport_length(&t, 0, "documents"), 12);
    transport_close(&t);
}

static void refused(void **state)
{
    (void)state;
    static const char *const cursors[] = {
        "x", "1", "1-2", "1-2-", "-1-2-a", "0-2-a", "1-4294967296-a", "9223372036854775808-2-a"};
    transport t;
    transport_open(&t);
    put_all(&t, 12);
    for (size_t i = 0; i < sizeof cursors / sizeof cursors[0]; i++)
        assert_refused(GF_EINVAL, "cursor: this is none", &t, "members", "collection", "c",
                       "cluster", "1", "cursor", cursors[i]);
    assert_refused(GF_EINVAL, "limit is at most 1000", &t, "members", "collection", "c", "cluster",
                   "1", "limit", "1001");
    assert_refused(GF_EINVAL, "not a cluster's id", &t, "members", "collection", "c", "cluster",
                   "0");
    assert_refused(GF_ENOTFOUND, "", &t, "members", "collection", "c", "cluster", "2");
    assert_refused(GF_ENOTFOUND, "", &t, "members", "collection", "c", "cluster", "1", "cursor",
                   "1-2-a");
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pages_are_the_cluster),
                                       cmocka_unit_test(pages_of_different_documents),
                                       cmocka_unit_test(by_label), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
