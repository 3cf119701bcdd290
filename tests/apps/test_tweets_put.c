/* Stored tweets as a collection, and a collection on a map. */
#include "tests/api/transport.h"
#include "tests/support/test.h"

static void import_lines(transport *t, int from, int n)
{
    static const char *const subjects[] = {"rain in the evening and wind",
                                           "goal in the football match"};
    gf_buffer lines = {0};
    for (int i = from; i < from + n; i++) {
        gf_buffer_format(&lines,
                         "{\"created_at\":\"Thu May 05 14:%02d:00 +0000 2016\",\"id_str\":\"%03d\","
                         "\"text\":\"%s %d #%s\",\"lang\":\"%s\",\"user\":{\"name\":\"A\","
                         "\"screen_name\":\"u%d\"}",
                         i, i, subjects[i % 2], i / 2, i % 2 ? "goal" : "rain",
                         i % 3 ? "en" : "und", i % 4);
        if (i % 2) gf_buffer_format(&lines, ",\"coordinates\":{\"coordinates\":[%d,51.5]}", i);
        gf_buffer_str(&lines, "}\n");
    }
    transport_input(t, "tweets", gf_buffer_view(&lines));
    assert_run(t, "tweets import");
    assert_int_equal(transport_number(t, 0, "new"), n);
    gf_buffer_release(&lines);
}

static void assert_put(transport *t, int read, int created, int unchanged)
{
    assert_int_equal(transport_number(t, 0, "read"), read);
    assert_int_equal(transport_number(t, 0, "new"), created);
    assert_int_equal(transport_number(t, 0, "unchanged"), unchanged);
    assert_int_equal(transport_number(t, 0, "changed"), 0);
    assert_int_equal(transport_number(t, 0, "refused"), 0);
}

/* Has the row of a document these words? */
static bool row_has(transport *t, const char *operation, const char *collection, const char *id,
                    const char *words)
{
    gf_slice row;
    assert_run(t, operation, "collection", collection, "id", id);
    row = transport_bytes(t, 0);
    return memmem(row.ptr, row.len, words, strlen(words)) != NULL;
}

/* SYSTEMS B, check 11: tweets are a collection, which later ones extend, and cluster. */
static void test_tweets__check_11(void **state)
{
    transport t;
    (void)state;
    transport_open(&t);
    import_lines(&t, 0, 20);
    assert_run(&t, "put", "collection", "tw", "from", "tweets");
    assert_put(&t, 20, 20, 0);
    import_lines(&t, 20, 10);
    assert_run(&t, "put", "collection", "tw", "from", "tweets");
    assert_put(&t, 30, 10, 20);
    assert_run(&t, "config set", "collection", "tw", "set", "k=2", "set", "language=english");
    assert_run(&t, "rebuild", "collection", "tw", "threads", "1");
    assert_run(&t, "clusters", "collection", "tw");
    assert_int_equal(t.n_rows, 2);
    assert_int_equal(transport_number(&t, 0, "size"), 15);
    assert_true(row_has(&t, "doc", "tw", "001",
                        "\"time\":\"2016-05-05T14:01:00Z\",\"lang\":\"en\",\"fields\":{"
                        "\"hashtags\":[\"#goal\"],\"latitude\":51.5,\"longitude\":1,"
                        "\"name\":\"A\",\"screen_name\":\"u1\"}"));
    assert_false(row_has(&t, "doc", "tw", "000", "\"lang\""));
    transport_close(&t);
}

static void test_where(void **state)
{
    transport t;
    (void)state;
    transport_open(&t);
    import_lines(&t, 0, 20);
    assert_run(&t, "put", "collection", "a", "from", "tweets", "where", "hashtags=#rain");
    assert_put(&t, 10, 10, 0);
    assert_run(&t, "put", "collection", "b", "from", "tweets", "where", "lang=en", "where",
               "longitude>=7");
    assert_put(&t, 5, 5, 0); /* 7, 11, 13, 17, 19 */
    assert_run(&t, "put", "collection", "c-{screen_name}", "from", "tweets", "where",
               "screen_name!=u1");
    assert_int_equal(transport_number(&t, 0, "collections_made"), 3);
    assert_run(&t, "put", "collection", "d", "from", "tweets", "where",
               "time<2016-05-05T14:10:00Z");
    assert_put(&t, 10, 10, 0);
    assert_refused(GF_EINVAL, "field=value", &t, "put", "collection", "e", "from", "tweets",
                   "where", "x");
    assert_refused(GF_EINVAL, "not with --from tweets", &t, "put", "collection", "e", "from",
                   "tweets", "id", "x");
    transport_input(&t, "a.jsonl", GF_SLICE("{}"));
    assert_refused(GF_EINVAL, "no input", &t, "put", "collection", "e", "from", "tweets");
    transport_input(&t, "a.jsonl", GF_SLICE("{}"));
    assert_refused(GF_EINVAL, "only with --from tweets", &t, "put", "collection", "e", "where",
                   "a=b");
    t.namespace = "other";
    assert_refused(GF_ENOTFOUND, "has no tweets", &t, "put", "collection", "e", "from", "tweets");
    transport_close(&t);
}

/* A tweet without an id is the same document when it is put again. */
static void test_without_id(void **state)
{
    transport t;
    (void)state;
    transport_open(&t);
    transport_input(&t, "a",
                    GF_SLICE("{\"created_at\":\"Fri Apr 29 09:05:55 +0000 2016\","
                             "\"text\":\"a\"}\n"));
    assert_run(&t, "tweets import");
    assert_run(&t, "put", "collection", "e", "from", "tweets");
    assert_put(&t, 1, 1, 0);
    assert_run(&t, "put", "collection", "e", "from", "tweets");
    assert_put(&t, 1, 0, 1);
    assert_run(&t, "export", "collection", "e", "documents", "true");
    assert_true(gf_slice_starts(transport_text(&t, 0, "id"), GF_SLICE("00000000572323f3")));
    assert_int_equal(transport_text(&t, 0, "id").len, 24);
    transport_close(&t);
}

/* ---- geojson --------------------------------------------------------------------------------- */

static void test_geojson(void **state)
{
    transport t;
    (void)state;
    transport_open(&t);
    transport_put(
        &t, "p",
        "{\"id\":\"1\",\"text\":\"rain here\",\"latitude\":51.5,\"longitude\":-0.1}\n"
        "{\"id\":\"2\",\"text\":\"rain there\",\"latitude\":\"48.25\",\"longitude\":\"2\"}\n"
        "{\"id\":\"3\",\"text\":\"rain\",\"coordinates\":{\"coordinates\":[12,50]}}\n"
        "{\"id\":\"4\",\"text\":\"rain, too\",\"place\":{\"bounding_box\":{\"coordinates\":"
        "[[[1,2],[1,4],[3,4],[3,2]]]}}}\n"
        "{\"id\":\"5\",\"text\":\"rain nowhere\"}\n"
        "{\"id\":\"6\",\"text\":\"rain off\",\"latitude\":91,\"longitude\":0}\n"
        "{\"id\":\"7\",\"text\":\"rain half\",\"latitude\":1,\"longitude\":null}\n");
    assert_run(&t, "rebuild", "collection", "p", "threads", "1");
    assert_run(&t, "export", "collection", "p", "geojson", "true", "with-text", "true");
    assert_int_equal(t.n_rows, 4);
    static const double places[4][2] = {{-0.1, 51.5}, {2, 48.25}, {12, 50}, {2, 3}};
    for (uint64_t i = 0; i < 4; i++) {
        gf_json_value geometry = transport_member(&t, i, "geometry"), list, v;
        assert_slice(transport_text(&t, i, "type"), "Feature");
        assert_true(gf_json_member(geometry, "coordinates", &list));
        gf_json_iterator it = gf_json_items(list);
        for (int k = 0; k < 2; k++) {
            assert_true(gf_json_next(&it, NULL, &v));
            assert_true(gf_json_number(v) == places[i][k]);
        }
        gf_json_value properties = transport_member(&t, i, "properties");
        assert_true(gf_json_member(properties, "cluster", &v));
        assert_true(gf_json_member(properties, "label", &v));
        assert_true(gf_json_member(properties, "score", &v));
        assert_true(gf_json_member(properties, "text", &v));
    }
    assert_int_equal(t.n_notices, 1);
    assert_string_equal(t.notices[0].reason, "no_place");
    assert_string_equal(t.notices[0].message, "3 documents without a place left out");
    assert_refused(GF_EINVAL, "neither", &t, "export", "collection", "p", "geojson", "true",
                   "documents", "true");
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tweets__check_11), cmocka_unit_test(test_where),
        cmocka_unit_test(test_without_id), cmocka_unit_test(test_geojson)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
