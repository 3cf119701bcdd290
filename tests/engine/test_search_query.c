/* Queries as people type them, and random bytes, parsed. */
#include "support/test.h"

#include "base/random.h"
#include "base/utf8.h"
#include "engine/search/query.h"

#include <stdlib.h>
#include <string.h>

static void items_are_taken_apart(void **state)
{
    (void)state;
    gf_error err;
    gf_query q;
    assert_ok(gf_query_parse(
        GF_SLICE("  crash \"memory leak\" conn* -printer -\"blue screen\" -x*"), &q, &err));
    assert_int_equal(q.n, 6);
    assert_slice(q.items[0].text, "crash");
    assert_int_equal(q.items[0].position, 3);
    assert_false(q.items[0].is_phrase || q.items[0].is_prefix || q.items[0].excludes);
    assert_slice(q.items[1].text, "memory leak");
    assert_int_equal(q.items[1].position, 9);
    assert_true(q.items[1].is_phrase);
    assert_slice(q.items[2].text, "conn");
    assert_true(q.items[2].is_prefix);
    assert_slice(q.items[3].text, "printer");
    assert_true(q.items[3].excludes);
    assert_slice(q.items[4].text, "blue screen");
    assert_true(q.items[4].excludes && q.items[4].is_phrase);
    assert_true(q.items[5].excludes && q.items[5].is_prefix);
}

static void words_end_where_quotes_begin(void **state)
{
    (void)state;
    gf_error err;
    gf_query q;
    assert_ok(gf_query_parse(GF_SLICE("a\"b c\"d foo-bar x**"), &q, &err));
    assert_int_equal(q.n, 5);
    assert_slice(q.items[1].text, "b c");
    assert_slice(q.items[2].text, "d");
    assert_slice(q.items[3].text, "foo-bar");
    assert_slice(q.items[4].text, "x");
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *query, *message;
    } cases[] = {
        {"", "the query is empty"},
        {" \t\n", "the query is empty"},
        {"-a -\"b c\"", "the query only says what not to find"},
        {"one \"two", "query, character 5: this quote is not closed"},
        {"\xC3\xA9\xC3\xA9 \"", "query, character 4: this quote is not closed"},
        {"a *", "query, character 3: a star needs a word before it"},
        {"a - b", "query, character 3: a minus needs a word behind it"},
        {"a -", "query, character 3: a minus needs a word behind it"},
        {"\"a b\"*", "query, character 6: a star goes behind a word, not behind a quote"},
        {"a\xFF", "query, character 2: this is not valid UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gf_query q = {.n = 77};
        gf_error err;
        assert_status(GF_EINVAL, gf_query_parse(gf_slice_str(cases[i].query), &q, &err));
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(q.n, 77);
    }
}

static void there_are_bounds(void **state)
{
    (void)state;
    static char text[GF_QUERY_BYTES + 1];
    gf_query q;
    gf_error err;
    memset(text, 'a', sizeof text);
    assert_ok(gf_query_parse(gf_slice_of(text, GF_QUERY_BYTES), &q, &err));
    assert_status(GF_EINVAL, gf_query_parse(gf_slice_of(text, sizeof text), &q, &err));
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 ? ' ' : 'a';
    assert_ok(gf_query_parse(gf_slice_of(text, 2 * GF_QUERY_ITEMS), &q, &err));
    assert_int_equal(q.n, GF_QUERY_ITEMS);
    assert_status(GF_EINVAL, gf_query_parse(gf_slice_of(text, 2 * GF_QUERY_ITEMS + 1), &q, &err));
    assert_string_equal(err.message, "query, character 129: more than 64 words");
}

/* Items lie in the query, in order, and none is empty but for an empty phrase. */
static void random_queries_are_refused_or_whole(void **state)
{
    (void)state;
    static const char *const pieces[] = {"a", "bc", "\"", "-", "*", " ", "\xC3\xA9", "\xFF", "\n"};
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int run = 0; run < 20000; run++) {
        gf_buffer text = {0};
        gf_query q;
        gf_error err;
        uint32_t n = (uint32_t)gf_random_below(&random, 12);
        for (uint32_t i = 0; i < n; i++)
            gf_buffer_str(&text, pieces[gf_random_below(&random, 9)]);
        gf_slice all = gf_buffer_view(&text);
        const char *at = all.ptr;
        gf_status st = gf_query_parse(all, &q, &err);
        if (st == GF_OK) {
            assert_int_equal(gf_utf8_valid_length(all), all.len);
            for (size_t i = 0; i < q.n; i++) {
                assert_true(q.items[i].text.ptr >= at);
                at = q.items[i].text.ptr + q.items[i].text.len;
                assert_true(at <= all.ptr + all.len);
                assert_true(q.items[i].text.len || q.items[i].is_phrase);
            }
        } else {
            assert_int_equal(st, GF_EINVAL);
        }
        gf_buffer_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_taken_apart),
        cmocka_unit_test(words_end_where_quotes_begin),
        cmocka_unit_test(what_is_wrong_is_told_with_its_place),
        cmocka_unit_test(there_are_bounds),
        cmocka_unit_test(random_queries_are_refused_or_whole),
    };
    return cmocka_run_group_tests_name("search_query", tests, NULL, NULL);
}
