#include "support/test.h"

#include "base/json/writer.h"
#include "tests/formats/records.h"

static void reads_rows(void **state)
{
    (void)state;
    check_records("a.tsv",
                  GF_SLICE("\xEF\xBB\xBFid\ttext\tn\t\r\n"
                           "1\ta \"quoted\" one\t007\t\r\n"
                           "\n"
                           "2\t two \t\tx\n"
                           "\tthree\\t\t1\t"),
                  NULL,
                  "a.tsv:2 id=\"1\" text=\"a \\\"quoted\\\" one\" n=\"007\"\n"
                  "a.tsv:4 id=\"2\" text=\" two \" column4=\"x\"\n"
                  "a.tsv:5 id=hash text=\"three\\\\t\" n=\"1\"\n");
}

static void refuses_rows_of_another_length(void **state)
{
    (void)state;
    check_records("a.tab", GF_SLICE("id\ttext\n1\n2\tb\n3\tc\t\n"), NULL,
                  "a.tab:2 wrong_field_count (refused): 1 field, not 2\n"
                  "a.tab:3 id=\"2\" text=\"b\"\n"
                  "a.tab:4 wrong_field_count (refused): 3 fields, not 2\n");
}

static void speaks_of_empty_files(void **state)
{
    (void)state;
    check_records("a.tsv", GF_SLICE(""), NULL, "a.tsv:0 empty_file (skipped): the file is empty\n");
    check_records("a.tsv", GF_SLICE("id\ttext\n"), NULL,
                  "a.tsv:0 empty_file (skipped): no row in it, at most a header\n");
}

static void replaces_what_is_no_character(void **state)
{
    (void)state;
    gf_reader_options as_utf8 = {.decoding = {.encoding = GF_SLICE("utf-8")}};
    check_records("a.tsv", GF_SLICE("id\ttext\n1\t\xC3\n2\t\xFFx\xE6\x97\n"), &as_utf8,
                  "a.tsv:2 id=\"1\" text=\"\xEF\xBF\xBD\" replaced=1\n"
                  "a.tsv:3 id=\"2\" text=\"\xEF\xBF\xBDx\xEF\xBF\xBD\" replaced=2\n");
}

static void goes_on_behind_long_rows(void **state)
{
    (void)state;
    gf_reader_options options = {.max_document = 1000};
    gf_buffer tsv = {0};
    gf_buffer_str(&tsv, "id\ttext\n1\t");
    for (int i = 0; i < 100000; i++)
        gf_buffer_str(&tsv, "\tx");
    gf_buffer_str(&tsv, "\n2\tt\n");
    check_records(
        "a.tsv", gf_buffer_view(&tsv), &options,
        "a.tsv:2 too_long (refused): longer than the limit of 1000 bytes (--max-document)\n"
        "a.tsv:3 id=\"2\" text=\"t\"\n");
    check_records("a.tsv", gf_slice_skip(gf_buffer_view(&tsv), 8), &options,
                  "invalid: a.tsv:1: the header cannot be read: longer than the limit of 1000 "
                  "bytes (--max-document)\n");
    gf_buffer_release(&tsv);
}

static void reads_what_was_written(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_buffer tsv = {0}, expected = {0};
    gf_buffer_str(&tsv, "id\ttext\tc\td\n");
    for (int row = 0; row < 300; row++) {
        gf_buffer_format(&tsv, "%d", row);
        gf_buffer_format(&expected, "a.tsv:%d id=\"%d\"", row + 2, row);
        for (int c = 0; c < 3; c++) {
            char cell[9];
            size_t n = (size_t)gf_random_below(&random, 8) + (c == 0);
            for (size_t i = 0; i < n; i++)
                cell[i] = "ab \",;\\x"[gf_random_below(&random, 8)];
            gf_buffer_byte(&tsv, '\t');
            gf_buffer_append(&tsv, cell, n);
            if (n == 0) continue;
            gf_buffer_str(&expected, c == 0 ? " text=" : c == 1 ? " c=" : " d=");
            gf_json_append_string(&expected, gf_slice_of(cell, n));
        }
        gf_buffer_str(&tsv, gf_random_below(&random, 2) ? "\n" : "\r\n");
        gf_buffer_byte(&expected, '\n');
    }
    check_records("a.tsv", gf_buffer_view(&tsv), NULL, gf_buffer_cstr(&expected));
    check_chunking("a.tsv", gf_buffer_view(&tsv), NULL);
    gf_buffer_release(&tsv);
    gf_buffer_release(&expected);
}

#define MIXED "id\ttext\tn\n1\tone\t2\n\xFF\tx\n\ty\xC3\t\n\n3\t\t\r\n4\tlast\t5"

static void survives_anything(void **state)
{
    (void)state;
    fuzz_records("a.tsv", GF_SLICE(MIXED), NULL, 3000);
    check_chunking("a.tsv", GF_SLICE(MIXED), NULL);
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_reader_options as_utf8 = {.decoding = {.encoding = GF_SLICE("utf-8")}};
    sweep_records("a.tsv", GF_SLICE(MIXED), &as_utf8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_rows),
        cmocka_unit_test(refuses_rows_of_another_length),
        cmocka_unit_test(speaks_of_empty_files),
        cmocka_unit_test(replaces_what_is_no_character),
        cmocka_unit_test(goes_on_behind_long_rows),
        cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(survives_anything),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("tsv", tests, NULL, NULL);
}
