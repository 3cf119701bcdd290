/* Lines of files, packed files and archives: numbers, ends, bounds; reads cut into pieces;
 * failures. */
#include "formats/text/lines.h"
#include "support/test.h"
#include "tests/formats/archive.h"
#include "tests/formats/memory_input.h"

#include "grouperfish/buffer.h"

typedef struct reading {
    memory_input input;
    size_t most;
    gf_buffer found; /* "source:number:text|", "+" behind one too long, "$" where it has no end */
} reading;

static gf_status read_all(void *context, gf_error *err)
{
    reading *r = context;
    gf_input input = memory_input_start(&r->input);
    gf_lines *lines;
    gf_text_line line;
    gf_buffer_reset(&r->found);
    gf_status st = gf_lines_open(&input, r->most, NULL, &lines, err);
    if (st != GF_OK) return st;
    while ((st = gf_lines_next(lines, &line, err)) == GF_OK)
        gf_buffer_format(&r->found, "%.*s:%d:%.*s%s%s|", GF_SLICE_ARG(line.source),
                         (int)line.number, GF_SLICE_ARG(line.text), line.too_long ? "+" : "",
                         line.has_end || line.too_long ? "" : "$");
    gf_error again;
    assert_int_equal(gf_lines_next(lines, &line, &again), st);
    assert_int_equal(again.status, st);
    gf_lines_close(lines);
    return st == GF_ENOTFOUND ? gf_buffer_check(&r->found, err) : st;
}

static const char text[] = "\xEF\xBB\xBF"
                           "a b\r\n\r\n \t\r\n  c\n\xEF\xBB\xBF\nlast \r";

static void ends_and_numbers(void **state)
{
    (void)state;
    gf_error err;
    const memory_stream streams[] = {{.name = "one", .bytes = gf_slice_str(text)},
                                     {.name = "none", .bytes = {"", 0}},
                                     {.name = "two", .bytes = GF_SLICE("x\n")}};
    reading r = {.input = {.streams = streams, .n = 3}, .most = 100};
    for (r.input.chunk = 0; r.input.chunk < 20; r.input.chunk++) {
        assert_ok(read_all(&r, &err));
        assert_string_equal(gf_buffer_cstr(&r.found),
                            "one:1:a b|one:4:  c|one:5:\xEF\xBB\xBF|one:6:last $|two:1:x|");
    }
    gf_buffer_release(&r.found);
}

/* The bound is of a line without its end, however that is written. */
static void bounds(void **state)
{
    (void)state;
    gf_error err;
    const memory_stream stream = {
        .name = "f",
        .bytes = GF_SLICE("12345\n12345\r\n123456\n123456\r\n1234567890\n12\n1234567")};
    reading r = {.input = {.streams = &stream, .n = 1}, .most = 5};
    for (r.input.chunk = 0; r.input.chunk < 12; r.input.chunk++) {
        assert_ok(read_all(&r, &err));
        assert_string_equal(
            gf_buffer_cstr(&r.found),
            "f:1:12345|f:2:12345|f:3:12345+|f:4:12345+|f:5:12345+|f:6:12|f:7:12345+|");
    }
    gf_buffer_release(&r.found);
}

static void packed(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer bytes = {0};
    compress_bytes("gzip", gf_slice_str(text), &bytes);
    const memory_stream stream = {.name = "one.gz", .bytes = gf_buffer_view(&bytes)};
    reading r = {.input = {.streams = &stream, .n = 1}, .most = 100};
    assert_ok(read_all(&r, &err));
    assert_string_equal(gf_buffer_cstr(&r.found),
                        "one.gz:1:a b|one.gz:4:  c|one.gz:5:\xEF\xBB\xBF|one.gz:6:last $|");
    gf_buffer_release(&bytes);
    gf_buffer_release(&r.found);
}

static void reads_fail(void **state)
{
    (void)state;
    gf_error err;
    const memory_stream stream = {.name = "f", .bytes = GF_SLICE("a\nb\nc\n")};
    reading r = {.input = {.streams = &stream, .n = 1, .chunk = 2, .fail_at = 4}, .most = 100};
    assert_status(GF_EIO, read_all(&r, &err));
    r.input.fail_at = 0;
    gf_test_sweep(read_all, NULL, &r);
    gf_buffer_release(&r.found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_and_numbers), cmocka_unit_test(bounds),
                                       cmocka_unit_test(packed), cmocka_unit_test(reads_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
