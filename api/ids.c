/*
 * Ids that come with a call: its arguments "id", or one on each line of its input. Of an id that is
 * longer than any can be, enough is kept to be told so.
 */
#include "api/call.h"

typedef struct reading {
    gf_visit_id *visit;
    void *context;
    gf_buffer line;
    bool first; /* line of its stream */
} reading;

/* A byte order mark is no part of the first line. */
static gf_status end_line(reading *r, gf_error *err)
{
    gf_slice id = gf_buffer_view(&r->line);
    if (r->first && gf_slice_starts(id, GF_SLICE("\xEF\xBB\xBF"))) id = gf_slice_skip(id, 3);
    r->first = false;
    if (gf_slice_ends(id, GF_SLICE("\r"))) id.len--;
    gf_status st = r->line.state == GF_ENOMEM ? gf_buffer_check(&r->line, err) : GF_OK;
    if (st == GF_OK && id.len) st = r->visit(r->context, id, err);
    gf_buffer_reset(&r->line);
    return st;
}

static gf_status take_bytes(reading *r, gf_slice bytes, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < bytes.len && st == GF_OK; i++) {
        if (bytes.ptr[i] == '\n')
            st = end_line(r, err);
        else
            gf_buffer_byte(&r->line, bytes.ptr[i]);
    }
    return st;
}

static gf_status read_lines(reading *r, const gf_input *in, gf_error *err)
{
    char bytes[4096];
    size_t n = 1;
    gf_status st = GF_OK;
    r->first = true;
    while (st == GF_OK && n > 0) {
        st = gf_input_read(in, bytes, sizeof bytes, &n, err);
        if (st == GF_OK) st = take_bytes(r, gf_slice_of(bytes, n), err);
    }
    return st == GF_OK ? end_line(r, err) : st;
}

static gf_status read_streams(reading *r, const gf_input *in, gf_error *err)
{
    gf_slice name;
    gf_status st;
    while ((st = in->next(in->context, &name, err)) == GF_OK) {
        st = read_lines(r, in, err);
        if (st != GF_OK) return st;
    }
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* One pass over the arguments: there may be as many as a command line holds. */
gf_status gf_call_each_id(const gf_call *call, gf_visit_id *visit, void *context, gf_error *err)
{
    reading r = {.visit = visit, .context = context};
    gf_status st = GF_OK;
    if (!gf_call_has(call, "id")) {
        if (!call->input.next)
            return gf_fail(err, GF_EINVAL, "delete needs ids, or an input with one a line");
        gf_buffer_init(&r.line, GF_MAX_ID + 5); /* with the mark, CR and one too many */
        st = read_streams(&r, &call->input, err);
        gf_buffer_release(&r.line);
        return st;
    }
    for (size_t i = 0; i < call->n_arguments && st == GF_OK; i++)
        if (gf_slice_equal(call->arguments[i].name, GF_SLICE("id")))
            st = visit(context, call->arguments[i].value, err);
    return st;
}
