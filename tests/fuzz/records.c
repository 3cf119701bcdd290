#include "tests/fuzz/records.h"

#include "base/clock.h"
#include "base/json/json.h"
#include "base/utf8.h"
#include "grouperfish/buffer.h"

#include <stdlib.h>
#include <string.h>

void fuzz_check(bool holds)
{
    if (!holds) abort();
}

static gf_status next_stream(void *context, gf_slice *name, gf_error *err)
{
    fuzz_stream *s = context;
    (void)err;
    if (s->is_open) return GF_ENOTFOUND;
    s->is_open = true;
    *name = gf_slice_str(s->name);
    return GF_OK;
}

static gf_status read_stream(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    fuzz_stream *s = context;
    (void)err;
    size_t left = s->bytes.len - s->at;
    *got = left < n ? left : n;
    if (*got > s->chunk) *got = s->chunk;
    if (*got) memcpy(to, s->bytes.ptr + s->at, *got);
    s->at += *got;
    return GF_OK;
}

gf_input fuzz_stream_input(fuzz_stream *stream)
{
    return (gf_input){.context = stream, .next = next_stream, .read = read_stream};
}

static bool is_utf8(gf_slice s)
{
    return gf_utf8_valid_length(s) == s.len;
}

static void check_json(gf_json_parser *parser, gf_slice json, gf_json_value *v)
{
    gf_error err;
    fuzz_check(gf_json_parse_copy(parser, json, v, &err) == GF_OK);
}

static void check_time(gf_json_parser *parser, gf_slice json)
{
    int64_t ms;
    gf_json_value v;
    if (json.len == 0) return;
    check_json(parser, json, &v);
    if (gf_json_kind_of(v) == GF_JSON_STRING)
        fuzz_check(gf_clock_parse_iso(gf_json_get_string(v), &ms));
    else
        fuzz_check(gf_json_is_number(v));
}

static void check_document(gf_json_parser *parser, const gf_document *d, uint64_t most)
{
    uint64_t size = d->text.len + d->time.len + d->language.len;
    fuzz_check(d->id.len > 0 && d->id.len <= GF_MAX_ID && is_utf8(d->id));
    fuzz_check(is_utf8(d->text) && is_utf8(d->language) && d->n_fields <= GF_MAX_FIELDS);
    check_time(parser, d->time);
    for (size_t i = 0; i < d->n_fields; i++) {
        gf_json_value v;
        size += d->fields[i].name.len + d->fields[i].json.len;
        fuzz_check(is_utf8(d->fields[i].name));
        check_json(parser, d->fields[i].json, &v);
        for (size_t j = 0; j < i && i < 50; j++)
            fuzz_check(!gf_slice_equal(d->fields[i].name, d->fields[j].name));
    }
    fuzz_check(size <= most);
}

/* All of a record that does not depend on how its bytes came. */
static void write_record(gf_buffer *b, const gf_record *r)
{
    gf_buffer_format(b, "%d %llu %s %s ", (int)r->kind, (unsigned long long)r->line,
                     r->reason ? r->reason : "", r->message ? r->message : "");
    gf_buffer_string(b, r->document.id);
    gf_buffer_string(b, r->document.text);
    gf_buffer_string(b, r->document.time);
    gf_buffer_string(b, r->renamed);
    for (size_t i = 0; i < r->document.n_fields; i++) {
        gf_buffer_string(b, r->document.fields[i].name);
        gf_buffer_string(b, r->document.fields[i].json);
    }
}

static void read_all(fuzz_stream *stream, const gf_reader_options *options, gf_buffer *all)
{
    static gf_json_parser *parser;
    gf_error err = {GF_OK, ""};
    gf_reader *reader;
    gf_record record;
    gf_input input = fuzz_stream_input(stream);
    uint64_t n = 0;
    gf_status st;
    if (!parser) fuzz_check(gf_json_parser_create(&parser, &err) == GF_OK);
    fuzz_check(gf_reader_open(&input, options, &reader, &err) == GF_OK);
    while ((st = gf_reader_next(reader, &record, &err)) == GF_OK) {
        fuzz_check(++n <= stream->bytes.len + 1);
        if (record.kind == GF_RECORD_DOCUMENT)
            check_document(parser, &record.document, options->max_document);
        else
            fuzz_check(record.reason && record.message && record.message[0]);
        write_record(all, &record);
    }
    fuzz_check(st == GF_ENOTFOUND || err.message[0]);
    gf_buffer_format(all, "%d %s", (int)st, st == GF_ENOTFOUND ? "" : err.message);
    fuzz_check(gf_buffer_check(all, NULL) == GF_OK);
    gf_reader_close(reader);
}

void fuzz_records(gf_format format, const char *name, const uint8_t *bytes, size_t n)
{
    static const gf_slice text[] = {GF_SLICE("text"), GF_SLICE("text.2"), GF_SLICE("body")};
    gf_buffer whole = {0}, pieces = {0};
    unsigned chosen = n ? bytes[0] : 0;
    gf_slice rest = n ? gf_slice_of((const char *)bytes + 1, n - 1) : (gf_slice){"", 0};
    gf_reader_options options = {.format = format,
                                 .text = text,
                                 .n_text = 1 + chosen % 3,
                                 .time = chosen & 4 ? GF_SLICE("at") : (gf_slice){"", 0},
                                 .dates = (gf_date_order)(chosen / 8 % 3),
                                 .bad_times = (gf_bad_times)(chosen / 32 % 3),
                                 .max_document = chosen & 128 ? 60 : 10000,
                                 .decoding = {.encoding = GF_SLICE("utf-8")}};
    fuzz_stream one = {name, rest, SIZE_MAX, 0, false};
    fuzz_stream many = {name, rest, 1 + chosen % 5, 0, false};
    read_all(&one, &options, &whole);
    read_all(&many, &options, &pieces);
    fuzz_check(gf_slice_equal(gf_buffer_view(&whole), gf_buffer_view(&pieces)));
    gf_buffer_release(&whole);
    gf_buffer_release(&pieces);
}
