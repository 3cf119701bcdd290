#include "support/test.h"

#include "base/clock.h"
#include "formats/field_mapping_internal.h"
#include "tests/formats/records.h"

#include <stdlib.h>
#include <xxhash.h>

static void check_line(const char *line, const gf_reader_options *options, const char *expected)
{
    gf_buffer whole = {0};
    gf_buffer_format(&whole, "a.jsonl:1 %s\n", expected);
    check_records("a.jsonl", gf_slice_str(line), options, gf_buffer_cstr(&whole));
    gf_buffer_release(&whole);
}

/* ---- id -------------------------------------------------------------------------------------- */

static void takes_ids(void **state)
{
    (void)state;
    check_line("{\"id\":\"a/\\u0000b\",\"text\":\"t\"}", NULL, "id=\"a/\\u0000b\" text=\"t\"");
    check_line("{\"id\":-12,\"text\":\"t\"}", NULL, "id=\"-12\" text=\"t\"");
    check_line("{\"id\":18446744073709551615,\"text\":\"t\"}", NULL,
               "id=\"18446744073709551615\" text=\"t\"");
    check_line("{\"id\":-9223372036854775808,\"text\":\"t\"}", NULL,
               "id=\"-9223372036854775808\" text=\"t\"");
    check_line("{\"id\":null,\"text\":\"t\"}", NULL, "id=hash text=\"t\"");
    check_line("{\"text\":\"t\"}", NULL, "id=hash text=\"t\"");
    gf_reader_options options = {.id = GF_SLICE("key")};
    check_line("{\"id\":\"1\",\"key\":\"k\",\"text\":\"t\"}", &options,
               "id=\"k\" text=\"t\" id=\"1\"");
}

static void refuses_bad_ids(void **state)
{
    (void)state;
    static const char not_an_id[] =
        "bad_type (refused): field \"id\" is neither a string nor an integer";
    check_line("{\"id\":\"\",\"text\":\"t\"}", NULL, "bad_id (refused): the id is empty");
    check_line("{\"id\":1.5,\"text\":\"t\"}", NULL, not_an_id);
    check_line("{\"id\":true,\"text\":\"t\"}", NULL, not_an_id);
    check_line("{\"id\":[1],\"text\":\"t\"}", NULL, not_an_id);
    for (int n = 1023; n <= 1025; n++) {
        gf_buffer line = {0}, expected = {0};
        gf_buffer_str(&line, "{\"text\":\"t\",\"id\":\"");
        gf_buffer_str(&expected, "id=\"");
        for (int i = 0; i < n; i++) {
            gf_buffer_byte(&line, 'i');
            gf_buffer_byte(&expected, 'i');
        }
        gf_buffer_str(&line, "\"}");
        gf_buffer_str(&expected, "\" text=\"t\"");
        check_line(gf_buffer_cstr(&line), NULL,
                   n <= 1024 ? gf_buffer_cstr(&expected)
                             : "bad_id (refused): the id has 1025 bytes, more than 1024");
        gf_buffer_release(&line);
        gf_buffer_release(&expected);
    }
}

/* The only record's id. */
static void read_id(const char *name, const char *bytes, const gf_reader_options *options,
                    char id[33])
{
    gf_error err;
    memory_stream stream = {name, gf_slice_str(bytes), false};
    memory_input m = {.streams = &stream, .n = 1};
    gf_input input = memory_input_start(&m);
    gf_reader *reader;
    gf_record record;
    assert_ok(gf_reader_open(&input, options, &reader, &err));
    assert_ok(gf_reader_next(reader, &record, &err));
    assert_true(record.hashed_id);
    assert_int_equal(record.document.id.len, 32);
    snprintf(id, 33, "%.*s", GF_SLICE_ARG(record.document.id));
    gf_reader_close(reader);
}

/* The hash as its description has it, put together by hand. */
static void hashes_as_described(void **state)
{
    (void)state;
    static const char content[] = "\0\0\0\0\0\0\0\4texts\0\0\0\0\0\0\0\3a\nb"
                                  "\0\0\0\0\0\0\0\1nj[1,{\"x\":2.5}]\n";
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, XXH3_128bits(content, sizeof content - 1));
    char expected[33], id[33];
    for (int i = 0; i < 16; i++)
        snprintf(expected + 2 * i, 3, "%02x", bytes.digest[i]);
    read_id("a.jsonl", "{\"text\":\"a\\nb\",\"n\":[1, {\"x\": 2.50}]}", NULL, id);
    assert_string_equal(id, expected);
}

static void the_hash_is_of_the_content(void **state)
{
    (void)state;
    static const char *const same[][2] = {
        {"a.jsonl", "{\"text\":\"x\",\"n\":\"1\"}"},
        {"a.jsonl", "{ \"text\" : \"\\u0078\", \"n\" : \"1\" }"},
        {"a.jsonl", "{\"text\":\"x\",\"id\":null,\"n\":\"1\"}"},
        {"a.csv", "text,m,n\nx,,1\n"},
        {"a.tsv", "id\ttext\tn\n\tx\t1\n"},
    };
    static const char *const others[] = {
        "{\"text\":\"x\",\"n\":1}",
        "{\"n\":\"1\",\"text\":\"x\"}",
        "{\"text\":\"x\"}",
        "{\"text\":\"x\",\"n\":\"1 \"}",
        "{\"text\":\"xn\",\"\":\"1\"}",
        "{\"text\":\"x\",\"N\":\"1\"}",
        "{\"text\":\"x\",\"n\":[\"1\"]}",
        "{\"text\":\"x\",\"n\":null}",
        "{\"text\":\"x\",\"n\":\"1\",\"n\":\"2\"}",
    };
    char first[33], id[33];
    read_id(same[0][0], same[0][1], NULL, first);
    for (size_t i = 1; i < sizeof same / sizeof *same; i++) {
        read_id(same[i][0], same[i][1], NULL, id);
        assert_string_equal(id, first);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        read_id("a.jsonl", others[i], NULL, id);
        assert_string_not_equal(id, first);
    }
    gf_reader_options no_fields = {.some_fields = true};
    read_id("a.jsonl", same[0][1], &no_fields, id);
    assert_string_equal(id, first);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void joins_text_fields(void **state)
{
    (void)state;
    const gf_slice names[] = {GF_SLICE("title"), GF_SLICE("body"), GF_SLICE("title"),
                              GF_SLICE("note")};
    gf_reader_options options = {.text = names, .n_text = 4};
    check_line("{\"id\":1,\"note\":\"n\",\"body\":\"b\",\"text\":\"x\",\"title\":\"t\"}", &options,
               "id=\"1\" text=\"t\\n\\nb\\n\\nn\" text=\"x\"");
    check_line("{\"id\":1,\"title\":\"\",\"body\":\"b\",\"note\":null}", &options,
               "id=\"1\" text=\"b\"");
    check_line("{\"id\":1,\"title\":\"\",\"note\":\"\"}", &options, "id=\"1\" text=\"\"");
    check_line("{\"id\":1,\"title\":null}", &options,
               "no_text (refused): no text in any of the 3 text fields");
    check_line("{\"id\":1,\"title\":\"t\",\"body\":[\"b\"]}", &options,
               "bad_type (refused): field \"body\" is not a string");
}

static void refuses_what_is_no_text(void **state)
{
    (void)state;
    check_line("{\"id\":1,\"text\":7}", NULL, "bad_type (refused): field \"text\" is not a string");
    check_line("{\"id\":1,\"text\":null}", NULL,
               "no_text (refused): no text in field \"text\", which is null");
    check_line("{\"id\":1,\"text\":{}}", NULL,
               "bad_type (refused): field \"text\" is not a string");
}

static void one_field_may_mean_several_things(void **state)
{
    (void)state;
    const gf_slice title = GF_SLICE("title");
    gf_reader_options options = {.id = title, .text = &title, .n_text = 1};
    check_line("{\"title\":\"t\",\"n\":1}", &options, "id=\"t\" text=\"t\" n=1");
}

/* ---- time and language ----------------------------------------------------------------------- */

static void takes_times(void **state)
{
    (void)state;
    gf_reader_options given = {.time = GF_SLICE("at")};
    check_line("{\"id\":1,\"text\":\"t\",\"time\":1335277314}", NULL,
               "id=\"1\" text=\"t\" time=1335277314");
    check_line("{\"id\":1,\"text\":\"t\",\"time\":1335277314.25}", NULL,
               "id=\"1\" text=\"t\" time=1335277314.25");
    check_line("{\"id\":1,\"text\":\"t\",\"time\":\"2012-04-24T14:21:54Z\"}", NULL,
               "id=\"1\" text=\"t\" time=\"2012-04-24T14:21:54Z\"");
    check_line("{\"id\":1,\"text\":\"t\",\"at\":\"2012-04-24\",\"time\":5}", &given,
               "id=\"1\" text=\"t\" time=\"2012-04-24\" time=5");
    check_line("{\"id\":1,\"text\":\"t\",\"at\":null}", &given, "id=\"1\" text=\"t\"");
}

static void keeps_other_values_of_time(void **state)
{
    (void)state;
    check_line("{\"id\":1,\"text\":\"t\",\"time\":\"noon\"}", NULL,
               "id=\"1\" text=\"t\" time=\"noon\"");
    check_line("{\"id\":1,\"text\":\"t\",\"time\":1e300}", NULL, "id=\"1\" text=\"t\" time=1e+300");
    check_line("{\"id\":1,\"text\":\"t\",\"time\":\"1335277314\"}", NULL,
               "id=\"1\" text=\"t\" time=\"1335277314\"");
    gf_reader_options given = {.time = GF_SLICE("time")};
    check_line(
        "{\"id\":1,\"text\":\"t\",\"time\":\"noon\"}", &given,
        "bad_time (refused): field \"time\" is not a time: \"noon\" (--bad-times drop puts it "
        "without one)");
    check_line(
        "{\"id\":1,\"text\":\"t\",\"time\":[5]}", &given,
        "bad_time (refused): field \"time\" is neither a string that is a time, nor a number "
        "of seconds or milliseconds (--bad-times drop puts it without one)");
}

/* Times of spreadsheets become ISO 8601; what has two readings needs the order. */
static void reads_times_of_spreadsheets(void **state)
{
    (void)state;
    static const char csv[] =
        "id,text,at\n1,t,21.02.2015\n2,t,2/21/2015 1:45 PM\n3,t,3/4/2015\n"
        "4,t,\"Feb 21, 2015\"\n5,t,2015-02-21 13:45:30 UTC\n6,t,1424517300.5\n"
        "7,t,20150221\n8,t,1424517300.\n";
    gf_reader_options given = {.time = GF_SLICE("at")};
    check_records(
        "a.csv", gf_slice_str(csv), &given,
        "a.csv:2 id=\"1\" text=\"t\" time=\"2015-02-21\"\n"
        "a.csv:3 id=\"2\" text=\"t\" time=\"2015-02-21T13:45:00Z\"\n"
        "a.csv:4 bad_time (refused): field \"at\" is \"3/4/2015\": is the day first, or the "
        "month? Say --dates day-first or --dates month-first\n"
        "a.csv:5 id=\"4\" text=\"t\" time=\"2015-02-21\"\n"
        "a.csv:6 id=\"5\" text=\"t\" time=\"2015-02-21T13:45:30Z\"\n"
        "a.csv:7 id=\"6\" text=\"t\" time=1424517300.5\n"
        "a.csv:8 id=\"7\" text=\"t\" time=\"2015-02-21\"\n"
        "a.csv:9 bad_time (refused): field \"at\" is not a time: \"1424517300.\" "
        "(--bad-times drop puts it without one)\n");
    given.dates = GF_DATE_ORDER_DAY_FIRST;
    check_line("{\"id\":1,\"text\":\"t\",\"at\":\"3/4/2015\"}", &given,
               "id=\"1\" text=\"t\" time=\"2015-04-03\"");
    given.dates = GF_DATE_ORDER_MONTH_FIRST;
    check_line("{\"id\":1,\"text\":\"t\",\"at\":\"3/4/2015\"}", &given,
               "id=\"1\" text=\"t\" time=\"2015-03-04\"");
}

static void drops_bad_times_or_refuses_them(void **state)
{
    (void)state;
    gf_reader_options drop = {.time = GF_SLICE("at"), .bad_times = GF_BAD_TIMES_DROP};
    gf_reader_options refuse = {.bad_times = GF_BAD_TIMES_REFUSE};
    check_line("{\"id\":1,\"text\":\"t\",\"at\":\"noon\"}", &drop,
               "id=\"1\" text=\"t\" at=\"noon\"");
    check_line("{\"id\":1,\"text\":\"t\",\"at\":\"3/4/2015\"}", &drop,
               "id=\"1\" text=\"t\" at=\"3/4/2015\"");
    check_line(
        "{\"id\":1,\"text\":\"t\",\"time\":\"noon\"}", &refuse,
        "bad_time (refused): field \"time\" is not a time: \"noon\" (--bad-times drop puts it "
        "without one)");
    gf_reader *reader;
    gf_record record;
    const char *lines[] = {"{\"text\":\"t\",\"time\":\"noon\"}", "{\"text\":\"t\",\"time\":5}",
                           "{\"text\":\"t\"}"};
    for (int i = 0; i < 3; i++) {
        memory_stream stream = {"a.jsonl", gf_slice_str(lines[i]), false};
        memory_input input = {.streams = &stream, .n = 1};
        gf_input from = memory_input_start(&input);
        assert_int_equal(gf_reader_open(&from, NULL, &reader, NULL), GF_OK);
        assert_int_equal(gf_reader_next(reader, &record, NULL), GF_OK);
        assert_int_equal(record.bad_time, i == 0);
        gf_reader_close(reader);
    }
}

static void reads_times_in_cells(void **state)
{
    (void)state;
    check_records("a.csv",
                  GF_SLICE("id,text,time\n1,t,1335277314\n2,t,1335277314000\n3,t,2012-04-24\n"
                           "4,t,20120424\n5,t,0335277314\n6,t,\n7,t,133527731x\n"),
                  NULL,
                  "a.csv:2 id=\"1\" text=\"t\" time=1335277314\n"
                  "a.csv:3 id=\"2\" text=\"t\" time=1335277314000\n"
                  "a.csv:4 id=\"3\" text=\"t\" time=\"2012-04-24\"\n"
                  "a.csv:5 id=\"4\" text=\"t\" time=\"2012-04-24\"\n"
                  "a.csv:6 id=\"5\" text=\"t\" time=\"0335277314\"\n"
                  "a.csv:7 id=\"6\" text=\"t\"\n"
                  "a.csv:8 id=\"7\" text=\"t\" time=\"133527731x\"\n");
}

static void tells_a_time_from_a_field_called_time(void **state)
{
    (void)state;
    gf_error err;
    static const char *const lines[] = {
        "{\"id\":1,\"text\":\"t\",\"time\":\"2012-04-24\",\"lang\":\"de\"}",
        "{\"id\":1,\"text\":\"t\",\"time\":\"noon\",\"lang\":7}"};
    for (size_t i = 0; i < 2; i++) {
        memory_stream stream = {"a.jsonl", gf_slice_str(lines[i]), false};
        memory_input m = {.streams = &stream, .n = 1};
        gf_input input = memory_input_start(&m);
        gf_reader *reader;
        gf_record record;
        assert_ok(gf_reader_open(&input, NULL, &reader, &err));
        assert_ok(gf_reader_next(reader, &record, &err));
        assert_slice(record.document.time, i ? "" : "\"2012-04-24\"");
        assert_slice(record.document.language, i ? "" : "de");
        assert_int_equal(record.document.n_fields, i ? 2 : 0);
        gf_reader_close(reader);
    }
}

static void takes_languages(void **state)
{
    (void)state;
    gf_reader_options given = {.lang = GF_SLICE("language")};
    check_line("{\"id\":1,\"text\":\"t\",\"language\":\"deu\",\"lang\":\"x\"}", &given,
               "id=\"1\" text=\"t\" lang=deu lang=\"x\"");
    check_line("{\"id\":1,\"text\":\"t\",\"language\":\"\"}", &given, "id=\"1\" text=\"t\"");
    check_line("{\"id\":1,\"text\":\"t\",\"lang\":[\"de\"]}", NULL,
               "id=\"1\" text=\"t\" lang=[\"de\"]");
    check_line("{\"id\":1,\"text\":\"t\",\"language\":5}", &given,
               "bad_type (refused): field \"language\" is not the name of a language");
}

/* ---- the other fields ------------------------------------------------------------------------ */

static void keeps_the_fields_that_are_wanted(void **state)
{
    (void)state;
    const gf_slice names[] = {GF_SLICE("b"), GF_SLICE("time"), GF_SLICE("nosuch"),
                              GF_SLICE("text")};
    gf_reader_options some = {.some_fields = true, .fields = names, .n_fields = 4};
    gf_reader_options none = {.some_fields = true};
    static const char line[] =
        "{\"a\":1,\"b\":[ ],\"id\":1,\"time\":5,\"text\":\"t\",\"c\":\"\\u00e9\"}";
    check_line(line, NULL, "id=\"1\" text=\"t\" time=5 a=1 b=[] c=\"\xC3\xA9\"");
    check_line(line, &some, "id=\"1\" text=\"t\" time=5 b=[]");
    check_line(line, &none, "id=\"1\" text=\"t\" time=5");
}

static void the_first_of_a_name_keeps_it(void **state)
{
    (void)state;
    check_line(
        "{\"a\":1,\"id\":\"x\",\"text\":\"t\",\"a\":2,\"text\":\"u\",\"a.3\":3,\"a\":4,\"id\":5}",
        NULL, "id=\"x\" text=\"t\" a=1 a.2=2 text.2=\"u\" a.3=3 a.4=4 id.2=5");
    check_records("a.csv", GF_SLICE("id,text,a,a,text\n1,t,2,3,4\n1,t,2,,4\n"), NULL,
                  "a.csv:2 id=\"1\" text=\"t\" a=\"2\" a.2=\"3\" text.2=\"4\"\n"
                  "a.csv:3 id=\"1\" text=\"t\" a=\"2\" text.2=\"4\"\n");
    check_records("a.tsv", GF_SLICE("text\ttext\n1\t2\n"), NULL,
                  "a.tsv:2 id=hash text=\"1\" text.2=\"2\"\n");
    const gf_slice second = GF_SLICE("text.2");
    gf_reader_options options = {.text = &second, .n_text = 1};
    check_line("{\"id\":1,\"text\":\"t\",\"text\":\"u\"}", &options,
               "id=\"1\" text=\"u\" text=\"t\"");
}

/* Once in a source it is said that a name was there twice. */
static void tells_of_renamed_fields(void **state)
{
    (void)state;
    memory_stream streams[] = {
        {"a.csv", GF_SLICE("id,text,text\n1,t\n2,t,u\n3,t,u\n"), false},
        {"b.jsonl",
         GF_SLICE("{\"id\":4,\"text\":\"t\"}\n{\"id\":5,\"text\":\"t\",\"a\":1,\"a\":2}\n"
                  "{\"id\":6,\"text\":\"t\",\"b\":1,\"b\":2}\n"),
         false}};
    static const char *const renamed[] = {"text.2", "", "", "", "a.2", ""};
    memory_input m = {.streams = streams, .n = 2};
    gf_input input = memory_input_start(&m);
    gf_error err;
    gf_reader *reader;
    gf_record record;
    assert_ok(gf_reader_open(&input, NULL, &reader, &err));
    for (int i = 0; i < 6; i++) {
        assert_ok(gf_reader_next(reader, &record, &err));
        assert_slice(record.renamed, renamed[i]);
    }
    gf_reader_close(reader);
}

/* Against the definition: all names differ, those that came first are as they were, and the others
 * end in the smallest number that was free. */
static void renames_duplicates_of_any_number(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_duplicate_fields d = {0};
    enum { MOST = 1500 };
    static char names[MOST][12];
    gf_member *members = calloc(MOST, sizeof *members);
    assert_non_null(members);
    for (int round = 0; round < 200; round++) {
        size_t n = (size_t)gf_random_below(&random, round < 195 ? 40 : MOST), n_renamed = 0;
        gf_slice renamed = {"", 0};
        for (size_t i = 0; i < n; i++) {
            unsigned name = (unsigned)gf_random_below(&random, n / 2 + 1);
            if (gf_random_below(&random, 3))
                snprintf(names[i], sizeof names[i], "%u", name);
            else
                snprintf(names[i], sizeof names[i], "%u.%u", name % 5, name % 7);
            members[i] = (gf_member){.name = gf_slice_str(names[i]), .kind = GF_MEMBER_TEXT};
        }
        assert_ok(gf_duplicate_fields_rename(&d, members, n, &renamed, &err));
        for (size_t i = 0; i < n; i++) {
            bool is_first = true;
            for (size_t j = 0; j < i; j++) {
                is_first = is_first && strcmp(names[i], names[j]) != 0;
                assert_false(gf_slice_equal(members[i].name, members[j].name));
            }
            if (is_first) assert_slice(members[i].name, names[i]);
            if (!is_first && n_renamed++ == 0)
                assert_true(gf_slice_equal(renamed, members[i].name));
            if (!is_first) {
                assert_true(gf_slice_starts(members[i].name, gf_slice_str(names[i])));
                assert_true(members[i].name.len > strlen(names[i]) + 1);
            }
        }
        if (n_renamed == 0) assert_slice(renamed, "");
    }
    gf_duplicate_fields_release(&d);
    free(members);
}

/* Names that were made to be slow: each is another's with a number. */
static void renames_in_linear_time(void **state)
{
    (void)state;
    enum { N = GF_MOST_MEMBERS };
    gf_error err;
    gf_duplicate_fields d = {0};
    gf_slice renamed = {"", 0};
    char(*names)[16] = calloc(N, sizeof *names);
    gf_member *members = calloc(N, sizeof *members);
    assert_true(names && members);
    for (size_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], i < N / 2 ? "a" : "a.%zu", i - N / 2 + 2);
        members[i] = (gf_member){.name = gf_slice_str(names[i]), .kind = GF_MEMBER_TEXT};
    }
    double start = gf_clock_seconds();
    assert_ok(gf_duplicate_fields_rename(&d, members, N, &renamed, &err));
    assert_true(gf_clock_seconds() - start < 5);
    snprintf(names[0], sizeof names[0], "a.%d", N);
    assert_slice(members[N / 2 - 1].name, names[0]);
    gf_duplicate_fields_release(&d);
    free(members);
    free(names);
}

static void bounds_text_and_fields_together(void **state)
{
    (void)state;
    gf_reader_options options = {.max_document = 20}; /* 5 text, 2 lang, 3 time, 10 fields */
    check_line(
        "{\"id\":1,\"text\":\"12345\",\"lang\":\"de\",\"time\":100,\"a\":\"123456\",\"b\":1}",
        &options, "too_long (refused): longer than the limit of 20 bytes (--max-document)");
    check_line("{\"id\":1,\"text\":\"12345\",\"lang\":\"de\",\"time\":100,\"a\":\"12345\",\"b\":1}",
               &options, "id=\"1\" text=\"12345\" time=100 lang=de a=\"12345\" b=1");
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void reports_failed_allocations(void **state)
{
    (void)state;
    const gf_slice text[] = {GF_SLICE("title"), GF_SLICE("body")};
    const gf_slice fields[] = {GF_SLICE("n"), GF_SLICE("a"), GF_SLICE("b")};
    gf_reader_options options = {
        .id = GF_SLICE("key"),
        .text = text,
        .n_text = 2,
        .time = GF_SLICE("at"),
        .lang = GF_SLICE("l"),
        .some_fields = true,
        .fields = fields,
        .n_fields = 3,
    };
    gf_buffer lines = {0};
    gf_buffer_str(
        &lines,
        "{\"key\":null,\"title\":\"a title\",\"body\":\"and a body of some length\",\"n\":[1,2]}\n"
        "{\"key\":\"k\",\"body\":\"b\",\"at\":5,\"l\":\"de\",\"a\":1,\"b\":2,\"c\":3");
    for (int i = 0; i < 40; i++)
        gf_buffer_format(&lines, ",\"f%d\":%d", i, i);
    gf_buffer_str(&lines, "}\n");
    sweep_records("a.jsonl", gf_buffer_view(&lines), &options);
    gf_buffer_release(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_ids),
        cmocka_unit_test(refuses_bad_ids),
        cmocka_unit_test(hashes_as_described),
        cmocka_unit_test(the_hash_is_of_the_content),
        cmocka_unit_test(joins_text_fields),
        cmocka_unit_test(refuses_what_is_no_text),
        cmocka_unit_test(one_field_may_mean_several_things),
        cmocka_unit_test(takes_times),
        cmocka_unit_test(keeps_other_values_of_time),
        cmocka_unit_test(reads_times_in_cells),
        cmocka_unit_test(reads_times_of_spreadsheets),
        cmocka_unit_test(drops_bad_times_or_refuses_them),
        cmocka_unit_test(tells_a_time_from_a_field_called_time),
        cmocka_unit_test(takes_languages),
        cmocka_unit_test(keeps_the_fields_that_are_wanted),
        cmocka_unit_test(the_first_of_a_name_keeps_it),
        cmocka_unit_test(tells_of_renamed_fields),
        cmocka_unit_test(renames_duplicates_of_any_number),
        cmocka_unit_test(renames_in_linear_time),
        cmocka_unit_test(bounds_text_and_fields_together),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("field_mapping", tests, NULL, NULL);
}
