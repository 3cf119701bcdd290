#include "support/test.h"

#include "base/json/json.h"
#include "formats/read_buffer.h"
#include "tests/formats/memory_input.h"

#include <stdlib.h>

static const gf_record_bounds ROOMY = {1 << 20, 1 << 20};

typedef struct fixture {
    memory_stream stream;
    memory_input memory;
    gf_input input;
    gf_read_buffer buffer;
} fixture;

static void start(fixture *f, gf_slice bytes, size_t chunk, gf_random *random)
{
    gf_slice name;
    *f = (fixture){.stream = {"bytes", bytes, false}};
    f->memory = (memory_input){.streams = &f->stream, .n = 1, .chunk = chunk, .random = random};
    f->input = memory_input_start(&f->memory);
    assert_int_equal(f->input.next(f->input.context, &name, NULL), GF_OK);
    gf_read_buffer_begin(&f->buffer, f->input.read, f->input.context);
}

static void takes_lines(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    gf_record_span span;
    start(&f, GF_SLICE("one\ntwo\r\n\nlast"), 4, NULL);
    assert_ok(gf_read_buffer_record(&f.buffer, gf_read_buffer_scan_line, NULL, ROOMY, &span, &err));
    assert_slice(span.raw, "one\n");
    assert_ok(gf_read_buffer_record(&f.buffer, gf_read_buffer_scan_line, NULL, ROOMY, &span, &err));
    assert_slice(span.raw, "two\r\n");
    assert_slice(gf_read_buffer_without_line_end(span.raw), "two");
    assert_ok(gf_read_buffer_record(&f.buffer, gf_read_buffer_scan_line, NULL, ROOMY, &span, &err));
    assert_slice(gf_read_buffer_without_line_end(span.raw), "");
    assert_ok(gf_read_buffer_record(&f.buffer, gf_read_buffer_scan_line, NULL, ROOMY, &span, &err));
    assert_slice(span.raw, "last");
    assert_false(span.too_long);
    assert_status(GF_ENOTFOUND, gf_read_buffer_record(&f.buffer, gf_read_buffer_scan_line, NULL,
                                                      ROOMY, &span, &err));
    gf_read_buffer_release(&f.buffer);
}

static void skips_and_peeks(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    gf_slice bytes;
    uint64_t lines = 0;
    start(&f, GF_SLICE(" \n\t\n x y"), 1, NULL);
    assert_ok(gf_read_buffer_skip(&f.buffer, " \t\n", &lines, &err));
    assert_int_equal(lines, 2);
    assert_ok(gf_read_buffer_peek(&f.buffer, 2, &bytes, &err));
    assert_slice(bytes, "x ");
    assert_ok(gf_read_buffer_peek(&f.buffer, 100, &bytes, &err));
    assert_slice(bytes, "x y");
    gf_read_buffer_consume(&f.buffer, 3);
    assert_ok(gf_read_buffer_skip(&f.buffer, " ", &lines, &err));
    assert_ok(gf_read_buffer_peek(&f.buffer, 1, &bytes, &err));
    assert_int_equal(bytes.len, 0);
    gf_read_buffer_release(&f.buffer);
}

/* The start of a record over the bound stays, and the next record starts where it should. */
static void cuts_long_records(void **state)
{
    (void)state;
    gf_error err;
    const gf_record_bounds bounds = {10, 4};
    for (size_t chunk = 1; chunk < 20; chunk++) {
        fixture f;
        gf_record_span span;
        start(&f, GF_SLICE("123456789\n1234567890\nab\n"), chunk, NULL);
        assert_ok(
            gf_read_buffer_record(&f.buffer, gf_read_buffer_scan_line, NULL, bounds, &span, &err));
        assert_false(span.too_long);
        assert_slice(span.raw, "123456789\n");
        assert_ok(
            gf_read_buffer_record(&f.buffer, gf_read_buffer_scan_line, NULL, bounds, &span, &err));
        assert_true(span.too_long);
        assert_slice(span.raw, "1234");
        assert_ok(
            gf_read_buffer_record(&f.buffer, gf_read_buffer_scan_line, NULL, bounds, &span, &err));
        assert_slice(span.raw, "ab\n");
        gf_read_buffer_release(&f.buffer);
    }
}

/* An endless line, made on the fly. */
typedef struct endless {
    uint64_t left;
} endless;

static gf_status read_endless(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    (void)err;
    endless *e = context;
    *got = e->left < n ? (size_t)e->left : n;
    memset(to, 'a', *got);
    e->left -= *got;
    return GF_OK;
}

static void holds_little_of_an_endless_line(void **state)
{
    (void)state;
    gf_error err;
    const gf_record_bounds bounds = {100000, 1000};
    endless e = {500 << 20};
    gf_read_buffer w = {0};
    gf_record_span span;
    gf_read_buffer_begin(&w, read_endless, &e);
    assert_ok(gf_read_buffer_record(&w, gf_read_buffer_scan_line, NULL, bounds, &span, &err));
    assert_true(span.too_long);
    assert_int_equal(span.raw.len, 1000);
    assert_true(w.capacity < 1 << 20);
    gf_read_buffer_release(&w);
}

/* Against splitting the whole at once, by its definition. */
static void check_split(gf_slice bytes, gf_record_bounds bounds, size_t chunk, gf_random *random)
{
    gf_error err;
    fixture f;
    gf_record_span span;
    gf_slice rest = bytes;
    start(&f, bytes, chunk, random);
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = end ? (size_t)(end - rest.ptr) + 1 : rest.len;
        assert_ok(
            gf_read_buffer_record(&f.buffer, gf_read_buffer_scan_line, NULL, bounds, &span, &err));
        assert_int_equal(span.too_long, n > bounds.most);
        size_t held = n > bounds.most && n > bounds.kept ? bounds.kept : n;
        assert_true(gf_slice_equal(span.raw, gf_slice_of(rest.ptr, held)));
        /* The JSON parser needs readable bytes behind the record. */
        volatile char sum = 0;
        for (size_t i = 0; i < GF_JSON_PADDING; i++)
            sum = (char)(sum ^ span.raw.ptr[span.raw.len + i]);
        rest = gf_slice_skip(rest, n);
    }
    assert_status(GF_ENOTFOUND, gf_read_buffer_record(&f.buffer, gf_read_buffer_scan_line, NULL,
                                                      bounds, &span, &err));
    gf_read_buffer_release(&f.buffer);
}

static void splits_anything(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    enum { MOST = 1 << 20 };
    char *bytes = malloc(MOST);
    assert_non_null(bytes);
    for (int i = 0; i < 60; i++) {
        size_t n = (size_t)gf_random_below(&random, i < 50 ? 3000 : MOST);
        uint64_t line = 1 + gf_random_below(&random, i < 50 ? 300 : 200000);
        for (size_t j = 0; j < n; j++)
            bytes[j] = gf_random_below(&random, line) ? 'x' : '\n';
        size_t most = 1 + (size_t)gf_random_below(&random, 2 * line);
        gf_record_bounds bounds = {most, 1 + (size_t)gf_random_below(&random, most)};
        check_split(gf_slice_of(bytes, n), bounds, 1 + (size_t)gf_random_below(&random, 5000),
                    i % 2 ? &random : NULL);
        check_split(gf_slice_of(bytes, n), bounds, 0, NULL);
    }
    free(bytes);
}

static void passes_a_failed_read_on(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    gf_record_span span;
    start(&f, GF_SLICE("one\ntwo\nthree\n"), 4, NULL);
    f.memory.fail_at = 6;
    assert_ok(gf_read_buffer_record(&f.buffer, gf_read_buffer_scan_line, NULL, ROOMY, &span, &err));
    assert_slice(span.raw, "one\n");
    assert_status(GF_EIO, gf_read_buffer_record(&f.buffer, gf_read_buffer_scan_line, NULL, ROOMY,
                                                &span, &err));
    assert_string_equal(err.message, "the disk is on fire");
    gf_read_buffer_release(&f.buffer);
}

static gf_status grow_large(void *context, gf_error *err)
{
    (void)context;
    endless e = {3 << 20};
    gf_read_buffer w = {0};
    gf_slice bytes;
    gf_read_buffer_begin(&w, read_endless, &e);
    gf_status st = gf_read_buffer_peek(&w, 3 << 20, &bytes, err);
    gf_read_buffer_release(&w);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(grow_large, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_lines),
        cmocka_unit_test(skips_and_peeks),
        cmocka_unit_test(cuts_long_records),
        cmocka_unit_test(holds_little_of_an_endless_line),
        cmocka_unit_test(splits_anything),
        cmocka_unit_test(passes_a_failed_read_on),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("read_buffer", tests, NULL, NULL);
}
