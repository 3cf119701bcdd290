#include "support/test.h"

#include "tests/formats/records.h"

static void numbered(gf_buffer *out, int from, int to, const char *fields)
{
    for (int i = from; i <= to; i++)
        gf_buffer_format(out, "{\"id\":%d,%s}\n", i, fields);
}

static void ends_at_a_wrong_name(void **state)
{
    (void)state;
    const gf_slice names[] = {GF_SLICE("title"), GF_SLICE("body")};
    gf_reader_options options = {.text = names, .n_text = 2};
    gf_buffer lines = {0};
    numbered(&lines, 1, 3, "\"a\":\"x\",\"tweet\":\"y\"");
    check_records(
        "tweets.jsonl", gf_buffer_view(&lines), NULL,
        "invalid: no field \"text\" in tweets.jsonl; fields found: id, a, tweet; choose with "
        "--text\n");
    check_records(
        "tweets.jsonl", gf_buffer_view(&lines), &options,
        "invalid: no field \"title\" or \"body\" in tweets.jsonl; fields found: id, a, tweet; "
        "choose with --text\n");
    check_records("a.csv", GF_SLICE("id,Text,lang\n1,x,\n"), NULL,
                  "invalid: no field \"text\" in a.csv; fields found: id, Text, lang; choose with "
                  "--text; is there a header?\n");
    gf_buffer_release(&lines);
}

/* A mistyped id would make every record a new document. */
static void ends_without_the_id(void **state)
{
    (void)state;
    gf_reader_options options = {.id = GF_SLICE("key")};
    check_records(
        "a.csv", GF_SLICE("id,text\n1,x\n2,y\n"), &options,
        "invalid: no field \"key\" in a.csv; fields found: id, text; choose with --id; is "
        "there a header?\n");
    check_records("a.jsonl", GF_SLICE("{\"a\":1}\n{\"text\":\"x\",\"Key\":1}\n"), &options,
                  "invalid: no field \"key\" in a.jsonl; fields found: a, text, Key; choose with "
                  "--id\n");
    check_records(
        "a.jsonl",
        GF_SLICE("{\"text\":\"x\",\"key\":null}\n{\"text\":\"y\",\"key\":2}\n{\"text\":\"z\"}\n"),
        &options,
        "a.jsonl:1 id=hash text=\"x\"\na.jsonl:2 id=\"2\" text=\"y\"\na.jsonl:3 id=hash "
        "text=\"z\"\n");
}

static void note_remark(void *context, const char *reason, gf_slice source, const char *message)
{
    gf_buffer_format(context, "%s %.*s%s\n", reason, GF_SLICE_ARG(source), message);
}

/* "none" asks for no field, and one of that name is as any other. */
static void none_is_no_field(void **state)
{
    (void)state;
    gf_buffer told = {0};
    gf_reader_options options = {.id = GF_SLICE("none"),
                                 .time = GF_SLICE("none"),
                                 .lang = GF_SLICE("none"),
                                 .remark = note_remark,
                                 .remark_context = &told};
    check_records("a.csv", GF_SLICE("id,text,time,lang,none\n1,x,noon,long,2\n"), &options,
                  "a.csv:2 id=hash text=\"x\" id=\"1\" time=\"noon\" lang=\"long\" none=\"2\"\n");
    check_records("a.jsonl", GF_SLICE("{\"\":1,\"text\":\"x\"}\n"), &options,
                  "a.jsonl:1 id=hash text=\"x\" =1\n");
    assert_int_equal(told.len, 0);
    gf_buffer_release(&told);
}

/* Names that no record has are told at the end, and nothing is refused. */
static void tells_of_names_that_no_record_has(void **state)
{
    (void)state;
    gf_buffer told = {0};
    const gf_slice text[] = {GF_SLICE("text"), GF_SLICE("bdy")};
    const gf_slice fields[] = {GF_SLICE("late"), GF_SLICE("colour")};
    gf_reader_options options = {.text = text,
                                 .n_text = 2,
                                 .time = GF_SLICE("craeted"),
                                 .lang = GF_SLICE("l"),
                                 .some_fields = true,
                                 .fields = fields,
                                 .n_fields = 2,
                                 .remark = note_remark,
                                 .remark_context = &told};
    check_records(
        "a.jsonl",
        GF_SLICE("{\"id\":1,\"text\":\"x\",\"l\":null}\n{\"id\":2,\"text\":\"y\",\"late\":1}\n"),
        &options, "a.jsonl:1 id=\"1\" text=\"x\"\na.jsonl:2 id=\"2\" text=\"y\" late=1\n");
    assert_string_equal(
        gf_buffer_cstr(&told),
        "no_field no record has a field \"craeted\", which was asked for: is its name written so?\n"
        "no_field no record has a field \"bdy\", which was asked for: is its name written so?\n"
        "no_field no record has a field \"colour\", which was asked for: is its name written "
        "so?\n");
    gf_buffer_release(&told);
}

/* The 100th record without ends it; the 101st is never looked at. */
static void ends_after_a_hundred(void **state)
{
    (void)state;
    gf_buffer lines = {0}, expected = {0};
    numbered(&lines, 1, 99, "\"a\":1");
    numbered(&lines, 100, 100, "\"text\":\"t\"");
    for (int i = 1; i <= 99; i++)
        gf_buffer_format(&expected, "a.jsonl:%d no_text (refused): no text in field \"text\"\n", i);
    gf_buffer_str(&expected, "a.jsonl:100 id=\"100\" text=\"t\"\n");
    check_records("a.jsonl", gf_buffer_view(&lines), NULL, gf_buffer_cstr(&expected));
    gf_buffer_reset(&lines);
    numbered(&lines, 1, 100, "\"a\":1");
    numbered(&lines, 101, 101, "\"text\":\"t\"");
    check_records(
        "a.jsonl", gf_buffer_view(&lines), NULL,
        "invalid: no field \"text\" in a.jsonl; fields found: id, a; choose with --text\n");
    gf_buffer_release(&lines);
    gf_buffer_release(&expected);
}

static void keeps_the_order(void **state)
{
    (void)state;
    const memory_stream streams[] = {
        {"a.jsonl", GF_SLICE("broken\n{\"a\":1}\nbroken\n"), false},
        {"b.jsonl", GF_SLICE(""), false},
        {"c.jsonl", GF_SLICE("{\"text\":7}\n{\"id\":\"\",\"b\":1}\n{\"id\":1,\"text\":\"t\"}\n"),
         false},
    };
#define BROKEN                                                                                     \
    "broken_json (refused): broken JSON: a comma, bracket, quote or value is out of place\n"
    check_streams(streams, 3, NULL,
                  "a.jsonl:1 " BROKEN "a.jsonl:2 no_text (refused): no text in field \"text\"\n"
                  "a.jsonl:3 " BROKEN "b.jsonl:0 empty_file (skipped): the file is empty\n"
                  "c.jsonl:1 bad_type (refused): field \"text\" is not a string\n"
                  "c.jsonl:2 bad_id (refused): the id is empty\n"
                  "c.jsonl:3 id=\"1\" text=\"t\"\n");
    check_streams(streams, 2, NULL,
                  "a.jsonl:1 " BROKEN
                  "invalid: no field \"text\" in a.jsonl; fields found: a; choose "
                  "with --text\n");
}

/* Broken records say nothing about the names; a null text is a text field all the same. */
static void knows_what_says_nothing(void **state)
{
    (void)state;
    gf_buffer lines = {0}, expected = {0};
    for (int i = 1; i <= 150; i++) {
        gf_buffer_str(&lines, "[]\n");
        gf_buffer_format(&expected,
                         "a.jsonl:%d bad_type (refused): not a JSON object but an array\n", i);
    }
    check_records("a.jsonl", gf_buffer_view(&lines), NULL, gf_buffer_cstr(&expected));
    gf_buffer_reset(&lines);
    gf_buffer_reset(&expected);
    numbered(&lines, 1, 150, "\"text\":null");
    for (int i = 1; i <= 150; i++)
        gf_buffer_format(&expected,
                         "a.jsonl:%d no_text (refused): no text in field \"text\", which is null\n",
                         i);
    check_records("a.jsonl", gf_buffer_view(&lines), NULL, gf_buffer_cstr(&expected));
    gf_buffer_release(&lines);
    gf_buffer_release(&expected);
}

static void a_text_file_decides(void **state)
{
    (void)state;
    const memory_stream streams[] = {
        {"a.json", GF_SLICE("{\"settings\":true}"), true},
        {"b.txt", GF_SLICE("text"), true},
    };
    check_streams(streams, 2, NULL,
                  "a.json:1 no_text (refused): no text in field \"text\"\n"
                  "b.txt:0 id=\"b.txt\" text=\"text\"\n");
}

/* Held records are given out early where they grow large, and the import still ends. */
static void bounds_what_it_holds(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer lines = {0};
    for (int i = 0; i < 100; i++) {
        gf_buffer_str(&lines, "{\"a\":\"");
        for (int j = 0; j < 100000; j++)
            gf_buffer_byte(&lines, 'x');
        gf_buffer_str(&lines, "\"}\n");
    }
    memory_stream stream = {"a.jsonl", gf_buffer_view(&lines), false};
    memory_input m = {.streams = &stream, .n = 1};
    gf_input input = memory_input_start(&m);
    gf_reader *reader;
    gf_record record;
    gf_status st;
    uint64_t n = 0;
    assert_ok(gf_reader_open(&input, NULL, &reader, &err));
    while ((st = gf_reader_next(reader, &record, &err)) == GF_OK) {
        assert_int_equal(record.line, ++n);
        assert_string_equal(record.reason, "no_text");
        assert_int_equal(record.raw.len, 100000 + 8);
    }
    assert_int_equal(st, GF_EINVAL);
    assert_int_equal(n, 99);
    gf_reader_close(reader);
    gf_buffer_release(&lines);
}

static void cuts_a_long_list(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer line = {0}, out = {0};
    gf_buffer_byte(&line, '{');
    for (int i = 0; i < 5000; i++)
        gf_buffer_format(&line, "%s\"field number %d\":1", i ? "," : "", i);
    gf_buffer_byte(&line, '}');
    memory_stream stream = {"a.jsonl", gf_buffer_view(&line), false};
    memory_input m = {.streams = &stream, .n = 1};
    gf_input input = memory_input_start(&m);
    assert_status(GF_EINVAL, list_records(&input, NULL, false, &out, &err));
    assert_non_null(strstr(err.message, "field number 9, "));
    assert_non_null(strstr(err.message, ", ...; choose with --text"));
    gf_buffer_release(&line);
    gf_buffer_release(&out);
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_buffer lines = {0};
    numbered(&lines, 1, 40, "\"a\":1,\"b\":\"some more, so that what is held is not tiny\"");
    numbered(&lines, 41, 41, "\"text\":\"t\"");
    sweep_records("a.jsonl", gf_buffer_view(&lines), NULL);
    gf_buffer_release(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_at_a_wrong_name),
        cmocka_unit_test(ends_without_the_id),
        cmocka_unit_test(none_is_no_field),
        cmocka_unit_test(tells_of_names_that_no_record_has),
        cmocka_unit_test(ends_after_a_hundred),
        cmocka_unit_test(keeps_the_order),
        cmocka_unit_test(knows_what_says_nothing),
        cmocka_unit_test(a_text_file_decides),
        cmocka_unit_test(bounds_what_it_holds),
        cmocka_unit_test(cuts_a_long_list),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("held_records", tests, NULL, NULL);
}
