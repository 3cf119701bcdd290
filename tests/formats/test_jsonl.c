#include "support/test.h"

#include "base/json/writer.h"
#include "tests/formats/records.h"

#include <stdlib.h>

static void reads_lines(void **state)
{
    (void)state;
    check_records("a.jsonl",
                  GF_SLICE("{\"id\":\"1\",\"text\":\"one\",\"n\":[1, {\"a\" : 2.50}],\"z\":null}\n"
                           "\n"
                           "  {\"text\" : \"two\", \"id\" : 2} \r\n"
                           "{\"id\":\"3\",\"text\":\"\",\"time\":1335277314,\"lang\":\"de\"}"),
                  NULL,
                  "a.jsonl:1 id=\"1\" text=\"one\" n=[1,{\"a\":2.5}] z=null\n"
                  "a.jsonl:3 id=\"2\" text=\"two\"\n"
                  "a.jsonl:4 id=\"3\" text=\"\" time=1335277314 lang=de\n");
}

static void skips_a_byte_order_mark(void **state)
{
    (void)state;
    check_records("a.jsonl", GF_SLICE("\xEF\xBB\xBF{\"id\":\"1\",\"text\":\"t\"}\n"), NULL,
                  "a.jsonl:1 id=\"1\" text=\"t\"\n");
}

static void refuses_broken_lines_and_goes_on(void **state)
{
    (void)state;
#define BROKEN    "broken_json (refused): broken JSON: "
#define MISPLACED BROKEN "a comma, bracket, quote or value is out of place\n"
    check_records(
        "a.jsonl",
        GF_SLICE("{\"id\":\"1\",\"text\":\"t\"}\n"
                 "{\"id\":\"2\",\"text\":\"t\"\n"
                 "[1,2]\n"
                 "17\n"
                 "false\n"
                 "{\"id\":\"3\",\"text\":\"t\"} x\n"
                 "{\"id\":\"4\",\"text\":\"\\q\"}\n"
                 "{\"id\":\"5\",\"text\":\"t\",\"n\":1e999}\n"
                 "{\"id\":\"6\",\"text\":\"open}\n"
                 "{\"id\":\"7\",\"text\":\"t\"}\n"),
        NULL,
        "a.jsonl:1 id=\"1\" text=\"t\"\n"
        "a.jsonl:2 " MISPLACED "a.jsonl:3 bad_type (refused): not a JSON object but an array\n"
        "a.jsonl:4 bad_type (refused): not a JSON object but a number\n"
        "a.jsonl:5 bad_type (refused): not a JSON object but true or false\n"
        "a.jsonl:6 " MISPLACED "a.jsonl:7 " BROKEN "an escape in a string names no character\n"
        "a.jsonl:8 " BROKEN "a number is malformed or out of range\n"
        "a.jsonl:9 " BROKEN "a string is not closed\n"
        "a.jsonl:10 id=\"7\" text=\"t\"\n");
}

/* Bytes that are no UTF-8, and halves of surrogate pairs, become U+FFFD and are counted. */
static void replaces_what_is_no_character(void **state)
{
    (void)state;
    gf_reader_options as_utf8 = {.decoding = {.encoding = GF_SLICE("utf-8")}};
    check_records(
        "a.jsonl",
        GF_SLICE("{\"id\":\"1\",\"text\":\"caf\xE9 \xE2\x82\"}\n"
                 "{\"id\":\"2\",\"text\":\"\\ud83d!\\ude00\\uD83D\\uDE00\"}\n"
                 "{\"id\":\"3\",\"text\":\"\\ud83d\\ud83d\\ude00 \\\\ud83d\"}\n"
                 "{\"id\":\"4\",\"text\":\"\xFF\\udc00\"}\n"
                 "{\"id\":\"5\",\"text\":\"\\ud83d\\q\"}\n"
                 "{\"id\":\"6\",\"text\":\"a\\u0000b\"}\n"),
        &as_utf8,
        "a.jsonl:1 id=\"1\" text=\"caf\xEF\xBF\xBD \xEF\xBF\xBD\" replaced=2\n"
        "a.jsonl:2 id=\"2\" text=\"\xEF\xBF\xBD!\xEF\xBF\xBD\xF0\x9F\x98\x80\" replaced=2\n"
        "a.jsonl:3 id=\"3\" text=\"\xEF\xBF\xBD\xF0\x9F\x98\x80 \\\\ud83d\" replaced=1\n"
        "a.jsonl:4 id=\"4\" text=\"\xEF\xBF\xBD\xEF\xBF\xBD\" replaced=2\n"
        "a.jsonl:5 broken_json (refused): broken JSON: an escape in a string names no character\n"
        "a.jsonl:6 id=\"6\" text=\"a\\u0000b\"\n");
}

static void bounds_documents_not_lines(void **state)
{
    (void)state;
    gf_reader_options options = {.max_document = 100};
    gf_buffer lines = {0}, expected = {0};
    for (int n = 99; n <= 101; n++) {
        gf_buffer_format(&lines, "{\"id\":\"%d\",\"text\":\"", n);
        for (int i = 0; i < n; i++)
            gf_buffer_str(&lines, "\\u0061");
        gf_buffer_str(&lines, "\"}\n");
    }
    for (int n = 99; n <= 100; n++)
        gf_buffer_format(
            &expected, "a.jsonl:%d id=\"%d\" text=\"%.*s\"\n", n - 98, n, n,
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaaaaaaaaaaaaaaaaaaa");
    gf_buffer_str(
        &expected,
        "a.jsonl:3 too_long (refused): longer than the limit of 100 bytes (--max-document)\n");
    check_records("a.jsonl", gf_buffer_view(&lines), &options, gf_buffer_cstr(&expected));
    gf_buffer_release(&lines);
    gf_buffer_release(&expected);
}

/* A line over twice the limit (and 64 KiB) is not even parsed; its start is kept for --rejects. */
static void keeps_the_start_of_a_long_line(void **state)
{
    (void)state;
    gf_error err;
    gf_reader_options options = {.max_document = 10};
    gf_buffer lines = {0};
    gf_reader *reader;
    gf_record record;
    gf_buffer_str(&lines, "{\"id\":\"1\",\"text\":\"");
    for (int i = 0; i < 70000; i++)
        gf_buffer_byte(&lines, 'a');
    gf_buffer_str(&lines, "\"}\n{\"id\":\"2\",\"text\":\"t\"}");
    memory_stream stream = {"a.jsonl", gf_buffer_view(&lines), false};
    memory_input m = {.streams = &stream, .n = 1};
    gf_input input = memory_input_start(&m);
    assert_ok(gf_reader_open(&input, &options, &reader, &err));
    assert_ok(gf_reader_next(reader, &record, &err));
    assert_string_equal(record.reason, "too_long");
    assert_slice(record.raw, "{\"id\":\"1\",");
    assert_int_equal(record.line, 1);
    assert_ok(gf_reader_next(reader, &record, &err));
    assert_slice(record.document.id, "2");
    assert_slice(record.raw, "{\"id\":\"2\",\"text\":\"t\"}");
    assert_int_equal(record.line, 2);
    assert_status(GF_ENOTFOUND, gf_reader_next(reader, &record, &err));
    gf_reader_close(reader);
    gf_buffer_release(&lines);
}

/* Records written by base's writer come back as they were, whatever is in them. */
static void random_text(gf_random *random, gf_buffer *out)
{
    static const char *const pieces[] = {"a",
                                         "\"",
                                         "\\",
                                         "\n",
                                         "\r\n",
                                         "\t",
                                         "\x01",
                                         "{",
                                         "]",
                                         ",",
                                         "\xC3\xA4",
                                         "\xE6\x97\xA5",
                                         "\xF0\x9F\x98\x80",
                                         "\x7F"};
    size_t n = (size_t)gf_random_below(random, 20);
    for (size_t i = 0; i < n; i++) {
        if (gf_random_below(random, 15) == 0)
            gf_buffer_byte(out, '\0');
        else
            gf_buffer_str(out, pieces[gf_random_below(random, sizeof pieces / sizeof *pieces)]);
    }
}

static void reads_what_was_written(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_buffer lines = {0}, expected = {0}, text = {0}, value = {0};
    for (int i = 0; i < 500; i++) {
        gf_buffer_reset(&text);
        gf_buffer_reset(&value);
        random_text(&random, &text);
        random_text(&random, &value);
        gf_json_writer w = gf_json_writer_to(&lines);
        gf_json_begin(&w, '{');
        gf_json_put_uint(&w, "id", (uint64_t)i);
        gf_json_put_string(&w, "text", gf_buffer_view(&text));
        gf_json_put_string(&w, "more", gf_buffer_view(&value));
        gf_json_end(&w, '}');
        gf_buffer_str(&lines, gf_random_below(&random, 2) ? "\n" : "\r\n");
        gf_buffer_format(&expected, "a.jsonl:%d id=\"%d\" text=", i + 1, i);
        gf_json_append_string(&expected, gf_buffer_view(&text));
        gf_buffer_str(&expected, " more=");
        gf_json_append_string(&expected, gf_buffer_view(&value));
        gf_buffer_byte(&expected, '\n');
    }
    check_records("a.jsonl", gf_buffer_view(&lines), NULL, gf_buffer_cstr(&expected));
    check_chunking("a.jsonl", gf_buffer_view(&lines), NULL);
    gf_buffer_release(&lines);
    gf_buffer_release(&expected);
    gf_buffer_release(&text);
    gf_buffer_release(&value);
}

#define MIXED                                                                                      \
    "{\"id\":\"1\",\"text\":\"one\",\"n\":[1, {\"a\" : 2.50}],\"time\":5}\n"                       \
    "\r\n{\"text\":\"no id \\ud800 \xFF\"}\n"                                                      \
    "{\"id\":\"2\",\"text\":\"t\"\n"                                                               \
    "{\"id\":\"2\",\"text\":7}\n"                                                                  \
    "{\"id\":\"2\",\"time\":7}\n"                                                                  \
    "{\"id\":\"3\",\"text\":\"last\",\"lang\":\"de\",\"lang\":\"en\"}"

static void survives_anything(void **state)
{
    (void)state;
    fuzz_records("a.jsonl", GF_SLICE(MIXED), NULL, 3000);
    check_chunking("a.jsonl", GF_SLICE(MIXED), NULL);
}

/* Depth, names and numbers made to hurt. */
static void survives_hostile_lines(void **state)
{
    (void)state;
    gf_buffer lines = {0};
    gf_buffer_str(&lines, "{\"id\":\"1\",\"text\":\"t\"}\n{\"id\":\"2\",\"text\":\"t\",\"x\":");
    for (int i = 0; i < 100000; i++)
        gf_buffer_byte(&lines, '[');
    gf_buffer_str(&lines, "\n{\"id\":\"2\",\"text\":\"t\",\"x\":");
    for (int i = 0; i < 100000; i++)
        gf_buffer_byte(&lines, '[');
    for (int i = 0; i < 100000; i++)
        gf_buffer_byte(&lines, ']');
    gf_buffer_str(&lines, "}\n{\"id\":\"3\",\"text\":\"t\"");
    for (int i = 0; i < 100000; i++)
        gf_buffer_str(&lines, ",\"\":1");
    gf_buffer_str(&lines, "}\n{\"id\":\"4\",\"text\":\"t\"");
    for (int i = 0; i < 2000; i++)
        gf_buffer_format(&lines, ",\"%d\":1", i);
    gf_buffer_str(&lines, "}\n");
    check_records(
        "a.jsonl", gf_buffer_view(&lines), NULL,
        "a.jsonl:1 id=\"1\" text=\"t\"\n"
        "a.jsonl:2 broken_json (refused): broken JSON: a comma, bracket, quote or value is "
        "out of place\n"
        "a.jsonl:3 broken_json (refused): JSON nested more than 512 deep\n"
        "a.jsonl:4 too_many_fields (refused): more than 65536 fields\n"
        "a.jsonl:5 too_many_fields (refused): more than 1024 fields beside the text\n");
    gf_buffer_release(&lines);
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    sweep_records("a.jsonl", GF_SLICE(MIXED), NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_lines),
        cmocka_unit_test(skips_a_byte_order_mark),
        cmocka_unit_test(refuses_broken_lines_and_goes_on),
        cmocka_unit_test(replaces_what_is_no_character),
        cmocka_unit_test(bounds_documents_not_lines),
        cmocka_unit_test(keeps_the_start_of_a_long_line),
        cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(survives_anything),
        cmocka_unit_test(survives_hostile_lines),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("jsonl", tests, NULL, NULL);
}
