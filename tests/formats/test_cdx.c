/* Lines of an index: reasons of refusals, types, readers cut into pieces, failing allocations. */
#include "apps/papers/papers.h"
#include "support/test.h"
#include "tests/formats/archive.h"
#include "tests/formats/memory_input.h"

#define DIGEST "MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J"
#define CDX(date, mime, status, digest, size, offset)                                              \
    "org,example)/a " date " http://example.org/a " mime " " status " " digest " - - " size        \
    " " offset " a.warc.gz"
#define GOOD          CDX("20170706005950", "application/pdf", "200", DIGEST, "10", "20")
#define JSON(members) "org,example)/a 20170706005950 {" members "}"

static void check_line(const char *line, const char *expected)
{
    gf_error err;
    gf_cdx_parser *parser;
    gf_cdx cdx;
    gf_record record = {0};
    assert_ok(gf_cdx_parser_create(&parser, &err));
    assert_ok(gf_cdx_parse(parser, gf_slice_str(line), &cdx, &record, &err));
    const char *got = record.kind == GF_RECORD_DOCUMENT ? cdx.mime : record.reason;
    if (strcmp(got, expected) != 0) fail_msg("%s: %s, not %s", line, got, expected);
    gf_cdx_parser_free(parser);
}

static void lines(void **state)
{
    (void)state;
    static const char *const all[][2] = {
        {GOOD, "application/pdf"},
        {CDX("20170706005950", "TEXT/html;x", "200", "sha1:" DIGEST, "0", "0"), "text/html"},
        {"", "few_fields"},
        {"# " GOOD, "comment"},
        {" CDX N b a m s k r M S V g", "header"},
        {"CDX N b a", "header"},
        {"!OpenWayback-CDXJ 1.0", "header"},
        {"org,example)/a 20170706005950 http://example.org/a", "few_fields"},
        {GOOD " more", "many_fields"},
        {CDX("-", "application/pdf", "200", DIGEST, "10", "20"), "missing_field"},
        {CDX("20170706005950", "warc/revisit", "-", DIGEST, "10", "20"), "missing_field"},
        {CDX("20170706005950", "application/pdf", "404", DIGEST, "10", "20"), "bad_status"},
        {CDX("20170706005950", "application/pdf", "0200", DIGEST, "10", "20"), "bad_status"},
        {CDX("20170230005950", "application/pdf", "200", DIGEST, "10", "20"), "bad_date"},
        {CDX("2017070600595", "application/pdf", "200", DIGEST, "10", "20"), "bad_date"},
        {CDX("20170706005950", "application/pdf", "200", DIGEST, "1x", "20"), "bad_number"},
        {CDX("20170706005950", "application/pdf", "200", DIGEST, "10", "-20"), "bad_number"},
        {CDX("20170706005950", "application/pdf", "200", DIGEST, "10", "9223372036854775808"),
         "bad_number"},
        {CDX("20170706005950", "application/pdf", "200", DIGEST, "10", "9223372036854775807"),
         "application/pdf"},
        {CDX("20170706005950", "application/pdf", "200", "MPCXVW", "10", "20"), "bad_digest"},
        {CDX("20170706005950", "image/png", "200", DIGEST, "10", "20"), "not_full_text"},
        {GOOD "\xFF", "not_utf8"},
        {JSON("\"url\":\"u\",\"mime\":\"text/xml\",\"status\":200,\"digest\":\"" DIGEST
              "\",\"length\":\"1\",\"offset\":2,\"filename\":\"f\""),
         "text/xml"},
        {JSON("\"url\":\"u\",\"digest\":\"" DIGEST
              "\",\"length\":\"1\",\"offset\":2,\"filename\":\"f\""),
         "missing_field"},
        {JSON("\"url\":[]"), "bad_type"},
        {JSON("\"url\""), "broken_json"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check_line(all[i][0], all[i][1]);
}

static void types(void **state)
{
    (void)state;
    static const char *const all[][2] = {{"application/PDF", "application/pdf"},
                                         {"application/x-pdf", "application/pdf"},
                                         {"application/pdf+journal", "application/pdf"},
                                         {"application/xml+stuff", "text/xml"},
                                         {"Application/Postscript", "application/postscript"},
                                         {"text/html", "text/html"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_string_equal(gf_cdx_normalise_mime(gf_slice_str(all[i][0])), all[i][1]);
    assert_null(gf_cdx_normalise_mime(GF_SLICE("application/p")));
    assert_null(gf_cdx_normalise_mime(GF_SLICE("")));
    assert_null(gf_cdx_normalise_mime(GF_SLICE("xapplication/pdf")));
}

/* ---- readers --------------------------------------------------------------------------------- */

typedef struct reading {
    gf_slice bytes;
    size_t chunk;
    gf_buffer found; /* "line:reason ..." */
} reading;

static gf_status read_all(void *context, gf_error *err)
{
    reading *r = context;
    memory_stream stream = {.name = "a.cdx", .bytes = r->bytes};
    memory_input memory = {.streams = &stream, .n = 1, .chunk = r->chunk};
    gf_input input = memory_input_start(&memory);
    gf_cdx_reader *reader;
    gf_cdx cdx;
    gf_record record;
    gf_buffer_reset(&r->found);
    gf_status st = gf_cdx_reader_open(&input, &reader, err);
    if (st != GF_OK) return st;
    while ((st = gf_cdx_reader_next(reader, &cdx, &record, err)) == GF_OK)
        gf_buffer_format(&r->found, "%d:%s ", (int)record.line,
                         record.kind == GF_RECORD_DOCUMENT ? "ok" : record.reason);
    gf_cdx_reader_close(reader);
    return st == GF_ENOTFOUND ? gf_buffer_check(&r->found, err) : st;
}

static const char text[] = "\xEF\xBB\xBF CDX N b\r\n\r\n" GOOD "\r\n   \n# x\n" GOOD;

static void readers(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer packed = {0};
    reading r = {.bytes = gf_slice_str(text)};
    static const char expected[] = "1:header 3:ok 5:comment 6:ok ";
    for (size_t chunk = 0; chunk < 20; chunk++) {
        r.chunk = chunk;
        assert_ok(read_all(&r, &err));
        assert_string_equal(gf_buffer_cstr(&r.found), expected);
    }
    compress_bytes("zstd", r.bytes, &packed);
    r.bytes = gf_buffer_view(&packed);
    assert_ok(read_all(&r, &err));
    assert_string_equal(gf_buffer_cstr(&r.found), expected);
    gf_buffer_release(&packed);
    gf_buffer_release(&r.found);
}

static void long_lines(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer bytes = {0};
    reading r = {.chunk = 0};
    for (int i = 0; i < 70000; i++)
        gf_buffer_byte(&bytes, 'x');
    gf_buffer_str(&bytes, "\n" GOOD "\n");
    r.bytes = gf_buffer_view(&bytes);
    assert_ok(read_all(&r, &err));
    assert_string_equal(gf_buffer_cstr(&r.found), "1:too_long 2:ok ");
    gf_buffer_release(&bytes);
    gf_buffer_release(&r.found);
}

static void failing_allocations(void **state)
{
    (void)state;
    reading r = {.bytes = GF_SLICE(GOOD "\n" JSON("\"url\":\"u\",\"length\":1") "\n")};
    gf_test_sweep(read_all, NULL, &r);
    gf_buffer_release(&r.found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(types),
                                       cmocka_unit_test(readers), cmocka_unit_test(long_lines),
                                       cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
