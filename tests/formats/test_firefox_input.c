#include "support/test.h"

#include "base/json/writer.h"
#include "tests/formats/records.h"

static const gf_reader_options options = {.format = GF_FORMAT_INPUT_TSV};

static void reads_an_issue(void **state)
{
    (void)state;
    check_records(
        "input",
        GF_SLICE("5\t1296259200\tissue\tfirefox\t4.0b12\tmac\ten-US\t\t\t"
                 "http://example.org/\tIt is slow\\\nand\\\ta C:\\dir \\\\ too\n"
                 "6\tsoon\tpraise\tmobile\t4.0\tx\tde\tHTC\tDesire\t\tGood"),
        &options,
        "input:1 id=\"5\" text=\"It is slow\\nand\\ta C:\\\\dir \\\\ too\" time=1296259200 "
        "type=\"issue\" product=\"firefox\" version=\"4.0b12\" platform=\"mac\" "
        "locale=\"en-US\" url=\"http://example.org/\"\n"
        "input:3 id=\"6\" text=\"Good\" time=\"soon\" type=\"praise\" product=\"mobile\" "
        "version=\"4.0\" platform=\"x\" locale=\"de\" manufacturer=\"HTC\" "
        "device=\"Desire\"\n");
}

/* The example of the format's description: escaped TABs belong to the field, a bare one ends it. */
static void escapes_tabs(void **state)
{
    (void)state;
    check_records("input", GF_SLICE("one\\\tcolumn\\\trow\ntwo\tcolumn\\\trow\n"), &options,
                  "input:1 wrong_field_count (skipped): 1 field, not 11\n"
                  "input:2 wrong_field_count (skipped): 2 fields, not 11\n");
    check_records("input", GF_SLICE("1\t2\t3\t4\t5\t6\t7\t8\tone\\\tcolumn\\\trow\t10\ttext"),
                  &options,
                  "input:1 id=\"1\" text=\"text\" time=2 type=\"3\" product=\"4\" version=\"5\" "
                  "platform=\"6\" locale=\"7\" manufacturer=\"8\" device=\"one\\tcolumn\\trow\" "
                  "url=\"10\"\n");
}

static void counts_what_it_skips(void **state)
{
    (void)state;
    check_records("input",
                  GF_SLICE("1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t\n"
                           "\n"
                           "1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12\n"
                           "1\t2\t3\t4\t5\t6\t7\t8\t9\t10\ttext\r\n"
                           "2\t-2\t3\t4\t5\t6\t7\t8\t9\t10\t\\\n"),
                  &options,
                  "input:1 empty_text (skipped): the text is empty\n"
                  "input:2 wrong_field_count (skipped): 1 field, not 11\n"
                  "input:3 wrong_field_count (skipped): 12 fields, not 11\n"
                  "input:4 id=\"1\" text=\"text\" time=2 type=\"3\" product=\"4\" version=\"5\" "
                  "platform=\"6\" locale=\"7\" manufacturer=\"8\" device=\"9\" url=\"10\"\n"
                  "input:5 id=\"2\" text=\"\\n\" time=-2 type=\"3\" product=\"4\" version=\"5\" "
                  "platform=\"6\" locale=\"7\" manufacturer=\"8\" device=\"9\" url=\"10\"\n");
}

static void reads_escaped_line_ends(void **state)
{
    (void)state;
    check_records("input",
                  GF_SLICE("1\t\t\t\t\t\t\t\t\t\ta\\\r\nb\\\\\r\n2\t\t\t\t\t\t\t\t\t\tc\\"),
                  &options,
                  "input:1 id=\"1\" text=\"a\\nb\\\\\"\n"
                  "input:3 id=\"2\" text=\"c\\\\\"\n");
}

static void goes_on_behind_long_rows(void **state)
{
    (void)state;
    gf_reader_options small = {.format = GF_FORMAT_INPUT_TSV, .max_document = 1000};
    gf_buffer rows = {0};
    gf_buffer_str(&rows, "1\t\t\t\t\t\t\t\t\t\t");
    for (int i = 0; i < 50000; i++)
        gf_buffer_str(&rows, "x\\\n");
    gf_buffer_str(&rows, "\n2\t\t\t\t\t\t\t\t\t\tt\n");
    check_records("a", gf_buffer_view(&rows), &small,
                  "a:1 too_long (refused): longer than the limit of 1000 bytes (--max-document)\n"
                  "a:50002 id=\"2\" text=\"t\"\n");
    gf_buffer_release(&rows);
}

/* Rows escaped as the format says come back. */
static void reads_what_was_written(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_buffer tsv = {0}, expected = {0};
    int line = 1;
    for (int row = 0; row < 300; row++) {
        gf_buffer_format(&tsv, "%d\t\t\t\t\t\t\t\t\t\tx", row);
        gf_buffer_format(&expected, "a:%d id=\"%d\" text=", line++, row);
        gf_buffer text = {0};
        gf_buffer_byte(&text, 'x');
        for (uint64_t n = gf_random_below(&random, 12); n > 0; n--) {
            char c = "a\\\t\nnt"[gf_random_below(&random, 6)];
            line += c == '\n';
            if (strchr("\\\t\n", c)) gf_buffer_byte(&tsv, '\\');
            gf_buffer_byte(&tsv, c);
            gf_buffer_byte(&text, c);
        }
        gf_buffer_str(&tsv, gf_random_below(&random, 2) ? "\n" : "\r\n");
        gf_json_append_string(&expected, gf_buffer_view(&text));
        gf_buffer_byte(&expected, '\n');
        gf_buffer_release(&text);
    }
    check_records("a", gf_buffer_view(&tsv), &options, gf_buffer_cstr(&expected));
    check_chunking("a", gf_buffer_view(&tsv), &options);
    gf_buffer_release(&tsv);
    gf_buffer_release(&expected);
}

#define MIXED                                                                                      \
    "5\t1296259200\tissue\tfirefox\t4.0b12\tmac\ten-US\t\t\thttp://x/\tslow\\\nand\\\ta \\d "      \
    "\\\\\n"                                                                                       \
    "1\t2\n6\t\t\t\t\t\t\t\t\t\t\n7\t\t\t\t\t\t\t\t\t\tlast \xFF"

static void survives_anything(void **state)
{
    (void)state;
    fuzz_records("input", GF_SLICE(MIXED), &options, 3000);
    check_chunking("input", GF_SLICE(MIXED), &options);
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    sweep_records("input", GF_SLICE(MIXED), &options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_an_issue),           cmocka_unit_test(escapes_tabs),
        cmocka_unit_test(counts_what_it_skips),     cmocka_unit_test(reads_escaped_line_ends),
        cmocka_unit_test(goes_on_behind_long_rows), cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(survives_anything),        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("firefox_input", tests, NULL, NULL);
}
