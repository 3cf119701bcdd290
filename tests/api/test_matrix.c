/* export with documents and with matrix, rebuild with a matrix. */
#include "support/test.h"
#include "tests/api/transport.h"

#include <string.h>

/* ---- documents ------------------------------------------------------------------------------- */

static void export_documents(transport *t, const char *collection, gf_buffer *lines)
{
    assert_run(t, "export", "collection", collection, "documents", "");
    gf_buffer_reset(lines);
    for (uint64_t i = 0; i < t->n_rows; i++) {
        gf_buffer_slice(lines, transport_bytes(t, i));
        gf_buffer_byte(lines, '\n');
    }
}

/* Into another collection, and out again: the same bytes, and no document changes. */
static void documents_come_back(void **state)
{
    (void)state;
    static const char records[] =
        "{\"id\": \"b\", \"text\": \"tab\\t quote \\\" \\u0000 \\ud83d\\ude00\", \"time\": 12, "
        "\"lang\": \"de\", \"z\": [1, {\"a\": null}], \"big\": 18446744073709551615, \"x\": 1.50}\n"
        "{\"id\": 7, \"text\": \"\", \"time\": \"2012-04-24\", \"namespace\": \"n\", \"seq\": 3, "
        "\"field:x\": true, \"member_of\": {}}\n"
        "{\"id\": \"a/b\", \"text\": \"three\", \"time\": \"yesterday\", \"lang\": [\"en\"]}\n"
        "{\"text\": \"without an id\", \"score\": -0.0, \"label\": \"\"}\n";
    transport t;
    gf_buffer first = {0}, second = {0};
    transport_open(&t);
    transport_put(&t, "one", records);
    export_documents(&t, "one", &first);
    assert_int_equal(t.n_rows, 4);
    assert_int_equal(t.n_notices, 0);
    assert_slice(transport_bytes(&t, 1), "{\"id\":\"a/b\",\"text\":\"three\",\"lang\":[\"en\"],"
                                         "\"time\":\"yesterday\"}");
    transport_put(&t, "two", gf_buffer_cstr(&first));
    assert_int_equal(transport_number(&t, 0, "new"), 4);
    transport_put(&t, "one", gf_buffer_cstr(&first));
    assert_int_equal(transport_number(&t, 0, "unchanged"), 4);
    export_documents(&t, "two", &second);
    assert_true(gf_slice_equal(gf_buffer_view(&first), gf_buffer_view(&second)));
    gf_buffer_release(&first);
    gf_buffer_release(&second);
    transport_close(&t);
}

/* Put under other names, a record may have fields that would be taken for the document's own. */
static void mistakable_fields(void **state)
{
    (void)state;
    transport t;
    gf_buffer first = {0}, second = {0};
    transport_open(&t);
    transport_input(&t, "a.jsonl",
                    GF_SLICE("{\"key\":\"1\",\"body\":\"words\",\"id\":\"own\",\"text\":\"other\","
                             "\"time\":5,\"lang\":\"en\",\"at\":99,\"more\":1}\n"
                             "{\"key\":\"2\",\"body\":\"words\",\"time\":\"2012-04-24\"}\n"
                             "{\"key\":\"3\",\"body\":\"words\",\"time\":\"later\",\"lang\":3}\n"));
    assert_run(&t, "put", "collection", "one", "id", "key", "text", "body", "time", "at", "lang",
               "language");
    export_documents(&t, "one", &first);
    assert_slice(transport_bytes(&t, 0),
                 "{\"id\":\"1\",\"text\":\"words\",\"time\":99,\"field:id\":\"own\","
                 "\"field:lang\":\"en\",\"field:text\":\"other\",\"field:time\":5,\"more\":1}");
    assert_slice(transport_bytes(&t, 1),
                 "{\"id\":\"2\",\"text\":\"words\",\"field:time\":\"2012-04-24\"}");
    assert_slice(transport_bytes(&t, 2),
                 "{\"id\":\"3\",\"text\":\"words\",\"lang\":3,\"time\":\"later\"}");
    assert_int_equal(t.n_notices, 1);
    assert_string_equal(t.notices[0].reason, "renamed");
    assert_memory_equal(t.notices[0].message, "5 fields", 8);
    transport_put(&t, "two", gf_buffer_cstr(&first));
    export_documents(&t, "two", &second);
    assert_true(gf_slice_equal(gf_buffer_view(&first), gf_buffer_view(&second)));
    gf_buffer_release(&first);
    gf_buffer_release(&second);
    transport_close(&t);
}

/* ---- matrices -------------------------------------------------------------------------------- */

static const char POSTS[] = "{\"id\":\"1\",\"text\":\"red apple pie\"}\n"
                            "{\"id\":\"2\",\"text\":\"apple pie recipe\"}\n"
                            "{\"id\":\"3\",\"text\":\"red apple\"}\n"
                            "{\"id\":\"4\",\"text\":\"blue car engine\"}\n"
                            "{\"id\":\"5\",\"text\":\"car engine oil\"}\n"
                            "{\"id\":\"6\",\"text\":\"...\"}\n";

static void put_posts(transport *t)
{
    transport_put(t, "c", POSTS);
    assert_run(t, "config set", "collection", "c", "set", "k=2", "set", "language=none");
    assert_run(t, "rebuild", "collection", "c", "threads", "1");
}

/* The file of a build, given back, clusters alike: also into another configuration. */
static void out_and_in_again(void **state)
{
    (void)state;
    transport t;
    gf_buffer file = {0};
    transport_open(&t);
    put_posts(&t);
    double objective = transport_number(&t, 0, "objective");
    assert_false(transport_has(&t, 0, "matrix") || transport_has(&t, 0, "unknown"));
    assert_run(&t, "export", "collection", "c", "matrix", "");
    assert_int_equal(t.n_rows, 1);
    assert_string_equal(transport_members(&t, 0),
                        "collection build rows columns entries clusters bytes");
    assert_int_equal(transport_number(&t, 0, "rows"), 6);
    assert_int_equal(transport_number(&t, 0, "clusters"), 2);
    assert_int_equal(transport_number(&t, 0, "bytes"), t.written.len);
    gf_buffer_slice(&file, gf_buffer_view(&t.written));

    assert_run(&t, "delete", "collection", "c", "id", "5");
    assert_run(&t, "config set", "collection", "c", "config", "other", "set", "k=2");
    transport_input(&t, "c.npz", gf_buffer_view(&file));
    assert_run(&t, "rebuild", "collection", "c", "config", "other", "matrix", "");
    assert_int_equal(t.n_rows, 1);
    assert_slice(transport_text(&t, 0, "matrix"), "sparse");
    assert_slice(transport_text(&t, 0, "configuration"), "other");
    assert_int_equal(transport_number(&t, 0, "unknown"), 1);
    assert_int_equal(transport_number(&t, 0, "without_terms"), 1);
    assert_true(transport_number(&t, 0, "objective") >= objective - 0.2);
    assert_int_equal(t.n_notices, 2);
    assert_string_equal(t.notices[0].reason, "unmatched");
    assert_non_null(strstr(t.notices[0].message, "1 row of the matrix"));
    assert_non_null(strstr(t.notices[1].message, "1 of 5 documents in no cluster"));

    assert_run(&t, "doc", "collection", "c", "id", "1", "config", "other", "why", "");
    assert_non_null(memmem(transport_bytes(&t, 0).ptr, transport_bytes(&t, 0).len,
                           "\"note\":\"this build clusters vectors", 35));
    assert_run(&t, "export", "collection", "c", "config", "other", "matrix", "");
    assert_int_equal(transport_number(&t, 0, "rows"), 5);
    assert_true(transport_number(&t, 0, "entries") > 0);
    gf_buffer_reset(&file);
    gf_buffer_slice(&file, gf_buffer_view(&t.written));
    transport_input(&t, "again.npz", gf_buffer_view(&file));
    assert_run(&t, "assign", "collection", "c", "config", "other", "matrix", "");
    assert_int_equal(t.n_rows, 5);
    assert_slice(transport_text(&t, 0, "id"), "1");
    assert_true(transport_number(&t, 0, "score") > 0);
    transport_input(&t, "again.npz", gf_buffer_view(&file));
    assert_run(&t, "rebuild", "collection", "c", "config", "other", "matrix", "");
    assert_int_equal(transport_number(&t, 0, "without_terms"), 1);
    transport_input(&t, "again.npz", gf_buffer_view(&file));
    assert_refused(GF_ECONFLICT, "this build clusters texts", &t, "assign", "collection", "c",
                   "matrix", "");
    assert_run(&t, "builds", "collection", "c", "config", "other");
    assert_slice(transport_text(&t, 0, "matrix"), "sparse");
    gf_buffer_release(&file);
    transport_close(&t);
}

/* Equal builds give equal files, byte for byte. */
static void same_bytes(void **state)
{
    (void)state;
    transport t;
    gf_buffer file = {0};
    transport_open(&t);
    put_posts(&t);
    assert_run(&t, "export", "collection", "c", "matrix", "");
    gf_buffer_slice(&file, gf_buffer_view(&t.written));
    assert_run(&t, "export", "collection", "c", "matrix", "");
    assert_true(gf_slice_equal(gf_buffer_view(&file), gf_buffer_view(&t.written)));
    gf_buffer_release(&file);
    transport_close(&t);
}

static void refused(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    put_posts(&t);
    assert_refused(GF_EINVAL, "documents", &t, "export", "collection", "c", "documents", "",
                   "matrix", "");
    assert_refused(GF_EINVAL, "config", &t, "export", "collection", "c", "documents", "", "config",
                   "default");
    assert_refused(GF_EINVAL, "with-text", &t, "export", "collection", "c", "matrix", "",
                   "with-text", "");
    assert_refused(GF_ENOTFOUND, "nobody", &t, "export", "collection", "nobody", "documents", "");
    assert_refused(GF_EINVAL, "one collection", &t, "rebuild", "all", "", "matrix", "");
    assert_refused(GF_EINVAL, "no input", &t, "rebuild", "collection", "c", "matrix", "");
    transport_input(&t, "x.npz", GF_SLICE("no archive"));
    assert_refused(GF_EINVAL, "x.npz: ", &t, "rebuild", "collection", "c", "matrix", "");
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_come_back),
        cmocka_unit_test(mistakable_fields),
        cmocka_unit_test(out_and_in_again),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
