#include "support/test.h"

#include "tests/formats/archive.h"
#include "tests/formats/records.h"

static void takes_each_file_of_a_folder(void **state)
{
    (void)state;
    const memory_stream streams[] = {
        {"notes/a.txt",
         GF_SLICE("\xEF\xBB\xBF"
                  "first\r\nline\n"),
         true},
        {"b", GF_SLICE("[1] no JSON"), true},
        {"c.jsonl", GF_SLICE("{\"id\":\"r\",\"text\":\"a record\"}\n"), true},
        {"empty.txt", GF_SLICE(""), true},
    };
    check_streams(streams, 4, NULL,
                  "notes/a.txt:0 id=\"notes/a.txt\" text=\"first\\r\\nline\\n\"\n"
                  "b:0 id=\"b\" text=\"[1] no JSON\"\n"
                  "c.jsonl:1 id=\"r\" text=\"a record\"\n"
                  "empty.txt:0 empty_text (skipped): the file is empty\n");
    gf_reader_options as_files = {.format = GF_FORMAT_DIR};
    check_streams(streams + 2, 1, &as_files,
                  "c.jsonl:0 id=\"c.jsonl\" text=\"{\\\"id\\\":\\\"r\\\",\\\"text\\\":\\\"a "
                  "record\\\"}\\n\"\n");
}

static void takes_each_member_of_an_archive(void **state)
{
    (void)state;
    static const archive_member members[] = {
        {"tei/one.xml", GF_SLICE("<TEI/>"), A_FILE},
        {"tei/two.csv", GF_SLICE("id,text\n1,cell\n"), A_FILE},
    };
    gf_buffer zip = {0};
    make_archive("zip", NULL, members, 2, &zip);
    check_records("papers.zip", gf_buffer_view(&zip), NULL,
                  "papers.zip/tei/one.xml:0 id=\"tei/one.xml\" text=\"<TEI/>\"\n"
                  "papers.zip/tei/two.csv:2 id=\"1\" text=\"cell\"\n");
    gf_buffer_release(&zip);
}

static void refuses_what_is_no_text(void **state)
{
    (void)state;
    const memory_stream streams[] = {
        {"a.bin", GF_SLICE("\x01\x02\r\n\x1A\n\0\0\0\rIHDR"), true},
        {"e.txt", GF_SLICE("a\0b"), true},
    };
    check_streams(streams, 2, NULL,
                  "a.bin:0 not_text (refused): a binary file (it holds NUL)\n"
                  "e.txt:0 not_text (refused): a binary file (it holds NUL)\n");
}

static void bounds_length_and_name(void **state)
{
    (void)state;
    gf_reader_options options = {.max_document = 10, .decoding = {.encoding = GF_SLICE("utf-8")}};
    char name[GF_MAX_ID + 2];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    gf_buffer expected = {0};
    const memory_stream streams[] = {
        {"a", GF_SLICE("1234567890"), true},
        {"b", GF_SLICE("12345678901"), true},
        {"c",
         GF_SLICE("\xFF"
                  "23456789"),
         true}, /* 9 bytes, but 11 with U+FFFD */
        {name, GF_SLICE("x"), true},
    };
    gf_buffer_format(&expected,
                     "a:0 id=\"a\" text=\"1234567890\"\n"
                     "b:0 too_long (refused): longer than the limit of 10 bytes (--max-document)\n"
                     "c:0 too_long (refused): longer than the limit of 10 bytes (--max-document)\n"
                     "%s:0 bad_id (refused): the id has 1025 bytes, more than 1024\n",
                     name);
    check_streams(streams, 4, &options, gf_buffer_cstr(&expected));
    gf_buffer_release(&expected);
}

static void survives_anything(void **state)
{
    (void)state;
    gf_reader_options options = {.format = GF_FORMAT_DIR};
    fuzz_records("a.txt", GF_SLICE("caf\xC3\xA9 \xE6\x97\xA5 and so on\n"), &options, 2000);
    check_chunking("a.txt", GF_SLICE("caf\xC3\xA9 \xE6\x97\xA5 \xFF and so on\n"), &options);
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_reader_options options = {.format = GF_FORMAT_DIR};
    sweep_records("a.txt", GF_SLICE("a text that is \xFF not quite whole"), &options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_each_file_of_a_folder),
        cmocka_unit_test(takes_each_member_of_an_archive),
        cmocka_unit_test(refuses_what_is_no_text),
        cmocka_unit_test(bounds_length_and_name),
        cmocka_unit_test(survives_anything),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("text_file", tests, NULL, NULL);
}
