/* Real feedback, put by Firefox Input's patterns: its collections are those that counting gives. */
#include "support/test.h"
#include "tests/api/transport.h"

#include "base/strings.h"

enum { MOST_COLLECTIONS = 200 };

typedef struct counted {
    gf_strings names;
    double sizes[MOST_COLLECTIONS]; /* by the name's number */
} counted;

static void count(counted *c, const char *format, gf_slice a, gf_slice b, gf_slice d)
{
    uint32_t number;
    char name[256];
    snprintf(name, sizeof name, format, GF_SLICE_ARG(a), GF_SLICE_ARG(b), GF_SLICE_ARG(d));
    assert_int_equal(gf_strings_add(&c->names, gf_slice_str(name), &number, NULL, NULL), GF_OK);
    assert_true(number < MOST_COLLECTIONS);
    c->sizes[number]++;
}

static void count_lines(counted *c, gf_slice lines)
{
    gf_error err;
    gf_slice line;
    gf_json_parser *parser;
    assert_ok(gf_json_parser_create(&parser, &err));
    while (gf_test_next_line(&lines, &line)) {
        gf_json_value root, label, product, version;
        assert_ok(gf_json_parse_copy(parser, line, &root, &err));
        assert_true(gf_json_member(root, "label", &label));
        assert_true(gf_json_member(root, "product", &product));
        assert_true(gf_json_member(root, "version", &version));
        gf_slice l = gf_json_get_string(label), p = gf_json_get_string(product);
        count(c, "%.*s-%.*s-%.*s", l, p, gf_json_get_string(version));
        count(c, "%.*s-%.*s%.*s", l, p, (gf_slice){0});
    }
    gf_json_parser_free(parser);
}

static void by_patterns(void **state)
{
    (void)state;
    static counted c;
    transport t;
    gf_buffer lines = {0};
    double total = 0;
    gf_test_read_data("firefox-input/firefox-input.jsonl.gz", &lines);
    count_lines(&c, gf_buffer_view(&lines));
    transport_open(&t);
    transport_input(&t, "firefox-input.jsonl", gf_buffer_view(&lines));
    assert_run(&t, "put", "collection", "{label}-{product}-{version}", "also", "{label}-{product}");
    assert_int_equal(transport_number(&t, 0, "read"), 500);
    assert_int_equal(transport_number(&t, 0, "new"), 1000);
    assert_int_equal(transport_number(&t, 0, "collections_made"), c.names.n);
    assert_run(&t, "collection list", "sort", "size");
    assert_int_equal(t.n_rows, c.names.n);
    for (uint64_t i = 0; i < t.n_rows; i++) {
        uint32_t number = gf_strings_find(&c.names, transport_text(&t, i, "collection"));
        assert_int_not_equal(number, GF_STRING_NONE);
        assert_true(transport_number(&t, i, "size") == c.sizes[number]);
        total += c.sizes[number];
    }
    assert_true(total == 1000);
    assert_run(&t, "rebuild", "all", "true");
    assert_int_equal(t.n_rows, c.names.n);
    for (uint64_t i = 0; i < t.n_rows; i++) {
        assert_slice(transport_text(&t, i, "outcome"), "rebuilt");
        assert_true(transport_number(&t, i, "k") >= 1);
    }
    gf_strings_release(&c.names);
    gf_buffer_release(&lines);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_patterns)};
    if (!gf_test_has_data()) return gf_test_skipped("put of Firefox Input by its patterns");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
