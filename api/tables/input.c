/* Lines of the input, and records that are refused. */
#include "api/tables/input.h"

enum { MOST_LINE = 256 << 20 };

gf_status gf_table_lines_open(const gf_call *call, gf_lines **lines, gf_error *err)
{
    if (!call->input.next) return gf_fail(err, GF_EINVAL, "there is no input");
    return gf_lines_open(&call->input, MOST_LINE, lines, err);
}

gf_status gf_table_lines_next(gf_lines *lines, gf_text_line *line, gf_error *err)
{
    gf_status st = gf_lines_next(lines, line, err);
    if (st == GF_OK && line->too_long)
        return gf_fail(err, GF_ELIMIT, "%.*s:%llu: a line of more than %d bytes",
                       GF_SLICE_ARG(line->source), (unsigned long long)line->number, MOST_LINE);
    return st;
}

void gf_table_import_begin_row(gf_table_import *i)
{
    i->read++;
    i->before = gf_batch_changes(i->out.batch);
}

gf_status gf_table_import_refuse(gf_table_import *i, gf_slice source, uint64_t line,
                                 gf_slice record, const char *message, gf_error *err)
{
    const gf_call *call = i->c.call;
    gf_notice n = {"bad_row", source, line, message, true};
    gf_batch_cut(i->out.batch, i->before);
    i->refused++;
    gf_call_notify(call, &n);
    return record.len ? gf_call_reject(call, record, err) : GF_OK;
}

gf_status gf_table_import_row(gf_table_import *i, gf_error *err)
{
    enum { BATCH_CHANGES = 8000, BATCH_BYTES = 4 << 20 };
    gf_call *call = i->c.call;
    i->rows++;
    i->put += gf_batch_changes(i->out.batch) - i->before;
    gf_status st = gf_cancel_check(call->cancel, err);
    if (st != GF_OK || (gf_batch_changes(i->out.batch) < BATCH_CHANGES &&
                        gf_batch_bytes(i->out.batch) < BATCH_BYTES))
        return st;
    st = gf_write_behind_next(&i->out, err);
    gf_call_progress(call, gf_user_table_name(i->c.table), "import", i->rows, 0);
    return st;
}
