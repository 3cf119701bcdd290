#include "support/test.h"

#include "formats/format_internal.h"
#include "tests/formats/archive.h"
#include "tests/formats/records.h"

#include <sys/resource.h>

#define OBJECT "{\"id\":1,\"text\":\"t\"}"

static void knows_formats_by_their_names(void **state)
{
    (void)state;
    static const char *const names[] = {"auto", "jsonl", "json", "csv", "tsv", "dir", "input-tsv"};
    gf_format format = GF_FORMAT_AUTO;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(gf_format_named(gf_slice_str(names[i]), &format));
        assert_int_equal(format, i);
    }
    assert_false(gf_format_named(GF_SLICE("xml"), &format));
    assert_false(gf_format_named(GF_SLICE(""), &format));
    assert_int_equal(format, GF_FORMAT_INPUT_TSV);
}

/* ---- which format ---------------------------------------------------------------------------- */

static const gf_parser_kind *choose(const char *name, gf_slice bytes, gf_format given,
                                    bool is_member)
{
    gf_error err;
    memory_stream stream = {name, bytes, is_member};
    memory_input m = {.streams = &stream, .n = 1, .chunk = 3};
    gf_input input = memory_input_start(&m);
    gf_slice ignored;
    gf_read_buffer buffer = {0};
    const gf_parser_kind *kind = NULL;
    assert_ok(input.next(input.context, &ignored, &err));
    gf_read_buffer_begin(&buffer, input.read, input.context);
    gf_format_choose_parser(&buffer, gf_slice_str(name), given, is_member, &kind, &err);
    gf_read_buffer_release(&buffer);
    return kind;
}

static void tells_the_format_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const gf_parser_kind *kind;
    } known[] = {
        {"a.jsonl", &gf_jsonl_parser},     {"a.ndjson", &gf_jsonl_parser},
        {"A.JSONL", &gf_jsonl_parser},     {"d.csv/a.jsonl.gz", &gf_jsonl_parser},
        {"a.csv", &gf_csv_parser},         {"a.csv.zst", &gf_csv_parser},
        {"a.tsv", &gf_tsv_parser},         {"a.tab.xz", &gf_tsv_parser},
        {"a.b.csv.bz2", &gf_csv_parser},   {"a.tsv.lz4", &gf_tsv_parser},
        {"a.json", &gf_json_array_parser},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_ptr_equal(choose(known[i].name, GF_SLICE("x"), GF_FORMAT_AUTO, false),
                         known[i].kind);
        assert_ptr_equal(choose(known[i].name, GF_SLICE("x"), GF_FORMAT_AUTO, true), known[i].kind);
    }
    assert_ptr_equal(choose(".csv", GF_SLICE("x"), GF_FORMAT_AUTO, true), &gf_text_file_parser);
    assert_ptr_equal(choose("a.txt", GF_SLICE(OBJECT), GF_FORMAT_AUTO, true), &gf_text_file_parser);
    assert_ptr_equal(choose("a.csv", GF_SLICE("x"), GF_FORMAT_INPUT_TSV, false),
                     &gf_firefox_input_parser);
    assert_ptr_equal(choose("a.csv", GF_SLICE("x"), GF_FORMAT_DIR, false), &gf_text_file_parser);
    assert_ptr_equal(choose("a", GF_SLICE("\xEF\xBB\xBFx"), GF_FORMAT_TSV, false), &gf_tsv_parser);
}

static void tells_the_format_by_content(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        const gf_parser_kind *kind;
    } known[] = {
        {OBJECT, &gf_jsonl_parser},
        {OBJECT "\n" OBJECT "\n", &gf_jsonl_parser},
        {"\xEF\xBB\xBF \r\n" OBJECT " \r\n", &gf_jsonl_parser},
        {"{}", &gf_jsonl_parser},
        {"{\"a\":\"}\\\"\",\"b\":[{}]}\n{", &gf_jsonl_parser},
        {"{\"a\": cut", &gf_jsonl_parser},
        {"{\n\"a\": 1}", &gf_json_array_parser},
        {"{\"a\":\n1}", &gf_json_array_parser},
        {OBJECT OBJECT, &gf_json_array_parser},
        {OBJECT " " OBJECT "\n", &gf_json_array_parser},
        {"[" OBJECT "]", &gf_json_array_parser},
        {"\n[\n\n  " OBJECT "]", &gf_json_array_parser},
        {"[]", &gf_json_array_parser},
        {"[1] A list of things", NULL},
        {"{type} is no JSON", NULL},
        {"Dear all,\n", NULL},
        {"Dear all,\nhow are you?\n", NULL},
        {"Dear all,\nyours, A\n", &gf_csv_parser}, /* refused for want of a field text */
        {"id,text\n1,t\n", &gf_csv_parser},
        {"id,text\n1,t", &gf_csv_parser},
        {"id,text\r\n1,\"a, b\nc\"\r\n", &gf_csv_parser},
        {"id;text\n1;t, u\n", &gf_csv_parser},
        {"id\ttext\n1\tt, \"u\"\n", &gf_tsv_parser},
        {"id\ttext\n1\t\"t\tu\"\n", &gf_csv_parser},
        {"id,text\n", NULL},
        {"id,text\n1\n", NULL},
        {"id,text\n1,\"t\n", NULL},
        {"text\nt\n", NULL},
        {"[1,2]\n[3,4]\n", NULL},
        {"<a, b>\n<c, d>\n", NULL},
        {"[", NULL},
        {"", &gf_jsonl_parser},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const gf_parser_kind *kind =
            choose("notes.txt", gf_slice_str(known[i].bytes), GF_FORMAT_AUTO, false);
        if (kind != known[i].kind) fail_msg("wrong format of %s", known[i].bytes);
    }
    assert_ptr_equal(choose("a.json", GF_SLICE(OBJECT "\n" OBJECT), GF_FORMAT_AUTO, false),
                     &gf_jsonl_parser);
    assert_ptr_equal(choose("a.json", GF_SLICE(OBJECT "\n" OBJECT), GF_FORMAT_JSON, false),
                     &gf_json_array_parser);
    assert_ptr_equal(choose("a.json", GF_SLICE("1,2\n3,4\n"), GF_FORMAT_AUTO, false),
                     &gf_json_array_parser);
    assert_ptr_equal(choose("a.json", GF_SLICE("{\n}"), GF_FORMAT_JSONL, false), &gf_jsonl_parser);
}

static void says_what_it_cannot_tell(void **state)
{
    (void)state;
    check_records("notes.txt", GF_SLICE("Dear all"), NULL,
                  "invalid: cannot tell what notes.txt holds; say it with --from "
                  "jsonl|json|csv|tsv|dir|input-tsv (dir takes each file as one document)\n");
}

static void speaks_of_empty_input(void **state)
{
    (void)state;
    gf_buffer packed = {0};
    check_records("notes.txt", GF_SLICE(""), NULL,
                  "notes.txt:0 empty_file (skipped): the file is empty\n");
    check_records("a.jsonl", GF_SLICE(" \n\n"), NULL,
                  "a.jsonl:0 empty_file (skipped): no record in it\n");
    compress_bytes("gzip", GF_SLICE(""), &packed);
    check_records("a.csv.gz", gf_buffer_view(&packed), NULL,
                  "a.csv.gz:0 empty_file (skipped): the file is empty\n");
    check_streams(NULL, 0, NULL, "");
    gf_buffer_release(&packed);
}

/* ---- streams --------------------------------------------------------------------------------- */

static void reads_several_streams(void **state)
{
    (void)state;
    gf_buffer packed = {0}, zip = {0};
    compress_bytes("zstd", GF_SLICE("id\ttext\n2\ttwo\n"), &packed);
    archive_member members[] = {
        {"x/3.jsonl", GF_SLICE("{\"id\":3,\"text\":\"three\"}"), A_FILE},
        {"x/4.tsv.zst", GF_SLICE(""), A_FILE},
        {"x/read.me", GF_SLICE("four"), A_FILE},
    };
    members[1].bytes = gf_buffer_view(&packed);
    make_archive("zip", NULL, members, 3, &zip);
    const memory_stream streams[] = {
        {"1.jsonl", GF_SLICE("{\"id\":1,\"text\":\"one\"}"), false},
        {"2.tsv.zst", gf_buffer_view(&packed), false},
        {"3.zip", gf_buffer_view(&zip), false},
        {"5.csv", GF_SLICE("text,id\nfive,5"), false},
    };
    check_streams(streams, 4, NULL,
                  "1.jsonl:1 id=\"1\" text=\"one\"\n"
                  "2.tsv.zst:2 id=\"2\" text=\"two\"\n"
                  "3.zip/x/3.jsonl:1 id=\"3\" text=\"three\"\n"
                  "3.zip/x/4.tsv.zst:2 id=\"2\" text=\"two\"\n"
                  "3.zip/x/read.me:0 id=\"x/read.me\" text=\"four\"\n"
                  "5.csv:2 id=\"5\" text=\"five\"\n");
    gf_buffer_release(&packed);
    gf_buffer_release(&zip);
}

static void takes_the_given_format_for_all(void **state)
{
    (void)state;
    gf_reader_options options = {.format = GF_FORMAT_CSV};
    gf_buffer zip = {0};
    const archive_member member = {"export.txt", GF_SLICE("id,text\n1,t\n"), A_FILE};
    make_archive("zip", NULL, &member, 1, &zip);
    check_records("data.zip", gf_buffer_view(&zip), &options,
                  "data.zip/export.txt:2 id=\"1\" text=\"t\"\n");
    gf_buffer_release(&zip);
}

static void refuses_a_limit_it_cannot_keep(void **state)
{
    (void)state;
    gf_error err;
    gf_reader *reader = NULL;
    memory_input m = {.n = 0};
    gf_input input = memory_input_start(&m);
    gf_reader_options options = {.max_document = GF_LARGEST_MAX_DOCUMENT + 1};
    assert_status(GF_EINVAL, gf_reader_open(&input, &options, &reader, &err));
    assert_null(reader);
    options.max_document--;
    assert_ok(gf_reader_open(&input, &options, &reader, &err));
    gf_reader_close(reader);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* A stream that is made as it is read: one record of any length. */
typedef struct endless {
    const char *name, *start, *filler;
    uint64_t left;
    size_t at;
    bool was_given;
} endless;

static gf_status next_endless(void *context, gf_slice *name, gf_error *err)
{
    (void)err;
    endless *e = context;
    if (e->was_given) return GF_ENOTFOUND;
    e->was_given = true;
    *name = gf_slice_str(e->name);
    return GF_OK;
}

static gf_status read_endless(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    (void)err;
    endless *e = context;
    size_t length = strlen(e->start), period = strlen(e->filler);
    if (n > e->left) n = (size_t)e->left;
    for (size_t i = 0; i < n; i++, e->at++)
        to[i] = e->at < length ? e->start[e->at] : e->filler[(e->at - length) % period];
    e->left -= n;
    *got = n;
    return GF_OK;
}

static long peak_kilobytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* 30 MB of one record, of which a reader for documents of 100 KB holds little. */
static void holds_little_of_endless_records(void **state)
{
    (void)state;
    const endless streams[] = {
        {"a.jsonl", "{\"text\":\"", "a", 30 << 20, 0, false},
        {"a.jsonl", "{\"text\":\"", "\\", 30 << 20, 0, false},
        {"a.json", "[{\"text\":\"", "\n", 30 << 20, 0, false},
        {"a.json", "[", "[", 30 << 20, 0, false},
        {"a.csv", "id,text\n1,\"", "a\n", 30 << 20, 0, false},
        {"a.csv", "id,text\n1,\"", "\"\"", 30 << 20, 0, false},
        {"a.csv", "id,text\n1,x", " ", 30 << 20, 0, false},
        {"a.csv", "id,text\n1", ",", 30 << 20, 0, false},
        {"a.tsv", "id\ttext\n1", "\t", 30 << 20, 0, false},
    };
    gf_reader_options options = {.max_document = 100000};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        gf_error err;
        endless e = streams[i];
        gf_input input = {.context = &e, .next = next_endless, .read = read_endless};
        gf_reader *reader;
        gf_record record;
        long before = peak_kilobytes();
        assert_ok(gf_reader_open(&input, &options, &reader, &err));
        assert_ok(gf_reader_next(reader, &record, &err));
        assert_string_equal(record.reason, "too_long");
        assert_int_equal(record.raw.len, 100000);
        gf_reader_close(reader);
        long grown = peak_kilobytes() - before;
        if (grown > 20000) fail_msg("%s of %s takes %ld KB", e.name, e.filler, grown);
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void goes_no_further_than_a_failure(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer lines = {0}, out = {0};
    gf_buffer expected = {0};
    for (int i = 0; i < 100; i++)
        gf_buffer_str(&lines, OBJECT "\n"); /* 20 bytes each */
    for (int i = 1; i < 50; i++)
        gf_buffer_format(&expected, "a.jsonl:%d id=\"1\" text=\"t\"\n", i);
    gf_buffer_str(&expected, "i/o: the disk is on fire\n");
    memory_stream stream = {"a.jsonl", gf_buffer_view(&lines), false};
    memory_input m = {.streams = &stream, .n = 1, .chunk = 10, .fail_at = 1000};
    gf_input input = memory_input_start(&m);
    assert_status(GF_EIO, list_records(&input, NULL, false, &out, &err));
    assert_string_equal(gf_buffer_cstr(&out), gf_buffer_cstr(&expected));
    gf_buffer_release(&lines);
    gf_buffer_release(&out);
    gf_buffer_release(&expected);
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_buffer packed = {0}, zip = {0};
    compress_bytes("gzip", GF_SLICE("id\ttext\n2\ttwo\n"), &packed);
    archive_member members[] = {
        {"x/3.jsonl", GF_SLICE("{\"id\":3,\"text\":\"three\"}"), A_FILE},
        {"x/4.tsv.gz", GF_SLICE(""), A_FILE},
        {"x/read.me", GF_SLICE("four"), A_FILE},
    };
    members[1].bytes = gf_buffer_view(&packed);
    make_archive("zip", NULL, members, 3, &zip);
    sweep_records("a.zip", gf_buffer_view(&zip), NULL);
    gf_buffer_release(&packed);
    gf_buffer_release(&zip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_little_of_endless_records), /* first: it measures the peak */
        cmocka_unit_test(knows_formats_by_their_names),
        cmocka_unit_test(tells_the_format_by_name),
        cmocka_unit_test(tells_the_format_by_content),
        cmocka_unit_test(says_what_it_cannot_tell),
        cmocka_unit_test(speaks_of_empty_input),
        cmocka_unit_test(reads_several_streams),
        cmocka_unit_test(takes_the_given_format_for_all),
        cmocka_unit_test(refuses_a_limit_it_cannot_keep),
        cmocka_unit_test(goes_no_further_than_a_failure),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
