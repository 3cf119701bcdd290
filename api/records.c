/* Records that come with a call: what put and assign share. */
#include "api/call.h"

#include "base/memory.h"

#include <stdio.h>

static void tell_converted(void *context, gf_slice source, const char *encoding, bool was_said)
{
    gf_call *call = context;
    char message[160];
    call->converted++;
    if (gf_call_has(call, "encoding")) return;
    snprintf(message, sizeof message,
             was_said ? "read as %s" : "not UTF-8, and read as %s; --encoding says another",
             encoding);
    gf_notice n = {.reason = "encoding", .source = source, .message = message};
    gf_call_notify(call, &n);
}

static void tell_remark(void *context, const char *reason, gf_slice source, const char *message)
{
    gf_notice n = {.reason = reason, .source = source, .message = message};
    gf_call_notify(context, &n);
}

gf_decoding_options gf_records_decoding(gf_call *call)
{
    return (gf_decoding_options){
        .encoding = gf_call_text(call, "encoding"), .converted = tell_converted, .context = call};
}

static gf_status reader_options(const gf_call *call, bool keep_fields, gf_reader_options *o,
                                gf_slice **text, gf_slice **fields, gf_error *err)
{
    *o = (gf_reader_options){.id = gf_call_text(call, "id"),
                             .time = gf_call_text(call, "time"),
                             .lang = gf_call_text(call, "lang"),
                             .max_document = gf_call_number(call, "max-document", 0)};
    gf_format_named(gf_call_text_or(call, "from", "auto"), &o->format);
    gf_date_order_named(gf_call_text(call, "dates"), &o->dates);
    gf_bad_times_named(gf_call_text(call, "bad-times"), &o->bad_times);
    gf_status st = gf_call_list(call, "text", text, &o->n_text, err);
    if (st == GF_OK) st = gf_call_list(call, "fields", fields, &o->n_fields, err);
    if (st != GF_OK) return st;
    o->text = *text;
    o->fields = *fields;
    bool all = o->n_fields == 1 && gf_slice_equal(o->fields[0], GF_SLICE("all"));
    o->some_fields = !keep_fields || (o->n_fields > 0 && !all);
    return GF_OK;
}

gf_status gf_records_reader(gf_call *call, bool keep_fields, gf_reader **reader, gf_error *err)
{
    gf_reader_options options;
    gf_slice *text = NULL, *fields = NULL;
    gf_status st = reader_options(call, keep_fields, &options, &text, &fields, err);
    options.decoding = gf_records_decoding(call);
    options.places = gf_call_has(call, "source");
    options.sheet = gf_call_text(call, "sheet");
    options.remark = tell_remark;
    options.remark_context = call;
    if (st == GF_OK) st = gf_reader_open(&call->input, &options, reader, err);
    gf_free(text);
    gf_free(fields);
    return st;
}

gf_status gf_records_reader_of_fields(gf_call *call, const gf_slice *fields, size_t n_fields,
                                      gf_reader **reader, gf_error *err)
{
    gf_reader_options options;
    gf_slice *text = NULL, *none = NULL;
    gf_status st = reader_options(call, false, &options, &text, &none, err);
    options.decoding = gf_records_decoding(call);
    options.fields = fields;
    options.n_fields = n_fields;
    options.text = fields;
    options.n_text = 1;
    options.text_is_fixed = options.without_text = true;
    if (st == GF_OK) st = gf_reader_open(&call->input, &options, reader, err);
    gf_free(text);
    gf_free(none);
    return st;
}

gf_status gf_records_reader_of(const gf_call *call, const gf_input *input, const gf_slice *usual,
                               size_t n_usual, gf_reader **reader, gf_error *err)
{
    gf_reader_options options;
    gf_slice *text = NULL, *fields = NULL;
    gf_status st = reader_options(call, true, &options, &text, &fields, err);
    options.format = GF_FORMAT_JSONL;
    if (st == GF_OK && options.n_text == 0) {
        options.text = usual;
        options.n_text = n_usual;
    }
    if (st == GF_OK) st = gf_reader_open(input, &options, reader, err);
    gf_free(text);
    gf_free(fields);
    return st;
}

gf_status gf_records_refuse(const gf_call *call, const gf_record *record, const char *reason,
                            const char *message, gf_error *err)
{
    gf_notice n = {reason, record->source, record->line, message, true};
    gf_call_notify(call, &n);
    return gf_call_reject(call, record->raw, err);
}
