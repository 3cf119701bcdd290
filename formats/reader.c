/*
 * One record on its way:
 *
 *     gf_unpacked -> gf_decoding -> parser of the stream's format -> gf_parsed_record -> gf_field_mapping -> gf_record -> gf_held_records
 *     unpacks        UTF-8          cuts into records                fields      meaning      document     the first
 *
 * A stream that ends without a record gives a skipped one, so that empty files are reported.
 */
#include "formats/reader.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "formats/bytes/content.h"
#include "formats/bytes/unpacked.h"
#include "formats/held_records_internal.h"
#include "formats/json_record.h"

#include <stdint.h>
#include <stdio.h>

/*
 * A record may take more bytes in its file than as a document: an escape such as \u00e9 takes 6 for
 * 2. Twice the limit is read before it counts as too long, and space for a record of small limits.
 */
enum { RECORD_FACTOR = 2, RECORD_SLACK = 64 << 10 };

struct gf_reader {
    gf_format format;
    uint64_t max_document;
    bool unwraps;
    bool places;
    char *sheet; /* the options' */
    gf_reader_remark *remark;
    void *remark_context;
    gf_unpacked *stream;
    gf_decoding *decoding;
    bool is_decoded;  /* the current stream, by it */
    gf_error no_text; /* why the current stream is none; GF_OK: it is */
    gf_json_record_parser json;
    gf_field_mapping mapping;
    gf_held_records held;
    const gf_parser_kind *kind; /* of the current stream; NULL where none is open */
    void *parser;
    uint64_t n_records; /* of the current stream */
    bool is_empty;      /* it has no byte */
    bool has_renamed;   /* a record of it had two fields of one name */
    gf_parsed_record parsed;
    gf_record waiting; /* behind what is held and goes out first */
    bool is_waiting;
    gf_status ended; /* GF_OK while there may be more */
    gf_error end_message;
};

/* ---- open and close -------------------------------------------------------------------------- */

static gf_status create_parts(gf_reader *r, const gf_input *input, const gf_reader_options *options,
                              gf_error *err)
{
    gf_status st = gf_field_mapping_init(&r->mapping, options, err);
    if (st == GF_OK) st = gf_json_record_parser_init(&r->json, err);
    if (st == GF_OK) st = gf_decoding_create(&options->decoding, &r->decoding, err);
    if (st == GF_OK) st = gf_unpacked_open(input, &r->stream, err);
    return st;
}

gf_status gf_reader_open(const gf_input *input, const gf_reader_options *given, gf_reader **reader,
                         gf_error *err)
{
    gf_reader_options options = given ? *given : (gf_reader_options){0};
    if (options.max_document == 0) options.max_document = GF_MAX_DOCUMENT;
    if (options.max_document > GF_LARGEST_MAX_DOCUMENT)
        return gf_fail(err, GF_EINVAL, "--max-document is %llu bytes at most",
                       (unsigned long long)GF_LARGEST_MAX_DOCUMENT);
    gf_reader *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "a reader");
    r->format = options.format;
    r->max_document = options.max_document;
    r->unwraps = options.unwraps;
    r->places = options.places;
    r->remark = options.remark;
    r->remark_context = options.remark_context;
    r->sheet = gf_copy_string(options.sheet.ptr, options.sheet.len);
    gf_status st =
        r->sheet ? create_parts(r, input, &options, err) : gf_fail_memory(err, "a reader");
    if (st != GF_OK) {
        gf_reader_close(r);
        return st;
    }
    *reader = r;
    return GF_OK;
}

static void close_parser(gf_reader *r)
{
    if (r->kind) r->kind->close(r->parser);
    r->kind = NULL;
    r->parser = NULL;
}

void gf_reader_close(gf_reader *r)
{
    if (!r) return;
    close_parser(r);
    gf_held_records_release(&r->held);
    gf_field_mapping_release(&r->mapping);
    gf_json_record_parser_release(&r->json);
    gf_decoding_free(r->decoding);
    gf_unpacked_close(r->stream);
    gf_free(r->sheet);
    gf_free(r);
}

/* ---- streams --------------------------------------------------------------------------------- */

/*
 * Documents of a kind of their own: *kind is the parser, and stays NULL for records and plain texts.
 * Content that is neither is refused.
 */
static gf_status choose_document(gf_reader *r, gf_read_buffer *buffer, gf_slice name,
                                 const gf_parser_kind **kind, gf_error *err)
{
    gf_slice start = gf_read_buffer_unread(buffer);
    const char *advice;
    gf_status st = GF_OK;
    r->no_text.status = GF_OK;
    if (gf_content_is_office(start)) st = gf_read_buffer_peek(buffer, GF_CONTENT_MOST, &start, err);
    if (st != GF_OK) return st;
    gf_content content = gf_content_of(start, name, &advice);
    if (content == GF_CONTENT_PLAIN) return GF_OK;
    if (content == GF_CONTENT_MAIL) {
        if (!gf_format_is_records(name, r->format)) *kind = &gf_mail_parser;
        return GF_OK;
    }
    if (content == GF_CONTENT_XLSX) {
        bool is_other = r->format != GF_FORMAT_AUTO || gf_format_is_records(name, r->format);
        if (!is_other) *kind = &gf_workbook_parser;
        advice =
            "an Excel workbook, and not what it is said to be; call it .xlsx, and leave --from out";
    }
    if (content == GF_CONTENT_HTML) *kind = &gf_html_parser;
    if (content == GF_CONTENT_DOCX || content == GF_CONTENT_ODT) *kind = &gf_office_parser;
    if (*kind && gf_format_is_records(name, r->format)) {
        advice = content == GF_CONTENT_HTML
                     ? "an HTML page, and not the records that it is said to be"
                     : "a text document, and not the records that it is said to be";
        *kind = NULL;
    }
    if (*kind) return GF_OK;
    gf_fail(&r->no_text, GF_EINVAL, "%s", advice);
    return gf_fail(err, GF_EINVAL, "%.*s: %s", GF_SLICE_ARG(name), advice);
}

static gf_status open_parser(gf_reader *r, gf_error *err)
{
    gf_read_buffer *buffer = gf_unpacked_buffer(r->stream);
    gf_slice name = gf_unpacked_name(r->stream);
    const gf_parser_kind *kind = NULL;
    gf_status st = choose_document(r, buffer, name, &kind, err);
    r->is_decoded = st == GF_OK && kind != &gf_office_parser && kind != &gf_mail_parser &&
                    kind != &gf_workbook_parser;
    if (r->is_decoded) st = gf_decoding_begin(r->decoding, buffer, name, err);
    if (st == GF_OK && kind == &gf_html_parser) st = gf_read_buffer_skip_mark(buffer, err);
    if (st != GF_OK) return st;
    if (!kind)
        st = gf_format_choose_parser(buffer, name, r->format, gf_unpacked_is_member(r->stream),
                                     &kind, err);
    if (st == GF_OK && r->unwraps && kind == &gf_jsonl_parser) {
        bool wrapped;
        st = gf_format_is_wrapped(buffer, &wrapped, err);
        if (st == GF_OK && wrapped) kind = &gf_json_array_parser;
    }
    if (st != GF_OK) return st;
    gf_parse_context context = {
        .buffer = buffer,
        .name = name,
        .path = gf_unpacked_path(r->stream),
        .bounds = {(size_t)r->max_document * RECORD_FACTOR + RECORD_SLACK, (size_t)r->max_document},
        .max_document = r->max_document,
        .input = gf_unpacked_input(r->stream),
        .unwraps = r->unwraps,
        .places = r->places,
        .sheet = gf_slice_str(r->sheet),
        .remark = r->remark,
        .remark_context = r->remark_context,
        .json = &r->json,
    };
    gf_slice start;
    st = gf_read_buffer_peek(buffer, 1, &start, err);
    if (st != GF_OK) return st;
    r->is_empty = start.len == 0;
    st = kind->open(&context, &r->parser, err);
    if (st == GF_OK) r->kind = kind;
    r->n_records = 0;
    r->has_renamed = false;
    return st;
}

static void reset_parsed(gf_parsed_record *d)
{
    d->kind = GF_RECORD_DOCUMENT;
    d->line = d->replaced = 0;
    d->raw = d->id = d->text = (gf_slice){"", 0};
    d->reason = NULL;
    d->why.message[0] = '\0';
    d->members = NULL;
    d->n_members = 0;
    d->is_file = d->has_header = false;
    d->renamed = (gf_slice){"", 0};
}

/*
 * A file of a folder or an archive that cannot be read as text is refused, and the others are read on;
 * where it was handed in itself, the import ends.
 */
static gf_status refuse_stream(gf_reader *r, gf_status st)
{
    bool is_text = r->no_text.status == GF_OK;
    const char *why = !is_text        ? r->no_text.message
                      : r->is_decoded ? gf_decoding_unclear(r->decoding)
                                      : NULL;
    if (!why || !gf_unpacked_is_member(r->stream)) return st;
    close_parser(r);
    reset_parsed(&r->parsed);
    gf_parsed_record_refuse(&r->parsed, is_text ? "encoding" : "not_text", "%s", why);
    return GF_OK;
}

/* The next parsed record of any stream; GF_ENOTFOUND at the end of the last. */
static gf_status parse_next(gf_reader *r, gf_error *err)
{
    for (;;) {
        gf_status st;
        reset_parsed(&r->parsed);
        if (r->kind) {
            st = r->kind->next(r->parser, &r->parsed, err);
            r->n_records += st == GF_OK;
            if (st != GF_ENOTFOUND) return st == GF_OK ? st : refuse_stream(r, st);
            bool has_header = r->kind == &gf_csv_parser || r->kind == &gf_tsv_parser ||
                              r->kind == &gf_workbook_parser;
            close_parser(r);
            if (r->n_records == 0 && !r->places) {
                gf_parsed_record_skip(&r->parsed, "empty_file", "%s",
                                      r->is_empty  ? "the file is empty"
                                      : has_header ? "no row in it, at most a header"
                                                   : "no record in it");
                return GF_OK;
            }
        }
        st = gf_unpacked_next(r->stream, err);
        if (st != GF_OK) return st;
        st = open_parser(r, err);
        if (st != GF_OK) return refuse_stream(r, st);
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static uint32_t clamp_count(uint64_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static gf_status make_record(gf_reader *r, gf_record *record, bool *has_fields,
                             bool *has_text_field, gf_error *err)
{
    gf_parsed_record *d = &r->parsed;
    gf_status st = GF_OK;
    *record = (gf_record){0};
    *has_fields = d->kind == GF_RECORD_DOCUMENT;
    *has_text_field = false;
    if (*has_fields) st = gf_field_mapping_apply(&r->mapping, d, record, has_text_field, err);
    if (d->kind != GF_RECORD_DOCUMENT) *record = (gf_record){0};
    record->kind = d->kind;
    record->source = gf_unpacked_name(r->stream);
    record->line = d->line;
    record->renamed = r->has_renamed ? (gf_slice){"", 0} : d->renamed;
    r->has_renamed |= d->renamed.len > 0;
    record->reason = d->kind == GF_RECORD_DOCUMENT ? NULL : d->reason;
    record->message = d->why.message;
    record->raw = d->raw;
    record->replaced = clamp_count(d->replaced + gf_decoding_take_replaced(r->decoding));
    return st;
}

/* Names that the caller gave and no record had: nothing is refused, since a field may well be rare. */
static void remark_on_unseen(const gf_reader *r)
{
    enum { SHOWN = 100 };
    char message[SHOWN + 160];
    const gf_field_mapping *m = &r->mapping;
    for (size_t i = 0; i < m->n_asked && m->has_members && r->remark; i++) {
        gf_slice name = gf_utf8_cut(m->asked[i].name, SHOWN);
        if (m->asked[i].seen) continue;
        snprintf(message, sizeof message,
                 "no record has a field \"%.*s\", which was asked for: is its name written so?",
                 GF_SLICE_ARG(name));
        r->remark(r->remark_context, "no_field", (gf_slice){"", 0}, message);
    }
}

static gf_status next_record(gf_reader *r, gf_record *record, gf_error *err)
{
    for (;;) {
        if (gf_held_records_next(&r->held, record)) return GF_OK;
        if (r->is_waiting) {
            r->is_waiting = false;
            *record = r->waiting;
            return GF_OK;
        }
        bool has_fields, has_text_field, later;
        gf_status st = parse_next(r, err);
        if (st == GF_ENOTFOUND) {
            st = gf_held_records_end(&r->held, &r->mapping, err);
            if (st != GF_OK) return st;
            if (gf_held_records_next(&r->held, record)) return GF_OK;
            remark_on_unseen(r);
            return GF_ENOTFOUND;
        }
        if (st == GF_OK) st = make_record(r, &r->waiting, &has_fields, &has_text_field, err);
        if (st == GF_OK)
            st = gf_held_records_pass(&r->held, &r->waiting, has_fields ? &r->parsed : NULL,
                                      has_text_field, &r->mapping, &later, err);
        if (st != GF_OK) return st;
        r->is_waiting = !later;
    }
}

gf_status gf_reader_next(gf_reader *r, gf_record *record, gf_error *err)
{
    if (r->ended == GF_OK) r->ended = next_record(r, record, &r->end_message);
    if (r->ended != GF_OK && err) *err = r->end_message;
    return r->ended;
}
