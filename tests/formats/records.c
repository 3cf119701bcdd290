#include "tests/formats/records.h"

#include "base/json/json.h"
#include "base/json/writer.h"
#include "base/utf8.h"
#include "support/test.h"

#include <inttypes.h>
#include <stdlib.h>

static void list_document(const gf_record *r, gf_buffer *out)
{
    const gf_document *d = &r->document;
    if (r->hashed_id) {
        assert_int_equal(d->id.len, 32);
        gf_buffer_str(out, " id=hash text=");
    } else {
        gf_buffer_str(out, " id=");
        gf_json_append_string(out, d->id);
        gf_buffer_str(out, " text=");
    }
    gf_json_append_string(out, d->text);
    if (d->time.len) gf_buffer_format(out, " time=%.*s", GF_SLICE_ARG(d->time));
    if (d->language.len) gf_buffer_format(out, " lang=%.*s", GF_SLICE_ARG(d->language));
    for (size_t i = 0; i < d->n_fields; i++)
        gf_buffer_format(out, " %.*s=%.*s", GF_SLICE_ARG(d->fields[i].name),
                         GF_SLICE_ARG(d->fields[i].json));
    if (r->replaced) gf_buffer_format(out, " replaced=%" PRIu32, r->replaced);
}

/* One valid JSON value, written as gf_json_write does: so without white space. */
static void check_json(gf_slice json)
{
    gf_json_parser *parser;
    gf_json_value value;
    gf_buffer again = {0};
    gf_error err;
    assert_ok(gf_json_parser_create(&parser, &err));
    assert_true(json.len > 0);
    assert_int_equal(gf_utf8_valid_length(json), json.len);
    assert_ok(gf_json_parse_copy(parser, json, &value, &err));
    assert_ok(gf_json_write(value, &again, &err));
    assert_true(gf_slice_equal(gf_buffer_view(&again), json));
    gf_json_parser_free(parser);
    gf_buffer_release(&again);
}

/* The promises of reader.h about every document, whatever it was read from. */
static void check_document(const gf_record *r, const gf_reader_options *options)
{
    const gf_document *d = &r->document;
    uint64_t most = options && options->max_document ? options->max_document : GF_MAX_DOCUMENT;
    uint64_t size = d->text.len + d->time.len + d->language.len;
    assert_true(d->id.len >= 1 && d->id.len <= GF_MAX_ID);
    assert_int_equal(gf_utf8_valid_length(d->id), d->id.len);
    assert_int_equal(gf_utf8_valid_length(d->text), d->text.len);
    assert_int_equal(gf_utf8_valid_length(d->language), d->language.len);
    assert_true(d->n_fields <= GF_MAX_FIELDS);
    if (d->time.len) check_json(d->time);
    for (size_t i = 0; i < d->n_fields; i++) {
        gf_slice name = d->fields[i].name;
        assert_int_equal(gf_utf8_valid_length(name), name.len);
        check_json(d->fields[i].json);
        size += name.len + d->fields[i].json.len;
        for (size_t j = 0; j < i; j++)
            assert_false(gf_slice_equal(name, d->fields[j].name));
    }
    assert_true(size <= most);
}

static void list_record(const gf_record *r, const gf_reader_options *options, bool raw,
                        gf_buffer *out)
{
    gf_buffer_format(out, "%.*s:%" PRIu64, GF_SLICE_ARG(r->source), r->line);
    if (r->kind == GF_RECORD_DOCUMENT) {
        check_document(r, options);
        list_document(r, out);
    } else {
        gf_buffer_format(out, " %s (%s): %s", r->reason,
                         r->kind == GF_RECORD_REFUSED ? "refused" : "skipped", r->message);
    }
    if (raw) {
        gf_buffer_str(out, " raw=");
        gf_buffer_slice(out, r->raw);
    }
    gf_buffer_byte(out, '\n');
}

gf_status list_records(const gf_input *input, const gf_reader_options *options, bool raw,
                       gf_buffer *out, gf_error *err)
{
    gf_reader *reader = NULL;
    gf_record record;
    gf_error mine;
    gf_status st = gf_reader_open(input, options, &reader, &mine);
    while (st == GF_OK) {
        st = gf_reader_next(reader, &record, &mine);
        if (st == GF_OK) list_record(&record, options, raw, out);
    }
    if (reader) {
        gf_error again;
        assert_int_equal(gf_reader_next(reader, &record, &again), st);
    }
    gf_reader_close(reader);
    if (st == GF_ENOTFOUND) return gf_buffer_check(out, err);
    gf_buffer_format(out, "%s: %s\n", gf_status_name(st), mine.message);
    if (err) *err = mine;
    return st;
}

void check_streams(const memory_stream *streams, size_t n, const gf_reader_options *options,
                   const char *expected)
{
    memory_input m = {.streams = streams, .n = n};
    gf_input input = memory_input_start(&m);
    gf_buffer lines = {0};
    list_records(&input, options, false, &lines, NULL);
    if (strcmp(gf_buffer_cstr(&lines), expected) != 0)
        fail_msg("the records are\n%s\nnot\n%s", gf_buffer_cstr(&lines), expected);
    gf_buffer_release(&lines);
}

void check_records(const char *name, gf_slice bytes, const gf_reader_options *options,
                   const char *expected)
{
    memory_stream stream = {name, bytes, false};
    check_streams(&stream, 1, options, expected);
}

/* ---- failing allocations --------------------------------------------------------------------- */

typedef struct run {
    memory_stream stream;
    const gf_reader_options *options;
} run;

static gf_status read_all(void *context, gf_error *err)
{
    run *r = context;
    memory_input m = {.streams = &r->stream, .n = 1};
    gf_input input = memory_input_start(&m);
    gf_reader *reader = NULL;
    gf_record record;
    gf_status st = gf_reader_open(&input, r->options, &reader, err);
    if (st != GF_OK) assert_null(reader);
    while (st == GF_OK)
        st = gf_reader_next(reader, &record, err);
    gf_reader_close(reader);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

void sweep_records(const char *name, gf_slice bytes, const gf_reader_options *options)
{
    run r = {{name, bytes, false}, options};
    gf_test_sweep(read_all, NULL, &r);
}

/* ---- pieces of any size ---------------------------------------------------------------------- */

static void list_chunked(const memory_stream *stream, const gf_reader_options *options,
                         size_t chunk, gf_random *random, gf_buffer *out)
{
    memory_input m = {.streams = stream, .n = 1, .chunk = chunk, .random = random};
    gf_input input = memory_input_start(&m);
    gf_buffer_reset(out);
    list_records(&input, options, true, out, NULL);
}

void check_chunking(const char *name, gf_slice bytes, const gf_reader_options *options)
{
    static const size_t chunks[] = {1, 2, 3, 7, 100, 4096};
    memory_stream stream = {name, bytes, false};
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_buffer whole = {0}, pieces = {0};
    list_chunked(&stream, options, 0, NULL, &whole);
    assert_true(whole.len > 0);
    for (size_t i = 0; i < 2 * sizeof chunks / sizeof *chunks; i++) {
        list_chunked(&stream, options, chunks[i / 2], i % 2 ? &random : NULL, &pieces);
        if (!gf_slice_equal(gf_buffer_view(&whole), gf_buffer_view(&pieces)))
            fail_msg("in reads of %zu bytes the records are\n%s\nnot\n%s", chunks[i / 2],
                     gf_buffer_cstr(&pieces), gf_buffer_cstr(&whole));
    }
    gf_buffer_release(&whole);
    gf_buffer_release(&pieces);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void damage(gf_random *random, char *bytes, size_t *n)
{
    static const char likely[] = "\"\\{}[],:\n\r\t\0;u\xFF\xC3 0";
    size_t changes = 1 + (size_t)gf_random_below(random, 4);
    for (size_t i = 0; i<changes && * n> 1; i++) {
        size_t at = (size_t)gf_random_below(random, *n);
        size_t length = 1 + (size_t)gf_random_below(random, *n - at < 20 ? *n - at : 20);
        switch (gf_random_below(random, 4)) {
        case 0:
            bytes[at] = (char)gf_random_below(random, 256);
            break;
        case 1:
            bytes[at] = likely[gf_random_below(random, sizeof likely - 1)];
            break;
        case 2:
            memmove(bytes + at, bytes + at + length, *n - at - length);
            *n -= length;
            break;
        default:
            memmove(bytes + (size_t)gf_random_below(random, *n - length + 1), bytes + at, length);
        }
    }
}

void fuzz_records(const char *name, gf_slice bytes, const gf_reader_options *options, int n)
{
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    char *copy = malloc(bytes.len);
    assert_non_null(copy);
    for (int i = 0; i < n; i++) {
        size_t length = bytes.len;
        memcpy(copy, bytes.ptr, length);
        damage(&random, copy, &length);
        memory_stream stream = {name, gf_slice_of(copy, length), false};
        memory_input m = {.streams = &stream, .n = 1, .chunk = 50, .random = &random};
        gf_input input = memory_input_start(&m);
        gf_reader *reader = NULL;
        gf_record record;
        gf_error err;
        size_t records = 0;
        assert_ok(gf_reader_open(&input, options, &reader, &err));
        while (gf_reader_next(reader, &record, &err) == GF_OK) {
            if (record.kind == GF_RECORD_DOCUMENT) check_document(&record, options);
            records++;
        }
        gf_reader_close(reader);
        assert_true(records <= length + 1);
    }
    free(copy);
}
