#include "support/test.h"

#include "base/clock.h"
#include "base/json/json.h"
#include "base/utf8.h"

#include <inttypes.h>

static const char *const files[] = {"firefox-input/firefox-input.jsonl.gz",
                                    "zh-shopping-reviews/zh-shopping-reviews.jsonl.gz",
                                    "event-tweets/event-tweets.jsonl.gz"};
static const unsigned records[] = {500, 62774, 30322};

/* Every record is read in place, and what is written of it reads and writes the same again. */
static void real_records_round_trip(void **state)
{
    (void)state;
    gf_error err;
    gf_json_parser *parser = NULL;
    assert_ok(gf_json_parser_create(&parser, &err));
    gf_buffer once = {0}, twice = {0};
    for (size_t f = 0; f < 3; f++) {
        gf_buffer file = {0};
        gf_test_read_data(files[f], &file);
        assert_non_null(gf_buffer_reserve(&file, GF_JSON_PADDING));
        gf_slice rest = gf_buffer_view(&file), line;
        unsigned n = 0;
        for (; gf_test_next_line(&rest, &line); n++) {
            gf_json_value v, text = {0}, id = {0};
            assert_ok(gf_json_parse(parser, line, &v, &err));
            assert_true(gf_json_member(v, "id", &id) && gf_json_member(v, "text", &text));
            assert_int_equal(gf_json_kind_of(text), GF_JSON_STRING);
            gf_slice s = gf_json_get_string(text);
            assert_int_equal(gf_utf8_valid_length(s), s.len);
            gf_buffer_reset(&once);
            gf_buffer_reset(&twice);
            assert_ok(gf_json_write(v, &once, &err));
            assert_ok(gf_json_parse_copy(parser, gf_buffer_view(&once), &v, &err));
            assert_ok(gf_json_write(v, &twice, &err));
            assert_true(gf_slice_equal(gf_buffer_view(&once), gf_buffer_view(&twice)));
        }
        assert_int_equal(n, records[f]);
        gf_buffer_release(&file);
    }
    gf_buffer_release(&once);
    gf_buffer_release(&twice);
    gf_json_parser_free(parser);
}

/* A tweet gives its 64-bit id twice, as a number and as text: no bit of the number is lost. */
static void ids_of_tweets_keep_their_bits(void **state)
{
    (void)state;
    gf_error err;
    gf_json_parser *parser = NULL;
    assert_ok(gf_json_parser_create(&parser, &err));
    gf_buffer file = {0}, number = {0};
    gf_test_read_data("tweets/tweets-v1.1.jsonl.gz", &file);
    gf_slice rest = gf_buffer_view(&file), line;
    unsigned n = 0;
    for (; gf_test_next_line(&rest, &line); n++) {
        gf_json_value v, id = {0}, text = {0};
        assert_ok(gf_json_parse_copy(parser, line, &v, &err));
        assert_true(gf_json_member(v, "id", &id) && gf_json_member(v, "id_str", &text));
        gf_buffer_reset(&number);
        gf_buffer_format(&number, "%" PRId64, gf_json_get_int(id));
        assert_true(gf_slice_equal(gf_buffer_view(&number), gf_json_get_string(text)));
    }
    assert_int_equal(n, 1014);
    gf_buffer_release(&file);
    gf_buffer_release(&number);
    gf_json_parser_free(parser);
}

int main(void)
{
    if (!gf_test_has_data()) return gf_test_skipped("JSON of real records");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_records_round_trip),
        cmocka_unit_test(ids_of_tweets_keep_their_bits),
    };
    return cmocka_run_group_tests_name("json_data", tests, NULL, NULL);
}
