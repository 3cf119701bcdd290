#include "support/test.h"

#include "base/json/writer.h"
#include "tests/formats/records.h"

static void reads_an_array(void **state)
{
    (void)state;
    check_records("a.json",
                  GF_SLICE("[\n  {\n    \"id\": 1,\n    \"text\": \"one [}\\\" \"\n  },\n"
                           "  {\"id\": 2, \"text\": \"two\", \"in\": {\"a\": [1, 2]}}\n,\n"
                           "  {\"id\": 3, \"text\": \"three\"}]\n\n"),
                  NULL,
                  "a.json:2 id=\"1\" text=\"one [}\\\" \"\n"
                  "a.json:6 id=\"2\" text=\"two\" in={\"a\":[1,2]}\n"
                  "a.json:8 id=\"3\" text=\"three\"\n");
}

static void reads_objects_in_any_layout(void **state)
{
    (void)state;
    check_records("a.json",
                  GF_SLICE("{\n\"id\": 1,\n\"text\": \"one\"\n}\n{\"id\":2,\"text\":\"two\"}"
                           "{\"id\":3,\r\n\"text\":\"three\"}[{\"id\":4,\"text\":\"four\"}]"),
                  NULL,
                  "a.json:1 id=\"1\" text=\"one\"\n"
                  "a.json:5 id=\"2\" text=\"two\"\n"
                  "a.json:5 id=\"3\" text=\"three\"\n"
                  "a.json:6 id=\"4\" text=\"four\"\n");
    check_records("a.json", GF_SLICE("{\"id\":1,\"text\":\"one\"}"), NULL,
                  "a.json:1 id=\"1\" text=\"one\"\n");
    check_records("a.json", GF_SLICE(" [ ] "), NULL,
                  "a.json:0 empty_file (skipped): no record in it\n");
}

static void refuses_broken_values_and_goes_on(void **state)
{
    (void)state;
    check_records(
        "a.json",
        GF_SLICE("[{\"id\":1,\"text\":\"t\"},\n"
                 "{\"id\":2 \"text\":\"t\"},\n"
                 "7, \"x\", null, [1],\n"
                 "{\"id\":3,\"text\":\"t\"}\n"
                 "{\"id\":4,\"text\":\"t\"},\n"
                 ",\n"
                 "{\"id\":5,\"text\":\"t\"},\n"
                 "]\n"
                 "}{\"id\":6,\"text\":\"t\"}\n"),
        NULL,
        "a.json:1 id=\"1\" text=\"t\"\n"
        "a.json:2 broken_json (refused): broken JSON: a comma, bracket, quote or value is "
        "out of place\n"
        "a.json:3 bad_type (refused): not a JSON object but a number\n"
        "a.json:3 bad_type (refused): not a JSON object but a string\n"
        "a.json:3 bad_type (refused): not a JSON object but null\n"
        "a.json:3 bad_type (refused): not a JSON object but an array\n"
        "a.json:4 id=\"3\" text=\"t\"\n"
        "a.json:5 broken_json (refused): broken JSON: no comma before this value\n"
        "a.json:6 broken_json (refused): broken JSON: no value before ,\n"
        "a.json:7 id=\"5\" text=\"t\"\n"
        "a.json:8 broken_json (refused): broken JSON: no value before ]\n"
        "a.json:9 broken_json (refused): broken JSON: a comma, bracket, quote or value is "
        "out of place\n"
        "a.json:9 id=\"6\" text=\"t\"\n");
}

static void tells_of_a_cut_array(void **state)
{
    (void)state;
    check_records("a.json", GF_SLICE("[{\"id\":1,\"text\":\"t\"},\n{\"id\":2,\"te"), NULL,
                  "a.json:1 id=\"1\" text=\"t\"\n"
                  "a.json:2 broken_json (refused): broken JSON: a string is not closed\n"
                  "a.json:2 broken_json (refused): broken JSON: the array is not closed; the file "
                  "may be cut\n");
}

static void goes_on_behind_a_long_value(void **state)
{
    (void)state;
    gf_reader_options options = {.max_document = 1000};
    gf_buffer text = {0};
    gf_buffer_str(&text, "[{\"id\":1,\"text\":\"");
    for (int i = 0; i < 50000; i++)
        gf_buffer_str(&text, "]}\\\"\n");
    gf_buffer_str(&text, "\"},\n{\"id\":2,\"text\":\"t\"}]");
    check_records(
        "a.json", gf_buffer_view(&text), &options,
        "a.json:1 too_long (refused): longer than the limit of 1000 bytes (--max-document)\n"
        "a.json:50002 id=\"2\" text=\"t\"\n");
    check_chunking("a.json", gf_buffer_view(&text), &options);
    gf_buffer_release(&text);
}

static void reads_wrapped_items(void **state)
{
    (void)state;
    gf_reader_options options = {.unwraps = true};
    static const char page[] = "{\"status\":\"ok\",\"message-type\":\"work-list\", \"message\" : {"
                               "\"facets\":{\"a\":[1]},\n\"items\":[{\"id\":1,\"text\":\"one\"},"
                               "{\"id\":2,\"text\":\"two\"}],\"query\":{\"items\":\"]}\"}}}\n"
                               "{\"items\":[]} {\"items\":[{\"id\":3,\"text\":\"three\"}]}";
    static const char records[] = "a.json:2 id=\"1\" text=\"one\"\n"
                                  "a.json:2 id=\"2\" text=\"two\"\n"
                                  "a.json:3 id=\"3\" text=\"three\"\n";
    check_records("a.json", gf_slice_str(page), &options, records);
    check_chunking("a.json", gf_slice_str(page), &options);
    check_records("a.jsonl", GF_SLICE("{\"items\":[{\"id\":1,\"text\":\"t\"}]}\n"), &options,
                  "a.jsonl:1 id=\"1\" text=\"t\"\n");
    check_records("a.json", GF_SLICE("{\"text\":\"t\",\"id\":1,\"items\":[{}]}"), &options,
                  "a.json:1 id=\"1\" text=\"t\" items=[{}]\n");
    check_records("a.json", GF_SLICE("{\"items\":[{\"id\":1,\"text\":\"t\"}]"), &options,
                  "a.json:1 id=\"1\" text=\"t\"\n"
                  "a.json:1 broken_json (refused): broken JSON: the array is not closed; the file "
                  "may be cut\n");
    check_records("a.json", GF_SLICE("{\"id\":1,\"text\":\"t\",\"items\":[{}]}"), NULL,
                  "a.json:1 id=\"1\" text=\"t\" items=[{}]\n");
    /* A NUL between wrappers is a broken value, not white space that never ends. */
    check_records(
        "a.json", GF_SLICE("{\"items\":[{\"id\":1,\"text\":\"t\"}]}\0{\"id\":2,\"text\":\"u\"}"),
        &options,
        "a.json:1 id=\"1\" text=\"t\"\n"
        "a.json:1 broken_json (refused): broken JSON: a comma, bracket, quote or value is "
        "out of place\n"
        "a.json:1 id=\"2\" text=\"u\"\n");
    fuzz_records("a.json", gf_slice_str(page), &options, 300);
    sweep_records("a.json", gf_slice_str(page), &options);
}

static void white_space(gf_random *random, gf_buffer *out, int *line)
{
    while (gf_random_below(random, 2)) {
        char c = " \t\r\n"[gf_random_below(random, 4)];
        *line += c == '\n';
        gf_buffer_byte(out, c);
    }
}

/* Objects with white space everywhere it may be, in an array or one after another. */
static void check_layout(gf_random *random, bool in_array)
{
    gf_buffer json = {0}, expected = {0};
    int line = 1;
    if (in_array) gf_buffer_byte(&json, '[');
    for (int i = 0; i < 100; i++) {
        static const char *const tokens[] = {
            "{", "\"id\"", ":", NULL, ",", "\"text\"", ":", "\"}][{,\\\\\\\"\"", "}"};
        if (in_array && i) gf_buffer_byte(&json, ',');
        white_space(random, &json, &line);
        gf_buffer_format(&expected, "a:%d id=\"%d\" text=\"}][{,\\\\\\\"\"\n", line, i);
        for (size_t t = 0; t < sizeof tokens / sizeof *tokens; t++) {
            if (tokens[t])
                gf_buffer_str(&json, tokens[t]);
            else
                gf_buffer_format(&json, "%d", i);
            if (t < 8 || in_array) white_space(random, &json, &line);
        }
    }
    if (in_array) gf_buffer_byte(&json, ']');
    gf_reader_options options = {.format = GF_FORMAT_JSON};
    check_records("a", gf_buffer_view(&json), &options, gf_buffer_cstr(&expected));
    check_chunking("a", gf_buffer_view(&json), &options);
    gf_buffer_release(&json);
    gf_buffer_release(&expected);
}

static void reads_any_layout(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < 20; i++)
        check_layout(&random, i % 2);
}

#define MIXED                                                                                      \
    "[\n{\"id\": 1, \"text\": \"one [}\\\" \"\n  },\n {\"id\":2,\"text\":\"\\ud800\xFF\"} 5, "     \
    "null, "                                                                                       \
    "{\"text\":\"x\",\"n\":[{},[]]}, {\"id\":[]}, {\"y\":1}] {\"id\":7,\"text\":\"z\"}"

static void survives_anything(void **state)
{
    (void)state;
    fuzz_records("a.json", GF_SLICE(MIXED), NULL, 5000);
    check_chunking("a.json", GF_SLICE(MIXED), NULL);
    gf_reader_options options = {.format = GF_FORMAT_JSON};
    fuzz_records("a", GF_SLICE("]]}},,\"a\"[[{{::tru 1"), &options, 2000);
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    sweep_records("a.json", GF_SLICE(MIXED), NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_an_array),
        cmocka_unit_test(reads_wrapped_items),
        cmocka_unit_test(reads_objects_in_any_layout),
        cmocka_unit_test(refuses_broken_values_and_goes_on),
        cmocka_unit_test(tells_of_a_cut_array),
        cmocka_unit_test(goes_on_behind_a_long_value),
        cmocka_unit_test(reads_any_layout),
        cmocka_unit_test(survives_anything),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("json_array", tests, NULL, NULL);
}
